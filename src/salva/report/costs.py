"""What a run cost, by component: every call counts, also of work that failed or was refused."""

from __future__ import annotations

from collections.abc import Sequence

from salva.core.source import Spent
from salva.core.table import Table

_USAGE = {"calls": "n_calls", "input_tokens": "input_tokens", "output_tokens": "output_tokens", "cost_usd": "cost_usd"}
_NOTE = (
    "The whole run, as reported by its components; observers serve the images of every model. Failed, refused and "
    "repeated requests are included where they were answered; a request without an answer may have been billed too."
)


def cost_table(spent: Sequence[Spent]) -> Table | None:
    """One line for every component that says what its work costs; None where none does."""
    billed = [line for line in spent if any(line.usage.values())]
    rows = tuple(
        (line.role, line.label, line.n_done, line.n_failed, *(line.usage.get(name) for name in _USAGE.values()))
        for line in billed
    )
    columns = ("role", "component", "done", "failed", *_USAGE)
    return Table(name="costs", columns=columns, rows=rows, note=_NOTE) if rows else None


def total_cost(spent: Sequence[Spent]) -> float | None:
    """The total cost; None where no component reports one."""
    costs = [line.usage["cost_usd"] for line in spent if "cost_usd" in line.usage]
    return sum(costs) if costs else None
