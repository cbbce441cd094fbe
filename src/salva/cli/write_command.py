"""`salva write`: new test sentences, their reviews by people, the hard ones among them, and questions about prompts."""

from __future__ import annotations

import click

from salva.cli.write_groups_command import command as groups
from salva.cli.write_questions_command import questions
from salva.cli.write_triples_commands import hard, new, review, sheet


@click.group("write", short_help="New test sentences from templates, reviewed by people.")
def command() -> None:
    """Make triples of sentences for the semvar suite: new, reviewed, hard ones; groups for cfworld; questions."""


for subcommand in (new, sheet, review, hard, questions, groups):
    command.add_command(subcommand)
