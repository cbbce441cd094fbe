"""Help pages: as the snapshots have them, grouped, within 80 columns, and without variables.

`UPDATE_SNAPSHOTS=1 pytest tests/cli/test_help.py` writes the snapshots anew.
"""

from __future__ import annotations

import pytest
from in_process import salva
from snapshot import check_snapshot

from salva.cli.help import GROUPS
from salva.cli.main import COMMANDS


@pytest.mark.parametrize("command", ["", "run", "compare", "gate", "rejudge"])
def test_help_is_the_snapshot(command: str) -> None:
    check_snapshot(f"help-{command or 'salva'}", salva(*command.split(), "--help", COLUMNS="80").stdout)


@pytest.mark.parametrize("command", [*COMMANDS, *(f"write {name}" for name in ("semvar", "cfworld", "questions"))])
def test_help_fits_80_columns_and_names_no_variable(command: str) -> None:
    done = salva(*command.split(), "--help", COLUMNS="80")
    assert done.returncode == 0, done.stderr
    assert max(map(len, done.stdout.splitlines())) <= 80
    assert "SALVA_" not in done.stdout


def test_flags_of_run_stand_in_groups_in_their_order() -> None:
    lines = salva("run", "--help").stdout.splitlines()
    titles = [line.removesuffix(":") for line in lines if line[:1].isalpha() and line.endswith(":")]
    assert titles == list(GROUPS)
