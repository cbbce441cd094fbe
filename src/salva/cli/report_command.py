"""`salva report`: a run for people and for programs."""

from __future__ import annotations

from pathlib import Path

import click

from salva.cli import flags
from salva.cli import help as pages
from salva.core.printable import printable_json

_FORMS = ("html", "md", "json", "csv", "pdf", "junit")
_PAGES = {"html": "index.html", "pdf": "report.pdf"}
"""Forms that are no text to print: they go to RUN/report/ without -o."""


@click.command("report", cls=pages.Command)
@click.argument("run", type=flags.RUN_DIRECTORY)
@flags.flag(
    "--format",
    "form",
    group=pages.OUTPUT,
    of="report",
    type=click.Choice(_FORMS),
    default="html",
    help="Default: html.",
)
@flags.flag("-o", "--output", group=pages.OUTPUT, of="report", type=flags.OUTPUT_FILE, help="The file to write.")
@flags.images_flag
@flags.verbose_flag
def command(run: Path, form: str, output: Path | None, verbose: bool) -> None:
    """Make the report of RUN.

    Without -o, html and pdf are written to RUN/report/; the other formats are printed. -v prints every metric and
    table.
    """
    from salva.report.summary import summarise_run

    if verbose:
        from salva.report.terminal import print_everything

        print_everything(summarise_run(run))
        return
    flags.require_folder(output, own=run / "report")
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
        from salva.exchange.verdict_rows import verdicts_csv
        from salva.store.queries import read_records

        text = verdicts_csv(read_records(run))
    elif form == "junit":
        from salva.report.junit import junit_of

        text = junit_of(run)
    elif form == "md":
        from salva.report.markdown import to_markdown

        text = to_markdown(summarise_run(run))
    else:
        text = printable_json(summarise_run(run).to_json(), indent=2) + "\n"
    if output is None:
        click.echo(text, nl=False)
    else:
        from salva.files.outfiles import write_text

        write_text(output, text)
        click.echo(output)
