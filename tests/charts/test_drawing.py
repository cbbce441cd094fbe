"""Charts as shapes: every kind at every width."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from charts.charts import TABLE, make_chart, make_heat_map

from salva.charts.drawing import draw_chart
from salva.charts.layout import text_width
from salva.charts.reading import MAX_MARKS
from salva.charts.scene import FINE, INK, ON_STRONG, Area, Dots, DrawnChart, Line, Mark, Part, Rect, Text
from salva.core.chart import Chart, ChartKind
from salva.core.table import Cell, Table

WIDTHS = (340.0, 520.0, 880.0)


def flat(parts: tuple[Part, ...]) -> Iterator[Part]:
    for part in parts:
        yield part
        if isinstance(part, Mark):
            yield from part.parts


def words_of(scene: DrawnChart) -> list[str]:
    return [part.text for part in flat(scene.parts) if isinstance(part, Text)]


def marks_of(scene: DrawnChart) -> list[Mark]:
    return [part for part in scene.parts if isinstance(part, Mark)]


def spread_chart(kind: ChartKind) -> Chart:
    """Two series over a dozen names with long ones among them."""
    rows = tuple(
        (f"series {i % 2} of some length", f"a rather long category name, number {i // 2}", i / 24, i / 30, i / 20, i)
        for i in range(24)
    )
    table = Table(name="many", columns=TABLE.columns, rows=rows)
    return make_chart(kind, table, series="" if kind is ChartKind.HEAT_MAP else "model", low="low", high="high")


@pytest.mark.parametrize("kind", ChartKind)
@pytest.mark.parametrize("width", WIDTHS)
def test_shapes_stay_inside_the_drawing(kind: ChartKind, width: float) -> None:
    for chart in (make_chart(kind), spread_chart(kind)):
        scene = draw_chart(chart, width, has_title=True)
        lowest = 0.0
        for part in flat(scene.parts):
            match part:
                case Text():
                    wide = text_width(part.text, part.size * (1.1 if part.is_bold else 1.0))
                    left = part.x - {"start": 0.0, "middle": wide / 2, "end": wide}[part.anchor]
                    # A number may extend beyond its axis by half its width.
                    assert left >= -22
                    assert left + wide <= width + 24, part.text
                    lowest = max(lowest, part.y)
                case Rect():
                    assert part.x >= -0.1
                    assert part.x + part.width <= width + 0.1
                    lowest = max(lowest, part.y + part.height)
                case Line() | Area() | Dots():
                    assert all(-1 <= x <= width + 1 and 0 <= y <= scene.height for x, y in part.points)
        assert lowest <= scene.height + 1
        assert lowest >= scene.height - 40


@pytest.mark.parametrize("kind", ChartKind)
def test_a_table_without_rows_has_a_note(kind: ChartKind) -> None:
    table = Table(name="none", columns=TABLE.columns, rows=())
    assert words_of(draw_chart(make_chart(kind, table), 340)) == ["nothing to draw"]


def test_bars_and_intervals_match_their_values() -> None:
    table = Table(
        name="two", columns=("category", "kappa", "low", "high"), rows=(("a", 0.8, 0.6, 0.9), ("b", 0.4, None, None))
    )
    scene = draw_chart(make_chart(table=table, ends=(0.0, 1.0), low="low", high="high", is_share=True), 520)
    (_, track, bar), (_, _, half) = (
        [part for part in mark.parts if isinstance(part, Rect)] for mark in marks_of(scene)
    )
    assert bar.width == pytest.approx(2 * half.width)
    assert bar.width == pytest.approx(0.8 * track.width)
    (whisker,) = [part for part in flat(scene.parts) if isinstance(part, Line)]
    shares = [(x - track.x) / track.width for x, _ in whisker.points]
    assert shares == pytest.approx([0.6, 0.9])
    assert "80.0 %" in words_of(scene)
    assert "60.0 to 90.0 %" in words_of(scene)


def test_bars_below_zero_extend_to_the_left() -> None:
    table = Table(name="one", columns=("category", "kappa"), rows=(("a", -0.5), ("b", 0.5)))
    first, second = (
        [part for part in mark.parts if isinstance(part, Rect)][2]
        for mark in marks_of(draw_chart(make_chart(table=table, ends=(-1.0, 1.0)), 520))
    )
    assert first.x + first.width == pytest.approx(second.x)


def test_names_are_above_their_bars_on_narrow_screens() -> None:
    beside, above = (draw_chart(make_chart(), width) for width in (520, 340))
    assert above.height > beside.height
    assert [part.x for part in flat(above.parts) if isinstance(part, Text) and part.text == "colour"] == [0]


def test_heat_maps_have_values_counts_and_separate_totals() -> None:
    scene = draw_chart(make_heat_map(), 520)
    titles = {mark.title for mark in marks_of(scene)}
    assert {"commutative, AND: 0.0 % (n 4)", "all, X: 50.0 % (n 4)", "all, all: 60.0 % (macro)"} <= titles
    boxes = [part for mark in marks_of(scene) for part in mark.parts if isinstance(part, Rect)]
    by_line: dict[float, list[Rect]] = {}
    for box in boxes:
        by_line.setdefault(box.y, []).append(box)
    assert [len(line) for line in by_line.values()] == [3, 3, 3], "missing cells are empty"
    first, second, last = sorted(by_line)
    assert last - second > second - first
    for words in ("AND", "X", "100 %", "25 %", "n 8", "macro", "–"):
        assert words in words_of(scene)


def test_cells_select_their_law_and_modifier() -> None:
    chosen = {mark.title.partition(":")[0]: mark.chooses for mark in marks_of(draw_chart(make_heat_map(), 520))}
    assert chosen["de-morgan, AND"] == (("label:law", "de-morgan"), ("label:modifier", "and"))
    assert chosen["de-morgan, all"] == (("label:law", "de-morgan"),)
    assert chosen["all, AND"] == (("label:modifier", "and"),)
    assert chosen["all, all"] == ()
    assert chosen["nothing decided"] == ()
    nameless = Table(name="t", columns=("law", "kappa"), rows=(("", 0.5),))
    chart = make_chart(table=nameless, x="law", filters={"law": "label:law"}, edge="all")
    (bar,) = marks_of(draw_chart(chart, 520))
    assert bar.chooses == (), "nothing has the label ''"


def test_colours_follow_the_value_and_text_stays_readable() -> None:
    for is_high_good in (False, True):
        shades, inks = [], []
        for mark in marks_of(draw_chart(make_heat_map(is_high_good=is_high_good), 520)):
            box, *texts = mark.parts
            if isinstance(box, Rect) and box.fill:
                assert (box.fill.role == FINE) is is_high_good
                shades.append(box.fill.share)
                inks.append({text.fill for text in texts if isinstance(text, Text)})
        assert min(shades) == pytest.approx(0.04)
        assert max(shades) == pytest.approx(0.96)
        assert {shade > 0.8 for shade, ink in zip(shades, inks, strict=True) if ink == {ON_STRONG}} == {True}
        assert {shade > 0.8 for shade, ink in zip(shades, inks, strict=True) if ink == {INK}} == {False}


def test_box_plots_have_quartiles_and_outliers() -> None:
    values = (0.0, 1.0, 2.0, 3.0, 4.0, 40.0)
    table = Table(name="spread", columns=("category", "kappa"), rows=tuple(("a", value) for value in values))
    (mark,) = marks_of(draw_chart(make_chart(ChartKind.BOXES, table, ends=(0.0, 40.0)), 520))
    assert mark.title == "a: median 2.50 (n 6)"
    box = next(part for part in mark.parts if isinstance(part, Rect) and part.fill)
    (dots,) = [part for part in mark.parts if isinstance(part, Dots)]
    pixel = (dots.points[0][0] - box.x) / (40 - 1.25)
    assert box.width == pytest.approx(2.5 * pixel), "from 1.25 to 3.75"
    whisker = next(part for part in mark.parts if isinstance(part, Line))
    assert [(x - box.x) / pixel + 1.25 for x, _ in whisker.points] == pytest.approx([0, 4]), (
        "up to the last value in reach"
    )
    assert len(dots.points) == 1


def test_lines_have_a_legend_and_bands_for_intervals() -> None:
    rows: list[tuple[Cell, ...]] = [(name, n, 0.0, None, None) for name in ("cat", "dog", "cow") for n in (1, 2, 3)]
    rows += [("all", n, 0.5, 0.2, 0.8) for n in (1, 2, 3)]
    table = Table(name="curve", columns=("thing", "n", "rate", "low", "high"), rows=tuple(rows))
    chart = make_chart(
        ChartKind.LINES, table, x="n", y="rate", series="thing", low="low", high="high", edge="all", ends=(0.0, 1.0)
    )
    scene = draw_chart(chart, 520)
    assert {"cat", "dog", "cow", "all"} <= set(words_of(scene))
    assert len([part for part in flat(scene.parts) if isinstance(part, Area)]) == 1
    assert [mark.title for mark in marks_of(scene)][-1] == "all, 1: 0.50, 2: 0.50, 3: 0.50"
    assert {"1", "2", "3"} <= set(words_of(scene)), "every whole number has a tick"


def test_only_several_series_have_a_legend() -> None:
    table = Table(name="s", columns=("m", "c", "k"), rows=(("one", "a", 1.0), ("two", "a", 2.0)))
    assert {"one", "two"} <= set(words_of(draw_chart(make_chart(table=table, x="c", y="k", series="m"), 340)))
    assert "one" not in words_of(draw_chart(make_chart(table=table, x="c", y="k"), 340))


def test_the_number_of_names_that_are_not_drawn_is_shown() -> None:
    table = Table(name="many", columns=("category", "kappa"), rows=tuple((f"c{i}", i / 100) for i in range(100)))
    scene = draw_chart(make_chart(table=table), 520)
    assert len(marks_of(scene)) == MAX_MARKS
    assert [word for word in words_of(scene) if word.startswith(f"{100 - MAX_MARKS} more")]
    assert not [word for word in words_of(draw_chart(make_chart(), 520)) if " more " in word]


def test_charts_of_missing_columns_are_refused() -> None:
    with pytest.raises(ValueError, match="'gamma'"):
        make_chart(y="gamma")
    with pytest.raises(ValueError, match="'law'"):
        make_chart(filters={"law": "label:law"})
    with pytest.raises(ValueError, match="'model'"):
        make_chart(table=Table(name="t", columns=("category", "kappa"), rows=()), is_joined=True)


@pytest.mark.parametrize("width", WIDTHS)
def test_a_name_is_shown_whatever_series_it_is_in(width: float) -> None:
    rows: tuple[tuple[Cell, ...], ...] = (("one", "shared", 0.1), ("two", "shared", 0.2), ("two", "its own", 0.3))
    table = Table(name="by law", columns=("model", "law", "rate"), rows=rows)
    chart = Chart(name="bars", title="Bars", kind=ChartKind.BARS, table=table, x="law", y="rate", series="model")
    assert "its own" in words_of(draw_chart(chart, width))


def lines_in(mark: Mark) -> int:
    return sum(isinstance(part, Line) for part in mark.parts)


@pytest.mark.parametrize("kind", [ChartKind.BARS, ChartKind.HEAT_MAP])
def test_fewer_than_five_results_are_hatched_and_shown_by_their_counts(kind: ChartKind) -> None:
    rows = (("p", "few", 4, 3, 0.75), ("p", "many", 5, 3, 0.6), ("p", "none", 0, 0, None))
    table = Table(name="t", columns=("model", "category", "n", "failed", "rate"), rows=rows)
    columns = {"value": "rate"} if kind is ChartKind.HEAT_MAP else {"y": "rate"}
    scene = draw_chart(make_chart(kind, table, **columns, n="n", is_share=True, ends=(0.0, 1.0)), 520)
    few, many, none = marks_of(scene)
    assert few.title.endswith("few: 3 of 4")
    assert "3 of 4" in words_of(scene)
    assert "n 5" in words_of(scene)
    assert "n 4" not in words_of(scene), "the counts say it"
    assert (lines_in(few) > 5, lines_in(many), lines_in(none)) == (True, 0, 0)
    for line in (part for part in few.parts if isinstance(part, Line)):
        (x0, y0), (x1, y1) = line.points
        assert x1 - x0 == pytest.approx(y0 - y1), "from the lower left to the upper right"
    by_mean = make_chart(kind, table, **dict.fromkeys(columns, "failed"), n="n")
    assert not any(map(lines_in, marks_of(draw_chart(by_mean, 520)))), "no share of the results"


def test_counts_have_whole_numbers_on_their_axis() -> None:
    table = Table(name="t", columns=("category", "n"), rows=(("a", 1), ("b", 2)))
    assert {"0", "1", "2"} <= set(words_of(draw_chart(make_chart(table=table, y="n"), 520)))
    assert not {"0.5", "1.5"} & set(words_of(draw_chart(make_chart(table=table, y="n"), 520)))
