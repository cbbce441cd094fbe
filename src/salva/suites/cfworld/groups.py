"""What CF-World asks: groups of three levels, probes of a rule or a pair, and their form as JSON lines.

A group says a fact (l1), its counterfactual with the outcome told (l2), and the same without it (l3). A probe sets
facts against counterfactuals of one symbolic rule, or a common pair of entities against a rare one. Knows nothing of
where the texts come from, nor of models, images and judges.

One object a line:

    {"discipline": "optics", "id": "0", "category": "Reflection", "principle": "Mirrors reflect light.",
     "l1": {"prompt": "Draw ...", "point": "...", "questions": [{"kind": "point", "text": "...?",
            "criteria": {"1": "...", "0.5": "...", "0": "..."}, "weight": 15}, ...]},
     "l2": {...}, "l3": {...}, "denorm": "Draw ..."}
    {"part": "rule", "id": "7", "principle": "...", "factual": [{"prompt": ...}], "counterfactual": [{...}, ...]}
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import TypeAlias, cast

from salva.core.case import Finding
from salva.core.fingerprint import Json
from salva.core.question import Question, question_from_json, question_to_json
from salva.errors import FormulaError, UsageError
from salva.logic.notation import parse
from salva.messages import message

INTEGRITY, POINT, LOGIC = "integrity", "point", "logic"
"""The three dimensions: the image is whole, it shows the assessment point, its surroundings follow the same law."""
KINDS = (INTEGRITY, POINT, LOGIC)
WEIGHTS: Mapping[str, float] = {INTEGRITY: 3.0, POINT: 15.0, LOGIC: 8.0}
"""The weights of the published questions."""
LEVELS = ("l1", "l2", "l3")
"""A fact, a counterfactual said, a counterfactual to be deduced."""
PHYSICS = "physics"
BRANCHES = ("mechanics", "optics", "thermodynamics", "astronomy", "electromagnetism")
"""What the paper counts as branches of physics; files and figures have them apart."""
RULE, ATTRIBUTE = "rule", "attribute"
"""The parts whose cases are probes."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LevelPrompt:
    """One prompt, what its image must show, and the questions that ask for it."""

    prompt: str
    point: str = ""
    """The assessment point: what decides, in one sentence; empty where a file has none."""
    questions: tuple[Question, ...] = ()
    formula: str = ""
    """What the prompt means in the notation of the logic core, where the embedded models can draw it."""

    @property
    def can_be_asked(self) -> bool:
        """Whether there is something to generate, and something to ask about it."""
        return bool(self.prompt and self.questions)

    @property
    def unread(self) -> str:
        """Why its formula cannot be read; empty where it can, or where there is none."""
        try:
            if self.formula:
                parse(self.formula)
        except FormulaError as error:
            return f"{self.formula!r}, {error.problem}"
        return ""


@dataclass(frozen=True, slots=True, kw_only=True)
class LevelGroup:
    """One principle at three levels; discipline and group_id together are its name."""

    discipline: str
    group_id: str
    category: str = ""
    principle: str = ""
    """The law that holds in l1 and is changed in l2 and l3."""
    l1: LevelPrompt
    l2: LevelPrompt
    l3: LevelPrompt
    denorm: str = ""
    """The prompt of l2 with its telling nouns described instead of named; empty where nobody wrote one."""
    labels: Mapping[str, str] = field(default_factory=dict)
    """More labels for the case, such as those of the embedded world."""
    findings: tuple[Finding, ...] = ()
    """What a reader has to say about it; not part of the written form."""

    def level(self, name: str) -> LevelPrompt:
        """Its l1, l2 or l3."""
        return {"l1": self.l1, "l2": self.l2, "l3": self.l3}[name]


@dataclass(frozen=True, slots=True, kw_only=True)
class Probe:
    """Facts against counterfactuals of one rule, or a common pair against a rare one."""

    part: str
    """rule or attribute."""
    probe_id: str
    principle: str = ""
    """The rule, or the two entities: "giant otter, basilica"."""
    factual: tuple[LevelPrompt, ...]
    counterfactual: tuple[LevelPrompt, ...]
    findings: tuple[Finding, ...] = ()

    def __post_init__(self) -> None:
        if self.part not in (RULE, ATTRIBUTE):
            raise ValueError(f"a probe's part is {self.part!r}; it must be {RULE} or {ATTRIBUTE}")


Entry: TypeAlias = LevelGroup | Probe


def field_of(discipline: str) -> str:
    """The one of the paper's five disciplines that a file's belongs to."""
    return PHYSICS if any(branch in discipline.lower() for branch in BRANCHES) else discipline


def question(kind: str, text: str, criteria: Mapping[float, str], formula: str = "") -> Question:
    """A question of one of the three dimensions with its published weight."""
    ordered = tuple(sorted(criteria.items(), reverse=True))
    return Question(kind=kind, text=text, criteria=ordered, weight=WEIGHTS[kind], formula=formula)


def write_entries(entries: Iterable[Entry]) -> Iterator[str]:
    """Groups and probes as lines; read_entries gives them back."""
    for entry in entries:
        yield json.dumps(_to_json(entry), ensure_ascii=False)


def read_entries(lines: Iterable[str], where: str) -> Iterator[Entry]:
    """The groups and probes of some lines; where: the file's name, for the message."""
    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        try:
            yield _from_json(json.loads(line))
        except (ValueError, KeyError, TypeError, AttributeError) as error:
            problem = f"no {error}" if isinstance(error, KeyError) else str(error)
            raise UsageError(
                message(
                    "file-invalid",
                    path=where,
                    where=f"line {number}",
                    why=f"{problem}; no group or probe",
                )
            ) from error


def _to_json(entry: Entry) -> dict[str, Json]:
    if isinstance(entry, Probe):
        return {
            "part": entry.part,
            "id": entry.probe_id,
            "principle": entry.principle,
            "factual": [_level_to_json(level) for level in entry.factual],
            "counterfactual": [_level_to_json(level) for level in entry.counterfactual],
        }
    written: dict[str, Json] = {
        "discipline": entry.discipline,
        "id": entry.group_id,
        "category": entry.category,
        "principle": entry.principle,
        **{name: _level_to_json(entry.level(name)) for name in LEVELS},
    }
    if entry.denorm:
        written["denorm"] = entry.denorm
    if entry.labels:
        written["labels"] = dict(entry.labels)
    return written


def _level_to_json(level: LevelPrompt) -> dict[str, Json]:
    written: dict[str, Json] = {"prompt": level.prompt, "point": level.point}
    written["questions"] = [question_to_json(asked) for asked in level.questions]
    return {**written, "formula": level.formula} if level.formula else written


def _from_json(read: dict[str, Json]) -> Entry:
    if "part" in read:
        return Probe(
            part=str(read["part"]),
            probe_id=str(read["id"]),
            principle=str(read.get("principle", "")),
            factual=_levels(read["factual"]),
            counterfactual=_levels(read["counterfactual"]),
        )
    return LevelGroup(
        discipline=str(read["discipline"]),
        group_id=str(read["id"]),
        category=str(read.get("category", "")),
        principle=str(read.get("principle", "")),
        denorm=str(read.get("denorm", "")),
        labels=cast(dict[str, str], read.get("labels", {})),
        l1=_level(read["l1"]),
        l2=_level(read["l2"]),
        l3=_level(read["l3"]),
    )


def _levels(read: Json) -> tuple[LevelPrompt, ...]:
    return tuple(_level(level) for level in cast(list[Json], read))


def _level(written: Json) -> LevelPrompt:
    read = cast(dict[str, Json], written)
    return LevelPrompt(
        prompt=str(read["prompt"]),
        point=str(read.get("point", "")),
        questions=tuple(question_from_json(q) for q in cast(list[dict[str, Json]], read.get("questions", []))),
        formula=str(read.get("formula", "")),
    )
