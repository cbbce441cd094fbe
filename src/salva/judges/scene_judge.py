"""Judge: derives answers from detections and formulas; the one that comes with salva.

From boxes and formulas to scores, choices and grades, each with its derivation. Uses no pixels except for the colours
in boxes, knows no English, and cannot judge a text without a formula.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from salva.core.about import About, Habits
from salva.core.boxes import labels_without_colour, scene_of
from salva.core.observation import Answer, Detections, Observation
from salva.core.options import option
from salva.core.protocols import ObserveRequest, Query
from salva.errors import PluginError, SalvaError, UsageError
from salva.logic.alignment import Alignment, FormulaPart, align
from salva.logic.formula import Atom, atoms, entities
from salva.logic.notation import parse
from salva.logic.satisfaction import satisfies
from salva.messages import message
from salva.observers.colours import with_colours

_FULL = 50.0
_USAGE = {"n_calls": 0.0, "input_tokens": 0.0, "output_tokens": 0.0, "cost_usd": 0.0}


@dataclass(frozen=True, slots=True, kw_only=True)
class SceneJudgeOptions:
    """What can be set with --set judge.NAME=VALUE."""

    threshold: float | None = option(None, "Least score of boxes that count; none: the detector's.", least=0, most=1)


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
                outcomes.append(self._judge(request))
            except UsageError as error:
                # A formula that cannot be parsed or decided concerns this request only.
                outcomes.append(_problem(str(error)))
            except SalvaError as error:
                outcomes.append(error)
        return outcomes

    def _judge(self, request: ObserveRequest) -> Answer:
        detections = request.given.get("detector")
        if not isinstance(detections, Detections):
            values = {"component": "the scene judge", "wanted": "a detector's boxes", "got": repr(detections)}
            raise PluginError(message("input-unexpected", **values))
        query = request.query
        if problem := _unanswerable(query):
            return _problem(problem)
        formulas = tuple(parse(notation) for notation in query.formulas)
        coloured = {leaf.entity for f in formulas for leaf in atoms(f) if isinstance(leaf, Atom) and leaf.colour}
        wanted = {name for f in formulas for name in entities(f)}
        detections = with_colours(detections, request.picture, wanted, coloured)
        scene = scene_of(detections, wanted, self._options.threshold)
        if undecided := labels_without_colour(scene, coloured):
            return _problem(f"the colour of the {', '.join(undecided)} is undecided")
        if query.kind == "score":
            return _score(align(formulas[0], scene, "exact"))
        holds = [satisfies(f, scene, "at-least") for f in formulas]
        return _grades(query, holds) if query.kind == "grade" else _choice(query, holds)


def _problem(problem: str, reply: str = "") -> Answer:
    return Answer(text="", scores={}, reply=reply, problem=problem, usage=_USAGE)


def _unanswerable(query: Query) -> str:
    """Why this judge cannot answer a query; empty if it can."""
    if query.kind not in ("score", "answer", "grade"):
        kinds = "a query of kind score, answer or grade"
        raise PluginError(message("input-unexpected", component="the scene judge", wanted=kinds, got=query.kind))
    if not query.formulas:
        return "the scene judge needs a formula; use another judge"
    wanted = {"score": 1, "answer": len(query.choices), "grade": len(query.questions)}[query.kind]
    if len(query.formulas) != wanted:
        values = {"wanted": f"{wanted} formulas for {query.kind} {query.text!r}", "got": len(query.formulas)}
        raise PluginError(message("input-unexpected", component="the scene judge", **values))
    return ""


def _score(alignment: Alignment) -> Answer:
    return Answer(
        text="",
        scores={"objects": _FULL * alignment.object_share, "relations": _FULL * alignment.triple_share},
        reply=f"objects: {_derivation(alignment.objects)}; relations: {_derivation(alignment.triples)}",
        usage=_USAGE,
    )


def _choice(query: Query, holds: Sequence[bool]) -> Answer:
    right = [choice for choice, is_right in zip(query.choices, holds, strict=True) if is_right]
    reply = f"true of the scene: {', '.join(right) or 'none'}"
    if len(right) == 1 or (right and query.choices == ("yes", "no")):
        # Near the middle of a side both yes and no can be true of a place; yes comes first.
        return Answer(text=right[0], scores={}, reply=reply, usage=_USAGE)
    n = "none" if not right else "more than one"
    return _problem(f"{n} of the choices {', '.join(query.choices)} is true of the detected scene", reply)


def _grades(query: Query, holds: Sequence[bool]) -> Answer:
    grades = {f"q{i}": float(is_right) for i, is_right in enumerate(holds, 1)}
    reply = "; ".join(f"{formula}: {'yes' if h else 'no'}" for formula, h in zip(query.formulas, holds, strict=True))
    return Answer(text="", scores=grades, reply=reply, usage=_USAGE)


def _derivation(parts: Sequence[FormulaPart]) -> str:
    """Whether each part matches, for people."""
    return ", ".join(f"{part.words} {'yes' if part.matches else 'no'}" for part in parts) or "none stated"
