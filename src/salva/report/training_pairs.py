"""Which pictures of a run are worth training on: right ones alone, or right ones against wrong ones.

From SemVarBench's seven scores by its equations 12 to 16, or from what truth says of a pair. Pure: verdicts in,
(caption, chosen image, rejected image) out. Writes nothing.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import product

from salva.core.case import Case
from salva.core.table import Table
from salva.core.verdict import Verdict
from salva.report.source import RunRecords
from salva.stats.semantic_effect import PAIRS, pair_name
from salva.stats.tally import PAIR, TRUTH

_PREFERENCES = (("a", "pv"), ("pv", "a"), ("pv", "pi"), ("pi", "pv"))
"""(chosen, rejected) by role: the four pairs a sample yields; the caption is the chosen one's."""
_BY_SCORES = "semantic-effect"
"""Cases of this relation are chosen by their seven scores alone, even where truth looked at them too."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Filter:
    """What a SemVarBench case must reach to be trained on."""

    min_score: float = 0.8
    """C2 of equation 12: each matched score must be above it."""
    max_asymmetry: float = 0.1
    """C3 of equation 16: how far the two ways to see one change may lie apart."""
    is_strict: bool = True
    """Whether equations 13 to 16 are asked for at all."""
    needs_kept: bool = False
    """Whether the picture of the kept meaning must be above min_score too: the paper's code asks for it, its
    equation does not."""

    def keeps(self, scores: Mapping[tuple[str, str], float]) -> bool:
        """Whether these seven scores pass."""
        matched = ("a", "pv", "pi") if self.needs_kept else ("a", "pv")
        if any(scores[role, role] <= self.min_score for role in matched):
            return False
        if not self.is_strict:
            return True
        own, other = scores["a", "a"], scores["pv", "pv"]
        crossed = (scores["a", "pv"], scores["pv", "a"])
        if any(own <= score or other <= score for score in crossed):
            return False
        by_image = (own - scores["a", "pv"]) - (other - scores["pv", "a"])
        by_text = (own - scores["pv", "a"]) - (other - scores["a", "pv"])
        return abs(by_image) < self.max_asymmetry and abs(by_text) < self.max_asymmetry


@dataclass(frozen=True, slots=True, kw_only=True)
class Example:
    """A caption, a picture that fits it, and one that does not where preferences are wanted."""

    caption: str
    chosen: str
    """Image id."""
    rejected: str
    """Image id; empty for a single right picture."""
    case_id: str
    model: str


def right_pictures(records: RunRecords, wanted: Filter) -> list[Example]:
    """Every picture worth imitating, with its own caption; each pair of picture and caption once."""
    found: dict[tuple[str, str], Example] = {}
    for case, verdict, roles in _usable(records, wanted):
        for role in roles:
            example = _example(case, verdict, role, "")
            found.setdefault((example.caption, example.chosen), example)
    return list(found.values())


def preferences(records: RunRecords, wanted: Filter) -> list[Example]:
    """Every right picture against a wrong one under the same caption."""
    found: dict[tuple[str, str, str], Example] = {}
    for case, verdict, roles in _usable(records, wanted):
        for example in _preferences(case, verdict, roles):
            if example.chosen != example.rejected:
                found.setdefault((example.caption, example.chosen, example.rejected), example)
    return list(found.values())


def filter_table(records: RunRecords, wanted: Filter) -> Table | None:
    """How many cases each choice of threshold and strictness keeps; None without SemVarBench scores."""
    scored = [scores for _, verdict in _pairs(records) if (scores := _seven(verdict))]
    if not scored:
        return None
    rows = []
    for min_score, is_strict in product(sorted({0.8, 0.6, wanted.min_score}, reverse=True), (True, False)):
        choice = Filter(
            min_score=min_score,
            max_asymmetry=wanted.max_asymmetry,
            is_strict=is_strict,
            needs_kept=wanted.needs_kept,
        )
        n_kept = sum(choice.keeps(scores) for scores in scored)
        rows.append((min_score, "strict" if is_strict else "none", n_kept, n_kept / len(scored)))
    return Table(name="filter choices", columns=("min_score", "filter", "kept", "share_kept"), rows=tuple(rows))


def _pairs(records: RunRecords) -> Iterator[tuple[Case, Verdict]]:
    cases = {case.case_id: case for case in records.cases}
    for verdict in records.verdicts:
        if verdict.arm == PAIR and verdict.images:
            yield cases[verdict.case_id], verdict


def _usable(records: RunRecords, wanted: Filter) -> Iterator[tuple[Case, Verdict, tuple[str, ...]]]:
    """Verdicts to learn from, with the roles whose pictures are right."""
    for case, verdict in _pairs(records):
        scores = _seven(verdict)
        if scores and wanted.keeps(scores):
            yield case, verdict, tuple(role for role in ("a", "pv", "pi") if role in verdict.images)
        elif verdict.relation == TRUTH and case.relation != _BY_SCORES:
            right = tuple(role for role in verdict.images if verdict.scores.get(f"right_{role}") == 1)
            if right:
                yield case, verdict, right


def _preferences(case: Case, verdict: Verdict, roles: Iterable[str]) -> Iterator[Example]:
    right = set(roles)
    if verdict.relation != TRUTH:
        for chosen, rejected in _PREFERENCES:
            if {chosen, rejected} <= right:
                yield _example(case, verdict, chosen, rejected)
        return
    if not case.equivalent:
        # A picture that is wrong for its own wording may be right for one that means something else.
        return
    wrong = [role for role in verdict.images if verdict.scores.get(f"right_{role}") == 0]
    # Both wordings mean the same, so the right picture is right for either of them.
    for chosen, rejected, prompt in product(sorted(right), wrong, case.prompts):
        yield _example(case, verdict, chosen, rejected, prompt.text)


def _example(case: Case, verdict: Verdict, chosen: str, rejected: str, caption: str = "") -> Example:
    return Example(
        caption=caption or case.prompt(chosen).text,
        chosen=verdict.images[chosen],
        rejected=verdict.images[rejected] if rejected else "",
        case_id=case.case_id,
        model=verdict.model,
    )


def _seven(verdict: Verdict) -> dict[tuple[str, str], float] | None:
    scores = {pair: verdict.scores[pair_name(*pair)] for pair in PAIRS if pair_name(*pair) in verdict.scores}
    return scores if len(scores) == len(PAIRS) else None
