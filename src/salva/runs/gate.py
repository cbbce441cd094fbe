"""The gate on a rate: which rate, which end of its interval, over how many pairs; passed or not, and why.

Figures in, a decision out. A number nobody can trust passes no gate.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from salva.core.fingerprint import Json
from salva.core.judgements import Rate
from salva.core.quantity import quantity
from salva.results.leading import BLIND, FEWEST_DECIDED, Leading
from salva.results.rates import Figure
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
    """wrong, inconsistent or both_wrong; empty for the one that leads."""
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


def decide(
    model: str, leading: Leading, gate: Gate, *, n_missing: int = 0, only: Sequence[tuple[str, str]] = ()
) -> Decision:
    """Hold one model's figures against a gate.

    n_missing: verdicts that ERROR or are not there yet. only: the labels that the run was narrowed to.
    """
    name = gate.rate or leading.rate
    # Pairs without formulas enter none of the three rates, and what leads is about them all the same.
    figure = (leading.rates.get(name) if name else None) or (leading.figure if name == leading.rate else None)
    value = _end(figure, gate.end) if figure else None
    problem = _problem(name, figure, leading, gate)
    is_within = value is not None and value <= gate.limit
    if is_within and not problem:
        # A rate above its limit is the worst news and stands; one below it may be so for what is missing.
        problem = _what_is_missing(leading, n_missing)
    return Decision(
        model=model,
        rate=name,
        limit=gate.limit,
        value=value,
        end=gate.end,
        passed=is_within and not problem,
        decides=not problem,
        n=figure.n if figure else 0,
        reason="; ".join(
            part
            for part in (
                _compared(name, figure, gate, value, only),
                problem,
                _cannot_rule_out(figure, gate) if is_within and not problem else "",
                _worse_beside(name, leading, gate),
            )
            if part
        ),
    )


def _problem(name: str | None, figure: Figure | None, leading: Leading, gate: Gate) -> str:
    """Why there is too little to decide on; empty where there is enough."""
    if figure is None:
        return leading.reason or f"nothing was judged that {name or 'leads'} could be a rate of"
    n_asked = figure.n + figure.n_undecided
    if leading.oracle == BLIND:
        return leading.reason
    if figure.n < gate.min_decided:
        return (
            f"{quantity(figure.n, 'pairs were', 'pair was')} decided, and it takes {gate.min_decided} (--min-decided)"
        )
    if figure.n < FEWEST_DECIDED * n_asked:
        return f"only {figure.n} of {quantity(n_asked, 'pairs were', 'pair was')} decided"
    return ""


def _what_is_missing(leading: Leading, n_missing: int) -> str:
    if n_missing:
        return f"{quantity(n_missing, 'verdicts')} ERROR or missing, so it is not known to pass"
    return leading.reason or ("too little is decided of what leads" if leading.decides_too_little else "")


def _compared(
    name: str | None, figure: Figure | None, gate: Gate, value: float | None, only: Sequence[tuple[str, str]]
) -> str:
    shown = "unknown" if value is None else f"{value:.3f}"
    interval = figure.interval if figure else None
    between = f" (interval {interval.low:.3f} to {interval.high:.3f})" if interval else ""
    n, n_asked = (figure.n, figure.n + figure.n_undecided) if figure else (0, 0)
    narrowed = f", --only {', '.join(f'{label}={wanted}' for label, wanted in only)}" if only else ""
    rate = name or "the rate"
    compared = f"the {gate.end} end of {rate} is {shown}{between}, the limit is {gate.limit:g}"
    return f"{compared}, over {n} of {quantity(n_asked, 'pairs')}{narrowed}"


def _cannot_rule_out(figure: Figure | None, gate: Gate) -> str:
    if figure is None or figure.interval is None or figure.interval.high <= gate.limit:
        return ""
    return f"{quantity(figure.n, 'pairs')} cannot rule out more than the limit"


def _worse_beside(name: str | None, leading: Leading, gate: Gate) -> str:
    """Images may agree and all be wrong: said where the gate is about agreement alone."""
    wrong = leading.rates.get(Rate.WRONG)
    if name in (None, Rate.WRONG) or wrong is None or wrong.rate is None or wrong.rate <= gate.limit:
        return ""
    return f"wrong is {wrong.rate:.3f}"


def keep(directory: Path, decisions: list[Decision]) -> None:
    """Write down what a gate decided, for the report."""
    with open_run(directory, "write") as store:
        store.set_meta(GATE, {decision.model: decision.to_json() for decision in decisions})


def forget(directory: Path) -> None:
    """A command without a gate says nothing of one: what the last one decided is taken out."""
    with open_run(directory, "write") as store:
        store.drop_meta(GATE)


def _end(figure: Figure, end: str) -> float | None:
    if end == "point":
        return figure.rate
    if figure.interval is None:
        return None
    return figure.interval.low if end == "lower" else figure.interval.high
