"""Where image files are: in its own directory, or at an address somebody named.

A run directory is data: an address that it names is contacted for nobody who does not name it again. Knows of every
place only that files can be read from it and written to it.
"""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias
from urllib.parse import unquote, urlsplit

from salva.errors import UsageError, invalid_option
from salva.messages import message
from salva.store.blobs import Blobs, check_image_id

if TYPE_CHECKING:
    from salva.store.remote_blobs import RemoteBlobs

IMAGES_AT = "images_at"
"""The note of a run whose images are not in its directory: the address of the folder they are in."""
ImageStore: TypeAlias = "Blobs | RemoteBlobs"
"""Image files by the id of their image; safe to use from several threads."""
_allowed: set[str] = set()
"""Addresses that whoever is at the keyboard named; what lies below one is named too."""


def checked_address(url: str) -> str:
    """An address as it is written down; UsageError for one that is none, or that holds a key."""
    from salva.remote.urls import check_url

    try:
        check_url("--images", url, "let the environment or the configuration of your storage say who you are")
    except ValueError as error:
        raise UsageError(*error.args) from error
    parts = urlsplit(url)
    path = unquote(parts.path)
    is_plain = not parts.query and not parts.fragment and "::" not in url and ".." not in path.split("/")
    if not parts.scheme or "://" not in url or not (parts.netloc or path.strip("/")) or not is_plain:
        raise invalid_option(
            "--images", url, "the address of a folder, such as s3://bucket/folder or file:///mnt/folder"
        )
    if parts.scheme == "file" and parts.netloc:
        raise invalid_option("--images", url, "file:///mnt/folder, with three slashes, for a folder of this machine")
    return url.rstrip("/")


def allow_images_at(url: str) -> str:
    """Allow what is at an address to be read and written from now on; gives it as it is written down."""
    address = checked_address(url)
    _allowed.add(address)
    return address


def is_allowed(address: str) -> bool:
    """Whether an address, or a folder it lies in, was named."""
    return any(address == named or address.startswith(f"{named}/") for named in _allowed)


def place_at(address: str, image_id: str) -> str:
    """Where the file of an image is at an address; nothing is contacted."""
    check_image_id(image_id, address)
    return f"{address}/{image_id[:2]}/{image_id[2:]}.webp"


def images_of(directory: Path, address: str) -> ImageStore:
    """The images of a run that are at an address, or in its directory where it has none.

    UsageError for an address that only the run names: nobody contacts it.
    """
    if not address:
        return Blobs(directory)
    # What a stranger's run says is held to the same rules as what is typed.
    if not is_allowed(checked_address(address)):
        quoted = shlex.quote(address)
        raise UsageError(message("images-not-named", path=str(directory), address=address, quoted=quoted))
    if urlsplit(address).scheme == "file":
        return Blobs(directory, Path(unquote(urlsplit(address).path)))
    from salva.store.remote_blobs import RemoteBlobs

    return RemoteBlobs(address)
