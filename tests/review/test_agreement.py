"""`salva agree FILE`: statistics by an independent route, scales and bins, groups and clusters, the command."""

from __future__ import annotations

import json
from pathlib import Path
from random import Random

import numpy as np
import pytest
from click.testing import CliRunner
from review.rating_rows import Rows, write
from scipy import stats as scipy_stats

from salva.cli.main import salva as command
from salva.core.table import Cell, Table
from salva.errors import UsageError
from salva.messages import code_of
from salva.review.agreement import AgreementOptions, parse_scales, table_agreement
from salva.review.columns import Columns
from salva.review.rating_table import read_ratings
from salva.stats.agreement import pearson

RNG = np.random.default_rng(4)
TRUE = RNG.integers(0, 101, 60).astype(float)
RATERS = {f"human_{k}": np.clip(TRUE + RNG.integers(-10, 11, 60), 0, 100) for k in (1, 2, 3)}
JUDGE = np.clip(TRUE + RNG.integers(-30, 31, 60), 0, 100) / 100
MEAN = np.mean(list(RATERS.values()), axis=0)
SCALES = {"people": (0.0, 100.0), "tifa": (0.0, 1.0)}
FLAGS = Columns(people=tuple(RATERS), judges=("tifa",))
EXPECTED = float(scipy_stats.pearsonr(JUDGE, MEAN).statistic)


def wide_rows() -> Rows:
    return [
        {"id": f"x{i}", "model": "ab"[i % 2], **{k: v[i] for k, v in RATERS.items()}, "tifa": JUDGE[i]}
        for i in range(60)
    ]


def agreement(path: Path, columns: Columns = FLAGS, options: AgreementOptions | None = None) -> list[Table]:
    return table_agreement(read_ratings([path], columns), options or AgreementOptions(scales=SCALES))[0]


def cells(tables: list[Table], statistic: str, group: str = "all") -> dict[str, Cell]:
    table = next(table for table in tables if table.name == "judges and people")
    rows = (dict(zip(table.columns, row, strict=True)) for row in table.rows)
    return next(row for row in rows if (row["group"], row["statistic"]) == (group, statistic))


def test_a_column_a_rater_and_a_row_a_rating_give_the_correlations_of_scipy(tmp_path: Path) -> None:
    long: Rows = [
        {"id": row["id"], "model": row["model"], "rater": who, "score": row[who], "tifa": row["tifa"]}
        for row in wide_rows()
        for who in RATERS
    ]
    wide = agreement(write(tmp_path / "wide.csv", wide_rows()))
    expected = (
        ("pearson", EXPECTED),
        ("spearman", float(scipy_stats.spearmanr(JUDGE, MEAN).statistic)),
        ("kendall tau-b", float(scipy_stats.kendalltau(JUDGE, MEAN).statistic)),
    )
    for statistic, value in expected:
        assert cells(wide, statistic)["value"] == pytest.approx(value)
    assert wide[1].rows[0][:2] == ("all", 3)
    assert wide == agreement(write(tmp_path / "long.csv", long), Columns(judges=("tifa",)))


def test_every_statistic_is_there_and_needs_a_scale_where_it_sorts(tmp_path: Path) -> None:
    path = write(tmp_path / "r.csv", wide_rows())
    tables = agreement(path)
    sorted_ones = ("cohen", "cohen linear", "cohen quadratic", "krippendorff")
    assert tuple(row[2] for row in tables[0].rows) == ("pearson", "spearman", "kendall tau-b", *sorted_ones)
    assert all(None not in row[3:6] for row in tables[0].rows)
    assert cells(tables, "cohen")["how"] == "5 bins from 0 to 1, people from 0 to 100"
    for scales in ({}, {"people": (0.0, 100.0)}):
        without = agreement(path, options=AgreementOptions(scales=scales))
        for statistic in sorted_ones:
            row = cells(without, statistic)
            assert (row["value"], row["n"], row["how"]) == (None, 60, "needs --scale")
        assert cells(without, "pearson") == cells(tables, "pearson")


def test_a_sample_is_reweighted_and_a_statistic_without_a_scale_stays_empty(tmp_path: Path) -> None:
    rows = [{**row, "chance": (0.5, 0.25)[i % 2]} for i, row in enumerate(wide_rows())]
    tables = agreement(write(tmp_path / "r.csv", rows), options=AgreementOptions())
    assert cells(tables, "pearson")["reweighted"] != cells(tables, "pearson")["value"]
    assert cells(tables, "cohen")["reweighted"] is None
    assert cells(tables, "cohen")["reweighted_upper"] is None
    assert tables[1].columns[-3:] == ("reweighted", "reweighted_lower", "reweighted_upper")
    torn = [*rows[1:], {**rows[0], "chance": ""}]
    read = read_ratings([write(tmp_path / "torn.csv", torn)], FLAGS)
    again, notes = table_agreement(read)
    assert "reweighted" not in again[0].columns
    assert code_of(notes[-1]) == "chance-missing"


def test_documented_columns_have_their_scale(tmp_path: Path) -> None:
    rows: Rows = [
        {"case_id": i, "rater": who, "objects": 5 * i, "relations": 50 - i} for i in range(9) for who in ("ann", "gpt")
    ]
    tables = agreement(write(tmp_path / "r.csv", rows), Columns(judges=("gpt",)), AgreementOptions())
    assert cells(tables, "cohen")["value"] == 1
    assert cells(tables, "cohen")["how"] == "5 bins from 0 to 100"


def test_numbers_on_one_scale_share_their_bins(tmp_path: Path) -> None:
    # The judge never says 1; were its bins its own, its 2 would meet the people's 1.
    rows: Rows = [{"id": f"{h}{k}", "ann": h, "gpt": max(h, 2)} for h in (1, 2, 3, 4, 5) for k in range(4)]
    options = AgreementOptions(scales={"": (1.0, 5.0)})
    tables = agreement(write(tmp_path / "r.csv", rows), Columns(people=("ann",), judges=("gpt",)), options)
    assert cells(tables, "cohen")["value"] == pytest.approx(1 - 0.2 / (1 - (0.4 * 0.2 + 3 * 0.2 * 0.2)))
    assert cells(tables, "cohen")["how"] == "categories 1 2 3 4 5"


def test_a_number_outside_its_scale_is_an_error(tmp_path: Path) -> None:
    rows: Rows = [{"id": h, "human": h, "gpt": 3} for h in (1, 2, 5)]
    with pytest.raises(UsageError) as caught:
        agreement(
            write(tmp_path / "r.csv", rows),
            Columns(people=("human",), judges=("gpt",)),
            AgreementOptions(scales={"people": (2.0, 5.0)}),
        )
    assert caught.value.code == "scale-exceeded"


def test_bins(tmp_path: Path) -> None:
    rows: Rows = [{"id": i, "human": h, "gpt": g} for i, (h, g) in enumerate(((1, 2), (2, 1), (4, 5), (5, 4), (3, 2)))]
    columns = Columns(people=("human",), judges=("gpt",))
    options = AgreementOptions(n_bins=2, scales={"": (1, 5)})
    tables = agreement(write(tmp_path / "r.csv", rows), columns, options)
    # Below 3 or not: people say no no yes yes yes, the judge no no yes yes no.
    assert cells(tables, "cohen")["value"] == pytest.approx((0.8 - 0.48) / (1 - 0.48))


def test_flags_of_scales() -> None:
    assert parse_scales(["0-100", "people=1-5", "a=b=-1-1"]) == {"": (0, 100), "people": (1, 5), "a=b": (-1, 1)}
    for wrong in ("5-1", "1", "people=", "a=1..2-3.4.5", "1-1"):
        with pytest.raises(UsageError) as caught:
            parse_scales([wrong])
        assert caught.value.code == "option-invalid"


def test_groups_have_their_own_rows(tmp_path: Path) -> None:
    table = read_ratings([write(tmp_path / "r.csv", wide_rows())], FLAGS)
    tables, _ = table_agreement(table, AgreementOptions(), "model")
    expected = float(scipy_stats.pearsonr(JUDGE[::2], MEAN[::2]).statistic)
    assert cells(tables, "pearson", "a")["value"] == pytest.approx(expected)
    assert [row[0] for row in tables[1].rows] == ["all", "a", "b"]
    with pytest.raises(UsageError) as caught:
        table_agreement(table, group="nowhere")
    assert caught.value.code == "column-missing"


def test_items_that_judges_alone_rated_count_for_nothing(tmp_path: Path) -> None:
    rows = [*wide_rows(), {"id": "more", "model": "a", "tifa": 0.5}]
    assert agreement(write(tmp_path / "r.csv", rows)) == agreement(write(tmp_path / "s.csv", rows[:-1]))


@pytest.mark.parametrize(
    ("columns", "n", "code"), [(Columns(people=("human_1",)), 60, "rater-single"), (FLAGS, 1, "items-few")]
)
def test_what_nobody_can_agree_on_is_an_error(tmp_path: Path, columns: Columns, n: int, code: str) -> None:
    with pytest.raises(UsageError) as caught:
        agreement(write(tmp_path / "r.csv", wide_rows()[:n]), columns)
    assert caught.value.code == code


def clustered(path: Path) -> Path:
    rng, rows = Random(3), Rows()
    for prompt in range(20):
        people, judge = rng.gauss(3, 1), rng.gauss(0, 1)
        for k in range(8):
            row: dict[str, object] = {"id": f"{prompt}-{k}", "prompt": f"p{prompt}" if prompt else "", "same": 1}
            rows.append({**row, "ann": people + rng.gauss(0, 0.2), "clip": judge})
    return write(path, rows)


def test_items_of_a_prompt_are_drawn_together_and_another_column_can_be_named(tmp_path: Path) -> None:
    path, columns = clustered(tmp_path / "r.csv"), Columns(people=("ann",), judges=("clip",))

    def width(cluster: str) -> float:
        row = cells(agreement(path, columns, AgreementOptions(cluster=cluster)), "pearson")
        return float(str(row["upper"])) - float(str(row["lower"]))

    assert width("") == width("prompt") > 2 * width("id")
    note = agreement(path, columns)[0].note
    assert "prompt, 27 of 160 items" in note, "eight without a prompt stand for themselves"
    for wrong in ("nowhere", "same"):
        with pytest.raises(UsageError) as caught:
            width(wrong)
        assert caught.value.code == "cluster-unusable"


def test_images_that_share_a_prompt_are_no_independent_ones() -> None:
    """Judge and people do not agree at all; images of one prompt get nearly the same from both."""
    rng, by_prompt, by_image = Random(9), 0, 0
    for _ in range(150):
        x, y, prompts = list[float](), list[float](), list[str]()
        for prompt in range(25):
            judge, people = rng.gauss(0, 1), rng.gauss(0, 1)
            for _ in range(6):
                x.append(judge + rng.gauss(0, 0.3))
                y.append(people + rng.gauss(0, 0.3))
                prompts.append(str(prompt))
        for estimate, is_by_prompt in ((pearson(x, y, prompts), True), (pearson(x, y), False)):
            assert estimate.low is not None
            assert estimate.high is not None
            holds = estimate.low <= 0 <= estimate.high
            by_prompt += holds and is_by_prompt
            by_image += holds and not is_by_prompt
    assert by_prompt / 150 > 0.88
    assert by_image / 150 < 0.75


def test_the_command_reads_several_files_and_prints_tables_and_json(tmp_path: Path) -> None:
    rows = wide_rows()
    people = write(tmp_path / "people.csv", [{k: v for k, v in row.items() if k != "tifa"} for row in rows])
    scores = write(tmp_path / "scores.csv", [{k: row[k] for k in ("id", "model", "tifa")} for row in rows[::-1]])
    flags = [*(part for who in RATERS for part in ("--people", who)), "--judge", "tifa", "--scale", "people=0-100"]
    shown = CliRunner().invoke(command, ["agree", str(people), str(scores), *flags])
    assert shown.exit_code == 0, shown.output
    assert "people among themselves" in shown.output
    assert "[ratings-read]" in shown.stderr
    arguments = ["agree", str(scores), "--ratings", str(people), *flags, "--scale", "tifa=0-1", "--format", "json"]
    made = CliRunner().invoke(command, arguments)
    assert made.exit_code == 0, made.output
    found = json.loads(made.stdout)
    assert [table["name"] for table in found] == ["judges and people", "people among themselves"]
    assert found[0]["rows"][0][3] == pytest.approx(EXPECTED, abs=1e-12)
    assert None not in found[0]["rows"][3]
    bare = CliRunner().invoke(command, ["agree", str(people)])
    assert bare.exit_code != 0
    assert bare.exception is not None
    assert getattr(bare.exception, "code", "") == "column-missing"


def test_a_run_and_a_folder_that_is_none_are_no_files(tmp_path: Path) -> None:
    path = str(write(tmp_path / "r.csv", wide_rows()))
    (tmp_path / "folder").mkdir()
    for arguments in (
        ["agree", str(tmp_path / "folder"), path],
        ["agree", str(tmp_path / "folder"), "--ratings", path, "--by", "model"],
        ["agree", str(tmp_path / "folder"), "--item", "id"],
    ):
        done = CliRunner().invoke(command, arguments)
        assert getattr(done.exception, "code", "") == "flag-unrelated", arguments
    assert isinstance(CliRunner().invoke(command, ["agree", str(tmp_path / "folder")]).exception, UsageError)
