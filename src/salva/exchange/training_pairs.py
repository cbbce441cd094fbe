"""Chooses images to train on: right ones alone, or right ones against failed ones.

Verdicts come in, captions with chosen and rejected images go out.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import product

from salva.component_facts import pair_scorings
from salva.core.case import Case
from salva.core.scoring import Pair, PairScoring, TrainingFilter, pair_name
from salva.core.source import RunRecords
from salva.core.table import Table
from salva.core.verdict import PAIR, Verdict


@dataclass(frozen=True, slots=True, kw_only=True)
class Example:
    """A caption, an image that fits it, and one that does not where preferences are wanted."""

    caption: str
    chosen: str
    """Image id."""
    rejected: str
    """Image id; empty for a single right image."""
    case_id: str
    model: str


def right_images(records: RunRecords, wanted: TrainingFilter) -> list[Example]:
    """Every image worth imitating, with each caption that means what it shows; each pair of the two once."""
    examples: dict[tuple[str, str], Example] = {}
    for choice in _choices(records, wanted):
        for role in choice.right:
            for caption in _captions(choice, role):
                example = _example(choice, role, "", caption)
                examples.setdefault((caption, example.chosen), example)
    return list(examples.values())


def _captions(choice: _TrainingImages, role: str) -> tuple[str, ...]:
    """The image's own caption, and the other wording where both mean the same."""
    own = choice.case.prompt(role).text
    return (own, *(prompt.text for prompt in choice.case.prompts if prompt.text != own and choice.case.equivalent))


def preferences(records: RunRecords, wanted: TrainingFilter) -> list[Example]:
    """Every right image against a failed one under the same caption."""
    examples: dict[tuple[str, str, str], Example] = {}
    for choice in _choices(records, wanted):
        for example in _preferences(choice):
            if example.chosen != example.rejected:
                examples.setdefault((example.caption, example.chosen, example.rejected), example)
    return list(examples.values())


def filter_table(records: RunRecords, wanted: TrainingFilter) -> Table | None:
    """How many cases each choice of threshold and strictness keeps; None without scores to choose by."""
    scorings = pair_scorings()
    scored = [full for _, verdicts in _by_images(records) if (full := _full_scores(verdicts, scorings))]
    if not scored:
        return None
    rows = []
    for min_score, name in product(sorted({0.8, 0.6, wanted.min_score}, reverse=True), ("strict", "none")):
        choice = replace(wanted, min_score=min_score, filter=name)
        n_kept = sum(full.pass_all(choice) for full in scored)
        rows.append((min_score, name, n_kept, n_kept / len(scored)))
    columns = ("min_score", "filter", "kept", "share_kept")
    note = scored[0].scoring.filter_note(wanted)
    return Table(name="filter choices", columns=columns, rows=tuple(rows), note=note)


@dataclass(frozen=True, slots=True, kw_only=True)
class _FullScores:
    """All scores that a check asks for, by every judge who gave all of them."""

    scoring: PairScoring
    by_judge: tuple[Mapping[Pair, float], ...]

    def pass_all(self, wanted: TrainingFilter) -> bool:
        return all(self.scoring.passes(scores, wanted) for scores in self.by_judge)


@dataclass(frozen=True, slots=True, kw_only=True)
class _TrainingImages:
    """The images of one case and repeat, by role."""

    case: Case
    verdict: Verdict
    right: tuple[str, ...]
    failed: tuple[str, ...] = ()
    """Known not to show their own captions."""
    preferences: tuple[Pair, ...] = ()
    """Chosen and rejected, where what is worse follows from the meaning."""


def _by_images(records: RunRecords) -> Iterator[tuple[Case, list[Verdict]]]:
    """The verdicts on the same images, by case."""
    cases = {case.case_id: case for case in records.cases}
    groups: dict[tuple[str, int, str], list[Verdict]] = {}
    for verdict in records.verdicts:
        if verdict.arm == PAIR and verdict.images:
            groups.setdefault((verdict.case_id, verdict.repeat, verdict.model), []).append(verdict)
    for (case_id, _, _), verdicts in groups.items():
        yield cases[case_id], verdicts


def _choices(records: RunRecords, wanted: TrainingFilter) -> Iterator[_TrainingImages]:
    """Images to learn from; several judges must agree."""
    scorings = pair_scorings()
    for case, verdicts in _by_images(records):
        first = verdicts[0]
        if full := _full_scores(verdicts, scorings):
            if full.pass_all(wanted):
                roles = dict.fromkeys(role for role, _ in full.scoring.pairs)
                right = tuple(role for role in roles if role in first.images)
                yield _TrainingImages(case=case, verdict=first, right=right, preferences=full.scoring.preferences)
        # A case whose check scores is chosen by its scores alone.
        elif case.check not in scorings and (
            truths := [v for v in verdicts if any(name.startswith("right_") for name in v.scores)]
        ):
            right, failed = (
                tuple(
                    role
                    for role in first.images
                    if all(verdict.scores.get(f"right_{role}") == score for verdict in truths)
                )
                for score in (1, 0)
            )
            yield _TrainingImages(case=case, verdict=first, right=right, failed=failed)


def _preferences(choice: _TrainingImages) -> Iterator[Example]:
    for chosen, rejected in choice.preferences:
        if {chosen, rejected} <= set(choice.right):
            yield _example(choice, chosen, rejected)
    # An image that fails its own wording may be right for one that means something else.
    if choice.case.equivalent:
        # Both wordings mean the same, so the right image is right for either.
        for chosen, rejected, prompt in product(sorted(choice.right), choice.failed, choice.case.prompts):
            yield _example(choice, chosen, rejected, prompt.text)


def _example(choice: _TrainingImages, chosen: str, rejected: str, caption: str = "") -> Example:
    images = choice.verdict.images
    return Example(
        caption=caption or choice.case.prompt(chosen).text,
        chosen=images[chosen],
        rejected=images[rejected] if rejected else "",
        case_id=choice.case.case_id,
        model=choice.verdict.model,
    )


def _full_scores(verdicts: Sequence[Verdict], scorings: Mapping[str, PairScoring]) -> _FullScores | None:
    for scoring in scorings.values():
        names = {pair: pair_name(*pair) for pair in scoring.pairs}
        full = [verdict.scores for verdict in verdicts if verdict.scores.keys() >= set(names.values())]
        if full:
            by_judge = tuple({pair: scores[name] for pair, name in names.items()} for scores in full)
            return _FullScores(scoring=scoring, by_judge=by_judge)
    return None
