"""Thresholds and differences of a judge's image scores, against people.

Verdicts and people's ratings come in, tables go out: Table 4 and Figure 5a of CF-World, for every suite that scores
each image by itself from 0 to 1.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from salva.core.case import Case
from salva.core.scoring import role_score
from salva.core.source import RunRecords
from salva.core.table import Cell, Table
from salva.core.verdict import PAIR, Verdict, observers_text
from salva.stats.means import mean
from salva.stats.thresholds import CLOSE, Cut, apart, best_cut, cuts, spread, stratum_weights

BORDER = (0.3, 0.7)
"""Scores between which an image is doubtful: those that appendix B of CF-World has people rate most."""
ALL = "all s"
THRESHOLDS, SPREAD = "thresholds", "judge minus people, spread"
"""The tables that are drawn."""
_PASSES = "passes_"
_MAJORITY = 0.5
_THRESHOLD_COLUMNS = (
    *("score", "judge", "threshold", "accuracy", "lower", "upper", "f1"),
    *("accuracy_all", "f1_all", "best_in", "n"),
)
_BEST_COLUMNS = ("score", "judge", "best", "accuracy", "accuracy_all", "f1", "always", "best_in", "n", "labels", "why")
_THRESHOLD_NOTE = (
    "Labels: {labels}. accuracy_all and f1_all weight the rated images to all of the run (from {low:g} to {high:g} and "
    "the others, by role). best_in: the share of draws in which no other threshold does better. CF-World's Table 4."
)
_BEST_NOTE = "Chosen on the same labels, so accuracy is a little too high. always: one answer to everything."

RatedImage = tuple[str, int, str, str]
"""Case, repeat, model and role."""


def passes_name(role: str) -> str:
    """The name of people's yes or no to a whole image."""
    return f"{_PASSES}{role}"


def is_passes(name: str) -> bool:
    """Whether a rating is such a yes or no."""
    return name.startswith(_PASSES)


def image_scores(records: RunRecords) -> dict[RatedImage, dict[str, float]]:
    """The scores of each image that is scored by itself: judge to score."""
    cases = {case.case_id: case for case in records.cases}
    scores: dict[RatedImage, dict[str, float]] = {}
    for verdict in records.verdicts:
        if verdict.arm == PAIR and verdict.case_id in cases:
            for role, value in _by_role(verdict, cases[verdict.case_id]):
                image = (verdict.case_id, verdict.repeat, verdict.model, role)
                scores.setdefault(image, {})[f"{verdict.check}: {observers_text(verdict.observers)}"] = value
    return scores


def is_doubtful(by_judge: Mapping[str, float]) -> bool:
    """Whether the judges' mean is neither low nor high."""
    return BORDER[0] <= mean([*by_judge.values()]) <= BORDER[1]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Compared:
    """One judge's scores of images beside people's ratings of them; lists in one order."""

    scores: list[float] = field(default_factory=list)
    people: list[float] = field(default_factory=list)
    strata: list[str] = field(default_factory=list)
    clusters: list[str] = field(default_factory=list)


def calibration_tables(
    records: RunRecords, ratings_of: Callable[[RatedImage], Mapping[str, float]], clusters: Mapping[str, str]
) -> list[Table]:
    """Thresholds, the best of them, and judge minus people.

    ratings_of: people's mean of each score of an image's case.
    clusters: case to what is drawn whole for intervals.
    """
    images = image_scores(records)
    ratings = {image: ratings_of(image) for image in images}
    # A score stands for a label only where nobody answered yes or no.
    is_labelled = any(passes_name(role) in given for (*_, role), given in ratings.items())
    labelled: dict[tuple[str, str], _Compared] = {}
    graded: dict[tuple[str, str], _Compared] = {}
    sizes: Counter[str] = Counter()
    for image, by_judge in images.items():
        case_id, role = image[0], image[3]
        stratum = f"{role_score(role)} {'doubtful' if is_doubtful(by_judge) else 'clear'}"
        sizes[stratum] += 1
        number = ratings[image].get(role_score(role))
        label = ratings[image].get(passes_name(role)) if is_labelled else number
        for compared, value in ((labelled, label), (graded, number)):
            if value is None:
                continue
            for judge, score in by_judge.items():
                for name in (role_score(role), ALL):
                    both = compared.setdefault((name, judge), _Compared())
                    both.scores.append(score)
                    both.people.append(value)
                    both.strata.append(stratum)
                    both.clusters.append(clusters.get(case_id, case_id))
    labels = "people's yes or no" if is_labelled else f"people's score, {_MAJORITY:g} or more"
    return [*_threshold_tables(_in_order(labelled), sizes, labels), *_difference_tables(_in_order(graded))]


def _in_order(compared: dict[tuple[str, str], _Compared]) -> dict[tuple[str, str], _Compared]:
    """By score; that of all scores comes last, where there are several."""
    is_several = len({name for name, _ in compared}) > 2
    names = sorted((key for key in compared if key[0] != ALL or is_several), key=lambda key: (key[0] == ALL, key))
    return {key: compared[key] for key in names}


def _threshold_tables(
    compared: Mapping[tuple[str, str], _Compared], sizes: Mapping[str, int], labels: str
) -> list[Table]:
    rows: list[tuple[Cell, ...]] = []
    best_rows: list[tuple[Cell, ...]] = []
    for (name, judge), both in compared.items():
        yes = [value >= _MAJORITY for value in both.people]
        # All images are those of the roles that people rated any of.
        rated_roles = {stratum.split(" ")[0] for stratum in both.strata}
        mine = {stratum: n for stratum, n in sizes.items() if stratum.split(" ")[0] in rated_roles}
        weights = stratum_weights(both.strata, mine)
        raw = cuts(both.scores, yes, both.clusters)
        whole = {cut.at: cut for cut in cuts(both.scores, yes, both.clusters, weights)} if weights else {}
        for cut in raw:
            shares = (cut.accuracy.value, cut.accuracy.low, cut.accuracy.high, cut.f1)
            rows.append((name, judge, cut.at, *shares, *_of_all(whole.get(cut.at)), cut.best_in, len(yes)))
        always = max(sum(yes), len(yes) - sum(yes)) / len(yes)
        best, why = _best(raw, both.scores, yes, always)
        shown = (best.at, best.accuracy.value, _of_all(whole.get(best.at))[0], best.f1) if best else (None,) * 4
        best_rows.append((name, judge, *shown, always, best.best_in if best else None, len(yes), labels, why))
    if not rows:
        return []
    note = _THRESHOLD_NOTE.format(labels=labels, low=BORDER[0], high=BORDER[1])
    return [
        Table(name=THRESHOLDS, columns=_THRESHOLD_COLUMNS, rows=tuple(rows), note=note),
        Table(name="best threshold", columns=_BEST_COLUMNS, rows=tuple(best_rows), note=_BEST_NOTE),
    ]


def _best(found: Sequence[Cut], scores: Sequence[float], yes: Sequence[bool], always: float) -> tuple[Cut | None, str]:
    """The best threshold, or why none is."""
    if len(yes) < 2:
        return None, "one image is too few"
    if len(set(yes)) < 2:
        return None, "people give every image the same label"
    if len(set(scores)) < 2:
        return None, "the judge gives every image the same score"
    best = best_cut(found)
    if best is None or best.accuracy.low is None or best.accuracy.low <= always:
        return None, "no threshold is significantly better than one answer to everything"
    return best, ""


def _difference_tables(compared: Mapping[tuple[str, str], _Compared]) -> list[Table]:
    rows: list[tuple[Cell, ...]] = []
    bins: list[tuple[Cell, ...]] = []
    widest = max((name for name, _ in compared), key=lambda name: name == ALL, default="")
    for (name, judge), both in compared.items():
        differences = [score - people for score, people in zip(both.scores, both.people, strict=True)]
        far = apart(differences, both.clusters)
        cells = [cell for part in (far.mean, far.close) for cell in (part.value, part.low, part.high)]
        rows.append((name, judge, *cells, len(differences)))
        if name == widest:
            bins += [(name, judge, low, high, n, n / len(differences)) for low, high, n in spread(differences)]
    if not rows:
        return []
    columns = ("score", "judge", "mean", "lower", "upper", "close", "close_lower", "close_upper", "n")
    note = f"The judge's score less the mean of people's; close: the share within {CLOSE:g}."
    drawn = "The distribution of the differences (CF-World's Figure 5a)."
    return [
        Table(name="judge minus people", columns=columns, rows=tuple(rows), note=note),
        Table(
            name=SPREAD,
            columns=("score", "judge", "from", "to", "n", "share"),
            rows=tuple(bins),
            note=drawn,
        ),
    ]


def _of_all(cut: Cut | None) -> tuple[float | None, float | None]:
    return (cut.accuracy.value, cut.f1) if cut else (None, None)


def _by_role(verdict: Verdict, case: Case) -> Iterator[tuple[str, float]]:
    for prompt in case.prompts:
        value = verdict.scores.get(role_score(prompt.role))
        if value is not None and 0 <= value <= 1:
            yield prompt.role, value
