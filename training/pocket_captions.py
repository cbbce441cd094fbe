"""Captions of pocket scenes, as people write them, and the words they are made of.

A scene's groups and relation go in, one sentence comes out; sentences become rows of word numbers. Denials, choices,
clauses and repetitions come as often as in people's captions (rates in pocket_priors.py): what pocket makes of them
is its own doing.
"""

from __future__ import annotations

import random
import re
from dataclasses import replace

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
    "in front of": (("in front of",), ("behind",)),
    "on": (("on", "on", "on top of", "sitting on", "standing on"), ()),
}
# {} is what is listed, {is} agrees with it. The number is the weight.
FRAMES = {
    "{}": 55, "there {is} {}": 12, "a photo of {}": 5, "a picture of {}": 6, "an image of {}": 4, "a drawing of {}": 3,
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
    "{} , along with {}": 2, "{} , also {}": 1, "{} ( and {} )": 0.4, "{} . there is also {}": 0.1, "{} , with {}": 1,
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
    2: ("a couple of", "a couple of", "some"),
    3: ("a few", "some", "a group of"),
    4: ("a few", "some", "several", "a group of"),
    5: ("several", "some", "a group of", "a bunch of"),
}
MANY = ("many", "several", "lots of", "a lot of", "a group of", "a bunch of")
POSTURES = ("sitting", "standing", "lying", "placed", "seen", "shown")
TAILS = {
    "street": ("on the street", "on a road", "in the city"), "farm": ("in a field", "on a farm", "in the grass"),
    "kitchen": ("on a table", "in a kitchen", "on a plate"), "room": ("in a room", "on the floor", "at home"),
    "wild": ("in the wild", "in the grass", "outside"), "water": ("by the water", "at the beach", "outside"),
    "garden": ("in a garden", "in the grass", "outside"), "": ("outside", "in a room", "in a field"),
}  # fmt: skip
# {} is the thing denied, {a} with its article, {s} in the plural.
NO_WORDS = (" and no {}", " but no {}", " without {a}", " with no {}", " , no {}", " and no {s}", " with no {s} around")
EITHER_WORDS = ("either {} or {}", "{} or {}", "{} or maybe {}")
NOT_WORDS = (" , not {a}", " and not {a}", " but there is not {a}", " but there isn't {a}", " but there aren't {s}")
NOT_COLOURED = "{} that is not {}"
NEITHER_WORDS = " , neither {} nor {}"
_EXTRA_WORDS = (
    "a an the is are isn't aren't 1 2 3 4 5 6 7 8 9 10 pair pairs of it that which there also exactly only another "
    "other while as color colored painted"
)
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
    sources += [*LAST_JOINS, *EARLY_JOINS, *WORDY_OPENINGS, *MANY, *NO_WORDS, *EITHER_WORDS, *NOT_WORDS, NEITHER_WORDS]
    sources += [*POSTURES, NOT_COLOURED]
    for several in (*SIZE_WORDS.values(), *PLACE_WORDS.values(), *VAGUE.values(), *TAILS.values()):
        sources += several
    for pair in RELATION_WORDS.values():
        sources += [word for words in pair for word in words]
    words = {word for source in sources for word in tokenise(re.sub(r"{[a-z]*}", " ", source.replace("{is}", "is")))}
    return [*SPECIAL, *sorted(words)]


def encode(words: list[str], numbers: dict[str, int]) -> list[int]:
    """Word numbers between start and end, cut to fit."""
    return [START, *(numbers.get(word, UNKNOWN) for word in words[: MAX_TOKENS - 2]), END]


def write_caption(rng: random.Random, scene: Scene, *, is_complete: bool = False) -> str:
    """One way to say what the scene shows; a complete caption names all of it and nothing else."""
    groups, relation = list(scene.groups), scene.relation
    if not relation:
        rng.shuffle(groups)
    if not is_complete:
        groups, relation = _as_remembered(rng, scene, groups, relation)
    draw = rng.random()
    no_limit = priors.NO_RATE
    or_limit = no_limit + priors.OR_RATE
    not_limit = or_limit + priors.NOT_RATE
    neither_limit = not_limit + priors.NEITHER_RATE
    if draw > neither_limit:
        if not relation and rng.random() < 0.06 and any(group.place for group in groups):
            return _fronted(rng, groups)
        if len(groups) == 2 and rng.random() < 2.5 * priors.WHILE_RATE:
            return _while(rng, groups, relation)
        if len(groups) > 1 and rng.random() < 2 * priors.SENTENCES_RATE:
            return _wordy(rng, groups)
    if no_limit < draw <= or_limit:
        body = _choice(rng, scene, groups)
    elif or_limit < draw <= not_limit and groups[0].colour and rng.random() < 0.5:
        other = rng.choice([colour for colour in priors.COLOURS if colour != groups[0].colour])
        body = NOT_COLOURED.format(noun_phrase(rng, replace(groups[0], colour="")), other)
        body = _join(rng, [body, *(_with_place(rng, group) for group in groups[1:])])
    else:
        body = _body(rng, groups, relation)
        if rng.random() < priors.TAIL_RATE:
            body += f" {rng.choice(TAILS[scene.context])}"
    one, two = absent(rng, scene), absent(rng, scene)
    if draw <= no_limit:
        body += _denied(rng.choice(NO_WORDS), one)
    elif or_limit < draw <= not_limit and " not " not in body:
        body += _denied(rng.choice(NOT_WORDS), one)
    elif not_limit < draw <= neither_limit:
        body += NEITHER_WORDS.format(one, two)
    return _frame(rng, body, groups[0])


def absent(rng: random.Random, scene: Scene) -> str:
    """A thing the scene does not show, mostly one often met with those it does."""
    shown = {group.thing for group in scene.groups}
    pool: tuple[str, ...] = priors.THINGS
    if rng.random() < priors.DENIED_IN_CONTEXT:
        near = scene.groups[0].thing
        pool = rng.choice([things for things in priors.CONTEXTS.values() if near in things])
    return rng.choice([thing for thing in pool if thing not in shown])


def _denied(wording: str, thing: str) -> str:
    return wording.replace("{a}", f"{_article(thing)} {thing}").replace("{s}", plural(thing)).replace("{}", thing)


def _as_remembered(rng: random.Random, scene: Scene, groups: list[Group], relation: str) -> tuple[list[Group], str]:
    """What a hasty writer tells: now and then a thing too few, or one too many."""
    if len(groups) > 1 and rng.random() < priors.LEFT_OUT_RATE:
        groups, relation = list(groups), ""
        del groups[rng.randrange(len(groups))]
    if not relation and rng.random() < priors.NOT_SHOWN_RATE:
        groups = [*groups, Group(thing=absent(rng, scene))]
    return groups, relation


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


def noun_phrase(rng: random.Random, group: Group, *, has_article: bool = True, article: str = "") -> str:
    """The group with its number, size and colour; article stands in place of a, an and one."""
    noun = group.thing
    if noun in SYNONYMS and rng.random() < 0.12:
        noun = rng.choice(SYNONYMS[noun])
    words = []
    if group.size:
        words.append(rng.choice(SIZE_WORDS[group.size]))
    if group.colour:
        words.append(group.colour)
    if group.n > 1:
        return " ".join([article or _number(rng, group.n, noun), *words, plural(noun)])
    phrase = " ".join([*words, noun])
    if not has_article:
        return phrase
    if article:
        return f"{article} {phrase}"
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
    if draw < 0.14:
        return rng.choice(VAGUE.get(n, MANY))
    number = str(n) if draw < 0.36 else NUMBERS[n - 1]
    number = f"{number} pairs of" if noun == "scissors" and rng.random() < 0.5 else number
    if draw > 0.98:
        return f"{'exactly' if draw > 0.99 else 'only'} {number}"
    return number


def _with_place(rng: random.Random, group: Group, *, has_article: bool = True, article: str = "") -> str:
    draw = rng.random()
    if draw < priors.CLAUSE_RATE and (group.colour or group.place):
        return _with_clause(rng, group, article)
    phrase = noun_phrase(rng, group, has_article=has_article, article=article)
    if not group.place:
        link = f" that {_is(group)} " if draw > 0.98 else " "
        return f"{phrase}{link}{rng.choice(POSTURES)}" if draw > 0.96 else phrase
    posture = f"{rng.choice(POSTURES)} " if draw > 0.9 else ""
    return f"{phrase} {posture}{rng.choice(PLACE_WORDS[group.place])}"


def _with_clause(rng: random.Random, group: Group, article: str = "") -> str:
    """What is said of the thing stands behind it: "a car that is red"."""
    link = f"{rng.choice(('that', 'that', 'that', 'which'))} {_is(group)}"
    place = rng.choice(PLACE_WORDS[group.place]) if group.place else ""
    if group.colour and (not place or rng.random() < 0.5):
        phrase = noun_phrase(rng, replace(group, colour=""), article=article)
        link = f"painted {group.colour}" if rng.random() < 0.1 else f"{link} {group.colour}"
        return f"{phrase} {link} {place}".strip()
    return f"{noun_phrase(rng, group, article=article)} {link} {place}"


def _body(rng: random.Random, groups: list[Group], relation: str) -> str:
    """The groups in a row, or in their relation."""
    is_alike = len(groups) == 2 and groups[0].thing == groups[1].thing
    if rng.random() < priors.AGAIN_RATE * 2.2 and not is_alike and (named_again := _again(rng, groups, relation)):
        return named_again
    if relation:
        return _related(rng, groups, relation, is_alike=is_alike)
    if is_alike and groups[0].colour == groups[1].colour and not (groups[0].size or groups[0].place):
        if rng.random() < 0.4:
            return noun_phrase(rng, replace(groups[0], n=2))
        return _join(rng, [noun_phrase(rng, groups[0]), noun_phrase(rng, groups[1], article="another")])
    has_articles = rng.random() > 0.06
    return _join(rng, [_with_place(rng, group, has_article=has_articles) for group in groups])


def _again(rng: random.Random, groups: list[Group], relation: str) -> str:
    """Things first, then what is said of one of them; empty where nothing is."""
    link = rng.choice((" , ", " , ", " and ", " where "))
    if relation:
        plain = [noun_phrase(rng, group) for group in groups]
        first, second = (f"the {group.thing}" for group in groups)
        return f"{_join(rng, plain)}{link}{first} is {rng.choice(RELATION_WORDS[relation][0])} {second}"
    told = [i for i, group in enumerate(groups) if group.colour or group.place]
    if not told:
        return ""
    at = rng.choice(told)
    group = groups[at]
    says_colour = bool(group.colour) and (not group.place or rng.random() < 0.5)
    said = group.colour if says_colour else rng.choice(PLACE_WORDS[group.place])
    short = replace(group, colour="") if says_colour else replace(group, place="")
    parts = [_with_place(rng, short if i == at else other) for i, other in enumerate(groups)]
    noun = group.thing if group.n == 1 else plural(group.thing)
    return f"{_join(rng, parts)}{link}the {noun} {_is(group)} {said}"


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
    return rng.choice((" and ", " , ", " , and ")).join(parts)


def _wordy(rng: random.Random, groups: list[Group]) -> str:
    """A sentence for each group, after an opening."""
    opening = rng.choice(WORDY_OPENINGS)
    also = rng.choice((" ", " also "))
    parts = [f"there {_is(group)}{also if i else ' '}{_with_place(rng, group)}" for i, group in enumerate(groups)]
    return opening + rng.choice((" . ", " , ", " and ")).join(parts) + " ."


def _while(rng: random.Random, groups: list[Group], relation: str) -> str:
    """Two clauses: "a cat is on the left while a dog is on the right"."""
    parts = []
    for group in groups:
        said = f" {rng.choice(PLACE_WORDS[group.place])}" if group.place else f" {rng.choice(POSTURES[:3])}"
        parts.append(f"{noun_phrase(rng, group)} {_is(group)}{said}")
    if relation:
        words = rng.choice(RELATION_WORDS[relation][0])
        parts[0] = f"{noun_phrase(rng, groups[0])} is {words} {noun_phrase(rng, groups[1])}"
        parts[1] = f"it is {rng.choice(POSTURES)}"
    return rng.choice((" while ", " while ", " as ")).join(parts)


def _related(rng: random.Random, groups: list[Group], relation: str, *, is_alike: bool) -> str:
    first, second = groups
    forward, backward = RELATION_WORDS[relation]
    words = forward
    if backward and rng.random() < 0.5:
        first, second, words = second, first, backward
    draw = rng.random()
    link = " that is " if draw < priors.CLAUSE_RATE * 2 else " is " if draw < 0.2 else " "
    if draw > 0.85:
        link = f"{link}{rng.choice(POSTURES)} "
    article = "another" if is_alike and rng.random() < (0.3 if first.colour or first.size else 1.0) else ""
    return f"{noun_phrase(rng, first)}{link}{rng.choice(words)} {noun_phrase(rng, second, article=article)}"


def _choice(rng: random.Random, scene: Scene, groups: list[Group]) -> str:
    """One of the things named with another that it might have been."""
    other = absent(rng, scene)
    parts = [noun_phrase(rng, groups[0]), f"{_article(other)} {other}"]
    rng.shuffle(parts)
    choice = rng.choice(EITHER_WORDS).format(*parts)
    return _join(rng, [choice, *(_with_place(rng, group) for group in groups[1:])])
