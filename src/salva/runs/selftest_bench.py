"""One trial of the selftest: a case is drawn, observed by the detector and by an observer that knows it, and judged.

Names of components go in, loaded components come out; then trials go in and results come out.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, cast

from salva.core.about import Naming, habits_of
from salva.core.case import Case
from salva.core.fingerprint import Json
from salva.core.image import ImageRef
from salva.core.observation import Detection, Detections, Observation, Reading, TextSpan
from salva.core.plan import Binding
from salva.core.protocols import Conclusion, Need, ObserveRequest, Query, Rendered, RenderRequest
from salva.core.run_spec import NOBODY, ComponentSpec
from salva.core.scene import Box
from salva.core.verdict import Outcome
from salva.errors import PluginError, SalvaError, UsageError
from salva.judging.waves import Waves, conclude
from salva.messages import message
from salva.registry import bind, colour_reader, rebind
from salva.runs.binding import bind_checks, bind_each
from salva.runs.plans import check_threshold, settings_by_role
from salva.runs.selftest_cases import nameable

RATE = 0.3
"""How many images of a fault's own pairs get it."""
Eye = Callable[[Rendered, Query], Observation]


@dataclass(frozen=True, slots=True, kw_only=True)
class SelftestTrial:
    """One pair to generate."""

    case: Case
    number: int
    fault: str


@dataclass(frozen=True, slots=True, kw_only=True)
class TrialResult:
    """What came of a trial."""

    trial: SelftestTrial
    true_errors: Mapping[str, frozenset[str]]
    """Prompt role to error types."""
    found_errors: Mapping[str, frozenset[str]]
    failed: Mapping[str, tuple[bool, bool]]
    """Check to (truly, found)."""
    why: Mapping[str, str]
    """Prompt role or check to what the oracle says it saw."""


TRUTH, SAME_SCENE = "truth", "same-scene"
"""The checks that are tried: each image against its own prompt, and two images against each other."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SelftestBench:
    """Everything loaded: painters by fault, relations and actors_by_role by name."""

    painter: Binding
    painters: dict[str, Any]
    checks: Mapping[str, Any]
    truth: str
    """The check that holds each image against its own prompt, and names what is wrong with it."""
    actors_by_role: Mapping[str, Any]
    things: tuple[str, ...]
    """What is generated."""
    made_for: str
    """What images the detector was made for, in its own words."""
    seed: int

    @property
    def reads(self) -> bool:
        """Whether somebody reads text."""
        return "reader" in self.actors_by_role

    def prepare(self, trials: Sequence[SelftestTrial]) -> None:
        """Build a painter for every fault, before threads ask for them."""
        for fault in {trial.fault for trial in trials}:
            self.painters[fault] = rebind(self.painter, {"faults": f"{fault}:{RATE}" if fault else ""}).build()

    def try_one(self, trial: SelftestTrial) -> TrialResult:
        """Generate a pair, have it seen by both observers, and keep what they conclude."""
        case = trial.case
        painted = self._paint(trial)
        found = self._conclude(case, painted, self._look)
        true = self._conclude(case, painted, known)
        true_errors = {}
        for role, rendered in painted.items():
            errors = _failure_types_of(true[self.truth], role)
            # An image has one planted fault at most: if it leaves the worlds, the error has to carry its name.
            true_errors[role] = errors and (frozenset(cast(list[str], rendered.provenance["planted"])) or errors)
        return TrialResult(
            trial=trial,
            true_errors=true_errors,
            found_errors={role: _failure_types_of(found[self.truth], role) for role in painted},
            failed={name: (true[name].outcome is Outcome.FAIL, found[name].outcome is Outcome.FAIL) for name in true},
            why={
                **{role: _messages(found[self.truth], role) for role in painted},
                **{name: _messages(conclusion) for name, conclusion in found.items()},
            },
        )

    def _paint(self, trial: SelftestTrial) -> dict[str, Rendered]:
        seed = trial.case.seed(self.seed, trial.number)
        requests = [RenderRequest(prompt=prompt, seed=seed) for prompt in trial.case.prompts]
        rendered = self.painters[trial.fault].render(requests)
        return {request.prompt.role: unwrap(outcome) for request, outcome in zip(requests, rendered, strict=True)}

    def _look(self, rendered: Rendered, query: Query) -> Observation:
        given: dict[str, Observation] = {}
        if query.role == "colour_reader":
            given["detector"] = self._look(rendered, Query(role="detector", labels=query.labels))
        request = ObserveRequest(picture=rendered.picture, query=query, given=given)
        (outcome,) = self.actors_by_role[query.role].observe([request])
        return cast(Observation, unwrap(outcome))

    def _conclude(self, case: Case, painted: Mapping[str, Rendered], eye: Eye) -> dict[str, Conclusion]:
        """What every check that applies makes of a pair, seen by one observer."""
        seen: dict[Need, Observation] = {}

        def look(wanted: Need) -> Observation:
            # What two checks ask alike is observed once.
            if wanted not in seen:
                seen[wanted] = eye(painted[wanted.role], wanted.query)
            return seen[wanted]

        conclusions: dict[str, Conclusion] = {}
        for name, check in self.checks.items():
            if not check.applies(case):
                continue
            waves = Waves(case=case, check=check, label=name, roles=tuple(self.actors_by_role))
            for role, rendered in painted.items():
                waves.show(role, _reference(rendered))
            conclusions[name] = conclude(waves, look).conclusion
            if conclusions[name].outcome is Outcome.ERROR:
                raise PluginError(
                    message(
                        "component-failed", component=f"the check {name!r}", what="failed", why=conclusions[name].reason
                    )
                )
        return conclusions


def make_bench(detector: str, reader: str, settings: Mapping[str, str], seed: int) -> SelftestBench:
    """Everything the test needs, loaded."""
    by_role = settings_by_role(settings)
    if "faults" in by_role["model"]:
        raise UsageError(message("flag-unrelated", flags="--set model.faults", why="the selftest sets it"))
    refuse_settings(by_role, ("suite", "embedder", "judge"))
    bound = {
        role: next(
            iter(bind_each(role, [ComponentSpec.parse(role, name)] if name != NOBODY else [], by_role[role])), None
        )
        for role, name in (("detector", detector), ("reader", reader))
    }
    seer = bound["detector"]
    if seer is None:
        raise UsageError(message("flag-needed", flag="--detector", why="the selftest measures one"))
    observers = [binding for binding in (*bound.values(), colour_reader()) if binding is not None]
    judging, _ = bind_checks(by_role["check"], {b.role for b in observers}, suite="metalogic")
    if floor := seer.about.floor:
        check_threshold(judging, getattr(seer.options, floor), f"{seer.label} keeps", f"detector.{floor}")
    checks = {binding.label: binding for binding in judging}
    actors_by_role = {binding.role: binding.build() for binding in observers}
    words = _names(seer, actors_by_role["detector"])
    return SelftestBench(
        painter=bind(ComponentSpec.parse("model", "painter", by_role["model"])),
        painters={},
        checks={name: checks[name].build() for name in (TRUTH, SAME_SCENE)},
        truth=TRUTH,
        actors_by_role=actors_by_role,
        things=nameable(words),
        made_for=seer.about.made_for,
        seed=seed,
    )


def refuse_settings(by_role: Mapping[str, Mapping[str, str]], roles: Iterable[str]) -> None:
    """Refuse options of roles that a selftest does not have."""
    for role in roles:
        for option in by_role[role]:
            why = f"this selftest has no {role}"
            raise UsageError(message("flag-unrelated", flags=f"--set {role}.{option}", why=why))


def _names(detector: Binding, built: object) -> tuple[str, ...] | None:
    """What a detector can name; None where it takes any word, or nobody knows."""
    said = detector.about.names
    if isinstance(said, tuple):
        return said
    return (habits_of(built).names or None) if said is Naming.LOADED else None


def known(rendered: Rendered, query: Query) -> Observation:
    """An observer that knows: the painter's own record of the image."""
    if query.role == "reader":
        text = str(rendered.provenance["text"])
        return Reading(spans=(TextSpan(text=text, score=1.0, box=(0.0, 0.0, 1.0, 1.0)),) if text else ())
    things = cast(list[dict[str, Json]], rendered.provenance["things"])
    return Detections(
        boxes=tuple(
            Detection(
                label=str(thing["label"]),
                score=1.0,
                box=cast(Box, tuple(cast(list[float], thing["box"]))),
                colour=cast(str | None, thing["colour"]),
            )
            for thing in things
        )
    )


def _failure_types_of(conclusion: Conclusion, role: str) -> frozenset[str]:
    return frozenset(failure.failure_type for failure in conclusion.failures if failure.role == role)


def _messages(conclusion: Conclusion, role: str | None = None) -> str:
    failures = [failure for failure in conclusion.failures if role is None or failure.role == role]
    return "; ".join(dict.fromkeys(failure.message for failure in failures)) or conclusion.reason


def _reference(rendered: Rendered) -> ImageRef:
    picture = rendered.picture
    return ImageRef(image_id=picture.image_id(), width=picture.width, height=picture.height)


def unwrap(outcome: Any) -> Any:
    """An outcome, or its error raised: an oracle that breaks has failed its test."""
    if isinstance(outcome, SalvaError):
        raise outcome
    return outcome
