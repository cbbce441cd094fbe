"""The suite: six tasks from a file or our own, what stands beside them, and what is told before a run."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path

import pytest

from salva.errors import UsageError
from salva.suites.geneval.demands import TASKS, demands_of
from salva.suites.geneval.suite import (
    BESIDE,
    IN_TASKS,
    N_OFFICIAL,
    VARIANTS,
    GenEval,
    GenEvalOptions,
    case_id_of,
    missing_prompts,
)


def _suite(**options: object) -> GenEval:
    return GenEval(GenEvalOptions(**options))  # type: ignore[arg-type]  # as a test spells them


def test_the_official_file_becomes_a_case_a_prompt(foreign_data: Path) -> None:
    path = str(foreign_data / "geneval" / "evaluation_metadata.jsonl")
    suite = _suite(path=path)
    cases = list(suite.cases("paper"))
    assert Counter(case.category for case in cases) == N_OFFICIAL
    assert len({case.case_id for case in cases}) == 553
    assert all(demands_of(case) and case.determinate and case.labels["set"] == IN_TASKS for case in cases)
    assert list(suite.remarks("paper")) == [
        "553 prompts: 80 single_object, 99 two_object, 80 counting, 94 colors, 100 position, 100 color_attr"
    ]
    quick = list(suite.cases("quick"))
    assert Counter(case.category for case in quick) == dict.fromkeys(TASKS, 4)
    assert {case.case_id for case in quick} <= {case.case_id for case in cases}


def test_a_file_of_few_tasks_gives_more_prompts_of_each(foreign_data: Path, tmp_path: Path) -> None:
    lines = (foreign_data / "geneval" / "evaluation_metadata.jsonl").read_text().splitlines()
    two = [line for line in lines if json.loads(line)["tag"] in ("counting", "position")]
    (tmp_path / "m.jsonl").write_text("\n".join(two))
    quick = Counter(case.category for case in _suite(path=str(tmp_path / "m.jsonl")).cases("quick"))
    assert quick == {"counting": 9, "position": 9}


def test_prompts_that_a_file_does_not_have_are_counted(foreign_data: Path, tmp_path: Path) -> None:
    lines = (foreign_data / "geneval" / "evaluation_metadata.jsonl").read_text().splitlines()
    (tmp_path / "m.jsonl").write_text("\n".join(lines[9:]))
    told = " ".join(_suite(path=str(tmp_path / "m.jsonl")).remarks("paper"))
    assert "544 of GenEval's 553" in told
    assert not missing_prompts(N_OFFICIAL)


def test_our_own_sizes() -> None:
    suite = _suite()
    sizes = {size: list(suite.cases(size)) for size in ("quick", "paper", "full")}
    assert [len(cases) for cases in sizes.values()] == [24, 232, 528]
    ids = [{case.case_id for case in cases} for cases in sizes.values()]
    assert ids[0] < ids[1] < ids[2]
    assert not list(suite.remarks("paper"))


def test_beyond_holds_only_what_stands_beside_the_tasks() -> None:
    cases = list(_suite().cases("beyond"))
    assert {case.labels["set"] for case in cases} == {BESIDE}
    assert {case.labels["kind"] for case in cases} == {*VARIANTS, "hard"}


def test_variants_share_the_picture_of_their_prompt() -> None:
    suite = _suite(variants=("commuted", "other-side", "exchanged"))
    cases = {case.case_id: case for case in suite.cases("quick")}
    pairs = [case for case in cases.values() if len(case.prompts) == 2]
    assert Counter(case.labels["kind"] for case in pairs) == {"commuted": 8, "other-side": 4, "exchanged": 4}
    assert {case.category for case in cases.values()} == set(TASKS), "the failure rate stays a mean of six tasks"
    for case in pairs:
        base = cases[case.labels["of"]]
        assert case.prompts[0] == base.prompts[0]
        assert case.seed(0, 1) == base.seed(0, 1)
        assert case.equivalent is (case.labels["kind"] != "exchanged")
    commuted = cases["geneval-turtle-and-a-cow-commuted"]
    assert [prompt.text for prompt in commuted.prompts] == [
        "a photo of a turtle and a cow",
        "a photo of a cow and a turtle",
    ]


def test_rewritten_prompts_stand_beside_theirs(tmp_path: Path) -> None:
    row = {"tag": "single_object", "include": [{"class": "cow", "count": 1}], "prompt": "a photo of a cow"}
    (tmp_path / "m.jsonl").write_text(json.dumps(row))
    (tmp_path / "r.jsonl").write_text(json.dumps({"prompt": row["prompt"], "rewritten": "A cow, grazing"}))
    suite = _suite(path=str(tmp_path / "m.jsonl"), rewritten=str(tmp_path / "r.jsonl"))
    plain, rewritten = suite.cases("paper")
    assert (rewritten.prompts[0].text, rewritten.prompts[0].formula) == ("A cow, grazing", "cow")
    assert rewritten.case_id == f"{plain.case_id}-rewritten"
    assert rewritten.labels["set"] == BESIDE
    assert plain.seed(0, 0) == rewritten.seed(0, 0)


def test_ids_are_made_of_the_words() -> None:
    assert case_id_of("a photo of a wine glass above a kite") == "geneval-wine-glass-above-a-kite"
    assert case_id_of("a photo of two clocks") == "geneval-two-clocks"
    ids = {case_id_of(text) for text in ("A cow!", "a cow", "a photo of a cow", "a photo of a Cow", "\u4e00" * 200, "")}
    assert len(ids) == 6


def test_an_unknown_variant_is_refused() -> None:
    with pytest.raises(UsageError, match=r"\[name-unknown\]"):
        _suite(variants=("mirrored",))
