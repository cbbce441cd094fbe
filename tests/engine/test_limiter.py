"""The limiter: finds what an endpoint takes, falls once an episode, and makes everyone wait when told to."""

from __future__ import annotations

import random
import statistics
import threading
import time
from collections.abc import Callable

import pytest

from salva.engine import limiter as limiting
from salva.engine.limiter import Limiter, Permit
from salva.errors import BackendError, BusyError

GOOD = object()


def take(limiter: Limiter, n: int) -> list[Permit]:
    """So many places, all of which must be free."""
    turns = []
    for _ in range(n):
        permit = limiter.begin()
        assert permit is not None
        turns.append(permit)
    return turns


def round_trip(limiter: Limiter, capacity: int, retry_after_s: float | None = None) -> int:
    """As many requests as may be under way, all sent, then all answered; how many were turned away."""
    turns = take(limiter, limiter.limit)
    n_away = max(0, len(turns) - capacity)
    # Who is turned away hears of it at once, the others when their picture is painted.
    for permit in turns[len(turns) - n_away :]:
        limiter.end(permit, [BusyError("429", retry_after_s=retry_after_s)])
    for permit in turns[: len(turns) - n_away]:
        limiter.end(permit, [GOOD])
    return n_away


def test_it_begins_small_and_grows_while_clean() -> None:
    limiter = Limiter(128)
    assert limiter.limit == 4
    limits = []
    for _ in range(4):
        assert round_trip(limiter, 10_000) == 0
        limits.append(limiter.limit)
    assert limits == sorted(limits)
    assert limits[0] > 8
    assert limits[-1] == 128


def test_the_ceiling_is_kept() -> None:
    limiter = Limiter(3)
    assert limiter.limit == 3
    round_trip(limiter, 100)
    assert limiter.limit == 3


@pytest.mark.parametrize("capacity", [1, 2, 7, 32, 100])
def test_it_finds_what_the_endpoint_takes_and_stays_there(capacity: int) -> None:
    limiter = Limiter(128)
    for _ in range(12):
        round_trip(limiter, capacity)
    assert 0.9 * capacity <= limiter.limit <= capacity
    n_away = sum(round_trip(limiter, capacity) for _ in range(limiting.ROUNDS_BEFORE_PROBE - 13))
    assert n_away == 0, "it does not ask again and again for what was too many"


def test_one_episode_costs_a_fifth_however_many_are_turned_away() -> None:
    limiter = Limiter(40)
    while limiter.limit < 40:
        round_trip(limiter, 1_000)
    turns = take(limiter, 40)
    limiter.end(turns[0], [BusyError("429")])
    assert limiter._n_episodes == 1
    for permit in turns[1:8]:
        limiter.end(permit, [BusyError("429")])
    assert limiter._n_episodes == 1, "sent before the fall: the same episode"
    assert limiter.limit == int(0.8 * 32), "32 of the 40 were taken"


def test_answers_from_before_the_fall_do_not_make_it_grow() -> None:
    limiter = Limiter(128)
    turns = take(limiter, 4)
    limiter.end(turns[0], [BusyError("429")])
    fallen = limiter.limit
    for permit in turns[1:]:
        limiter.end(permit, [GOOD])
    assert limiter.limit == fallen


def test_an_endpoint_that_turns_everyone_away_is_left_some_hope() -> None:
    limiter = Limiter(64)
    for _ in range(3):
        round_trip(limiter, 1_000)
    for _ in range(40):
        round_trip(limiter, 0)
    assert limiter.limit == 1


def test_after_a_long_clean_stretch_more_is_tried() -> None:
    limiter = Limiter(128)
    for _ in range(12):
        round_trip(limiter, 10)
    assert limiter.limit <= 10
    for _ in range(8 * limiting.ROUNDS_BEFORE_PROBE):
        round_trip(limiter, 1_000)
    assert limiter.limit > 16


def test_other_errors_neither_shrink_nor_grow_it() -> None:
    limiter = Limiter(128)
    for permit in take(limiter, 4):
        limiter.end(permit, [BackendError("500")])
    assert (limiter.limit, limiter._n_episodes) == (4, 0)


def started(call: Callable[[], object]) -> threading.Thread:
    thread = threading.Thread(target=call, daemon=True)
    thread.start()
    return thread


def test_a_wait_that_is_asked_for_holds_everyone() -> None:
    limiter = Limiter(128)
    (permit, *others) = take(limiter, 3)
    limiter.end(permit, [BusyError("429", retry_after_s=0.3)])
    told_at = time.monotonic()
    for other in others:
        limiter.end(other, [GOOD])
    assert limiter.begin() is not None
    assert time.monotonic() - told_at >= 0.3


def test_who_was_turned_away_goes_first() -> None:
    limiter = Limiter(1)
    (permit,) = take(limiter, 1)
    order: list[str] = []

    def ask(name: str, is_again: bool) -> None:
        mine = limiter.begin(is_again)
        order.append(name)
        assert mine is not None
        limiter.end(mine, [GOOD])

    threads = [started(lambda: ask("new", False))]
    while not limiter._waiting:
        time.sleep(0.005)
    threads.append(started(lambda: ask("again", True)))
    while not limiter._again:
        time.sleep(0.005)
    limiter.end(permit, [GOOD])
    for thread in threads:
        thread.join(5)
    assert order == ["again", "new"]


def test_nobody_waits_for_a_place_once_everything_stops() -> None:
    stopping = threading.Event()
    limiter = Limiter(1, stopping)
    take(limiter, 1)
    got: list[object] = []
    thread = started(lambda: got.append(limiter.begin()))
    stopping.set()
    thread.join(5)
    assert got == [None]


@pytest.mark.parametrize("seed", range(5))
def test_an_endpoint_that_turns_one_in_a_hundred_away_at_random_is_still_asked_much_at_once(seed: int) -> None:
    limiter, draw = Limiter(128), random.Random(seed)
    limits, turns = [], take(limiter, 4)
    for _ in range(6_000):
        permit = turns.pop(draw.randrange(len(turns)))
        limiter.end(permit, [BusyError("429")] if draw.random() < 0.011 else [GOOD])
        turns += take(limiter, max(0, limiter.limit - len(turns)))
        limits.append(limiter.limit)
    assert statistics.mean(limits[1_000:]) > 80


@pytest.mark.parametrize("capacity", [6, 35, 60, 100])
def test_a_place_more_than_the_endpoint_has_is_soon_asked_for_no_more(capacity: int) -> None:
    limiter = Limiter(128)
    for _ in range(30):
        round_trip(limiter, capacity)
    n_away = sum(round_trip(limiter, capacity) for _ in range(20))
    assert 0.8 * capacity <= limiter.limit <= capacity + 1
    assert n_away <= 4


class Clock:
    """A clock that goes when it is told to."""

    def __init__(self) -> None:
        self.now = 0.0

    def monotonic(self) -> float:
        return self.now


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    clock = Clock()
    monkeypatch.setattr(limiting, "time", clock)
    return clock


def test_looking_whether_more_is_taken_by_now_costs_little_where_everyone_is_made_to_wait_for_it(clock: Clock) -> None:
    limiter, n_rounds, held_s = Limiter(128), 6_000, 0.0
    for _ in range(n_rounds):
        if round_trip(limiter, 5, retry_after_s=20):
            held_s += 20
            clock.now += 20
        clock.now += 1
    assert 0 < held_s / clock.now < 0.04


@pytest.mark.parametrize("seed", range(3))
def test_waits_that_are_not_for_our_number_do_not_keep_it_from_growing(clock: Clock, seed: int) -> None:
    limiter, draw = Limiter(128), random.Random(seed)
    for _ in range(12):
        round_trip(limiter, 10)
    limits, turns = [], take(limiter, limiter.limit)
    for _ in range(12_000):
        permit = turns.pop(draw.randrange(len(turns)))
        is_away = draw.random() < 0.005
        limiter.end(permit, [BusyError("429", retry_after_s=1)] if is_away else [GOOD])
        clock.now += 1 / limiter.limit + is_away
        turns += take(limiter, max(0, limiter.limit - len(turns)))
        limits.append(limiter.limit)
    assert max(limits) > 40
