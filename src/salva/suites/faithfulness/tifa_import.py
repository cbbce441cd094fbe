"""Reads TIFA-lite answers and scores.

Tells files apart by their columns: prompts, answers to questions (one file a model) and CLIP scores. Rows that lack
something are named and counted; rows that contradict each other stop the import, since one of them would win in
silence. An answer outside yes and no counts as wrong and is named. A verdict that salva wrote beside the answers stands
where it is about these answers.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import ClassVar

from salva.checks.must_differ import MustDiffer
from salva.checks.same_answers import SameAnswers
from salva.core.asked import AskedComponent
from salva.core.case import Case, Finding, Prompt
from salva.core.exchange import Flaw, ImportSettings, ReadIn
from salva.core.fingerprint import Json
from salva.core.options import option
from salva.core.verdict import Outcome, Verdict
from salva.errors import UsageError
from salva.files.tables import Row
from salva.suites.faithfulness.suite import Faithfulness
from salva.suites.faithfulness.tifa_files import (
    ANSWERED,
    GROUNDED,
    NEEDED,
    OUTCOME,
    REPEAT,
    Kind,
    TifaFile,
    read_tifa_file,
)
from salva.suites.faithfulness.tifa_origin import Told, cases_as_made, has_usual_rule, rule_in, seen_by
from salva.suites.faithfulness.tifa_verdicts import (
    GIVEN,
    AnswerRow,
    ClipRow,
    category_means,
    verdict_of,
    with_conclusion,
)

_LABELS = ("category_id", "logical_law", "semantic_dimension")
_TRUTH = {"1": True, "1.0": True, "true": True, "yes": True, "0": False, "0.0": False, "false": False, "no": False}
_ROUNDING = 5e-7
_FINDINGS = {
    "incomplete-answers": "a row of answers is incomplete",
    "unanswered": "a question has no answer",
    "unexpected-answer": "an answer is outside the choices",
    "contradictory-row": "is_correct and the answer contradict each other",
}
_RANGES = {"percent": 100.0, "cosine": 1.0, "clipscore": 2.5}
_MOST_DIGITS = 6
_Painted = tuple[str, int]
"""A pair by its id, and a repeat of it."""
_Key = tuple[str, _Painted]
"""What a verdict is about: a model, and what it painted."""
_Answers = dict[_Painted, dict[str, list[AnswerRow]]]
"""The answers about each, by A and B."""
_DECIDED = {Outcome.PASS, Outcome.FAIL}
_ERRORS = {"same-answers": SameAnswers.about.failure_types, "must-differ": MustDiffer.about.failure_types}
"""The error types of each check."""


@dataclass(slots=True, kw_only=True)
class _Work:
    """What has been read so far."""

    problems: list[Flaw] = field(default_factory=list)
    notes: dict[str, list[str]] = field(default_factory=dict)
    """Pair id to the kinds of findings of its case."""
    labels: dict[str, dict[str, str]] = field(default_factory=dict)
    """Pair id to what answer and CLIP files say about its category."""

    def name(self, sheet: TifaFile, where: str, what: str, pair_id: str = "", finding: str = "") -> None:
        self.problems.append(Flaw(file=sheet.name, where=where, what=what))
        if finding and finding not in self.notes.setdefault(pair_id, []):
            self.notes[pair_id].append(finding)

    def repeat(self, sheet: TifaFile, where: str, row: Mapping[str, str]) -> int | None:
        """The repeat a row is of, 0 where nothing is said; None for what is noted as a problem."""
        cell = row.get(REPEAT, "").strip() or "0"
        if cell.isdecimal() and cell.isascii() and len(cell) <= _MOST_DIGITS:
            return int(cell)
        what = f"{REPEAT} is {cell!r}, not a whole number from 0; the row is not used"
        self.name(sheet, where, what, row["pair_id"].strip())
        return None


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
    sheets = [read_tifa_file(path, work.problems.append) for path in files]
    answers, clips, prompts, means, concluded = ([sheet for sheet in sheets if sheet.kind is kind] for kind in Kind)
    if len(prompts) > 1:
        raise UsageError(f"two files of prompts: {prompts[0].name!r} and {prompts[1].name!r}; give one")
    if not answers and not clips and not concluded:
        raise UsageError("no answers and no CLIP scores in these files; give at least one file of either")
    models = _models((answers, clips, concluded), model)
    said = {models[sheet.name]: _answers(sheet, work) for sheet in answers}
    fits = {models[sheet.name]: _clips(sheet, work, scale) for sheet in clips}
    told = {models[sheet.name]: _verdict_rows(sheet, work) for sheet in concluded}
    cases = _cases(prompts[0]) if prompts else {}
    for pair_id, labels in work.labels.items():
        if pair_id not in cases:
            if prompts:
                work.problems.append(Flaw(file=prompts[0].name, what=f"no prompts for pair {pair_id!r}"))
            cases[pair_id] = _case_without_prompts(pair_id, labels)
    cases = cases_as_made(
        cases,
        [
            Told(pair_id, row.cells, partial(work.name, sheet, row.where, pair_id=pair_id))
            for sheet in concluded
            for (pair_id, _), row in told[models[sheet.name]].items()
        ],
    )
    names = tuple(dict.fromkeys(models.values()))
    by_model: list[Mapping[_Painted, object]] = [*said.values(), *fits.values(), *told.values()]
    repeats = sorted({0, *(repeat for painted in by_model for _, repeat in painted)})
    if repeats[-1] >= len(repeats):
        gap = next(number for number, repeat in enumerate(repeats) if number != repeat)
        raise UsageError(f"there is a {REPEAT} {repeats[-1]} and none {gap}; number repeats from 0 without a gap")
    verdicts = {
        (name, painted): replace(
            verdict_of(case, name, said.get(name, {}).get(painted), fits.get(name, {}).get(painted), scale),
            repeat=painted[1],
        )
        for name in names
        for pair_id, case in cases.items()
        for painted in ((pair_id, repeat) for repeat in repeats)
    }
    rows_of = [(sheet, models[sheet.name], told[models[sheet.name]]) for sheet in concluded]
    standing = _standing(rows_of, verdicts, work)
    rules: dict[str, dict[str, Json]] = {name: {"clip_scale": scale} for name in _ERRORS}
    spoken_of = {(name, pair) for of in (said, fits, told) for name, pairs in of.items() for pair in pairs}
    if standing and spoken_of <= standing.keys():
        # Of all or of none: verdicts under two names of one judge would never enter one rate.
        observers = seen_by(standing.values())
        verdicts = {key: replace(v, observers=observers or v.observers) for key, v in verdicts.items()}
        rules |= _rules(concluded[0], standing, verdicts, work)
    for sheet in means if len(names) == 1 else ():
        _compare_means(sheet, category_means(tuple(cases.values()), tuple(verdicts.values())), work)
    for verdict in verdicts.values():
        if verdict.reason:
            whose = f"{verdict.model}, " if len(names) > 1 else ""
            which = f"repeat {verdict.repeat}, " if len(repeats) > 1 else ""
            work.problems.append(Flaw(file=verdict.case_id, what=f"{whose}{which}{verdict.reason}"))
    return ReadIn(
        suite="faithfulness",
        models=names,
        cases=tuple(_with_findings(case, pair_id, work.notes.get(pair_id, [])) for pair_id, case in cases.items()),
        verdicts=tuple(verdicts.values()),
        problems=tuple(work.problems),
        counts={
            "pairs": len(cases),
            "answers": sum(len(side) for rows in said.values() for pair in rows.values() for side in pair.values()),
            "CLIP scores": sum(2 * len(rows) for rows in fits.values()),
        },
        rules=tuple(AskedComponent(role="check", name=name, options=options) for name, options in rules.items()),
        repeats=len(repeats),
        # Whoever exports the run again gives back what was read.
        keeps_files=True,
    )


def _models(kinds: Sequence[Sequence[TifaFile]], model: str) -> dict[str, str]:
    """File name to model."""
    for kind in kinds:
        names = [sheet.model for sheet in kind]
        if model and len(kind) > 1:
            raise UsageError(f"--model {model!r} names one model, and there are {len(kind)} files of a kind")
        if len(set(names)) != len(names):
            raise UsageError(f"two files are about one model: {', '.join(sheet.name for sheet in kind)}")
    return {sheet.name: model or sheet.model for kind in kinds for sheet in kind}


def _verdict_rows(sheet: TifaFile, work: _Work) -> dict[_Painted, Row[str]]:
    rows: dict[_Painted, Row[str]] = {}
    for row in sheet.rows:
        repeat = work.repeat(sheet, row.where, row.cells)
        if repeat is not None and rows.setdefault((row.cells["pair_id"].strip(), repeat), row) is not row:
            raise UsageError(f"{sheet.name!r} {row.where}: a verdict on pair {row.cells['pair_id']!r} twice; keep one")
    return rows


def _concluded(sheet: TifaFile, row: Row[str], found: Verdict, work: _Work) -> Verdict:
    """What a row says was concluded in the place of what the answers give, where it is about these answers."""
    try:
        told = with_conclusion(found, row.cells, _ERRORS[found.check])
    except (ValueError, OverflowError, RecursionError) as error:
        work.name(sheet, row.where, f"no verdict ({error}); the answers decide")
        return found
    names = [*GIVEN, *(name for name in found.scores if name in told.scores)]
    if other := [name for name in names if told.scores.get(name) != found.scores.get(name)]:
        what = f"a verdict on other answers: {other[0]} is not what the files give; the answers decide"
        work.name(sheet, row.where, what)
        return found
    if {told.outcome, found.outcome} == _DECIDED and has_usual_rule(row.cells, found.check):
        work.name(sheet, row.where, f"{told.outcome}, where its answers give {found.outcome}; the answers decide")
        return found
    return told


def _standing(
    told: Sequence[tuple[TifaFile, str, Mapping[_Painted, Row[str]]]], verdicts: dict[_Key, Verdict], work: _Work
) -> dict[_Key, Mapping[str, str]]:
    """Put what rows say was concluded in the place of what the answers give; the cells of the rows that stand."""
    standing: dict[_Key, Mapping[str, str]] = {}
    for sheet, model, rows in told:
        for pair, row in rows.items():
            key = model, pair
            if key not in verdicts:
                work.name(sheet, row.where, f"nothing else is said of pair {pair[0]!r}; the row is not used")
            elif (stands := _concluded(sheet, row, verdicts[key], work)) is not verdicts[key]:
                verdicts[key], standing[key] = stands, row.cells
    return standing


def _rules(
    sheet: TifaFile,
    standing: Mapping[_Key, Mapping[str, str]],
    verdicts: Mapping[_Key, Verdict],
    work: _Work,
) -> dict[str, dict[str, Json]]:
    """The options that each check judged with, where the verdicts that stand say so."""
    rules: dict[str, dict[str, Json]] = {}
    for check in dict.fromkeys(verdicts[key].check for key in standing):
        try:
            said = rule_in((cells for key, cells in standing.items() if verdicts[key].check == check), check)
        except (ValueError, UsageError, RecursionError) as error:
            work.name(sheet, "", f"the rule of {check} is not used ({error})")
            continue
        rules |= {check: said} if said else {}
    return rules


def _answers(sheet: TifaFile, work: _Work) -> _Answers:
    answers: _Answers = {}
    seen: dict[tuple[_Painted, str, str], str] = {}
    for where, row in sheet.rows:
        pair_id, side, question = row["pair_id"].strip(), row["image_variant"].strip().upper(), row["question"].strip()
        missing = [name for name in NEEDED[Kind.ANSWERS] if not row[name].strip()]
        if missing:
            work.name(sheet, where, f"no {', '.join(missing)}; the row is not used", pair_id, "incomplete-answers")
            continue
        if side not in ("A", "B"):
            work.name(
                sheet, where, f"image_variant is {row['image_variant']!r}, not A or B; the row is not used", pair_id
            )
            continue
        repeat = work.repeat(sheet, where, row)
        if repeat is None:
            continue
        painted = pair_id, repeat
        work.labels.setdefault(pair_id, {name: row[name] for name in _LABELS if name in row})
        first = seen.setdefault((painted, side, question), where)
        if first != where:
            work.name(sheet, where, f"the question of {first} again; both are counted", pair_id)
        answers.setdefault(painted, {}).setdefault(side, []).append(_answer(sheet, where, row, work))
    wanted = {row.expected for pair in answers.values() for side in pair.values() for row in side}
    if len(wanted) == 1:
        what = f"every expected answer is {wanted.pop()!r}: whoever always says that is never wrong"
        work.problems.append(Flaw(file=sheet.name, what=what))
    return answers


def _answer(sheet: TifaFile, where: str, row: Mapping[str, str], work: _Work) -> AnswerRow:
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
    grounded = row.get(GROUNDED, "").strip().lower()
    if grounded and grounded not in _TRUTH:
        work.name(sheet, where, f"{GROUNDED} is {row[GROUNDED]!r}, not 1 or 0", pair_id)
    return AnswerRow(
        question=row["question"].strip(),
        expected=expected,
        answer=answer,
        is_right=is_right,
        is_grounded=_TRUTH.get(grounded),
        outcome=_outcome(sheet, where, row, work),
    )


def _outcome(sheet: TifaFile, where: str, row: Mapping[str, str], work: _Work) -> str:
    """What the row says was concluded about its pair, where that is an outcome."""
    word = row.get(OUTCOME, "").strip()
    if word and word not in Outcome.__members__:
        can_be = ", ".join(Outcome.__members__)
        work.name(sheet, where, f"{OUTCOME} is {word!r}, none of {can_be}; it is not used", row["pair_id"].strip())
        return ""
    return word


def _clips(sheet: TifaFile, work: _Work, scale: str) -> dict[_Painted, ClipRow]:
    clips: dict[_Painted, ClipRow] = {}
    for where, row in sheet.rows:
        pair_id, repeat = row["pair_id"].strip(), work.repeat(sheet, where, row)
        if repeat is None:
            continue
        if (pair_id, repeat) in clips:
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
        clips[pair_id, repeat] = ClipRow(a=a, b=b, image_similarity=likeness)
    return clips


def _compare_means(sheet: TifaFile, ours: Mapping[str, Mapping[str, float]], work: _Work) -> None:
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


def _cases(sheet: TifaFile) -> dict[str, Case]:
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
        check="same-answers",
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


def _with_findings(case: Case, pair_id: str, kinds: Sequence[str]) -> Case:
    findings = (Finding(kind=kind, sentence=_FINDINGS[kind], subject=(pair_id,)) for kind in kinds)
    return replace(case, findings=(*case.findings, *findings))
