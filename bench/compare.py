"""How often `salva compare` raises a false alarm, and whether `salva power` promises what comes true, by simulation.

    python bench/compare.py [--runs 4000]

Every row is a world of fixed prompts: categories and cases differ by a random effect on the logit scale, and two models
of known rates are painted again and again with other seeds. An alarm is an interval that lies wholly beyond the margin;
where the true difference is the margin it is a false one. Power is the share of runs whose interval excludes 0 on the
bad side, beside the mean of what `salva power --difference` says of the same runs: once from both models, once from the
first alone. All runs of a row are computed at once, the first few of them by salva.stats too, and must come out alike.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from math import erf, isclose, sqrt
from zlib import crc32

import numpy as np
from numpy.typing import NDArray

from salva.stats.intervals import t_95
from salva.stats.paired import chance_to_show, paired_difference, spread_of
from salva.stats.rates import Counted, one_more_repeat
from salva.stats.sample_size import beside_worse, evenly, parts_of

Numbers = NDArray[np.float64]

MARGINS = (0.05, 0.10)
DIFFERENCES = (0.0, 0.05, 0.10)
MOST_ALARMS = 0.035
"""Of runs whose true difference is the margin."""
MOST_OFF = 0.05
"""How far the promised power may lie from the share of runs that show the difference."""
N_CHECKED = 4


@dataclass(frozen=True, slots=True, kw_only=True)
class World:
    """Prompts, and how two models do on them."""

    n_categories: int
    n_cases: int
    """In each category."""
    repeats: int = 1
    rate: float = 0.3
    """Of the first model."""
    case_sd: float = 0.0
    """What cases of one category differ by, in logits, for both models alike."""
    shared: float = 0.0
    """How often both models have the same luck with a seed."""

    @property
    def title(self) -> str:
        """What the table calls it."""
        size = f"{self.n_categories} x {self.n_cases}" + (f" x {self.repeats} repeats" if self.repeats > 1 else "")
        extra = [f"cases differ (sd {self.case_sd:g})"] if self.case_sd else []
        extra += [f"luck shared {self.shared:.0%}"] if self.shared else []
        return f"{size}, {self.rate:.0%}" + (f", {', '.join(extra)}" if extra else "")


WORLDS = (
    *(World(n_categories=20, n_cases=n, rate=rate) for n in (2, 6, 36) for rate in (0.05, 0.3, 0.55)),
    *(World(n_categories=20, n_cases=12, rate=0.3, case_sd=1.0, shared=shared) for shared in (0.0, 0.5)),
    World(n_categories=20, n_cases=12, repeats=3, rate=0.3, case_sd=1.0),
    *(World(n_categories=1, n_cases=n, rate=rate) for n in (40, 100, 400) for rate in (0.1, 0.5)),
    World(n_categories=1, n_cases=400, rate=0.85),
)


def painted(world: World, difference: float, n_runs: int) -> tuple[Numbers, Numbers, float]:
    """Hits of both models, by run, category, case and repeat, and the true difference of these prompts."""
    rng = np.random.default_rng(crc32(f"{world} {difference}".encode()))
    effect = rng.normal(0, 1.0 if world.n_categories > 1 else 0.0, (world.n_categories, 1))
    effect = effect + rng.normal(0, world.case_sd, (world.n_categories, world.n_cases))
    first, second = (_chances(effect, rate) for rate in (world.rate, world.rate + difference))
    shape = (n_runs, world.n_categories, world.n_cases, world.repeats)
    luck = rng.random(shape)
    other = np.where(rng.random(shape) < world.shared, luck, rng.random(shape))
    hits = (luck < first[None, :, :, None]).astype(float), (other < second[None, :, :, None]).astype(float)
    return *hits, float((second - first).mean())


def _chances(effect: Numbers, rate: float) -> Numbers:
    """Chances whose mean is the rate, as far apart as the effects say."""
    low, high = -15.0, 15.0
    for _ in range(80):
        middle = (low + high) / 2
        if (1 / (1 + np.exp(-(middle + effect)))).mean() < rate:
            low = middle
        else:
            high = middle
    chances: Numbers = 1 / (1 + np.exp(-(low + effect)))
    return chances


@dataclass(frozen=True, slots=True, kw_only=True)
class Spreads:
    """What every run says of its own noise."""

    centre: Numbers
    pure: Numbers
    variance: Numbers
    """As intervals have it: with one more difference each way."""
    degrees: int

    def low(self) -> Numbers:
        """The lower ends of the intervals."""
        ends: Numbers = self.centre - t_95(self.degrees) * np.sqrt(self.variance)
        return ends

    def chance(self, difference: float) -> float:
        """The mean of what the runs say of their chance to show a difference."""
        true = np.sqrt(np.where(self.pure > 0, self.pure, self.variance))
        reach = (difference - t_95(self.degrees) * np.sqrt(self.variance)) / true
        return float(np.mean([(1 + erf(z / sqrt(2))) / 2 for z in reach]))


def spreads(world: World, first: Numbers, second: Numbers) -> Spreads:
    """From both models."""
    each = (second - first).mean(axis=3)
    n, t = world.n_cases * world.n_categories, world.n_categories
    least = one_more_repeat(world.repeats)
    flat = each.reshape(len(each), -1)
    seen = (flat**2).sum(axis=1) / np.maximum(1, (flat != 0).sum(axis=1))
    pure = each.var(axis=2, ddof=1).sum(axis=1) / world.n_cases / t**2
    return Spreads(
        centre=flat.mean(axis=1), pure=pure, variance=pure + 2 * np.maximum(least, seen) / n**2, degrees=n - t
    )


def promised(world: World, first: Numbers, difference: float) -> Spreads:
    """From the first model alone, the other taken to be worse by the difference and to fail independently of it."""
    n, t = world.n_cases * world.n_categories, world.n_categories
    each = first.mean(axis=3)
    rate = each.mean(axis=(1, 2))
    other = rate + difference
    factor = 1 + other * (1 - other) / np.where(rate > 0, rate * (1 - rate), 1.0)
    pure = np.where(rate > 0, factor, 2.0) * each.var(axis=2, ddof=1).mean(axis=1) / n
    return Spreads(centre=rate, pure=pure, variance=pure + 2 * one_more_repeat(world.repeats) / n**2, degrees=n - t)


def check(world: World, first: Numbers, second: Numbers, both: Spreads, alone: Spreads, difference: float) -> None:
    """The first few runs by salva.stats."""
    for run in range(N_CHECKED):
        named = [(t, c) for t in range(world.n_categories) for c in range(world.n_cases)]
        cases = [
            Counted(category=str(t), n_hits=second[run, t, c].sum() - first[run, t, c].sum(), n=world.repeats)
            for t, c in named
        ]
        made = paired_difference(cases)
        assert made is not None
        assert made.interval is not None
        assert isclose(made.interval.low, max(-1.0, both.low()[run]), abs_tol=1e-9)
        spread = spread_of(cases)
        assert spread is not None
        one = Spreads(
            centre=both.centre[run : run + 1],
            pure=both.pure[run : run + 1],
            variance=both.variance[run : run + 1],
            degrees=both.degrees,
        )
        assert isclose(chance_to_show(difference, spread), one.chance(difference), abs_tol=1e-9)
        parts = parts_of(
            {str(t): [list(first[run, t, c]) for c in range(world.n_cases)] for t in range(len(first[run]))}
        )
        assert parts is not None
        n = world.n_cases * world.n_categories
        apart = beside_worse(parts, float(first[run].mean()), difference).total(world.repeats)
        even = evenly(apart, n, world.n_categories, one_more_repeat(world.repeats))
        # The part between cases is never below 0, so that with few repeats it can lie a little higher here.
        assert even.variance >= alone.variance[run] - 1e-9


def rows(n_runs: int) -> Iterator[tuple[str, list[str], list[str]]]:
    """Title, cells and what was missed."""
    for world in WORLDS:
        cells, missed = [], []
        for margin in MARGINS:
            first, second, true = painted(world, margin, n_runs)
            alarms = float((spreads(world, first, second).low() > true + 1e-12).mean())
            cells.append(f"{alarms:.1%}")
            if alarms > MOST_ALARMS:
                missed.append(f"{alarms:.1%} alarms at {margin:.0%}")
        for difference in DIFFERENCES:
            first, second, true = painted(world, difference, n_runs)
            both, alone = spreads(world, first, second), promised(world, first, true)
            check(world, first, second, both, alone, true)
            shown, said, said_alone = float((both.low() > 0).mean()), both.chance(true), alone.chance(true)
            cells.append(f"{shown:.1%} ({said:.1%}; {said_alone:.1%})")
            if abs(shown - said) > MOST_OFF:
                missed.append(f"{shown:.1%} shown at {difference:.0%}, {said:.1%} said from both models")
            if not world.shared and not world.case_sd and abs(shown - said_alone) > MOST_OFF:
                missed.append(f"{shown:.1%} shown at {difference:.0%}, {said_alone:.1%} said from the first alone")
        yield world.title, cells, missed


def main() -> None:
    """Simulate and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=4000)
    n_runs = parser.parse_args().runs
    alarms = " | ".join(f"alarms at {margin:.0%}" for margin in MARGINS)
    power = " | ".join(f"shown at {difference:.0%}" for difference in DIFFERENCES)
    print(f"| world | {alarms} | {power} |\n|---|{'---|' * (len(MARGINS) + len(DIFFERENCES))}")
    all_missed = []
    for title, cells, missed in rows(n_runs):
        print(f"| {title} | {' | '.join(cells)} |", flush=True)
        all_missed += [f"{title}: {one}" for one in missed]
    print("\n" + "\n".join(all_missed or ["every row keeps what is demanded of it"]))
    sys.exit(bool(all_missed))


if __name__ == "__main__":
    main()
