"""A limit that a run must keep: which rate, which end of its interval, over how many pairs; passed or not, and why.

Figures in, a decision out. A number nobody can trust passes no gate.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from pathlib import Path

from salva.core.fingerprint import Json
from salva.judging.leading import BLIND, Leading
from salva.judging.rates import Figure
from salva.store.records import GATE
from salva.store.sqlite import open_run

MIN_DECIDED = 16


@dataclass(frozen=True, slots=True, kw_only=True)
class Gate:
    """What is asked of a run."""

    limit: float
    end: str = "lower"
    """lower, point or upper."""
    rate: str = ""
    """wrong, inconsistent or wrong_alike; empty for the one that leads."""
    min_decided: int = MIN_DECIDED


@dataclass(frozen=True, slots=True, kw_only=True)
class Decision:
    """How a model did at the gate."""

    model: str
    rate: str | None
    limit: float
    value: float | None
    end: str
    passed: bool
    decides: bool
    """Whether there was enough to decide on."""
    n: int
    reason: str

    def to_json(self) -> dict[str, Json]:
        """As the report has it."""
        content = asdict(self)
        return {name: content[name] for name in ("rate", "limit", "value", "end", "passed", "reason")}


def decide(model: str, leading: Leading, gate: Gate) -> Decision:
    """Hold one model's figures against a gate."""
    name = gate.rate or leading.rate
    figure = leading.rates.get(name) if name else leading.figure
    value = _end(figure, gate.end) if figure else None
    n = figure.n if figure else 0
    n_asked = n + figure.n_undecided if figure else 0
    problem = ""
    if figure is None:
        problem = f"nothing was judged that {name or 'leads'} could be a rate of"
    elif leading.oracle == BLIND:
        problem = leading.reason
    elif n < gate.min_decided:
        problem = f"{n} pairs were decided, and it takes {gate.min_decided} (--min-decided)"
    elif n < 0.8 * n_asked:
        problem = f"only {n} of {n_asked} pairs were decided"
    shown = "unknown" if value is None else f"{value:.3f}"
    passed = not problem and value is not None and value <= gate.limit
    decided = f"{n} of {n_asked} pairs"
    compared = f"the {gate.end} end of {name or 'the rate'} is {shown}, the limit is {gate.limit:g}, over {decided}"
    return Decision(
        model=model,
        rate=name,
        limit=gate.limit,
        value=value,
        end=gate.end,
        passed=passed,
        decides=not problem,
        n=n,
        reason=f"{compared}; {problem}" if problem else compared,
    )


def keep(directory: Path, decisions: list[Decision]) -> None:
    """Write down what a gate decided, for the report."""
    with open_run(directory, "write") as store:
        store.set_meta(GATE, {decision.model: decision.to_json() for decision in decisions})


def _end(figure: Figure, end: str) -> float | None:
    if end == "point":
        return figure.rate
    if figure.interval is None:
        return None
    return figure.interval.low if end == "lower" else figure.interval.high
