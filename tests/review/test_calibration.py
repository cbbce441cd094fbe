"""A judge's thresholds and differences against people, from a run of graded pictures and a file of ratings."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from random import Random

import pytest
from report.fake_runs import FakeImages, make_verdict, store_run
from review.rating_rows import raises_code, write

from salva.core.case import Case, Prompt
from salva.core.question import Question
from salva.core.source import RunRecords
from salva.core.table import Cell, Table
from salva.core.verdict import Outcome
from salva.review.run_agreement import run_agreement

N = 80
KINDS = {"integrity": 3.0, "point": 15.0, "logic": 8.0}
QUESTIONS = tuple(Question(kind=kind, text=f"{kind}?", weight=weight) for kind, weight in KINDS.items())


def graded_case(index: int, roles: tuple[str, ...] = ("l1",)) -> Case:
    prompts = tuple(Prompt(role=role, text=f"Draw {index} {role}.", questions=QUESTIONS) for role in roles)
    return Case(case_id=f"g-{index}", suite="cfworld", category="optics", prompts=prompts, checks=("levels",))


def score_of(index: int) -> float:
    return (index * 37 % N) / N


def stored(tmp_path: Path, judge: Callable[[int], float] = score_of) -> Path:
    cases = [graded_case(index) for index in range(N)]
    # Groups with a gap are UNDECIDED, and their pictures have scores all the same.
    outcomes = (Outcome.PASS, Outcome.UNDECIDED)
    verdicts = [
        make_verdict(
            case.case_id,
            outcomes[index % 2],
            check="levels",
            observers=("strict",),
            scores={"s_l1": judge(index)},
        )
        for index, case in enumerate(cases)
    ]
    if not (directory := tmp_path / "run").exists():
        store_run(directory, RunRecords(cases=tuple(cases), verdicts=tuple(verdicts)), FakeImages())
    return directory


def labels(tmp_path: Path, said: Callable[[int], object], column: str = "passes_l1", n: int = N) -> Path:
    rows: list[dict[str, object]] = [
        {"case_id": f"g-{index}", "rater": "ann", column: said(index)} for index in range(n)
    ]
    return write(tmp_path / f"{column}.csv", rows)


def by_name(tables: list[Table]) -> Mapping[str, list[dict[str, Cell]]]:
    return {table.name: [dict(zip(table.columns, row, strict=True)) for row in table.rows] for table in tables}


def test_the_mark_that_people_use_is_found(tmp_path: Path) -> None:
    file = labels(tmp_path, lambda index: "yes" if score_of(index) >= 0.6 else "no")
    tables, problems = run_agreement(stored(tmp_path), [file])
    assert not problems
    (best,) = by_name(tables)["best threshold"]
    assert (best["best"], best["accuracy"], best["f1"], best["n"]) == (0.6, 1.0, 1.0, N)
    # At 0.5 the eight pictures from 0.5 to 0.6 pass wrongly.
    at_half = next(row for row in by_name(tables)["thresholds"] if row["threshold"] == 0.5)
    assert at_half["accuracy"] == pytest.approx(72 / 80)
    assert at_half["f1"] == pytest.approx(2 * 32 / (2 * 32 + 8))
    assert at_half["accuracy_all"] == at_half["accuracy"], "all pictures were labelled"
    assert "judge minus people" not in by_name(tables), "a yes is no score"


def test_a_sample_of_doubtful_pictures_is_reweighted_to_all(tmp_path: Path) -> None:
    # The judge errs about every doubtful picture below 0.5; people saw all doubtful ones and few of the others.
    wrong = [index for index in range(N) if 0.3 <= score_of(index) < 0.5]
    doubtful = [index for index in range(N) if 0.3 <= score_of(index) <= 0.7]
    clear = [index for index in range(N) if index not in doubtful]
    rows: list[dict[str, object]] = [
        {"case_id": f"g-{i}", "rater": "ann", "passes_l1": "yes" if i in wrong or score_of(i) >= 0.5 else "no"}
        for i in (*doubtful, *clear[:10])
    ]
    tables, _ = run_agreement(stored(tmp_path), [write(tmp_path / "r.csv", rows)])
    at_half = next(row for row in by_name(tables)["thresholds"] if row["threshold"] == 0.5)
    n_rated = len(doubtful) + 10
    assert at_half["accuracy"] == pytest.approx((n_rated - len(wrong)) / n_rated)
    assert at_half["accuracy_all"] == pytest.approx((N - len(wrong)) / N)
    tables, _ = run_agreement(stored(tmp_path), [write(tmp_path / "r.csv", rows[: len(doubtful)])])
    assert {row["accuracy_all"] for row in by_name(tables)["thresholds"]} == {None}, "nobody saw a clear one"


def test_people_who_score_are_held_against_the_judge(tmp_path: Path) -> None:
    # The judge is 0.1 kinder; one in four is off by 0.3 more.
    file = labels(tmp_path, lambda i: round(max(0.0, score_of(i) - (0.4 if i % 4 == 0 else 0.1)), 6), "s_l1")
    tables, _ = run_agreement(stored(tmp_path), [file])
    (far,) = by_name(tables)["judge minus people"]
    n_close = sum(score_of(i) - max(0.0, score_of(i) - (0.4 if i % 4 == 0 else 0.1)) <= 0.125 for i in range(N))
    assert far["close"] == pytest.approx(n_close / N)
    bins = by_name(tables)["judge minus people, spread"]
    assert [row["n"] for row in bins][4] == n_close
    assert sum(int(str(row["n"])) for row in bins) == N
    (labelled,) = {str(row["labels"]) for row in by_name(tables)["best threshold"]}
    assert "score, 0.5" in labelled


def test_labels_that_mean_nothing_find_no_threshold(tmp_path: Path) -> None:
    said = ["yes", "no"] * (N // 2)
    Random(3).shuffle(said)

    def inverted(index: int) -> object:
        return "no" if score_of(index) >= 0.5 else "yes"

    for words in (said.__getitem__, inverted):
        (best,) = by_name(run_agreement(stored(tmp_path), [labels(tmp_path, words)])[0])["best threshold"]
        assert best["best"] is None
        assert best["why"]
    rows = by_name(run_agreement(stored(tmp_path), [labels(tmp_path, inverted)])[0])["thresholds"]
    assert next(row["accuracy"] for row in rows if row["threshold"] == 0.5) == 0.0


@pytest.mark.parametrize(
    ("judge", "said", "why"),
    [
        (lambda _: 0.9, lambda index: "yes" if index % 3 else "no", "the judge gives"),
        (score_of, lambda _: "yes", "people give"),
        (score_of, lambda index: "yes" if not index else "", "one image"),
        (score_of, lambda index: "yes" if index < 2 else "", "people give"),
    ],
)
def test_what_cannot_be_calibrated_says_why(
    tmp_path: Path, judge: Callable[[int], float], said: Callable[[int], object], why: str
) -> None:
    (best,) = by_name(run_agreement(stored(tmp_path, judge), [labels(tmp_path, said)])[0])["best threshold"]
    assert best["best"] is None
    assert why in str(best["why"])


def test_scores_on_another_scale_are_no_ratings(tmp_path: Path) -> None:
    with raises_code("ratings-missing"):
        run_agreement(stored(tmp_path), [labels(tmp_path, lambda index: 2 + index, "s_l1")])
