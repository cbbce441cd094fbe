"""What every component owes the run, as checks a plugin's own tests can call.

    def test_my_detector_keeps_its_promises() -> None:
        check_observer(bound("detector", MyDetector), [painted(["cat"])])

Each raises AssertionError with what was got and what was owed. Nothing is mocked: the component
is built and asked as a run would ask it.
"""

from __future__ import annotations

import dataclasses
import json
import math
import pickle
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

from salva.core.about import close, options_of
from salva.core.case import Case, case_from_json, case_to_json
from salva.core.foreign_errors import translate_errors
from salva.core.image import Picture
from salva.core.observation import (
    Answer,
    Detections,
    Observation,
    Reading,
    Vector,
    observation_from_json,
    observation_to_json,
)
from salva.core.plan import Binding
from salva.core.protocols import (
    Check,
    Conclusion,
    Generator,
    ImageObservations,
    Observer,
    ObserveRequest,
    Query,
    Rendered,
    RenderRequest,
    Suite,
)
from salva.core.verdict import Outcome
from salva.errors import SalvaError, UsageError

_LAST_DIGITS = 1e-5
_KINDS: Mapping[str, tuple[type[Detections | Reading | Answer | Vector], ...]] = {
    "detector": (Detections,),
    "reader": (Reading,),
    "embedder": (Vector,),
    "judge": (Answer,),
}


def check_binding(binding: Binding) -> None:
    """The class has a version, its options are frozen and plain, and a binding can be sent to another process."""
    component = binding.component
    assert isinstance(component.version, str), f"{binding.label}: version is {component.version!r}; it must be a string"
    assert component.version, f"{binding.label}: version is empty"
    options_class = options_of(component)
    assert dataclasses.is_dataclass(options_class), f"{binding.label}: Options is no dataclass"
    params = options_class.__dataclass_params__  # type: ignore[attr-defined]  # not in the stubs
    assert params.frozen, f"{binding.label}: Options must be frozen, since they are part of a key"
    for field in dataclasses.fields(options_class):
        assert field.metadata.get("help"), f"{binding.label}: option {field.name!r} has no help; make it with option()"
    assert json.loads(json.dumps(binding.identity())) == binding.identity(), f"{binding.label}: identity is not JSON"

    def translate(error: Exception) -> AssertionError:
        return AssertionError(
            f"{binding.label} cannot be sent to another process: {error}; a component's class and its Options "
            "must stand at the top of a module, under their own names"
        )

    with translate_errors(translate):
        travelled = pickle.loads(pickle.dumps(binding))
    assert travelled == binding, f"{binding.label}: what arrives in another process is {travelled!r}"


def check_suite(binding: Binding) -> None:
    """Every size gives distinct, storable cases, the same ones each time."""
    check_binding(binding)
    suite: Suite = binding.build()
    assert suite.sizes, f"{binding.label}: no sizes"
    for size in suite.sizes:
        cases = list(suite.cases(size))
        assert cases, f"{binding.label}: size {size!r} has no case"
        double = [case_id for case_id, n in Counter(case.case_id for case in cases).items() if n > 1]
        assert not double, f"{binding.label}: size {size!r} has two cases {double[0]!r}"
        assert cases == list(suite.cases(size)), f"{binding.label}: size {size!r} gives other cases the second time"
        for case in cases:
            stored = case_from_json(json.loads(json.dumps(case_to_json(case))))
            assert stored == case, f"{binding.label}: case {case.case_id!r} does not survive the store"
            assert case.category, f"{binding.label}: case {case.case_id!r} has no category"


def check_generator(binding: Binding, requests: Sequence[RenderRequest]) -> None:
    """One outcome each, the same for the same request, whatever stands beside it in a batch."""
    check_binding(binding)
    generator: Generator
    with _built(binding) as generator:
        assert list(generator.render([])) == [], f"{binding.label}: no requests must give no outcomes"
        together = _outcomes(binding, generator.render(list(requests)), len(requests))
        for request, outcome in zip(requests, together, strict=True):
            assert isinstance(outcome, Rendered), f"{binding.label}: {request.prompt.text!r} gave {outcome!r}"
            json.dumps(dict(outcome.provenance), allow_nan=False)
            (alone,) = generator.render([request])
            assert isinstance(alone, Rendered), f"{binding.label}: {request.prompt.text!r} alone gave {alone!r}"
            assert alone.picture.image_id() == outcome.picture.image_id(), (
                f"{binding.label}: {request.prompt.text!r} is painted otherwise alone than in a batch"
            )
            check_picture(outcome.picture)


def check_picture(picture: Picture) -> None:
    """A file that comes with a picture holds exactly its pixels."""
    if picture.webp is not None:
        import io

        from PIL import Image

        with Image.open(io.BytesIO(picture.webp)) as image:
            assert image.format == "WEBP", f"the file is {image.format}, not WebP"
            assert image.convert("RGB").tobytes() == picture.rgb, (
                "the file's pixels are not the picture's: is it lossy?"
            )


def check_observer(
    binding: Binding,
    pictures: Sequence[Picture],
    *,
    query: Query | None = None,
    given: Mapping[str, Observation] | None = None,
) -> None:
    """One observation each of the role's kind, boxes inside the picture, the same alone and in a batch.

    Numbers may differ in their last digits: networks add up otherwise in a batch.
    """
    check_binding(binding)
    observer: Observer
    with _built(binding) as observer:
        missing = [role for role in binding.about.needs_roles if role not in (given or {})]
        assert not missing, f"{binding.label} needs {missing[0]!r}; pass what it saw as given"
        assert list(observer.observe([])) == [], f"{binding.label}: no requests must give no outcomes"
        asked = query or Query(role=binding.role)
        requests = [ObserveRequest(picture=picture, query=asked, given=given or {}) for picture in pictures]
        together = _outcomes(binding, observer.observe(requests), len(requests))
        for request, outcome in zip(requests, together, strict=True):
            assert isinstance(outcome, _KINDS[binding.role]), f"{binding.label}: a {binding.role} gave {outcome!r}"
            stored = observation_from_json(json.loads(json.dumps(observation_to_json(outcome), allow_nan=False)))
            assert stored == outcome, f"{binding.label}: {outcome!r} does not survive the store"
            _check_boxes(binding, outcome)
            (alone,) = observer.observe([request])
            differs = f"{binding.label}: sees {alone!r} alone and {outcome!r} in a batch"
            assert isinstance(alone, type(outcome)), differs
            assert _is_close(observation_to_json(alone), observation_to_json(outcome)), differs


def _is_close(one: object, other: object) -> bool:
    if isinstance(one, float) and isinstance(other, float):
        return math.isclose(one, other, rel_tol=_LAST_DIGITS, abs_tol=_LAST_DIGITS)
    if isinstance(one, Mapping) and isinstance(other, Mapping):
        return one.keys() == other.keys() and all(_is_close(one[key], other[key]) for key in one)
    if isinstance(one, list | tuple) and isinstance(other, list | tuple):
        return len(one) == len(other) and all(map(_is_close, one, other))
    return one == other


def check_check(binding: Binding, cases: Sequence[Case], observations: Mapping[str, ImageObservations]) -> None:
    """Asks only for what it may, concludes with known outcomes and its own error types, the same each time."""
    check_binding(binding)
    check: Check = binding.build()
    assert all(binding.about.failure_types.values()), f"{binding.label}: every error type needs a sentence"
    roles = {query.role for sight in observations.values() for query in sight.seen} | set(binding.about.needs_roles)
    for case in cases:
        if not check.applies(case):
            continue
        looks = list(check.needs(case, roles, observations))
        assert looks == list(check.needs(case, roles, observations)), f"{binding.label}: asks otherwise the second time"
        for look in looks:
            case.prompt(look.role)
            assert look.query.role in roles, f"{binding.label}: asks a {look.query.role}, but there is none"
        seen = {look.query for look in looks if look.role in observations}
        if all(query in sight.seen for sight in observations.values() for query in seen):
            concluded = check.judge(case, observations)
            assert concluded == check.judge(case, observations), f"{binding.label}: judges otherwise the second time"
            _check_conclusion(binding, concluded)


def _check_conclusion(binding: Binding, concluded: Conclusion) -> None:
    is_fail = concluded.outcome is Outcome.FAIL
    assert concluded.outcome is not Outcome.ERROR, f"{binding.label}: ERROR is the run's to say; raise instead"
    assert bool(concluded.failure_types) == is_fail, (
        f"{binding.label}: {concluded.outcome} with errors {concluded.failure_types}"
    )
    unknown = [error for error in concluded.failure_types if error not in binding.about.failure_types]
    assert not unknown, f"{binding.label}: error type {unknown[0]!r} is not in its about.errors"
    is_told = concluded.outcome in (Outcome.PASS, Outcome.FAIL) or concluded.reason
    assert is_told, f"{binding.label}: {concluded.outcome} without a reason"


@contextmanager
def _built(binding: Binding) -> Iterator[Any]:
    """The component, put away at the end as a run would do it."""
    built = binding.build()
    try:
        yield built
    finally:
        close(built)


def _outcomes(binding: Binding, outcomes: Sequence[object], n_wanted: int) -> Sequence[object]:
    assert len(outcomes) == n_wanted, f"{binding.label}: {n_wanted} requests gave {len(outcomes)} outcomes"
    for outcome in outcomes:
        if isinstance(outcome, UsageError):
            raise AssertionError(f"{binding.label}: the requests do not suit it: {outcome}")
        if isinstance(outcome, SalvaError):
            pickle.loads(pickle.dumps(outcome))
    return outcomes


def _check_boxes(binding: Binding, observation: Observation) -> None:
    boxes: list[tuple[float, float, float, float]] = []
    if isinstance(observation, Detections):
        lowest = observation.floor or 0
        odd = [box.score for box in observation.boxes if not lowest <= box.score <= 1]
        assert not odd, f"{binding.label}: a box has the score {odd[0]}; it keeps scores from {lowest:g} to 1"
        boxes = [detection.box for detection in observation.boxes]
    elif isinstance(observation, Reading):
        boxes = [span.box for span in observation.spans]
    for x0, y0, x1, y1 in boxes:
        is_inside = 0 <= x0 <= x1 <= 1 and 0 <= y0 <= y1 <= 1
        assert is_inside, f"{binding.label}: box {(x0, y0, x1, y1)} is not a box of fractions inside the picture"
