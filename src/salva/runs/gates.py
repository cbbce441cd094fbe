"""Gates of a run: read from flags before anything is paid, decided on its results, kept with it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path

from salva import registry
from salva.core.about import about_of
from salva.core.fingerprint import Json
from salva.core.run_spec import split_settings
from salva.errors import UsageError, unknown_name
from salva.messages import message
from salva.results.gate import Gate
from salva.store.records import GATE, MAX_ERRORS
from salva.store.sqlite import open_run


def read_gate(suite: str, max_failure_rate: float | None, limits: Iterable[str], *, on: str, min_decided: int) -> Gate:
    """The limits of a command; UsageError for a metric that the suite does not have or that has no direction."""
    given = split_settings(limits)
    check_limits(suite, given)
    metrics: dict[str, float] = {}
    for name, text in given.items():
        try:
            metrics[name] = float(text)
        except ValueError as error:
            raise UsageError(message("option-invalid", name=f"--gate {name}", value=text, wanted="a number")) from error
    return Gate(max_failure_rate=max_failure_rate, metrics=metrics, on=on, min_decided=min_decided)


def check_limits(suite: str, names: Iterable[str]) -> None:
    """UsageError for a metric that the suite does not have or that has no direction."""
    wanted = tuple(names)
    known = metrics_of(suite) if wanted else {}
    for name in wanted:
        if name not in known:
            raise unknown_name("metric", name, known)
        if not known[name]:
            raise UsageError(message("gate-no-direction", metric=name))


def metrics_of(suite: str) -> dict[str, str]:
    """The metrics of a suite, each with the direction in which it gets better."""
    known: dict[str, str] = {}
    for metric in registry.load_all("metric", suite).values():
        known |= about_of(metric).metrics
    return known


def keep_decisions(directory: Path, decisions: Mapping[str, Json], max_errors: int) -> None:
    """Write down what gates decided, for every form of the report."""
    with open_run(directory) as reader:
        if (reader.meta().get(GATE, {}), reader.meta().get(MAX_ERRORS)) == (decisions, max_errors):
            return
    with open_run(directory, "write") as store:
        store.set_meta(MAX_ERRORS, max_errors)
        if decisions:
            store.set_meta(GATE, dict(decisions))
        else:
            store.drop_meta(GATE)
