"""The rubric for scores.

Rating sheets and the instructions of judges both take it from here, so that their numbers can be compared. The
steps are those of SemVarBench's Table 13 in our own words: attributes belong to the things that have them, and the
second half is about what stands between things.
"""

from __future__ import annotations

from dataclasses import dataclass

SCORE_RUBRIC = "halves"
"""Its name in a query: scores that were given by other words are not taken for scores by these."""
HIGHEST = 50
"""The most that each half can be."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Half:
    """One of the two numbers."""

    key: str
    """What it is called in JSON and at the head of a column."""
    name: str
    """What the paper calls it."""
    about: str
    steps: tuple[tuple[int, str], ...]
    """Numbers, the highest first, each with when it is given."""

    def lines(self, indent: str = "") -> str:
        """What it is about and its steps, a line each; indent: before every step."""
        steps = "\n".join(f"{indent}{number:>2}: {when}" for number, when in self.steps)
        return f"{self.name}, {HIGHEST} to 0: {self.about}\n{steps}"


OBJECTS = Half(
    key="objects",
    name="Object Accuracy",
    about="are the things of the text there, in their number and with their attributes (colour, shape, size, look)?",
    steps=(
        (50, "every thing is there, and all that the text says of it is right"),
        (40, "every thing is there; some small detail is a little off"),
        (30, "most things are there; a colour, a shape or something else about them is plainly wrong"),
        (20, "far from the text: several attributes are wrong"),
        (10, "most of what is seen of the things contradicts the text"),
        (0, "the things are missing, or others are there in their place"),
    ),
)
RELATIONS = Half(
    key="relations",
    name="Relevance",
    about="do the things stand to each other as the text says: places, directions, who does what to whom? Where it "
    "says nothing of that, as for Object Accuracy.",
    steps=(
        (50, "every place and every interaction is as the text says"),
        (40, "most are; what is off does not change what the picture tells"),
        (30, "the main things are there, but places or relations are plainly off and change a little what it tells"),
        (20, "the relations do not fit the text"),
        (10, "most relations are a muddle"),
        (0, "no relation is the one that the text speaks of"),
    ),
)
HALVES = (OBJECTS, RELATIONS)
