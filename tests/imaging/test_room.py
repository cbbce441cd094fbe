"""Room for pixels: who decodes for a run waits for it, nobody waits for himself, and waiting costs no answer."""

from __future__ import annotations

import io
import sqlite3
import threading
import time
from collections.abc import Callable, Sequence
from contextlib import closing
from pathlib import Path

import pytest
from backends.endpoints import Answered, Asked, asked_for, png_text, said, serving
from PIL import Image

from salva.core.image import Picture
from salva.core.plan import Plan
from salva.core.protocols import Rendered
from salva.engine.guard import Guard
from salva.engine.image_buffer import ImageBuffer
from salva.engine.progress import SilentProgress
from salva.generators.openai_images import OpenAiImages
from salva.imaging import files, room
from salva.imaging.files import ImageError, decode_picture
from salva.imaging.room import DecodingCall, PixelRoom
from salva.runs.pipeline import execute
from salva.testing.fakes import FakeDetector, FakeGenerator, painted
from salva.testing.specs import bound, fake_spec

SIDE = 40
N_BYTES = 3 * SIDE * SIDE


def a_file() -> bytes:
    file = io.BytesIO()
    Image.new("RGB", (SIDE, SIDE), "grey").save(file, "PNG")
    return file.getvalue()


def small_room(monkeypatch: pytest.MonkeyPatch, most_bytes: int) -> PixelRoom:
    made = PixelRoom(most_bytes)
    monkeypatch.setattr(room, "ROOM", made)
    return made


def until(is_so: Callable[[], bool]) -> None:
    deadline = time.monotonic() + 30
    while not is_so():
        assert time.monotonic() < deadline
        time.sleep(0.005)


def decoding(call: DecodingCall, n: int = 1) -> None:
    with call.under_way():
        for _ in range(n):
            decode_picture(a_file())


def test_a_picture_is_decoded_when_there_is_room_and_not_before(monkeypatch: pytest.MonkeyPatch) -> None:
    made = small_room(monkeypatch, N_BYTES)
    made.add(1)
    call = DecodingCall()
    thread = threading.Thread(target=decoding, args=(call,), daemon=True)
    thread.start()
    until(lambda: made.is_crowded)
    assert thread.is_alive()
    assert made.n_bytes == 1, "nothing is taken while it waits"
    made.add(-1)
    thread.join(30)
    assert not thread.is_alive()
    assert (made.n_bytes, made.most_seen) == (0, N_BYTES)
    assert call.waited_s() > 0


def test_alone_anything_has_room_and_a_call_does_not_wait_for_itself(monkeypatch: pytest.MonkeyPatch) -> None:
    made = small_room(monkeypatch, 1)
    decoding(DecodingCall(), n=4)
    assert (made.n_bytes, made.most_seen) == (0, 4 * N_BYTES)


def test_outside_of_a_run_nobody_waits_and_nothing_is_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    made = small_room(monkeypatch, 1)
    made.add(100)
    assert decode_picture(a_file()).width == SIDE
    assert made.most_seen == 100


def test_a_broken_file_gives_its_room_back(monkeypatch: pytest.MonkeyPatch) -> None:
    made = small_room(monkeypatch, N_BYTES)
    with pytest.raises(ImageError, match=r"\[image-invalid\]"), DecodingCall().under_way():
        decode_picture(a_file()[:-30])
    assert (made.n_bytes, made.most_seen) == (0, N_BYTES)


def test_waiting_for_room_is_no_hanging(monkeypatch: pytest.MonkeyPatch) -> None:
    made = small_room(monkeypatch, N_BYTES)
    made.add(1)

    def render(requests: Sequence[object]) -> list[Rendered]:
        return [Rendered(picture=decode_picture(a_file())) for _ in requests]

    guard = Guard(bound("model", FakeGenerator), render, timeout_s=0.2)
    freed = threading.Timer(0.8, lambda: made.add(-1))
    freed.start()
    (outcome,) = guard([asked_for()])
    assert isinstance(outcome, Rendered), outcome
    freed.join()


def test_the_desk_counts_what_is_here_and_what_is_being_loaded(monkeypatch: pytest.MonkeyPatch) -> None:
    made = small_room(monkeypatch, 1000)
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
    buffer.add("d", Picture(rgb=bytes(12), width=2, height=2))
    assert made.n_bytes == 0, "what comes when all is over is nobody's, and would never be given back"


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


def test_few_pictures_are_in_the_hands_of_pillow_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(room, "_WORKSHOP", PixelRoom(2 * room.DECODING * SIDE * SIDE))
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
    made = small_room(monkeypatch, 2 * n_bytes)
    decoders = Decoders(monkeypatch)
    with serving(answer) as server:
        summary = execute(endpoint_spec(server.url, 20), tmp_path, SilentProgress())
    assert summary.outcomes == {"PASS": 20}
    assert decoders.most <= 2
    # On the way from one hand to the next a picture is counted twice.
    assert made.most_seen <= 6 * n_bytes
    assert made.n_bytes == 0


def test_a_run_ends_whose_batches_are_larger_than_the_room(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    picture = painted(["cat", "dog"], "")
    made = small_room(monkeypatch, 3 * len(picture.rgb))
    spec = fake_spec(12, detector=bound("detector", FakeDetector, "d", batch=64))
    assert execute(spec, tmp_path, SilentProgress()).outcomes == {"PASS": 12}
    assert made.n_bytes == 0
    # And again from the files.
    with closing(sqlite3.connect(tmp_path / "salva.db")) as store, store:
        store.executescript("DELETE FROM observations; DELETE FROM meta WHERE key = 'finished'")
    made.most_seen = 0
    assert execute(spec, tmp_path, SilentProgress()).outcomes == {"PASS": 12}
    assert 0 < made.most_seen <= 4 * len(picture.rgb)
    assert made.n_bytes == 0
