"""The seams: what a suite, a generator, an observer, a check, a metric, a format and an executor are.

A component is a class with a `version`, an optional frozen dataclass `Options`, and a constructor
that takes an instance of it. Weights load on construction, work happens on call. Calls take a
batch and give one outcome per element, in order: an exception is returned as a value, so that
one bad element never costs its neighbours. Bump `version` when the same input gives other output.

A component may say more of itself in a record `about` and, once built, how it likes to be called in a record
`habits` (core/about.py). One at an endpoint names its costs in provenance["cost_usd"], or in usage["cost_usd"] of an
Answer or a Reading. One whose weights can change has a class method `weights(options)` that pins them. One that holds
connections or a process has `close()`, called when the run ends.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from concurrent.futures import Future
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar, Protocol, runtime_checkable

from salva.core.case import Case, Prompt
from salva.core.fingerprint import Json
from salva.core.image import AnyPicture, ImageRef, Picture, PictureFile
from salva.core.observation import Observation
from salva.core.scene import Box
from salva.core.verdict import Failure, Outcome
from salva.errors import SalvaError

if TYPE_CHECKING:
    from salva.core.chart import Chart
    from salva.core.exchange import ExportCount, ImportSettings, ReadIn
    from salva.core.judgements import Judgements
    from salva.core.metric import MetricValue
    from salva.core.plan import Binding
    from salva.core.scoring import Pair
    from salva.core.source import RunSource
    from salva.core.table import Table


@dataclass(frozen=True, slots=True, kw_only=True)
class Ticket:
    """What an endpoint answers in place of an image: with it the image is fetched, as often as it takes."""

    place: str
    """The image's URL, or the id of the job that generates it."""
    provenance: Mapping[str, Json] = field(default_factory=dict)
    """That of the image."""
    expires_at: float | None = None
    """Seconds since 1970, where the endpoint says it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RenderRequest:
    """One image to generate."""

    prompt: Prompt
    seed: int
    repeat: int = 0
    """For generators without seeds (folders, some APIs)."""
    failed_before: bool = False
    """Whether an earlier command asked for it in vain."""
    ticket: Ticket | None = None
    """Given where the image was generated, and is only to be fetched."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Rendered:
    """A generated image and where it came from."""

    picture: Picture
    provenance: Mapping[str, Json] = field(default_factory=dict)
    """Kept with the image, never shown to an observer: planted faults, a rewritten prompt, a snapshot name."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Query:
    """What an observer is asked about an image."""

    role: str
    """detector, reader, embedder or judge; colour_reader: what colour the things in the detector's boxes have."""
    text: str = ""
    """For an embedder: the text to embed in place of the image. For a judge: what it is asked about."""
    labels: tuple[str, ...] = ()
    """For detectors that must be told what to look for; others never see it and their key leaves it out."""
    kind: str = ""
    """What a judge is asked for: "score" (how well the image fits the text: objects and relations, 0 to 50
    each), "answer" (the text is a question) or "grade" (0 to 1 for each of the questions)."""
    choices: tuple[str, ...] = ()
    """The answers a question allows; empty for any. For an embedder: texts that the image is held against; the
    vector then has its cosine to each, to one of several lines that to the mean of their vectors."""
    questions: tuple[str, ...] = ()
    """What is graded, one by one."""
    criteria: tuple[str, ...] = ()
    """When each score is given, one text for each question; with them a judge gives a reason before each score."""
    rubric: str = ""
    """How strictly a judge in words is to grade, by name; empty leaves it to the judge."""
    formulas: tuple[str, ...] = ()
    """What the text (score), each choice (answer) or each question (grade) means, for judges that reason from
    scenes; others never see it and their key leaves it out."""
    side: int = 0
    """The image is observed scaled to a square of this many pixels; 0: as it is. Of a part (box) the shorter side
    gets this length, and the middle square is kept."""
    box: Box | tuple[()] = ()
    """Only this part of the image is observed."""
    mask: tuple[int, int, int, int, str] | tuple[()] = ()
    """Left, top, width, height and packed of a core.masks.Mask: what lies outside it is grey (#999)."""
    repeat: int = 0
    """A judge can be asked the same again, to see whether it says the same again."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ObserveRequest:
    """One query about one image."""

    picture: Picture
    query: Query
    given: Mapping[str, Observation] = field(default_factory=dict)
    """What the roles in the observer's `about.needs_roles` saw in the same image."""
    failed_before: bool = False
    """Whether an earlier command asked for it in vain."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Need:
    """A query about the image of one prompt, as a check asks for it."""

    role: str
    """The prompt's role in its case."""
    query: Query


@dataclass(frozen=True, slots=True, kw_only=True)
class ImageObservations:
    """All that was seen of one prompt's image."""

    image: ImageRef
    seen: Mapping[Query, Observation] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Conclusion:
    """A check's answer; the run adds which case, repeat, arm and model it is about."""

    outcome: Outcome
    failure_types: tuple[str, ...] = ()
    failures: tuple[Failure, ...] = ()
    scores: Mapping[str, float] = field(default_factory=dict)
    reason: str = ""


class Suite(Protocol):
    """Options to cases.

    A suite may also have `lint() -> Iterable[Finding]`, which looks through all of its texts for faults,
    and `remarks(size) -> Iterable[str]`, printed before a run of that size.
    """

    version: ClassVar[str]
    sizes: ClassVar[tuple[str, ...]]
    """Named sizes, smallest first; a number samples the largest, balanced over categories."""

    def cases(self, size: str) -> Iterator[Case]:
        """The cases of one of its sizes, in a stable order."""


class Generator(Protocol):
    """Prompts to images."""

    version: ClassVar[str]

    def render(self, requests: Sequence[RenderRequest]) -> Sequence[Rendered | SalvaError]:
        """One image or error per request."""


@runtime_checkable
class TwoStepGenerator(Generator, Protocol):
    """A generator whose endpoint is paid in one step and gives the image in another, which can be repeated."""

    def begin(self, requests: Sequence[RenderRequest]) -> Sequence[Rendered | Ticket | SalvaError]:
        """The paid step: one image, ticket or error per request."""

    def fetch(self, requests: Sequence[RenderRequest]) -> Sequence[Rendered | SalvaError]:
        """The image of each request's ticket, or an error; LostError where there will be none."""


class Observer(Protocol):
    """Images to observations: a detector, a reader, an embedder or a judge."""

    version: ClassVar[str]

    def observe(self, requests: Sequence[ObserveRequest]) -> Sequence[Observation | SalvaError]:
        """One observation or error per request."""


class Check(Protocol):
    """Observations of a case's images to a conclusion; pure. It may have `remarks(size)`, as a suite has."""

    version: ClassVar[str]

    def applies(self, case: Case) -> bool:
        """Whether this case is one for this check."""

    def needs(
        self, case: Case, roles: Collection[str], observations: Mapping[str, ImageObservations]
    ) -> Sequence[Need]:
        """What must be observed next, given what was seen; asked again until nothing new comes."""

    def judge(self, case: Case, observations: Mapping[str, ImageObservations]) -> Conclusion:
        """The conclusion, once every look has been answered."""


class ScoringCheck(Check, Protocol):
    """A check over scores of images against texts, which can conclude from anybody's; it says about.scoring."""

    def conclude(
        self, case: Case, given: Mapping[Pair, tuple[float, float] | str], observations: Mapping[str, ImageObservations]
    ) -> Conclusion:
        """The conclusion from scores alone: objects and relations, 0 to 50 each, or why there are none.

        observations: whatever else was seen of the images; empty where nobody but the scorer looked.
        """


@dataclass(frozen=True, slots=True, kw_only=True)
class Measured:
    """What a metric makes of a run's verdicts."""

    metrics: Mapping[str, MetricValue] = field(default_factory=dict)
    """By name, the most important first."""
    tables: tuple[Table, ...] = ()
    charts: tuple[Chart, ...] = ()


class Metric(Protocol):
    """Results and verdicts of one model to metrics, tables and charts; pure."""

    version: ClassVar[str]

    def measure(self, judgements: Judgements) -> Measured:
        """Metrics, tables and charts for the report."""


class Importer(Protocol):
    """Files of one format, as others wrote them, to cases and verdicts."""

    version: ClassVar[str]

    def read(self, files: Sequence[Path], settings: ImportSettings) -> ReadIn:
        """What the files hold, and everything that is wrong with them."""


class Exporter(Protocol):
    """A run to files of one format."""

    version: ClassVar[str]

    def write(self, source: RunSource, out: Path) -> ExportCount:
        """Write the file or folder OUT; says how many of what."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ObserveOrder:
    """A look as a lane is asked for it; where the observer is, it becomes a ObserveRequest."""

    picture: AnyPicture
    query: Query
    given: Mapping[str, Observation] = field(default_factory=dict)
    failed_before: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Delivered:
    """What was generated in another process: Rendered, with the file in the place of the pixels."""

    picture: PictureFile
    provenance: Mapping[str, Json] = field(default_factory=dict)


Painting = Rendered | Delivered
"""What a lane gives back for an image that was generated."""
Orders = Sequence[RenderRequest] | Sequence[ObserveOrder]


@runtime_checkable
class RunExporter(Protocol):
    """An exporter that takes a run as it is stored, and not its records: of whatever size, none of it is loaded."""

    version: ClassVar[str]

    def write_run(self, directory: Path, out: Path) -> ExportCount:
        """Write the file or folder OUT of the run in a directory; says how many of what."""


@runtime_checkable
class RunImporter(Protocol):
    """An importer whose files hold a whole run."""

    version: ClassVar[str]

    def read_run(self, files: Sequence[Path], out: Path) -> ReadIn:
        """Make the run OUT of the files, whole or not at all; says what was read, and repeats none of it."""


class Lane(Protocol):
    """A component at work."""

    @property
    def batch_size(self) -> int:
        """How many orders it wants at once."""

    @property
    def depth(self) -> int:
        """How many batches it can have under way; asked anew each time, since that may change."""

    def submit(self, orders: Orders) -> Future[Sequence[object]]:
        """Start a batch; the future holds one outcome per order and never raises for a single one."""


class Executor(Protocol):
    """Where components run: threads of this process, or elsewhere."""

    version: ClassVar[str]

    def open(self, binding: Binding, crowd: Sequence[Binding]) -> Lane:
        """Put a component to work; crowd: everyone who may be put to work in this run, among whom room is shared."""

    def stop(self) -> None:
        """Begin no more calls: the futures of those under way get their outcomes, the others are cancelled."""

    def close(self) -> None:
        """Stop everything; safe to call twice."""
