"""SPEC.toml of `salva gate` to a GateSpec; an unknown key, a wrong type or a missing rule is an error.

Nothing is loaded and nothing is run. Paths in the file are relative to the file.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Any, Literal

from msgspec import Meta, Struct, structs

from salva.compare.margin import Demands
from salva.core.decoding import decoded
from salva.core.run_spec import ComponentSpec, RunSpec
from salva.errors import UsageError
from salva.files.infiles import file_text
from salva.files.outfiles import safe_name
from salva.messages import message
from salva.results.gate import MIN_DECIDED, Gate

OUT = "salva-gate"
_Share = Annotated[float, Meta(ge=0, le=1)]
_Count = Annotated[int, Meta(ge=1)]
_Name = Annotated[str, Meta(min_length=1)]


class _Model(Struct, frozen=True, forbid_unknown_fields=True):
    """[candidate] and [baseline]."""

    model: _Name
    set: dict[str, Any] = {}


class _ComponentTable(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """[parts], and the same in a [[suite]]; None where nothing is given."""

    detector: _Name | None = None
    reader: _Name | None = None
    embedder: _Name | None = None
    judge: _Name | tuple[_Name, ...] | None = None
    check: str | None = None
    published: bool | None = None
    counts: Literal["exact", "at-least"] | None = None
    seed: int | None = None
    set: dict[str, Any] = {}


class GateRules(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """[rules], and the same in a [[suite]]: what a suite must come to; None where nothing is given."""

    fail_if_worse: _Share | None = None
    max_failure_rate: _Share | None = None
    gate: dict[str, float] | None = None
    gate_on: Literal["interval", "lower", "point", "upper"] | None = None
    min_decided: _Count | None = None
    max_errors: Annotated[int, Meta(ge=0)] | None = None

    @property
    def limits(self) -> Gate:
        """The limits on the candidate's own figures."""
        return Gate(
            max_failure_rate=self.max_failure_rate,
            metrics=self.gate or {},
            on=self.gate_on or "interval",
            min_decided=self.min_decided or MIN_DECIDED,
        )

    @property
    def demands(self) -> Demands:
        """What its comparison with the baseline is held against."""
        return Demands(fail_if_worse=self.fail_if_worse, gate_on=self.limits.on, min_decided=self.limits.min_decided)


class _SuiteTable(_ComponentTable, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """[[suite]]."""

    name: _Name
    title: str = ""
    size: str | _Count = ""
    repeats: _Count = 1
    control: bool = False
    only: str | tuple[str, ...] = ()
    baseline: str = ""
    # As in GateRules: a Struct has one base alone.
    fail_if_worse: _Share | None = None
    max_failure_rate: _Share | None = None
    gate: dict[str, float] | None = None
    gate_on: Literal["interval", "lower", "point", "upper"] | None = None
    min_decided: _Count | None = None
    max_errors: Annotated[int, Meta(ge=0)] | None = None


class _File(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The whole file."""

    candidate: _Model
    suite: Annotated[tuple[_SuiteTable, ...], Meta(min_length=1)]
    baseline: _Model | None = None
    parts: _ComponentTable = _ComponentTable()
    rules: GateRules = GateRules()
    out: _Name = OUT
    plugin: str | tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class GateModel:
    """The candidate, or the model it is compared with."""

    model: str
    settings: Mapping[str, str] = field(default_factory=dict)
    """Options of the model, as --set has them."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SuiteGate:
    """One suite of a gate."""

    title: str
    """What it is called in tables and folders; no other suite of the file is called so."""
    spec: RunSpec
    """What is asked of both sides; the model is left out."""
    rules: GateRules
    baseline: Path | None = None
    """A stored run to compare the candidate with; None: the baseline's model is run."""

    def spec_of(self, side: GateModel) -> RunSpec:
        """The same of one model."""
        models = (ComponentSpec.parse("model", side.model),)
        return structs.replace(self.spec, models=models, settings={**self.spec.settings, **side.settings})


@dataclass(frozen=True, slots=True, kw_only=True)
class GateSpec:
    """A whole gate file."""

    path: Path
    out: Path
    candidate: GateModel
    baseline: GateModel | None
    suites: tuple[SuiteGate, ...]
    plugins: tuple[str, ...] = ()
    """Loose files with components, as FILE:CLASS."""


def read_gate(path: Path) -> GateSpec:
    """The gate that a file describes; UsageError where it is not valid."""
    content = decoded(file_text(path), _File, path, "toml")
    titles = [suite.title or suite.name for suite in content.suite]
    if twice := next((title for title in titles if titles.count(title) > 1), ""):
        raise _invalid(path, "suite", f"{twice!r} stands for two suites; give them different titles")
    candidate = _side(path, "candidate", content.candidate)
    return GateSpec(
        path=path,
        out=path.parent / content.out,
        candidate=candidate,
        baseline=_side(path, "baseline", content.baseline) if content.baseline else None,
        suites=tuple(_suite(path, content, suite) for suite in content.suite),
        plugins=tuple(str(path.parent / source) for source in _texts(content.plugin)),
    )


def _invalid(path: Path, where: str, why: str) -> UsageError:
    return UsageError(message("file-invalid", path=str(path), where=where, why=why))


def _texts(value: str | tuple[str, ...] | None) -> tuple[str, ...]:
    return (value,) if isinstance(value, str) else value or ()


def _side(path: Path, where: str, given: _Model) -> GateModel:
    settings = _flat(given.set)
    if foreign := next((key for key in settings if not key.startswith("model.")), None):
        why = f"{foreign!r} is no option of the model; what both sides share stands in [parts.set]"
        raise _invalid(path, f"{where}.set", why)
    return GateModel(model=given.model, settings=settings)


def _suite(path: Path, content: _File, own: _SuiteTable) -> SuiteGate:
    title = own.title or own.name
    if safe_name(title) != title:
        raise _invalid(path, "suite.title", f"{title!r} names folders; write a-z, 0-9 and hyphens alone")
    rules = GateRules(**_given(GateRules, own, content.rules))
    if rules.fail_if_worse is None and not rules.limits:
        why = f"{title!r} has no rule; add fail_if_worse = 0.05, max_failure_rate = 0.5 or gate = {{ METRIC = X }}"
        raise _invalid(path, "rules", why)
    if rules.fail_if_worse is not None and content.baseline is None and not own.baseline:
        why = f"{title!r} must not be worse than a baseline; add [baseline] with a model, or baseline = 'RUN'"
        raise _invalid(path, "baseline", why)
    parts = _given(_ComponentTable, own, content.parts)
    spec = RunSpec.of(
        own.name,
        judges=_texts(parts.pop("judge", ())),
        settings={**_flat(content.parts.set), **_flat(own.set)},
        size=str(own.size),
        repeats=own.repeats,
        control=own.control,
        only=_texts(own.only),
        **{name: value for name, value in parts.items() if name != "set"},
    )
    return SuiteGate(title=title, spec=spec, rules=rules, baseline=path.parent / own.baseline if own.baseline else None)


def _given(kind: type[Struct], own: Struct, shared: Struct) -> dict[str, Any]:
    """What a suite gives itself, else what stands for all of them."""
    both = {name: (getattr(own, name), getattr(shared, name)) for name in kind.__struct_fields__}
    return {
        name: common if mine is None else mine for name, (mine, common) in both.items() if (mine, common) != (None,) * 2
    }


def _flat(table: Mapping[str, Any], prefix: str = "") -> dict[str, str]:
    """Tables in tables as one, with dots between, and values as a flag takes them."""
    flat: dict[str, str] = {}
    for key, value in table.items():
        flat |= _flat(value, f"{prefix}{key}.") if isinstance(value, dict) else {prefix + key: _typed(value)}
    return flat


def _typed(value: object) -> str:
    if isinstance(value, list):
        return ",".join(map(_typed, value))
    return str(value).lower() if isinstance(value, bool) else str(value)
