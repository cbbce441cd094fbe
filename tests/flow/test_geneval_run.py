"""GenEval from prompts to tables: a faultless painter passes, grey and inverted images fail, rules are named."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from in_process import salva

from salva.compare.comparing import compare_runs
from salva.core.observation import Observation, Vector
from salva.core.protocols import ObserveRequest
from salva.embedders.pocket_embedder import PocketEmbedder
from salva.errors import SalvaError, UsageError
from salva.report.summary import summarise_run
from salva.suites.geneval.demands import TASKS

GARBAGE = Path(__file__).parents[2] / "bench" / "garbage.py"


def _told(run: Path) -> dict[str, Any]:
    done = salva("report", str(run), "--format", "json")
    assert done.returncode == 0, done.stderr
    told: dict[str, Any] = json.loads(done.stdout)
    return told


def _ran(run: Path, *flags: str, code: int = 0) -> dict[str, Any]:
    done = salva("run", "geneval", *flags, "--no-progress", "--out", str(run))
    assert done.returncode == code, done.stderr
    return _told(run)


def _rows(told: dict[str, Any], name: str) -> list[dict[str, Any]]:
    (table,) = [table for table in told["tables"] if table["name"] == name]
    return [dict(zip(table["columns"], row, strict=True)) for row in table["rows"]]


@pytest.fixture(scope="module")
def faultless(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run of the quick size on a faultless painter, to be read alone."""
    run = tmp_path_factory.mktemp("geneval") / "run"
    _ran(run, "--size", "quick", "--model", "painter", "--reader", "none")
    return run


def test_a_faultless_painter_passes_every_task_by_our_rule(faultless: Path) -> None:
    report = _told(faultless)
    assert (report["settings"]["rule"], report["checks"], report["average"]) == ("primary", {"truth": 24}, "macro")
    assert report["failure_rate"] == 0
    assert {category["name"] for category in report["categories"]} == set(TASKS)
    assert report["metrics"]["chance"]["value"] > 0.9
    rows = _rows(report, "geneval")
    assert {row["rule"] for row in rows} == {"ours"}
    assert {row["task"]: row["right_rate"] for row in rows if row["task"] in TASKS} == dict.fromkeys(TASKS, 1.0)
    assert report["metrics"]["ours_overall"]["value"] == 1
    assert report["metrics"]["published_overall"]["value"] is None


@pytest.mark.parametrize("rule", ["published", "rl-strict", "rl-score"])
def test_grey_images_fail_by_every_rule(tmp_path: Path, rule: str) -> None:
    flags = ("--size", "quick", "--plugin", f"{GARBAGE}:Grey", "--model", "grey", "--detector", "pocket")
    report = _ran(tmp_path / "run", *flags, "--reader", "none", "--set", f"check.rule={rule}", code=3)
    assert {row["rule"] for row in _rows(report, "geneval")} == {"ours", rule}
    assert all(row["right_rate"] == 0 for row in _rows(report, "geneval"))
    assert report["trust"]["status"] == "none"
    assert "detector-blind" in {reason["code"] for reason in report["trust"]["reasons"]}
    if rule == "rl-score":
        assert report["metrics"]["rl_score_credit"]["value"] == 0


def test_an_inverted_detector_finds_nothing_right(tmp_path: Path) -> None:
    flags = ("--size", "quick", "--plugin", f"{GARBAGE}:Inverted", "--model", "painter", "--detector", "inverted")
    report = _ran(tmp_path / "run", *flags, "--published", "--set", "run.preflight=off", code=3)
    assert (report["settings"]["rule"], report["checks"]) == ("published", {"geneval": 24})
    assert report["failure_rate"] == 1
    assert report["metrics"]["published_overall"]["value"] == 0
    assert report["metrics"]["ours_overall"]["value"] == 0


def test_every_figure_names_the_rule_and_the_source_of_colours(tmp_path: Path) -> None:
    run = tmp_path / "run"
    report = _ran(run, "--size", "12", "--model", "painter", "--published")
    (model,) = summarise_run(run).by_model.values()
    overall = model.metrics["published_overall"]
    assert overall.title == "GenEval, published rules, other weights"
    assert "colours by the pixels" in overall.reason
    assert "published" in salva("report", str(run), "--format", "md").stdout
    by = {row["task"]: row["colours_by"] for row in _rows(report, "geneval") if row["rule"] == "published"}
    assert by["colors"] == "the pixels"
    assert by["counting"] == ""


def test_an_embedder_names_colours_where_one_is_bound(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """By a stand-in that says red of everything: red things are right, all others wrong."""
    looked: list[ObserveRequest] = []

    def always_red(_self: PocketEmbedder, requests: Sequence[ObserveRequest]) -> Sequence[Observation | SalvaError]:
        looked.extend(requests)
        return [Vector(values=(1.0, *([0.0] * 9))) for _ in requests]

    monkeypatch.setattr(PocketEmbedder, "observe", always_red)
    run = tmp_path / "run"
    flags = ("--size", "full", "--only", "tag=colors", "--model", "painter", "--embedder", "pocket", "--published")
    told = _ran(run, *flags)
    rows = [row for row in _rows(told, "geneval") if row["rule"] == "published" and row["task"] == "colors"]
    assert [row["colours_by"] for row in rows] == ["the embedder"]
    assert 0 < rows[0]["right_rate"] < 0.3
    assert {request.query.side for request in looked} == {224}
    assert all(request.picture.width == request.picture.height == 224 for request in looked)
    done = salva("verify", str(run))
    assert done.returncode == 0, done.stdout + done.stderr


def test_variants_are_results_of_their_task_and_enter_none_of_its_figures(faultless: Path, tmp_path: Path) -> None:
    flags = ("--size", "quick", "--model", "painter", "--reader", "none")
    plain = _told(faultless)
    more = _ran(tmp_path / "more", *flags, "--set", "suite.variants=commuted,other-side,exchanged")
    assert (plain["results"]["total"], more["results"]["total"]) == (24, 40)
    assert [category["name"] for category in more["categories"]] == [
        category["name"] for category in plain["categories"]
    ]
    assert more["metrics"]["ours_overall"]["n"] == plain["metrics"]["ours_overall"]["n"] == 24
    rows = _rows(more, "variants")
    assert {(row["variant"], row["n"], row["both_right_rate"]) for row in rows} == {
        ("commuted", 8, 1.0),
        ("other-side", 4, 1.0),
        ("exchanged", 4, 1.0),
    }
    assert [row["images_differ_rate"] for row in rows] == [0.0, 0.0, None], "compared where both say the same"


def test_what_rewriting_buys(tmp_path: Path) -> None:
    rows = [
        {"tag": "single_object", "include": [{"class": name, "count": 1}], "prompt": f"a photo of a {name}"}
        for name in ("cat", "dog", "cow")
    ]
    (tmp_path / "m.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    new = [{"prompt": row["prompt"], "rewritten": f"{row['prompt']} in a field"} for row in rows]
    (tmp_path / "r.jsonl").write_text("".join(json.dumps(row) + "\n" for row in new))
    settings = ("--set", f"suite.path={tmp_path}/m.jsonl", "--set", f"suite.rewritten={tmp_path}/r.jsonl")
    told = _ran(tmp_path / "run", "--size", "paper", "--model", "painter", "--reader", "none", *settings)
    assert (told["results"]["total"], told["metrics"]["ours_overall"]["n"]) == (6, 3)
    assert {(row["task"], row["difference"], row["n"]) for row in _rows(told, "gain by rewriting")} == {
        ("single_object", 0.0, 3),
        ("overall", 0.0, 3),
    }
    plain, alone = tmp_path / "plain", tmp_path / "alone"
    flags = ("--size", "paper", "--model", "painter", "--reader", "none")
    _ran(plain, *flags, *settings[:2])
    _ran(alone, *flags, *settings, "--only", "kind=rewritten")
    with pytest.raises(UsageError, match=r"\[compare-no-cases\]"):
        compare_runs([plain, alone])
    assert compare_runs([plain, tmp_path / "run"]).pairs == 3, "the same prompts are compared"


def test_exported_results_come_back_and_compare_with_the_run_they_are_of(tmp_path: Path) -> None:
    own, back = tmp_path / "own", tmp_path / "back"
    for words in (
        ("run", "geneval", "--size", "6", "--model", "painter", "--no-progress", "--out", str(own)),
        ("export", str(own), "--as", "geneval", "-o", str(tmp_path / "out")),
        ("import", str(tmp_path / "out" / "results.jsonl"), "--as", "geneval", "--out", str(back)),
    ):
        done = salva(*words, cwd=tmp_path)
        assert done.returncode in (0, 3), done.stderr
    assert compare_runs([back, own]).difference == 0, "a detector and a reader observed both"
    other = salva(
        *("run", "geneval", "--size", "6", "--model", "painter", "--reader", "none", "--no-progress", "--out", "other"),
        cwd=tmp_path,
    )
    assert other.returncode in (0, 3), other.stderr
    with pytest.raises(UsageError, match=r"salva rejudge \S+other --reader rapidocr \[compare-settings\]"):
        compare_runs([back, tmp_path / "other"])
    with pytest.raises(UsageError, match=r"salva rejudge \S+own --reader none \[compare-settings\]"):
        compare_runs([tmp_path / "other", own])
