"""A faultless painter yields no FAIL; each planted fault yields its error type, and only that."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache, partial
from typing import Any, cast

import pytest
from faults import knowing

from salva.core.case import Case, Prompt
from salva.core.fingerprint import Json
from salva.core.image import ImageRef, Picture
from salva.core.observation import Observation
from salva.core.protocols import Conclusion, ImageObservations, ObserveRequest, Query, Rendered, RenderRequest
from salva.core.run_spec import ComponentSpec
from salva.core.scene import Box, Scene, Thing
from salva.core.verdict import ENTITY_FORBIDDEN, OPTICAL_CHARACTER, X_MISPOSITION, Y_MISPOSITION, Outcome
from salva.logic.notation import parse
from salva.logic.satisfaction import satisfies
from salva.registry import bind
from salva.runs.selftest import FAULTS
from salva.runs.selftest_cases import THINGS, case_for

N_PER_FAULT = 12
MODIFIERS = {X_MISPOSITION: "x", Y_MISPOSITION: "y"}


@pytest.fixture(params=["knowing", "pocket"])
def eyes(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Mapping[str, Any]:
    """Detector and reader, each looking once at a picture; the painter tells the detector that knows."""
    knowing.register(monkeypatch)
    return {"detector": cache(partial(look_at, request.param)), "reader": read}


def look_at(name: str, picture: Picture, query: Query) -> Observation:
    (outcome,) = built(query.role, name).observe([ObserveRequest(picture=picture, query=query)])
    return cast(Observation, outcome)


@cache
def read(picture: Picture, query: Query) -> Observation:
    """Both detectors stand beside the same reader, over the same pictures."""
    return look_at("rapidocr", picture, query)


@cache
def built(role: str, name: str) -> Any:
    return bind(ComponentSpec(role=role, name=name)).build()


@cache
def quick_cases() -> tuple[Case, ...]:
    return tuple(built("suite", "metalogic").cases("quick"))


def painter(faults: str) -> Any:
    return bind(ComponentSpec(role="model", name="painter", options={"faults": faults})).build()


def paint(painter: Any, case: Case, seed: int) -> dict[str, Rendered]:
    rendered = painter.render([RenderRequest(prompt=prompt, seed=seed) for prompt in case.prompts])
    return {prompt.role: outcome for prompt, outcome in zip(case.prompts, rendered, strict=True)}


def conclude(check: str, case: Case, painted: Mapping[str, Rendered], eyes: Mapping[str, Any]) -> Conclusion | None:
    """What a check makes of a pair; None where it does not apply."""
    judge = built("check", check)
    if not judge.applies(case):
        return None
    seen: dict[str, dict[Query, Observation]] = {role: {} for role in painted}
    for look in judge.needs(case, tuple(eyes), {}):
        seen[look.role][look.query] = eyes[look.query.role](painted[look.role].picture, look.query)
    observations = {
        role: ImageObservations(image=ImageRef(image_id=role, width=256, height=256), seen=of_role)
        for role, of_role in seen.items()
    }
    return cast(Conclusion, judge.judge(case, observations))


def is_right(prompt: Prompt, rendered: Rendered) -> bool:
    """Whether what was painted is what the prompt asks for, by the logic alone."""
    assert prompt.formula is not None
    things = cast(list[dict[str, Json]], rendered.provenance["things"])
    scene = Scene(
        things=tuple(
            Thing(label=str(thing["label"]), box=cast(Box, tuple(cast(list[float], thing["box"])))) for thing in things
        )
    )
    return satisfies(parse(prompt.formula), scene) and not rendered.provenance["text"]


def test_a_faultless_painter_is_never_called_violated(eyes: Mapping[str, Any]) -> None:
    faultless = painter("")
    n_judged = {"truth": 0, "same-scene": 0}
    for seed, case in enumerate(quick_cases()):
        painted = paint(faultless, case, seed)
        for check in n_judged:
            conclusion = conclude(check, case, painted, eyes)
            if conclusion is not None:
                n_judged[check] += 1
                assert conclusion.outcome is Outcome.PASS, (case.case_id, check, conclusion.failures)
    assert n_judged["truth"] == 63
    assert n_judged["same-scene"] >= 40


@pytest.mark.parametrize("fault", FAULTS)
def test_a_planted_fault_gets_its_name_and_no_other(fault: str, eyes: Mapping[str, Any]) -> None:
    always = painter(f"{fault}:1")
    modifier = MODIFIERS.get(fault)
    # Where several worlds fit, the nearest one may blame something else.
    fitting = [case for case in quick_cases() if case.determinate]
    fitting = [case for case in fitting if modifier is None or case.labels.get("modifier") == modifier]
    if fault == ENTITY_FORBIDDEN:
        # No prompt of the suite's quick size forbids anything.
        fitting = [case_for(fault, number, 0, THINGS) for number in range(N_PER_FAULT)]
    n_spoilt = 0
    for seed in range(N_PER_FAULT):
        # Seven has no divisor in common with the number of cases, so every law and modifier gets its turn.
        case = fitting[seed * 7 % len(fitting)]
        painted = paint(always, case, seed)
        conclusion = conclude("truth", case, painted, eyes)
        assert conclusion is not None
        for prompt in case.prompts:
            is_spoilt = not is_right(prompt, painted[prompt.role])
            errors = {failure.failure_type for failure in conclusion.failures if failure.role == prompt.role}
            assert errors == ({fault} if is_spoilt else set()), (case.case_id, prompt.role, seed, conclusion.failures)
            n_spoilt += is_spoilt
    assert n_spoilt >= N_PER_FAULT, "most images of this test must show the fault"
    if fault == OPTICAL_CHARACTER:
        assert n_spoilt == 2 * N_PER_FAULT
