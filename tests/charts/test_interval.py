"""The picture of a failure rate: everything on it lies where its number says, and nothing leaves it."""

from __future__ import annotations

from itertools import pairwise

import pytest
from charts.test_drawing import flat, words_of

from salva.charts.interval import RateWithInterval, draw_interval
from salva.charts.layout import text_width
from salva.charts.scene import BAD, Line, Rect, Text

WIDTH = 400.0


def test_interval_rate_bounds_and_chance_lie_where_their_shares_are() -> None:
    of = RateWithInterval(rate=0.5, low=0.4, high=0.7, bounds=(0.3, 0.8), chance=0.9)
    drawn = draw_interval(of, WIDTH)
    track, interval, rate = (part for part in drawn.parts if isinstance(part, Rect))
    assert (track.x, track.width) == (0, WIDTH)
    assert [interval.x, interval.width] == pytest.approx([160, 120])
    assert rate.x + rate.width / 2 == pytest.approx(200)
    assert rate.fill is not None
    assert rate.fill.role == BAD
    lines = [part for part in drawn.parts if isinstance(part, Line)]
    assert [x for x, _ in lines[0].points] == [pytest.approx(120), pytest.approx(320)]
    assert all(x == pytest.approx(360) for line in lines[3:] for x, _ in line.points)
    assert words_of(drawn) == ["shuffled images 90 %", "50 %", "0 %", "100 %"]


@pytest.mark.parametrize("rate", [0.0, 0.004, 0.05, 0.5, 0.96, 1.0])
@pytest.mark.parametrize("width", [200.0, 520.0])
def test_words_stay_inside_and_do_not_cover_each_other(rate: float, width: float) -> None:
    drawn = draw_interval(RateWithInterval(rate=rate, low=0.0, high=1.0, chance=rate), width)
    foot = sorted((part for part in flat(drawn.parts) if isinstance(part, Text) and part.y > 50), key=lambda t: t.x)
    spans = []
    for text in foot:
        wide = text_width(text.text, text.size)
        left = text.x - {"start": 0.0, "middle": wide / 2, "end": wide}[text.anchor]
        spans.append((left, left + wide))
    assert all(left >= -3 and right <= width + 3 for left, right in spans)
    assert all(one[1] <= other[0] for one, other in pairwise(spans))


def test_without_chance_there_is_no_line_for_it() -> None:
    drawn = draw_interval(RateWithInterval(rate=0.5, low=0.4, high=0.7), WIDTH)
    assert not [part for part in drawn.parts if isinstance(part, Line)]
    assert drawn.label == "Failure rate 50 %, 95 % interval 40 % to 70 %"
