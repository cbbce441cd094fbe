"""Image quality of a run: FID against a folder of real pictures, and Inception Score, for every model of the run.

Vectors that the run has stored from the same embedder are used, the rest are made now; nothing is written. The run's
verdicts play no part, and neither do prompts: both figures judge a set of pictures, not what they show.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import islice
from pathlib import Path
from typing import Any

from salva.core.about import habits_of
from salva.core.image import Picture
from salva.core.observation import Vector
from salva.core.protocols import LookRequest, Query
from salva.engine.actors import Actor
from salva.engine.guard import build
from salva.errors import BackendError, SalvaError, StoreError, UsageError
from salva.imaging.files import decode_picture
from salva.registry import bind
from salva.run.ask import component_spec
from salva.stats.frechet import Quality, fid, fit_temperature, gaussian_of, inception_score
from salva.store.records import Status
from salva.store.sqlite import RunStore, open_run

SUFFIXES = (".png", ".jpg", ".jpeg", ".webp")
_QUERY = Query(role="embedder")


def run_fid(
    directory: Path, reference: Path, embedder: str, settings: Mapping[str, str] | None = None
) -> dict[str, Quality]:
    """FID of each model's pictures from those of a reference folder, by model.

    embedder: as on the command line, such as inception/fid.onnx. settings: its options by name.
    """
    actor, component = _embedder(embedder, settings)
    real = gaussian_of([vector.values for vector in _embed(component, _folder(reference))])
    return {model: fid(features, real) for model, features in _features(directory, actor, component).items()}


def run_inception_score(
    directory: Path,
    embedder: str,
    settings: Mapping[str, str] | None = None,
    *,
    temperature: float = 1.0,
    n_splits: int = 10,
) -> dict[str, Quality]:
    """Inception Score of each model's pictures, by model.

    The embedder must give logits: its option `output` says so. temperature: 1 for the published score, what
    calibrated_temperature found for ACTesting's I-IS. Pictures are taken in an order that has nothing to do with
    their prompts, since a split of one suite category would score itself.
    """
    actor, component = _embedder(embedder, settings)
    return {
        model: inception_score(logits, temperature=temperature, n_splits=n_splits)
        for model, logits in _features(directory, actor, component).items()
    }


def calibrated_temperature(held_out: Path, embedder: str, settings: Mapping[str, str] | None = None) -> float:
    """The temperature of a network's logits (ACTesting, section 4.3), from pictures whose classes are known.

    held_out: one folder a class, named by its number in the network's logits, counted from 0.
    """
    _, component = _embedder(embedder, settings)
    classes = sorted(path for path in held_out.iterdir() if path.is_dir()) if held_out.is_dir() else []
    if not classes or not all(path.name.isdecimal() for path in classes):
        found = ", ".join(path.name for path in classes[:5]) or "none"
        raise UsageError(
            f"{str(held_out)!r} must hold one folder a class, each named by the class's number; its folders: {found}"
        )
    logits: list[Sequence[float]] = []
    labels: list[int] = []
    for folder in classes:
        logits += [vector.values for vector in _embed(component, _folder(folder, at_least=1))]
        labels += [int(folder.name)] * (len(logits) - len(labels))
    return fit_temperature(logits, labels)


def _embedder(embedder: str, settings: Mapping[str, str] | None) -> tuple[Actor, object]:
    actor = Actor.of(bind(component_spec("embedder", embedder, settings)))
    assert actor.binding is not None, "just bound"
    return actor, build(actor.binding)


def _features(directory: Path, actor: Actor, component: object) -> dict[str, list[Sequence[float]]]:
    """The vectors of each model's pictures."""
    with open_run(directory) as store:
        painted = _painted(store)
        if not painted:
            raise UsageError(f"{str(directory)!r} holds no picture yet; run its suite first")
        return {
            model: [vector.values for vector in _vectors(store, actor, component, images)]
            for model, images in painted.items()
        }


def _painted(store: RunStore) -> dict[str, list[str]]:
    """The images of each model, each as often as it was painted: two seeds that give one picture are two."""
    labels = {component.component_id: component.label for component in store.components()}
    painted: dict[str, list[str]] = {}
    for _, render in store.renders():
        if render.status is Status.DONE and render.image_id is not None:
            painted.setdefault(labels[render.component_id], []).append(render.image_id)
    # By their hashes, which is as good as shuffled and the same on every machine.
    return {model: sorted(images) for model, images in painted.items()}


def _vectors(store: RunStore, actor: Actor, component: object, images: Sequence[str]) -> Iterator[Vector]:
    known: dict[str, Vector] = {}
    missing: list[str] = []
    for image_id in dict.fromkeys(images):
        outcome = store.look_outcome(actor.look_key(image_id, _QUERY, {}))
        if outcome is not None and isinstance(outcome[1], Vector):
            known[image_id] = outcome[1]
        else:
            missing.append(image_id)
    known.update(zip(missing, _embed(component, (_read(store, image_id) for image_id in missing)), strict=True))
    return (known[image_id] for image_id in images)


def _read(store: RunStore, image_id: str) -> Picture:
    try:
        return decode_picture(store.blobs.read(image_id))
    except ValueError as error:
        raise StoreError(f"the image {image_id} is {error}; check the run with salva verify") from error


def _folder(folder: Path, at_least: int = 2) -> Iterator[Picture]:
    if not folder.is_dir():
        raise UsageError(f"there is no folder {str(folder)!r} of reference images")
    files = sorted(path for path in folder.rglob("*") if path.suffix.lower() in SUFFIXES)
    if len(files) < at_least:
        raise UsageError(
            f"{str(folder)!r} holds {len(files)} images ({', '.join(SUFFIXES)}); {at_least} or more are needed"
        )
    for path in files:
        try:
            yield decode_picture(path.read_bytes())
        except (ValueError, OSError) as error:
            raise UsageError(f"{str(path)!r} is no image that can be read: {error}") from error


def _embed(component: Any, pictures: Iterable[Picture]) -> Iterator[Vector]:
    size = max(1, habits_of(component).batch_size)
    rest = iter(pictures)
    while part := list(islice(rest, size)):
        for seen in component.look([LookRequest(picture=picture, query=_QUERY) for picture in part]):
            if isinstance(seen, SalvaError):
                raise seen
            if not isinstance(seen, Vector):
                raise BackendError(f"an embedder owes a vector and gave {type(seen).__name__}", is_retryable=False)
            yield seen
