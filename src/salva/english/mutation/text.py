"""A caption with one change: a noun exchanged, a part cut out, a part put in.

Everything else stays letter by letter, so that an image can only differ for the reason the operator had.
"""

from __future__ import annotations

import re

from salva.english.captions.classes import LAST_WORDS
from salva.english.captions.reading import Mention
from salva.english.nouns import plural
from salva.english.wordlists import words
from salva.english.words import number_of, with_article
from salva.logic.formula import COLOURS

_KEPT = words("mutation", "kept") | frozenset(COLOURS)
_SEVERAL = words("mutation", "plural_determiners")
_WORDS = {"left of": "to the left of", "right of": "to the right of"}
_PLACE_WORDS = frozenset(("to", "next", "left", "right", *LAST_WORDS))
_SPACES = re.compile(r"\s+")


def with_other_noun(text: str, mention: Mention, noun: str) -> str:
    """The caption with another entity in the place of a mention, without what was said of the old one's looks."""
    before = text[mention.phrase : mention.start].split()
    kept = [word for i, word in enumerate(before) if _is_kept(before, i)]
    if before and not kept and not mention.is_plural:
        kept = ["a"]
    is_plural = mention.is_plural or (bool(kept) and kept[0].lower() in _SEVERAL)
    words = " ".join((*kept, plural(noun) if is_plural else noun))
    first, _, rest = words.partition(" ")
    if first.lower() in ("a", "an") and rest:
        words = with_article(rest)
    return _joined(text[: mention.phrase], words, text[mention.end :])


def _is_kept(before: list[str], i: int) -> bool:
    """Whether a word before a noun stays when the noun goes: articles, numbers, colours and sizes do."""
    word = before[i].lower()
    if word == "and" and 0 < i < len(before) - 1:
        return before[i - 1].lower() in COLOURS and before[i + 1].lower() in COLOURS
    return word in _KEPT or number_of(word) is not None


def without(text: str, cut: tuple[int, int]) -> str:
    """The caption without a part of it."""
    before = re.sub(r"(?:[\s,]+(?:and|while|that is|that are))?[\s,]+$", "", text[: cut[0]])
    after = text[cut[1] :].lstrip(" ,")
    joint, _, rest = after.partition(" ")
    # What was the second of two places is now the only one.
    if joint == "and" and rest.split(" ", 1)[0] in _PLACE_WORDS:
        after = rest
    return _joined(f"{before} " if before else "", "", after)


def leaves_a_hole(text: str, cut: tuple[int, int]) -> bool:
    """Whether words around a part need it: "with a clock and a crane over it", "behind a horse carrying a bag"."""
    before, after = text[: cut[0]].lower().split(), text[cut[1] :].lower().replace(",", " ").split()
    if not before or not after:
        return False
    if after[0] == "while":
        return not any(word.endswith(("ing", "s")) for word in before[2:])
    if after[0] == "and" and len(after) > 1:
        return after[1] not in _PLACE_WORDS and not after[1].endswith(("ing", "s"))
    return before[-1].endswith("ing") and after[0].endswith("ing")


def with_addition(text: str, predicate: str, noun: str) -> str:
    """The caption, which ends with an entity, with one more said of that."""
    end = len(text.rstrip(" .!"))
    return f"{text[:end]} {_WORDS.get(predicate, predicate)} {with_article(noun)}{text[end:].rstrip()}"


def with_sentence(text: str, predicate: str, noun: str, anchor: Mention) -> str:
    """The caption and a sentence about one more entity beside one that it names."""
    there = text[anchor.start : anchor.end].lower()
    return f"{text.rstrip(' .!')}. There is {with_article(noun)} {_WORDS.get(predicate, predicate)} the {there}."


def _joined(before: str, middle: str, after: str) -> str:
    whole = _SPACES.sub(" ", f"{before}{middle}{after}").strip()
    whole = re.sub(r"\s+([.,;])", r"\1", whole)
    return whole[:1].upper() + whole[1:] if before.strip() == "" or before[:1].isupper() else whole
