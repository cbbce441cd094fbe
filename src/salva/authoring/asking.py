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
_MAX_LENGTH = 2000
_T = TypeVar("_T")


@dataclass(frozen=True, slots=True, kw_only=True)
class AuthoredAnswer(Generic[_T]):
    """What a text model made of a prompt: questions, a formula, another wording."""

    prompt: str
    value: _T | None = None
    why: str = ""
    """Why there is no value."""
    reply: Json = None
    """The last reply that was JSON."""

    def to_json(self) -> dict[str, object]:
        """One line of the file of prompts without one."""
        return {"prompt": self.prompt, "why": self.why, "reply": self.reply}


def too_long(prompt: str) -> str:
    """Why a text model is not asked about a prompt; empty where it is."""
    return (
        message("text-length", what="A prompt", limit=_MAX_LENGTH, n=len(prompt)) if len(prompt) > _MAX_LENGTH else ""
    )


def ask_about(
    prompts: Iterable[str],
    writer: JsonWriter,
    instruction: str,
    read: Callable[[str, Json], tuple[_T | None, str]],
    unfit: Callable[[str], str] = too_long,
) -> Iterator[AuthoredAnswer[_T]]:
    """What the writer makes of each prompt; `read` gives the value of a reply, or None and the problem.

    An endpoint that cannot be used, or fails three times in a row, raises; one that never answered raises at once,
    since each further try may take its whole time.
    """
    n_failures, has_answered = 0, False
    for prompt in prompts:
        if why := unfit(prompt):
            yield AuthoredAnswer(prompt=prompt, why=why)
            continue
        try:
            made = _asked(prompt, writer, instruction, read)
            n_failures, has_answered = 0, True
        except RefusedError as error:
            made, has_answered = AuthoredAnswer(prompt=prompt, why=str(error)), True
        except UnusableError:
            raise
        except BackendError as error:
            n_failures += 1
            if n_failures == _MAX_FAILURES or (isinstance(error, UnreachableError) and not has_answered):
                raise
            has_answered |= not isinstance(error, UnreachableError)
            made = AuthoredAnswer(prompt=prompt, why=str(error))
        yield made


def _asked(
    prompt: str, writer: JsonWriter, instruction: str, read: Callable[[str, Json], tuple[_T | None, str]]
) -> AuthoredAnswer[_T]:
    """Ask up to three times, each time with what was wrong."""
    # Quoted, so that what the prompt says is data.
    question = asked = f"Prompt: {json.dumps(prompt, ensure_ascii=False)}"
    problem, last = "", None
    for _ in range(_N_ROUNDS):
        reply = writer.ask(instruction, asked)
        if reply is None:
            return AuthoredAnswer(prompt=prompt, why=message("reply-unreadable"), reply=last)
        last = reply
        value, problem = read(prompt, reply)
        if value is not None:
            # Under the first question, so that the same command finds it at once.
            writer.keep(instruction, question, reply)
            break
        asked = f"{question}\n\nAn earlier reply could not be used: {problem} Reply again, as asked for."
    return AuthoredAnswer(prompt=prompt, value=value, why=problem, reply=last)
