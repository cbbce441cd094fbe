"""What the detector can name: as it says before it is built, as a run remembers, or as it says once built."""

from __future__ import annotations

from salva.core.about import Naming, close, habits_of
from salva.core.fingerprint import Json
from salva.core.foreign_errors import plugin_errors
from salva.core.plan import Binding
from salva.engine.actors import Actor
from salva.engine.guard import build
from salva.engine.run_components import Cast
from salva.store.sqlite import RunStore

_NAMES = "names"


def known_names(detector: Binding | None, store: RunStore | None = None) -> frozenset[str] | None:
    """What a detector can name; None where it takes any word, or nobody knows.

    One that has looked in this run already is not built again to be asked.
    """
    if detector is None:
        return None
    said = detector.about.names
    if isinstance(said, tuple):
        return frozenset(said)
    if said is not Naming.LOADED:
        return None
    component_id = Actor.of(detector).component_id
    if store is not None:
        remembered = remembered_names(store).get(component_id, [])
        if remembered or any(component.component_id == component_id for component in store.components()):
            return frozenset(map(str, remembered)) or None
    if detector.is_foreign:
        return None
    built = build(detector)
    try:
        return frozenset(habits_of(built).names) or None
    finally:
        close(built)


def names_at_hand(detector: Binding | None) -> frozenset[str] | None:
    """The same for a dry run, of a detector that the user named: only what is here already is opened."""
    if detector is None or detector.about.names is not Naming.LOADED:
        return known_names(detector)
    tell = getattr(detector.component, "names_at_hand", None)
    with plugin_errors(f"the {detector.role} {detector.label!r}", "broke off"):
        return frozenset(tell(detector.options) if tell else ()) or None


def keep_names(store: RunStore, roster: Cast) -> None:
    """Remember what the run's detector can name, so that it need not be built to be asked."""
    for actors_by_role in roster.actors_by_role[:1]:
        detector = actors_by_role.get("detector")
        if detector is not None and detector.about.names is Naming.LOADED and roster.names is not None:
            names: list[Json] = [*sorted(roster.names)]
            store.set_meta(_NAMES, {**remembered_names(store), detector.component_id: names})


def remembered_names(store: RunStore) -> dict[str, list[Json]]:
    """By component id, what the detectors of a run can name, where that is found in their weights."""
    return {component_id: names for component_id, names in store.note(_NAMES).items() if isinstance(names, list)}
