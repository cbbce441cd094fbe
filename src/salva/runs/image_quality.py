"""Image quality of a run: FID against a folder of real pictures, and Inception Score, for every model of the run.

Vectors that the run has stored from the same embedder are used, the rest are made now; nothing is written. The run's
verdicts play no part, and neither do prompts: both figures judge a set of pictures, not what they show.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

from salva.core.about import habits_of
from salva.core.image import Picture
from salva.core.observation import Vector
from salva.core.protocols import ObserveRequest, Query
from salva.core.quantity import quantity
from salva.core.run_spec import ComponentSpec
from salva.engine.actors import Actor
from salva.engine.guard import build
from salva.engine.progress import Progress, SilentProgress
from salva.errors import BackendError, SalvaError, StoreError, UsageError
from salva.imaging.files import SUFFIXES, decode_picture
from salva.messages import message, text_of
from salva.registry import bind
from salva.stats.frechet import Quality, fid, fit_temperature, gaussian_of, inception_score
from salva.store.records import Status
from salva.store.runfile import read_run_file
from salva.store.sqlite import RunStore, open_run

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

_QUERY = Query(role="embedder")
SILENT = SilentProgress()
_NO_PICTURE = Picture(rgb=bytes(3), width=1, height=1)
Name = TypeVar("Name")


SPLITS = 10
"""The parts of the Inception Score, as published."""


@dataclass(frozen=True, slots=True, kw_only=True)
class QualityRequest:
    """Which figures, by which network."""

    embedder: str
    """As on the command line, such as inception/fid.onnx."""
    options: Mapping[str, str] = field(default_factory=dict)
    """The embedder's options by name."""
    reference: Path | None = None
    """Real pictures, for FID."""
    logits: str = ""
    """The embedder's output for Inception Score."""
    held_out: Path | None = None
    """Pictures by class, to calibrate the logits."""

    def __post_init__(self) -> None:
        if self.held_out is not None and not self.logits:
            raise UsageError(message("flag-needed", flag="--logits", why="--held-out calibrates logits"))
        if self.reference is None and not self.logits:
            raise UsageError(message("flag-needed", flag="--reference or --logits", why="they name the figure"))


def quality_figures(
    directory: Path, wanted: QualityRequest, progress: Progress = SILENT
) -> list[tuple[str, str, Quality]]:
    """The figures that are wanted, each of every model: model, name of the figure, and what came out."""
    figures: list[tuple[str, dict[str, Quality]]] = []
    if wanted.reference is not None:
        figures.append(("FID", run_fid(directory, wanted.reference, wanted.embedder, wanted.options, progress)))
    if wanted.logits:
        options, temperature, name = {**wanted.options, "output": wanted.logits}, 1.0, "Inception Score"
        if wanted.held_out is not None:
            temperature = calibrated_temperature(wanted.held_out, wanted.embedder, options, progress)
            name = f"I-IS, temperature {temperature:.4g}"
        scores = run_inception_score(directory, wanted.embedder, options, progress, temperature=temperature)
        figures.append((name, scores))
    return [(model, name, quality) for name, by_model in figures for model, quality in by_model.items()]


def run_fid(
    directory: Path,
    reference: Path,
    embedder: str,
    settings: Mapping[str, str] | None = None,
    progress: Progress = SILENT,
) -> dict[str, Quality]:
    """FID of each model's pictures from those of a reference folder, by model.

    embedder: as on the command line, such as inception/fid.onnx. settings: its options by name.
    """
    files = image_files(reference)
    with open_run(directory) as store:
        painted = _painted(store, directory, at_least=2)
        actor, component = built_embedder(embedder, settings)
        real = gaussian_of(embed_files(component, files, Stage(progress, "reference", len(files))))
        return {
            model: fid(features, real) for model, features in features_of(store, painted, actor, component, progress)
        }


def run_inception_score(
    directory: Path,
    embedder: str,
    settings: Mapping[str, str] | None = None,
    progress: Progress = SILENT,
    *,
    temperature: float = 1.0,
    n_splits: int = SPLITS,
) -> dict[str, Quality]:
    """Inception Score of each model's pictures, by model.

    The embedder must give logits: its option `output` says so. temperature: 1 for the published score, what
    calibrated_temperature found for ACTesting's I-IS. Pictures are taken in an order that has nothing to do with
    their prompts, since a split of one suite category would score itself.
    """
    with open_run(directory) as store:
        painted = _painted(store, directory, at_least=n_splits)
        actor, component = built_embedder(embedder, settings)
        return {
            model: inception_score(logits, temperature=temperature, n_splits=n_splits)
            for model, logits in features_of(store, painted, actor, component, progress)
        }


def calibrated_temperature(
    held_out: Path, embedder: str, settings: Mapping[str, str] | None = None, progress: Progress = SILENT
) -> float:
    """The temperature of a network's logits (ACTesting, section 4.3), from pictures whose classes are known.

    held_out: one folder a class, named by its number in the network's logits, counted from 0.
    """
    classes = sorted(path for path in held_out.iterdir() if path.is_dir()) if held_out.is_dir() else []
    if not classes or not all(path.name.isdecimal() for path in classes):
        names = ", ".join(path.name for path in classes[:5]) or "none"
        wanted = "one folder for each class, named by the number of the class"
        raise UsageError(message("folder-invalid", path=str(held_out), wanted=wanted, found=f"the folders {names}"))
    by_class = {int(folder.name): image_files(folder, at_least=1) for folder in classes}
    _, component = built_embedder(embedder, settings)
    files = [path for paths in by_class.values() for path in paths]
    labels = [number for number, paths in by_class.items() for _ in paths]
    return fit_temperature(embed_files(component, files, Stage(progress, "held out", len(files))), labels)


def built_embedder(embedder: str, settings: Mapping[str, str] | None) -> tuple[Actor, object]:
    """The embedder of a name, with what its keys are made of."""
    actor = Actor.of(bind(ComponentSpec.parse("embedder", embedder, settings)))
    assert actor.binding is not None, "just bound"
    return actor, build(actor.binding)


def features_of(
    store: RunStore, painted: Mapping[Name, Sequence[str]], actor: Actor, component: object, progress: Progress
) -> Iterator[tuple[Name, NDArray[np.float64]]]:
    """The vectors of each model's pictures, or of each set of them, one row a picture."""
    for model, images in painted.items():
        stored: dict[str, Vector] = {}
        missing: list[str] = []
        for image_id in dict.fromkeys(images):
            outcome = store.observation_outcome(actor.observation_key(image_id, _QUERY, {}))
            if outcome is not None and isinstance(outcome[1], Vector):
                stored[image_id] = outcome[1]
            else:
                missing.append(image_id)
        pictures = (_read(store, image_id) for image_id in missing)
        stored.update(zip(missing, embed(component, pictures, Stage(progress, str(model), len(missing))), strict=True))
        yield model, matrix((stored[image_id] for image_id in images), len(images))


def _painted(store: RunStore, directory: Path, at_least: int) -> dict[str, list[str]]:
    """The images of each model, each as often as it was painted: two seeds that give one picture are two."""
    painted: dict[str, list[str]] = {}
    for _, render in store.renders():
        if render.status is Status.DONE and render.image_id is not None:
            painted.setdefault(store.label_of(render.component_id), []).append(render.image_id)
    if not painted:
        run = read_run_file(directory)
        if run is not None and run.imported is not None:
            raise UsageError(message("run-imported", path=str(directory)))
        raise UsageError(message("images-missing", path=str(directory)))
    for model, images in painted.items():
        if len(images) < at_least:
            wanted, found = f"{at_least} images of {model!r} or more", quantity(len(images), "images")
            raise UsageError(message("folder-invalid", path=str(directory), wanted=wanted, found=found))
    # By their hashes, which is as good as shuffled and the same on every machine.
    return {model: sorted(images) for model, images in painted.items()}


def _read(store: RunStore, image_id: str) -> Picture:
    try:
        return decode_picture(store.blobs.read(image_id))
    except ValueError as error:
        raise StoreError(message("image-damaged", path=image_id)) from error


def image_files(folder: Path, at_least: int = 2) -> list[Path]:
    """The pictures in a folder and its subfolders."""
    if not folder.is_dir():
        raise UsageError(message("file-missing", path=str(folder)))
    inside = sorted(path for path in folder.rglob("*") if path.is_file())
    files = [path for path in inside if path.suffix.lower() in SUFFIXES]
    if len(files) < at_least:
        among = f" among {quantity(len(inside), 'files')}" if len(inside) > len(files) else ""
        wanted, found = f"{at_least} images or more ({', '.join(SUFFIXES)})", f"{len(files)}{among}"
        raise UsageError(message("folder-invalid", path=str(folder), wanted=wanted, found=found))
    return files


def embed_files(component: object, files: Sequence[Path], stage: Stage) -> NDArray[np.float64]:
    """The vectors of picture files, one row each."""
    return matrix(embed(component, map(_decoded, files), stage), len(files))


def _decoded(path: Path) -> Picture:
    try:
        return decode_picture(path.read_bytes())
    except (ValueError, OSError) as error:
        raise UsageError(message("file-unreadable", path=str(path), why=text_of(error))) from error


class Stage(NamedTuple):
    """A part of the work, as it is told to whoever waits."""

    progress: Progress
    name: str
    total: int


def embed_texts(component: object, texts: Sequence[str], stage: Stage) -> NDArray[np.float64]:
    """The vectors of texts, one row each; a text has the same vector whatever picture it is asked about."""
    requests = (ObserveRequest(picture=_NO_PICTURE, query=Query(role="embedder", text=text)) for text in texts)
    return matrix(_answered(component, requests, stage), len(texts))


def embed(component: object, pictures: Iterable[Picture], stage: Stage) -> Iterator[Vector]:
    """The vectors of pictures, in their order."""
    return _answered(component, (ObserveRequest(picture=picture, query=_QUERY) for picture in pictures), stage)


def _answered(component: Any, requests: Iterable[ObserveRequest], stage: Stage) -> Iterator[Vector]:
    size = max(1, habits_of(component).batch_size)
    rest = iter(requests)
    stage.progress.start(stage.name, stage.total)
    while part := list(islice(rest, size)):
        for seen in component.observe(part):
            if isinstance(seen, SalvaError):
                raise seen
            if not isinstance(seen, Vector):
                what = f"a {type(seen).__name__} instead of a vector"
                raise BackendError(
                    message("numbers-invalid", component=type(component).__name__, what=what), is_retryable=False
                )
            yield seen
        stage.progress.advance(stage.name, len(part))
    stage.progress.finish(stage.name)


def matrix(vectors: Iterable[Vector], n: int) -> NDArray[np.float64]:
    """One row a vector, filled as they come: tuples of floats take four times the room."""
    import numpy as np

    rows: NDArray[np.float64] | None = None
    for index, vector in enumerate(vectors):
        if rows is None:
            rows = np.empty((n, len(vector.values)))
        rows[index] = vector.values
    assert rows is not None, "both folders and runs without images have been refused"
    return rows
