"""Judge: reasons from what a detector saw and from formulas; the one that comes with salva.

Boxes and formulas come in; scores, choices and grades go out, each with the reckoning behind it. It sees no image
but for the colours in the boxes, knows no English, and has nothing to say about a text without a formula.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import ClassVar

from salva.core.about import About, Habits
from salva.core.boxes import labels_without_colour, scene_of
from salva.core.image import Picture
from salva.core.observation import Answer, Detections, Observation
from salva.core.options import option
from salva.core.protocols import ObserveRequest, Query
from salva.core.scene import Scene
from salva.errors import PluginError, SalvaError, UsageError
from salva.logic.alignment import FormulaPart, align
from salva.logic.formula import Atom, Formula, atoms, entities
from salva.logic.notation import parse
from salva.logic.satisfaction import satisfies
from salva.messages import message
from salva.observers.colours import with_colours

_FULL = 50.0
_USAGE = {"n_calls": 0.0, "input_tokens": 0.0, "output_tokens": 0.0, "cost_usd": 0.0}


@dataclass(frozen=True, slots=True, kw_only=True)
class SceneJudgeOptions:
    """What can be set with --set judge.NAME=VALUE."""

    counts: str = option(
        "exact",
        "For scores: whether a second cat is wrong for a cat.",
        choices=("exact", "at-least"),
    )
    place: ClassVar[str] = "order"
    merge_iou: ClassVar[float] = 0.7
    threshold: float | None = option(None, "Least score of boxes that count; unset: the detector's.", least=0, most=1)


class SceneJudge:
    """Derives its answers from detections and formulas."""

    version: ClassVar[str] = "3"
    about: ClassVar[About] = About(needs_roles=("detector",), sees_formula=True, needs_formulas=True)
    habits: ClassVar[Habits] = Habits(batch_size=8)
    Options = SceneJudgeOptions

    def __init__(self, options: SceneJudgeOptions) -> None:
        self._options = options

    def observe(self, requests: Sequence[ObserveRequest]) -> Sequence[Observation | SalvaError]:
        """One answer or error per request."""
        outcomes: list[Observation | SalvaError] = []
        for request in requests:
            try:
                outcomes.append(self._judged(request))
            except UsageError as error:
                # A formula that cannot be parsed or is too large to decide says nothing about its neighbours.
                outcomes.append(_problem(str(error)))
            except SalvaError as error:
                outcomes.append(error)
        return outcomes

    def _judged(self, request: ObserveRequest) -> Answer:
        detections = request.given.get("detector")
        if not isinstance(detections, Detections):
            values = {"component": "the scene judge", "wanted": "a detector's boxes", "got": repr(detections)}
            raise PluginError(message("input-unexpected", **values))
        query = request.query
        if problem := _unanswerable(query):
            return _problem(problem)
        formulas = tuple(parse(notation) for notation in query.formulas)
        coloured = {leaf.entity for f in formulas for leaf in atoms(f) if isinstance(leaf, Atom) and leaf.colour}
        scene = _scene_of(detections, request.picture, formulas, coloured, self._options)
        if untold := labels_without_colour(scene, coloured):
            return _problem(f"the pixels do not say what colour the {', '.join(untold)} has")
        if query.kind == "score":
            return self._score(formulas[0], scene)
        holds = [satisfies(f, scene, "at-least", self._options.place) for f in formulas]
        if query.kind == "grade":
            return _graded(query, holds)
        return _chosen(query, holds)

    def _score(self, f: Formula, scene: Scene) -> Answer:
        aligned = align(f, scene, self._options.counts, self._options.place)
        return Answer(
            text="",
            scores={"objects": _FULL * aligned.object_share, "relations": _FULL * aligned.triple_share},
            reply=f"objects: {_reckoned(aligned.objects)}; relations: {_reckoned(aligned.triples)}",
            usage=_USAGE,
        )


def _problem(problem: str, reply: str = "") -> Answer:
    return Answer(text="", scores={}, reply=reply, problem=problem, usage=_USAGE)


def _unanswerable(query: Query) -> str:
    """Why this query is beyond a judge that reasons from formulas; empty when it is not."""
    if query.kind not in ("score", "answer", "grade"):
        kinds = "a query of kind score, answer or grade"
        raise PluginError(message("input-unexpected", component="the scene judge", wanted=kinds, got=query.kind))
    if not query.formulas:
        return "the scene judge reasons from formulas, and this text has none; ask another judge"
    wanted = {"score": 1, "answer": len(query.choices), "grade": len(query.questions)}[query.kind]
    if len(query.formulas) != wanted:
        values = {"wanted": f"{wanted} formulas for {query.kind} {query.text!r}", "got": len(query.formulas)}
        raise PluginError(message("input-unexpected", component="the scene judge", **values))
    return ""


def _chosen(query: Query, holds: Sequence[bool]) -> Answer:
    right = [choice for choice, is_right in zip(query.choices, holds, strict=True) if is_right]
    reply = f"true of the scene: {', '.join(right) or 'none'}"
    if len(right) == 1 or (right and query.choices == ("yes", "no")):
        # Between a third and half of a side an entity is at a place and could be called elsewhere too: yes comes first.
        return Answer(text=right[0], scores={}, reply=reply, usage=_USAGE)
    n = "none" if not right else "more than one"
    problem = f"{n} of the choices {', '.join(query.choices)} is true of what the detector saw, and one must be"
    return _problem(problem, reply)


def _graded(query: Query, holds: Sequence[bool]) -> Answer:
    grades = {f"q{i}": float(is_right) for i, is_right in enumerate(holds, 1)}
    reply = "; ".join(f"{formula}: {'yes' if h else 'no'}" for formula, h in zip(query.formulas, holds, strict=True))
    return Answer(text="", scores=grades, reply=reply, usage=_USAGE)


def _reckoned(parts: Sequence[FormulaPart]) -> str:
    """The parts with whether each matches, for people."""
    return ", ".join(f"{part.words} {'yes' if part.matches else 'no'}" for part in parts) or "none stated"


def _scene_of(
    detections: Detections,
    picture: Picture,
    formulas: Sequence[Formula],
    coloured: Collection[str],
    options: SceneJudgeOptions,
) -> Scene:
    """The scene the detector saw, with the colours of those entities whose colour a formula speaks of."""
    wanted = {name for f in formulas for name in entities(f)}
    told = with_colours(detections, picture, wanted, coloured)
    return scene_of(told, options.merge_iou, wanted, options.threshold)
