"""The report as one page: no server, no network, no second file.

Takes a run's records and pictures. Prompts, labels and text read from images are data: the
template escapes them, no script is built from them, and the page's own policy lets nothing
run or load but the one stylesheet and the one script it was made with.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from markupsafe import Markup

from salva.assets.files import asset_names, read_asset
from salva.core.chart import Chart
from salva.core.source import ImageSource, RunRecords
from salva.core.verdict import Outcome
from salva.files.outfiles import write_text
from salva.registry import entries, load
from salva.report.chart_files import all_charts, is_wide, write_figures
from salva.report.facts import facts_of
from salva.report.gallery import MAX_EXHIBITS, Exhibit, Gallery, make_gallery
from salva.report.lead import bounds_of, instructed, interval_of, sentence_of, title_of, untried, warning_of
from salva.report.lineups import Lineups, make_lineups
from salva.report.pages import anchors_of, drawings_of, filters_of, label_tags, one_line, render_page
from salva.report.summary import Summary, summarise_records
from salva.store.queries import open_source

_FILTERS = {"error": "error type", "kind": "kind", "check": "decided by", "model": "model"}
"""What every exhibit can be chosen by, and what that is called."""


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


def write_html(directory: Path, out: Path, limit: int = MAX_EXHIBITS, *, figures: Path | None = None) -> None:
    """Write the report of a run; figures: a folder for its charts as files."""
    with open_source(directory) as (records, images):
        summary = summarise_records(records)
        page = _page(summary, records, images, limit)
        if figures is not None:
            write_figures(summary, figures)
    write_text(out, page)


def render_html(records: RunRecords, images: ImageSource, limit: int = MAX_EXHIBITS) -> str:
    """The report as text; `limit` caps the counterexamples that are embedded."""
    return _page(summarise_records(records), records, images, limit)


def _page(summary: Summary, records: RunRecords, images: ImageSource, limit: int) -> str:
    lineups = make_lineups(records, images, limit) if len(summary.by_model) > 1 else None
    gallery = make_gallery(records, images, limit) if lineups is None else None
    exhibits = _exhibits(gallery, lineups)
    return render_page(
        "report",
        "report.html.j2",
        sentence_of=sentence_of,
        title_of=title_of,
        bounds_of=bounds_of,
        interval_of=interval_of,
        untried=untried,
        warning_of=warning_of,
        instructed=instructed,
        is_imported=bool(summary.asked.imported),
        summary=summary,
        facts=facts_of(records),
        figures=_figures(summary, can_choose=bool(exhibits)),
        models_table=summary.models_table() if len(summary.by_model) > 1 else None,
        joined_tables=summary.joined_tables(),
        gallery=gallery,
        lineups=lineups,
        exhibits=exhibits,
        anchors=_anchors(gallery, lineups),
        featured=_featured(exhibits),
        filters=filters_of(map(_tags, exhibits), _FILTERS),
        audit=_audit(summary),
        averaged_over=_averaged_over(summary),
        checks=_checks(records),
        tags_of=_tags,
    )


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
    return anchors_of(
        (exhibit.case.case_id, exhibit.verdict.repeat) for exhibit in (gallery.exhibits if gallery else ())
    )


def _featured(exhibits: Sequence[Exhibit]) -> Exhibit | None:
    """The pair to lead with: one where one picture is right and the other is not, if there is one."""
    shown = [exhibit for exhibit in exhibits if exhibit.verdict.outcome is Outcome.FAIL]
    clear = (exhibit for exhibit in shown if sum(bool(shot.failures) for shot in exhibit.shots) == 1)
    return next(clear, shown[0] if shown else None)


def _checks(records: RunRecords) -> list[tuple[str, str]]:
    """The checks that judged, each with what it asks; one that is not installed is left out."""
    installed = {entry.name: entry for entry in entries("check")}
    judged = [installed[v] for v in dict.fromkeys(v.check for v in records.verdicts) if v in installed]
    texts = [(e.name, e.summary or (load("check", e.name).__doc__ or "").strip().partition("\n")[0]) for e in judged]
    return [(name, text.removeprefix("Check: ")) for name, text in texts if text]


def _averaged_over(summary: Summary) -> str:
    """What the leading rates are averages over, each named once."""
    figures = [model.leading.figure for model in summary.by_model]
    return " and ".join(dict.fromkeys(figure.over for figure in figures if figure is not None)) or f"{summary.unit}"


def _audit(summary: Summary) -> str:
    """How far the embedded detector was checked on the embedded model's pictures, where a run used both."""
    detectors = {observer.name for observer in summary.asked.observers if observer.role == "detector"}
    audits = [json.loads(read_asset(name)) for name in asset_names() if name.startswith("audits/")]
    return " ".join(
        f"{audit['n_pictures']} images by {audit['model']} were labelled by {audit['by']}. The detector "
        f"{audit['detector']} agrees exactly for {audit['n_right']} of them; images and labels are in "
        f"{audit['sheets']}, results in {audit['told_in']} of salva's repository."
        for audit in audits
        if audit["model"] in summary.models and audit["detector"] in detectors
    )


def _tags(exhibit: Exhibit) -> list[tuple[str, str]]:
    """Every filter and value an exhibit answers to."""
    verdict = exhibit.verdict
    errors = [("error", error) for error in verdict.failure_types]
    return [
        *label_tags(exhibit.case),
        *errors,
        *(("kind", exhibit.kind), ("check", verdict.check), ("model", verdict.model)),
    ]
