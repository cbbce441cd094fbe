"""`salva quality`: FID and Inception Score of a run's pictures."""

from __future__ import annotations

import json
from pathlib import Path

import click

from salva.cli import flags
from salva.errors import UsageError

_FOLDER = click.Path(path_type=Path)
_NOTE = (
    "FID is a distance: smaller is better. Of Inception Scores the larger is better; spread is over the splits. "
    "Compare only what one embedder gave, for as many pictures."
)


@click.command("quality", short_help="FID and Inception Score of a run's pictures.")
@click.argument("run", type=flags.RUN_DIRECTORY)
@flags.plugin_flag
@click.option("--reference", type=_FOLDER, help="Real pictures: gives the FID of the run's from these.")
@flags.flag(
    "--embedder",
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
@flags.set_flag
@click.option("--format", "form", type=click.Choice(["table", "json"]), default="table", show_default=True)
@flags.progress_flag
def command(
    run: Path,
    reference: Path | None,
    embedder: str,
    logits: str,
    splits: int,
    held_out: Path | None,
    settings: tuple[str, ...],
    form: str,
    no_progress: bool,
) -> None:
    """How good the pictures of RUN are as pictures, whatever they show: FID and Inception Score of every model.

    Needs many pictures: below 2,048 a distance is too large and compares with nothing but others of as many pictures.
    Vectors that RUN has stored from the same embedder are used, the rest are made now and not kept.
    """
    from salva.engine.progress import make_progress
    from salva.run.image_quality import Wanted, quality_figures

    wanted = Wanted(
        embedder=embedder,
        options=_embedder_options(settings),
        reference=reference,
        logits=logits,
        n_splits=splits,
        held_out=held_out,
    )
    figures = quality_figures(run, wanted, make_progress(quiet=no_progress))
    columns = ("model", "figure", "value", "spread", "n_images", "n_reference")
    rows = [
        (model, name, quality.value, quality.spread or None, quality.n_images, quality.n_reference or None)
        for model, name, quality in figures
    ]
    if form == "json":
        warnings = [quality.warning for _, _, quality in figures]
        objects: list[dict[str, object]] = [dict(zip(columns, row, strict=True)) for row in rows]
        for figure, warning in zip(objects, warnings, strict=True):
            figure |= {"embedder": embedder, "warning": warning}
        click.echo(json.dumps(objects, ensure_ascii=False, indent=2, allow_nan=False))
        return
    from salva.core.table import Table
    from salva.report.terminal import print_table

    print_table(Table(name=f"image quality by {embedder}", columns=columns, rows=tuple(rows), note=_NOTE))
    for warning in dict.fromkeys(quality.warning for _, _, quality in figures if quality.warning):
        click.echo(f"salva: {warning}", err=True)


def _embedder_options(settings: tuple[str, ...]) -> dict[str, str]:
    from salva.run.ask import split_settings

    options: dict[str, str] = {}
    for key, value in split_settings(settings).items():
        role, _, name = key.partition(".")
        if role != "embedder" or not name:
            raise UsageError(f"--set {key}={value}: only the embedder has options here; write embedder.OPTION={value}")
        options[name] = value
    return options
