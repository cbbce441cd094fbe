"""Score files as CF-World's program writes them: PRR and RRR without a call."""

from __future__ import annotations

import json
import math
from pathlib import Path

import pytest
from click.testing import CliRunner

from salva.cli.main import salva as command_line
from salva.core.exchange import ImportSettings
from salva.core.fingerprint import Json
from salva.core.verdict import Outcome
from salva.errors import UsageError
from salva.report.summary import summarise_run
from salva.suites.cfworld.scores_import import ScoresImport, ScoresOptions


def grades(source: str, level: str, point: float, reasoning: str = "seen", **more: Json) -> list[Json]:
    return [
        {
            "id": str(weight),
            "source_id": source,
            "prompt_level": level,
            "question": f"{weight} of {level}?",
            "weight": weight,
            "score": point if weight == 15 else 1.0 if point else 0.0,
            "reasoning": reasoning,
            "scoring_model": "None" if "missing" in reasoning or "Skipped" in reasoning else "gemini-3-pro-preview",
            **more,
        }
        for weight in (3, 15, 8)
    ]


def score(point: float) -> float:
    return (3 + 15 * point + 8) / 26


@pytest.fixture
def file(tmp_path: Path) -> Path:
    rows: list[Json] = []
    for i in range(6):
        rows += grades(str(i), "l1", 1.0) + grades(str(i), "l2", 0.6) + grades(str(i), "l3", 0.2)
    rows += grades("6", "l1", 0.0) + grades("6", "l2", 0.0, "Skipped due to L1 score < 0.5")
    rows += grades("6", "l3", 0.0, "Skipped due to L1 score < 0.5")
    rows += grades("7", "l1", 1.0) + grades("7", "l2", 0.6) + grades("7", "l3", 0.0, "Image missing")
    rows += grades("8", "l2", 1.0)
    rows += [{"source_id": "9", "prompt_level": "l1", "score": None}, *grades("9", "l7", 1.0)]
    path = tmp_path / "gemini-sana" / "physics" / "Optics_gemini_scores.json"
    path.parent.mkdir(parents=True)
    path.write_text(json.dumps(rows), encoding="utf-8")
    return path


def test_prr_and_rrr_follow_from_published_scores(file: Path, tmp_path: Path) -> None:
    out = tmp_path / "run"
    done = CliRunner().invoke(command_line, ["import", str(file), "--as", "cfworld", "--out", str(out)])
    assert done.exit_code == 0, done.output
    assert ", 9 groups of sana in" in done.output, "and no probe"
    assert "4 problems" in done.output, "one entry without a score, three of a level that is none"
    summary = summarise_run(out).by_model["sana"]
    l1, l2, l3 = (7 + 0) / 8, 7 * score(0.6) / 8, 6 * score(0.2) / 7
    assert summary.metrics["prr"].value == pytest.approx(l2 / math.sqrt(l1))
    assert summary.metrics["rrr"].value == pytest.approx(l3 / math.sqrt(6 * score(0.6) / 7)), "7 has no L3, 8 no L1"
    results = {"total": 9, "pass": 6, "fail": 1, "undecided": 2, "error": 0, "refused": 0}
    assert summary.results == results, "6 fails at L1; of 7 and 8 a level is missing"
    assert [category.name for category in summary.categories] == ["Optics"]


def test_the_published_rule_counts_what_is_missing_as_zero(file: Path) -> None:
    published = ScoresImport(ScoresOptions(missing="zero", mean="questions")).read([file], ImportSettings())
    by_id = {verdict.case_id: verdict for verdict in published.verdicts}
    assert by_id["cfworld-optics-7"].scores["gated_l3"] == 0.0
    assert by_id["cfworld-optics-6"].scores["gated_l2"] == 0.0
    kind = ScoresImport(ScoresOptions()).read([file], ImportSettings(model="mine"))
    by_id = {verdict.case_id: verdict for verdict in kind.verdicts}
    assert by_id["cfworld-optics-7"].outcome is Outcome.UNDECIDED
    assert "gated_l3" not in by_id["cfworld-optics-7"].scores
    assert "missing_l3" not in by_id["cfworld-optics-6"].scores, "skipped behind the gate, not missing"
    assert by_id["cfworld-optics-0"].model == "mine"
    assert by_id["cfworld-optics-0"].observers == ("gemini-3-pro-preview",)
    assert by_id["cfworld-optics-0"].scores["point_l2"] == pytest.approx(0.6), "told from the weight"


def test_probes_are_read_too(tmp_path: Path) -> None:
    rules: list[Json] = [
        {"rule_id": rule, "source_id": f"{rule}{i}", "category": kind, "question": "?", "weight": 15, "score": value}
        for rule in range(6)
        for i, (kind, value) in enumerate((("original", 0.8), ("cf", 0.4), ("cf", 0.2)))
    ]
    pairs: list[Json] = [
        {"id": name, "A": "a", "B": "b", "prompt": "p", "category": kind, "score": value}
        for i in range(6)
        for name, kind, value in ((str(i), "unusual", 0.5), (f"{i}_factual", "factual", 1.0))
    ]
    for name, rows in (("rule", rules), ("attribute", pairs)):
        path = tmp_path / "sana" / f"{name}.json"
        path.parent.mkdir(exist_ok=True)
        path.write_text(json.dumps(rows), encoding="utf-8")
    files = [str(tmp_path / "sana" / f"{name}.json") for name in ("rule", "attribute")]
    done = CliRunner().invoke(command_line, ["import", *files, "--as", "cfworld", "--out", str(tmp_path / "run")])
    assert done.exit_code == 0, done.output
    metrics = summarise_run(tmp_path / "run").by_model["sana"].metrics
    assert metrics["rule_kept"].value == pytest.approx(0.3 / 0.8)
    assert metrics["attribute_kept"].value == pytest.approx(0.5)


def test_a_file_of_something_else_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "x.json"
    path.write_text('[{"filename": "Optics", "l1": 0.8}]', encoding="utf-8")
    with pytest.raises(UsageError, match="import-empty"):
        ScoresImport(ScoresOptions()).read([path], ImportSettings())
    path.write_text("{}", encoding="utf-8")
    with pytest.raises(UsageError, match="json-shape"):
        ScoresImport(ScoresOptions()).read([path], ImportSettings())
