from __future__ import annotations

import pytest

from salva.english.contrasts import questions_of_contrast
from salva.logic.notation import parse

ASKED = (
    "Is there a dog?",
    "Is the dog green?",
    "What colour is the dog?",
    "Are there two dogs?",
    "Is the dog on the left?",
    "Is there a cat?",
    "Is the dog next to the cat?",
    "Is there a wooden floor?",
    "Is the lighting bright?",
)


@pytest.mark.parametrize(
    ("one", "other", "telling"),
    [
        ("dog", "!dog", (0, 1, 2, 3, 4, 6)),
        ("green dog", "!green dog", (0, 1, 2, 3, 4, 6)),
        ("dog & cat", "dog & !cat", (5, 6)),
        ("green dog", "red dog", (1, 2)),
        ("dog@left", "dog@right", (4,)),
        ("dog", "2 dog", (3,)),
        ("dog & cat", "next_to(dog, cat)", (6,)),
        ("cat & dog & next_to(dog, cat)", "cat & !(cat & dog & next_to(dog, cat))", (0, 1, 2, 3, 4, 6)),
        ("green dog", "dog & !green dog", (1, 2)),
        ("dog & cat & next_to(dog, cat)", "dog & cat & !next_to(dog, cat)", (6,)),
        ("dog & cat", "dog | cat", (0, 1, 2, 3, 4, 5, 6)),
        ("small dog", "!small dog", (0, 1, 2, 3, 4, 6)),
        ("cow", "!cow", ()),
    ],
)
def test_which_questions_are_about_what_tells_prompts_apart(one: str, other: str, telling: tuple[int, ...]) -> None:
    assert questions_of_contrast(parse(one), parse(other), ASKED) == [ASKED[i] for i in sorted(telling)]
