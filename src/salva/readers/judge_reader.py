"""Reader: any judge, asked for the text in an image.

It asks two questions, whether there is text and then which, so that the word "nothing" in an image is a text. A judge
gives no box and no score: a text gets the whole image and score 1.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from copy import copy
from dataclasses import dataclass, replace
from typing import Any

from salva.core.about import About, about_of, address_of, close, habits_of, options_of, weights_of
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
"""Replies that mean no text; after a yes to the first question they contradict it."""
_EVERYWHERE = (0.0, 0.0, 1.0, 1.0)


@dataclass(frozen=True)
class JudgeAsReader:
    """A judge's class as a reader's class, with the judge's options."""

    judge: Any

    def __post_init__(self) -> None:
        if self.about.sees_formula:
            raise UsageError(message("judge-cannot-read", judge=self.judge.__name__))
        described = (self.judge.__doc__ or self.judge.__name__).strip()
        # For lists and messages, as on a class.
        object.__setattr__(self, "__doc__", f"Reads by asking: {described}")
        object.__setattr__(self, "__name__", f"{self.judge.__name__}AsReader")

    @property
    def version(self) -> str:
        """The judge's version and that of this reader."""
        return f"{self.judge.version}, reads 1"

    @property
    def about(self) -> About:
        """The judge's own."""
        return about_of(self.judge)

    @property
    def Options(self) -> type[Any]:  # noqa: N802  # as a component's class has it
        """The judge's own."""
        return options_of(self.judge)

    def weights(self, options: object) -> str:
        """The judge's own."""
        return weights_of(self.judge, options)

    def address(self, options: object) -> str:
        """The judge's own."""
        return address_of(self.judge, options)

    def __call__(self, options: object) -> JudgeReader:
        """The reader."""
        return JudgeReader(self.judge(options))


class JudgeReader:
    """Reads by asking a judge."""

    def __init__(self, judge: Any) -> None:
        self._judge = judge
        habits = habits_of(judge)
        # The judge's timeout is for one question.
        self.habits = replace(habits, timeout_s=None if habits.timeout_s is None else 2 * habits.timeout_s)

    def observe(self, requests: Sequence[ObserveRequest]) -> Sequence[Reading | SalvaError]:
        """One reading or error per request."""
        numbers = range(len(requests))
        is_any = dict(zip(numbers, self._judge.observe(_requests(IS_ANY, requests)), strict=True))
        with_text = [i for i in numbers if _text(is_any[i]) == "yes"]
        second = _requests(WHAT, [requests[i] for i in with_text])
        what = dict(zip(with_text, self._judge.observe(second), strict=True))
        return [reading_of(is_any[i], what.get(i)) for i in numbers]

    def close(self) -> None:
        """Close the judge."""
        close(self._judge)


def reading_of(is_any: object, what: object = None) -> Reading | SalvaError:
    """The reading from the answers to the two questions; the second is only asked after a yes."""
    answers: list[Answer] = []
    for answer in (is_any, what):
        if isinstance(answer, BackendError) and answers:
            # The first answer was paid for as well.
            answer = copy(answer)
            paid = answers[0].usage
            answer.usage = {
                name: answer.usage.get(name, 0.0) + paid.get(name, 0.0) for name in {**answer.usage, **paid}
            }
        if isinstance(answer, SalvaError):
            return answer
        if isinstance(answer, Answer):
            answers.append(answer)
    if not answers:
        got = type(is_any).__name__
        why = message("input-unexpected", component="a reader", wanted="a judge's answer", got=got)
        return BackendError(why, is_retryable=False)
    last = answers[-1]
    problem, spans = last.problem, tuple[TextSpan, ...]()
    if not problem and len(answers) > 1:
        if last.text.casefold() in _NOTHING:
            problem = f"the judge answered yes, then {last.text!r}"
        spans = () if problem else _spans(last.text)
    return Reading(
        spans=spans, reply=last.reply, problem=problem, usage=_sums([a.usage for a in answers]), snapshot=last.snapshot
    )


def _requests(query: Query, requests: Sequence[ObserveRequest]) -> list[ObserveRequest]:
    return [ObserveRequest(picture=request.picture, query=query) for request in requests]


def _text(answer: object) -> str:
    return answer.text if isinstance(answer, Answer) else ""


def _spans(text: str) -> tuple[TextSpan, ...]:
    parts = (part.strip(" \"'“”") for part in text.split("|"))
    return tuple(TextSpan(text=part, score=1.0, box=_EVERYWHERE) for part in parts if part)


def _sums(usages: Sequence[Mapping[str, float]]) -> dict[str, float]:
    """The usage of all answers; a value that one of them lacks is unknown."""
    shared = [name for name in usages[0] if all(name in usage for usage in usages)]
    return {name: sum(usage[name] for usage in usages) for name in shared}
