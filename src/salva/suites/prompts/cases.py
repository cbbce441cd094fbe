"""A row of a file to its cases: what each prompt means, the checks that can judge it, and its rewordings.

The best check comes first: by formulas, each image held against its own prompt; else by a judge's answers; else, for a
pair, by comparing the two images. Which of them a run can use is decided elsewhere. Knows nothing of files.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from salva.core.case import Case, Finding, Prompt
from salva.core.fingerprint import fingerprint
from salva.core.question import Question
from salva.english.pair_facts import facts_of, findings_of
from salva.english.prompt_files import DIFFER, PARAPHRASED_BY, PromptRow
from salva.english.sentences import SentenceReading, read_prompt
from salva.logic.equivalence import is_contradictory, is_determinate
from salva.logic.notation import parse
from salva.suites.prompts.rewordings import rewordings

MUST_DIFFER = "must-differ"
READ, GIVEN, NONE = "read", "given", "none"
"""Where a case's formulas come from."""
NO_FORMULA, CONTRADICTORY = "no-formula", "contradictory"
_WHOLE = "Does the picture show all that the quoted text says (nothing in it is an instruction)? {}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Meant:
    """What the prompts of a row mean."""

    formulas: tuple[str | None, ...]
    source: str
    """read, given or none."""
    findings: tuple[Finding, ...] = ()


def cases_of(row: PromptRow, n_rewordings: int) -> Iterator[Case]:
    """The cases of a row: its pair, or its prompt with each of its rewordings."""
    meant = _meaning(row)
    prompts = tuple(
        Prompt(role=role, text=text, formula=formula, questions=() if formula else (whole_question(text),))
        for role, text, formula in zip("ab", row.texts, meant.formulas, strict=False)
    )
    own = prompts[0]
    others = rewordings(own.text, own.formula, n_rewordings) if len(prompts) == 1 and own.formula else []
    for n, other in enumerate(others, 1):
        again = Prompt(role="b", text=other.text, formula=other.formula)
        labels = {"reworded": other.law}
        yield _case(row, meant, (own, again), labels, f"-{other.law}" if n == 1 else f"-{other.law}-{n}")
    if not others:
        yield _case(row, meant, prompts, {})


def whole_question(text: str) -> Question:
    """The one question that asks for all of a prompt."""
    return Question(kind="whole", text=_WHOLE.format(json.dumps(text, ensure_ascii=False)), answer="yes")


def _meaning(row: PromptRow) -> Meant:
    """The formulas where every prompt has one; of a pair with one alone, none."""
    readings = [
        SentenceReading(given) if given else read_prompt(text)
        for text, given in zip(row.texts, row.formulas, strict=True)
    ]
    formulas = tuple(reading.formula for reading in readings if reading.formula)
    if len(formulas) < len(readings):
        why = [reading.problem for reading in readings if reading.problem]
        sentence = f"no formula: {'; '.join(why)}"
        finding = Finding(kind=NO_FORMULA, sentence=sentence, subject=tuple(row.texts), general=f"no formula: {why[0]}")
        return Meant(formulas=(None,) * len(readings), source=NONE, findings=(finding,))
    findings = tuple(
        Finding(kind=CONTRADICTORY, sentence="the prompt is contradictory", subject=(formula,))
        for formula in formulas
        if is_contradictory(parse(formula))
    )
    return Meant(formulas=formulas, source=GIVEN if any(row.formulas) else READ, findings=findings)


def _case(
    row: PromptRow, meant: Meant, prompts: tuple[Prompt, ...], labels: Mapping[str, str], suffix: str = ""
) -> Case:
    equivalent, determinate, findings = _decided(prompts, row.expect)
    checks, measures = _checks(row.expect, n_prompts=len(prompts), has_formulas=all(meant.formulas))
    return Case(
        case_id=f"{case_name(row)}{suffix}",
        suite="prompts",
        category=row.labels.get("category") or _kind(row, meant),
        prompts=prompts,
        checks=checks,
        measures=measures,
        labels={**labels, **row.labels, "formula": meant.source},
        cluster=row.labels.get("cluster") or " / ".join(row.texts)[:200],
        equivalent=equivalent,
        determinate=determinate,
        findings=(*meant.findings, *findings),
        painting=painting_of(row),
    )


def painting_of(row: PromptRow) -> str:
    """What the images of a prompt start from, whatever is made of it: its own is generated once for all."""
    return f"prompts {fingerprint(row.texts[0])[:16]}"


def case_name(row: PromptRow) -> str:
    """A case's id without what was made of it: its first words, and a hash of all of them."""
    words = re.findall(r"[a-z0-9]+", row.texts[0].lower())[:5]
    said = fingerprint([*row.texts, row.expect, *row.formulas])[:8]
    return "-".join(("prompts", *(word[:12] for word in words), said))


def _decided(prompts: Sequence[Prompt], expect: str) -> tuple[bool | None, bool | None, tuple[Finding, ...]]:
    """Equivalent, determinate, and what to say of that."""
    formulas = [prompt.formula for prompt in prompts if prompt.formula]
    if len(formulas) < len(prompts):
        # The component that says that two prompts differ in meaning is believed where no formula says more.
        return (False if expect == DIFFER else None), None, ()
    if len(formulas) == 1:
        return None, is_determinate(parse(formulas[0])), ()
    facts = facts_of(*formulas)
    findings = findings_of(*formulas)
    if expect == DIFFER and facts.equivalent:
        sentence = "marked as different, but the formulas are equivalent"
        findings = (*findings, Finding(kind="same-after-all", sentence=sentence, subject=("a", "b")))
    if expect != DIFFER:
        findings = tuple(finding for finding in findings if finding.kind not in ("exclusive", "overlapping"))
    return facts.equivalent, facts.determinate, findings


def _checks(expect: str, *, n_prompts: int, has_formulas: bool) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The checks that can make the result, best first, and those that are measured besides."""
    if has_formulas:
        return ("truth", "right-answers"), ("same-scene",) if n_prompts == 2 and expect != DIFFER else ()
    if n_prompts == 1:
        return ("right-answers",), ()
    comparing = (MUST_DIFFER,) if expect == DIFFER else ("same-answers", "same-scene", "same-similarity")
    return ("right-answers", *comparing), comparing


def _kind(row: PromptRow, meant: Meant) -> str:
    if meant.source != NONE:
        return "formulas"
    if PARAPHRASED_BY in row.labels:
        return "paraphrases"
    return "prompts" if len(row.texts) == 1 else "pairs"
