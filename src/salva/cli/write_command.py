"""`salva write`: new test sentences, formulas, paraphrases and questions, reviewed by people."""

from __future__ import annotations

import click

from salva.cli.write_cfworld_command import command as cfworld
from salva.cli.write_formulas_command import formulas, paraphrases
from salva.cli.write_questions_command import questions
from salva.cli.write_semvar_command import command as semvar


@click.group("write", short_help="New test sentences, formulas and questions, reviewed by people.")
def command() -> None:
    """Write triples for semvar, groups for cfworld, and formulas, paraphrases or questions for prompts."""


for subcommand in (semvar, cfworld, formulas, paraphrases, questions):
    command.add_command(subcommand)
