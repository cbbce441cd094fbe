"""`salva verify`: images and rows against their digests, run.json against the store, verdicts against what is stored.

Every image also against its id, every row against its key, components against run.json and cases against their suite.
Reads only, and opens nothing outside the run. A file without a row is no fault: a run that was killed between the two
leaves one. Whoever rewrites observations and digests together is found by the seal alone.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

from salva.core.quantity import quantity
from salva.core.run_file import RunFile
from salva.engine.progress import Progress
from salva.errors import StoreError
from salva.hardware.cores import n_cores
from salva.imaging.files import ImageError, decode_picture
from salva.messages import message
from salva.runs.known_origins import case_problems, component_problems, label_problems
from salva.runs.recompute import Recomputed, recompute
from salva.runs.run_state import recorded_run_file, spec_difference
from salva.store.images import ImageStore
from salva.store.records import CASES, WHOLE, Status, StoredImage
from salva.store.reviews import read_reviews
from salva.store.runfile import RUN_FILE, is_run_file_ours, read_run_file
from salva.store.sqlite import RunStore, open_run

_STAGE = "verifying"
_CHUNK = 256


@dataclass(frozen=True, slots=True, kw_only=True)
class VerifyReport:
    """What a check of a run found."""

    n_images: int
    n_rows: int
    problems: tuple[str, ...] = ()
    """One sentence each; empty when everything matches."""
    n_recomputed: int = 0
    """Verdicts that were made anew and are the same."""
    unchecked: tuple[str, ...] = ()
    """What could not be checked here, a sentence each, with how much of it."""
    is_whole: bool = False
    """Whether the run was finished."""
    remedy: str = ""
    """How to get images back that are gone or damaged; empty where none is."""

    @property
    def is_sound(self) -> bool:
        """Whether everything matches."""
        return not self.problems


def verify(directory: Path, progress: Progress) -> VerifyReport:
    """Check everything a run has stored."""
    with open_run(directory) as store:
        n_cases = store.n_cases()
        if not n_cases:
            raise StoreError(message("cases-not-stored", path=str(directory)))
        problems: list[str] = []
        n_images = _verify_images(store, problems, progress)
        n_rows, n_damaged = n_images, len(problems)
        for check in (component_problems, _verify_cases, _verify_renders, _verify_observations, _verify_verdicts):
            try:
                for problem in check(store):
                    n_rows += 1
                    if problem:
                        problems.append(problem)
            except StoreError as error:
                # A row that cannot be read ends its table; the other tables are still worth checking.
                problems.append(str(error))
        for table, key in store.edited_rows():
            problems.append(f"table {table}, row {key}: its content is not what was written (its digest differs)")
        content, recomputed, unchecked, is_whole = read_run_file(directory), Recomputed(), [], False
        try:
            problems += _run_file_problems(store, content)
            if content is not None:
                others, why = case_problems(store, content)
                problems += others
                unchecked += [f"{quantity(n_cases, 'cases')} not made anew: {why}"] if why else []
                problems += label_problems(store, content)
                is_whole = WHOLE in store.meta()
                recomputed = recompute(store, content)
            read_reviews(directory)
        except StoreError as error:
            # What cannot be read has been said above or is said here; nothing can be made of it.
            problems.append(str(error))
    return VerifyReport(
        n_images=n_images,
        n_rows=n_rows,
        problems=tuple(dict.fromkeys((*problems, *recomputed.problems))),
        n_recomputed=recomputed.n_checked,
        unchecked=(*unchecked, *recomputed.unchecked),
        is_whole=is_whole,
        remedy=_remedy(n_damaged, content) if n_damaged else "",
    )


def _remedy(n_damaged: int, content: RunFile | None) -> str:
    those = quantity(n_damaged, "images are", "image is")
    if content is not None and content.spec.imported:
        return f"{those} gone or damaged: restore them from a copy"
    return f"{those} gone or damaged: run the same `salva run` again; delete what `salva verify` names after it"


def _run_file_problems(store: RunStore, content: RunFile | None) -> Iterator[str]:
    """How run.json differs from what the store knows of it."""
    if content is None:
        yield f"{RUN_FILE} is missing: what was asked is not known"
        return
    if is_run_file_ours(store) is False:
        yield f"{RUN_FILE} is not the text that salva wrote (its digest differs)"
    asked = recorded_run_file(store)
    if asked is not None and (differing := spec_difference(content.spec, asked.spec)):
        yield f"{RUN_FILE} says that {differing} was asked, and the store says otherwise"


def _verify_images(store: RunStore, problems: list[str], progress: Progress) -> int:
    images, blobs = store.images(), store.blobs
    n_images = 0
    progress.start(_STAGE, store.n_images())
    with ThreadPoolExecutor(n_cores()) as pool:
        while chunk := list(islice(images, _CHUNK)):
            n_images += len(chunk)
            problems += filter(None, pool.map(lambda image: _image_problem(blobs, image), chunk))
            progress.advance(_STAGE, len(chunk))
    progress.finish(_STAGE)
    return n_images


def _image_problem(blobs: ImageStore, image: StoredImage) -> str:
    path = blobs.place_of(image.image_id)
    try:
        data = blobs.read(image.image_id)
    except StoreError as error:
        return f"image {image.image_id}: {error}"
    if len(data) != image.n_bytes or hashlib.sha256(data).hexdigest() != image.digest:
        return f"image {image.image_id}: {path} is not the file that was written (its digest differs)"
    try:
        picture = decode_picture(data, formats=("WEBP",))
    except ImageError as error:
        return f"image {image.image_id}: {path} is {error.why}"
    if picture.image_id() != image.image_id:
        return f"image {image.image_id}: the pixels of {path} have another hash"
    if (picture.width, picture.height) != (image.width, image.height):
        return f"image {image.image_id}: the row says {image.width} x {image.height}, the file is another size"
    return ""


def _verify_cases(store: RunStore) -> Iterator[str]:
    n_cases = 0
    for case_id, case in store.cases_with_ids():
        n_cases += 1
        yield "" if case.case_id == case_id else f"case row {case_id} holds the case {case.case_id}"
    if (n_planned := store.note(CASES).get("n_cases", n_cases)) != n_cases:
        yield f"{n_cases} cases are stored where {n_planned} were planned"


def _verify_renders(store: RunStore) -> Iterator[str]:
    components = {component.component_id for component in store.components()}
    for key, render in store.renders():
        if render.key() != key:
            yield f"render {key}: its inputs have the key {render.key()}"
        elif render.component_id not in components:
            yield f"render {key}: no component {render.component_id}"
        elif render.status is Status.DONE and not (render.image_id and store.find_image(render.image_id)):
            yield f"render {key}: no row for its image {render.image_id}"
        else:
            yield ""


def _verify_observations(store: RunStore) -> Iterator[str]:
    components = {component.component_id for component in store.components()}
    for key, look in store.observations():
        if look.key() != key:
            yield f"observation {key}: its inputs have the key {look.key()}"
        elif look.component_id not in components:
            yield f"observation {key}: no component {look.component_id}"
        elif (look.status is Status.DONE) != (look.observation is not None):
            yield f"observation {key}: it is {look.status}, but its result says otherwise"
        else:
            yield ""


def _verify_verdicts(store: RunStore) -> Iterator[str]:
    for verdict in store.verdicts():
        where = f"verdict {verdict.case_id}/{verdict.repeat}/{verdict.arm}/{verdict.model}/{verdict.check}"
        missing = [image_id for image_id in verdict.images.values() if store.find_image(image_id) is None]
        if not store.has_case(verdict.case_id):
            yield f"{where}: no such case"
        elif missing:
            yield f"{where}: no row for its image {missing[0]}"
        else:
            yield ""
