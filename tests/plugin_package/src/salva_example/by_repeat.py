"""Metric: the failure rate of each repeat, to see how much hangs on the seed."""

from __future__ import annotations

from typing import ClassVar

from salva.core.judgements import Judgements
from salva.core.options import NoOptions
from salva.core.protocols import Measured
from salva.core.table import Table
from salva.results.tally import RATE_COLUMNS, tally_by


class ByRepeat:
    """Metric: one row a repeat, over the verdicts that lead."""

    version: ClassVar[str] = "1"

    def __init__(self, options: NoOptions) -> None:
        self._options = options

    def measure(self, judgements: Judgements) -> Measured:
        """A table and nothing else."""
        groups = tally_by(judgements.headline, lambda judged: judged.verdict.repeat)
        rows = tuple((repeat, *counted.cells()) for repeat, counted in sorted(groups.items()))
        return Measured(tables=(Table(name="by repeat", columns=("repeat", *RATE_COLUMNS), rows=rows),))
