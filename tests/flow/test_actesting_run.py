"""ACTesting from captions to tables: a faultless painter has no error, every planted fault is found with its kind."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, ClassVar, cast

import pytest

from salva.core.case import Case
from salva.core.image import ImageRef, Picture
from salva.core.observation import Detection, Detections, Observation
from salva.core.protocols import ImageObservations, ObserveRequest, Rendered, RenderRequest
from salva.core.run_spec import RunSpec
from salva.core.scene import Box
from salva.core.verdict import CONTROL, PAIR, Outcome
from salva.engine.progress import SilentProgress
from salva.errors import SalvaError
from salva.generators.painter import composition
from salva.generators.painter.component import Painter, PainterOptions
from salva.registry import load
from salva.report.summary import ModelSummary, decided, summarise_run
from salva.results.gate import FAILED, INCONCLUSIVE, PASSED, Gate
from salva.results.trust import AGREEMENT_ONLY, DETECTOR_BLIND, NONE
from salva.runs.pipeline import execute
from salva.runs.plans import make_plan
from salva.store.sqlite import open_run
from salva.suites.actesting.checks import ERROR_SCORES
from salva.suites.actesting.definitions import OPERATORS
from salva.suites.actesting.observing import MutationOptions, boxes_query
from salva.suites.actesting.suite import Actesting, ActestingOptions
from salva.suites.actesting.tables import ActestingTables
from salva.testing.fakes import FakeDetector
from salva.testing.specs import bound


def run(directory: Path, *, published: bool = False, **settings: str) -> ModelSummary:
    """All operators on ten captions by the painter and the observers that come with salva."""
    named = {name.replace("__", "."): value for name, value in settings.items()}
    asked = RunSpec.of(suite="actesting", models=("painter",), size="quick", settings=named, published=published)
    execute(make_plan(asked), directory, SilentProgress())
    (summary,) = decided(summarise_run(directory), Gate(max_failure_rate=0.2)).by_model.values()
    return summary


def value(summary: ModelSummary, name: str) -> float:
    number = summary.metrics[name].value
    assert number is not None
    return number


def test_a_faultless_painter_has_no_error(tmp_path: Path) -> None:
    summary = run(tmp_path)
    n = summary.results["total"]
    assert n >= 18
    assert (summary.failure_rate, summary.results["pass"]) == (0.0, n)
    assert (summary.trust.status, summary.gates[0].decision) == ("ok", PASSED)
    assert [category.name for category in summary.categories] == [*OPERATORS]
    assert {name: value(summary, name) for name in ActestingTables.about.metrics} == dict.fromkeys(
        ("entity_error", "relation_error", "miss_e", "miss_r"), 0.0
    )
    with open_run(tmp_path) as store:
        cases, images = list(store.cases()), [render.image_id for _, render in store.renders()]
        judged = {case.case_id: {v.check for v in store.verdicts() if v.case_id == case.case_id} for case in cases}
        n_observed = Counter((observed.image_id, observed.query.role) for _, observed in store.observations())
    n_captions = len({case.painting for case in cases})
    assert len(images) <= n_captions + len(cases) < 2 * len(cases), "a seed's image serves all its mutants"
    assert all({case.check, "truth", "named-entities", "no-text"} == judged[case.case_id] for case in cases)
    seen = {n_observed[image, role] for image in images if image for role in ("detector", "reader")}
    assert seen == {1}, "four checks, and nothing is observed twice"


@pytest.mark.parametrize(
    ("fault", "kinds"),
    [
        ("entity-omission", {"kept-entity-dropped", "new-entity-missing", "seed-entity-missing"}),
        ("x-misposition", {"kept-relation-broken", "new-relation-missing"}),
    ],
)
def test_a_planted_fault_is_found_with_its_kind(tmp_path: Path, fault: str, kinds: set[str]) -> None:
    summary = run(tmp_path, model__faults=f"{fault}:0.4")
    assert summary.failure_types.keys() & kinds
    ends = ("dropped", "missing", "stays", "omission")
    about_entities = {name for name in summary.failure_types if name.endswith(ends) and "relation" not in name}
    assert bool(about_entities) == (fault == "entity-omission")
    assert value(summary, "relation_error") > 0
    assert (value(summary, "entity_error") > 0) == (fault == "entity-omission")


Paint = Callable[[Painter, list[RenderRequest]], list[Rendered | SalvaError]]


def mirrored(paint: Paint) -> Paint:
    """Every image shows the relations of its prompt the other way round."""

    def render(self: Painter, requests: list[RenderRequest]) -> list[Rendered | SalvaError]:
        turned = {"left_of": "right_of", "right_of": "left_of", "above": "below", "below": "above"}
        formulas = [re.sub("|".join(turned), lambda m: turned[m[0]], r.prompt.formula or "") for r in requests]
        return paint(
            self, [replace(r, prompt=replace(r.prompt, formula=f)) for r, f in zip(requests, formulas, strict=True)]
        )

    return render


def first_entity_only(paint: Paint) -> Paint:
    """Every image shows the first entity and nothing else."""

    def render(self: Painter, requests: list[RenderRequest]) -> list[Rendered | SalvaError]:
        alone = [replace(r.prompt, formula=r.prompt.entities[0]) for r in requests]
        return paint(self, [replace(r, prompt=prompt) for r, prompt in zip(requests, alone, strict=True)])

    return render


@pytest.mark.parametrize(
    ("garbage", "failure_type"), [(mirrored, "x-misposition"), (first_entity_only, "entity-omission")]
)
def test_a_model_that_is_consistently_wrong_passes_nothing(
    garbage: Callable[[Paint], Paint], failure_type: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Between two wrong images nothing may differ; each is held against its own caption."""
    monkeypatch.setattr(Painter, "render", garbage(Painter.render))  # type: ignore[arg-type]  # a method
    summary = run(tmp_path / "run")
    assert summary.failure_rate is not None
    assert summary.failure_rate > 0.7
    assert failure_type in summary.failure_types
    assert summary.gates[0].decision == FAILED
    published = run(tmp_path / "published", published=True)
    assert failure_type not in published.failure_types, "by the paper's rule only what differs counts"


def test_where_nothing_named_is_found_trust_is_none(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    picture = Picture(rgb=b"\x80" * 3 * 256 * 256, width=256, height=256)
    monkeypatch.setattr(Painter, "render", lambda _, requests: [Rendered(picture=picture) for _ in requests])
    summary = run(tmp_path, suite__operators="ec")
    assert summary.trust.status == NONE
    assert summary.trust.has(DETECTOR_BLIND)
    assert summary.gates[0].decision == FAILED
    assert summary.failure_types["entity-omission"] == summary.results["total"]


def test_without_formulas_a_consistently_wrong_model_passes_no_gate(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What nothing can hold against its caption is compared only, and trust says so."""
    whole = Actesting.cases

    def without_formulas(self: Actesting, size: str) -> Iterator[Case]:
        for case in whole(self, size):
            bare = tuple(replace(prompt, formula=None) for prompt in case.prompts)
            yield replace(case, prompts=bare, equivalent=None, determinate=None)

    monkeypatch.setattr(Painter, "render", _from_text(Painter.render))  # type: ignore[arg-type]  # a method
    monkeypatch.setattr(Actesting, "cases", without_formulas)
    summary = run(tmp_path / "run", suite__operators="ss")
    assert summary.failure_rate == 0.0
    assert summary.trust.has(AGREEMENT_ONLY)
    assert summary.gates[0].decision == INCONCLUSIVE


def _from_text(paint: Paint) -> Paint:
    """The painter by the captions' own formulas, each relation the other way round."""
    formulas = {prompt.text: prompt for case in Actesting(ActestingOptions()).cases("quick") for prompt in case.prompts}
    wrong = mirrored(paint)

    def render(self: Painter, requests: list[RenderRequest]) -> list[Rendered | SalvaError]:
        return wrong(self, [replace(r, prompt=formulas[r.prompt.text]) for r in requests])

    return render


def test_the_published_rule_and_the_noise_floor(tmp_path: Path) -> None:
    asked = RunSpec.of(
        suite="actesting",
        models=("painter",),
        size="quick",
        only=("operator=ec",),
        control=True,
        published=True,
        settings={"model.faults": "entity-omission:0.3"},
    )
    execute(make_plan(asked), tmp_path, SilentProgress())
    with open_run(tmp_path) as store:
        verdicts = list(store.verdicts())
    assert {verdict.check for verdict in verdicts} == {"entity-change"}
    for verdict in verdicts:
        if verdict.arm == PAIR:
            assert set(ERROR_SCORES) <= verdict.scores.keys(), "all three definitions, whichever decides"
            wrong = verdict.scores["paper.entity_error"] or verdict.scores["paper.relation_error"]
            assert (verdict.outcome is Outcome.FAIL) == bool(wrong)
        else:
            assert verdict.arm == CONTROL
            assert "paper.entity_error.within_a" in verdict.scores
    summary = summarise_run(tmp_path)
    assert str(summary.asked.rule) == "published"
    tables = {table.name: table for table in summary.tables}
    floor = tables["errors by operator"].columns.index("noise_rate")
    assert all(row[floor] is not None for row in tables["errors by operator"].rows)
    assert "published misses" in tables


def test_a_detector_can_see_pictures_in_the_published_size(tmp_path: Path) -> None:
    class Watching(FakeDetector):
        sides: ClassVar[set[tuple[int, int]]] = set()

        def observe(self, requests: Sequence[ObserveRequest]) -> Sequence[Observation | SalvaError]:
            self.sides.update((request.picture.width, request.picture.height) for request in requests)
            return [Detections()] * len(requests)

    spec = make_plan(
        RunSpec.of(suite="actesting", models=("painter",), only=("operator=ss",), settings={"check.side": "512"})
    )
    ours = tuple(check for check in spec.checks if check.label == "unchanged")
    watched = replace(spec, detector=bound("detector", Watching), checks=ours).asking(preflight=False)
    execute(watched, tmp_path, SilentProgress())
    assert Watching.sides == {(512, 512)}
    with open_run(tmp_path) as store:
        assert {look.query.side for _, look in store.observations()} == {512}
        assert all(image.width == 256 for image in store.images()), "what is stored stays as it was painted"


@pytest.mark.slow
def test_a_faultless_painter_has_no_error_on_five_hundred_seeds(monkeypatch: pytest.MonkeyPatch) -> None:
    """What the painter says it lays out, without its brush and without a detector's eyes."""
    monkeypatch.setattr(composition, "draw", lambda *_, **__: Picture(rgb=bytes(3), width=1, height=1))
    painter = Painter(PainterOptions(background="plain"))
    seen: dict[tuple[str, str], Detections] = {}
    paintings: set[str] = set()
    outcomes: Counter[str] = Counter()
    for case in Actesting(ActestingOptions()).cases("full"):
        paintings.add(case.painting)
        assert case.mutation is not None
        observations = {}
        for prompt in case.prompts:
            key = (case.painting, prompt.text)
            if key not in seen:
                rendered = painter.render([RenderRequest(prompt=prompt, seed=case.seed(0, 0))])[0]
                assert isinstance(rendered, Rendered), (prompt.text, rendered)
                seen[key] = _boxes(rendered)
            image = ImageRef(image_id="x", width=1, height=1)
            observations[prompt.role] = ImageObservations(image=image, seen={boxes_query(case.mutation): seen[key]})
        concluded = load("check", case.check)(MutationOptions()).judge(case, observations)
        assert concluded.outcome is Outcome.PASS, (case.prompts, concluded)
        assert [concluded.scores[name] for name in ERROR_SCORES[:2]] == [0.0, 0.0]
        outcomes[case.mutation.operator] += 1
    assert len(paintings) >= 500
    assert outcomes.keys() == set(OPERATORS)


def _boxes(rendered: Rendered) -> Detections:
    things = cast("list[dict[str, Any]]", rendered.provenance["things"])
    boxes = tuple(Detection(label=t["label"], score=1.0, box=cast(Box, tuple(t["box"]))) for t in things)
    return Detections(boxes=boxes)
