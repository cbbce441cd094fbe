"""The suite and the relation of a soak: pairs of pictures, two questions about each. soak.py hands it to --plugin."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar

from salva.core.about import About
from salva.core.case import Case, Prompt
from salva.core.observation import Answer
from salva.core.options import option
from salva.core.protocols import Conclusion, Look, Query, Sight
from salva.core.verdict import Outcome

N_PICTURES = 20_000
QUESTIONS = ("is there a cat?", "is there a dog?")


class SoakSuite:
    """Pairs of sentences that differ in a number, as many as are asked for."""

    @dataclass(frozen=True, slots=True, kw_only=True)
    class Options:
        """How many."""

        n: int = option(N_PICTURES // 2, "Cases.")

    version: ClassVar[str] = "1"
    sizes: ClassVar[tuple[str, ...]] = ("full",)
    about: ClassVar[About] = About(name="soak", leads="soak-answers")

    def __init__(self, options: Options) -> None:
        self.options = options

    def cases(self, size: str) -> Iterator[Case]:  # noqa: ARG002  # there is one size
        """Pairs."""
        for i in range(self.options.n):
            prompts = tuple(Prompt(role=role, text=f"picture {i} {role}") for role in ("a", "b"))
            yield Case(case_id=f"soak-{i}", suite="soak", category="all", prompts=prompts, relation="soak-answers")


class SoakAnswers:
    """Relation: a judge answers the same questions about both pictures."""

    version: ClassVar[str] = "1"
    about: ClassVar[About] = About(name="soak-answers", needs=("judge",), errors={"other": "Another answer."})

    def __init__(self, options: object) -> None:
        self.options = options

    def applies(self, case: Case) -> bool:
        """Our own cases."""
        return case.suite == "soak"

    def looks(self, case: Case, roles: Collection[str], sights: Mapping[str, Sight]) -> Sequence[Look]:  # noqa: ARG002  # the seam's signature
        """Two questions a picture."""
        queries = [Query(role="judge", kind="answer", text=text, choices=("yes", "no")) for text in QUESTIONS]
        return [Look(role=prompt.role, query=query) for prompt in case.prompts for query in queries]

    def judge(self, case: Case, sights: Mapping[str, Sight]) -> Conclusion:  # noqa: ARG002  # the seam's signature
        """Whether all could be read."""
        answers = [seen for sight in sights.values() for seen in sight.seen.values() if isinstance(seen, Answer)]
        if any(answer.problem for answer in answers):
            return Conclusion(outcome=Outcome.INCONCLUSIVE, reason="a reply could not be read")
        return Conclusion(outcome=Outcome.HOLDS)
