"""The report as one page: no server, no network, no second file.

Takes a run's records and images. Prompts, labels and text read from images are data: the template escapes them, no
script is built from them, and the page's own policy lets nothing run or load but the one stylesheet and the one script
it was made with.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

from markupsafe import Markup

from salva.charts.formats import metric_text, published_text
from salva.charts.interval import draw_interval
from salva.core.chart import Chart
from salva.core.metric import MetricValue
from salva.core.source import ImageSource, RunRecords
from salva.core.table import Table
from salva.files.outfiles import write_text
from salva.report import headline_text
from salva.report.chart_files import all_charts, is_wide, rate_with_interval, where_chart, write_figures
from salva.report.gallery import MAX_EXHIBITS, Exhibit, Gallery, make_gallery
from salva.report.lineups import Lineups, make_lineups
from salva.report.methods import checks_of, detector_audit, methods_of, settings_of
from salva.report.pages import (
    anchors_of,
    drawings_of,
    drawn_for_every_width,
    filters_of,
    label_tags,
    one_line,
    render_page,
)
from salva.report.summary import ModelSummary, Summary, summarise_records
from salva.store.queries import open_source

PAGE = "index.html"
_PAGE_SIZE = 6
_FILTERS = {"failure_type": "failure type", "check": "result by", "model": "model"}
"""What every exhibit can be chosen by, and what that is called."""
_FAILURE_TYPES = "failure-types"


@dataclass(frozen=True, slots=True, kw_only=True)
class DrawnFigure:
    """A chart drawn for every width of the page."""

    chart: Chart
    model: str
    """Whose it is; empty for one of several models together."""
    drawings: Markup
    is_wide: bool
    tags: str
    """What all its marks choose by: the model, where there are several."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Figures:
    """The figures of one model, or of all models together."""

    shown: tuple[DrawnFigure, ...]
    """Where it fails, and the failure types."""
    others: tuple[DrawnFigure, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelPart:
    """The part of the page about one model."""

    model: ModelSummary
    title: str
    coverage: str
    failed: str
    rate: str
    entities: str
    worst: str
    notes: tuple[str, ...]
    gates: tuple[tuple[str, str], ...]
    """Decision and sentence."""
    picture: Markup
    """The interval of the failure rate."""
    measured: tuple[tuple[str, MetricValue, tuple[str, str]], ...]
    """Title, metric, and its value and interval as text."""
    unmeasured: tuple[tuple[str, str], ...]
    """Title and reason."""
    beside_published: tuple[Table, ...]
    """Tables that hold our figures against published ones."""
    figures: Figures

    @property
    def has_published(self) -> bool:
        """Whether one of its metrics has a published figure."""
        return any(metric.published is not None for _, metric, _ in self.measured)


def write_report_page(directory: Path, summary: Summary | None = None) -> Path:
    """Write RUN/report/index.html with its charts as files beside it, and give its place; summary: where it is made."""
    report = directory / "report"
    made = write_html(directory, report / PAGE, summary=summary)
    write_figures(made, report / "figures")
    return report / PAGE


def write_html(directory: Path, out: Path, limit: int = MAX_EXHIBITS, *, summary: Summary | None = None) -> Summary:
    """Write the report of a run, and give what it shows."""
    with open_source(directory) as (records, images):
        shown = summary or summarise_records(records)
        page = _page(shown, records, images, limit)
    write_text(out, page)
    return shown


def render_html(records: RunRecords, images: ImageSource, limit: int = MAX_EXHIBITS) -> str:
    """The report as text; `limit` caps the counterexamples that are embedded."""
    return _page(summarise_records(records), records, images, limit)


def _page(summary: Summary, records: RunRecords, images: ImageSource, limit: int) -> str:
    lineups = make_lineups(summary, images, limit) if len(summary.by_model) > 1 else None
    gallery = make_gallery(summary, images, limit) if lineups is None else None
    exhibits = _exhibits(gallery, lineups)
    figures = _figures(summary, can_choose=bool(exhibits))
    return render_page(
        "report",
        "report.html.j2",
        summary=summary,
        settings=list(settings_of(summary, records)),
        methods=list(methods_of(summary, records)),
        parts=[_model_part(summary, model, figures) for model in summary.by_model.values()],
        joint=_split([figure for figure in figures if not figure.model]),
        joined_tables=summary.joined_tables(),
        is_published=summary.asked.rule.is_published,
        is_imported=bool(summary.asked.imported),
        gallery=gallery,
        lineups=lineups,
        exhibits=exhibits,
        featured=gallery.featured if gallery else None,
        anchors=_anchors(gallery, lineups),
        filters=filters_of(map(_tags, exhibits), _FILTERS),
        checks=checks_of(records),
        audit=detector_audit(summary),
        tags_of=_tags,
        page_size=_PAGE_SIZE,
        published_text=published_text,
    )


def _model_part(summary: Summary, model: ModelSummary, figures: Sequence[DrawnFigure]) -> ModelPart:
    drawn = rate_with_interval(model)
    return ModelPart(
        model=model,
        title=headline_text.headline_title(summary, model),
        coverage=headline_text.coverage_text(summary, model),
        failed=headline_text.failed_text(summary, model),
        rate=headline_text.rate_text(model),
        entities=headline_text.entities_sentence(model),
        worst=headline_text.worst_text(model),
        notes=tuple(headline_text.notes_of(summary, model)),
        gates=tuple((gate.decision, headline_text.gate_text(gate)) for gate in model.gates),
        picture=drawn_for_every_width(partial(draw_interval, drawn)) if drawn else Markup(),
        measured=tuple((title, one, metric_text(one)) for title, one in model.titled_metrics if one.value is not None),
        unmeasured=tuple((title, one.reason) for title, one in model.titled_metrics if one.value is None),
        beside_published=tuple(table for table in model.tables if {"published", "ours"} <= set(table.columns)),
        figures=_split([figure for figure in figures if figure.model == model.model]),
    )


def _split(figures: Sequence[DrawnFigure]) -> Figures:
    """The figures worth seeing at once, and the others."""
    where = where_chart([figure.chart for figure in figures if figure.chart.name != _FAILURE_TYPES])
    names = (where.name if where else "", _FAILURE_TYPES)
    shown = sorted((one for one in figures if one.chart.name in names), key=lambda one: names.index(one.chart.name))
    return Figures(shown=tuple(shown), others=tuple(one for one in figures if one.chart.name not in names))


def _figures(summary: Summary, *, can_choose: bool) -> list[DrawnFigure]:
    """Every chart in both drawings; the style shows the one that fits."""
    figures = []
    for model, chart in all_charts(summary):
        shown = chart if can_choose else replace(chart, filters={})
        drawings = drawings_of(shown, is_wide=is_wide(chart))
        tags = f"model\t{one_line(model)}" if model and len(summary.by_model) > 1 else ""
        figures.append(DrawnFigure(chart=shown, model=model, drawings=drawings, is_wide=is_wide(chart), tags=tags))
    return figures


def _exhibits(gallery: Gallery | None, lineups: Lineups | None) -> tuple[Exhibit, ...]:
    """Everything that is shown because something is wrong with it."""
    if lineups is not None:
        return tuple(side.exhibit for lineup in lineups.shown for side in lineup.sides if side.is_shown_for)
    return gallery.exhibits if gallery else ()


def _anchors(gallery: Gallery | None, lineups: Lineups | None) -> list[str]:
    if lineups is not None:
        return anchors_of((lineup.case.case_id, lineup.repeat) for lineup in lineups.shown)
    return anchors_of((one.case.case_id, one.result.repeat) for one in (gallery.exhibits if gallery else ()))


def _tags(exhibit: Exhibit) -> list[tuple[str, str]]:
    """Every filter and value an exhibit answers to."""
    result = exhibit.result
    types = [("failure_type", name) for name in result.failure_types]
    return [*label_tags(exhibit.case), *types, ("check", result.check), ("model", result.model)]
