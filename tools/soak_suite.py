"""The suite and the check of a soak: pairs of pictures, two questions about each. soak.py hands it to --plugin."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar

from salva.core.about import About
from salva.core.case import Case, Prompt
from salva.core.observation import Answer
from salva.core.options import option
from salva.core.protocols import Conclusion, ImageObservations, Need, Query
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
    about: ClassVar[About] = About(name="soak")

    def __init__(self, options: Options) -> None:
        self.options = options

    def cases(self, size: str) -> Iterator[Case]:
        """Pairs."""
        for i in range(self.options.n):
            prompts = tuple(Prompt(role=role, text=f"picture {i} {role}") for role in ("a", "b"))
            yield Case(case_id=f"soak-{i}", suite="soak", category="all", prompts=prompts, checks=("soak-answers",))


class SoakAnswers:
    """Check: a judge answers the same questions about both pictures."""

    version: ClassVar[str] = "1"
    about: ClassVar[About] = About(
        name="soak-answers", needs_roles=("judge",), failure_types={"other": "Another answer."}
    )

    def __init__(self, options: object) -> None:
        self.options = options

    def applies(self, case: Case) -> bool:
        """Our own cases."""
        return case.suite == "soak"

    def needs(
        self, case: Case, roles: Collection[str], observations: Mapping[str, ImageObservations]
    ) -> Sequence[Need]:
        """Two questions a picture."""
        queries = [Query(role="judge", kind="answer", text=text, choices=("yes", "no")) for text in QUESTIONS]
        return [Need(role=prompt.role, query=query) for prompt in case.prompts for query in queries]

    def judge(self, case: Case, observations: Mapping[str, ImageObservations]) -> Conclusion:
        """Whether all could be read."""
        answers = [seen for sight in observations.values() for seen in sight.seen.values() if isinstance(seen, Answer)]
        if any(answer.problem for answer in answers):
            return Conclusion(outcome=Outcome.UNDECIDED, reason="a reply could not be read")
        return Conclusion(outcome=Outcome.PASS)
