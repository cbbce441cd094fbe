"""Numbers of the worked example "does it pay?": held-out runs of several painters, side by side and paired.

Reads run directories of salva, one of semvar and one of metalogic for each painter, on the same cases and seeds.
Gives tables as Markdown. Paints nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import pandas as pd

from salva.core.judged import Judged
from salva.core.scoring import TrainingFilter
from salva.core.source import RunRecords
from salva.core.verdict import PAIR, Outcome
from salva.exchange.training_pairs import filter_table
from salva.judging.headline import headline, join
from salva.judging.tally import cluster_of
from salva.registry import rates_of
from salva.stats.intervals import Interval
from salva.stats.mean_intervals import cautious_mean_interval
from salva.store.queries import read_records

SUITES = ("semvar", "metalogic")
DECIDED = (Outcome.HOLDS, Outcome.VIOLATED)


@dataclass(frozen=True, slots=True, kw_only=True)
class Value:
    """One number of one case and seed."""

    number: float
    cluster: str


Values = dict[tuple[str, int], Value]
"""By case and repeat, so that painters can be paired."""


def kappas(records: RunRecords) -> Values:
    """Kappa of every decided triple."""
    return _values(
        (one for one in join(records.cases, records.verdicts, PAIR) if "kappa" in one.verdict.scores),
        lambda one: one.verdict.scores["kappa"],
    )


def violations(records: RunRecords, *, is_logic: bool | None = None) -> Values:
    """1 for a violated pair of MetaLogic and 0 for one that holds; all of them, logic laws alone or numbering alone."""
    rates = rates_of(verdict.relation for verdict in records.verdicts)
    chosen = (
        one
        for one in headline(join(records.cases, records.verdicts, PAIR), rates)
        if is_logic is None or (one.case.labels["law"] != "numbering") is is_logic
    )
    return _values(chosen, lambda one: float(one.verdict.outcome is Outcome.VIOLATED))


def wrong_pictures(records: RunRecords) -> Values:
    """The share of wrong pictures of every pair that truth could decide."""
    chosen = (
        one for one in join(records.cases, records.verdicts, PAIR) if {"right_a", "right_b"} <= set(one.verdict.scores)
    )
    return _values(chosen, lambda one: 1 - (one.verdict.scores["right_a"] + one.verdict.scores["right_b"]) / 2)


def _values(chosen: Iterable[Judged], number: Callable[[Judged], float]) -> Values:
    return {
        (one.case.case_id, one.verdict.repeat): Value(number=number(one), cluster=cluster_of(one.case))
        for one in chosen
        if one.verdict.outcome in DECIDED
    }


def mean_of(values: Values) -> float:
    """Their plain mean."""
    return sum(one.number for one in values.values()) / len(values)


def interval_of(values: Values) -> Interval | None:
    """95 %, the wider of two: over other entity sets and over other cases."""
    numbers = [one.number for one in values.values()]
    clusters = [one.cluster for one in values.values()]
    return cautious_mean_interval(numbers, clusters, [case_id for case_id, _ in values])


def differences(of: Values, against: Values) -> Values:
    """of minus against, where both were decided."""
    return {
        key: Value(number=one.number - against[key].number, cluster=one.cluster)
        for key, one in of.items()
        if key in against
    }


FIGURES: Mapping[str, tuple[str, Callable[[RunRecords], Values], bool]] = {
    "kappa": ("semvar", kappas, False),
    "MetaLogic, violated": ("metalogic", violations, True),
    "logic laws alone": ("metalogic", lambda records: violations(records, is_logic=True), True),
    "numbering alone": ("metalogic", lambda records: violations(records, is_logic=False), True),
    "MetaLogic, wrong pictures": ("metalogic", wrong_pictures, True),
}
"""Name to suite, how it is read, and whether it is a rate (in per cent; lower is better)."""


def table(painters: Mapping[str, Mapping[str, Path]], *, against: Sequence[str]) -> str:
    """A Markdown table: each painter's figures, then what each differs by from those in `against`."""
    read = {name: {suite: read_records(runs[suite]) for suite in SUITES} for name, runs in painters.items()}
    measured = {
        name: {figure: take(records[suite]) for figure, (suite, take, _) in FIGURES.items()}
        for name, records in read.items()
    }
    lines = [f"| | {' | '.join(FIGURES)} |", "|---" * (len(FIGURES) + 1) + "|"]
    for name, values in measured.items():
        cells = [_cell(values[figure], FIGURES[figure][2], is_signed=False) for figure in FIGURES]
        lines.append(f"| {name} | {' | '.join(cells)} |")
    for base in against:
        for name, values in measured.items():
            if name in against[: against.index(base) + 1]:
                continue
            cells = [
                _cell(differences(values[figure], measured[base][figure]), FIGURES[figure][2], is_signed=True)
                for figure in FIGURES
            ]
            lines.append(f"| {name} minus {base} | {' | '.join(cells)} |")
    counts = {figure: len(measured[next(iter(measured))][figure]) for figure in FIGURES}
    lines.append(f"| cases and seeds decided | {' | '.join(str(n) for n in counts.values())} |")
    return "\n".join(lines)


def selected(runs: Mapping[str, Path], exported: Mapping[str, tuple[Path, Path]]) -> str:
    """Markdown: how many pictures each suite's training run painted, and what each choice of filter keeps of them."""
    lines = ["| training run | verdicts | sft: captioned pictures | dpo: preferences |", "|---|---|---|---|"]
    choices = ["| filter of semvar | seeds and triples kept | share |", "|---|---|---|"]
    for suite, directory in runs.items():
        records = read_records(directory)
        folder, file = exported[suite]
        n_rows = len((folder / "metadata.jsonl").read_text(encoding="utf-8").splitlines())
        n_pairs = len(pd.read_parquet(file, columns=["caption"]))
        n_verdicts = len({(verdict.case_id, verdict.repeat) for verdict in records.verdicts})
        lines.append(f"| {suite} | {n_verdicts} | {n_rows} | {n_pairs} |")
        for needs_kept in (True, False):
            kept = filter_table(records, TrainingFilter(need_kept=needs_kept))
            for row in kept.rows if kept else ():
                asked = "all three matched scores" if needs_kept else "two matched scores"
                choices.append(f"| {asked} above {row[0]}, {row[1]} | {row[2]} | {100 * float(str(row[3])):.1f} % |")
    return "\n".join([*lines, "", *choices])


def _cell(values: Values, is_rate: bool, *, is_signed: bool) -> str:
    if not values:
        return "none decided"
    told = _number(mean_of(values), is_rate, is_signed)
    # Where every case says the same, a bootstrap has nothing to draw from and would claim certainty.
    interval = interval_of(values) if len({one.number for one in values.values()}) > 1 else None
    if interval is None:
        return f"{told} in every case"
    return f"{told} ({_number(interval.low, is_rate, is_signed)} to {_number(interval.high, is_rate, is_signed)})"


def _number(value: float, is_rate: bool, is_signed: bool) -> str:
    sign = "+" if is_signed else ""
    unit = " points" if is_signed else " %"
    return f"{100 * value:{sign}.1f}{unit}" if is_rate else f"{value:{sign}.3f}"
