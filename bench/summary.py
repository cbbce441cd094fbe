"""How long the figures of a large run take, in records a second.

Prints one table: the same summary over 1,000 and 50,000 cases with two checks each.
"""

from __future__ import annotations

import time

from salva.core.case import Case, Prompt
from salva.core.source import RunRecords
from salva.core.verdict import Outcome, Verdict
from salva.report.summary import summarise_records


def records(n_cases: int) -> tuple[list[Case], list[Verdict]]:
    """Cases in 60 categories and 7,000 clusters at most, two verdicts each."""
    cases = [
        Case(
            case_id=f"case-{n}",
            suite="metalogic",
            category=f"category-{n % 60}",
            prompts=(Prompt(role="a", text="x"), Prompt(role="b", text="y")),
            checks=("same-scene",),
            labels={"law": "commutative", "modifier": "and", "entities": f"cat{n % 7000},dog"},
            cluster=f"cluster-{n % 7000}",
        )
        for n in range(n_cases)
    ]
    verdicts = [
        Verdict(
            case_id=case.case_id,
            repeat=0,
            arm="pair",
            model="painter",
            check=check,
            observers=("pocket",),
            outcome=Outcome.FAIL if n % 7 < 2 else Outcome.PASS,
        )
        for n, case in enumerate(cases)
        for check in ("same-scene", "truth")
    ]
    return cases, verdicts


def main() -> None:
    """Time both sizes."""
    print(f"{'cases':>8} {'seconds':>8} {'verdicts/s':>11}")
    for n_cases in (1_000, 50_000):
        cases, verdicts = records(n_cases)
        primaries = {case.case_id: "same-scene" for case in cases}
        start = time.perf_counter()
        summarise_records(RunRecords(cases=tuple(cases), verdicts=tuple(verdicts), primaries=primaries))
        seconds = time.perf_counter() - start
        print(f"{n_cases:>8,} {seconds:>8.2f} {len(verdicts) / seconds:>11,.0f}")


if __name__ == "__main__":
    main()
