"""The Python door gives the numbers the command line gives."""

from __future__ import annotations

from pathlib import Path

import pytest

import salva


def test_a_few_lines_run_a_suite_and_give_a_data_frame(tmp_path: Path) -> None:
    run = salva.run_suite(
        "metalogic",
        model="painter",
        size="12",
        reader="none",
        out=tmp_path / "run",
        settings={"model.faults": "entity-omission:0.6"},
    )
    frame = run.verdicts
    assert set(frame["relation"]) == {"same-scene", "truth"}
    truth = frame[frame["relation"] == "truth"]
    assert len(truth) == 12
    assert truth["is_violated"].any()
    assert set(truth.loc[truth["is_violated"], "errors"]) <= {"entity-omission"}
    rates = frame.groupby("label.law")["is_violated"].mean()
    assert rates.between(0, 1).all()
    assert run.summary.to_json()["cases"] == 12
    first = frame["image.a"].iloc[0]
    assert run.image_path(first).is_file()
    assert len(salva.open_run(tmp_path / "run").cases) == 12


def test_opening_what_is_no_run_says_so(tmp_path: Path) -> None:
    with pytest.raises(salva.UsageError, match=str(tmp_path)):
        salva.open_run(tmp_path)
