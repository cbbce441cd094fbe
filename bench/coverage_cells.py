"""What bench/coverage.py is made of: cells and their tables, designs, and intervals of all runs at once."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import isclose, sqrt

import numpy as np
from numpy.typing import NDArray

from salva.stats.intervals import Z_95, Interval
from salva.stats.rates import Counted, kish_n

Numbers = NDArray[np.float64]
Ends = tuple[Numbers, Numbers]

LEAST, LEAST_FROM_16, LEAST_ORDINARY = 0.87, 0.90, 0.93
_CHUNK = 2000
"""Runs computed at once: more do not fit the cache."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Cell:
    """One world of a topic."""

    topic: str
    design: str
    at: str
    """The rate, or whatever else the cells of a design differ in."""
    n: float
    """Effective pairs (Kish), groups or clusters."""
    share: float
    """Of runs that hold the answer; of wrong decisions."""
    width: float
    demanded: float
    n_runs: int
    is_wrong: bool = False
    """Whether the share is one of wrong decisions."""

    @property
    def margin(self) -> float:
        """By how much it does better than demanded; below 0 it misses."""
        better = self.demanded - self.share if self.is_wrong else self.share - self.demanded
        return better + 2 * sqrt(self.demanded * (1 - self.demanded) / self.n_runs)


def table(topic: str, cells: Sequence[Cell]) -> str:
    """A topic: the worst cell of every design, the worst of all in bold."""
    worst = min(cells, key=lambda cell: cell.margin)
    share = "most wrong" if worst.is_wrong else "smallest cover"
    lines = [
        f"\n### {topic}\n",
        f"| design | n | {share} | at | mean | width | demanded |",
        "|---|---|---|---|---|---|---|",
    ]
    designs: dict[str, list[Cell]] = {}
    for cell in cells:
        designs.setdefault(cell.design, []).append(cell)
    for design, own in designs.items():
        least = min(own, key=lambda cell: cell.margin)
        mark = "**" if least is worst else ""
        mean, width = (
            sum(values) / len(own) for values in zip(*((cell.share, cell.width) for cell in own), strict=True)
        )
        numbers = (f"{least.n:.4g}", f"{mark}{least.share:.1%}{mark}", least.at, f"{mean:.1%}")
        ends = (f"{width:.3f}" if width else "-", f"{least.demanded:.1%}")
        lines.append(f"| {' | '.join((design, *numbers, *ends))} |")
    return "\n".join(lines)


@dataclass(frozen=True, slots=True, kw_only=True)
class Design:
    """Categories of so many cases, and what they differ by, in logits."""

    title: str
    sizes: tuple[int, ...]
    repeats: int = 1
    category_sd: float = 0.0
    case_sd: float = 0.0
    is_ordinary: bool = True

    @property
    def counted(self) -> list[Counted]:
        """Its cases without failures."""
        return [Counted(category=str(t), n_hits=0, n=self.repeats) for t, n in enumerate(self.sizes) for _ in range(n)]

    @property
    def kish(self) -> float:
        """The number of results in even categories that would weigh as much."""
        return kish_n(self.counted)

    @property
    def in_category(self) -> Numbers:
        """Which case is in which category, a row a case."""
        return np.repeat(np.eye(len(self.sizes)), self.sizes, axis=0)

    @property
    def demanded(self) -> float:
        """The cover that is asked of it."""
        return LEAST_ORDINARY if self.is_ordinary else least_at(self.kish)

    def chances(self, rate: float, rng: np.random.Generator) -> Numbers:
        """Each case's chance to fail, so that the mean over categories of their means is the rate."""
        member = self.in_category
        effects = member @ rng.permutation(self.category_sd * _normal_scores(len(self.sizes)))
        effects = effects + rng.normal(0, self.case_sd, len(effects))
        weights = member @ (1 / (len(self.sizes) * np.array(self.sizes)))
        return logistic(solved(rate, effects, weights) + effects)


def solved(rate: float, effects: Numbers, weights: Numbers) -> float:
    """The level at which the weighted mean of chances is the rate."""
    low, high = -80.0, 80.0
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (middle, high) if weights @ logistic(middle + effects) < rate else (low, middle)
    return low


def least_at(n: float) -> float:
    """The cover that is asked of a design that is not ordinary."""
    return LEAST_FROM_16 if n >= 16 else LEAST


def _normal_scores(n: int) -> Numbers:
    """Evenly spread values of a standard normal variable."""
    drawn = np.sort(np.random.default_rng(0).normal(size=200_000))
    scores: Numbers = drawn[((np.arange(n) + 0.5) / n * len(drawn)).astype(int)] if n > 1 else np.zeros(1)
    return scores


def logistic(x: Numbers) -> Numbers:
    inverse: Numbers = 1 / (1 + np.exp(-x))
    return inverse


def same(ends: Ends, run: int, interval: Interval | str | None) -> None:
    """Stop where a run, computed by salva.stats, does not come out as it did here."""
    assert isinstance(interval, Interval), interval
    for mine, theirs in ((ends[0][run], interval.low), (ends[1][run], interval.high)):
        assert isclose(mine, theirs, abs_tol=1e-9), (run, ends[0][run], ends[1][run], interval)


def wilson_ends(rate: Numbers, n: Numbers, z: float) -> Ends:
    """salva.stats.intervals.wilson, all runs at once."""
    centre = (rate + z * z / (2 * n)) / (1 + z * z / n)
    half = z / (1 + z * z / n) * np.sqrt(np.maximum(0.0, rate * (1 - rate) / n + z * z / (4 * n * n)))
    low = np.where(rate <= 0, 0.0, np.maximum(0.0, centre - half))
    return low, np.where(rate >= 1, 1.0, np.minimum(1.0, centre + half))


def rate_ends(sizes: Numbers, sums: Numbers, within: Numbers | None = None, degrees: Numbers | None = None) -> Ends:
    """salva.stats.rates.seeds_interval, all runs at once; a category without results is left out.

    sizes, sums: results and failures, by run and category; within, degrees: with repeats, those of their cases.
    """
    has_any = sizes > 0
    n = np.where(has_any, sizes, 1.0)
    t = has_any.sum(axis=1)
    shares = sums / n
    rate = shares.sum(axis=1) / t
    own = n * shares * (1 - shares) if within is None else within
    freedom = n - 1 if degrees is None else degrees
    parts = (own + 8 * (rate * (1 - rate))[:, None]) / (freedom + 8) / n
    variance = np.where(has_any, parts, 0.0).sum(axis=1) / t**2
    even = t**2 / np.where(has_any, 1 / n, 0.0).sum(axis=1)
    is_end = (sums.sum(axis=1) == 0) | (sums.sum(axis=1) == sizes.sum(axis=1))
    n_eff = np.where(is_end, even, rate * (1 - rate) / np.where(is_end, 1.0, variance))
    low, high = wilson_ends(rate, n_eff, Z_95)
    return np.minimum(low, _poisson(rate, n_eff)), np.maximum(high, 1 - _poisson(1 - rate, n_eff))


def _poisson(rate: Numbers, n: Numbers) -> Numbers:
    hits = rate * n
    safe = np.where(hits > 0, hits, 1.0)
    end = hits * np.maximum(0.0, 1 - 1 / (9 * safe) - 1.6448536269514722 / (3 * np.sqrt(safe))) ** 3 / n
    ends: Numbers = np.where(hits >= 8, 1.0, end)
    return ends


def in_chunks(n_runs: int, ends_of: Callable[[int], Ends]) -> Ends:
    made = [ends_of(min(_CHUNK, n_runs - start)) for start in range(0, n_runs, _CHUNK)]
    return np.concatenate([low for low, _ in made]), np.concatenate([high for _, high in made])


def _held(ends: Ends, answer: float | Numbers) -> float:
    return float(((ends[0] <= answer + 1e-12) & (answer - 1e-12 <= ends[1])).mean())


def _width(ends: Ends) -> float:
    return float((ends[1] - ends[0]).mean())


def cell_of(topic: str, design: str, at: str, n: float, ends: Ends, answer: float | Numbers, demanded: float) -> Cell:
    return Cell(
        topic=topic,
        design=design,
        at=at,
        n=n,
        share=_held(ends, answer),
        width=_width(ends),
        demanded=demanded,
        n_runs=len(ends[0]),
    )


RATES = (
    *(0.0005, 0.001, 0.002, 0.005, 0.01, 0.015, 0.02, 0.03, 0.04, 0.05, 0.065, 0.08, 0.1, 0.125, 0.15, 0.175),
    *(0.2, 0.25, 0.3, 0.35, 0.4, 0.45, 0.5, 0.6, 0.7, 0.8, 0.9, 0.95, 0.98, 0.99, 0.995),
)
UNEVEN, VERY_UNEVEN = (3, 6, 9, 12, 20, 30), ((4, 200), (4, 4, 100), (8, 8, 60), (2, 2, 2, 2, 2, 40))
DESIGNS = (
    *(Design(title=f"one category of {n}", sizes=(n,)) for n in (16, 18, 30, 63, 120, 400)),
    *(Design(title=f"{t} categories of {n}", sizes=(n,) * t) for t, n in ((6, 3), (21, 3), (20, 10), (20, 40))),
    Design(title="categories of 3 to 30", sizes=UNEVEN),
    *(
        Design(title=f"21 of 3, {name}", sizes=(3,) * 21, category_sd=category, case_sd=case)
        for name, category, case in (("entities differ", 0.7, 1.0), ("categories differ", 2.0, 0.0))
    ),
    *(
        Design(title=f"{t} of {n}, all or nothing", sizes=(n,) * t, category_sd=8.0, is_ordinary=False)
        for t, n in ((21, 3), (6, 10), (20, 10))
    ),
    Design(title="3 to 30, all or nothing", sizes=UNEVEN, category_sd=8.0, is_ordinary=False),
    *(Design(title=", ".join(map(str, sizes)), sizes=sizes, is_ordinary=False) for sizes in VERY_UNEVEN),
    Design(title="one category of 8", sizes=(8,), is_ordinary=False),
)
REPEATED = tuple(
    Design(title=f"{title}, {k} repeats", sizes=sizes, repeats=k, category_sd=0.7, case_sd=case_sd)
    for k in (2, 3, 10)
    for title, sizes, case_sd in (
        ("21 of 3", (3,) * 21, 1.0),
        ("21 of 3, cases far apart", (3,) * 21, 4.0),
        ("one category of 18", (18,), 1.0),
        ("3 to 30", UNEVEN, 1.0),
    )
)
LOPSIDED = ((3, 3, 3, 3, 3, 3), (4, 200), (3, 6, 9, 12, 20, 30), (5, 50, 50, 50, 50), (1, 10, 10, 10, 10))
