"""Where a prompt names the things of a formula: its words, and which of them stand for which thing.

Whole names are found first, the longest before the others. The last word of a name alone ("the bear" for a teddy bear)
names it only with "the" and behind the whole name, and where no other thing of the formula ends in that word. Knows
nothing of what is said of a thing.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass

from salva.english.captions.wordlists import words
from salva.english.nouns import plural, singular
from salva.logic.formula import COLOURS

STOP, COMMA = ".", ","
BE = words("is are was were")
JOINTS = frozenset((COMMA, "and", "or", "nor"))
ENDS = frozenset((STOP, "but", "while", "whereas", "although", "though", "yet"))
"""Behind them another clause begins."""
INDEFINITE = words("a an")
DEFINITE = words("the this that these those its his her their")
DETERMINERS = INDEFINITE | DEFINITE | words("any some each every another either my your our")
PREPOSITIONS = words(
    """
    in on at of to with by for from near behind beside besides under underneath beneath below over above atop into onto
    upon through across along alongside past around against inside outside between among toward towards next front
    during like off out up down about after before within without than as
    """
)
DENIERS = words("no not without neither nor")
BREAKS = (
    JOINTS
    | ENDS
    | BE
    | DETERMINERS
    | PREPOSITIONS
    | DENIERS
    | words("which who whose whom where when there it they he she them him be being been am has have had do does did")
    | words("can will would could may might should must never none nobody nothing")
)
"""Words that are no part of what stands before a noun."""

_WORD = re.compile(r"\d+(?:[.,:]\d+)+|[^\W_]+(?:['-][^\W_]+)*|[^\w\s]")
_SIGNS = {",": COMMA, "&": "and", "+": "and", "/": "or", **dict.fromkeys("'\"`“”‘*#", "")}
_SPELLED_OUT = {"grey": "gray", "there's": "there is", "it's": "it is", "cannot": "can not"}
_OF = words("pair pairs couple dozen")
"""With an "of" behind them they are numbers."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Mention:
    """Words of a prompt that name a thing of its formula."""

    name: str
    opens: int
    """Where what stands before the noun begins, behind the determiner."""
    start: int
    end: int
    determiner: str
    """Empty where there is none."""

    @property
    def whole(self) -> int:
        """Where the noun phrase begins, with its determiner."""
        return self.opens - bool(self.determiner)


@dataclass(frozen=True, slots=True, kw_only=True)
class Heard:
    """A prompt as words, and the things of a formula in it."""

    words: tuple[str, ...]
    mentions: tuple[Mention, ...]
    doubts: tuple[str, ...]
    """Why it is open which words name what."""


def hear(prompt: str, names: Collection[str]) -> Heard:
    """The words of a prompt and where they name these things."""
    heard = _spelled_out(prompt)
    whole = _whole_names(heard, names)
    doubts = [f"the prompt does not name {name!r} in these words" for name in names if name not in whole.values()]
    found = {**whole, **_heads(heard, whole, doubts)}
    mentions = [_mention(heard, start, end, name, found) for (start, end), name in sorted(found.items())]
    mentions += _understood(heard, mentions, found)
    return Heard(
        words=tuple(heard), mentions=tuple(sorted(mentions, key=lambda mention: mention.start)), doubts=tuple(doubts)
    )


Spans = dict[tuple[int, int], str]
"""From and up to which word, to the name."""


def _spelled_out(prompt: str) -> list[str]:
    """Words in small letters and signs; what is a number with its "of" is one word."""
    heard: list[str] = []
    for word in _WORD.findall(prompt.lower().replace("’", "'")):
        if not (word[0].isalnum() or word in _SIGNS):
            heard.append(STOP)
        elif word.endswith("n't"):
            heard += filter(None, (word.removesuffix("n't"), "not"))
        elif word == "of" and heard and heard[-1] in _OF:
            heard[-1] += "-of"
        else:
            heard += _SIGNS.get(word, _SPELLED_OUT.get(word, word)).split()
    return heard


def _whole_names(heard: Sequence[str], names: Collection[str]) -> Spans:
    longest_first = sorted((name.split() for name in names), key=len, reverse=True)
    found: Spans = {}
    at = 0
    while at < len(heard):
        name = next((name for name in longest_first if _stands_at(heard, at, name)), [])
        if name:
            found[at, at + len(name)] = " ".join(name)
        at += len(name) or 1
    # An orange is a thing, an orange cat is not.
    starts = {start for start, _ in found}
    return {span: name for span, name in found.items() if not (name in COLOURS and span[1] in starts)}


def _stands_at(heard: Sequence[str], at: int, name: Sequence[str]) -> bool:
    there = heard[at : at + len(name)]
    return len(there) == len(name) and all(word in _forms(part) for word, part in zip(there, name, strict=True))


def _heads(heard: Sequence[str], whole: Spans, doubts: list[str]) -> Spans:
    """Names that are said again by their last word."""
    inside = {at for start, end in whole for at in range(start, end)}
    found: Spans = {}
    for at, word in enumerate(heard):
        meant = {name for name in whole.values() if " " in name and word in _forms(name.split()[-1])}
        if at in inside or not meant:
            continue
        is_known = any(name in meant and end <= at for (_, end), name in whole.items())
        if len(meant) == 1 and is_known and at and heard[at - 1] in DEFINITE:
            found[at, at + 1] = meant.pop()
        else:
            doubts.append(f"it is open which thing of the formula {word!r} is")
    return found


def _mention(heard: Sequence[str], start: int, end: int, name: str, found: Spans) -> Mention:
    ends = {end for _, end in found}
    opens = start
    while opens and opens not in ends and heard[opens - 1] not in BREAKS:
        opens -= 1
    before = heard[opens - 1] if opens and opens not in ends else ""
    return Mention(name=name, opens=opens, start=start, end=end, determiner=before if before in DETERMINERS else "")


def _understood(heard: Sequence[str], mentions: Sequence[Mention], found: Spans) -> Iterator[Mention]:
    """Things that only their colour stands for: the red one in "a red or blue car" and in "a red and a blue car"."""
    ends = {end for _, end in found}
    for mention in mentions:
        at = mention.whole - 1
        is_joined = at > 0 and (heard[at] == "or" or (heard[at] == "and" and mention.determiner in INDEFINITE))
        is_coloured = any(word in COLOURS for word in heard[mention.opens : mention.start])
        if is_joined and is_coloured and heard[at - 1] in COLOURS and at not in ends:
            other = _mention(heard, at - 1, at, mention.name, found)
            # Without an article it may be the colour of what stands before: "a woman in white and a red car".
            if other.determiner:
                yield other


def _forms(word: str) -> set[str]:
    return {word, plural(word), singular(word)}
