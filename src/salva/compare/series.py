"""A figure by pair: the form in which two models are compared.

The judgements on a model come in, series go out: its failure rate, whether its images agree, and the scores of its
suite (core/own_figure.py). A rate is a series of zeros and ones.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from salva.core.case import Case
from salva.core.judgements import Judgements
from salva.core.metric import HIGHER, LOWER
from salva.core.own_figure import OwnFigure, one_mean
from salva.core.result import Result
from salva.results.agreement import BOTH_WRONG, INCONSISTENT, both_wrong_results, inconsistent_results
from salva.results.rates import MACRO, POOLED

Key = tuple[str, int]
"""A case and a repeat of it."""
Terms = tuple[float, ...] | None
"""What a pair contributes to a figure; None where it is undecided."""
FAILURE_RATE = "failure_rate"


@dataclass(frozen=True, slots=True, kw_only=True)
class Series:
    """One figure of one model, pair by pair."""

    name: str
    title: str
    terms: Mapping[Key, Terms]
    cases: Mapping[str, Case]
    average: str
    better: str = LOWER
    is_rate: bool = True
    """Whether it is a share of pairs, and not a score."""
    is_share: bool = True
    """Whether it lies between 0 and 1 and is printed in percent."""
    reach: float | None = 1.0
    """The largest difference that two models can have; None where there is none."""
    of_means: Callable[[Sequence[float]], float | None] = one_mean

    def category(self, case_id: str) -> str:
        """The category that a case is averaged in; one for all where the figure is a plain mean."""
        return self.cases[case_id].category if self.average == MACRO else ""

    def filled(self, value: float) -> Series:
        """The same with a value for every undecided pair."""
        terms: dict[Key, Terms] = {key: (value,) if one is None else one for key, one in self.terms.items()}
        return replace(self, terms=terms)


def failure_series(judged: Judgements) -> Series:
    """The failure rate."""
    return _rate(FAILURE_RATE, "failure rate", judged.results, judged.average)


def metric_series(judged: Judgements, figures: Iterable[OwnFigure]) -> dict[str, Series]:
    """The metrics that have a value for every pair; figures: those of the suite."""
    disagree, wrong = inconsistent_results(judged), list(both_wrong_results(judged))
    rates = ((INCONSISTENT, disagree), (BOTH_WRONG, wrong))
    made = [_rate(name, name.replace("_", " "), results, judged.average) for name, results in rates if results]
    made += _scores(judged, figures)
    return {series.name: series for series in made}


def _rate(name: str, title: str, results: Iterable[Result], average: str) -> Series:
    by_key = {(result.case.case_id, result.repeat): result for result in results}
    return Series(
        name=name,
        title=title,
        average=average,
        terms={key: (float(one.is_fail),) if one.is_decided else None for key, one in by_key.items()},
        cases={result.case.case_id: result.case for result in by_key.values()},
    )


def _scores(judged: Judgements, figures: Iterable[OwnFigure]) -> Iterator[Series]:
    for figure in figures:
        terms: dict[Key, Terms] = {}
        cases: dict[str, Case] = {}
        for pair in judged.pairs:
            # The verdicts of the deciding observers come first.
            if (brought := figure.terms(pair)) is not None:
                terms.setdefault((pair.case.case_id, pair.verdict.repeat), brought)
                cases[pair.case.case_id] = pair.case
        if terms:
            yield Series(
                name=figure.name,
                title=figure.title,
                average=POOLED,
                terms=terms,
                cases=cases,
                better=HIGHER if figure.is_high_good else LOWER,
                is_rate=False,
                is_share=figure.is_share,
                reach=1.0 if figure.is_share else figure.reach,
                of_means=figure.of_means,
            )
