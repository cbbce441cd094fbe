"""A case: prompts, and the checks that can judge their images."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import msgspec

from salva.core.fingerprint import Json, derive_seed
from salva.core.mutation import Mutation
from salva.core.question import Question, question_from_json, question_to_json

SEVERAL_WORLDS = "several-worlds"
"""The finding that more than one image is right for a prompt, so two right images may differ."""

_KEBAB = re.compile(r"[a-z0-9]+(-[a-z0-9]+)*")


@dataclass(frozen=True, slots=True, kw_only=True)
class Prompt:
    """One wording, with the formula it stands for where one is known."""

    role: str
    """Its place in the case: "a" and "b" in a pair."""
    text: str
    formula: str | None = None
    """In the logic core's notation; models other than the painter never see it."""
    questions: tuple[Question, ...] = ()
    """What its image is graded on or asked about, where the suite says so."""
    entities: tuple[str, ...] = ()
    """What it names and its image must show, where the suite says so; in a detector's words."""
    passes_over: bool = False
    """Whether a model with few words may pass over those it does not know; models that know any word never see it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """Something to know about a case before anything is generated."""

    kind: str
    """A suite's own word for it, in kebab-case."""
    sentence: str
    """For people, about this case."""
    subject: tuple[str, ...] = ()
    """The things, prompts or columns that it is about."""
    general: str = ""
    """The sentence as far as other cases share it, where that is not all of it."""

    def __post_init__(self) -> None:
        if not _KEBAB.fullmatch(self.kind):
            raise ValueError(f"a finding's kind {self.kind!r} may hold only a-z, 0-9 and single hyphens between them")

    @property
    def shared(self) -> str:
        """What a table counts it under."""
        return self.general or self.sentence


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """Prompts whose images are judged together."""

    case_id: str
    """Stable from version to version, in the letters [a-z0-9-]."""
    suite: str
    category: str
    """The stratum that samples are balanced over and failure rates averaged over."""
    prompts: tuple[Prompt, ...]
    checks: tuple[str, ...]
    """The checks that can make its result, best first. The first one that is bound and can decide is its primary
    check; a run may ask for another one."""
    measures: tuple[str, ...] = ()
    """Checks that are judged too, for metrics alone."""
    labels: Mapping[str, str] = field(default_factory=dict)
    cluster: str = ""
    """Cases of one cluster are not independent; intervals of mean scores count clusters, not cases."""
    equivalent: bool | None = None
    """Whether the prompts' formulas have the same worlds; None where a formula is missing."""
    determinate: bool | None = None
    """Whether every prompt's formula has exactly one world; None where a formula is missing."""
    findings: tuple[Finding, ...] = ()
    """What the logic core or a reader of files has to say about this case."""
    mutation: Mutation | None = None
    """What changed between its two captions, where one was made from the other by taking it apart."""
    painting: str = ""
    """Cases with the same painting key start from the same noise, so a prompt they share is generated once for all of
    them; empty: the case's id, and no other case shares its images."""
    counts: str = "exact"
    """How numbers are read unless the run says: "exact" or "at-least"."""
    extra: Mapping[str, Json] = field(default_factory=dict)
    """Whatever a suite wants to keep beside the case; salva itself reads `where` alone, to name its place in a file."""

    def __post_init__(self) -> None:
        if not _KEBAB.fullmatch(self.case_id):
            raise ValueError(f"case id {self.case_id!r} may hold only a-z, 0-9 and single hyphens between them")
        roles = [prompt.role for prompt in self.prompts]
        if not roles or len(set(roles)) != len(roles):
            raise ValueError(f"case {self.case_id!r} needs prompts with different roles, got {roles}")
        if wrong := {name: value for name, value in self.labels.items() if not isinstance(value, str)}:
            raise ValueError(f"case {self.case_id!r} needs labels that are text, got {wrong}")
        if not self.checks:
            raise ValueError(f"case {self.case_id!r} names no check")

    @property
    def check(self) -> str:
        """The best of its checks."""
        return self.checks[0]

    @property
    def named_checks(self) -> tuple[str, ...]:
        """Every check that it names."""
        return (*self.checks, *self.measures)

    def read_counts(self, asked: str) -> str:
        """How numbers are read: as a run asks, else as the suite says."""
        return asked or self.counts

    def prompt(self, role: str) -> Prompt:
        """The prompt with this role."""
        return next(prompt for prompt in self.prompts if prompt.role == role)

    def within(self, role: str) -> Case:
        """The case by which two images of one of its prompts are compared: of a mutation, with nothing changed."""
        if self.mutation is None:
            return self
        return replace(self, mutation=self.mutation.against_itself(is_seed=role == self.prompts[0].role))

    def without_entities(self, names: Collection[str]) -> Case:
        """The case as if its prompts were not known to name these entities."""
        kept = (tuple(name for name in prompt.entities if name not in names) for prompt in self.prompts)
        prompts = (replace(prompt, entities=entities) for prompt, entities in zip(self.prompts, kept, strict=True))
        return replace(self, prompts=tuple(prompts))

    def seed(self, run_seed: int, repeat: int) -> int:
        """The seed of every image of the case in one repeat."""
        return derive_seed(run_seed, self.painting or self.case_id, repeat)


def unit_of(cases: Iterable[Case]) -> str:
    """What cases are called where they are counted."""
    return "pairs" if all(len(case.prompts) == 2 for case in cases) else "cases"


def case_to_json(case: Case) -> dict[str, Json]:
    """The stored form of a case."""
    # Left out where nothing is said, so that cases which do not know them are stored as they always were.
    said: dict[str, Json] = {"painting": case.painting} if case.painting else {}
    if case.mutation is not None:
        said["mutation"] = msgspec.to_builtins(case.mutation)
    if case.measures:
        said["measures"] = [*case.measures]
    if case.counts != "exact":
        said["counts"] = case.counts
    return {
        "case_id": case.case_id,
        "suite": case.suite,
        "category": case.category,
        "prompts": [_prompt_to_json(prompt) for prompt in case.prompts],
        "checks": [*case.checks],
        "labels": dict(case.labels),
        "cluster": case.cluster,
        "equivalent": case.equivalent,
        "determinate": case.determinate,
        "findings": [
            {"kind": f.kind, "sentence": f.sentence, "subject": [*f.subject], "general": f.general}
            for f in case.findings
        ],
        "extra": dict(case.extra),
        **said,
    }


def _prompt_to_json(prompt: Prompt) -> dict[str, Json]:
    stored: dict[str, Json] = {"role": prompt.role, "text": prompt.text, "formula": prompt.formula}
    if prompt.questions:
        stored["questions"] = [question_to_json(question) for question in prompt.questions]
    if prompt.entities:
        stored["entities"] = [*prompt.entities]
    return {**stored, "passes_over": True} if prompt.passes_over else stored


def _prompt_from_json(stored: dict[str, Any]) -> Prompt:
    questions = tuple(question_from_json(question) for question in stored.get("questions", ()))
    return Prompt(**{**stored, "questions": questions, "entities": tuple(stored.get("entities", ()))})


def case_from_json(stored: Mapping[str, Any]) -> Case:
    """The case a stored form stands for."""
    fields = {**stored, **{name: tuple(stored.get(name, ())) for name in ("checks", "measures")}}
    fields["prompts"] = tuple(map(_prompt_from_json, stored["prompts"]))
    fields["findings"] = tuple(msgspec.convert(finding, Finding) for finding in stored["findings"])
    if "mutation" in stored:
        fields["mutation"] = msgspec.convert(stored["mutation"], Mutation)
    return Case(**fields)
