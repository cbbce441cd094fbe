"""Check: each image shows the entities that its own prompt names.

What prompts name, as the suite says (Prompt.entities), and what a detector found come in. Numbers, places and relations
are the matter of other checks. Pure: no model, no disk, no clock.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar

from salva.checks.scenes import BoxOptions, unusable
from salva.core.about import About
from salva.core.boxes import boxes_above
from salva.core.case import Case, Prompt
from salva.core.observation import Detections
from salva.core.options import option
from salva.core.protocols import Conclusion, ImageObservations, Need, Query
from salva.core.verdict import ENTITY_OMISSION, Failure, Outcome


@dataclass(frozen=True, slots=True, kw_only=True)
class NamedEntitiesOptions(BoxOptions):
    """From which score on an entity is there."""

    side: int = option(0, "Scale images to this side; 0: no.", least=0)


class NamedEntities:
    """Check: every image shows what its prompt names; what the detector has no name for is left out."""

    version: ClassVar[str] = "1"
    about: ClassVar[About] = About(
        needs_roles=("detector",),
        leaves_out_unnamed=True,
        failure_types={ENTITY_OMISSION: "A named entity is missing."},
    )
    Options = NamedEntitiesOptions

    def __init__(self, options: NamedEntitiesOptions) -> None:
        self._options = options

    def applies(self, case: Case) -> bool:
        """Whether a prompt is known to name something."""
        return any(prompt.entities for prompt in case.prompts)

    def needs(
        self, case: Case, roles: Collection[str], observations: Mapping[str, ImageObservations]
    ) -> Sequence[Need]:
        """Boxes of all that the case names: what checks of its formulas and of its mutation ask for as well."""
        query = self._query(case)
        return [Need(role=prompt.role, query=query) for prompt in case.prompts if prompt.entities]

    def judge(self, case: Case, observations: Mapping[str, ImageObservations]) -> Conclusion:
        """An entity without a box fails the case; one whose boxes are all in doubt leaves it undecided."""
        failures: list[Failure] = []
        doubtful: list[str] = []
        scores: dict[str, float] = {}
        query = self._query(case)
        for prompt in (prompt for prompt in case.prompts if prompt.entities):
            boxes = observations[prompt.role].seen.get(query)
            if not isinstance(boxes, Detections):
                return _undecided(prompt, "no detections")
            if problem := unusable(boxes, self._options.threshold):
                return _undecided(prompt, problem)
            found = self._found(boxes, query)
            doubt = (boxes.doubt if self._options.doubt is None else self._options.doubt) or 0.0
            missing = [name for name in prompt.entities if name not in found]
            unsure = [name for name in prompt.entities if name in found and found[name] < doubt]
            scores[f"named_{prompt.role}"] = float(len(prompt.entities) - len(missing))
            if missing or not unsure:
                scores[f"right_{prompt.role}"] = float(not missing)
            failures += [_missing(name, prompt) for name in missing]
            doubtful += unsure
        if failures:
            types = (ENTITY_OMISSION,)
            return Conclusion(outcome=Outcome.FAIL, failure_types=types, failures=tuple(failures), scores=scores)
        if doubtful:
            reason = f"in doubt: {', '.join(dict.fromkeys(doubtful))}"
            return Conclusion(outcome=Outcome.UNDECIDED, reason=reason, scores=scores)
        return Conclusion(outcome=Outcome.PASS, scores=scores)

    def _query(self, case: Case) -> Query:
        names = {name for prompt in case.prompts for name in prompt.entities}
        return Query(role="detector", labels=tuple(sorted(names)), side=self._options.side)

    def _found(self, boxes: Detections, query: Query) -> dict[str, float]:
        """Each entity that has a box, with the score of its first and strongest one."""
        found: dict[str, float] = {}
        for box in boxes_above(boxes, self._options.threshold):
            found.setdefault(box.name_for(query.labels), box.score)
        return found


def _undecided(prompt: Prompt, why: str) -> Conclusion:
    return Conclusion(outcome=Outcome.UNDECIDED, reason=f"the image of prompt {prompt.role!r}: {why}")


def _missing(name: str, prompt: Prompt) -> Failure:
    return Failure(
        failure_type=ENTITY_OMISSION,
        role=prompt.role,
        message=f"no {name}, which the prompt names",
        entity=name,
        expected="1",
        seen="0",
    )
