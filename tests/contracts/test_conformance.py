"""Every component that can be named keeps the promises of its seam; the checks themselves can fail."""

from __future__ import annotations

import json
import pickle
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, ClassVar

import pytest

from salva.core.about import Naming, about_of, options_of
from salva.core.case import Case, Prompt
from salva.core.image import ImageRef, Picture
from salva.core.observation import Detection, Detections, Observation, Reading
from salva.core.options import NoOptions, target_field
from salva.core.plan import Binding
from salva.core.protocols import Conclusion, ImageObservations, ObserveRequest, Query, Rendered, RenderRequest
from salva.core.run_spec import ComponentSpec
from salva.core.verdict import Outcome
from salva.errors import UsageError
from salva.registry import BUILT_IN, ROLES, add_loose_plugin, bind, entries, load
from salva.testing.conformance import check_binding, check_check, check_generator, check_observer, check_suite
from salva.testing.fakes import (
    Calls,
    FakeDetector,
    FakeGenerator,
    FakeJudge,
    FakeReader,
    FakeSame,
    FakeSuite,
    painted,
)
from salva.testing.specs import bound

PICTURES = [painted(["cat", "dog"], "one"), painted(["cow"], "two"), painted([], "three")]
BOX = (0.1, 0.2, 0.4, 0.6)
CASE = Case(
    case_id="x",
    suite="x",
    category="x",
    prompts=(
        Prompt(role="a", text="a cat and a dog", formula="cat & dog"),
        Prompt(role="b", text="a dog and a cat", formula="dog & cat"),
    ),
    checks=("same-scene",),
    equivalent=True,
    determinate=True,
)


def named(role: str) -> list[Binding]:
    """The components that need nothing after a slash; those that do are checked where their files and servers are."""
    plain = [name for name in BUILT_IN[role] if target_field(options_of(load(role, name))) is None]
    return [bind(ComponentSpec(role=role, name=name)) for name in plain]


def by_label(binding: Binding) -> str:
    return binding.label


def requests(formula: str = "cat & dog") -> list[RenderRequest]:
    words = formula.replace(" & ", ", ")
    return [RenderRequest(prompt=Prompt(role="a", text=words, formula=formula), seed=seed) for seed in (1, 2, 3)]


def real_picture(seed: int) -> Picture:
    painter = bind(ComponentSpec(role="model", name="painter")).build()
    (rendered,) = painter.render(
        [RenderRequest(prompt=Prompt(role="a", text="a cat and a dog", formula="cat & dog"), seed=seed)]
    )
    picture: Picture = rendered.picture
    return picture


def observations(*labels: str) -> dict[str, ImageObservations]:
    boxes = tuple(Detection(label=label, score=0.9, box=BOX) for label in labels)
    seen: dict[Query, Observation] = {Query(role="detector"): Detections(boxes=boxes)}
    seen[Query(role="detector", labels=("cat", "dog"))] = Detections(boxes=boxes)
    seen[Query(role="reader")] = Reading()
    return {role: ImageObservations(image=ImageRef(image_id=role * 40, width=8, height=8), seen=seen) for role in "ab"}


@pytest.mark.parametrize("binding", [*named("suite"), bound("suite", FakeSuite)], ids=by_label)
def test_suites(binding: Binding) -> None:
    check_suite(binding)


@pytest.mark.parametrize("binding", named("suite"), ids=by_label)
def test_what_formulas_settle_is_said_wherever_every_prompt_has_one(binding: Binding) -> None:
    suite = binding.build()
    for case in suite.cases(suite.sizes[0]):
        has_all = all(prompt.formula for prompt in case.prompts)
        assert (case.determinate is not None) == has_all, case.case_id
        assert (case.equivalent is not None) == (has_all and len(case.prompts) > 1), case.case_id


@pytest.mark.parametrize("binding", [*named("model"), bound("model", FakeGenerator, encoded="yes")], ids=by_label)
def test_generators(binding: Binding) -> None:
    check_generator(binding, requests())


@pytest.mark.parametrize("role", ["detector", "reader", "embedder", "judge"])
def test_perceivers(role: str) -> None:
    query = Query(role="judge", kind="score", text="a cat", formulas=("cat",)) if role == "judge" else None
    seen = Detections(boxes=(Detection(label="cat", score=0.9, box=BOX),))
    for binding in named(role):
        given = dict.fromkeys(binding.about.needs_roles, seen)
        check_observer(binding, [real_picture(seed) for seed in (1, 2, 3)], query=query, given=given)


def test_fake_perceivers() -> None:
    check_observer(bound("detector", FakeDetector), PICTURES)
    check_observer(bound("reader", FakeReader), PICTURES)
    check_observer(bound("judge", FakeJudge), PICTURES, given={"detector": Detections()})


@pytest.mark.parametrize("binding", [*named("check"), bound("check", FakeSame)], ids=by_label)
def test_relations(binding: Binding) -> None:
    for labels in (("cat", "dog"), ("cat",), ("cat", "dog", "dog"), ()):
        check_check(binding, [CASE], observations(*labels))


@pytest.mark.parametrize("role", ["metric", "executor"])
def test_the_rest_have_versions_and_plain_options(role: str) -> None:
    for binding in named(role):
        check_binding(binding)


@pytest.mark.parametrize("name", BUILT_IN["detector"])
def test_every_detector_says_what_it_can_name_and_what_it_was_made_for(name: str) -> None:
    about = about_of(load("detector", name))
    assert about.names is not Naming.UNKNOWN
    assert about.made_for.endswith("."), "one sentence"
    assert (about.names is Naming.ASKED) == about.takes_labels


def every_binding() -> list[Binding]:
    """Every component there is, unpinned: those that need a file or a checkpoint are not asked for it."""
    bindings = []
    for role in ROLES:
        for entry in entries(role):
            with suppress(UsageError):  # a judge that sees no pixels cannot read
                component = load(role, entry.name)
                options = options_of(component)()
                bindings.append(Binding(role=role, label=entry.name, component=component, options=options))
    return bindings


ARRIVES = """
import json, pickle, sys
for plugin in sys.argv[1:]:
    from salva.registry import add_loose_plugin
    add_loose_plugin(plugin)
print(json.dumps([b.identity() for b in pickle.loads(sys.stdin.buffer.read())]))
"""


def arrived(bindings: Sequence[Binding], *plugins: str) -> subprocess.CompletedProcess[bytes]:
    """What another process makes of bindings it was sent."""
    command = [sys.executable, "-c", ARRIVES, *plugins]
    return subprocess.run(command, input=pickle.dumps(list(bindings)), capture_output=True)


def test_every_binding_travels_to_another_process() -> None:
    bindings = every_binding()
    assert {binding.role for binding in bindings} == set(ROLES)
    assert "openai" in {binding.label for binding in bindings if binding.role == "reader"}, "a judge that reads"
    for binding in bindings:
        check_binding(binding)
    there = arrived(bindings)
    assert there.returncode == 0, there.stderr.decode()
    assert json.loads(there.stdout) == [binding.identity() for binding in bindings]


def test_a_loose_file_travels_to_those_who_were_told_of_it(tmp_path: Path) -> None:
    file = tmp_path / "stray.py"
    file.write_text("class Stray:\n    version = '1'\n\n    def render(self, requests):\n        return []\n")
    name = add_loose_plugin(f"{file}:Stray").name
    binding = Binding(role="model", label=name, component=load("model", name), options=NoOptions())
    check_binding(binding)
    assert b"No module named 'salva_plugin_stray_" in arrived([binding]).stderr
    assert json.loads(arrived([binding], f"{file}:Stray").stdout) == [binding.identity()]


def test_a_class_made_inside_a_function_is_told_why_it_cannot_travel() -> None:
    class Nested(FakeDetector):
        pass

    with pytest.raises(AssertionError, match="cannot be sent"):
        check_binding(bound("detector", Nested))


class Forgetful(FakeSuite):
    def cases(self, size: str) -> Iterator[Case]:
        first = next(super().cases(size))
        return iter((first, first))


class Short(FakeGenerator):
    def render(self, requests: Sequence[RenderRequest]) -> Any:
        return list(super().render(requests))[:-1] if len(requests) > 1 else super().render(requests)


class Crowded(FakeGenerator):
    def render(self, requests: Sequence[RenderRequest]) -> Any:
        return [Rendered(picture=painted(["cat"], f"{len(requests)} of us")) for _ in requests]


class Lossy(FakeGenerator):
    def render(self, requests: Sequence[RenderRequest]) -> Any:
        other = painted(["dog"], "other", encoded="yes").webp
        mine = painted(["cat"], "mine")
        return [
            Rendered(picture=Picture(rgb=mine.rgb, width=mine.width, height=mine.height, webp=other)) for _ in requests
        ]


class Outside(FakeDetector):
    def observe(self, requests: Sequence[ObserveRequest]) -> Any:
        return [Detections(boxes=(Detection(label="cat", score=1.0, box=(0, 0, 30, 30)),)) for _ in requests]


class Sociable(FakeDetector):
    """What it is sure of depends on how many pictures it is shown."""

    step: ClassVar[float] = 1e-3

    def observe(self, requests: Sequence[ObserveRequest]) -> Any:
        score = 0.9 + self.step * len(requests)
        return [Detections(boxes=(Detection(label="cat", score=score, box=(0.1, 0.1, 0.5, 0.5)),)) for _ in requests]


class Rounding(Sociable):
    step: ClassVar[float] = 1e-7


class WrongKind(FakeDetector):
    def observe(self, requests: Sequence[ObserveRequest]) -> Any:
        return [Reading() for _ in requests]


class Vague(FakeSame):
    def judge(self, case: Case, observations: Any) -> Conclusion:
        return Conclusion(outcome=Outcome.FAIL, failure_types=("vibes",))


@pytest.mark.parametrize(
    ("check", "told"),
    [
        (lambda: check_suite(bound("suite", Forgetful)), "two cases"),
        (lambda: check_generator(bound("model", Short), requests()), "3 requests gave 2 outcomes"),
        (lambda: check_generator(bound("model", Crowded), requests()), "otherwise alone"),
        (lambda: check_generator(bound("model", Lossy), requests()), "is it lossy"),
        (lambda: check_observer(bound("detector", Outside), PICTURES), "box of fractions"),
        (lambda: check_observer(bound("detector", Sociable), PICTURES), "in a batch"),
        (lambda: check_observer(bound("detector", WrongKind), PICTURES), "a detector gave Reading"),
        (lambda: check_check(bound("check", Vague), [CASE], observations("cat")), "'vibes' is not in"),
    ],
    ids=["double-case", "short", "crowded", "lossy", "outside", "sociable", "wrong-kind", "unknown-error"],
)
def test_a_broken_component_is_found(check: Callable[[], None], told: str) -> None:
    with pytest.raises(AssertionError, match=told):
        check()


def test_last_digits_may_differ_in_a_batch() -> None:
    check_observer(bound("detector", Rounding), PICTURES)


def test_calls_of_fakes_are_counted_one_by_one_or_many_at_once() -> None:
    calls = Calls()
    assert (calls.add("observe"), calls.add("observe", 3)) == (0, 1), "the count before"
    assert (calls["observe"], calls["paint"]) == (4, 0)
    calls.clear()
    assert calls["observe"] == 0
