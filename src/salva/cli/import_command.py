"""`salva import`: others' raw answers and ratings into a run."""

from __future__ import annotations

from pathlib import Path

import click

from salva.cli import flags

_N_SHOWN = 20


@click.command("import", short_help="Others' raw answers into a run.")
@click.argument("files", nargs=-1, required=True, type=click.Path(path_type=Path))
@click.option("--as", "form", required=True, metavar="FORMAT", help="What the files are: tifa-lite.")
@flags.flag("--out", type=flags.RUN_DIRECTORY, required=True, help="The run directory to make.")
@click.option("--model", default="", help="The model that painted; by default told from the file names.")
@click.option(
    "--scale",
    type=click.Choice(["percent", "cosine", "clipscore"]),
    default="percent",
    show_default=True,
    help="The scale of CLIP scores in the files.",
)
def command(files: tuple[Path, ...], form: str, out: Path, model: str, scale: str) -> None:
    """Make a run of FILES that others wrote: their prompts, answers and scores.

    What is wrong with a row is named, counted and kept in the run directory.
    """
    from salva.report.importing import PROBLEMS_FILE, ImportSettings, import_files

    read_in = import_files(files, form, out, ImportSettings(model=model, clip_scale=scale))
    counts = ", ".join(f"{n} {what}" for what, n in read_in.counts.items() if n)
    click.echo(f"{counts} of {', '.join(read_in.models)} in {out}")
    if read_in.problems:
        click.echo(f"{len(read_in.problems)} problems, all of them in {out / PROBLEMS_FILE}:")
        for problem in read_in.problems[:_N_SHOWN]:
            click.echo(f"  {problem}")
        if len(read_in.problems) > _N_SHOWN:
            click.echo(f"  and {len(read_in.problems) - _N_SHOWN} more")
    click.echo(f"report: salva report {out}")
