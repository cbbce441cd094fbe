"""Questions about one image: the three kinds, each with criteria for 1, 0.5 and 0.

The published rules: every point stands in one question, 0.5 is hard to get, and the third kind asks at l1 for the laws
of our world and at l2 and l3 for the changed law. What is nearly right and what is wrong may be said for each question;
where nobody said it, a general sentence stands in.
"""

from __future__ import annotations

from salva.core.question import Question
from salva.suites.cfworld.groups import INTEGRITY, LOGIC, POINT, question

NEARLY = "All of it is there, and place, direction, order and colours are right, but one must look twice to be sure."
NOT_SHOWN = "Some of it is missing, or is otherwise than asked."
NAMES = ("Mercury", "Neptune", "Earth", "Sydney", "London", "New York")
"""First words that keep their capital inside a sentence."""


def point_question(point: str, nearly: str = NEARLY, missed: str = NOT_SHOWN) -> Question:
    """Whether an image shows the assessment point, the whole of it."""
    said = _inside(point)
    return question(POINT, f"Is it plain to see that {said}?", {1.0: _sentence(point), 0.5: nearly, 0.0: missed})


def integrity_question(entities: str) -> Question:
    """Whether the entities of the prompt are whole; entities: "the bowl and the marbles"."""
    criteria = {
        1.0: "All of them are there, whole and easy to recognise, in any style.",
        0.5: "All of them are there; one small part is blurred or misshapen.",
        0.0: "One of them is missing, cannot be recognised or is badly misshapen.",
    }
    return question(INTEGRITY, f"Are {entities} whole and clearly drawn, without smeared or doubled parts?", criteria)


def logic_question(follows: str, broken: str = "", *, changed: bool) -> Question:
    """Whether what surrounds the subject keeps to the same law; follows: a clause that says what this means here."""
    law = "the changed law" if changed else "the laws of our world"
    criteria = {
        1.0: "It is so, and nothing in the rest of the picture speaks against it.",
        0.5: "One small thing in the background is off, and all the rest agrees.",
        0.0: broken or f"Something in the rest of the picture plainly speaks against {law}.",
    }
    text = f"Apart from the main subject, does the rest of the picture follow {law}, so that {_inside(follows)}?"
    return question(LOGIC, text, criteria)


def _inside(sentence: str) -> str:
    bare = sentence.strip().rstrip(".")
    return bare if bare.startswith(NAMES) else bare[:1].lower() + bare[1:]


def _sentence(point: str) -> str:
    bare = point.strip()
    return bare if bare.endswith((".", "!", "?")) else f"{bare}."
