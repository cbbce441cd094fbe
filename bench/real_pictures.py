"""How far the oracle can be believed on pictures of real models, and how far the colours that it tells.

    SALVA_TEST_DATA=FOLDER python bench/real_pictures.py [oracle|tune|colours|painted|elsewhere]

bench/labels/real_pictures.json says what is to be seen on 216 pictures by three real models, labelled blind. Truth is
what the check `truth` says of a scene made of those labels, the oracle what it says of what the detector saw; both
hold it against the prompt. A picture where the labeller was not sure of a thing that the prompt names is counted apart.
"""

from __future__ import annotations

import json
import os
import random
import re
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from salva.checks.scenes import SceneOptions
from salva.checks.truth import Truth
from salva.core.boxes import boxes_above, overlap
from salva.core.case import Case, Prompt
from salva.core.image import ImageRef, Picture
from salva.core.observation import Detection, Detections, Observation, Reading
from salva.core.options import NoOptions, parse_options
from salva.core.protocols import ImageObservations, ObserveRequest, Query
from salva.core.scene import Box
from salva.core.verdict import (
    ENTITY_DUPLICATION,
    ENTITY_OMISSION,
    OPTICAL_CHARACTER,
    X_MISPOSITION,
    Y_MISPOSITION,
    Outcome,
)
from salva.detectors.label_names import Names
from salva.detectors.onnx_yolox import OnnxOptions, OnnxYolox
from salva.detectors.pocket_detector import PocketDetector
from salva.generators.painter.component import random_scene
from salva.imaging.files import decode_picture
from salva.logic.formula import entities
from salva.logic.notation import parse
from salva.observers.colours import colour_of
from salva.readers.rapid_ocr import RapidOcr
from salva.stats.intervals import wilson

LABELS = Path(__file__).parent / "labels" / "real_pictures.json"
WEIGHTS = "weights/yolox_nano_coco80.onnx"
MISPOSITION = "misposition"
ERRORS = (ENTITY_OMISSION, ENTITY_DUPLICATION, MISPOSITION, OPTICAL_CHARACTER)
ANY = "any of them"
_RELATIONS = {"to the left of": "left_of", "to the right of": "right_of", "above": "above", "below": "below"}
_CALLED = {X_MISPOSITION: MISPOSITION, Y_MISPOSITION: MISPOSITION}
_COLOURED = re.compile(r"a_photo_of_an?_(\w+?)_(\w+?)_and_an?_(\w+?)_(\w+?)_\d+\.jpg")
_HALF = 0.02
"""Half the side of the box that stands for a labelled thing: only its middle is known."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Labelled:
    """A picture, what it should show and what it shows."""

    file: str
    formula: str
    text: str
    things: Detections
    has_text: bool
    is_sure: bool
    """Whether the labeller was sure of every thing that the prompt names."""

    @property
    def is_odd(self) -> bool:
        """Which half it is in: thresholds are chosen on the one and counted on the other."""
        return sum(self.file.encode()) % 2 == 1


@dataclass(frozen=True, slots=True, kw_only=True)
class Crop:
    """A detector's box on such a picture, with the colours one may call it by; none where no colour can be said."""

    number: int
    file: str
    label: str
    box: Box
    colours: tuple[str, ...]


def read_labels(folder: Path) -> tuple[list[Labelled], list[Crop]]:
    """The labels, with the prompts of the pictures."""
    content = json.loads(LABELS.read_text())
    prompts = json.loads((folder / "real_images/spatial/prompts.json").read_text())
    everyday = Names()
    pictures = []
    for file, label in content["pictures"].items():
        formula, text = _prompt(file, prompts, everyday)
        named = entities(parse(formula))
        boxes = [(everyday.name(name), (x, y), sure) for name, x, y, sure in label["things"]]
        pictures.append(
            Labelled(
                file=file,
                formula=formula,
                text=text,
                things=Detections(boxes=tuple(_around(name, at) for name, at, _ in boxes)),
                has_text=label["text"],
                is_sure=all(sure for name, _, sure in boxes if name in named),
            )
        )
    crops = [
        Crop(number=number, file=file, label=label, box=tuple(box), colours=tuple(c for c in colours if c != "none"))
        for number, file, label, box, colours in content["crops"]
    ]
    return pictures, crops


def _prompt(file: str, prompts: Mapping[str, Any], everyday: Names) -> tuple[str, str]:
    """Formula and text of what a picture was painted from; the coloured ones without their colours, told apart."""
    if found := _COLOURED.search(file):
        return f"{found[2]} & {found[4]}", found[0].rpartition("_")[0].replace("_", " ")
    prompt = prompts[Path(file).stem.partition("_")[0]]
    names = ", ".join(everyday.name(prompt[name]) for name in ("obj_1", "obj_2"))
    return f"{_RELATIONS[prompt['rel']]}({names})", prompt["text"]


def _around(name: str, at: tuple[float, float]) -> Detection:
    x, y = at
    return Detection(label=name, score=1.0, box=(x - _HALF, y - _HALF, x + _HALF, y + _HALF))


def load(folder: Path, file: str) -> Picture:
    """A picture."""
    return decode_picture((folder / "real_images" / file).read_bytes())


Seen = tuple[Detections, Reading | None]
"""What a detector and a reader saw of one picture."""


def look(folder: Path, pictures: Sequence[Labelled], *, with_reader: bool = True) -> list[Seen]:
    """What onnx/ and rapidocr see."""
    detector = OnnxYolox(OnnxOptions(model=str(folder / WEIGHTS)))
    reader = RapidOcr(NoOptions()) if with_reader else None
    seen = []
    for picture in pictures:
        pixels = load(folder, picture.file)
        (boxes,) = detector.observe([ObserveRequest(picture=pixels, query=Query(role="detector"))])
        reading: object = (
            reader.observe([ObserveRequest(picture=pixels, query=Query(role="reader"))])[0] if reader else None
        )
        assert isinstance(boxes, Detections)
        assert reading is None or isinstance(reading, Reading)
        seen.append((boxes, reading))
    return seen


def errors_in(picture: Labelled, boxes: Detections, reading: Reading | None, **options: str) -> frozenset[str] | None:
    """The errors that `truth` finds in what was seen; None where it is undecided."""
    prompt = Prompt(role="a", text=picture.text, formula=picture.formula)
    case = Case(case_id="real", suite="real", category="real", prompts=(prompt,), checks=("truth",))
    check = Truth(parse_options(SceneOptions, options, "check"))
    answers: dict[Query, Observation] = {}
    for wanted in check.needs(case, {"detector", "reader"} if reading else {"detector"}, {}):
        answers[wanted.query] = reading if reading and wanted.query.role == "reader" else boxes
    image = ImageRef(image_id="0" * 40, width=1, height=1)
    concluded = check.judge(case, {"a": ImageObservations(image=image, seen=answers)})
    if concluded.outcome is Outcome.UNDECIDED:
        return None
    return frozenset(_CALLED.get(error, error) for error in concluded.failure_types)


@dataclass(frozen=True, slots=True, kw_only=True)
class Counts:
    """How often an error is there, is found, and both."""

    n: int
    n_true: int
    n_found: int
    n_both: int

    def row(self) -> tuple[str, ...]:
        """Numbers, precision and recall with Wilson's intervals."""
        return (
            *(str(number) for number in (self.n, self.n_true, self.n_found)),
            _share(self.n_both, self.n_found),
            _share(self.n_both, self.n_true),
        )


def _share(n: int, of: int) -> str:
    if of == 0:
        return "–"
    interval = wilson(n / of, of)
    return f"{n / of:.2f} ({interval.low:.2f} to {interval.high:.2f})"


def true_errors(picture: Labelled) -> frozenset[str]:
    """The errors by the labels."""
    found = errors_in(picture, picture.things, None)
    assert found is not None
    return found | ({OPTICAL_CHARACTER} if picture.has_text else set())


def count(pairs: Iterable[tuple[frozenset[str], frozenset[str]]]) -> dict[str, Counts]:
    """True and found errors of pictures, by error."""
    listed = list(pairs)

    def counted(is_in: Callable[[frozenset[str]], bool]) -> Counts:
        true, found = [is_in(true) for true, _ in listed], [is_in(found) for _, found in listed]
        both = sum(a and b for a, b in zip(true, found, strict=True))
        return Counts(n=len(listed), n_true=sum(true), n_found=sum(found), n_both=both)

    return {error: counted(frozenset({error}).issubset) for error in ERRORS} | {ANY: counted(bool)}


@dataclass(frozen=True, slots=True, kw_only=True)
class Oracle:
    """How the oracle did under some settings."""

    by_error: Mapping[str, Counts]
    n_decided: int
    n: int


def measure(pictures: Sequence[Labelled], seen: Sequence[Seen], **options: str) -> Oracle:
    """The oracle on these pictures with these settings of the check."""
    pairs = []
    for picture, (boxes, reading) in zip(pictures, seen, strict=True):
        found = errors_in(picture, boxes, reading, **options)
        if found is not None:
            true = true_errors(picture)
            pairs.append((true if reading else true - {OPTICAL_CHARACTER}, found))
    return Oracle(by_error=count(pairs), n_decided=len(pairs), n=len(pictures))


def print_oracle(title: str, oracle: Oracle) -> None:
    """One table."""
    decided = _share(oracle.n_decided, oracle.n)
    print(f"\n{title}: {oracle.n_decided} of {oracle.n} decided, {decided}\n")
    _line("error", "n", "true", "found", "precision", "recall")
    _line(*["---"] * 6)
    for error, counts in oracle.by_error.items():
        _line(error, *counts.row())


def print_colours(folder: Path, crops: Sequence[Crop]) -> None:
    """How often the colour in a box is told right, and how often it is not told; and wrong colours of the coloured."""
    told = {crop.number: colour_of(load(folder, crop.file), crop.box) for crop in crops}
    _line("crops", "n", "told", "right of those told", "not told")
    _line(*["---"] * 5)
    halves = {"all": crops, "odd": [c for c in crops if c.number % 2], "even": [c for c in crops if c.number % 2 == 0]}
    for name, half in halves.items():
        coloured = [crop for crop in half if crop.colours]
        said = [crop for crop in coloured if told[crop.number]]
        right = sum(told[crop.number] in crop.colours for crop in said)
        _line(
            name, len(coloured), len(said), _share(right, len(said)), _share(len(coloured) - len(said), len(coloured))
        )
    without = [crop for crop in crops if not crop.colours]
    untold = sum(told[crop.number] is None for crop in without)
    print(f"\nno colour can be said of {len(without)} more crops; {untold} of them are not told either")
    pairs = [
        (crop.colours, wanted, colour)
        for crop in crops
        if crop.colours and (wanted := _wanted_colour(crop)) and (colour := told[crop.number])
    ]
    counts = Counts(
        n=len(pairs),
        n_true=sum(wanted not in colours for colours, wanted, _ in pairs),
        n_found=sum(wanted != colour for _, wanted, colour in pairs),
        n_both=sum(wanted not in colours and wanted != colour for colours, wanted, colour in pairs),
    )
    print("\nthings whose colour the prompt says:\n")
    _line("error", "n", "true", "found", "precision", "recall")
    _line(*["---"] * 6)
    _line("wrong-colour", *counts.row())


def print_painted(n_scenes: int = 400) -> None:
    """The same of coloured things that the painter draws, in the embedded detector's boxes."""
    detector, rng = PocketDetector(PocketDetector.Options()), random.Random(0)
    n = n_told = n_right = 0
    for _ in range(n_scenes):
        picture, things = random_scene(rng, PocketDetector.labels(), rng.randint(1, 3), colour_rate=1.0)
        request = ObserveRequest(picture=picture, query=Query(role="detector"))
        (seen,) = detector.observe([request])
        assert isinstance(seen, Detections)
        for thing in things:
            boxes = [b for b in seen.boxes if b.label == thing.label and b.score >= 0.4]
            box = max(boxes, key=lambda b: overlap(b.box, thing.box), default=None)
            if thing.colour and box is not None and overlap(box.box, thing.box) > 0.5:
                told = colour_of(picture, box.box)
                n, n_told, n_right = n + 1, n_told + (told is not None), n_right + (told == thing.colour)
    _line("painted things with a colour", "told", "right of those told", "not told")
    _line(*["---"] * 4)
    _line(n, n_told, _share(n_right, n_told), _share(n - n_told, n))


def print_elsewhere(folder: Path, pictures: Sequence[Labelled]) -> None:
    """How sure the embedded detector is of what it takes these pictures to show, which it was not made for."""
    detector = PocketDetector(PocketDetector.Options())
    scores = []
    for picture in pictures:
        (seen,) = detector.observe([ObserveRequest(picture=load(folder, picture.file), query=Query(role="detector"))])
        assert isinstance(seen, Detections)
        scores += [box.score for box in boxes_above(seen)]
    print(f"{len(scores)} boxes that count on {len(pictures)} pictures, mean score {sum(scores) / len(scores):.2f}")


def _wanted_colour(crop: Crop) -> str | None:
    """The colour that the prompt of a picture gives the thing in a crop."""
    found = _COLOURED.search(crop.file)
    return {found[2]: found[1], found[4]: found[3]}.get(crop.label) if found else None


def print_tuning(pictures: Sequence[Labelled], seen: Sequence[Seen]) -> None:
    """Thresholds and doubts on the one half, to choose by; what is chosen counts on the other."""
    both = list(zip(pictures, seen, strict=True))
    for name, is_odd in (("chosen on", True), ("counted on", False)):
        half = [(picture, eyes) for picture, eyes in both if picture.is_odd is is_odd]
        print(f"\n{name} {len(half)} pictures, precision and recall:\n")
        _line("threshold", "doubt", "decided", *ERRORS[:-1], ANY)
        _line(*["---"] * 7)
        for threshold, doubt in ((t, d) for t in (0.1, 0.2, 0.3, 0.4, 0.5) for d in (0, 0.4, 0.5, 0.6, 0.7)):
            if doubt and doubt < threshold:
                continue
            eyes = [(boxes, None) for _, (boxes, _) in half]
            oracle = measure([p for p, _ in half], eyes, threshold=str(threshold), doubt=str(doubt))
            cells = [_both(counts) for error, counts in oracle.by_error.items() if error != OPTICAL_CHARACTER]
            _line(threshold, doubt, oracle.n_decided, *cells)


def _both(counts: Counts) -> str:
    return f"{counts.n_both}/{counts.n_found}, {counts.n_both}/{counts.n_true}"


def _line(*cells: object) -> None:
    print("|", " | ".join(str(cell) for cell in cells), "|", flush=True)


def main(what: str) -> None:
    """Print the tables."""
    if what == "painted":
        print_painted()
        return
    folder = Path(os.environ.get("SALVA_TEST_DATA", ""))
    if not (folder / "real_images").is_dir():
        print("the pictures are not ours: SALVA_TEST_DATA names no folder that has them, so nothing is measured")
        return
    pictures, crops = read_labels(folder)
    if what == "elsewhere":
        print_elsewhere(folder, pictures)
        return
    if what in ("", "colours"):
        print_colours(folder, crops)
    if what == "colours":
        return
    seen = look(folder, pictures, with_reader=what != "tune")
    sure = [(picture, eyes) for picture, eyes in zip(pictures, seen, strict=True) if picture.is_sure]
    unsure = [(picture, eyes) for picture, eyes in zip(pictures, seen, strict=True) if not picture.is_sure]
    if what == "tune":
        print_tuning([picture for picture, _ in sure], [eyes for _, eyes in sure])
        return
    for title, options in SETTINGS.items():
        print_oracle(title, measure([p for p, _ in sure], [eyes for _, eyes in sure], **options))
    print_oracle("where the labeller was not sure", measure([p for p, _ in unsure], [eyes for _, eyes in unsure]))


SETTINGS: Mapping[str, Mapping[str, str]] = {"without doubt": {"doubt": "0"}, "with doubt, as it comes": {}}
"""What the oracle is measured with."""


if __name__ == "__main__":
    main(sys.argv[1] if len(sys.argv) > 1 else "")
