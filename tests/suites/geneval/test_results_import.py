"""Strangers' result lines become a run: their verdicts are its results, boxes are judged again, gaps are counted."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from in_process import salva

from salva.core.exchange import ImportSettings, ReadIn
from salva.core.result import Rule
from salva.core.verdict import Outcome
from salva.errors import UsageError
from salva.exchange.importing import import_files
from salva.store.queries import read_records
from salva.suites.geneval.results_import import THEIRS, ResultsImport, ResultsOptions
from salva.suites.geneval.rules import NO_COLOURS


def _line(prompt: str = "a photo of a cow", number: int = 0, sample: int = 0, **change: Any) -> dict[str, Any]:
    include = change.pop("include", [{"class": "cow", "count": 1}])
    tag = change.pop("tag", "single_object")
    metadata = {"tag": tag, "include": include, "prompt": prompt}
    return {
        "filename": f"sdxl/{number:05}/samples/{sample:04}.png",
        "tag": tag,
        "prompt": prompt,
        "correct": True,
        "reason": "",
        "metadata": json.dumps(metadata),
        "details": json.dumps({"cow": [[10, 10, 90, 90, 0.98]]}),
        **change,
    }


def _read(path: Path, *lines: object, **options: Any) -> ReadIn:
    path.write_text("".join((line if isinstance(line, str) else json.dumps(line)) + "\n" for line in lines))
    return ResultsImport(ResultsOptions(**options)).read([path], ImportSettings())


def _golden_lines(folder: Path) -> list[dict[str, Any]]:
    """The golden verdicts as the published program would have written them."""
    lines = []
    for i, text in enumerate((folder / "geneval" / "golden_rules.jsonl").read_text().splitlines()):
        one = json.loads(text)
        metadata = one["metadata"]
        threshold = 0.9 if metadata["tag"] == "counting" else 0.3
        details: dict[str, list[list[float]]] = {}
        for seen in sorted(one["detections"], key=lambda d: -d["score"]):
            if seen["score"] > threshold:
                details.setdefault(seen["class"], []).append([*seen["box"], seen["score"]])
        lines.append(
            {
                "filename": f"stranger/{i:05}/samples/0000.png",
                "tag": metadata["tag"],
                "prompt": metadata["prompt"],
                "correct": one["correct"],
                "reason": one["reason"],
                "metadata": json.dumps(metadata),
                "details": json.dumps(details),
            }
        )
    return lines


def test_a_strangers_file_becomes_a_run_and_a_report(foreign_data: Path, tmp_path: Path) -> None:
    first: dict[str, dict[str, Any]] = {}
    for line in _golden_lines(foreign_data):
        first.setdefault(line["prompt"], line)
    lines = list(first.values())
    (tmp_path / "results.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    run = tmp_path / "run"
    done = salva("import", str(tmp_path / "results.jsonl"), "--as", "geneval", "--out", str(run))
    assert done.returncode == 0, done.stderr
    assert f"{len(lines)} images, {len(lines)} prompts of stranger" in done.stdout
    assert f"{len(lines)} of GenEval's 553" in done.stdout
    assert "contradict" not in done.stdout, "its boxes say by the published rule what it says"
    report = json.loads(salva("report", str(run), "--format", "json").stdout)
    assert (report["settings"]["rule"], report["checks"]) == ("published", {"geneval": len(lines)})
    assert report["results"]["pass"] == sum(line["correct"] for line in lines)
    by_task = {
        tag: [line["correct"] for line in lines if line["tag"] == tag] for tag in {line["tag"] for line in lines}
    }
    overall = sum(sum(right) / len(right) for right in by_task.values()) / len(by_task)
    assert report["metrics"]["published_overall"]["value"] == pytest.approx(overall)
    assert report["failure_rate"] == pytest.approx(1 - overall)
    ours = report["metrics"]["ours_overall"]
    assert ours["value"] is None, "lines have no colours: only wrong images can be decided"
    low, high = ours["interval"]
    assert 0 < low < high < 1
    (table,) = (table for table in report["tables"] if table["name"] == "geneval")
    rows = [dict(zip(table["columns"], row, strict=True)) for row in table["rows"]]
    shares = {row["task"]: row["right_rate"] for row in rows if row["rule"] == "ours"}
    assert {task for task, share in shares.items() if share is None} >= {"colors", "color_attr", "overall"}
    assert shares["counting"] is not None
    for form in ("md", "html"):
        assert salva("report", str(run), "--format", form, "-o", str(tmp_path / f"report.{form}")).returncode == 0


def test_boxes_are_judged_again_by_our_rule_and_colours_are_not(tmp_path: Path) -> None:
    two = json.dumps({"cow": [[10, 10, 90, 90, 0.98], [100, 10, 180, 90, 0.9]]})
    red: dict[str, Any] = {"include": [{"class": "cow", "count": 1, "color": "red"}], "tag": "colors"}
    read = _read(
        tmp_path / "r.jsonl",
        _line(),
        _line("a photo of one cow", 1, details=two, tag="counting"),
        _line("a photo of two cows", 4, details=two),
        _line("a photo of a red cow", 2, **red),
        _line("a photo of a red cow again", 3, details="{}", correct=False, reason="expected cow>=1, found 0", **red),
    )
    ours = {verdict.case_id: verdict for verdict in read.verdicts if verdict.check == "truth"}
    outcomes = [verdict.outcome for verdict in ours.values()]
    assert outcomes == [Outcome.PASS, Outcome.FAIL, Outcome.PASS, Outcome.UNDECIDED, Outcome.FAIL]
    assert [NO_COLOURS in verdict.scores for verdict in ours.values()] == [False, False, False, True, True]
    theirs = [verdict for verdict in read.verdicts if verdict.check == "geneval"]
    assert [verdict.outcome for verdict in theirs] == [Outcome.PASS] * 4 + [Outcome.FAIL]
    assert theirs[4].failure_types == ("entity-omission",)
    assert {name for verdict in read.verdicts for name in verdict.observers} == {THEIRS}


def test_error_types_are_told_from_the_reason_alone(tmp_path: Path) -> None:
    red: dict[str, Any] = {"include": [{"class": "cow", "count": 1, "color": "red"}], "tag": "colors"}
    wrong: dict[str, Any] = {"correct": False, "details": None}
    both = "expected cow>=1, found 0\nno target for dog to be left of"
    read = _read(
        tmp_path / "r.jsonl",
        _line("a", 0, reason="expected red cow>=1, found 0 red; and 1 blue", **red, **wrong),
        _line("b", 1, reason=both, **wrong),
        _line("c", 2, reason="it is ugly", **wrong),
        _line("d", 3, reason="it is odd", failure_types=["entity-omission"], **wrong),
        _line("e", 4, reason="it is odd", failure_types=["oddity"], **wrong),
        _line("f", 5, reason="expected cow>=1, found 0", details=None),
    )
    errors = [verdict.failure_types for verdict in read.verdicts if verdict.check == "geneval"]
    assert errors == [("wrong-colour",), ("entity-omission", "no-target"), (), ("entity-omission",), (), ()]


@pytest.mark.parametrize("where", ["left of", "above"])
@pytest.mark.parametrize(
    ("dog", "cow", "outcome"),
    [
        ((50, 150), (0, 700), Outcome.PASS),
        ((0, 700), (50, 150), Outcome.FAIL),
        ((0, 700), (600, 650), Outcome.PASS),
        ((600, 650), (0, 700), Outcome.FAIL),
    ],
)
def test_centres_decide_which_side_a_box_is_on(
    tmp_path: Path, where: str, dog: tuple[int, int], cow: tuple[int, int], outcome: Outcome
) -> None:
    include = [{"class": "cow", "count": 1}, {"class": "dog", "count": 1, "position": [where, 0]}]
    boxes = {
        name: [a, 10, b, 90] if where == "left of" else [10, a, 90, b] for name, (a, b) in (("dog", dog), ("cow", cow))
    }
    details = json.dumps({name: [[*box, 0.98]] for name, box in boxes.items()})
    line = _line(f"a photo of a dog {where} a cow", include=include, tag="position", details=details)
    (ours,) = (verdict for verdict in _read(tmp_path / "r.jsonl", line).verdicts if verdict.check == "truth")
    assert ours.outcome is outcome


def test_a_line_that_contradicts_its_boxes_is_told(tmp_path: Path) -> None:
    read = _read(tmp_path / "r.jsonl", _line(details="{}"), _line("a photo of one cow", 1, correct=False))
    told = [str(flaw) for flaw in read.problems]
    assert told[0].startswith("r.jsonl line 1: is right")
    assert told[1].startswith("r.jsonl line 2: is wrong")


def test_a_tag_that_its_metadata_contradicts_is_left_out(tmp_path: Path) -> None:
    read = _read(tmp_path / "r.jsonl", _line(), {**_line("a photo of one cow", 1), "tag": "counting"})
    assert len(read.cases) == 1
    assert "line 2: tag is 'counting'" in str(read.problems[0])


def test_pictures_without_a_number_take_the_repeats_that_are_left(tmp_path: Path) -> None:
    names = ("0001.png", "best.png", "0000.png", "last.png")
    lines = [{**_line(), "filename": f"sdxl/00000/samples/{name}"} for name in names]
    read = _read(tmp_path / "r.jsonl", *lines)
    assert [verdict.repeat for verdict in read.verdicts if verdict.check == "geneval"] == [1, 2, 0, 3]
    assert not any("second line" in str(flaw) for flaw in read.problems)


def test_results_without_any_box_stand_as_they_are_and_nobody_is_called_blind(tmp_path: Path) -> None:
    path = tmp_path / "results.jsonl"
    read = _read(path, *(_line(f"a photo of a cow {n}", n, details="{}", correct=n % 2 == 0) for n in range(30)))
    assert {verdict.check for verdict in read.verdicts} == {"geneval"}
    assert "no boxes" in str(read.problems[0])
    assert read.counts["lines without boxes"] == 30
    done = salva("import", str(path), "--as", "geneval", "--out", str(tmp_path / "run"))
    assert done.returncode == 0, done.stderr
    report = json.loads(salva("report", str(tmp_path / "run"), "--format", "json").stdout)
    assert report["trust"]["status"] != "none", report["trust"]["reasons"]
    assert report["results"]["pass"] == report["results"]["fail"] == 15


def test_broken_lines_cost_themselves_alone(tmp_path: Path) -> None:
    read = _read(tmp_path / "r.jsonl", "{half", "[1]", _line(correct="perhaps"), _line(), _line(), _line(sample=1))
    assert len(read.cases) == 1
    assert [verdict.repeat for verdict in read.verdicts if verdict.check == "geneval"] == [0, 1]
    told = [str(flaw) for flaw in read.problems]
    assert [text.partition(":")[0] for text in told[:4]] == [f"r.jsonl line {n}" for n in (1, 2, 3, 5)]
    assert "'sdxl/00000/samples/0000.png'" in told[3]
    assert read.repeats == 2


def test_missing_prompts_by_name(tmp_path: Path) -> None:
    rows = [
        {"tag": "single_object", "include": [{"class": name, "count": 1}], "prompt": f"a photo of a {name}"}
        for name in ("cow", "dog", "cat")
    ]
    (tmp_path / "m.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    read = _read(tmp_path / "r.jsonl", _line(), metadata=str(tmp_path / "m.jsonl"))
    assert [flaw.what for flaw in read.problems] == ["1 of 3 prompts; missing: a photo of a dog; a photo of a cat"]


@pytest.mark.parametrize(
    ("rule", "check", "is_published"),
    [("published", "geneval", True), ("rl-strict", "geneval", False), ("ours", "", False)],
)
def test_the_rule_of_the_lines_is_the_rule_of_the_run(
    tmp_path: Path, rule: str, check: str, is_published: bool
) -> None:
    (tmp_path / "r.jsonl").write_text(json.dumps(_line(rule=rule)) + "\n")
    import_files([tmp_path / "r.jsonl"], "geneval", tmp_path / "run")
    assert read_records(tmp_path / "run").asked.rule == Rule(check=check, is_published=is_published)


def test_what_is_no_result_file(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="import-empty"):
        _read(tmp_path / "r.jsonl", {"a": 1})
    with pytest.raises(UsageError, match="rules-mixed"):
        _read(tmp_path / "r.jsonl", _line(), _line(sample=1, rule="rl-strict"))
    run = tmp_path / "run"
    done = salva("import", str(tmp_path / "none.jsonl"), "--as", "geneval", "--out", str(run))
    assert done.returncode == 2
    assert not run.exists()


def test_names_of_models(tmp_path: Path) -> None:
    plain: dict[str, Any] = {"filename": "x.png"}
    assert _read(tmp_path / "r.jsonl", _line()).models == ("sdxl",)
    assert _read(tmp_path / "mine.jsonl", _line(**plain)).models == ("mine",)
    assert _read(tmp_path / "results.jsonl", _line(**plain)).models == (tmp_path.name,)
    both = ResultsImport(ResultsOptions()).read([tmp_path / "r.jsonl", tmp_path / "r.jsonl"], ImportSettings())
    assert both.models == ("sdxl", "sdxl (2)")
    with pytest.raises(UsageError, match="model-name-ambiguous"):
        ResultsImport(ResultsOptions()).read([tmp_path / "r.jsonl"] * 2, ImportSettings(model="m"))
