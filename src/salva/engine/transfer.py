"""Images between processes: files on the way, pixels where they are observed.

An image that is generated elsewhere comes as its file, which is stored and sent on to observers. So pixels never pass
through the process that owns the store, and no image is encoded twice.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from salva.core.image import AnyPicture, Picture, PictureFile
from salva.core.protocols import Delivered, ObserveOrder, ObserveRequest, Orders, Rendered, RenderRequest
from salva.imaging.files import decode_picture, encode_picture, scaled
from salva.imaging.parts import part_of


def as_file(picture: AnyPicture) -> PictureFile:
    """An image as its file."""
    if isinstance(picture, PictureFile):
        return picture
    webp = picture.webp if picture.webp is not None else encode_picture(picture, "WEBP")
    return PictureFile(image_id=picture.image_id(), width=picture.width, height=picture.height, webp=webp)


def packed(orders: Orders) -> list[RenderRequest] | list[ObserveOrder]:
    """Orders as they travel."""
    # A list of either kind, never of both.
    return [_packed(order) for order in orders]  # type: ignore[return-value]


def opened(orders: Orders) -> list[RenderRequest | ObserveRequest]:
    """Orders as a component takes them; an image that several are about is decoded once."""
    pixels: dict[str, Picture] = {}
    return [_opened(order, pixels) for order in orders]


def delivered(outcomes: Sequence[object]) -> list[object]:
    """Outcomes as they travel."""
    return [
        Delivered(picture=as_file(outcome.picture), provenance=outcome.provenance)
        if isinstance(outcome, Rendered)
        else outcome
        for outcome in outcomes
    ]


def _packed(order: RenderRequest | ObserveOrder) -> RenderRequest | ObserveOrder:
    if isinstance(order, RenderRequest) or isinstance(order.picture, PictureFile):
        return order
    return replace(order, picture=as_file(order.picture))


def _opened(order: RenderRequest | ObserveOrder, pixels: dict[str, Picture]) -> RenderRequest | ObserveRequest:
    if isinstance(order, RenderRequest):
        return order
    picture = order.picture
    if isinstance(picture, PictureFile):
        if picture.image_id not in pixels:
            pixels[picture.image_id] = decode_picture(picture.webp, formats=("WEBP",))
        picture = pixels[picture.image_id]
    query = order.query
    if query.box or query.mask:
        picture = part_of(picture, query.box, query.mask, query.side)
    elif query.side:
        picture = scaled(picture, query.side)
    return ObserveRequest(picture=picture, query=order.query, given=order.given, failed_before=order.failed_before)
