"""What a run would take.

A specification and the place it would be stored in come in; counts, prices and times go out, as far as they are known.
Nothing is loaded, contacted or written. Prices come from what components say of themselves.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from salva.core.case import Case
from salva.core.image import ImageRef
from salva.core.observation import Answer, Observation
from salva.core.options import open_pinned
from salva.core.plan import Binding, Plan
from salva.core.protocols import ImageObservations, Need, Query
from salva.engine.actors import Actor
from salva.engine.run_components import AppliedCheck, Cast, with_needs
from salva.errors import SalvaError
from salva.runs.cases import n_pictures, planned_cases, remarks
from salva.runs.directory import resume_or_start
from salva.runs.planning import CasePreview, require_detector
from salva.runs.vocabulary import names_at_hand
from salva.stats.contrast import controls_wanted
from salva.store.reading import DATABASE
from salva.store.sqlite import open_run

_YES = "yes"
_N_WAVES = 20


@dataclass(frozen=True, slots=True, kw_only=True)
class Work:
    """What one component would do."""

    role: str
    label: str
    n: int
    """Images or looks that are left to do, at least."""
    n_most: int
    """The same where every answer leads to a further question."""
    n_there: int = 0
    """Those that this run has already."""
    usd: float | None
    """What that costs, of n_most; None where nobody knows."""
    why_no_price: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Forecast:
    """What a run would do."""

    n_cases: int
    n_decidable: int
    """Cases whose own check may decide them."""
    checks: Mapping[str, int]
    """The check that makes the result, to its cases."""
    reasons: Mapping[str, int]
    """Why cases have no check or cannot be decided, to how many cases."""
    remarks: tuple[str, ...]
    """Notes of components and of the suite."""
    work: tuple[Work, ...]
    """Of models, then of observers."""
    usd: float | None
    """All of it; None where a part is not known."""
    n_stored: int | None
    """Images of this run that are there already; None where it is a new one."""
    is_finished: bool = False
    """Whether nothing is left to do."""


@dataclass(slots=True)
class _WorkCount:
    """Cases as they are gone through."""

    n: int = 0
    generated: list[Case] = field(default_factory=list)
    n_judged: int = 0
    """Images that a judge is asked about for a result."""
    looks: dict[str, tuple[Actor, set[object], set[object]]] = field(default_factory=dict)
    """By component id: who, the looks it is sure to be asked for, and those that answers may lead to."""

    def add(self, case: Case, checks: Sequence[AppliedCheck]) -> None:
        self.n += 1
        deciding = [applied for applied in checks if not applied.undecidable]
        if not deciding:
            return
        self.generated.append(case)
        self.n_judged += len(case.prompts) if deciding[0].asks_judge else 0
        for applied in deciding:
            for look, is_sure in _looks(applied, case):
                for actor, query in _asked(applied, look):
                    _, sure, most = self.looks.setdefault(actor.component_id, (actor, set(), set()))
                    one = (case.painting or case.case_id, case.prompt(look.role).text, actor.keyed_query(query))
                    most.add(one)
                    if is_sure:
                        sure.add(one)


def forecast(plan: Plan, directory: Path) -> Forecast:
    """What the run of a specification would do in a directory; refused as the run would be."""
    require_detector(plan)
    for binding in plan.observers():
        open_pinned(binding.options)
    # Of the command, not of a run that is there: what that names is not opened.
    names = names_at_hand(plan.detector)
    plan = resume_or_start(directory, plan)
    roster = Cast.of(plan, names=names)
    tally = _WorkCount()
    previewed = CasePreview(plan, roster)
    for case in planned_cases(plan):
        tally.add(case, previewed.add(case).checks)
    ahead = previewed.conclude()
    there = _there(directory)
    work = []
    for binding in plan.models:
        n_each = n_pictures(tally.generated, sees_formula=binding.about.sees_formula) * plan.spec.repeats
        work.append(_work(binding, binding.label, n_each, n_each, there))
    n_times = plan.spec.repeats * len(plan.models)
    for actor, sure, most in tally.looks.values():
        if actor.binding is not None:
            n_controls = 0
            if actor.role == "judge" and plan.spec.contrast and tally.n_judged:
                n_controls = controls_wanted(tally.n_judged * plan.spec.repeats) * len(plan.models)
            n, n_most = len(sure) * n_times, len(most) * n_times + n_controls
            work.append(_work(actor.binding, actor.label, n, n_most, there))
    prices = [part.usd for part in work]
    return Forecast(
        n_cases=tally.n,
        n_decidable=ahead.n_decidable,
        checks=ahead.by_check,
        reasons=ahead.reasons,
        remarks=(*plan.notes, *remarks(plan)),
        work=tuple(work),
        usd=None if None in prices else sum(price for price in prices if price is not None),
        n_stored=there.n_images if there else None,
        is_finished=there is not None and there.is_finished,
    )


def _looks(applied: AppliedCheck, case: Case) -> Iterator[tuple[Need, bool]]:
    """What a check asks: at first for sure, then what it would ask if every answer were yes and every grade 1; and
    where it asks for grades, what it would ask if only the first image were graded so and the others 0."""
    first, *others = (prompt.role for prompt in case.prompts)
    yield from _followed(applied, case, dict.fromkeys((first, *others), 1.0))
    if any(look.query.kind == "grade" for look in applied.first_observations):
        yield from _followed(applied, case, {first: 1.0, **dict.fromkeys(others, 0.0)})


def _followed(applied: AppliedCheck, case: Case, grades: Mapping[str, float]) -> Iterator[tuple[Need, bool]]:
    """What a check asks, wave by wave, of images with these grades."""
    seen: dict[str, dict[Query, Observation]] = {prompt.role: {} for prompt in case.prompts}
    fresh, asked = list(applied.first_observations), set(applied.first_observations)
    for wave in range(_N_WAVES):
        yield from ((look, wave == 0) for look in fresh)
        for look in fresh:
            if look.query.kind == "answer":
                text = _YES if _YES in look.query.choices or not look.query.choices else look.query.choices[0]
                seen[look.role][look.query] = Answer(text=text, scores={})
            elif look.query.kind == "grade":
                given = {f"q{i}": grades[look.role] for i in range(1, len(look.query.questions) + 1)}
                seen[look.role][look.query] = Answer(text="", scores=given)
        if not any(seen.values()):
            return
        blank = ImageRef(image_id="", width=0, height=0)
        observations = {role: ImageObservations(image=blank, seen=answers) for role, answers in seen.items()}
        wanted = applied.part.check.needs(case, applied.actors_by_role.keys(), observations)
        fresh = [look for look in wanted if look not in asked]
        asked.update(fresh)
        if not fresh:
            return


def _asked(applied: AppliedCheck, look: Need) -> Iterator[tuple[Actor, Query]]:
    """Who has a look to make for one: the one that is asked, and all that must look before."""
    for role in with_needs(look.query.role, applied.actors_by_role):
        query = look.query if role == look.query.role else Query(role=role, labels=look.query.labels)
        yield applied.actors_by_role[role], query


@dataclass(frozen=True, slots=True, kw_only=True)
class _There:
    """What a run has done already."""

    n_images: int = 0
    by_component: Mapping[tuple[str, str], int] = field(default_factory=dict)
    """Role and label of a component to the pieces of its work that the same command does not do again."""
    is_finished: bool = False


def _work(binding: Binding, label: str, n: int, n_most: int, there: _There | None) -> Work:
    n_there = there.by_component.get((binding.role, label), 0) if there else 0
    if there is not None and there.is_finished:
        # Two images that are the same to the pixel are observed once, so that there may be fewer than were planned.
        n = n_most = 0
    n, n_most = max(0, n - n_there), max(0, n_most - n_there)
    each, why = _price_of(binding)
    usd = each * n_most if each is not None else None if n_most else 0.0
    return Work(role=binding.role, label=label, n=n, n_most=n_most, n_there=n_there, usd=usd, why_no_price=why)


def _price_of(binding: Binding) -> tuple[float | None, str]:
    """What one image or observation costs, or why that is not known."""
    if not binding.about.is_remote:
        return 0.0, ""
    own = getattr(binding.options, "price_usd", None)
    if own is not None:
        return float(own), ""
    missing = [name for name in binding.about.priced_by if getattr(binding.options, name, None) is None]
    if missing:
        return None, f"set {' and '.join(f'{binding.role}.{name}' for name in missing)}"
    return None, "it depends on the number of tokens"


def _there(directory: Path) -> _There | None:
    """None where there is no run yet; a run that cannot be read has nothing to go on with."""
    if not (directory / DATABASE).is_file():
        return None
    try:
        with open_run(directory) as store:
            by_component = {(row["role"], row["label"]): int(row["n"]) for row in store.rows(_SETTLED)}
            is_finished = store.is_whole() and not store.failed_work()
            return _There(n_images=store.n_images(), by_component=by_component, is_finished=is_finished)
    except SalvaError:
        return _There()


# Observations of drawings that come with salva, which try the observers, are no part of the plan.
_SETTLED = (
    "SELECT role, label, count(*) AS n FROM (SELECT component_id, status FROM renders UNION ALL "
    "SELECT component_id, status FROM observations WHERE image_id IN (SELECT image_id FROM renders)) "
    "JOIN components USING (component_id) WHERE status <> 'failed' GROUP BY role, label"
)
