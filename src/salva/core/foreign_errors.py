"""Exceptions of components and libraries as errors of salva's, safe to print and to store.

Call a component inside `plugin_errors` or `translate_errors`: our own errors go through, everything else is translated,
SystemExit among it.
"""

from __future__ import annotations

import os
import traceback
from collections.abc import Callable

from salva.core.secrets import redact
from salva.errors import PluginError, SalvaError
from salva.messages import message

_SALVA = os.path.dirname(os.path.dirname(os.path.abspath(__file__))) + os.sep
_PYTHON = os.path.dirname(os.__file__) + os.sep


class EndingError(Exception):
    """A component said that the program is over, which is not for it to say."""


def describe_error(error: BaseException) -> str:
    """Type and message of an exception, safe to store; never a traceback, which may hold arguments.

    For whoever mends it: the line of their own code, where some of theirs was running.
    """
    if isinstance(error, SalvaError):
        return redact(str(error))[:2000]
    return redact(f"{type(error).__name__}: {error}")[:2000] + _own_line(error)


def _own_line(error: BaseException) -> str:
    """The file and line that was reached in code that is neither salva's nor an installed library's."""
    foreign = (_SALVA, _PYTHON, "<")
    frames = traceback.walk_tb(error.__traceback__)
    reached = [(frame.f_code.co_filename, line) for frame, line in frames]
    own = [place for place in reached if not place[0].startswith(foreign) and "-packages" not in place[0]]
    return f" (in {os.path.basename(own[-1][0])} line {own[-1][1]})" if own else ""


def one_line(error: BaseException, most: int = 300) -> str:
    """The message of an exception on one line, cut to so many characters."""
    return redact(" ".join(str(error).split()))[:most]


def plugin_errors(who: str, what: str) -> translate_errors:
    """Whatever a component raises leaves as a PluginError: who it was, what it did, and its own words."""
    values = {"component": who, "what": what}
    return translate_errors(lambda error: PluginError(message("component-failed", **values, why=describe_error(error))))


class translate_errors:  # noqa: N801  # used like a function, as the context managers of the standard library
    """Whatever a foreign library raises leaves as what translate makes of it; our own errors go through.

    What translate gives back as it is goes through as well.
    """

    __slots__ = ("_translate",)

    def __init__(self, translate: Callable[[Exception], Exception]) -> None:
        self._translate = translate

    def __enter__(self) -> None:
        """Nothing to prepare."""

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> None:
        if isinstance(error, SystemExit):
            error = EndingError(f"it ends the program (SystemExit {error.code!r})").with_traceback(error.__traceback__)
        if not isinstance(error, Exception) or isinstance(error, SalvaError):
            return
        translated = self._translate(error)
        if translated is error:
            return
        shown = "".join(traceback.format_exception(error))
        # For whoever mends it the cause is kept, unless what Python prints of it would hold a secret.
        raise translated from (error if redact(shown) == shown else None)
