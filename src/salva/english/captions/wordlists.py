"""Lists of words: with spaces between."""

from __future__ import annotations


def words(text: str) -> frozenset[str]:
    """The words of a text."""
    return frozenset(text.split())


DENYING = words("no not without none never neither nor nobody nothing isn't aren't doesn't don't")
CHOOSING = words("or either")
