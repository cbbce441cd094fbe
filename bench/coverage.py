"""How often the intervals and gates of salva.stats hold what they promise, by simulation.

    python bench/coverage.py [--quick] [--only TOPIC]...

Every cell is a world with a known answer. Where a scalar function would take too long, all runs of a cell are computed
at once, and a few of them again by salva.stats, which must come out the same. Printed: a table a topic, a row a design
with the rate (or other setting) that does worst, and the smallest cell of the topic in bold. An interval must hold the
answer in 87 % of the runs of every cell, in 90 % from an effective 16 pairs on, and in 93 % in ordinary designs; a gate
must not decide wrongly more often than MOST_WRONG says. Exit 1 if a cell misses that by more than two standard errors
of the simulation.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Iterator, Sequence
from math import sqrt
from time import perf_counter
from zlib import crc32

import numpy as np
from coverage_cells import (
    DESIGNS,
    LEAST,
    LEAST_FROM_16,
    LEAST_ORDINARY,
    LOPSIDED,
    RATES,
    REPEATED,
    Cell,
    Design,
    Ends,
    Numbers,
    cell_of,
    in_chunks,
    least_at,
    logistic,
    rate_ends,
    same,
    solved,
    table,
)

from salva.stats.correction import correct_rate, kish, stratum_of
from salva.stats.intervals import MIN_CLUSTERS, Interval, t_95
from salva.stats.mean_intervals import mean_interval
from salva.stats.paired import paired_difference
from salva.stats.rates import Counted, clusters_interval, entities_interval, one_more_repeat, seeds_interval
from salva.stats.root_ratios import root_ratio_interval
from salva.stats.stopping import cases_at, is_narrow, look_shares, look_z

MOST_WRONG = {0.0: 0.046, 0.02: 0.026, 0.05: 0.015}
"""Of gates, by the distance of the true rate from the limit."""
MOST_WRONG_LOOKING = 0.06
"""Of gates looked at on the way, both kinds together, at the limit: 5 %, and what whole numbers of failures add."""
QUICK_RATES = (0.01, 0.2, 0.8)
N_CHECKED = 3


def _rng(*named: object) -> np.random.Generator:
    return np.random.default_rng(crc32(repr(named).encode()))


def rates(design: Design, rate: float, n_runs: int) -> Cell:
    """The failure rate of these prompts under other seeds."""
    rng = _rng(design, rate)
    chances, member, k = design.chances(rate, rng), design.in_category, design.repeats
    n = k * member.sum(axis=0)

    def ends_of(n_now: int) -> Ends:
        shape = (n_now, len(chances))
        hits = (rng.random(shape) < chances if k == 1 else rng.binomial(k, chances, shape)).astype(float)
        sums = hits @ member
        repeated = (sums - (hits**2) @ member / k, n - n / k) if k > 1 else (None, None)
        ends = rate_ends(np.broadcast_to(n, sums.shape), sums, *repeated)
        for run in range(min(N_CHECKED, n_now)):
            counted = zip(design.counted, hits[run], strict=True)
            same(ends, run, seeds_interval([Counted(category=c.category, n_hits=int(x), n=k) for c, x in counted]))
        return ends

    ends = in_chunks(n_runs, ends_of)
    topic = "failure rate" if k == 1 else "failure rate with repeats"
    return cell_of(topic, design.title, f"{rate:g}", design.kish, ends, rate, design.demanded)


def smallest(sizes: tuple[int, ...], chance: float, n_runs: int, *, others: float = 0.0) -> Cell:
    """Most failures are in the smallest category, whose variance is drawn towards the small one of the whole rate."""
    rng, n, t = _rng("smallest", sizes, chance), np.array(sizes, float), len(sizes)
    sums = np.zeros((n_runs, t))
    sums[:, 0] = rng.binomial(sizes[0], chance, n_runs)
    sums[:, 1:] = rng.binomial(sizes[1:], others, (n_runs, t - 1))
    ends = rate_ends(np.broadcast_to(n, sums.shape), sums)
    design = Design(title=", ".join(map(str, sizes)), sizes=sizes, is_ordinary=False)
    rate = (chance + others * (t - 1)) / t
    topic = f"failure rate, {'most' if others else 'all'} failures in the smallest category"
    return cell_of(topic, design.title, f"{rate:g}", design.kish, ends, rate, design.demanded)


UNDECIDED = ((0.0, 0.0), (0.2, 0.2), (0.4, 0.05), (0.05, 0.4), (0.9, 0.0))
"""Shares of the failures and of the passes that stay undecided."""


def both_ends(design: Design, true: float, open_fails: float, open_passes: float, n_runs: int) -> Ends:
    """The lower end with the undecided as PASS and the upper end with them as FAIL."""
    rng, member = _rng("undecided", design, true, open_fails, open_passes), design.in_category
    n, chances = member.sum(axis=0), design.chances(true, rng)

    def ends_of(n_now: int) -> Ends:
        fails = rng.random((n_now, len(chances))) < chances
        is_open = rng.random(fails.shape) < np.where(fails, open_fails, open_passes)
        sizes = np.broadcast_to(n, (n_now, len(n)))
        return rate_ends(sizes, (fails & ~is_open) @ member)[0], rate_ends(sizes, (fails | is_open) @ member)[1]

    return in_chunks(n_runs, ends_of)


def undecided(design: Design, limit: float, n_runs: int) -> Iterator[Cell]:
    """What is undecided depends on the result: the cover of both ends, and how often a gate decides wrongly."""
    for open_fails, open_passes in UNDECIDED:
        at = f"{limit:g}, undecided {open_fails:.0%} of FAIL, {open_passes:.0%} of PASS"
        for distance, most in MOST_WRONG.items():
            above = both_ends(design, limit + distance, open_fails, open_passes, n_runs)
            if distance:
                below = both_ends(design, limit - distance, open_fails, open_passes, n_runs)
                wrong = max(float((above[1] <= limit).mean()), float((below[0] > limit).mean()))
            else:
                # A rate that is the limit itself is not above it: there only `failed` is wrong.
                wrong = float((above[0] > limit).mean())
                demanded = design.demanded
                yield cell_of("undecided not at random", design.title, at, design.kish, above, limit, demanded)
            topic = f"gates, wrong decisions at distance {distance:g}"
            yield _wrong(topic, design.title, at, design.kish, wrong, most, n_runs)


def _wrong(topic: str, design: str, at: str, n: float, share: float, most: float, n_runs: int) -> Cell:
    return Cell(
        topic=topic, design=design, at=at, n=n, share=share, width=0.0, demanded=most, n_runs=n_runs, is_wrong=True
    )


def looking(n_planned: int, limit: float, n_runs: int) -> Cell:
    """Wrong decisions at the limit of a rate that is looked at on the way; both kinds together."""
    rng, hits, done = _rng("looking", n_planned, limit), np.zeros(n_runs, int), 0
    is_wrong = np.zeros(n_runs, bool)
    for share in look_shares([n_planned]):
        n = cases_at([n_planned], share)
        hits, done = hits + rng.binomial(n - done, limit, n_runs), n
        z = look_z(n, n_planned)
        shown = {x: seeds_interval(_one_category(x, n), z) for x in set(hits.tolist())}
        out = {x for x, one in shown.items() if one is not None and (one.low > limit or one.high <= limit)}
        is_wrong |= np.isin(hits, list(out))
    wrong = float(is_wrong.mean())
    topic, title = "gates looked at on the way", f"{n_planned} planned"
    return _wrong(topic, title, f"{limit:g}", n_planned, wrong, MOST_WRONG_LOOKING, n_runs)


def _one_category(hits: int, n: int) -> list[Counted]:
    return [Counted(category="", n_hits=int(place < hits), n=1) for place in range(n)]


def narrowing(rate: float, half_width: float, n_runs: int) -> Cell:
    """The interval of a run that goes on, one case of each of ten categories at a time, until it is narrow enough."""
    rng, t, most = _rng("narrowing", rate, half_width), 10, 60
    fails = rng.random((n_runs, most, t)) < rate
    ends = np.zeros(n_runs), np.ones(n_runs)
    is_done = np.zeros(n_runs, bool)
    for block in range(1, most + 1):
        sums = fails[:, :block].sum(axis=1).astype(float)
        low, high = rate_ends(np.full(sums.shape, float(block)), sums)
        now = [is_narrow(Interval(low=a, high=b), half_width, block) for a, b in zip(low, high, strict=True)]
        is_first = ~is_done & (np.array(now) | (block == most))
        ends[0][is_first], ends[1][is_first] = low[is_first], high[is_first]
        is_done |= is_first
    return cell_of("until a half-width is reached", f"±{half_width:g}", f"{rate:g}", t * 2, ends, rate, LEAST_ORDINARY)


def ratios(n: int, ability: float, n_runs: int, *, is_gated: bool) -> Cell:
    """PRR and RRR: scores of groups before and after, the second zero behind the gate where the first is low."""
    rng = _rng("ratios", n, ability, is_gated)

    def drawn(shape: tuple[int, ...]) -> tuple[Numbers, Numbers]:
        own = rng.normal(ability, 1.0, shape)
        before = logistic(own + rng.normal(1, 1, shape))
        before = np.where(rng.random(shape) < 0.3, 1.0, before)
        after = (rng.random(shape) < logistic(own - 1)) * rng.choice([0.5, 1.0], shape)
        return before, after * (before >= 0.5) if is_gated else after

    b, a = drawn((1_000_000,))
    truth = float(a.mean() / sqrt(b.mean()))
    before, after = drawn((n_runs, n))
    found = [root_ratio_interval(b.tolist(), a.tolist()) for b, a in zip(before, after, strict=True)]
    known = [interval for interval in found if interval is not None]
    ends = np.array([one.low for one in known]), np.array([one.high for one in known])
    demanded = LEAST_ORDINARY if n >= 20 else least_at(n)
    title = f"{n} groups" + (", gated" if is_gated else "")
    return cell_of("ratios of means (PRR, RRR)", title, f"{truth:.2f}", n, ends, truth, demanded)


def corrections(sizes: tuple[int, ...], rate: float, n_each: int, accuracy: float, n_runs: int) -> Cell:
    """A rate corrected by people, who review so many random results of every kind."""
    design = Design(title="", sizes=sizes, category_sd=0.5)
    rng = _rng("corrections", sizes, rate, n_each, accuracy)
    chances = design.chances(rate, rng)
    weights = np.repeat(1 / (len(sizes) * np.array(sizes)), sizes)
    n = kish(weights.tolist())
    low, high = np.zeros(n_runs), np.zeros(n_runs)
    for run in range(n_runs):
        fails = rng.random(len(chances)) < chances
        said = np.where(rng.random(len(chances)) < accuracy, fails, ~fails).astype(int)
        said[rng.random(len(chances)) < np.where(fails, 0.15, 0.05)] = 2
        strata = []
        for result in range(3):
            inside = np.flatnonzero(said == result)
            if len(inside):
                drawn = rng.choice(inside, min(n_each, len(inside)), replace=False)
                reviewed = zip(weights[drawn].tolist(), fails[drawn].tolist(), strict=True)
                strata.append(stratum_of(weights[inside].tolist(), reviewed))
        interval = correct_rate(strata, n).interval
        low[run], high[run] = interval.low, interval.high
    title = f"{sum(sizes)} cases (T = {len(sizes)}), {n_each} reviews a kind, observers {accuracy:.0%} right"
    demanded = LEAST_FROM_16 if n_each >= 10 else LEAST
    return cell_of("corrected by people", title, f"{rate:g}", n, (low, high), rate, demanded)


def differences(design: Design, first: float, second: float, n_runs: int) -> Cell:
    """Two models on the same cases."""
    rng, k = _rng("differences", design, first, second), design.repeats
    same_luck = _rng("effects", design).bit_generator.state
    chances = []
    for rate in (first, second):
        own = np.random.default_rng()
        own.bit_generator.state = same_luck
        chances.append(design.chances(rate, own))
    t, n = len(design.sizes), design.sizes[0]
    hits = [rng.binomial(k, each, (n_runs, t * n)) for each in chances]
    each = ((hits[1] - hits[0]) / k).reshape(n_runs, t, n)
    flat = each.reshape(n_runs, -1)
    seen = (flat**2).sum(axis=1) / np.maximum(1, (flat != 0).sum(axis=1))
    pure = each.var(axis=2, ddof=1).mean(axis=1) / n / t
    half = t_95(t * n - t) * np.sqrt(pure + 2 * np.maximum(one_more_repeat(k), seen) / (t * n) ** 2)
    ends = np.maximum(-1.0, flat.mean(axis=1) - half), np.minimum(1.0, flat.mean(axis=1) + half)
    for run in range(N_CHECKED):
        sides = zip(design.counted, hits[0][run], hits[1][run], strict=True)
        cases = [Counted(category=c.category, n_hits=int(b) - int(a), n=k) for c, a, b in sides]
        made = paired_difference(cases)
        same(ends, run, made.interval if made else None)
    answer = float(chances[1].mean() - chances[0].mean())
    return cell_of("paired differences", design.title, f"{first:g} to {second:g}", t * n, ends, answer, LEAST_ORDINARY)


def _scalar(n_runs: int, made: Callable[[], Interval | str | None]) -> Ends:
    found = [made() for _ in range(n_runs)]
    known = [one for one in found if isinstance(one, Interval)]
    assert len(known) == n_runs
    return np.array([one.low for one in known]), np.array([one.high for one in known])


def entities(n_entities: int, rate: float, n_runs: int) -> Cell:
    """Prompts like these about other entities: four categories of pairs; entities differ by a random effect."""
    rng = _rng("entities", n_entities, rate)
    pairs = [(a, b) for a in range(n_entities) for b in range(n_entities) if a != b]
    effects = rng.normal(0, 1, 400_000)
    level = solved(rate, effects, np.full(len(effects), 1 / len(effects)))

    def made() -> Interval | str:
        own = rng.normal(0, 1, n_entities)
        chances = logistic(level + np.array([own[a] + own[b] for a, b in pairs]) / sqrt(2))
        hits = rng.random((4, len(pairs))) < chances
        return entities_interval(
            [
                Counted(category=str(t), entities=(str(a), str(b)), n_hits=int(hits[t, place]), n=1)
                for t in range(4)
                for place, (a, b) in enumerate(pairs)
            ]
        )

    return cell_of(
        "other entities", f"{n_entities} entities", f"{rate:g}", n_entities, _scalar(n_runs, made), rate, LEAST_FROM_16
    )


def clusters(n: int, correlation: float, rate: float, n_runs: int) -> Cell:
    """A plain share over clusters of 1 to 20 cases whose rates are drawn from a beta distribution."""
    rng, strength = _rng("clusters", n, correlation, rate), (1 - correlation) / correlation

    def made() -> Interval | None:
        sizes, p = rng.integers(1, 21, n), rng.beta(rate * strength, (1 - rate) * strength, n)
        hits = rng.binomial(sizes, p)
        return clusters_interval(
            [Counted(category="", n_hits=int(x), n=int(m)) for x, m in zip(hits, sizes, strict=True)]
        )

    title = f"share over {n} clusters, correlation {correlation:g}"
    return cell_of("clusters and means", title, f"{rate:g}", n, _scalar(n_runs, made), rate, LEAST_FROM_16)


def means(n: int, true: float, n_runs: int) -> Cell:
    """A mean near its ceiling of 1, as a kappa: most at the ceiling, a few between -0.5 and 0.9."""
    rng = _rng("means", n, true)

    def made() -> Interval | None:
        is_missed = rng.random(n) < (1 - true) / 0.8
        values = np.where(is_missed, rng.uniform(-0.5, 0.9, n), 1.0)
        return mean_interval({i: [float(value)] for i, value in enumerate(values)}, pseudo=0.0, least=-2.0, most=2.0)

    title = f"mean of {n} near its ceiling"
    return cell_of("clusters and means", title, f"{true:g}", n, _scalar(n_runs, made), true, LEAST_ORDINARY)


Topic = Callable[[bool], Iterator[Cell]]
MOSTLY: tuple[tuple[tuple[int, ...], float, float], ...] = (
    ((4, 20, 20, 20), 0.3, 0.02),
    ((4, 20, 20, 20), 0.5, 0.05),
    ((5, 10, 20, 40), 0.3, 0.02),
)
"""Sizes, the rate of the first category, and that of the others."""


def _rates(is_quick: bool) -> Iterator[Cell]:
    for design in (DESIGNS[1], DESIGNS[7], DESIGNS[-2]) if is_quick else DESIGNS:
        for rate in QUICK_RATES if is_quick else RATES:
            yield rates(design, rate, 2_000 if is_quick else 10_000)
    for sizes in LOPSIDED[:1] if is_quick else LOPSIDED:
        for chance in QUICK_RATES if is_quick else (0.05, 0.1, 0.2, 0.25, 0.3, 0.35, 0.4, 0.5, 0.7):
            yield smallest(sizes, chance, 10_000)
    for mostly, chance, others in () if is_quick else MOSTLY:
        yield smallest(mostly, chance, 10_000, others=others)


def _repeats(is_quick: bool) -> Iterator[Cell]:
    for design in REPEATED[:1] if is_quick else REPEATED:
        for rate in QUICK_RATES if is_quick else RATES[::2]:
            yield rates(design, rate, 2_000 if is_quick else 6_000)


def _undecided(is_quick: bool) -> Iterator[Cell]:
    for design in (DESIGNS[7],) if is_quick else (DESIGNS[3], DESIGNS[5], DESIGNS[7], DESIGNS[10]):
        for limit in (0.2,) if is_quick else (0.06, 0.2, 0.5, 0.8):
            yield from undecided(design, limit, 2_000 if is_quick else 10_000)


def _stopping(is_quick: bool) -> Iterator[Cell]:
    for planned in (200,) if is_quick else (200, 400, 800, 1600):
        for limit in (0.2,) if is_quick else (0.05, 0.1, 0.2, 0.5):
            yield looking(planned, limit, 4_000 if is_quick else 20_000)
    for rate in (0.2,) if is_quick else (0.02, 0.05, 0.1, 0.2, 0.35, 0.5):
        for half_width in (0.1,) if is_quick else (0.05, 0.1):
            yield narrowing(rate, half_width, 500 if is_quick else 4_000)


def _ratios(is_quick: bool) -> Iterator[Cell]:
    for n in (12,) if is_quick else (8, 12, 20, 50, 200):
        for ability in (0.5,) if is_quick else (-1.0, 0.5, 2.0):
            for is_gated in (True,) if is_quick else (False, True):
                yield ratios(n, ability, 500 if is_quick else 3_000, is_gated=is_gated)


def _corrections(is_quick: bool) -> Iterator[Cell]:
    for sizes in ((40,) * 20,) if is_quick else ((40,) * 20, (20, 20, 360), (200,)):
        for n_each in (20,) if is_quick else (7, 20, 70):
            for rate, accuracy in ((0.2, 0.9),) if is_quick else ((0.05, 0.9), (0.2, 0.9), (0.2, 0.7), (0.5, 0.8)):
                yield corrections(sizes, rate, n_each, accuracy, 300 if is_quick else 2_000)


def _differences(is_quick: bool) -> Iterator[Cell]:
    shapes = ((1, 20, 1), (1, 100, 1), (1, 400, 1), (21, 3, 1), (20, 12, 1), (20, 12, 3))
    for t, n, k in shapes[3:4] if is_quick else shapes:
        design = Design(title=f"{t} x {n} x {k}", sizes=(n,) * t, repeats=k, category_sd=0.7, case_sd=1.0)
        for first, second in ((0.3, 0.3),) if is_quick else ((0.02, 0.02), (0.05, 0.1), (0.3, 0.3), (0.16, 0.5)):
            yield differences(design, first, second, 1_000 if is_quick else 4_000)


def _others(is_quick: bool) -> Iterator[Cell]:
    for n in (MIN_CLUSTERS,) if is_quick else (MIN_CLUSTERS, 10):
        for rate in (0.2,) if is_quick else (0.05, 0.2, 0.5):
            yield entities(n, rate, 100 if is_quick else 1_500)
    for n in (MIN_CLUSTERS,) if is_quick else (MIN_CLUSTERS, 10, 20):
        for correlation in (0.3,) if is_quick else (0.1, 0.3):
            for rate in (0.2,) if is_quick else (0.05, 0.2, 0.5):
                yield clusters(n, correlation, rate, 300 if is_quick else 3_000)
    for n in (10,) if is_quick else (10, 20, 60):
        for true in (0.95,) if is_quick else (0.9, 0.95, 0.98):
            yield means(n, true, 300 if is_quick else 3_000)


TOPICS: dict[str, Topic] = {
    "rates": _rates,
    "repeats": _repeats,
    "undecided": _undecided,
    "stopping": _stopping,
    "ratios": _ratios,
    "corrections": _corrections,
    "differences": _differences,
    "others": _others,
}


def main(given: Sequence[str] | None = None) -> int:
    """Simulate, print, and say whether every cell keeps what is demanded of it."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="a few cells with few runs")
    parser.add_argument("--only", action="append", choices=tuple(TOPICS), default=[])
    asked = parser.parse_args(given)
    begin, missed, n_cells = perf_counter(), [], 0
    for name in asked.only or TOPICS:
        by_topic: dict[str, list[Cell]] = {}
        for cell in TOPICS[name](asked.quick):
            by_topic.setdefault(cell.topic, []).append(cell)
        for topic, cells in by_topic.items():
            print(table(topic, cells), flush=True)
            n_cells += len(cells)
            missed += [f"{one.topic}, {one.design}, {one.at}: {one.share:.1%}" for one in cells if one.margin < 0]
    print(f"\n{n_cells} cells, {perf_counter() - begin:.0f} s")
    print("\n".join(f"missed: {one}" for one in missed) or "every cell keeps what is demanded of it")
    return int(bool(missed))


if __name__ == "__main__":
    sys.exit(main())
