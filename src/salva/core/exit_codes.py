"""What the exit codes of a command mean."""

from __future__ import annotations

OK, GATE_FAILED, USAGE, NOT_SURE, INTERRUPTED = 0, 1, 2, 3, 130
