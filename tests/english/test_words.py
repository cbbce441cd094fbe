from __future__ import annotations

import pytest

from salva.english.nouns import plural, singular
from salva.english.words import counted, number_of, number_word, with_article
from salva.errors import UsageError

NOUNS = (
    *("person", "bicycle", "car", "motorcycle", "airplane", "bus", "train", "truck", "boat", "traffic light", "bench"),
    *("fire hydrant", "stop sign", "parking meter", "bird", "cat", "dog", "horse", "sheep", "cow", "elephant", "bear"),
    *("zebra", "giraffe", "backpack", "umbrella", "handbag", "tie", "suitcase", "frisbee", "skis", "snowboard", "kite"),
    *("sports ball", "baseball bat", "baseball glove", "skateboard", "surfboard", "tennis racket", "bottle", "cup"),
    *("wine glass", "fork", "knife", "spoon", "bowl", "banana", "apple", "sandwich", "orange", "broccoli", "carrot"),
    *("hot dog", "pizza", "donut", "cake", "chair", "couch", "potted plant", "bed", "dining table", "toilet", "tv"),
    *("laptop", "mouse", "remote", "keyboard", "cell phone", "microwave", "oven", "toaster", "sink", "refrigerator"),
    *("book", "clock", "vase", "scissors", "teddy bear", "hair drier", "toothbrush", "ball", "flower", "tree", "house"),
    *(
        "fish",
        "wolf",
        "leaf",
        "tomato",
        "piano",
        "city",
        "key",
        "fox",
        "box",
        "watch",
        "dish",
        "dress",
        "cookie",
        "shoe",
    ),
    *(
        "fly",
        "axe",
        "candle",
        "bee",
        "cheese",
        "nose",
        "rose",
        "purse",
        "moustache",
        "canoe",
        "octopus",
        "lens",
        "quiz",
    ),
)


@pytest.mark.parametrize("noun", NOUNS)
def test_the_singular_undoes_the_plural(noun: str) -> None:
    assert singular(plural(noun)) == noun


@pytest.mark.parametrize(
    ("entity", "wanted"),
    [
        ("cat", "cats"),
        ("sheep", "sheep"),
        ("knife", "knives"),
        ("bus", "buses"),
        ("person", "people"),
        ("teddy bear", "teddy bears"),
        ("scissors", "scissors"),
        ("wine glass", "wine glasses"),
        ("city", "cities"),
        ("key", "keys"),
        ("sandwich", "sandwiches"),
        ("computer mouse", "computer mice"),
    ],
)
def test_plurals(entity: str, wanted: str) -> None:
    assert plural(entity) == wanted


@pytest.mark.parametrize(
    ("phrase", "wanted"),
    [
        ("apple", "an apple"),
        ("cat", "a cat"),
        ("umbrella", "an umbrella"),
        ("hour", "an hour"),
        ("unicorn", "a unicorn"),
        ("house", "a house"),
        ("orange cat", "an orange cat"),
        ("red apple", "a red apple"),
        ("uniform", "a uniform"),
        ("european car", "a european car"),
        ("scissors", "a pair of scissors"),
    ],
)
def test_articles_follow_the_sound(phrase: str, wanted: str) -> None:
    assert with_article(phrase) == wanted


def test_counting() -> None:
    assert counted("apple", 1) == "an apple"
    assert counted("apple", 3) == "three apples"
    assert counted("scissors", 2) == "two pairs of scissors"
    assert counted("sheep", 21) == "21 sheep"


def test_number_words_both_ways() -> None:
    assert [number_of(number_word(n)) for n in range(1, 31)] == list(range(1, 31))
    assert number_word(20) == "twenty"
    assert number_of("cat") is None
    assert number_of("0") is None
    with pytest.raises(UsageError, match=r"\[count-range\]"):
        number_word(0)
