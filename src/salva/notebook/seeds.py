"""Whether a function respects seeds.

Pairing rests on that. One picture of a run is painted a second time and compared; nothing of it is stored.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from salva.core.foreign_errors import describe_error, translate_errors
from salva.core.python_objects import Batched
from salva.errors import BackendError
from salva.imaging.objects import picture_of
from salva.store.records import Status
from salva.store.sqlite import open_run


def seed_notes(directory: Path, things: Mapping[str, object]) -> Iterator[str]:
    """A sentence for each function whose second picture is another one, or does not come at all."""
    with open_run(directory) as store:
        labels = {part.component_id: part.label for part in store.components() if part.role == "model"}
        done = [render for _, render in store.renders() if render.status is Status.DONE]
    for name, thing in things.items():
        painted = min((r for r in done if labels.get(r.component_id) == name), key=lambda r: r.key(), default=None)
        if painted is None:
            continue
        try:
            with translate_errors(lambda error: BackendError(describe_error(error))):
                again = picture_of(_paint(thing, painted.text, painted.seed)).image_id()
        except BackendError as error:
            yield f"{name} could not paint one of its pictures a second time: {error}"
            continue
        if again != painted.image_id:
            yield (
                f"{name} gives another picture for the same prompt and seed, so that two wordings also differ by luck: "
                "have it use the seed, or measure the luck with control=True, repeats=2"
            )


def _paint(thing: Any, prompt: str, seed: int) -> object:
    if isinstance(thing, Batched):
        (picture,) = thing.call([prompt], [seed])
        return picture
    return thing(prompt, seed)
