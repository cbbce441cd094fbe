"""What a made sentence can mean: some things, or one beside another, in notation; and the words for both.

Imports nothing of the package: a second opinion must not share its mistakes.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple


class Noun(NamedTuple):
    """A thing in one and in several."""

    one: str
    many: str
    article: str


def _nouns(text: str, article: str) -> list[Noun]:
    pairs = [line.strip().split("/") for line in text.split(",")]
    return [Noun(one, many, article) for one, many in pairs]


NOUNS = [
    *_nouns(
        "cat/cats, dog/dogs, lion/lions, tiger/tigers, bear/bears, cow/cows, ball/balls, book/books, tree/trees,"
        "mouse/mice, sheep/sheep, child/children, knife/knives, wolf/wolves, goose/geese, fish/fish, deer/deer,"
        "bus/buses, box/boxes, fox/foxes, glass/glasses, bench/benches, brush/brushes, dish/dishes, watch/watches,"
        "cherry/cherries, butterfly/butterflies, toy/toys, monkey/monkeys, shoe/shoes, boot/boots, glove/gloves,"
        "tomato/tomatoes, potato/potatoes, piano/pianos, photo/photos, person/people, man/men, woman/women,"
        "snowman/snowmen, fireman/firemen, leaf/leaves, loaf/loaves, shelf/shelves, bookshelf/bookshelves,"
        "scarf/scarves, horse/horses, house/houses, rose/roses, vase/vases, nose/noses, purse/purses, cookie/cookies,"
        "pie/pies, tie/ties, movie/movies, bee/bees, cactus/cacti, octopus/octopuses, walrus/walruses, lens/lenses,"
        "volcano/volcanoes, hero/heroes, kangaroo/kangaroos, giraffe/giraffes, stove/stoves, dove/doves, foot/feet,"
        "tooth/teeth, circus/circuses, dress/dresses, mosquito/mosquitoes, tornado/tornadoes, human/humans,"
        "grandchild/grandchildren",
        "a",
    ),
    *_nouns(
        "apple/apples, egg/eggs, umbrella/umbrellas, elephant/elephants, owl/owls, ox/oxen, axe/axes, onion/onions",
        "an",
    ),
    *_nouns(
        "stop sign/stop signs, teddy bear/teddy bears, fire hydrant/fire hydrants, wine glass/wine glasses,"
        "hot dog/hot dogs, baseball bat/baseball bats, traffic light/traffic lights, computer mouse/computer mice,"
        "butter knife/butter knives, potted plant/potted plants, tennis racket/tennis rackets, unicorn/unicorns",
        "a",
    ),
    *_nouns("scissors/scissors, trousers/trousers, sunglasses/sunglasses", "a pair of"),
]
COLOURS = ("red", "yellow", "green", "blue", "purple", "pink", "brown", "black", "white", "gray", "grey")
NUMBERS = tuple(
    "one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen".split()  # noqa: SIM905  # to be read
)
SIDES = {
    "left": ("on the left", "on the left side", "to the left", "on the left of the picture", "on the left-hand side"),
    "right": ("on the right", "on the right side", "on the right side of the image", "to the right", "at the right"),
    "top": ("at the top", "at the top of the picture", "on top", "on the top"),
    "bottom": ("at the bottom", "on the bottom", "at the bottom of the photo"),
    "x-middle": ("in the middle", "in the horizontal middle", "in the center"),
    "y-middle": ("in the middle", "in the vertical middle", "in the centre"),
}
AXES = (("left", "right", "x-middle"), ("top", "bottom", "y-middle"))
RELATED = {
    "left_of": ("to the left of", "on the left of", "left of", "on the left side of"),
    "right_of": ("to the right of", "on the right of", "on the right side of"),
    "above": ("above",),
    "below": ("below", "under", "beneath", "underneath"),
    "next_to": ("next to", "beside"),
    "near": ("near", "close to"),
    "on": ("on", "on top of"),
}
DENIALS = ("It is not the case that", "It is not true that", "It's not the case that", "It is false that")


@dataclass(frozen=True)
class Some:
    """So many things of a kind. bound: exactly, least, most, none, or nothing for a plain number."""

    noun: Noun
    n: int = 1
    colour: str = ""
    place: str = ""
    bound: str = ""
    is_denied: bool = False
    """Inside a denial, where a bound is no largest number."""

    def atom(self, n: int) -> str:
        colour = "gray " if self.colour == "grey" else f"{self.colour} " if self.colour else ""
        return f"{n} {colour}{self.noun.one}{'@' + self.place if self.place else ''}"

    @property
    def notation(self) -> str:
        if self.bound == "none":
            return f"!{self.atom(1)}"
        more = f"({self.atom(self.n + 1)} | {self.atom(99)})" if self.is_denied else self.atom(self.n + 1)
        if self.bound == "exactly":
            return f"({self.atom(self.n)} & !{more})"
        if self.bound == "least":
            return f"({self.atom(self.n)} | {self.atom(99)})"
        return f"!{more}" if self.bound == "most" else self.atom(self.n)

    @property
    def has_ending(self) -> bool:
        return bool(self.place)


@dataclass(frozen=True)
class Beside:
    """A thing that stands in a relation to another."""

    relation: str
    first: Noun
    second: Noun

    @property
    def notation(self) -> str:
        return f"{self.relation}({self.first.one}, {self.second.one})"

    @property
    def has_ending(self) -> bool:
        return True


Part = Some | Beside


class Sentence(NamedTuple):
    """A text and what it means in notation; of an ambiguous one both meanings."""

    text: str
    meaning: str
    other: str = ""


def every(parts: Sequence[Part]) -> str:
    return " & ".join(part.notation for part in parts)


def some(parts: Sequence[Part]) -> str:
    return " | ".join(part.notation for part in parts)
