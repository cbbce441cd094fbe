"""The report as a PDF: the result, counterexamples, charts, metrics, methods, tables.

Takes a run's records and images. Text from prompts and plugins is escaped, since the page maker reads markup. Shorter
than the HTML report on purpose: paper has no filters.
"""

from __future__ import annotations

import importlib.util
from collections.abc import Iterator, Sequence
from functools import partial
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING
from xml.sax.saxutils import escape

from salva.assets.files import read_asset
from salva.charts.drawing import draw_chart
from salva.charts.formats import cell_text, heading, metric_text, published_text
from salva.charts.interval import draw_interval
from salva.charts.png import png_file
from salva.charts.scene import DrawnChart
from salva.core.chart import Chart
from salva.core.quantity import quantity
from salva.core.source import ImageSource, RunRecords
from salva.core.table import Table
from salva.errors import MissingExtraError
from salva.files.outfiles import write_bytes
from salva.report.chart_files import all_charts, is_wide, rate_with_interval
from salva.report.gallery import Exhibit, Shot, make_gallery
from salva.report.headline_text import coverage_text, failed_text, gate_text, notes_of, rate_text
from salva.report.lineups import Lineup, make_lineups
from salva.report.methods import checks_of, methods_of, settings_of
from salva.report.summary import ModelSummary, Summary, summarise_records
from salva.store.queries import open_source

if TYPE_CHECKING:
    from reportlab.platypus import Flowable

MAX_EXHIBITS = 24
_MAX_ROWS, _MAX_COLUMNS, _MAX_CELL = 30, 9, 60
_MAX_TEXT, _MAX_FAILURES = 400, 6
"""Letters of a text, and failures of an image."""
_FONT, _BOLD = "DejaVuSans", "DejaVuSans-Bold"
_POINTS = 0.75
"""Of a chart's pixel."""
_MAX_HEIGHT, _PAGE = 600, 680
"""Of a picture, and of a cell of a grid with its heading: less than a page."""
_GAP = 14
_ROOM = 90
"""What must be left on a page for a heading."""
_SIDE, _LEAST_SIDE = 150, 75
"""Of an image, at most and at least."""


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
        buffer,
        pagesize=A4,
        title=title,
        author="salva",
        invariant=True,
        leftMargin=48,
        rightMargin=48,
        topMargin=46,
        bottomMargin=50,
    )
    writer = _PdfWriter(document.width)
    story = [
        *writer.head(summary, title, records),
        *writer.counterexamples(summary, images, limit),
        *writer.charts(summary),
        *writer.metrics(summary),
        *writer.methods(summary, records),
        *writer.tables(summary),
    ]
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
        bold = partial(ParagraphStyle, parent=body, fontName=_BOLD)
        self._styles = {
            "body": body,
            "small": ParagraphStyle("small", body, fontSize=7, leading=9, textColor="#5f6877"),
            "fail": bold("fail", fontSize=7, leading=9.5, textColor="#b3301a"),
            "pass": bold("pass", fontSize=7, leading=9.5, textColor="#067647"),
            "h1": bold("h1", fontSize=12, leading=16),
            "big": bold("big", fontSize=22, leading=28, spaceBefore=8),
            "h2": bold("h2", fontSize=11, leading=15, spaceBefore=14, spaceAfter=4),
            "h3": bold("h3", fontSize=9, leading=12, spaceBefore=8, spaceAfter=3),
        }

    def number_page(self, canvas, document) -> None:  # type: ignore[no-untyped-def]  # reportlab's own, untyped
        """The foot of every page."""
        canvas.setFont(_FONT, 7)
        canvas.drawRightString(document.pagesize[0] - 48, 28, f"salva, page {document.page}")

    def text(self, words: str, style: str = "body") -> Flowable:
        """A paragraph; whatever the words hold shows as it is."""
        from reportlab.platypus import Paragraph

        return Paragraph(escape(_cut(" ".join(words.split()), _MAX_TEXT)), self._styles[style])

    def head(self, summary: Summary, title: str, records: RunRecords) -> Iterator[Flowable]:
        """Title and settings, then what came out for each model."""
        from reportlab.platypus import KeepTogether

        yield self.text(title, "h1")
        yield self.text(" · ".join(f"{name} {value}" for name, value in settings_of(summary, records)), "small")
        for model in summary.by_model.values():
            yield KeepTogether(list(self._result(summary, model)))

    def _result(self, summary: Summary, model: ModelSummary) -> Iterator[Flowable]:
        if len(summary.by_model) > 1:
            yield self.text(model.model, "h2")
        rate = rate_text(model)
        yield self.text(failed_text(summary, model), "big")
        if rate:
            yield self.text(f"{rate[:1].upper()}{rate[1:]}. {coverage_text(summary, model)}.")
        if drawn := rate_with_interval(model):
            width = self.width * (0.7 if len(summary.by_model) == 1 else 0.5)
            yield self._picture(draw_interval(drawn, width / _POINTS), width)
        yield self.text(f"Trust: {model.trust.status}", "pass" if model.trust.status == "ok" else "fail")
        yield from (self.text(f"{one.text} [{one.code}]") for one in model.trust.reasons)
        yield from (self.text(f"Gate {gate_text(gate)}") for gate in model.gates)
        yield from (self.text(f"{note[:1].upper()}{note[1:]}") for note in notes_of(summary, model))

    def counterexamples(self, summary: Summary, images: ImageSource, limit: int) -> Iterator[Flowable]:
        """The counterexamples in rows; of several models each case as all of them generated it."""
        if len(summary.by_model) > 1:
            lineups = make_lineups(summary, images, limit)
            total, cells = lineups.n_failed, [list(self._lineup(lineup)) for lineup in lineups.shown]
            n_columns = 1
        else:
            gallery = make_gallery(summary, images, limit)
            total, cells = gallery.n_fail, [list(self._exhibit(one, self._half)) for one in gallery.exhibits]
            n_columns = 2 if all(len(one.shots) <= 2 for one in gallery.exhibits) else 1
            if n_columns == 1:
                cells = [list(self._exhibit(one, self.width)) for one in gallery.exhibits]
        head = [self.text("Counterexamples", "h2")]
        if not cells:
            yield from (*head, self.text("None: every decided case passed.", "small"))
            return
        if total > len(cells):
            head.append(self.text(f"{len(cells)} of {total:,}, spread over the categories.", "small"))
        yield self._rows(cells, n_columns, head)

    @property
    def _half(self) -> float:
        return (self.width - _GAP) / 2

    def _rows(self, cells: Sequence[list[Flowable]], n_columns: int, head: list[Flowable]) -> Flowable:
        """Cells in rows that pages break between, and never between the heading and the first row."""
        from reportlab.platypus import KeepInFrame
        from reportlab.platypus import Table as Grid

        width = self.width / n_columns
        # What is higher than a page could not be set at all.
        fitted = [[KeepInFrame(width - _GAP, _PAGE, cell, mode="shrink")] for cell in cells]
        padded = [head, *([[]] * (n_columns - 1)), *fitted, *([[]] * (-len(cells) % n_columns))]
        rows = [padded[i : i + n_columns] for i in range(0, len(padded), n_columns)]
        style = [
            *_CELLS,
            ("SPAN", (0, 0), (-1, 0)),
            ("BOTTOMPADDING", (0, 0), (-1, 0), 0),
            ("NOSPLIT", (0, 0), (-1, 1)),
        ]
        return Grid(rows, colWidths=width, style=style, hAlign="LEFT")

    def _heading(self, words: str, style: str) -> Iterator[Flowable]:
        """A heading with room for some lines below it."""
        from reportlab.platypus import CondPageBreak

        yield CondPageBreak(_ROOM)
        yield self.text(words, style)

    def _lineup(self, lineup: Lineup) -> Iterator[Flowable]:
        """The prompts of a case, then the images of every model side by side."""
        from reportlab.platypus import Table as Grid

        status = f": {lineup.status}" if lineup.status else ""
        yield self.text(f"{lineup.case.case_id}{status}", "h3")
        yield from (self.text(f"“{prompt.text}”", "small") for prompt in lineup.case.prompts)
        n_columns = max(1, min(len(lineup.sides), int(self.width // (_LEAST_SIDE * len(lineup.case.prompts)))))
        width = self.width / n_columns
        cells = [
            [
                self.text(f"{side.exhibit.result.model}: {side.status}", "small"),
                *self._images(side.exhibit, width - _GAP, has_prompts=False),
            ]
            for side in lineup.sides
        ]
        cells += [[] for _ in range(-len(cells) % n_columns)]
        rows = [cells[i : i + n_columns] for i in range(0, len(cells), n_columns)]
        yield Grid(rows, colWidths=width, style=_TOP, hAlign="LEFT")

    def _exhibit(self, exhibit: Exhibit, width: float) -> Iterator[Flowable]:
        yield from self._images(exhibit, width, has_prompts=True)
        note = f"{exhibit.note}; " if exhibit.note else ""
        yield self.text(f"{note}{exhibit.case.case_id}, seed {exhibit.seed}", "small")

    def _images(self, exhibit: Exhibit, width: float, *, has_prompts: bool) -> Iterator[Flowable]:
        from reportlab.platypus import Table as Grid

        column = min(width / max(2, len(exhibit.shots)), _SIDE + 10)
        shots = [list(self._shot(shot, column - 8, has_prompt=has_prompts)) for shot in exhibit.shots]
        yield Grid([shots], colWidths=column, style=_TOP, hAlign="LEFT")
        yield from (self.text(failure.message, "fail") for failure in exhibit.shared_failures)

    def _shot(self, shot: Shot, width: float, *, has_prompt: bool) -> Iterator[Flowable]:
        if has_prompt:
            yield self.text(f"“{shot.text}”", "small")
        if shot.picture.uri:
            from salva.report.pdf_pictures import BoxedPicture

            yield BoxedPicture(shot.picture, shot.overlays, width, _FONT)
        else:
            yield self.text("This image is missing or damaged.", "small")
        yield from (self.text(failure.message, "fail") for failure in shot.failures[:_MAX_FAILURES])
        if shot.is_right:
            yield self.text("shows its prompt", "pass")
        if shot.score is not None:
            yield self.text(f"{shot.score:.2f} {' '.join(given.reason for given in shot.reasons)}", "small")
        if shot.painted is not None and shot.painted.text:
            yield self.text(f"generated from “{shot.painted.text}”", "small")
        if shot.painted is not None and shot.painted.passed_over:
            yield self.text(f"unknown words: {', '.join(shot.painted.passed_over)}", "small")
        for text in shot.instructing:
            yield self.text(f"text in this image instructs a judge: “{text}”", "small")

    def charts(self, summary: Summary) -> Iterator[Flowable]:
        """Every chart: wide ones by themselves, the others two in a row."""
        wide: list[list[Flowable]] = []
        halves: list[list[Flowable]] = []
        for model_name, chart in all_charts(summary):
            owner = f" – {model_name}" if model_name and len(summary.by_model) > 1 else ""
            group, width = (wide, self.width) if is_wide(chart) else (halves, self._half)
            group.append(list(self._chart(chart, chart.title + owner, width)))
        head = [self.text("Where it fails", "h2")]
        for group, n_columns in ((wide, 1), (halves, 2)):
            if group:
                yield self._rows(group, n_columns, head)
                head = []

    def _chart(self, chart: Chart, title: str, width: float) -> Iterator[Flowable]:
        yield self.text(title, "h3")
        yield self._picture(draw_chart(chart, width / _POINTS), width)
        if chart.note:
            yield self.text(chart.note, "small")

    def _picture(self, drawn: DrawnChart, width: float) -> Flowable:
        """A drawing as an image, as large as fits."""
        from reportlab.platypus import Image

        data = BytesIO(png_file(drawn, margin=2))
        return Image(data, width=width, height=_MAX_HEIGHT, kind="proportional", hAlign="LEFT")

    def metrics(self, summary: Summary) -> Iterator[Flowable]:
        """The metrics of each model, and tables that hold them against published figures."""
        for model in summary.by_model.values():
            measured = [(title, metric) for title, metric in model.titled_metrics if metric.value is not None]
            has_published = any(metric.published is not None for _, metric in measured)
            rows = [
                (title, *metric_text(metric), metric.n, *([published_text(metric)] if has_published else []))
                for title, metric in measured
            ]
            if rows:
                yield from self._heading("Metrics" if len(summary.by_model) == 1 else f"Metrics of {model.model}", "h2")
                columns = ("metric", "here", "95 % CI", "n", *(["published"] if has_published else []))
                yield self.table(Table(name="metrics", columns=columns, rows=tuple(rows)))

    def methods(self, summary: Summary, records: RunRecords) -> Iterator[Flowable]:
        """How the run was made."""
        yield from self._heading("Methods", "h2")
        yield from (self.text(f"{name}: {value}", "small") for name, value in methods_of(summary, records))
        yield from (self.text(f"check {name}: {asks}", "small") for name, asks in checks_of(records))

    def tables(self, summary: Summary) -> Iterator[Flowable]:
        """Every table, long ones cut."""
        yield from self._heading("Tables", "h2")
        owned = [("", table) for table in summary.joined_tables()]
        if len(summary.by_model) > 1:
            owned.insert(0, ("", summary.models_table()))
        for model in summary.by_model.values():
            owner = f" – {model.model}" if len(summary.by_model) > 1 else ""
            owned += [(owner, table) for table in model.tables]
        for owner, table in owned:
            yield from self._heading((table.title or table.name) + owner, "h3")
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


_TOP = [("VALIGN", (0, 0), (-1, -1), "TOP"), ("LEFTPADDING", (0, 0), (-1, -1), 0)]
_CELLS = [*_TOP, ("RIGHTPADDING", (0, 0), (-1, -1), _GAP), ("BOTTOMPADDING", (0, 0), (-1, -1), 10)]
_RULES = [
    ("VALIGN", (0, 0), (-1, -1), "TOP"),
    ("LINEBELOW", (0, 0), (-1, 0), 0.6, "#8a8178"),
    ("LINEBELOW", (0, 1), (-1, -1), 0.25, "#e2dcd2"),
    ("TOPPADDING", (0, 0), (-1, -1), 2),
    ("BOTTOMPADDING", (0, 0), (-1, -1), 2),
    ("LEFTPADDING", (0, 0), (-1, -1), 3),
    ("RIGHTPADDING", (0, 0), (-1, -1), 3),
]


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


def _cut(text: str, most: int = _MAX_CELL) -> str:
    return text if len(text) <= most else f"{text[: most - 1]}…"
