"""Joins rows of ratings to the cases of a run.

Rows join a run by `case_id`, else by `id`, else by the text of a prompt; the first of these columns that a table has
counts. Models go by their name or by the code that sheets have for it.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from salva.core.case import Case
from salva.core.exchange import Flaw
from salva.core.scoring import Pair
from salva.core.source import RunRecords
from salva.review.cells import FileRow
from salva.review.columns import ITEM
from salva.review.role_codes import IMAGE, TEXT, plain_role


def model_code(model: str) -> str:
    """A name for a model that says nothing about it, for sheets that people fill in."""
    return f"model-{hashlib.sha256(model.encode()).hexdigest()[:6]}"


class CaseKey(NamedTuple):
    """A case of a run; repeat and model are empty for all of them."""

    case_id: str
    repeat: str
    model: str


class RunJoin:
    """Finds the case of a row."""

    def __init__(self, records: RunRecords, item_columns: Sequence[str]) -> None:
        self._column = next((name for name in ITEM if name in item_columns), *item_columns[:1])
        self._models = {
            code: verdict.model for verdict in records.verdicts for code in (verdict.model, model_code(verdict.model))
        }
        self._cases: dict[str, list[Case]] = {}
        for case in records.cases:
            for name in self._names(case):
                self._cases.setdefault(name, []).append(case)

    def _names(self, case: Case) -> set[str]:
        if self._column == "prompt":
            return {prompt.text.strip() for prompt in case.prompts}
        # Of an entry that a file has twice, both ids.
        given = {*(case.labels.get("id") or case.case_id).split(",")}
        return given if self._column == "id" else {case.case_id, *given}

    def case_of(self, line: FileRow) -> tuple[Case, CaseKey] | Flaw:
        """The case of a row, or what is wrong with the row."""
        name, model = line.cell(self._column), line.cell("model")
        cases = self._cases.get(name, [])
        if len(cases) != 1:
            n = f"{len(cases)} cases" if cases else "no case"
            return line.flaw(f"{self._column} {name!r} names {n} of the run")
        if model and model not in self._models:
            return line.flaw(f"{model!r} is no model of the run")
        return cases[0], CaseKey(cases[0].case_id, line.cell("repeat"), self._models.get(model, ""))


def pair_of(line: FileRow, case_id: str, roles: Iterable[str]) -> Pair:
    """The roles of text and image of a row: a, T_a and I_a, or a code of a sheet."""
    known = tuple(roles)

    def plain(side: str) -> str:
        role = plain_role(case_id, side, line.cell(f"{side}_role"), known)
        return role[2:] if role[:2].lower() == f"{side[0]}_" else role

    return plain(TEXT), plain(IMAGE)
