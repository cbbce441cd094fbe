"""A run as exporters get it: its records, and its images by id.

Whatever works on these can be tried in a test without a store, and can stand below the store.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import NamedTuple, Protocol

from salva.core.case import Case
from salva.core.fingerprint import Json
from salva.core.judgements import Effort, SetFigure
from salva.core.observation import Answer, Detection, Detections, TextSpan
from salva.core.review import Review
from salva.core.run_spec import NOTHING, RunSpec
from salva.core.verdict import Observers, Verdict

REAL = "real images"
"""The name under which real images stand among models and sets of images."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Spent:
    """What a component's work came to over a whole run, as it counts that itself."""

    role: str
    label: str
    n_done: int
    n_failed: int
    """Pieces of work that failed or were refused."""
    usage: Mapping[str, float]
    """n_calls, input_tokens, output_tokens, cost_usd, summed over what was answered and what was not."""


class RewrittenPrompt(NamedTuple):
    """What a model made of a prompt before it generated, where that was not the prompt itself."""

    model: str
    prompt: str
    text: str
    """What was generated in its place, where somebody rewrote it; else empty."""
    passed_over: tuple[str, ...]
    """Words of it that the model does not know and ignored."""
    n: int
    """In how many images."""
    repeats: tuple[int, ...] = ()
    """In which repeats; empty where that does not matter."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ImportCopy:
    """A file of others that a run was made of and keeps."""

    name: str
    """What it was called when it was imported."""
    path: Path
    sha256: str
    """Of what was imported."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RunRecords:
    """All that a report reads of a run, less the images."""

    cases: tuple[Case, ...]
    verdicts: tuple[Verdict, ...]
    primaries: Mapping[str, str] = field(default_factory=dict)
    """Case to its primary check; empty for one that no check can judge."""
    deciding: tuple[str, ...] = ()
    """Labels of the observers whose verdicts make the results; the first judge before the others."""
    asked: RunSpec = NOTHING
    """As the run is judged now."""
    name: str = ""
    """The run directory's own name."""
    written_at: datetime | None = None
    """When something was last written to it."""
    made_by: str = ""
    """The version of salva that made it."""
    gates: Mapping[str, Json] = field(default_factory=dict)
    """What gates last decided, by model."""
    contrast: Mapping[str, Json] = field(default_factory=dict)
    """What control questions showed of its judges, by model and judge."""
    max_errors: int = 0
    """How many results may be ERROR before the exit code counts them."""
    preflight_about: tuple[str, ...] = ()
    """The observers that the preflight is about."""
    preflight: str = ""
    """Whether observers were tried on images of salva's own: passed, warned, off, stopped, or empty where none was."""
    figures: Mapping[str, tuple[SetFigure, ...]] = field(default_factory=dict)
    """What was measured of each model's images as images; real ones stand under the name REAL."""
    spent: tuple[Spent, ...] = ()
    """What every component's work came to."""
    painted: tuple[RewrittenPrompt, ...] = ()
    """The prompts that were not generated word for word."""
    effort: Effort | None = None
    """What the run took; None where nobody noted it."""
    weights: Mapping[str, str] = field(default_factory=dict)
    """Each component, to what pins its weights."""
    parameters: Mapping[str, Mapping[str, int]] = field(default_factory=dict)
    """Each model that was loaded here, to the parameters of its networks."""
    is_whole: bool = False
    """Whether no verdict is missing: what has none is a case that the check does not apply to."""
    import_copies: tuple[ImportCopy, ...] = ()
    """The files that it was imported from, as far as it keeps them."""
    reviews: tuple[Review, ...] = ()
    """People's labels of its results, the oldest first."""

    @property
    def suite(self) -> str:
        """The suite the cases are of."""
        return self.cases[0].suite if self.cases else self.asked.suite.name

    @property
    def models(self) -> tuple[str, ...]:
        """The models, in the order of the command; then those that only verdicts name."""
        named = (model.name for model in self.asked.models)
        return tuple(dict.fromkeys((*named, *(verdict.model for verdict in self.verdicts))))


@dataclass(frozen=True, slots=True, kw_only=True)
class QuestionAnswer:
    """What a judge was asked about an image and what it answered, in plain words."""

    question: str
    answer: str
    reason: str = ""
    """Why, in the judge's words, where it was asked for a reason."""
    rubric: str = ""
    """How strictly it was to grade, by name."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Seen:
    """What the observers of a verdict saw in one image."""

    boxes: tuple[Detection, ...] = ()
    texts: tuple[TextSpan, ...] = ()
    answers: tuple[QuestionAnswer, ...] = ()
    painted: tuple[RewrittenPrompt, ...] = ()
    """What was made of the prompts that it was generated from, where these were not generated word for word."""


class ImageSource(Protocol):
    """Images by image id."""

    def file_bytes(self, image_id: str) -> bytes:
        """The stored file."""

    def seen(self, image_id: str, observers: Observers) -> Seen:
        """What these observers saw."""

    def detections(self, image_id: str, observers: Observers) -> Detections | None:
        """All boxes that the detector among these observers kept, whether they count or not."""

    def answers(self, image_id: str, observers: Observers) -> Mapping[str, Answer]:
        """Question to answer, as the judge among these observers gave it the first time it was asked."""


class RunSource(NamedTuple):
    """A run that can be read, with its images."""

    records: RunRecords
    images: ImageSource
