"""Restores lost image files: generated again by the same command, and held against what they were.

An image's id is the hash of its pixels, so a model that repeats itself puts every file back where it was, and nothing
that was seen or judged changes. So is a damaged one, known by its size, which costs no more than to see that it is
there. To read all files takes a hundred times as long, and is for `salva verify`. What is known of an image stays
until there is another in its place: a disk may only be away for a while.
"""

from __future__ import annotations

from collections.abc import Mapping

from salva.engine.image_files import ImageFiles
from salva.engine.progress import Progress
from salva.errors import StoreError
from salva.messages import message
from salva.store.reading import RunReader
from salva.store.sqlite import RunStore


def has_all_files(store: RunReader) -> bool:
    """Whether the file of every stored image is there, as large as it was written."""
    return next(store.blobs.lost(store.image_sizes()), None) is None


def find_lost_images(store: RunStore, progress: Progress) -> dict[str, str]:
    """The images to be generated again, whose files are gone or damaged: by the key of its render, the image it was."""
    files, was = ImageFiles(store.blobs), dict[str, str]()
    for image_id in list(store.blobs.lost(store.image_sizes())):
        try:
            # Another program may have packed the same pixels otherwise: nobody pays for them twice.
            store.put_image(files.stored(image_id))
        except StoreError as error:
            renders = list(store.renders_of(image_id))
            was |= {render.key(): image_id for render in renders}
            if not renders:
                store.forget_image(image_id, str(error))
    store.flush()
    if was:
        n_lost = len({*was.values()})
        progress.note(message("images-lost", n=n_lost))
    return was


def report_restored(store: RunStore, was: Mapping[str, str], progress: Progress) -> None:
    """Report how many of the images generated again are what they were, and forget those that are not."""
    n_same = n_other = 0
    for key, image_id in was.items():
        _, image, _ = store.render_outcome(key) or (None, None, "")
        n_same += image is not None and image.image_id == image_id and store.blobs.has(image_id)
        n_other += image is not None and image.image_id != image_id
    for image_id in {*was.values()}:
        if not list(store.renders_of(image_id)):
            store.forget_image(image_id, "another was generated in its place")
    if n_other:
        progress.note(message("images-differ", n=n_other, total=n_same + n_other))
    elif n_same:
        progress.note(message("images-restored", n=n_same))
