"""Figures of sets of images: FID, Inception Score and R-precision, kept with the run.

A set is what one model painted for one role of the prompts; of captions and their mutants, `orig` and each operator. A
picture that several cases share is in its set once. Verdicts play no part.
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
from salva.core.run_spec import NOTHING
from salva.core.source import REAL
from salva.engine.progress import Progress
from salva.errors import UsageError
from salva.messages import message
from salva.runs.image_quality import (
    SILENT,
    SPLITS,
    QualityRequest,
    Stage,
    built_embedder,
    calibrated_temperature,
    embed_files,
    embed_texts,
    features_of,
    image_files,
)
from salva.stats.frechet import Quality, fid, gaussian_of, inception_score
from salva.stats.retrieval import r_precision
from salva.store.records import FIGURES, Status
from salva.store.runfile import read_run_file
from salva.store.sqlite import RunStore, open_run

ORIG = "orig"
OWN_CAPTION, ORIGINAL_CAPTION = "R-precision", "R-precision by the original captions"
_FEWEST = 2


class ImageSet(NamedTuple):
    """What one model painted for one role."""

    model: str
    name: str

    def __str__(self) -> str:
        return f"{self.model}, {self.name}"


class CaptionedImage(NamedTuple):
    """A picture and what it was painted for."""

    image_id: str
    caption: str
    original: str
    """The caption that its own was made from; its own where it was made from none."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Retrieval:
    """R-precision as it is wanted."""

    embedder: str
    """Of pictures and texts, such as clip or pocket."""
    options: Mapping[str, str] = field(default_factory=dict)
    seed: int = 0


def set_figures(
    directory: Path, wanted: QualityRequest | None, retrieval: Retrieval | None, progress: Progress = SILENT
) -> dict[str, list[SetFigure]]:
    """The figures that are wanted, of every set, by model; kept in the run in the place of older ones of their name."""
    figures: dict[str, list[SetFigure]] = {}
    with open_run(directory, "write") as store:
        sets = image_sets(store, directory)
        for of, figure in _figures(store, sets, wanted, retrieval, progress):
            figures.setdefault(of.model, []).append(figure)
        _keep(store, figures)
    return figures


def image_sets(store: RunStore, directory: Path) -> dict[ImageSet, list[CaptionedImage]]:
    """Every set of the run, its pictures in an order that has nothing to do with their prompts."""
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
    if not sets:
        raise UsageError(message("images-missing", path=str(directory)))
    return {of: sorted(painted.values()) for of, painted in sets.items() if len(painted) >= _FEWEST}


def _set_of(case: Case, role: str) -> str:
    if case.mutation is None:
        return role
    return ORIG if role == case.prompts[0].role else case.mutation.operator


def _figures(
    store: RunStore,
    sets: Mapping[ImageSet, Sequence[CaptionedImage]],
    wanted: QualityRequest | None,
    retrieval: Retrieval | None,
    progress: Progress,
) -> Iterator[tuple[ImageSet, SetFigure]]:
    if wanted is not None:
        yield from _fids(store, sets, wanted, progress)
        yield from _inception_scores(store, sets, wanted, progress)
    if retrieval is not None:
        yield from _precisions(store, sets, retrieval, wanted.reference if wanted else None, progress)


def _fids(
    store: RunStore, sets: Mapping[ImageSet, Sequence[CaptionedImage]], wanted: QualityRequest, progress: Progress
) -> Iterator[tuple[ImageSet, SetFigure]]:
    if wanted.reference is None:
        return
    actor, component = built_embedder(wanted.embedder, wanted.options)
    files = image_files(wanted.reference, at_least=2 * _FEWEST)
    features = embed_files(component, files, Stage(progress, "reference", len(files)))
    real = gaussian_of(features)
    # What real pictures get: one half of them from the other.
    yield ImageSet(REAL, REAL), _figure("FID", REAL, fid(features[::2], features[1::2]), wanted.embedder)
    for of, rows in features_of(store, _ids(sets), actor, component, progress):
        yield of, _figure("FID", of.name, fid(rows, real), wanted.embedder)


def _inception_scores(
    store: RunStore, sets: Mapping[ImageSet, Sequence[CaptionedImage]], wanted: QualityRequest, progress: Progress
) -> Iterator[tuple[ImageSet, SetFigure]]:
    if not wanted.logits:
        return
    options, temperature, name = {**wanted.options, "output": wanted.logits}, 1.0, "Inception Score"
    if wanted.held_out is not None:
        temperature = calibrated_temperature(wanted.held_out, wanted.embedder, options, progress)
        name = "I-IS"
    actor, component = built_embedder(wanted.embedder, options)

    def figure(of: str, logits: object, n: int) -> SetFigure:
        n_splits = min(SPLITS, n)
        score = inception_score(logits, temperature=temperature, n_splits=n_splits)  # type: ignore[arg-type]  # an array
        return _figure(name, of, score, wanted.embedder)

    if wanted.reference is not None:
        files = image_files(wanted.reference)
        rows = embed_files(component, files, Stage(progress, "reference", len(files)))
        yield ImageSet(REAL, REAL), figure(REAL, rows, len(files))
    for of, rows in features_of(store, _ids(sets), actor, component, progress):
        yield of, figure(of.name, rows, len(rows))


def _precisions(
    store: RunStore,
    sets: Mapping[ImageSet, Sequence[CaptionedImage]],
    retrieval: Retrieval,
    reference: Path | None,
    progress: Progress,
) -> Iterator[tuple[ImageSet, SetFigure]]:
    actor, component = built_embedder(retrieval.embedder, retrieval.options)
    texts = sorted(
        {text for pictures in sets.values() for picture in pictures for text in (picture.caption, picture.original)}
    )
    rows_of = {text: row for row, text in enumerate(texts)}
    # Once each, and not once for every picture that they are held against.
    vectors = embed_texts(component, texts, Stage(progress, "captions", len(texts)))

    def precision(name: str, of: str, images: object, captions: Sequence[str]) -> SetFigure | None:
        different = sorted(set(captions))
        if len(different) < _FEWEST:
            return None
        places = {text: place for place, text in enumerate(different)}
        among = vectors[[rows_of[text] for text in different]]
        own = [places[text] for text in captions]
        quality = r_precision(images, among, own, seed=retrieval.seed)  # type: ignore[arg-type]  # an array
        return _figure(name, of, quality, retrieval.embedder)

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
    captioned = _captioned(reference, store, rows_of) if reference is not None else {}
    if len(captioned) >= _FEWEST:
        images = embed_files(component, list(captioned), Stage(progress, "real pictures", len(captioned)))
        if (figure := precision(OWN_CAPTION, REAL, images, list(captioned.values()))) is not None:
            yield ImageSet(REAL, REAL), figure


def _captioned(reference: Path, store: RunStore, known: Mapping[str, int]) -> dict[Path, str]:
    """The real pictures whose file is called after the image of a caption, as COCO's are."""
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
    kept = store.meta().get(FIGURES)
    by_model: dict[str, dict[tuple[str, str], Json]] = {}
    for model, rows in kept.items() if isinstance(kept, dict) else ():
        assert isinstance(rows, list)
        by_model[model] = {(str(row["name"]), str(row["set"])): row for row in rows if isinstance(row, dict)}
    for model, figures in measured.items():
        by_model.setdefault(model, {}).update({(f.name, f.set): dataclasses.asdict(f) for f in figures})
    store.set_meta(FIGURES, {model: list(rows.values()) for model, rows in by_model.items()})
    store.flush()
