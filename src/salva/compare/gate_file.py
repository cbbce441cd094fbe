"""SPEC.toml of `salva gate` to a GateSpec, strictly: a key nobody knows, a wrong type or a missing rule is an error.

Nothing is loaded and nothing is run. Paths in the file are relative to the file.
"""

from __future__ import annotations

import tomllib
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from salva.errors import UsageError, unknown_name
from salva.files.outfiles import safe_name
from salva.runs.ask import Ask
from salva.runs.gate import MIN_DECIDED

OUT = "salva-gate"
_ENDS = ("lower", "point", "upper")
_RATES = ("wrong", "inconsistent", "both_wrong")
_TOP = ("out", "plugin", "candidate", "baseline", "parts", "rules", "suite")
_SIDE = ("model", "set")
_PARTS = ("detector", "reader", "embedder", "judge", "check", "counts", "seed", "set")
_RULES = ("fail_if_worse", "max_failure_rate", "gate_on", "gate_rate", "min_decided")
_SUITE = ("name", "title", "size", "repeats", "control", "only", "baseline", *_PARTS, *_RULES)


@dataclass(frozen=True, slots=True, kw_only=True)
class Side:
    """The candidate, or the model it is held against."""

    model: str
    settings: Mapping[str, str] = field(default_factory=dict)
    """Options of the model, as --set has them."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Rules:
    """What a suite must come to; None where nothing is asked."""

    fail_if_worse: float | None = None
    """By how much the candidate may be worse than the baseline, on the seeds interval."""
    max_failure_rate: float | None = None
    gate_on: str = "lower"
    gate_rate: str = ""
    min_decided: int = MIN_DECIDED


@dataclass(frozen=True, slots=True, kw_only=True)
class SuiteGate:
    """One suite of a gate."""

    title: str
    """What it is called in tables and folders; no other suite of the file is."""
    ask: Ask
    """What is asked of both sides; the model is left out."""
    rules: Rules
    baseline: Path | None = None
    """A stored run to hold the candidate against; None: the baseline's model is run."""

    def asked_of(self, side: Side) -> Ask:
        """The same of one model."""
        return replace(self.ask, models=(side.model,), settings={**self.ask.settings, **side.settings})


@dataclass(frozen=True, slots=True, kw_only=True)
class GateSpec:
    """A whole gate file."""

    path: Path
    out: Path
    candidate: Side
    baseline: Side | None
    suites: tuple[SuiteGate, ...]
    plugins: tuple[str, ...] = ()
    """Loose files with components, as FILE:CLASS."""


def read_gate(path: Path) -> GateSpec:
    """The gate that a file describes; UsageError where it does not say it plainly."""
    try:
        content = tomllib.loads(path.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise UsageError(f"{path}: {error}; a gate is a TOML file, see docs/how-to/test-in-ci.md") from error
    top = _Table(path, "the file", content, _TOP)
    candidate = _side(top, "candidate")
    if candidate is None:
        raise top.error('[candidate] is missing; say the candidate, as in [candidate] model = "pocket"')
    baseline = _side(top, "baseline")
    parts, rules = top.table("parts", _PARTS), top.table("rules", _RULES)
    suites = tuple(_suite(table, parts, rules, baseline) for table in top.tables("suite", _SUITE))
    if not suites:
        raise top.error('no suite is named; add one, as in [[suite]] name = "metalogic"')
    titles = [suite.title for suite in suites]
    for title in titles:
        if titles.count(title) > 1:
            raise top.error(f'{title!r} stands for two suites; tell them apart with title = "..." in their [[suite]]')
    return GateSpec(
        path=path,
        out=path.parent / top.text("out", OUT),
        candidate=candidate,
        baseline=baseline,
        suites=suites,
        plugins=tuple(str(path.parent / source) for source in top.texts("plugin")),
    )


class _Table:
    """One table of the file; whatever is taken from it is what it should be."""

    def __init__(self, path: Path, where: str, content: object, allowed: Collection[str]) -> None:
        self.path, self._where = path, where
        if not isinstance(content, dict):
            raise UsageError(f"{path}: {where} is {_short(content)}, where a table is wanted")
        self._content: dict[str, Any] = {}
        for key, value in content.items():
            name = key.replace("-", "_")
            if name not in allowed:
                raise self.error(str(unknown_name(f"key of {where}", key, allowed)))
            if name in self._content:
                raise self.error(f"{name!r} is said twice in {where}")
            self._content[name] = value

    def error(self, problem: str) -> UsageError:
        """A problem with this file."""
        return UsageError(f"{self.path}: {problem}")

    def has(self, name: str) -> bool:
        """Whether something is said."""
        return name in self._content

    def text(self, name: str, default: str = "", choices: Collection[str] = ()) -> str:
        """A text, or one of several."""
        value = self._content.get(name, default)
        wanted = f"one of {', '.join(choices)}" if choices else "a text"
        if not isinstance(value, str) or (name in self._content and not value):
            raise self._wrong(name, value, wanted)
        if choices and value != default and value not in choices:
            raise self._wrong(name, value, wanted)
        return value

    def texts(self, name: str) -> tuple[str, ...]:
        """A text or a list of them."""
        value = self._content.get(name, [])
        listed = [value] if isinstance(value, str) else value
        if not isinstance(listed, list) or not all(isinstance(text, str) and text for text in listed):
            raise self._wrong(name, value, "a text or a list of texts")
        return tuple(listed)

    def size(self, name: str) -> str:
        """A named size or a number of cases; empty where none is given."""
        if name not in self._content:
            return ""
        value = self._content[name]
        if isinstance(value, bool) or not isinstance(value, str | int) or not str(value):
            raise self._wrong(name, value, "a named size or a number of cases")
        return str(value)

    def whole(self, name: str, default: int, least: int | None = None) -> int:
        """A whole number."""
        value = self._content.get(name, default)
        if isinstance(value, bool) or not isinstance(value, int) or (least is not None and value < least):
            raise self._wrong(name, value, "a whole number" + ("" if least is None else f" of {least} or more"))
        return value

    def fraction(self, name: str) -> float | None:
        """A number from 0 to 1, where one is said."""
        value = self._content.get(name)
        if value is None:
            return None
        is_number = isinstance(value, int | float) and not isinstance(value, bool)
        if not is_number or not 0 <= value <= 1:
            raise self._wrong(name, value, "a number, 0 to 1 (0.05 is five points)")
        return float(value)

    def flag(self, name: str) -> bool:
        """True or false."""
        value = self._content.get(name, False)
        if not isinstance(value, bool):
            raise self._wrong(name, value, "true or false")
        return value

    def settings(self, name: str = "set") -> dict[str, str]:
        """ROLE.OPTION to value, as --set has them."""
        value = self._content.get(name, {})
        if not isinstance(value, dict):
            raise self._wrong(name, value, "a table of ROLE.OPTION = value")
        return {key: _typed(part) for key, part in _flat(value).items()}

    def table(self, name: str, allowed: Collection[str]) -> _Table:
        """A table in it; an empty one where nothing is said."""
        return _Table(self.path, f"[{name}]", self._content.get(name, {}), allowed)

    def tables(self, name: str, allowed: Collection[str]) -> list[_Table]:
        """A list of tables."""
        value = self._content.get(name, [])
        if not isinstance(value, list):
            raise self.error(
                f"[{name}] is one table, where [[{name}]] is wanted: two brackets, as there may be several"
            )
        return [_Table(self.path, f"[[{name}]]", table, allowed) for table in value]

    def _wrong(self, name: str, value: object, wanted: str) -> UsageError:
        return self.error(f"{name} in {self._where} is {_short(value)}, where {wanted} is wanted")


def _side(top: _Table, name: str) -> Side | None:
    if not top.has(name):
        return None
    table = top.table(name, _SIDE)
    if not table.has("model"):
        raise table.error(f"model is missing in [{name}]; name one, as --model of salva run does")
    settings = table.settings()
    foreign = next((key for key in settings if not key.startswith("model.")), None)
    if foreign is not None:
        raise table.error(
            f"{foreign!r} in [{name}.set] is no option of the model; what both sides share stands in [parts.set]"
        )
    return Side(model=table.text("model"), settings=settings)


def _suite(table: _Table, parts: _Table, rules: _Table, baseline: Side | None) -> SuiteGate:
    if not table.has("name"):
        raise table.error('a [[suite]] has no name; say which one, as in name = "metalogic"')
    name = table.text("name")
    title = table.text("title", name)
    if safe_name(title) != title:
        raise table.error(f"title is {title!r}; folders are called so, so write a-z, 0-9 and hyphens alone")
    stored = table.text("baseline")
    suite = SuiteGate(
        title=title,
        ask=_ask(name, table, parts),
        rules=_rules(table, rules),
        baseline=table.path.parent / stored if stored else None,
    )
    if suite.rules.fail_if_worse is None and suite.rules.max_failure_rate is None:
        raise table.error(
            f"{title!r} has no rule, so that nothing could fail; add fail_if_worse = 0.05 or max_failure_rate = 0.5 "
            "under [rules] or in its [[suite]]"
        )
    if suite.rules.fail_if_worse is not None and baseline is None and suite.baseline is None:
        raise table.error(
            f'{title!r} must not be worse than a baseline, and there is none; add [baseline] model = "...", or '
            'baseline = "RUN" in its [[suite]] for a run that is stored'
        )
    return suite


def _ask(name: str, own: _Table, parts: _Table) -> Ask:
    def said(key: str) -> _Table:
        return own if own.has(key) else parts

    return Ask(
        suite=name,
        detector=said("detector").text("detector"),
        reader=said("reader").text("reader"),
        embedder=said("embedder").text("embedder"),
        judges=said("judge").texts("judge"),
        check=said("check").text("check"),
        counts=said("counts").text("counts", choices=("exact", "at-least")),
        seed=said("seed").whole("seed", 0),
        size=own.size("size"),
        repeats=own.whole("repeats", 1, least=1),
        control=own.flag("control"),
        only=own.texts("only"),
        settings={**parts.settings(), **own.settings()},
    )


def _rules(own: _Table, shared: _Table) -> Rules:
    def said(key: str) -> _Table:
        return own if own.has(key) else shared

    return Rules(
        fail_if_worse=said("fail_if_worse").fraction("fail_if_worse"),
        max_failure_rate=said("max_failure_rate").fraction("max_failure_rate"),
        gate_on=said("gate_on").text("gate_on", "lower", choices=_ENDS),
        gate_rate=said("gate_rate").text("gate_rate", choices=_RATES),
        min_decided=said("min_decided").whole("min_decided", MIN_DECIDED, least=1),
    )


def _flat(table: Mapping[str, Any], prefix: str = "") -> dict[str, Any]:
    """Tables in tables as one, with dots between."""
    flat: dict[str, Any] = {}
    for key, value in table.items():
        flat |= _flat(value, f"{prefix}{key}.") if isinstance(value, dict) else {prefix + key: value}
    return flat


def _typed(value: object) -> str:
    """A value as a flag takes it."""
    if isinstance(value, list):
        return ",".join(map(_typed, value))
    return str(value).lower() if isinstance(value, bool) else str(value)


def _short(value: object) -> str:
    text = repr(value)
    return text if len(text) <= 60 else f"{text[:57]}..."
