"""Verdicts to results: which check makes the result of a case, and what the result is.

Cases, verdicts and the rule of the run come in; one result for every case and repeat goes out. Nothing that was
submitted is left out: a case without a check or without a verdict is UNDECIDED.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence

from salva.core.case import Case
from salva.core.judgements import CaseVerdict, RunCheck
from salva.core.result import DECIDED, Result, Rule
from salva.core.verdict import PAIR, Observers, Outcome, Verdict

TRUTH = "truth"
"""The check that holds images against formulas: where it cannot decide, images that were only compared do not pass."""
NOT_JUDGED = "not judged yet"
NO_CHECK = "no check applies"


def join(
    cases: Iterable[Case], verdicts: Iterable[Verdict], deciding: Sequence[str] = (), arm: str = PAIR
) -> list[CaseVerdict]:
    """Every verdict of an arm beside its case, in the order of cases, repeats and checks.

    deciding: labels of the observers whose verdicts come first, the first judge before the others.
    """
    ranked = {case.case_id: (rank, case) for rank, case in enumerate(cases)}
    rows = [
        (ranked[verdict.case_id], verdict) for verdict in verdicts if verdict.arm == arm and verdict.case_id in ranked
    ]
    groups: dict[str, set[Observers]] = {}
    for _, verdict in rows:
        if {*verdict.observers} <= {*deciding}:
            groups.setdefault(verdict.check, set()).add(verdict.observers)

    def rank(verdict: Verdict) -> tuple[int, bool, int, int]:
        return _rank(verdict.observers, deciding, groups.get(verdict.check, ()))

    rows.sort(key=lambda row: (row[0][0], row[1].repeat, row[1].check, rank(row[1])))
    return [CaseVerdict(case, verdict) for (_, case), verdict in rows]


def _rank(observers: Observers, deciding: Sequence[str], groups: Collection[Observers]) -> tuple[int, bool, int, int]:
    """How early the verdicts of some observers count: those of the deciding ones, in their order, the fullest first.

    groups: all that judged by the same check; one that is a part of another, such as without a reader, comes after it.
    """
    places = [deciding.index(label) for label in observers if label in deciding]
    is_part = any({*observers} < {*group} for group in groups)
    return len(observers) - len(places), is_part, places[-1] if places else 0, -len(observers)


def results_of(
    cases: Iterable[Case],
    pairs: Iterable[CaseVerdict],
    *,
    model: str,
    repeats: int,
    rule: Rule,
    primaries: Mapping[str, str],
    checks: Mapping[str, RunCheck],
    vetoes: Collection[str] = (),
    is_whole: bool = False,
    is_imported: bool = False,
) -> Iterator[Result]:
    """One result for every case and repeat; of an import, for every one that its files have.

    pairs: the verdicts on one model, joined. primaries: case to its primary check. vetoes: checks that fail a case
    whatever its primary check concludes. is_whole: whether what has no verdict now never will have one.
    """
    by_unit: dict[tuple[str, int], dict[str, Verdict]] = {}
    for case, verdict in pairs:
        by_unit.setdefault((case.case_id, verdict.repeat), {}).setdefault(verdict.check, verdict)
    for case in cases:
        check = rule.check or primaries.get(case.case_id, "")
        is_compared = check in checks and checks[check].compares
        for repeat in range(repeats):
            verdicts = by_unit.get((case.case_id, repeat), {})
            if is_imported and not verdicts:
                continue
            names = [name for name in vetoes if name != check and name in verdicts] if rule.is_primary else []
            to_come = bool(check) and not is_whole
            others = [verdicts[name] for name in names]
            yield _result(case, repeat, model, check, verdicts.get(check), others, is_compared, to_come)


def _result(
    case: Case,
    repeat: int,
    model: str,
    check: str,
    own: Verdict | None,
    others: Sequence[Verdict],
    is_compared: bool,
    to_come: bool,
) -> Result:
    failed = tuple(verdict for verdict in others if verdict.outcome is Outcome.FAIL)
    unsure = next((one for one in others if one.check == TRUTH and one.outcome not in DECIDED), None)
    # Other vetoes hold an image against a part of its prompt: a model that is wrong in the rest could pass.
    is_held = any(one.check == TRUTH and one.outcome in DECIDED for one in others)
    reason = ""
    if failed or (own is not None and own.outcome is Outcome.FAIL):
        outcome = Outcome.FAIL
    elif own is None:
        outcome, reason = Outcome.UNDECIDED, NOT_JUDGED if to_come else why_unchecked(case)
    elif own.outcome is not Outcome.PASS:
        outcome, reason = own.outcome, own.reason
    elif unsure is not None and is_compared:
        outcome, reason = Outcome.UNDECIDED, unsure.reason
    else:
        outcome = Outcome.PASS
    return Result(
        case=case,
        repeat=repeat,
        model=model,
        outcome=outcome,
        check=check if own is not None or to_come else "",
        verdict=own,
        vetoes=failed,
        reason=reason,
        is_compared_only=is_compared and not is_held,
    )


def why_unchecked(case: Case) -> str:
    """Why no check can judge a case, as far as the suite knows."""
    finding = next((finding.shared for finding in case.findings), "")
    return f"{NO_CHECK}: {finding}" if finding else NO_CHECK
