"""Pictures in memory: here as long as somebody looks, loaded once, gone afterwards."""

from __future__ import annotations

from salva.core.image import Picture
from salva.engine.desk import Desk

PICTURE = Picture(rgb=bytes(12), width=2, height=2)


def test_a_painted_picture_stays_until_the_last_look() -> None:
    desk = Desk()
    desk.lay("a", PICTURE)
    desk.want("a")
    desk.want("a")
    desk.let_go("a", 0)
    assert (desk.n_pictures, desk.next_to_load()) == (1, None), "it is here and need not be loaded"
    desk.let_go("a", 1)
    assert desk.picture_of("a") is PICTURE
    desk.let_go("a", 1)
    assert (desk.picture_of("a"), desk.n_pictures) == (None, 0)


def test_a_picture_nobody_looks_at_does_not_stay() -> None:
    desk = Desk()
    desk.lay("a", PICTURE)
    desk.let_go("a", 0)
    assert desk.n_pictures == 0


def test_a_stored_picture_is_loaded_once_and_takes_room_from_then_on() -> None:
    desk = Desk()
    desk.want("a")
    desk.want("a")
    assert desk.n_pictures == 0
    assert [desk.next_to_load(), desk.next_to_load()] == ["a", None]
    assert (desk.n_pictures, desk.picture_of("a")) == (1, None)
    assert desk.loaded("a", PICTURE)
    assert desk.picture_of("a") is PICTURE


def test_what_nobody_wants_any_more_is_neither_loaded_nor_kept() -> None:
    desk = Desk()
    desk.want("a")
    desk.let_go("a", 1)
    assert desk.next_to_load() is None
    assert not desk.loaded("a", PICTURE)
    assert desk.n_pictures == 0
