"""The words that carry meaning.

A model can show every word of a prompt and none of the relations between them; so each word is asked for on its own,
whatever it belongs to. The paper has a language model pick the words; here a list of empty words leaves out the rest.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from salva.core.case import Prompt
from salva.core.protocols import Query
from salva.english.nouns import plural
from salva.english.words import number_of
from salva.logic.formula import COLOURS, PLACES, Atom, Formula, Related, atoms, disjunction, entities
from salva.logic.notation import parse, to_notation

# Articles, auxiliaries, pronouns and joining words: what is left tells of entities, properties, acts and relations.
_EMPTY_WORDS = frozenset(
    (
        *("a", "an", "the", "this", "that", "these", "those", "and", "or", "but", "nor", "so", "yet", "while", "when"),
        *("is", "are", "was", "were", "be", "been", "being", "am", "do", "does", "did", "has", "have", "had", "having"),
        *("will", "would", "can", "could", "may", "might", "must", "shall", "should", "as", "if", "than", "then"),
        *("there", "here", "it", "its", "it's", "he", "she", "they", "them", "their", "his", "her", "him", "who"),
        *("which", "what", "whose", "one's", "of", "for", "not", "no", "to", "s", "t"),
    )
)
_SIDES = {"left": ("left_of", "right_of"), "right": ("left_of", "right_of")}
_SIDES |= {"above": ("above", "below"), "below": ("above", "below")}


def meaning_words(text: str) -> tuple[str, ...]:
    """The nouns, verbs, adjectives, adverbs and prepositions of a sentence, each once: all but empty words."""
    words = re.findall(r"[^\W_]+(?:['’-][^\W_]+)*", text.lower())
    return tuple(dict.fromkeys(word for word in words if word not in _EMPTY_WORDS))


def token_query(prompt: Prompt) -> Query:
    """How a judge is asked whether each word of meaning is there, one question a word."""
    words = meaning_words(prompt.text)
    questions = tuple(f"Does the picture show what the word {word!r} stands for?" for word in words)
    formulas: tuple[str, ...] = ()
    if prompt.formula:
        whole = parse(prompt.formula)
        formulas = tuple(to_notation(_of_some_thing(word, whole)) for word in words)
    return Query(role="judge", kind="grade", text=prompt.text, questions=questions, formulas=formulas)


def _of_some_thing(word: str, whole: Formula) -> Formula:
    """What it takes for a word to be shown: that it is true of any of the prompt's entities."""
    names, leaves = entities(whole), atoms(whole)
    for name in names:
        if word in (*name.split(), plural(name)):
            return Atom(name)
    if word in COLOURS:
        return _any(Atom(name, colour=word) for name in names)
    number = number_of(word)
    if number is not None:
        return _any(Atom(name, count=number) for name in names)
    placed = [leaf for leaf in leaves if isinstance(leaf, Atom) and leaf.place]
    if placed:
        places = [word] if word in PLACES else sorted({leaf.place for leaf in placed if leaf.place})
        return _any(Atom(name, place=place) for name in names for place in places)
    related = [leaf for leaf in leaves if isinstance(leaf, Related)]
    sides = [leaf for leaf in related if leaf.relation in _SIDES.get(word, ())]
    if sides or related:
        return _any(way for leaf in sides or related for way in (leaf, leaf.turned(leaf.relation)))
    # A word that speaks of the image itself is shown by whatever is in it.
    return _any(Atom(name) for name in names)


def _any(parts: Iterable[Formula]) -> Formula:
    return disjunction(dict.fromkeys(parts))
