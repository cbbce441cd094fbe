"""Raw answers of others into a run: their tables come out again, and what is wrong with a row is named."""

from __future__ import annotations

import csv
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

import pytest
from click.testing import CliRunner

from salva.cli.main import salva
from salva.core.exchange import ImportSettings, ReadIn
from salva.core.run_spec import RunSpec
from salva.core.verdict import Outcome, Verdict
from salva.engine.progress import SilentProgress
from salva.errors import UsageError
from salva.exchange.exporting import export_run
from salva.exchange.importing import PROBLEMS_FILE, import_files
from salva.report.html import write_html
from salva.report.summary import summarise_run
from salva.runs.rejudge import rejudge
from salva.runs.verify import verify
from salva.suites.faithfulness.tifa_import import TifaImport

PROMPTS = "pair_id,category_id,logical_law,semantic_dimension,prompt_A,prompt_B"
ANSWERS = (
    "pair_id,logical_law,category_id,semantic_dimension,image_variant,"
    "question,expected_answer,predicted_answer_norm,is_correct"
)


def _write(folder: Path, name: str, header: str, *lines: str) -> Path:
    path = folder / name
    path.write_text("\n".join((header, *lines)) + "\n", encoding="utf-8")
    return path


def _prompts(folder: Path) -> Path:
    return _write(
        folder,
        "prompts.csv",
        PROMPTS,
        "p1,1,Commutative,Conjunctive,a cat and a dog,a dog and a cat",
        "p2,13,Complement,Conjunctive,a cat,no cat",
    )


def _row(pair: str, side: str, question: str, expected: str, answer: str, is_correct: str | None = None) -> str:
    right = str(int(expected == answer)) if is_correct is None else is_correct
    law, number = ("Commutative", "1") if pair == "p1" else ("Complement", "13")
    return f"{pair},{law},{number},Conjunctive,{side},{question},{expected},{answer},{right}"


def _both(pair: str, question: str, expected: str, a: str, b: str) -> tuple[str, str]:
    return _row(pair, "A", question, expected, a), _row(pair, "B", question, expected, b)


GOOD = (
    *_both("p1", "Is there a cat?", "yes", "yes", "no"),
    *_both("p1", "Is there a cow?", "no", "no", "no"),
    *_both("p2", "Is there a cat?", "yes", "yes", "yes"),
)


def _read(folder: Path, *lines: str, header: str = ANSWERS) -> ReadIn:
    answers = _write(folder, "vqa_raw_results_toy.csv", header, *lines)
    return read([_prompts(folder), answers])


def read(files: Sequence[Path], model: str = "") -> ReadIn:
    return TifaImport(TifaImport.Options()).read(files, ImportSettings(model=model))


def _verdict(read_in: ReadIn, pair: str, check: str = "") -> Verdict:
    """By this check; else the one that compares the two images."""
    checks = (check,) if check else ("same-answers", "must-differ")
    (verdict,) = (v for v in read_in.verdicts if v.case_id == f"faithfulness-{pair}" and v.check in checks)
    return verdict


def test_the_published_category_table_comes_out_to_the_last_digit(foreign_data: Path, tmp_path: Path) -> None:
    folder = foreign_data / "tifa_lite"
    files = sorted(folder.glob("*.csv"))
    read_in = import_files(files, "tifa-lite", tmp_path / "run")
    assert read_in.counts == {"pairs": 100, "answers": 1000, "CLIP scores": 200}
    table = summarise_run(tmp_path / "run").by_model["SD_v1-5"].table("faithfulness by category")
    assert table is not None
    ours = {str(row[0]): dict(zip(table.columns, row, strict=True)) for row in table.rows}
    with (folder / "category_metrics.csv").open(newline="") as file:
        published = list(csv.DictReader(file))
    assert len(published) == len(ours) == 20
    for theirs in published:
        mine = ours[theirs["category_id"]]
        for name in ("n_pairs", "mean_faith_A", "mean_faith_B", "mean_faith", "mean_faith_stability"):
            assert mine[name] == float(theirs[name]), (theirs["category_id"], name)
    outside = [problem for problem in read_in.problems if "neither yes" in problem.what]
    assert len(outside) == 27
    assert not any("the answers give" in problem.what for problem in read_in.problems)


def test_published_clip_scores_give_a_stability_within_0_and_1(foreign_data: Path) -> None:
    files = [foreign_data / "tifa_lite" / name for name in ("prompts_metalogic.csv", "clip_results_SD_v1-5.csv")]
    read_in = read(files)
    assert {v.outcome for v in read_in.verdicts if v.check == "right-answers"} == {Outcome.UNDECIDED}
    verdicts = [verdict for verdict in read_in.verdicts if verdict.check != "right-answers"]
    assert len(verdicts) == 100
    assert all(0 <= verdict.scores["clip_stability"] <= 1 for verdict in verdicts)
    first = next(verdict for verdict in verdicts if verdict.case_id == "faithfulness-comm-conj-001")
    assert first.scores["clip_diff"] == pytest.approx(2.663867950439453)
    assert first.scores["image_similarity"] == 84.44414734840393
    assert first.outcome is Outcome.UNDECIDED


def test_floor_and_lighting_decide_no_contrast(foreign_data: Path) -> None:
    read_in = read(sorted((foreign_data / "tifa_lite").glob("*.csv")))
    complement = {case.case_id for case in read_in.cases if case.labels["law"] == "complement"}
    verdicts = [v for v in read_in.verdicts if v.case_id in complement and v.check != "right-answers"]
    assert {verdict.check for verdict in verdicts} == {"must-differ"}
    # One of the twenty pairs was asked about the thing that its second prompt denies.
    assert Counter(verdict.outcome for verdict in verdicts) == {Outcome.UNDECIDED: 19, Outcome.PASS: 1}


def test_pairs_get_the_scores_and_outcomes_the_checks_would_give(tmp_path: Path) -> None:
    read_in = _read(tmp_path, *GOOD)
    assert read_in.problems == ()
    assert read_in.models == ("toy",)
    pair = _verdict(read_in, "p1")
    assert (pair.outcome, pair.failure_types) == (Outcome.FAIL, ("answer-differs",))
    assert (pair.scores["faith_A"], pair.scores["faith_B"], pair.scores["faith_stability"]) == (1, 0.5, 0.5)
    contrast = _verdict(read_in, "p2")
    assert (contrast.check, contrast.failure_types) == ("must-differ", ("no-difference",))
    each = _verdict(read_in, "p1", "right-answers")
    assert (each.outcome, each.failure_types) == (Outcome.FAIL, ("wrong-answer",))
    assert (each.scores["right_a"], each.scores["right_b"]) == (1, 0)
    assert [failure.role for failure in each.failures] == ["b"]
    assert _verdict(read_in, "p2", "right-answers").outcome is Outcome.PASS
    listed = {case.labels["pair_id"]: (case.checks, case.measures) for case in read_in.cases}
    assert listed == {
        "p1": (("right-answers", "same-answers"), ()),
        "p2": (("right-answers",), ("must-differ",)),
    }


def test_an_answer_that_rests_on_a_wrong_one_is_not_right(tmp_path: Path) -> None:
    lines = [f"{line},{mark}" for line, mark in zip(GOOD, "111101", strict=True)]
    read_in = _read(tmp_path, *lines, header=f"{ANSWERS},is_grounded")
    each = _verdict(read_in, "p2", "right-answers")
    assert (each.outcome, each.scores["faith_A"], each.scores["dsg_A"]) == (Outcome.FAIL, 1, 0)


def test_the_failure_rate_of_an_import_is_of_images_held_against_their_own_prompts(tmp_path: Path) -> None:
    import_files([_prompts(tmp_path), _write(tmp_path, "toy.csv", ANSWERS, *GOOD)], "tifa-lite", tmp_path / "run")
    one = summarise_run(tmp_path / "run").by_model["toy"]
    assert (one.checks, one.failure_rate, one.n) == ({"right-answers": 2}, 0.5, 2)


def test_an_imported_run_is_a_run_that_can_be_reported_and_not_judged_again(tmp_path: Path) -> None:
    answers = _write(tmp_path, "answers.csv", ANSWERS, *GOOD, _row("p2", "A", "Is it =HYPERLINK?", "yes", "small"))
    out = tmp_path / "run"
    import_files([_prompts(tmp_path), answers], "tifa-lite", out, model="toy")
    assert verify(out, SilentProgress()).problems == ()
    summary = summarise_run(out)
    assert summary.models == ("toy",)
    assert summary.by_model["toy"].metrics["faith_mean"].n == 2
    write_html(out, out / "report" / "index.html")
    page = (out / "report" / "index.html").read_text(encoding="utf-8")
    assert "generate it again" not in page
    assert "a dog and a cat" in page
    assert "neither yes" in (out / PROBLEMS_FILE).read_text(encoding="utf-8")
    with pytest.raises(UsageError, match="was imported"):
        rejudge(out, RunSpec(), SilentProgress())
    with pytest.raises(UsageError, match="output-exists"):
        import_files([answers], "tifa-lite", out)


def test_a_question_without_an_answer_leaves_the_pair_out_of_every_mean_and_says_so(tmp_path: Path) -> None:
    read_in = _read(tmp_path, *GOOD, _row("p1", "B", "Is it red?", "yes", "", ""))
    pair = _verdict(read_in, "p1")
    assert pair.outcome is Outcome.UNDECIDED
    assert "1 of 3" in pair.reason
    assert "faith_B" not in pair.scores
    assert "line 8: no answer" in str(read_in.problems[0])


def test_a_side_without_answers_is_named(tmp_path: Path) -> None:
    read_in = _read(tmp_path, *(line for line in GOOD if not line.startswith("p2") or ",A," in line))
    assert _verdict(read_in, "p2").reason.endswith("image B")
    assert any(problem.what.endswith("image B") for problem in read_in.problems)
    silent = _read(tmp_path, *(line for line in GOOD if line.startswith("p1")))
    for check in ("must-differ", "right-answers"):
        assert _verdict(silent, "p2", check).outcome is Outcome.UNDECIDED


@pytest.mark.parametrize(
    ("line", "problem"),
    [
        (_row("p1", "A", "Is it red?", "yes", "reddish"), "'reddish'"),
        (_row("p1", "A", "Is it red?", "yes", "no", "1"), "is_correct is 1"),
        (_row("p1", "A", "Is it red?", "yes", "yes", "maybe"), "is_correct is 'maybe'"),
        (_row("p1", "C", "Is it red?", "yes", "yes"), "image_variant is 'C'"),
        (_row("p1", "A", "", "yes", "yes"), "no question"),
        (_row("p1", "A", "Is there a cat?", "yes", "yes"), "question of line 2"),
        ("p1,too,short", "3 cells"),
        (_row("p9", "A", "Is it red?", "yes", "yes"), "pair 'p9'"),
    ],
)
def test_what_is_wrong_with_a_row_is_named_with_its_line(tmp_path: Path, line: str, problem: str) -> None:
    read_in = _read(tmp_path, *GOOD, line)
    named = [str(one) for one in read_in.problems]
    assert any(problem in one for one in named), named
    if "p9" not in line:
        assert any("vqa_raw_results_toy.csv line 8" in one for one in named), named
    assert _verdict(read_in, "p1").outcome in (Outcome.FAIL, Outcome.UNDECIDED)


def test_answers_without_prompts_make_cases_without_prompts(tmp_path: Path) -> None:
    answers = _write(tmp_path, "answers.csv", ANSWERS, *GOOD)
    read_in = read([answers])
    assert [case.category for case in read_in.cases] == ["commutative-conjunctive", "complement-conjunctive"]
    assert "no-text" in {finding.kind for finding in read_in.cases[0].findings}
    assert read_in.models == ("answers",)


def test_several_models_stand_beside_each_other(tmp_path: Path) -> None:
    files = [_prompts(tmp_path)] + [_write(tmp_path, f"vqa_raw_results_{m}.csv", ANSWERS, *GOOD) for m in ("x", "y")]
    assert read(files).models == ("x", "y")
    with pytest.raises(UsageError, match="names one model"):
        read(files, model="z")


def test_extra_columns_are_named_and_a_table_of_means_is_accepted(tmp_path: Path) -> None:
    read_in = _read(tmp_path, *(f"{line},x" for line in GOOD), header=f"{ANSWERS},mood")
    assert str(read_in.problems[0]) == "vqa_raw_results_toy.csv line 1: unused columns: mood"
    means = _write(tmp_path, "means.csv", "category_id,n_pairs,mean_faith", "13,1,0.9")
    assert read([_prompts(tmp_path), _write(tmp_path, "a.csv", ANSWERS, *GOOD), means]).problems == ()


def test_repeats_are_verdicts_of_their_own_and_what_is_none_is_named(tmp_path: Path) -> None:
    lines = [f"{line},{repeat}" for repeat in (0, 1) for line in GOOD if repeat == 0 or line.startswith("p1")]
    bad = (f"{GOOD[0]},x", f"{GOOD[0]},-1", f"{GOOD[0]},{'9' * 5000}", f"{GOOD[0]},1.0")
    read_in = _read(tmp_path, *lines, *bad, header=f"{ANSWERS},repeat")
    assert read_in.repeats == 2
    compared = [verdict for verdict in read_in.verdicts if verdict.check != "right-answers"]
    by_repeat = {(verdict.case_id, verdict.repeat): verdict.outcome for verdict in compared}
    assert by_repeat == {
        ("faithfulness-p1", 0): Outcome.FAIL,
        ("faithfulness-p1", 1): Outcome.FAIL,
        ("faithfulness-p2", 0): Outcome.FAIL,
        ("faithfulness-p2", 1): Outcome.UNDECIDED,
    }
    named = [str(problem) for problem in read_in.problems]
    assert sum("repeat is" in problem for problem in named) == len(bad)
    assert any(problem.startswith("faithfulness-p2: repeat 1") for problem in named)


def test_an_imported_run_has_no_images_to_export(tmp_path: Path) -> None:
    import_files([_prompts(tmp_path), _write(tmp_path, "mine.csv", ANSWERS, *GOOD)], "tifa-lite", tmp_path / "run")
    with pytest.raises(UsageError, match="run-without-images"):
        export_run(tmp_path / "run", "tifa-lite", tmp_path / "out")


CLIP = "pair_id,category_id,logical_law,semantic_dimension,clip_A,clip_B"


@pytest.mark.parametrize(
    ("lines", "complaint"),
    [
        (("p1,1,C,C,30,31", "p1,1,C,C,30,31"), "pair 'p1' twice"),
        (("p1,1,C,C,300,31",), "scale 'percent'"),
    ],
)
def test_clip_scores_that_contradict_stop_the_import(tmp_path: Path, lines: tuple[str, ...], complaint: str) -> None:
    with pytest.raises(UsageError, match=complaint):
        read([_write(tmp_path, "clip.csv", CLIP, *lines)])


def test_clip_scores_that_are_no_numbers_are_named(tmp_path: Path) -> None:
    read_in = read([_write(tmp_path, "clip.csv", CLIP, "p1,1,C,C,30,nan", "p2,1,C,C,30,31")])
    assert [case.labels["pair_id"] for case in read_in.cases] == ["p2"]
    assert "clip.csv line 2: " in str(read_in.problems[0])


@pytest.mark.parametrize(
    ("header", "complaint"),
    [
        (
            "pair_id,image_variant,question,expected_answer",
            "answers need one of predicted_answer_norm",
        ),
        ("pair_id,clip_A", "CLIP scores need clip_B"),
        ("", "file-kind-unknown"),
        ("pair_id,pair_id", "'pair_id' twice"),
    ],
)
def test_a_file_of_another_shape_is_refused_with_what_it_lacks(tmp_path: Path, header: str, complaint: str) -> None:
    with pytest.raises(UsageError, match=complaint):
        read([_write(tmp_path, "x.csv", header)])


def test_an_unknown_format_and_an_unreadable_file_are_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="no import format named 'tifalite'"):
        import_files([], "tifalite", tmp_path / "run")
    with pytest.raises(UsageError, match="cannot be read"):
        import_files([tmp_path / "nowhere.csv"], "tifa-lite", tmp_path / "run")
    assert not (tmp_path / "run").exists()


def test_the_command_says_what_it_read_and_names_the_problems(tmp_path: Path) -> None:
    lines = (
        *GOOD,
        _row("p1", "A", "Is it odd?", "yes", ""),
        *(_row("p1", "A", f"Is it {i}?", "yes", "small") for i in range(25)),
    )
    answers = _write(tmp_path, "vqa_raw_results_toy.csv", ANSWERS, *lines)
    command = ["import", str(_prompts(tmp_path)), str(answers), "--as", "tifa-lite", "--out", str(tmp_path / "run")]
    done = CliRunner().invoke(salva, command, catch_exceptions=False)
    assert done.exit_code == 0
    assert done.output.startswith("2 pairs, 32 answers of toy in ")
    assert "27 problems" in done.output
    first, *others, last = [line for line in done.output.splitlines() if line.startswith("  ")]
    assert "line 8: no answer" in first
    assert len(others) == 19
    assert last == "  and 7 more"
    with (tmp_path / "run" / PROBLEMS_FILE).open(newline="") as file:
        assert len(list(csv.DictReader(file))) == 27
