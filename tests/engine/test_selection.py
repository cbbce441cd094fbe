"""Which checks judge a case: its primary check, those that are measured besides, and no others."""

from __future__ import annotations

from pathlib import Path

import pytest

from salva.core.case import Case
from salva.core.run_spec import RunSpec
from salva.engine.run_components import Cast, Selection
from salva.runs.cases import planned_cases
from salva.runs.plans import AllButSuite, make_plan
from salva.runs.vocabulary import known_names

PROMPTS = "a cat and a dog\na cat and a skateboard\nA man rides a wave"


def selections(folder: Path, text: str = PROMPTS, **asked: object) -> list[tuple[str, set[str]]]:
    """Primary check and all checks of each prompt: one the detector can name, one it cannot, one without a formula."""
    name = "p.csv" if "," in text.partition("\n")[0] else "p.txt"
    (folder / name).write_text(text)
    settings = {"suite.path": str(folder / name), "suite.rewordings": "1"}
    ask = RunSpec.of(suite="prompts", settings=settings, **asked)  # type: ignore[arg-type]  # keywords
    plan = make_plan(ask, foreign=AllButSuite())
    cast = Cast.of(plan, names=known_names(plan.detector))

    def selected(case: Case) -> Selection:
        return cast.selection(case)

    made = map(selected, planned_cases(plan))
    return [(primary, {applied.part.label for applied in checks}) for primary, checks in made]


@pytest.fixture(autouse=True)
def key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-of-a-test")


def test_formulas_are_checked_by_boxes_and_the_rest_by_the_judge(tmp_path: Path) -> None:
    assert selections(tmp_path, judges=("openai/j",)) == [
        ("truth", {"truth", "same-scene"}),
        ("right-answers", {"right-answers", "no-text"}),
        ("right-answers", {"right-answers", "no-text"}),
    ]


def test_without_a_judge_a_case_that_cannot_be_named_keeps_its_check_and_the_rest_has_none(tmp_path: Path) -> None:
    assert selections(tmp_path) == [("truth", {"truth", "same-scene"}), ("truth", {"truth"}), ("", set())]


def test_without_a_detector_the_judge_checks_all(tmp_path: Path) -> None:
    found = selections(tmp_path, judges=("openai/j",), models=("openai/m",))
    assert [primary for primary, _ in found] == ["right-answers"] * 3


@pytest.mark.parametrize(
    ("asked", "primary", "others"),
    [
        ({"judges": ("openai/j",)}, "right-answers", {"same-answers", "same-scene", "no-text"}),
        (
            {"judges": ("openai/j",), "embedder": "pocket"},
            "right-answers",
            {"same-answers", "same-scene", "same-similarity", "no-text"},
        ),
        ({"embedder": "pocket"}, "same-scene", {"same-similarity"}),
        ({"embedder": "pocket", "models": ("openai/m",)}, "same-similarity", {"no-text"}),
    ],
)
def test_a_pair_without_formulas_is_checked_by_the_best_that_is_bound(
    tmp_path: Path, asked: dict[str, object], primary: str, others: set[str]
) -> None:
    pair = "prompt_a,prompt_b\nA photo of a horse that sleeps,A sleeping horse\n"
    assert selections(tmp_path, pair, **asked) == [(primary, {primary, *others})]


def test_a_pair_expected_to_differ_is_held_against_its_prompts_first(tmp_path: Path) -> None:
    pair = "prompt_a,prompt_b,expect\nA man rides a wave,A man rides a bus,differ\n"
    assert selections(tmp_path, pair, judges=("openai/j",)) == [
        ("right-answers", {"right-answers", "must-differ", "no-text"})
    ]


def test_the_chosen_check_comes_first_and_what_is_free_is_measured_too(tmp_path: Path) -> None:
    found = selections(tmp_path, judges=("openai/j",), check="same-answers")
    assert found[0] == ("truth", {"same-answers", "truth", "same-scene"})
    assert selections(tmp_path, judges=("openai/j",), check="same-scene")[1] == ("right-answers", {"same-scene"})


@pytest.mark.parametrize(
    "texts", ["a sad clown,a clown who is sad", "a photo of a cat,a clown like a cat", "eine Katze,Katzen"]
)
def test_a_pair_without_formulas_is_not_compared_by_a_detector_that_cannot_name_what_it_mentions(
    tmp_path: Path, texts: str
) -> None:
    pair = f"prompt_a,prompt_b\n{texts}\n"
    assert selections(tmp_path, pair, embedder="pocket") == [("same-similarity", {"same-similarity", "no-text"})]
    assert selections(tmp_path, pair) == [("same-scene", {"same-scene"})], "kept, and known to be undecidable"


def test_a_detector_that_needs_words_cannot_decide_pairs_without_formulas(tmp_path: Path) -> None:
    pairs = "prompt_a,prompt_b\nA man rides a wave,A wave is ridden\na cat and a dog,a dog and a cat\n"
    (tmp_path / "pairs.csv").write_text(pairs)
    ask = RunSpec.of(
        suite="prompts",
        models=("openai/m",),
        detector="mm-grounding-dino",
        reader="rapidocr",
        settings={"suite.path": str(tmp_path / "pairs.csv")},
    )
    plan = make_plan(ask, foreign=AllButSuite())
    cast = Cast.of(plan)
    without, with_formulas = (cast.checks_of(case) for case in planned_cases(plan))
    assert ["given words" in applied.undecidable for applied in without] == [True]
    assert [applied.undecidable for applied in with_formulas] == ["", ""]
