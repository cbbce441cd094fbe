"""Doubt: whether a verdict would be another one without boxes of low score, and how low.

Takes what was seen and a function that decides it, leaves boxes out, the weakest first, and gives the lowest score
that the verdict hangs on. Pure, and knows no check: what is seen and what is decided are the caller's.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import combinations

from salva.checks.scenes import ImageScene
from salva.core.protocols import Conclusion
from salva.core.scene import Scene
from salva.core.verdict import CERTAINTY, Outcome

MOST_TOGETHER = 6
"""So many of the weakest entities, of an image or of two that are compared, are left out in every combination; any
further one alone, and with all that are weaker. With more, the combinations would take longer than the images."""

Images = tuple[ImageScene, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Dependence:
    """What a verdict hangs on: without these entities it would be another one."""

    score: float
    """The highest of their scores; no combination that changes the verdict has a lower one."""
    outcome: Outcome
    """What it would be."""
    things: tuple[tuple[ImageScene, int], ...]
    """Images with the place of the entity in each."""

    def words(self) -> str:
        """The entities with their scores, for people."""
        named = [
            f"{image.scene.things[i].label} {image.scores[i]:.2f} in the image of prompt {image.role!r}"
            for image, i in self.things
        ]
        return " and ".join(named)


def with_certainty(seen: Images, conclusion: Conclusion, find: Callable[[], Dependence | None]) -> Conclusion:
    """The conclusion with its certainty, or UNDECIDED where it hangs on boxes in doubt.

    find: what the conclusion hangs on; asked where there are scores. Certainty is the lowest doubt that would leave the
    pair undecided; 1 where no box decides.
    """
    if conclusion.outcome not in (Outcome.PASS, Outcome.FAIL) or not all(image.has_scores for image in seen):
        return conclusion
    hanging = find()
    certainty = 1.0 if hanging is None else hanging.score
    # Of a look that states no doubt, none of an earlier version does, nothing is in doubt.
    doubt = min(image.doubt or 0.0 for image in seen)
    if hanging is None or hanging.score >= doubt:
        return replace(conclusion, scores={**conclusion.scores, CERTAINTY: certainty})
    threshold = max(image.threshold or 0.0 for image in seen)
    # Whether an image is right is what nobody can say; what was seen in it stays.
    kept = {name: value for name, value in conclusion.scores.items() if name.startswith(("named_", "mean_score_"))}
    return Conclusion(
        outcome=Outcome.UNDECIDED,
        reason=f"in doubt: {hanging.words()}; from {threshold:g} on a box counts and from {doubt:g} on it is sure, and "
        f"without {'these' if len(hanging.things) > 1 else 'it'} {conclusion.outcome} would be {hanging.outcome}",
        scores={**kept, CERTAINTY: certainty},
    )


def weakest_dependence(
    seen: Images, outcome: Outcome, decide: Callable[[Images], Outcome], labels: Collection[str] | None
) -> Dependence | None:
    """The weakest entities without which the outcome is another one; None where it stays whatever is left out.

    decide: the outcome of the same images with fewer entities. labels: others cannot change it; None for
    all.
    """
    candidates = sorted(
        (image.scores[i], which, i)
        for which, image in enumerate(seen)
        for i, thing in enumerate(image.scene.things)
        if labels is None or thing.label in labels
    )
    for k, (score, *_) in enumerate(candidates):
        for weaker in _combinations(k):
            out = [candidates[i][1:] for i in (*weaker, k)]
            otherwise = decide(_leave_out(seen, out))
            if otherwise is not outcome:
                things = tuple((seen[which], i) for which, i in out)
                return Dependence(score=score, outcome=otherwise, things=things)
    return None


def any_of(hanging: Iterable[Dependence | None]) -> Dependence | None:
    """What several images depend on where the first to fail decides."""
    return min((one for one in hanging if one is not None), key=lambda one: one.score, default=None)


def all_of(hanging: Iterable[Dependence | None]) -> Dependence | None:
    """What several images depend on where all must fail."""
    parts = [*hanging]
    if not parts or None in parts:
        return None
    falling = [part for part in parts if part is not None]
    return Dependence(
        score=max(part.score for part in falling),
        outcome=falling[0].outcome,
        things=tuple(thing for part in falling for thing in part.things),
    )


def _combinations(k: int) -> list[tuple[int, ...]]:
    """Which of the k weaker entities go out with the next one, few before many."""
    if k < MOST_TOGETHER:
        return [chosen for n in range(k + 1) for chosen in combinations(range(k), n)]
    return [(), tuple(range(k))]


def _leave_out(seen: Images, out: Sequence[tuple[int, int]]) -> Images:
    def less(which: int, image: ImageScene) -> ImageScene:
        gone = {i for other, i in out if other == which}
        if not gone:
            return image
        kept = tuple(thing for i, thing in enumerate(image.scene.things) if i not in gone)
        return replace(image, scene=Scene(things=kept), scores=())

    return tuple(less(which, image) for which, image in enumerate(seen))
