"""Frames hold what is stored, and rates taken from them are the report's."""

from __future__ import annotations

from pathlib import Path

import pytest
from PIL import Image
from report.fake_runs import random_run, small_run, store_run

import salva
from salva.core.case import Case
from salva.core.source import RunRecords
from salva.notebook.frames import run_frame, verdict_frame
from salva.report.summary import summarise_records


def test_the_mean_over_results_is_the_report_s_rate() -> None:
    records, _ = random_run(n_entities=3)
    frame = verdict_frame(records)
    primary = frame[frame["is_primary"]]
    model = summarise_records(records).by_model["painter"]
    counts = primary["outcome"].value_counts().to_dict()
    assert {str(outcome).lower(): n for outcome, n in counts.items()} == {
        name: n for name, n in model.results.items() if n and name != "total"
    }
    assert set(counts) > {"PASS", "FAIL"}, "undecided ones must not dilute the rate"
    category = primary["label.law"] + primary["label.modifier"].fillna("")
    assert primary.groupby(category)["is_fail"].mean().mean() == pytest.approx(model.failure_rate)


def test_prompts_and_outcomes_are_in_every_row() -> None:
    records, _ = random_run(n_entities=3)
    frame = verdict_frame(records)
    first = records.verdicts[0]
    case = next(case for case in records.cases if case.case_id == first.case_id)
    row = frame.iloc[0]
    assert (row["prompt.a"], row["prompt.b"]) == tuple(prompt.text for prompt in case.prompts)
    assert row["outcome"] == first.outcome.value
    undecided = frame["outcome"].isin(["UNDECIDED", "ERROR"])
    assert frame.loc[undecided, "is_fail"].isna().all()
    assert frame.loc[~undecided, "is_fail"].notna().all()


def test_a_run_of_nothing_has_the_columns_all_the_same() -> None:
    empty = verdict_frame(RunRecords(cases=(), verdicts=()))
    assert len(empty) == 0
    assert {"outcome", "is_fail", "is_primary"} <= set(empty.columns)
    assert len(run_frame([])) == 0


def test_cases_and_pictures_are_frames(tmp_path: Path) -> None:
    def shy(prompt: str, seed: int) -> Image.Image:
        if "cow" in prompt:
            raise RuntimeError("no cows")
        return Image.new("RGB", (64, 48), "white")

    run = salva.run_suite(
        "metalogic",
        {"mine": shy, "drawn": "painter"},
        version=1,
        out=tmp_path / "run",
        size=6,
        repeats=2,
        detector="pocket",
        reader="none",
        settings={"run.preflight": "off"},
    )
    cases, images = run.cases, run.images
    assert list(cases["case_id"]) == [case.case_id for case in run.case_list]
    assert all(isinstance(case, Case) for case in run.case_list)
    assert cases["formula.a"].notna().all()
    assert cases["equivalent"].all()
    n_prompts = sum(len(case.prompts) for case in run.case_list)
    assert len(images) == n_prompts * 2 * 2
    painted = images[images["status"] == "done"]
    assert all(Path(path).is_file() for path in painted["path"])
    mine = images[images["model"] == "mine"]
    assert set(mine.loc[mine["prompt"].str.contains("cow"), "status"]) == {"failed"}
    assert mine.loc[mine["status"] == "failed", "error"].str.contains("no cows").all()
    assert set(painted.loc[painted["model"] == "mine", "width"]) == {64}
    seen = run.verdicts.merge(images[["image_id"]].drop_duplicates(), left_on="image.a", right_on="image_id")
    assert len(seen) > 0


def test_one_frame_over_many_runs(tmp_path: Path) -> None:
    store_run(tmp_path / "one", *small_run())
    (tmp_path / "junk").mkdir()
    frame = salva.open_runs(tmp_path)
    assert list(frame["run"]) == ["one", "junk"]
    assert list(frame["state"]) == ["unfinished", "no run"]
    summary = salva.open_run(tmp_path / "one").summary
    assert frame["failure_rate"].iloc[0] == pytest.approx(summary.failure_rate)
    assert frame["fail"].iloc[0] == summary.by_model["painter"].results["fail"]
    assert frame["trust"].iloc[0] == summary.by_model["painter"].trust.status
    assert frame["failure_rate"].isna().iloc[1]
    with pytest.raises(salva.UsageError, match=r"\[file-missing\]"):
        salva.open_runs(tmp_path / "none")
