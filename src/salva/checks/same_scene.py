"""Check: two prompts with the same meaning should show the same entities.

Takes what was seen of both images of a case and compares labels, numbers, the order of centroids
on the prompt's axis, and unrequested text. Pure: no model, no disk, no clock. The formulas only
say where to look and, once the images differ, which of them is to blame.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar

from salva.checks.doubt import weakest_dependence, with_certainty
from salva.checks.scenes import (
    MISPOSITION,
    ImageScene,
    Mentioned,
    SceneOptions,
    failure_of,
    mentioned,
    scene_needs,
    see,
    text_failure,
)
from salva.core.about import About
from salva.core.case import Case
from salva.core.options import option
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
from salva.logic.comparing import compare_orders, counts_of, number_differences
from salva.logic.orders import OrderDifference
from salva.logic.satisfaction import (
    EXTRA,
    FORBIDDEN,
    MISSING,
    UNRELATED,
    X_MISPLACED,
    Y_MISPLACED,
    discrepancies,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class SameSceneOptions(SceneOptions):
    """How two images are compared."""

    scope: str = option("mentioned", "Labels that are compared.", choices=("mentioned", "all"))
    indeterminate: str = option(
        "truth", "The check of pairs with several right images.", choices=("truth", "same-scene")
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class _SceneComparison:
    """What differs between two images."""

    differing: tuple[str, ...]
    """Labels with other numbers."""
    orders: tuple[OrderDifference, ...]
    text_differs: bool
    is_empty: bool
    """Whether there is nothing in either image, and no formula to say that this is wrong."""

    @property
    def outcome(self) -> Outcome:
        if self.is_empty:
            return Outcome.UNDECIDED
        return Outcome.FAIL if self.differing or self.orders or self.text_differs else Outcome.PASS


class SameScene:
    """Check: both images show the same entities, in the same numbers and order, and neither or both show text."""

    version: ClassVar[str] = "1"
    about: ClassVar[About] = About(
        needs_roles=("detector",),
        has_control=True,
        compares=True,
        failure_types={
            X_MISPOSITION: "Other order from left to right.",
            Y_MISPOSITION: "Other order from top to bottom.",
            ENTITY_DUPLICATION: "One image shows too many.",
            ENTITY_FORBIDDEN: "One image shows a denied entity.",
            ENTITY_OMISSION: "One image shows too few.",
            OPTICAL_CHARACTER: "One image alone shows unrequested text.",
        },
    )
    Options = SameSceneOptions

    def __init__(self, options: SameSceneOptions) -> None:
        self._options = options

    def applies(self, case: Case) -> bool:
        """Whether this is a pair whose right images cannot differ, as far as anybody knows."""
        if len(case.prompts) != 2:
            return False
        compares_all = self._options.indeterminate == "same-scene"
        is_named = "same-scene" in case.named_checks
        # Prompts with different meanings are a pair only where a paper printed them as one and its rule is asked for.
        if case.equivalent is False:
            return is_named and compares_all and self._options.scope == "all"
        # Without formulas nothing is mentioned that could be compared; a suite that means every label says so.
        if self._options.scope == "mentioned" and any(prompt.formula is None for prompt in case.prompts):
            return is_named
        return compares_all or case.determinate is not False

    def needs(
        self, case: Case, roles: Collection[str], observations: Mapping[str, ImageObservations]
    ) -> Sequence[Need]:
        """Boxes of what the case mentions, and text where somebody can read it."""
        return scene_needs(case, roles)

    def judge(self, case: Case, observations: Mapping[str, ImageObservations]) -> Conclusion:
        """Compare the two images."""
        options = self._options
        seen = see(case, observations, options)
        if isinstance(seen, str):
            return Conclusion(outcome=Outcome.UNDECIDED, reason=seen)
        what = mentioned(case)

        counts = case.read_counts(self._options.counts)

        def decide(images: tuple[ImageScene, ...]) -> Outcome:
            return self._compare(images, what, counts).outcome

        labels = None if self._is_all(what) else what.entities
        conclusion = self._conclude(seen, what, counts)
        return with_certainty(seen, conclusion, lambda: weakest_dependence(seen, conclusion.outcome, decide, labels))

    def _is_all(self, what: Mentioned) -> bool:
        """Whether every label is compared: where that is asked for, and where no formula says what to look at."""
        return self._options.scope == "all" or None in what.formulas

    def _compare(self, seen: tuple[ImageScene, ...], what: Mentioned, counts: str) -> _SceneComparison:
        """What differs between the two images, without saying who is to blame."""
        a, b = seen
        is_all = self._is_all(what)
        differing = number_differences(a.scene, b.scene, what.compared, counts=counts, all_labels=is_all)
        # An order of different entities has no meaning, so it is compared only when the numbers agree.
        orders = () if differing else compare_orders(a.scene, b.scene, what.compared, counts=counts, all_labels=is_all)
        return _SceneComparison(
            differing=differing,
            orders=orders,
            text_differs=bool(a.text) != bool(b.text),
            is_empty=not any(what.formulas) and not any(image.scene.things or image.text for image in seen),
        )

    def _conclude(self, seen: tuple[ImageScene, ...], what: Mentioned, counts: str) -> Conclusion:
        """The comparison as a conclusion, with whoever is to blame."""
        a, b = seen
        compared = self._compare(seen, what, counts)
        if compared.is_empty:
            return Conclusion(outcome=Outcome.UNDECIDED, reason="nothing was seen in either image")
        failures = self._number_failures(a, b, what, compared.differing, counts) if compared.differing else []
        failures += self._order_failures(a, b, what, compared.orders, counts)
        if compared.text_differs:
            shown = a if a.text else b
            failures.append(text_failure(shown.role, shown.text))
        return Conclusion(
            outcome=compared.outcome,
            failure_types=failure_types_of(failures, self.about.failure_types),
            failures=tuple(failures),
            scores={
                "labels_that_differ": float(len(compared.differing)),
                "orders_that_differ": float(len(compared.orders)),
                "text_differs": float(compared.text_differs),
            },
        )

    def _number_failures(
        self, a: ImageScene, b: ImageScene, what: Mentioned, differing: Sequence[str], counts: str
    ) -> list[Failure]:
        """Who has too many or too few, by the prompts' own formulas; by comparison where these are content."""
        failures = self._blamed(a, b, what, {MISSING, EXTRA, FORBIDDEN}, frozenset(differing), counts)
        for label in differing:
            if any(failure.entity == label for failure in failures):
                continue
            n_a, n_b = (counts_of(seen.scene, (label,))[label] for seen in (a, b))
            fewer, more = (a, b) if n_a < n_b else (b, a)
            n_fewer, n_more = min(n_a, n_b), max(n_a, n_b)
            is_unasked = label not in what.entities and None not in what.formulas
            failures.append(
                Failure(
                    failure_type=ENTITY_DUPLICATION if is_unasked else ENTITY_OMISSION,
                    role=more.role if is_unasked else "",
                    message=(
                        f"{label}: {n_more} in the image of prompt {more.role!r}, "
                        f"{n_fewer} in that of prompt {fewer.role!r}"
                    ),
                    entity=label,
                    expected=str(n_fewer if is_unasked else n_more),
                    seen=str(n_more if is_unasked else n_fewer),
                )
            )
        return failures

    def _order_failures(
        self, a: ImageScene, b: ImageScene, what: Mentioned, differences: Sequence[OrderDifference], counts: str
    ) -> list[Failure]:
        """Whose entities are out of place, by the prompts' own formulas; by comparison where these are content."""
        failures: list[Failure] = []
        for axis in dict.fromkeys(difference.axis for difference in differences):
            on_axis = [difference for difference in differences if difference.axis == axis]
            labels = frozenset().union(*(difference.labels for difference in on_axis))
            kinds = {X_MISPLACED if axis == "x" else Y_MISPLACED, UNRELATED}
            blamed = [f for f in self._blamed(a, b, what, kinds, labels, counts) if f.failure_type == MISPOSITION[axis]]
            failures += blamed or [_order_failure(difference, a, b) for difference in on_axis]
        return failures

    def _blamed(
        self,
        a: ImageScene,
        b: ImageScene,
        what: Mentioned,
        kinds: Collection[str],
        labels: frozenset[str],
        counts: str,
    ) -> list[Failure]:
        """What each image gets wrong about its own prompt, of these kinds and labels."""
        failures = []
        for seen, formula in zip((a, b), what.formulas, strict=True):
            if formula is None:
                continue
            for discrepancy in discrepancies(formula, seen.scene, counts):
                touched = {discrepancy.entity, discrepancy.relation.second if discrepancy.relation else ""}
                if discrepancy.kind in kinds and touched & labels:
                    failures.append(failure_of(discrepancy, seen.role))
        return failures


def _order_failure(difference: OrderDifference, a: ImageScene, b: ImageScene) -> Failure:
    first, second = difference.orders
    direction = "from left to right" if difference.axis == "x" else "from top to bottom"
    return Failure(
        failure_type=MISPOSITION[difference.axis],
        role="",
        message=f"{direction}: {first} in the image of prompt {a.role!r}, {second} in that of prompt {b.role!r}",
        entity=", ".join(sorted(difference.labels)),
        expected=first,
        seen=second,
    )
