"""The faithfulness suite from prompts to report on the embedded models, offline."""

from __future__ import annotations

import csv
import json
import re
from pathlib import Path

import pytest
from click.testing import CliRunner

from salva import registry
from salva.cli.main import salva
from salva.core.verdict import Outcome
from salva.errors import UsageError
from salva.exchange.exporting import export_run
from salva.exchange.importing import import_files
from salva.report.summary import ModelSummary, summarise_run
from salva.results.trust import DETECTOR_BLIND, NONE
from salva.store.queries import read_records

FAULTY = ("--set", "model.faults=entity-omission:0.5")


def _summarised(run: Path) -> ModelSummary:
    (model,) = summarise_run(run).by_model.values()
    return model


def _run(out: Path, *arguments: str) -> ModelSummary:
    command = [
        "run",
        "faithfulness",
        "--model",
        "painter",
        "--reader",
        "none",
        "--embedder",
        "none",
        "--no-progress",
        "--out",
        str(out),
    ]
    done = CliRunner().invoke(salva, [*command, *arguments], catch_exceptions=False)
    assert done.exit_code == 0, done.output
    return _summarised(out)


@pytest.fixture(scope="module")
def faulty(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run of every category on a painter that leaves things out."""
    out = tmp_path_factory.mktemp("runs") / "faulty"
    _run(out, "--size", "quick", *FAULTY)
    return out


def test_a_faultless_painter_is_faithful_and_stable(tmp_path: Path) -> None:
    one = _run(tmp_path / "run", "--size", "quick", "--only", "dimension=horizontal")
    assert (one.results["total"], one.results["pass"]) == (5, 5)
    assert one.checks == {"truth": 5}
    assert one.metrics["faith_mean"].value == 1.0
    assert one.metrics["faith_stability"].value == 1.0


def test_omitted_things_lower_faithfulness_and_stability_and_are_named(faulty: Path) -> None:
    one = _summarised(faulty)
    assert one.results["total"] == 20
    assert one.results["fail"] > 5
    assert "entity-omission" in one.failure_types
    faith, stability = one.metrics["faith_mean"].value, one.metrics["faith_stability"].value
    assert faith is not None
    assert stability is not None
    assert 0.3 < stability < 0.95
    assert 0.3 < faith < 0.95
    assert {chart.name for chart in one.charts} >= {"stability-law-by-dimension", "faithfulness-by-category"}


def test_pairs_of_a_file_that_say_two_things_are_held_to_differ(tmp_path: Path) -> None:
    path = tmp_path / "pairs.csv"
    header = "pair_id,category_id,logical_law,semantic_dimension,prompt_A,prompt_B"
    path.write_text(f"{header}\np1,13,Complement,Conjunctive,a cup,no cup\n", encoding="utf-8")
    one = _run(tmp_path / "run", "--size", "full", "--set", f"suite.path={path}")
    assert (one.results["pass"], one.metrics["contrast_rate"].value) == (1, 0)
    judged_by = {verdict.check for verdict in read_records(tmp_path / "run").verdicts}
    assert "must-differ" in judged_by
    assert "same-answers" not in judged_by


def test_judging_again_asks_nothing_twice(faulty: Path) -> None:
    before = read_records(faulty).verdicts
    done = CliRunner().invoke(salva, ["rejudge", str(faulty), "--set", "check.min_stability=0.1", "--no-progress"])
    assert done.exit_code == 0, done.output
    after = read_records(faulty).verdicts
    strict = sum(v.outcome == "FAIL" for v in before if v.check == "same-answers")
    mild = sum(v.outcome == "FAIL" for v in after if v.check == "same-answers")
    assert mild < strict
    done = CliRunner().invoke(salva, ["rejudge", str(faulty), "--set", "check.min_stability=1.0", "--no-progress"])
    assert done.exit_code == 0, done.output


def test_an_exported_run_has_the_published_layout_and_imports_to_the_same_means(faulty: Path, tmp_path: Path) -> None:
    out = tmp_path / "export"
    assert export_run(faulty, "tifa-lite", out).n == 20
    assert (out / "Images" / "DeMorgan" / "18" / "Horizontal" / "demorgan_horiz_001_A.png").is_file()
    assert len(list(out.glob("Images/*/*/*/*.png"))) == 40
    with (out / "prompts_metalogic.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    assert list(rows[0])[:6] == ["pair_id", "category_id", "logical_law", "semantic_dimension", "prompt_A", "prompt_B"]
    read_in = import_files(sorted(out.glob("*.csv")), "tifa-lite", tmp_path / "again")
    # A hat of which only the band has the colour in question could not be judged, so it has no answers.
    (flaw,) = read_in.problems
    assert "no answers" in flaw.what
    before, after = (
        _summarised(directory).table("faithfulness by category") for directory in (faulty, tmp_path / "again")
    )
    assert before is not None
    assert after is not None
    n_pairs = before.columns.index("n_pairs")
    assert [row[n_pairs] for row in before.rows].count(0) == 1
    assert before == after


def _compared(run: Path) -> dict[tuple[str, int], Outcome]:
    """Pair and repeat to whether both images get the same answers."""
    records = read_records(run)
    pairs = {case.case_id: case.labels["pair_id"] for case in records.cases}
    return {(pairs[v.case_id], v.repeat): v.outcome for v in records.verdicts if v.check == "same-answers"}


def test_every_repeat_comes_back(tmp_path: Path) -> None:
    _run(tmp_path / "run", "--size", "quick", "--repeats", "2", "--only", "law=distributive", *FAULTY)
    export_run(tmp_path / "run", "tifa-lite", tmp_path / "one")
    with (tmp_path / "one" / "vqa_raw_results_painter.csv").open(newline="") as file:
        answers = list(csv.DictReader(file))
    assert {row["repeat"] for row in answers} == {"0", "1"}
    assert all((tmp_path / "one" / row["image_path"]).is_file() for row in answers)
    files = sorted((tmp_path / "one").glob("*.csv"))
    import_files(files, "tifa-lite", tmp_path / "again")
    first, again = (_compared(tmp_path / name) for name in ("run", "again"))
    assert len(first) == 8
    assert first == again
    before, after = (_summarised(tmp_path / name) for name in ("run", "again"))
    tables = [table for table in before.tables if table.name.startswith("faithfulness by")]
    assert len(tables) == 4
    for table in tables:
        assert after.table(table.name) == table


def test_answers_to_questions_of_a_file_are_exported_with_that_file_alone(tmp_path: Path) -> None:
    questions = tmp_path / "questions.json"
    asked = [
        {"id": pair, "caption": "x", "question": f"Is there a {thing}?", "choices": ["yes", "no"], "answer": "yes"}
        for pair in ("comm_conj_001", "comm_horiz_001")
        for thing in ("cup", "umbrella")
    ]
    questions.write_text(json.dumps(asked), encoding="utf-8")
    plugin = tmp_path / "yes_judge.py"
    plugin.write_text(YES_JUDGE, encoding="utf-8")
    only = ("--only", "law=commutative", "--only", "dimension=conjunctive", "--judge", "yes-judge")
    set_file = ("--plugin", f"{plugin}:YesJudge", "--set", f"check.questions={questions}", "--set", "run.preflight=off")
    _run(tmp_path / "run", "--size", "quick", *only, *set_file)
    with pytest.raises(UsageError, match="flag-needed"):
        export_run(tmp_path / "run", "tifa-lite", tmp_path / "out")
    export_run(tmp_path / "run", "tifa-lite", tmp_path / "out", {"questions": str(questions)})
    with (tmp_path / "out" / "vqa_raw_results_painter.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    assert [(row["image_variant"], row["question"], row["is_correct"]) for row in rows] == [
        (side, f"Is there a {thing}?", "1") for side in "AB" for thing in ("cup", "umbrella")
    ]


YES_JUDGE = """
from typing import ClassVar
from salva.core.about import About
from salva.core.observation import Answer

class YesJudge:
    about: ClassVar[About] = About(role="judge", name="yes-judge")
    version: ClassVar[str] = "1"

    def __init__(self, options):
        pass

    def observe(self, requests):
        return [Answer(text="yes", scores={}, reply="yes") for r in requests]
"""


EMBEDDER = """
from typing import ClassVar
from salva.core.about import About
from salva.core.observation import Vector

class Tiny:
    about: ClassVar[About] = About(role="embedder")
    version: ClassVar[str] = "1"

    def __init__(self, options):
        pass

    def observe(self, requests):
        return [Vector(values=(1.0, len(r.query.text or r.picture.rgb[:20]) / 100)) for r in requests]
"""


def test_an_embedder_adds_clip_scores_and_a_verdict_of_its_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(registry, "_loose", {})
    plugin = tmp_path / "tiny_embedder.py"
    plugin.write_text(EMBEDDER, encoding="utf-8")
    command = [
        "run",
        "faithfulness",
        "--model",
        "painter",
        "--plugin",
        f"{plugin}:Tiny",
        "--embedder",
        "tiny",
        "--reader",
        "none",
    ]
    scope = ["--only", "law=commutative", "--no-progress", "--out", str(tmp_path / "run")]
    done = CliRunner().invoke(salva, [*command, *scope], catch_exceptions=False)
    assert done.exit_code == 0, done.output
    verdicts = read_records(tmp_path / "run").verdicts
    by_check = {relation: [v for v in verdicts if v.check == relation] for relation in CHECKS}
    assert [len(group) for group in by_check.values()] == [4, 4]
    for answers, similarity in zip(*by_check.values(), strict=True):
        wanted = ("clip_A", "clip_B", "clip_mean", "clip_diff", "clip_stability", "image_similarity")
        assert {name: answers.scores[name] for name in wanted} == {name: similarity.scores[name] for name in wanted}
        assert 0 <= answers.scores["clip_stability"] <= 1
    one = _summarised(tmp_path / "run")
    table = one.table("CLIP by category")
    assert table is not None
    assert {"tiny", "percent"} <= set(re.findall(r"\w+", table.note))
    export_run(tmp_path / "run", "tifa-lite", tmp_path / "export")
    assert (tmp_path / "export" / "clip_results_painter.csv").is_file()


CHECKS = ("same-answers", "same-similarity")


@pytest.mark.parametrize("check", [(), ("--check", "same-answers")])
def test_a_grey_painter_and_an_honest_judge_agree_on_nothing_and_pass_no_gate(
    tmp_path: Path, check: tuple[str, ...]
) -> None:
    grey = Path(__file__).parents[2] / "bench" / "garbage.py"
    command = [
        *("run", "faithfulness", "--size", "quick", "--plugin", f"{grey}:Grey", "--model", "grey"),
        *("--detector", "pocket", "--judge", "scene", "--reader", "none", "--embedder", "none", *check),
        *("--max-failure-rate", "1", "--no-progress", "--out", str(tmp_path / "run")),
    ]
    done = CliRunner().invoke(salva, command)
    assert done.exit_code == 3, done.output
    one = _summarised(tmp_path / "run")
    assert one.trust.status == NONE
    assert one.trust.has(DETECTOR_BLIND)


def test_a_detector_that_finds_what_is_asked_for_is_not_called_blind(faulty: Path) -> None:
    assert _summarised(faulty).trust.status != NONE
    # A prompt that asks for nothing says nothing of what can be seen; every other image has the score.
    scores = [v.scores for v in read_records(faulty).verdicts if v.check == "same-answers"]
    assert sum(scored["named_a"] > 0 for scored in scores if "named_a" in scored) > len(scores) / 2


def test_a_run_of_another_suite_has_no_such_layout(tmp_path: Path) -> None:
    command = ["cases", "metalogic", "--format", "tifa-lite"]
    done = CliRunner().invoke(salva, command)
    assert "[case-of-other-suite]" in str(done.exception)
    done = CliRunner().invoke(salva, ["cases", "tifa-lite", "--format", "tifa-lite"])
    assert done.output.startswith("pair_id,category_id,logical_law,semantic_dimension,prompt_A,prompt_B,cluster\n")
    assert len(done.output.splitlines()) == 21
