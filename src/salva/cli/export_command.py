"""`salva export`: a run as files others can use."""

from __future__ import annotations

from pathlib import Path

import click

from salva.cli import flags

_FORMS = {
    "counterexamples": "a folder: every violated case as pictures, with an index",
    "csv": "a file: one row a verdict",
    "parquet": "a file: the same rows",
    "sft": "a folder: right pictures with their captions, for supervised tuning",
    "dpo": "a Parquet file: right pictures against wrong ones under one caption, for preference tuning",
    "ratings": "a folder: pictures and an empty sheet for people to rate them, for salva agree",
    "tifa-lite": "a folder: prompts, pictures, answers and scores in the layout of the TIFA-lite project",
}


@click.command("export", short_help="Counterexamples, rows, training data or rating sheets as files.")
@click.argument("run", type=flags.RUN_DIRECTORY)
@click.option("--as", "form", type=click.Choice(list(_FORMS)), required=True, help="What to write; see below.")
@click.option("-o", "--output", type=click.Path(path_type=Path), required=True, help="The file or folder to write.")
@click.option("--min-score", default=0.8, show_default=True, help="sft, dpo: matched scores must be above this (C2).")
@click.option("--max-asymmetry", default=0.1, show_default=True, help="sft, dpo: C3 of the strict filter.")
@click.option(
    "--filter",
    "filter_name",
    type=click.Choice(["strict", "none"]),
    default="strict",
    show_default=True,
    help="sft, dpo: whether mismatched scores are looked at too (equations 13 to 16).",
)
@click.option("--need-kept", is_flag=True, help="sft, dpo: the picture of the kept meaning must pass as well.")
def command(
    run: Path,
    form: str,
    output: Path,
    min_score: float,
    max_asymmetry: float,
    filter_name: str,
    need_kept: bool,
) -> None:
    """Write RUN as files."""
    if form in ("sft", "dpo"):
        from salva.exchange.training_export import write_dpo, write_sft
        from salva.exchange.training_pairs import Filter
        from salva.report.terminal import print_table

        wanted = Filter(
            min_score=min_score, max_asymmetry=max_asymmetry, is_strict=filter_name == "strict", needs_kept=need_kept
        )
        n_rows, choices = (write_sft if form == "sft" else write_dpo)(run, output, wanted)
        if choices is not None:
            print_table(choices)
        click.echo(f"{n_rows} {'captioned pictures' if form == 'sft' else 'preferences'} in {output}")
        return
    from salva.exchange import export, export_tifa
    from salva.people import rating_sheets

    write, what = {
        "csv": (export.write_csv, "verdicts"),
        "parquet": (export.write_parquet, "verdicts"),
        "counterexamples": (export.write_counterexamples, "counterexamples"),
        "ratings": (rating_sheets.write_rating_sheet, "pictures to rate"),
        "tifa-lite": (export_tifa.write_tifa, "pairs"),
    }[form]
    click.echo(f"{write(run, output)} {what} in {output}")


command.epilog = "\b\n" + "\n".join(f"{name:16}{what}" for name, what in _FORMS.items())
