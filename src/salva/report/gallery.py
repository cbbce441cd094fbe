"""Counterexamples as a page shows them: which ones, with which images, boxes and words.

Takes results and an ImageSource, gives exhibits ready to print. Everything in them is plain text and numbers; whoever
writes them out must escape them for the format at hand.
"""

from __future__ import annotations

import base64
from collections.abc import Sequence
from dataclasses import dataclass
from io import BytesIO
from typing import NamedTuple

from salva import component_facts
from salva.core.case import Case, Prompt
from salva.core.command import command_for
from salva.core.observation import Detection, Reading
from salva.core.result import Result
from salva.core.run_spec import RunSpec
from salva.core.scene import Box
from salva.core.scoring import role_score
from salva.core.source import ImageSource, QuestionAnswer, RewrittenPrompt, Seen
from salva.core.verdict import OPTICAL_CHARACTER, Failure, Observers
from salva.errors import StoreError
from salva.judging.instructing import instructing_texts, is_instructed
from salva.report.changed_words import Segment, changed_words
from salva.report.examples import observers_of, spread
from salva.report.summary import Summary

MAX_EXHIBITS = 120
MAX_INSTRUCTED = 40
"""Results that are shown only because text in an image instructs a judge."""
INSTRUCTED = "text in an image instructs the judge"
_SIDE = 320
_QUALITY = 80


class Thumbnail(NamedTuple):
    """A small copy of an image."""

    uri: str
    """data: URI; empty when there is no image to show."""
    width: int
    height: int


_NO_PICTURE = Thumbnail("", 1, 1)


@dataclass(frozen=True, slots=True, kw_only=True)
class Overlay:
    """A box drawn over an image, in the image's own units."""

    x: float
    y: float
    width: float
    height: float
    label: str
    is_text: bool
    is_blamed: bool
    """Whether a failure of this image names it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Shot:
    """One prompt and its image."""

    role: str
    words: tuple[Segment, ...]
    """The prompt in pieces: those that differ between the prompts of the case are marked."""
    formula: str
    picture: Thumbnail
    overlays: tuple[Overlay, ...]
    failures: tuple[Failure, ...]
    """What the first check that found anything says."""
    also: tuple[Failure, ...]
    """What other checks found besides."""
    is_right: bool
    """Whether a check held this image against its prompt and found nothing."""
    answers: tuple[QuestionAnswer, ...] = ()
    """What judges were asked about this image."""
    instructing: tuple[str, ...] = ()
    """Texts in it that tell a judge what to say."""
    score: float | None = None
    """What it is worth by its own questions, from 0 to 1, where it has such a score."""
    reasons: tuple[QuestionAnswer, ...] = ()
    """The grades of its weightiest question with the judge's reasons, as far as no failure says them."""
    painted: RewrittenPrompt | None = None
    """What was made of its prompt, where the image was not generated from that word for word."""

    @property
    def text(self) -> str:
        """The prompt."""
        return "".join(segment.text for segment in self.words)


@dataclass(frozen=True, slots=True, kw_only=True)
class Exhibit:
    """One result with its images."""

    result: Result
    note: str
    """Why it is shown, where it did not fail."""
    seed: int
    shots: tuple[Shot, ...]
    command: str

    @property
    def case(self) -> Case:
        """What was tested."""
        return self.result.case

    @property
    def shared_failures(self) -> tuple[Failure, ...]:
        """Failures that only the comparison of its images shows."""
        roles = {shot.role for shot in self.shots}
        return tuple(failure for failure in self.result.failures if failure.role not in roles)

    @property
    def is_half_right(self) -> bool:
        """Whether one of its images fails and another does not: the clearest kind to begin with."""
        return len({bool(shot.failures) for shot in self.shots}) == 2

    @property
    def search_text(self) -> str:
        """What a search for words looks through."""
        words = [self.case.case_id, *self.case.labels.values(), *(shot.text for shot in self.shots)]
        return " ".join(words).lower()


@dataclass(frozen=True, slots=True, kw_only=True)
class Gallery:
    """The exhibits of a report and how many there would have been."""

    exhibits: tuple[Exhibit, ...]
    n_fail: int
    n_shown: int
    """Of those that failed; the others follow them."""
    featured: Exhibit | None = None
    """The one to begin with: where one image is right and another is not, if there is such a one. It is the last of
    those that failed, so that no reader meets it twice."""


def make_gallery(summary: Summary, images: ImageSource, limit: int = MAX_EXHIBITS) -> Gallery:
    """The counterexamples to show, spread over models and categories."""
    results = [result for model in summary.by_model.values() for result in model.all_results]
    failed = [result for result in results if result.is_fail]
    shown = spread(failed, limit)
    are_shown = set(map(id, shown))
    instructed = [result for result in results if id(result) not in are_shown and is_bribed(result)]
    maker = ExhibitMaker(summary.asked, images)
    exhibits = [maker.exhibit(result) for result in shown]
    featured = next((one for one in exhibits if one.is_half_right), exhibits[0] if exhibits else None)
    exhibits.sort(key=lambda exhibit: exhibit is featured)
    exhibits += [maker.exhibit(result, INSTRUCTED) for result in spread(instructed, min(limit, MAX_INSTRUCTED))]
    return Gallery(exhibits=tuple(exhibits), n_fail=len(failed), n_shown=len(shown), featured=featured)


def is_bribed(result: Result) -> bool:
    """Whether text in one of its images instructs a judge."""
    return any(map(is_instructed, result.evidence))


class ExhibitMaker:
    """Turns results into exhibits; each image is read and shrunk once."""

    def __init__(self, asked: RunSpec, images: ImageSource) -> None:
        self._chosen = component_facts.widened(asked)
        self._images = images
        self._thumbnails: dict[str, Thumbnail] = {}

    def exhibit(self, result: Result, note: str = "") -> Exhibit:
        """One result with its images; note: why it is shown, where it did not fail."""
        case, observers = result.case, observers_of(result)
        marked = changed_words([prompt.text for prompt in case.prompts])
        pieces = zip(case.prompts, marked, strict=True)
        return Exhibit(
            result=result,
            note=note,
            seed=case.seed(self._chosen.seed, result.repeat),
            shots=tuple(self._shot(prompt, words, result, observers) for prompt, words in pieces),
            command=command_for(case, result.model, self._chosen),
        )

    def _shot(self, prompt: Prompt, words: tuple[Segment, ...], result: Result, observers: Observers) -> Shot:
        found = [tuple(one for one in v.failures if one.role == prompt.role) for v in result.evidence if result.is_fail]
        failures, *more = [each for each in found if each] or [()]
        also = tuple(failure for each in more for failure in each)
        image_id = result.images.get(prompt.role)
        picture = _NO_PICTURE if image_id is None else self._thumbnail(image_id)
        seen = Seen() if image_id is None else self._images.seen(image_id, observers)
        scores = {name: value for verdict in result.evidence for name, value in verdict.scores.items()}
        return Shot(
            role=prompt.role,
            words=words,
            formula=prompt.formula or "",
            picture=picture,
            overlays=_overlays(seen, (*failures, *also), picture),
            failures=failures,
            also=also,
            is_right=not failures and bool(scores.get(f"right_{prompt.role}")),
            answers=seen.answers,
            instructing=_instructing(seen) if is_bribed(result) else (),
            score=scores.get(role_score(prompt.role)),
            reasons=_reasons(prompt, seen, failures),
            painted=next((made for made in seen.painted if made.prompt == prompt.text), None),
        )

    def _thumbnail(self, image_id: str) -> Thumbnail:
        if image_id not in self._thumbnails:
            try:
                self._thumbnails[image_id] = make_thumbnail(self._images.file_bytes(image_id))
            except (StoreError, OSError, SyntaxError, ValueError):
                # One damaged file must not cost the report; the page says what to do about it.
                self._thumbnails[image_id] = _NO_PICTURE
        return self._thumbnails[image_id]


def make_thumbnail(data: bytes) -> Thumbnail:
    """A stored image made small enough to be one of hundreds in a page."""
    from PIL import Image

    with Image.open(BytesIO(data)) as image:
        small = image.convert("RGB")
        small.thumbnail((_SIDE, _SIDE))
        # Boxes and their names are drawn in units of the shown size, however few pixels the image has.
        scale = _SIDE / max(small.size)
        buffer = BytesIO()
        small.save(buffer, "WEBP", quality=_QUALITY, method=4)
    encoded = base64.b64encode(buffer.getvalue()).decode("ascii")
    return Thumbnail(f"data:image/webp;base64,{encoded}", round(small.width * scale), round(small.height * scale))


def _reasons(prompt: Prompt, seen: Seen, failures: Sequence[Failure]) -> tuple[QuestionAnswer, ...]:
    """Why the question that decides got its grade; asked under two rubrics, it has two."""
    heaviest = max(prompt.questions, key=lambda question: question.weight, default=None)
    given = [answer for answer in seen.answers if heaviest is not None and answer.question == heaviest.text]
    said = [answer for answer in given if answer.reason]
    return tuple(answer for answer in said if not any(answer.reason in failure.message for failure in failures))


def _overlays(seen: Seen, failures: Sequence[Failure], picture: Thumbnail) -> tuple[Overlay, ...]:
    blamed = {failure.entity for failure in failures if failure.entity}
    is_text_blamed = any(failure.failure_type == OPTICAL_CHARACTER for failure in failures)
    things = [_overlay(box.box, picture, _shown(box), False, bool({box.label, box.raw} & blamed)) for box in seen.boxes]
    # Texts of one box are named together: a judge that reads says what is written and not where.
    by_box: dict[Box, list[str]] = {}
    for span in seen.texts:
        by_box.setdefault(span.box, []).append(f"“{span.text}”")
    texts = [_overlay(box, picture, " ".join(said), True, is_text_blamed) for box, said in by_box.items()]
    return (*things, *texts)


def _shown(box: Detection) -> str:
    """Name and score; where the detector used another name, that one too."""
    own = f" ({box.raw})" if box.raw and box.raw != box.label else ""
    return f"{box.label}{own} {box.score * 100:.0f}"


def _overlay(box: Box, picture: Thumbnail, label: str, is_text: bool, is_blamed: bool) -> Overlay:
    x0, y0, x1, y1 = (min(max(edge, 0.0), 1.0) for edge in box)
    return Overlay(
        x=round(x0 * picture.width, 1),
        y=round(y0 * picture.height, 1),
        width=round((x1 - x0) * picture.width, 1),
        height=round((y1 - y0) * picture.height, 1),
        label=label,
        is_text=is_text,
        is_blamed=is_blamed,
    )


def _instructing(seen: Seen) -> tuple[str, ...]:
    return instructing_texts(Reading(spans=seen.texts))
