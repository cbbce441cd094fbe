"""Agreement of a run's judges with people, and its failure rate corrected by them.

People's ratings of scores are held against those of judges; their labels of results (`failed`) are kept in the run and
correct its rate.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from salva.component_facts import pair_scorings
from salva.core.case import Case
from salva.core.exchange import Flaw
from salva.core.judgements import Judgements
from salva.core.question import DIMENSIONS
from salva.core.review import Review
from salva.core.scoring import is_pair_name, pair_name
from salva.core.source import RunRecords
from salva.core.table import Cell, Table
from salva.core.verdict import PAIR, Observers, Outcome, Verdict, observers_text
from salva.errors import StoreError, UsageError
from salva.messages import message
from salva.review.accuracy import accuracy_tables
from salva.review.agreement import (
    REWEIGHTED_COLUMNS,
    REWEIGHTED_NOTE,
    STATISTIC_COLUMNS,
    AgreementOptions,
    people_tables,
    statistics,
    table_agreement,
)
from salva.review.calibration import calibration_tables, is_passes
from salva.review.chances import chance_in, chance_note, weights_of
from salva.review.columns import FAILED, LABEL, RATING, Columns, Scale
from salva.review.corrected_rates import review_notes, review_tables
from salva.review.imported_ratings import imported_ratings
from salva.review.question_sheets import question_measure, with_image_scores
from salva.review.rater_figures import rater_figures
from salva.review.rating_table import Rating, RatingTable, problem_notes, read_ratings
from salva.review.result_samples import unit_key
from salva.review.run_join import CaseKey, RunJoin, pair_of
from salva.review.run_reviews import reviews_of
from salva.run_results import judgements_by_model
from salva.stats.means import mean
from salva.store.queries import read_records
from salva.store.reviews import append_reviews

_ALL = "all s"
"""The alignment scores of all pairs of text and image together."""
_RIGHT = "right_"
_SHARES = ("faith_", "dsg_")
"""Before a role in capitals: the share of right answers about its image, plain and by what each depends on."""
_CASE_ID = "case_id"
_AMONG = "people among themselves"

Rated = dict[CaseKey, dict[str, dict[str, float]]]
"""Case to score to rater to rating."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Draws:
    """How cases are drawn anew for intervals, and what each counts."""

    clusters: Mapping[str, str]
    """Case to what is drawn whole."""
    weights: Mapping[str, float]
    """Case to what it counts in a sample; empty where all count alike."""

    def names(self, cases: Sequence[str]) -> list[str]:
        """The cluster of each case."""
        return [self.clusters.get(case_id, case_id) for case_id in cases]

    def counts(self, cases: Sequence[str]) -> list[float] | None:
        """The weight of each case; None where all count alike."""
        return [self.weights[case_id] for case_id in cases] if self.weights else None


def run_agreement(
    directory: Path, files: Sequence[Path], columns: Columns | None = None, options: AgreementOptions | None = None
) -> tuple[list[Table], list[str]]:
    """Tables of a run's judges against people's ratings, and notes on what of the files could not be used.

    Labels of results are kept in the run, so that its reports have the corrected rate.
    """
    records = read_records(directory)
    known = {name for verdict in records.verdicts for name in verdict.scores}
    table = read_ratings(files, columns, scores=known)
    reviews, unplaced = reviews_of(table, records)
    kept = _keep(directory, reviews) if reviews else []
    tables, flaws = _by_score(records, records.verdicts, table, options or AgreementOptions())
    reviewed, notes = _reviewed(replace(records, reviews=(*records.reviews, *reviews)) if reviews else records)
    tables = [*reviewed, *tables]
    if not {one.name for one in tables} - {_AMONG}:
        rated = ", ".join(dict.fromkeys(rating.measure for rating in table.ratings))
        raise UsageError(message("ratings-unrelated", path=str(directory), rated=rated))
    rows = [line.cells for line in table.items.values()]
    return tables, [*problem_notes([*table.flaws, *flaws, *unplaced]), *chance_note(rows), *notes, *kept]


def _keep(directory: Path, reviews: Sequence[Review]) -> list[str]:
    """A run that cannot be written to is compared all the same."""
    try:
        append_reviews(directory, reviews)
    except StoreError as error:
        return [message("review-not-kept", why=str(error))]
    return []


def _reviewed(records: RunRecords) -> tuple[list[Table], list[str]]:
    by_model = judgements_by_model(records)
    notes = [*review_notes(by_model, records.reviews), *_recall_notes(by_model, records.reviews)]
    tables = [*review_tables(by_model, records.reviews), *accuracy_tables(by_model, records.reviews)]
    return tables, notes


def _recall_notes(by_model: Mapping[str, Judgements], reviews: Sequence[Review]) -> list[str]:
    """What labels of failures alone cannot tell, by model."""
    notes: list[str] = []
    for model, judged in by_model.items():
        labelled = {(one.case_id, one.repeat) for one in reviews if one.model == model}
        others = {unit_key(result) for result in judged.results if not result.is_fail}
        if labelled and others and not labelled & others:
            notes.append(message("review-failures-only", model=model))
    return notes


def reviewed_agreement(
    directory: Path, group: str = "", options: AgreementOptions | None = None
) -> tuple[list[Table], list[str]]:
    """Tables of a run by what it has itself: the ratings that it was made of, or people's labels of its results."""
    ratings = imported_ratings(directory)
    records = read_records(directory)
    if ratings is None and records.reviews:
        return _reviewed(records)
    if ratings is None:
        raise UsageError(message("run-unrated", path=str(directory)))
    options = options or AgreementOptions()
    tables, notes = table_agreement(ratings.table, options, group)
    judged = [verdict for verdict in records.verdicts if not {*verdict.observers} <= {*ratings.people}]
    more, _ = _by_score(records, judged, ratings.table, replace(options, cluster=""))
    twice = {table.name for table in tables}
    return [*tables, *(replace(one, name=f"{one.name}, by score") if one.name in twice else one for one in more)], notes


def _by_score(
    records: RunRecords, judged: Sequence[Verdict], table: RatingTable, options: AgreementOptions
) -> tuple[list[Table], list[Flaw]]:
    """Judges against people by score, thresholds, and people among themselves; also what is of no case."""
    rated, chances, flaws = _rated_by_people(table, records)
    draws = _draws(records, options.cluster, chances)
    tables, compared = _judges_tables(judged, rated, options, draws)
    people = {key: _means(by_rater) for key, by_rater in rated.items()}
    tables += calibration_tables(
        replace(records, verdicts=tuple(judged)), lambda image: _ratings_of(*image[:3], people), draws.clusters
    )
    used = {*compared, *(str(row[0]) for one in tables for row in one.rows)}
    tables += rater_figures(rated, draws.clusters, records.models[0] if len(records.models) == 1 else "")
    return [*tables, *_people_tables(rated, options, draws, used)], flaws


def _rated_by_people(table: RatingTable, records: RunRecords) -> tuple[Rated, dict[str, float | None], list[Flaw]]:
    """People's ratings by case and score, the chance of each case, and what is of no case."""
    join, rated, flaws = RunJoin(records, table.item_columns), Rated(), list[Flaw]()
    cases = {item: join.case_of(line) for item, line in table.items.items()}
    flaws += [found for found in cases.values() if isinstance(found, Flaw)]
    chances: dict[str, float | None] = {}
    for rating in table.ratings:
        found = cases[rating.item]
        if isinstance(found, Flaw) or rating.who not in table.people:
            continue
        case, key = found
        chances.setdefault(case.case_id, chance_in(rating.line.cells))
        for name, value in _scores_of(rating, case, flaws):
            rated.setdefault(key, {}).setdefault(name, {}).setdefault(rating.who, value)
    means = {check.name: str(check.options.get("mean", DIMENSIONS)) for check in records.asked.checks}
    by_id = {case.case_id: case for case in records.cases}
    for key, answers in rated.items():
        case = by_id[key.case_id]
        rated[key] = with_image_scores(answers, case, means.get(case.check, DIMENSIONS), flaws)
    return rated, chances, flaws


def _scores_of(rating: Rating, case: Case, flaws: list[Flaw]) -> list[tuple[str, float]]:
    """What a rating says in terms of the run's scores."""
    if rating.measure not in (RATING, LABEL):
        return [(rating.measure, rating.value)]
    if rating.line.cell("question") and rating.line.cell("image_role"):
        measure = question_measure(rating.line, case)
        if isinstance(measure, Flaw):
            flaws.append(measure)
            return []
        return [(measure, rating.value)]
    text, image = pair_of(rating.line, case.case_id, [prompt.role for prompt in case.prompts])
    if not text or not image:
        return [(rating.measure, rating.value)]
    share = rating.value / 100
    # What truth calls an image that is one of its own text's worlds.
    return [(pair_name(text, image), share), *([(f"{_RIGHT}{text}", share)] if text == image else [])]


def _draws(records: RunRecords, wanted: str, chances: Mapping[str, float | None]) -> _Draws:
    """wanted: the label whose values are drawn whole; the case itself unless given."""
    labels = list(dict.fromkeys(name for case in records.cases for name in case.labels))
    if wanted and wanted != _CASE_ID and wanted not in labels:
        raise UsageError(message("cluster-unusable", column=wanted, header=", ".join((_CASE_ID, *labels))))
    weights = weights_of(list(chances.values()))
    return _Draws(
        clusters={case.case_id: case.labels.get(wanted) or case.case_id for case in records.cases},
        weights=dict(zip(chances, weights, strict=True)) if weights else {},
    )


def _judges_tables(
    verdicts: Sequence[Verdict],
    rated: Rated,
    options: AgreementOptions,
    draws: _Draws,
) -> tuple[list[Table], Collection[str]]:
    """Judges' scores and verdicts against those of people; also which scores were compared."""
    people = {key: _means(by_rater) for key, by_rater in rated.items()}
    by_observer: dict[tuple[str, Observers], list[Verdict]] = {}
    for verdict in verdicts:
        if verdict.arm == PAIR and verdict.outcome in (Outcome.PASS, Outcome.FAIL):
            by_observer.setdefault((verdict.check, verdict.observers), []).append(verdict)
    scored: list[tuple[Cell, ...]] = []
    for (check, observers), group in by_observer.items():
        judge = f"{check}: {observers_text(observers)}"
        scored += _score_rows(judge, group, people, options, draws)
    tables: list[Table] = []
    if scored:
        n_clusters = len({*draws.names([key.case_id for key in rated])})
        drawn = f"{options.cluster or _CASE_ID} ({n_clusters})"
        note = f"Against the mean rating of the people; 95 % intervals resample {drawn}."
        note += REWEIGHTED_NOTE if draws.weights else ""
        headings = ("score", *STATISTIC_COLUMNS, *(REWEIGHTED_COLUMNS if draws.weights else ()))
        tables.append(Table(name="judges and people", columns=headings, rows=tuple(scored), note=note))
    return tables, {str(row[0]) for row in scored} | {FAILED}


def _means(by_rater: Mapping[str, Mapping[str, float]]) -> dict[str, float]:
    """The people's mean of each score; where all that a check scores are there, its figures follow."""
    scores = {name: mean(given.values()) for name, given in by_rater.items()}
    for scoring in pair_scorings().values():
        by_pair = {pair: scores[pair_name(*pair)] for pair in scoring.pairs if pair_name(*pair) in scores}
        if len(by_pair) == len(scoring.pairs):
            scores |= scoring.figures_of(by_pair)
    return scores


def _people_tables(rated: Rated, options: AgreementOptions, draws: _Draws, used: Collection[str]) -> list[Table]:
    """People among themselves by the scores that were used; "all s" has those of images against texts together."""
    raters = list(dict.fromkeys(who for scores in rated.values() for given in scores.values() for who in given))
    rows: dict[str, list[list[float | None]]] = {}
    cases: dict[str, list[str]] = {}
    for key, scores in rated.items():
        for name, given in scores.items():
            for table in (name, _ALL) if is_pair_name(name) else (name,):
                rows.setdefault(table, []).append([given.get(who) for who in raters])
                cases.setdefault(table, []).append(key.case_id)
    shown = {name: rows[name] for name in sorted(rows) if {*used} & {*_judged_as(name)} or is_passes(name)}
    clusters = {name: draws.names(cases[name]) for name in shown}
    return people_tables("score", shown, options.level, clusters, {name: draws.counts(cases[name]) for name in shown})


def _ratings_of(
    case_id: str, repeat: int, model: str, people: Mapping[CaseKey, Mapping[str, float]]
) -> dict[str, float]:
    """People's ratings of a case; those without repeat or model are of all of them."""
    given: dict[str, float] = {}
    for of_repeat in ("", str(repeat)):
        for of_model in ("", model):
            given |= people.get(CaseKey(case_id, of_repeat, of_model), {})
    return given


def _judged_as(name: str) -> tuple[str, ...]:
    """The scores of a run that mean the same: right_a by boxes is the share of right answers by questions."""
    role = name.removeprefix(_RIGHT)
    return (name,) if role == name else (name, *(f"{prefix}{role.upper()}" for prefix in _SHARES))


def _score_rows(
    judge: str,
    verdicts: Sequence[Verdict],
    people: Mapping[CaseKey, Mapping[str, float]],
    options: AgreementOptions,
    draws: _Draws,
) -> list[tuple[Cell, ...]]:
    pairs: dict[str, list[tuple[float, float]]] = {}
    cases: dict[str, list[str]] = {}
    for verdict in verdicts:
        given = _ratings_of(verdict.case_id, verdict.repeat, verdict.model, people)
        # A rating of a score of that very name counts before one of a score that means the same.
        by_score = {score: value for name, value in given.items() for score in _judged_as(name)} | given
        for name in (score for score in by_score if score in verdict.scores):
            for score in (name, _ALL) if is_pair_name(name) else (name,):
                pairs.setdefault(score, []).append((verdict.scores[name], by_score[name]))
                cases.setdefault(score, []).append(verdict.case_id)
    rows: list[tuple[Cell, ...]] = []
    for name in sorted(pairs):
        scale = options.scale(name) or _scale(name, pairs[name])
        clusters, weights = draws.names(cases[name]), draws.counts(cases[name])
        found = statistics(judge, pairs[name], options, clusters, (scale, scale), weights)
        rows += [(name, *cells) for cells in found]
    return rows


def _scale(name: str, pairs: Sequence[tuple[float, float]]) -> Scale:
    """People and judge give the same score, so they share its scale: 0 to 1, or what the numbers cover."""
    if is_pair_name(name) or name.startswith((_RIGHT, *_SHARES)) or name == _ALL:
        return 0.0, 1.0
    numbers = [number for pair in pairs for number in pair]
    return min(numbers), max(numbers)
