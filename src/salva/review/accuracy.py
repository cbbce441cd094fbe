"""How often a run's results are what people say, by category.

Results and people's labels come in, a table goes out. Labels of results that were drawn by how they came out say
nothing here, since a draw decides how many of each kind there are.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from salva.core.judgements import Judgements
from salva.core.result import Result
from salva.core.review import Review
from salva.core.table import Cell, Table
from salva.review.corrected_rates import labels_by_unit, majority_of
from salva.review.result_samples import unit_key
from salva.stats.agreement import cohen
from salva.stats.mean_intervals import mean_interval

_ALL = "all"
_COLUMNS = (
    "model",
    "category",
    "n",
    "accuracy",
    "accuracy_lower",
    "accuracy_upper",
    "kappa",
    "kappa_lower",
    "kappa_upper",
)
_NOTE = "Decided results against the majority of the people; 95 % intervals over whole cases."


def accuracy_tables(by_model: Mapping[str, Judgements], reviews: Sequence[Review]) -> list[Table]:
    """The table, for models of which passed and failed results were labelled as they came."""
    rows: list[tuple[Cell, ...]] = []
    for model, judged in by_model.items():
        labels = labels_by_unit(judged, [one for one in reviews if not one.sample])
        calls = {unit: majority_of(given) for unit, given in labels.items()}
        pairs = [
            (result, is_fail)
            for result in judged.results
            if result.is_decided and (is_fail := calls.get(unit_key(result))) is not None
        ]
        if len({result.is_fail for result, _ in pairs}) < 2:
            continue
        groups: dict[str, list[tuple[Result, bool]]] = {_ALL: pairs}
        for pair in pairs:
            groups.setdefault(pair[0].case.category, []).append(pair)
        rows += [(model, name, *_cells(group)) for name, group in groups.items()]
    return [Table(name="accuracy of results", columns=_COLUMNS, rows=tuple(rows), note=_NOTE)] if rows else []


def _cells(pairs: Sequence[tuple[Result, bool]]) -> tuple[Cell, ...]:
    by_case: dict[str, list[float]] = {}
    for result, is_fail in pairs:
        by_case.setdefault(result.case.case_id, []).append(float(result.is_fail == is_fail))
    interval = mean_interval(by_case, 0.0, least=0, most=1)
    ends = (interval.low, interval.high) if interval else (None, None)
    said, found = ([int(one[place]) for one in ((r.is_fail, f) for r, f in pairs)] for place in (0, 1))
    kappa = cohen(said, found, 2, clusters=[result.case.case_id for result, _ in pairs])
    n_right = sum(map(sum, by_case.values()))
    return len(pairs), n_right / len(pairs), *ends, kappa.value, kappa.low, kappa.high
