"""The order of a repeated command: what failed before is asked last, and what failed most often last of all.

So a few requests that always fail cannot keep the rest of a run from being done.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from salva.engine.actors import requests_of
from salva.engine.units import Unit
from salva.store.sqlite import RunStore


def failed_last(units: Iterator[Unit], store: RunStore, seed: int) -> Iterator[Unit]:
    """The same units, those with failed work after all others."""
    failed = store.failed_work()
    if not failed:
        yield from units
        return
    later: list[tuple[int, Unit]] = []
    for unit in units:
        n_attempts = _n_attempts(unit, store, seed, failed)
        if n_attempts:
            later.append((n_attempts, unit))
        else:
            yield unit
    later.sort(key=lambda entry: entry[0])
    yield from (unit for _, unit in later)


def _n_attempts(unit: Unit, store: RunStore, seed: int, failed: Mapping[str, int]) -> int:
    """How often the work of a unit that failed was asked for; 0 where none did."""
    most = 0
    for request in requests_of(unit.case, unit.repeats, seed):
        key = unit.model.render_key(request)
        most = max(most, failed.get(key, 0))
        _, image, _ = store.render_outcome(key) or (None, None, "")
        if image is not None:
            most = max(most, failed.get(image.image_id, 0))
    return most
