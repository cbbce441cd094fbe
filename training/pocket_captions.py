"""Captions of pocket scenes, as people write them, and the words they are made of.

A scene's groups and relation go in, one sentence comes out; sentences become rows of word numbers. Logic
wordings are as rare as in real captions, see LOGIC_RATES: what pocket makes of them is its own doing.
"""

from __future__ import annotations

import random
import re

import pocket_priors as priors
from pocket_world import Group, Scene

PAD, START, END, UNKNOWN = 0, 1, 2, 3
SPECIAL = ("<pad>", "<start>", "<end>", "<unk>")
MAX_TOKENS = 64

NUMBERS = ("one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten")
PLURALS = {"bus": "buses", "butterfly": "butterflies", "scissors": "scissors", "sheep": "sheep"}
PLURALS |= {"kitty": "kitties", "pony": "ponies", "puppy": "puppies"}
SYNONYMS = {
    "airplane": ("plane",), "bicycle": ("bike",), "boat": ("sailboat",), "cat": ("kitten", "kitty"),
    "car": ("automobile",), "cup": ("mug",), "dog": ("puppy",), "donut": ("doughnut",), "flower": ("tulip",),
    "horse": ("pony",), "house": ("home",), "train": ("locomotive",), "turtle": ("tortoise",), "ball": ("football",),
}  # fmt: skip
SIZE_WORDS = {"small": ("small", "small", "little", "tiny"), "large": ("large", "large", "big", "huge")}
PLACE_WORDS = {
    "left": ("on the left", "on the left", "on the left", "on the left side", "at the left", "to the left", "on left"),
    "right": (
        "on the right",
        "on the right",
        "on the right",
        "on the right side",
        "at the right",
        "to the right",
        "on right",
    ),
    "top": ("on top", "on top", "at the top", "at the top", "on the top", "in the upper part", "up high"),
    "bottom": ("on the bottom", "on the bottom", "at the bottom", "at the bottom", "in the lower part", "down below"),
    "middle": ("in the middle", "in the middle", "in the center", "in the centre", "at the center"),
}
# Of the first thing towards the second, then of the second towards the first.
RELATION_WORDS = {
    "left of": (("left of", "to the left of", "on the left of"), ("right of", "to the right of", "on the right of")),
    "above": (("above", "above", "over"), ("below", "below", "under", "beneath", "underneath")),
    "next to": (("next to", "next to", "beside", "by", "near"),) * 2,
    "on": (("on", "on", "on top of", "sitting on", "standing on"), ()),
}
# {} is what is listed, {is} agrees with it. The number is the weight.
FRAMES = {
    "{}": 40, "there {is} {}": 22, "a photo of {}": 5, "a picture of {}": 6, "an image of {}": 4, "a drawing of {}": 3,
    "an illustration of {}": 2, "a photograph of {}": 1, "a painting of {}": 1, "the picture shows {}": 2,
    "this picture shows {}": 1, "the image shows {}": 1, "this is {}": 2, "here {is} {}": 2, "here we see {}": 1,
    "we can see {}": 1, "you can see {}": 1, "i see {}": 1, "i want {}": 0.3, "show me {}": 0.5, "draw {}": 0.5,
    "paint {}": 0.5, "a scene with {}": 1, "a simple scene with {}": 0.5, "a cartoon of {}": 0.5, "an icon of {}": 0.3,
    "in the picture there {is} {}": 1, "in this picture you can see {}": 0.5, "please draw {}": 0.3, "just {}": 0.3,
    "it is {}": 0.3, "it shows {}": 0.3, "a nice picture that shows {}": 0.3, "a view of {}": 0.3,
    "in this case there {is} {}": 0.05, "an otherwise empty scene with {}": 0.05, "the case here is simple : {}": 0.02,
}  # fmt: skip
PAIR_JOINS = {
    "{} and {}": 50, "{} with {}": 8, "{} along with {}": 6, "{} together with {}": 3, "{} , {}": 6, "{} plus {}": 2,
    "both {} and {}": 4, "{} and also {}": 3, "{} as well as {}": 3, "{} accompanied by {}": 1, "{} , and {}": 2,
    "{} , along with {}": 2, "{} , also {}": 1, "{} ( and {} )": 0.4, "{} . there is also {}": 1, "{} , with {}": 1,
}  # fmt: skip
LAST_JOINS = (
    " and ",
    " and ",
    " and ",
    " , and ",
    " , ",
    " and also ",
    " along with ",
    " with ",
    " , along with ",
    " plus ",
)
EARLY_JOINS = (" , ", " , ", " , ", " and ", " with ")
WORDY_OPENINGS = ("", "", "this is a simple picture . ", "in this nice picture you can see the following : ")
VAGUE = {
    2: ("a couple of", "two"),
    3: ("a few", "some", "three"),
    4: ("a few", "some", "several"),
    5: ("several", "some"),
}
MANY = ("many", "several", "lots of", "a lot of")
LOGIC_RATES = {"no": 0.005, "either": 0.0025, "not": 0.0015, "neither": 0.0005}
"""The share of each wording that tells what is absent or leaves a choice, among captions of one kind of thing
(a bit over a third of all); other captions never use one."""
NO_WORDS = ("{} and no {}", "{} but no {}", "{} without {a}", "{} with no {}", "{} , no {}")
EITHER_WORDS = ("either {} or {}", "{} or {}", "{} or maybe {}")
NOT_WORDS = ("{} , not {}", "{} and there is not {}", "{} but there isn't {}", "{} but there aren't {}")
NEITHER_WORDS = ("{} , neither {n} nor {n2}",)
_EXTRA_WORDS = "a an the is are isn't aren't 1 2 3 4 5 6 7 8 9 10 pair pairs of it that there also exactly only"
_TOKEN = re.compile(r"[a-z]+(?:'[a-z]+)?|[0-9]+|[,.:()]")


def plural(noun: str) -> str:
    """The plural of one noun of this world."""
    return PLURALS.get(noun, noun + "s")


def tokenise(text: str) -> list[str]:
    """Words, numbers and the few marks that count; square brackets read as round ones."""
    text = text.lower().replace("[", "(").replace("]", ")").replace("\u2019", "'").replace("&", " and ")
    return _TOKEN.findall(text)


def vocabulary() -> list[str]:
    """Every word pocket knows, the special ones first; the order is that of the weights."""
    nouns = [noun for thing in priors.THINGS for noun in (thing, *SYNONYMS.get(thing, ()))]
    sources: list[str] = [*nouns, *map(plural, nouns), *priors.COLOURS, *NUMBERS, *FRAMES, *PAIR_JOINS, _EXTRA_WORDS]
    sources += [*LAST_JOINS, *EARLY_JOINS, *WORDY_OPENINGS, *MANY, *NO_WORDS, *EITHER_WORDS, *NOT_WORDS, *NEITHER_WORDS]
    for words in (*SIZE_WORDS.values(), *PLACE_WORDS.values(), *VAGUE.values()):
        sources += words
    for pair in RELATION_WORDS.values():
        sources += [word for words in pair for word in words]
    found = {word for source in sources for word in tokenise(source.replace("{is}", "is").replace("{n2}", ""))}
    return [*SPECIAL, *sorted(found - {"n"})]


def encode(words: list[str], numbers: dict[str, int]) -> list[int]:
    """Word numbers between start and end, cut to fit."""
    return [START, *(numbers.get(word, UNKNOWN) for word in words[: MAX_TOKENS - 2]), END]


def write_caption(rng: random.Random, scene: Scene) -> str:
    """One way to say what the scene shows."""
    groups = list(scene.groups)
    draw = rng.random()
    if draw < sum(LOGIC_RATES.values()) and len(groups) == 1:
        return _frame(rng, _with_logic(rng, groups[0], draw), groups[0])
    if scene.relation:
        body, first = _related(rng, scene)
        return _frame(rng, body, first)
    if any(group.place for group in groups) and rng.random() < 0.25:
        rng.shuffle(groups)
        return _fronted(rng, groups)
    rng.shuffle(groups)
    if len(groups) > 2 and rng.random() < 0.08:
        return _wordy(rng, groups)
    has_articles = rng.random() > 0.06
    parts = [_with_place(rng, group, has_article=has_articles) for group in groups]
    return _frame(rng, _join(rng, parts), groups[0])


def scramble(rng: random.Random, tokens: list[int]) -> list[int]:
    """Now and then an unknown word, so that pocket learns to paint past it."""
    if rng.random() < 0.03:
        tokens = list(tokens)
        spot = rng.randint(1, len(tokens) - 1)
        if rng.random() < 0.6 or len(tokens) <= 3:
            tokens.insert(spot, UNKNOWN)
        else:
            tokens[min(spot, len(tokens) - 2)] = UNKNOWN
    return tokens


def _weighted(rng: random.Random, table: dict[str, float]) -> str:
    return rng.choices(list(table), list(table.values()))[0]


def _article(phrase: str) -> str:
    return "an" if phrase[0] in "aeio" or phrase.startswith("umbrella") else "a"


def noun_phrase(rng: random.Random, group: Group, *, has_article: bool = True) -> str:
    """The group with its number, size and colour."""
    noun = group.thing
    if noun in SYNONYMS and rng.random() < 0.12:
        noun = rng.choice(SYNONYMS[noun])
    words = []
    if group.size:
        words.append(rng.choice(SIZE_WORDS[group.size]))
    if group.colour:
        words.append(group.colour)
    if group.n > 1:
        return " ".join([_number(rng, group.n, noun), *words, plural(noun)])
    phrase = " ".join([*words, noun])
    if not has_article:
        return phrase
    draw = rng.random()
    if noun == "scissors":
        return f"a pair of {phrase}" if draw < 0.5 else (f"a {phrase}" if draw < 0.7 else phrase)
    if draw < 0.87:
        return f"{_article(phrase)} {phrase}"
    if draw < 0.93:
        return f"the {phrase}"
    return f"one {phrase}" if draw < 0.99 else f"1 {phrase}"


def _number(rng: random.Random, n: int, noun: str) -> str:
    draw = rng.random()
    if draw < 0.03:
        return rng.choice(VAGUE.get(n, MANY))
    number = str(n) if draw < 0.28 else NUMBERS[n - 1]
    number = f"{number} pairs of" if noun == "scissors" and rng.random() < 0.5 else number
    if draw > 0.98:
        return f"{'exactly' if draw > 0.99 else 'only'} {number}"
    return number


def _with_place(rng: random.Random, group: Group, *, has_article: bool = True) -> str:
    phrase = noun_phrase(rng, group, has_article=has_article)
    return f"{phrase} {rng.choice(PLACE_WORDS[group.place])}" if group.place else phrase


def _join(rng: random.Random, parts: list[str]) -> str:
    if len(parts) == 1:
        return parts[0]
    if len(parts) == 2:
        return _weighted(rng, PAIR_JOINS).format(*parts)
    if len(parts) == 3 and rng.random() < 0.08:
        return f"both {parts[0]} and {parts[1]} , along with {parts[2]}"
    early = rng.choice(EARLY_JOINS)
    return early.join(parts[:-1]) + rng.choice(LAST_JOINS) + parts[-1]


def _is(group: Group) -> str:
    return "is" if group.n == 1 else "are"


def _frame(rng: random.Random, body: str, first: Group) -> str:
    sentence = _weighted(rng, FRAMES).replace("{is}", _is(first)).replace("{}", body)
    return sentence + " ." if rng.random() < 0.15 else sentence


def _fronted(rng: random.Random, groups: list[Group]) -> str:
    """Places before things: "on the left is a cat and on the right is a dog"."""
    parts = []
    link = rng.choice((" {is} ", " there {is} ", " , ", " , there {is} "))
    for group in groups:
        phrase = noun_phrase(rng, group)
        if group.place:
            phrase = rng.choice(PLACE_WORDS[group.place]) + link.replace("{is}", _is(group)) + phrase
        parts.append(phrase)
    return rng.choice((" and ", " , ", " . ", " , and ")).join(parts)


def _wordy(rng: random.Random, groups: list[Group]) -> str:
    """A sentence for each group, after an opening."""
    opening = rng.choice(WORDY_OPENINGS)
    also = rng.choice((" ", " also "))
    parts = [f"there {_is(group)}{also if i else ' '}{_with_place(rng, group)}" for i, group in enumerate(groups)]
    return opening + rng.choice((" . ", " , ", " and ")).join(parts) + " ."


def _related(rng: random.Random, scene: Scene) -> tuple[str, Group]:
    first, second = scene.groups
    forward, backward = RELATION_WORDS[scene.relation]
    words = forward
    if backward and rng.random() < 0.5:
        first, second, words = second, first, backward
    link = " is " if rng.random() < 0.15 else " "
    return f"{noun_phrase(rng, first)}{link}{rng.choice(words)} {noun_phrase(rng, second)}", first


def _with_logic(rng: random.Random, group: Group, draw: float) -> str:
    """The few captions that speak of what is not there; the others named are truly absent."""
    one, two = rng.sample([thing for thing in priors.THINGS if thing != group.thing], 2)
    shown, absent = noun_phrase(rng, group), f"{_article(one)} {one}"
    if draw < LOGIC_RATES["no"]:
        return rng.choice(NO_WORDS).replace("{a}", absent).format(shown, one)
    if draw < LOGIC_RATES["no"] + LOGIC_RATES["either"]:
        parts = [shown, absent]
        rng.shuffle(parts)
        return rng.choice(EITHER_WORDS).format(*parts)
    if draw < LOGIC_RATES["no"] + LOGIC_RATES["either"] + LOGIC_RATES["not"]:
        return rng.choice(NOT_WORDS).format(shown, absent)
    return NEITHER_WORDS[0].format(shown, n=one, n2=two)
