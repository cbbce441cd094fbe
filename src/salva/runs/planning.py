"""What a run can decide, known before anything is generated.

A plan and its cases come in. What cannot be decided is listed, and a run that could decide nothing is refused with what
to change. Loads no model.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import cast

from salva.core.about import Naming, about_of, options_of
from salva.core.case import Case
from salva.core.options import target_field, value_of
from salva.core.plan import Plan
from salva.core.protocols import Check
from salva.core.quantity import quantity
from salva.engine.guard import build
from salva.engine.run_components import DETECTOR, AppliedCheck, Cast, Selection
from salva.errors import MissingRoleError, SalvaError, UsageError
from salva.messages import Message, message
from salva.registry import entries, load
from salva.results.deciding import NO_CHECK, why_unchecked
from salva.runs.cases import remarks

_N_REASONS = 6
EXAMPLE = "mm-grounding-dino"
"""The detector that a refusal gives as an example: it takes words, and its scores let it doubt."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Preview:
    """What is known before anything is generated."""

    lines: list[str]
    """Notes for the user."""
    n_decidable: int = 0
    """How many of the cases can be decided."""
    by_check: Mapping[str, int] = field(default_factory=dict)
    """The check that makes the result, to its cases."""
    reasons: Mapping[str, int] = field(default_factory=dict)
    """Why cases have no check or cannot be decided, to how many cases."""


class CasePreview:
    """Counts cases while they are made, and says what the run can decide."""

    def __init__(self, plan: Plan, roster: Cast) -> None:
        self._plan, self._roster = plan, roster
        self._cases = _Cases(file=question_file(plan), chosen=plan.spec.check)
        self._wanting = [cast(Check, build(binding)) for binding in plan.wanting]

    def add(self, case: Case) -> Selection:
        """Count a case; the checks that it is judged by."""
        selection = self._roster.selection(case)
        self._cases.add(case, selection)
        if not selection.checks and not self._cases.wants_detector:
            self._cases.wants_detector = any(check.applies(case) for check in self._wanting)
        return selection

    def watch(self, placed: Iterable[tuple[int, Case]]) -> Iterator[tuple[int, Case, str]]:
        """The same cases with their primary checks, each counted on its way."""
        for place, case in placed:
            yield place, case, self.add(case).primary

    def conclude(self) -> Preview:
        """Notes for the user; UsageError where no case can be decided."""
        plan, cases = self._plan, self._cases
        if not cases.n:
            return Preview(lines=[])  # its cases are stored already
        by_check = dict(cases.by_check)
        n_undecidable = len(cases.undecidable)
        n_decidable = sum(by_check.values()) - n_undecidable
        if not by_check and cases.wants_detector:
            raise detector_missing(plan)
        if not by_check:
            raise UsageError(_inapplicable(plan, cases))
        if not n_decidable:
            raise UsageError(_undecidable(cases))
        lines, all_cases = remarks(plan), quantity(cases.n, "cases")
        if n_undecidable:
            lines.append(message("cases-undecidable", n=n_undecidable, cases=all_cases, why=_why(cases.undecidable)))
        if n_left := cases.n - sum(by_check.values()):
            lines.append(message("cases-unchecked", n=n_left, why=f": {cases.why_left()}"))
        lines += [message("observer-unused", role=role, name=name) for role, name in self._unused()]
        if len(by_check) > 1:
            listed = ", ".join(f"{n} by {name}" for name, n in by_check.items())
            lines.append(message("cases-by-check", listed=listed))
        return Preview(lines=lines, n_decidable=n_decidable, by_check=by_check, reasons=cases.reasons())

    def _unused(self) -> Iterator[tuple[str, str]]:
        """Observers that the user named and no check of a case asks; one that others need is asked through them."""
        for binding in self._plan.observers():
            is_used = (binding.role, binding.label) in self._cases.observers
            if self._plan.spec.named(binding.role) and not is_used:
                yield binding.role, binding.label


@dataclass(slots=True)
class _Cases:
    """The cases of a run, counted by what can be said about them."""

    file: str = ""
    """What judges are asked from, in place of the suite's own questions."""
    chosen: str = ""
    """The one check that makes every result, where the run asks for one."""
    n: int = 0
    by_check: Counter[str] = field(default_factory=Counter)
    """The check that makes the result, to its cases."""
    undecidable: list[AppliedCheck] = field(default_factory=list)
    """One check of each case whose own check cannot decide it."""
    unchecked: Counter[str] = field(default_factory=Counter)
    """Why cases have no check."""
    others: set[str] = field(default_factory=set)
    """Checks that would apply where the chosen one does not."""
    observers: set[tuple[str, str]] = field(default_factory=set)
    """Roles and labels of those who are asked."""
    wants_detector: bool = False
    """Whether a case without a check would have one with a detector."""

    def add(self, case: Case, selection: Selection) -> None:
        """Count a case."""
        self.n += 1
        name = self.chosen or selection.primary
        own = [check for check in selection.checks if check.part.label == name]
        self.observers.update(*(zip(check.roles, check.observers, strict=True) for check in selection.checks))
        if not own:
            self.others.update({selection.primary} - {""})
            self.unchecked[_why_unchecked(case, self.file)] += 1
            return
        self.by_check[name] += 1
        if all(check.undecidable for check in selection.checks):
            self.undecidable.append(own[0])

    def reasons(self) -> Counter[str]:
        """Why cases have no check or cannot be decided."""
        return self.unchecked + Counter(check.undecidable for check in self.undecidable)

    def why_left(self) -> str:
        """Why cases have no check, the most frequent reasons first."""
        listed = [f"{n} ({why})" for why, n in self.unchecked.most_common(_N_REASONS)]
        n_more = self.unchecked.total() - sum(n for _, n in self.unchecked.most_common(_N_REASONS))
        return ", ".join(listed) + (f", {n_more} for other reasons" if n_more else "")


def _why_unchecked(case: Case, file: str) -> str:
    """Why no check can judge a case; file: of questions, which replaces the suite's own."""
    if file and any(prompt.questions for prompt in case.prompts):
        return f"{file!r} has no question about it"
    return why_unchecked(case).removeprefix(f"{NO_CHECK}: ")


def question_file(plan: Plan) -> str:
    """The file of questions that judges are asked from, where one is named."""
    return next((file for b in plan.checks if (file := value_of(b.options, "questions"))), "")


def _inapplicable(plan: Plan, cases: _Cases) -> Message:
    """Why no case is one for a check, and what to ask instead."""
    observers = ", ".join(f"--{binding.role} {binding.label}" for binding in plan.observers()) or "none"
    change = f"Observers are {observers}; name a --detector, --embedder or --judge."
    if others := sorted(cases.others):
        change = f"{', '.join(others)} would apply: name one with --check, or leave it out."
    who = f"The check {cases.chosen!r} does not apply" if cases.chosen else "No check applies"
    return message("check-inapplicable", who=who, cases=quantity(cases.n, "cases"), why=cases.why_left(), change=change)


def _undecidable(cases: _Cases) -> Message:
    """Why nothing can be decided, and what to change."""
    unnamed = {entity for check in cases.undecidable for entity in check.unnamed}
    change = "Name another --judge, or a --size whose texts have formulas."
    if unnamed:
        change = f"Leave these out or name another --detector. {_detector_list(unnamed)}"
    n, why = quantity(len(cases.undecidable), "cases"), _why(cases.undecidable)
    checks = ", ".join(cases.by_check)
    return message("check-undecided", check=checks, cases=n, why=why, change=change)


def _why(undecidable: Sequence[AppliedCheck]) -> str:
    """Why these cases cannot be decided."""
    unnamed: dict[str, set[str]] = {}
    for check in undecidable:
        if check.unnamed:
            unnamed.setdefault(check.actors_by_role[DETECTOR].label, set()).update(check.unnamed)
    reasons = [f"the detector {name!r} cannot name {', '.join(sorted(words))}" for name, words in unnamed.items()]
    return "; ".join([*reasons, *dict.fromkeys(check.unread for check in undecidable if check.unread)])


def require_detector(plan: Plan) -> None:
    """Refuse observers that need a detector where none is usual and the user neither named nor refused one."""
    needs_one = any("detector" in binding.about.needs_roles for binding in plan.observers())
    if needs_one and plan.detector is None and not plan.spec.named("detector"):
        raise detector_missing(plan)


def detector_missing(plan: Plan) -> MissingRoleError:
    """A run that no check can judge because its models have no default detector."""
    observer = next((binding for binding in plan.observers() if "detector" in binding.about.needs_roles), None)
    names = ", ".join(model.label for model in plan.models)
    problem = f"{names} has no default detector, and {plan.suite.label} needs one"
    instead = f"Another {observer.role} may need none: --{observer.role} NAME. " if observer else ""
    return MissingRoleError(problem, "detector", EXAMPLE, instead + _detector_list())


def _detector_list(things: Collection[str] = ()) -> str:
    """The detectors one could name, by whether they take words; not those that say they cannot name these entities."""
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
