"""Questions about parts (DSG).

From the reading of a prompt: one question for each entity, number, attribute and relation, to be answered with yes; a
question about an entity depends on the one whether it is there. A prompt that denies something or leaves a choice has
none, since its parts need not be there, nor has a bare noun, which the question about the whole asks for as well.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence

from salva.core.question import Question
from salva.english.captions.reading import AND, CaptionReading, Mention
from salva.english.wordlists import CHOOSING, DENYING, words
from salva.english.words import number_of, with_article

THING, COUNT, ATTRIBUTE, RELATION = "thing", "count", "attribute", "relation"
_MOST = 24
"""Of a longer prompt the first so many are asked."""
_BARE = words("captions", "bare")
"""What stands before a noun and is no attribute."""
_NAMES_ONE = words("captions", "names_one")
_PLAIN = re.compile(r"[A-Za-z]+(?:[ '’-][A-Za-z]+)*")
_MOST_LETTERS = 40
_JOINED = words("captions", "joined")
"""With one of these, words before a noun make one attribute together."""
_BOUNDING = words("captions", "bounding")
"""With one of these before a noun, the number beside it is not the number of entities."""
_ABSENT = words("captions", "absent")


def part_questions(reading: CaptionReading) -> tuple[Question, ...]:
    """The questions about what was read; none where nothing was."""
    if _is_open(reading.text) or _is_bare(reading):
        return ()
    nouns = [_noun(reading, mention) for mention in reading.mentions]
    n_named = Counter(mention.name for mention in reading.mentions)
    things: dict[str, Question] = {}
    more: list[Question] = []
    for mention, noun in zip(reading.mentions, nouns, strict=True):
        if not noun or noun in things:
            # Two of one name cannot be told apart by a question.
            continue
        before = reading.text[mention.phrase : mention.start].lower().split()
        things[noun] = _ask(THING, f"Does the picture show {_shown(noun, mention, before)}?")
        if n_named[mention.name] == 1:
            more += _of_thing(noun, mention, before, things[noun])
    more += _relations(reading, nouns, things)
    return tuple(dict.fromkeys((*things.values(), *more)))[:_MOST]


def _is_open(text: str) -> bool:
    """Whether an image may be right without everything that the text names."""
    spoken = {*_spoken(text)}
    return bool(spoken & (DENYING | CHOOSING | _ABSENT)) or any(word.endswith("n't") for word in spoken)


def _spoken(text: str) -> list[str]:
    return re.findall(r"[\w']+", text.lower().replace("’", "'"))


def _is_bare(reading: CaptionReading) -> bool:
    """Whether all of a text is taken for one noun without an article: "red shiny" may be no entity at all."""
    if len(reading.mentions) != 1:
        return False
    (mention,) = reading.mentions
    spoken, phrase = _spoken(reading.text), _spoken(reading.text[mention.phrase : mention.end])
    is_several = mention.is_plural and spoken[-1] != mention.name
    return spoken == phrase and not (is_several or spoken[0] in _BARE or number_of(spoken[0]))


def _noun(reading: CaptionReading, mention: Mention) -> str:
    """The entity in the prompt's own words, with the nouns before it; empty where these are no plain words."""
    noun = " ".join(reading.text[mention.start : mention.end].lower().split())
    return noun if _PLAIN.fullmatch(noun) and len(noun) <= _MOST_LETTERS else ""


def _shown(noun: str, mention: Mention, before: Sequence[str]) -> str:
    is_one = not mention.is_plural and bool(before) and before[0] in _NAMES_ONE
    return with_article(noun) if is_one else noun


def _of_thing(noun: str, mention: Mention, before: Sequence[str], thing: Question) -> Iterator[Question]:
    """Its number, and its attributes: one for each word, or one for all where a word speaks of another."""
    if _BOUNDING & {*before}:
        return
    number = next((word for word in before if number_of(word)), "")
    if number and mention.is_plural:
        yield _ask(COUNT, f"Does the picture show exactly {number} {noun}?", thing)
    said = [word for word in before if word not in _BARE and not number_of(word)]
    if not all(map(_PLAIN.fullmatch, said)) or any("'" in word or "’" in word for word in said):
        return
    is_joined = any(word in _JOINED or word.endswith("ly") for word in said)
    verb = "Are" if mention.is_plural else "Is"
    for attribute in [" ".join(said)] if said and is_joined else said:
        yield _ask(ATTRIBUTE, f"{verb} the {noun} in the picture {attribute}?", thing)


def _relations(reading: CaptionReading, nouns: Sequence[str], things: dict[str, Question]) -> Iterator[Question]:
    for link in reading.links:
        subject, object_ = nouns[link.subject], nouns[link.object]
        predicate = {"has": "having", "have": "having"}.get(link.predicate, link.predicate)
        is_plain = bool(_PLAIN.fullmatch(predicate)) and len(predicate) <= _MOST_LETTERS
        if subject and object_ and subject != object_ and link.predicate != AND and is_plain:
            text = f"Does the picture show the {subject} {predicate} the {object_}?"
            yield _ask(RELATION, text, things[subject], things[object_])


def _ask(kind: str, text: str, *parents: Question) -> Question:
    return Question(kind=kind, text=text, answer="yes", parents=tuple(parent.text for parent in parents))
