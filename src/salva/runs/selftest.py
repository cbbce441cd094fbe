"""A test of the detector: faults are planted, and what it finds is compared with what is there.

The painter draws pairs without a fault, then pairs with one kind of fault each. Each is observed by the detector and
the reader, and by an observer that knows what was drawn; both go through the same checks.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor

from salva.core.verdict import (
    ENTITY_DUPLICATION,
    ENTITY_FORBIDDEN,
    ENTITY_OMISSION,
    OPTICAL_CHARACTER,
    X_MISPOSITION,
    Y_MISPOSITION,
)
from salva.engine.progress import Progress
from salva.runs.selftest_bench import RATE, SelftestBench, SelftestTrial, TrialResult, make_bench
from salva.runs.selftest_cases import case_for
from salva.runs.selftest_report import Mistake, Score, SelftestReport

FAULTS = (
    *(X_MISPOSITION, Y_MISPOSITION, ENTITY_DUPLICATION, ENTITY_OMISSION),
    *(ENTITY_FORBIDDEN, OPTICAL_CHARACTER),
)
_NO_FAULT = ""
_STAGE = "testing"


def selftest(
    *,
    detector: str,
    reader: str,
    settings: Mapping[str, str],
    n_pairs: int,
    seed: int,
    progress: Progress,
) -> SelftestReport:
    """Generate n_pairs without a fault and n_pairs per fault, and count."""
    bench = make_bench(detector, reader, settings, seed)
    faults = [fault for fault in FAULTS if fault != OPTICAL_CHARACTER or bench.reads]
    trials = [
        SelftestTrial(case=case_for(fault, number, seed, bench.things), number=number, fault=fault)
        for fault in (_NO_FAULT, *faults)
        for number in range(n_pairs)
    ]
    tried = _try_all(bench, trials, progress)
    return SelftestReport(
        errors=tuple(Score.of(fault, _errors(tried, fault)) for fault in faults),
        faulty=tuple(Score.of(name, _failures(tried, name, is_faulty=True)) for name in bench.checks),
        faultless=tuple(Score.of(name, _failures(tried, name, is_faulty=False)) for name in bench.checks),
        mistakes=tuple(mistake for outcome in tried for mistake in _mistakes(outcome)),
        made_for=bench.made_for,
        rate=RATE,
        seed=seed,
    )


def _try_all(bench: SelftestBench, trials: Sequence[SelftestTrial], progress: Progress) -> list[TrialResult]:
    bench.prepare(trials)
    tried = []
    progress.start(_STAGE, len(trials))
    try:
        # Numpy, Pillow and onnxruntime work outside the interpreter's lock, so threads use every core.
        with ThreadPoolExecutor(os.cpu_count() or 1) as pool:
            for outcome in pool.map(bench.try_one, trials):
                tried.append(outcome)
                progress.advance(_STAGE)
    finally:
        progress.finish(_STAGE)
    return tried


def _errors(tried: Iterable[TrialResult], fault: str) -> list[tuple[bool, bool]]:
    """Whether a fault was there and whether it was found, image by image."""
    return [
        (fault in true, fault in outcome.found_errors[role])
        for outcome in tried
        for role, true in outcome.true_errors.items()
    ]


def _failures(tried: Iterable[TrialResult], check: str, *, is_faulty: bool) -> list[tuple[bool, bool]]:
    return [
        outcome.failed[check]
        for outcome in tried
        if check in outcome.failed and (outcome.trial.fault != _NO_FAULT) == is_faulty
    ]


def _mistakes(outcome: TrialResult) -> list[Mistake]:
    case, fault = outcome.trial.case, outcome.trial.fault
    wrong = [
        (role, true, outcome.found_errors[role])
        for role, true in outcome.true_errors.items()
        if true != outcome.found_errors[role]
    ]
    # A pair is named only when none of its images explains it.
    wrong += [
        (name, frozenset({"failed"} if true else ()), frozenset({"failed"} if found else ()))
        for name, (true, found) in outcome.failed.items()
        if true != found and not wrong
    ]
    return [
        Mistake(
            case_id=case.case_id,
            role=key,
            planted=fault,
            true=tuple(sorted(true)),
            found=tuple(sorted(found)),
            why=outcome.why[key],
        )
        for key, true, found in wrong
    ]
