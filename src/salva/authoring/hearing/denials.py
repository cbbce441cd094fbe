"""Which things a prompt denies: those right behind "no", "not a", "without" or "neither", and what "or" adds to them.

A denial that may or may not go on ("without a cat and a dog"), or that is none of a thing ("does not chase a cat"), is
left unread, and so is a doubt.
"""

from __future__ import annotations

from collections.abc import Container
from dataclasses import dataclass

from salva.authoring.hearing.mentions import BE, COMMA, DENIERS, ENDS, JOINTS, PREPOSITIONS, Heard, Mention
from salva.english.captions.wordlists import words
from salva.english.words import number_of
from salva.logic.formula import COLOURS

_NO_LIMITS = words("one single other more visible")
_BEHIND_ALL = (JOINTS | ENDS | PREPOSITIONS | words("there here visible present nearby anywhere")) - {"with"}
"""What may follow a thing that is denied whatever it does."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Denials:
    """What was read of a prompt's denials."""

    denied: frozenset[int]
    """Which of the mentions."""
    read: frozenset[int]
    """Which words were given to them."""


def denials_of(heard: Heard, read: Container[int]) -> Denials:
    """The denials in words that nothing else has read."""
    denied: set[int] = set()
    used: set[int] = set()
    for at, word in enumerate(heard.words):
        if word not in DENIERS or at in read:
            continue
        first = next((i for i, mention in enumerate(heard.mentions) if mention.start > at), None)
        if first is None or not _denies(heard, at, heard.mentions[first]):
            continue
        chain = _chain(heard, word, first)
        if chain and all(_is_plain(heard, heard.mentions[i]) for i in chain):
            denied.update(chain)
            used.add(at)
    return Denials(denied=frozenset(denied), read=frozenset(used))


def _denies(heard: Heard, at: int, mention: Mention) -> bool:
    """Whether a denier stands right before a thing; "not" needs an article, or it denies a verb."""
    is_thing = heard.words[at] != "not" or mention.determiner or heard.words[mention.opens] in ("one", "single")
    return mention.whole == at + 1 and bool(is_thing)


def _is_plain(heard: Heard, mention: Mention) -> bool:
    """Whether all things of a name are denied, and not only those that are big, or bark."""
    before = heard.words[mention.opens : mention.start]
    has_verb = any(word in BE for word in heard.words[mention.end : mention.end + 1])
    behind = mention.end + has_verb
    return all(word in COLOURS or word in _NO_LIMITS for word in before) and all(
        word in _BEHIND_ALL for word in heard.words[behind : behind + 1]
    )


def _chain(heard: Heard, denier: str, first: int) -> list[int]:
    """The things that one denial is of; none where it is open how far it goes."""
    denied, pending = [first], list[int]()
    for i in range(first + 1, len(heard.mentions)):
        mention = heard.mentions[i]
        gap = heard.words[heard.mentions[i - 1].end : mention.whole]
        if gap and gap[-1] in DENIERS and _denies(heard, mention.whole - 1, mention):
            break
        if _is_new(heard, denier, mention, gap):
            break
        is_list = bool(gap) and all(word in JOINTS for word in gap)
        if is_list and "or" in gap and not (denier == "no" and mention.determiner):
            denied += [*pending, i]
            pending.clear()
        elif gap == (COMMA,):
            pending.append(i)
        else:
            return []
    return [] if pending else denied


def _is_new(heard: Heard, denier: str, mention: Mention, gap: tuple[str, ...]) -> bool:
    """Whether a denial ends before this thing: "no dog, but a cat", "no dog and a cat"."""
    if any(word in ENDS for word in gap) or {"and", "there"} <= {*gap} or {COMMA, "there"} <= {*gap}:
        return True
    # An article of its own begins anew behind "no", which has none; behind "without a" it need not.
    is_own = bool(mention.determiner) or number_of(heard.words[mention.opens]) is not None
    return denier == "no" and is_own and gap[-1:] in (("and",), (COMMA,))
