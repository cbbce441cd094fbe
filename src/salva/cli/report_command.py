"""`salva report`: a run for people and for programs."""

from __future__ import annotations

from pathlib import Path

import click

from salva.cli import flags
from salva.core.legible import legible_json

_FORMS = ("html", "md", "json", "csv", "pdf", "junit")
_PAGES = {"html": "index.html", "pdf": "report.pdf"}
"""Forms that are no text to print: they go to RUN/report/ unless told otherwise."""


@click.command("report", short_help="A run as html, pdf, md, json, csv or junit.")
@click.argument("run", type=flags.RUN_DIRECTORY)
@flags.images_flag
@flags.flag(
    "--format",
    "form",
    of="report",
    type=click.Choice(_FORMS),
    default="html",
    show_default=True,
    help="What to make.",
)
@click.option(
    "-o",
    "--output",
    type=flags.OUTPUT_FILE,
    help="Where to write it; json, md, csv and junit print otherwise.",
)
def command(run: Path, form: str, output: Path | None) -> None:
    """Make the report of RUN; html and pdf go to RUN/report/ unless told otherwise, html there with charts as files."""
    from salva.report.summary import summarise_run

    flags.check_folder(output, own=run / "report")
    if form == "html":
        from salva.report.html import write_html

        path = output or run / "report" / _PAGES["html"]
        write_html(run, path, figures=None if output else path.parent / "figures")
        click.echo(path)
        return
    if form == "pdf":
        from salva.report.pdf import write_pdf

        path = output or run / "report" / _PAGES["pdf"]
        write_pdf(run, path)
        click.echo(path)
        return
    if form == "csv":
        from salva.exchange.exporting import export_run
        from salva.exchange.verdict_rows import csv_pieces

        if output is not None:
            export_run(run, "csv", output)
            click.echo(output)
            return
        for piece in csv_pieces(run):
            click.echo(piece, nl=False)
        return
    if form == "junit":
        from salva.report.junit import junit_of

        text = junit_of(run)
    elif form == "md":
        from salva.report.markdown import to_markdown

        text = to_markdown(summarise_run(run))
    else:
        text = legible_json(summarise_run(run).to_json(), indent=2) + "\n"
    if output is None:
        click.echo(text, nl=False)
    else:
        from salva.files.outfiles import write_text

        write_text(output, text)
        click.echo(output)
