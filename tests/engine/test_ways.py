"""A case is judged by the best of its ways that somebody can go, and nobody is paid for another."""

from __future__ import annotations

from pathlib import Path

import pytest

from salva.core.run_spec import RunSpec
from salva.engine.run_components import Cast
from salva.runs.cases import planned_cases
from salva.runs.plans import AllButSuite, make_plan
from salva.runs.vocabulary import known_names

PROMPTS = "a cat and a dog\na cat and a skateboard\nA man rides a wave"


def judged_by(folder: Path, **asked: object) -> list[set[str]]:
    """The checks that each of three prompts is judged by: one the detector can name, one it cannot, one unread."""
    (folder / "p.txt").write_text(PROMPTS)
    ask = RunSpec.of(suite="prompts", settings={"suite.path": str(folder / "p.txt")}, **asked)  # type: ignore[arg-type]  # keywords
    spec = make_plan(ask, foreign=AllButSuite())
    cast = Cast.of(spec, names=known_names(spec.detector))
    return [{applied.part.label for applied in cast.checks_of(case)} for case in planned_cases(spec)]


@pytest.fixture(autouse=True)
def key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-of-a-test")


def test_formulas_go_by_boxes_and_the_rest_by_the_judge(tmp_path: Path) -> None:
    by_boxes, by_judge, unread = judged_by(tmp_path, judges=("openai/j",))
    assert by_boxes == {"truth", "same-scene"}
    assert by_judge == {"right-answers", "same-answers"}
    assert unread == {"right-answers"}


def test_without_a_judge_what_cannot_be_named_stays_with_its_reason(tmp_path: Path) -> None:
    assert judged_by(tmp_path) == [{"truth", "same-scene"}, {"truth", "same-scene"}, set()]


def test_without_a_detector_formulas_go_by_the_judge_and_then_by_vectors(tmp_path: Path) -> None:
    asked = {"models": ("openai/m",), "embedder": "pocket"}
    assert judged_by(tmp_path, judges=("openai/j",), **asked)[0] == {"right-answers", "same-answers"}
    assert judged_by(tmp_path, **asked)[0] == {"same-similarity"}


def test_a_relation_that_is_named_is_judged_besides(tmp_path: Path) -> None:
    found = judged_by(tmp_path, judges=("openai/j",), check="same-answers")
    assert found[0] == {"truth", "same-scene", "same-answers"}


def test_a_detector_that_wants_words_says_nothing_of_pairs_without_any(tmp_path: Path) -> None:
    pairs = "prompt_a,prompt_b\nA man rides a wave,A wave is ridden\na cat and a dog,a dog and a cat\n"
    (tmp_path / "pairs.csv").write_text(pairs)
    ask = RunSpec.of(
        suite="prompts",
        models=("openai/m",),
        detector="mm-grounding-dino",
        reader="rapidocr",
        settings={"suite.path": str(tmp_path / "pairs.csv")},
    )
    spec = make_plan(ask, foreign=AllButSuite())
    cast = Cast.of(spec)
    unread, read = (cast.checks_of(case) for case in planned_cases(spec))
    assert ["given words" in applied.undecidable for applied in unread] == [True]
    assert [applied.undecidable for applied in read] == ["", ""], "it is given some, though a reader is not"
