"""ACTesting from captions to tables: a faultless painter has no error, every planted fault is found with its kind."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, ClassVar, cast

import pytest
from click.testing import CliRunner

import salva
from salva.cli.main import salva as command_line
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
from salva.report.summary import summarise_run
from salva.results.leading import BLIND
from salva.runs.pipeline import execute
from salva.runs.plans import make_plan
from salva.store.sqlite import open_run
from salva.suites.actesting.checks import ERROR_SCORES
from salva.suites.actesting.definitions import OPERATORS
from salva.suites.actesting.observing import MutationOptions, boxes_query
from salva.suites.actesting.suite import Actesting, ActestingOptions
from salva.testing.fakes import FakeDetector
from salva.testing.specs import bound


def run(directory: Path, **settings: str) -> salva.Run:
    return salva.run_suite("actesting", model="painter", reader="none", size="quick", out=directory, settings=settings)


def test_where_no_box_is_found_it_is_the_detector_that_is_named(tmp_path: Path) -> None:
    grey = Path(__file__).parents[2] / "bench" / "garbage.py"
    command = ["run", "actesting", "--size", "6", "--plugin", f"{grey}:Grey", "--model", "grey"]
    done = CliRunner().invoke(
        command_line,
        [*command, "--detector", "pocket", "--reader", "none", "--no-progress", "--out", str(tmp_path / "run")],
    )
    assert done.exit_code == 3, done.output
    (one,) = summarise_run(tmp_path / "run").by_model
    assert one.leading.oracle == BLIND
    assert "--detector" in one.leading.reason


def report(of: salva.Run) -> dict[str, Any]:
    return cast(dict[str, Any], json.loads(json.dumps(of.summary.to_json())))


def test_a_faultless_painter_has_no_error_and_leads_with_expected(tmp_path: Path) -> None:
    made = run(tmp_path)
    told = report(made)
    assert told["headline"]["rate"] is None, "the suite leads with a figure of its own"
    assert told["headline"]["chance"] is None
    assert told["failure_rate"] == 0
    assert told["outcomes"] == {"PASS": len(made.cases), "FAIL": 0, "UNDECIDED": 0, "ERROR": 0}
    assert told["rates"]["wrong"]["rate"] == 0, "where captions have formulas, truth stands beside"
    assert (told["metrics"]["entity_error"], told["metrics"]["relation_error"]) == (0, 0)
    assert {case.mutation.operator for case in made.case_list if case.mutation} == set(OPERATORS)
    n_captions = len({case.painting for case in made.case_list})
    with open_run(tmp_path) as store:
        n_pictures = sum(1 for _ in store.renders())
    assert n_pictures <= n_captions + len(made.cases), "a seed's picture serves all its mutants"
    assert n_pictures < 2 * len(made.cases)


@pytest.mark.parametrize(
    ("fault", "kinds"),
    [
        ("entity-omission", {"kept-entity-dropped", "new-entity-missing", "seed-entity-missing"}),
        ("x-misposition", {"kept-relation-broken", "new-relation-missing"}),
    ],
)
def test_a_planted_fault_is_found_with_its_kind(tmp_path: Path, fault: str, kinds: set[str]) -> None:
    made = run(tmp_path, **{"model.faults": f"{fault}:0.4"})
    errors = Counter(report(made)["failure_types"])
    assert errors.keys() & kinds
    ends = ("dropped", "missing", "stays")
    about_things = {name for name in errors if name.endswith(ends) and "relation" not in name}
    assert bool(about_things) == (fault == "entity-omission")
    told = report(made)["metrics"]
    assert told["relation_error"] > 0
    assert (told["entity_error"] > 0) == (fault == "entity-omission")


def test_the_published_rule_and_the_noise_floor(tmp_path: Path) -> None:
    made = salva.run_suite(
        "actesting",
        model="painter",
        reader="none",
        size="quick",
        only=("operator=ec",),
        control=True,
        out=tmp_path,
        settings={"check.definition": "paper", "model.faults": "entity-omission:0.3"},
    )
    with open_run(tmp_path) as store:
        verdicts = [v for v in store.verdicts() if v.check == "entity-change"]
    for verdict in verdicts:
        if verdict.arm == PAIR:
            assert set(ERROR_SCORES) <= verdict.scores.keys(), "all three definitions, whichever leads"
            wrong = verdict.scores["paper.entity_error"] or verdict.scores["paper.relation_error"]
            assert (verdict.outcome is Outcome.FAIL) == bool(wrong)
        else:
            assert verdict.arm == CONTROL
            assert "paper.entity_error.within_a" in verdict.scores
    tables = {table["name"]: table for table in report(made)["tables"]}
    floor = tables["errors by operator"]["columns"].index("noise_rate")
    assert all(row[floor] is not None for row in tables["errors by operator"]["rows"])
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
