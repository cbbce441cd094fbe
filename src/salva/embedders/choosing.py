"""Cosines of images and texts from any embedder; a text is embedded once for all images."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from math import sqrt

from salva.core.observation import Observation, Vector
from salva.core.protocols import ObserveRequest, Query
from salva.errors import SalvaError
from salva.stats.similarity import cosine

_MOST_VECTORS = 4096
_DIGITS = 6

Embed = Callable[[Sequence[ObserveRequest]], Sequence[Observation | SalvaError]]


class EmbeddingChooser:
    """Answers queries with choices, by an embedder of images and texts."""

    def __init__(self, embed: Embed) -> None:
        self._embed = embed
        self._vectors: dict[str, Vector | SalvaError] = {}
        """Those of choices."""

    def observe(self, requests: Sequence[ObserveRequest]) -> Sequence[Observation | SalvaError]:
        """A vector for each request, or the cosines of the image to its choices."""
        plain = [replace(request, query=replace(request.query, choices=())) for request in requests]
        vectors = list(self._embed(plain))
        self._embed_choices(requests)
        answers = [
            self._cosines(vector, request.query.choices) if request.query.choices else vector
            for request, vector in zip(requests, vectors, strict=True)
        ]
        if len(self._vectors) > _MOST_VECTORS:
            self._vectors.clear()
        return answers

    def _embed_choices(self, requests: Sequence[ObserveRequest]) -> None:
        """Embed new choices."""
        wanted = {choice: request for request in requests for choice in request.query.choices}
        new = {choice: request for choice, request in wanted.items() if choice not in self._vectors}
        lines = {line: request for choice, request in new.items() for line in choice.splitlines()}
        lines_alone = [
            replace(request, query=Query(role=request.query.role, text=line)) for line, request in lines.items()
        ]
        vectors = dict(zip(lines, self._embed(lines_alone) if lines_alone else (), strict=True))
        for choice in new:
            self._vectors[choice] = _mean([vectors[line] for line in choice.splitlines()])

    def _cosines(self, picture: Observation | SalvaError, choices: Sequence[str]) -> Observation | SalvaError:
        texts = [self._vectors[choice] for choice in choices]
        problem = next((seen for seen in (picture, *texts) if isinstance(seen, SalvaError)), None)
        if problem is not None:
            return problem
        assert isinstance(picture, Vector)
        return Vector(
            values=tuple(round(cosine(picture.values, t.values), _DIGITS) for t in texts if isinstance(t, Vector))
        )


def _mean(vectors: Sequence[Observation | SalvaError]) -> Vector | SalvaError:
    """The mean of vectors of length 1, at length 1 again."""
    for vector in vectors:
        if isinstance(vector, SalvaError):
            return vector
    sums = [sum(column) for column in zip(*(v.values for v in vectors if isinstance(v, Vector)), strict=True)]
    length = sqrt(sum(value * value for value in sums)) or 1.0
    return Vector(values=tuple(value / length for value in sums))
