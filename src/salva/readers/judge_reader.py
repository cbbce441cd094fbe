"""Reader: any judge, asked what is written in a picture.

A judge's class comes in, and what makes a reader goes out, with the same options. It asks two questions, whether
anything is written and then what: a painted "nothing" is a text, and no text is not a word that a judge must find for
it. A judge says neither where a text stands nor how sure it is: a text has the whole picture for a box, and score 1.
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
"""What a judge says in place of a text; after a yes to the first question the two contradict each other."""
_EVERYWHERE = (0.0, 0.0, 1.0, 1.0)


@dataclass(frozen=True)
class JudgeAsReader:
    """A judge's class in a reader's place: called with the judge's options, it makes the reader."""

    judge: Any

    def __post_init__(self) -> None:
        if self.about.sees_formula:
            raise UsageError(message("judge-cannot-read", judge=self.judge.__name__))
        described = (self.judge.__doc__ or self.judge.__name__).strip()
        # Said as a class says it, for lists and messages.
        object.__setattr__(self, "__doc__", f"Reads by asking: {described}")
        object.__setattr__(self, "__name__", f"{self.judge.__name__}AsReader")

    @property
    def version(self) -> str:
        """Another version of the judge is another reader."""
        return f"{self.judge.version}, reads 1"

    @property
    def about(self) -> About:
        """What the judge says of itself."""
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
        """The reader at work."""
        return JudgeReader(self.judge(options))


class JudgeReader:
    """Reads by asking a judge."""

    def __init__(self, judge: Any) -> None:
        self._judge = judge
        habits = habits_of(judge)
        # The judge's time is for one question.
        self.habits = replace(habits, timeout_s=None if habits.timeout_s is None else 2 * habits.timeout_s)

    def observe(self, requests: Sequence[ObserveRequest]) -> Sequence[Reading | SalvaError]:
        """One reading or error per request."""
        pictures = range(len(requests))
        is_any = dict(zip(pictures, self._judge.observe(_asking(IS_ANY, requests)), strict=True))
        with_text = [i for i in pictures if _said(is_any[i]) == "yes"]
        asked = _asking(WHAT, [requests[i] for i in with_text])
        what = dict(zip(with_text, self._judge.observe(asked), strict=True))
        return [reading_of(is_any[i], what.get(i)) for i in pictures]

    def close(self) -> None:
        """Let the judge put away what it holds."""
        close(self._judge)


def reading_of(is_any: object, what: object = None) -> Reading | SalvaError:
    """What a picture's answers to the two questions say; the second is asked only after a yes."""
    answers: list[Answer] = []
    for said in (is_any, what):
        if isinstance(said, BackendError) and answers:
            # The first answer was paid for as well, and is lost with the second.
            said = copy(said)
            paid = answers[0].usage
            said.usage = {name: said.usage.get(name, 0.0) + paid.get(name, 0.0) for name in {**said.usage, **paid}}
        if isinstance(said, SalvaError):
            return said
        if isinstance(said, Answer):
            answers.append(said)
    if not answers:
        got = type(is_any).__name__
        why = message("input-unexpected", component="a reader", wanted="a judge's answer", got=got)
        return BackendError(why, is_retryable=False)
    last = answers[-1]
    problem, spans = last.problem, tuple[TextSpan, ...]()
    if not problem and len(answers) > 1:
        if last.text.casefold() in _NOTHING:
            problem = f"something is written there, it said, and then {last.text!r}"
        spans = () if problem else _spans(last.text)
    return Reading(
        spans=spans, reply=last.reply, problem=problem, usage=_sums([a.usage for a in answers]), snapshot=last.snapshot
    )


def _asking(query: Query, requests: Sequence[ObserveRequest]) -> list[ObserveRequest]:
    return [ObserveRequest(picture=request.picture, query=query) for request in requests]


def _said(answer: object) -> str:
    return answer.text if isinstance(answer, Answer) else ""


def _spans(text: str) -> tuple[TextSpan, ...]:
    parts = (part.strip(" \"'“”") for part in text.split("|"))
    return tuple(TextSpan(text=part, score=1.0, box=_EVERYWHERE) for part in parts if part)


def _sums(usages: Sequence[Mapping[str, float]]) -> dict[str, float]:
    """What all the answers cost together; what is not known of one is not known of all."""
    shared = [name for name in usages[0] if all(name in usage for usage in usages)]
    return {name: sum(usage[name] for usage in usages) for name in shared}
