"""The byte budget: nobody waits for what waits for him, all bytes come back, and waiting costs no answer."""

from __future__ import annotations

import io
import pickle
import random
import signal
import sqlite3
import threading
import time
from collections.abc import Callable, Sequence
from contextlib import closing
from pathlib import Path

import pytest
from backends.endpoints import Answered, Asked, asked_for, png_text, said, serving
from PIL import Image

from salva.core import memory
from salva.core.image import Picture
from salva.core.memory import MIB, MemoryBudget, Reservation, Stage
from salva.core.plan import Plan
from salva.core.protocols import Rendered
from salva.engine.guard import Guard
from salva.engine.image_buffer import ImageBuffer
from salva.engine.progress import SilentProgress
from salva.generators.openai_images import OpenAiImages
from salva.imaging import files
from salva.imaging.files import ImageError, decode_picture
from salva.runs.pipeline import execute
from salva.testing.fakes import FakeDetector, FakeGenerator, painted
from salva.testing.specs import bound, fake_spec

SIDE = 40
N_BYTES = 3 * SIDE * SIDE


def a_file() -> bytes:
    file = io.BytesIO()
    Image.new("RGB", (SIDE, SIDE), "grey").save(file, "PNG")
    return file.getvalue()


def small_budget(monkeypatch: pytest.MonkeyPatch, most_bytes: int) -> MemoryBudget:
    made = MemoryBudget(most_bytes)
    monkeypatch.setattr(memory, "BUDGET", made)
    return made


def until(is_so: Callable[[], bool]) -> None:
    deadline = time.monotonic() + 30
    while not is_so():
        assert time.monotonic() < deadline
        time.sleep(0.005)


def at_work(target: Callable[[], object]) -> threading.Thread:
    thread = threading.Thread(target=target, daemon=True)
    thread.start()
    return thread


def decoded(call: Reservation, n: int = 1) -> list[Picture]:
    with call.under_way():
        return [decode_picture(a_file()) for _ in range(n)]


def test_an_image_is_decoded_when_the_one_before_it_is_gone(monkeypatch: pytest.MonkeyPatch) -> None:
    made = small_budget(monkeypatch, 1)
    first = decoded(Reservation())
    call = Reservation()
    thread = at_work(lambda: decoded(call))
    until(lambda: made.is_crowded and call.waited_s() > 0)
    assert thread.is_alive()
    assert made.n_bytes == N_BYTES, "nothing is taken while it waits"
    del first
    thread.join(30)
    assert not thread.is_alive()
    assert made.n_bytes == 0


def test_alone_anything_has_room_and_a_call_does_not_wait_for_itself(monkeypatch: pytest.MonkeyPatch) -> None:
    made = small_budget(monkeypatch, 1)
    pictures = decoded(Reservation(), n=4)
    assert made.n_bytes == 4 * N_BYTES
    assert made.most_seen == (4 * 3 + files.DECODING) * SIDE * SIDE
    pictures.clear()
    assert made.n_bytes == 0


def test_outside_of_a_run_nobody_waits_and_nothing_is_held(monkeypatch: pytest.MonkeyPatch) -> None:
    made = small_budget(monkeypatch, 1)
    others = made.held(100)
    assert decode_picture(a_file()).held is None
    assert made.n_bytes == 100
    del others
    assert made.n_bytes == 0


def test_a_broken_file_gives_its_room_back(monkeypatch: pytest.MonkeyPatch) -> None:
    made = small_budget(monkeypatch, N_BYTES)
    with pytest.raises(ImageError, match=r"\[image-invalid\]"), Reservation().under_way():
        decode_picture(a_file()[:-30])
    assert made.n_bytes == 0


def test_waiting_for_room_is_no_hanging(monkeypatch: pytest.MonkeyPatch) -> None:
    made = small_budget(monkeypatch, 1)
    first = Reservation(made)
    first.take(1, Stage.GROW)

    def render(requests: Sequence[object]) -> list[Rendered]:
        return [Rendered(picture=decode_picture(a_file())) for _ in requests]

    guard = Guard(bound("model", FakeGenerator), render, timeout_s=0.2)
    freed = threading.Timer(0.8, lambda: made.give_back(first, 1))
    freed.start()
    (outcome,) = guard([asked_for()])
    assert isinstance(outcome, Rendered), outcome
    freed.join()


def test_the_buffer_counts_what_is_here_and_what_is_being_loaded(monkeypatch: pytest.MonkeyPatch) -> None:
    made = small_budget(monkeypatch, 1000)
    buffer = ImageBuffer()
    buffer.add("a", Picture(rgb=bytes(12), width=2, height=2, webp=b"12345"))
    buffer.want("a", 12)
    buffer.want("b", 300)
    assert made.n_bytes == 17
    assert buffer.next_to_load() == "b"
    assert made.n_bytes == 317
    buffer.release("b", 1)
    buffer.release("a", 1)
    assert made.n_bytes == 0
    buffer.add("c", Picture(rgb=bytes(12), width=2, height=2))
    buffer.clear()
    assert (made.n_bytes, buffer.n_pictures) == (0, 0)


def test_an_image_that_is_sent_elsewhere_is_not_held_there(monkeypatch: pytest.MonkeyPatch) -> None:
    made = small_budget(monkeypatch, MIB)
    here = decoded(Reservation())[0]
    there = pickle.loads(pickle.dumps(here))
    assert there == here
    assert there.held is None
    assert made.n_bytes == N_BYTES


def test_those_who_need_more_are_served_oldest_first_and_before_new_requests(monkeypatch: pytest.MonkeyPatch) -> None:
    made = small_budget(monkeypatch, 64 * MIB)  # 32 until growth
    calls = [Reservation() for _ in range(5)]
    assert all(call.begin(8 * MIB) for call in calls[:4])
    served: list[int] = []

    def grow(index: int) -> None:
        calls[index].answer(24 * MIB)
        served.append(index)

    threads = []
    for n, index in enumerate((3, 1, 0, 2)):
        threads.append(at_work(lambda index=index: grow(index)))  # type: ignore[misc]
        until(lambda n=n: bool(served) and len(made._waiting[Stage.GROW]) == n)  # type: ignore[misc]
    late = at_work(lambda: calls[4].begin(8 * MIB))
    until(lambda: bool(made._waiting[Stage.BEGIN]))
    assert served == [3], "one may always pass the limit"
    made.give_back(calls[3], calls[3].n_bytes)
    until(lambda: served == [3, 0])
    assert [waiter.of for waiter in made._waiting[Stage.GROW]] == calls[1:3]
    for done in (0, 1, 2):
        until(lambda done=done: done in served)  # type: ignore[misc]
        made.give_back(calls[done], calls[done].n_bytes)
    for thread in (*threads, late):
        thread.join(30)
        assert not thread.is_alive()
    assert made.n_bytes == calls[4].n_bytes == 8 * MIB


def test_who_is_beyond_the_limit_goes_on_before_those_who_are_older(monkeypatch: pytest.MonkeyPatch) -> None:
    small_budget(monkeypatch, 64 * MIB)
    older, younger = Reservation(), Reservation()
    assert older.begin(16 * MIB)
    assert younger.begin(16 * MIB)
    younger.answer(17 * MIB)
    waiting = at_work(lambda: older.answer(17 * MIB))
    until(lambda: older.waited_s() > 0)
    going_on = at_work(lambda: younger.answer(100 * MIB))
    going_on.join(30)
    assert not going_on.is_alive()
    assert waiting.is_alive()
    younger.budget.give_back(younger, younger.n_bytes)
    waiting.join(30)
    assert not waiting.is_alive()


def test_a_request_that_waits_is_not_sent_once_everything_stops(monkeypatch: pytest.MonkeyPatch) -> None:
    made = small_budget(monkeypatch, 8 * MIB)
    stopping = threading.Event()
    Reservation().take(4 * MIB, Stage.BEGIN)
    threading.Timer(0.1, stopping.set).start()
    assert not Reservation(stopping=stopping).begin(8 * MIB)
    assert made.n_bytes == 4 * MIB


def test_an_interruption_leaves_nothing_behind(monkeypatch: pytest.MonkeyPatch) -> None:
    made = small_budget(monkeypatch, 8 * MIB)
    first = Reservation()
    first.take(4 * MIB, Stage.BEGIN)
    before = signal.signal(signal.SIGALRM, signal.default_int_handler)
    try:
        signal.setitimer(signal.ITIMER_REAL, 0.1)
        with pytest.raises(KeyboardInterrupt):
            Reservation().begin(8 * MIB)
    finally:
        signal.signal(signal.SIGALRM, before)
    made.give_back(first, first.n_bytes)
    assert made.n_bytes == 0
    assert not any(made._waiting.values())


@pytest.mark.parametrize("seed", range(3))
def test_whatever_many_calls_do_all_of_them_end_within_the_limit(seed: int) -> None:
    made = MemoryBudget(64 * MIB)
    pictures: list[object] = []
    lock, stopping, over = threading.Lock(), threading.Event(), threading.Event()
    largest, work = 64 * MIB, 6 * MIB

    def call(rng: random.Random, *, is_observing: bool) -> None:
        reservation = Reservation(made, is_observing=is_observing, stopping=stopping)
        with reservation.under_way():
            if not reservation.begin(rng.choice((0, 9, 200)) * MIB):
                return
            for _ in range(rng.randrange(4)):
                reservation.answer(rng.randrange(largest))
            if rng.random() < 0.2:
                raise OSError
            held = reservation.pixels(rng.randrange(work))
            with made.working(rng.randrange(work)):
                time.sleep(rng.random() / 1000)
        with lock:
            pictures.append(held)

    def work_on(number: int) -> None:
        rng = random.Random(1000 * seed + number)
        for _ in range(25):
            try:
                call(rng, is_observing=number % 3 == 0)
            except OSError:
                continue

    def let_go() -> None:
        while not over.is_set():
            with lock:
                pictures[:3] = []
            time.sleep(0.0005)

    threads = [at_work(lambda number=number: work_on(number)) for number in range(32)]  # type: ignore[misc]
    remover = at_work(let_go)
    if seed == 2:
        time.sleep(0.2)
        stopping.set()
    for thread in threads:
        thread.join(30)
        assert not thread.is_alive(), made._waiting
    over.set()
    remover.join(30)
    pictures.clear()
    assert made.n_bytes == made._n_held == 0
    # One of those who read and one of those who observe may be beyond the limit, with an image, and one who works.
    assert made.most_seen <= 64 * MIB + 2 * (largest + work) + work


def test_the_budget_is_a_quarter_of_what_the_process_may_use(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    own = tmp_path / "own"
    own.write_text("0::/slice/unit\n")
    (tmp_path / "slice/unit").mkdir(parents=True)
    (tmp_path / "slice/unit/memory.max").write_text("max\n")
    (tmp_path / "slice/memory.max").write_text(f"{400 * MIB}\n")
    limits = [*memory._memory_limits(tmp_path, own)]
    assert limits[1:] == [400 * MIB]
    monkeypatch.setattr(memory, "_memory_limits", lambda: limits)
    assert memory.default_budget() == 100 * MIB
    monkeypatch.setenv("SALVA_MEMORY_MIB", "300")
    assert memory.default_budget() == 300 * MIB
    monkeypatch.setenv("SALVA_MEMORY_MIB", "much")
    assert memory.default_budget() == 100 * MIB


class Decoders:
    """How many pictures are decoded at the same time."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.n, self.most = 0, 0
        self._lock, self._inside = threading.Lock(), files.as_rgb
        monkeypatch.setattr(files, "as_rgb", self)

    def __call__(self, image: Image.Image) -> Image.Image:
        with self._lock:
            self.n += 1
            self.most = max(self.most, self.n)
        time.sleep(0.01)
        with self._lock:
            self.n -= 1
        return self._inside(image)


def test_few_images_are_in_the_hands_of_pillow_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    small_budget(monkeypatch, files.DECODING * SIDE * SIDE)
    decoders = Decoders(monkeypatch)
    threads = [threading.Thread(target=decode_picture, args=(a_file(),)) for _ in range(12)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert decoders.most == 2


def answer(request: Asked) -> Answered:
    """A picture of a size that does not depend on the prompt."""
    prompt = request.body["prompt"]
    note = f"{request.body['seed']}".ljust(100 - len(prompt), ".")
    return said({"created": 1, "data": [{"b64_json": png_text(prompt, note)}]})


def endpoint_spec(url: str, n: int) -> Plan:
    model = bound(*("model", OpenAiImages, "openai/m"), model="m", base_url=f"{url}/v1", send_seed=True, max_at_once=16)
    return fake_spec(n, models=(model,), detector=bound("detector", FakeDetector, "d", batch=8))


def test_an_endpoint_that_sends_large_pictures_is_taken_in_turn(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "none")
    n_bytes = len(painted(["cat", "dog"], "." * (100 - len("cat, dog"))).rgb)
    made = small_budget(monkeypatch, 2 * n_bytes)
    decoders = Decoders(monkeypatch)
    with serving(answer) as server:
        summary = execute(endpoint_spec(server.url, 20), tmp_path, SilentProgress())
    assert summary.outcomes == {"PASS": 20}
    assert decoders.most <= 2
    assert made.n_bytes == 0


def test_a_run_ends_whose_batches_are_larger_than_the_room(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    picture = painted(["cat", "dog"], "")
    made = small_budget(monkeypatch, 3 * len(picture.rgb))
    spec = fake_spec(12, detector=bound("detector", FakeDetector, "d", batch=64))
    assert execute(spec, tmp_path, SilentProgress()).outcomes == {"PASS": 12}
    assert made.n_bytes == 0
    # And again from the files.
    with closing(sqlite3.connect(tmp_path / "salva.db")) as store, store:
        store.executescript("DELETE FROM observations; DELETE FROM meta WHERE key = 'finished'")
    made.most_seen = 0
    assert execute(spec, tmp_path, SilentProgress()).outcomes == {"PASS": 12}
    assert made.most_seen > 0
    assert made.n_bytes == 0
