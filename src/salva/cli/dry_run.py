"""What `salva run --dry-run` prints: the plan of a run and what it takes, in plain lines."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import click

from salva.core.plan import Plan
from salva.core.printable import printable
from salva.core.quantity import quantity
from salva.engine.budget import Limits, check_prices
from salva.runs.forecast import Forecast, Work, forecast

_MOST_REASONS = 12
_UNKNOWN = "unknown"


def print_forecast(spec: Plan, directory: Path, limits: Limits) -> None:
    """Say what a run would do; whatever would refuse the run is raised here too."""

    check_prices((*spec.models, *spec.observers()), limits)
    seen = forecast(spec, directory)
    lines = list(_lines(seen, spec, directory))
    width = max(len(name) for name, _ in lines)
    before = ""
    for name, text in lines:
        click.echo(f"{name if name != before else '':<{width}}  {printable(text)}")
        before = name


def _lines(seen: Forecast, spec: Plan, directory: Path) -> Iterator[tuple[str, str]]:
    yield "dry run", f"{spec.suite.label} on {', '.join(b.label for b in spec.models)}"
    for remark in seen.remarks:
        yield "suite", remark
    yield "cases", f"{seen.n_cases}, {seen.n_decidable} can be decided if the model generates them"
    for name, n in Counter(seen.checks).most_common():
        yield "checks", f"{name}: {n}"
    if seen.reasons:
        yield "undecided", "not generated, since no observer can decide them:"
    for reason, n in Counter(seen.reasons).most_common(_MOST_REASONS):
        yield "undecided", f"  {n}: {reason}"
    if len(seen.reasons) > _MOST_REASONS:
        yield "undecided", f"  and {len(seen.reasons) - _MOST_REASONS} other reasons"
    for work in seen.work:
        yield ("images" if work.role == "model" else "observations"), _work_text(work, spec)
    if spec.spec.preflight and not seen.is_finished:
        yield "observations", "and a few of known drawings first"
    if seen.is_finished:
        yield "remaining", "nothing: the run is finished"
        yield "directory", str(directory)
        return
    yield "price", _price(seen)
    yield "directory", _place(seen, directory)


def _work_text(work: Work, spec: Plan) -> str:
    number = f"{work.n:,}" if work.n == work.n_most else f"{work.n:,} to {work.n_most:,}, depending on answers"
    by = f" ({spec.spec.repeats} repeats)" if work.role == "model" and spec.spec.repeats > 1 else ""
    price = f", {work.usd:.2f} USD" if work.usd else ""
    stored = f"; {work.n_there:,} are stored" if work.n_there else ""
    return f"{_name(work)}: {number}{by}{price}{stored}"


def _name(work: Work) -> str:
    return work.role if work.role == work.label else f"{work.role} {work.label}"


def _price(seen: Forecast) -> str:
    unknown = [f"{_name(work)}: {work.why_no_price}" for work in seen.work if work.usd is None]
    if seen.usd is None:
        known = sum(work.usd for work in seen.work if work.usd is not None)
        return f"{_UNKNOWN}" + (f" beyond {known:.2f} USD" if known else "") + f"; {'; '.join(unknown)}"
    return f"{seen.usd:.2f} USD at most" if seen.usd else "none"


def _place(seen: Forecast, directory: Path) -> str:
    if seen.n_stored is None:
        return f"{directory} (new)"
    return f"{directory}: {quantity(seen.n_stored, 'images')} stored"
