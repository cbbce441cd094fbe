"""CF-World's probes as tables: facts, counterfactuals and what is kept, and L2 without its telling nouns."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from salva.core.judgements import CaseVerdict
from salva.core.table import Cell, KeyFigure, Table
from salva.results.tables import TableColumns, build_table, rows_table
from salva.suites.cfworld.figures import gain, kept_share, level_mean
from salva.suites.cfworld.groups import ATTRIBUTE, RULE
from salva.suites.cfworld.judge_tables import says_nothing
from salva.suites.cfworld.retention import CF, FACT

ByJudge = Mapping[str, Sequence[CaseVerdict]]
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
        note="kept: CF / Fact.",
        is_joined=True,
        averaged_by="group",
    )


def probe_figures(by_judge: ByJudge) -> tuple[KeyFigure, ...]:
    """What is kept under each probe, by the first judge."""
    figures = []
    for part, probes in _by_part(next(iter(by_judge.values()))):
        both = _with_both(probes)
        kept, fact, cf = kept_share(both, CF, FACT), level_mean(both, FACT).value, level_mean(both, CF).value
        low, high = kept.ends
        # A share alone would flatter a model that fails both alike.
        note = f"CF {cf or 0.0:.2f} / Fact {fact or 0.0:.2f} over {kept.n}"
        if kept.value is None:
            note = "none: Fact is 0" if both else "none: no probe has both scores"
        if blind := says_nothing(probes):
            note = f"{note}; {blind}"
        figures.append(KeyFigure(title=f"{part} kept", value=kept.value, low=low, high=high, note=note))
    return tuple(figures)


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
