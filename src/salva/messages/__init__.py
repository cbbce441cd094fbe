"""Every error, warning and note: a stable code, a template of at most two sentences, a longer explanation.

`message("file-missing", path=path)` gives the text with its code in brackets, as users see it. Templates stand in the
modules of this room, by subject; the code is what tests and scripts go by, the wording may change at any time.
"""

from __future__ import annotations

import re
import warnings
from collections.abc import Mapping
from functools import cache
from importlib import import_module

from salva.messages.entry import Entry

SUBJECTS = (
    *("results", "runs", "options", "components", "files", "store", "observing", "generating", "endpoints", "prompts"),
    *("english", "suites", "commands", "review", "compare", "executors", "authoring"),
)
"""The modules of this room that hold templates; those that most runs need first."""


class SalvaWarning(UserWarning):
    """A warning of salva's."""


class Message(str):
    """A text with its code."""

    __slots__ = ("code",)
    code: str

    def __new__(cls, text: str, code: str) -> Message:
        self = super().__new__(cls, text)
        self.code = code
        return self

    @property
    def plain(self) -> str:
        """The text without its code."""
        return self.removesuffix(f" [{self.code}]")

    def __getnewargs__(self) -> tuple[str, str]:  # type: ignore[override]  # pickled with its code
        return str(self), self.code


_TWO_STOPS = re.compile(r"(?<![.\s/])\.\.(?=\s|$)")
"""A value that ends with a full stop of its own, at the end of a sentence."""
_warned: set[str] = set()


@cache
def entries() -> Mapping[str, Entry]:
    """Every entry by its code."""
    found: dict[str, Entry] = {}
    for subject in SUBJECTS:
        for code, entry in import_module(f"salva.messages.{subject}").ENTRIES.items():
            assert code not in found, f"two messages have the code {code!r}"
            found[code] = entry
    return found


def message(code: str, /, **values: object) -> Message:
    """The text of a code with its values filled in."""
    text = _TWO_STOPS.sub(".", _entry(code).template.format(**values))
    return Message(f"{text} [{code}]", code)


@cache
def _entry(code: str) -> Entry:
    """The entry of a code; imports no more subjects than it takes to find it."""
    for subject in SUBJECTS:
        entry: Entry | None = import_module(f"salva.messages.{subject}").ENTRIES.get(code)
        if entry is not None:
            return entry
    raise KeyError(code)


def warn_once(warning: Message) -> None:
    """Warn about something that changes nothing else; said once a process."""
    if warning not in _warned:
        _warned.add(warning)
        warnings.warn(warning, SalvaWarning, stacklevel=2)


def text_of(error: BaseException) -> str:
    """The text of an error without its code, for a message that names it as a reason."""
    return str(error).removesuffix(f" [{code_of(error)}]")


def code_of(text: object) -> str:
    """The code of a message or of an error that carries one; empty for any other text."""
    if isinstance(text, BaseException):
        text = text.args[0] if text.args else ""
    return text.code if isinstance(text, Message) else ""
