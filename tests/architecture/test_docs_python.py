"""Python on a page gives what the page says about it."""

from __future__ import annotations

from pathlib import Path

import pytest
from architecture.doc_pages import DOCS, ROOT
from architecture.doc_reader import Reader


def test_a_function_and_a_pipeline_are_models(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("diffusers", reason="the page hands a pipeline of diffusers over")
    from backends.tiny_pipelines import save_stable_diffusion

    monkeypatch.chdir(tmp_path)
    save_stable_diffusion(tmp_path / "my-checkpoint")
    quick = 'size=2, settings={"run.preflight": "off", "model.steps": 1}'
    tiny = {'.to("cuda")': "", '"mm-grounding-dino", size=4': f'"pocket", {quick}'}
    reader = Reader(tmp_path)
    reader.follow(DOCS / "how-to" / "use-from-python.md", tiny)
    assert set(reader.python["run"].verdicts["model"]) == {"mine", "drawn"}
    assert len(list((tmp_path / "runs").iterdir())) == 5


def test_the_readme_gives_the_report_s_numbers(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    reader = Reader(tmp_path)
    reader.follow(ROOT / "README.md", {'"quick"': "10"})
    run = reader.python["run"]
    frame, table = run.results, run.summary.by_model["pocket"].table("by law")
    rates = frame.groupby("label.law")["is_fail"].mean().dropna()
    law, rate = table.columns.index("law"), table.columns.index("rate")
    shown = {row[law]: row[rate] for row in table.rows if row[law] in rates.index}
    assert len(shown) == len(rates) >= 5
    assert {name: pytest.approx(value) for name, value in shown.items()} == rates.to_dict()
    assert 0 < rates.mean() < 1
