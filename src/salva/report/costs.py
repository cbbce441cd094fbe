"""What a run cost, by component: every call counts, also of work that failed or was refused."""

from __future__ import annotations

from collections.abc import Sequence

from salva.core.protocols import INJECTION_READER
from salva.core.source import Spent
from salva.core.table import Table

_USAGE = {"calls": "n_calls", "input_tokens": "input_tokens", "output_tokens": "output_tokens", "cost_usd": "cost_usd"}
_NOTE = (
    "The whole run, as the components count it; readers, embedders and judges looked at the pictures of every model. "
    "Failed and refused work and attempts that were made again are in the sums as far as they were answered; what is "
    "billed for a request whose answer never came nobody can know here."
)


def cost_table(spent: Sequence[Spent]) -> Table | None:
    """One line for every component that says what its work costs; None where none does."""
    told = [line for line in spent if any(line.usage.values())]
    rows = tuple(
        (line.role, line.label, line.n_done, line.n_failed, *(line.usage.get(name) for name in _USAGE.values()))
        for line in told
    )
    columns = ("role", "component", "done", "failed", *_USAGE)
    return Table(name="costs", columns=columns, rows=rows, note=_NOTE) if rows else None


def n_unread(spent: Sequence[Spent]) -> int:
    """Pictures that the injection_reader could not read."""
    return sum(line.n_failed for line in spent if line.role == INJECTION_READER)


def total_cost(spent: Sequence[Spent]) -> float | None:
    """What all of it cost together; None where nobody says."""
    said = [line.usage["cost_usd"] for line in spent if "cost_usd" in line.usage]
    return sum(said) if said else None
