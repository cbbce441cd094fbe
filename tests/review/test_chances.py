"""Samples by category: who is drawn, what the sheet says of it, and figures of the sample as figures of the run."""

from __future__ import annotations

import json
import random
from dataclasses import replace
from pathlib import Path

import pandas as pd
import pytest
from click.testing import CliRunner
from report.fake_runs import FakeImages, make_case, make_verdict, store_run

from salva.cli.main import salva as command
from salva.core.source import RunRecords
from salva.core.verdict import Outcome
from salva.messages import code_of
from salva.review.chances import chance_in, chance_note, drawn_cases, weights_of
from salva.stats.agreement import Estimate, cohen, kendall, krippendorff, pearson, spearman

LARGE, SMALL = 30, 6


def run_of(right: dict[str, float]) -> RunRecords:
    """30 cases of one category and 6 of another; right: what the judge says of each case's picture."""
    names = [f"large-{i}" for i in range(LARGE)] + [f"small-{i}" for i in range(SMALL)]
    cases = tuple(make_case(name, category=name.split("-")[0]) for name in names)
    verdicts = tuple(
        make_verdict(
            name,
            Outcome.PASS,
            check="truth",
            scores={"right_a": right.get(name, 1.0), "right_b": 1.0},
            images={"a": f"{i:040x}", "b": f"{1000 + i:040x}"},
        )
        for i, name in enumerate(names)
    )
    return RunRecords(cases=cases, verdicts=verdicts)


def test_so_many_of_each_category_seeded_and_nested() -> None:
    cases = run_of({}).cases
    chances = drawn_cases(cases, 4, seed=1)
    assert sorted(name.split("-")[0] for name in chances) == ["large"] * 4 + ["small"] * 4
    assert {name.split("-")[0]: chance for name, chance in chances.items()} == {"large": 4 / LARGE, "small": 4 / SMALL}
    assert drawn_cases(reversed(cases), 4, seed=1) == chances
    assert set(drawn_cases(cases, 3, seed=1)) < set(chances)
    assert set(drawn_cases(cases, 4, seed=2)) != set(chances)
    everybody = drawn_cases(cases, 10, seed=1)
    assert sum(name.startswith("small") for name in everybody) == SMALL
    assert everybody["small-0"] == 1.0


@pytest.mark.parametrize("cell", ["", "0", "-0.5", "1.5", "nan", "inf", "often", "1/3"])
def test_what_is_no_chance_reweights_nothing_and_is_told(cell: str) -> None:
    assert chance_in({"chance": cell}) is None
    assert weights_of([0.5, chance_in({"chance": cell})]) is None
    assert [code_of(note) for note in chance_note([{"chance": "0.5"}, {"chance": cell}])] == ["chance-missing"]


def test_without_a_sample_nothing_is_told_and_nothing_reweighted() -> None:
    assert chance_note([{"x": "1"}, {"x": "2"}]) == ()
    assert weights_of([0.5, 0.5]) is None, "all count alike"
    assert weights_of([0.5, 0.25]) == (2, 4)


def estimates(x: list[float], y: list[float], weights: list[float] | None) -> dict[str, Estimate]:
    a, b = [int(value) for value in x], [int(value) for value in y]
    return {
        "pearson": pearson(x, y, weights=weights),
        "spearman": spearman(x, y, weights=weights),
        "kendall": kendall(x, y, weights=weights),
        "cohen": cohen(a, b, 5, weights=weights),
        "linear": cohen(a, b, 5, "linear", weights=weights),
    }


def test_a_thing_that_counts_three_times_counts_like_three_things() -> None:
    rng = random.Random(3)
    x = [float(rng.randrange(5)) for _ in range(30)]
    y = [min(4.0, max(0.0, value + rng.choice((-1, 0, 0, 1)))) for value in x]
    counts = [rng.randrange(1, 4) for _ in x]
    more_x, more_y = ([v for v, n in zip(values, counts, strict=True) for _ in range(n)] for values in (x, y))
    weighted, repeated = estimates(x, y, [float(n) for n in counts]), estimates(more_x, more_y, None)
    for name, estimate in weighted.items():
        assert estimate.value == pytest.approx(repeated[name].value), name
        assert estimate.n == len(x), "a sample knows no more for standing for many"
        assert estimate.low is not None
        assert repeated[name].low is not None
        assert estimate.value != estimates(x, y, None)[name].value
    alpha = krippendorff(list(zip(x, y, strict=True)), weights=[1.0] * len(x))
    assert alpha == krippendorff(list(zip(x, y, strict=True)))


def exported(tmp_path: Path, *options: str) -> pd.DataFrame:
    arguments = ["export", str(tmp_path / "run"), "--as", "ratings", "-o", str(tmp_path / "sheet"), *options]
    done = CliRunner().invoke(command, arguments)
    assert done.exit_code == 0, done.output
    return pd.read_csv(tmp_path / "sheet" / "ratings.csv", dtype=str, keep_default_na=False)


def test_a_sheet_of_a_sample_comes_back_with_raw_and_reweighted_figures(tmp_path: Path) -> None:
    """The judge is right about the large category and says the opposite of people about the small one."""
    rng = random.Random(5)
    truth = {case.case_id: float(rng.random() < 0.5) for case in run_of({}).cases}
    judged = {name: value if name.startswith("large") else 1 - value for name, value in truth.items()}
    store_run(tmp_path / "run", run_of(judged), FakeImages())
    sheet = exported(tmp_path, "--per-category", "6", "--seed", "1")
    assert sheet.columns[-1] == "chance"
    assert len(sheet) == 2 * 12, "both pictures of each case"
    for index, row in sheet.iterrows():
        value = truth[row["case_id"]] if row["image_role"] == "a" else 1.0
        sheet.loc[index, ["rater", "objects", "relations"]] = ["ann", str(50 * value), str(50 * value)]
    sheet.to_csv(tmp_path / "sheet" / "ratings.csv", index=False)
    agree = ["agree", str(tmp_path / "run"), "--ratings", str(tmp_path / "sheet" / "ratings.csv"), "--format", "json"]
    shown = CliRunner().invoke(command, agree)
    assert shown.exit_code == 0, shown.output
    table = json.loads(shown.stdout)[0]
    rows = [dict(zip(table["columns"], row, strict=True)) for row in table["rows"]]
    found = next(row for row in rows if row["score"] == "right_a" and row["statistic"] == "cohen")
    names = list(truth)
    whole = cohen([int(judged[name]) for name in names], [int(truth[name]) for name in names], 2).value
    assert whole is not None
    assert abs(found["value"]) < 0.3 < found["reweighted"]
    assert abs(found["reweighted"] - whole) < 0.15
    # Somebody deletes the chances of some rows: no figure is made up for them.
    sheet.loc[sheet.index[:3], "chance"] = ""
    sheet.to_csv(tmp_path / "sheet" / "ratings.csv", index=False)
    torn = CliRunner().invoke(command, agree)
    assert "[chance-missing]" in torn.stderr


def test_a_sheet_without_a_sample_has_neither_column(tmp_path: Path) -> None:
    store_run(tmp_path / "run", run_of({}), FakeImages())
    assert "chance" not in exported(tmp_path).columns


@pytest.mark.parametrize(
    ("options", "code"),
    [(("--per-category", "-1"), "option-invalid"), (("--per-category", "1", "--sample", "2"), "options-conflict")],
)
def test_samples_that_are_none_are_refused(tmp_path: Path, options: tuple[str, ...], code: str) -> None:
    store_run(tmp_path / "run", replace(run_of({}), verdicts=run_of({}).verdicts[:1]), FakeImages())
    arguments = ["export", str(tmp_path / "run"), "--as", "ratings", "-o", str(tmp_path / "sheet"), *options]
    done = CliRunner().invoke(command, arguments)
    assert done.exit_code != 0
    assert code_of(done.exception) == code
