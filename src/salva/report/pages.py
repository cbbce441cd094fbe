"""What the pages have in common: one look, one script, filters over exhibits, and a policy that lets nothing else run.

Templates and records in, one HTML file out that needs no server, no network and no second file. Prompts, labels and
text read from images are data: the template escapes them, and no script is built from them.
"""

from __future__ import annotations

import base64
import hashlib
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files

from jinja2 import Environment, FunctionLoader, StrictUndefined, Template
from markupsafe import Markup

from salva.charts.drawing import draw_chart
from salva.charts.formats import cell_text, heading
from salva.charts.scene import DrawnChart
from salva.charts.svg import svg_markup
from salva.core.case import Case
from salva.core.chart import Chart
from salva.core.printable import printable
from salva.core.quantity import quantity
from salva.core.table import Cell, Table
from salva.core.verdict import observers_text
from salva.core.versions import installed_version

LABEL = "label:"
PAGE_SIZE = 10
_MAX_CHOICES = 24
"""A label with more values than this is searched for, not chosen from a list."""
_MAX_CHIP = 40
_WIDE, _HALF, _NARROW = 800, 520, 340
"""Charts are drawn for a whole row of the page or for half of one, and once more for a telephone."""

Tags = Sequence[tuple[str, str]]
"""Every filter and value an exhibit answers to."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Filter:
    """A choice over the exhibits."""

    name: str
    title: str
    values: tuple[str, ...]


def render_page(room: str, template: str, **context: object) -> str:
    """A page from a template that lies with a room of salva's, with the parts that all pages share."""
    style, script = _asset("report.css"), _asset("report.js")
    return template_of(f"{room}/{template}").render(
        # Both are files of ours, whole and constant: nothing of a run is ever put into them.
        style=Markup(style),
        script=Markup(script),
        policy=_policy(style, script),
        **{"page_size": PAGE_SIZE, "version": installed_version("salva") or "", **context},
    )


@cache
def template_of(name: str) -> Template:
    """A template, ROOM/FILE or a file of this room; compiled once a process."""
    return _environment().get_template(name)


@cache
def _environment() -> Environment:
    environment = Environment(
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
        finalize=_printable,
        loader=FunctionLoader(_asset),
    )
    environment.filters |= {"heading": heading}
    environment.globals |= {
        "cell_text": cell_text,
        "is_number": _is_number,
        "observers_text": observers_text,
        "chips": chips,
        "quantity": quantity,
        "tag_text": tag_text,
    }
    return environment


def drawings_of(chart: Chart, *, is_wide: bool) -> Markup:
    """A chart for every width of the page; the style shows the one that fits."""
    return drawn_for_every_width(lambda width: draw_chart(chart, width), is_wide=is_wide)


def drawn_for_every_width(draw: Callable[[float], DrawnChart], *, is_wide: bool = False) -> Markup:
    """Whatever can be drawn at a width, for every width of the page."""
    roomy = svg_markup(draw(_WIDE if is_wide else _HALF), "roomy")
    narrow = svg_markup(draw(_NARROW), "narrow")
    # The writer of SVG escapes every word; its elements and attributes are its own.
    return Markup(roomy + narrow)


def anchors_of(pairs: Iterable[tuple[str, int]]) -> list[str]:
    """What the card of each pair, by case and repeat, is called behind the # of an address; no two alike."""
    taken: Counter[str] = Counter()
    anchors = []
    for case_id, repeat in pairs:
        name = f"case-{case_id}" + (f".{repeat}" if repeat else "")
        taken[name] += 1
        anchors.append(name if taken[name] == 1 else f"{name}.seen-{taken[name]}")
    return anchors


def label_tags(case: Case) -> list[tuple[str, str]]:
    """The labels of a case as tags; one that lists several things answers to each of them."""
    pairs = [(f"{LABEL}{name}", part) for name, value in case.labels.items() for part in value.split(",") if part]
    return [*pairs, ("category", case.category)]


def tag_text(tags: Tags) -> str:
    """Tags, one a line: the name first, then a tab, then the value."""
    return "\n".join(f"{one_line(name)}\t{one_line(value)}" for name, value in tags)


def filters_of(exhibits: Iterable[Tags], titles: dict[str, str]) -> list[Filter]:
    """The labels worth choosing by, then what every exhibit has, by the titles it is given."""
    values: dict[str, dict[str, None]] = {}
    for tags in exhibits:
        for name, value in tags:
            values.setdefault(one_line(name), {})[one_line(value)] = None
    chosen = [name for name in values if name.startswith(LABEL) and len(values[name]) <= _MAX_CHOICES]
    return [
        Filter(
            name=name,
            title=titles.get(name, name.removeprefix(LABEL)),
            values=tuple(sorted(values[name], key=_natural)),
        )
        for name in (*chosen, *titles)
        if len(values.get(name, ())) > 1
    ]


def chips(case: Case) -> list[tuple[str, str]]:
    """Labels as short words, each with its name; a bare number, or none, says of what."""
    short = [(name, value) for name, value in case.labels.items() if "," not in value and len(value) <= _MAX_CHIP]
    return [(name, f"{name} {value}" if value.isdecimal() or value == "none" else value) for name, value in short]


def one_line(text: str) -> str:
    """Text as a tag has it."""
    return " ".join(text.split())


def _natural(value: str) -> tuple[int, str]:
    return (int(value), "") if value.isdecimal() else (-1, value)


def _is_number(table: Table, column: str) -> bool:
    values: Sequence[Cell] = [row[table.columns.index(column)] for row in table.rows]
    return any(isinstance(value, int | float) for value in values)


def _printable(value: object) -> object:
    """What a template prints, with nothing in it that moves or hides other words."""
    if isinstance(value, Markup):
        return Markup(printable(str(value)))  # markup of our own, with less in it
    return printable(value) if isinstance(value, str) else value


def _asset(name: str) -> str:
    room, _, file = name.rpartition("/")
    return (files(f"salva.{room or 'report'}") / "templates" / file).read_text("utf-8")


def _policy(style: str, script: str) -> str:
    """Nothing may load or run but data: pictures and the two blocks with these hashes."""
    return (
        f"default-src 'none'; img-src data:; style-src '{_hash(style)}'; script-src '{_hash(script)}'; "
        "base-uri 'none'; form-action 'none'"
    )


def _hash(text: str) -> str:
    return "sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode("ascii")
