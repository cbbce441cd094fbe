"""CF-World's ablations as published: symbolic rules with facts and counterfactuals, and rare pairs beside common ones.

Entries come in, probes go out. The published files hold no questions; one is made from what they do say.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace

from salva.core.case import Finding
from salva.core.fingerprint import Json
from salva.core.question import Question
from salva.suites.cfworld.asking import point_question
from salva.suites.cfworld.gaps import gap
from salva.suites.cfworld.groups import ATTRIBUTE, POINT, RULE, LevelPrompt, Probe, question

N_RULES, N_RULE_PROMPTS, N_PAIRS = 33, 198, 100
"""What the paper says there are."""
FACTS = ("original", "factual", "fact")
"""Categories of facts."""
_RARE = ("cf", "counterfactual", "unusual")
_FACTUAL = "_factual"
Row = Mapping[str, Json]


def id_of(value: Json) -> str:
    """An id as one text, however a file writes it: 4, 4.0 and " 4" are one; empty where there is none."""
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    return "" if value is None else str(value).strip()


def _from_point(point: str) -> Question:
    """A question that asks for a point, which here is seldom a whole sentence."""
    return replace(point_question(point), text=f"Does the picture plainly show this: {point.rstrip('. ')}?")


def question_from_pair(first: str, second: str, prompt: str) -> Question:
    """A question that asks for two entities and how they stand to each other."""
    return question(
        POINT,
        f"Does the picture show {first} and {second} together, as in: {prompt.rstrip('. ')}?",
        {
            1.0: "Both are there and stand to each other as described.",
            0.5: "Both are there, but not as described.",
            0.0: "One of them is missing or cannot be recognised.",
        },
    )


@dataclass(slots=True)
class _ProbeParts:
    factual: list[LevelPrompt] = field(default_factory=list)
    counterfactual: list[LevelPrompt] = field(default_factory=list)
    findings: list[Finding] = field(default_factory=list)
    entities: str = ""


def read_rules(rows: Iterable[Row], findings: list[Finding]) -> list[Probe]:
    """The rules of the published file: the original ones are facts, all others counterfactuals.

    findings: gets what is wrong with rows of no rule.
    """
    rules: dict[str, _ProbeParts] = {}
    n_rows = 0
    for row in rows:
        n_rows += 1
        name, category = id_of(row.get("rule_id")), str(row.get("category") or "").strip().lower()
        if not name:
            findings.append(gap("no-id", f"rule, prompt {row.get('id')}"))
            continue
        parts = rules.setdefault(name, _ProbeParts())
        prompt, point = str(row.get("prompt") or "").strip(), str(row.get("ap") or "").strip()
        where = f"rule {name}, prompt {row.get('id')}"
        if not prompt or not point:
            parts.findings.append(gap("no-prompt" if not prompt else "no-point", where))
            continue
        if category not in (*FACTS, *_RARE):
            parts.findings.append(gap("odd-category", f"{where}: {category!r}, taken for a counterfactual"))
        level = LevelPrompt(prompt=prompt, point=point, questions=(_from_point(point),))
        (parts.factual if category in FACTS else parts.counterfactual).append(level)
    if rules and (len(rules), n_rows) != (N_RULES, N_RULE_PROMPTS):
        found = f"{len(rules)} rules, {n_rows} prompts; paper: {N_RULES}, {N_RULE_PROMPTS}"
        next(iter(rules.values())).findings.append(gap("count-differs", found))
    return [_probe(RULE, name, parts) for name, parts in rules.items()]


def read_pairs(rows: Iterable[Row], findings: list[Finding]) -> list[Probe]:
    """The pairs of the published file: 93 is the rare one, 93_factual the common one.

    findings: gets what is wrong with rows of no pair.
    """
    pairs: dict[str, _ProbeParts] = {}
    for number, row in enumerate(rows, 1):
        name, category = id_of(row.get("id")), str(row.get("category") or "").strip().lower()
        is_fact = name.endswith(_FACTUAL) or category in FACTS
        pair = name.removesuffix(_FACTUAL)
        if not pair:
            findings.append(gap("no-id", f"pair, entry {number}"))
            continue
        parts = pairs.setdefault(pair, _ProbeParts())
        first, second, prompt = (str(row.get(key) or "").strip() for key in ("A", "B", "prompt"))
        if not (prompt and first and second):
            parts.findings.append(gap("no-prompt", f"pair {name}"))
            continue
        if category and category not in (FACTS if is_fact else _RARE):
            kind = "the common one" if is_fact else "the rare one"
            parts.findings.append(gap("odd-category", f"pair {name}: {category!r}, taken for {kind}"))
        level = LevelPrompt(prompt=prompt, questions=(question_from_pair(first, second, prompt),))
        (parts.factual if is_fact else parts.counterfactual).append(level)
        parts.entities = parts.entities if is_fact else f"{first}, {second}"
    if pairs and len(pairs) != N_PAIRS:
        found = f"{len(pairs)} pairs; paper: {N_PAIRS}"
        next(iter(pairs.values())).findings.append(gap("count-differs", found))
    return [_probe(ATTRIBUTE, name, parts) for name, parts in pairs.items()]


def _probe(part: str, name: str, parts: _ProbeParts) -> Probe:
    findings = list(parts.findings)
    if not parts.factual or not parts.counterfactual:
        findings.append(gap("unpaired", f"{part} {name}"))
    return Probe(
        part=part,
        probe_id=name,
        principle=parts.entities,
        factual=tuple(parts.factual),
        counterfactual=tuple(parts.counterfactual),
        findings=tuple(findings),
    )
