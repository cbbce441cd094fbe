"""A figure by pair: the form in which two models are held against each other.

Judgements in, series out: the figure that leads, then those that stand beside it. A rate is a series of noughts and
ones; what a suite leads with otherwise it says itself (core/own_figure.py).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from salva.core.case import Case
from salva.core.judgements import CaseVerdict, Judgements, Rate
from salva.core.own_figure import OwnFigure, one_mean
from salva.core.verdict import Observers, Verdict
from salva.results.headline import MACRO, POOLED, main_observers, of_main_observers
from salva.results.rates import BOTH_WRONG, Hit, RateHits, averaged_hits, headline_hits, hits_by_rate, hits_of

Key = tuple[str, int]
"""A case and a repeat of it."""
VIOLATION_RATE = "failure_rate"
TITLES = {str(Rate.WRONG): "wrong", str(Rate.INCONSISTENT): "inconsistent", BOTH_WRONG: "both wrong"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Series:
    """What a figure is made of."""

    name: str
    title: str
    check: str
    """Whose verdicts it is made of; empty where several share in it."""
    average: str
    terms: Mapping[Key, tuple[float, ...] | None]
    """What each pair brings; None for one that nobody could decide."""
    cases: Mapping[str, Case]
    apart: frozenset[str] = frozenset()
    """Cases that the figure leaves out, and that stand apart by their law."""
    verdicts: Mapping[Key, Verdict] = field(default_factory=dict)
    """What a figure that can lead rests on, for pictures and reasons."""
    judged_by: Mapping[str, Observers] = field(default_factory=dict)
    """Of a figure that stands beside: the checks it rests on, and who looked for each."""
    is_own: bool = False
    """Whether the suite leads with it in the place of a rate."""
    is_high_good: bool = False
    is_share: bool = True
    of_means: Callable[[Sequence[float]], float | None] = one_mean

    def asked(self, keys: Iterable[Key], cases: Mapping[str, Case]) -> Series:
        """The same with these pairs undecided where nothing is said of them yet."""
        missing = dict.fromkeys(key for key in keys if key not in self.terms)
        named = {case_id: cases[case_id] for case_id, _ in missing if case_id not in self.cases}
        return replace(self, terms={**self.terms, **missing}, cases={**self.cases, **named}) if missing else self

    def category(self, case_id: str) -> str:
        """The category a case is averaged in; one for all where the figure is a plain mean."""
        return self.cases[case_id].category if self.average == MACRO else ""


def series_of(judged: Judgements, figures: Sequence[OwnFigure], leading_rate: str | None) -> list[Series]:
    """The figures of a model, the one that leads first; none where nothing was judged.

    figures: those the suite leads with in the place of a rate. leading_rate: which of the three rates leads.
    """
    made = list(_own(judged, figures)) if judged.has_own_figure else []
    if (headline := headline_hits(judged)) is not None:
        name = leading_rate or VIOLATION_RATE
        beside = hits_of(judged.beside)
        rate = _rate(name, TITLES.get(name, "failure rate"), headline, (*headline.hits, *beside))
        verdicts = {_key(pair): pair.verdict for pair in judged.speaking}
        apart = frozenset(hit.case.case_id for hit in beside)
        made.append(replace(rate, verdicts=verdicts, apart=apart))
    main = main_observers(judged.pairs)
    for name, hits in hits_by_rate(judged).items():
        if hits.hits and name != leading_rate:
            rests_on = (hits.check, judged.of_rate(Rate.INCONSISTENT) if name == BOTH_WRONG else hits.check)
            rate = _rate(name, TITLES[name], hits, averaged_hits(hits, judged.apart))
            made.append(replace(rate, judged_by={check: main[check] for check in rests_on}))
    return made


def _rate(name: str, title: str, made: RateHits, hits: Sequence[Hit]) -> Series:
    return Series(
        name=name,
        title=title,
        check=made.check,
        average=made.average,
        terms={(hit.case.case_id, hit.repeat): None if hit.is_hit is None else (float(hit.is_hit),) for hit in hits},
        cases={hit.case.case_id: hit.case for hit in hits},
    )


def _own(judged: Judgements, figures: Sequence[OwnFigure]) -> Iterator[Series]:
    """The figures of the suite; pairs that lead and bring nothing are undecided, others are no part of it."""
    seen = of_main_observers(judged.pairs)
    for figure in figures:
        terms: dict[Key, tuple[float, ...] | None] = {_key(pair): None for pair in judged.headline}
        verdicts = {_key(pair): pair.verdict for pair in judged.headline}
        for pair in seen:
            if (brought := figure.terms(pair)) is not None:
                terms[_key(pair)] = brought
                verdicts[_key(pair)] = pair.verdict
        if terms:
            case_ids = {case_id for case_id, _ in terms}
            yield Series(
                name=figure.name,
                title=figure.title,
                check="",
                average=POOLED,
                terms=terms,
                cases={case.case_id: case for case in judged.cases if case.case_id in case_ids},
                verdicts=verdicts,
                is_high_good=figure.is_high_good,
                is_share=figure.is_share,
                of_means=figure.of_means,
                is_own=True,
            )


def _key(one: CaseVerdict) -> Key:
    return one.case.case_id, one.verdict.repeat
