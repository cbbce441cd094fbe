"""English words for things, numbers and colours.

Entities come in as singular nouns and leave with an article, a number or a plural ending,
and plurals come back as singulars. Knows nothing of formulas or grammar beyond one noun phrase.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from salva.errors import UsageError

COLOURS = ("red", "orange", "yellow", "green", "blue", "purple", "pink", "brown", "black", "white", "gray")

NUMBER_WORDS = (
    *("one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve", "thirteen"),
    *("fourteen", "fifteen", "sixteen", "seventeen", "eighteen", "nineteen", "twenty"),
)
"""The words for 1 to 20, in order."""

_TENS = {"twenty": 20, "thirty": 30, "forty": 40, "fifty": 50, "sixty": 60, "seventy": 70, "eighty": 80, "ninety": 90}

GRAMMAR_WORDS = frozenset(
    (
        *("a", "an", "the", "no", "not", "and", "or", "nor", "either", "neither", "both", "otherwise", "but", "with"),
        *("there", "is", "are", "it", "case", "that", "on", "in", "to", "of", "at", "least", "exactly", "only", "next"),
        *("left", "right", "top", "bottom", "middle", "above", "below", *NUMBER_WORDS),
        *("larger", "bigger", "smaller", "than"),
        *("along", "together", "as", "well"),
        *("under", "underneath", "beneath", "beside", "most", "more", "fewer", "less", "true"),
    )
)
"""Words no entity may contain: a sentence that names such an entity could be read in two ways."""

RELATION_WORDS = {
    "left_of": "to the left of",
    "right_of": "to the right of",
    "above": "above",
    "below": "below",
    "next_to": "next to",
    "on": "on",
    "larger_than": "larger than",
    "smaller_than": "smaller than",
}

_UNCHANGED = frozenset(
    ("sheep", "fish", "deer", "moose", "aircraft", "spacecraft", "bison", "salmon", "trout", "squid")
)
_PAIRS = frozenset(
    (
        "scissors",
        "trousers",
        "jeans",
        "sunglasses",
        "shorts",
        "pants",
        "binoculars",
        "tweezers",
        "pliers",
        "skis",
    )
)
_IRREGULAR = {
    "person": "people",
    "man": "men",
    "woman": "women",
    "fireman": "firemen",
    "snowman": "snowmen",
    "policeman": "policemen",
    "child": "children",
    "mouse": "mice",
    "goose": "geese",
    "tooth": "teeth",
    "foot": "feet",
    "ox": "oxen",
    "die": "dice",
    "cactus": "cacti",
    "knife": "knives",
    "wife": "wives",
    "life": "lives",
    "leaf": "leaves",
    "loaf": "loaves",
    "half": "halves",
    "calf": "calves",
    "elf": "elves",
    "shelf": "shelves",
    "wolf": "wolves",
    "thief": "thieves",
    "scarf": "scarves",
    "tomato": "tomatoes",
    "potato": "potatoes",
    "hero": "heroes",
    "mango": "mangoes",
    "mosquito": "mosquitoes",
    "torpedo": "torpedoes",
    "quiz": "quizzes",
    # Regular, but their plurals would be undone wrongly by the endings alone.
    "bus": "buses",
    "gas": "gases",
    "lens": "lenses",
    "octopus": "octopuses",
    "walrus": "walruses",
    "hippopotamus": "hippopotamuses",
    "platypus": "platypuses",
    "iris": "irises",
    "virus": "viruses",
    "canvas": "canvases",
    "atlas": "atlases",
    "axe": "axes",
    "movie": "movies",
    "cookie": "cookies",
    "tie": "ties",
    "pie": "pies",
    "zombie": "zombies",
    "selfie": "selfies",
    "shoe": "shoes",
    "horseshoe": "horseshoes",
    "toe": "toes",
    "canoe": "canoes",
    "hoe": "hoes",
    "moustache": "moustaches",
    "headache": "headaches",
    "cache": "caches",
    "quiche": "quiches",
    "brioche": "brioches",
}
_ING_NOUNS = frozenset(
    (
        *("building", "ring", "king", "wing", "string", "earring", "painting", "ceiling", "sibling", "duckling"),
        *("pudding", "awning", "railing", "sling", "spring", "swing", "viking", "carving", "drawing", "dumpling"),
    )
)
_ED_NOUNS = frozenset(("bed", "sled", "shed", "seed", "weed", "reed", "steed", "bobsled", "moped"))
_NO_NAMES = frozenset(
    (
        # What a thing is like, beyond its colour.
        *("small", "large", "big", "little", "tiny", "huge", "giant", "tall", "short", "long", "wide", "round"),
        *("old", "young", "new", "happy", "sad", "angry", "cute", "beautiful", "fluffy", "furry", "shiny", "bright"),
        *("dark", "light", "striped", "spotted", "wooden", "metal", "golden", "silver", "violet", "beige", "colorful"),
        *("colourful", "empty", "full", "open", "closed", "broken", "wet", "dry", "fresh", "ripe", "sleepy", "asleep"),
        # Numbers that are none, and what belongs to verbs.
        *("several", "many", "some", "few", "multiple", "various", "lots", "each", "every", "another", "other"),
        *("hundred", "thousand", "million", "billion", "dozen", "dozens", "pair", "pairs", "couple", "group", "bunch"),
        *("has", "have", "his", "her", "its", "their", "who", "which", "while", "where", "this", "these", "those"),
        *("very", "also", "just", "not", "never", "without", "except", "only", "then", "so", "if", "because"),
    )
)
_SINGULAR = {plural: singular for singular, plural in _IRREGULAR.items()}

# Sound decides, not spelling: a silent h takes "an", a vowel said as "you" or "won" takes "a".
_AN_SOUNDS = ("hour", "heir", "honest", "honour", "honor")
_A_SOUNDS = ("uni", "use", "usu", "util", "uku", "ura", "eu", "ewe", "one", "once", "ouija", "ubi")
_AN_DESPITE = ("unin", "unim", "unid")


def plural(entity: str) -> str:
    """The plural of a singular noun; of several words, that of the last."""
    head, space, noun = entity.rpartition(" ")
    return head + space + _plural_noun(noun)


def singular(words: str) -> str:
    """The singular of a plural noun; undoes `plural` for every noun this file knows and regular ones."""
    head, space, noun = words.rpartition(" ")
    return head + space + _singular_noun(noun)


def is_plural_noun(noun: str) -> bool:
    """Whether a noun can only name several things: sheep are one or several, and so are scissors."""
    if noun in _SINGULAR:
        return True
    if noun in _UNCHANGED or noun in _PAIRS:
        return False
    if noun in _IRREGULAR or not noun.endswith("s") or noun.endswith(("ss", "us", "is")):
        return False
    return _plural_noun(_singular_noun(noun)) == noun


def can_be_several(noun: str) -> bool:
    """Whether a noun can stand after a number."""
    return is_plural_noun(noun) or noun in _UNCHANGED or noun in _PAIRS


def counts_in_pairs(entity: str) -> bool:
    """Whether a pair of them is one: scissors, not shoes."""
    return entity.rpartition(" ")[2] in _PAIRS


def unsayable(words: Sequence[str]) -> str:
    """Why these words are no name of a thing; empty where they may be one."""
    for word in words:
        if word in _NO_NAMES:
            return f"{word!r} cannot be said in a formula; name things, numbers, colours and places"
    last = words[-1]
    is_verb = (last.endswith("ing") and last not in _ING_NOUNS) or (last.endswith("ed") and last not in _ED_NOUNS)
    if len(words) > 1 and is_verb:
        return f"{last!r} says what a thing does, which a formula cannot; name things, numbers, colours and places"
    return ""


def article(phrase: str) -> str:
    """ "a" or "an", by the sound the phrase starts with."""
    word = phrase.split(" ", 1)[0]
    if word.startswith(_AN_SOUNDS):
        return "an"
    if word.startswith(_A_SOUNDS) and not word.startswith(_AN_DESPITE):
        return "a"
    return "an" if word[:1] in "aeiou" else "a"


def with_article(phrase: str) -> str:
    """The phrase with "a" or "an"; what only comes in pairs is counted in pairs."""
    if phrase.rpartition(" ")[2] in _PAIRS:
        return f"a pair of {phrase}"
    return f"{article(phrase)} {phrase}"


def number_word(n: int) -> str:
    """ "one" to "twenty", then figures."""
    if n < 1:
        raise UsageError(f"no number word for {n!r}; give 1 or more")
    return NUMBER_WORDS[n - 1] if n <= len(NUMBER_WORDS) else str(n)


def number_of(word: str) -> int | None:
    """The number a word or figure stands for, from 1 up; None when it is no number."""
    if word in NUMBER_WORDS:
        return NUMBER_WORDS.index(word) + 1
    tens, _, ones = word.partition("-")
    if tens in _TENS and (not ones or ones in NUMBER_WORDS[:9]):
        return _TENS[tens] + (NUMBER_WORDS.index(ones) + 1 if ones else 0)
    return int(word) if word.isascii() and word.isdigit() and len(word) <= 4 and int(word) > 0 else None


def counted(entity: str, n: int) -> str:
    """The entity in a number: "an apple", "three apples"."""
    if n == 1:
        return with_article(entity)
    if entity.rpartition(" ")[2] in _PAIRS:
        return f"{number_word(n)} pairs of {entity}"
    return f"{number_word(n)} {plural(entity)}"


def _plural_noun(noun: str) -> str:
    if noun in _UNCHANGED or noun in _PAIRS:
        return noun
    if noun in _IRREGULAR:
        return _IRREGULAR[noun]
    if noun.endswith(("s", "x", "z", "ch", "sh")):
        return noun + "es"
    if noun.endswith("y") and noun[-2:-1] not in tuple("aeiou"):
        return noun[:-1] + "ies"
    return noun + "s"


def _singular_noun(noun: str) -> str:
    if noun in _UNCHANGED or noun in _PAIRS:
        return noun
    if noun in _SINGULAR:
        return _SINGULAR[noun]
    if noun.endswith("ies") and len(noun) > 4:
        return noun[:-3] + "y"
    if noun.endswith(("sses", "xes", "zzes", "ches", "shes")):
        return noun[:-2]
    return noun[:-1] if noun.endswith("s") and not noun.endswith("ss") else noun


def comparable(text: str) -> str:
    """A prompt, a question or an answer as it is compared: one case, single spaces, no full stop."""
    return re.sub(r"\s+", " ", text).strip().rstrip(".?").casefold()
