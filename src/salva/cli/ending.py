"""How a command ends with an exit code of its own."""

from __future__ import annotations

from typing import NoReturn


class Ended(SystemExit):
    """The end of a command that knows its exit code; any other SystemExit is a component's and not believed."""


def end(code: int) -> NoReturn:
    """End the command with this exit code."""
    raise Ended(code)
