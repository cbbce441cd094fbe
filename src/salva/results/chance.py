"""The rate of shuffled images: every image in the place of another.

Cases in, the rate of a faultless model with shuffled images. Worlds of each prompt are drawn as scenes, each entity in
its third and what has no place anywhere, and compared with other prompts of the same suite, or with each other.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import islice

from salva.core.case import Case
from salva.core.fingerprint import fingerprint
from salva.core.grouping import group_by
from salva.core.scene import Scene, Thing
from salva.logic.comparing import Comparable, comparable, shows_same
from salva.logic.formula import entities
from salva.logic.notation import parse
from salva.logic.satisfaction import satisfies
from salva.results.drawn_scenes import draw_scene
from salva.stats.means import mean_of_groups

CHANCE = "chance"
"""The metric that says it."""
MOST_PROMPTS = 60
"""Of more cases so many get others' images, spread over the categories and the same ones each time."""
MOST_PICTURES = 300
"""So many pairs of images are dealt out, each case's as likely as any other's: categories differ in size, and what
an image has to do with a prompt depends on where most images come from. Few cases are generated several times."""


@dataclass(frozen=True, slots=True)
class _ShuffledPair:
    """As much of a case as shuffling its images takes."""

    case_id: str
    category: str
    formulas: tuple[str, ...]
    is_equivalent: bool
    counts: str
    """How its numbers are read."""


def _pairs_of(cases: Sequence[Case], counts: str, *, is_pooled: bool = False) -> tuple[_ShuffledPair, ...]:
    return tuple(
        _ShuffledPair(
            case.case_id,
            "" if is_pooled else case.category,
            tuple(p.formula or "" for p in case.prompts),
            bool(case.equivalent),
            counts or case.counts,
        )
        for case in cases
    )


def chance_of(cases: Sequence[Case], counts: str = "", *, is_pooled: bool = False) -> float | None:
    """The mean over categories of how often a pair is wrong with another pair's images; None with fewer than two.

    counts: how numbers are read; empty for what each case says.
    """
    return _chance_of(_pairs_of(cases, counts, is_pooled=is_pooled))


# A run is summarised once for every form of its report.
@lru_cache(maxsize=32)
def _chance_of(cases: tuple[_ShuffledPair, ...]) -> float | None:
    paintable = list(islice(filter(_is_drawn, sorted(cases, key=_shuffled)), MOST_PICTURES))
    draws = range(MOST_PICTURES // len(paintable)) if paintable else ()
    wrong = []
    for case in islice(filter(_is_drawn, _spread(cases)), MOST_PROMPTS):
        fits = _fitting(case)
        others = [other for other in paintable if other is not case and len(other.formulas) == len(case.formulas)]
        if others:
            n_wrong = sum(not fits(other, draw) for other in others for draw in draws)
            wrong.append((case.category, n_wrong / len(others) / len(draws)))
    return mean_of_groups(wrong)


def chance_to_differ(
    cases: Sequence[Case], shown: Sequence[Case], *, counts: str = "", is_all: bool = False
) -> float | None:
    """The mean over categories of how often two images of other pairs, not of one, differ in what a pair speaks of.

    shown: the cases whose images are dealt. Images dealt two by two would agree as they did before.
    """
    return _chance_to_differ(_pairs_of(cases, counts), _pairs_of(shown, counts), is_all)


@lru_cache(maxsize=32)
def _chance_to_differ(cases: tuple[_ShuffledPair, ...], shown: tuple[_ShuffledPair, ...], is_all: bool) -> float | None:
    paintable = list(islice(filter(_is_drawn, sorted(shown, key=_shuffled)), MOST_PICTURES))
    n_draws = MOST_PICTURES // len(paintable) if len(paintable) > 1 else 0
    # Each image beside one of another pair, in every draw of a further one.
    dealt = [
        (first, paintable[(i + 1 + draw % (len(paintable) - 1)) % len(paintable)], draw)
        for draw in range(n_draws)
        for i, first in enumerate(paintable)
    ]
    shares = []
    for case in islice(filter(_is_drawn, _spread(cases)), MOST_PROMPTS):
        what = comparable([parse(formula) for formula in case.formulas])
        differs: dict[tuple[tuple[Thing, ...], ...], bool] = {}
        n_differ = n = 0
        for first, second, draw in dealt:
            if case.case_id in (first.case_id, second.case_id):
                continue
            pictures = ((first.formulas[0], first.case_id), (second.formulas[-1], second.case_id))
            key = tuple(_things(formula, f"{name} {draw}", what, is_all) for formula, name in pictures)
            if key not in differs:
                a, b = (Scene(things=things) for things in key)
                differs[key] = not shows_same(a, b, what, counts=case.counts, all_labels=is_all)
            n_differ, n = n_differ + differs[key], n + 1
        if n:
            shares.append((case.category, n_differ / n))
    return mean_of_groups(shares)


def _things(notation: str, seed: str, what: Comparable, is_all: bool) -> tuple[Thing, ...]:
    """What an image shows of what is compared."""
    scene = draw_scene(notation, seed) or Scene()
    return scene.things if is_all else tuple(thing for thing in scene.things if thing.label in what.entities)


def _is_drawn(case: _ShuffledPair) -> bool:
    return all(draw_scene(formula, f"{case.case_id} 0") for formula in case.formulas)


def _shuffled(case: _ShuffledPair) -> str:
    return fingerprint([case.case_id])


def _spread(cases: Sequence[_ShuffledPair]) -> list[_ShuffledPair]:
    """Each category in turn."""
    by_category = group_by(sorted(cases, key=_shuffled), lambda case: case.category)
    turns = range(max(map(len, by_category.values()), default=0))
    return [group[turn] for turn in turns for group in by_category.values() if turn < len(group)]


def _fitting(case: _ShuffledPair) -> Callable[[_ShuffledPair, int], bool]:
    """Whether another case's right images, drawn for the nth time, are right for this one."""
    formulas = [parse(formula) for formula in case.formulas]
    # As truth does: both wordings of a proved pair in one frame.
    beside = formulas[::-1] if case.is_equivalent and len(formulas) == 2 else [None] * len(formulas)
    named = frozenset(name for f in formulas for name in entities(f))
    # What no prompt of the case names plays no part, so most of the others come down to the same few scenes.
    decided: dict[tuple[int, tuple[Thing, ...]], bool] = {}

    def is_right(index: int, scene: Scene) -> bool:
        key = (index, tuple(thing for thing in scene.things if thing.label in named))
        if key not in decided:
            decided[key] = satisfies(formulas[index], Scene(things=key[1]), case.counts, beside=beside[index])
        return decided[key]

    def fits(other: _ShuffledPair, draw: int) -> bool:
        scenes = (draw_scene(formula, f"{other.case_id} {draw}") for formula in other.formulas)
        return all(scene is not None and is_right(index, scene) for index, scene in enumerate(scenes))

    return fits
