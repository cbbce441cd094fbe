"""What registered components say about themselves, for those who know them by name only.

A component that is not installed says nothing: a report must not need the plugins that made its run.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from msgspec import structs

from salva.core.about import About, about_of
from salva.core.fingerprint import Json
from salva.core.judgements import RunCheck
from salva.core.own_figure import OwnFigure
from salva.core.run_spec import ComponentSpec, RunSpec
from salva.core.scoring import PairScoring
from salva.errors import PluginError, SalvaError
from salva.registry import BUILT_IN, ComponentEntry, bind, defaults, entries, load, load_all
from salva.results.trust import ObserverFacts


def installed_version_of(role: str, name: str) -> str:
    """The version of a component here; empty where it is not installed."""
    try:
        return str(load(role, name).version)
    except SalvaError:
        return ""


def run_check(name: str, options: Mapping[str, Json]) -> RunCheck:
    """What a check that took part in a run says of itself; nothing where it is not installed."""
    about = _said_by("check", name)
    return RunCheck(compares=about.compares, options=options, needs=about.needs_roles)


def suite_about(name: str) -> About:
    """What a suite says of itself; nothing where it is not installed, since a report must not need it."""
    return _said_by("suite", name)


def observer_facts(asked: RunSpec, model: str) -> ObserverFacts:
    """What is known about the detector of a run and the images of one of its models."""
    detector = next((part for part in asked.observers if part.role == "detector"), None)
    if detector is None:
        return ObserverFacts()
    about = _said_by("detector", detector.registered_name)
    generator = next((part for part in asked.models if part.name == model), None)
    return ObserverFacts(
        detector=detector.name,
        domain=f"images by {' or '.join(about.domain)}",
        is_outside_domain=bool(about.domain) and (generator is None or _origin(generator) not in about.domain),
        recall=about.recall,
    )


def _origin(model: ComponentSpec) -> str:
    """The generator whose images a model gives: its own, or what the user says of a folder."""
    inner = str(model.options.get("model", "")) if _said_by("model", model.registered_name).wraps else ""
    return str(model.options.get("made_by") or inner.partition("/")[0] or model.registered_name)


def own_figures(suite: str) -> tuple[OwnFigure, ...]:
    """The figures of a suite that models are compared by, besides the failure rate."""
    metrics = load_all("metric", suite).values()
    return tuple(figure for metric in metrics for figure in about_of(metric).figures)


def inner_model(asked: RunSpec, model: str) -> str:
    """The model of a run that another one of it is put round, with the same options; empty where there is none."""
    outer = next((component for component in asked.models if component.name == model), None)
    if outer is None or not _said_by("model", outer.registered_name).wraps:
        return ""
    name = str(outer.options.get("model", ""))
    pairs = outer.options.get("inner")
    options = dict(str(pair).split("=", 1) for pair in pairs) if isinstance(pairs, list) else {}
    try:
        inside = bind(ComponentSpec(role="model", name=name, options=options), is_foreign=True).spec()
    except SalvaError:
        return ""
    wanted = (inside.name, dict(inside.options))
    return next((model.name for model in asked.models if (model.full_name, dict(model.options)) == wanted), "")


def is_shown_pictures(asked: RunSpec) -> bool:
    """Whether a judge of a run is shown images; one that answers from boxes never sees text in them."""
    names = [o.registered_name for o in asked.observers if o.role == "judge"]
    return any("detector" not in _said_by("judge", name).needs_roles for name in names)


def _said_by(role: str, name: str) -> About:
    try:
        return about_of(load(role, name))
    except SalvaError:
        return About()


def pair_scorings() -> dict[str, PairScoring]:
    """Checks that score pictures against texts, with what they say about such scores."""
    ours = [entry.name for entry in entries("check") if entry.distribution != "salva" or _scores_pairs(entry)]
    scorings = {name: about_of(check).scoring for name in ours if (check := _loadable("check", name))}
    return {name: scoring for name, scoring in scorings.items() if scoring is not None}


def _scores_pairs(entry: ComponentEntry) -> bool:
    ours = BUILT_IN[entry.role].get(entry.name)
    return ours is not None and ours.scores_pairs


def _loadable(role: str, name: str) -> type[Any] | None:
    try:
        return load(role, name)
    except PluginError:
        return None


def widened(asked: RunSpec) -> RunSpec:
    """What was asked in as few options as say it, of the whole suite: there a case of a sample is found again."""
    size = asked.size
    if size.isdecimal():
        try:
            sizes = tuple(load("suite", asked.suite.name).sizes)
            size = "full" if "full" in sizes else str(sizes[-1])
        except SalvaError:
            size = "full"
    return structs.replace(asked.without_defaults(defaults), size=size)
