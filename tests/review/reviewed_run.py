"""A run whose results people review: its verdicts are known, and so is what people would say of every image."""

from __future__ import annotations

import csv
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from msgspec import structs
from report.fake_runs import ASKED, FakeImages, image_id, make_case, make_verdict, store_run

from salva.core.case import Case
from salva.core.review import Label, Review
from salva.core.source import RunRecords
from salva.core.verdict import Outcome, Verdict

Kind = tuple[Outcome, bool]
"""A result, and whether people find that the case failed."""
FAIL, PASS, UNDECIDED, ERROR = Outcome.FAIL, Outcome.PASS, Outcome.UNDECIDED, Outcome.ERROR


@dataclass(frozen=True)
class Reviewed:
    """The records of a run, and what people find, by case."""

    records: RunRecords
    truth: Mapping[str, bool]

    def reviews(self, cases: Iterable[str], sample: str = "", reviewers: Sequence[str] = ("ann",)) -> list[Review]:
        """Labels of these cases by people who never err."""
        return [
            Review(
                case_id=case,
                repeat=0,
                model="painter",
                reviewer=who,
                label=Label.FAIL if self.truth[case] else Label.PASS,
                sample=sample,
            )
            for case in cases
            for who in reviewers
        ]

    def with_result(self, *outcomes: Outcome) -> list[str]:
        """The cases with these results."""
        return [verdict.case_id for verdict in self.records.verdicts if verdict.outcome in outcomes]


def reviewed_run(counts: Mapping[str, Mapping[Kind, int]], without_images: Outcome | None = None) -> Reviewed:
    """counts: category to how many cases of each kind; without_images: a result that shows none."""
    cases: list[Case] = []
    verdicts: list[Verdict] = []
    truth: dict[str, bool] = {}
    for category, kinds in counts.items():
        for (outcome, is_fail), n in kinds.items():
            for _ in range(n):
                case = make_case(f"{category}-{len(cases)}", category=category, checks=("truth",))
                images = {} if outcome is without_images else {role: image_id(f"{case.case_id}{role}") for role in "ab"}
                cases.append(case)
                verdicts.append(make_verdict(case.case_id, outcome, check="truth", images=images))
                truth[case.case_id] = is_fail
    records = RunRecords(
        cases=tuple(cases),
        verdicts=tuple(verdicts),
        primaries={case.case_id: "truth" for case in cases},
        asked=structs.replace(ASKED, repeats=1),
        name="run",
        is_whole=True,
    )
    return Reviewed(records, truth)


def store(run: Reviewed, directory: Path) -> Path:
    """The run on disk."""
    store_run(directory, run.records, FakeImages())
    return directory


def fill(sheet: Path, run: Reviewed, copy: Path, who: str = "ann") -> Path:
    """A sheet as somebody who never errs fills it in."""
    with sheet.open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    with copy.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, list(rows[0]))
        writer.writeheader()
        writer.writerows({**row, "rater": who, "failed": "yes" if run.truth[row["case_id"]] else "no"} for row in rows)
    return copy
