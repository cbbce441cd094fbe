"""A test of the detector: faults are planted, and what it finds is compared with what is there.

The painter draws pairs without a fault, then pairs with one kind of fault each, then hard images of every kind. Each is
observed by the detector and the reader, and by an observer that knows what was drawn; both go through the same checks.
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
from salva.runs.selftest_bench import COLOURS, RATE, TEXTS, SelftestBench, SelftestTrial, TrialResult, make_bench
from salva.runs.selftest_cases import WRONG_COLOUR, case_for
from salva.runs.selftest_report import HardScore, Mistake, Score, SelftestReport

FAULTS = (
    *(X_MISPOSITION, Y_MISPOSITION, ENTITY_DUPLICATION, ENTITY_OMISSION),
    *(ENTITY_FORBIDDEN, OPTICAL_CHARACTER),
)
_NO_FAULT = ""


def selftest(
    *,
    detector: str,
    reader: str,
    settings: Mapping[str, str],
    n_pairs: int,
    n_hard: int,
    seed: int,
    progress: Progress,
) -> SelftestReport:
    """Generate n_pairs without a fault and n_pairs per fault, then n_hard images of every hard kind, and count."""
    bench = make_bench(detector, reader, settings, seed)
    faults = [fault for fault in FAULTS if fault != OPTICAL_CHARACTER or bench.reads]
    plain = [
        SelftestTrial(case=case_for(fault, number, seed, bench.things), number=number, fault=fault)
        for fault in (_NO_FAULT, *faults)
        for number in range(n_pairs)
    ]
    hard = [trial for kind in bench.hard_kinds() for trial in _hard_trials(kind, n_hard, seed, bench)]
    tried = _try_all(bench, plain, "testing", progress)
    hardly = _try_all(bench, hard, "hard images", progress)
    return SelftestReport(
        errors=tuple(Score.of(fault, _errors(tried, fault)) for fault in faults),
        faulty=tuple(Score.of(name, _failures(tried, name, is_faulty=True)) for name in bench.checks),
        faultless=tuple(Score.of(name, _failures(tried, name, is_faulty=False)) for name in bench.checks),
        mistakes=tuple(mistake for outcome in tried for mistake in _mistakes(outcome)),
        hard=_hard_scores(hardly),
        hard_errors=tuple(Score.of(error, _errors(hardly, error)) for error in (*faults, WRONG_COLOUR) if n_hard),
        made_for=bench.made_for,
        rate=RATE,
        seed=seed,
    )


def _try_all(
    bench: SelftestBench, trials: Sequence[SelftestTrial], stage: str, progress: Progress
) -> list[TrialResult]:
    bench.prepare(trials)
    tried = []
    progress.start(stage, len(trials))
    try:
        # Numpy, Pillow and onnxruntime work outside the interpreter's lock, so threads use every core.
        with ThreadPoolExecutor(os.cpu_count() or 1) as pool:
            for outcome in pool.map(bench.try_one, trials):
                tried.append(outcome)
                progress.advance(stage)
    finally:
        progress.finish(stage)
    return tried


def _hard_trials(kind: str, n: int, seed: int, bench: SelftestBench) -> list[SelftestTrial]:
    """So many images of a kind, every other one with a fault, of each fault that can show in its turn."""
    faults = {COLOURS: (WRONG_COLOUR,)} | dict.fromkeys(TEXTS, (OPTICAL_CHARACTER,))
    planted = faults.get(kind, (ENTITY_OMISSION, ENTITY_DUPLICATION, X_MISPOSITION, Y_MISPOSITION))
    things = bench.coloured if kind == COLOURS else bench.things
    trials = []
    for number in range(n):
        fault = planted[number // 2 % len(planted)] if number % 2 else _NO_FAULT
        shown = WRONG_COLOUR if kind == COLOURS else fault
        case = case_for(shown, number, seed, things, is_pair=False)
        trials.append(SelftestTrial(case=case, number=number, fault=fault, hard=kind))
    return trials


def _hard_scores(tried: Sequence[TrialResult]) -> tuple[HardScore, ...]:
    by_kind: dict[str, list[TrialResult]] = {}
    for outcome in tried:
        by_kind.setdefault(outcome.trial.hard, []).append(outcome)
    return tuple(
        HardScore(
            kind=kind,
            n_exact=sum(
                not outcome.is_undecided and outcome.true_errors == outcome.found_errors for outcome in outcomes
            ),
            n_undecided=sum(outcome.is_undecided for outcome in outcomes),
            wrong=Score.of(kind, [(any(o.true_errors.values()), any(o.found_errors.values())) for o in outcomes]),
        )
        for kind, outcomes in by_kind.items()
    )


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
