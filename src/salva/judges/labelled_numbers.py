"""Numbers after their labels in prose, lists and tables, as people read them: `Relevance: 30/50` or `| 物体 | 40 |`.

A reply without the requested form comes in; the numbers of each label go out, and whether the text could mean others.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import lru_cache

TOTAL = "total"
LABELS: Mapping[str, str] = {
    "objects": r"object accuracy|objects|(?:物体|对象)(?:准确[性度率])?",
    "relations": r"relevance|relations|关系|相关[性度]",
    TOTAL: r"total|overall|sum|总分|总计|合计",
}
"""What people write for a number; any other is called by its name."""
SCORE = r"(?:score|rating|points|分数|得分|评分)"
_NUMBER = r"(?P<number>[0-9]{1,4}(?:\.[0-9]{1,6})?)"
_AFTER_LABEL = re.compile(
    rf"[ \t]*{SCORE}?[ \t]*(?:[(（][^()（）\d\n]*[)）])?[ \t]*(?:is\b|[:：=＝→]|[-–—](?=[ \t]))?[ \t|]*\[{{0,2}}[ \t]*"
    rf"{_NUMBER}(?:[ \t]*(?:/|out of)[ \t]*(?P<highest>\d{{1,4}}(?:\.\d{{1,6}})?))?[ \t]*(?:points?|分)?[ \t]*\]{{0,2}}"
    r"(?=[ \t]*(?:[\n,;:|!()（）。，；、]|\.(?!\d)|[-–—][ \t]|or\b|或|\Z))",
    re.ASCII | re.IGNORECASE,
)
_ALTERNATIVE = re.compile(rf"[\W_]*(?:or|perhaps|maybe|或|也许)(?![a-z])\W*(?:{_NUMBER})?", re.IGNORECASE)
_LIST_MARK = re.compile(r"(?:\A[\s,;.|)]*\s|\n[ \t]*)[(（]?(\d{1,2})[.)、][ \t]*\Z", re.ASCII)
_ROW = re.compile(r"[ \t]*\|?(.+?)\|?[ \t]*")
_RULE = re.compile(r"[ \t]*\|?(?:[ \t]*:?-+:?[ \t]*\|)*[ \t]*:?-+:?[ \t]*\|?[ \t]*")


@dataclass(frozen=True, slots=True, kw_only=True)
class LabelledNumbers:
    """What a text says after each label."""

    numbers: Mapping[str, set[float]] = field(default_factory=dict)
    """By label, whatever stands after it as its number."""
    is_certain: bool = True
    """Whether no other number stands where one of these could be meant."""


def labelled_numbers(text: str, scales: Mapping[str, float]) -> LabelledNumbers:
    """The numbers after labels; scales: the highest number of each label, by its name in JSON."""
    text = _without_ranges("\n".join(_without_tables(re.sub(r"[*`#]", "", text).split("\n"))), scales)
    marks = list(_labels(tuple(scales)).finditer(text))
    ends = [*(mark.start() for mark in marks), len(text)][1:]
    numbers: dict[str, set[float]] = {}
    is_certain = True
    for number, (mark, end) in enumerate(zip(marks, ends, strict=True), 1):
        label = str(mark.lastgroup)
        found = _AFTER_LABEL.match(text, mark.end(), end)
        rest = text[found.end() if found else mark.end() : end]
        if found and float(found["highest"] or scales[label]) == scales[label]:
            numbers.setdefault(label, set()).add(float(found["number"]))
            if other := _ALTERNATIVE.match(rest):
                is_certain = False
                numbers[label] |= {float(other["number"])} if other["number"] else set()
            rest = _without_list_mark(rest, number + 1) if number < len(marks) else rest
        elif found:
            is_certain = False
        elif not numbers:
            # Prose that only mentions a label: numbers on its later lines are about the image.
            rest = rest.partition("\n")[0]
        is_certain = is_certain and not any(character.isdigit() for character in rest)
    return LabelledNumbers(numbers=numbers, is_certain=is_certain)


@lru_cache(maxsize=64)
def _labels(names: tuple[str, ...]) -> re.Pattern[str]:
    words = "|".join(f"(?P<{name}>{LABELS.get(name, re.escape(name))})" for name in names)
    return re.compile(rf"(?<![a-z0-9_])(?<![a-z0-9]-)(?:{words})(?![a-z0-9_])", re.IGNORECASE)


def _without_list_mark(text: str, number: int) -> str:
    """Without the mark of the list's next line, such as `2.`."""
    mark = _LIST_MARK.search(text)
    return text[: mark.start()] if mark and int(mark[1]) == number else text


def _without_ranges(text: str, scales: Mapping[str, float]) -> str:
    """Without what only states the scale, such as (0-50 points)."""
    for highest in sorted({*scales.values()}):
        scale = rf"0 ?(?:-|–|—|~|to|至|到) ?{highest:g}(?![\d.]\d|\d)"
        text = re.sub(rf"[(（] ?(?:{scale}|(?:max\.?|out of|满分) ?{highest:g}(?!\d))[^()（）\d\n]*[)）]", "", text)
        text = re.sub(rf"(?<![\d.]){scale}(?: points| ?分)?", "", text)
    return text


def _without_tables(lines: list[str]) -> Iterator[str]:
    """Lines of which a table of labels over one row of numbers stands as one line a label."""
    at = 0
    while at < len(lines):
        table = lines[at : at + 4]
        cells = [_cells(line) for line in table]
        is_table = len(table) > 2 and len(cells[0]) > 1 and "|" in table[1] and _RULE.fullmatch(table[1]) is not None
        if is_table and len(cells[0]) == len(cells[2]) and (len(table) < 4 or "|" not in table[3]):
            yield from (f"{label}: {number}" for label, number in zip(cells[0], cells[2], strict=True))
            at += 3
        else:
            yield lines[at]
            at += 1


def _cells(line: str) -> list[str]:
    found = _ROW.fullmatch(line)
    return [cell.strip() for cell in found[1].split("|")] if found else []
