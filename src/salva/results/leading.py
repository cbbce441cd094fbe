"""What leads a report: one check's rate with its intervals, three rates with it, chance, and how far to trust it.

Judgements in, one record out. Agreeing on nonsense is no success, and an oracle that sees nothing is said to be blind.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from statistics import fmean

from salva.core.case import Case, unit_of
from salva.core.judgements import Judgements, Rate
from salva.core.quantity import quantity
from salva.core.run_spec import OWN
from salva.results.chance import chance_of, chance_to_differ
from salva.results.headline import MACRO, is_apart, of_main_observers
from salva.results.rates import DECIDED, Figure, headline_figure, rates_of
from salva.results.uncheckable import cases_without_check, checks_to_come

OK, PARTIAL, BLIND = "ok", "partial", "blind"
FEWEST_DECIDED = 0.8
"""Below this share of decided pairs a run decides too little."""
_NAMED, _MEAN_SCORE = "named_", "mean_score_"
_FAITH = re.compile("faith_[A-Z]")
"""The share of right answers about the image of a role."""
_HARDLY_ANY = 0.05
_FEWEST_PICTURES = 8
_FAR_BELOW = 0.75
"""Of its usual score. The embedded detector's is 0.86; where what it sees is not there, on images of real models, it
has 0.52: bench/real_pictures.py elsewhere."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Leading:
    """What leads, and what stands with it."""

    figure: Figure | None = None
    rate: str | None = None
    """Which of the rates leads; None where the suite has a figure of its own."""
    rates: Mapping[str, Figure | None] = field(default_factory=dict)
    chance: float | None = None
    """What images shuffled within the suite would get."""
    oracle: str = OK
    reason: str = ""
    """Why the oracle is not to be trusted, or why nothing is decided; one sentence."""
    is_unanimous: bool = False
    """Whether every answer that a judge gave is the expected one."""
    is_one_picture: bool = False
    """Whether everything that was generated is one and the same."""
    n_asked: int = 0
    """Pairs that were asked for and could enter the leading rate."""

    @property
    def decides_too_little(self) -> bool:
        """Whether the rate stands on too few of the pairs."""
        return self.figure is None or (self.figure.coverage or 0.0) < FEWEST_DECIDED


def leading_of(
    judgements: Judgements,
    repeats: int,
    usual_score: float | None = None,
) -> Leading:
    """What leads; usual_score: the detector's, where known."""
    figure = headline_figure(judgements)
    check = figure.check if figure else ""
    kind = judgements.rate_of(check)
    has_rate = kind is not None and not judgements.has_own_figure
    oracle, reason = _oracle(judgements, figure, usual_score)
    asked = _cases_asked(judgements, figure.average if figure else MACRO, check)
    return Leading(
        figure=figure,
        rate=str(kind) if has_rate else None,
        rates=rates_of(judgements),
        chance=_chance(judgements, asked, check),
        oracle=oracle,
        reason=reason,
        is_unanimous=_is_unanimous(judgements),
        is_one_picture=_n_under_one_picture(judgements) > 0,
        n_asked=len(asked) * repeats,
    )


def _cases_asked(judgements: Judgements, average: str, check: str) -> list[Case]:
    """The cases that the leading rate is about: a mean over categories leaves out those that are counted apart, and
    those judged by another check have a rate of their own."""
    led = {pair.case.case_id for pair in judgements.headline}
    judged = {pair.case.case_id for pair in judgements.pairs}

    def may_lead(case: Case) -> bool:
        if not case.check_groups or case.check == check or case.case_id in led:
            return True
        return not judgements.is_whole and case.case_id not in judged and check in checks_to_come(case, judgements)

    cases = [case for case in judgements.cases if may_lead(case)]
    averaged = [case for case in cases if average != MACRO or not is_apart(case, judgements.apart)]
    return averaged or list(judgements.cases)


def _chance(judgements: Judgements, asked: Sequence[Case], check: str) -> float | None:
    """What shuffled images would get by the check that leads."""
    kind, options = judgements.rate_of(check), judgements.options_of(check)
    counts = str(options.get("counts", "exact"))
    if kind is Rate.WRONG or (check == OWN and not judgements.has_own_figure):
        return chance_of(asked, counts)
    if kind is not Rate.INCONSISTENT:
        return None
    compared = {pair.case.case_id for pair in judgements.headline}
    return chance_to_differ(
        [case for case in asked if case.case_id in compared],
        asked,
        counts=counts,
        place=str(options.get("place", "order")),
        is_all=options.get("scope") == "all",
    )


def _oracle(judgements: Judgements, figure: Figure | None, usual_score: float | None) -> tuple[str, str]:
    """Whether those who looked saw anything of what the prompts name, and as surely as they do on their own ground."""
    looked, who = _looked(judgements)
    named = [value > 0 for scores in looked for name, value in scores.items() if name.startswith(_NAMED)]
    if len(named) >= _FEWEST_PICTURES and sum(named) < _HARDLY_ANY * len(named):
        return BLIND, (
            f"something that the prompts name was found in {sum(named)} of {quantity(len(named), 'images')}: "
            f"the model generates none of it, or the {who} cannot see it; look at some images, then try another --{who}"
        )
    sure = [value for scores in looked for name, value in scores.items() if name.startswith(_MEAN_SCORE)]
    if usual_score is not None and len(sure) >= _FEWEST_PICTURES and fmean(sure) < _FAR_BELOW * usual_score:
        return BLIND, (
            f"what the prompts name was found in {len(sure)} of {len(named)} images with a mean score of "
            f"{fmean(sure):.2f}, where the detector has {usual_score:.2f} on images it was made for: "
            "it guesses here; look at some images, then try another --detector"
        )
    if n_alike := _n_under_one_picture(judgements):
        return PARTIAL, (
            f"one and the same image stands for {quantity(n_alike, 'prompts')}: it follows none of them, and "
            "never differs from itself; look at it, then at what generates it"
        )
    if figure is None:
        return PARTIAL, "no pair was judged by a check that leads; name one that applies with --check"
    if figure.coverage is not None and figure.coverage < FEWEST_DECIDED:
        n = f"only {figure.n}" if figure.n else "none"
        asked = quantity(figure.n + figure.n_undecided, unit_of(judgements.cases))
        return PARTIAL, f"{n} of {asked} could be decided{_mostly(judgements)}"
    left = cases_without_check(judgements)
    if len(left) > (1 - FEWEST_DECIDED) * len(judgements.cases):
        return PARTIAL, (
            f"no check can judge {len(left)} of {len(judgements.cases)} prompts, so the rates are about the others; "
            "the report lists why. A --judge or formulas of your own can help"
        )
    return OK, ""


def _is_unanimous(judgements: Judgements) -> bool:
    """Whether all images got nothing but expected answers; False for too few to tell."""
    scores = (pair.verdict.scores.items() for pair in judgements.headline)
    faith = [value for of_pair in scores for name, value in of_pair if _FAITH.fullmatch(name)]
    return len(faith) >= _FEWEST_PICTURES and min(faith) == 1


def _n_under_one_picture(judgements: Judgements) -> int:
    """For how many prompts, not counting other wordings, everything generated is one image; 0 for too few to tell."""
    pictures = {image for pair in judgements.pairs for image in pair.verdict.images.values()}
    prompts = {pair.case.prompts[0].text for pair in judgements.pairs if pair.verdict.images}
    return len(prompts) if len(pictures) == 1 and len(prompts) >= _FEWEST_PICTURES else 0


def _looked(judgements: Judgements) -> tuple[list[Mapping[str, float]], str]:
    """The scores that say what was seen, and who saw it: of the verdicts that lead where they say it, else by truth."""
    by_truth = judgements.of_rate(Rate.WRONG)
    answered = [
        pair.verdict
        for pair in judgements.headline
        if pair.verdict.check != by_truth and any(name.startswith(_NAMED) for name in pair.verdict.scores)
    ]
    if answered:
        # By what the check goes by, not by its scores: where there is no box, no box has a score.
        leads = judgements.checks.get(answered[0].check)
        by_boxes = leads is not None and "detector" in leads.needs
        return [verdict.scores for verdict in answered], "detector" if by_boxes else "judge"
    seen = of_main_observers(judgements.pairs)
    return [pair.verdict.scores for pair in seen if pair.verdict.check == by_truth], "detector"


def _mostly(judgements: Judgements) -> str:
    """Why most are undecided, and who decides more."""
    reasons = Counter(pair.verdict.reason for pair in judgements.headline if pair.verdict.reason)
    decided = Counter(pair.verdict.check for pair in judgements.pairs if pair.verdict.outcome in DECIDED)
    leading = {pair.verdict.check for pair in judgements.headline}
    why = "".join(f", {'mostly' if n > 1 else 'one'} because {reason}" for reason, n in reasons.most_common(1))
    better = [name for name, n in decided.most_common(1) if name not in leading and n > len(judgements.headline) / 2]
    return why + "".join(f"; {name} decides {decided[name]}, and leads with --check {name}" for name in better)
