"""Reader: any judge, asked for the text in an image.

Asks two questions: whether there is text, then what it says. So the word "nothing" can be a text. A judge gives no box
and no score: every text gets the whole image and score 1.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from copy import copy
from dataclasses import dataclass, replace
from typing import Any

from salva.core.about import about_of, close, habits_of
from salva.core.observation import Answer, Reading, TextSpan
from salva.core.protocols import ObserveRequest, Query
from salva.errors import BackendError, SalvaError, UsageError
from salva.messages import message

IS_ANY = Query(
    role="judge",
    kind="answer",
    text="Is anything written in the picture, such as letters, words or numbers?",
    choices=("yes", "no"),
)
WHAT = Query(
    role="judge",
    kind="answer",
    text="What is written in the picture, word for word, on one line, with | between texts that stand apart? "
    "The first 20 words are enough.",
)
_NOTHING = ("none", "nothing", "no", "no text", "no words", "n/a", "unknown", "illegible", "unreadable")
"""Replies that mean no text, and so contradict a yes to the first question."""
_WHOLE_IMAGE = (0.0, 0.0, 1.0, 1.0)


@dataclass(frozen=True)
class JudgeAsReader:
    """A judge's class as a reader's class, with the judge's options."""

    judge: Any

    def __post_init__(self) -> None:
        if about_of(self.judge).sees_formula:
            raise UsageError(message("judge-cannot-read", judge=self.judge.__name__))
        description = (self.judge.__doc__ or self.judge.__name__).strip()
        # For lists and messages, as on a class.
        object.__setattr__(self, "__doc__", f"Reads by asking: {description}")
        object.__setattr__(self, "__name__", f"{self.judge.__name__}AsReader")

    @property
    def version(self) -> str:
        """The judge's version and that of this reader."""
        return f"{self.judge.version}, reads 1"

    def __getattr__(self, name: str) -> Any:
        """Whatever else a component's class says of itself is the judge's own."""
        if name.startswith("_"):
            raise AttributeError(name)
        asked = self.judge
        return getattr(asked, name)

    def __call__(self, options: object) -> JudgeReader:
        """The reader."""
        return JudgeReader(self.judge(options))


class JudgeReader:
    """Asks a judge for the text in an image."""

    def __init__(self, judge: Any) -> None:
        self._judge = judge
        habits = habits_of(judge)
        # The judge's timeout is for one question.
        self.habits = replace(habits, timeout_s=None if habits.timeout_s is None else 2 * habits.timeout_s)

    def observe(self, requests: Sequence[ObserveRequest]) -> Sequence[Reading | SalvaError]:
        """One reading or error per request."""
        is_any = self._judge.observe(_requests(IS_ANY, requests))
        has_text = [isinstance(answer, Answer) and answer.text == "yes" for answer in is_any]
        with_text = list(itertools.compress(requests, has_text))
        what = iter(self._judge.observe(_requests(WHAT, with_text)))
        return [reading_of(answer, next(what) if more else None) for answer, more in zip(is_any, has_text, strict=True)]

    def close(self) -> None:
        """Close the judge."""
        close(self._judge)


def reading_of(is_any: object, what: object = None) -> Reading | SalvaError:
    """The reading from the answers to the two questions; the second is None unless the first was answered with yes."""
    first = is_any if what is not None and isinstance(is_any, Answer) else None
    last = is_any if what is None else what
    if isinstance(last, BackendError) and first:
        # The first answer was paid for as well.
        last = copy(last)
        names = {**first.usage, **last.usage}
        last.usage = {name: first.usage.get(name, 0.0) + last.usage.get(name, 0.0) for name in names}
    if isinstance(last, SalvaError):
        return last
    if not isinstance(last, Answer):
        got = type(last).__name__
        why = message("input-unexpected", component="a reader", wanted="a judge's answer", got=got)
        return BackendError(why, is_retryable=False)
    if first is None:
        return Reading(reply=last.reply, problem=last.problem, usage=last.usage, snapshot=last.snapshot)
    problem = last.problem
    if not problem and last.text.casefold() in _NOTHING:
        problem = f"the judge answered yes, then {last.text!r}"
    return Reading(
        spans=() if problem else _spans(last.text),
        reply=last.reply,
        problem=problem,
        # A value that one of the answers lacks is unknown.
        usage={name: first.usage[name] + last.usage[name] for name in first.usage if name in last.usage},
        snapshot=last.snapshot,
    )


def _requests(query: Query, requests: Sequence[ObserveRequest]) -> list[ObserveRequest]:
    return [ObserveRequest(picture=request.picture, query=query) for request in requests]


def _spans(text: str) -> tuple[TextSpan, ...]:
    parts = (part.strip(" \"'“”") for part in text.split("|"))
    return tuple(TextSpan(text=part, score=1.0, box=_WHOLE_IMAGE) for part in parts if part)
