"""A run on a card: four lines for a prompt, and for a notebook the rate, the first chart and a few counterexamples.

Takes records and pictures. On the card nothing can run: words are escaped, charts and pictures are images.
"""

from __future__ import annotations

import base64
from importlib.resources import files

from jinja2 import Environment, StrictUndefined

from salva.charts.drawing import draw_chart
from salva.charts.formats import figure_text, percent
from salva.charts.svg import svg_file
from salva.core.printable import printable
from salva.core.quantity import quantity
from salva.core.source import ImageSource, RunRecords
from salva.report.chart_files import all_charts
from salva.report.gallery import Exhibit, make_gallery
from salva.report.lead import averaged_over, decided_of, interval_of, title_of, untried, warning_of
from salva.report.summary import ModelSummary, Summary

_TEMPLATES = files("salva.report") / "templates"
_CHART_WIDTH = 560
_N_EXHIBITS = 3
_MOST_MODELS = 4
"""Of more models than this the rest are counted."""


def card_lines(summary: Summary, place: str) -> tuple[str, str, str, str]:
    """Where the run is, what it asked, what leads, and how the verdicts came out; never more than four lines."""
    asked = summary.asked
    size = f", size {asked.size}, repeats {asked.repeats}, seed {asked.seed}" if asked.size else ""
    shown = summary.by_model[:_MOST_MODELS]
    n_more = len(summary.by_model) - len(shown)
    more = f"; {quantity(n_more, 'more models')}" if n_more else ""
    is_one = len(summary.by_model) == 1
    return (
        _one_line(f"salva run {place}"),
        _one_line(f"{summary.suite} on {', '.join(summary.models)}: {quantity(summary.cases, 'cases')}{size}"),
        _one_line("; ".join(("" if is_one else f"{m.model}: ") + _leads(m, summary.unit) for m in shown) + more),
        _one_line("; ".join(("" if is_one else f"{m.model}: ") + _counts(m) for m in shown) + _warnings(summary)),
    )


def card_html(summary: Summary, records: RunRecords, images: ImageSource, place: str) -> str:
    """The same as a fragment of HTML, with the first chart and the first counterexamples."""
    environment = Environment(
        autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True, finalize=_legible
    )
    gallery = make_gallery(records, images, _N_EXHIBITS)
    exhibits = gallery.exhibits[: min(gallery.n_shown, _N_EXHIBITS)]
    return environment.from_string((_TEMPLATES / "card.html.j2").read_text("utf-8")).render(
        summary=summary,
        lines=card_lines(summary, place),
        chart=_first_chart(summary),
        exhibits=exhibits,
        n_fail=gallery.n_fail,
        broke=_broke,
    )


def _leads(model: ModelSummary, unit: str) -> str:
    n_own = 2 if not model.has_rate else 1 if model.own_figure else 0
    said = [f"{figure.title} {figure_text(figure)[0]}" for figure in model.key_figures[:n_own]]
    figure = model.leading.figure
    if model.has_rate:
        rate = f"{title_of(model.leading)} {percent(model.failure_rate)} (95 %: {interval_of(model.leading)})"
        over = f" of {decided_of(figure, unit)}{averaged_over(figure)}" if figure else f", no decided {unit}"
        said.append(f"{rate}{over}")
    return ", ".join(said)


def _counts(model: ModelSummary) -> str:
    unjudged = f", {model.n_unjudged} not judged yet" if model.n_unjudged else ""
    return ", ".join(f"{n} {outcome}" for outcome, n in model.outcomes.items()) + unjudged


def _warnings(summary: Summary) -> str:
    """What is to be said of the run, and of each model; by name where there are several."""
    said = [untried(summary.preflight, summary.preflight_about)]
    for model in summary.by_model:
        warning = warning_of(model.leading)
        said.append(f"{model.model}: {warning}" if warning and len(summary.by_model) > 1 else warning)
    return "".join(f"; {warning}" for warning in said if warning)


def _first_chart(summary: Summary) -> tuple[str, str] | None:
    """The chart a report leads with as the address of an image, in which no script can run, and its title."""
    chart = next((chart for _, chart in all_charts(summary)), None)
    if chart is None or not chart.table.rows:
        return None
    drawn = base64.b64encode(svg_file(draw_chart(chart, _CHART_WIDTH, has_title=True))).decode("ascii")
    return f"data:image/svg+xml;base64,{drawn}", chart.title


def _broke(exhibit: Exhibit) -> str:
    failures = [
        *(f.message for shot in exhibit.shots for f in shot.failures),
        *(f.message for f in exhibit.shared_failures),
    ]
    return "; ".join(dict.fromkeys(failures)) or ", ".join(exhibit.verdict.failure_types)


def _one_line(text: str) -> str:
    return printable(" ".join(text.split()))


def _legible(value: object) -> object:
    return printable(value) if isinstance(value, str) else value
