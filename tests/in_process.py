"""The command line in the test's own process: what it prints and how it exits, without starting Python each time."""

from __future__ import annotations

import io
import re
import sys
from collections.abc import Callable
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path
from typing import NamedTuple

import pytest

from salva.cli.main import run_command


class Done(NamedTuple):
    """How a command ended."""

    returncode: int
    stdout: str
    stderr: str

    @property
    def codes(self) -> list[str]:
        """The codes of the messages on stderr."""
        return re.findall(r"\[([a-z]+(?:-[a-z]+)+)\]", self.stderr)


Command = Callable[..., Done]


def salva(*arguments: str, cwd: Path | None = None, **variables: str) -> Done:
    """`salva` with these arguments, as typed in that folder under these variables; 160 columns wide."""
    out, err = (io.TextIOWrapper(io.BytesIO(), encoding="utf-8", write_through=True) for _ in range(2))
    with pytest.MonkeyPatch.context() as patch, redirect_stdout(out), redirect_stderr(err):
        patch.setattr(sys, "argv", ["salva", *arguments])
        for name, value in {"COLUMNS": "160", **variables}.items():
            patch.setenv(name, value)
        if cwd is not None:
            patch.chdir(cwd)
        code = run_command()
    said = (stream.buffer.getvalue().decode() for stream in (out, err) if isinstance(stream.buffer, io.BytesIO))
    return Done(code, *said)
