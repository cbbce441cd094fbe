"""`salva agree`: every shape of file people keep ratings in."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner
from review.rating_rows import write
from scipy import stats as scipy_stats

from salva.cli.main import salva as command
from salva.core.table import Table
from salva.errors import UsageError
from salva.review.agreement import Reckoning, file_agreement, parse_bins
from salva.review.rating_joins import read_ratings
from salva.review.ratings import Columns

RNG = np.random.default_rng(4)
TRUE = RNG.integers(0, 101, 60).astype(float)
RATERS = {f"human_{k}": np.clip(TRUE + RNG.integers(-10, 11, 60), 0, 100) for k in (1, 2, 3)}
JUDGE = np.clip(TRUE + RNG.integers(-30, 31, 60), 0, 100) / 100
MEAN = np.mean(list(RATERS.values()), axis=0)


def wide_rows() -> list[dict[str, object]]:
    return [
        {
            "item_id": f"x{i}",
            "model": "ab"[i % 2],
            "human_avg": MEAN[i],
            **{k: v[i] for k, v in RATERS.items()},
            "tifa": JUDGE[i],
        }
        for i in range(60)
    ]


def value(tables: list[Table], judge: str, statistic: str, group: str = "all") -> float:
    table = next(table for table in tables if table.name == "judges and people")
    row = next(row for row in table.rows if row[:3] == (group, judge, statistic))
    assert isinstance(row[3], float)
    return row[3]


@pytest.mark.parametrize("shape", ["csv", "tsv", "json", "jsonl", "object", "lists"])
def test_every_wide_shape_gives_the_same_correlations(tmp_path: Path, shape: str) -> None:
    rows, path = wide_rows(), tmp_path / "ratings"
    if shape in ("csv", "tsv"):
        write(path, rows, "\t" if shape == "tsv" else ",")
    elif shape == "json":
        path.write_text(json.dumps(rows))
    elif shape == "jsonl":
        path.write_text("\n".join(json.dumps(row) for row in rows))
    elif shape == "object":
        path.write_text(json.dumps({str(row.pop("item_id")): row for row in rows}))
    else:
        listed = [{"id": r["item_id"], "human": [r[k] for k in RATERS], "tifa": r["tifa"]} for r in rows]
        path.write_text(json.dumps(listed))
    tables, _ = file_agreement(path, Columns())
    assert value(tables, "tifa", "pearson") == pytest.approx(float(scipy_stats.pearsonr(JUDGE, MEAN).statistic))
    assert value(tables, "tifa", "spearman") == pytest.approx(float(scipy_stats.spearmanr(JUDGE, MEAN).statistic))
    assert value(tables, "tifa", "kendall tau-b") == pytest.approx(float(scipy_stats.kendalltau(JUDGE, MEAN).statistic))
    people = next(table for table in tables if table.name == "people among themselves")
    assert people.rows[0][1] == 3, "an average of raters is no fourth rater"


def test_one_row_a_rating_is_the_same_as_one_column_a_rater(tmp_path: Path) -> None:
    long = [
        {"case_id": f"x{i}", "rater": k, "objects": v[i] / 2, "relations": v[i] / 2, "tifa": JUDGE[i]}
        for i in range(60)
        for k, v in RATERS.items()
    ]
    tables, _ = file_agreement(write(tmp_path / "long.csv", long), Columns())
    wide, _ = file_agreement(write(tmp_path / "wide.csv", wide_rows()), Columns())
    for statistic in ("pearson", "spearman", "kendall tau-b", "cohen"):
        assert value(tables, "tifa", statistic) == pytest.approx(value(wide, "tifa", statistic))
    assert tables[1].rows[0][2] == pytest.approx(wide[1].rows[0][2])


def as_text(rows: list[dict[str, object]], delimiter: str = ",") -> str:
    buffer = io.StringIO(newline="")
    writer = csv.DictWriter(buffer, list(rows[0]), delimiter=delimiter)
    writer.writeheader()
    writer.writerows(rows)
    return buffer.getvalue()


def renamed(names: dict[str, str]) -> list[dict[str, object]]:
    return [{names.get(name, name): cell for name, cell in row.items() if name in names} for row in wide_rows()]


EXPECTED = float(scipy_stats.pearsonr(JUDGE, MEAN).statistic)
LIKE_A_SPREADSHEET = as_text(wide_rows(), ";").replace(".", ",")


@pytest.mark.parametrize(
    "data",
    [
        as_text(wide_rows()).encode("utf-8-sig"),
        as_text(wide_rows(), "\t").encode("utf-16"),
        LIKE_A_SPREADSHEET.encode(),
        ("sep=;\r\n" + LIKE_A_SPREADSHEET).encode(),
        (as_text(wide_rows()) + ",,,,,,\r\n\r\n").encode(),
        json.dumps({"version": 2, "ratings": wide_rows()}).encode(),
        json.dumps({name: [row[name] for row in wide_rows()] for name in wide_rows()[0]}).encode(),
        json.dumps({n: {str(i): r[n] for i, r in enumerate(wide_rows())} for n in wide_rows()[0]}).encode(),
        *(
            as_text(renamed(dict(zip(("item_id", *RATERS, "tifa"), names, strict=True)))).encode()
            for names in (
                ("image", "Rater 1", "Rater 2", "Rater 3", "tifa"),
                ("no", "score_human1", "score_human2", "score_human3", "tifa"),
                ("id", "Annotator A (0-100)", "Annotator B (0-100)", "Annotator C (0-100)", "tifa"),
            )
        ),
    ],
)
def test_tables_as_spreadsheets_and_notebooks_write_them(tmp_path: Path, data: bytes) -> None:
    path = tmp_path / "ratings"
    path.write_bytes(data)
    tables, _ = file_agreement(path, Columns())
    assert value(tables, "tifa", "pearson") == pytest.approx(EXPECTED, abs=1e-12)
    assert tables[1].rows[0][1] == 3


@pytest.mark.parametrize("name", ["human_mean", "MOS", "avg_human_score"])
def test_a_mean_of_people_stands_for_them_and_its_spread_for_nobody(tmp_path: Path, name: str) -> None:
    rows: list[dict[str, object]] = [
        {"image": i, name: MEAN[i], "human_std": i % 7, "human_time": i % 5, "n_raters": 3, "tifa": JUDGE[i]}
        for i in range(60)
    ]
    tables, told = file_agreement(write(tmp_path / "r.csv", rows), Columns())
    assert told[1:3] == [f"people: {name}", "judges: tifa"]
    assert value(tables, "tifa", "pearson") == pytest.approx(EXPECTED, abs=1e-12)


@pytest.mark.parametrize("gap", ["NA", "n/a", "nan", "NULL", "-", ""])
def test_a_rater_who_was_mostly_silent_still_counts(tmp_path: Path, gap: str) -> None:
    rows = [{**row, "human_3": gap if i < 45 else row["human_3"]} for i, row in enumerate(wide_rows())]
    tables, told = file_agreement(write(tmp_path / "r.csv", rows), Columns())
    means = [np.mean([RATERS[k][i] for k in (RATERS if i >= 45 else ("human_1", "human_2"))]) for i in range(60)]
    assert value(tables, "tifa", "pearson") == pytest.approx(float(scipy_stats.pearsonr(JUDGE, means).statistic))
    assert not [line for line in told if "no number" in line]


def test_ratings_in_words_are_left_out_aloud(tmp_path: Path) -> None:
    rows = [{**row, "human_3": "good"} for row in wide_rows()]
    tables, told = file_agreement(write(tmp_path / "r.csv", rows), Columns())
    assert tables[1].rows[0][1] == 2
    assert any("'human_3'" in line and "no numbers" in line for line in told)


def test_one_prompt_painted_by_several_models_is_several_things(tmp_path: Path) -> None:
    long: list[dict[str, object]] = [
        {"model_type": "ab"[i % 2], "item_id": f"x{i // 2}", "worker_id": 4375 + n, "question": "?", "answer": v[i]}
        for i in range(60)
        for n, v in enumerate(RATERS.values())
    ]
    people = write(tmp_path / "people.csv", long)
    (alone,), told = file_agreement(people, Columns())
    assert alone.rows[0][5] == 60
    assert told[0] == "things: item_id + model_type"
    assert not [line for line in told if "twice" in line]
    (grouped,), _ = file_agreement(people, Columns(group="model_type"))
    assert [(row[0], row[5]) for row in grouped.rows] == [("all", 60), ("a", 30), ("b", 30)]

    wide = [{"item_id": f"x{i // 2}", "model_type": "ab"[i % 2], "tifa": JUDGE[i]} for i in range(60)]
    by_row = [
        {"item_id": r["item_id"], "model_type": r["model_type"], "judge": "tifa", "score": r["tifa"]} for r in wide
    ]
    for rows in (wide, by_row):
        scores = write(tmp_path / "scores.csv", rows[::-1])
        made = CliRunner().invoke(command, ["agree", str(scores), "--ratings", str(people), "--format", "json"])
        assert made.exit_code == 0, made.output
        found = next(row for row in json.loads(made.stdout)[0]["rows"] if row[2] == "pearson")
        assert found[1] == "tifa"
        assert found[3] == pytest.approx(EXPECTED, abs=1e-12)


def test_two_files_about_different_things_say_so(tmp_path: Path) -> None:
    people = write(tmp_path / "people.csv", wide_rows())
    other = write(tmp_path / "scores.csv", [{"item_id": "y1", "clip": 0.5}])
    with pytest.raises(UsageError, match="no rated thing in common"):
        file_agreement(people, Columns(), scores=other)
    with pytest.raises(UsageError, match="names the rated thing in both"):
        file_agreement(people, Columns(), scores=write(tmp_path / "scores.csv", [{"clip": 0.5}]))
    twice = write(tmp_path / "scores.csv", [{"item_id": "x1", "clip": 0.5}, {"item_id": "x1", "clip": 0.6}])
    with pytest.raises(UsageError, match="2 rows for 'x1'"):
        file_agreement(people, Columns(), scores=twice)


def test_lists_of_ratings_by_model_are_a_thing_each(tmp_path: Path) -> None:
    nested = {
        f"{i:05}": {"prompt": "p", "models": {m: [v[2 * i + k] for v in RATERS.values()] for k, m in enumerate("AB")}}
        for i in range(30)
    }
    people, scores = tmp_path / "people.json", tmp_path / "scores.csv"
    people.write_text(json.dumps(nested))
    write(scores, [{"id": f"{i // 2:05}", "model": "AB"[i % 2], "tifa": JUDGE[i]} for i in range(60)])
    tables, _ = file_agreement(people, Columns(), scores=scores)
    assert value(tables, "tifa", "pearson") == pytest.approx(EXPECTED, abs=1e-12)


def test_a_judge_may_stand_among_the_raters(tmp_path: Path) -> None:
    long: list[dict[str, object]] = [
        {"item": f"x{i}", "rater": k, "score": v[i]} for k, v in {**RATERS, "gpt": JUDGE}.items() for i in range(60)
    ]
    tables, _ = file_agreement(write(tmp_path / "r.csv", long), Columns(judges=("gpt",)))
    assert value(tables, "gpt", "pearson") == pytest.approx(EXPECTED, abs=1e-12)
    assert tables[1].rows[0][1] == 3
    with pytest.raises(UsageError, match="'claude'"):
        file_agreement(tmp_path / "r.csv", Columns(judges=("claude",)))


@pytest.mark.parametrize("pair", [("object", "relevance"), ("Object Accuracy (0-50)", "Semantic Relevance (0-50)")])
def test_objects_and_relations_make_one_rating_in_either_shape(tmp_path: Path, pair: tuple[str, str]) -> None:
    long: list[dict[str, object]] = [
        {"id": i, "rater": k, **dict.fromkeys(pair, v[i] / 2), "tifa": JUDGE[i]}
        for i in range(60)
        for k, v in RATERS.items()
    ]
    wide: list[dict[str, object]] = [
        {"id": i, **{f"{k} {p}": v[i] / 2 for k, v in RATERS.items() for p in pair}, "tifa": JUDGE[i]}
        for i in range(60)
    ]
    for rows in (long, wide):
        tables, _ = file_agreement(write(tmp_path / "r.csv", rows), Columns())
        assert value(tables, "tifa", "pearson") == pytest.approx(EXPECTED, abs=1e-12)
        assert tables[1].rows[0][1] == 3
    tables, told = file_agreement(write(tmp_path / "r.csv", [*long, {**long[0], "id": 99, pair[0]: 60}]), Columns())
    assert any("from 0 to 50" in line for line in told)


def test_numbers_on_one_scale_share_their_bins(tmp_path: Path) -> None:
    # The judge never says 1; were its bins its own, its 2 would meet the people's 1.
    rows: list[dict[str, object]] = [{"human": h, "gpt": max(h, 2)} for h in (1, 2, 3, 4, 5) for _ in range(4)]
    tables, _ = file_agreement(write(tmp_path / "r.csv", rows), Columns())
    assert value(tables, "gpt", "cohen") == pytest.approx(1 - 0.2 / (1 - (0.4 * 0.2 + 3 * 0.2 * 0.2)))
    row = next(row for row in tables[0].rows if row[2] == "cohen")
    assert row[7] == "categories 1 2 3 4 5"
    apart, _ = file_agreement(write(tmp_path / "r.csv", wide_rows()), Columns())
    shown = next(str(row[7]) for row in apart[0].rows if row[2] == "cohen")
    assert (
        shown == f"5 bins from {JUDGE.min():.4g} to {JUDGE.max():.4g}, people from {MEAN.min():.4g} to {MEAN.max():.4g}"
    )


def test_bins_can_be_said(tmp_path: Path) -> None:
    assert parse_bins("7") == (7, ())
    assert parse_bins("0,2.5,5") == (2, (0.0, 2.5, 5.0))
    for wrong in ("1", "5,4", "1,2", "x", "2.5", ""):
        with pytest.raises(UsageError, match="--bins"):
            parse_bins(wrong)
    rows: list[dict[str, object]] = [{"human": h, "gpt": g} for h, g in ((1, 2), (2, 1), (4, 5), (5, 4), (3, 2))]
    path = write(tmp_path / "r.csv", rows)
    tables, _ = file_agreement(path, Columns(), Reckoning(edges=(1, 3, 5)))
    # Below 3 or not: people say no no yes yes yes, the judge no no yes yes no.
    assert value(tables, "gpt", "cohen") == pytest.approx((0.8 - 0.48) / (1 - 0.48))
    with pytest.raises(UsageError, match="from 1 to 5"):
        file_agreement(path, Columns(), Reckoning(edges=(0, 2, 4)))


def test_every_judge_has_every_statistic(tmp_path: Path) -> None:
    tables, _ = file_agreement(write(tmp_path / "r.csv", wide_rows()), Columns())
    correlations = ("pearson", "spearman", "kendall tau-b")
    names = (*correlations, "cohen", "cohen linear", "cohen quadratic", "krippendorff")
    assert tuple(row[2] for row in tables[0].rows) == names
    assert all(None not in row[3:6] for row in tables[0].rows)


def test_groups_have_their_own_rows(tmp_path: Path) -> None:
    path = write(tmp_path / "r.csv", wide_rows())
    tables, _ = file_agreement(path, Columns(group="model"))
    expected = float(scipy_stats.pearsonr(JUDGE[::2], MEAN[::2]).statistic)
    assert value(tables, "tifa", "pearson", "a") == pytest.approx(expected)


def test_gaps_are_silence_and_bad_cells_are_named(tmp_path: Path) -> None:
    rows = wide_rows()
    rows[0]["human_1"], rows[1]["tifa"], rows[2]["human_2"] = "", "", "banana"
    ratings = read_ratings(write(tmp_path / "r.csv", rows))
    assert ratings.people["human_1"][0] is None
    assert ratings.judges["tifa"][1] is None
    assert len(ratings.problems) == 1
    assert "r.csv line 4:" in ratings.problems[0]
    assert "'banana'" in ratings.problems[0]
    assert ratings.people_mean()[0] == pytest.approx((RATERS["human_2"][0] + RATERS["human_3"][0]) / 2)


@pytest.mark.parametrize(
    ("content", "words"),
    [
        ("", "is empty"),
        ("a,b\n", "no rows"),
        ("id,tifa\nx,0.5\n", "no column of people's ratings"),
        ("id,human_1\nx,0.5,7\n", "line 2"),
        ("[1, 2]", "no list of objects"),
        ("{broken", "neither JSON"),
        ("PK\x03\x04...", "save its sheet as CSV"),
        ("id,human_1\nx,1\n", "one person and no judge"),
        ("id,rating,rating\nx,1,2\n", "the column 'rating' twice"),
        ("case_id,rater,objects,checks\nx,,,\n", "nobody has filled it in"),
        ("case_id,rater,score\nx,ann,NaN\ny,ann,-\n", "no cell is a rating; 'NaN', '-' and the like are read as no"),
    ],
)
def test_files_that_are_no_ratings_say_what_is_wrong(tmp_path: Path, content: str, words: str) -> None:
    path = tmp_path / "bad"
    path.write_text(content)
    with pytest.raises(UsageError, match=words):
        file_agreement(path, Columns())


def test_a_column_that_is_not_there_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="no column 'gpt'"):
        read_ratings(write(tmp_path / "r.csv", wide_rows()), Columns(judges=("gpt",)))


def test_the_command_prints_tables_and_json(tmp_path: Path) -> None:
    path = write(tmp_path / "r.csv", wide_rows())
    shown = CliRunner().invoke(command, ["agree", str(path)])
    assert shown.exit_code == 0
    assert "people among themselves" in shown.output
    made = CliRunner().invoke(command, ["agree", str(path), "--format", "json"])
    assert {table["name"] for table in json.loads(made.stdout)} == {"judges and people", "people among themselves"}


def test_one_rated_thing_is_too_few_to_agree_on(tmp_path: Path) -> None:
    write(tmp_path / "one.csv", wide_rows()[:1])
    with pytest.raises(UsageError, match="has 1 rated thing, and agreement takes at least two; add rows"):
        file_agreement(tmp_path / "one.csv", Columns(), Reckoning())
