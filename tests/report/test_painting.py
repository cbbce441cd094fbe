"""What was painted in the place of prompts, and the words passed over, as a report lists them."""

from __future__ import annotations

from salva.core.source import Painted
from salva.report.painting import painting_tables

MADE = (
    Painted(model="m", prompt="If up were down, draw rain.", text="Rain rises.", passed_over=(), n=2),
    Painted(model="m", prompt="If so, draw it.", text="", passed_over=("if", "so", "if"), n=3),
    Painted(model="m", prompt="If a cat.", text="", passed_over=("if",), n=1),
    Painted(model="other", prompt="x", text="y", passed_over=("z",), n=9),
)


def test_each_model_has_its_own_texts_and_words() -> None:
    texts, words = painting_tables(MADE, "m")
    assert texts.rows == (("If up were down, draw rain.", "Rain rises.", 2),)
    assert words.rows == (("if", 4), ("so", 3)), "a word said twice in a prompt is in one picture"


def test_a_model_that_painted_its_prompts_has_no_tables() -> None:
    assert not list(painting_tables(MADE, "third"))
