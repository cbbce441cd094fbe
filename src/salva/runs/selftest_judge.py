"""A judge put to the test: closed questions about generated images, some with a fault, whose answers are known.

The painter draws images without a fault and with one each. Every question that the prompt settles is asked; where a
fault changed the answer, a judge that sees says otherwise than the prompt. Who always says yes is found out by the
questions whose answer is no.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import Future
from contextlib import closing
from dataclasses import dataclass
from typing import cast

from salva.core.case import Case
from salva.core.observation import Answer, Observation
from salva.core.plan import Binding
from salva.core.protocols import ObserveOrder, ObserveRequest, Query, Rendered, RenderRequest
from salva.core.run_spec import ComponentSpec
from salva.core.scene import Scene, Thing
from salva.core.table import Table
from salva.core.verdict import ENTITY_DUPLICATION, ENTITY_FORBIDDEN, ENTITY_OMISSION, X_MISPOSITION, Y_MISPOSITION
from salva.engine.progress import Progress
from salva.english.questions import NO, YES, ClosedQuestion, expected_answer, questions_about
from salva.errors import RefusedError
from salva.logic.formula import entities
from salva.logic.notation import parse
from salva.logic.satisfaction import satisfies
from salva.registry import bind, rebind
from salva.runs.binding import bind_each
from salva.runs.plans import settings_by_role
from salva.runs.selftest_bench import known, refuse_settings, unwrap
from salva.runs.selftest_cases import COLOURED, WRONG_COLOUR, case_for, nameable
from salva.runs.selftest_report import FEWEST, Score, low_scores, rate_cell, score_cells
from salva.runs.workplaces import open_executor

FAULTS = (
    *(X_MISPOSITION, Y_MISPOSITION, ENTITY_DUPLICATION, ENTITY_OMISSION),
    *(ENTITY_FORBIDDEN, WRONG_COLOUR),
)
_COIN = 0.5


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgeReport:
    """How far a judge can be trusted."""

    judge: str
    errors: tuple[Score, ...]
    """Per error type: questions whose answer the fault changed, and those the judge answered otherwise than the
    prompt, over the images in which it was planted."""
    faultless: Score
    """The same over the images without a fault, where nothing is there to be found."""
    yes: tuple[int, int]
    """Of the questions whose answer is yes: how many were answered so, and how many there are."""
    no: tuple[int, int]
    n_unread: int
    """Questions without a readable answer; none of them is right."""
    n_asked: int

    @property
    def balanced(self) -> float | None:
        """The mean of how often a right yes and a right no is answered; None without both kinds of questions."""
        if not self.yes[1] or not self.no[1]:
            return None
        return (self.yes[0] / self.yes[1] + self.no[0] / self.no[1]) / 2

    def balance(self) -> str:
        """What the judge makes of yes and no, in one sentence."""
        if self.balanced is None:
            return "no question has the answer yes, or none the answer no"
        said = (
            f"balanced accuracy {100 * self.balanced:.1f} % (one answer to everything: {100 * _COIN:.0f} %): "
            f"{self.yes[0]} of {self.yes[1]} yes and {self.no[0]} of {self.no[1]} no"
        )
        return f"{said}; {self.n_unread} of {self.n_asked} unreadable" if self.n_unread else said

    def problems(self, threshold: float) -> tuple[str, ...]:
        """Why the judge does not pass, in sentences; empty when it does."""
        problems = low_scores(self.errors, threshold)
        if self.balanced is not None and self.balanced < threshold:
            problems.append(f"yes and no: balanced accuracy {self.balanced:.3f} is below {threshold}")
        return tuple(problems)

    def too_few(self) -> tuple[str, ...]:
        """What was planted too seldom to tell, in sentences."""
        return tuple(
            f"{score.name}: it changed {score.n_true} answers, and it takes {FEWEST} to tell; ask for more --pairs"
            for score in self.errors
            if score.n_true < FEWEST
        )

    def tables(self) -> tuple[Table, ...]:
        """The figures, with 95 % intervals."""
        no_fault = self.faultless
        return (
            Table(
                name="answers that a fault changed",
                columns=("error type", "questions", "changed", "found", "precision", "recall"),
                rows=tuple((score.name, score.n_judged, *score_cells(score)) for score in self.errors),
                note="Found: answered otherwise than the prompt. In brackets 95 % intervals.",
            ),
            Table(
                name="yes, no and faultless images",
                columns=("what", "questions", "right"),
                rows=(
                    ("answer is yes", self.yes[1], rate_cell(*self.yes)),
                    ("answer is no", self.no[1], rate_cell(*self.no)),
                    (
                        "no fault in the image",
                        no_fault.n_judged,
                        rate_cell(no_fault.n_judged - no_fault.n_found, no_fault.n_judged),
                    ),
                ),
            ),
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class _KnownQuestion:
    """A question about an image, and what is known of it."""

    fault: str
    question: ClosedQuestion
    expected: str
    """What the prompt says."""
    true: str
    """What the image shows."""
    order: ObserveOrder


def judge_selftest(
    *, judge: str, detector: str, settings: Mapping[str, str], n_pictures: int, seed: int, progress: Progress
) -> JudgeReport:
    """Generate n_pictures without a fault and n_pictures per fault, ask the judge about them, and count."""
    by_role = settings_by_role(settings)
    refuse_settings(by_role, ("suite", "model", "reader", "embedder", "check"))
    (binding,) = bind_each("judge", [ComponentSpec.parse("judge", judge)], by_role["judge"])
    seer = None
    if "detector" in binding.about.needs_roles:
        (bound,) = bind_each("detector", [ComponentSpec.parse("detector", detector)], by_role["detector"])
        seer = bound.build()
    pictures = list(_painted(n_pictures, seed))
    asked = [question for picture in pictures for question in _questions(*picture, binding, seer)]
    answers = _answers(binding, asked, progress)
    return _report(judge, asked, answers)


def _painted(n_pictures: int, seed: int) -> Iterator[tuple[str, Case, Rendered]]:
    """Every image with its fault."""
    painter = bind(ComponentSpec.parse("model", "painter"))
    for fault in ("", *FAULTS):
        works = rebind(painter, {"faults": f"{fault}:1" if fault else ""}).build()
        things = nameable(None, COLOURED) if fault == WRONG_COLOUR else nameable(None)
        for number in range(n_pictures):
            case = case_for(fault, number, seed, things, is_pair=False)
            request = RenderRequest(prompt=case.prompts[0], seed=case.seed(seed, number))
            (rendered,) = works.render([request])
            yield fault, case, unwrap(rendered)


def _questions(
    fault: str, case: Case, rendered: Rendered, judge: Binding, detector: object
) -> Iterator[_KnownQuestion]:
    """What the prompt settles, with the answer the image gives."""
    formula = case.prompts[0].formula
    assert formula is not None, "every case of the selftest has a formula"
    scene = _scene(rendered)
    labels = tuple(sorted({*entities(parse(formula)), *(thing.label for thing in scene.things)}))
    given: dict[str, Observation] = {}
    for question in questions_about((formula,)):
        expected = expected_answer(question, formula)
        answers = zip(question.choices, question.formulas, strict=True)
        true = next((choice for choice, f in answers if satisfies(parse(f), scene, "at-least")), None)
        if expected is None or true is None:
            continue
        if detector is not None and not given:
            look = ObserveRequest(picture=rendered.picture, query=Query(role="detector", labels=labels))
            (seen,) = detector.observe([look])  # type: ignore[attr-defined]  # a component built by its name
            given["detector"] = unwrap(seen)
        query = Query(
            role="judge",
            kind="answer",
            text=question.text,
            choices=question.choices,
            formulas=question.formulas if judge.about.sees_formula else (),
        )
        order = ObserveOrder(picture=rendered.picture, query=query, given=given)
        yield _KnownQuestion(fault=fault, question=question, expected=expected, true=true, order=order)


def _answers(judge: Binding, asked: Sequence[_KnownQuestion], progress: Progress) -> list[Answer]:
    """What the judge says, in the order of the questions; one that cannot be asked stops the test."""
    answers: list[Answer] = []
    progress.start("asking", len(asked))
    try:
        with closing(open_executor(None, progress.note)) as workplace:
            lane = workplace.open(judge, (judge,))
            starts = range(0, len(asked), lane.batch_size)
            waiting: list[Future[Sequence[object]]] = [
                lane.submit([question.order for question in asked[start : start + lane.batch_size]]) for start in starts
            ]
            for future in waiting:
                for outcome in future.result():
                    answers.append(_answer(outcome))
                    progress.advance("asking")
    finally:
        progress.finish("asking")
    return answers


def _answer(outcome: object) -> Answer:
    if isinstance(outcome, RefusedError):
        # A judge that refuses one question has not answered it, and may answer the others.
        return Answer(text="", scores={}, problem=str(outcome))
    return cast(Answer, unwrap(outcome))


def _report(judge: str, asked: Sequence[_KnownQuestion], answers: Sequence[Answer]) -> JudgeReport:
    by_fault: dict[str, list[tuple[bool, bool]]] = {fault: [] for fault in ("", *FAULTS)}
    n_right = {YES: [0, 0], NO: [0, 0]}
    for question, answer in zip(asked, answers, strict=True):
        is_changed = question.true != question.expected
        is_found = bool(answer.text) and answer.text != question.expected
        by_fault[question.fault].append((is_changed, is_found and (not is_changed or answer.text == question.true)))
        if question.question.choices == (YES, NO):
            n_right[question.true][0] += answer.text == question.true
            n_right[question.true][1] += 1
    scores = {fault: Score.of(fault or "no fault", pairs) for fault, pairs in by_fault.items()}
    return JudgeReport(
        judge=judge,
        errors=tuple(scores[fault] for fault in FAULTS),
        faultless=scores[""],
        yes=(n_right[YES][0], n_right[YES][1]),
        no=(n_right[NO][0], n_right[NO][1]),
        n_unread=sum(not answer.text for answer in answers),
        n_asked=len(asked),
    )


def _scene(rendered: Rendered) -> Scene:
    boxes = known(rendered, Query(role="detector"))
    return Scene(
        things=tuple(Thing(label=box.label, box=box.box, colour=box.colour) for box in boxes.boxes)  # type: ignore[union-attr]  # detections were asked for
    )
