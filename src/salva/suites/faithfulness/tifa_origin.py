"""Where an exported verdict came from: whose case it is, who looked, and by which rule.

Cells of a table go out and come in again. By them an import stands under the ids, formulas and names of the run that
was exported, and can be held against it; whatever contradicts the published files beside them is refused. Knows no
files.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple

from salva.checks.must_differ import MustDiffer
from salva.checks.same_answers import SameAnswers
from salva.core.asked import AskedComponent
from salva.core.case import Case
from salva.core.fingerprint import Json
from salva.core.options import as_typed, parse_options
from salva.core.table import Cell
from salva.core.verdict import Observers, Verdict
from salva.english.pair_facts import facts_of, findings_of
from salva.errors import UsageError
from salva.logic.equivalence import are_equivalent
from salva.logic.notation import parse
from salva.suites.faithfulness.tifa_files import CASE_ID, FORMULAS, RULE, SEEN_BY

_OPTIONS = {"same-answers": SameAnswers.Options, "must-differ": MustDiffer.Options}
_NO_FORMULA = "no-formula"


class Told(NamedTuple):
    """A row about a verdict."""

    pair_id: str
    cells: Mapping[str, str]
    name: Callable[[str], None]
    """To be told what of it is not used."""


def origin_cells(case: Case, verdict: Verdict, rules: Iterable[AskedComponent]) -> tuple[Cell, ...]:
    """Where a verdict came from, under ORIGIN_COLUMNS."""
    options = next((rule.options for rule in rules if rule.name == verdict.check), {})
    formulas = (prompt.formula or "" for prompt in case.prompts)
    return case.case_id, *formulas, json.dumps(verdict.observers), json.dumps(dict(options))


def cases_as_made(cases: Mapping[str, Case], told: Sequence[Told]) -> dict[str, Case]:
    """Cases that were read from published columns, by pair id, under the ids and with the formulas they were made with.

    Where rows do not say, or say what cannot be, a case stays as it was read.
    """
    made: dict[str, Case] = {}
    for row in told:
        if row.pair_id not in cases or not row.cells.get(CASE_ID, "").strip():
            continue
        try:
            case = _as_made(cases[row.pair_id], row.cells)
        except (ValueError, UsageError) as error:
            row.name(f"no case of this pair ({error}); {CASE_ID} and formulas are not used")
            continue
        if made.setdefault(row.pair_id, case) != case:
            row.name(f"another {CASE_ID} or other formulas of pair {row.pair_id!r} than before; the first stand")
    known_as = {pair_id: made.get(pair_id, case) for pair_id, case in cases.items()}
    if len({case.case_id for case in known_as.values()}) == len(cases):
        return known_as
    ((twice, _),) = Counter(case.case_id for case in known_as.values()).most_common(1)
    for row in told:
        if row.pair_id in made and made[row.pair_id].case_id == twice:
            row.name(f"{CASE_ID} {twice!r} is that of another pair too; no {CASE_ID} is used")
    return dict(cases)


def _as_made(case: Case, cells: Mapping[str, str]) -> Case:
    prompts = tuple(
        replace(prompt, formula=_formula(prompt.formula, cells.get(name, "").strip()) if prompt.text else None)
        for prompt, name in zip(case.prompts, FORMULAS, strict=True)
    )
    a, b = (prompt.formula for prompt in prompts)
    made = replace(case, case_id=cells[CASE_ID].strip(), prompts=prompts)
    if a is None or b is None or all(prompt.formula for prompt in case.prompts):
        return made
    # Nobody could read these words, and whoever wrote them says what they mean.
    facts = facts_of(a, b)
    return replace(
        made,
        check="same-answers" if facts.equivalent else "must-differ",
        equivalent=facts.equivalent,
        determinate=facts.determinate,
        findings=(*(one for one in case.findings if one.kind != _NO_FORMULA), *findings_of(a, b)),
    )


def _formula(read: str | None, said: str) -> str | None:
    if not said:
        return read
    if not are_equivalent(parse(said), parse(read or said)):
        raise ValueError(f"{said!r} is not what its prompt says")
    return said


def seen_by(rows: Iterable[Mapping[str, str]]) -> Observers:
    """Who looked, where all rows name the same; nobody where they do not say or differ."""
    said = {cells.get(SEEN_BY, "").strip() for cells in rows}
    try:
        names: Json = json.loads(said.pop()) if len(said) == 1 else None
    except (ValueError, RecursionError):
        return ()
    listed = names if isinstance(names, list) else []
    observers = tuple(name for name in listed if isinstance(name, str) and name)
    return observers if len(observers) == len(listed) else ()


def rule_in(rows: Iterable[Mapping[str, str]], check: str) -> dict[str, Json]:
    """The options that a check judged with, where all rows say the same; ValueError where it has no such options."""
    said = {cells.get(RULE, "").strip() for cells in rows}
    options = _options_in(said.pop() if len(said) == 1 else "")
    _parsed(options, check)
    return options


def has_usual_rule(cells: Mapping[str, str], check: str) -> bool:
    """Whether a verdict says that it was judged with the options a check has by itself, or nothing that can be."""
    try:
        return _parsed(_options_in(cells.get(RULE, "").strip()), check) == _OPTIONS[check]()
    except (ValueError, UsageError, RecursionError):
        return True


def _options_in(text: str) -> dict[str, Json]:
    options = json.loads(text) if text else {}
    if not isinstance(options, dict):
        raise ValueError(f"{RULE} is no JSON object")
    return options


def _parsed(options: Mapping[str, Json], check: str) -> object:
    return parse_options(_OPTIONS[check], {name: as_typed(value) for name, value in options.items()}, check)
