"""Nouns that name no entity.

Tables alone; tree.py says what they mean for a sentence.
"""

from __future__ import annotations

from salva.english.wordlists import table, words

TRANSPARENT = words("captions", "transparent")
"""Before "of" they stand for what follows; "two" and "the top" of entities likewise."""
SEVERAL = words("captions", "both_ways")
"""Transparent before "of", entities of their own without it."""
RELATIONAL = {
    "front": "in front of",
    "top": "on top of",
    "back": "on back of",
    "left": "left of",
    "right": "right of",
    **dict.fromkeys(
        words("captions", "relational_sides"),
        "",
    ),
    **dict.fromkeys(
        words("captions", "relational_parts"),
        "",
    ),
}
"""Nouns between two prepositions, to the predicate they make; empty for the first preposition alone."""
NO_THINGS = words("captions", "no_things")
COMPOUNDS = table("captions", "compounds")
"""Names of two words whose head noun alone would be another entity."""
