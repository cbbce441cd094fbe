"""The command line in the test's own process, where an endpoint of the test can be reached and code be patched."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import NamedTuple

import pytest

from salva.cli.main import main


class Done(NamedTuple):
    """How a command ended."""

    returncode: int
    stdout: str
    stderr: str


Command = Callable[..., Done]


def command_line(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Command:
    """`salva`, called with its arguments."""

    def command(*arguments: str) -> Done:
        monkeypatch.setattr(sys, "argv", ["salva", *arguments])
        capsys.readouterr()
        with pytest.raises(SystemExit) as ended:
            main()
        code = ended.value.code
        return Done(code if isinstance(code, int) else int(bool(code)), *capsys.readouterr())

    return command
