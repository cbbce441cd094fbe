"""Pairs of prompts from CSV files in the published columns.

A path comes in, rows go out; whatever is wrong with the file is found in one reading and named line by line.
"""

from __future__ import annotations

import csv
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from salva.core.case import Finding
from salva.errors import UsageError
from salva.suites.faithfulness.reading import read_prompts
from salva.suites.faithfulness.templates import DIMENSION_NAMES, LAW_NAMES

COLUMNS = ("pair_id", "category_id", "logical_law", "semantic_dimension", "prompt_A", "prompt_B")
_N_SHOWN = 20


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """One pair of a file."""

    pair_id: str
    slug: str
    """The pair id in the letters of a case id."""
    category_id: str
    law: str
    dimension: str
    texts: tuple[str, str]
    formulas: tuple[str | None, str | None]
    findings: tuple[Finding, ...] = ()
    names: Mapping[str, str] = field(default_factory=dict)
    """logical_law and semantic_dimension as the file spells them, where that is not how salva would."""


def read_pairs(path: str) -> list[Row]:
    """Every pair of a file; a file with anything wrong in it is refused with all that is."""
    records, problems, extra = _records(Path(path))
    rows: list[Row] = []
    first_at: dict[str, int] = {}
    for line, record in records:
        slug = _slug(record["pair_id"])
        wrong = [f"line {line}: no {name}" for name in COLUMNS if not record[name].strip()]
        if not wrong and slug in first_at:
            wrong.append(f"line {line}: pair_id {record['pair_id']!r} is that of line {first_at[slug]}")
        elif not wrong and not slug:
            wrong.append(f"line {line}: pair_id {record['pair_id']!r} has no letter or digit")
        problems += wrong
        if not wrong:
            first_at[slug] = line
            rows.append(_row(record, slug, extra))
    if problems:
        shown = "".join(f"\n  {problem}" for problem in problems[:_N_SHOWN])
        left = f"\n  and {len(problems) - _N_SHOWN} more" if len(problems) > _N_SHOWN else ""
        raise UsageError(f"{path!r} has {len(problems)} rows that cannot be used:{shown}{left}")
    if not rows:
        raise UsageError(f"{path!r} has no pairs; expected a line for each under {','.join(COLUMNS)}")
    return rows


def _records(path: Path) -> tuple[list[tuple[int, dict[str, str]]], list[str], tuple[str, ...]]:
    """The lines of the file with their numbers, what is wrong with their shape, and columns nobody asked for."""
    try:
        with path.open(encoding="utf-8-sig", newline="") as file:
            reader = csv.reader(file, strict=True)
            header = [name.strip() for name in next(reader, [])]
            missing = [name for name in COLUMNS if name not in header]
            if missing:
                raise UsageError(
                    f"{str(path)!r} has no column {', '.join(missing)}; expected {','.join(COLUMNS)}, "
                    f"got {','.join(header) or 'an empty file'}"
                )
            twice = sorted({name for name in header if header.count(name) > 1})
            if twice:
                raise UsageError(f"{str(path)!r} has the column {twice[0]!r} twice; keep one")
            records, problems = [], []
            for cells, line in _lines(reader):
                if len(cells) != len(header):
                    problems.append(f"line {line}: {len(cells)} cells under {len(header)} columns")
                else:
                    records.append((line, dict(zip(header, cells, strict=True))))
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        raise UsageError(f"suite.path {str(path)!r} cannot be read as CSV in UTF-8: {error}") from error
    return records, problems, tuple(name for name in header if name not in COLUMNS)


def _lines(reader: Iterator[list[str]]) -> Iterator[tuple[list[str], int]]:
    """Every line that is not empty, with the number of its first physical line."""
    start = 2
    for cells in reader:
        if cells:
            yield cells, start
        start = getattr(reader, "line_num", start) + 1


def _row(record: Mapping[str, str], slug: str, extra: tuple[str, ...]) -> Row:
    texts = (record["prompt_A"].strip(), record["prompt_B"].strip())
    readings = read_prompts(*texts)
    findings = []
    if readings.surface and any(readings.formulas):
        sentence = "what both prompts stand on is taken for a backdrop and is in no formula"
        findings.append(Finding(kind="surface-left-out", sentence=sentence, subject=(readings.surface,)))
    if extra:
        sentence = f"the file has columns that are not used: {', '.join(extra)}"
        findings.append(Finding(kind="unused-columns", sentence=sentence, subject=extra))
    law, dimension = _slug(record["logical_law"]), _slug(record["semantic_dimension"])
    law = {"demorgan": "de-morgan", "de-morgans": "de-morgan"}.get(law, law)
    names = {}
    if LAW_NAMES.get(law) != record["logical_law"]:
        names["logical_law"] = record["logical_law"]
    if DIMENSION_NAMES.get(dimension) != record["semantic_dimension"]:
        names["semantic_dimension"] = record["semantic_dimension"]
    return Row(
        pair_id=record["pair_id"],
        slug=slug,
        category_id=record["category_id"],
        law=law,
        dimension=dimension,
        texts=texts,
        formulas=readings.formulas,
        findings=tuple(findings),
        names=names,
    )


def _slug(text: str) -> str:
    return re.sub(r"[^a-z0-9]+", "-", text.lower()).strip("-")
