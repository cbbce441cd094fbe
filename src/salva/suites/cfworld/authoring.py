"""New groups of CF-World from principles: levels and points by a text model, questions by it or by templates, linted.

A row in, a group out, with why it must not stay. The model gets the four criteria and the rules for questions, and
once what the lint still finds, which the user then sees. Without a model a group that has its prompts and points
gets its questions from templates.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import cast

from salva.core.authored import Authored, JsonWriter, Row
from salva.core.fingerprint import Json
from salva.core.question import Question
from salva.errors import UsageError
from salva.files.infiles import file_text
from salva.files.tables import Row as FileRow
from salva.files.tables import read_rows, unusable
from salva.messages import message
from salva.suites.cfworld.asking import integrity_question, logic_question, point_question
from salva.suites.cfworld.groups import KINDS, LEVELS, LevelGroup, LevelPrompt, question, read_entries, write_entries
from salva.suites.cfworld.lint import STEPS, lint, name_of

TEMPLATE = "template"
_QUESTION_KINDS = frozenset({"question-kinds", "point-not-covered", "criteria-steps", "not-a-question", "same-logic"})
_LEVELS = """You write prompts that test text-to-image models. Given a discipline and a principle, write one group:
l1, the fact, as the world is; l2, the same scene under a changed law, with the visible outcome said in full; l3, the
same scene and law as l2 with no word of the outcome; denorm, l2 once more with the law word for word, and with the
telling nouns of the outcome described instead of named. Each of l1 and l2 has an assessment point: one sentence that
says what an image must show.
Four criteria: (1) the point is seen at a glance in one still image; (2) the outcome follows by reasoning from the
changed law and is no matter of style; (3) nothing unsafe, nobody hurt, no deformed bodies; (4) correct at the level of
a middle school. Plain English, ASCII, one or two sentences a prompt.
Reply with one JSON object: {"id": "two-or-three-words", "category": "the topic in one or two words",
"l1": {"prompt": "...", "point": "..."}, "l2": {"prompt": "...", "point": "..."}, "l3": {"prompt": "..."},
"denorm": "..."}"""
_QUESTIONS = """You write questions by which an image is graded from 0 to 1. Given the prompts and points of two
levels, write three questions for each. integrity: are the entities that the prompt names there, whole and recognisable,
in any style. point: does the image show the assessment point; everything the point says, in its own words, in this
one question. logic: do the surroundings of the main subject follow the law; at l1 the laws of our world, at l2 the
changed law, so the two must differ. Each has a sentence for 1, for 0.5 and for 0. 0.5 is hard to get: only for a
image that is all but right.
Reply with one JSON object: {"l1": {"integrity": {"question": "...?", "1": "...", "0.5": "...", "0": "..."},
"point": {...}, "logic": {...}}, "l2": {"integrity": {...}, "point": {...}, "logic": {...}}}"""


class GroupAuthor:
    """Principles to groups."""

    def rows(self, path: Path) -> list[Row]:
        """Principles as lines ("optics: Mirrors reflect light."), CSV (discipline, principle) or JSON lines."""
        rows = read_rows(path) if path.suffix.lower() in (".jsonl", ".csv") else list(_of_lines(path))
        problems = [where for where, row in rows if not (_text(row, "discipline") and _text(row, "principle"))]
        if problems:
            wanted = "no discipline or no principle, as in 'optics: Mirrors reflect light.'"
            raise unusable(str(path), [f"{where}: {wanted}" for where in problems], "lines")
        if not rows:
            raise UsageError(
                message(
                    "suite-file-empty", path=str(path), what="principles", wanted="one a line, as discipline: principle"
                )
            )
        return [row for _, row in rows]

    def name_of(self, row: Row) -> str:
        """Discipline and principle."""
        return f"{_text(row, 'discipline')}: {_text(row, 'principle')}"

    def write(self, row: Row, writer: JsonWriter | None) -> Authored:
        """The group about one row, linted."""
        group = _group_of(row)
        if group is None:
            if writer is None:
                unwritten = _unwritten(row, "it has no prompts, and a template makes none; name a --writer")
                return replace(unwritten, needs_writer=True)
            group = _written(row, writer)
        if group is None:
            return replace(
                _unwritten(row, "the writer's reply is no group; the same command asks again"), is_unread=True
            )
        if not group.l1.questions:
            group = _with_questions(group, writer)
        why = "; ".join(sorted({finding.shared for finding in lint([group])}))
        return Authored(entry_id=name_of(group), line=_line(group), shown=_shown(group), why=why)


def _written(row: Row, writer: JsonWriter) -> LevelGroup | None:
    """The writer's group; one that the lint finds fault with is asked for once more, with the findings."""
    asked = f"discipline: {_text(row, 'discipline')}\nprinciple: {_text(row, 'principle')}"
    group, faults = _asked_for(row, asked, writer)
    if group is None or not faults:
        return group
    listed = "\n".join(f"- {fault}" for fault in faults)
    before = json.dumps({key: value for key, value in _line(group).items() if key in (*LEVELS, "denorm")})
    again, left = _asked_for(row, f"{asked}\n\nYou wrote: {before}\nWhat is wrong with it:\n{listed}", writer)
    return again if again is not None and len(left) < len(faults) else group


def _asked_for(row: Row, asked: str, writer: JsonWriter) -> tuple[LevelGroup | None, list[str]]:
    """A group and what is wrong with it; only a reply with nothing wrong is kept, so that others are asked for anew."""
    reply = writer.ask(_LEVELS, asked)
    group = _group_of(_merged(row, reply, writer))
    faults = _faults(group)
    if group is not None and not faults:
        writer.keep(_LEVELS, asked, reply)
    return group, faults


def _faults(group: LevelGroup | None) -> list[str]:
    """What the lint finds in the prompts and points alone; the questions come later."""
    return [] if group is None else [found.shared for found in lint([group]) if found.kind not in _QUESTION_KINDS]


def _merged(row: Row, reply: Json | None, writer: JsonWriter) -> Row:
    if not isinstance(reply, Mapping):
        return row
    said = {key: reply[key] for key in ("category", *LEVELS, "denorm") if key in reply}
    slug = re.sub(r"[^a-z0-9]+", "-", str(reply.get("id") or row["principle"]).lower()).strip("-")[:40].strip("-")
    return {**row, **said, "id": row.get("id") or slug, "labels": {"written_by": writer.name}}


def _group_of(row: Row) -> LevelGroup | None:
    """The group a row is, where it has prompts and points; l3 has the point of l2 unless it has its own."""
    levels = {name: row.get(name) for name in LEVELS}
    if not all(isinstance(level, Mapping) and _text(level, "prompt") for level in levels.values()):
        return None
    given = {name: dict(cast(Mapping[str, Json], level)) for name, level in levels.items()}
    if not (_text(given["l1"], "point") and _text(given["l2"], "point")):
        return None
    given["l3"]["point"] = _text(given["l3"], "point") or given["l2"]["point"]
    whole = {"id": _text(row, "principle"), **row, **given}
    (entry,) = read_entries([json.dumps(whole)], _text(row, "principle"))
    return entry if isinstance(entry, LevelGroup) else None


def _with_questions(group: LevelGroup, writer: JsonWriter | None) -> LevelGroup:
    """By the writer where it gives questions of all kinds, else from templates; a label says which."""
    asked = None
    if writer is not None:
        about = {name: {"prompt": group.level(name).prompt, "point": group.level(name).point} for name in ("l1", "l2")}
        reply = writer.ask(_QUESTIONS, json.dumps(about))
        asked = _read_questions(reply)
        if asked is not None:
            writer.keep(_QUESTIONS, json.dumps(about), reply)
    by = TEMPLATE if asked is None or writer is None else writer.name
    first, second = asked or (_from_template(group.l1, changed=False), _from_template(group.l2, changed=True))
    levels = {"l1": first, "l2": second, "l3": second}
    made = {name: replace(group.level(name), questions=questions) for name, questions in levels.items()}
    return replace(group, l1=made["l1"], l2=made["l2"], l3=made["l3"], labels={**group.labels, "questions_by": by})


def _from_template(level: LevelPrompt, *, changed: bool) -> tuple[Question, ...]:
    inside = level.point[:1].lower() + level.point[1:].rstrip(". ")
    around = f"nothing else in it contradicts that {inside}"
    integrity = integrity_question("all the things that the picture is about")
    return (integrity, point_question(level.point), logic_question(around, changed=changed))


def _read_questions(reply: Json | None) -> tuple[tuple[Question, ...], tuple[Question, ...]] | None:
    """Those of l1 and l2; None where one is missing."""
    try:
        first, second = (_level_questions(cast(dict[str, Json], reply)[name]) for name in ("l1", "l2"))
    except (KeyError, TypeError, AttributeError):
        return None
    return first, second


def _level_questions(said: Json) -> tuple[Question, ...]:
    level = cast(dict[str, dict[str, Json]], said)
    return tuple(
        question(kind, _needed(level[kind], "question"), {step: _needed(level[kind], f"{step:g}") for step in STEPS})
        for kind in KINDS
    )


def _needed(row: Mapping[str, Json], name: str) -> str:
    if not (text := _text(row, name)):
        raise KeyError(name)
    return text


def _unwritten(row: Row, why: str) -> Authored:
    shown = {"discipline": _text(row, "discipline"), "principle": _text(row, "principle")}
    return Authored(entry_id=": ".join(shown.values()), line=row, shown=shown, why=why)


def _shown(group: LevelGroup) -> dict[str, str]:
    shown = {"discipline": group.discipline, "principle": group.principle}
    for name in LEVELS:
        shown[name] = group.level(name).prompt
        shown[f"{name} point"] = group.level(name).point
    return {**shown, "denorm": group.denorm}


def _line(group: LevelGroup) -> dict[str, Json]:
    (line,) = write_entries([group])
    return cast(dict[str, Json], json.loads(line))


def _text(row: Mapping[str, Json], name: str) -> str:
    value = row.get(name)
    return " ".join(value.split()) if isinstance(value, str) else ""


def _of_lines(path: Path) -> Iterator[FileRow[Json]]:
    for number, line in enumerate(file_text(path).splitlines(), 1):
        if line.strip():
            discipline, _, principle = line.partition(":")
            yield FileRow(f"line {number}", {"discipline": discipline.strip(), "principle": principle.strip()})
