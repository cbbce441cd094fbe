"""The oracle put to the test: faults are planted, and what it finds is held against what is there.

The painter draws pairs without a fault, then pairs with one kind of fault each. Every picture is
seen twice: by the detector and the reader, which see pixels alone, and by an eye that knows what
was painted. Both go through the same relations, so a difference is a mistake in seeing; the name
an error gets is held against the fault that was planted, so a wrong name is a mistake as well.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from itertools import cycle, islice
from typing import Any, cast

from salva.core.case import Case
from salva.core.fingerprint import Json, derive_seed, fingerprint
from salva.core.image import ImageRef
from salva.core.judged import Rate
from salva.core.observation import Detection, Detections, Observation, Reading, TextSpan
from salva.core.protocols import Conclusion, Look, LookRequest, Query, Rendered, RenderRequest
from salva.core.scene import Box
from salva.core.verdict import (
    ENTITY_DUPLICATION,
    ENTITY_OMISSION,
    OPTICAL_CHARACTER,
    X_MISPOSITION,
    Y_MISPOSITION,
    Outcome,
)
from salva.engine.progress import Progress
from salva.errors import PluginError, SalvaError, UsageError
from salva.judging.waves import Waves, conclude
from salva.registry import bind, rates_of
from salva.run.ask import Ask, component_spec, make_spec
from salva.run.selftest_report import Mistake, Score, SelftestReport

FAULTS = (X_MISPOSITION, Y_MISPOSITION, ENTITY_DUPLICATION, ENTITY_OMISSION, OPTICAL_CHARACTER)

_NO_FAULT = ""
_MODIFIER_OF = {X_MISPOSITION: "x", Y_MISPOSITION: "y"}
_N_EXPLAINED = 10

Eye = Callable[[Rendered, Query], Observation]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Trial:
    """One pair to paint."""

    case: Case
    repeat: int
    fault: str


@dataclass(frozen=True, slots=True, kw_only=True)
class _Tried:
    """What came of a trial."""

    trial: _Trial
    true_errors: Mapping[str, frozenset[str]]
    """Prompt role to error types."""
    found_errors: Mapping[str, frozenset[str]]
    violated: Mapping[str, tuple[bool, bool]]
    """Relation to (truly, found)."""
    why: Mapping[str, str]
    """Prompt role or relation to what the oracle says it saw."""


def selftest(
    *,
    detector: str,
    reader: str,
    settings: Mapping[str, str],
    n_pairs: int,
    seed: int,
    progress: Progress,
    rate: float = 0.3,
) -> SelftestReport:
    """Paint n_pairs without a fault and n_pairs per fault, look at all of them, and count."""
    if "model.faults" in settings:
        raise UsageError("model.faults is set, but the selftest plants its own faults; leave it out")
    asked = Ask(suite="metalogic", models=("painter",), detector=detector, reader=reader, settings=settings)
    spec = make_spec(asked)
    for note in spec.notes:
        progress.note(note)
    painter_options = {key.removeprefix("model."): text for key, text in settings.items() if key.startswith("model.")}
    faults = [fault for fault in FAULTS if fault != OPTICAL_CHARACTER or spec.reader is not None]
    relations = {binding.label: binding for binding in spec.relations}
    names = {rate: name for name, rate in rates_of(relations).items() if rate is not None}
    bench = _Bench(
        painters={
            fault: bind(component_spec("model", "painter", {**painter_options, "faults": planted})).build()
            for fault, planted in [(_NO_FAULT, ""), *((fault, f"{fault}:{rate}") for fault in faults)]
        },
        relations={names[rate]: relations[names[rate]].build() for rate in (Rate.WRONG, Rate.INCONSISTENT)},
        truth=names[Rate.WRONG],
        perceivers={binding.role: binding.build() for binding in spec.observers()},
        seed=seed,
    )
    cases = list(spec.suite.build().cases("full"))
    trials = [trial for fault in (_NO_FAULT, *faults) for trial in _trials(cases, fault, n_pairs, seed)]
    tried = []
    progress.start("testing", len(trials))
    try:
        # Numpy, Pillow and onnxruntime work outside the interpreter's lock, so threads use every core.
        with ThreadPoolExecutor(os.cpu_count() or 1) as pool:
            for outcome in pool.map(bench.try_one, trials):
                tried.append(outcome)
                progress.advance("testing")
    finally:
        progress.finish("testing")
    return _report(tried, faults, list(bench.relations), rate, seed)


def print_report(report: SelftestReport, threshold: float) -> None:
    """Print the tables, some of the mistakes, and whether the oracle passes."""
    from rich.box import SIMPLE
    from rich.console import Console
    from rich.table import Table as Grid

    console = Console()
    for table in report.tables():
        grid = Grid(title=table.name, caption=table.note, title_justify="left", caption_justify="left", box=SIMPLE)
        # Without its outer margins the widest table fits in 80 columns.
        grid.pad_edge, grid.show_edge = False, False
        for column in table.columns:
            grid.add_column(column, justify="left" if column == table.columns[0] else "right", no_wrap=True)
        for row in table.rows:
            grid.add_row(*map(str, row))
        console.print(grid)
    for mistake in report.mistakes[:_N_EXPLAINED]:
        true, found = (", ".join(names) or "nothing wrong" for names in (mistake.true, mistake.found))
        why = f": {mistake.why}" if mistake.why else ""
        console.print(
            f"{mistake.case_id} {mistake.role}: true {true}; found {found}{why}", markup=False, highlight=False
        )
    if len(report.mistakes) > _N_EXPLAINED:
        console.print(f"... and {len(report.mistakes) - _N_EXPLAINED} more mistakes")
    problems = report.problems(threshold)
    console.print("the oracle passes" if not problems else "the oracle does not pass:")
    for problem in problems:
        console.print(f"  {problem}", markup=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Bench:
    """Everything loaded: painters by fault, relations and perceivers by name."""

    painters: Mapping[str, Any]
    relations: Mapping[str, Any]
    truth: str
    """The relation that holds each image against its own prompt, and names what is wrong with it."""
    perceivers: Mapping[str, Any]
    seed: int

    def try_one(self, trial: _Trial) -> _Tried:
        """Paint a pair, have it seen by both eyes, and keep what they conclude."""
        case = trial.case
        painted = self._paint(trial)
        found = self._conclude(case, painted, self._look)
        true = self._conclude(case, painted, _know)
        true_errors = {}
        for role, rendered in painted.items():
            errors = _errors_of(true[self.truth], role)
            # An image has one planted fault at most: if it leaves the worlds, the error has to carry its name.
            true_errors[role] = errors and (_planted(rendered) or errors)
        return _Tried(
            trial=trial,
            true_errors=true_errors,
            found_errors={role: _errors_of(found[self.truth], role) for role in painted},
            violated={
                name: (true[name].outcome is Outcome.VIOLATED, found[name].outcome is Outcome.VIOLATED) for name in true
            },
            why={
                **{role: _messages(found[self.truth], role) for role in painted},
                **{name: _messages(conclusion) for name, conclusion in found.items()},
            },
        )

    def _paint(self, trial: _Trial) -> dict[str, Rendered]:
        seed = derive_seed(self.seed, trial.case.case_id, trial.repeat)
        requests = [RenderRequest(prompt=prompt, seed=seed, repeat=trial.repeat) for prompt in trial.case.prompts]
        rendered = self.painters[trial.fault].render(requests)
        return {request.prompt.role: _unwrap(outcome) for request, outcome in zip(requests, rendered, strict=True)}

    def _look(self, rendered: Rendered, query: Query) -> Observation:
        request = LookRequest(picture=rendered.picture, query=query)
        (outcome,) = self.perceivers[query.role].look([request])
        return cast(Observation, _unwrap(outcome))

    def _conclude(self, case: Case, painted: Mapping[str, Rendered], eye: Eye) -> dict[str, Conclusion]:
        """What every relation that applies makes of a pair, seen by one eye."""
        seen: dict[Look, Observation] = {}

        def look(wanted: Look) -> Observation:
            # What two relations ask alike is looked at once.
            if wanted not in seen:
                seen[wanted] = eye(painted[wanted.role], wanted.query)
            return seen[wanted]

        conclusions: dict[str, Conclusion] = {}
        for name, relation in self.relations.items():
            if not relation.applies(case):
                continue
            waves = Waves(case=case, relation=relation, label=name, roles=tuple(self.perceivers))
            for role, rendered in painted.items():
                waves.show(role, _reference(rendered))
            conclusions[name] = conclude(waves, look).conclusion
            if conclusions[name].outcome is Outcome.FAILED:
                raise PluginError(conclusions[name].reason)
        return conclusions


def _trials(cases: Sequence[Case], fault: str, n_pairs: int, seed: int) -> list[_Trial]:
    """Pairs in which the fault can show, spread over the categories; each case once before any twice."""
    modifier = _MODIFIER_OF.get(fault)
    fitting = [case for case in cases if modifier is None or case.labels.get("modifier") == modifier]
    if not fitting:
        raise UsageError(f"no pair of the suite can show {fault!r}; leave the suite's options as they are")
    by_category: dict[str, int] = {}
    rounds = []
    for case in sorted(fitting, key=lambda case: fingerprint([seed, fault, case.case_id])):
        by_category[case.category] = by_category.get(case.category, 0) + 1
        rounds.append((by_category[case.category], case))
    # Sorting is stable: first one case of every category, then a second of each, and so on.
    ordered = [case for _, case in sorted(rounds, key=lambda pair: pair[0])]
    return [
        _Trial(case=case, repeat=number // len(ordered), fault=fault)
        for number, case in enumerate(islice(cycle(ordered), n_pairs))
    ]


def _know(rendered: Rendered, query: Query) -> Observation:
    """The eye that was told: the painter's own account of the picture."""
    if query.role == "reader":
        text = str(rendered.provenance["text"])
        return Reading(spans=(TextSpan(text=text, score=1.0, box=(0.0, 0.0, 1.0, 1.0)),) if text else ())
    things = cast(list[dict[str, Json]], rendered.provenance["things"])
    return Detections(
        boxes=tuple(
            Detection(label=str(thing["label"]), score=1.0, box=cast(Box, tuple(cast(list[float], thing["box"]))))
            for thing in things
        )
    )


def _planted(rendered: Rendered) -> frozenset[str]:
    return frozenset(cast(list[str], rendered.provenance["planted"]))


def _errors_of(conclusion: Conclusion, role: str) -> frozenset[str]:
    return frozenset(failure.error for failure in conclusion.failures if failure.role == role)


def _messages(conclusion: Conclusion, role: str | None = None) -> str:
    failures = [failure for failure in conclusion.failures if role is None or failure.role == role]
    return "; ".join(dict.fromkeys(failure.message for failure in failures)) or conclusion.reason


def _reference(rendered: Rendered) -> ImageRef:
    picture = rendered.picture
    return ImageRef(image_id=picture.image_id(), width=picture.width, height=picture.height)


def _unwrap(outcome: Any) -> Any:
    """An outcome, or its error raised: an oracle that breaks has failed its test."""
    if isinstance(outcome, SalvaError):
        raise outcome
    return outcome


def _report(
    tried: Sequence[_Tried], faults: Sequence[str], relations: Sequence[str], rate: float, seed: int
) -> SelftestReport:
    images = [
        (outcome.true_errors[prompt.role], outcome.found_errors[prompt.role])
        for outcome in tried
        for prompt in outcome.trial.case.prompts
    ]
    return SelftestReport(
        errors=tuple(_score(fault, [(fault in true, fault in found) for true, found in images]) for fault in faults),
        faulty=tuple(_score(name, _violations(tried, name, is_faulty=True)) for name in relations),
        faultless=tuple(_score(name, _violations(tried, name, is_faulty=False)) for name in relations),
        mistakes=tuple(mistake for outcome in tried for mistake in _mistakes(outcome)),
        rate=rate,
        seed=seed,
    )


def _violations(tried: Iterable[_Tried], relation: str, *, is_faulty: bool) -> list[tuple[bool, bool]]:
    return [
        outcome.violated[relation]
        for outcome in tried
        if relation in outcome.violated and (outcome.trial.fault != _NO_FAULT) == is_faulty
    ]


def _mistakes(outcome: _Tried) -> list[Mistake]:
    case, fault = outcome.trial.case, outcome.trial.fault
    wrong = [
        (role, true, outcome.found_errors[role])
        for role, true in outcome.true_errors.items()
        if true != outcome.found_errors[role]
    ]
    # A pair is named only when none of its images explains it.
    wrong += [
        (name, frozenset({"violated"} if true else ()), frozenset({"violated"} if found else ()))
        for name, (true, found) in outcome.violated.items()
        if true != found and not wrong
    ]
    return [
        Mistake(
            case_id=case.case_id,
            role=key,
            planted=fault,
            true=tuple(sorted(true)),
            found=tuple(sorted(found)),
            why=outcome.why[key],
        )
        for key, true, found in wrong
    ]


def _score(name: str, pairs: Sequence[tuple[bool, bool]]) -> Score:
    return Score(
        name=name,
        n_judged=len(pairs),
        n_true=sum(true for true, _ in pairs),
        n_found=sum(found for _, found in pairs),
        n_both=sum(true and found for true, found in pairs),
    )
