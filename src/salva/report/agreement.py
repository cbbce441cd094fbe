"""How far judges agree with people, as tables: from a file of both, or from a run and a file of people's ratings."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from salva.core.case import Case
from salva.core.table import Cell, Table
from salva.core.verdict import Outcome, Verdict
from salva.errors import UsageError
from salva.report.ratings import Columns, Ratings, read_ratings, read_rows
from salva.report.source import read_records
from salva.stats.agreement import (
    Calibration,
    Estimate,
    binned,
    cohen,
    kendall,
    krippendorff,
    pearson,
    rogan_gladen,
    spearman,
)
from salva.stats.semantic_effect import PAIRS, effect, pair_name

N_BINS = 5
_KEYS = ("case_id", "repeat", "model")
_OUTCOME = ("violated", "outcome", "is_violated")


def agreement_tables(ratings: Ratings, n_bins: int = N_BINS, level: str = "interval") -> list[Table]:
    """Judges against the mean of people, and people among themselves, by group where there are groups."""
    names = list(dict.fromkeys(ratings.groups)) if any(ratings.groups) else [""]
    groups = ["", *names] if names != [""] else [""]
    judged = [row for group in groups for row in _judge_rows(_part(ratings, group), group or "all", n_bins)]
    people = [row for group in groups if (row := _people_row(_part(ratings, group), group or "all", level))]
    tables = []
    if judged:
        columns = ("group", "judge", "statistic", "value", "lower", "upper", "n", "how")
        note = "Each judge against the mean rating of the people; 95 % intervals draw the rated things anew."
        tables.append(Table(name="judges and people", columns=columns, rows=tuple(judged), note=note))
    if people:
        headings = ("group", "raters", "alpha", "lower", "upper", "n", "level")
        note = "Krippendorff's alpha of the people among themselves; what no judge can be expected to exceed by far."
        tables.append(Table(name="people among themselves", columns=headings, rows=tuple(people), note=note))
    return tables


def run_agreement(directory: Path, ratings_file: Path, n_bins: int = N_BINS) -> tuple[list[Table], list[str]]:
    """A run's judges against people's ratings of its cases, and the violation rate corrected by them.

    The file has a row a rating: case_id, rater, optionally repeat and model, and either columns named like scores
    of the verdicts, or text_role, image_role, objects and relations (0 to 50 each), or violated (yes or no).
    """
    records = read_records(directory)
    rows = read_rows(ratings_file)
    people, problems = _people_scores(rows, {case.case_id: case for case in records.cases}, ratings_file)
    tables: list[Table] = []
    by_observer: dict[tuple[str, str], list[Verdict]] = {}
    for verdict in records.verdicts:
        if verdict.arm == "pair" and verdict.outcome in (Outcome.HOLDS, Outcome.VIOLATED):
            by_observer.setdefault((verdict.relation, verdict.observers), []).append(verdict)
    scored: list[tuple[Cell, ...]] = []
    corrected: list[tuple[Cell, ...]] = []
    for (relation, observers), verdicts in by_observer.items():
        scored += _score_rows(f"{relation}: {observers}", verdicts, people, n_bins)
        corrected += _corrected_rows(f"{relation}: {observers}", verdicts, people)
    if scored:
        columns = ("score", "judge", "statistic", "value", "lower", "upper", "n", "how")
        note = "Scores of the run against the mean of people's ratings of the same cases."
        tables.append(Table(name="judges and people", columns=columns, rows=tuple(scored), note=note))
    if corrected:
        columns = (
            *("judge", "n_rated", "sensitivity", "specificity", "observed_rate"),
            *("corrected_rate", "corrected_low", "corrected_high"),
        )
        note = "The violation rate after Rogan and Gladen, from cases that people judged too; interval after Lang and "
        note += "Reiczigel. A dash: people and judge agree no better than chance, or one side never occurs."
        tables.append(Table(name="corrected violation rate", columns=columns, rows=tuple(corrected), note=note))
    if not tables:
        raise UsageError(
            f"{str(ratings_file)!r} and {str(directory)!r} have nothing in common to compare; the file needs case_id "
            "and columns named like scores of the run, or text_role, image_role, objects and relations, or violated"
        )
    return tables, problems


def _judge_rows(ratings: Ratings, group: str, n_bins: int) -> list[tuple[Cell, ...]]:
    means = ratings.people_mean()
    rows: list[tuple[Cell, ...]] = []
    for judge, scores in ratings.judges.items():
        pairs = [(a, b) for a, b in zip(scores, means, strict=True) if a is not None and b is not None]
        rows += [(group, judge, *cells) for cells in _statistics(pairs, n_bins)]
    return rows


def _statistics(pairs: Sequence[tuple[float, float]], n_bins: int) -> list[tuple[Cell, ...]]:
    judge, people = [a for a, _ in pairs], [b for _, b in pairs]
    correlations: Mapping[str, Callable[[Sequence[float], Sequence[float]], Estimate]] = {
        "pearson": pearson,
        "spearman": spearman,
        "kendall tau-b": kendall,
    }
    rows: list[tuple[Cell, ...]] = [(name, *_cells(of(judge, people)), "") for name, of in correlations.items()]
    if pairs:
        edges_judge, edges_people = _edges(judge, n_bins), _edges(people, n_bins)
        kappa = cohen(binned(judge, edges_judge), binned(people, edges_people), n_bins)
        rows.append(("cohen", *_cells(kappa), f"bins {_told(edges_judge)} against {_told(edges_people)}"))
    return rows


def _edges(values: Sequence[float], n_bins: int) -> list[float]:
    low, high = min(values), max(values)
    step = (high - low) / n_bins or 1.0
    return [low + step * number for number in range(n_bins + 1)]


def _told(edges: Sequence[float]) -> str:
    return " ".join(f"{edge:.4g}" for edge in edges)


def _people_row(ratings: Ratings, group: str, level: str) -> tuple[Cell, ...] | None:
    if len(ratings.people) < 2:
        return None
    rows = list(zip(*ratings.people.values(), strict=True))
    alpha = krippendorff(rows, level)
    return (group, len(ratings.people), *_cells(alpha), level)


def _cells(estimate: Estimate) -> tuple[Cell, ...]:
    return estimate.value, estimate.low, estimate.high, estimate.n


def _part(ratings: Ratings, group: str) -> Ratings:
    if not group:
        return ratings
    kept = [index for index, name in enumerate(ratings.groups) if name == group]

    def cut(columns: Mapping[str, Sequence[float | None]]) -> dict[str, list[float | None]]:
        return {name: [values[index] for index in kept] for name, values in columns.items()}

    return Ratings(
        things=tuple(ratings.things[index] for index in kept),
        people=cut(ratings.people),
        judges=cut(ratings.judges),
        groups=(group,) * len(kept),
    )


_PeopleScores = dict[tuple[str, str, str], dict[str, float]]
"""(case, repeat, model), with "" for any, to score name to the people's mean."""


def _people_scores(
    rows: list[dict[str, str]], cases: Mapping[str, Case], path: Path
) -> tuple[_PeopleScores, list[str]]:
    if "case_id" not in rows[0]:
        raise UsageError(f"{str(path)!r} has no column case_id; it has {', '.join(rows[0])}")
    sums: dict[tuple[str, str, str], Counter[str]] = {}
    counts: dict[tuple[str, str, str], Counter[str]] = {}
    unknown: Counter[str] = Counter()
    for row in rows:
        if row["case_id"] not in cases:
            unknown[row["case_id"]] += 1
            continue
        key = (row["case_id"], row.get("repeat", ""), row.get("model", ""))
        for name, value in _row_scores(row).items():
            sums.setdefault(key, Counter())[name] += value  # type: ignore[assignment]  # a Counter adds floats as well
            counts.setdefault(key, Counter())[name] += 1
    people = {key: {name: sums[key][name] / counts[key][name] for name in sums[key]} for key in sums}
    for scores in people.values():
        seven = {pair: scores.get(pair_name(*pair)) for pair in PAIRS}
        known = {pair: value for pair, value in seven.items() if value is not None}
        if len(known) == len(PAIRS):
            found = effect(known)
            scores |= {"kappa": found.kappa, "gamma_w": found.gamma_w, "gamma_wo": found.gamma_wo}
    told = [f"{str(path)!r}: {n} ratings of {case_id!r}, which is no case of the run" for case_id, n in unknown.items()]
    return people, told if len(told) <= 10 else [*told[:10], f"and of {len(told) - 10} more unknown cases"]


def _row_scores(row: Mapping[str, str]) -> dict[str, float]:
    """What one row says: a score by text and image, or whatever columns are numbers or yes and no."""
    texts = {name: cell.strip().lower() for name, cell in row.items() if name not in (*_KEYS, "rater")}
    numbers: dict[str, float] = {}
    for name, cell in texts.items():
        word = {"yes": 1.0, "true": 1.0, "violated": 1.0, "no": 0.0, "false": 0.0, "holds": 0.0}.get(cell)
        try:
            numbers[name] = float(cell) if word is None else word
        except ValueError:
            continue
    if row.get("text_role") and row.get("image_role"):
        parts = [numbers.get(name) for name in ("objects", "relations")]
        known = [part for part in parts if part is not None]
        return {pair_name(row["text_role"], row["image_role"]): sum(known) / 100} if len(known) == len(parts) else {}
    for name in _OUTCOME:
        if name in numbers:
            numbers["violated"] = numbers[name]
    return numbers


def _rated(verdict: Verdict, people: _PeopleScores) -> dict[str, float]:
    """What people say about a verdict's case; a rating without repeat or model is about all of them."""
    found: dict[str, float] = {}
    for repeat in ("", str(verdict.repeat)):
        for model in ("", verdict.model):
            found |= people.get((verdict.case_id, repeat, model), {})
    return found


def _score_rows(judge: str, verdicts: list[Verdict], people: _PeopleScores, n_bins: int) -> list[tuple[Cell, ...]]:
    pairs: dict[str, list[tuple[float, float]]] = {}
    for verdict in verdicts:
        for name, theirs in _rated(verdict, people).items():
            if name in verdict.scores:
                pairs.setdefault(name, []).append((verdict.scores[name], theirs))
                if name.startswith("s_"):
                    pairs.setdefault("all s", []).append((verdict.scores[name], theirs))
    return [(name, judge, *cells) for name in sorted(pairs) for cells in _statistics(pairs[name], n_bins)]


def _corrected_rows(judge: str, verdicts: list[Verdict], people: _PeopleScores) -> list[tuple[Cell, ...]]:
    both = [
        (verdict.outcome is Outcome.VIOLATED, said >= 0.5)
        for verdict in verdicts
        if (said := _rated(verdict, people).get("violated")) is not None
    ]
    if not both:
        return []
    calibration = Calibration(
        n_positive=sum(truth for _, truth in both),
        n_found=sum(found and truth for found, truth in both),
        n_negative=sum(not truth for _, truth in both),
        n_cleared=sum(not found and not truth for found, truth in both),
    )
    n_hits = sum(verdict.outcome is Outcome.VIOLATED for verdict in verdicts)
    rate = rogan_gladen(n_hits, len(verdicts), calibration)
    observed = n_hits / len(verdicts)
    shares = (calibration.sensitivity, calibration.specificity, observed, rate.value, rate.low, rate.high)
    return [(judge, len(both), *shares)]


def file_agreement(path: Path, columns: Columns, n_bins: int, level: str) -> tuple[list[Table], list[str]]:
    """Agreement within one file that holds both people and judges; also what was taken for what."""
    ratings = read_ratings(path, columns)
    told = [f"{what}: {which or 'none'}" for what, which in ratings.found.items()]
    tables = agreement_tables(ratings, n_bins, level)
    if not tables:
        raise UsageError(
            f"{str(path)!r} holds the ratings of one person and no judge ({'; '.join(told)}); "
            "name the columns with --people and --judge"
        )
    return tables, [*told, *ratings.problems]
