"""What so many pairs can show, and how many it takes: from a run's own variances, or from assumptions that are said.

A run directory, a suite's name or nothing comes in; lines for people go out. Where only one model was run, two models
are taken to fail independently of each other, which is the worst case for a paired comparison.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from salva import component_facts, registry
from salva.compare.entrants import Entrant, read_entrants
from salva.compare.pairing import figure_over, values_by_case
from salva.compare.series import Key, Series
from salva.core.about import options_of
from salva.core.options import parse_options
from salva.core.quantity import quantity
from salva.errors import UsageError
from salva.messages import message
from salva.results.headline import is_apart
from salva.stats.paired import chance_to_show
from salva.stats.rates import one_more_repeat
from salva.stats.sample_size import (
    VarianceParts,
    beside_worse,
    evenly,
    half_of,
    pairs_for_difference,
    pairs_for_half_width,
    parts_of,
    shown_by,
)

_REPEATS = (1, 2, 4, 8)
_RATES = (0.1, 0.3, 0.5)
_DEVIATIONS = (0.2, 0.4)
"""Assumed of a case's score, where a suite leads with a figure that is no rate."""
_N_SIZES = 2
"""The named sizes of a suite whose cases are counted: larger ones take long to make."""
_UNRELATED = (
    "the other model is worse by the difference and fails independently of this one; where two fail on the same pairs, "
    "fewer pairs do"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Target:
    """What is to be reached; neither: what is there is said."""

    half_width: float | None = None
    difference: float | None = None

    def __post_init__(self) -> None:
        for name, value in (("half-width", self.half_width), ("difference", self.difference)):
            if value is not None and not 0 < value < 1:
                raise UsageError(message("power-fraction", name=name, value=value))
        if self.half_width is not None and self.difference is not None:
            raise UsageError(message("power-target"))


@dataclass(frozen=True, slots=True, kw_only=True)
class Basis:
    """The variances that an answer rests on."""

    title: str
    is_share: bool
    rate: float | None
    """The rate as it is or is assumed to be; None for a figure that is none."""
    n_cases: int
    n_categories: int
    repeats: int
    single: VarianceParts
    """Of one model's cases."""
    paired: VarianceParts | None
    """Of the differences of two; None where one was run, and another is taken to fail independently of it."""
    assumed: str

    def words(self, value: float) -> str:
        """A half-width or difference of this figure."""
        return f"{value * 100:.1f} points" if self.is_share else f"{value:.3f}"

    def shown_words(self, n_cases: int, repeats: int) -> str:
        """The difference that so many cases show with 80 % power, in words: two shares lie 100 points apart at most."""
        shown = self.shown(n_cases, repeats)
        return "no difference" if self.is_share and shown > 1 else f"a difference of {self.words(shown)}"

    def shown(self, n_cases: int, repeats: int) -> float:
        """The difference that so many cases show with 80 % power."""
        return shown_by(
            lambda difference: self._variance(difference, repeats), n_cases, self.n_categories, self._more(repeats)
        )

    def chance(self, difference: float, n_cases: int, repeats: int) -> float:
        """How often so many cases show a difference."""
        variance = self._variance(difference, repeats)
        return chance_to_show(difference, evenly(variance, n_cases, self.n_categories, self._more(repeats)))

    def half(self, n_cases: int, repeats: int) -> float:
        """How far the interval of the figure itself reaches each way."""
        return half_of(self.rate, self.single.total(repeats), n_cases)

    def n_for(self, target: Target, repeats: int) -> int | None:
        """How many cases it takes."""
        if target.difference is not None:
            variance, more = self._variance(target.difference, repeats), self._more(repeats)
            return pairs_for_difference(target.difference, variance, self.n_categories, more)
        assert target.half_width is not None
        return pairs_for_half_width(target.half_width, self.rate, self.single.total(repeats), self.n_categories)

    def _variance(self, difference: float, repeats: int) -> float:
        parts = self.paired or beside_worse(self.single, self.rate, difference)
        return parts.total(repeats)

    def _more(self, repeats: int) -> float:
        """The square of one more difference, as the intervals of differences allow for."""
        return one_more_repeat(repeats) if self.rate is not None else self._variance(0.0, repeats)


def power_lines(subject: str, target: Target, settings: Mapping[str, str] | None = None) -> list[str]:
    """The answer for a run directory, a suite's name, or an empty subject."""
    if subject and (Path(subject) / "salva.db").is_file():
        return _of_run(Path(subject), target)
    if subject and subject not in (names := [entry.name for entry in registry.entries("suite")]):
        raise UsageError(message("power-subject", subject=subject, known=", ".join(names)))
    return _of_suite(subject, target, settings or {})


def _of_run(directory: Path, target: Target) -> list[str]:
    basis = _basis_of(read_entrants([directory]))
    if basis is None:
        raise UsageError(message("power-no-variance", run=str(directory)))
    value = "" if basis.rate is None else f"; {basis.title} is {basis.rate * 100:.1f} %"
    lines = [f"{directory.name}: {_cases_of(basis)}, over {basis.n_categories} categories{value}"]
    lines += [f"assuming: {basis.assumed}", ""]
    if target.half_width is None and target.difference is None:
        return [*lines, *_shown_by(basis)]
    if target.difference is not None:
        chance = basis.chance(target.difference, basis.n_cases, basis.repeats)
        lines.append(
            f"{_cases_of(basis)} show a difference of {basis.words(target.difference)} in {chance * 100:.0f} % of runs"
        )
    lines += [_takes(basis, target, basis.repeats)]
    if basis.single.within is None:
        lines.append("what repeats would help is not known from one of them: a run with --repeats 2 shows it")
    else:
        lines += [_takes(basis, target, repeats) for repeats in _REPEATS if repeats != basis.repeats]
    return lines


def _shown_by(basis: Basis) -> list[str]:
    n, repeats = basis.n_cases, basis.repeats
    return [
        f"{basis.title} is known to ±{basis.words(basis.half(n, repeats))} under other seeds",
        f"{basis.shown_words(n, repeats)} between two models is shown with 80 % power",
        f"four times as many cases: ±{basis.words(basis.half(4 * n, repeats))}, and "
        f"{basis.shown_words(4 * n, repeats)}",
    ]


def _takes(basis: Basis, target: Target, repeats: int) -> str:
    n = basis.n_for(target, repeats)
    wanted = target.difference if target.difference is not None else target.half_width
    assert wanted is not None
    aim = "show a difference of " if target.difference is not None else f"know {basis.title} to ±"
    often = f" with {repeats} repeats" if repeats > 1 else ""
    if n is None:
        return f"no number of pairs{often} is enough to {aim}{basis.words(wanted)}"
    each = f" ({n // basis.n_categories:,} a category)" if basis.n_categories > 1 else ""
    pairs = quantity(n * repeats, "pairs")
    made = f"{pairs}: {quantity(n, 'cases')}{each}{often}" if repeats > 1 else f"{pairs}{each}"
    return f"it takes {made} to {aim}{basis.words(wanted)}" + (
        " between two models (80 % power)" if target.difference is not None else " under other seeds"
    )


def _cases_of(basis: Basis) -> str:
    return quantity(basis.n_cases, "cases") + (f" with {basis.repeats} repeats" if basis.repeats > 1 else "")


def _basis_of(entrants: Sequence[Entrant]) -> Basis | None:
    """What the models of a run say of variances; of two or more the first two are held against each other."""
    figures = [entrant.series[0] for entrant in entrants if entrant.series and _keys(entrant.series[0])]
    if not figures:
        return None
    first = figures[0]
    keys = _keys(first)
    single = _parts(first, values_by_case(first, keys))
    if single is None or (first.is_own and not single.total(1)):
        return None
    paired, assumed = None, _UNRELATED
    if len(figures) > 1 and figures[1].name == first.name:
        shared = [key for key in keys if key in set(_keys(figures[1]))]
        ours, theirs = (values_by_case(series, shared) for series in (first, figures[1]))
        both = {name: [b - a for a, b in zip(ours[name], theirs[name], strict=True)] for name in ours if name in theirs}
        if (measured := _parts(first, both)) is not None:
            paired = measured
            assumed = f"two models differ as {entrants[0].title} and {entrants[1].title} do here"
    cases = {case_id for case_id, _ in keys}
    return Basis(
        title=first.title,
        is_share=first.is_share,
        rate=None if first.is_own else figure_over(first, keys),
        n_cases=len(cases),
        n_categories=len({first.category(case_id) for case_id in cases}),
        repeats=max(1, round(len(keys) / len(cases))),
        single=single,
        paired=paired,
        assumed=assumed,
    )


def _keys(series: Series) -> list[Key]:
    return [key for key, terms in series.terms.items() if terms is not None and key[0] not in series.apart]


def _parts(series: Series, values: dict[str, list[float]]) -> VarianceParts | None:
    """Within categories; where each has but one case, within all of them."""
    by_category: dict[str, list[list[float]]] = {}
    for case_id, each in values.items():
        by_category.setdefault(series.category(case_id), []).append(each)
    return parts_of(by_category) or parts_of({"": list(values.values())})


def _of_suite(name: str, target: Target, settings: Mapping[str, str]) -> list[str]:
    """From assumptions: rates, or spreads where the suite leads with another figure."""
    n_categories, sizes = _counted(name, settings) if name else (1, {})
    own = component_facts.own_figures(name)[:1] if name else ()
    lines = [
        f"{name or 'any suite'}: nothing was run, so this rests on assumptions; salva power RUN goes by a run's own"
    ]
    lines.append(f"assuming: {_UNRELATED}; cases of a category are alike")
    if n_categories > 1:
        lines.append(f"the figure is a mean over {n_categories} categories with as many cases each")
    for basis in _assumed(
        own[0].title if own else "the rate", n_categories, is_share=not own or own[0].is_share, is_rate=not own
    ):
        lines += ["", f"where {basis.assumed}:"]
        if target.half_width is not None or target.difference is not None:
            lines.append(f"  {_takes(basis, target, 1)}")
            continue
        for size, n in (sizes or {"": 100, " ": 400, "  ": 1600}).items():
            n_said = quantity(n, "cases")
            called = f"--size {size.strip()}, {n_said}" if size.strip() else n_said
            lines.append(
                f"  {called}: ±{basis.words(basis.half(n, 1))}, a difference of {basis.words(basis.shown(n, 1))}"
            )
    return lines


def _assumed(title: str, n_categories: int, *, is_share: bool, is_rate: bool) -> Iterator[Basis]:
    for given in _RATES if is_rate else _DEVIATIONS:
        single = VarianceParts(between=given * (1 - given) if is_rate else given**2, within=None)
        said = (
            f"{title} is {given * 100:.0f} %" if is_rate else f"a case's {title} has a standard deviation of {given:g}"
        )
        yield Basis(
            title=title,
            is_share=is_share,
            rate=given if is_rate else None,
            n_cases=0,
            n_categories=n_categories,
            repeats=1,
            single=single,
            paired=None,
            assumed=said,
        )


def _counted(name: str, settings: Mapping[str, str]) -> tuple[int, dict[str, int]]:
    """Over how many categories a suite averages, and how many cases its smaller sizes have."""
    suite = registry.load("suite", name)
    given = {key.removeprefix("suite."): value for key, value in settings.items()}
    built, apart = suite(parse_options(options_of(suite), given, "suite")), component_facts.suite_about(name).apart
    has_own = bool(component_facts.own_figures(name))
    sizes: dict[str, int] = {}
    categories: set[str] = set()
    for size in suite.sizes[:_N_SIZES]:
        counted = [case for case in built.cases(size) if not is_apart(case, apart)]
        sizes[size] = len(counted)
        categories |= {case.category for case in counted}
    return 1 if has_own else max(1, len(categories)), sizes
