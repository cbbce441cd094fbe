"""Detectors of transformers on tiny checkpoints of the real classes: conformance, boxes, runs."""

from __future__ import annotations

import os
import random
import re
import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import in_process
import pytest
from backends.test_pixels import drawn
from backends.tiny_models import (
    save_d_fine,
    save_detr,
    save_florence2,
    save_grounding_dino,
    save_mm_grounding_dino,
    save_owlv2,
    save_rt_detr,
    save_sam3,
)

from salva.api import run_suite
from salva.core.boxes import boxes_above
from salva.core.observation import Detection, Detections
from salva.core.plan import Binding
from salva.core.protocols import ObserveRequest, Query
from salva.core.run_spec import ComponentSpec
from salva.detectors import boxes
from salva.detectors.florence2 import DETECT, GROUND, Florence2, Florence2Grounding, parse_answer
from salva.detectors.grounding_dino import GroundingDino
from salva.errors import BackendError, UsageError
from salva.observers.pixels import to_pixels
from salva.registry import bind, load
from salva.testing.conformance import check_observer

torch: Any = pytest.importorskip("torch", reason="needs the extra torch")
transformers: Any = pytest.importorskip("transformers", reason="needs the extra torch")

PICTURES = [drawn(40, 60, 1), drawn(40, 60, 2), drawn(64, 48, 3)]
LABELS = ("cat", "dog")
ANSWER = (
    "kitten",
    "<loc_100>",
    "<loc_200>",
    "<loc_400>",
    "<loc_600>",
    "car",
    "<loc_500>",
    "<loc_0>",
    "<loc_999>",
    "<loc_300>",
)
SAVERS: dict[str, Callable[[Path], Path]] = {
    "florence2": lambda folder: save_florence2(folder, ANSWER),
    "florence2-grounding": lambda folder: save_florence2(folder, ANSWER),
    "detr": save_detr,
    "rt-detr": save_rt_detr,
    "d-fine": save_d_fine,
    "grounding-dino": save_grounding_dino,
    "owlv2": save_owlv2,
    "mm-grounding-dino": save_mm_grounding_dino,
    "llmdet": save_mm_grounding_dino,
    "sam3": save_sam3,
}

PAGE = Path(__file__).parents[2] / "docs" / "how-to" / "choose-a-detector.md"


_PATCH: list[pytest.MonkeyPatch] = []
"""The current test's."""


@pytest.fixture(autouse=True)
def own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Batch sizes and digests of tests do not reach the user's cache."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    _PATCH[:] = [monkeypatch]


@pytest.fixture
def overlapping(monkeypatch: pytest.MonkeyPatch) -> None:
    """Keep boxes however much they overlap."""
    monkeypatch.setattr(boxes, "strongest", lambda found, *_: list(range(len(found))))


@pytest.fixture(scope="module")
def folders(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    root = tmp_path_factory.mktemp("checkpoints")
    return {name: save(root / name) for name, save in SAVERS.items()}


def bound(name: str, folder: Path, **options: str) -> Binding:
    registered = "detr" if name in ("rt-detr", "d-fine") else name
    if "threshold" in options:
        component = load("detector", registered)
        _PATCH[0].setattr(component, "scale", replace(component.scale, threshold=float(options.pop("threshold"))))
    if "florence2" in name:
        options.setdefault("max_tokens", "60")
    return bind(ComponentSpec(role="detector", name=f"{registered}/{folder}", options=options))


def observe(detector: Any, *labels: str) -> list[Detections]:
    query = Query(role="detector", labels=labels)
    seen = detector.observe([ObserveRequest(picture=picture, query=query) for picture in PICTURES])
    assert all(isinstance(one, Detections) for one in seen), seen
    return list(seen)


@pytest.mark.parametrize("name", SAVERS)
def test_conformance(name: str, folders: dict[str, Path]) -> None:
    batches = {} if name == "florence2-grounding" else {"batch_size": "4"}
    check_observer(bound(name, folders[name], **batches), PICTURES, query=Query(role="detector", labels=LABELS))


def documented(name: str) -> tuple[float, float]:
    """The threshold and the doubt that the docs give for a detector."""
    rows = re.findall(r"^\| `([\w-]+)[/`].*? \| ([\d.]+), ([\d.]+) \|", PAGE.read_text(), re.MULTILINE)
    ((threshold, doubt),) = ((float(a), float(b)) for named, a, b in rows if named == name)
    return threshold, doubt


@pytest.mark.usefixtures("overlapping")
@pytest.mark.parametrize("name", ["detr", "rt-detr", "d-fine", "grounding-dino", "owlv2", "mm-grounding-dino", "sam3"])
def test_boxes_from_the_floor_on_are_kept_and_fewer_count(name: str, folders: dict[str, Path]) -> None:
    options = {"threshold": "0.999"}
    binding = bound(name, folders[name])
    threshold, doubt = documented(binding.label.partition("/")[0])
    assert binding.component.scale.threshold == threshold
    low = observe(bound(name, folders[name], **options).build(), *LABELS)
    assert {(seen.floor, seen.threshold, seen.doubt) for seen in low} == {(0.05, 0.999, doubt)}
    high = observe(bound(name, folders[name], floor="0.999", **options).build(), *LABELS)
    assert sum(len(seen.boxes) for seen in low) > sum(len(seen.boxes) for seen in high)
    assert [boxes_above(seen) for seen in low] == [seen.boxes for seen in high]


@pytest.mark.usefixtures("overlapping")
def test_detr_agrees_with_its_processor(folders: dict[str, Path]) -> None:
    detector = bound("rt-detr", folders["rt-detr"], threshold="0.3", names="none").build()
    from PIL import Image

    processor = transformers.RTDetrImageProcessorPil.from_pretrained(folders["rt-detr"])
    model = transformers.RTDetrForObjectDetection.from_pretrained(folders["rt-detr"]).eval()
    for picture, seen in zip(PICTURES, observe(detector), strict=True):
        image = Image.frombytes("RGB", (picture.width, picture.height), picture.rgb)
        with torch.inference_mode():
            outputs = model(**processor(images=image, return_tensors="pt"))
        size = [(picture.height, picture.width)]
        (wanted,) = processor.post_process_object_detection(outputs, threshold=0.3, target_sizes=size)
        names = [model.config.id2label[int(label)] for label in wanted["labels"]]
        # The processor does not cut boxes at the edges and keeps those that lie outside.
        assert {box.label for box in seen.boxes} <= set(names)
        assert max(box.score for box in seen.boxes) == pytest.approx(float(wanted["scores"].max()), abs=0.02)


@pytest.mark.usefixtures("overlapping")
def test_owlv2_boxes_are_fractions_of_the_image(folders: dict[str, Path]) -> None:
    detector = bound("owlv2", folders["owlv2"], threshold="0").build()
    model = transformers.Owlv2ForObjectDetection.from_pretrained(folders["owlv2"]).eval()
    words = detector._tokens(detector._tokenizer, [f"a photo of a {label}" for label in LABELS], 1)
    for picture, seen in zip(PICTURES, observe(detector, *LABELS), strict=True):
        pixels = to_pixels([picture], detector._pixels, "cpu", torch.float32)
        with torch.inference_mode():
            outputs = model(pixel_values=pixels, **words)
        (found,) = transformers.Owlv2ImageProcessorPil().post_process_object_detection(outputs, threshold=0.0)
        # Its boxes are shares of the square, whose side is the picture's longer one.
        side = max(picture.width, picture.height)
        size = torch.tensor([picture.width, picture.height] * 2)
        wanted = (found["boxes"] * side / size).clamp(0, 1)
        strongest = max(seen.boxes, key=lambda box: box.score)
        near = (wanted - torch.tensor(strongest.box)).abs().amax(1).min()
        assert near < 1e-3


def test_labels_of_the_checkpoint_become_everyday_names(tmp_path: Path) -> None:
    folder = save_detr(tmp_path / "detr", {0: "kitten", 1: "sports ball", 2: "kitten"})
    detector = bound("detr", folder, threshold="0.05").build()
    assert detector.habits.names == ("cat", "kitten", "ball", "sports ball"), "what can be asked for, each once"
    seen = observe(detector)
    names = {(box.label, box.raw) for one in seen for box in one.boxes}
    assert names
    assert names <= {("cat", "kitten"), ("ball", "sports ball")}


def test_florence2_boxes_are_those_of_its_answer(folders: dict[str, Path]) -> None:
    seen = observe(bound("florence2", folders["florence2"]).build())
    assert seen[0].boxes == (
        Detection(label="cat", score=1.0, box=(0.1005, 0.2005, 0.4005, 0.6005), raw="kitten"),
        Detection(label="car", score=1.0, box=(0.5005, 0.0005, 0.9995, 0.3005)),
    )


@pytest.mark.parametrize("beams", ["1", "2"])
def test_florence2_works_greedily_and_with_beams(beams: str, folders: dict[str, Path]) -> None:
    seen = observe(bound("florence2", folders["florence2"], beams=beams).build())
    assert [[box.label for box in one.boxes] for one in seen] == [["cat", "car"]] * 3


def test_florence2_prompts_are_those_of_its_processor(folders: dict[str, Path]) -> None:
    detector: Florence2 = bound("florence2", folders["florence2"]).build()
    from PIL import Image

    image = Image.new("RGB", (64, 64))
    processor = detector._processor
    for texts in (
        ["<OD>", "<OD>"],
        ["<CAPTION_TO_PHRASE_GROUNDING>a cat, a dog.", "<CAPTION_TO_PHRASE_GROUNDING>a cow."],
    ):
        tokens, mask = detector._tokens(texts)
        for i, text in enumerate(texts):
            wanted = processor(text=text, images=image, return_tensors="pt")["input_ids"][0]
            assert torch.equal(tokens[i][mask[i] == 1], wanted)


def test_truncated_florence2_answers_are_errors_unless_kept(folders: dict[str, Path]) -> None:
    requests = [ObserveRequest(picture=PICTURES[0], query=Query(role="detector"))]
    (cut,) = bound("florence2", folders["florence2"], max_tokens="7").build().observe(requests)
    assert isinstance(cut, BackendError)
    assert not cut.is_retryable
    assert cut.code == "answer-cut"
    (kept,) = bound("florence2", folders["florence2"], max_tokens="7", cut="keep").build().observe(requests)
    assert [box.label for box in kept.boxes] == ["cat"]


def test_florence2_max_tokens_is_limited_by_the_model(folders: dict[str, Path]) -> None:
    with pytest.raises(UsageError, match=r"4096.*128.*\[option-invalid\]"):
        bound("florence2", folders["florence2"], max_tokens="4096").build()


def test_grounding_keeps_only_requested_labels(folders: dict[str, Path]) -> None:
    detector: Florence2Grounding = bound("florence2-grounding", folders["florence2-grounding"]).build()
    said = "a cat<loc_100><loc_200><loc_500><loc_600><loc_700><loc_0><loc_900><loc_99>sky<loc_0><loc_0><loc_9><loc_9>"
    seen = detector._read(("cat", "dog"), [2, 5, 2], f"</s>{said}</s>")
    assert isinstance(seen, Detections)
    assert [(box.label, box.box[0]) for box in seen.boxes] == [("cat", 0.1005), ("cat", 0.7005)]
    assert detector._prompt(("cat", "scissors")).endswith(">a cat, a pair of scissors.")


@pytest.mark.parametrize("name", ["florence2-grounding", "grounding-dino", "owlv2", "sam3"])
def test_detectors_that_need_labels_refuse_none(name: str, folders: dict[str, Path]) -> None:
    detector = bound(name, folders[name]).build()
    with pytest.raises(UsageError, match=r"\[labels-missing\]"):
        observe(detector)


@pytest.mark.parametrize("name", ["grounding-dino", "owlv2", "sam3"])
def test_further_labels_can_be_set(name: str, folders: dict[str, Path]) -> None:
    also = bound(name, folders[name], also="dog,horse,cow", threshold="0").build()
    names = {box.label for seen in observe(also, "cat") for box in seen.boxes}
    assert names <= {"cat", "dog", "horse", "cow"}
    assert names - {"cat"}, "with random weights some box fits another name better"
    assert observe(also)  # and alone, where the suite names nothing


def test_grounding_dino_tokens_of_each_label(folders: dict[str, Path]) -> None:
    detector: GroundingDino = bound("grounding-dino", folders["grounding-dino"]).build()
    words, spans = detector._words(("red cat", "dog", "a car"), 2)
    # [CLS] red cat . dog . a car . [SEP]
    assert spans == [[1, 2], [4], [6, 7]]
    assert words["input_ids"].shape == (2, 10)


@pytest.mark.parametrize(
    ("name", "label"),
    [("owlv2", "cat and dog " * 6), ("grounding-dino", "cat and dog " * 12), ("sam3", "cat and dog " * 6)],
)
def test_a_label_that_is_too_long_concerns_its_own_image_only(name: str, label: str, folders: dict[str, Path]) -> None:
    detector = bound(name, folders[name]).build()
    long, short = (Query(role="detector", labels=(text,)) for text in (label.strip(), "cat"))
    first, second = detector.observe([ObserveRequest(picture=PICTURES[0], query=query) for query in (long, short)])
    assert isinstance(first, BackendError)
    assert "tokens" in str(first)
    assert isinstance(second, Detections)


@pytest.mark.usefixtures("overlapping")
def test_sam3_scores_include_presence(folders: dict[str, Path]) -> None:
    """How well a box fits its word, times the chance that the picture shows the word at all; each word for itself."""
    detector = bound("sam3", folders["sam3"], threshold="0", floor="0").build()
    model = transformers.Sam3Model.from_pretrained(folders["sam3"]).eval()
    tokenizer = transformers.AutoTokenizer.from_pretrained(folders["sam3"])
    together = observe(detector, "cat", "dog")
    for picture, seen in zip(PICTURES, together, strict=True):
        pixels = to_pixels([picture], detector._pixels, "cpu", torch.float32)
        for label in ("cat", "dog"):
            text = tokenizer(label, padding="max_length", max_length=12, return_tensors="pt")
            with torch.inference_mode():
                output = model(pixel_values=pixels, input_ids=text.input_ids, attention_mask=text.attention_mask)
            fits, is_there = output.pred_logits[0].sigmoid(), float(output.presence_logits[0].sigmoid())
            best = int(fits.argmax())
            strongest = max((box for box in seen.boxes if box.label == label), key=lambda box: box.score)
            assert strongest.score == pytest.approx(float(fits[best]) * is_there, abs=1e-4)
            assert strongest.box == pytest.approx(output.pred_boxes[0, best].clamp(0, 1).tolist(), abs=1e-3)
            assert 0 < is_there < 1


def salva(*arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-c", "from salva.cli.main import main; main()", *arguments]
    return subprocess.run(command, capture_output=True, text=True, env={**os.environ, "OMP_NUM_THREADS": "1"})


def test_a_run_from_prompts_to_a_report(folders: dict[str, Path], tmp_path: Path) -> None:
    out, folder = str(tmp_path / "run"), folders["florence2"]
    asked = ("metalogic", "--size", "2", "--detector", f"florence2/{folder}", "--reader", "none", "--out", out)
    done = salva("run", *asked, "--set", "detector.max_tokens=60", "--no-progress")
    assert done.returncode == 0, done.stderr
    assert "transformers]" not in done.stderr, "no hints of the library among ours"
    assert bound("florence2", folder).weights in (tmp_path / "run" / "run.json").read_text()
    page = tmp_path / "report.html"
    assert in_process.salva("report", out, "--format", "html", "-o", str(page)).returncode == 0
    assert "car 100" in page.read_text()  # its answer about every image, drawn over the counterexamples


@pytest.mark.parametrize("name", ["detr", "grounding-dino", "owlv2", "sam3"])
def test_runs_with_every_kind_of_detector(name: str, folders: dict[str, Path], tmp_path: Path) -> None:
    # Random weights find entities in noise, all with low scores.
    settings = {
        "check.threshold": "0.1",
        "check.doubt": "0",
        "run.preflight": "off",
        "suite.entities": "cat,dog,ball",
    }
    detector = f"{name}/{folders[name]}"
    run = run_suite(
        "metalogic", "painter", out=tmp_path / "run", size="2", detector=detector, reader="none", settings=settings
    )
    assert set(run.verdicts["outcome"]) <= {"PASS", "FAIL"}
    assert len(run.cases) == 2


def test_a_restrictive_licence_is_printed_once(
    folders: dict[str, Path], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for name in ("sam3", "owlv2"):
        settings = {"run.preflight": "off"}
        detector = f"{name}/{folders[name]}"
        run_suite(
            "metalogic", "painter", out=tmp_path / name, size="2", detector=detector, reader="none", settings=settings
        )
        assert capsys.readouterr().err.count("SAM License") == (name == "sam3")


@pytest.mark.parametrize("task", [DETECT, GROUND])
def test_florence2_answers_are_parsed_as_by_its_processor(task: str, tmp_path: Path) -> None:
    processor = transformers.AutoProcessor.from_pretrained(save_florence2(tmp_path / "model", ANSWER))
    rng = random.Random(0)
    pieces = ["cat", " a dog,", "\n", "é", "<", "<unk>", "<s>", "</s>", "<pad>", *["<loc_7>", "<loc_999>"] * 8]
    n_boxes = 0
    for _ in range(300):
        answer = "".join(rng.choice(pieces) for _ in range(40))
        wanted = processor.post_process_generation(text=answer, task=task, image_size=(10_000, 10_000))[task]
        boxes = [[edge / 10_000 for edge in box] for box in wanted["bboxes"]]
        assert parse_answer(answer) == list(zip(wanted["labels"], boxes, strict=True)), answer
        n_boxes += len(boxes)
    assert n_boxes > 300
