"""From specification to planned work: which cases, which components, which requests.

Pure: the same specification always gives the same plan, so a killed run finds its place again
by planning anew. Nothing is loaded and nothing is stored here.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import cast

from salva.core.about import lint_of, remarks_of
from salva.core.case import Case, Finding, Prompt
from salva.core.fingerprint import fingerprint
from salva.core.foreign_errors import plugin_errors
from salva.core.plan import Plan
from salva.core.protocols import Suite
from salva.engine.guard import build
from salva.errors import UsageError
from salva.messages import message

_N_SHOWN = 30


def planned_cases(plan: Plan) -> Iterator[Case]:
    """The cases a run is made of, in the suite's order."""
    return (case for _, case in placed_cases(plan))


def placed_cases(plan: Plan) -> Iterator[tuple[int, Case]]:
    """The same, each with its place among the cases of all shards."""
    suite = cast(Suite, build(plan.suite))
    name, n_wanted = _sized(plan, suite)

    def cases() -> Iterator[Case]:
        return _checked(suite.cases(name), plan.suite.label)

    if plan.spec.only:
        _check_labels(cases(), plan.spec.only, plan.suite.label)
    if n_wanted is None and plan.shard is None:
        return enumerate(_matching(cases(), plan.spec.only))
    order = _dealt(_matching(cases(), plan.spec.only), n_wanted, plan)
    chosen = {case_id: plan.shard is None or plan.shard.holds(position) for position, case_id in enumerate(order)}
    if plan.shard is not None and plan.shard.n > len(chosen):
        wanted = f"one of at most {len(chosen)} shards"
        raise UsageError(message("option-invalid", name="--shard", value=str(plan.shard), wanted=wanted))
    placed = enumerate(case for case in cases() if case.case_id in chosen)
    return ((place, case) for place, case in placed if chosen[case.case_id])


def _sized(plan: Plan, suite: Suite) -> tuple[str, int | None]:
    """A size by its name, and how many cases of it are wanted where that is a number."""
    sizes = tuple(type(suite).sizes)
    if plan.spec.size in sizes:
        return plan.spec.size, None
    if plan.spec.size.isascii() and plan.spec.size.isdigit() and int(plan.spec.size) > 0:
        return ("full" if "full" in sizes else sizes[-1]), int(plan.spec.size)
    wanted = f"one of {', '.join(sizes)} or a number of cases"
    raise UsageError(message("option-invalid", name="--size", value=plan.spec.size, wanted=wanted))


def remarks(plan: Plan) -> list[str]:
    """What the suite and the checks have to tell before cases are generated."""
    size, _ = _sized(plan, cast(Suite, build(plan.suite)))
    said: dict[str, None] = {}
    for binding in (plan.suite, *plan.checks):
        if tell := remarks_of(build(binding)):
            with plugin_errors(f"the {binding.role} {binding.label!r}", "broke off"):
                said |= dict.fromkeys(tell(size))
    return [*said]


def linted(plan: Plan) -> list[Finding]:
    """What a suite's own lint finds in all of its texts."""
    lint = lint_of(build(plan.suite))
    if lint is None:
        raise UsageError(message("flag-unrelated", flags="--lint", why=f"the suite {plan.suite.label!r} has no lint"))
    with plugin_errors(f"the suite {plan.suite.label!r}", "broke off its check"):
        return list(lint())


def n_pictures(cases: Iterable[Case], *, sees_formula: bool = True) -> int:
    """How many images a repeat of these cases takes from one model: a prompt that cases share is generated once.

    sees_formula: whether another formula of the same text is another image to it.
    """
    n_own = 0
    shared: set[tuple[str, str, str | None]] = set()
    for case in cases:
        if case.painting:
            shared |= {(case.painting, p.text, p.formula if sees_formula else None) for p in case.prompts}
        else:
            n_own += len(case.prompts)
    return n_own + len(shared)


def _checked(cases: Iterable[Case], suite: str) -> Iterator[Case]:
    """The same cases; refuses texts that the store cannot take."""
    iterator = iter(cases)
    while True:
        with plugin_errors(f"the suite {suite!r}", "broke off"):
            case = next(iterator, None)
        if case is None:
            return
        for prompt in case.prompts:
            _check_text(prompt, case.case_id)
        yield case


def _check_text(prompt: Prompt, case_id: str) -> None:
    try:
        (prompt.text + (prompt.formula or "")).encode()
    except UnicodeEncodeError as error:
        why = f"the prompt {prompt.text!r} is not valid Unicode text ({error.reason})"
        raise UsageError(message("case-invalid", case=case_id, why=why)) from error


def _matching(cases: Iterable[Case], only: Sequence[tuple[str, str]]) -> Iterator[Case]:
    return (case for case in cases if all(case.labels.get(name) == value for name, value in only))


def _check_labels(cases: Iterable[Case], only: Sequence[tuple[str, str]], suite: str) -> None:
    values: dict[str, set[str]] = {}
    n_matching = 0
    for case in cases:
        for name, value in case.labels.items():
            values.setdefault(name, set()).add(value)
        n_matching += all(case.labels.get(name) == value for name, value in only)
    for name, value in only:
        if name not in values:
            raise UsageError(message("label-unknown", name=name, suite=suite, known=_listed(values)))
        if value not in values[name]:
            raise UsageError(message("label-value-unknown", name=name, value=value, known=_listed(values[name])))
    if n_matching == 0:
        flags = " ".join(f"--only {name}={value}" for name, value in only)
        raise UsageError(message("labels-match-nothing", suite=suite, flags=flags))


def _listed(names: Iterable[str]) -> str:
    ordered = sorted(names, key=lambda name: (len(name), name) if name.isdigit() else (0, name))
    more = f" and {len(ordered) - _N_SHOWN} more" if len(ordered) > _N_SHOWN else ""
    return ", ".join(ordered[:_N_SHOWN]) + more


def _dealt(cases: Iterable[Case], n_wanted: int | None, plan: Plan) -> list[str]:
    """Case ids in the order they are drawn in; a smaller sample, or shard of one, is part of every larger one."""
    by_category: dict[str, list[str]] = {}
    for case in cases:
        by_category.setdefault(case.category, []).append(case.case_id)
    n_cases = sum(map(len, by_category.values()))
    if n_wanted is not None and n_wanted > n_cases:
        wanted = f"at most {n_cases}, the number of cases"
        raise UsageError(message("option-invalid", name="--size", value=n_wanted, wanted=wanted))
    # Turn by turn, each category gives its next case: any prefix of this order is balanced, and a prefix of a prefix
    # is what makes samples nested.
    order = [
        (turn, fingerprint([plan.spec.seed, category]), case_id)
        for category, case_ids in by_category.items()
        for turn, case_id in enumerate(sorted(case_ids, key=lambda case_id: fingerprint([plan.spec.seed, case_id])))
    ]
    return [case_id for *_, case_id in sorted(order)[:n_wanted]]
