"""CF-World's probes as tables: facts, counterfactuals and what is kept, and L2 without its telling nouns."""

from __future__ import annotations

from collections.abc import Sequence

from salva.core.judgements import CaseVerdict
from salva.core.metric import HIGHER, MetricValue
from salva.core.table import Cell, Table
from salva.results.tables import TableColumns, build_table, rows_table
from salva.suites.cfworld.figures import ByJudge, gain, kept_share, level_mean
from salva.suites.cfworld.groups import ATTRIBUTE, RULE
from salva.suites.cfworld.judge_tables import says_nothing
from salva.suites.cfworld.retention import CF, FACT

_PARTS = (RULE, ATTRIBUTE)


def probe_table(by_judge: ByJudge, group: str) -> Table | None:
    """Facts, counterfactuals and retention of this model, by judge and part."""

    def cells(probes: Sequence[CaseVerdict]) -> tuple[Cell, ...]:
        both = _with_both(probes)
        kept = kept_share(both, CF, FACT)
        return (kept.n, level_mean(both, FACT).value, level_mean(both, CF).value, *kept.cells)

    return build_table(
        "probes (as Table 3)",
        ("model", "group", "judge", "part"),
        [
            ((probes[0].verdict.model, group, judge, part), probes)
            for judge, judged in by_judge.items()
            for part, probes in _by_part(judged)
        ],
        TableColumns(("n", "Fact", "CF", "kept", "kept_from", "kept_to"), cells),
        is_joined=True,
        averaged_by="group",
    )


KEPT = {part: f"{part}_kept" for part in _PARTS}
"""The metric of each part."""


def probe_metrics(probes: Sequence[CaseVerdict]) -> dict[str, MetricValue]:
    """What is kept under each probe."""
    metrics = {}
    for part, own in _by_part(probes):
        both = _with_both(own)
        kept, fact, cf = kept_share(both, CF, FACT), level_mean(both, FACT).value, level_mean(both, CF).value
        # A share alone would flatter a model that fails both alike.
        reason = f"CF {cf or 0.0:.2f} / Fact {fact or 0.0:.2f}"
        if kept.value is None:
            reason = "Fact is 0" if both else "no probe has both scores"
        metrics[KEPT[part]] = kept.metric(f"{part} kept", says_nothing(own) or reason, HIGHER)
    return metrics


_COMPARED = (
    ("none", "s_l2", "s_denorm"),
    ("one for both", "gated_l2", "gated_denorm"),
    ("L2 alone, as published", "gated_l2", "s_denorm"),
)
"""The gate, and the scores of L2 and of its de-nominalised prompt that are compared under it."""


def denorm_table(by_judge: ByJudge, group: str) -> Table | None:
    """L2 as it is and without its telling nouns, under each gate."""

    def cells(paired: Sequence[CaseVerdict], before: str, after: str) -> tuple[Cell, ...]:
        more = gain(paired, after, before)
        return (more.n, level_mean(paired, before).value, level_mean(paired, after).value, *more.cells)

    return rows_table(
        "de-nominalisation (as Table 3)",
        ("model", "group", "judge", "gate", "n", "L2", "denorm", "gain", "gain_from", "gain_to"),
        (
            (paired[0].verdict.model, group, judge, gate, *cells(paired, before, after))
            for judge, judged in by_judge.items()
            for gate, before, after in _COMPARED
            if (paired := [pair for pair in judged if {before, after} <= pair.verdict.scores.keys()])
        ),
        note="As published: L2 gated, the new prompt not.",
        is_joined=True,
        averaged_by="group",
    )


def _with_both(probes: Sequence[CaseVerdict]) -> list[CaseVerdict]:
    """The same rules or pairs for both means, so that these give the ratio."""
    return [probe for probe in probes if {FACT, CF} <= probe.verdict.scores.keys()]


def _by_part(judged: Sequence[CaseVerdict]) -> list[tuple[str, list[CaseVerdict]]]:
    groups = [(part, [probe for probe in judged if probe.case.labels.get("part") == part]) for part in _PARTS]
    return [(part, group) for part, group in groups if group]
