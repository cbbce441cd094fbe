"""How a run was made: what was asked, what generated and observed, when, and with which salva."""

from __future__ import annotations

import json
import shlex
from collections.abc import Iterator

from salva.assets.files import asset_names, read_asset
from salva.core.command import has_python_objects, words_of
from salva.core.quantity import quantity
from salva.core.source import RunRecords
from salva.registry import defaults, entries, load
from salva.report.headline_text import unread_note
from salva.report.summary import Summary

_MAX_NAMES = 6
"""Of more raters than this the rest are counted."""


def settings_of(summary: Summary, records: RunRecords) -> Iterator[tuple[str, str]]:
    """The short facts for the head of a report: observers, seed, date."""
    for role, names in summary.observers.items():
        more = f" and {len(names) - _MAX_NAMES} more" if len(names) > _MAX_NAMES else ""
        yield role, ", ".join(names[:_MAX_NAMES]) + more
    if summary.asked.size:
        yield "seed", str(summary.asked.seed)
    if records.written_at:
        yield "date", f"{records.written_at:%Y-%m-%d %H:%M} UTC"


def methods_of(summary: Summary, records: RunRecords) -> Iterator[tuple[str, str]]:
    """Everything that somebody needs to make the run again."""
    asked = summary.asked
    yield "cases", f"{len(records.cases):,}"
    if asked.size:
        yield "size", asked.size + (f", shard {asked.shard}" if asked.shard else "")
        yield "repeats", str(asked.repeats)
    yield from settings_of(summary, records)
    yield "results by", _rule(summary)
    if asked.control:
        yield "control", "crossed seeds"
    if note := unread_note(summary):
        yield "text in images", note
    n_images = sum(model.n_images for model in summary.by_model.values())
    yield "images", f"{n_images:,}"
    for name, parts in records.parameters.items():
        yield "parameters", f"{name}: " + ", ".join(f"{part} {n:,}" for part, n in parts.items())
    costs = [model.cost_usd for model in summary.by_model.values() if model.cost_usd is not None]
    if costs:
        yield "cost", f"{costs[0]:.2f} USD, as the components report it"
    if records.name:
        yield "run", records.name
    if records.made_by:
        yield "salva", records.made_by
    if asked.size and not asked.imported and not has_python_objects(asked.models):
        yield "command", shlex.join(words_of(asked.without_defaults(defaults)))


def _rule(summary: Summary) -> str:
    """Which checks make the results."""
    counts: dict[str, int] = {}
    for model in summary.by_model.values():
        counts |= model.checks
    checks = ", ".join(f"{check} ({quantity(n, summary.unit)})" for check, n in counts.items())
    rule = str(summary.asked.rule)
    return f"{rule}: {checks}" if checks else rule


def checks_of(records: RunRecords) -> list[tuple[str, str]]:
    """The checks that judged, each with what it asks; one that is not installed is left out."""
    installed = {entry.name: entry for entry in entries("check")}
    judged = [installed[v] for v in dict.fromkeys(v.check for v in records.verdicts) if v in installed]
    texts = [(e.name, e.summary or (load("check", e.name).__doc__ or "").strip().partition("\n")[0]) for e in judged]
    return [(name, text.removeprefix("Check: ")) for name, text in texts if text]


def detector_audit(summary: Summary) -> str:
    """How far the embedded detector was checked on the embedded model's images, where a run used both."""
    detectors = {observer.name for observer in summary.asked.observers if observer.role == "detector"}
    audits = [json.loads(read_asset(name)) for name in asset_names() if name.startswith("audits/")]
    return " ".join(
        f"{audit['n_pictures']} images by {audit['model']} were labelled by {audit['by']}. The detector "
        f"{audit['detector']} agrees exactly for {audit['n_right']} of them; images and labels are in "
        f"{audit['sheets']}, results in {audit['told_in']} of salva's repository."
        for audit in audits
        if audit["model"] in summary.models and audit["detector"] in detectors
    )
