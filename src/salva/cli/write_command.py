"""`salva write`: new test sentences, their reviews by people, the hard ones among them, and questions about prompts."""

from __future__ import annotations

import click

from salva.cli.write_formulas_command import formulas, paraphrases
from salva.cli.write_groups_command import command as groups
from salva.cli.write_questions_command import questions
from salva.cli.write_triples_commands import hard, new, review, sheet
from salva.cli.write_weights_command import command as weights


@click.group("write", short_help="New test sentences from templates, reviewed by people.")
def command() -> None:
    """Make triples for semvar, groups for cfworld, questions, formulas and paraphrases of prompts, geneval weights."""


for subcommand in (new, sheet, review, hard, questions, formulas, paraphrases, groups, weights):
    command.add_command(subcommand)
