"""Metric: ACTesting's tables: errors by operator and definition (Figure 6), misses (Table 2), quality (Table 1).

Takes the verdicts on one model. Every share has its own denominator, printed beside it, an interval over clusters of
captions, and the noise floor where wordings and seeds were crossed. Tables that compare models hold this model's rows
for the report to join.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import ClassVar

from salva.core.counted import counted
from salva.core.judged import Judged, Judgements, SetFigure
from salva.core.options import NoOptions
from salva.core.protocols import Measured
from salva.core.table import Cell, KeyFigure, Table
from salva.english.captions.reading import nesting
from salva.results.headline import of_main_observers
from salva.stats.rates import Counted, macro, seeds_interval
from salva.suites.actesting.charts import charts_of
from salva.suites.actesting.checks import ENTITY, RELATION, error_score
from salva.suites.actesting.counting import (
    ORIG,
    Miss,
    Share,
    by_operator,
    change_cells,
    errors,
    focal_names,
    focal_predicates,
    grouped,
    misses,
    mutation_of,
    noise,
    weight_of,
)
from salva.suites.actesting.definitions import (
    DEFINITIONS,
    EC,
    EC_ER_A,
    EC_ER_R,
    ER_A,
    ER_R,
    EXPECTED,
    OPERATORS,
    PAPER,
    SS,
)
from salva.suites.actesting.published import REAL_IMAGES, SETS, TABLE_1, TABLE_2

_MISSES = ("Miss_e", "Miss_r")
KINDS = {ENTITY: "Error_e", RELATION: "Error_r"}
_FEWEST = 5
"""A thing or predicate of fewer decided pairs is left out of the list of what a model stands least."""
_N_LEAST = 20
_Of = Callable[[Judged], Iterable[str]]


class ActestingTables:
    """What a change of a caption does to its picture, in the shape of the published tables."""

    version: ClassVar[str] = "1"
    suites: ClassVar[tuple[str, ...]] = ("actesting",)

    def __init__(self, options: NoOptions) -> None:
        self._options = options

    def measure(self, judgements: Judgements) -> Measured:
        """Tables, numbers and charts for the report."""
        pairs = [pair for pair in of_main_observers(judgements.pairs) if _is_ours(pair)]
        controls = [control for control in of_main_observers(judgements.controls) if _is_ours(control)]
        if not pairs:
            return Measured()
        definition = definition_of(judgements)
        missed = misses(pairs)
        figure_6 = errors_table(pairs, controls)
        misses_by_set = misses_table(pairs[0].verdict.model, missed)
        tables = [
            figure_6,
            misses_by_set,
            over_baseline(pairs, definition),
            compositions(missed),
            *by_size(pairs, definition),
            stands_least(pairs, definition),
        ]
        if judgements.figures:
            tables.insert(0, quality_table(pairs[0].verdict.model, judgements.figures))
        if definition == PAPER:
            tables += [_published(), _published_quality()]
        leading = {kind: _macro(pairs, error_score(definition, kind)) for kind in KINDS}
        numbers: dict[str, float | None] = {kind: rate for kind, (rate, _, _) in leading.items()}
        numbers |= {f"miss_{what}": share.value for what, share in _all_missed(missed).items()}
        return Measured(
            tables=tuple(tables),
            numbers=numbers,
            charts=charts_of(figure_6, definition, misses_by_set),
            key_figures=_key_figures(leading, definition, pairs, controls),
        )


def definition_of(judgements: Judgements) -> str:
    """The definition that leads."""
    named = [judgements.options_of(pair.verdict.check).get("definition") for pair in judgements.pairs if _is_ours(pair)]
    return str(next((name for name in named if name), EXPECTED))


def errors_table(pairs: Sequence[Judged], controls: Sequence[Judged]) -> Table:
    """Errors of things and of relations, by operator and definition."""
    by_control = by_operator(controls)
    is_weighted = any(weight_of(pair.case) != 1 for pair in pairs)
    columns = ("model", "definition", "operator", "error", "rate", "low", "high", "n", "undecided", "noise_rate")
    rows: list[tuple[Cell, ...]] = []
    for definition in DEFINITIONS:
        for operator, group in _ordered(by_operator(pairs)):
            for kind, name in KINDS.items():
                score = error_score(definition, kind)
                share = errors(group, score)
                floor = noise(by_control.get(operator, ()), score)
                row: tuple[Cell, ...] = (group[0].verdict.model, definition, operator, name, *share.cells())
                rows.append((*row, share.undecided, floor, *([share.reweighted] if is_weighted else [])))
    return Table(
        name="errors by operator",
        columns=(*columns, *(["reweighted_rate"] if is_weighted else [])),
        rows=tuple(rows),
        title="Errors by operator and definition (as Figure 6)",
        note="Shares of the pairs that could be decided. noise_rate: the noise floor, the seed's caption against "
        "itself under another seed, by the same definition; run with --control. For two operators the paper defines "
        "nothing: both their rules are asked."
        + (" reweighted_rate: as a uniform sample of the captions would have it." if is_weighted else ""),
        is_joined=True,
    )


def misses_table(model: str, missed: Mapping[str, Miss]) -> Table:
    """What captions say and their pictures do not show, by set (Table 2), and the change against the seeds."""
    rows: list[tuple[Cell, ...]] = []
    for name in (ORIG, *OPERATORS):
        if name not in missed:
            continue
        for miss, share, base in zip(_MISSES, missed[name], missed.get(ORIG, missed[name]), strict=True):
            change = None if name == ORIG else share.over(base)
            rows.append((model, name, miss, *share.cells(), share.undecided, *change_cells(change)))
    columns = ("model", "set", "miss", "rate", "low", "high", "n", "undecided")
    return Table(
        name="misses by set",
        columns=(*columns, "change_rate", "change_low", "change_high"),
        rows=tuple(rows),
        title="What captions say and pictures do not show (as Table 2)",
        note="n: things (Miss_e) and triples (Miss_r) that captions name. A triple counts whole here; the released "
        "program counts predicates, and leaves captions without a picture in its denominator, so that its rate falls "
        "when pictures are missing. change: against the seeds' captions, as a part of theirs.",
        is_joined=True,
    )


def quality_table(model: str, figures: Sequence[SetFigure]) -> Table:
    """How good the pictures of each set are as pictures (Table 1), and the change against the seeds'."""
    base = {figure.name: figure.value for figure in figures if figure.set == ORIG}
    rank = {name: place for place, name in enumerate((ORIG, *OPERATORS))}
    rows: list[tuple[Cell, ...]] = []
    for figure in sorted(figures, key=lambda f: (f.name, rank.get(f.set, len(rank)))):
        of_orig = base.get(figure.name)
        change = figure.value / of_orig - 1 if of_orig and figure.set != ORIG else None
        row = (model, figure.set, figure.name, figure.value, figure.low, figure.high, figure.spread or None)
        rows.append((*row, figure.n_images, figure.n_reference or None, change, figure.by))
    return Table(
        name="quality by set",
        columns=("model", "set", "figure", "value", "from", "to", "spread", "n", "n_reference", "change_rate", "by"),
        rows=tuple(rows),
        title="Pictures as pictures (as Table 1)",
        note="FID: smaller is better, and few pictures make it larger. R-precision: how often a picture finds its own "
        "caption among n_reference others, ties lost; the paper's program asks for the original caption whatever was "
        "painted. from, to: 95 %, of R-precision over captions, of Inception Scores over splits; FID has none. "
        "spread: over splits or draws. change: against the seeds' pictures. Made by salva quality --by-set.",
        is_joined=True,
    )


def over_baseline(pairs: Sequence[Judged], definition: str) -> Table:
    """Each operator's errors over those of the synonym baseline."""
    groups = by_operator(pairs)
    rows: list[tuple[Cell, ...]] = []
    for operator, group in _ordered(groups):
        for kind, name in KINDS.items():
            score = error_score(definition, kind)
            base = errors(groups.get(SS, ()), score)
            if operator != SS and base.n:
                rows.append((group[0].verdict.model, operator, name, *change_cells(errors(group, score).over(base))))
    return Table(
        name="operators over ss",
        columns=("model", "operator", "error", "change_rate", "low", "high"),
        rows=tuple(rows),
        note=f"By the definition {definition}: 75 % means three quarters more errors than synonyms make. Empty where "
        "the baseline makes none.",
        is_joined=True,
    )


def compositions(missed: Mapping[str, Miss]) -> Table:
    """Two operators together over each of them."""
    rows: list[tuple[Cell, ...]] = []
    for both, single in ((EC_ER_R, EC), (EC_ER_R, ER_R), (EC_ER_A, EC), (EC_ER_A, ER_A)):
        if both in missed and single in missed:
            for name, share, base in zip(_MISSES, missed[both], missed[single], strict=True):
                rows.append((both, single, name, *change_cells(share.over(base))))
    return Table(
        name="compositions over single operators",
        columns=("set", "over", "miss", "change_rate", "low", "high"),
        rows=tuple(rows),
        note="26 % means that a quarter more is missed.",
    )


def by_size(pairs: Sequence[Judged], definition: str) -> list[Table]:
    """Errors by how much the mutant's caption says."""
    parts: dict[str, _Of] = {
        "things": lambda one: [str(len(mutation_of(one.case).mutant.entities))],
        "triples": lambda one: [str(len(mutation_of(one.case).mutant.triples))],
        "nesting": lambda one: [str(nesting(mutation_of(one.case).mutant))],
    }
    notes = {"nesting": "The longest chain of triples in which the object of one is the subject of the next."}
    tables = []
    for what, of in parts.items():
        rows = _rows_by(sorted(grouped(pairs, of).items(), key=lambda group: int(group[0])), definition)
        columns = (what, "error", "rate", "low", "high", "n", "undecided")
        tables.append(Table(name=f"errors by {what}", columns=columns, rows=rows, note=notes.get(what, "")))
    return tables


def stands_least(pairs: Sequence[Judged], definition: str) -> Table:
    """The operators, things and predicates under which most pairs are wrong, by the lower end of their intervals."""
    parts: dict[str, tuple[str, _Of]] = {
        "operator": (ENTITY, lambda one: [mutation_of(one.case).operator]),
        "thing": (ENTITY, lambda one: focal_names(mutation_of(one.case))),
        "predicate": (RELATION, lambda one: focal_predicates(mutation_of(one.case))),
    }
    rows: list[tuple[Cell, ...]] = []
    for what, (kind, of) in parts.items():
        shares = {name: errors(group, error_score(definition, kind)) for name, group in grouped(pairs, of).items()}
        ranked = sorted(
            ((name, share.cells()) for name, share in shares.items() if share.n >= _FEWEST),
            key=lambda row: (-float(row[1][1] or 0.0), row[0]),
        )
        rows += [(what, name, KINDS[kind], *cells) for name, cells in ranked[:_N_LEAST]]
    return Table(
        name="what it stands least",
        columns=("what", "name", "error", "rate", "low", "high", "n"),
        rows=tuple(rows),
        title="What the model stands least",
        note=f"By the definition {definition}; of {_FEWEST} decided pairs at least, the highest lower end first. The "
        "pictures are among the counterexamples.",
    )


def _rows_by(groups: Iterable[tuple[str, Sequence[Judged]]], definition: str) -> tuple[tuple[Cell, ...], ...]:
    rows: list[tuple[Cell, ...]] = []
    for name, group in groups:
        for kind, error in KINDS.items():
            share = errors(group, error_score(definition, kind))
            rows.append((int(name), error, *share.cells(), share.undecided))
    return tuple(rows)


def _macro(pairs: Sequence[Judged], score: str) -> tuple[float | None, tuple[float, float] | None, int]:
    """The mean over operators other than the baseline, its interval, and over how many pairs."""
    counted: dict[str, list[int]] = {}
    for case, verdict in pairs:
        if score in verdict.scores and mutation_of(case).operator != SS:
            row = counted.setdefault(case.case_id, [0, 0])
            row[0] += int(verdict.scores[score])
            row[1] += 1
    operators = {pair.case.case_id: mutation_of(pair.case).operator for pair in pairs}
    cases = [Counted(category=operators[name], n_hits=hits, n=n) for name, (hits, n) in counted.items()]
    interval = seeds_interval(cases)
    return macro(cases), (interval.low, interval.high) if interval else None, sum(case.n for case in cases)


def _key_figures(
    leading: Mapping[str, tuple[float | None, tuple[float, float] | None, int]],
    definition: str,
    pairs: Sequence[Judged],
    controls: Sequence[Judged],
) -> tuple[KeyFigure, ...]:
    figures = []
    groups = by_operator(pairs)
    for kind, (rate, ends, n) in leading.items():
        score = error_score(definition, kind)
        shares = {operator: errors(group, score) for operator, group in _ordered(groups)}
        over = ", ".join(operator for operator, share in shares.items() if operator != SS and share.n)
        undecided = ", ".join(operator for operator, share in shares.items() if operator != SS and not share.n)
        base, floor = shares[SS].value if SS in shares else None, noise(controls, score)
        none = "synonyms alone undecided" if SS in shares else "no synonym baseline"
        beside = none if base is None else f"synonyms alone {100 * base:.1f} %"
        beside += f", {undecided} undecided" if undecided else ""
        beside += f", another seed alone {100 * floor:.1f} %" if floor is not None else ""
        words = "things" if kind == ENTITY else "relations"
        low, high = ends or (None, None)
        figures.append(
            KeyFigure(
                title=f"{KINDS[kind]}: pairs with wrong {words}",
                value=rate,
                low=low,
                high=high,
                is_share=True,
                note=f"by {definition}, the mean over {over or 'nothing'}, {counted(n, 'pairs')}; {beside}",
            )
        )
    return tuple(figures)


def _all_missed(missed: Mapping[str, Miss]) -> dict[str, Share]:
    return {"e": missed[ORIG].entities, "r": missed[ORIG].relations} if ORIG in missed else {}


def _published() -> Table:
    rows: list[tuple[Cell, ...]] = [
        (model, name, row.entities[i], row.relations[i])
        for model, row in TABLE_2.items()
        for i, name in enumerate(SETS)
    ]
    return Table(
        name="published misses",
        columns=("model", "set", "Miss_e", "Miss_r"),
        rows=tuple(rows),
        note="Table 2 of the paper: 4,062 captions a set, seen by a scene graph model.",
    )


def _published_quality() -> Table:
    rows: list[tuple[Cell, ...]] = [
        (model, name, *quality) for model, by_set in TABLE_1.items() for name, quality in by_set.items()
    ]
    return Table(
        name="published quality",
        columns=("model", "set", "I-FID", "I-IS", "R-precision"),
        rows=(*rows, ("MS COCO", "real images", *REAL_IMAGES)),
        note="Table 1 of the paper.",
    )


def _ordered(groups: Mapping[str, Sequence[Judged]]) -> list[tuple[str, Sequence[Judged]]]:
    return [(name, groups[name]) for name in OPERATORS if name in groups]


def _is_ours(one: Judged) -> bool:
    return one.case.mutation is not None and one.verdict.check == one.case.check
