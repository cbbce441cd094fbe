"""Pictures in memory: here as long as somebody looks, loaded once, gone afterwards."""

from __future__ import annotations

from salva.core.image import Picture
from salva.engine.image_buffer import ImageBuffer

PICTURE = Picture(rgb=bytes(12), width=2, height=2)


def test_a_painted_picture_stays_until_the_last_look() -> None:
    buffer = ImageBuffer()
    buffer.add("a", PICTURE)
    buffer.want("a")
    buffer.want("a")
    buffer.release("a", 0)
    assert (buffer.n_pictures, buffer.next_to_load()) == (1, None), "it is here and need not be loaded"
    buffer.release("a", 1)
    assert buffer.picture_of("a") is PICTURE
    buffer.release("a", 1)
    assert (buffer.picture_of("a"), buffer.n_pictures) == (None, 0)


def test_a_picture_nobody_looks_at_does_not_stay() -> None:
    buffer = ImageBuffer()
    buffer.add("a", PICTURE)
    buffer.release("a", 0)
    assert buffer.n_pictures == 0


def test_a_stored_picture_is_loaded_once_and_takes_room_from_then_on() -> None:
    buffer = ImageBuffer()
    buffer.want("a")
    buffer.want("a")
    assert buffer.n_pictures == 0
    assert [buffer.next_to_load(), buffer.next_to_load()] == ["a", None]
    assert (buffer.n_pictures, buffer.picture_of("a")) == (1, None)
    assert buffer.loaded("a", PICTURE)
    assert buffer.picture_of("a") is PICTURE


def test_what_nobody_wants_any_more_is_neither_loaded_nor_kept() -> None:
    buffer = ImageBuffer()
    buffer.want("a")
    buffer.release("a", 1)
    assert buffer.next_to_load() is None
    assert not buffer.loaded("a", PICTURE)
    assert buffer.n_pictures == 0
