"""Check: each image shows what its own prompt says.

Takes what was seen of every image in a case and holds it against the worlds of its prompt, so it
decides prompts that several images satisfy and sees when both images are wrong in the same way. A proved pair is
judged in the frame it was proved in, so both wordings always get the same truth.
Pure: no model, no disk, no clock. A colour nobody could tell makes a case UNDECIDED.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import ClassVar

from salva.checks.doubt import Dependence, all_of, any_of, weakest_dependence, with_certainty
from salva.checks.scenes import (
    WRONG_COLOUR,
    WRONG_RELATION,
    ImageScene,
    Mentioned,
    SceneOptions,
    failure_of,
    is_alike,
    mentioned,
    scene_needs,
    see,
    text_failure,
)
from salva.core.about import About
from salva.core.boxes import labels_without_colour
from salva.core.case import Case
from salva.core.protocols import Conclusion, ImageObservations, Need
from salva.core.verdict import (
    ENTITY_DUPLICATION,
    ENTITY_FORBIDDEN,
    ENTITY_OMISSION,
    OPTICAL_CHARACTER,
    X_MISPOSITION,
    Y_MISPOSITION,
    Failure,
    Outcome,
    failure_types_of,
)
from salva.logic.equivalence import is_contradictory
from salva.logic.formula import Formula
from salva.logic.satisfaction import discrepancies, satisfies


class Truth:
    """Check: every image is one of its prompt's worlds and shows no text it was not asked for."""

    version: ClassVar[str] = "2"
    about: ClassVar[About] = About(
        needs_roles=("detector",),
        has_control=True,
        failure_types={
            X_MISPOSITION: "Wrong place from left to right.",
            Y_MISPOSITION: "Wrong place from top to bottom.",
            WRONG_RELATION: "Wrong relation: next to, on, near or size.",
            WRONG_COLOUR: "Wrong colour.",
            ENTITY_DUPLICATION: "Too many of an entity.",
            ENTITY_FORBIDDEN: "A denied entity is there.",
            ENTITY_OMISSION: "Too few of an entity.",
            OPTICAL_CHARACTER: "Unrequested text.",
        },
    )
    Options = SceneOptions

    def __init__(self, options: SceneOptions) -> None:
        self._options = options

    def applies(self, case: Case) -> bool:
        """Whether every prompt has a formula that some image can satisfy."""
        formulas = [formula for formula in mentioned(case).formulas if formula is not None]
        if len(formulas) < len(case.prompts):
            return False
        return not any(is_contradictory(formula, case.read_counts(self._options.counts)) for formula in formulas)

    def needs(
        self, case: Case, roles: Collection[str], observations: Mapping[str, ImageObservations]
    ) -> Sequence[Need]:
        """Boxes of what the case mentions, colours where a formula speaks of any, and text where somebody reads."""
        needs = scene_needs(case, roles)
        asked = mentioned(case).colour_query
        if asked is not None and asked.role in roles:
            needs += [Need(role=prompt.role, query=asked) for prompt in case.prompts]
        return needs

    def judge(self, case: Case, observations: Mapping[str, ImageObservations]) -> Conclusion:
        """Hold every image against its own prompt; the scores say which were right, and whether both wrong."""
        options, counts = self._options, case.read_counts(self._options.counts)
        seen = see(case, observations, options)
        if isinstance(seen, str):
            return Conclusion(outcome=Outcome.UNDECIDED, reason=seen)
        what = mentioned(case)
        was_asked = any(what.colour_query in sight.seen for sight in observations.values())
        failures: list[Failure] = []
        scores: dict[str, float] = {}
        in_one_frame = bool(case.equivalent) and len(seen) == 2
        frames = what.formulas[::-1] if in_one_frame else (None,) * len(seen)
        for image, formula, beside, own in zip(seen, what.formulas, frames, what.coloured, strict=True):
            if formula is None:
                return Conclusion(outcome=Outcome.UNDECIDED, reason=f"prompt {image.role!r} has no formula")
            coloured = frozenset().union(*what.coloured) if in_one_frame else own
            if colourless := labels_without_colour(image.scene, coloured):
                return Conclusion(
                    outcome=Outcome.UNDECIDED, reason=_unknown_colours(colourless, image, was_asked=was_asked)
                )
            wrong = [
                failure_of(discrepancy, image.role, has_choice=not case.determinate)
                for discrepancy in discrepancies(formula, image.scene, counts, beside)
            ]
            wrong += [text_failure(image.role, image.text)] if image.text else []
            scores[f"right_{image.role}"] = 0.0 if wrong else 1.0
            scores[f"named_{image.role}"] = float(sum(thing.label in what.entities for thing in image.scene.things))
            scores |= _mean_score(image, what.entities)
            failures += wrong
        if len(seen) == 2:
            both_wrong = not any(scores[f"right_{image.role}"] for image in seen)
            alike = both_wrong and is_alike(*seen, what, counts=counts)
            scores["both_wrong"] = float(alike)
        conclusion = Conclusion(
            outcome=Outcome.FAIL if failures else Outcome.PASS,
            failure_types=failure_types_of(failures, self.about.failure_types),
            failures=tuple(failures),
            scores=scores,
        )

        return with_certainty(seen, conclusion, lambda: self._depends_on(seen, what, frames, conclusion, counts))

    def _depends_on(
        self,
        seen: tuple[ImageScene, ...],
        what: Mentioned,
        frames: Sequence[Formula | None],
        conclusion: Conclusion,
        counts: str,
    ) -> Dependence | None:
        """What the conclusion depends on: any image that is right, or all that are wrong."""

        def of_image(image: ImageScene, formula: Formula, beside: Formula | None) -> Dependence | None:
            def decide(images: tuple[ImageScene, ...]) -> Outcome:
                is_right = satisfies(formula, images[0].scene, counts, beside)
                return Outcome.PASS if is_right and not image.text else Outcome.FAIL

            return weakest_dependence((image,), conclusion.outcome, decide, what.entities)

        is_fail = conclusion.outcome is Outcome.FAIL
        images = [
            of_image(image, formula, beside)
            for image, formula, beside in zip(seen, what.formulas, frames, strict=True)
            if formula is not None and not (is_fail and conclusion.scores[f"right_{image.role}"])
        ]
        return all_of(images) if is_fail else any_of(images)


def _mean_score(image: ImageScene, things: Collection[str]) -> dict[str, float]:
    """How sure the detector is of what the prompts name, where it has scores and found any."""
    if not image.has_scores:
        return {}
    seen = zip(image.scene.things, image.scores, strict=True)
    sure = [score for thing, score in seen if thing.label in things]
    return {f"mean_score_{image.role}": sum(sure) / len(sure)} if sure else {}


def _unknown_colours(names: tuple[str, ...], seen: ImageScene, *, was_asked: bool) -> str:
    """Why the colours of some entities are not known."""
    things = f"the colour of the {', '.join(names)} in the image of prompt {seen.role!r}"
    return f"the pixels do not say {things}" if was_asked else f"nobody looked at {things}"
