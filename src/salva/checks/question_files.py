"""Reads TIFA and DSG files.

A path comes in; questions by caption go out, with the answers the files expect. Rows that cannot be used are named and
skipped. Matching captions to prompts and reading answers is not done here.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from salva.core.fingerprint import Json
from salva.english.questions import NO, YES, ClosedQuestion
from salva.english.words import comparable
from salva.errors import UsageError
from salva.files.tables import Row, read_rows, unusable
from salva.messages import message

TIFA_FIELDS = ("id", "caption", "question", "answer")
DSG_FIELDS = ("item_id", "proposition_id", "dependency", "question_natural_language")
_IN_ANSWERS = {"question_id": "proposition_id", "dependency_id": "dependency", "question": "question_natural_language"}
"""How DSG's files of answers name the same columns; these have no text, so questions are found by id alone."""
_N_NAMED = 5
_Rows = list[Row[Json]]


@dataclass(frozen=True, slots=True, kw_only=True)
class FileQuestion:
    """A question of a file, with the answer it expects."""

    question: ClosedQuestion
    expected: str


@dataclass(frozen=True, slots=True, kw_only=True)
class QuestionFile:
    """The questions of a file, by caption and by id."""

    by_caption: Mapping[str, tuple[FileQuestion, ...]] = field(default_factory=dict)
    by_id: Mapping[str, tuple[FileQuestion, ...]] = field(default_factory=dict)
    remark: str = ""
    """How many rows could not be used, and where they are."""

    def about(self, caption: str, *ids: str) -> tuple[FileQuestion, ...]:
        """The questions about a caption; failing that, those filed under one of these ids."""
        questions = self.by_caption.get(comparable(caption))
        return questions or next((self.by_id[name] for name in ids if name in self.by_id), ())


def read_questions(path: str) -> QuestionFile:
    """The questions of a file; its fields say which shape it has."""
    rows = read_rows(Path(path))
    names = {name for _, row in rows for name in row}
    problems: list[str] = []
    if set(TIFA_FIELDS) <= names:
        made = _tifa(rows, problems)
    elif set(DSG_FIELDS) <= {_IN_ANSWERS.get(name, name) for name in names}:
        made = _dsg([row._replace(cells=_named(row.cells)) for row in rows], problems)
    else:
        raise UsageError(
            message(
                "file-kind-unknown",
                path=path,
                wanted=f"questions: a TIFA file has {', '.join(TIFA_FIELDS)}, a DSG file text, {', '.join(DSG_FIELDS)}",
                header=", ".join(sorted(names)) or "nothing",
            )
        )
    if problems and not made:
        raise unusable(path, problems)
    more = f"; and {len(problems) - _N_NAMED} more" if len(problems) > _N_NAMED else ""
    listed = "; ".join(problems[:_N_NAMED]) + more
    n_skipped = len({problem.partition(":")[0] for problem in problems})
    return QuestionFile(
        by_caption=_grouped((caption, question) for _, caption, question in made if caption),
        by_id=_grouped((name, question) for name, _, question in made),
        remark=f"{path}: {n_skipped} of {len(rows)} rows skipped ({listed})" if problems else "",
    )


_Made = list[tuple[str, str, FileQuestion]]
"""Id, caption and question."""


def _named(cells: Mapping[str, Json]) -> dict[str, Json]:
    """The cells of a row under the names of DSG's question files."""
    return {_IN_ANSWERS.get(name, name): value for name, value in cells.items()}


def _text(row: Mapping[str, object], name: str) -> str:
    value = row.get(name)
    return str(value).strip() if value is not None else ""


def _tifa(rows: _Rows, problems: list[str]) -> _Made:
    """One question a row; choices are those of the row, or any answer where it has none."""
    made = []
    for where, row in rows:
        wrong = [f"{where}: no {name}" for name in TIFA_FIELDS if not _text(row, name)]
        listed = row.get("choices") or []
        choices = tuple(str(choice).strip().lower() for choice in listed) if isinstance(listed, list) else ()
        answer = _text(row, "answer").lower()
        if not isinstance(listed, list):
            wrong.append(f"{where}: choices are {listed!r}; expected a list")
        elif choices and answer and answer not in choices:
            wrong.append(f"{where}: the answer {answer!r} is none of the choices {', '.join(choices)}")
        problems += wrong
        if not wrong:
            kind = _text(row, "element_type") or _text(row, "answer_type") or "answer"
            question = ClosedQuestion(text=_text(row, "question"), kind=kind, choices=choices)
            made.append(
                (_text(row, "id"), comparable(_text(row, "caption")), FileQuestion(question=question, expected=answer))
            )
    return made


def _dsg(rows: _Rows, problems: list[str]) -> _Made:
    """Yes-or-no questions whose answer is yes; a dependency names propositions of the same text.

    The published file has dependencies on nothing. Such a cell is not half read: its question stands alone.
    """
    texts: dict[tuple[str, str], str] = {}
    for _, row in rows:
        texts[_text(row, "item_id"), _text(row, "proposition_id")] = _text(row, "question_natural_language")
    made = []
    for where, row in rows:
        needed = (name for name in DSG_FIELDS if name != "dependency")
        wrong = [f"{where}: no {name}" for name in needed if not _text(row, name)]
        item = _text(row, "item_id")
        # "0", "-" and an empty cell all stand for no parent in the published files.
        named = [part for part in re.split(r"[,;\s]+", _text(row, "dependency")) if part not in ("", "0", "-")]
        asked = _text(row, "question_natural_language")
        parents = [texts.get((item, name), "") for name in named]
        if "" in parents or asked in parents:
            parents = []
        problems += wrong
        if not wrong:
            kind = _text(row, "category_broad") or "answer"
            question = ClosedQuestion(text=asked, kind=kind, choices=(YES, NO), parents=tuple(parents))
            made.append((item, comparable(_text(row, "text")), FileQuestion(question=question, expected=YES)))
    return made


def _grouped(pairs: Iterable[tuple[str, FileQuestion]]) -> dict[str, tuple[FileQuestion, ...]]:
    groups: dict[str, dict[str, FileQuestion]] = {}
    for name, question in pairs:
        groups.setdefault(name, {}).setdefault(question.question.text, question)
    return {name: tuple(group.values()) for name, group in groups.items()}
