"""What doubt costs: the leading rate over the pairs that stay decided as doubt is raised, and how many these are.

Judgements in, points out. A pair is given up when doubt rises above its certainty, the score of the box that its
verdict hangs on; one that was left open for doubt counts below that as it would have been decided.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from salva.core.judged import Judged, Judgements
from salva.core.verdict import CERTAINTY, FAIL_AT_THRESHOLD
from salva.results.headline import average_of, check_of
from salva.results.rates import Hit, figure_of, hits_of

MOST_POINTS = 16
FEWEST_LEFT = 0.5
"""Of the pairs that could be decided; with less, what is left says little about the rest."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Point:
    """The rate at one doubt."""

    doubt: float
    n: int
    """Pairs decided."""
    n_asked: int
    rate: float
    low: float
    """The rate if everything that is not decided held."""
    high: float
    """The rate if everything that is not decided were failed."""


def doubt_curve(judgements: Judgements) -> tuple[Point, ...]:
    """Points from no doubt on; none where verdicts do not say how sure they are, or doubt changes nothing."""
    leading = judgements.headline
    average = average_of(judgements.checks, check_of(leading), judgements.chosen)
    hits = _undoubted(leading)
    sure = [pair.verdict.scores.get(CERTAINTY) for pair in leading]
    decided = [certainty for hit, certainty in zip(hits, sure, strict=True) if hit.is_hit is not None]
    if not decided or None in decided:
        return ()
    certainties = sorted(certainty for certainty in decided if certainty is not None)
    doubts = [0.0, *dict.fromkeys(certainty for certainty in certainties if certainty < 1)]
    points = []
    for doubt in _some(doubts, certainties):
        left = [
            hit if certainty is not None and certainty > doubt else replace(hit, is_hit=None)
            for hit, certainty in zip(hits, sure, strict=True)
        ]
        points.append(_point(left, average, doubt))
    return tuple(points) if len(points) > 1 else ()


def _undoubted(leading: Sequence[Judged]) -> list[Hit]:
    """Every pair as it is decided where every box that counts is sure."""
    return [
        replace(hit, is_hit=bool(pair.verdict.scores[FAIL_AT_THRESHOLD]))
        if FAIL_AT_THRESHOLD in pair.verdict.scores
        else hit
        for hit, pair in zip(hits_of(leading), leading, strict=True)
    ]


def _some(doubts: Sequence[float], certainties: Sequence[float]) -> list[float]:
    """As many as a curve needs, evenly among the pairs, down to where too few are left."""
    n = len(certainties)
    reached = [doubt for doubt in doubts if sum(c > doubt for c in certainties) >= FEWEST_LEFT * n]
    step = max(1, -(-len(reached) // MOST_POINTS))
    return [*reached[:-1:step], *reached[-1:]]


def _point(hits: Sequence[Hit], average: str, doubt: float) -> Point:
    def rate(filled: Sequence[Hit]) -> float:
        return figure_of(filled, "", average, None).rate or 0.0

    return Point(
        doubt=doubt,
        n=sum(hit.is_hit is not None for hit in hits),
        n_asked=len(hits),
        rate=rate(hits),
        low=rate([replace(hit, is_hit=bool(hit.is_hit)) for hit in hits]),
        high=rate([replace(hit, is_hit=hit.is_hit is not False) for hit in hits]),
    )
