"""Which pictures of a run are worth training on: right ones alone, or right ones against wrong ones.

From SemVarBench's seven scores by its equations 12 to 16, or from what truth says of a pair. Pure: verdicts in,
(caption, chosen image, rejected image) out. Writes nothing.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import product

from salva.core.case import Case
from salva.core.judged import Rate
from salva.core.options import option
from salva.core.source import RunRecords
from salva.core.table import Table
from salva.core.verdict import PAIR, Verdict
from salva.registry import rates_of
from salva.stats.semantic_effect import PAIRS, pair_name

_PREFERENCES = (("a", "pv"), ("pv", "a"), ("pv", "pi"), ("pi", "pv"))
"""(chosen, rejected) by role: the four pairs a sample yields; the caption is the chosen one's."""
_ROUNDING = 1e-9
_BY_SCORES = "semantic-effect"
"""Cases of this relation are chosen by their seven scores alone, even where truth looked at them too."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Filter:
    """What a SemVarBench case must reach to be trained on."""

    min_score: float = option(0.8, "Matched scores must be above this (C2 of equation 12).")
    max_asymmetry: float = option(0.1, "How far the two ways to see one change may lie apart (C3 of equation 16).")
    filter: str = option(
        "strict", "Whether mismatched scores are looked at too (equations 13 to 16).", choices=("strict", "none")
    )
    need_kept: bool = option(
        False, "The picture of the kept meaning must pass as well: the paper's code asks for it, its equation does not."
    )

    def keeps(self, scores: Mapping[tuple[str, str], float]) -> bool:
        """Whether these seven scores pass."""
        matched = ("a", "pv", "pi") if self.need_kept else ("a", "pv")
        if any(scores[role, role] <= self.min_score for role in matched):
            return False
        if self.filter == "none":
            return True
        own, other = scores["a", "a"], scores["pv", "pv"]
        crossed = (scores["a", "pv"], scores["pv", "a"])
        if any(own <= score or other <= score for score in crossed):
            return False
        by_image = (own - scores["a", "pv"]) - (other - scores["pv", "a"])
        by_text = (own - scores["pv", "a"]) - (other - scores["a", "pv"])
        # Judges speak in steps, so differences of exactly C3 are common, and rounding must not let some of them pass.
        return max(abs(by_image), abs(by_text)) < self.max_asymmetry - _ROUNDING

    @property
    def told(self) -> str:
        """Which of the two readings of the paper this is."""
        if self.need_kept:
            return "S(T_a, I_a), S(T_pv, I_pv) and S(T_pi, I_pi) above min_score, as in the paper's code (--need-kept)."
        return (
            "S(T_a, I_a) and S(T_pv, I_pv) above min_score, as in equation 12; "
            "--need-kept asks S(T_pi, I_pi) too, as the paper's code does."
        )


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
    for choice in _choices(records, wanted):
        for role in choice.right:
            example = _example(choice, role, "")
            found.setdefault((example.caption, example.chosen), example)
    return list(found.values())


def preferences(records: RunRecords, wanted: Filter) -> list[Example]:
    """Every right picture against a wrong one under the same caption."""
    found: dict[tuple[str, str, str], Example] = {}
    for choice in _choices(records, wanted):
        for example in _preferences(choice):
            if example.chosen != example.rejected:
                found.setdefault((example.caption, example.chosen, example.rejected), example)
    return list(found.values())


def filter_table(records: RunRecords, wanted: Filter) -> Table | None:
    """How many cases each choice of threshold and strictness keeps; None without SemVarBench scores."""
    scored = [scores for _, verdicts in _painted(records) if (scores := _scores(verdicts))]
    if not scored:
        return None
    rows = []
    for min_score, name in product(sorted({0.8, 0.6, wanted.min_score}, reverse=True), ("strict", "none")):
        choice = replace(wanted, min_score=min_score, filter=name)
        n_kept = sum(all(map(choice.keeps, scores)) for scores in scored)
        rows.append((min_score, name, n_kept, n_kept / len(scored)))
    columns = ("min_score", "filter", "kept", "share_kept")
    return Table(name="filter choices", columns=columns, rows=tuple(rows), note=wanted.told)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Choice:
    """The pictures of one case and repeat, by role."""

    case: Case
    verdict: Verdict
    right: tuple[str, ...]
    wrong: tuple[str, ...] | None
    """Known to be wrong; None where the seven scores decide, and what is wrong follows from the meaning."""


def _painted(records: RunRecords) -> Iterator[tuple[Case, list[Verdict]]]:
    """What was concluded about the same pictures, by however many judges and relations."""
    cases = {case.case_id: case for case in records.cases}
    groups: dict[tuple[str, int, str], list[Verdict]] = {}
    for verdict in records.verdicts:
        if verdict.arm == PAIR and verdict.images:
            groups.setdefault((verdict.case_id, verdict.repeat, verdict.model), []).append(verdict)
    for (case_id, _, _), verdicts in groups.items():
        yield cases[case_id], verdicts


def _choices(records: RunRecords, wanted: Filter) -> Iterator[_Choice]:
    """Pictures to learn from; where several judges looked, all must agree."""
    rates = rates_of(verdict.relation for verdict in records.verdicts)
    for case, verdicts in _painted(records):
        first = verdicts[0]
        if scores := _scores(verdicts):
            if all(map(wanted.keeps, scores)):
                roles = tuple(role for role in ("a", "pv", "pi") if role in first.images)
                yield _Choice(case=case, verdict=first, right=roles, wrong=None)
        elif case.relation != _BY_SCORES and (
            truths := [verdict for verdict in verdicts if rates.get(verdict.relation) is Rate.WRONG]
        ):
            right, wrong = (
                tuple(role for role in first.images if all(one.scores.get(f"right_{role}") == said for one in truths))
                for said in (1, 0)
            )
            yield _Choice(case=case, verdict=first, right=right, wrong=wrong)


def _preferences(choice: _Choice) -> Iterator[Example]:
    if choice.wrong is None:
        for chosen, rejected in _PREFERENCES:
            if {chosen, rejected} <= set(choice.right):
                yield _example(choice, chosen, rejected)
        return
    if not choice.case.equivalent:
        # A picture that is wrong for its own wording may be right for one that means something else.
        return
    # Both wordings mean the same, so the right picture is right for either of them.
    for chosen, rejected, prompt in product(sorted(choice.right), choice.wrong, choice.case.prompts):
        yield _example(choice, chosen, rejected, prompt.text)


def _example(choice: _Choice, chosen: str, rejected: str, caption: str = "") -> Example:
    images = choice.verdict.images
    return Example(
        caption=caption or choice.case.prompt(chosen).text,
        chosen=images[chosen],
        rejected=images[rejected] if rejected else "",
        case_id=choice.case.case_id,
        model=choice.verdict.model,
    )


def _scores(verdicts: Sequence[Verdict]) -> list[dict[tuple[str, str], float]]:
    """The seven scores by every judge who gave all of them."""
    found = [
        {pair: verdict.scores[pair_name(*pair)] for pair in PAIRS if pair_name(*pair) in verdict.scores}
        for verdict in verdicts
    ]
    return [scores for scores in found if len(scores) == len(PAIRS)]
