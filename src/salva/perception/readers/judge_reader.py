"""Reader: any judge, asked what is written in a picture.

The class of a judge comes in, the class of a reader goes out, with the same options. It asks two questions, whether
anything is written and then what: a painted "nothing" is a text, and no text is not a word that a judge must find for
it. A judge says neither where a text stands nor how sure it is: a text has the whole picture for a box, and score 1.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any, ClassVar

from salva.core.observation import Answer, Reading, TextSpan
from salva.core.protocols import LookRequest, Query
from salva.errors import BackendError, SalvaError, UsageError

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


@cache
def reader_of(judge: type[Any]) -> type[Any]:
    """A reader that asks this judge; once made, the same class again."""
    if getattr(judge, "sees_formula", False):
        raise UsageError(
            f"the judge {judge.__name__} reasons from boxes and formulas and sees no pixels, so it cannot read; "
            "use --reader rapidocr, a judge that looks at pictures, or none"
        )

    class JudgeReader(judge):  # type: ignore[misc]  # whichever class it is given
        version: ClassVar[str] = f"{judge.version}, reads 1"

        def __init__(self, options: Any) -> None:
            super().__init__(options)
            timeout_s: float | None = getattr(self, "timeout_s", None)
            if timeout_s is not None:
                self.timeout_s = 2 * timeout_s  # the judge's is for one question

        def look(self, requests: Sequence[LookRequest]) -> Sequence[Reading | SalvaError]:
            """One reading or error per request."""
            pictures = range(len(requests))
            is_any = dict(zip(pictures, super().look(_asking(IS_ANY, requests)), strict=True))
            with_text = [i for i in pictures if _said(is_any[i]) == "yes"]
            asked = _asking(WHAT, [requests[i] for i in with_text])
            what = dict(zip(with_text, super().look(asked), strict=True))
            return [reading_of(is_any[i], what.get(i)) for i in pictures]

    JudgeReader.__doc__ = f"Reads by asking: {(judge.__doc__ or judge.__name__).strip()}"
    JudgeReader.__name__ = JudgeReader.__qualname__ = f"{judge.__name__}AsReader"
    return JudgeReader


def reading_of(is_any: object, what: object = None) -> Reading | SalvaError:
    """What a picture's answers to the two questions say; the second is asked only after a yes."""
    answers: list[Answer] = []
    for said in (is_any, what):
        if isinstance(said, SalvaError):
            return said
        if isinstance(said, Answer):
            answers.append(said)
    if not answers:
        return BackendError(f"a judge owes an answer and gave {type(is_any).__name__}", is_retryable=False)
    last = answers[-1]
    problem, spans = last.problem, tuple[TextSpan, ...]()
    if not problem and len(answers) > 1:
        if last.text.casefold() in _NOTHING:
            problem = f"something is written there, it said, and then {last.text!r}"
        spans = () if problem else _spans(last.text)
    return Reading(
        spans=spans, reply=last.reply, problem=problem, usage=_sums([a.usage for a in answers]), snapshot=last.snapshot
    )


def _asking(query: Query, requests: Sequence[LookRequest]) -> list[LookRequest]:
    return [LookRequest(picture=request.picture, query=query) for request in requests]


def _said(answer: object) -> str:
    return answer.text if isinstance(answer, Answer) else ""


def _spans(text: str) -> tuple[TextSpan, ...]:
    parts = (part.strip(" \"'“”") for part in text.split("|"))
    return tuple(TextSpan(text=part, score=1.0, box=_EVERYWHERE) for part in parts if part)


def _sums(usages: Sequence[Mapping[str, float]]) -> dict[str, float]:
    """What all the answers cost together; what is not known of one is not known of all."""
    shared = [name for name in usages[0] if all(name in usage for usage in usages)]
    return {name: sum(usage[name] for usage in usages) for name in shared}
