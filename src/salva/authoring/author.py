"""Makes new triples and checks them: filled, permuted, paraphrased, checked.

Rules come first; a text model is asked only for what no rule gives. A criterion answered no with confidence removes
the triple; what is left is a candidate until people have seen it.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

from salva.authoring.criteria import CRITERIA, CriterionCheck, checks_by_code, formulas_of
from salva.authoring.samples import Sample
from salva.authoring.templates import Grammar, SentenceTriple, triples
from salva.core.case_sets import slug
from salva.core.fingerprint import Json
from salva.errors import UnusableError
from salva.messages import message
from salva.remote.text_model import TextModel

METHODS = (
    "another word order",
    "the passive voice",
    "another description of the same scene",
    "synonyms",
    "an infinitive or a gerund",
    "a simpler or a fuller sentence",
)
"""The six ways to say the same again."""
CONFIDENCE = 0.8
_PATIENCE = 5
"""So many triples of which no check could be read, before any that could, and the checker is given up."""
_DECIMAL = re.compile(r"\d{1,3}(?:\.\d{1,6})?", re.ASCII)
_PASSIVE = re.compile(r"\b(?:is|are|was|were)(?: being)? \w+ by\b")
_PARAPHRASE = (
    "You rewrite sentences without changing what a picture of them would show. Reply with a JSON object whose keys "
    "are the numbers 1 to 6 and whose values are sentences, or null where a way does not work:\n"
    + "\n".join(f"{number}. by {method}" for number, method in enumerate(METHODS, 1))
)
_CHECK = (
    "You check sentences written to test text-to-image models. T_a is the first sentence, T_pv exchanges two of its "
    "parts and must mean something else, T_pi must mean the same as T_a. Reply with a JSON object that has one key "
    'for each named criterion, with the value {"answer": "yes" or "no", "confidence": 0 to 1}. Yes means valid.'
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Removed:
    """A triple that did not make it, and why."""

    sample: Sample
    why: str
    is_unread: bool = False
    """Whether the checker was asked and gave no answer that can be read; the same command asks again."""

    def to_json(self) -> dict[str, object]:
        """One line of the file of removed triples."""
        return {**self.sample.to_json(), "why": self.why}


def write_samples(
    grammar: Grammar,
    n_wanted: int,
    seed: int,
    writer: TextModel | None = None,
    checker: TextModel | None = None,
) -> Iterator[Sample | Removed]:
    """Triples as samples, or as removed with the reason; a checker of whom no reply can be read raises."""
    n_unread = 0
    for triple in triples(grammar, n_wanted, seed):
        made = _checked(_paraphrased(triple, writer), triple, checker)
        sample = made.sample if isinstance(made, Removed) else made
        if checker is not None and any(check.by == checker.name for check in sample.checks):
            n_unread = -1
        elif n_unread >= 0 and isinstance(made, Removed) and made.is_unread:
            n_unread += 1
        yield made
        if n_unread == _PATIENCE:
            break
    if checker is not None and n_unread > 0:
        raise UnusableError(message("checker-unreadable", checker=checker.name, n=n_unread))


def _paraphrased(triple: SentenceTriple, writer: TextModel | None) -> Sample:
    digest = hashlib.sha256(f"{triple.anchor}\t{triple.changed}".encode()).hexdigest()[:10]
    sample = Sample(
        sample_id=f"{slug(triple.category)}-{digest}",
        category=triple.category,
        anchor=triple.anchor,
        changed=triple.changed,
        kept=triple.kept,
        template=triple.template,
        rule=triple.rule,
        kept_by=f"rule: {_method_of(triple)}" if triple.kept else "",
    )
    if triple.kept or writer is None:
        return sample
    replies = writer.ask(_PARAPHRASE, triple.anchor)
    said = [
        replace(sample, kept=text.strip(), kept_by=f"{writer.name}: {method}")
        for number, method in enumerate(METHODS, 1)
        if isinstance(text := replies.get(str(number)) if isinstance(replies, Mapping) else None, str)
        and text.strip().lower() not in ("", "none", triple.anchor.lower())
    ]
    if said:
        writer.keep(_PARAPHRASE, triple.anchor, replies)
    # Where code finds fault with all of them, the first stays, for the fault to be told.
    return next((one for one in said if _is_sound(one)), said[0] if said else sample)


def _method_of(triple: SentenceTriple) -> str:
    """Which of the six ways a rule took."""
    if sorted(triple.kept.split()) == sorted(triple.anchor.split()):
        return METHODS[0]
    return METHODS[1] if _PASSIVE.search(triple.kept) else METHODS[2]


def _is_sound(sample: Sample) -> bool:
    return all(check.is_valid for check in checks_by_code(sample.anchor, sample.changed, sample.kept))


def _checked(sample: Sample, triple: SentenceTriple, checker: TextModel | None) -> Sample | Removed:
    if not sample.kept:
        return Removed(sample=sample, why=message("triple-no-paraphrase"))
    checks = list(checks_by_code(sample.anchor, sample.changed, sample.kept))
    unanswered: list[str] = []
    if checker is not None and all(check.is_valid for check in checks):
        answers = _asked(sample, triple, checker, checks)
        checks += [check for check in answers.values() if check is not None]
        unanswered = [name for name, check in answers.items() if check is None]
    formulas = formulas_of(sample.anchor, sample.changed, sample.kept)
    sample = replace(sample, checks=tuple(checks), formulas=formulas)
    bad = [check for check in checks if not check.is_valid and check.confidence > CONFIDENCE]
    if bad:
        return Removed(
            sample=sample, why="; ".join(f"{check.criterion} ({check.by}): {check.why or 'no'}" for check in bad)
        )
    if checker is not None and unanswered:
        # What nobody answered has not passed.
        why = message("triple-unanswered", criteria=", ".join(unanswered), checker=checker.name)
        return Removed(sample=sample, why=why, is_unread=True)
    return sample


def _asked(
    sample: Sample, triple: SentenceTriple, checker: TextModel, known: list[CriterionCheck]
) -> dict[str, CriterionCheck | None]:
    """By criterion, what the checker says; None where it gave no answer."""
    wanted = [name for name in CRITERIA if name not in {check.criterion for check in known}]
    listed = "\n".join(f"{name}: {CRITERIA[name]}" for name in wanted)
    question = (
        f"T_a: {sample.anchor}\nT_pv: {sample.changed}\nT_pi: {sample.kept}\nexchange: {triple.rule}\n\n"
        f"Criteria:\n{listed}"
    )
    replies = checker.ask(_CHECK, question)
    by_name = replies if isinstance(replies, Mapping) else {}
    answers = {name: _read_check(name, by_name.get(name), checker.name) for name in wanted}
    if None not in answers.values():
        checker.keep(_CHECK, question, replies)
    return answers


def _read_check(criterion: str, answer: Json, by: str) -> CriterionCheck | None:
    """One answer; one that is not as asked for counts as not given."""
    if not isinstance(answer, Mapping):
        return None
    said, confidence = answer.get("answer"), _number(answer.get("confidence"))
    said = said.strip().rstrip(".!").casefold() if isinstance(said, str) else said
    if said not in ("yes", "no") or confidence is None or not 0 <= confidence <= 1:
        return None
    return CriterionCheck(criterion=criterion, is_valid=said == "yes", confidence=confidence, by=by)


def _number(value: Json) -> float | None:
    """A number, or one in quotes."""
    if isinstance(value, str) and _DECIMAL.fullmatch(value.strip()):
        return float(value)
    return float(value) if isinstance(value, int | float) and not isinstance(value, bool) else None
