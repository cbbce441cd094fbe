"""Which reader takes captions apart, by the name that an option gives."""

from __future__ import annotations

from salva.english.captions.grammar import GrammarReader
from salva.english.captions.reading import CaptionReader
from salva.english.captions.spacy_reader import SpacyReader

GRAMMAR = "grammar"


def caption_reader(parser: str) -> CaptionReader:
    """The small grammar, or a spaCy pipeline; without a name the usual one."""
    return GrammarReader() if parser == GRAMMAR else SpacyReader(parser)
