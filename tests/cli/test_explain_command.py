"""`salva explain`: every code has an explanation, and a slip gets the nearest code."""

from __future__ import annotations

import pytest
from in_process import salva

from salva.messages import entries


@pytest.mark.parametrize("typed", ["file-missing", "[file-missing]"])
def test_a_code_gives_its_template(typed: str) -> None:
    done = salva("explain", typed)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.split() == ["file-missing", *entries()["file-missing"].template.split()]


def test_a_code_gives_its_explanation() -> None:
    assert salva("explain", "row-invalid").stdout.endswith(f"\n\n{entries()['row-invalid'].explanation}\n")


def test_an_unknown_code_gives_the_nearest() -> None:
    done = salva("explain", "file-mising")
    assert done.returncode == 2
    assert "'file-missing'" in done.stderr
