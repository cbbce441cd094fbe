"""The report as a PDF: figures, charts, counterexamples, tables.

Takes a run's records and pictures. Text from prompts and plugins is escaped, since the page maker reads markup.
Shorter than the HTML report on purpose: paper has no filters.
"""

from __future__ import annotations

import importlib.util
from collections.abc import Iterator, Sequence
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING
from xml.sax.saxutils import escape

from salva.assets.files import read_asset
from salva.charts.drawing import draw_chart
from salva.charts.formats import cell_text, figure_text, heading, percent
from salva.charts.png import png_file
from salva.core.case import Case
from salva.core.chart import Chart
from salva.core.quantity import quantity
from salva.core.source import ImageSource, RunRecords
from salva.core.table import KeyFigure, Table
from salva.core.verdict import observers_text
from salva.errors import MissingExtraError
from salva.files.outfiles import write_bytes
from salva.report.chart_files import all_charts, is_wide
from salva.report.facts import facts_of
from salva.report.gallery import INSTRUCTED, Exhibit, Shot, make_gallery
from salva.report.lead import instructed, interval_of, sentence_of, title_of, untried, warning_of
from salva.report.lineups import Lineup, make_lineups
from salva.report.summary import ModelSummary, Summary, summarise_records
from salva.store.queries import open_source

if TYPE_CHECKING:
    from reportlab.platypus import Flowable

MAX_EXHIBITS = 24
_MAX_ROWS, _MAX_COLUMNS, _MAX_CELL = 30, 9, 60
_FONT, _BOLD = "DejaVuSans", "DejaVuSans-Bold"
_POINTS = 0.75
"""Of a chart's pixel."""
_MAX_HEIGHT = 620
_SIDE = 150
"""Of a picture."""
_NONE = "None: every decided case passed."
Counterexamples = tuple[str, list[list["Flowable"]]]
"""How many there are, and those that are shown."""


def write_pdf(directory: Path, out: Path, limit: int = MAX_EXHIBITS) -> None:
    """Write the report of a run; `limit` caps the counterexamples shown."""
    if importlib.util.find_spec("reportlab") is None:
        raise MissingExtraError("the pdf report", "pdf")
    with open_source(directory) as (records, images):
        data = render_pdf(records, images, limit)
    write_bytes(out, data)


def render_pdf(records: RunRecords, images: ImageSource, limit: int = MAX_EXHIBITS) -> bytes:
    """The report as the bytes of a PDF file."""
    from reportlab.lib.pagesizes import A4
    from reportlab.platypus import SimpleDocTemplate

    summary = summarise_records(records)
    buffer = BytesIO()
    title = f"{summary.suite} on {', '.join(summary.models)}"
    document = SimpleDocTemplate(
        buffer, pagesize=A4, title=title, author="salva", invariant=True, leftMargin=48, rightMargin=48
    )
    writer = _PdfWriter(document.width)
    story = [*writer.summary(summary, title, records), *writer.exhibits(summary, records, images, limit)]
    story += writer.tables(summary)
    document.build(story, onFirstPage=writer.number_page, onLaterPages=writer.number_page)
    return buffer.getvalue()


class _PdfWriter:
    """Makes the parts of the page; knows fonts and widths."""

    def __init__(self, width: float) -> None:
        from reportlab.lib.styles import ParagraphStyle
        from reportlab.pdfbase import pdfmetrics
        from reportlab.pdfbase.ttfonts import TTFont

        # The charts' own font: it knows far more letters than a PDF's built-in ones.
        for name in (_FONT, _BOLD):
            pdfmetrics.registerFont(TTFont(name, BytesIO(read_asset(f"fonts/{name}.ttf"))))
        self.width = width
        body = ParagraphStyle("body", fontName=_FONT, fontSize=8.5, leading=12)
        self._styles = {
            "body": body,
            "small": ParagraphStyle("small", body, fontSize=7, leading=9, textColor="#6d655d"),
            "h1": ParagraphStyle("h1", body, fontName=_BOLD, fontSize=17, leading=22, spaceAfter=6),
            "h2": ParagraphStyle(
                "h2", body, fontName=_BOLD, fontSize=12, leading=16, spaceBefore=14, spaceAfter=4, keepWithNext=1
            ),
            "h3": ParagraphStyle(
                "h3", body, fontName=_BOLD, fontSize=9, leading=12, spaceBefore=8, spaceAfter=3, keepWithNext=1
            ),
            "h4": ParagraphStyle("h4", body, fontName=_BOLD, fontSize=8, leading=11, spaceBefore=4, keepWithNext=1),
        }

    def number_page(self, canvas, document) -> None:  # type: ignore[no-untyped-def]  # reportlab's own, untyped
        """The foot of every page."""
        canvas.setFont(_FONT, 7)
        canvas.drawRightString(document.pagesize[0] - 48, 28, f"salva, page {document.page}")

    def text(self, words: str, style: str = "body") -> Flowable:
        """A paragraph; whatever the words hold shows as it is."""
        from reportlab.platypus import Paragraph

        return Paragraph(escape(" ".join(words.split())), self._styles[style])

    def summary(self, summary: Summary, title: str, records: RunRecords) -> Iterator[Flowable]:
        """Title, figures and charts."""
        from reportlab.platypus import KeepTogether

        yield self.text(title, "h1")
        yield self.text("; ".join(f"{name} {value}" for name, value in facts_of(records)), "small")
        if note := untried(summary.preflight, summary.preflight_about):
            yield self.text(note)
        if len(summary.by_model) > 1:
            yield self.text("The models side by side", "h2")
            yield self.table(summary.models_table())
        for model in summary.by_model:
            yield self.text(model.model, "h2")
            yield from (self.text(line) for line in _figures(model, summary.unit))
        head = [self.text("Charts", "h2")]
        for model_name, chart in all_charts(summary):
            owner = f" – {model_name}" if model_name and len(summary.by_model) > 1 else ""
            yield KeepTogether([*head, *self.chart(chart, chart.title + owner)])
            head = []

    def chart(self, chart: Chart, title: str) -> Iterator[Flowable]:
        """A chart under its title, with its note."""
        width = self.width if is_wide(chart) else self.width * 0.75
        yield self.text(title, "h3")
        yield self.picture(png_file(draw_chart(chart, width / _POINTS), margin=2), width, _MAX_HEIGHT)
        if chart.note:
            yield self.text(chart.note, "small")

    def exhibits(self, summary: Summary, records: RunRecords, images: ImageSource, limit: int) -> Iterator[Flowable]:
        """The counterexamples, each kept on one page; of several models each pair as all of them painted it."""
        from reportlab.platypus import KeepTogether

        is_one = len(summary.by_model) == 1
        counts, groups = self._gallery(records, images, limit) if is_one else self._lineups(records, images, limit)
        head = [self.text("Counterexamples", "h2"), self.text(counts, "small")]
        for group in groups:
            yield KeepTogether([*head, *group])
            head = []
        if head:
            yield KeepTogether(head)

    def _gallery(self, records: RunRecords, images: ImageSource, limit: int) -> Counterexamples:
        gallery = make_gallery(records, images, limit)
        if not gallery.exhibits:
            return _NONE, []
        counts = f"{gallery.n_fail:,} failed; {gallery.n_shown} shown, spread over the categories."
        instructed = (exhibit for exhibit in gallery.exhibits if exhibit.kind == INSTRUCTED)
        return counts, [
            [
                self.text(f"{exhibit.case.case_id}: {', '.join(exhibit.verdict.failure_types) or exhibit.kind}", "h3"),
                *self._exhibit(exhibit),
                self._labels(exhibit.case),
            ]
            for exhibit in (*gallery.exhibits[: gallery.n_shown], *instructed)
        ]

    def _lineups(self, records: RunRecords, images: ImageSource, limit: int) -> Counterexamples:
        lineups = make_lineups(records, images, limit)
        if not lineups.shown:
            return _NONE, []
        return (
            f"{lineups.n_broken:,} failed for at least one model; in {lineups.n_differing:,} of them another model "
            f"passed. {len(lineups.shown)} shown, those where models differ first.",
            [list(self._lineup(lineup)) for lineup in lineups.shown],
        )

    def _lineup(self, lineup: Lineup) -> Iterator[Flowable]:
        """A pair as every model painted it; where all of them are more than a page, each model is kept on one."""
        from reportlab.platypus import KeepTogether

        head = [self.text(f"{lineup.case.case_id}{f': {lineup.said}' if lineup.said else ''}", "h3")]
        head.append(self._labels(lineup.case))
        for side in lineup.sides:
            verdict = side.exhibit.verdict
            said = ", ".join(verdict.failure_types) or side.exhibit.kind
            yield KeepTogether([*head, self.text(f"{verdict.model}: {said}", "h4"), *self._exhibit(side.exhibit)])
            head = []

    def _labels(self, case: Case) -> Flowable:
        return self.text(", ".join(f"{name} {value}" for name, value in case.labels.items()), "small")

    def _exhibit(self, exhibit: Exhibit) -> Iterator[Flowable]:
        from reportlab.platypus import Table as Grid

        column = self.width / len(exhibit.shots)
        yield Grid(
            [[list(self._shot(shot, column - 12)) for shot in exhibit.shots]],
            colWidths=column,
            style=_TOP,
            hAlign="LEFT",
        )
        for failure in exhibit.shared_failures:
            yield self.text(f"{failure.failure_type}: {failure.message}")
        verdict = exhibit.verdict
        seen = f"model {verdict.model}, seed {exhibit.seed}, seen by {observers_text(verdict.observers)}"
        yield self.text(seen, "small")

    def _shot(self, shot: Shot, width: float) -> Iterator[Flowable]:
        yield self.text(f"“{shot.text}”")
        if shot.picture.uri:
            from salva.report.pdf_pictures import BoxedPicture

            yield BoxedPicture(shot.picture, shot.overlays, min(width, _SIDE), _FONT)
        else:
            yield self.text("This image is missing or damaged.", "small")
        if shot.painted is not None and shot.painted.text:
            yield self.text(f"generated from “{shot.painted.text}”", "small")
        if shot.score is not None:
            yield self.text(f"{shot.score:.2f} {' '.join(given.reason for given in shot.reasons)}", "small")
        for failure in shot.failures:
            yield self.text(f"{failure.failure_type}: {failure.message}", "small")
        for text in shot.instructing:
            yield self.text(f"text in this image instructs a judge: “{text}”", "small")
        if shot.painted is not None and shot.painted.passed_over:
            yield self.text(f"unknown words: {', '.join(shot.painted.passed_over)}", "small")
        for answered in shot.answers[:8]:
            yield self.text(f"{answered.question} – {answered.answer}", "small")

    def tables(self, summary: Summary) -> Iterator[Flowable]:
        """Every table, long ones cut."""
        yield self.text("Tables", "h2")
        for table in summary.joined_tables():
            yield self.text(table.name, "h3")
            yield self.table(table)
            if table.note:
                yield self.text(table.note, "small")
        for model in summary.by_model:
            for table in model.tables:
                owner = f" – {model.model}" if len(summary.by_model) > 1 else ""
                yield self.text(table.name + owner, "h3")
                yield self.table(table)
                if table.note:
                    yield self.text(table.note, "small")

    def table(self, table: Table) -> Flowable:
        """A table within the page's width; what does not fit is in the other forms of the report."""
        from reportlab.platypus import Table as Grid

        columns = table.columns[:_MAX_COLUMNS]
        rows = [[self.text(heading(column), "small") for column in columns]]
        for row in table.rows[:_MAX_ROWS]:
            cells = [cell_text(column, value) for column, value in zip(table.columns, row, strict=True)]
            rows.append([self.text(_cut(cell), "small") for cell in cells[:_MAX_COLUMNS]])
        n_rows, n_columns = len(table.rows) - _MAX_ROWS, len(table.columns) - _MAX_COLUMNS
        left_out = [quantity(n_rows, "more rows")] if n_rows > 0 else []
        left_out += [quantity(n_columns, "more columns")] if n_columns > 0 else []
        style = [*_RULES]
        if left_out:
            note = self.text(f"{' and '.join(left_out)} in the json form", "small")
            rows.append([note, *([""] * (len(columns) - 1))])
            style.append(("SPAN", (0, -1), (-1, -1)))
        return Grid(rows, colWidths=_widths(table, self.width), style=style, repeatRows=1, hAlign="LEFT")

    def picture(self, data: bytes, width: float, height: float) -> Flowable:
        """An image file, as large as fits."""
        from reportlab.platypus import Image

        return Image(BytesIO(data), width=width, height=height, kind="proportional", hAlign="LEFT")


_TOP = [("VALIGN", (0, 0), (-1, -1), "TOP"), ("LEFTPADDING", (0, 0), (-1, -1), 0)]
_RULES = [
    ("VALIGN", (0, 0), (-1, -1), "TOP"),
    ("LINEBELOW", (0, 0), (-1, 0), 0.6, "#8a8178"),
    ("LINEBELOW", (0, 1), (-1, -1), 0.25, "#e2dcd2"),
    ("TOPPADDING", (0, 0), (-1, -1), 2),
    ("BOTTOMPADDING", (0, 0), (-1, -1), 2),
    ("LEFTPADDING", (0, 0), (-1, -1), 3),
    ("RIGHTPADDING", (0, 0), (-1, -1), 3),
]


def _figure(figure: KeyFigure) -> str:
    value, note = figure_text(figure)
    return f"{figure.title}: {value}" + (f" ({note})" if note else "")


def _figures(model: ModelSummary, unit: str) -> Iterator[str]:
    yield from map(_figure, model.key_figures)
    if model.has_rate:
        yield (
            f"{title_of(model.leading).capitalize()}: {percent(model.failure_rate)} "
            f"{sentence_of(model.leading, unit)} (95 %: {interval_of(model.leading)} under other seeds)"
        )
        if warning := warning_of(model.leading):
            yield warning
        yield from map(_figure, model.asides)
        yield f"Undecided: {model.outcomes['UNDECIDED']}, errors: {model.outcomes['ERROR']}"
    if note := instructed(model.n_instructed, unit):
        yield f"{note[:1].upper()}{note[1:]}"
    if model.n_unjudged:
        yield f"Not judged yet: {model.n_unjudged}; these figures cover only part of the run"


def _widths(table: Table, total: float) -> list[float]:
    """Columns as wide as their longest cell asks, shrunk to the page together."""
    columns = table.columns[:_MAX_COLUMNS]
    wanted = []
    for index, column in enumerate(columns):
        cells: Sequence[str] = [cell_text(column, row[index]) for row in table.rows[:_MAX_ROWS]]
        # A heading may break between its words, and capitals are wide.
        word = max((len(part) * (1.2 if part.isupper() else 1.0) for part in heading(column).split()), default=0.0)
        longest = max([word, *(len(_cut(cell)) for cell in cells)])
        wanted.append(10 + 4.2 * longest)
    scale = min(1.0, total / sum(wanted))
    return [width * scale for width in wanted]


def _cut(text: str) -> str:
    return text if len(text) <= _MAX_CELL else f"{text[: _MAX_CELL - 1]}…"
