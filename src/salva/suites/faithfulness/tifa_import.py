"""Raw answers and CLIP scores in the columns of the TIFA-lite project, read into cases and verdicts.

Tells files apart by their columns: prompts, answers to questions (one file a model) and CLIP scores. Rows that lack
something are named and counted; rows that contradict each other stop the import, since one of them would win in
silence. An answer outside yes and no counts as wrong and is named.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import ClassVar

from salva.core.asked import AskedComponent
from salva.core.case import Case, Finding, Prompt
from salva.core.exchange import Flaw, ImportSettings, ReadIn
from salva.core.fingerprint import Json
from salva.core.options import option
from salva.errors import UsageError
from salva.files.tables import Row, read_sheet
from salva.suites.faithfulness.suite import Faithfulness
from salva.suites.faithfulness.tifa_verdicts import MEANS, AnswerRow, ClipRow, category_means, verdict_of

PROMPTS = ("pair_id", "prompt_A", "prompt_B")
ANSWERS = ("pair_id", "image_variant", "question", "expected_answer")
ANSWERED = ("predicted_answer_norm", "predicted_answer_raw", "is_correct")
"""An answer file has at least one of these."""
CLIP = ("pair_id", "clip_A", "clip_B")
METRICS = ("category_id", "n_pairs", "mean_faith")
"""The authors' own means; read only to be compared with what the answers give."""
_LABELS = ("category_id", "logical_law", "semantic_dimension")
_KNOWN = frozenset(
    (
        *(*PROMPTS, *ANSWERS, *ANSWERED, *CLIP, *_LABELS, "image_path", "image_A_path", "image_B_path"),
        *("clip_mean", "clip_diff", "clip_stability", "image_similarity", *METRICS, *MEANS),
    )
)
_MODEL = re.compile(r"(?:vqa_raw_results|vqa_results|clip_results)_(.+)")
_TRUTH = {"1": True, "1.0": True, "true": True, "yes": True, "0": False, "0.0": False, "false": False, "no": False}
_ROUNDING = 5e-7
_FINDINGS = {
    "incomplete-answers": "a row of answers is incomplete",
    "unanswered": "a question has no answer",
    "unexpected-answer": "an answer is outside the choices",
    "contradictory-row": "is_correct and the answer contradict each other",
}
_RANGES = {"percent": 100.0, "cosine": 1.0, "clipscore": 2.5}


@dataclass(slots=True, kw_only=True)
class _Sheet:
    """A CSV file: its columns and its rows."""

    path: Path
    columns: tuple[str, ...]
    rows: tuple[Row[str], ...]

    @property
    def name(self) -> str:
        return self.path.name

    @property
    def model(self) -> str:
        named = _MODEL.fullmatch(self.path.stem)
        return named[1] if named else self.path.stem

    def has(self, *columns: str) -> bool:
        return all(column in self.columns for column in columns)


@dataclass(slots=True, kw_only=True)
class _Work:
    """What has been read so far."""

    problems: list[Flaw] = field(default_factory=list)
    notes: dict[str, list[str]] = field(default_factory=dict)
    """Pair id to the kinds of findings of its case."""
    labels: dict[str, dict[str, str]] = field(default_factory=dict)
    """Pair id to what answer and CLIP files say about its category."""

    def name(self, sheet: _Sheet, where: str, what: str, pair_id: str = "", finding: str = "") -> None:
        self.problems.append(Flaw(file=sheet.name, where=where, what=what))
        if finding and finding not in self.notes.setdefault(pair_id, []):
            self.notes[pair_id].append(finding)


class TifaImport:
    """Prompts, answers and CLIP scores in the columns of the TIFA-lite project."""

    version: ClassVar[str] = "1"

    @dataclass(frozen=True, slots=True, kw_only=True)
    class Options:
        """What the files cannot say about themselves."""

        scale: str = option("percent", "The scale of CLIP scores in the files.", choices=tuple(_RANGES))

    def __init__(self, options: Options) -> None:
        self._scale = options.scale

    def read(self, files: Sequence[Path], settings: ImportSettings) -> ReadIn:
        """Cases and verdicts of these files."""
        return _read(files, settings.model, self._scale)


def _read(files: Sequence[Path], model: str, scale: str) -> ReadIn:
    work = _Work()
    sheets = [_sheet(path, work) for path in files]
    prompts = [sheet for sheet in sheets if sheet.has(*PROMPTS)]
    answers = [sheet for sheet in sheets if sheet.has(*ANSWERS) and any(map(sheet.has, ANSWERED))]
    clips = [sheet for sheet in sheets if sheet.has(*CLIP)]
    means = [sheet for sheet in sheets if sheet.has(*METRICS)]
    for sheet in sheets:
        if sheet not in prompts + answers + clips + means:
            raise UsageError(_unknown_shape(sheet))
    if len(prompts) > 1:
        raise UsageError(f"two files of prompts: {prompts[0].name!r} and {prompts[1].name!r}; give one")
    if not answers and not clips:
        raise UsageError("no answers and no CLIP scores in these files; give at least one file of either")
    models = _models(answers, clips, model)
    said = {models[sheet.name]: _answers(sheet, work) for sheet in answers}
    fits = {models[sheet.name]: _clips(sheet, work, scale) for sheet in clips}
    cases = _cases(prompts[0]) if prompts else {}
    for pair_id, labels in work.labels.items():
        if pair_id not in cases:
            if prompts:
                work.problems.append(Flaw(file=prompts[0].name, what=f"no prompts for pair {pair_id!r}"))
            cases[pair_id] = _case_without_prompts(pair_id, labels)
    names = tuple(dict.fromkeys(models.values()))
    verdicts = [
        verdict_of(case, name, said.get(name, {}).get(pair_id), fits.get(name, {}).get(pair_id), scale)
        for name in names
        for pair_id, case in cases.items()
    ]
    for sheet in means if len(names) == 1 else ():
        _compare_means(sheet, category_means(tuple(cases.values()), verdicts), work)
    for verdict in verdicts:
        if verdict.reason:
            whose = f"{verdict.model}, " if len(names) > 1 else ""
            work.problems.append(Flaw(file=verdict.case_id, what=f"{whose}{verdict.reason}"))
    return ReadIn(
        suite="faithfulness",
        models=names,
        cases=tuple(_kept(case, pair_id, said, work.notes.get(pair_id, [])) for pair_id, case in cases.items()),
        verdicts=tuple(verdicts),
        problems=tuple(work.problems),
        counts={
            "pairs": len(cases),
            "answers": sum(len(side) for rows in said.values() for pair in rows.values() for side in pair.values()),
            "CLIP scores": sum(2 * len(rows) for rows in fits.values()),
        },
        rules=tuple(
            AskedComponent(role="relation", name=name, options={"clip_scale": scale})
            for name in ("same-answers", "must-differ")
        ),
    )


def _sheet(path: Path, work: _Work) -> _Sheet:
    ragged: list[Flaw] = []
    table = read_sheet(path, ragged)
    work.problems += [replace(flaw, what=f"{flaw.what}; the row is not used") for flaw in ragged]
    sheet = _Sheet(path=path, columns=table.columns, rows=table.rows)
    if extra := [name for name in table.columns if name and name not in _KNOWN]:
        work.name(sheet, "line 1", f"columns that are not used: {', '.join(extra)}")
    return sheet


def _unknown_shape(sheet: _Sheet) -> str:
    shapes = {"prompts": PROMPTS, "answers": ANSWERS, "CLIP scores": CLIP}
    missing = {shape: [name for name in columns if name not in sheet.columns] for shape, columns in shapes.items()}
    nearest = min(missing, key=lambda shape: len(missing[shape]))
    lacks = ", ".join(missing[nearest]) or f"one of {', '.join(ANSWERED)}"
    return (
        f"{str(sheet.path)!r} is no file of prompts, answers or CLIP scores; as {nearest} it lacks the column {lacks}; "
        f"it has {', '.join(sheet.columns) or 'none'}"
    )


def _models(answers: Sequence[_Sheet], clips: Sequence[_Sheet], model: str) -> dict[str, str]:
    """File name to model."""
    for kind in (answers, clips):
        names = [sheet.model for sheet in kind]
        if model and len(kind) > 1:
            raise UsageError(f"--model {model!r} names one model, and there are {len(kind)} files of a kind")
        if len(set(names)) != len(names):
            raise UsageError(f"two files are about one model: {', '.join(sheet.name for sheet in kind)}")
    return {sheet.name: model or sheet.model for sheet in (*answers, *clips)}


def _answers(sheet: _Sheet, work: _Work) -> dict[str, dict[str, list[AnswerRow]]]:
    """Pair id, then A or B, to the answers."""
    answers: dict[str, dict[str, list[AnswerRow]]] = {}
    seen: dict[tuple[str, str, str], str] = {}
    for where, row in sheet.rows:
        pair_id, side, question = row["pair_id"].strip(), row["image_variant"].strip().upper(), row["question"].strip()
        missing = [name for name in ANSWERS if not row[name].strip()]
        if missing:
            work.name(sheet, where, f"no {', '.join(missing)}; the row is not used", pair_id, "incomplete-answers")
            continue
        if side not in ("A", "B"):
            work.name(
                sheet, where, f"image_variant is {row['image_variant']!r}, not A or B; the row is not used", pair_id
            )
            continue
        work.labels.setdefault(pair_id, {name: row[name] for name in _LABELS if name in row})
        if (pair_id, side, question) in seen:
            first = seen[pair_id, side, question]
            work.name(sheet, where, f"the question of {first} again; both are counted", pair_id)
        seen.setdefault((pair_id, side, question), where)
        answers.setdefault(pair_id, {}).setdefault(side, []).append(_answer(sheet, where, row, work))
    wanted = {row.expected for pair in answers.values() for side in pair.values() for row in side}
    if len(wanted) == 1:
        what = f"every expected answer is {wanted.pop()!r}: whoever always says that is never wrong"
        work.problems.append(Flaw(file=sheet.name, what=what))
    return answers


def _answer(sheet: _Sheet, where: str, row: Mapping[str, str], work: _Work) -> AnswerRow:
    pair_id = row["pair_id"].strip()
    expected = row["expected_answer"].strip().lower()
    given = [row[name].strip().lower() for name in ANSWERED[:2] if name in row]
    answer = next((text for text in given if text), "")
    written = row.get("is_correct", "").strip().lower()
    is_right = _TRUTH.get(written)
    if written and is_right is None:
        work.name(sheet, where, f"is_correct is {row['is_correct']!r}, not 1 or 0", pair_id)
    if given and not answer:
        work.name(sheet, where, "no answer to this question; the pair cannot be decided", pair_id, "unanswered")
        return AnswerRow(question=row["question"].strip(), expected=expected, answer="", is_right=None)
    if answer and expected in ("yes", "no") and answer not in ("yes", "no"):
        what = f"the answer {answer!r} is neither yes nor no; it counts as {'right' if is_right else 'wrong'}"
        work.name(sheet, where, what, pair_id, "unexpected-answer")
    if answer and is_right is not None and is_right != (answer == expected):
        what = (
            f"is_correct is {written}, but the answer is {answer!r} where {expected!r} is expected; is_correct counts"
        )
        work.name(sheet, where, what, pair_id, "contradictory-row")
    if is_right is None and given:
        is_right = answer == expected
    return AnswerRow(question=row["question"].strip(), expected=expected, answer=answer, is_right=is_right)


def _clips(sheet: _Sheet, work: _Work, scale: str) -> dict[str, ClipRow]:
    clips: dict[str, ClipRow] = {}
    for where, row in sheet.rows:
        pair_id = row["pair_id"].strip()
        if pair_id in clips:
            raise UsageError(f"{sheet.name!r} {where}: CLIP scores of pair {pair_id!r} twice; keep one row")
        numbers = [_number(row.get(name, "")) for name in ("clip_A", "clip_B", "image_similarity")]
        a, b, likeness = numbers
        if not pair_id or a is None or b is None:
            work.name(sheet, where, "no pair_id, clip_A or clip_B that is a number; the row is not used", pair_id)
            continue
        if max(abs(a), abs(b)) > _RANGES[scale]:
            raise UsageError(
                f"{sheet.name!r} {where}: CLIP scores {a:g} and {b:g} are off the scale {scale!r} "
                f"(0 to {_RANGES[scale]:g}); name the right one with --scale"
            )
        work.labels.setdefault(pair_id, {name: row[name] for name in _LABELS if name in row})
        clips[pair_id] = ClipRow(a=a, b=b, image_similarity=likeness)
    return clips


def _compare_means(sheet: _Sheet, ours: Mapping[str, Mapping[str, float]], work: _Work) -> None:
    """Name every mean of the authors' table that does not follow from the answers."""
    for where, row in sheet.rows:
        mine = ours.get(row["category_id"].strip())
        if mine is None:
            work.name(sheet, where, f"category {row['category_id']!r} has no answered pairs")
            continue
        for name, value in mine.items():
            theirs = _number(row.get(name, ""))
            if name in row and (theirs is None or abs(theirs - value) > _ROUNDING):
                work.name(sheet, where, f"{name} is {row[name]}, and the answers give {value:g}")


def _number(text: str) -> float | None:
    try:
        value = float(text)
    except ValueError:
        return None
    return value if value == value and abs(value) < 1e9 else None


def _cases(sheet: _Sheet) -> dict[str, Case]:
    """The cases of a file of prompts, by pair id, as the suite reads it."""
    cases = Faithfulness(Faithfulness.Options(path=str(sheet.path))).cases("full")
    return {case.labels["pair_id"].strip(): case for case in cases}


def _case_without_prompts(pair_id: str, labels: Mapping[str, str]) -> Case:
    slug = re.sub(r"[^a-z0-9]+", "-", pair_id.lower()).strip("-")
    law, dimension = (_plain(labels.get(name, "")) for name in ("logical_law", "semantic_dimension"))
    return Case(
        case_id=f"faithfulness-{slug or 'pair'}",
        suite="faithfulness",
        category="-".join(part for part in (law, dimension) if part) or "unknown",
        prompts=(Prompt(role="a", text=""), Prompt(role="b", text="")),
        relation="same-answers",
        labels={
            "law": law,
            "dimension": dimension,
            "category_id": labels.get("category_id", ""),
            "pair_id": pair_id,
        },
        cluster=pair_id,
        findings=(Finding(kind="no-text", sentence="the files have no prompts for this pair", subject=("a", "b")),),
    )


def _plain(name: str) -> str:
    slug = re.sub(r"[^a-z0-9]+", "-", name.lower()).strip("-")
    return {"demorgan": "de-morgan"}.get(slug, slug)


def _kept(
    case: Case, pair_id: str, said: Mapping[str, Mapping[str, Mapping[str, list[AnswerRow]]]], kinds: Sequence[str]
) -> Case:
    """The case with every answer beside it, as the files had them."""
    answers: dict[str, Json] = {
        model: {
            side: [{"question": r.question, "expected": r.expected, "answer": r.answer} for r in side_rows]
            for side, side_rows in rows.get(pair_id, {}).items()
        }
        for model, rows in said.items()
    }
    extra = {**case.extra, "answers": answers} if answers else case.extra
    findings = (Finding(kind=kind, sentence=_FINDINGS[kind], subject=(pair_id,)) for kind in kinds)
    return replace(case, extra=extra, findings=(*case.findings, *findings))
