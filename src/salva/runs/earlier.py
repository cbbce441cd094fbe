"""Prices and times of earlier runs: what a call cost, how long an image took.

A folder and a specification come in; rates go out. A run that cannot be read is passed over. Nothing is written.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

from salva.core.fingerprint import Json, fingerprint
from salva.core.plan import Binding, Plan
from salva.core.run_spec import RunSpec
from salva.core.source import Spent
from salva.errors import SalvaError
from salva.store.queries import spent
from salva.store.reading import DATABASE
from salva.store.records import PACE
from salva.store.runfile import read_run_file
from salva.store.sqlite import RunStore, open_run

_N_RUNS = 50
"""The newest of a folder; more would take longer to read than they tell."""
_MILLION = 1e6


@dataclass(frozen=True, slots=True, kw_only=True)
class Known:
    """What is known before a run."""

    seconds_per_image: float | None = None
    """Of runs with the same models and observers, from the first image to the last verdict."""
    n_runs: int = 0
    """How many runs that is from."""
    calls: Mapping[tuple[str, str], Mapping[str, float]] = field(default_factory=dict)
    """Role and label of a component to what a piece of its work took on average: tokens, dollars."""

    def price(self, binding: Binding) -> tuple[float | None, str]:
        """What a piece of a component's work costs, or why nobody knows."""
        if not binding.about.is_remote:
            return 0.0, ""
        own = getattr(binding.options, "price_usd", None)
        if own is not None:
            return float(own), ""
        call = self.calls.get((binding.role, binding.label), {})
        prices = [getattr(binding.options, name, None) for name in binding.about.priced_by]
        if len(prices) == 2 and None not in prices and {"input_tokens", "output_tokens"} <= call.keys():
            (read, written), tokens = prices, (call["input_tokens"], call["output_tokens"])
            return (float(read or 0) * tokens[0] + float(written or 0) * tokens[1]) / _MILLION, ""
        if "cost_usd" in call:
            return call["cost_usd"], ""
        if None in prices:
            wanted = " and ".join(f"--set {binding.role}.{name}=..." for name in binding.about.priced_by)
            return None, f"say it with {wanted}"
        return None, "no earlier run here says how many tokens a question takes"


def known_before(folder: Path, directory: Path, plan: Plan) -> Known:
    """What the runs of a folder tell of this one."""
    sums: dict[tuple[str, str], dict[str, float]] = {}
    seconds = n_images = 0.0
    n_runs = 0
    for run in _newest(folder):
        with suppress(SalvaError), open_run(run) as store:
            for line in spent(store):
                _add(sums.setdefault((line.role, line.label), {}), line)
            pace = _pace(store) if run == directory or _is_alike(run, plan) else None
            if pace is not None:
                seconds, n_images, n_runs = seconds + pace[0], n_images + pace[1], n_runs + 1
    calls = {key: _means(total) for key, total in sums.items() if total["n_done"]}
    return Known(seconds_per_image=seconds / n_images if n_images else None, n_runs=n_runs, calls=calls)


def _newest(folder: Path) -> Iterator[Path]:
    try:
        runs = [(path.stat().st_mtime, path.parent) for path in folder.glob(f"*/{DATABASE}")]
    except OSError:
        return
    yield from (run for _, run in sorted(runs, reverse=True)[:_N_RUNS])


def _is_alike(run: Path, plan: Plan) -> bool:
    """Whether the same models generate and the same observers look."""
    content = read_run_file(run)
    if content is None:
        return False
    return _who(content.spec) == _who(plan.run_spec())


def _who(asked: RunSpec) -> tuple[frozenset[str], frozenset[tuple[str, str]]]:
    models = frozenset(fingerprint([model.name, dict(model.options)]) for model in asked.models)
    return models, frozenset((observer.role, observer.name) for observer in asked.observers)


def _pace(store: RunStore) -> tuple[float, float] | None:
    noted: Json = store.meta().get(PACE)
    if not isinstance(noted, dict):
        return None
    seconds, n_images = noted.get("seconds"), noted.get("n_images")
    if not isinstance(seconds, int | float) or not isinstance(n_images, int | float) or n_images <= 0:
        return None
    return float(seconds), float(n_images)


def _add(total: dict[str, float], line: Spent) -> None:
    for name, value in {"n_done": float(line.n_done), **line.usage}.items():
        total[name] = total.get(name, 0.0) + value


def _means(total: Mapping[str, float]) -> dict[str, float]:
    return {name: value / total["n_done"] for name, value in total.items() if name != "n_done"}
