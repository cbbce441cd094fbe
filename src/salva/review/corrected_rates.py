"""The failure rate as people find it: from their labels of results that were drawn at random.

The judgements of one model and people's labels come in; the corrected rate, its strata and the precision by category
go out. A sample that was drawn in any other way gives precision alone.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from statistics import median

from salva.core.fingerprint import Json
from salva.core.judgements import Judgements
from salva.core.result import Result
from salva.core.review import Label, Review
from salva.core.table import Cell, Table
from salva.core.verdict import Outcome
from salva.messages import message
from salva.review.result_samples import (
    BY_CATEGORY,
    BY_RESULT,
    WITHOUT_IMAGES,
    Unit,
    has_gaps,
    in_drawn_order,
    sample_token,
    strata_of,
    unit_key,
    weights_of_results,
)
from salva.run_results import rate_of
from salva.stats.correction import CorrectedRate, Stratum, correct_rate, kish, stratum_of
from salva.stats.rates import rate_interval

FEW_REVIEWERS, LOW_RATE = 3, 0.2
"""Below this rate the errors of fewer reviewers bias it."""
_FAIL = str(Outcome.FAIL).lower()
_LABEL_COLUMNS = ("reviewed", "cannot_tell", "share_fail", "low", "high", "bound_low", "bound_high")
_RATE_NOTE = (
    "The share of results that people call FAIL. low and high: its 95 % interval, with kinds of results that nobody "
    "reviewed as all PASS and all FAIL. The bounds count what people cannot tell as PASS and FAIL."
)
_STRATA_NOTE = "share_fail: of the reviewed results of this kind, those that people call FAIL."
_PRECISION_NOTE = (
    "share_fail: of the reviewed failures, those that people call FAIL too. The row 'all' weights each category by its "
    "failures."
)


@dataclass(frozen=True, slots=True, kw_only=True)
class ReviewedStratum:
    """Results of one kind, and what people say of those that were drawn."""

    name: str
    n: int
    n_reviewed: int
    n_unclear: int
    """Reviewed results of which people cannot tell, or do not agree."""
    stratum: Stratum


@dataclass(frozen=True, slots=True, kw_only=True)
class Correction:
    """The failure rate of one model after review."""

    rate: CorrectedRate
    strata: tuple[ReviewedStratum, ...]

    @property
    def n_reviewed(self) -> int:
        """How many results were reviewed."""
        return sum(one.n_reviewed for one in self.strata)

    def to_json(self) -> dict[str, Json]:
        """The contract's object."""
        ends: list[Json] = [self.rate.interval.low, self.rate.interval.high]
        return {"failure_rate": self.rate.rate, "interval": ends, "n_reviewed": self.n_reviewed}


def correction_of(judged: Judgements, reviews: Iterable[Review]) -> Correction | None:
    """The corrected rate of one model; None where no result of any kind was reviewed at random."""
    labels = labels_by_unit(judged, reviews)
    if not labels:
        return None
    weights, token = weights_of_results(judged), sample_token(judged, BY_RESULT)
    strata = []
    for name, results in strata_of(judged).items():
        units = [unit_key(result) for result in results]
        reviewed = _drawn_units(name, results, labels, token) or []
        calls = [(weights[unit], majority_of(labels[unit])) for unit in reviewed]
        strata.append(
            ReviewedStratum(
                name=name,
                n=len(units),
                n_reviewed=len(reviewed),
                n_unclear=sum(is_fail is None for _, is_fail in calls),
                stratum=stratum_of([weights[unit] for unit in units], calls),
            )
        )
    if not any(one.n_reviewed for one in strata):
        return None
    rate = correct_rate([one.stratum for one in strata], kish(weights.values()))
    return Correction(rate=rate, strata=tuple(strata))


def _drawn_units(
    name: str, results: Sequence[Result], labels: Mapping[Unit, Sequence[Review]], token: str
) -> list[Unit] | None:
    """Results of one kind that were reviewed at random; None where rows of a sheet were passed over."""
    reviewed = [unit for unit in map(unit_key, results) if unit in labels]
    # Where everything was reviewed there is nothing that a draw could have left out.
    if len(reviewed) == len(results):
        return reviewed
    by_seed: dict[str, set[Unit]] = {}
    for unit in reviewed:
        for one in labels[unit]:
            if one.sample.startswith(token):
                by_seed.setdefault(one.sample.removeprefix(token), set()).add(unit)
    if any(has_gaps(in_drawn_order(results, name, seed), drawn) for seed, drawn in by_seed.items()):
        return None
    return [unit for unit in reviewed if any(unit in drawn for drawn in by_seed.values())]


def review_tables(by_model: Mapping[str, Judgements], reviews: Sequence[Review]) -> list[Table]:
    """The corrected rate, what it is made of, and the precision by category; of every model that was reviewed."""
    corrected = {model: one for model, judged in by_model.items() if (one := correction_of(judged, reviews))}
    rates: list[tuple[Cell, ...]] = []
    strata: list[tuple[Cell, ...]] = []
    for model, one in corrected.items():
        rate, measured = one.rate, rate_of(by_model[model])
        ends = (rate.interval.low, rate.interval.high, rate.bounds.low, rate.bounds.high)
        rates.append((model, measured.rate, rate.rate, *ends, one.n_reviewed))
        strata += [
            (
                model,
                part.name,
                part.n,
                part.stratum.weight,
                *_label_cells(part.stratum, part.n_reviewed, part.n_unclear),
            )
            for part in one.strata
        ]
    precision = [
        row
        for model, judged in by_model.items()
        for row in _precision_rows(model, judged, reviews, corrected.get(model))
    ]
    columns = ("model", "failure_rate", "corrected_rate", "low", "high", "bound_low", "bound_high", "reviewed")
    tables = (
        Table(name="corrected failure rate", columns=columns, rows=tuple(rates), note=_RATE_NOTE),
        Table(
            name="people and results",
            columns=("model", "result", "n", "weight", *_LABEL_COLUMNS),
            rows=tuple(strata),
            note=_STRATA_NOTE,
        ),
        Table(
            name="precision by category",
            columns=("model", "category", "failed", *_LABEL_COLUMNS),
            rows=tuple(precision),
            note=_PRECISION_NOTE,
        ),
    )
    return [table for table in tables if table.rows]


def review_notes(by_model: Mapping[str, Judgements], reviews: Sequence[Review]) -> list[str]:
    """What to know about the labels: how they were drawn, and how many people gave them."""
    notes: list[str] = []
    for model, judged in by_model.items():
        labels = labels_by_unit(judged, reviews)
        if not labels:
            continue
        token, drawn_by = sample_token(judged, BY_RESULT), BY_RESULT + "-"
        samples = {one.sample for given in labels.values() for one in given}
        if any(sample.startswith(drawn_by) and not sample.startswith(token) for sample in samples):
            notes.append(message("review-results-changed", model=model))
        correction = correction_of(judged, reviews)
        rate = correction.rate.rate if correction else None
        kinds = strata_of(judged).items()
        if chosen := [name for name, results in kinds if _drawn_units(name, results, labels, token) is None]:
            notes.append(message("review-rows-skipped", model=model, kinds=", ".join(chosen)))
        elif correction is None:
            notes.append(message("review-not-random", model=model))
        elif rate is None:
            notes.append(_missing_note(model, correction))
        rates = [value for value in (rate, rate_of(judged).rate) if value is not None]
        n_reviewers = median(map(len, labels.values()))
        if n_reviewers < FEW_REVIEWERS and rates and min(rates) < LOW_RATE:
            notes.append(message("reviewers-few", model=model, n=round(n_reviewers)))
    return notes


def _missing_note(model: str, correction: Correction) -> str:
    """Which kinds of results keep the rate from being one number: first those that people can still review."""
    missing = [one.name for one in correction.strata if one.stratum.share is None]
    if reviewable := [name for name in missing if not name.endswith(WITHOUT_IMAGES)]:
        return message("review-kinds-missing", model=model, kinds=", ".join(reviewable))
    return message("review-without-images", model=model, kinds=", ".join(missing))


def labels_by_unit(judged: Judgements, reviews: Iterable[Review]) -> dict[Unit, list[Review]]:
    """The last label of every reviewer, by result of this model."""
    units = {unit_key(result): result.model for result in judged.results}
    last: dict[Unit, dict[str, Review]] = {}
    for one in reviews:
        unit = one.case_id, one.repeat
        if units.get(unit) == one.model:
            last.setdefault(unit, {})[one.reviewer] = one
    return {unit: [*by_reviewer.values()] for unit, by_reviewer in last.items()}


def majority_of(reviews: Iterable[Review]) -> bool | None:
    """Whether most of those who can tell call it FAIL; None where nobody can, or as many say either."""
    labels = [one.label for one in reviews]
    lead = labels.count(Label.FAIL) - labels.count(Label.PASS)
    return lead > 0 if lead else None


def _precision_rows(
    model: str, judged: Judgements, reviews: Sequence[Review], correction: Correction | None
) -> Iterator[tuple[Cell, ...]]:
    """The failures that people confirm, by category; and in all, if drawn by it or not in the correction."""
    labels = labels_by_unit(judged, reviews)
    by_category: dict[str, list[Result]] = {}
    for result in judged.results:
        if result.is_fail:
            by_category.setdefault(result.case.category, []).append(result)
    n_failed = sum(map(len, by_category.values()))
    strata, n_reviewed, n_unclear = [], 0, 0
    for category, results in by_category.items():
        calls = [(1.0, majority_of(labels[unit_key(one)])) for one in results if unit_key(one) in labels]
        unclear = sum(is_fail is None for _, is_fail in calls)
        strata.append(stratum_of([1 / n_failed] * len(results), calls))
        n_reviewed, n_unclear = n_reviewed + len(calls), n_unclear + unclear
        if calls:
            yield model, category, len(results), *_label_cells(strata[-1], len(calls), unclear)
    has_share = correction and any(part.name == _FAIL and part.n_reviewed for part in correction.strata)
    is_by_category = any(one.sample.startswith(f"{BY_CATEGORY}-") for given in labels.values() for one in given)
    if n_reviewed and (is_by_category or not has_share):
        whole = correct_rate(strata, n_failed)
        ends = (whole.interval.low, whole.interval.high, whole.bounds.low, whole.bounds.high)
        yield model, "all", n_failed, n_reviewed, n_unclear, whole.rate, *ends


def _label_cells(stratum: Stratum, n_reviewed: int, n_unclear: int) -> tuple[Cell, ...]:
    """The cells under _LABEL_COLUMNS."""
    ends = rate_interval(stratum.share, stratum.n) if stratum.share is not None else None
    low, high = (ends.low, ends.high) if ends else (None, None)
    return n_reviewed, n_unclear, stratum.share, low, high, *stratum.bounds
