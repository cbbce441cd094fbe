"""What a run can decide, known before anything is generated: who leads, and over how many of the cases.

A specification and its cases come in; what cannot be decided is told, and a run that could decide nothing is refused
with what to change. Loads no model.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple, cast

from salva.core.about import Naming, about_of, options_of
from salva.core.case import Case
from salva.core.judgements import Rate
from salva.core.options import target_field, value_of
from salva.core.plan import Plan
from salva.core.protocols import Check
from salva.core.quantity import quantity
from salva.core.run_spec import OWN
from salva.engine.guard import build
from salva.engine.run_components import DETECTOR, AppliedCheck, Cast
from salva.errors import MissingRoleError, SalvaError, UsageError
from salva.messages import Message, message
from salva.registry import entries, load
from salva.results.headline import MACRO, is_apart, leading_check
from salva.results.rates import BOTH_WRONG
from salva.results.uncheckable import why_unchecked
from salva.runs.cases import planned_cases, remarks

_N_REASONS = 6
EXAMPLE = "mm-grounding-dino"
"""The detector that a refusal gives as an example: it takes words, and its scores let it doubt."""


class Preview(NamedTuple):
    """What is known before anything is generated."""

    lines: list[str]
    """What to tell."""
    leading: str = ""
    """The check that leads."""
    n_led: int = 0
    """How many of the cases it may decide."""


class CasePreview:
    """Goes along while cases are made, and tells what the run can decide."""

    def __init__(self, plan: Plan, roster: Cast) -> None:
        self._plan, self._roster = plan, roster
        self._cases = _Cases(file=question_file(plan), apart=plan.suite.about.apart)

    def add(self, case: Case) -> Sequence[AppliedCheck]:
        """Count a case; the checks that it is judged by."""
        checks = self._roster.checks_of(case)
        self._cases.add(case, checks)
        return checks

    def watch(self, placed: Iterable[tuple[int, Case]]) -> Iterator[tuple[int, Case]]:
        """The same cases, each counted on its way."""
        for place, case in placed:
            self.add(case)
            yield place, case

    def conclude(self) -> Preview:
        """What to tell before images are generated; UsageError where the leading check could decide no case."""
        return _concluded(self._plan, self._roster, self._cases)


def _concluded(plan: Plan, roster: Cast, cases: _Cases) -> Preview:
    if not cases.n:
        return Preview([])  # its cases are stored already
    rates = {part.label: part.about.rate for part in roster.checks}
    judging = [name for name in cases.n_led if name != OWN]
    leading = leading_check(judging, cases.own.elements(), rates, plan.spec.check, plan.suite.about.leads)
    if not leading or (plan.spec.check and leading != plan.spec.check):
        raise UsageError(_inapplicable(plan, cases))
    if plan.suite.about.leads == OWN and not plan.spec.check and cases.n_led[OWN]:
        leading = OWN
    undecided, n_led = cases.undecided.get(leading, []), cases.n_led[leading]
    if len(undecided) == n_led:
        unnamed = {thing for applied in undecided for thing in applied.unnamed}
        change = "Name another --judge, or a --size whose texts have formulas."
        if unnamed:
            change = f"Leave these out or name another --detector. {_detector_list(unnamed)}"
        values = {"check": leading, "cases": quantity(n_led, "cases"), "why": _why(undecided), "change": change}
        raise UsageError(message("check-undecided", **values))
    lines, all_cases = remarks(plan), quantity(cases.n, "cases")
    if undecided:
        counts = {"n": len(undecided), "cases": all_cases, "n_skipped": cases.n_unpainted}
        lines.append(message("cases-undecidable", check=leading, why=_why(undecided), **counts))
    if n_others := cases.n - n_led - cases.n_left_out:
        others = ", ".join(dict.fromkeys(name for group in cases.ways if leading not in group for name in group))
        facts = {"n": n_others, "cases": all_cases, "why": cases.facts(leading)}
        lines.append(message("cases-of-other-checks", check=leading, others=others, **facts))
    if cases.n_left_out:
        lines.append(message("cases-unchecked", n=cases.n_left_out, why=f": {cases.why_left()}"))
    n_counted = cases.n_counted(leading, is_truth=rates.get(leading) is Rate.WRONG)
    n_decidable, n_apart = n_counted - len(undecided), cases.n_apart[leading]
    averages = {bound.label: value_of(bound.options, "average") or MACRO for bound in plan.checks}
    # As judging counts them: a plain share is over all of them, and what stands apart leads where nothing else is.
    if averages.get(leading, MACRO) == MACRO and plan.spec.check != OWN and n_decidable > n_apart:
        n_decidable -= n_apart
    return Preview(lines, leading, n_decidable)


def refuse_null_rate(plan: Plan, name: str) -> None:
    """Refuse a gate on a rate that no case of this run could enter."""
    needed = {Rate.WRONG, Rate.INCONSISTENT} if name == BOTH_WRONG else {Rate(name)}
    roster = Cast.of(plan)
    for case in planned_cases(plan):
        if needed <= {applied.part.about.rate for applied in roster.checks_of(case)}:
            return
    raise UsageError(message("flag-unrelated", flags=f"--gate-rate {name}", why="no check of the run measures it"))


@dataclass(slots=True)
class _Cases:
    """The cases of a run, counted by what can be said about them."""

    file: str = ""
    """What judges are asked from, in place of the suite's own questions."""
    apart: tuple[str, str] | None = None
    """The label and value of cases that the suite counts apart."""
    n_apart: Counter[str] = field(default_factory=Counter)
    """Check to those of them that it may decide."""
    n: int = 0
    n_left_out: int = 0
    """Those without a check."""
    left: Counter[str] = field(default_factory=Counter)
    """Why, as far as the suite found something out about them."""
    ways: Counter[tuple[str, ...]] = field(default_factory=Counter)
    """Checks that apply together, to how many cases."""
    n_unpainted: int = 0
    """Those with checks, none of which could decide."""
    n_led: Counter[str] = field(default_factory=Counter)
    """Check to the cases that it applies to; OWN to those that their own check applies to."""
    made_for: Counter[str] = field(default_factory=Counter)
    """Check to those of them that were made for it, or that may be judged by any."""
    undecided: dict[str, list[AppliedCheck]] = field(default_factory=dict)
    """Check to the cases that it applies to and could not decide."""
    own: Counter[str] = field(default_factory=Counter)
    """The checks that cases name as their own."""
    known: Counter[str] = field(default_factory=Counter)
    """What may keep a check from applying, to the cases it is true of."""

    def add(self, case: Case, checks: Sequence[AppliedCheck]) -> None:
        """Count a case."""
        self.n += 1
        self.n_left_out += not checks
        if not checks:
            self.left[why_unchecked(case, self.file)] += 1
        self.n_unpainted += bool(checks) and all(applied.undecidable for applied in checks)
        self.own[case.check] += 1
        by_label: dict[str, list[AppliedCheck]] = {}
        for applied in checks:
            by_label.setdefault(applied.part.label, []).append(applied)
        self.ways[tuple(by_label)] += 1
        for label, judges in by_label.items():
            self.made_for[label] += not case.check_groups or label == case.check
            for name in (label, OWN) if label == case.check else (label,):
                self.n_led[name] += 1
                # One judge that may tell is enough.
                if all(applied.undecidable for applied in judges):
                    self.undecided.setdefault(name, []).append(judges[0])
                else:
                    self.n_apart[name] += is_apart(case, self.apart)
        self.known["have a prompt without a formula"] += any(prompt.formula is None for prompt in case.prompts)
        self.known["have several right images"] += case.determinate is False
        self.known["are no equivalence"] += case.equivalent is False
        self.known["are no pairs"] += len(case.prompts) != 2

    def n_counted(self, leading: str, *, is_truth: bool) -> int:
        """How many cases the leading rate is over: those made for it, where others took it for want of a better way."""
        return self.n_led[leading] if is_truth else self.made_for[leading] or self.n_led[leading]

    def why_left(self) -> str:
        """Why cases have no check, the most frequent reasons first."""
        told = [f"{n} ({why})" for why, n in self.left.most_common(_N_REASONS)]
        n_more = self.left.total() - sum(n for _, n in self.left.most_common(_N_REASONS))
        return ", ".join(told) + (f", {n_more} for {len(self.left) - _N_REASONS} other reasons" if n_more else "")

    def facts(self, check: str) -> str:
        """What may keep a check from applying, in words."""
        counted = [f"{n} {what}" for what, n in self.known.items() if n]
        counted += [f"{n} are made for {name}" for name, n in self.own.items() if check and name != check]
        return f"of all {self.n}: {', '.join(counted)}" if counted else "nothing is known against them"


def question_file(plan: Plan) -> str:
    """The file of questions that judges are asked from, where one is named."""
    return next((file for b in plan.checks if (file := value_of(b.options, "questions"))), "")


def _inapplicable(plan: Plan, cases: _Cases) -> Message:
    """Why no case is one for the check that should lead, and what to ask instead."""
    observers = ", ".join(f"--{binding.role} {binding.label}" for binding in plan.observers()) or "none"
    change = f"Observers are {observers}; name a --detector, --embedder or --judge."
    if would_apply := sorted(name for name in cases.n_led if name != OWN):
        change = f"{', '.join(would_apply)} would apply: name one with --check, or leave it out."
    why = cases.facts(plan.spec.check)
    if cases.n_left_out == cases.n and not plan.spec.check:
        why = f"{why}: {cases.why_left()}"
    who = f"The check {plan.spec.check!r} does not apply" if plan.spec.check else "No check applies"
    return message("check-inapplicable", who=who, cases=quantity(cases.n, "cases"), why=why, change=change)


def _why(undecided: Sequence[AppliedCheck]) -> str:
    """Why nobody can tell, over all of these cases."""
    unnamed: dict[str, set[str]] = {}
    for applied in undecided:
        if applied.unnamed:
            unnamed.setdefault(applied.actors_by_role[DETECTOR].label, set()).update(applied.unnamed)
    reasons = [f"the detector {name!r} cannot name {', '.join(sorted(words))}" for name, words in unnamed.items()]
    return "; ".join([*reasons, *dict.fromkeys(applied.unread for applied in undecided if applied.unread)])


def require_detector(plan: Plan) -> None:
    """Refuse a run whose images nobody was named to observe, where what leads needs boxes."""
    if not plan.wanting:
        return
    onlooker = next((binding for binding in plan.observers() if "detector" in binding.about.needs_roles), None)
    instead = ""
    if onlooker is not None:
        needing = f"the {onlooker.role} {onlooker.label!r}"
        instead = f"Another {onlooker.role} may need none: --{onlooker.role} NAME. "
    else:
        leading = _leading_with_detector(plan)
        if leading not in {binding.label for binding in plan.wanting}:
            return
        needing = f"the check {leading!r}"
    strangers = [b.label for b in plan.models if not b.about.defaults.get("detector")] or [b.label for b in plan.models]
    problem = f"{needing} needs a detector, and {', '.join(strangers)} has no default"
    raise MissingRoleError(problem, "detector", EXAMPLE, instead + _detector_list())


def _leading_with_detector(plan: Plan) -> str:
    """The check that would lead if there were a detector."""
    checks = {b.label: cast(Check, build(b)) for b in (*plan.wanting, *plan.checks)}
    rates = {b.label: b.about.rate for b in (*plan.wanting, *plan.checks)}
    judging: set[str] = set()
    own: list[str] = []
    wanting = {b.label for b in plan.wanting}
    for case in planned_cases(plan):
        allowed = (
            {name for group in case.check_groups for name in group} | {plan.spec.check}
            if case.check_groups
            else checks.keys()
        )
        # What is known to judge is not asked again, but for a case that may go several ways.
        asked = {name for name in allowed & checks.keys() if case.check_groups or name not in judging}
        applying = {name for name in asked if checks[name].applies(case)}
        # One that may go another way wants for nobody.
        judging |= (applying - wanting or applying) if case.check_groups else applying
        own.append(case.check)
    return leading_check(sorted(judging), own, rates, plan.spec.check, plan.suite.about.leads)


def _detector_list(things: Collection[str] = ()) -> str:
    """The detectors one could name, by whether they take words; not those that say they cannot name these things."""
    takes_words: list[str] = []
    has_names: list[str] = []
    for entry in entries("detector"):
        try:
            component = load("detector", entry.name)
        except SalvaError:
            continue
        options = options_of(component)
        target = target_field(options)
        needs_target = target is not None and not options.__dataclass_fields__[target].default
        shown = f"{entry.name}/<{target}>" if needs_target else entry.name
        names = about_of(component).names
        if not isinstance(names, tuple) or set(things) <= set(names):
            (takes_words if names is Naming.ASKED else has_names).append(shown)
    return (
        f"Detectors for any word: {', '.join(takes_words) or 'none'}; with a fixed list: "
        f"{', '.join(has_names) or 'none'}."
    )
