"""Results drawn for review at random, and the strata that a review counts in.

The judgements of one model come in; units, strata and draws go out. A draw is random within each result, or within each
category; its sheet carries a token that says which, and which results it was drawn from.
"""

from __future__ import annotations

import random
from collections.abc import Collection, Iterable, Mapping, Sequence, Set

from salva.core.fingerprint import fingerprint
from salva.core.judgements import Judgements
from salva.core.result import Result
from salva.results.rates import MACRO

BY_RESULT, BY_CATEGORY = "by-result", "by-category"
"""Whether each result of a stratum was as likely to be drawn, or only each of one category."""
WITHOUT_IMAGES = " without images"
"""How the names of strata end whose results nobody can review."""

Unit = tuple[str, int]
"""Case and repeat of a result of one model."""


def unit_key(result: Result) -> Unit:
    """What names a result among those of its model."""
    return result.case.case_id, result.repeat


def images_of(judged: Judgements) -> dict[Unit, dict[str, str]]:
    """The images of every result by role, whichever check used them."""
    images: dict[Unit, dict[str, str]] = {}
    for case, verdict in judged.pairs:
        images.setdefault((case.case_id, verdict.repeat), {}).update(verdict.images)
    return images


def strata_of(judged: Judgements) -> dict[str, list[Result]]:
    """Results by what they are; those without all their images, which nobody can review, stand apart."""
    images = images_of(judged)
    strata: dict[str, list[Result]] = {}
    for result in judged.results:
        is_shown = all(prompt.role in images.get(unit_key(result), {}) for prompt in result.case.prompts)
        name = str(result.outcome).lower()
        strata.setdefault(name if is_shown else name + WITHOUT_IMAGES, []).append(result)
    return strata


def sample_token(judged: Judgements, drawn_by: str) -> str:
    """What a sheet says of its draw, but for the seed behind it: by what, and from which results."""
    results = sorted([*unit_key(result), str(result.outcome)] for result in judged.results)
    return f"{drawn_by}-{fingerprint(results)[:8]}-"


def in_drawn_order(results: Iterable[Result], group: str, seed: str) -> list[Result]:
    """Results of one group, those that are drawn first in front."""
    ordered = list(results)
    random.Random(f"{seed}/{ordered[0].model}/{group}").shuffle(ordered)
    return ordered


def has_gaps(drawn: Sequence[Result], reviewed: Set[Unit]) -> bool:
    """Whether results were passed over in favour of ones that were drawn later: what is reviewed is then chosen."""
    return {unit_key(result) for result in drawn[: len(reviewed)]} != reviewed


def drawn_results(
    judged: Judgements, wanted: Collection[str], number: int, *, by_category: bool, seed: int
) -> list[Result]:
    """So many of each result, or of each category of it; a larger draw by the same seed holds a smaller one.

    wanted: which results, such as fail; empty for all.
    """
    groups: dict[str, list[Result]] = {}
    for name, results in strata_of(judged).items():
        if not name.endswith(WITHOUT_IMAGES) and (not wanted or name in wanted):
            for result in results:
                group = f"{name}/{result.case.category}" if by_category else name
                groups.setdefault(group, []).append(result)
    return [
        result for group, results in groups.items() for result in in_drawn_order(results, group, str(seed))[:number]
    ]


def weights_of_results(judged: Judgements) -> Mapping[Unit, float]:
    """What each result counts in the rate of all of them: each category as much as any other, or pooled."""
    sizes: dict[str, int] = {}
    names = {unit_key(result): result.case.category if judged.average == MACRO else "" for result in judged.results}
    for name in names.values():
        sizes[name] = sizes.get(name, 0) + 1
    return {unit: 1 / len(sizes) / sizes[name] for unit, name in names.items()}
