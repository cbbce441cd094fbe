"""GenEval's tables of what stands beside the tasks: pairs said otherwise, rewritten prompts, prompts that grow, eyes.

Verdicts by rule and observers come in. Every row names the rule and whoever looked.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations

from salva.core.chart import Chart, ChartKind
from salva.core.judged import Judged, Judgements, Rate
from salva.core.table import Cell, Table
from salva.results.headline import of_main_observers
from salva.stats.agreement import cohen
from salva.stats.rates import difference_interval
from salva.suites.geneval.embedded import HARD
from salva.suites.geneval.shares import OVERALL, Standpoint, in_tasks, is_right, share_of
from salva.suites.geneval.suite import ATOMS, KIND, PARTNER, REWRITTEN, VARIANTS

Groups = Mapping[Standpoint, Sequence[Judged]]


def beside_tables(judgements: Judgements, groups: Groups) -> Iterator[Table]:
    """The tables that there is something for."""
    for table in (_variants(judgements, groups), _rewritten(groups), _hard(groups), _detectors(groups)):
        if table.rows:
            yield table


def beside_charts(groups: Groups) -> Iterator[Chart]:
    """Right pictures against the number of atoms."""
    table = _hard(dict(list(groups.items())[:1]))
    if table.rows:
        yield Chart(
            name="geneval-atoms",
            title="Right pictures over the number of atoms",
            kind=ChartKind.LINES,
            table=table,
            x="atoms",
            y="right_rate",
            low="low",
            high="high",
            n="n",
            x_label="atoms of the formula",
            y_label="share of right images",
            is_share=True,
            ends=(0.0, 1.0),
            is_high_good=True,
        )


def _of_kind(group: Sequence[Judged], kind: str) -> list[Judged]:
    return [judged for judged in group if judged.case.labels.get(KIND) == kind]


def _variants(judgements: Judgements, groups: Groups) -> Table:
    """Both pictures of a pair: how often both are right, and how often one alone is."""
    compared = [
        judged
        for judged in of_main_observers(judgements.pairs)
        if judgements.rate_of(judged.verdict.check) is Rate.INCONSISTENT
    ]
    rows: list[tuple[Cell, ...]] = []
    for standpoint, group in groups.items():
        for kind in VARIANTS:
            pairs = _of_kind(group, kind)
            decided = [judged for judged in pairs if is_right(judged) is not None]
            if not pairs:
                continue
            right = [
                (judged.verdict.scores.get("right_a", 0), judged.verdict.scores.get("right_b", 0)) for judged in decided
            ]
            one_alone = sum(a != b for a, b in right) / len(right) if right else None
            differ = share_of(_of_kind(compared, kind)).rate
            differs = None if differ is None or kind == "exchanged" else 1 - differ
            rows.append((*standpoint, kind, *share_of(pairs).cells(), one_alone, differs))
    return Table(
        name="said otherwise",
        columns=(
            *("rule", "seen_by", "variant", "both_right_rate", "low", "high", "n", "undecided"),
            *("one_alone_rate", "pictures_differ_rate"),
        ),
        rows=tuple(rows),
        title="The same said otherwise, and colours exchanged",
        note="both_right_rate: both pictures of a pair are right. one_alone_rate: one is and the other is not. "
        "pictures_differ_rate: they do not show the same (same-scene), for pairs that say the same.",
    )


def _rewritten(groups: Groups) -> Table:
    """What rewriting buys: each rewritten prompt beside its own, in the same repeat."""
    rows: list[tuple[Cell, ...]] = []
    for standpoint, group in groups.items():
        plain = {(judged.case.case_id, judged.verdict.repeat): is_right(judged) for judged in in_tasks(group)}
        gains: dict[str, dict[str, list[float]]] = {}
        n_right = [0, 0]
        for judged in _of_kind(group, REWRITTEN):
            before, after = plain.get((judged.case.labels[PARTNER], judged.verdict.repeat)), is_right(judged)
            if before is not None and after is not None:
                by_case = gains.setdefault(judged.case.labels["tag"], {})
                by_case.setdefault(judged.case.case_id, []).append(float(after) - float(before))
                n_right = [n_right[0] + before, n_right[1] + after]
        for task in (*gains, *([OVERALL] if gains else [])):
            own = gains if task == OVERALL else {task: gains[task]}
            means = {name: [sum(d) / len(d) for d in cases.values()] for name, cases in own.items()}
            n = sum(len(d) for cases in own.values() for d in cases.values())
            n_cases = sum(map(len, own.values()))
            gain = sum(sum(group) / len(group) for group in means.values()) / len(means)
            ends = difference_interval(means, n / n_cases)
            rows.append((*standpoint, task, gain, ends.low if ends else None, ends.high if ends else None, n))
    return Table(
        name="what rewriting buys",
        columns=("rule", "seen_by", "task", "difference", "low", "high", "n"),
        rows=tuple(rows),
        title="What rewriting the prompts buys",
        note="Share of right images with the rewritten text less that with the published one, painted from the same "
        f"seeds and judged under one formula; {OVERALL}: the mean of the tasks. n: pairs of images. Figures of "
        "rewritten prompts are not GenEval's, and enter none of its rates here.",
    )


def _hard(groups: Groups) -> Table:
    rows: list[tuple[Cell, ...]] = []
    for standpoint, group in groups.items():
        by_atoms: dict[int, list[Judged]] = {}
        for judged in _of_kind(group, HARD):
            by_atoms.setdefault(int(judged.case.labels[ATOMS]), []).append(judged)
        rows += [(*standpoint, n_atoms, *share_of(own).cells()) for n_atoms, own in sorted(by_atoms.items())]
    return Table(
        name="by atoms",
        columns=("rule", "seen_by", "atoms", "right_rate", "low", "high", "n", "undecided"),
        rows=tuple(rows),
        title="Right pictures over the number of atoms",
        note="Prompts that grow: each holds the one before it and one thing or place more.",
    )


def _detectors(groups: Groups) -> Table:
    """Which observers disagree with which, by the same rule about the same pictures."""
    rows: list[tuple[Cell, ...]] = []
    for (one, first), (other, second) in combinations(groups.items(), 2):
        if one.rule != other.rule:
            continue
        theirs = {(j.case.case_id, j.verdict.repeat): is_right(j) for j in second}
        both = [
            (j, a, b)
            for j in first
            if (a := is_right(j)) is not None and (b := theirs.get((j.case.case_id, j.verdict.repeat))) is not None
        ]
        for task in dict.fromkeys((*(j.case.category for j, _, _ in both), OVERALL)):
            own = [(j, a, b) for j, a, b in both if task in (OVERALL, j.case.category)]
            if own:
                n = len(own)
                kappa = cohen([int(a) for _, a, _ in own], [int(b) for _, _, b in own], 2).value
                shares = (sum(a and not b for _, a, b in own) / n, sum(b and not a for _, a, b in own) / n)
                rows.append((one.rule, task, one.seen_by, other.seen_by, n, *shares, kappa))
    return Table(
        name="who disagrees",
        columns=("rule", "task", "one", "other", "n", "right_by_one_alone_rate", "right_by_other_alone_rate", "kappa"),
        rows=tuple(rows),
        title="Which detectors disagree",
        note="Over the pictures that both decided. kappa: Cohen's, 1 for full agreement, 0 for what chance would give.",
    )
