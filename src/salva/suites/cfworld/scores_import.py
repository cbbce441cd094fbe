"""Importer: score files as CF-World's program writes them, one entry a question, read into cases and verdicts.

Grades come in, judged by the suite's own checks; no image is needed and nobody is called. An image that the
program scored zero because it was missing, or because no reply could be read, is missing here too.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import ClassVar

from salva.core.case import Case, Prompt
from salva.core.case_sets import slug
from salva.core.exchange import Flaw, ImportSettings, ReadIn
from salva.core.fingerprint import Json
from salva.core.image import ImageRef
from salva.core.observation import Answer
from salva.core.options import keyed_options, option
from salva.core.protocols import Conclusion, ImageObservations
from salva.core.question import DIMENSIONS, QUESTIONS, Question
from salva.core.run_spec import ComponentSpec
from salva.core.verdict import PAIR, Verdict
from salva.errors import UsageError
from salva.files.tables import read_json
from salva.messages import message
from salva.suites.cfworld.groups import ATTRIBUTE, LEVELS, POINT, RULE
from salva.suites.cfworld.levels import EXCLUDE, ZERO, GradeOptions, Levels, LevelsOptions
from salva.suites.cfworld.official_probes import FACTS
from salva.suites.cfworld.official_questions import kind_of, number_of
from salva.suites.cfworld.retention import CF, FACT, Retention, query_for

_UNSEEN = re.compile(r"\A\W*(?:image missing|api failed|failed|parsing error|skipped)", re.IGNORECASE)
"""How the program explains a zero that nobody gave: an image, a reply or a try that there was not."""
_FILE = re.compile(r"(?:_(?:gemini|qwen\w*|gpt\w*|eval|scores?|results?))+\Z", re.IGNORECASE)
_FOLDER = re.compile(r"\A(?:gemini|qwen[\w.]*|gpt4?o?)-", re.IGNORECASE)
_NO_IMAGE = ImageRef(image_id="", width=0, height=0)
Row = Mapping[str, Json]


@dataclass(frozen=True, slots=True, kw_only=True)
class ScoresOptions:
    """What the files cannot say about themselves."""

    mean: str = option(DIMENSIONS, "Mean over dimensions or questions.", choices=(DIMENSIONS, QUESTIONS))
    missing: str = option(EXCLUDE, "Images without a score: exclude, or zero.", choices=(EXCLUDE, ZERO))


@dataclass(slots=True)
class _CaseRows:
    """The entries of one case, by the role of the image they are about."""

    labels: dict[str, str]
    rows: dict[str, list[Row]] = field(default_factory=dict)


class ScoresImport:
    """Score files of CF-World's program: PRR, RRR and what probes keep, without a call."""

    version: ClassVar[str] = "1"
    Options = ScoresOptions

    def __init__(self, options: ScoresOptions) -> None:
        self._levels = LevelsOptions(
            mean=options.mean, missing=options.missing, gate="skip", rubrics="levels", lock_in=False, flip_sample=0.0
        )
        self._retention = GradeOptions(mean=options.mean, missing=options.missing, flip_sample=0.0)

    def read(self, files: Sequence[Path], settings: ImportSettings) -> ReadIn:
        """Cases and verdicts of these files; one file is one model, one judge and one discipline or probe."""
        problems: list[Flaw] = []
        cases: dict[str, Case] = {}
        verdicts: list[Verdict] = []
        judges: dict[str, str] = {}
        n_grades = 0
        for path in files:
            rows = _rows(path, problems)
            n_grades += len(rows)
            judge, model = _judge_of(rows), settings.model or _model_of(path)
            judges[judge] = "judge"
            for case_id, grouped in _sorted_in(rows, path, problems).items():
                case, observations = self._seen(case_id, grouped)
                cases.setdefault(case_id, case)
                verdicts.append(_verdict(case, model, judge, self._judged(case, observations)))
        if not verdicts:
            raise UsageError(
                message(
                    "import-empty",
                    what="grades of CF-World",
                    wanted="source_id, prompt_level, question, score, weight",
                )
            )
        rules = (
            ComponentSpec(role="check", name="levels", options=keyed_options(self._levels)),
            ComponentSpec(role="check", name="retention", options=keyed_options(self._retention)),
        )
        n_groups = sum("levels" in case.checks for case in cases.values())
        return ReadIn(
            suite="cfworld",
            models=tuple(dict.fromkeys(verdict.model for verdict in verdicts)),
            cases=tuple(cases.values()),
            verdicts=tuple(verdicts),
            problems=tuple(problems),
            counts={"grades": n_grades, "groups": n_groups, "probes": len(cases) - n_groups},
            rules=rules,
            observers=judges,
        )

    def _judged(self, case: Case, observations: Mapping[str, ImageObservations]) -> Conclusion:
        if "levels" in case.checks:
            return Levels(self._levels).judge(case, observations)
        return Retention(self._retention).judge(case, observations)

    def _seen(self, case_id: str, grouped: _CaseRows) -> tuple[Case, dict[str, ImageObservations]]:
        """The case that entries are about, and what a judge said of its images; missing ones are not there."""
        is_levels = grouped.labels["part"] == "levels"
        order = (
            [r for r in LEVELS if r == "l1" or r in grouped.rows] if is_levels else sorted(grouped.rows, reverse=True)
        )
        prompts = tuple(
            Prompt(role=role, text=f"{case_id} {role}", questions=tuple(map(_question, grouped.rows.get(role, [{}]))))
            for role in order
        )
        case = Case(
            case_id=case_id,
            suite="cfworld",
            category=grouped.labels.get("discipline", grouped.labels["part"]),
            prompts=prompts,
            checks=("levels" if is_levels else "retention",),
            labels=grouped.labels,
            cluster=case_id,
        )
        levels = Levels(self._levels)
        observations = {}
        for prompt in prompts:
            rows = grouped.rows.get(prompt.role, [])
            if not rows or any(_UNSEEN.search(_text(row, "reasoning")) for row in rows):
                continue
            query = levels.query(case, prompt) if is_levels else query_for(case, prompt)
            answer = Answer(
                text="",
                scores={f"q{i}": number_of(row.get("score")) or 0.0 for i, row in enumerate(rows, 1)},
                reasons={f"q{i}": _text(row, "reasoning") for i, row in enumerate(rows, 1)},
                usage={"n_calls": 0.0},
            )
            observations[prompt.role] = ImageObservations(image=_NO_IMAGE, seen={query: answer})
        return case, observations


def _rows(path: Path, problems: list[Flaw]) -> list[Row]:
    content = read_json(path)
    if not isinstance(content, list):
        raise UsageError(message("json-shape", path=str(path), where="", wanted="a list of grades"))
    rows: list[Row] = []
    for number, row in enumerate(content, 1):
        if isinstance(row, dict) and number_of(row.get("score")) is not None:
            rows.append(row)
        elif isinstance(row, dict) and ("filename" in row or "model_name" in row):
            continue  # a summary of the program's own, which follows from the rest
        else:
            problems.append(Flaw(file=path.name, where=f"entry {number}", what="no score; left out"))
    return rows


def _sorted_in(rows: Sequence[Row], path: Path, problems: list[Flaw]) -> dict[str, _CaseRows]:
    """The entries of a file by case and image."""
    cases: dict[str, _CaseRows] = {}
    discipline = _FILE.sub("", path.stem)
    for number, row in enumerate(rows, 1):
        if "rule_id" in row:
            name, part, role = f"rule-{slug(_text(row, 'rule_id'), 'x')}", RULE, _role(row)
        elif {"A", "B"} <= row.keys():
            pair = _text(row, "id").removesuffix("_factual")
            name, part, role = f"attribute-{slug(pair, 'x')}", ATTRIBUTE, _role(row)
        else:
            name, part = f"{slug(discipline, 'x')}-{slug(_text(row, 'source_id'), 'x')}", "levels"
            role = _text(row, "prompt_level").lower()
            if role not in LEVELS:
                problems.append(Flaw(file=path.name, where=f"entry {number}", what=f"level {role!r}; left out"))
                continue
        labels = {"part": part, "id": _text(row, "source_id") or _text(row, "id")}
        if part == "levels":
            labels["discipline"] = discipline
        cases.setdefault(f"cfworld-{name}", _CaseRows(labels)).rows.setdefault(role, []).append(row)
    return cases


def _role(row: Row) -> str:
    """Which image of a probe an entry is about."""
    is_fact = _text(row, "category").lower() in FACTS
    return f"{FACT if is_fact else CF}{slug(_text(row, 'source_id') or _text(row, 'id'), 'x')}"


def _question(row: Row) -> Question:
    weight = number_of(row.get("weight"))
    return Question(
        kind=kind_of(_text(row, "question_type"), weight) or POINT,
        text=_text(row, "question") or _text(row, "prompt") or "?",
        weight=weight if weight else 1.0,
    )


def _judge_of(rows: Sequence[Row]) -> str:
    named = Counter(_text(row, "scoring_model") or _text(row, "evaluator") for row in rows)
    names = [name for name, _ in named.most_common() if name and name != "None"]
    return names[0] if names else "published judge"


def _model_of(path: Path) -> str:
    folder = path.absolute().parent
    folder = folder.parent if folder.name.lower() == "physics" else folder
    return _FOLDER.sub("", folder.name) or "published model"


def _verdict(case: Case, model: str, judge: str, conclusion: Conclusion) -> Verdict:
    return Verdict(
        case_id=case.case_id,
        repeat=0,
        arm=PAIR,
        model=model,
        check=case.check,
        observers=(judge,),
        outcome=conclusion.outcome,
        failure_types=conclusion.failure_types,
        failures=conclusion.failures,
        scores=conclusion.scores,
        images={},
        reason=conclusion.reason,
    )


def _text(row: Row, key: str) -> str:
    value = row.get(key)
    return "" if value is None else str(value).strip()
