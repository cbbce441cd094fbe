"""The report as one HTML file that needs nothing else: no server, no network, no second file.

Takes a run's records and pictures. Prompts, labels and text read from images are data: the
template escapes them, no script is built from them, and the page's own policy lets nothing
run or load but the one stylesheet and the one script it was made with.
"""

from __future__ import annotations

import base64
import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path

from jinja2 import Environment, StrictUndefined
from markupsafe import Markup

from salva.assets.files import read_asset
from salva.core.chart import Chart
from salva.core.source import ImageSource, RunRecords
from salva.core.table import Cell, Table
from salva.core.verdict import observers_text
from salva.figures.drawing import render_chart
from salva.figures.formats import cell_text, figure_text, heading, interval_text, is_share, lookup, percent
from salva.files.outfiles import write_text
from salva.report import charts
from salva.report.chart_files import all_charts, write_figures
from salva.report.gallery import MAX_EXHIBITS, Exhibit, Gallery, make_gallery
from salva.report.summary import ModelSummary, Summary, summarise_records
from salva.store.queries import open_source

_TEMPLATES = files("salva.report") / "templates"
_MAX_CHOICES = 24
"""A label with more values than this is searched for, not chosen from a list."""
_PAGE_SIZE = 10
_MAX_NAMES = 6
"""Of more raters than this the rest are counted."""
_DRAWN_BY_THE_PAGE = ("law-by-modifier", "by-law", "by-count")
"""The page draws these itself, with cells that can be chosen; as pictures they are for files."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Filter:
    """A choice over the exhibits."""

    name: str
    title: str
    values: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class DrawnChart:
    """A chart and its picture."""

    chart: Chart
    uri: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelView:
    """One model's figures as the page shows them."""

    summary: ModelSummary
    heat: charts.HeatMap | None
    curve: charts.Curve | None
    laws: tuple[charts.Bar, ...]
    categories: tuple[charts.Bar, ...]
    and_or: tuple[charts.Bar, ...]
    errors: tuple[charts.Bar, ...]
    control: Mapping[str, Cell] | None
    n_by_truth: int
    """Cases whose headline is truth because several worlds fit."""


def write_html(directory: Path, out: Path, limit: int = MAX_EXHIBITS) -> None:
    """Write the report of a run."""
    with open_source(directory) as (records, images):
        page = render_html(records, images, limit)
        write_figures(summarise_records(records), out.parent / "figures")
    write_text(out, page)


def render_html(records: RunRecords, images: ImageSource, limit: int = MAX_EXHIBITS) -> str:
    """The report as text; `limit` caps the counterexamples that are embedded."""
    summary = summarise_records(records)
    gallery = make_gallery(records, images, limit)
    style, script = _asset("report.css"), _asset("report.js")
    environment = Environment(
        autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True, keep_trailing_newline=True
    )
    environment.filters |= {"percent": percent, "heading": heading}
    environment.globals |= {
        "cell_text": cell_text,
        "is_number": _is_number,
        "is_share": is_share,
        "interval_text": interval_text,
        "observers_text": observers_text,
        "figure_text": figure_text,
        "is_imported": bool(summary.asked.imported),
        "plot": {"width": charts.PLOT_WIDTH, "height": charts.PLOT_HEIGHT},
    }
    return environment.from_string(_asset("report.html.j2")).render(
        summary=summary,
        facts=_facts(records),
        views=[_view(one) for one in summary.by_model],
        charts=_charts(summary),
        models_table=summary.models_table() if len(summary.by_model) > 1 else None,
        joined_tables=summary.joined_tables(),
        gallery=gallery,
        featured=_featured(gallery),
        filters=_filters(gallery),
        page_size=_PAGE_SIZE,
        # Both are files of ours, whole and constant: nothing of the run is ever put into them.
        style=Markup(style),
        script=Markup(script),
        policy=_policy(style, script),
        audit=_audit(summary),
        exhibit_labels=_exhibit_labels,
    )


def _charts(summary: Summary) -> dict[str, list[DrawnChart]]:
    """The charts of each model, and under the empty name those of all models together."""
    drawn: dict[str, list[DrawnChart]] = {"": []}
    for model, chart in all_charts(summary):
        if chart.name in _DRAWN_BY_THE_PAGE:
            continue
        uri = "data:image/svg+xml;base64," + base64.b64encode(render_chart(chart, has_title=False)).decode("ascii")
        drawn.setdefault(model, []).append(DrawnChart(chart=chart, uri=uri))
    return drawn


def _view(model: ModelSummary) -> ModelView:
    control = model.table("control")
    return ModelView(
        summary=model,
        heat=charts.heat_map(model),
        curve=charts.number_curve(model),
        laws=charts.rate_bars(model.table("by law"), "law"),
        categories=charts.rate_bars(model.table("by category"), "category"),
        and_or=charts.rate_bars(model.table("and against or"), "modifier"),
        errors=charts.error_bars(model),
        control=lookup(control) if control else None,
        n_by_truth=sum(model.open_cases.values()),
    )


def _featured(gallery: Gallery) -> Exhibit | None:
    """The pair to lead with: one where one picture is right and the other is not, if there is one."""
    shown = gallery.exhibits[: gallery.n_shown]
    clear = (exhibit for exhibit in shown if sum(bool(shot.failures) for shot in exhibit.shots) == 1)
    return next(clear, shown[0] if shown else None)


def _facts(records: RunRecords) -> list[tuple[str, str]]:
    """What was asked, in the words of the command line."""
    asked = records.asked
    facts = [("cases", str(len(records.cases)))]
    if asked.size:
        facts += [("size", asked.size), ("repeats", str(asked.repeats)), ("seed", str(asked.seed))]
    by_role: dict[str, list[str]] = {}
    for observer in asked.observers:
        by_role.setdefault(observer.role, []).append(observer.name)
    for role, names in by_role.items():
        more = f" and {len(names) - _MAX_NAMES} more" if len(names) > _MAX_NAMES else ""
        facts.append((role, ", ".join(names[:_MAX_NAMES]) + more))
    if asked.control:
        facts.append(("control", "crossed seeds"))
    if asked.headline:
        facts.append(("headline", asked.headline))
    if records.name:
        facts.append(("run", records.name))
    return facts


def _audit(summary: Summary) -> str:
    """How far the embedded detector was checked on the embedded model's pictures, where a run used both."""
    observers = {(observer.role, observer.name) for observer in summary.asked.observers}
    if "pocket" not in summary.models or ("detector", "pocket") not in observers:
        return ""
    audit = json.loads(read_asset("audits/pocket.json"))
    return (
        f"{audit['n_pictures']} pictures painted by pocket were looked at by {audit['by']}. The pocket detector said "
        f"exactly what was seen for {audit['n_right']} of them; sheets and labels are in docs/audit/pocket, what came "
        "out in docs/explanation/pocket-audit.md of salva's repository."
    )


def _filters(gallery: Gallery) -> list[Filter]:
    """The labels worth choosing by, then what every exhibit has."""
    labels: dict[str, dict[str, None]] = {}
    for exhibit in gallery.exhibits:
        for name, value in exhibit.case.labels.items():
            labels.setdefault(name, {})[value] = None
    chosen = [
        Filter(name=f"label:{name}", title=name, values=tuple(sorted(values, key=_natural)))
        for name, values in labels.items()
        if 1 < len(values) <= _MAX_CHOICES and name != "entities"
    ]
    errors = sorted({error for exhibit in gallery.exhibits for error in exhibit.verdict.errors})
    always = (
        ("error", "error type", errors),
        ("kind", "kind", sorted({exhibit.kind for exhibit in gallery.exhibits})),
        ("relation", "decided by", sorted({exhibit.verdict.relation for exhibit in gallery.exhibits})),
        ("model", "model", sorted({exhibit.verdict.model for exhibit in gallery.exhibits})),
    )
    return chosen + [
        Filter(name=name, title=title, values=tuple(values)) for name, title, values in always if len(values) > 1
    ]


def _exhibit_labels(exhibit: Exhibit) -> str:
    """Every (filter, value) an exhibit answers to, one a line: names first, then a tab, then the value."""
    pairs = [(f"label:{name}", value) for name, value in exhibit.case.labels.items()]
    pairs += [("error", error) for error in exhibit.verdict.errors]
    pairs += [
        ("kind", exhibit.kind),
        ("relation", exhibit.verdict.relation),
        ("model", exhibit.verdict.model),
    ]
    return "\n".join(f"{_one_line(name)}\t{_one_line(value)}" for name, value in pairs)


def _one_line(text: str) -> str:
    return " ".join(text.split())


def _natural(value: str) -> tuple[int, str]:
    return (int(value), "") if value.isdecimal() else (-1, value)


def _is_number(table: Table, column: str) -> bool:
    values: Sequence[Cell] = [row[table.columns.index(column)] for row in table.rows]
    return any(isinstance(value, int | float) for value in values)


def _asset(name: str) -> str:
    return (_TEMPLATES / name).read_text("utf-8")


def _policy(style: str, script: str) -> str:
    """Nothing may load or run but data: pictures and the two blocks with these hashes."""
    return (
        f"default-src 'none'; img-src data:; style-src '{_hash(style)}'; script-src '{_hash(script)}'; "
        "base-uri 'none'; form-action 'none'"
    )


def _hash(text: str) -> str:
    return "sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode("ascii")
