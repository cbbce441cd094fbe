"""Whether the two images of a pair agree, and whether they agree and are both wrong: as results, pair by pair."""

from __future__ import annotations

from collections.abc import Iterator

from salva.core.judgements import CaseVerdict, Judgements
from salva.core.result import DECIDED, Result
from salva.core.verdict import Outcome
from salva.results.tally import results_of_check

INCONSISTENT, BOTH_WRONG = "inconsistent", "both_wrong"


def inconsistent_results(judgements: Judgements) -> list[Result]:
    """Pairs whose images were compared, FAIL where they disagree."""
    return results_of_check(compared_pairs(judgements).values())


def compared_pairs(judgements: Judgements) -> dict[tuple[str, int], CaseVerdict]:
    """By case and repeat, the verdict of the first check that compares the images of a pair of one meaning."""
    comparing = [name for name, check in judgements.checks.items() if check.compares]
    groups = {name: judgements.of_check(name) for name in comparing}
    found: dict[str, dict[tuple[str, int], CaseVerdict]] = {}
    for name, group in groups.items():
        same = {_unit(pair): pair for pair in group if pair.case.equivalent is not False and pair.case.mutation is None}
        if same:
            found[name] = same
    chosen = judgements.rule.check if judgements.rule.check in found else next(iter(found), "")
    if chosen and chosen == judgements.rule.check:
        return {_unit(pair): pair for pair in groups[chosen]}
    return found.get(chosen, {})


def both_wrong_results(judgements: Judgements) -> Iterator[Result]:
    """Pairs of which it is known whether both images are wrong, FAIL where they are and agree."""
    compared = compared_pairs(judgements)
    for name, check in judgements.checks.items():
        rows = [] if check.compares else [pair for pair in judgements.of_check(name) if _unit(pair) in compared]
        rows = [pair for pair in rows if {"right_a", "right_b"} <= pair.verdict.scores.keys()]
        if not rows:
            continue
        for result in results_of_check(rows):
            beside = compared[result.case.case_id, result.repeat].verdict
            assert result.verdict is not None
            is_right = any(result.verdict.scores[f"right_{role}"] for role in "ab")
            outcome = result.outcome if not result.is_decided else beside.outcome
            if outcome in DECIDED:
                outcome = Outcome.FAIL if beside.outcome is Outcome.PASS and not is_right else Outcome.PASS
            yield Result(case=result.case, repeat=result.repeat, model=result.model, outcome=outcome, check=name)
        return


def _unit(pair: CaseVerdict) -> tuple[str, int]:
    return pair.case.case_id, pair.verdict.repeat
