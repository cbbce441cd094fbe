"""GenEval's tables beyond the tasks: variants, rewritten prompts, prompts that grow."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from salva.core.chart import Chart, ChartKind
from salva.core.judgements import CaseVerdict, Judgements
from salva.core.table import Cell, Table
from salva.results.agreement import compared_pairs
from salva.results.tables import ends, group_by, present, rows_table
from salva.stats.rates import difference_interval
from salva.suites.geneval.embedded import HARD
from salva.suites.geneval.shares import OVERALL, Groups, in_tasks, is_right, share_of
from salva.suites.geneval.suite import ATOMS, KIND, PARTNER, REWRITTEN, VARIANTS

_PAIR_RATES = ("both_right_rate", "low", "high", "n", "undecided")


def further_tables(judgements: Judgements, groups: Groups) -> tuple[Table, ...]:
    """Each where there is something for it."""
    return present(_variants(judgements, groups), _rewritten(groups), _growing(groups))


def further_charts(groups: Groups) -> Iterator[Chart]:
    """Correct images against the number of atoms."""
    table = _growing(dict(list(groups.items())[:1]))
    if table:
        yield Chart(
            name="geneval-atoms",
            title="Correct images by number of atoms",
            kind=ChartKind.LINES,
            table=table,
            x="atoms",
            y="right_rate",
            low="low",
            high="high",
            n="n",
            x_label="atoms of the formula",
            y_label="share of correct images",
            is_share=True,
            ends=(0.0, 1.0),
            is_high_good=True,
        )


def _of_kind(group: Sequence[CaseVerdict], kind: str) -> list[CaseVerdict]:
    return [judged for judged in group if judged.case.labels.get(KIND) == kind]


def _variants(judgements: Judgements, groups: Groups) -> Table | None:
    """Both images of a pair: how often both are correct, and how often only one is."""
    compared = list(compared_pairs(judgements).values())

    def cells(kind: str, pairs: Sequence[CaseVerdict]) -> tuple[Cell, ...]:
        scores = [judged.verdict.scores for judged in pairs if is_right(judged) is not None]
        only_one = [given.get("right_a", 0) != given.get("right_b", 0) for given in scores]
        same = share_of(_of_kind(compared, kind)).rate
        differ = None if same is None or kind == "exchanged" else 1 - same
        return (*share_of(pairs).cells(), sum(only_one) / len(only_one) if only_one else None, differ)

    return rows_table(
        "variants",
        ("rule", "seen_by", "variant", *_PAIR_RATES, "only_one_right_rate", "images_differ_rate"),
        (
            (*standpoint, kind, *cells(kind, pairs))
            for standpoint, group in groups.items()
            for kind in VARIANTS
            if (pairs := _of_kind(group, kind))
        ),
        title="Reworded pairs and exchanged colours",
        note="images_differ_rate: by same-scene, for pairs of one meaning.",
    )


def _rewritten(groups: Groups) -> Table | None:
    """What rewriting gains: each rewritten prompt against its own, in the same repeat."""

    def gains(group: Sequence[CaseVerdict]) -> list[tuple[CaseVerdict, float]]:
        plain = {_key(judged): is_right(judged) for judged in in_tasks(group)}
        pairs = (
            (judged, plain.get((judged.case.labels[PARTNER], judged.verdict.repeat)), is_right(judged))
            for judged in _of_kind(group, REWRITTEN)
        )
        return [
            (judged, float(after) - float(before))
            for judged, before, after in pairs
            if before is not None and after is not None
        ]

    def by_task(group: Sequence[CaseVerdict]) -> dict[str, list[tuple[CaseVerdict, float]]]:
        found = gains(group)
        tasks = group_by(found, lambda gain: gain[0].case.labels["tag"])
        return {**tasks, **({OVERALL: found} if found else {})}

    return rows_table(
        "gain by rewriting",
        ("rule", "seen_by", "task", "difference", "low", "high", "n"),
        (
            (*standpoint, task, *_mean_gain(found))
            for standpoint, group in groups.items()
            for task, found in by_task(group).items()
        ),
        title="Gain by rewriting",
        note=(f"Rewritten less published text, same seeds; {OVERALL}: the mean of tasks."),
    )


def _mean_gain(gains: Sequence[tuple[CaseVerdict, float]]) -> tuple[Cell, ...]:
    """The mean over tasks of their cases' mean gains, its interval, and how many pairs of images there are."""
    by_case = group_by(gains, lambda gain: (gain[0].case.labels["tag"], gain[0].case.case_id))
    means: dict[str, list[float]] = {}
    for (task, _), own in by_case.items():
        means.setdefault(task, []).append(sum(gain for _, gain in own) / len(own))
    overall = sum(sum(group) / len(group) for group in means.values()) / len(means)
    return (overall, *ends(difference_interval(means, len(gains) / len(by_case))), len(gains))


def _growing(groups: Groups) -> Table | None:
    def by_atoms(group: Sequence[CaseVerdict]) -> list[tuple[int, list[CaseVerdict]]]:
        return sorted(group_by(_of_kind(group, HARD), lambda judged: int(judged.case.labels[ATOMS])).items())

    return rows_table(
        "by atoms",
        ("rule", "seen_by", "atoms", "right_rate", "low", "high", "n", "undecided"),
        (
            (*standpoint, n_atoms, *share_of(own).cells())
            for standpoint, group in groups.items()
            for n_atoms, own in by_atoms(group)
        ),
        title="Correct images by number of atoms",
        note="Each prompt adds an atom to the one before.",
    )


def _key(judged: CaseVerdict) -> tuple[str, int]:
    return judged.case.case_id, judged.verdict.repeat
