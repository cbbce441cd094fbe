"""`salva quality`: FID and Inception Score of a run's images."""

from __future__ import annotations

from pathlib import Path

import click

from salva.cli import flags
from salva.cli import help as pages
from salva.core.judgements import SetFigure
from salva.core.printable import printable_json
from salva.core.run_spec import split_settings
from salva.core.table import Cell, Table
from salva.engine.progress import make_progress
from salva.errors import UsageError
from salva.messages import message
from salva.report.terminal import print_table
from salva.runs.image_quality import QualityRequest, quality_figures

_FOLDER = click.Path(path_type=Path)
_NOTE = "FID: smaller is better; the others: larger. Compare figures of one embedder and of as many images only."


@click.command("quality", cls=pages.Command)
@click.argument("run", type=flags.RUN_DIRECTORY)
@flags.flag("--reference", group=pages.TEST, of="quality", type=_FOLDER, help="Real images: gives the FID.")
@flags.flag("--by-set", group=pages.TEST, is_flag=True, help="For each set of captions; stored with RUN.")
@flags.flag(
    "--embedder",
    group=pages.OBSERVERS,
    of="quality",
    default="published-inception",
    help="The network. Default: published-inception.",
)
@flags.flag(
    "--logits",
    group=pages.OBSERVERS,
    default="",
    metavar="OUTPUT",
    help="Its logits: gives the Inception Score.",
)
@flags.flag("--held-out", group=pages.OBSERVERS, type=_FOLDER, help="Images by class: gives I-IS.")
@flags.flag(
    "--r-precision",
    group=pages.OBSERVERS,
    default="",
    metavar="EMBEDDER",
    help="Gives R-precision; with --by-set.",
)
@flags.format_flag("quality", "table", "json")
@flags.set_flag
@flags.images_flag
def command(
    run: Path,
    reference: Path | None,
    embedder: str,
    logits: str,
    held_out: Path | None,
    by_set: bool,
    r_precision: str,
    settings: tuple[str, ...],
    form: str,
) -> None:
    """Print FID and Inception Score of every model of RUN, whatever its images show.

    Below 2,048 images a distance is too large and compares only with others of as many images.
    """

    wanted = QualityRequest(
        embedder=embedder,
        options=_embedder_options(settings),
        reference=reference,
        logits=logits,
        held_out=held_out,
        retrieval=r_precision,
        by_set=by_set,
    )
    by_model = quality_figures(run, wanted, make_progress())
    figures = [_row(model, figure) for model, of_model in by_model.items() for figure in of_model]
    figure = ("figure", "value", "from", "to", "spread", "n_images", "n_reference")
    columns = ("model", *(("set",) if by_set else ()), *figure)
    if form == "json":
        objects = [{name: one[name] for name in (*columns, "embedder", "warning")} for one in figures]
        click.echo(printable_json(objects, indent=2))
        return

    rows = tuple(tuple(one[name] for name in columns) for one in figures)
    by = ", ".join(dict.fromkeys(str(one["embedder"]) for one in figures))
    print_table(Table(name=f"image quality by {by}", columns=columns, rows=rows, note=_NOTE))
    for warning in dict.fromkeys(str(one["warning"]) for one in figures if one["warning"]):
        click.echo(f"salva: {warning}", err=True)


def _row(model: str, figure: SetFigure) -> dict[str, Cell]:
    return {
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


def _embedder_options(settings: tuple[str, ...]) -> dict[str, str]:

    options: dict[str, str] = {}
    for key, value in split_settings(settings).items():
        role, _, name = key.partition(".")
        if role != "embedder" or not name:
            raise UsageError(message("option-invalid", name="--set", value=key, wanted="embedder.OPTION"))
        options[name] = value
    return options
