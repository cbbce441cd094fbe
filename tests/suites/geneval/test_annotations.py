"""People's annotations of GenEval's images: each rater's verdict by the published rule, and the majority's."""

from __future__ import annotations

import csv
import json
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

from salva.core.exchange import ImportSettings, ReadIn
from salva.core.verdict import Outcome
from salva.errors import UsageError
from salva.suites.geneval.annotations import MAJORITY, read_annotations
from salva.suites.geneval.demands import demand_in, demands_of
from salva.suites.geneval.results_import import ResultsImport, ResultsOptions
from salva.suites.geneval.suite import CHECK

FAIL, PASS, UNDECIDED = Outcome.FAIL, Outcome.PASS, Outcome.UNDECIDED
_ANSWERS = ("count-0", "count-1", "color-0", "color-1", "position-x", "position-y")


def row(
    caption: str, names: Sequence[str], answers: Mapping[str, str], image: str = "clip/00000/samples/00001.png"
) -> dict[str, str]:
    first, second = (*names, "")[:2]
    return {
        "Input.image_url": f"https://host/images/{image}",
        "Input.caption": caption,
        "Input.object_0_name": first,
        "Input.object_1_name": second,
        "Input.object_0_name_plural": first and f"{first}s",
        **{f"Answer.task-{name}": answers.get(name, "") for name in _ANSWERS},
    }


def write(path: Path, *rows: Mapping[str, str]) -> Path:
    with path.open("w", newline="") as file:
        writer = csv.DictWriter(file, fieldnames=[*rows[0]])
        writer.writeheader()
        writer.writerows(rows)
    return path


def read(folder: Path, *rows: Mapping[str, str]) -> ReadIn:
    path = write(folder / "annotations_x.csv", *rows)
    return ResultsImport(ResultsOptions()).read([path], ImportSettings())


TWO = ("cat", "dog")


@pytest.mark.parametrize(
    ("caption", "names", "answers", "outcome", "failure"),
    [
        ("a photo of a cat", ["cat"], {"count-0": "1.0"}, PASS, ""),
        ("a photo of a cat", ["cat"], {"count-0": "3"}, PASS, ""),
        ("a photo of a cat", ["cat"], {"count-0": "0"}, FAIL, "entity-omission"),
        ("a photo of three benchs", ["bench"], {"count-0": "3"}, PASS, ""),
        ("a photo of three benchs", ["bench"], {"count-0": "4"}, FAIL, "entity-duplication"),
        ("a photo of an orange orange", ["orange"], {"count-0": "1", "color-0": "red|orange"}, PASS, ""),
        ("a photo of a red cat", ["cat"], {"count-0": "1", "color-0": "gray|orange"}, FAIL, "wrong-colour"),
        ("a photo of a red cat", ["cat"], {"count-0": "1"}, UNDECIDED, ""),
        ("a photo of a red cat", ["cat"], {"count-0": "0"}, FAIL, "entity-omission"),
        ("a photo of a red cat", ["cat"], {"count-0": "many", "color-0": "red"}, UNDECIDED, ""),
        ("a photo of a cat and a dog", TWO, {"count-0": "1", "count-1": "2.0"}, PASS, ""),
        ("a photo of a cat and a dog", TWO, {"count-0": "1", "count-1": "0.0"}, FAIL, "entity-omission"),
        ("a photo of a cat and a dog", TWO, {"count-0": "1"}, UNDECIDED, ""),
        (
            "a photo of a red cat and a blue dog",
            TWO,
            {"count-0": "1", "count-1": "1", "color-0": "red", "color-1": "red"},
            FAIL,
            "wrong-colour",
        ),
        (
            "a photo of a dog left of a cat",
            TWO,
            {"count-0": "1", "count-1": "1", "position-x": "left", "position-y": "above"},
            PASS,
            "",
        ),
        (
            "a photo of a dog left of a cat",
            TWO,
            {"count-0": "1", "count-1": "1", "position-x": "right", "position-y": "neither_y"},
            FAIL,
            "x-misposition",
        ),
        (
            "a photo of a dog below a cat",
            TWO,
            {"count-0": "1", "count-1": "1", "position-x": "left", "position-y": "neither_y"},
            FAIL,
            "y-misposition",
        ),
        ("a photo of a dog below a cat", TWO, {"count-0": "1", "count-1": "1", "position-x": "left"}, UNDECIDED, ""),
        ("a photo of a dog below a cat", TWO, {"count-0": "0", "count-1": "1"}, FAIL, "entity-omission"),
    ],
)
def test_what_a_rater_saw_is_judged_by_the_published_rule(
    tmp_path: Path, caption: str, names: Sequence[str], answers: Mapping[str, str], outcome: Outcome, failure: str
) -> None:
    one, majority = read(tmp_path, row(caption, names, answers)).verdicts
    assert (one.outcome, majority.outcome, one.observers) == (outcome, outcome, ("rater 1",))
    assert one.failure_types[:1] == ((failure,) if failure else ())
    assert (one.check, one.model, one.repeat) == (CHECK, "clip", 1)


def test_the_majority_decides_of_those_who_can_tell(tmp_path: Path) -> None:
    right, wrong, silent = (
        row("a photo of a red cat", ["cat"], {"count-0": "1", "color-0": colour}) for colour in ("red", "blue", "")
    )
    other = row("a photo of a red cat", ["cat"], {"count-0": "1", "color-0": "red"}, "clip/00000/samples/00002.png")
    read_in = read(tmp_path, right, wrong, silent, silent, wrong, other)
    assert read_in.deciding == (MAJORITY,)
    assert {(v.repeat, v.outcome) for v in read_in.verdicts if v.observers == read_in.deciding} == {
        (1, FAIL),
        (2, PASS),
    }
    assert read_in.repeats == 3
    tied = read(tmp_path, right, wrong, silent)
    assert tied.verdicts[-1].outcome is UNDECIDED


def test_rows_that_cannot_be_used_are_named_and_the_others_kept(tmp_path: Path) -> None:
    good = row("a photo of a cat", ["cat"], {"count-0": "1"})
    strange = row("cats, lots of them", ["cat"], {"count-0": "1"})
    unplaced = row("a photo of a cat", ["cat"], {"count-0": "1"}, "cat.png")
    read_in = read(tmp_path, strange, good, unplaced)
    assert [flaw.where for flaw in read_in.problems] == ["line 2", "line 4"]
    assert read_in.counts == {"images": 1, "prompts": 1, "people": 1}
    with pytest.raises(UsageError) as caught:
        read(tmp_path, strange)
    assert caught.value.code == "import-empty"


def test_official_captions_say_what_their_metadata_says(foreign_data: Path, tmp_path: Path) -> None:
    lines = (foreign_data / "geneval" / "evaluation_metadata.jsonl").read_text().splitlines()
    official: list[dict[str, Any]] = [json.loads(line) for line in lines]
    rows = [row(one["prompt"], [part["class"] for part in one["include"]], {}) for one in official]
    # People, knives and sheep: the one plural that the sheet and not the name tells.
    plurals = {"person": "people", "knife": "knives", "sheep": "sheep"}
    for one in rows:
        name = one["Input.object_0_name"]
        one["Input.object_0_name_plural"] = plurals.get(name, name + "es")
    read_in = read(tmp_path, *rows)
    assert read_in.problems == ()
    by_text = {case.prompts[0].text: demands_of(case) for case in read_in.cases}
    assert by_text == {one["prompt"]: (demand_in(one),) for one in official}


def test_published_annotations_have_the_majority_that_a_plain_count_gives(foreign_data: Path) -> None:
    path = foreign_data / "benchmarks" / "geneval_people" / "annotations_clip.csv"
    read_in = read_annotations([path], [path.name])
    tasks = {case.case_id: case.category for case in read_in.cases}
    majority = [one for one in read_in.verdicts if one.observers == (MAJORITY,)]
    # Counted from the answers and the official metadata by a program of its own.
    assert Counter(tasks[one.case_id] for one in majority if one.outcome is FAIL) == {
        "color_attr": 52,
        "position": 74,
        "two_object": 55,
        "counting": 37,
        "colors": 20,
        "single_object": 1,
    }
    assert (len(majority), len(read_in.verdicts), read_in.problems) == (400, 2400, ())
