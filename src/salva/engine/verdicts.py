"""Verdicts from what was seen: the pair arm, and the control arm that crosses wordings and seeds.

Pure: no model, no disk. Whatever broke on the way becomes a FAILED verdict with its reason.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from salva.core.blame import described
from salva.core.protocols import Conclusion, Sight
from salva.core.verdict import CONTROL, PAIR, Outcome, Verdict
from salva.engine.units import Broken, Inquiry, Unit
from salva.errors import SalvaError

N_OTHERS = 8
"""With many repeats each one is crossed with this many others, the next ones in a circle: the cost
grows with repeats and not with their square, and every repeat still meets as many as any other."""


def verdicts_of(unit: Unit, control: bool) -> Iterator[tuple[Verdict, bool]]:
    """Every verdict of a finished unit, each with whether trying again could change a FAILED one."""
    groups: dict[tuple[str, str], list[Inquiry]] = {}
    for inquiry in unit.inquiries:
        groups.setdefault((inquiry.hearing.part.label, inquiry.hearing.observers), []).append(inquiry)
    for inquiries in groups.values():
        for inquiry in inquiries:
            yield _pair(unit, inquiry)
        if control and inquiries[0].hearing.part.relation.has_control and len(unit.case.prompts) == 2:
            for inquiry in inquiries:
                yield _control(unit, inquiries, inquiry.repeat)


def _pair(unit: Unit, inquiry: Inquiry) -> tuple[Verdict, bool]:
    images = {
        prompt.role: image.image_id
        for prompt in unit.case.prompts
        if not isinstance(image := unit.images[inquiry.repeat, prompt.role], Broken)
    }
    if inquiry.broken is not None:
        return _failed(unit, inquiry, PAIR, inquiry.broken, images)
    sights = unit.sights(inquiry)
    assert not isinstance(sights, Broken)
    concluded = _judged(unit, inquiry, sights)
    if isinstance(concluded, Broken):
        return _failed(unit, inquiry, PAIR, concluded, images)
    return _verdict(unit, inquiry, PAIR, concluded, images), False


def _control(unit: Unit, inquiries: list[Inquiry], i: int) -> tuple[Verdict, bool]:
    """How often pictures of other seeds differ, between the wordings and within each."""
    a, b = (prompt.role for prompt in unit.case.prompts)
    n = len(inquiries)
    seen = {(k, role): unit.sight(inquiries[k], role) for k in range(n) for role in (a, b)}

    def compared(first: tuple[int, str], second: tuple[int, str]) -> Conclusion | Broken:
        one, two = seen[first], seen[second]
        if isinstance(one, Broken) or isinstance(two, Broken):
            return one if isinstance(one, Broken) else two  # type: ignore[return-value]  # one of them is Broken
        return _judged(unit, inquiries[i], {a: one, b: two})

    others = [(i + step) % n for step in range(1, min(n - 1, N_OTHERS) + 1)]
    neighbour = compared((i, a), (others[0], a))
    images = {
        role: sight.image.image_id
        for role, sight in ((a, seen[i, a]), (b, seen[others[0], a]))
        if isinstance(sight, Sight)
    }
    if isinstance(neighbour, Broken):
        return _failed(unit, inquiries[i], CONTROL, neighbour, images)
    arms = {"differs_between": (a, b), "differs_within_a": (a, a), "differs_within_b": (b, b)}
    scores: dict[str, float] = {}
    n_compared = 0
    for name, (one, two) in arms.items():
        decided = [
            conclusion.outcome is Outcome.VIOLATED
            for j in others
            if isinstance(conclusion := compared((i, one), (j, two)), Conclusion)
            and conclusion.outcome in (Outcome.HOLDS, Outcome.VIOLATED)
        ]
        n_compared += len(decided)
        if decided:
            scores[name] = sum(decided) / len(decided)
    if len(scores) == len(arms):
        noise = (scores["differs_within_a"] + scores["differs_within_b"]) / 2
        scores["excess"] = scores["differs_between"] - noise
    scores["n_compared"] = float(n_compared)
    concluded = Conclusion(
        outcome=neighbour.outcome,
        errors=neighbour.errors,
        failures=neighbour.failures,
        scores=scores,
        reason=neighbour.reason,
    )
    return _verdict(unit, inquiries[i], CONTROL, concluded, images), False


def _judged(unit: Unit, inquiry: Inquiry, sights: Mapping[str, Sight]) -> Conclusion | Broken:
    part = inquiry.hearing.part
    try:
        return part.relation.judge(unit.case, sights)
    except SalvaError:
        raise
    except Exception as error:
        return Broken(reason=f"the relation {part.label!r} failed: {described(error)}", is_final=False)


def _failed(unit: Unit, inquiry: Inquiry, arm: str, broken: Broken, images: Mapping[str, str]) -> tuple[Verdict, bool]:
    concluded = Conclusion(outcome=Outcome.FAILED, reason=broken.reason)
    return _verdict(unit, inquiry, arm, concluded, images), not broken.is_final


def _verdict(unit: Unit, inquiry: Inquiry, arm: str, concluded: Conclusion, images: Mapping[str, str]) -> Verdict:
    return Verdict(
        case_id=unit.case.case_id,
        repeat=inquiry.repeat,
        arm=arm,
        model=unit.model.label,
        relation=inquiry.hearing.part.label,
        observers=inquiry.hearing.observers,
        outcome=concluded.outcome,
        errors=concluded.errors,
        failures=concluded.failures,
        scores=concluded.scores,
        images=images,
        reason=concluded.reason,
    )
