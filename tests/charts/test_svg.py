"""Charts as SVG: text, escaping, and marks."""

from __future__ import annotations

from xml.etree import ElementTree

import pytest
from charts.charts import TABLE, make_chart, make_heat_map
from report.hostile import BREAKOUT, EVERYTHING

from salva.charts.drawing import draw_chart
from salva.charts.svg import svg_file, svg_markup
from salva.core.chart import Chart, ChartKind
from salva.core.table import Table

ELEMENTS = {"svg", "g", "title", "rect", "polyline", "polygon", "circle", "text"}
SVG = "{http://www.w3.org/2000/svg}"


def hostile_chart(kind: ChartKind) -> Chart:
    rows = ((EVERYTHING, f"{BREAKOUT}\x00\x0b", 0.5, 0.4, 0.6, 1), (EVERYTHING, "plain", 0.2, None, None, 2))
    table = Table(name=BREAKOUT, columns=TABLE.columns, rows=rows)
    return make_chart(
        kind,
        table,
        title=EVERYTHING,
        series="" if kind is ChartKind.HEAT_MAP else "model",
        x_label=BREAKOUT,
        y_label=EVERYTHING,
        filters={"category": "label:category", "model": "model"},
    )


@pytest.mark.parametrize("kind", ChartKind)
def test_hostile_text_is_escaped(kind: ChartKind) -> None:
    scene = draw_chart(hostile_chart(kind), 880, has_title=True)
    for text in (svg_file(scene).decode(), svg_markup(scene, "roomy")):
        root = ElementTree.fromstring(text)
        for element in root.iter():
            assert element.tag.removeprefix(SVG) in ELEMENTS
            assert not [name for name in element.attrib if name.startswith("on") or name in ("style", "href", "src")]
        assert "window.hacked" in "".join(root.itertext())


def test_files_are_complete_and_reproducible() -> None:
    data = svg_file(draw_chart(make_chart(), 760, has_title=True))
    assert data == svg_file(draw_chart(make_chart(), 760, has_title=True))
    assert data != svg_file(draw_chart(make_chart(title="Other"), 760, has_title=True))
    assert b"var(" not in data, "a file has its own colours"
    assert b"tabindex" not in data
    words = [text.text for text in ElementTree.fromstring(data).iter(f"{SVG}text")]
    assert "Kappa" in words
    assert "$\\frac{1}{$ 猫 <b>" in words


def test_markup_uses_the_pages_colours_and_marks_take_the_keyboard() -> None:
    text = svg_markup(draw_chart(make_heat_map(), 520), "roomy")
    assert "#" not in text.replace("&#", ""), "only the page's colours"
    root = ElementTree.fromstring(text)
    assert (root.get("class"), root.get("role"), root.get("aria-label")) == ("roomy", "group", "Kappa")
    marks = [element for element in root.iter("g") if element.get("class") == "mark"]
    assert {mark.get("role") for mark in marks} == {"button"}
    assert {mark.get("tabindex") for mark in marks} == {"0"}
    tags = {mark.get("aria-label"): mark.get("data-tags") for mark in marks}
    assert tags["de-morgan, AND: 100.0 % (n 4)"] == "label:law\tde-morgan\nlabel:modifier\tand"
    assert "all, all: 60.0 % (macro)" not in tags, "a total over everything selects nothing"
    plain = ElementTree.fromstring(svg_markup(draw_chart(make_heat_map(filters={}), 520), "roomy"))
    assert plain.get("role") == "img"
    assert "mark" not in {element.get("class") for element in plain.iter()}
