"""The effect of the wording.

Judgements in, figures out. What is right is a verdict's score `right_<role>`; a pair in which one image could not be
decided says nothing here. Pairs of different meanings are no wordings of one thing and stay out.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from math import comb

from salva.core.grouping import group_by, grouped
from salva.core.judgements import CaseVerdict, Judgements
from salva.results.deciding import TRUTH
from salva.results.rates import MACRO
from salva.stats.intervals import Interval
from salva.stats.means import mean_of_groups
from salva.stats.rates import difference_interval

ONE_REPEAT = "every wording was generated once; --repeats 2 or --control measures it"


@dataclass(frozen=True, slots=True, kw_only=True)
class WordingDifference:
    """P(wrong | second wording) - P(wrong | first), averaged as the suite's failure rate is."""

    check: str
    """By which images are right or wrong."""
    difference: float
    interval: Interval | None
    """95 %: these prompts, other seeds; None of a single case."""
    first: float
    """P(wrong | first wording)."""
    second: float
    seed_noise: float | None
    """How often one wording under two seeds is right once and wrong once; None without repeats."""
    why_no_seed_noise: str
    n: int
    """Pairs whose two images were decided."""
    n_cases: int


def wording_difference(judgements: Judgements) -> WordingDifference | None:
    """Over all cases; None where no check says which images are right."""
    return _difference(_decided(judgements), judgements.average)


def differences_by_law(judgements: Judgements) -> dict[str, WordingDifference]:
    """By the label `law`, or by category for cases without one, in order of first appearance."""
    groups = group_by(_decided(judgements), lambda pair: pair.case.labels.get("law") or pair.case.category)
    made = ((name, _difference(group, judgements.average)) for name, group in groups.items())
    return {name: difference for name, difference in made if difference is not None}


def _decided(judgements: Judgements) -> list[CaseVerdict]:
    """The verdicts that say of both images whether they are right: those behind the results, else of another check."""
    own = [CaseVerdict(result.case, result.verdict) for result in judgements.results if result.verdict is not None]
    # Truth first: what goes by a part of a prompt knows less of which images are right.
    names = sorted(judgements.checks, key=lambda name: name != TRUTH)
    others = (judgements.of_check(name) for name in names if not judgements.checks[name].compares)
    return next((found for group in (own, *others) if (found := _with_both(group))), [])


def _with_both(pairs: Iterable[CaseVerdict]) -> list[CaseVerdict]:
    return [
        pair
        for pair in pairs
        if pair.case.equivalent is not False and {"right_a", "right_b"} <= pair.verdict.scores.keys()
    ]


def _difference(pairs: Sequence[CaseVerdict], average: str) -> WordingDifference | None:
    if not pairs:
        return None
    by_case = group_by(pairs, lambda pair: pair.case.case_id)
    names = [_averaged_by(repeats[0], average) for repeats in by_case.values()]
    first, second = (
        [
            sum(not repeat.verdict.scores[f"right_{role}"] for repeat in repeats) / len(repeats)
            for repeats in by_case.values()
        ]
        for role in "ab"
    )
    less = [b - a for a, b in zip(first, second, strict=True)]
    noise = _seed_noise(by_case.values(), average)
    return WordingDifference(
        check=pairs[0].verdict.check,
        difference=mean_of_groups(zip(names, less, strict=True)) or 0.0,
        interval=difference_interval(grouped(zip(names, less, strict=True)), len(pairs) / len(by_case)),
        first=mean_of_groups(zip(names, first, strict=True)) or 0.0,
        second=mean_of_groups(zip(names, second, strict=True)) or 0.0,
        seed_noise=noise,
        why_no_seed_noise="" if noise is not None else ONE_REPEAT,
        n=len(pairs),
        n_cases=len(by_case),
    )


def _share_wrong(role: str, repeats: Sequence[CaseVerdict]) -> float:
    return sum(not repeat.verdict.scores[f"right_{role}"] for repeat in repeats) / len(repeats)


def _averaged_by(pair: CaseVerdict, average: str) -> str:
    """The category of a case, or one for all where the suite's rate is a plain share."""
    return pair.case.category if average == MACRO else ""


def _seed_noise(cases: Iterable[Sequence[CaseVerdict]], average: str) -> float | None:
    """The share of two repeats of one wording of which one is right, averaged as the rate is."""
    shares = []
    for repeats in cases:
        if len(repeats) > 1:
            n_right = [sum(bool(repeat.verdict.scores[f"right_{role}"]) for repeat in repeats) for role in "ab"]
            n_mixed = sum(right * (len(repeats) - right) for right in n_right)
            shares.append((_averaged_by(repeats[0], average), n_mixed / (2 * comb(len(repeats), 2))))
    return mean_of_groups(shares)
