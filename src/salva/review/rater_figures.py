"""What follows from people's scores of images against texts, as SemVarBench's Table 11: by rater, and of all as one.

Ratings by case, score and rater come in; a table goes out. The figures are those of the check that scores such pairs.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from salva.component_facts import pair_scorings
from salva.core.scoring import PairScoring, pair_name
from salva.core.table import Cell, Table
from salva.review.run_join import CaseKey
from salva.stats.mean_intervals import cautious_mean_interval
from salva.stats.means import mean

PANEL = "mean of all raters"
_NOTE = (
    "Means over the cases with all scores. The last row of a model takes the mean of the raters for each score first, "
    "as one rater."
)

_Scores = Mapping[str, float]


def rater_figures(
    rated: Mapping[CaseKey, Mapping[str, Mapping[str, float]]], clusters: Mapping[str, str], model: str
) -> list[Table]:
    """One table for each check whose pairs were rated; model: of ratings that name none."""
    tables = []
    for scoring in pair_scorings().values():
        by_rater: dict[tuple[str, str], dict[CaseKey, _Scores]] = {}
        panels: dict[str, dict[CaseKey, _Scores]] = {}
        for key, given in rated.items():
            for who in dict.fromkeys(who for by_who in given.values() for who in by_who):
                own = {name: by_who[who] for name, by_who in given.items() if who in by_who}
                by_rater.setdefault((key.model or model, who), {})[key] = own
            panels.setdefault(key.model or model, {})[key] = {name: mean(one.values()) for name, one in given.items()}
        rows: list[tuple[Cell, ...]] = []
        for name, panel in panels.items():
            alone = [(who, cases) for (of, who), cases in by_rater.items() if of == name]
            for who, cases in (*alone, (PANEL, panel)) if len(alone) > 1 else alone:
                rows += ((name, who, *cells) for cells in _cells(scoring, cases, clusters))
        if rows:
            first = scoring.figures[0]
            columns = ("model", "rater", "n", "alignment", *scoring.figures, f"{first}_from", f"{first}_to")
            tables.append(
                Table(name=f"{scoring.suite} by rater (as Table 11)", columns=columns, rows=tuple(rows), note=_NOTE)
            )
    return tables


def _cells(
    scoring: PairScoring, rated: Mapping[CaseKey, _Scores], clusters: Mapping[str, str]
) -> Iterator[Sequence[Cell]]:
    """One row of figures, where any case has all scores."""
    whole = {
        key: {pair: scores[pair_name(*pair)] for pair in scoring.pairs}
        for key, scores in rated.items()
        if all(pair_name(*pair) in scores for pair in scoring.pairs)
    }
    if whole:
        figures = [scoring.figures_of(scores) for scores in whole.values()]
        matched = [mean(score for (text, image), score in scores.items() if text == image) for scores in whole.values()]
        means = [mean(one[name] for one in figures) for name in scoring.figures]
        ids = [key.case_id for key in whole]
        values = [one[scoring.figures[0]] for one in figures]
        ends = cautious_mean_interval(values, [clusters.get(one, one) for one in ids], ids, pseudo=0.0)
        yield len(whole), mean(matched), *means, *((ends.low, ends.high) if ends else (None, None))
