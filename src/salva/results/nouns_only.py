"""The failure rate of a model that draws every entity a prompt mentions, and ignores the logic between them.

Each mention is drawn as if it stood alone: "no cat or two dogs on the left" shows a cat, and two dogs on the left. A
model that is no better than this has learnt nouns, not logic. Judgements in, metrics out.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache

from salva.core.case import Case
from salva.core.grouping import grouped
from salva.core.judgements import Judgements
from salva.core.metric import HIGHER, MetricValue, not_measured
from salva.core.quantity import quantity
from salva.core.scene import Scene
from salva.logic.formula import Atom, Formula, atoms, conjunction, entities
from salva.logic.notation import parse, to_notation
from salva.logic.satisfaction import satisfies
from salva.results.deciding import TRUTH
from salva.results.drawn_scenes import draw_scene
from salva.results.rates import MACRO, failure_rate

NOUNS_ONLY, SKILL = "nouns_only", "skill"
_FEWEST_FAILED = 8
"""Cases that such a model must fail before anything is measured against it."""


def nouns_only_metrics(judgements: Judgements) -> dict[str, MetricValue]:
    """The failure rate of such a model on these cases, and by how much this one fails less."""
    decided = [result for result in judgements.results if result.is_decided]
    if not decided or not all(result.check == TRUTH for result in decided):
        return {}
    cases = list({result.case.case_id: result.case for result in decided}.values())
    failed = failed_by_nouns(cases, judgements.counts, is_pooled=judgements.average != MACRO)
    if not failed:
        return {}
    rates = {category: sum(group) / len(group) for category, group in failed.items()}
    n_failed = sum(map(sum, failed.values()))
    baseline = sum(rates.values()) / len(rates)
    title = "draws every entity, ignores logic"
    reason = f"fails in {sum(map(bool, rates.values()))} of {len(rates)} categories"
    if len(rates) == 1:
        reason = f"fails {n_failed} of {quantity(sum(map(len, failed.values())), 'cases')}"
    about = MetricValue(value=baseline, n=len(cases), is_share=True, title=title, reason=reason)
    return {NOUNS_ONLY: about, SKILL: _skill(judgements, baseline, n_failed)}


def _skill(judgements: Judgements, baseline: float, n_failed: int) -> MetricValue:
    """1 for a model that never fails, 0 for one that fails as often as if it ignored the logic."""
    if n_failed < _FEWEST_FAILED:
        n = f"{quantity(n_failed, 'cases')} here; it takes {_FEWEST_FAILED}"
        return not_measured(f"a model that draws every entity and ignores the logic fails {n}", better=HIGHER)
    rate = failure_rate(judgements.results, judgements.average)
    assert rate.rate is not None
    ends = rate.interval
    return MetricValue(
        value=1 - rate.rate / baseline,
        low=None if ends is None else 1 - ends.high / baseline,
        high=None if ends is None else 1 - ends.low / baseline,
        n=rate.n,
        better=HIGHER,
        reason="1 - failure rate / that of nouns_only",
    )


def failed_by_nouns(cases: Iterable[Case], counts: str = "", *, is_pooled: bool = False) -> dict[str, list[bool]]:
    """Which cases of each category (pooled: of all) such a model fails; cases without formulas stay out."""
    held = ((case, tuple(prompt.formula or "" for prompt in case.prompts)) for case in cases)
    return grouped(
        (
            "" if is_pooled else case.category,
            not _is_right(formulas, case.case_id, counts or case.counts, bool(case.equivalent)),
        )
        for case, formulas in held
        if all(formulas)
    )


@lru_cache(maxsize=8192)
def _is_right(formulas: tuple[str, ...], seed: str, counts: str, is_equivalent: bool) -> bool:
    """Whether every image of a case shows its prompt."""
    parsed = [parse(formula) for formula in formulas]
    # As truth does: both wordings of a proved pair in one frame.
    beside = parsed[::-1] if is_equivalent and len(parsed) == 2 else [None] * len(parsed)
    return all(
        satisfies(formula, _shown(formula, seed), counts, beside=other)
        for formula, other in zip(parsed, beside, strict=True)
    )


def _shown(f: Formula, seed: str) -> Scene:
    """Everything that a formula mentions in one image; entities alone where their places contradict each other."""
    mentions = atoms(f)
    plain = conjunction(Atom(name) for name in entities(f))
    scenes = (draw_scene(to_notation(one), seed) for one in (conjunction(mentions), plain))
    return next((scene for scene in scenes if scene is not None), Scene())
