"""The exit code of a command that counted results: the first rule that applies."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from salva.core.exit_codes import GATE_FAILED, NOT_SURE, OK
from salva.results.gate import FAILED, INCONCLUSIVE
from salva.results.trust import FEWEST_DECIDED, NONE


@dataclass(frozen=True, slots=True, kw_only=True)
class Standing:
    """What decides the exit code of one model's results."""

    trust: str
    decisions: tuple[str, ...] = ()
    """Of gates."""
    coverage: float | None = None
    n_errors: int = 0
    """Results that are ERROR and no refusal of the model."""


def exit_code(models: Iterable[Standing], *, is_complete: bool, max_errors: int = 0) -> int:
    """The worst over all models: trust, then a failed gate, then whatever leaves the run undecided."""
    codes = [_of_model(model, is_complete=is_complete, max_errors=max_errors) for model in models]
    if any(model_code == NOT_SURE for model_code, is_trust in codes if is_trust):
        return NOT_SURE
    if any(code == GATE_FAILED for code, _ in codes):
        return GATE_FAILED
    return max((code for code, _ in codes), default=NOT_SURE)


def _of_model(model: Standing, *, is_complete: bool, max_errors: int) -> tuple[int, bool]:
    if model.trust == NONE:
        return NOT_SURE, True
    if FAILED in model.decisions:
        return GATE_FAILED, False
    is_sure = (
        INCONCLUSIVE not in model.decisions
        and is_complete
        and model.coverage is not None
        and model.coverage >= FEWEST_DECIDED
        and model.n_errors <= max_errors
    )
    return OK if is_sure else NOT_SURE, False
