"""Asks a text model in sequence: again where a reply cannot be used, and given up when it fails."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Generic, TypeVar

from salva.core.authored import JsonWriter
from salva.core.fingerprint import Json
from salva.errors import BackendError, RefusedError, UnreachableError, UnusableError
from salva.messages import message

_MAX_FAILURES = 3
"""Failures in a row after which an endpoint is given up."""
_N_ROUNDS = 3
MAX_LENGTH = 2000
"""Characters of a prompt that a text model is asked about."""
_T = TypeVar("_T")


@dataclass(frozen=True, slots=True)
class Reply(Generic[_T]):
    """What a text model replied about one text."""

    value: _T | None
    why: str = ""
    """Why there is no value."""
    last: Json = None
    """The last reply that was JSON."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Suggestion:
    """A text that a text model suggested for a prompt: a formula, another wording."""

    prompt: str
    text: str = ""
    """Empty where there is none."""
    why: str = ""
    """Why there is none."""
    reply: Json = None

    def to_json(self) -> dict[str, object]:
        """One line of the file of prompts without one."""
        return {"prompt": self.prompt, "why": self.why, "reply": self.reply}


def suggest(
    prompts: Iterable[str], writer: JsonWriter, instruction: str, read: Callable[[str, Json], tuple[str | None, str]]
) -> Iterator[Suggestion]:
    """A suggestion for each prompt; `read` makes a text of a prompt and a reply, or says what is wrong with it."""

    def asked(prompt: str) -> Suggestion:
        if len(prompt) > MAX_LENGTH:
            return Suggestion(prompt=prompt, why=message("text-too-long", limit=MAX_LENGTH))
        reply = ask_until_usable(writer, instruction, prompt_question(prompt), lambda reply: read(prompt, reply))
        return Suggestion(prompt=prompt, text=reply.value or "", why=reply.why, reply=reply.last)

    return one_by_one(prompts, asked, lambda prompt, why: Suggestion(prompt=prompt, why=why))


def prompt_question(prompt: str) -> str:
    """The prompt as a text model is shown it: quoted, so that what it says is data."""
    return f"Prompt: {json.dumps(prompt, ensure_ascii=False)}"


def ask_until_usable(
    writer: JsonWriter, instruction: str, question: str, read: Callable[[Json], tuple[_T | None, str]]
) -> Reply[_T]:
    """Ask up to three times, each time with what was wrong; read gives a value, or None and the problem."""
    asked, problem = question, ""
    last: Json = None
    for _ in range(_N_ROUNDS):
        reply = writer.ask(instruction, asked)
        if reply is None:
            return Reply(None, message("reply-unreadable"), last)
        last = reply
        value, problem = read(reply)
        if value is not None:
            # Under the first question, so that the same command finds it at once.
            writer.keep(instruction, question, reply)
            return Reply(value, "", reply)
        asked = f"{question}\n\nAn earlier reply could not be used: {problem} Reply again, as asked for."
    return Reply(None, problem, last)


def one_by_one(texts: Iterable[str], ask: Callable[[str], _T], failed: Callable[[str, str], _T]) -> Iterator[_T]:
    """The result for each text; `failed` makes the one of a text that was refused or failed.

    An endpoint that cannot be used, or fails three times in a row, raises; one that never answered raises at once,
    since each further try may take its whole time.
    """
    n_failures, has_answered = 0, False
    for text in texts:
        try:
            made = ask(text)
            n_failures, has_answered = 0, True
        except RefusedError as error:
            made, has_answered = failed(text, str(error)), True
        except UnusableError:
            raise
        except BackendError as error:
            n_failures += 1
            if n_failures == _MAX_FAILURES or (isinstance(error, UnreachableError) and not has_answered):
                raise
            has_answered |= not isinstance(error, UnreachableError)
            made = failed(text, str(error))
        yield made
