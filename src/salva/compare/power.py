"""What so many pairs can detect, and how many it takes: from a run's own variances, or from assumptions that are said.

A run directory, a suite's name or nothing comes in; lines for people go out. Where only one model was run, two models
are taken to fail independently of each other, which is the worst case for a paired comparison.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from salva import component_facts, registry
from salva.charts.formats import percent_text
from salva.compare.entrants import Entrant, read_entrants
from salva.compare.pairing import figure_over
from salva.compare.series import Key, Series, failure_series
from salva.core.about import options_of
from salva.core.grouping import grouped
from salva.core.options import parse_options
from salva.core.quantity import quantity
from salva.errors import UsageError
from salva.messages import message
from salva.results.rates import MACRO
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
_SIZES = {"": 100, " ": 400, "  ": 1600}
_N_SIZES = 2
"""The named sizes of a suite whose cases are counted: larger ones take long to make."""
_INDEPENDENT = "the other model fails independently of this one"


@dataclass(frozen=True, slots=True, kw_only=True)
class Target:
    """What is to be reached; neither: what can be reached is said."""

    half_width: float | None = None
    difference: float | None = None

    def __post_init__(self) -> None:
        for name, value in (("half-width", self.half_width), ("difference", self.difference)):
            if value is not None and not 0 < value < 1:
                raise UsageError(message("power-fraction", name=name, value=value))
        if self.half_width is not None and self.difference is not None:
            raise UsageError(message("options-conflict", first="--half-width", second="--difference", why="give one"))

    @property
    def is_set(self) -> bool:
        """Whether there is one."""
        return self.half_width is not None or self.difference is not None


@dataclass(frozen=True, slots=True, kw_only=True)
class Basis:
    """The variances that an answer rests on."""

    rate: float
    """The failure rate as it is, or is assumed to be."""
    n_cases: int = 0
    n_categories: int
    repeats: int = 1
    single: VarianceParts
    """Of one model's cases."""
    paired: VarianceParts | None = None
    """Of the differences of two; None where another model is taken to fail independently of this one."""
    assumed: str

    def shown(self, n_cases: int, repeats: int) -> float:
        """The difference that so many cases detect with 80 % power."""
        more = one_more_repeat(repeats)
        return shown_by(lambda difference: self._variance(difference, repeats), n_cases, self.n_categories, more)

    def chance(self, difference: float, n_cases: int, repeats: int) -> float:
        """How often so many cases detect a difference."""
        variance = self._variance(difference, repeats)
        return chance_to_show(difference, evenly(variance, n_cases, self.n_categories, one_more_repeat(repeats)))

    def half(self, n_cases: int, repeats: int) -> float:
        """How far the interval of the failure rate reaches each way."""
        return half_of(self.rate, self.single, n_cases, self.n_categories, repeats)

    def n_for(self, target: Target, repeats: int) -> int | None:
        """How many cases it takes."""
        if target.difference is not None:
            variance, more = self._variance(target.difference, repeats), one_more_repeat(repeats)
            return pairs_for_difference(target.difference, variance, self.n_categories, more)
        assert target.half_width is not None
        return pairs_for_half_width(target.half_width, self.rate, self.single, self.n_categories, repeats)

    def _variance(self, difference: float, repeats: int) -> float:
        return (self.paired or beside_worse(self.single, self.rate, difference)).total(repeats)


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
    n, repeats = basis.n_cases, basis.repeats
    cases = quantity(n, "cases") + (f" with {repeats} repeats" if repeats > 1 else "")
    categories = quantity(basis.n_categories, "categories")
    lines = [f"{directory.name}: {cases}, {categories}, failure rate {percent_text(basis.rate)}"]
    lines += [f"Assumption: {basis.assumed}.", "", _precision(basis, n, repeats)]
    if not target.is_set:
        return [*lines, f"With four times as many cases: {_precision(basis, 4 * n, repeats)}"]
    if target.difference is not None:
        chance = basis.chance(target.difference, n, repeats)
        lines.append(f"A difference of {_points(target.difference)} is detected in {chance * 100:.0f} % of such runs.")
    lines.append(_takes(basis, target, repeats))
    if basis.single.within is None:
        return [*lines, "A run with --repeats 2 shows what repeats save."]
    return [*lines, *(_takes(basis, target, other) for other in _REPEATS if other != repeats)]


def _precision(basis: Basis, n_cases: int, repeats: int) -> str:
    shown = basis.shown(n_cases, repeats)
    detectable = f"{_points(shown)} (80 % power)" if shown <= 1 else "none"
    return f"Precision: ±{_points(basis.half(n_cases, repeats))}. Detectable difference: {detectable}."


def _takes(basis: Basis, target: Target, repeats: int) -> str:
    n = basis.n_for(target, repeats)
    aim = (
        f"Detecting a difference of {_points(target.difference)}"
        if target.difference is not None
        else f"A precision of ±{_points(target.half_width or 0.0)}"
    )
    often = f" with {repeats} repeats" if repeats > 1 else ""
    if n is None:
        return f"{aim} is out of reach{often}."
    details = [f"{quantity(n, 'cases')}{often}"] if repeats > 1 else []
    details += [f"{n // basis.n_categories:,} in each category"] if basis.n_categories > 1 else []
    pairs = quantity(n * repeats, "pairs")
    return f"{aim} takes about {pairs}" + (f" ({', '.join(details)})." if details else ".")


def _points(value: float) -> str:
    return f"{round(value * 100, 1):g} points"


def _basis_of(entrants: Sequence[Entrant]) -> Basis | None:
    """What the models of a run say of variances; of two or more the first two are compared."""
    made = [(entrant, series := failure_series(entrant.judged), _keys(series)) for entrant in entrants]
    decided = [(entrant, series, keys) for entrant, series, keys in made if keys]
    if not decided:
        return None
    (first, series, keys), *others = decided
    single, rate = _parts(series, _values(series, keys)), figure_over(series, keys)
    if single is None or rate is None:
        return None
    paired, assumed = None, _INDEPENDENT
    if others:
        second, other, its_keys = others[0]
        shared = [key for key in keys if key in set(its_keys)]
        ours, theirs = _values(series, shared), _values(other, shared)
        both = {name: [b - a for a, b in zip(ours[name], theirs[name], strict=True)] for name in ours}
        if (paired := _parts(series, both)) is not None:
            assumed = f"two models differ as {first.title} and {second.title} do here"
    cases = {case_id for case_id, _ in keys}
    return Basis(
        rate=rate,
        n_cases=len(cases),
        n_categories=len({series.category(case_id) for case_id in cases}),
        repeats=max(1, round(len(keys) / len(cases))),
        single=single,
        paired=paired,
        assumed=assumed,
    )


def _keys(series: Series) -> list[Key]:
    return [key for key, terms in series.terms.items() if terms is not None]


def _values(series: Series, keys: Sequence[Key]) -> dict[str, list[float]]:
    """Of each case 1 or 0 for every repeat."""
    values: dict[str, list[float]] = {}
    for key in keys:
        values.setdefault(key[0], []).extend(series.terms[key] or ())
    return values


def _parts(series: Series, values: dict[str, list[float]]) -> VarianceParts | None:
    """Within categories; where each has but one case, within all of them."""
    by_category = grouped((series.category(case_id), each) for case_id, each in values.items())
    return parts_of(by_category) or parts_of({"": list(values.values())})


def _of_suite(name: str, target: Target, settings: Mapping[str, str]) -> list[str]:
    """From assumed failure rates."""
    n_categories, sizes = _counted(name, settings) if name else (1, {})
    lines = [f"{name or 'any suite'}: assumed rates; `salva power RUN` uses a run's variances."]
    lines.append(f"Assumption: {_INDEPENDENT}.")
    if n_categories > 1:
        lines.append(f"Categories: {n_categories}, with as many cases each.")
    for basis in _assumed(n_categories):
        lines += ["", f"With {basis.assumed}:"]
        if target.is_set:
            lines.append(f"  {_takes(basis, target, 1)}")
            continue
        for size, n in (sizes or _SIZES).items():
            called = f"--size {size.strip()}, {quantity(n, 'cases')}" if size.strip() else quantity(n, "cases")
            lines.append(f"  {called}: {_precision(basis, n, 1)}")
    return lines


def _assumed(n_categories: int) -> Iterator[Basis]:
    for rate in _RATES:
        single = VarianceParts(between=rate * (1 - rate), within=None)
        yield Basis(
            rate=rate, n_categories=n_categories, single=single, assumed=f"a failure rate of {percent_text(rate)}"
        )


def _counted(name: str, settings: Mapping[str, str]) -> tuple[int, dict[str, int]]:
    """Over how many categories a suite averages, and how many cases its smaller sizes have."""
    suite = registry.load("suite", name)
    given = {key.removeprefix("suite."): value for key, value in settings.items()}
    built = suite(parse_options(options_of(suite), given, "suite"))
    sizes: dict[str, int] = {}
    categories: set[str] = set()
    for size in suite.sizes[:_N_SIZES]:
        cases = list(built.cases(size))
        sizes[size] = len(cases)
        categories |= {case.category for case in cases}
    is_macro = component_facts.suite_about(name).average == MACRO
    return max(1, len(categories)) if is_macro else 1, sizes
