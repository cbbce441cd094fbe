"""Prompts and pairs in pocket's world, for a first run without a file."""

from __future__ import annotations

from salva.english.prompt_files import PromptRow

_PROMPTS = (
    "a cat and a dog",
    "three apples and a cup",
    "a red car and a blue book",
    "a cup to the left of a book",
    "a bird above a house",
    "a banana on the left and an apple on the right",
    "either a horse or a cow",
    "a cat and no dog",
    "two chairs and a clock",
    "a dog next to a ball",
    "a green umbrella",
    "a tree, a house and a sheep",
    "a butterfly below a flower",
    "a train and two trees",
    "a guitar to the right of a clock",
    "a sheep and no cow",
    "a pizza above a cake",
    "a boat, a bicycle and a bus",
)
_PAIRS = (
    ("a cat to the left of a dog", "a dog to the right of a cat", ""),
    ("a horse above a cow", "a cow below a horse", ""),
    ("two cats and a dog", "a cat and two dogs", "differ"),
)
_N_QUICK = 15


def embedded_rows(size: str) -> list[PromptRow]:
    """The rows of a size: quick takes some of the prompts, full all, and both take the pairs."""
    prompts = _PROMPTS[:_N_QUICK] if size == "quick" else _PROMPTS
    rows = [PromptRow(where=f"prompt {n}", texts=(text,), formulas=(None,)) for n, text in enumerate(prompts, 1)]
    return rows + [
        PromptRow(where=f"pair {n}", texts=(a, b), formulas=(None, None), expect=expect)
        for n, (a, b, expect) in enumerate(_PAIRS, 1)
    ]
