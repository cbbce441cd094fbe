"""How far a run's judges agree with people who rated its pictures, and its failure rate corrected by them.

The file has a row a rating: case_id, rater, optionally repeat and model, and either columns named like scores of the
verdicts, or text_role, image_role, objects and relations (0 to 50 each), or image_role, question and score (0 to 1),
or failed (yes or no).
"""

from __future__ import annotations

import hashlib
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from salva.component_facts import pair_scorings
from salva.core.case import Case
from salva.core.question import DIMENSIONS
from salva.core.scoring import is_pair_name, pair_name
from salva.core.source import RunRecords
from salva.core.table import Cell, Table
from salva.core.verdict import PAIR, Observers, Outcome, Verdict, observers_text
from salva.errors import UsageError
from salva.files.tables import by_kind
from salva.review.agreement import (
    REWEIGHTED_COLUMNS,
    REWEIGHTED_NOTE,
    STATISTIC_COLUMNS,
    Reckoning,
    people_tables,
    ratings_agreement,
    statistics,
)
from salva.review.calibration import calibration_tables, is_passes
from salva.review.chances import CHANCE, chance_in, chance_note, weights_of
from salva.review.kept_ratings import kept_ratings
from salva.review.question_sheets import is_question_row, question_answer, with_picture_scores
from salva.review.rating_cells import Problems, as_number, column_key, is_silent, rating_columns
from salva.review.rating_files import Row
from salva.review.ratings import YES_OR_NO, Sheet, read_sheet
from salva.review.role_codes import IMAGE, TEXT, plain_role
from salva.stats.agreement import Calibration, rogan_gladen
from salva.store.queries import read_records

_TEXTS = ("text", "picture", "prompt", "caption", "comment", "note")
_ALL = "all s"
"""The alignment scores of all pairs of text and picture together."""
_RIGHT = "right_"
_SHARES = ("faith_", "dsg_")
"""Before a role in capitals: the share of right answers about its picture, plain and by what each depends on."""

Key = tuple[str, str, str]
"""Case, repeat and model; "" for any."""
Rated = dict[Key, dict[str, dict[str, float]]]
"""What of it was rated, by whom, how."""
CaseWeights = Mapping[str, float]
"""Case to what it counts in a sample; empty where all count alike."""
_CASE_ID = "case_id"


def model_code(model: str) -> str:
    """A name for a model that says nothing about it, for sheets that people fill in."""
    return f"model-{hashlib.sha256(model.encode()).hexdigest()[:6]}"


def run_agreement(
    directory: Path, ratings_file: Path, reckoning: Reckoning | None = None
) -> tuple[list[Table], list[str]]:
    """Tables of a run's judges against people's ratings; also what of the file could not be used."""
    reckoning = reckoning or Reckoning()
    records = read_records(directory)
    together = _clusters(records, reckoning.cluster, directory)
    sheet = read_sheet(ratings_file)
    rated, problems = _rated_by_people(sheet, records)
    problems += chance_note(sheet.rows)
    weights = _weights(sheet, rated)
    tables, compared = _judges_tables(records.verdicts, rated, reckoning, together, weights)
    people = {key: _means(by_rater) for key, by_rater in rated.items()}
    calibrated, left_out = calibration_tables(records, lambda picture: _said(*picture[:3], people), together)
    if not tables and not calibrated:
        rated_names = sorted({name for by_rater in rated.values() for name in by_rater})
        nothing = "no cell is filled in with a rating" if rated else "it rates no case of the run"
        raise UsageError(
            f"{str(ratings_file)!r} and {str(directory)!r} have nothing in common to compare; the file needs case_id "
            "and columns named like scores of the run, or text_role, image_role, objects and relations, or image_role, "
            "question and score, or failed; "
            + "; ".join((f"it rates {', '.join(rated_names)}" if rated_names else nothing, *problems[:1]))
        )
    side_by_side, clusters, counted = _side_by_side(rated, together, weights)
    calibrated_names = {str(row[0]) for table in calibrated for row in table.rows}
    used = {*compared, *calibrated_names}
    kept = {name: rows for name, rows in side_by_side.items() if used & {*_judged_as(name)} or is_passes(name)}
    among = people_tables("score", kept, reckoning.level, clusters, counted)
    return [*tables, *calibrated, *among], [*problems, *left_out]


def imported_agreement(
    directory: Path, group: str = "", reckoning: Reckoning | None = None
) -> tuple[list[Table], list[str]]:
    """Tables of a run that was made of people's ratings: those of the files, then those of the verdicts."""
    reckoning = reckoning or Reckoning()
    kept = kept_ratings(directory, group)
    if kept is None:
        read_records(directory)  # a folder that is no run is said to be none
        raise UsageError(
            f"{str(directory)!r} is a run without people's ratings; give them with --ratings FILE (`salva export "
            f"{directory} --as ratings` makes the sheet to fill in)"
        )
    tables, told_lines = ratings_agreement(kept.ratings, str(directory), reckoning)
    records = read_records(directory)
    verdicts, together = records.verdicts, _clusters(records, "", directory)
    people = {(name,) for name in kept.people}
    rated = _rated_in_verdicts([verdict for verdict in verdicts if verdict.observers in people])
    for place, *given in zip(kept.placed.places, *kept.ratings.people.values(), strict=True):
        if place is None or place.pair is None:
            continue
        said = {who: value / 100 for who, value in zip(kept.people, given, strict=True) if value is not None}
        if said:
            mine = rated.setdefault((place.case_id, str(place.repeat), place.model), {})
            mine[pair_name(*place.pair)] = said
    judged = [verdict for verdict in verdicts if verdict.observers not in people]
    rows = zip(kept.placed.places, kept.ratings.rows, strict=True)
    weights = _case_weights({place.case_id: chance_in(row) for place, row in rows if place})
    more, _ = _judges_tables(judged, rated, replace(reckoning, cluster=""), together, weights)
    side_by_side, clusters, counted = _side_by_side(rated, together, weights)
    more += people_tables("score", side_by_side, reckoning.level, clusters, counted)
    return [*tables, *(replace(table, name=f"{table.name}, by score") for table in more)], told_lines


def _weights(sheet: Sheet, rated: Rated) -> CaseWeights:
    """What each rated case counts, by the chances in a sheet."""
    column = next((name for name in sheet.columns if column_key(name) == _CASE_ID), "")
    cases = {case_id for case_id, _, _ in rated}
    chances = {row.get(column, "").strip(): chance_in(row) for row in sheet.rows}
    return _case_weights({case_id: chances.get(case_id) for case_id in sorted(cases)})


def _case_weights(chances: Mapping[str, float | None]) -> CaseWeights:
    weights = weights_of(list(chances.values()))
    return dict(zip(chances, weights, strict=True)) if weights else {}


def _rated_in_verdicts(verdicts: Sequence[Verdict]) -> Rated:
    """What follows from people's ratings: the figures of whole sets of scores, and whether a check broke."""
    rated = Rated()
    figures = [name for scoring in pair_scorings().values() for name in scoring.figures]
    for verdict in verdicts:
        if verdict.outcome not in (Outcome.PASS, Outcome.FAIL):
            continue
        mine = rated.setdefault((verdict.case_id, str(verdict.repeat), verdict.model), {})
        scores = {name: verdict.scores[name] for name in figures if name in verdict.scores}
        for name, value in {**scores, "failed": float(verdict.outcome is Outcome.FAIL)}.items():
            mine.setdefault(name, {})[observers_text(verdict.observers)] = value
    return rated


def _clusters(records: RunRecords, wanted: str, directory: Path) -> dict[str, str]:
    """Case to what is drawn whole for intervals: the case itself, or one of its labels."""
    labels = list(dict.fromkeys(name for case in records.cases for name in case.labels))
    if wanted and wanted != _CASE_ID and wanted not in labels:
        raise UsageError(
            f"the cases of {str(directory)!r} have no label {wanted!r} to draw whole; they have "
            f"{', '.join((_CASE_ID, *labels))}"
        )
    return {case.case_id: case.labels.get(wanted) or case.case_id for case in records.cases}


def _judges_tables(
    verdicts: Sequence[Verdict],
    rated: Rated,
    reckoning: Reckoning,
    together: Mapping[str, str],
    weights: CaseWeights,
) -> tuple[list[Table], Collection[str]]:
    """Judges' scores and verdicts against those of people; also which scores were compared."""
    people = {key: _means(by_rater) for key, by_rater in rated.items()}
    by_observer: dict[tuple[str, Observers], list[Verdict]] = {}
    for verdict in verdicts:
        if verdict.arm == PAIR and verdict.outcome in (Outcome.PASS, Outcome.FAIL):
            by_observer.setdefault((verdict.check, verdict.observers), []).append(verdict)
    scored: list[tuple[Cell, ...]] = []
    corrected: list[tuple[Cell, ...]] = []
    for (check, observers), group in by_observer.items():
        scored += _score_rows(f"{check}: {observers_text(observers)}", group, people, reckoning, together, weights)
        corrected += _corrected_rows(f"{check}: {observers_text(observers)}", group, people)
    tables: list[Table] = []
    if scored:
        n_clusters = len({together.get(case_id, case_id) for case_id, _, _ in rated})
        note = "Scores of the run against the mean of people's ratings of the same pictures; 95 % intervals draw whole "
        note += f"clusters anew ({reckoning.cluster or _CASE_ID}, {n_clusters} of them)."
        note += REWEIGHTED_NOTE if weights else ""
        headings = ("score", *STATISTIC_COLUMNS, *(REWEIGHTED_COLUMNS if weights else ()))
        tables.append(Table(name="judges and people", columns=headings, rows=tuple(scored), note=note))
    if corrected:
        columns = (
            *("judge", "model", "n_rated", "sensitivity", "specificity", "observed_rate"),
            *("corrected_rate", "corrected_low", "corrected_high"),
        )
        note = "The failure rate after Rogan and Gladen, from cases that people judged too; interval after Lang and "
        note += "Reiczigel. A dash: people and judge agree no better than chance, or one side never occurs."
        tables.append(Table(name="corrected failure rate", columns=columns, rows=tuple(corrected), note=note))
    return tables, {str(row[0]) for row in scored} | {"failed"}


def _rated_by_people(sheet: Sheet, records: RunRecords) -> tuple[Rated, list[str]]:
    names = {column_key(name): name for name in sheet.columns}
    if "case_id" not in names:
        raise UsageError(f"{sheet.name!r} has no column case_id; it has {', '.join(names.values())}")
    cases = {case.case_id: case for case in records.cases}
    models = {
        code: verdict.model for verdict in records.verdicts for code in (verdict.model, model_code(verdict.model))
    }
    problems, rated = Problems(sheet.name, sheet.places), Rated()
    pair = rating_columns(names.values())
    for index, row in enumerate(sheet.rows):
        case_id, repeat, model, rater = (
            row.get(names.get(name, ""), "").strip() for name in ("case_id", "repeat", "model", "rater")
        )
        if case_id not in cases:
            problems.add(f"{case_id!r} is no case of the run", index)
        elif model and model not in models:
            problems.add(f"{model!r} is no model of the run", index)
        else:
            mine = rated.setdefault((case_id, repeat, models.get(model, "")), {})
            # Answers of one person to several questions make one score, so they need one name.
            who = rater or ("somebody" if is_question_row(row) else f"row {index + 1}")
            for name, value in _row_ratings(row, index, cases[case_id], pair, problems):
                said = mine.setdefault(name, {})
                if who in said:
                    problems.add(f"{who!r} rated {name} of {case_id!r} twice; the first rating stands", index)
                said.setdefault(who, value)
    means = {check.name: str(check.options.get("mean", DIMENSIONS)) for check in records.asked.checks}
    scored = {
        key: with_picture_scores(answers, cases[key[0]], means.get(cases[key[0]].check, DIMENSIONS), problems)
        for key, answers in rated.items()
    }
    return scored, by_kind(problems.flaws)


def _row_ratings(
    row: Row, index: int, case: Case, pair: tuple[str, ...], problems: Problems
) -> Iterator[tuple[str, float]]:
    """What one row says: an answer, how a picture fits a text, or whatever columns are numbers or yes and no."""
    if is_question_row(row):
        answer = question_answer(row, index, case, problems)
        if answer is not None:
            yield answer
        return
    own_roles = [prompt.role for prompt in case.prompts]
    text_role = plain_role(case.case_id, TEXT, row.get("text_role", ""), own_roles)
    roles = text_role, plain_role(case.case_id, IMAGE, row.get("image_role", ""), own_roles)
    if all(roles):
        rating = problems.rating(row, pair, index) if pair else None
        if rating is not None:
            yield pair_name(*roles), rating / 100
            if roles[0] == roles[1]:
                # What truth calls a picture that is one of its own text's worlds.
                yield f"{_RIGHT}{roles[0]}", rating / 100
        return
    for name, cell in row.items():
        if column_key(name) in ("case_id", "repeat", "model", "rater", CHANCE, *_TEXTS) or is_silent(cell):
            continue
        value = as_number(cell)
        if value is None:
            problems.add(f"{name} is {cell!r}, which is neither a number nor yes or no", index)
        else:
            yield ("failed" if column_key(name) in YES_OR_NO else name), value


def _means(by_rater: Mapping[str, Mapping[str, float]]) -> dict[str, float]:
    """The people's mean of each score; where all that a check scores are there, its figures follow."""
    scores = {name: sum(said.values()) / len(said) for name, said in by_rater.items()}
    for scoring in pair_scorings().values():
        by_pair = {pair: scores[pair_name(*pair)] for pair in scoring.pairs if pair_name(*pair) in scores}
        if len(by_pair) == len(scoring.pairs):
            scores |= scoring.figures_of(by_pair)
    return scores


def _side_by_side(
    rated: Rated, together: Mapping[str, str], weights: CaseWeights
) -> tuple[dict[str, list[list[float | None]]], dict[str, list[str]], dict[str, list[float]]]:
    """For each score a row a rated thing and a column a rater; "all s" has those of pictures against texts together.

    Also the cluster of each row, and its weight where there are any.
    """
    raters = list(dict.fromkeys(who for scores in rated.values() for said in scores.values() for who in said))
    tables: dict[str, list[list[float | None]]] = {}
    clusters: dict[str, list[str]] = {}
    counted: dict[str, list[float]] = {}
    for (case_id, _, _), scores in rated.items():
        for name, said in scores.items():
            row = [said.get(who) for who in raters]
            for table in (name, _ALL) if is_pair_name(name) else (name,):
                tables.setdefault(table, []).append(row)
                clusters.setdefault(table, []).append(together.get(case_id, case_id))
                counted.setdefault(table, []).extend([weights[case_id]] if weights else [])
    return {name: tables[name] for name in sorted(tables)}, clusters, counted


def _said(case_id: str, repeat: int, model: str, people: Mapping[Key, Mapping[str, float]]) -> dict[str, float]:
    """What people say about a case; a rating without repeat or model is about all of them."""
    said: dict[str, float] = {}
    for of_repeat in ("", str(repeat)):
        for of_model in ("", model):
            said |= people.get((case_id, of_repeat, of_model), {})
    return said


def _judged_as(name: str) -> tuple[str, ...]:
    """The scores of a run that say what people say by a name.

    How well a picture fits its own text is right_a by boxes and, by answers to questions, the share of right ones.
    """
    role = name.removeprefix(_RIGHT)
    return (name,) if role == name else (name, *(f"{prefix}{role.upper()}" for prefix in _SHARES))


def _score_rows(
    judge: str,
    verdicts: Sequence[Verdict],
    people: Mapping[Key, Mapping[str, float]],
    reckoning: Reckoning,
    together: Mapping[str, str],
    weights: CaseWeights,
) -> list[tuple[Cell, ...]]:
    pairs: dict[str, list[tuple[float, float]]] = {}
    clusters: dict[str, list[str]] = {}
    counted: dict[str, list[float]] = {}
    for verdict in verdicts:
        said = _said(verdict.case_id, verdict.repeat, verdict.model, people)
        # What people gave a score of that very name is held against it, before anything that means the same.
        told = {score: theirs for name, theirs in said.items() for score in _judged_as(name)} | said
        for name in (score for score in told if score in verdict.scores):
            for score in (name, _ALL) if is_pair_name(name) else (name,):
                pairs.setdefault(score, []).append((verdict.scores[name], told[name]))
                clusters.setdefault(score, []).append(together.get(verdict.case_id, verdict.case_id))
                counted.setdefault(score, []).extend([weights[verdict.case_id]] if weights else [])
    rows: list[tuple[Cell, ...]] = []
    for name in sorted(pairs):
        scale = _scale(name, pairs[name])
        covers = reckoning.edges and reckoning.edges[0] <= scale[0] and scale[1] <= reckoning.edges[-1]
        # A run has scores on several scales; edges are for those that they cover.
        fitting = reckoning if covers else replace(reckoning, edges=())
        rows += [
            (name, *cells)
            for cells in statistics(judge, pairs[name], fitting, clusters[name], scale, counted[name] or None)
        ]
    return rows


def _scale(name: str, pairs: Sequence[tuple[float, float]]) -> tuple[float, float]:
    """People and judge give the same score, so they share its scale: 0 to 1, or what the numbers cover."""
    if is_pair_name(name) or name.startswith((_RIGHT, *_SHARES)) or name == _ALL:
        return 0.0, 1.0
    numbers = [number for pair in pairs for number in pair]
    return min(numbers), max(numbers)


def _corrected_rows(
    judge: str, verdicts: Sequence[Verdict], people: Mapping[Key, Mapping[str, float]]
) -> list[tuple[Cell, ...]]:
    """One row a model; the judge is calibrated on all models together, because it is one judge."""
    both = [
        (verdict.outcome is Outcome.FAIL, said >= 0.5)
        for verdict in verdicts
        if (said := _said(verdict.case_id, verdict.repeat, verdict.model, people).get("failed")) is not None
    ]
    if not both:
        return []
    calibration = Calibration(
        n_positive=sum(is_broken for _, is_broken in both),
        n_found=sum(is_flagged and is_broken for is_flagged, is_broken in both),
        n_negative=sum(not is_broken for _, is_broken in both),
        n_cleared=sum(not is_flagged and not is_broken for is_flagged, is_broken in both),
    )
    rows: list[tuple[Cell, ...]] = []
    for model in dict.fromkeys(verdict.model for verdict in verdicts):
        mine: Collection[Verdict] = [verdict for verdict in verdicts if verdict.model == model]
        n_hits = sum(verdict.outcome is Outcome.FAIL for verdict in mine)
        rate = rogan_gladen(n_hits, len(mine), calibration)
        shares = (calibration.sensitivity, calibration.specificity, n_hits / len(mine))
        rows.append((judge, model, len(both), *shares, rate.value, rate.low, rate.high))
    return rows
