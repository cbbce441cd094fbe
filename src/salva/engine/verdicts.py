"""Verdict rows of a finished case: of every check the pair arm, then the control arm where it has one.

Pure: no model, no disk. What a check concludes is said elsewhere; here it gets its case, repeat, arm and observers.
"""

from __future__ import annotations

from collections.abc import Iterator

from salva.core.verdict import CONTROL, PAIR, Verdict
from salva.engine.run_components import AppliedCheck
from salva.engine.units import Unit
from salva.judging.crossing import can_cross, crossed
from salva.judging.waves import Concluded


def verdicts_of(unit: Unit, control: bool) -> Iterator[tuple[Verdict, bool]]:
    """Every verdict of a finished unit, each with whether trying again could change it."""
    for applied, waves in unit.checks:
        for repeat in range(unit.repeats):
            yield _verdict(unit, applied, repeat, PAIR, waves[repeat].conclude())
        if control and not applied.undecidable and can_cross(waves[0]):
            for repeat in range(unit.repeats):
                yield _verdict(unit, applied, repeat, CONTROL, crossed(waves, repeat))


def _verdict(unit: Unit, applied: AppliedCheck, repeat: int, arm: str, concluded: Concluded) -> tuple[Verdict, bool]:
    conclusion = concluded.conclusion
    verdict = Verdict(
        case_id=unit.case.case_id,
        repeat=repeat,
        arm=arm,
        model=unit.model.label,
        check=applied.part.label,
        observers=applied.observers,
        outcome=conclusion.outcome,
        failure_types=conclusion.failure_types,
        failures=conclusion.failures,
        scores=conclusion.scores,
        images=concluded.images,
        reason=conclusion.reason,
        is_refused=concluded.is_refused,
    )
    return verdict, concluded.is_retryable
