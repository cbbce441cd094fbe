"""Metric: the failure rate of each repeat, to see how much depends on the seed."""

from __future__ import annotations

from typing import ClassVar

from salva.core.judgements import Judgements
from salva.core.options import NoOptions
from salva.core.protocols import Measured
from salva.results.tables import RATES, build_table, group_by, present


class ByRepeat:
    """Metric: one row for each repeat."""

    version: ClassVar[str] = "1"

    def __init__(self, options: NoOptions) -> None:
        self._options = options

    def measure(self, judgements: Judgements) -> Measured:
        """A table and nothing else."""
        groups = group_by(judgements.results, lambda result: result.repeat)
        rows = [((repeat,), group) for repeat, group in sorted(groups.items())]
        return Measured(tables=present(build_table("by repeat", ("repeat",), rows, RATES)))
