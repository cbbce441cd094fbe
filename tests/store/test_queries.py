"""Parts of a run, found without reading the rest."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product
from pathlib import Path

import pytest

from salva.core.case import Case, Prompt
from salva.core.fingerprint import Json
from salva.core.observation import Detection, Detections, Vector
from salva.core.protocols import Query
from salva.core.source import RewrittenPrompt
from salva.core.verdict import Outcome, Verdict
from salva.store.queries import (
    StoredImages,
    last_written,
    open_source,
)
from salva.store.records import Status, StoredComponent, StoredImage, StoredObservation, StoredRender
from salva.store.sqlite import RunStore, open_run

LAWS = ("commutative", 'it\'s "quoted"')
CASES = tuple(
    Case(
        case_id=f"c-{number}",
        suite="s",
        category="c",
        prompts=(Prompt(role="a", text="a cat"),),
        checks=("truth",),
        labels={"law": LAWS[number % 2], "number": str(number)},
    )
    for number in range(6)
)
VERDICTS = tuple(
    Verdict(
        case_id=case.case_id,
        repeat=0,
        arm=arm,
        model=model,
        check="truth",
        observers=observers,
        outcome=Outcome.FAIL if case.case_id == "c-3" else Outcome.PASS,
        failure_types=("entity-omission", "x-misposition") if case.case_id == "c-3" else (),
    )
    for case, arm, model, observers in product(CASES, ("control", "pair"), ("m", "n"), (("p",), ("p", "r")))
)


@pytest.fixture
def store(tmp_path: Path) -> Iterator[RunStore]:
    with open_run(tmp_path, "write") as writer:
        for ordinal, case in enumerate(reversed(CASES)):
            writer.put_case(ordinal, case)
        for verdict in reversed(VERDICTS):
            writer.put_verdict(verdict)
        for number in range(3):
            writer.put_image(StoredImage(image_id=str(number), width=3, height=2, digest="d", n_bytes=9))
    with open_run(tmp_path) as reader:
        yield reader


def test_verdicts_come_in_order_and_by_check_and_observers(store: RunStore) -> None:
    assert list(store.verdicts()) == list(VERDICTS)
    by_both = list(store.verdicts("truth", ("p", "r")))
    assert by_both == [verdict for verdict in VERDICTS if verdict.observers == ("p", "r")]
    assert len(by_both) == 24
    assert not list(store.verdicts("same-scene"))
    assert list(store.verdicts("truth")) == [verdict for verdict in VERDICTS if verdict.check == "truth"]


def test_what_became_of_prompts_before_they_were_painted_is_read(tmp_path: Path) -> None:
    notes: list[tuple[str, dict[str, Json], str | None]] = [
        ("if rain", {"deduced": "rain rises", "steps": 4}, "1"),
        ("a cat", {"steps": 4}, "2"),
        ("a cat", {"revised_prompt": "a fluffy cat"}, "2"),
        ("if so", {"unknown_words": ["if", "so"]}, "3"),
        ("if so", {"unknown_words": ["if", "so"]}, "4"),
        ("odd", {"unknown_words": "[if"}, "5"),
        ("a dog", {"revised_prompt": "a dog"}, "5"),
        ("never painted", {"deduced": "nothing"}, None),
    ]
    with open_run(tmp_path, "write") as store:
        store.put_component(
            StoredComponent(component_id="c", role="model", label="m", is_formula_seen=False, identity={})
        )
        for number, (text, provenance, image_id) in enumerate(notes):
            store.put_render(
                StoredRender(
                    component_id="c",
                    text=text,
                    formula=None,
                    seed=number,
                    repeat=0,
                    status=Status.DONE if image_id else Status.ERROR,
                    image_id=image_id,
                    provenance=provenance,
                )
            )
    with open_source(tmp_path) as (records, images):
        assert records.painted == (
            RewrittenPrompt(model="m", prompt="if rain", text="rain rises", passed_over=(), n=1, repeats=(0,)),
            RewrittenPrompt(model="m", prompt="a cat", text="a fluffy cat", passed_over=(), n=1, repeats=(0,)),
            RewrittenPrompt(model="m", prompt="if so", text="", passed_over=("if", "so"), n=2, repeats=(0,)),
        )
        assert [made.text for made in images.seen("2", ()).painted] == ["a fluffy cat"]
        assert images.seen("5", ()).painted == ()


def test_only_what_the_observers_of_a_verdict_saw_is_read(tmp_path: Path) -> None:
    detections = Detections(boxes=(Detection(label="cat", score=0.5, box=(0.0, 0.0, 1.0, 1.0)),))
    with open_run(tmp_path, "write") as store:
        for label, observation in (("a+b", detections), ("a", Detections()), ("clip", Vector(values=(1.0,)))):
            role = "embedder" if label == "clip" else "detector"
            store.put_component(
                StoredComponent(component_id=label, role=role, label=label, is_formula_seen=False, identity={})
            )
            store.put_observation(
                StoredObservation(
                    component_id=label,
                    image_id="1",
                    query=Query(role=role),
                    given={},
                    status=Status.DONE,
                    observation=observation,
                )
            )
        assert [look.label for look in store.observations_of("1")] == ["a", "a+b", "clip"]
        assert [look.label for look in store.observations_of("1", ("a+b", "other"))] == ["a+b"]
        assert StoredImages(store).seen("1", ("a+b",)).boxes == detections.boxes
        assert StoredImages(store).seen("1", ("a", "b")).boxes == ()


def test_a_run_says_when_it_was_written_and_by_which_salva(tmp_path: Path) -> None:
    with open_run(tmp_path, "write") as store:
        store.set_meta("salva_version", "0.7")
    with open_source(tmp_path) as (records, _):
        assert records.made_by == "0.7"
        assert records.written_at == last_written(tmp_path) is not None
    assert last_written(tmp_path / "nothing") is None


def test_what_one_image_was_generated_from_is_found_by_its_index(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A scan of all images for each of them made reports of large runs take quadratic time."""
    plans: list[str] = []
    rows = RunStore.rows

    def explained(self: RunStore, sql: str, values: tuple[object, ...] = ()) -> object:
        if "FROM renders" in sql:
            plans.extend(row["detail"] for row in rows(self, f"EXPLAIN QUERY PLAN {sql}", values))  # type: ignore[arg-type]
        return rows(self, sql, values)  # type: ignore[arg-type]

    with open_run(tmp_path, "write") as store:
        monkeypatch.setattr(RunStore, "rows", explained)
        StoredImages(store).seen("ab12", ("pocket",))
    assert any("renders_by_image" in plan for plan in plans)
