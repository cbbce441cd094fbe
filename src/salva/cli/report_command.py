"""`salva report`: a run for people and for programs."""

from __future__ import annotations

from pathlib import Path

import click

from salva.cli import flags
from salva.cli import help as pages
from salva.core.printable import printable_json
from salva.files.outfiles import write_text
from salva.report.html import write_html, write_report_page
from salva.report.summary import summarise_run
from salva.report.terminal import print_everything, print_summary

_FORMS = ("html", "md", "json", "csv", "pdf", "junit")


@click.command("report", cls=pages.Command)
@click.argument("run", type=flags.RUN_DIRECTORY)
@flags.flag(
    "--format",
    "form",
    group=pages.OUTPUT,
    of="report",
    type=click.Choice(_FORMS),
    help="Default: the page, and the summary on the terminal.",
)
@flags.flag("-o", "--output", group=pages.OUTPUT, of="report", type=flags.OUTPUT_FILE, help="The file to write.")
@flags.images_flag
@flags.verbose_flag
def command(run: Path, form: str | None, output: Path | None, verbose: bool) -> None:
    """Show the result of RUN and make its report page, or another format.

    Without -o, html and pdf are written to RUN/report/; the other formats are printed. -v prints every metric and
    table.
    """
    flags.require_folder(output, own=run / "report")
    if form is None and output is None:
        _show(run, verbose=verbose)
        return
    if form in (None, "html", "pdf"):
        click.echo(_write_page(run, form or "html", output))
        return
    text = _text_of(run, str(form))
    if output is None:
        click.echo(text, nl=False)
    else:
        write_text(output, text)
        click.echo(output)


def _show(run: Path, *, verbose: bool) -> None:
    """The summary on the terminal; with details all metrics and tables."""

    summary = summarise_run(run)
    if verbose:
        print_everything(summary)
    else:
        print_summary(summary, page=str(write_report_page(run, summary)), directory=str(run))


def _write_page(run: Path, form: str, output: Path | None) -> Path:
    """A format that is no text to print."""
    if form == "pdf":
        from salva.report.pdf import write_pdf

        path = output or run / "report" / "report.pdf"
        write_pdf(run, path)
        return path

    if output is None:
        return write_report_page(run)
    write_html(run, output)
    return output


def _text_of(run: Path, form: str) -> str:
    if form == "csv":
        from salva.exchange.verdict_rows import verdicts_csv
        from salva.store.queries import read_records

        return verdicts_csv(read_records(run))
    if form == "junit":
        from salva.report.junit import junit_of

        return junit_of(run)

    summary = summarise_run(run)
    if form == "md":
        from salva.report.markdown import to_markdown

        return to_markdown(summary)
    return printable_json(summary.to_json(), indent=2) + "\n"
