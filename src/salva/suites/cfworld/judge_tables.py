"""What is to be known of CF-World's judges: whether they tell pictures apart, how often they flip, what all of it took.

Scores of verdicts come in, tables go out. A judge that gives every picture the same is said to, since PRR and RRR
cannot show it: one that always says 1 gives both the value 1.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence

from salva.checks.asking import CALLS, COUNTED, FLIPPED, REPEATED
from salva.core.judged import Effort, Judged
from salva.core.scoring import role_score
from salva.core.table import Cell, Table

ByJudge = Mapping[str, Sequence[Judged]]
_FEWEST = 5
"""Of fewer pictures the same score says nothing, and neither does another one."""
_DIGITS = 6


def told_apart_table(by_judge: ByJudge) -> Table | None:
    """How many different scores each judge gave the pictures of each level."""
    rows: list[tuple[Cell, ...]] = []
    for judge, judged in by_judge.items():
        for role, scores in _scores(judged).items():
            commonest, n = Counter(scores).most_common(1)[0]
            rows.append((judge, role, len(scores), len(set(scores)), commonest, n / len(scores)))
    if not rows:
        return None
    return Table(
        name="what judges tell apart",
        columns=("judge", "level", "pictures", "different scores", "commonest", "share_commonest"),
        rows=tuple(rows),
        note="Scores before the gate. One score for every picture is a model that is always alike, or a judge that "
        "does not look.",
    )


def says_nothing(judged: Sequence[Judged]) -> str:
    """What is said beside the figures of a judge that tells nothing apart, or is not the same twice; else empty."""
    n, n_flipped = (int(sum(v.scores.get(name, 0.0) for _, v in judged)) for name in (REPEATED, FLIPPED))
    if n >= _FEWEST and 2 * n_flipped > n:
        return f"asked twice about {n} pictures, the judge graded {n_flipped} of them otherwise the second time"
    by_role = {role: scores for role, scores in _scores(judged).items() if len(scores) >= _FEWEST}
    if not by_role or any(len(set(scores)) > 1 for scores in by_role.values()):
        return ""
    given = ", ".join(f"{role} {scores[0]:.2f}" for role, scores in by_role.items())
    return f"one score for all pictures of a level ({given}): a model that never varies, or a judge that does not look"


def _scores(judged: Sequence[Judged]) -> dict[str, list[float]]:
    scores: dict[str, list[float]] = {}
    for case, verdict in judged:
        for prompt in case.prompts:
            value = verdict.scores.get(role_score(prompt.role))
            if value is not None and f"missing_{prompt.role}" not in verdict.scores:
                scores.setdefault(prompt.role, []).append(round(value, _DIGITS))
    return scores


def flips_table(by_judge: ByJudge) -> Table | None:
    """How often the same question was answered otherwise, by discipline."""
    rows: list[tuple[Cell, ...]] = []
    for judge, judged in by_judge.items():
        for discipline, group in by_label(judged, "discipline").items():
            n = sum(v.scores.get(REPEATED, 0.0) for _, v in group)
            flipped = sum(v.scores.get(FLIPPED, 0.0) for _, v in group)
            if n:
                rows.append((judge, discipline, int(n), int(flipped), flipped / n))
    note = "Questions that were asked twice, and how often the grades were not the same."
    columns = ("judge", "discipline", "n", "flipped", "flip_rate")
    return Table(name="flips by discipline", columns=columns, rows=tuple(rows), note=note) if rows else None


def compute_table(by_judge: ByJudge, effort: Effort | None) -> Table | None:
    """What painting and judging took, in the shape of the paper's Table 5."""
    if not by_judge:
        return None
    model = next(iter(by_judge.values()))[0].verdict.model
    pictures = {image for judged in by_judge.values() for _, v in judged for image in v.images.values()}
    rows: list[tuple[Cell, ...]] = [("painting", model, "", len(pictures), None, None, None, None, None)]
    for judge, judged in by_judge.items():
        sums = [sum(v.scores.get(name, 0.0) for _, v in judged) for name in (CALLS, *COUNTED.values())]
        rows.append(("judging", judge, "", None, *sums, None))
    if effort is not None:
        took = (effort.n_images, None, None, None, None, effort.seconds / 3600)
        rows.append(("the whole run", "all models and judges", effort.where, *took))
    return Table(
        name="compute (as Table 5)",
        columns=(
            *("module", "component", "machine", "pictures"),
            *("calls", "input_tokens", "output_tokens", "cost_usd", "hours"),
        ),
        rows=tuple(rows),
        note="Calls, tokens and costs as the components count them. Hours are of the commands that painted: painting "
        "and judging go on together, on this machine or waiting for an endpoint, so that they cannot be parted.",
    )


def by_label(judged: Sequence[Judged], label: str) -> dict[str, list[Judged]]:
    """The verdicts by a label of their cases."""
    groups: dict[str, list[Judged]] = {}
    for scored in judged:
        groups.setdefault(scored.case.labels.get(label, ""), []).append(scored)
    return dict(sorted(groups.items()))
