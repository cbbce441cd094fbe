"""Pictures of a run whose files are gone: painted again by the same command, and held against what they were.

An image's id is the hash of its pixels, so a model that repeats itself puts every file back where it was, and nothing
that was seen or judged changes.
"""

from __future__ import annotations

from collections.abc import Mapping

from salva.core.counted import counted
from salva.engine.progress import Progress
from salva.store.reading import RunReader
from salva.store.sqlite import RunStore

_GONE = "its file is gone"


def has_all_files(store: RunReader) -> bool:
    """Whether the file of every stored image is there."""
    return next(store.blobs.lost(store.image_ids()), None) is None


def forget_lost(store: RunStore, progress: Progress) -> dict[str, str]:
    """Have every picture painted again whose file is gone; by the key of its render, the image it was."""
    lost = list(store.blobs.lost(store.image_ids()))
    was = {render.key(): image_id for image_id in lost for render in store.renders_of(image_id)}
    for image_id in lost:
        store.forget_image(image_id, _GONE)
    if lost:
        store.flush()
        progress.note(f"the files of {counted(len(lost), 'pictures')} are gone, and painted again")
    return was


def tell_healed(store: RunReader, was: Mapping[str, str], progress: Progress) -> None:
    """Say how many of the pictures painted again are what they were."""
    n_same = n_other = 0
    for key, image_id in was.items():
        _, image, _ = store.render_outcome(key) or (None, None, "")
        n_same += image is not None and image.image_id == image_id
        n_other += image is not None and image.image_id != image_id
    if n_other:
        progress.note(
            f"{n_other} of {counted(n_same + n_other, 'pictures')} painted again came out otherwise: this model does "
            "not repeat itself, so they were looked at and judged anew"
        )
    elif n_same:
        progress.note(f"{counted(n_same, 'pictures')} painted again, the same to the pixel")
