"""`salva quality`: FID and Inception Score of a run's pictures."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from salva.cli import flags
from salva.core.legible import legible_json
from salva.errors import UsageError

if TYPE_CHECKING:
    from salva.core.table import Cell
    from salva.engine.progress import Progress
    from salva.runs.image_quality import Wanted

_FOLDER = click.Path(path_type=Path)
_NOTE = (
    "FID is a distance: smaller is better. Of Inception Scores and R-precision the larger is better; from and to are "
    "95 %, over splits and over captions, spread is over splits and draws. "
    "Compare only what one embedder gave, for as many pictures."
)


@click.command("quality", short_help="FID and Inception Score of a run's pictures.")
@click.argument("run", type=flags.RUN_DIRECTORY)
@flags.images_flag
@flags.plugin_flag
@click.option("--reference", type=_FOLDER, help="Real pictures: gives the FID of the run's from these.")
@flags.flag(
    "--embedder",
    of="quality",
    default="published-inception",
    show_default=True,
    help="The network both figures rest on; inception/FILE for an ONNX file.",
)
@click.option(
    "--logits",
    default="",
    metavar="OUTPUT",
    help="Its output with logits, such as logits_unbiased: gives the Inception Score.",
)
@click.option(
    "--splits", type=click.IntRange(min=1), default=10, show_default=True, help="Parts of the Inception Score."
)
@click.option(
    "--held-out",
    type=_FOLDER,
    help="Pictures in a folder a class, to calibrate the logits by: gives ACTesting's I-IS.",
)
@click.option("--by-set", is_flag=True, help="Of each set by itself (of captions: orig, ec, er-r, ...), kept with RUN.")
@click.option(
    "--r-precision",
    default="",
    metavar="EMBEDDER",
    help="How often a picture finds its own caption among 100, by an embedder of both, such as clip; with --by-set.",
)
@flags.set_flag
@flags.flag("--format", "form", of="quality", type=click.Choice(["table", "json"]), default="table", show_default=True)
@flags.progress_flag
def command(
    run: Path,
    reference: Path | None,
    embedder: str,
    logits: str,
    splits: int,
    held_out: Path | None,
    by_set: bool,
    r_precision: str,
    settings: tuple[str, ...],
    form: str,
    no_progress: bool,
) -> None:
    """How good the pictures of RUN are as pictures, whatever they show: FID and Inception Score of every model.

    Needs many pictures: below 2,048 a distance is too large and compares with nothing but others of as many pictures.
    Vectors that RUN has stored from the same embedder are used, the rest are made now and not kept. Figures by set are
    kept, and reported with RUN.
    """
    from salva.engine.progress import make_progress
    from salva.runs.image_quality import Wanted

    if r_precision and not by_set:
        raise UsageError("--r-precision is measured set by set; add --by-set")
    wanted = None
    if reference is not None or logits or held_out is not None or not r_precision:
        wanted = Wanted(
            embedder=embedder,
            options=_embedder_options(settings),
            reference=reference,
            logits=logits,
            n_splits=splits,
            held_out=held_out,
        )
    progress = make_progress(quiet=no_progress)
    figures = _of_sets(run, wanted, r_precision, progress) if by_set else _of_models(run, wanted, progress)
    figure = ("figure", "value", "from", "to", "spread", "n_images", "n_reference")
    columns = ("model", *(("set",) if by_set else ()), *figure)
    if form == "json":
        objects = [{name: one[name] for name in (*columns, "embedder", "warning")} for one in figures]
        click.echo(legible_json(objects, indent=2))
        return
    from salva.core.table import Table
    from salva.report.terminal import print_table

    rows = tuple(tuple(one[name] for name in columns) for one in figures)
    by = ", ".join(dict.fromkeys(str(one["embedder"]) for one in figures))
    print_table(Table(name=f"image quality by {by}", columns=columns, rows=rows, note=_NOTE))
    for warning in dict.fromkeys(str(one["warning"]) for one in figures if one["warning"]):
        click.echo(f"salva: {warning}", err=True)


def _of_models(run: Path, wanted: Wanted | None, progress: Progress) -> list[dict[str, Cell]]:
    from salva.runs.image_quality import quality_figures

    assert wanted is not None, "without sets there is nothing else to want"
    return [
        {
            "model": model,
            "figure": name,
            "value": quality.value,
            "from": quality.interval.low if quality.interval else None,
            "to": quality.interval.high if quality.interval else None,
            "spread": quality.spread or None,
            "n_images": quality.n_images,
            "n_reference": quality.n_reference or None,
            "embedder": wanted.embedder,
            "warning": quality.warning,
        }
        for model, name, quality in quality_figures(run, wanted, progress)
    ]


def _of_sets(run: Path, wanted: Wanted | None, r_precision: str, progress: Progress) -> list[dict[str, Cell]]:
    from salva.runs.set_figures import Retrieval, set_figures

    retrieval = Retrieval(embedder=r_precision) if r_precision else None
    return [
        {
            "model": model,
            "set": figure.set,
            "figure": figure.name,
            "value": figure.value,
            "from": figure.low,
            "to": figure.high,
            "spread": figure.spread or None,
            "n_images": figure.n_images,
            "n_reference": figure.n_reference or None,
            "embedder": figure.by,
            "warning": figure.warning,
        }
        for model, figures in set_figures(run, wanted, retrieval, progress).items()
        for figure in figures
    ]


def _embedder_options(settings: tuple[str, ...]) -> dict[str, str]:
    from salva.runs.ask import split_settings

    options: dict[str, str] = {}
    for key, value in split_settings(settings).items():
        role, _, name = key.partition(".")
        if role != "embedder" or not name:
            raise UsageError(f"--set {key}={value}: only the embedder has options here; write embedder.OPTION={value}")
        options[name] = value
    return options
