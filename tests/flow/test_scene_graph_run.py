"""ACTesting on images that a scene graph model observed: its files decide relations that no box could."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from PIL import Image

from salva.core.run_spec import RunSpec
from salva.detectors.scene_graph_files import INFO, PREDICTION
from salva.engine.progress import SilentProgress
from salva.report.summary import summarise_run
from salva.runs.pipeline import execute
from salva.runs.plans import make_plan
from salva.store.queries import read_records
from salva.suites.actesting.files import SEEDS, SETS

CLASSES = ("__background__", "man", "horse", "elephant", "hat", "umbrella")
PREDICATES = ("__background__", "riding", "wearing", "holding")
OMISSION = "entity-omission"
"""What its own caption names and an image lacks, besides what the operator's check finds."""
Triple = tuple[str, str, str]
RIDING: Triple = ("man", "riding", "horse")
WEARING: Triple = ("man", "wearing", "hat")
HOLDING: Triple = ("man", "holding", "umbrella")
CAPTIONS: dict[str, tuple[str, Sequence[Triple]]] = {
    SEEDS: ("A man in a hat riding a horse", (RIDING, WEARING)),
    SETS["ec"]: ("A man in a hat riding an elephant", (("man", "riding", "elephant"), WEARING)),
    SETS["er-r"]: ("A man riding a horse", (RIDING,)),
    SETS["er-a"]: ("A man in a hat riding a horse and holding an umbrella", (RIDING, WEARING, HOLDING)),
    SETS["ss"]: ("A man in a hat riding a pony", (RIDING, WEARING)),
}


def _things(triples: Sequence[Triple]) -> list[str]:
    return list(dict.fromkeys(name for subject, _, thing in triples for name in (subject, thing)))


def _seen(triples: Sequence[Triple]) -> dict[str, Any]:
    """What the model says of a picture that shows these triples: a box each, and how they stand to each other."""
    names = _things(triples)
    return {
        "bbox": [[100 * i, 0, 100 * i + 90, 300] for i in range(len(names))],
        "bbox_labels": [CLASSES.index(name) for name in names],
        "bbox_scores": [0.9] * len(names),
        "rel_pairs": [[names.index(subject), names.index(thing)] for subject, _, thing in triples],
        "rel_labels": [PREDICATES.index(predicate) for _, predicate, _ in triples],
        "rel_scores": [0.8] * len(triples),
    }


def _run(root: Path, **shown: Sequence[Triple]) -> Path:
    """Sets and images as the published program keeps them, with the model's files; shown: other images."""
    sets = root / "sets"
    pictures = sets / "somebody"
    pictures.mkdir(parents=True)
    for number, (name, (caption, said)) in enumerate(CAPTIONS.items()):
        entry = {"image_id": 7, "caption": caption, "classes": _things(said), "triples": [list(t) for t in said]}
        (sets / f"{name}.json").write_text(json.dumps([entry]))
        folder = pictures / name
        folder.mkdir(parents=True)
        Image.new("RGB", (60, 60), (40 * number, 9, 9)).save(folder / "7_0.png")
        seen = _seen(next((shown[of] for of, known in SETS.items() if known == name and of in shown), said))
        info = {"idx_to_files": [f"/disk/{name}/7_0.png"], "ind_to_classes": CLASSES, "ind_to_predicates": PREDICATES}
        (folder / INFO).write_text(json.dumps(info))
        (folder / PREDICTION).write_text(json.dumps({"0": seen}))
    asked = RunSpec.of(
        suite="actesting",
        models=(f"folder/{pictures}",),
        detector=f"scene-graph/{pictures}",
        size="full",
        settings={"suite.path": str(sets), "run.preflight": "off"},
    )
    execute(make_plan(asked), root / "run", SilentProgress())
    return root / "run"


def _errors(directory: Path) -> dict[str, tuple[str, ...]]:
    (model,) = summarise_run(directory).by_model.values()
    return {result.case.category: result.failure_types for result in model.all_results}


def test_what_the_model_says_is_right_needs_no_judge(tmp_path: Path) -> None:
    directory = _run(tmp_path)
    assert _errors(directory) == dict.fromkeys(("ec", "er-r", "er-a", "ss"), ())
    verdicts = read_records(directory).verdicts
    assert {str(verdict.outcome) for verdict in verdicts} == {"PASS"}
    undecided = [verdict.scores.get("undecided_triples") for verdict in verdicts]
    assert (undecided.count(0), undecided.count(None)) == (4, 8), "each pair also by its named entities and text"
    (model,) = summarise_run(directory).by_model.values()
    assert model.metrics["relation_error"].value == 0


@pytest.mark.parametrize(
    ("operator", "triples", "errors"),
    [
        ("er-a", (RIDING, WEARING, ("man", "wearing", "umbrella")), {"new-relation-missing"}),
        ("er-a", (RIDING, WEARING), {"new-relation-missing", "new-entity-missing", OMISSION}),
        ("er-r", (("man", "holding", "horse"),), {"kept-relation-broken"}),
        ("er-r", (RIDING, WEARING), {"old-entity-stays", "old-relation-stays"}),
        (
            "ec",
            (RIDING, WEARING),
            {"new-entity-missing", "old-entity-stays", "new-relation-missing", "old-relation-stays", OMISSION},
        ),
        ("ss", (("man", "wearing", "hat"),), {"kept-entity-dropped", "kept-relation-broken", OMISSION}),
    ],
)
def test_a_fault_in_one_image_is_found_where_it_is(
    operator: str, triples: Sequence[Triple], errors: set[str], tmp_path: Path
) -> None:
    found = _errors(_run(tmp_path, **{operator: triples}))
    assert set(found.pop(operator)) == errors
    assert set(found.values()) == {()}
