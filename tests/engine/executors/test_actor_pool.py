"""Actors that die: what they had is asked again, what kills them is found, and nobody waits for ever."""

from __future__ import annotations

import pickle
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from typing import Any, ClassVar

import pytest

from salva.core.case import Prompt
from salva.core.plan import Binding
from salva.core.protocols import Delivered, ObserveOrder, Query, RenderRequest
from salva.engine import workers as workers_module
from salva.engine.executors import actor_pool
from salva.engine.executors.actor_pool import N_DEATHS, N_LIVES, ActorPool, LostError, UnsentError
from salva.engine.executors.actor_worker import ActorWorker
from salva.engine.executors.shares import Share
from salva.errors import BackendError, PluginError, RefusedError, UnusableError, UsageError
from salva.testing.fakes import FakeDetector, FakeGenerator, painted
from salva.testing.specs import bound


def request(text: str = "cat") -> RenderRequest:
    return RenderRequest(prompt=Prompt(role="a", text=text), seed=1)


class Actor:
    """A worker in this process that can be dead."""

    def __init__(self, number: int) -> None:
        self.number = number
        self.worker = ActorWorker()
        self.is_dead = threading.Event()


Fate = Callable[[str, tuple[Any, ...]], bool]


class Room:
    """A backend of this process; fate says which calls kill the actor that they are made of."""

    def __init__(self, fate: Fate = lambda *_: False, n_places: int = 99) -> None:
        self.fate, self.n_places = fate, n_places
        self.actors: list[Actor] = []
        self.n_works = 0

    def create_actor(self, share: Share, number: int) -> Actor:
        self.actors.append(Actor(number))
        return self.actors[-1]

    def call(self, actor: Actor, method: str, *arguments: object) -> Any:
        if self.actors.index(actor) >= self.n_places:
            actor.is_dead.wait(30)
        sent: tuple[Any, ...] = pickle.loads(pickle.dumps(arguments))
        if actor.is_dead.is_set() or self.fate(method, sent):
            actor.is_dead.set()
            raise LostError("its process was killed")
        self.n_works += method == "work"
        reply = pickle.loads(pickle.dumps(getattr(actor.worker, method)(*sent)))
        if actor.is_dead.is_set():
            raise LostError("its process was killed")
        return reply

    def tell(self, actor: Actor, method: str) -> None:
        getattr(actor.worker, method)()

    def kill_actor(self, actor: Actor) -> None:
        actor.is_dead.set()

    def free(self) -> str:
        return "0 cores and 0 GPUs"


@pytest.fixture
def pool_of() -> Iterator[Callable[..., ActorPool]]:
    made: list[ActorPool] = []

    def make(room: Room, binding: Binding | None = None, n_actors: int = 2) -> ActorPool:
        share = Share(n_actors=n_actors, n_cpus=1.0)
        made.append(ActorPool(room, binding or bound("model", FakeGenerator), share))
        return made[-1]

    yield make
    for pool in made:
        pool.close()
        pool.close()


def outcomes_of(pool: ActorPool, batches: Sequence[Sequence[RenderRequest]]) -> list[object]:
    futures = [pool.submit(batch) for batch in batches]
    return [outcome for future in futures for outcome in future.result(20)]


def kills_on(text: str) -> Fate:
    def fate(method: str, arguments: tuple[Any, ...]) -> bool:
        return method == "work" and any(order.prompt.text == text for order in arguments[0])

    return fate


def test_batches_go_to_all_actors_and_come_back_as_files(pool_of: Callable[..., ActorPool]) -> None:
    pool = pool_of(room := Room(), n_actors=3)
    while pool.depth < 6:
        time.sleep(0.01)
    assert pool.batch_size == 4
    outcomes = outcomes_of(pool, [[request(f"{i}")] for i in range(30)])
    assert all(isinstance(outcome, Delivered) for outcome in outcomes)
    assert len(room.actors) == 3


def test_looks_are_answered(pool_of: Callable[..., ActorPool]) -> None:
    pool = pool_of(Room(), bound("detector", FakeDetector))
    order = ObserveOrder(picture=painted(["cat", "dog"]), query=Query(role="detector"))
    (seen,) = pool.submit([order]).result(10)
    assert [box.label for box in seen.boxes] == ["cat", "dog"]  # type: ignore[attr-defined]  # Detections


def test_what_a_dead_actor_had_is_asked_again_of_another(pool_of: Callable[..., ActorPool]) -> None:
    doomed = iter([True, False, True, True])
    room = Room(lambda method, _: method == "work" and next(doomed, False))
    outcomes = outcomes_of(pool_of(room), [[request(f"{i}"), request(f"{i}!")] for i in range(8)])
    assert all(isinstance(outcome, Delivered) for outcome in outcomes)
    assert len(outcomes) == 16
    assert len(room.actors) >= 5


def test_an_element_that_kills_whoever_works_at_it_fails_alone(pool_of: Callable[..., ActorPool]) -> None:
    room = Room(kills_on("poison"))
    texts = ["cat", "poison", "dog", "cow"]
    outcomes = outcomes_of(pool_of(room, n_actors=1), [[request(text) for text in texts]])
    assert [isinstance(outcome, Delivered) for outcome in outcomes] == [True, False, True, True]
    (error,) = [outcome for outcome in outcomes if isinstance(outcome, BackendError)]
    assert error.code == "processes-lost"
    assert f"'fakegenerator' lost {N_LIVES} " in str(error)
    assert not error.is_retryable


def test_a_batch_that_waits_behind_one_that_kills_is_not_blamed(pool_of: Callable[..., ActorPool]) -> None:
    room = Room(kills_on("poison"))
    batches = [[request("poison")], *([request(f"{i}")] for i in range(12))]
    poisoned, *others = outcomes_of(pool_of(room, n_actors=1), batches)
    assert isinstance(poisoned, BackendError)
    assert all(isinstance(outcome, Delivered) for outcome in others)


def test_a_component_that_dies_whatever_it_is_asked_ends_the_run(pool_of: Callable[..., ActorPool]) -> None:
    room = Room(lambda method, _: method == "work")
    pool = pool_of(room, n_actors=2)
    with pytest.raises(UnusableError, match=r"its process was killed.*\[processes-lost\]"):
        outcomes_of(pool, [[request(f"{i}")] for i in range(9)])
    assert len(room.actors) <= 2 + N_DEATHS + 2
    with pytest.raises(UnusableError):
        pool.submit([request()]).result(10)


def test_one_that_dies_while_it_is_built_says_so(pool_of: Callable[..., ActorPool]) -> None:
    room = Room(lambda method, _: method == "start")
    with pytest.raises(UnusableError, match=rf"lost {N_LIVES} .*\[processes-lost\]"):
        pool_of(room, n_actors=1)
    assert len(room.actors) == N_LIVES


def test_actors_that_are_gone_before_they_are_told_anything_are_not_held_against_it(
    pool_of: Callable[..., ActorPool],
) -> None:
    doomed = iter([True] * (N_LIVES + 2))
    room = Room(lambda method, _: method == "greet" and next(doomed, False))
    pool = pool_of(room, n_actors=1)
    assert isinstance(pool.submit([request()]).result(10)[0], Delivered)
    assert len(room.actors) == N_LIVES + 3


def test_where_none_is_ever_there_that_is_said_in_the_end(pool_of: Callable[..., ActorPool]) -> None:
    room = Room(lambda method, _: method == "greet")
    with pytest.raises(UnusableError, match=rf"lost {N_DEATHS + 1} .*\[processes-lost\]"):
        pool_of(room, n_actors=1)


def test_one_that_cannot_be_built_raises_what_it_raises_here(pool_of: Callable[..., ActorPool]) -> None:
    unusable = bound("model", FakeGenerator, mischief="unusable")
    with pytest.raises(UnusableError) as here:
        unusable.build()
    with pytest.raises(UnusableError) as there:
        pool_of(room := Room(), unusable)
    assert str(there.value) == str(here.value)
    assert all(actor.is_dead.is_set() for actor in room.actors), "nobody is left behind"


def test_errors_of_elements_are_outcomes_and_others_are_raised(
    pool_of: Callable[..., ActorPool],
) -> None:
    refusing = pool_of(Room(), bound("model", FakeGenerator, refuses=1.0))
    assert isinstance(refusing.submit([request()]).result(10)[0], RefusedError)
    broken = pool_of(Room(), bound("model", FakeGenerator, mischief="short"))
    with pytest.raises(PluginError, match=r"\[output-invalid\]"):
        broken.submit([request()]).result(10)


def test_work_begins_with_the_first_actor_that_is_there(pool_of: Callable[..., ActorPool]) -> None:
    room = Room(n_places=1)
    pool = pool_of(room, n_actors=3)
    depth = pool.depth
    assert all(isinstance(o, Delivered) for o in outcomes_of(pool, [[request(f"{i}")] for i in range(6)]))
    room.n_places = 3
    for actor in room.actors[1:]:
        assert not actor.is_dead.is_set()
    assert depth == 2


def test_no_room_is_said_after_a_while(pool_of: Callable[..., ActorPool], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(actor_pool, "PLACE_S", 0.2)
    with pytest.raises(UsageError, match=r"0.2 s.* 1 cores and 0 GPUs.*\[room-missing\]"):
        pool_of(Room(n_places=0))


@pytest.mark.parametrize("method", ["start", "work"])
def test_what_cannot_travel_ends_the_run_and_kills_nobody(pool_of: Callable[..., ActorPool], method: str) -> None:
    class Strict(Room):
        def call(self, actor: Actor, asked: str, *arguments: object) -> Any:
            if asked == method:
                raise UnsentError("TypeError: cannot pickle a lock")
            return super().call(actor, asked, *arguments)

    room = Strict()
    with pytest.raises(PluginError, match=r"'fakegenerator'.*cannot pickle a lock.*\[not-sendable\]"):
        pool_of(room, n_actors=1).submit([request()]).result(10)
    assert len(room.actors) == 1


def test_stopping_lets_what_is_under_way_end_and_begins_nothing(pool_of: Callable[..., ActorPool]) -> None:
    pool = pool_of(room := Room(), bound("model", FakeGenerator, delay_s=0.3, batch=1), n_actors=1)
    futures = [pool.submit([request(f"{i}")]) for i in range(40)]
    while not room.n_works:
        time.sleep(0.01)
    pool.stop()
    ended = [future.exception(10) if not future.cancelled() else None for future in futures if not _cancelled(future)]
    assert all(error is None for error in ended)
    assert any(isinstance(future.result()[0], Delivered) for future in futures if not _cancelled(future))
    assert room.n_works < 10


def _cancelled(future: Any) -> bool:
    from concurrent.futures import CancelledError

    try:
        future.result(10)
    except CancelledError:
        return True
    return False


class Hanging(FakeGenerator):
    """Paints when it is let go, and not before."""

    is_let_go: ClassVar[threading.Event] = threading.Event()

    def render(self, requests: Sequence[RenderRequest]) -> Any:
        self.is_let_go.wait()
        return super().render(requests)


def test_closing_waits_for_nobody(pool_of: Callable[..., ActorPool], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(workers_module, "_PATIENCE_S", 0.2)
    pool = pool_of(room := Room(), bound("model", Hanging), n_actors=1)
    pool.submit([request()])
    try:
        while not room.n_works:
            time.sleep(0.01)
        pool.close()
    finally:
        Hanging.is_let_go.set()
