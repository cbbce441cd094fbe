"""Calibrations drawn: the curve of thresholds, the spread round people, and a run that has neither."""

from __future__ import annotations

from pathlib import Path

import in_process
from review.test_calibration import N, labels, score_of, stored

from salva.core.chart import Chart
from salva.review.calibration_charts import calibration_charts
from salva.review.run_agreement import run_agreement


def drawn(run: Path, file: Path) -> dict[str, Chart]:
    tables, _ = run_agreement(run, [file])
    return {chart.name: chart for chart in calibration_charts(tables)}


def test_accuracy_peaks_at_the_mark_that_people_use(tmp_path: Path) -> None:
    file = labels(tmp_path, lambda index: "yes" if score_of(index) >= 0.6 else "no")
    (chart,) = drawn(stored(tmp_path), file).values()
    values = {(row[0], row[1]): row[2] for row in chart.table.rows}
    assert len(values) == 2 * 9, "accuracy and F1 at nine thresholds"
    accuracy = {at: value for (curve, at), value in values.items() if curve == "accuracy" and value is not None}
    assert max(accuracy, key=lambda at: float(accuracy[at])) == 0.6
    assert (values["accuracy", 0.6], values["F1", 0.6]) == (1.0, 1.0)


def test_the_spread_is_narrow_round_an_honest_judge_and_wide_round_an_inverted_one(tmp_path: Path) -> None:
    run = stored(tmp_path)
    charts = drawn(run, labels(tmp_path, score_of, "s_l1"))
    honest = next(chart for name, chart in charts.items() if name.startswith("spread"))
    assert [row[2] for row in honest.table.rows if row[1]] == [N], "all in the middle bar"
    assert "100.0 %" in honest.y_label
    assert "0.125" in honest.y_label
    inverted = drawn(run, labels(tmp_path, lambda index: 1 - score_of(index), "s_l1"))
    wide = next(chart for name, chart in inverted.items() if name.startswith("spread"))
    assert sum(bool(row[1]) for row in wide.table.rows) == len(wide.table.rows), "in every bar"


def test_figures_are_files_and_a_run_without_any_is_told(tmp_path: Path) -> None:
    run, file = stored(tmp_path), labels(tmp_path, score_of, "s_l1")
    done = in_process.salva("agree", str(run), "--ratings", str(file), "--figures", str(tmp_path / "figures"))
    assert done.returncode == 0, done.stderr
    written = sorted(path.name for path in (tmp_path / "figures").iterdir())
    assert written == [
        "spread-s-l1-levels-strict.png",
        "spread-s-l1-levels-strict.svg",
        "thresholds-s-l1-levels-strict.png",
        "thresholds-s-l1-levels-strict.svg",
    ]
    other = tmp_path / "other.csv"
    other.write_text("id,ann,judge\na,1,0.9\nb,0,0.2\nc,1,0.7\n", encoding="utf-8")
    done = in_process.salva(
        "agree", str(other), "--people", "ann", "--judge", "judge", "--figures", str(tmp_path / "no")
    )
    assert done.returncode == 2
    assert "[figures-empty]" in done.stderr
    assert not (tmp_path / "no").exists()
