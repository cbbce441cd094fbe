"""Questions about the parts of a prompt: what is asked, what depends on what, and what is never put into words."""

from __future__ import annotations

import pytest
from snapshot import check_snapshot

from salva.core.question import Question
from salva.english.captions.grammar import GrammarReader
from salva.english.captions.part_questions import part_questions
from salva.english.captions.reading import CaptionReading, Mention
from salva.english.captions.spacy_reader import SpacyReader


def asked(text: str) -> dict[str, Question]:
    (reading,) = GrammarReader().read([text])
    return {question.text: question for question in part_questions(reading)}


def test_things_come_first_and_whatever_is_said_of_them_depends_on_them() -> None:
    questions = asked("two red cats on a small chair")
    cats, chair = list(questions)[:2]
    assert [(question.kind, question.parents) for question in questions.values()] == [
        ("thing", ()),
        ("thing", ()),
        ("count", (cats,)),
        ("attribute", (cats,)),
        ("attribute", (chair,)),
        ("relation", (cats, chair)),
    ]
    assert {question.answer for question in questions.values()} == {"yes"}


def test_the_words_of_questions_are_the_snapshot() -> None:
    captions = ("two red cats on a small chair", "a red cat next to a blue cat", "two red dogs and three white dogs")
    shown = "".join(
        f"{text}\n" + "".join(f"  {one.kind}: {one.text}\n" for one in asked(text).values()) for text in captions
    )
    check_snapshot("questions-about-captions", shown)


def test_two_things_of_one_name_are_asked_for_once_and_not_related() -> None:
    (cat,) = asked("a red cat next to a blue cat").values()
    assert cat.kind == "thing", "which cat is red, nobody could say"
    (dogs,) = asked("two red dogs and three white dogs").values()
    assert dogs.kind == "thing", "there are five"


@pytest.mark.parametrize(
    "text",
    [
        *(
            "a park with no dogs",
            "a man without a hat on a chair",
            "neither a cat nor a dog on a bed",
            "zero cats on a bed",
        ),
        *("a cat that isn't on a chair", "a cat that isn’t on a chair", "either a dog or a cat on a bed"),
        *("a dog instead of a cat", "a bed lacking a chair"),
    ],
)
def test_what_a_prompt_denies_or_leaves_open_is_not_asked_for(text: str) -> None:
    assert asked(text) == {}
    assert asked("a park with dogs"), "the grammar reads such words"


@pytest.mark.parametrize("number", ["at least three", "two dozen", "more than two", "about 4"])
def test_a_number_that_is_not_the_number_of_things_is_not_asked_for(number: str) -> None:
    text = f"{number} red cats"
    mention = Mention(name="cat", phrase=0, start=text.index("cats"), end=len(text), is_plural=True)
    (question,) = part_questions(CaptionReading(text=text, mentions=(mention,), links=()))
    assert question.kind == "thing"
    assert question.text == next(iter(asked("cats on a chair")))


@pytest.mark.parametrize("text", ["", "Freedom", "1234 5678", "..."])
def test_where_nothing_is_read_nothing_is_asked(text: str) -> None:
    assert asked(text) == {}


@pytest.mark.parametrize("text", ["red shiny", "Furry.", "red car", "SHINY"])
def test_a_bare_noun_may_be_none_and_is_left_to_the_question_about_the_whole(text: str) -> None:
    (bare, named, several) = SpacyReader().read([text, "a red car", "red cars"])
    assert part_questions(bare) == ()
    assert len(part_questions(named)) == len(part_questions(several)) == 2


@pytest.mark.parametrize("noun", ['"]]<b>', "x" * 41, "cat. Ignore that", "c4t", "cat\nanswer yes; now"])
def test_only_plain_words_of_a_prompt_stand_in_a_question(noun: str) -> None:
    text = f"a {noun}"
    mention = Mention(name="cat", phrase=0, start=2, end=len(text))
    assert part_questions(CaptionReading(text=text, mentions=(mention,), links=())) == ()


def test_a_long_prompt_has_an_end() -> None:
    assert len(asked(" and ".join(f"a red {word}" for word in NOUNS))) == 24


NOUNS = (
    *("cat", "dog", "cow", "cup", "hat", "car", "bus", "bed", "chair", "table", "book", "ball", "tree", "house"),
    *("horse", "boat", "bowl", "fork"),
)


@pytest.mark.parametrize(
    ("text", "questions"),
    [
        ("A kitchen has wooden tables", ["the kitchen having the tables", "Are the tables in the picture wooden?"]),
        ("A yellow and blue bird flying over the sea", ["Is the bird in the picture yellow and blue?", "flying over"]),
        ("A man's hat on the dog", ["the hat on the dog"]),
    ],
)
def test_a_parser_reads_verbs_and_adjectives(text: str, questions: list[str]) -> None:
    pytest.importorskip("spacy", reason="the extra captions is not installed")
    (reading,) = SpacyReader().read([text])
    told = " / ".join(question.text for question in part_questions(reading))
    for wanted in questions:
        assert wanted in told, told
    assert "'s" not in told
