"""What `salva run --dry-run` prints: the plan of a run and what it takes, in plain lines."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import click

from salva.core.counted import counted
from salva.core.legible import legible

if TYPE_CHECKING:
    from salva.core.spec import RunSpec
    from salva.engine.budget import Limits
    from salva.runs.forecast import Forecast, Work

_MOST_REASONS = 12
_UNKNOWN = "unknown"


def print_forecast(spec: RunSpec, directory: Path, limits: Limits) -> None:
    """Say what a run would do; whatever would refuse the run is raised here too."""
    from salva.engine.budget import check_prices
    from salva.runs.forecast import forecast

    check_prices((*spec.models, *spec.observers()), limits)
    seen = forecast(spec, directory)
    width = max(len(name) for name, _ in _lines(seen, spec, directory, limits))
    before = ""
    for name, text in _lines(seen, spec, directory, limits):
        click.echo(f"{name if name != before else '':<{width}}  {legible(text)}")
        before = name


def _lines(seen: Forecast, spec: RunSpec, directory: Path, limits: Limits) -> Iterator[tuple[str, str]]:
    from salva.runs.planning import who_could_tell

    yield "dry run", f"{spec.suite.label} on {', '.join(b.label for b in spec.models)}; nothing is painted or written"
    for remark in seen.remarks:
        yield "suite", remark
    ways = Counter(seen.ways)
    yield "cases", str(seen.n_cases)
    for way, n in ways.most_common():
        if way:
            yield "judged by", f"{', '.join(way)}: {n}"
    yield "leads", f"{seen.leading}, over {counted(seen.n_led, 'cases')}"
    if n_nobody := ways[()]:
        yield "undecided", f"{n_nobody} of {seen.n_cases} whatever is painted, so they are not painted:"
    for reason, n in Counter(seen.reasons).most_common(_MOST_REASONS):
        yield "undecided", f"  {n}: {reason}"
    if len(seen.reasons) > _MOST_REASONS:
        yield "undecided", f"  and {len(seen.reasons) - _MOST_REASONS} other reasons"
    if could := who_could_tell(seen.opened_by):
        yield "undecided", could
    for work in seen.work:
        yield ("pictures" if work.role == "model" else "observations"), _worded(work, spec)
    if spec.preflight and not seen.is_finished:
        yield (
            "observations",
            "and a few at pictures of salva's own before the first, to see that whoever looks is awake",
        )
    if seen.is_finished:
        yield "left", "nothing: the run is finished, and the same command only prints its figures"
        yield "directory", str(directory)
        return
    yield "price", _price(seen)
    if limits.max_images is not None or limits.max_cost_usd is not None:
        yield "limits", _limits(limits)
    yield "time", _time(seen)
    yield "directory", _place(seen, directory)


def _worded(work: Work, spec: RunSpec) -> str:
    number = f"{work.n:,}" if work.n == work.n_most else f"{work.n:,} to {work.n_most:,}, as answers lead on"
    by = f" ({spec.repeats} repeats)" if work.role == "model" and spec.repeats > 1 else ""
    price = f", {work.usd:.2f} USD" if work.usd else ""
    there = f"; {work.n_there:,} are there" if work.n_there else ""
    return f"{_name(work)}: {number}{by}{price}{there}"


def _name(work: Work) -> str:
    return work.role if work.role == work.label else f"{work.role} {work.label}"


def _price(seen: Forecast) -> str:
    told = [f"{_name(work)}: {work.why_no_price}" for work in seen.work if work.usd is None]
    if seen.usd is None:
        known = sum(work.usd for work in seen.work if work.usd is not None)
        return f"{_UNKNOWN}" + (f" beyond {known:.2f} USD" if known else "") + f"; {'; '.join(told)}"
    return f"{seen.usd:.2f} USD at most" if seen.usd else "nothing: nobody here is paid by the call"


def _limits(limits: Limits) -> str:
    images = "" if limits.max_images is None else f"at most {limits.max_images} new pictures"
    cost = "" if limits.max_cost_usd is None else f"at most {limits.max_cost_usd:g} USD"
    return " and ".join(part for part in (images, cost) if part) + ", then it stops and can be gone on with"


def _time(seen: Forecast) -> str:
    if seen.seconds is None:
        return f"{_UNKNOWN}; no earlier run of the same model and observers lies beside the directory"
    runs = counted(seen.n_earlier, "earlier runs")
    return f"about {_spoken(seen.seconds)}, at the pace of {runs} of the same model and observers"


def _spoken(seconds: float) -> str:
    if seconds < 90:
        return f"{max(1, round(seconds))} s"
    return f"{seconds / 60:.0f} min" if seconds < 5400 else f"{seconds / 3600:.1f} h"


def _place(seen: Forecast, directory: Path) -> str:
    if seen.n_stored is None:
        return f"{directory} (new)"
    said = counted(seen.n_stored, "pictures of this run are", "picture of this run is")
    return f"{directory}: {said} there and not painted again"
