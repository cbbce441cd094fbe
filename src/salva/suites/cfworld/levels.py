"""Check: a fact, its counterfactual said and its counterfactual to be deduced are all generated, after CF-World.

Takes a judge's grades of the images of one group, gives S of every level, shuts L2 and L3 behind L1's gate, and says
of a group that breaks which level failed, and whether the image clung to the fact. Pure: no model, no disk, no clock.
An image or reply that is missing is no zero unless check.missing says so.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar

from salva.checks.asking import AskingOptions, with_checks, with_notes
from salva.core.about import About
from salva.core.case import Case, Prompt
from salva.core.options import option
from salva.core.probe import Probe
from salva.core.protocols import Conclusion, ImageObservations, Need, Query
from salva.core.question import DIMENSIONS, QUESTIONS, Question, picture_score
from salva.core.verdict import Failure, Outcome, failure_types_of
from salva.suites.cfworld.groups import LEVELS, POINT
from salva.suites.cfworld.scoring import dimension_scores, grade_query, grades_of, reasons_of, scores_of

FACTUAL, COUNTERFACTUAL = "factual-failure", "counterfactual-failure"
DEDUCTION, LOCK_IN = "deduction-failure", "prior-lock-in"
DENORM = "denorm"
ZERO, EXCLUDE, SKIP = "zero", "exclude", "skip"
ONE_RUBRIC = "one"
_KIND, _STRICT = "fact", "counterfactual"
"""The rubrics of the published program: facts are graded more kindly."""


@dataclass(frozen=True, slots=True, kw_only=True)
class GradeOptions(AskingOptions):
    """How grades become the score of an image."""

    mean: str = option(DIMENSIONS, "Mean over dimensions (paper) or questions.", choices=(DIMENSIONS, QUESTIONS))
    missing: str = option(EXCLUDE, "Images without a score: exclude, or zero.", choices=(EXCLUDE, ZERO))
    pass_: ClassVar[float] = 0.5


@dataclass(frozen=True, slots=True, kw_only=True)
class LevelsOptions(GradeOptions):
    """How grades become a verdict."""

    gate: str = option(ZERO, "L2 and L3 if L1 fails.", choices=(ZERO, SKIP))
    gate_at: ClassVar[float] = 0.5
    lock_in: bool = option(True, "Ask L1's question about failed images.")
    rubrics: str = option("both", "Facts more kindly, all alike, or both.", choices=("both", "levels", ONE_RUBRIC))


class Levels:
    """Check: a group is generated at all its levels."""

    version: ClassVar[str] = "2"
    about: ClassVar[About] = About(
        needs_roles=("judge",),
        takes_gaps=True,
        failure_types={
            LOCK_IN: "Shows the fact instead.",
            DEDUCTION: "Drawn if stated, not if deduced.",
            COUNTERFACTUAL: "Counterfactual not drawn.",
            FACTUAL: "Fact not drawn.",
        },
    )
    Options = LevelsOptions

    def __init__(self, options: LevelsOptions) -> None:
        self._options = options

    def applies(self, case: Case) -> bool:
        """Whether the case is a group of levels, or of those that have questions."""
        roles = [prompt.role for prompt in case.prompts]
        return "levels" in case.checks and "l1" in roles and set(roles) <= {*LEVELS, DENORM}

    def needs(
        self, case: Case, roles: Collection[str], observations: Mapping[str, ImageObservations]
    ) -> Sequence[Need]:
        """The own questions of every image; then L1's of those that fail."""
        needs = [need for need in self._first(case, observations) if need.role in observations]
        if any(sight.seen for sight in observations.values()):
            needs += self._lock_ins(case, observations)
        return with_checks(needs, case, roles, self._options)

    def probes(self, case: Case) -> Sequence[Probe]:
        """The own questions of every image."""
        return [Probe(role=prompt.role, query=self.query(case, prompt)) for prompt in case.prompts]

    def judge(self, case: Case, observations: Mapping[str, ImageObservations]) -> Conclusion:
        """All levels at the mark or above hold; below it every level that failed says so."""
        return with_notes(self._judge(case, observations), observations)

    def _first(self, case: Case, observations: Mapping[str, ImageObservations]) -> list[Need]:
        is_waiting = self._options.gate == SKIP and not self._is_open(case, observations)
        prompts = [prompt for prompt in case.prompts if prompt.role == "l1" or not is_waiting]
        needs = [Need(role=prompt.role, query=self.query(case, prompt)) for prompt in prompts]
        if self._options.rubrics == "both":
            needs.append(Need(role="l1", query=self.query(case, case.prompt("l1"), _STRICT)))
        return needs

    def _lock_ins(self, case: Case, observations: Mapping[str, ImageObservations]) -> list[Need]:
        """Whether images that fail show the fact; where that fails too, nobody can tell."""
        asked = self._fact_query(case)
        if not self._options.lock_in or asked is None or not self._is_open(case, observations):
            return []
        scores, _ = self._graded(case, observations)
        return [
            Need(role=role, query=asked)
            for role in ("l2", "l3")
            if role in observations and role in scores and scores[role] < self._options.pass_
        ]

    def query(self, case: Case, prompt: Prompt, rubric: str = "") -> Query:
        """How a judge is asked about the image of a prompt; rubric: another than its level has."""
        # A prompt without its telling nouns asks for the image of L2, and is held to the very same question.
        text = case.prompt("l2").text if prompt.role == DENORM else prompt.text
        by_level = _KIND if prompt.role == "l1" and self._options.rubrics != ONE_RUBRIC else _STRICT
        return grade_query(text, prompt.questions, rubric or by_level)

    def _fact_query(self, case: Case) -> Query | None:
        prompt = case.prompt("l1")
        points = _points(prompt.questions)
        return grade_query(prompt.text, points, _KIND) if points else None

    def _is_open(self, case: Case, observations: Mapping[str, ImageObservations]) -> bool:
        scores, _ = self._graded(case, observations)
        return scores.get("l1", -1.0) >= self._options.gate_at

    def _graded(
        self, case: Case, observations: Mapping[str, ImageObservations]
    ) -> tuple[dict[str, float], dict[str, str]]:
        return scores_of(case, observations, self.query, self._options.mean)

    def _judge(self, case: Case, observations: Mapping[str, ImageObservations]) -> Conclusion:
        graded, problems = self._graded(case, observations)
        skipped = self._skipped(case, graded)
        missing = {role: why for role, why in problems.items() if role not in skipped}
        given = {**graded}
        if self._options.missing == ZERO:
            given |= dict.fromkeys(missing, 0.0)
        scores = {f"s_{role}": value for role, value in given.items()} | {f"missing_{role}": 1.0 for role in missing}
        if "l1" in given:
            is_open = given["l1"] >= self._options.gate_at
            scores["gate"] = float(is_open)
            gated = {role: value if is_open else 0.0 for role, value in given.items() if role != "l1"}
            gated |= dict.fromkeys(skipped, 0.0)
            scores |= {f"gated_{role}": value for role, value in gated.items()}
        scores |= self._asides(case, observations, graded)
        if missing and self._options.missing == EXCLUDE:
            reason = "; ".join(f"no score of {role}: {why}" for role, why in missing.items())
            return Conclusion(outcome=Outcome.UNDECIDED, scores=scores, reason=reason)
        if absent := [level for level in LEVELS if level not in {prompt.role for prompt in case.prompts}]:
            reason = f"no prompt or no questions for {', '.join(absent)}"
            return Conclusion(outcome=Outcome.UNDECIDED, scores=scores, reason=reason)
        failures = self._failures(case, observations, given)
        outcome = Outcome.FAIL if failures else Outcome.PASS
        return Conclusion(
            outcome=outcome,
            failure_types=failure_types_of(failures, self.about.failure_types),
            failures=tuple(failures),
            scores=scores,
            reason=self._summary(case, observations, given),
        )

    def _skipped(self, case: Case, graded: Mapping[str, float]) -> set[str]:
        """The images that nobody was asked about because the gate is shut."""
        is_shut = graded.get("l1", 1.0) < self._options.gate_at
        if self._options.gate != SKIP or not is_shut:
            return set()
        return {prompt.role for prompt in case.prompts if prompt.role != "l1"}

    def _asides(
        self, case: Case, observations: Mapping[str, ImageObservations], given: Mapping[str, float]
    ) -> dict[str, float]:
        """The dimensions of every image, L1 by the rubric of the others, and whether images show the fact."""
        asides: dict[str, float] = {}
        for prompt in case.prompts:
            grades = grades_of(_seen(observations, prompt.role, self.query(case, prompt)), prompt.questions)
            if prompt.role in given and not isinstance(grades, str):
                dimensions = dimension_scores(prompt.questions, grades)
                asides |= {f"{kind}_{prompt.role}": value for kind, value in dimensions.items()}
        fact = case.prompt("l1")
        if self._options.rubrics == "both":
            alike = grades_of(_seen(observations, "l1", self.query(case, fact, _STRICT)), fact.questions)
            if not isinstance(alike, str):
                asides["s_l1_alike"] = picture_score(fact.questions, alike, self._options.mean)
        for role in ("l2", "l3"):
            fits = self._fits_fact(case, observations, role)
            if fits is not None:
                asides[f"fact_{role}"] = fits
        return asides

    def _fits_fact(self, case: Case, observations: Mapping[str, ImageObservations], role: str) -> float | None:
        """How far an image shows L1's point; None where nobody was asked or the reply cannot be read."""
        asked, points = self._fact_query(case), _points(case.prompt("l1").questions)
        grades = grades_of(_seen(observations, role, asked), points) if asked is not None else ""
        return None if isinstance(grades, str) else picture_score(points, grades, QUESTIONS)

    def _failures(
        self, case: Case, observations: Mapping[str, ImageObservations], given: Mapping[str, float]
    ) -> list[Failure]:
        mark = self._options.pass_
        if given["l1"] < max(mark, self._options.gate_at):
            return [self._failure(FACTUAL, "l1", case, observations, given)]
        failures = []
        if given.get("l2", 0.0) < mark:
            failures.append(self._failure(COUNTERFACTUAL, "l2", case, observations, given))
        elif given.get("l3", 0.0) < mark:
            failures.append(self._failure(DEDUCTION, "l3", case, observations, given))
        for role in ("l2", "l3"):
            fits = self._fits_fact(case, observations, role)
            if fits is not None and fits >= mark and given.get(role, 0.0) < mark:
                message = f"the image of {role} shows the fact ({fits:.2f})"
                failures.append(Failure(failure_type=LOCK_IN, role=role, message=message, seen=f"{fits:.2f}"))
        return failures

    def _failure(
        self,
        error: str,
        role: str,
        case: Case,
        observations: Mapping[str, ImageObservations],
        given: Mapping[str, float],
    ) -> Failure:
        value, prompt = given.get(role, 0.0), case.prompt(role)
        why = reasons_of(_seen(observations, role, self.query(case, prompt)), prompt.questions, POINT)
        message = f"{role} scores {value:.2f}, below {self._options.pass_:g}"
        return Failure(
            failure_type=error, role=role, message=f"{message}: {why}" if why else message, seen=f"{value:.2f}"
        )

    def _summary(self, case: Case, observations: Mapping[str, ImageObservations], given: Mapping[str, float]) -> str:
        """Every level with its score and the judge's reason for the point, for people."""
        lines = []
        for prompt in case.prompts:
            if prompt.role in given:
                why = reasons_of(_seen(observations, prompt.role, self.query(case, prompt)), prompt.questions, POINT)
                lines.append(f"{prompt.role} {given[prompt.role]:.2f}" + (f": {why}" if why else ""))
        return "; ".join(lines)


def _points(questions: Sequence[Question]) -> tuple[Question, ...]:
    return tuple(question for question in questions if question.kind == POINT)


def _seen(observations: Mapping[str, ImageObservations], role: str, query: Query) -> object:
    return observations[role].seen.get(query) if role in observations else None
