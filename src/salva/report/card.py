"""A run on a card: four lines for a prompt, and for a notebook the interval and a few counterexamples.

Takes a Summary and images. On the card nothing can run: words are escaped, charts and images are images.
"""

from __future__ import annotations

import base64

from salva.charts.interval import draw_interval
from salva.charts.svg import svg_file
from salva.core.printable import printable
from salva.core.quantity import quantity
from salva.core.source import ImageSource
from salva.report.chart_files import rate_with_interval
from salva.report.gallery import Exhibit, make_gallery
from salva.report.headline_text import (
    coverage_text,
    failed_text,
    headline_sentence,
    headline_title,
    notes_of,
    rate_text,
    trust_text,
)
from salva.report.pages import template_of
from salva.report.summary import ModelSummary, Summary

_CHART_WIDTH = 480
_N_EXHIBITS = 3
_MOST_MODELS = 4
"""Of more models than this the rest are counted."""


def card_lines(summary: Summary, place: str) -> tuple[str, str, str, str]:
    """Where the run is, how much was decided, how much failed, and the trust; never more than four lines."""
    shown = list(summary.by_model.values())[:_MOST_MODELS]
    n_more = len(summary.by_model) - len(shown)
    more = f"; {quantity(n_more, 'more models')}" if n_more else ""
    is_one = len(summary.by_model) == 1

    def joined(texts: list[str]) -> str:
        named = texts if is_one else [f"{model.model}: {text}" for model, text in zip(shown, texts, strict=True)]
        return _one_line("; ".join(named) + more)

    return (
        _one_line(f"salva run {place}"),
        _one_line(f"{summary.suite} on {', '.join(summary.models)}:")
        + " "
        + joined([coverage_text(summary, model) for model in shown]),
        joined([headline_sentence(summary, model) for model in shown]),
        joined(["; ".join((f"trust {trust_text(model)}", *notes_of(summary, model))) for model in shown]),
    )


def card_html(summary: Summary, images: ImageSource, place: str) -> str:
    """The same as a fragment of HTML, with the interval of each model and the first counterexamples."""
    gallery = make_gallery(summary, images, _N_EXHIBITS)
    shown = list(summary.by_model.values())[:_MOST_MODELS]
    return template_of("card.html.j2").render(
        summary=summary,
        place=place,
        models=[(model, _interval(model)) for model in shown],
        n_more=len(summary.by_model) - len(shown),
        exhibits=gallery.exhibits[: gallery.n_shown],
        n_fail=gallery.n_fail,
        headline_title=headline_title,
        coverage_text=coverage_text,
        failed_text=failed_text,
        rate_text=rate_text,
        notes_of=notes_of,
        messages_of=_messages,
    )


def _interval(model: ModelSummary) -> str:
    """The picture of the interval as the address of an image, in which no script can run; empty without a rate."""
    drawn = rate_with_interval(model)
    if drawn is None:
        return ""
    return f"data:image/svg+xml;base64,{base64.b64encode(svg_file(draw_interval(drawn, _CHART_WIDTH))).decode('ascii')}"


def _messages(exhibit: Exhibit) -> str:
    failures = exhibit.result.failures
    return "; ".join(dict.fromkeys(one.message for one in failures)) or ", ".join(exhibit.result.failure_types)


def _one_line(text: str) -> str:
    return printable(" ".join(text.split()))
