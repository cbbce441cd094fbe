"""An embedder asked to choose: pictures and texts go to it one by one, cosines come back.

Takes whatever gives vectors. A text is embedded once, however many pictures it is held against.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from math import sqrt

from salva.core.observation import Observation, Vector
from salva.core.protocols import ObserveRequest, Query
from salva.errors import SalvaError
from salva.stats.similarity import cosine

_MOST_KEPT = 4096
_DIGITS = 6

Embed = Callable[[Sequence[ObserveRequest]], Sequence[Observation | SalvaError]]


class EmbeddingChooser:
    """Answers queries with choices by an embedder that knows pictures and texts alone."""

    def __init__(self, embed: Embed) -> None:
        self._embed = embed
        self._kept: dict[str, Vector | SalvaError] = {}

    def observe(self, requests: Sequence[ObserveRequest]) -> Sequence[Observation | SalvaError]:
        """A vector for each; where there are choices, the cosine of the picture to each of them."""
        plain = [replace(request, query=replace(request.query, choices=())) for request in requests]
        vectors = list(self._embed(plain))
        self._learn(requests)
        answers = [
            self._cosines(vector, request.query.choices) if request.query.choices else vector
            for request, vector in zip(requests, vectors, strict=True)
        ]
        if len(self._kept) > _MOST_KEPT:
            self._kept.clear()
        return answers

    def _learn(self, requests: Sequence[ObserveRequest]) -> None:
        """Embed the choices that are new."""
        wanted = {choice: request for request in requests for choice in request.query.choices}
        new = {choice: request for choice, request in wanted.items() if choice not in self._kept}
        lines = {line: request for choice, request in new.items() for line in choice.splitlines()}
        asked = [replace(request, query=Query(role=request.query.role, text=line)) for line, request in lines.items()]
        told = dict(zip(lines, self._embed(asked) if asked else (), strict=True))
        for choice in new:
            self._kept[choice] = _mean([told[line] for line in choice.splitlines()])

    def _cosines(self, picture: Observation | SalvaError, choices: Sequence[str]) -> Observation | SalvaError:
        texts = [self._kept[choice] for choice in choices]
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
