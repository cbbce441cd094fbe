"""Rows of a rating table with the column `failed`, as labels of a run's results."""

from __future__ import annotations

from salva.core.exchange import Flaw
from salva.core.review import Label, Review
from salva.core.source import RunRecords
from salva.review.columns import FAILED, SAMPLE
from salva.review.rating_table import CANNOT_TELL, Rating, RatingTable
from salva.review.run_join import CaseKey, RunJoin


def reviews_of(table: RatingTable, records: RunRecords) -> tuple[list[Review], list[Flaw]]:
    """People's labels, and rows that do not name one result of the run; rows of no case are none of them."""
    join = RunJoin(records, table.item_columns)
    reviews: list[Review] = []
    flaws: list[Flaw] = []
    for rating in table.ratings:
        if rating.measure != FAILED or rating.who not in table.people:
            continue
        found = join.case_of(table.items[rating.item])
        if isinstance(found, Flaw):
            continue
        review = _review(rating, found[1], records)
        if isinstance(review, Flaw):
            flaws.append(review)
        else:
            reviews.append(review)
    return reviews, flaws


def _review(rating: Rating, key: CaseKey, records: RunRecords) -> Review | Flaw:
    repeat = key.repeat or ("0" if records.asked.repeats == 1 else "")
    model = key.model or (records.models[0] if len(records.models) == 1 else "")
    if not repeat.isdecimal() or not int(repeat) < records.asked.repeats or not model:
        which = f"repeat {key.repeat!r} and model {key.model!r}"
        return rating.line.flaw(f"{which} name no single result of {key.case_id!r}")
    label = Label.CANNOT_TELL if rating.value == CANNOT_TELL else Label.FAIL if rating.value else Label.PASS
    return Review(
        case_id=key.case_id,
        repeat=int(repeat),
        model=model,
        reviewer=rating.who,
        label=label,
        sample=rating.line.cell(SAMPLE),
    )
