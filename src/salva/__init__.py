"""salva tests text-to-image models: the same thing said in two ways should look the same.

The names below are the public ones; each loads when first used.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from salva.api import Run, compare_runs, open_run, open_runs, plan_run, run_suite
    from salva.core.case import Case, Prompt
    from salva.core.python_objects import batched
    from salva.core.result import Result
    from salva.core.scene import Scene, Thing
    from salva.core.verdict import Outcome, Verdict
    from salva.errors import BackendError, FormulaError, PluginError, SalvaError, StoreError, UsageError
    from salva.formulas import (
        are_equivalent,
        discrepancies,
        from_english,
        is_determinate,
        parse,
        rewrites,
        satisfies,
        to_english,
        to_notation,
        witness,
        worlds,
    )

_HOME = {
    "Run": "salva.api",
    "compare_runs": "salva.api",
    "open_run": "salva.api",
    "open_runs": "salva.api",
    "plan_run": "salva.api",
    "run_suite": "salva.api",
    "Case": "salva.core.case",
    "Prompt": "salva.core.case",
    "batched": "salva.core.python_objects",
    "Scene": "salva.core.scene",
    "Thing": "salva.core.scene",
    "Result": "salva.core.result",
    "Outcome": "salva.core.verdict",
    "Verdict": "salva.core.verdict",
    "BackendError": "salva.errors",
    "FormulaError": "salva.errors",
    "PluginError": "salva.errors",
    "SalvaError": "salva.errors",
    "StoreError": "salva.errors",
    "UsageError": "salva.errors",
    "from_english": "salva.formulas",
    "to_english": "salva.formulas",
    "are_equivalent": "salva.formulas",
    "is_determinate": "salva.formulas",
    "witness": "salva.formulas",
    "parse": "salva.formulas",
    "to_notation": "salva.formulas",
    "rewrites": "salva.formulas",
    "discrepancies": "salva.formulas",
    "satisfies": "salva.formulas",
    "worlds": "salva.formulas",
}

__all__ = [
    "BackendError",
    "Case",
    "FormulaError",
    "Outcome",
    "PluginError",
    "Prompt",
    "Result",
    "Run",
    "SalvaError",
    "Scene",
    "StoreError",
    "Thing",
    "UsageError",
    "Verdict",
    "__version__",
    "are_equivalent",
    "batched",
    "compare_runs",
    "discrepancies",
    "from_english",
    "is_determinate",
    "open_run",
    "open_runs",
    "parse",
    "plan_run",
    "rewrites",
    "run_suite",
    "satisfies",
    "to_english",
    "to_notation",
    "witness",
    "worlds",
]


def __getattr__(name: str) -> object:
    if name == "__version__":
        from importlib.metadata import version

        return version("salva")
    if name not in _HOME:
        raise AttributeError(f"module 'salva' has no attribute {name!r}")
    from importlib import import_module

    return getattr(import_module(_HOME[name]), name)


def __dir__() -> list[str]:
    return sorted(__all__)
