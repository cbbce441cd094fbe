"""Lists and tables of words in a compact form."""

from __future__ import annotations


def words(text: str) -> frozenset[str]:
    """The words of a text."""
    return frozenset(text.split())


def table(text: str) -> dict[str, str]:
    """What is written as `one: other; two: another`."""
    entries = (entry.partition(":") for entry in text.split(";"))
    return {" ".join(key.split()): " ".join(value.split()) for key, _, value in entries if key.strip()}


DENYING = words("no not without none never neither nor nobody nothing isn't aren't doesn't don't")
CHOOSING = words("or either")
