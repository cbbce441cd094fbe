"""How far a failure rate can be trusted: ok, limited or none, with reasons by code.

What observers report about images, and what is known about the observers, comes in; a status with reasons goes out.
The failure rate is shown whatever it says.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass

from salva.core.judgements import Judgements
from salva.core.result import Result
from salva.core.verdict import ENTITY_OMISSION
from salva.messages import Message, message
from salva.results.rates import FailureRate
from salva.stats.contrast import Contrast, ControlCounts, judge_contrast

OK, LIMITED, NONE = "ok", "limited", "none"
DETECTOR_BLIND, DETECTOR_DOMAIN, IDENTICAL_IMAGES = "detector-blind", "detector-domain", "identical-images"
RECALL_UNKNOWN, RECALL_LOW, AGREEMENT_ONLY = "recall-unknown", "recall-low", "agreement-only"
JUDGE_UNPROBED, FEW_PAIRS, UNEVEN = "judge-unprobed", "few-pairs", "uneven"
FEW_DECIDED, INCOMPLETE = "few-decided", "incomplete"
FEWEST_DECIDED = 0.8
"""Below this share of decided results a run decides too little."""
FEWEST_PAIRS = 16
"""Below this number of even pairs an interval is valid but useless."""
_FEWEST_IMAGES = 8
_BLIND_BELOW = 0.05
_UNEVEN_FEW, _UNEVEN_TIMES = 5, 20
_LEAST_RECALL = 0.9
_NAMED = "named_"
"""The score of a verdict that counts which named entities were found in the image of a role."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TrustReason:
    """One reason to trust less."""

    code: str
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Trust:
    """How far the failure rate of a model can be trusted."""

    status: str = OK
    reasons: tuple[TrustReason, ...] = ()
    """The gravest first."""

    def has(self, code: str) -> bool:
        """Whether a reason is among them."""
        return any(reason.code == code for reason in self.reasons)


@dataclass(frozen=True, slots=True, kw_only=True)
class ObserverFacts:
    """What is known about the observers of a run before any image is seen."""

    detector: str = ""
    domain: str = ""
    """The images that the detector was made for; empty where it states none."""
    is_outside_domain: bool = False
    """Whether the images of this model are no such images."""
    recall: Mapping[str, float] | float | None = None
    """The detector's recall on labelled images, for all entities or by entity; None where it is unknown."""
    judge: str = ""
    """The judge whose answers make the results; empty where none does."""
    controls: ControlCounts | None = None
    """What control questions showed of it; None where none was asked."""


def trust_of(judgements: Judgements, rate: FailureRate, facts: ObserverFacts, *, is_complete: bool) -> Trust:
    """The trust in one model's failure rate."""
    limits = _limits(judgements, rate, facts, is_complete=is_complete)
    found = [*((NONE, text) for text in _none(judgements, facts)), *((LIMITED, text) for text in limits)]
    found += _contrast(facts)
    status = NONE if any(one == NONE for one, _ in found) else LIMITED if found else OK
    found.sort(key=lambda one: one[0] != NONE)
    return Trust(status=status, reasons=tuple(TrustReason(code=text.code, text=text.plain) for _, text in found))


def _none(judgements: Judgements, facts: ObserverFacts) -> Iterator[Message]:
    if facts.is_outside_domain:
        yield message("detector-domain", detector=facts.detector, domain=facts.domain)
    n_found, n_images = _images_with_named(judgements)
    if n_images >= _FEWEST_IMAGES and n_found < _BLIND_BELOW * n_images:
        yield message("detector-blind", n=n_found, images=n_images)
    if n_alike := _prompts_of_one_image(judgements):
        yield message("identical-images", n=n_alike)


def _limits(judgements: Judgements, rate: FailureRate, facts: ObserverFacts, *, is_complete: bool) -> Iterator[Message]:
    if not is_complete:
        yield message("incomplete")
    decided = [result for result in judgements.results if result.is_decided]
    if judgements.rule.is_primary and 2 * sum(result.is_compared_only for result in decided) > len(decided):
        yield message("agreement-only")
    if (rate.coverage or 0.0) < FEWEST_DECIDED:
        yield message("few-decided", n=rate.n, total=rate.total, why=mostly(judgements.results))
    if decided and rate.kish < FEWEST_PAIRS:
        yield message("few-pairs", n=rate.n)
    if uneven := _uneven(rate):
        yield message("uneven", category=uneven)
    if recall := _recall(decided, facts):
        yield recall


def _contrast(facts: ObserverFacts) -> Iterator[tuple[str, Message]]:
    """Whether the judge accepts about other images what it accepted about the right ones."""
    counts = facts.controls
    contrast = judge_contrast(counts) if counts is not None else Contrast(status=LIMITED, code=JUDGE_UNPROBED)
    if facts.judge and contrast.status != OK:
        n, n_accepted = (counts.n_controls, counts.n_accepted) if counts else (0, 0)
        yield contrast.status, message(contrast.code, judge=facts.judge, n=n, accepted=n_accepted)


def _images_with_named(judgements: Judgements) -> tuple[int, int]:
    """In how many images something that prompts name was found, and of how many that is known."""
    seen: dict[tuple[str, str], bool] = {}
    for case, verdict in judgements.pairs:
        for name, value in verdict.scores.items():
            if name.startswith(_NAMED):
                role = name.removeprefix(_NAMED)
                seen.setdefault((f"{case.case_id} {verdict.repeat}", role), value > 0)
    return sum(seen.values()), len(seen)


def _prompts_of_one_image(judgements: Judgements) -> int:
    """For how many prompts one image stands, where it stands for many; other wordings of a case do not count."""
    prompts: dict[str, set[str]] = {}
    for case, verdict in judgements.pairs:
        for image in verdict.images.values():
            prompts.setdefault(image, set()).add(case.painting or case.prompts[0].text)
    most = max((len(texts) for texts in prompts.values()), default=0)
    return most if most >= _FEWEST_IMAGES else 0


def _uneven(rate: FailureRate) -> str:
    """The smallest category beside one that is many times as large; empty where there is none."""
    decided = [category for category in rate.categories if category.n]
    if len(decided) < 2 or rate.n_averaged < 2:
        return ""
    smallest, largest = (pick(decided, key=lambda category: category.n) for pick in (min, max))
    is_uneven = smallest.n < _UNEVEN_FEW and largest.n >= _UNEVEN_TIMES * smallest.n
    return smallest.name if is_uneven else ""


def _recall(decided: Collection[Result], facts: ObserverFacts) -> Message | None:
    """Whether most failures are missing entities, which a detector of unknown or low recall may have missed."""
    failures = [result for result in decided if result.is_fail]
    omitted = [result for result in failures if ENTITY_OMISSION in result.failure_types]
    if not facts.detector or 2 * len(omitted) <= len(failures) or not failures:
        return None
    numbers = {"n": len(omitted), "failures": len(failures)}
    if facts.recall is None:
        return message("recall-unknown", **numbers, detector=facts.detector)
    worst = facts.recall
    if not isinstance(worst, float):
        named = {f.entity for r in omitted for f in r.failures if f.failure_type == ENTITY_OMISSION}
        if unknown := sorted(named - worst.keys()):
            return message("recall-unknown", **numbers, detector=f"{facts.detector} ({unknown[0]})")
        worst = min((worst[name] for name in named), default=1.0)
    if worst >= _LEAST_RECALL:
        return None
    return message("recall-low", **numbers, detector=facts.detector, recall=f"{100 * worst:.0f} %")


def mostly(results: Collection[Result]) -> str:
    """Why most results are undecided; empty where no reason is known."""
    reasons = Counter(result.reason for result in results if not result.is_decided and result.reason)
    return next((reason for reason, _ in reasons.most_common(1)), "")
