"""What a component says about itself: About before it is built, Habits once it is; and the one place that reads them.

    class Blobs:
        about = About(role="detector", takes_labels=True)

A component that says nothing gets the defaults. What an author got wrong is a PluginError.
Nobody else asks a component for what it may or may not have.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import TYPE_CHECKING, Any, TypeVar

from salva.core.options import NoOptions
from salva.errors import PluginError
from salva.messages import message

if TYPE_CHECKING:
    from salva.core.addresses import KeyUse
    from salva.core.case import Case, Finding
    from salva.core.own_figure import OwnFigure
    from salva.core.scoring import PairScoring
    from salva.core.table import Cell

PUBLISHED_WEIGHTS = "published weights"
"""Stands in the pin of a component's weights where these are the very ones a published evaluation was made with."""

_Record = TypeVar("_Record", "About", "Habits")


class Naming(StrEnum):
    """How a detector comes by its names, where they cannot be listed before it is built."""

    UNKNOWN = "unknown"
    ASKED = "what it is asked for"
    OWN = "its own words"
    """Any word it likes, asked or not."""
    LOADED = "in its weights"
    """A fixed list, in Habits.names once it is built."""


@dataclass(frozen=True, slots=True, kw_only=True)
class About:
    """What is known of a component before anything is built: a class attribute `about`."""

    role: str = ""
    """For a loose file whose methods do not tell its role: detector, reader, embedder or judge."""
    name: str = ""
    """For a loose file; empty for the class's own, in kebab-case."""

    needs_roles: tuple[str, ...] = ()
    """ActorsByRole: roles whose observations of the same image they are given first. Checks: roles that must be
    bound for them to be judged at all."""
    sees_formula: bool = False
    """Whether the formula, and not only the text, can change what is generated or answered."""
    needs_formulas: bool = False
    """Whether an observer can say nothing of a text without a formula."""
    takes_labels: bool = False
    """Whether Query.labels can change what an observer sees."""

    is_remote: bool = False
    """Whether it waits for an endpoint: it gets one element a call, and as many calls at once as the endpoint takes."""
    priced_by: tuple[str, ...] = ("price_usd",)
    """The options that must be set for the price of its work at an endpoint to be known."""

    wraps: str = ""
    """The role of the component it is put round: it is named after the slash, and made with its options and that
    component, built. It says the rest of itself as the other does; one that sees formulas cannot be wrapped."""
    seeds_hold: bool | None = None
    """Whether a generator gives the same image from the same prompt and seed; None where nobody can say."""
    names: tuple[str, ...] | Naming = Naming.UNKNOWN
    """What a detector can name."""
    made_for: str = ""
    """What images a detector was made for, in one sentence."""
    domain: tuple[str, ...] = ()
    """The generators whose images a detector was made for; empty for one without a domain."""
    recall: float | None = None
    """The share of entities that a detector finds in such images, as measured; None where that is unknown."""
    default_target: str = ""
    """The model that is taken where none is named after the slash."""
    licence: str = ""
    """What its weights are licensed under, where that asks something of whoever uses them; said when a run begins."""
    floor: str = ""
    """The option of a detector that says from which score on its boxes are kept; empty where none does."""

    defaults: Mapping[str, str] = field(default_factory=dict)
    """Suites, and models whose images have usual observers: role to the component that is bound unless the user names
    another, such as {"judge": "scene"}."""

    published: Mapping[str, str] = field(default_factory=dict)
    """Suites: the rule of the paper: flags (reader) and settings (check.scope) to their values."""
    average: str = "macro"
    """Suites: whether the failure rate is a mean over categories (macro) or the plain share (pooled)."""
    vetoes: tuple[str, ...] = ()
    """Suites: checks that are judged too where they can be, and whose FAIL is the result of the case."""

    metrics: Mapping[str, str] = field(default_factory=dict)
    """Metrics: the figures they can give, each with the direction in which it gets better: higher, lower or neither."""
    figures: tuple[OwnFigure, ...] = ()
    """Metrics: figures that are compared between models, pair by pair."""

    failure_types: Mapping[str, str] = field(default_factory=dict)
    """Checks: the failure types they can report, most specific first, each with one sentence."""
    compares: bool = False
    """Checks: whether they only compare images with each other; the others hold each image against its own prompt and
    leave scores `right_<role>`, 1 or 0, or figures of their own."""
    has_control: bool = False
    """Checks: whether seed noise can be measured by them: any two images can be put in their two places, or each image
    is right or wrong by itself."""
    crossed: tuple[str, ...] = ()
    """Checks: those of their scores whose mean over images of one wording under other seeds is kept too, as
    <score>.within_a and <score>.within_b of a control verdict."""
    leaves_out_unnamed: bool = False
    """Checks: whether entities that the detector cannot name are left out of the case; for other checks it is then
    undecidable."""
    takes_gaps: bool = False
    """Checks: whether they can score some of a case's images where others were not generated or observed; the
    verdict is ERROR all the same, and keeps those scores."""
    scoring: PairScoring | None = None
    """Checks that score images against texts: what they say about such scores."""

    case_rows: Callable[[Iterable[Case]], Iterator[list[Cell]]] | None = None
    """Exporters that can also write cases nobody has generated yet: these as rows, header first."""

    def __post_init__(self) -> None:
        for name, value in (("needs_roles", self.needs_roles), ("priced_by", self.priced_by), ("names", self.names)):
            if not isinstance(value, tuple | Naming):
                raise ValueError(f"about.{name} is {value!r}; it must be a tuple of names, as in ('detector',)")


@dataclass(frozen=True, slots=True, kw_only=True)
class Habits:
    """How a generator or observer likes to be called: an attribute `habits`, of the class or set on construction."""

    batch_size: int = 1
    """Elements a call."""
    depth: int | None = None
    """Calls at once; None for as many as there are cores."""
    timeout_s: float | None = None
    """When to give a call up; None for never."""
    max_at_once: int | None = None
    """Calls at once, at most, where it waits for an endpoint; None for the run's own limit."""
    names: tuple[str, ...] = ()
    """What a detector can name, where that is found in its weights."""


def about_of(component: Any) -> About:
    """What a component says of itself before it is built."""
    return _said(component, "about", About, component.__name__)


def habits_of(built: object) -> Habits:
    """How a component that was built likes to be called."""
    return _said(built, "habits", Habits, type(built).__name__)


def options_of(component: Any) -> type[Any]:
    """The class of its options."""
    options: type[Any] = getattr(component, "Options", NoOptions)
    return options


def weights_of(component: Any, options: object) -> str:
    """The pin of whatever was trained or downloaded; empty for components that are code alone."""
    return str(_told(component, "weights", options) or "")


def address_of(component: Any, options: object) -> str:
    """Where its answers come from, as keys know it, or the user's label for that; empty for what works here."""
    return str(_told(component, "address", options) or "")


def key_use_of(component: Any, options: object) -> KeyUse | None:
    """The key that it sends, and where; None for one that sends none, or keeps that to itself."""
    use: KeyUse | None = _told(component, "key_use", options)
    return use


def _told(component: Any, method: str, options: object) -> Any:
    """What a class method says of some options; None where the component has none such."""
    said = getattr(component, method, None)
    return said(options) if said else None


def expect(built: object, n: int) -> None:
    """Tell a component how much it will be asked for, where it wants to know: long work is worth preparing for."""
    told = getattr(built, "expect", None)
    if told is not None and n:
        told(n)


def close(built: object) -> None:
    """Let a component put away what it holds: connections, a process, files."""
    put_away = getattr(built, "close", None)
    if put_away is not None:
        put_away()


def lint_of(built: object) -> Callable[[], Iterable[Finding]] | None:
    """What looks through a suite's own texts for faults; None where a suite has nothing of the kind."""
    return getattr(built, "lint", None)


def remarks_of(built: object) -> Callable[[str], Iterable[str]] | None:
    """What a suite or check has to tell before a run of a size; None where it has nothing of the kind."""
    return getattr(built, "remarks", None)


def author_of(component: Any) -> Any:
    """A suite's author (core.authored.Author), who writes its entries from principles; None where it has none."""
    return getattr(component, "author", None)


def _said(component: object, attribute: str, record: type[_Record], owner: str) -> _Record:
    """The record a component carries under a name; the defaults where it carries none."""
    said = getattr(component, attribute, record())
    if not isinstance(said, record):
        why = f"its {attribute} is {said!r} and not a {record.__name__}()"
        raise PluginError(message("plugin-invalid", component=owner, role="component", why=why))
    return said
