"""Counterexamples as a page shows them: which ones, with which pictures, boxes and words.

Takes records and an ImageSource, gives exhibits ready to print. Everything in them is plain
text and numbers; whoever writes them out must escape them for the format at hand.
"""

from __future__ import annotations

import base64
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from io import BytesIO
from typing import NamedTuple

from salva import component_facts
from salva.component_facts import broken_name, rates_of, suite_about
from salva.core.case import Case, Prompt
from salva.core.command import command_for
from salva.core.judgements import CaseVerdict, Rate
from salva.core.observation import Detection, Reading
from salva.core.run_spec import RunSpec
from salva.core.scene import Box
from salva.core.scoring import role_score
from salva.core.source import ImageSource, QuestionAnswer, RewrittenPrompt, RunRecords, Seen
from salva.core.verdict import OPTICAL_CHARACTER, PAIR, Failure, Observers, Outcome, Verdict
from salva.errors import StoreError
from salva.judging.instructing import instructing_texts, is_instructed
from salva.results.headline import leading_verdicts
from salva.results.pair_kinds import pair_kind

MAX_EXHIBITS = 200
MAX_UNSEEN = 40
"""Pairs whose headline holds although truth says both pictures are wrong."""
MAX_INSTRUCTED = 40
"""Pairs that are shown only because text in an image instructs a judge."""
_SIDE = 320
_QUALITY = 80
UNSEEN = "agree, both wrong"
WRONG_BY_TRUTH = "wrong by truth"
INSTRUCTED = "instructs a judge"

Key = tuple[str, int, str, Observers]


class Thumbnail(NamedTuple):
    """A small copy of a picture."""

    uri: str
    """data: URI; empty when there is no picture to show."""
    width: int
    height: int


_NO_PICTURE = Thumbnail("", 1, 1)


@dataclass(frozen=True, slots=True, kw_only=True)
class Overlay:
    """A box drawn over a picture, in the picture's own units."""

    x: float
    y: float
    width: float
    height: float
    label: str
    is_text: bool
    is_blamed: bool
    """Whether a failure of this picture names it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Shot:
    """One prompt and its picture."""

    role: str
    text: str
    formula: str
    picture: Thumbnail
    overlays: tuple[Overlay, ...]
    failures: tuple[Failure, ...]
    also: tuple[Failure, ...]
    """What truth finds wrong in this picture beyond the headline's failures."""
    is_right: bool
    """Whether truth judged this picture and found nothing."""
    answers: tuple[QuestionAnswer, ...] = ()
    """What judges were asked about this picture."""
    instructing: tuple[str, ...] = ()
    """Texts in it that tell a judge what to say."""
    score: float | None = None
    """What it is worth by its own questions, from 0 to 1, where it has such a score."""
    reasons: tuple[QuestionAnswer, ...] = ()
    """The grades of its weightiest question with the judge's reasons, as far as no failure says them."""
    painted: RewrittenPrompt | None = None
    """What was made of its prompt, where that was not painted word for word."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Exhibit:
    """One pair that broke its check."""

    case: Case
    verdict: Verdict
    kind: str
    seed: int
    shots: tuple[Shot, ...]
    shared_failures: tuple[Failure, ...]
    """Failures that only the comparison shows."""
    command: str

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
    n_unseen: int
    """Exhibits whose headline holds although both pictures are wrong."""
    n_wrong_by_truth: int = 0
    """Further exhibits of one picture each: right by the check that leads, and wrong by the one for truth."""
    n_instructing: int = 0
    """Further exhibits, shown because text in an image instructs a judge."""


def make_gallery(records: RunRecords, images: ImageSource, limit: int = MAX_EXHIBITS) -> Gallery:
    """The counterexamples to show, spread over models and categories."""
    everyone = speaking(records)
    failed = [judged for judged in everyone if judged.verdict.outcome is Outcome.FAIL]
    truths = truths_of(records)
    shown = spread(failed, limit)
    unseen = spread(_unseen(everyone, truths), min(limit, MAX_UNSEEN))
    maker = ExhibitMaker(records.asked, images)
    exhibits = []
    for judged in shown:
        truth = truths.get(key_of(judged.verdict))
        exhibits.append(maker.exhibit(judged, kind_of(judged.verdict, truth), truth))
    alone = [judged for judged in unseen if len(judged.case.prompts) == 1]
    exhibits += [
        maker.exhibit(judged, WRONG_BY_TRUTH if judged in alone else UNSEEN, judged.verdict) for judged in unseen
    ]
    are_shown = {key_of(exhibit.verdict) for exhibit in exhibits}
    instructed = [pair for pair in everyone if is_instructed(pair.verdict) and key_of(pair.verdict) not in are_shown]
    bribes = spread(instructed, min(limit, MAX_INSTRUCTED))
    exhibits += [maker.exhibit(judged, INSTRUCTED, truths.get(key_of(judged.verdict))) for judged in bribes]
    return Gallery(
        exhibits=tuple(exhibits),
        n_fail=len(failed),
        n_shown=len(shown),
        n_unseen=len(unseen) - len(alone),
        n_wrong_by_truth=len(alone),
        n_instructing=len(bribes),
    )


def speaking(records: RunRecords) -> list[CaseVerdict]:
    """The verdicts that speak for their pairs, model by model."""
    rates = rates_of(verdict.check for verdict in records.verdicts)
    leads = suite_about(records.suite).leads
    leading = leading_verdicts(records.cases, records.verdicts, rates, records.asked.check, leads)
    return [judged for group in leading.values() for judged in group]


def truths_of(records: RunRecords) -> dict[Key, Verdict]:
    """What holds each picture against its own prompt, by pair, model and observers."""
    rates = rates_of(verdict.check for verdict in records.verdicts)
    return {
        key_of(verdict): verdict
        for verdict in records.verdicts
        if verdict.arm == PAIR and rates.get(verdict.check) is Rate.WRONG
    }


def spread(judged: Iterable[CaseVerdict], limit: int) -> list[CaseVerdict]:
    """At most `limit`, taken in turn from every model and category, so that none is crowded out."""
    groups: dict[tuple[str, str], list[CaseVerdict]] = {}
    for pair in judged:
        groups.setdefault((pair.verdict.model, pair.case.category), []).append(pair)
    chosen: list[CaseVerdict] = []
    for turn in range(max(map(len, groups.values()), default=0)):
        for group in groups.values():
            if turn < len(group):
                if len(chosen) == limit:
                    return chosen
                chosen.append(group[turn])
    return chosen


class ExhibitMaker:
    """Turns verdicts into exhibits; each picture is read and shrunk once."""

    def __init__(self, asked: RunSpec, images: ImageSource) -> None:
        self._chosen = component_facts.widened(asked)
        self._images = images
        self._thumbnails: dict[str, Thumbnail] = {}

    def exhibit(self, one: CaseVerdict, kind: str, truth: Verdict | None) -> Exhibit:
        """One pair with its pictures; truth's verdict on it where there is one."""
        case, verdict = one
        return Exhibit(
            case=case,
            verdict=verdict,
            kind=kind,
            seed=case.seed(self._chosen.seed, verdict.repeat),
            shots=tuple(self._shot(prompt, verdict, truth) for prompt in case.prompts),
            shared_failures=tuple(failure for failure in verdict.failures if not failure.role),
            command=command_for(case, verdict.model, self._chosen),
        )

    def _shot(self, prompt: Prompt, verdict: Verdict, truth: Verdict | None) -> Shot:
        failures = tuple(failure for failure in verdict.failures if failure.role == prompt.role)
        named = {(failure.failure_type, failure.entity) for failure in failures}
        also = tuple(
            failure
            for failure in (truth.failures if truth else ())
            if failure.role == prompt.role and (failure.failure_type, failure.entity) not in named
        )
        image_id = verdict.images.get(prompt.role)
        picture = _NO_PICTURE if image_id is None else self._thumbnail(image_id)
        seen = Seen() if image_id is None else self._images.seen(image_id, verdict.observers)
        return Shot(
            role=prompt.role,
            text=prompt.text,
            formula=prompt.formula or "",
            picture=picture,
            overlays=_overlays(seen, (*failures, *also), picture),
            failures=failures,
            also=also,
            is_right=truth is not None and bool(truth.scores.get(f"right_{prompt.role}")),
            answers=seen.answers,
            instructing=_instructing(seen) if is_instructed(verdict) else (),
            score=verdict.scores.get(role_score(prompt.role)),
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
    """A stored picture made small enough to be one of hundreds in a page."""
    from PIL import Image

    with Image.open(BytesIO(data)) as image:
        small = image.convert("RGB")
        small.thumbnail((_SIDE, _SIDE))
        # Boxes and their names are drawn in units of the shown size, however few pixels the picture has.
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


def kind_of(verdict: Verdict, truth: Verdict | None) -> str:
    """What truth says of the pair; where it finds no fault, what the check does."""
    kind = None if truth is None else pair_kind(truth)
    if kind and kind.is_wrong:
        return kind
    return broken_name(verdict.check)


def _unseen(leading: Sequence[CaseVerdict], truths: Mapping[Key, Verdict]) -> list[CaseVerdict]:
    """Pairs whose headline holds while truth is failed, with truth's verdict."""
    holding = [judged for judged in leading if judged.verdict.outcome is Outcome.PASS]
    paired = [(judged.case, truths.get(key_of(judged.verdict))) for judged in holding]
    return [CaseVerdict(case, truth) for case, truth in paired if truth and truth.outcome is Outcome.FAIL]


def _instructing(seen: Seen) -> tuple[str, ...]:
    return instructing_texts(Reading(spans=seen.texts)) or instructing_texts(Reading(spans=seen.text_screened))


def key_of(verdict: Verdict) -> Key:
    """Which pair of which model, as whom it was seen by."""
    return verdict.case_id, verdict.repeat, verdict.model, verdict.observers
