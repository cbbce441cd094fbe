"""Image quality of a run: FID, Inception Score and R-precision, for every model or for every set of its images.

A set is what one model generated for one role of the prompts; of captions and their mutants, `orig` and each operator.
Figures of sets are stored with the run. Verdicts play no part: the figures judge a set of images, not what they show.
"""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

from salva.core.case import Case
from salva.core.fingerprint import Json
from salva.core.judgements import SetFigure
from salva.core.quantity import quantity
from salva.core.run_spec import NOTHING
from salva.core.source import REAL
from salva.engine.progress import Progress, SilentProgress
from salva.errors import UsageError
from salva.messages import message
from salva.runs.image_features import (
    Stage,
    built_embedder,
    embed_files,
    embed_texts,
    features_of,
    image_files,
)
from salva.stats.frechet import Quality, fid, fit_temperature, gaussian_of, inception_score
from salva.stats.retrieval import r_precision
from salva.store.records import FIGURES, Status
from salva.store.runfile import read_run_file
from salva.store.sqlite import RunStore, open_run

SILENT = SilentProgress()
SPLITS = 10
"""The parts of the Inception Score, as published."""
ORIG = "orig"
OWN_CAPTION, ORIGINAL_CAPTION = "R-precision", "R-precision by the original captions"
_FEWEST = 2


@dataclass(frozen=True, slots=True, kw_only=True)
class QualityRequest:
    """Which figures, by which network."""

    embedder: str = ""
    """Of FID and Inception Score, as on the command line: inception/fid.onnx."""
    options: Mapping[str, str] = field(default_factory=dict)
    """The embedder's options by name."""
    reference: Path | None = None
    """Real images, for FID."""
    logits: str = ""
    """The embedder's output for Inception Score."""
    held_out: Path | None = None
    """Images by class, to calibrate the logits."""
    retrieval: str = ""
    """The embedder of images and texts for R-precision, such as clip or pocket."""
    by_set: bool = False
    """Whether figures are of each set of images, and stored with the run."""

    def __post_init__(self) -> None:
        if self.retrieval and not self.by_set:
            raise UsageError(message("flag-needed", flag="--by-set", why="--r-precision is measured for each set"))
        if self.held_out is not None and not self.logits:
            raise UsageError(message("flag-needed", flag="--logits", why="--held-out calibrates logits"))
        if self.reference is None and not self.logits and not self.retrieval:
            raise UsageError(message("flag-needed", flag="--reference or --logits", why="they name the figure"))


class ImageSet(NamedTuple):
    """What one model generated for one role, or for all of them."""

    model: str
    name: str = ""

    def __str__(self) -> str:
        return f"{self.model}, {self.name}" if self.name else self.model


class CaptionedImage(NamedTuple):
    """An image and what it was generated for."""

    image_id: str
    caption: str = ""
    original: str = ""
    """The caption that its own was made from; its own where it was made from none."""


Sets = Mapping[ImageSet, Sequence[CaptionedImage]]


def quality_figures(directory: Path, wanted: QualityRequest, progress: Progress = SILENT) -> dict[str, list[SetFigure]]:
    """The figures that are wanted, by model; those of sets are stored in the place of older ones of their name."""
    figures: dict[str, list[SetFigure]] = {}
    with open_run(directory, "write" if wanted.by_set else "read") as store:
        sets = _large_enough(image_sets(store, directory) if wanted.by_set else _images_by_model(store), directory)
        for make in (_fids, _inception_scores, _precisions):
            for of, figure in make(store, sets, wanted, progress):
                figures.setdefault(of.model, []).append(figure)
        if wanted.by_set:
            _keep(store, figures)
    return figures


def _large_enough(sets: Sets, directory: Path) -> Sets:
    if not sets:
        run = read_run_file(directory)
        imported = run is not None and run.imported is not None
        raise UsageError(message("run-imported" if imported else "images-missing", path=str(directory)))
    large = {of: sorted(images) for of, images in sets.items() if len(images) >= _FEWEST}
    if not large:
        found = quantity(max(map(len, sets.values())), "images")
        raise UsageError(message("folder-invalid", path=str(directory), wanted=f"{_FEWEST} images", found=found))
    return large


def _images_by_model(store: RunStore) -> dict[ImageSet, list[CaptionedImage]]:
    """The images of each model, each as often as it was generated: two seeds that give one image are two."""
    sets: dict[ImageSet, list[CaptionedImage]] = {}
    for _, render in store.renders():
        if render.status is Status.DONE and render.image_id is not None:
            model = ImageSet(store.label_of(render.component_id))
            sets.setdefault(model, []).append(CaptionedImage(render.image_id))
    return sets


def image_sets(store: RunStore, directory: Path) -> dict[ImageSet, list[CaptionedImage]]:
    """Every set of the run; an image that several cases share is in its set once."""
    run = read_run_file(directory)
    asked = run.spec if run is not None else NOTHING
    renders: dict[tuple[str, int], list[tuple[str, str]]] = {}
    for _, render in store.renders():
        if render.status is Status.DONE and render.image_id is not None:
            painted_by = store.label_of(render.component_id)
            renders.setdefault((render.text, render.seed), []).append((painted_by, render.image_id))
    sets: dict[ImageSet, dict[tuple[str, str, int], CaptionedImage]] = {}
    for case in store.cases():
        for prompt in case.prompts:
            name = _set_of(case, prompt.role)
            original = case.prompts[0].text if case.mutation else prompt.text
            for repeat in range(asked.repeats):
                for model, image_id in renders.get((prompt.text, case.seed(asked.seed, repeat)), ()):
                    painted = sets.setdefault(ImageSet(model, name), {})
                    key = (case.painting or case.case_id, prompt.text, repeat)
                    painted[key] = CaptionedImage(image_id, prompt.text, original)
    return {of: list(painted.values()) for of, painted in sets.items()}


def _set_of(case: Case, role: str) -> str:
    if case.mutation is None:
        return role
    return ORIG if role == case.prompts[0].role else case.mutation.operator


def _fids(
    store: RunStore, sets: Sets, wanted: QualityRequest, progress: Progress
) -> Iterator[tuple[ImageSet, SetFigure]]:
    if wanted.reference is None:
        return
    actor, component = built_embedder(wanted.embedder, wanted.options)
    files = image_files(wanted.reference, at_least=2 * _FEWEST if wanted.by_set else _FEWEST)
    features = embed_files(component, files, Stage(progress, "reference", len(files)))
    real = gaussian_of(features)
    if wanted.by_set:
        # What real images get: one half of them from the other.
        yield ImageSet(REAL, REAL), _figure("FID", REAL, fid(features[::2], features[1::2]), wanted.embedder)
    for of, rows in features_of(store, _ids(sets), actor, component, progress):
        yield of, _figure("FID", of.name, fid(rows, real), wanted.embedder)


def _inception_scores(
    store: RunStore, sets: Sets, wanted: QualityRequest, progress: Progress
) -> Iterator[tuple[ImageSet, SetFigure]]:
    if not wanted.logits:
        return
    options, temperature, name = {**wanted.options, "output": wanted.logits}, 1.0, "Inception Score"
    if wanted.held_out is not None:
        temperature = calibrated_temperature(wanted.held_out, wanted.embedder, options, progress)
        name = "I-IS" if wanted.by_set else f"I-IS, temperature {temperature:.4g}"
    actor, component = built_embedder(wanted.embedder, options)

    def figure(of: str, logits: object, n: int) -> SetFigure:
        n_splits = min(SPLITS, n)
        score = inception_score(logits, temperature=temperature, n_splits=n_splits)  # type: ignore[arg-type]  # an array
        return _figure(name, of, score, wanted.embedder)

    if wanted.reference is not None and wanted.by_set:
        files = image_files(wanted.reference)
        rows = embed_files(component, files, Stage(progress, "reference", len(files)))
        yield ImageSet(REAL, REAL), figure(REAL, rows, len(files))
    for of, rows in features_of(store, _ids(sets), actor, component, progress):
        yield of, figure(of.name, rows, len(rows))


def _precisions(
    store: RunStore,
    sets: Sets,
    wanted: QualityRequest,
    progress: Progress,
) -> Iterator[tuple[ImageSet, SetFigure]]:
    if not wanted.retrieval:
        return
    actor, component = built_embedder(wanted.retrieval, {})
    texts = sorted(
        {text for pictures in sets.values() for picture in pictures for text in (picture.caption, picture.original)}
    )
    rows_of = {text: row for row, text in enumerate(texts)}
    # Once each, and not once for every image that they are held against.
    vectors = embed_texts(component, texts, Stage(progress, "captions", len(texts)))

    def precision(name: str, of: str, images: object, captions: Sequence[str]) -> SetFigure | None:
        different = sorted(set(captions))
        if len(different) < _FEWEST:
            return None
        places = {text: place for place, text in enumerate(different)}
        among = vectors[[rows_of[text] for text in different]]
        own = [places[text] for text in captions]
        quality = r_precision(images, among, own, seed=0)  # type: ignore[arg-type]  # an array
        return _figure(name, of, quality, wanted.retrieval)

    for of, images in features_of(store, _ids(sets), actor, component, progress):
        captions_of = {
            OWN_CAPTION: [picture.caption for picture in sets[of]],
            ORIGINAL_CAPTION: [picture.original for picture in sets[of]],
        }
        if captions_of[OWN_CAPTION] == captions_of[ORIGINAL_CAPTION]:
            del captions_of[ORIGINAL_CAPTION]
        for name, captions in captions_of.items():
            if (figure := precision(name, of.name, images, captions)) is not None:
                yield of, figure
    captioned = _captioned(wanted.reference, store, rows_of) if wanted.reference is not None else {}
    if len(captioned) >= _FEWEST:
        images = embed_files(component, list(captioned), Stage(progress, "real images", len(captioned)))
        if (figure := precision(OWN_CAPTION, REAL, images, list(captioned.values()))) is not None:
            yield ImageSet(REAL, REAL), figure


def calibrated_temperature(
    held_out: Path, embedder: str, settings: Mapping[str, str] | None = None, progress: Progress = SILENT
) -> float:
    """The temperature of a network's logits (ACTesting, section 4.3), from images whose classes are known.

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


def _captioned(reference: Path, store: RunStore, known: Mapping[str, int]) -> dict[Path, str]:
    """The real images whose file is called after the image of a caption, as COCO's are."""
    captions = {
        case.cluster.lstrip("0"): case.prompts[0].text
        for case in store.cases()
        if case.mutation is not None and case.prompts[0].text in known
    }
    numbered = {path: re.sub(r"^.*_", "", path.stem).lstrip("0") for path in image_files(reference)}
    return {path: captions[number] for path, number in numbered.items() if number in captions}


def _ids(sets: Mapping[ImageSet, Sequence[CaptionedImage]]) -> dict[ImageSet, list[str]]:
    return {of: [picture.image_id for picture in pictures] for of, pictures in sets.items()}


def _figure(name: str, of: str, quality: Quality, embedder: str) -> SetFigure:
    return SetFigure(
        name=name,
        set=of,
        value=quality.value,
        n_images=quality.n_images,
        by=embedder,
        spread=quality.spread,
        low=quality.interval.low if quality.interval else None,
        high=quality.interval.high if quality.interval else None,
        n_reference=quality.n_reference,
        warning=quality.warning,
    )


def _keep(store: RunStore, measured: Mapping[str, Sequence[SetFigure]]) -> None:
    """Keep figures with the run; one of the same name and set takes the place of an older one."""
    by_model: dict[str, dict[tuple[str, str], Json]] = {}
    for model, rows in store.note(FIGURES).items():
        assert isinstance(rows, list)
        by_model[model] = {(str(row["name"]), str(row["set"])): row for row in rows if isinstance(row, dict)}
    for model, figures in measured.items():
        by_model.setdefault(model, {}).update({(f.name, f.set): dataclasses.asdict(f) for f in figures})
    store.set_meta(FIGURES, {model: list(rows.values()) for model, rows in by_model.items()})
    store.flush()
