"""Reads TIFA-lite answers and scores.

Rows that lack something are named and counted; rows that contradict each other stop the import. An answer outside yes
and no counts as wrong and is named.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import ClassVar

from salva.checks.right_answers import RIGHT_ANSWERS
from salva.core.case import Case, Finding, Prompt
from salva.core.case_sets import slug
from salva.core.exchange import Flaw, ImportSettings, ReadIn
from salva.core.options import option
from salva.core.run_spec import ComponentSpec
from salva.errors import UsageError
from salva.messages import message
from salva.stats.pair_scores import SCALES
from salva.suites.faithfulness.files import law_of
from salva.suites.faithfulness.suite import Faithfulness
from salva.suites.faithfulness.tifa_files import (
    ANSWERED,
    GROUNDED,
    NEEDED,
    REPEAT,
    TifaFile,
    TifaKind,
    read_tifa_file,
)
from salva.suites.faithfulness.tifa_verdicts import MUST_DIFFER, SAME_ANSWERS, AnswerRow, ClipRow, verdicts_of

_LABELS = ("category_id", "logical_law", "semantic_dimension")
_TRUTH = {"1": True, "1.0": True, "true": True, "yes": True, "0": False, "0.0": False, "false": False, "no": False}
_MOST_DIGITS = 6
_Image = tuple[str, int]
"""A pair by its id, and a repeat of it."""
_Answers = dict[_Image, dict[str, list[AnswerRow]]]
"""The answers about each, by A and B."""


@dataclass(slots=True, kw_only=True)
class _ImportState:
    """What has been read so far."""

    problems: list[Flaw] = field(default_factory=list)
    labels: dict[str, dict[str, str]] = field(default_factory=dict)
    """Pair id to what answer and CLIP files say about its category."""

    def name(self, sheet: TifaFile, where: str, what: str) -> None:
        self.problems.append(Flaw(file=sheet.name, where=where, what=what))

    def repeat(self, sheet: TifaFile, where: str, row: Mapping[str, str]) -> int | None:
        """The repeat a row is of, 0 where nothing is said; None for what is noted as a problem."""
        cell = row.get(REPEAT, "").strip() or "0"
        if cell.isdecimal() and cell.isascii() and len(cell) <= _MOST_DIGITS:
            return int(cell)
        self.name(sheet, where, f"{REPEAT} is {cell!r}, not a whole number; row skipped")
        return None


class TifaImport:
    """Prompts, answers and CLIP scores in the columns of the TIFA-lite project."""

    version: ClassVar[str] = "1"

    @dataclass(frozen=True, slots=True, kw_only=True)
    class Options:
        """What the files cannot say about themselves."""

        scale: str = option("percent", "The scale of CLIP scores in the files.", choices=tuple(SCALES))

    def __init__(self, options: Options) -> None:
        self._scale = options.scale

    def read(self, files: Sequence[Path], settings: ImportSettings) -> ReadIn:
        """Cases and verdicts of these files."""
        return _read(files, settings.model, self._scale)


def _read(files: Sequence[Path], model: str, scale: str) -> ReadIn:
    work = _ImportState()
    sheets = [read_tifa_file(path, work.problems.append) for path in files]
    answer_files, clip_files, prompts, _ = ([sheet for sheet in sheets if sheet.kind is kind] for kind in TifaKind)
    if len(prompts) > 1:
        raise UsageError(message("files-duplicate", what="prompts", files=f"{prompts[0].name}, {prompts[1].name}"))
    if not answer_files and not clip_files:
        raise UsageError(message("import-empty", what="answers or CLIP scores", wanted="at least one file of either"))
    models = _models((answer_files, clip_files), model)
    answers = {models[sheet.name]: _answers(sheet, work) for sheet in answer_files}
    clips = {models[sheet.name]: _clips(sheet, work, scale) for sheet in clip_files}
    cases = _cases_of(prompts, work)
    names = tuple(dict.fromkeys(models.values()))
    images = [image for of_model in answers.values() for image in of_model]
    images += [image for of_model in clips.values() for image in of_model]
    repeats = sorted({0, *(repeat for _, repeat in images)})
    verdicts = tuple(
        replace(verdict, repeat=n)
        for name in names
        for pair_id, case in cases.items()
        for n in repeats
        for verdict in verdicts_of(
            case, name, answers.get(name, {}).get((pair_id, n)), clips.get(name, {}).get((pair_id, n)), scale
        )
    )
    for verdict in verdicts:
        if verdict.reason and verdict.check == RIGHT_ANSWERS:
            whose = f"{verdict.model}, " if len(names) > 1 else ""
            which = f"repeat {verdict.repeat}, " if len(repeats) > 1 else ""
            work.problems.append(Flaw(file=verdict.case_id, what=f"{whose}{which}{verdict.reason}"))
    rules = (
        ComponentSpec(role="check", name=name, options={"clip_scale": scale})
        for name in dict.fromkeys(verdict.check for verdict in verdicts)
    )
    return ReadIn(
        suite="faithfulness",
        models=names,
        cases=tuple(cases.values()),
        verdicts=verdicts,
        problems=tuple(work.problems),
        counts={
            "pairs": len(cases),
            "answers": sum(len(side) for rows in answers.values() for pair in rows.values() for side in pair.values()),
            "CLIP scores": sum(2 * len(rows) for rows in clips.values()),
        },
        rules=tuple(rules),
        repeats=len(repeats),
    )


def _cases_of(prompts: Sequence[TifaFile], work: _ImportState) -> dict[str, Case]:
    """The cases by pair id: of the file of prompts, and without prompts where it lacks a pair."""
    cases = _cases(prompts[0]) if prompts else {}
    for pair_id, labels in work.labels.items():
        if pair_id not in cases:
            if prompts:
                work.problems.append(Flaw(file=prompts[0].name, what=f"no prompts for pair {pair_id!r}"))
            cases[pair_id] = _case_without_prompts(pair_id, labels)
    return cases


def _models(kinds: Sequence[Sequence[TifaFile]], model: str) -> dict[str, str]:
    """File name to model."""
    for kind in kinds:
        names = [sheet.model for sheet in kind]
        if model and len(kind) > 1:
            raise UsageError(message("model-name-ambiguous", model=model, n=len(kind)))
        if len(set(names)) != len(names):
            files = ", ".join(sheet.name for sheet in kind)
            raise UsageError(message("files-duplicate", what="one model", files=files))
    return {sheet.name: model or sheet.model for kind in kinds for sheet in kind}


def _answers(sheet: TifaFile, work: _ImportState) -> _Answers:
    answers: _Answers = {}
    seen: dict[tuple[_Image, str, str], str] = {}
    for where, row in sheet.rows:
        pair_id, side, question = row["pair_id"].strip(), row["image_variant"].strip().upper(), row["question"].strip()
        missing = [name for name in NEEDED[TifaKind.ANSWERS] if not row[name].strip()]
        if missing:
            work.name(sheet, where, f"no {', '.join(missing)}; row skipped")
            continue
        if side not in ("A", "B"):
            work.name(sheet, where, f"image_variant is {row['image_variant']!r}, not A or B; row skipped")
            continue
        repeat = work.repeat(sheet, where, row)
        if repeat is None:
            continue
        image = pair_id, repeat
        work.labels.setdefault(pair_id, {name: row[name] for name in _LABELS if name in row})
        first = seen.setdefault((image, side, question), where)
        if first != where:
            work.name(sheet, where, f"the question of {first} again; both count")
        answers.setdefault(image, {}).setdefault(side, []).append(_answer(sheet, where, row, work))
    return answers


def _answer(sheet: TifaFile, where: str, row: Mapping[str, str], work: _ImportState) -> AnswerRow:
    expected = row["expected_answer"].strip().lower()
    given = [row[name].strip().lower() for name in ANSWERED[:2] if name in row]
    answer = next((text for text in given if text), "")
    written = row.get("is_correct", "").strip().lower()
    is_right = _TRUTH.get(written)
    if written and is_right is None:
        work.name(sheet, where, f"is_correct is {row['is_correct']!r}, not 1 or 0")
    if given and not answer:
        work.name(sheet, where, "no answer; the pair is undecided")
        return AnswerRow(question=row["question"].strip(), expected=expected, answer="", is_right=None)
    if answer and expected in ("yes", "no") and answer not in ("yes", "no"):
        counted = "right" if is_right else "wrong"
        work.name(sheet, where, f"the answer {answer!r} is neither yes nor no; counted {counted}")
    if answer and is_right is not None and is_right != (answer == expected):
        work.name(sheet, where, f"is_correct is {written}, the answer {answer!r}, expected {expected!r}")
    if is_right is None and given:
        is_right = answer == expected
    grounded = row.get(GROUNDED, "").strip().lower()
    if grounded and grounded not in _TRUTH:
        work.name(sheet, where, f"{GROUNDED} is {row[GROUNDED]!r}, not 1 or 0")
    return AnswerRow(
        question=row["question"].strip(),
        expected=expected,
        answer=answer,
        is_right=is_right,
        is_grounded=_TRUTH.get(grounded),
    )


def _clips(sheet: TifaFile, work: _ImportState, scale: str) -> dict[_Image, ClipRow]:
    clips: dict[_Image, ClipRow] = {}
    for where, row in sheet.rows:
        pair_id, repeat = row["pair_id"].strip(), work.repeat(sheet, where, row)
        if repeat is None:
            continue
        if (pair_id, repeat) in clips:
            why = f"CLIP scores of pair {pair_id!r} twice; keep one row"
            raise UsageError(message("file-invalid", path=sheet.name, where=where, why=why))
        a, b, likeness = (_number(row.get(name, "")) for name in ("clip_A", "clip_B", "image_similarity"))
        if not pair_id or a is None or b is None:
            work.name(sheet, where, "no pair_id, or no number in clip_A or clip_B; row skipped")
            continue
        if max(abs(a), abs(b)) > SCALES[scale]:
            why = f"CLIP scores {a:g} and {b:g} are not on the scale {scale!r}; name it with --scale"
            raise UsageError(message("file-invalid", path=sheet.name, where=where, why=why))
        work.labels.setdefault(pair_id, {name: row[name] for name in _LABELS if name in row})
        clips[pair_id, repeat] = ClipRow(a=a, b=b, image_similarity=likeness)
    return clips


def _number(text: str) -> float | None:
    try:
        value = float(text)
    except ValueError:
        return None
    return value if value == value and abs(value) < 1e9 else None


def _cases(sheet: TifaFile) -> dict[str, Case]:
    """The cases of a file of prompts, by pair id, as the suite reads it."""
    cases = Faithfulness(Faithfulness.Options(path=str(sheet.path))).cases("full")
    return {case.labels["pair_id"].strip(): _answered(case) for case in cases}


def _answered(case: Case) -> Case:
    """The case with the checks that answers alone can decide."""
    if MUST_DIFFER in case.measures:
        return replace(case, checks=(RIGHT_ANSWERS,), measures=(MUST_DIFFER,))
    return replace(case, checks=(RIGHT_ANSWERS, SAME_ANSWERS), measures=())


def _case_without_prompts(pair_id: str, labels: Mapping[str, str]) -> Case:
    law, dimension = law_of(labels.get("logical_law", "")), slug(labels.get("semantic_dimension", ""))
    return Case(
        case_id=f"faithfulness-{slug(pair_id, 'pair')}",
        suite="faithfulness",
        category="-".join(part for part in (law, dimension) if part) or "unknown",
        prompts=(Prompt(role="a", text=""), Prompt(role="b", text="")),
        checks=(RIGHT_ANSWERS, SAME_ANSWERS),
        labels={
            "law": law,
            "dimension": dimension,
            "category_id": labels.get("category_id", ""),
            "pair_id": pair_id,
        },
        cluster=pair_id,
        findings=(Finding(kind="no-text", sentence="no prompts for this pair", subject=("a", "b")),),
    )
