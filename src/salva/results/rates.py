"""The three rates that stand together: wrong, inconsistent, both wrong; each over its own cases, with two intervals.

Judgements in, figures out. Which check a rate comes from, checks say themselves; how sure a rate is, stats says.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache

from salva.core.case import Case
from salva.core.judgements import CaseVerdict, Judgements, Rate
from salva.core.quantity import quantity
from salva.core.verdict import Outcome
from salva.errors import FormulaError
from salva.logic.formula import entities
from salva.logic.notation import parse
from salva.results.headline import MACRO, average_of, check_of, is_apart, of_main_observers
from salva.stats.intervals import Interval
from salva.stats.rates import Counted, LeftOut, entities_interval, macro, seeds_interval, share, without_one

BOTH_WRONG = "both_wrong"
RATES = (str(Rate.WRONG), str(Rate.INCONSISTENT), BOTH_WRONG)
DECIDED = (Outcome.PASS, Outcome.FAIL)


@dataclass(frozen=True, slots=True, kw_only=True)
class Figure:
    """A rate and how sure it is."""

    check: str
    rate: float | None
    """The mean over categories, or the plain share, as `average` says; None where nothing is decided."""
    average: str
    over: str
    """What it is an average over, in words."""
    pooled: float | None
    macro: float | None
    interval: Interval | None
    """95 %: these prompts, other seeds."""
    interval_entities: Interval | None
    """95 %: prompts like these, other entities."""
    why_no_entities: str
    bounds: Interval | None
    """The same rate if all undecided held, and if all were failed."""
    n: int
    """Verdicts that enter the rate."""
    n_undecided: int
    n_unlike: int
    """Of those that enter the rate, pairs whose prompts say different things: compared by a published rule alone."""
    without_one: LeftOut | None
    """How far the mean over categories moves when one of them is left out; None for a plain share."""

    @property
    def coverage(self) -> float | None:
        """The share that was decided."""
        n_asked = self.n + self.n_undecided
        return self.n / n_asked if n_asked else None


@dataclass(frozen=True, slots=True, kw_only=True)
class Hit:
    """One case in one repeat: whether it counts towards a rate."""

    case: Case
    is_hit: bool | None
    """None where nobody could tell."""
    repeat: int = 0


def figure_of(hits: Sequence[Hit], check: str, average: str, apart: tuple[str, str] | None) -> Figure:
    """The rate over these; a mean over categories leaves those out that are counted apart, where others are there."""
    leading = averaged_hits(RateHits(check=check, average=average, hits=tuple(hits)), apart)
    counted = _counted(leading)
    averaged = counted if average == MACRO else [_in_one_category(case) for case in counted]
    entities = entities_interval(averaged) if averaged else "no case is decided"
    n_decided = sum(hit.is_hit is not None for hit in leading)
    categories = {hit.case.category for hit in leading if hit.is_hit is not None}
    return Figure(
        check=check,
        rate=macro(averaged),
        average=average,
        over=_over(len(categories), n_decided, average),
        pooled=share(counted) if counted else None,
        macro=macro(counted),
        interval=seeds_interval(averaged),
        interval_entities=entities if isinstance(entities, Interval) else None,
        why_no_entities="" if isinstance(entities, Interval) else entities,
        bounds=_bounds(leading, average),
        n=n_decided,
        n_undecided=len(leading) - n_decided,
        n_unlike=sum(hit.is_hit is not None and hit.case.equivalent is False for hit in leading),
        without_one=without_one(averaged),
    )


def _over(n_categories: int, n_pairs: int, average: str) -> str:
    if average != MACRO:
        return quantity(n_pairs, "pairs")
    return quantity(n_categories, "categories")


def _bounds(leading: Sequence[Hit], average: str) -> Interval | None:
    """What the rate would be, averaged alike, if all undecided had held, and if all had been failed."""
    ends = []
    for is_hit in (False, True):
        counted = _counted(replace(hit, is_hit=is_hit) if hit.is_hit is None else hit for hit in leading)
        ends.append(macro(counted if average == MACRO else [_in_one_category(case) for case in counted]))
    low, high = ends
    return None if low is None or high is None else Interval(low=low, high=high)


@dataclass(frozen=True, slots=True, kw_only=True)
class RateHits:
    """What a rate is made of."""

    check: str
    average: str
    hits: tuple[Hit, ...]


def rates_of(judgements: Judgements) -> dict[str, Figure | None]:
    """All three by name; None for one that nothing was judged for."""
    return {
        name: figure_of(made.hits, made.check, made.average, judgements.apart) if made.hits else None
        for name, made in hits_by_rate(judgements).items()
    }


def hits_by_rate(judgements: Judgements) -> dict[str, RateHits]:
    """What each of the three is made of, those included that a mean over categories leaves out."""
    seen = of_main_observers(judgements.pairs)
    wrong, inconsistent = (judgements.of_rate(rate) for rate in (Rate.WRONG, Rate.INCONSISTENT))
    by_truth = {_key(pair): pair for pair in seen if pair.verdict.check == wrong}
    compares_all = judgements.options_of(inconsistent).get("indeterminate") == "same-scene"
    compared = {
        _key(pair): pair
        for pair in seen
        if pair.verdict.check == inconsistent
        and (pair.case.determinate or compares_all)
        and (not by_truth or _key(pair) in by_truth)
    }
    alike = [
        Hit(case=pair.case, is_hit=_agree_and_wrong(pair, compared[key]), repeat=pair.verdict.repeat)
        for key, pair in by_truth.items()
        if key in compared
    ]
    found = {
        str(Rate.WRONG): (hits_of(by_truth.values()), wrong),
        str(Rate.INCONSISTENT): (hits_of(compared.values()), inconsistent),
        BOTH_WRONG: (alike, wrong),
    }
    return {
        name: RateHits(check=check, average=_average(judgements, check), hits=tuple(hits))
        for name, (hits, check) in found.items()
    }


def averaged_hits(made: RateHits, apart: tuple[str, str] | None) -> list[Hit]:
    """Those that the rate counts: a mean over categories leaves out what is counted apart, where others are there."""
    return [hit for hit in made.hits if made.average != MACRO or not is_apart(hit.case, apart)] or list(made.hits)


def headline_hits(judgements: Judgements) -> RateHits | None:
    """What the leading rate is made of; None where nothing leads."""
    if not judgements.headline:
        return None
    check = check_of(judgements.headline)
    hits = tuple(hits_of(judgements.headline))
    return RateHits(check=check, average=_average(judgements, check), hits=hits)


def headline_figure(judgements: Judgements) -> Figure | None:
    """The rate of the verdicts that lead; None where there are none."""
    made = headline_hits(judgements)
    return None if made is None else figure_of(made.hits, made.check, made.average, None)


def _average(judgements: Judgements, check: str) -> str:
    return average_of(judgements.checks, check, judgements.chosen)


def hits_of(judged: Iterable[CaseVerdict]) -> list[Hit]:
    """Verdicts as hits: failed is one."""
    return [
        Hit(
            case=pair.case,
            is_hit=pair.verdict.outcome is Outcome.FAIL if _is_decided(pair) else None,
            repeat=pair.verdict.repeat,
        )
        for pair in judged
    ]


def entities_of(case: Case) -> tuple[str, ...]:
    """What a case is about: the entities its formulas name; without formulas, its cluster."""
    return named_in(tuple(prompt.formula for prompt in case.prompts)) or (case.cluster or case.case_id,)


@lru_cache(maxsize=16384)
def named_in(notations: tuple[str | None, ...]) -> tuple[str, ...]:
    """The things that formulas name, sorted."""
    try:
        return tuple(sorted({name for notation in notations if notation for name in entities(parse(notation))}))
    except FormulaError:
        # A run that somebody else made may hold anything; what cannot be read names nothing.
        return ()


def _counted(hits: Iterable[Hit]) -> list[Counted]:
    """One Counted a case, its repeats together."""
    cases: dict[str, Case] = {}
    decided: dict[str, list[bool]] = {}
    for hit in hits:
        if hit.is_hit is not None:
            cases[hit.case.case_id] = hit.case
            decided.setdefault(hit.case.case_id, []).append(hit.is_hit)
    return [
        Counted(category=cases[name].category, entities=entities_of(cases[name]), n_hits=sum(each), n=len(each))
        for name, each in decided.items()
    ]


def _in_one_category(case: Counted) -> Counted:
    return Counted(category="", entities=case.entities, n_hits=case.n_hits, n=case.n)


def _agree_and_wrong(by_truth: CaseVerdict, compared: CaseVerdict) -> bool | None:
    """None where one of the two could not tell."""
    if not _is_decided(by_truth) or not _is_decided(compared):
        return None
    is_both_wrong = bool(by_truth.verdict.scores.get("both_wrong"))
    return is_both_wrong and compared.verdict.outcome is Outcome.PASS


def _is_decided(one: CaseVerdict) -> bool:
    return one.verdict.outcome in DECIDED


def _key(one: CaseVerdict) -> tuple[str, int]:
    return one.case.case_id, one.verdict.repeat
