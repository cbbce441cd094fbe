"""Pictures between processes: every pixel arrives, and nobody encodes or decodes twice."""

from __future__ import annotations

import pickle
import random

import pytest

from salva.core.case import Prompt
from salva.core.image import Picture, PictureFile
from salva.core.observation import Detections
from salva.core.protocols import Delivered, ObserveOrder, ObserveRequest, Query, Rendered, RenderRequest
from salva.engine import transfer
from salva.errors import BackendError
from salva.imaging.files import decode_picture, scaled


def noise(seed: int = 1) -> Picture:
    return Picture(rgb=random.Random(seed).randbytes(3 * 17 * 9), width=17, height=9)


def test_a_picture_travels_as_its_file_and_every_pixel_arrives() -> None:
    order = ObserveOrder(picture=noise(), query=Query(role="detector"), given={"reader": Detections(boxes=())})
    (sent,) = transfer.packed([order])
    assert isinstance(sent, ObserveOrder)
    assert isinstance(sent.picture, PictureFile)
    assert noise().rgb not in pickle.dumps(sent), "no pixels on the way"
    (request,) = transfer.opened(pickle.loads(pickle.dumps([sent])))
    assert request == ObserveRequest(picture=noise(), query=order.query, given=order.given)


def test_what_is_asked_for_in_another_size_is_scaled_where_it_is_looked_at() -> None:
    query = Query(role="judge", side=5)
    (near,) = transfer.opened([ObserveOrder(picture=noise(), query=query)])
    (far,) = transfer.opened(transfer.packed([ObserveOrder(picture=noise(), query=query)]))
    assert isinstance(near, ObserveRequest)
    assert near == far
    assert near.picture == scaled(noise(), 5)


def test_a_file_that_is_there_is_not_made_again(monkeypatch: pytest.MonkeyPatch) -> None:
    file = transfer.as_file(noise())
    monkeypatch.setattr(transfer, "encode_picture", lambda *_: pytest.fail("encoded twice"))
    assert transfer.as_file(file) is file
    assert transfer.as_file(Picture(rgb=noise().rgb, width=17, height=9, webp=file.webp)) == file
    order = ObserveOrder(picture=file, query=Query(role="detector"))
    assert transfer.packed([order]) == [order]


def test_a_picture_that_several_looks_are_about_is_decoded_once(monkeypatch: pytest.MonkeyPatch) -> None:
    decoded: list[bytes] = []

    def counting(data: bytes, formats: tuple[str, ...]) -> Picture:
        decoded.append(data)
        return decode_picture(data, formats)

    monkeypatch.setattr(transfer, "decode_picture", counting)
    files = [transfer.as_file(noise(seed)) for seed in (1, 2, 1, 1)]
    opened = transfer.opened([ObserveOrder(picture=file, query=Query(role="detector")) for file in files])
    assert len(decoded) == 2
    assert [request.picture for request in opened if isinstance(request, ObserveRequest)] == [
        noise(seed) for seed in (1, 2, 1, 1)
    ]


def test_what_was_painted_is_delivered_as_a_file_and_everything_else_as_it_is() -> None:
    error, seen = BackendError("no paint"), Detections(boxes=())
    painted, *others = transfer.delivered([Rendered(picture=noise(), provenance={"snapshot": "7"}), error, seen])
    assert painted == Delivered(picture=transfer.as_file(noise()), provenance={"snapshot": "7"})
    assert others == [error, seen]
    request = RenderRequest(prompt=Prompt(role="a", text="cat"), seed=1)
    assert transfer.packed([request]) == transfer.opened([request]) == [request]
