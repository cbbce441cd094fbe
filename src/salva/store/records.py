"""Records of work done: renders and observations, with the inputs of their keys."""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum

from salva.core.fingerprint import Json, fingerprint
from salva.core.observation import Observation
from salva.core.protocols import Query

GATE = "gate"
"""The note of a run on its gates: model to what they decided."""
MAX_ERRORS = "max_errors"
"""The note of a run on how many results may be ERROR."""
FIGURES = "figures"
"""The note of a run whose images were measured as images: model to figures."""
CONTRAST = "judge_contrast"
"""The note of a run on what control questions showed of its judges, by model and judge."""
PASSED, WARNED, UNTRIED, STOPPED = "preflight_passed", "preflight_warned", "preflight_off", "preflight_stopped"
"""The notes of a run on its observers: those who passed on images of salva's own, those who failed and could not be
held to it, those who were let off, and those who ended the run."""
IN_VAIN = "spent_in_vain"
"""The note of a run on what was paid for work without a result: component id to usage."""
PACE = "pace"
"""The note of a run on how long its images took, all that was done for them included: seconds and n_images."""
WHOLE = "is_whole"
"""The note of a run whose cases all have every verdict that they can have: the digest of what it was judged to be."""
CASES = "cases"
"""The note of a run whose cases are all stored: of which suite, and how many."""
RULES = "rules"
"""The note of a run on the rule that each check judged by."""
JUDGED_BY = (CASES, CONTRAST, RULES)
"""Notes that results rest on, written before a run is whole and not changed after."""

_QUERY_FIELDS = tuple(field.name for field in dataclasses.fields(Query))


class Status(StrEnum):
    """How a piece of work ended."""

    DONE = "done"
    ERROR = "failed"
    """Tried again when the same command runs again."""
    REFUSED = "refused"
    """Declined on policy; tried again only when the user says so."""
    UNKNOWN = "unknown"
    """May have been paid for; tried again only when the user says so."""


FAILED = frozenset((Status.ERROR, Status.UNKNOWN))
"""Work that was tried in vain; whoever tries it again expects little of it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredComponent:
    """A component whose work is in the store."""

    component_id: str
    role: str
    label: str
    is_formula_seen: bool
    """Whether the formula is part of its render keys."""
    identity: Mapping[str, Json]

    @property
    def endpoint(self) -> str:
        """Where its answers come from; empty for what works here."""
        return str(self.identity.get("endpoint", ""))


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredImage:
    """An image file as it was written."""

    image_id: str
    width: int
    height: int
    digest: str
    n_bytes: int


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredRender:
    """One prompt generated, or the reason why not."""

    component_id: str
    text: str
    formula: str | None
    """None unless the generator sees formulas."""
    seed: int
    repeat: int
    status: Status
    image_id: str | None = None
    provenance: Mapping[str, Json] = field(default_factory=dict)
    error: str = ""
    passes_over: bool = False
    """Whether words that the generator does not know could be passed over."""

    def key(self) -> str:
        """The render key these inputs have."""
        return render_key(
            self.component_id, self.text, self.formula, self.seed, self.repeat, passes_over=self.passes_over
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredObservation:
    """One query about one image, and what was seen, or the reason why nothing was."""

    component_id: str
    image_id: str
    query: Query
    """Without labels when the observer takes none."""
    given: Mapping[str, str]
    """Role to observation key of what the observer was told beforehand."""
    status: Status
    observation: Observation | None = None
    error: str = ""
    label: str = ""
    """How the component is called; filled when read."""

    def key(self) -> str:
        """The observation key these inputs have."""
        return observation_key(self.component_id, self.image_id, self.query, self.given)


def render_key(
    component_id: str, text: str, formula: str | None, seed: int, repeat: int, *, passes_over: bool = False
) -> str:
    """The key of a generated prompt: everything that can change the image."""
    inputs: list[Json] = [component_id, text, formula, seed, repeat]
    return fingerprint([*inputs, "passes over"] if passes_over else inputs)


def observation_key(component_id: str, image_id: str, query: Query, given: Mapping[str, str]) -> str:
    """The key of an observation: everything that can change what is seen."""
    return fingerprint([component_id, image_id, query_to_json(query), dict(given)])


def query_to_json(query: Query) -> dict[str, Json]:
    """The stored form of a query: its role and whatever else is said. Nobody's to change: thousands ask the same."""
    return _query_to_json(query, repr(query.box))


@functools.lru_cache(maxsize=1024)
def _query_to_json(query: Query, _box: str) -> dict[str, Json]:
    # Boxes of 1 and of 1.0 are equal and are stored differently: so it is kept by how the box is written, too.
    fields = {name: getattr(query, name) for name in _QUERY_FIELDS}
    return {name: [*v] if isinstance(v, tuple) else v for name, v in fields.items() if v or name == "role"}


def query_from_json(stored: Mapping[str, Json]) -> Query:
    """The query a stored form stands for."""
    fields = {name: tuple(value) if isinstance(value, list) else value for name, value in stored.items()}
    return Query(**fields)  # type: ignore[arg-type]  # JSON has no field types
