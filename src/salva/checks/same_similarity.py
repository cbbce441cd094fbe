"""Check: two prompts with the same meaning should fit their images equally well, by an embedder.

Takes the vectors of both images and both prompts, compares how well each image fits its own prompt. Pure. An
embedder sees the whole and few details, so this finds less than questions do; it is here to be compared with them.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar

from salva.checks.similarities import SimilarityOptions, similarity_needs, similarity_scores
from salva.core.about import About
from salva.core.case import Case
from salva.core.options import option
from salva.core.protocols import Conclusion, ImageObservations, Need
from salva.core.verdict import Failure, Outcome

SIMILARITY_DIFFERS = "similarity-differs"


@dataclass(frozen=True, slots=True, kw_only=True)
class SameSimilarityOptions(SimilarityOptions):
    """How far two images may differ in fit."""

    min_clip_stability: float = option(0.85, "Least clip_stability; the default suits pocket.", most=1)


class SameSimilarity:
    """Check: both images fit their prompts equally well."""

    version: ClassVar[str] = "1"
    about: ClassVar[About] = About(
        needs_roles=("embedder",),
        compares=True,
        has_control=True,
        failure_types={SIMILARITY_DIFFERS: "One image fits its prompt much better."},
    )
    Options = SameSimilarityOptions

    def __init__(self, options: SameSimilarityOptions) -> None:
        self._options = options

    def applies(self, case: Case) -> bool:
        """Whether this is a pair that is not known to have two meanings."""
        return len(case.prompts) == 2 and case.equivalent is not False

    def needs(
        self, case: Case, roles: Collection[str], observations: Mapping[str, ImageObservations]
    ) -> Sequence[Need]:
        """The vectors of both images and prompts."""
        return similarity_needs(case)

    def judge(self, case: Case, observations: Mapping[str, ImageObservations]) -> Conclusion:
        """Compare the fits."""
        scores = similarity_scores(case, observations, self._options)
        if not scores:
            return Conclusion(outcome=Outcome.UNDECIDED, reason="no vectors of the images or the prompts")
        if scores["clip_A"] <= 0 and scores["clip_B"] <= 0 and any(prompt.formula is None for prompt in case.prompts):
            reason = "neither image resembles its prompt"
            return Conclusion(outcome=Outcome.UNDECIDED, scores=scores, reason=reason)
        if scores["clip_stability"] >= self._options.min_clip_stability:
            return Conclusion(outcome=Outcome.PASS, scores=scores)
        failure = Failure(
            failure_type=SIMILARITY_DIFFERS,
            role="",
            message=f"CLIP score {scores['clip_A']:.2f} in image a, {scores['clip_B']:.2f} in image b "
            f"(scale {self._options.clip_scale})",
            expected=f"a stability of {self._options.min_clip_stability} or more",
            seen=f"{scores['clip_stability']:.3f}",
        )
        return Conclusion(outcome=Outcome.FAIL, failure_types=(SIMILARITY_DIFFERS,), failures=(failure,), scores=scores)
