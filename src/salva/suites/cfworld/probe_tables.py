"""CF-World's probes as tables: facts, counterfactuals and what is kept, and L2 without its telling nouns."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from salva.core.judged import Judged
from salva.core.table import Cell, KeyFigure, Table
from salva.suites.cfworld.figures import gain, kept_share, level_mean
from salva.suites.cfworld.groups import ATTRIBUTE, RULE
from salva.suites.cfworld.judge_tables import says_nothing
from salva.suites.cfworld.retention import CF, FACT

ByJudge = Mapping[str, Sequence[Judged]]
_PARTS = (RULE, ATTRIBUTE)


def probe_tables(by_judge: ByJudge, group: str) -> list[Table]:
    """Facts, counterfactuals and retention of this model, by judge and part."""
    rows: list[tuple[Cell, ...]] = []
    for judge, judged in by_judge.items():
        for part, probes in _by_part(judged):
            both = _with_both(probes)
            fact, cf, kept = level_mean(both, FACT), level_mean(both, CF), kept_share(both, CF, FACT)
            model = probes[0].verdict.model
            rows.append((model, group, judge, part, kept.n, fact.value, cf.value, kept.value, *kept.ends))
    return [
        Table(
            name="probes (as Table 3)",
            columns=("model", "group", "judge", "part", "n", "Fact", "CF", "kept", "kept_from", "kept_to"),
            rows=tuple(rows),
            note="Mean scores over the n rules or pairs that have both, and CF / Fact; none where Fact is 0. Ends of "
            "95 % intervals by "
            "drawing rules or pairs again.",
            is_joined=True,
            averaged_by="group",
        )
    ]


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
            note = "none: Fact is 0" if both else "none: facts and counterfactuals of no probe were both scored"
        if blind := says_nothing(probes):
            note = f"{note}; {blind}"
        figures.append(KeyFigure(title=f"{part} kept", value=kept.value, low=low, high=high, note=note))
    return tuple(figures)


def denorm_table(by_judge: ByJudge, group: str) -> Table | None:
    """L2 as it is and without its telling nouns, both before the gate and both behind it."""
    rows: list[tuple[Cell, ...]] = []
    for judge, judged in by_judge.items():
        for gate, prefix in (("none", "s"), ("one for both", "gated")):
            paired = [pair for pair in judged if {f"{prefix}_l2", f"{prefix}_denorm"} <= pair.verdict.scores.keys()]
            if not paired:
                continue
            before, after = level_mean(paired, f"{prefix}_l2"), level_mean(paired, f"{prefix}_denorm")
            more = gain(paired, f"{prefix}_denorm", f"{prefix}_l2")
            model = paired[0].verdict.model
            rows.append((model, group, judge, gate, more.n, before.value, after.value, more.value, *more.ends))
        paired = [pair for pair in judged if {"gated_l2", "s_denorm"} <= pair.verdict.scores.keys()]
        if paired:
            mixed = gain(paired, "s_denorm", "gated_l2")
            means = level_mean(paired, "gated_l2").value, level_mean(paired, "s_denorm").value
            model = paired[0].verdict.model
            rows.append((model, group, judge, "L2 alone, as published", mixed.n, *means, mixed.value, *mixed.ends))
    if not rows:
        return None
    return Table(
        name="de-nominalisation (as Table 3)",
        columns=("model", "group", "judge", "gate", "n", "L2", "denorm", "gain", "gain_from", "gain_to"),
        rows=tuple(rows),
        note="The same groups, seeds and questions. The paper's gain sets a gated column of L2 beside an ungated one: "
        "the last row does so too, and what it adds is the gate's.",
        is_joined=True,
        averaged_by="group",
    )


def _with_both(probes: Sequence[Judged]) -> list[Judged]:
    """The same rules or pairs for both means, so that these give the ratio."""
    return [probe for probe in probes if {FACT, CF} <= probe.verdict.scores.keys()]


def _by_part(judged: Sequence[Judged]) -> list[tuple[str, list[Judged]]]:
    groups = [(part, [probe for probe in judged if probe.case.labels.get("part") == part]) for part in _PARTS]
    return [(part, group) for part, group in groups if group]
