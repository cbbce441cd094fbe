"""Training data out of a run: which pictures pass, what the files hold, and what a trainer can load."""

from __future__ import annotations

import io
import json
from dataclasses import replace
from pathlib import Path

import pandas as pd
import pyarrow.parquet as pq
import pytest
from click.testing import CliRunner
from hypothesis import given
from hypothesis import strategies as st
from PIL import Image
from report.fake_runs import FakeImages, make_case, make_verdict, store_run
from review.rating_rows import raises_code

from salva.cli.main import salva as command
from salva.core.case import Case, Prompt
from salva.core.scoring import TrainingFilter, pair_name
from salva.core.source import RunRecords
from salva.core.verdict import Outcome, Verdict
from salva.exchange.exporting import export_run
from salva.exchange.training_pairs import filter_table, preferences, right_images
from salva.review.rating_sheets import COLUMNS
from salva.review.role_codes import IMAGE, TEXT, role_code
from salva.store.queries import read_records
from salva.suites.semvar.effect import PAIRS
from salva.suites.semvar.scoring import SCORING

GOOD = {("a", "a"): 0.9, ("pv", "pv"): 0.95, ("pi", "pi"): 0.85}
GOOD |= {("a", "pv"): 0.3, ("pv", "a"): 0.32, ("a", "pi"): 0.9, ("pi", "a"): 0.9}
IMAGES = {role: f"{digit}" * 40 for role, digit in (("a", "1"), ("b", "2"), ("pv", "3"), ("pi", "4"))}


def semvar_case(case_id: str = "sv-1") -> Case:
    texts = {"a": "a cat left of a dog", "pv": "a dog left of a cat", "pi": "a dog right of a cat"}
    prompts = tuple(Prompt(role=role, text=text) for role, text in texts.items())
    return Case(case_id=case_id, suite="semvar", category="place", prompts=prompts, checks=("semantic-effect",))


def semvar_verdict(scores: dict[tuple[str, str], float], case_id: str = "sv-1") -> Verdict:
    named = {pair_name(*pair): value for pair, value in scores.items()}
    images = {role: IMAGES[role] for role in ("a", "pv", "pi")}
    return make_verdict(case_id, check="semantic-effect", scores=named, images=images)


def truth_run() -> RunRecords:
    images = {role: IMAGES[role] for role in ("a", "b")}
    scores = {"right_a": 1.0, "right_b": 0.0}
    verdict = make_verdict("case-1", Outcome.FAIL, check="truth", scores=scores, images=images)
    return RunRecords(cases=(make_case("case-1"),), verdicts=(verdict,))


def semvar_run(scores: dict[tuple[str, str], float] | None = None) -> RunRecords:
    return RunRecords(cases=(semvar_case(),), verdicts=(semvar_verdict(scores or GOOD),))


def test_a_good_sample_yields_three_captions_and_four_preferences() -> None:
    pictures = right_images(semvar_run(), TrainingFilter())
    assert [(one.caption, one.chosen) for one in pictures] == [
        ("a cat left of a dog", IMAGES["a"]),
        ("a dog left of a cat", IMAGES["pv"]),
        ("a dog right of a cat", IMAGES["pi"]),
    ]
    wanted = {("a", "a", "pv"), ("pv", "pv", "a"), ("pv", "pv", "pi"), ("pi", "pi", "pv")}
    texts = {prompt.role: prompt.text for prompt in semvar_case().prompts}
    found = {(one.caption, one.chosen, one.rejected) for one in preferences(semvar_run(), TrainingFilter())}
    assert found == {(texts[t], IMAGES[c], IMAGES[r]) for t, c, r in wanted}


@given(st.fixed_dictionaries({pair: st.integers(0, 20).map(lambda n: n / 20) for pair in PAIRS}))
def test_the_filter_is_the_papers_equations(s: dict[tuple[str, str], float]) -> None:
    aligned = s["a", "a"] > 0.6 and s["pv", "pv"] > 0.6
    above = min(s["a", "a"], s["pv", "pv"]) > max(s["a", "pv"], s["pv", "a"])
    n = {pair: round(20 * score) for pair, score in s.items()}  # whole twentieths, which nothing rounds
    even_images = abs((n["a", "a"] - n["a", "pv"]) - (n["pv", "pv"] - n["pv", "a"])) < 3
    even_texts = abs((n["a", "a"] - n["pv", "a"]) - (n["pv", "pv"] - n["a", "pv"])) < 3
    strict = TrainingFilter(min_score=0.6, max_asymmetry=0.15, need_kept=False)
    assert SCORING.passes(s, strict) == (aligned and above and even_images and even_texts)
    assert SCORING.passes(s, replace(strict, filter="none")) == aligned
    assert SCORING.passes(s, TrainingFilter(min_score=0.6, filter="none")) == (aligned and s["pi", "pi"] > 0.6)


def test_a_difference_of_exactly_c3_does_not_pass() -> None:
    # 0.95 - 0.5 and 0.9 - 0.55 differ by 0.1, which floating point makes a little less.
    edge = {**GOOD, ("a", "a"): 0.95, ("a", "pv"): 0.5, ("pv", "pv"): 0.9, ("pv", "a"): 0.55}
    assert (0.95 - 0.5) - (0.9 - 0.55) < 0.1
    assert not SCORING.passes(edge, TrainingFilter())
    assert SCORING.passes(edge, TrainingFilter(max_asymmetry=0.11))


def test_of_several_judges_all_must_let_a_case_pass() -> None:
    doubting = replace(semvar_verdict({**GOOD, ("a", "a"): 0.7}), observers=("another judge",))
    silent = replace(semvar_verdict({}), observers=("a judge nobody could read",))
    agreed = RunRecords(cases=(semvar_case(),), verdicts=(semvar_verdict(GOOD), silent))
    split = RunRecords(cases=(semvar_case(),), verdicts=(semvar_verdict(GOOD), doubting))
    assert len(preferences(agreed, TrainingFilter())) == 4
    assert preferences(split, TrainingFilter()) == []
    table = filter_table(split, TrainingFilter())
    assert table is not None
    assert [row[2] for row in table.rows] == [0, 0, 0, 1], "one case, not two verdicts"


def test_which_reading_of_the_paper_was_taken_is_told() -> None:
    by_equation, by_code = (filter_table(semvar_run(), TrainingFilter(need_kept=kept)) for kept in (False, True))
    assert by_equation is not None
    assert by_code is not None
    assert by_equation.note != by_code.note
    assert "equation 12" in by_equation.note


@pytest.mark.parametrize(("flags", "n_pictures"), [([], 0), (["--need-kept"], 0), (["--no-need-kept"], 3)])
def test_a_wrong_picture_of_the_kept_meaning_is_trained_on_only_on_request(
    tmp_path: Path, flags: list[str], n_pictures: int
) -> None:
    store_run(tmp_path / "run", semvar_run({**GOOD, ("pi", "pi"): 0.1}), FakeImages())
    arguments = ["export", str(tmp_path / "run"), "--as", "sft", "-o", str(tmp_path / "sft"), *flags]
    done = CliRunner().invoke(command, arguments)
    written = tmp_path / "sft" / "metadata.jsonl"
    assert (len(written.read_text().splitlines()) if written.exists() else 0) == n_pictures, done.output
    assert (done.exit_code == 0) == bool(n_pictures)


def test_the_counts_of_every_filter_choice_are_told() -> None:
    worse = {**GOOD, ("a", "a"): 0.7}
    records = RunRecords(
        cases=(semvar_case("sv-1"), semvar_case("sv-2")),
        verdicts=(semvar_verdict(GOOD, "sv-1"), semvar_verdict(worse, "sv-2")),
    )
    table = filter_table(records, TrainingFilter())
    assert table is not None
    kept = {row[:2]: row[2] for row in table.rows}
    assert kept == {(0.8, "strict"): 1, (0.8, "none"): 1, (0.6, "strict"): 1, (0.6, "none"): 2}
    assert filter_table(truth_run(), TrainingFilter()) is None


def test_a_violated_pair_prefers_its_right_picture_under_both_wordings() -> None:
    found = preferences(truth_run(), TrainingFilter())
    assert {one.caption for one in found} == {"There is a cat and a dog", "There is a dog and a cat"}
    assert {(one.chosen, one.rejected) for one in found} == {(IMAGES["a"], IMAGES["b"])}
    right = right_images(truth_run(), TrainingFilter())
    assert [(one.caption, one.chosen) for one in right] == [
        ("There is a cat and a dog", IMAGES["a"]),
        ("There is a dog and a cat", IMAGES["a"]),
    ], "the wording that broke learns from the one that held"


def test_truth_never_lets_a_sample_past_the_filter_nor_mixes_its_meanings() -> None:
    images = {role: IMAGES[role] for role in ("a", "pv", "pi")}
    scores = {"right_a": 0.0, "right_pv": 1.0, "right_pi": 1.0}
    truth = make_verdict("sv-1", Outcome.FAIL, check="truth", scores=scores, images=images)
    poor = semvar_verdict({**GOOD, ("a", "a"): 0.1})
    records = RunRecords(cases=(semvar_case(),), verdicts=(poor, truth))
    assert right_images(records, TrainingFilter()) == []
    assert preferences(records, TrainingFilter()) == []


@pytest.mark.parametrize("equivalent", [False, None])
def test_wordings_not_known_to_mean_the_same_share_no_picture(equivalent: bool | None) -> None:
    run = truth_run()
    records = replace(run, cases=(replace(run.cases[0], equivalent=equivalent),))
    assert preferences(records, TrainingFilter()) == []
    assert [one.chosen for one in right_images(records, TrainingFilter())] == [IMAGES["a"]], "right for its own caption"


def test_the_folder_is_what_the_trainers_read(tmp_path: Path) -> None:
    store_run(tmp_path / "run", semvar_run(), FakeImages())
    done = CliRunner().invoke(command, ["export", str(tmp_path / "run"), "--as", "sft", "-o", str(tmp_path / "sft")])
    assert done.exit_code == 0, done.output
    lines = [json.loads(line) for line in (tmp_path / "sft" / "metadata.jsonl").read_text().splitlines()]
    assert len(lines) == 3
    for line in lines:
        with Image.open(tmp_path / "sft" / line["file_name"]) as image:
            assert image.format == "PNG"
        assert line["text"]


def test_a_sheet_somebody_filled_in_is_not_written_over(tmp_path: Path) -> None:
    store_run(tmp_path / "run", semvar_run(), FakeImages())
    arguments = ["export", str(tmp_path / "run"), "--as", "ratings", "-o", str(tmp_path / "sheet")]
    assert [CliRunner().invoke(command, arguments).exit_code for _ in range(2)] == [0, 0]
    sheet = tmp_path / "sheet" / "ratings.csv"
    sheet.write_text(sheet.read_text() + "more\n")
    again = CliRunner().invoke(command, arguments)
    assert again.exit_code != 0
    assert sheet.read_text().endswith("more\n")


def test_a_sheet_of_several_models_names_none(tmp_path: Path) -> None:
    verdicts = [replace(semvar_verdict(GOOD), model=model) for model in ("painter", "pocket")]
    store_run(tmp_path / "run", RunRecords(cases=(semvar_case(),), verdicts=tuple(verdicts)), FakeImages())
    CliRunner().invoke(command, ["export", str(tmp_path / "run"), "--as", "ratings", "-o", str(tmp_path / "sheet")])
    text = (tmp_path / "sheet" / "ratings.csv").read_text()
    assert text.count("model-") == 14
    assert not any(name in text for name in ("painter", "pocket"))


def test_preferences_are_parquet_with_pictures_inside(tmp_path: Path) -> None:
    store_run(tmp_path / "run", semvar_run(), FakeImages())
    out = tmp_path / "pairs.parquet"
    done = CliRunner().invoke(command, ["export", str(tmp_path / "run"), "--as", "dpo", "-o", str(out)])
    assert done.exit_code == 0, done.output
    table = pd.read_parquet(out)
    assert list(table.columns[:3]) == ["caption", "chosen", "rejected"]
    assert len(table) == 4
    for chosen, rejected in zip(table["chosen"].tolist(), table["rejected"].tolist(), strict=True):
        assert chosen["path"] != rejected["path"]
        with Image.open(io.BytesIO(chosen["bytes"])) as image:
            assert image.format == "PNG"


def test_the_datasets_library_is_told_which_columns_are_pictures(tmp_path: Path) -> None:
    store_run(tmp_path / "run", semvar_run(), FakeImages())
    export_run(tmp_path / "run", "dpo", tmp_path / "pairs.parquet")
    schema = pq.read_schema(tmp_path / "pairs.parquet")
    features = json.loads(schema.metadata[b"huggingface"])["info"]["features"]
    assert features == {
        "caption": {"dtype": "string", "_type": "Value"},
        "chosen": {"_type": "Image"},
        "rejected": {"_type": "Image"},
        "case_id": {"dtype": "string", "_type": "Value"},
        "model": {"dtype": "string", "_type": "Value"},
    }
    assert list(features) == schema.names


def test_preferences_in_the_columns_that_diffusers_trains_on(tmp_path: Path) -> None:
    store_run(tmp_path / "run", semvar_run(), FakeImages())
    for layout in ("chosen", "pickapic"):
        out = str(tmp_path / f"{layout}.parquet")
        arguments = ["export", str(tmp_path / "run"), "--as", "dpo", "-o", out, "--layout", layout]
        assert CliRunner().invoke(command, arguments).exit_code == 0
    plain, picked = (pd.read_parquet(tmp_path / f"{layout}.parquet") for layout in ("chosen", "pickapic"))
    assert list(picked.columns[:4]) == ["caption", "jpg_0", "jpg_1", "label_0"]
    assert picked["label_0"].tolist() == [1, 0, 1, 0]
    assert picked["caption"].tolist() == plain["caption"].tolist()
    for (_, row), (_, wanted) in zip(picked.iterrows(), plain.iterrows(), strict=True):
        # As the script does: pictures are opened from the cells, and swapped where the label is 0.
        both = [row["jpg_0"], row["jpg_1"]][:: 1 if row["label_0"] else -1]
        assert both == [wanted["chosen"]["bytes"], wanted["rejected"]["bytes"]]
        with Image.open(io.BytesIO(both[0])) as image:
            assert image.size


def test_nothing_that_passes_is_an_error_with_a_way_out(tmp_path: Path) -> None:
    store_run(tmp_path / "run", semvar_run(dict.fromkeys(PAIRS, 0.1)), FakeImages())
    with raises_code("training-empty"):
        export_run(tmp_path / "run", "sft", tmp_path / "out")
    assert not (tmp_path / "out").exists()


def test_right_images_alone_make_no_preferences_and_are_not_denied(tmp_path: Path) -> None:
    right = make_verdict("case-1", check="truth", scores={"right_a": 1.0}, images={"a": IMAGES["a"]})
    store_run(tmp_path / "run", RunRecords(cases=(make_case("case-1"),), verdicts=(right,)), FakeImages())
    assert export_run(tmp_path / "run", "sft", tmp_path / "out").n
    with raises_code("training-empty"):
        export_run(tmp_path / "run", "dpo", tmp_path / "out.parquet")


@pytest.mark.parametrize(("form", "flag"), [("sft", "without --random_flip"), ("dpo", "with --no_hflip")])
def test_captions_that_speak_of_sides_come_with_a_warning_of_flips(tmp_path: Path, form: str, flag: str) -> None:
    store_run(tmp_path / "sides", semvar_run(), FakeImages())
    store_run(tmp_path / "plain", truth_run(), FakeImages())
    said = {}
    for name in ("sides", "plain"):
        command_line = ["export", str(tmp_path / name), "--as", form, "-o", str(tmp_path / f"{name}.{form}")]
        said[name] = CliRunner().invoke(command, command_line).stderr
    n = 3 if form == "sft" else 4
    assert f" {n} of {n} " in said["sides"]
    assert "[captions-sided]" in said["sides"]
    assert flag in said["sides"]
    assert said["plain"] == ""


def test_a_run_without_pictures_makes_no_sheet(tmp_path: Path) -> None:
    bare = make_verdict("case-1", check="truth", scores={"right_a": 1.0})
    store_run(tmp_path / "run", RunRecords(cases=(make_case("case-1"),), verdicts=(bare,)), FakeImages())
    with raises_code("images-missing"):
        export_run(tmp_path / "run", "ratings", tmp_path / "sheet")
    assert not (tmp_path / "sheet").exists()


def test_a_rating_sheet_is_blind_and_comes_back(tmp_path: Path) -> None:
    store_run(tmp_path / "run", semvar_run(), FakeImages())
    out = tmp_path / "sheet"
    done = CliRunner().invoke(command, ["export", str(tmp_path / "run"), "--as", "ratings", "-o", str(out)])
    assert done.exit_code == 0, done.output
    sheet = pd.read_csv(out / "ratings.csv", dtype=str, keep_default_na=False)
    assert tuple(sheet.columns) == COLUMNS
    assert len(sheet) == 7
    assert set(sheet["model"]) == {""}
    assert all((out / picture).is_file() for picture in sheet["image"])
    assert not set(sheet["text_role"]) & set(sheet["image_role"]), "nothing says which picture is of which text"
    codes = {(role_code("sv-1", TEXT, t), role_code("sv-1", IMAGE, i)): score for (t, i), score in GOOD.items()}
    # People who say exactly what the judge said.
    for index, row in sheet.iterrows():
        score = codes[row["text_role"], row["image_role"]]
        sheet.loc[index, ["rater", "objects", "relations"]] = ["ann", str(score * 50), str(score * 50)]
    sheet.to_csv(out / "ratings.csv", index=False)
    shown = CliRunner().invoke(
        command,
        ["agree", str(tmp_path / "run"), "--ratings", str(out / "ratings.csv"), "--format", "json"],
    )
    assert shown.exit_code == 0, shown.output
    rows = json.loads(shown.stdout)[0]["rows"]
    assert next(row[3] for row in rows if row[0] == "all s" and row[2] == "pearson") == pytest.approx(1.0)
    imported = ["import", str(out / "ratings.csv"), "--as", "ratings", "--out", str(tmp_path / "rated")]
    done = CliRunner().invoke(command, imported)
    assert done.exit_code == 0, done.output
    (verdict,) = read_records(tmp_path / "rated").verdicts
    assert {pair: verdict.scores[pair_name(*pair)] for pair in PAIRS} == pytest.approx(GOOD)


def test_verdict_rows_are_the_same_in_csv_and_parquet(tmp_path: Path) -> None:
    store_run(tmp_path / "run", truth_run(), FakeImages())
    for form in ("csv", "parquet"):
        arguments = ["export", str(tmp_path / "run"), "--as", form, "-o", str(tmp_path / f"rows.{form}")]
        assert CliRunner().invoke(command, arguments).exit_code == 0
    as_csv, as_parquet = pd.read_csv(tmp_path / "rows.csv"), pd.read_parquet(tmp_path / "rows.parquet")
    assert list(as_csv.columns) == list(as_parquet.columns)
    assert as_csv["score.right_a"].tolist() == as_parquet["score.right_a"].tolist() == [1.0]
