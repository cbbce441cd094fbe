"""The report as one HTML file that needs nothing else: no server, no network, no second file.

Takes a run's records and pictures. Prompts, labels and text read from images are data: the
template escapes them, no script is built from them, and the page's own policy lets nothing
run or load but the one stylesheet and the one script it was made with.
"""

from __future__ import annotations

import base64
import hashlib
import json
from collections.abc import Sequence
from dataclasses import dataclass, replace
from importlib.resources import files
from pathlib import Path

from jinja2 import Environment, StrictUndefined
from markupsafe import Markup

from salva.assets.files import asset_names, read_asset
from salva.core.chart import Chart
from salva.core.legible import legible
from salva.core.source import ImageSource, RunRecords
from salva.core.table import Cell, Table
from salva.core.verdict import observers_text
from salva.figures.drawing import draw_chart
from salva.figures.formats import cell_text, figure_text, heading, interval_text, percent
from salva.figures.svg import svg_markup
from salva.files.outfiles import write_text
from salva.registry import entries, load
from salva.report.chart_files import all_charts, is_wide, write_figures
from salva.report.gallery import MAX_EXHIBITS, Exhibit, Gallery, make_gallery
from salva.report.lead import bounds_of, interval_of, sentence_of, unread, untried, warning_of
from salva.report.summary import Summary, summarise_records
from salva.store.queries import open_source

_TEMPLATES = files("salva.report") / "templates"
_MAX_CHOICES = 24
"""A label with more values than this is searched for, not chosen from a list."""
_PAGE_SIZE = 10
_MAX_CHIP = 40
_LABEL = "label:"
_MAX_NAMES = 6
"""Of more raters than this the rest are counted."""
_WIDE, _HALF, _NARROW = 800, 520, 340
"""Charts are drawn for a whole row of the page or for half of one, and once more for a telephone."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Filter:
    """A choice over the exhibits."""

    name: str
    title: str
    values: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Figure:
    """A chart drawn for every width of the page."""

    chart: Chart
    model: str
    """Whose it is; empty for one of several models together."""
    drawings: Markup
    is_wide: bool
    tags: str
    """What all its marks choose by: the model, where there are several."""


def write_html(directory: Path, out: Path, limit: int = MAX_EXHIBITS) -> None:
    """Write the report of a run."""
    with open_source(directory) as (records, images):
        summary = summarise_records(records)
        page = _page(summary, records, images, limit)
        write_figures(summary, out.parent / "figures")
    write_text(out, page)


def render_html(records: RunRecords, images: ImageSource, limit: int = MAX_EXHIBITS) -> str:
    """The report as text; `limit` caps the counterexamples that are embedded."""
    return _page(summarise_records(records), records, images, limit)


def _page(summary: Summary, records: RunRecords, images: ImageSource, limit: int) -> str:
    gallery = make_gallery(records, images, limit)
    style, script = _asset("report.css"), _asset("report.js")
    environment = Environment(
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
        finalize=_legible,
    )
    environment.filters |= {"percent": percent, "heading": heading}
    environment.globals |= {
        "cell_text": cell_text,
        "is_number": _is_number,
        "interval_text": interval_text,
        "observers_text": observers_text,
        "figure_text": figure_text,
        "is_imported": bool(summary.asked.imported),
        "sentence_of": sentence_of,
        "bounds_of": bounds_of,
        "interval_of": interval_of,
        "untried": untried,
        "warning_of": warning_of,
    }
    return environment.from_string(_asset("report.html.j2")).render(
        summary=summary,
        facts=_facts(records),
        figures=_figures(summary, can_choose=bool(gallery.exhibits)),
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
        averaged_over=_averaged_over(summary),
        relations=_relations(records),
        exhibit_tags=_exhibit_tags,
        chips=_chips,
    )


def _figures(summary: Summary, *, can_choose: bool) -> list[Figure]:
    """Every chart in both drawings; the style shows the one that fits."""
    figures = []
    for model, chart in all_charts(summary):
        shown = chart if can_choose else replace(chart, filters={})
        roomy = svg_markup(draw_chart(shown, _WIDE if is_wide(chart) else _HALF), "roomy")
        narrow = svg_markup(draw_chart(shown, _NARROW), "narrow")
        # The writer of SVG escapes every word; its elements and attributes are its own.
        drawings = Markup(roomy + narrow)
        tags = f"model\t{_one_line(model)}" if model and len(summary.by_model) > 1 else ""
        figures.append(Figure(chart=shown, model=model, drawings=drawings, is_wide=is_wide(chart), tags=tags))
    return figures


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
        facts += [("shard", asked.shard)] if asked.shard else []
        facts += [("size", asked.size), ("repeats", str(asked.repeats)), ("seed", str(asked.seed))]
    by_role: dict[str, list[str]] = {}
    for observer in asked.observers:
        by_role.setdefault(observer.role, []).append(observer.name)
    for role, names in by_role.items():
        more = f" and {len(names) - _MAX_NAMES} more" if len(names) > _MAX_NAMES else ""
        facts.append((role, ", ".join(names[:_MAX_NAMES]) + more))
    if note := unread(asked):
        facts.append(("text in pictures", note))
    if asked.control:
        facts.append(("control", "crossed seeds"))
    if asked.headline:
        facts.append(("headline", asked.headline))
    if records.name:
        facts.append(("run", records.name))
    return facts


def _relations(records: RunRecords) -> list[tuple[str, str]]:
    """The relations that judged, each with what it asks; one that is not installed is left out."""
    installed = {entry.name for entry in entries("relation")}
    judged = [name for name in dict.fromkeys(verdict.relation for verdict in records.verdicts) if name in installed]
    sentences = [(load("relation", name).__doc__ or "").strip().partition("\n")[0] for name in judged]
    return [(name, text.removeprefix("Relation: ")) for name, text in zip(judged, sentences, strict=True) if text]


def _averaged_over(summary: Summary) -> str:
    """What the leading rates are averages over, each named once."""
    figures = [model.leading.figure for model in summary.by_model]
    return " and ".join(dict.fromkeys(figure.over for figure in figures if figure is not None)) or f"{summary.unit}"


def _audit(summary: Summary) -> str:
    """How far the embedded detector was checked on the embedded model's pictures, where a run used both."""
    detectors = {observer.name for observer in summary.asked.observers if observer.role == "detector"}
    audits = [json.loads(read_asset(name)) for name in asset_names() if name.startswith("audits/")]
    return " ".join(
        f"{audit['n_pictures']} pictures painted by {audit['model']} were looked at by {audit['by']}. The detector "
        f"{audit['detector']} said exactly what was seen for {audit['n_right']} of them; pictures and labels are in "
        f"{audit['sheets']}, what came out in {audit['told_in']} of salva's repository."
        for audit in audits
        if audit["model"] in summary.models and audit["detector"] in detectors
    )


def _filters(gallery: Gallery) -> list[Filter]:
    """The labels worth choosing by, then what every exhibit has."""
    values: dict[str, dict[str, None]] = {}
    for exhibit in gallery.exhibits:
        for name, value in _tags(exhibit):
            values.setdefault(name, {})[value] = None
    always = {"error": "error type", "kind": "kind", "relation": "decided by", "model": "model"}
    chosen = [name for name in values if name.startswith(_LABEL) and len(values[name]) <= _MAX_CHOICES]
    return [
        Filter(
            name=name,
            title=always.get(name, name.removeprefix(_LABEL)),
            values=tuple(sorted(values[name], key=_natural)),
        )
        for name in (*chosen, *always)
        if len(values.get(name, ())) > 1
    ]


def _tags(exhibit: Exhibit) -> list[tuple[str, str]]:
    """Every filter and value an exhibit answers to; a label that lists several things answers to each of them."""
    pairs = [
        (f"{_LABEL}{name}", part) for name, value in exhibit.case.labels.items() for part in value.split(",") if part
    ]
    pairs += [("error", error) for error in exhibit.verdict.errors]
    pairs += [
        ("category", exhibit.case.category),
        ("kind", exhibit.kind),
        ("relation", exhibit.verdict.relation),
        ("model", exhibit.verdict.model),
    ]
    return [(_one_line(name), _one_line(value)) for name, value in pairs]


def _exhibit_tags(exhibit: Exhibit) -> str:
    """The tags, one a line: the name first, then a tab, then the value."""
    return "\n".join(f"{name}\t{value}" for name, value in _tags(exhibit))


def _chips(exhibit: Exhibit) -> list[tuple[str, str]]:
    """Labels as short words, each with its name; a bare number says what it counts."""
    labels = exhibit.case.labels.items()
    short = [(name, value) for name, value in labels if "," not in value and len(value) <= _MAX_CHIP]
    return [(name, f"{name} {value}" if value.isdecimal() else value) for name, value in short]


def _one_line(text: str) -> str:
    return " ".join(text.split())


def _natural(value: str) -> tuple[int, str]:
    return (int(value), "") if value.isdecimal() else (-1, value)


def _is_number(table: Table, column: str) -> bool:
    values: Sequence[Cell] = [row[table.columns.index(column)] for row in table.rows]
    return any(isinstance(value, int | float) for value in values)


def _legible(value: object) -> object:
    """What a template prints, with nothing in it that moves or hides other words."""
    if isinstance(value, Markup):
        return Markup(legible(str(value)))  # markup of our own, with less in it
    return legible(value) if isinstance(value, str) else value


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
