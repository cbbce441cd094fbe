"""Pairs from published CSV files.

A path comes in, rows go out; whatever is wrong with the file is found in one reading and named line by line.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from importlib import resources
from pathlib import Path

from salva.core.case import Finding
from salva.core.case_sets import slug
from salva.core.exchange import Flaw
from salva.english.sentences import SentenceReading, read_prompt
from salva.errors import UsageError
from salva.files.tables import read_sheet, unusable
from salva.messages import message
from salva.suites.faithfulness.templates import DIMENSION_NAMES, LAW_NAMES
from salva.suites.faithfulness.tifa_files import CLUSTER, CONTRAST_OF, PROMPT_COLUMNS


@dataclass(frozen=True, slots=True, kw_only=True)
class PairRow:
    """One pair of a file."""

    pair_id: str
    slug: str
    """The pair id in the letters of a case id."""
    category_id: str
    law: str
    dimension: str
    texts: tuple[str, str]
    formulas: tuple[str | None, str | None]
    problems: tuple[str, str] = ("", "")
    """Why a prompt has no formula."""
    findings: tuple[Finding, ...] = ()
    contrast_of: str = ""
    """The law that a contrast only seems to follow, where the file says so."""
    cluster: str = ""
    """What pairs about the same entities share; the pair id where the file does not say."""
    names: Mapping[str, str] = field(default_factory=dict)
    """logical_law and semantic_dimension as the file spells them, where that is not how salva would."""


def read_pairs(path: str) -> list[PairRow]:
    """Every pair of a file; a file with anything wrong in it is refused with all that is."""
    ragged: list[Flaw] = []
    sheet = read_sheet(Path(path), ragged)
    if missing := [name for name in PROMPT_COLUMNS if name not in sheet.columns]:
        raise UsageError(
            message(
                "prompts-columns",
                path=str(path),
                missing=", ".join(missing),
                header=",".join(sheet.columns) or "nothing",
            )
        )
    extra = tuple(name for name in sheet.columns if name not in (*PROMPT_COLUMNS, CLUSTER, CONTRAST_OF))
    problems = [f"{flaw.where}: {flaw.what}" for flaw in ragged]
    rows: list[PairRow] = []
    first_at: dict[str, str] = {}
    for where, record in sheet.rows:
        name = slug(record["pair_id"])
        wrong = [f"{where}: no {name}" for name in PROMPT_COLUMNS if not record[name].strip()]
        if not wrong and name in first_at:
            wrong.append(f"{where}: pair_id {record['pair_id']!r} is that of {first_at[name]}")
        elif not wrong and not name:
            wrong.append(f"{where}: pair_id {record['pair_id']!r} has no letter or digit")
        if not wrong and _words(record["prompt_A"]) == _words(record["prompt_B"]):
            wrong.append(f"{where}: equal prompts, {record['prompt_A'].strip()!r}")
        problems += wrong
        if not wrong:
            first_at[name] = where
            rows.append(_row(record, name, extra))
    if problems:
        raise unusable(path, problems)
    if not rows:
        raise UsageError(
            message(
                "suite-file-empty",
                path=str(path),
                what="pairs",
                wanted=f"a line for each under {','.join(PROMPT_COLUMNS)}",
            )
        )
    return rows


def _row(record: Mapping[str, str], name: str, extra: tuple[str, ...]) -> PairRow:
    texts = (record["prompt_A"].strip(), record["prompt_B"].strip())
    readings = [_reading(text) for text in texts]
    unused = Finding(kind="unused-columns", sentence=f"unused columns: {', '.join(extra)}", subject=extra)
    law, dimension = law_of(record["logical_law"]), slug(record["semantic_dimension"])
    ours = {"logical_law": LAW_NAMES.get(law), "semantic_dimension": DIMENSION_NAMES.get(dimension)}
    return PairRow(
        pair_id=record["pair_id"],
        slug=name,
        category_id=record["category_id"],
        law=law,
        dimension=dimension,
        texts=texts,
        formulas=(readings[0].formula, readings[1].formula),
        problems=(readings[0].problem, readings[1].problem),
        findings=(unused,) if extra else (),
        contrast_of=slug(record.get(CONTRAST_OF, "")),
        cluster=record.get(CLUSTER, "").strip() or record["pair_id"],
        names={name: record[name] for name, own in ours.items() if record[name] != own},
    )


def law_of(name: str) -> str:
    """A law as salva writes it."""
    plain = slug(name)
    return "de-morgan" if plain in ("demorgan", "de-morgans") else plain


def _reading(text: str) -> SentenceReading:
    """What a prompt means: of the published file as its table says, else as the grammar reads it."""
    digest = hashlib.sha256(_words(text).encode()).hexdigest()[:12]
    known = _published_formulas().get(digest)
    return SentenceReading(known) if known else read_prompt(text)


@cache
def _published_formulas() -> Mapping[str, str]:
    """The formulas of the published file's prompts, by a digest of the prompt."""
    table = (resources.files(__package__) / "published_formulas.tsv").read_text("utf-8")
    return dict(line.split("\t") for line in table.splitlines()[1:])


def _words(text: str) -> str:
    """A prompt without what no painter reads: capitals, spaces and the full stop."""
    return " ".join(text.casefold().split()).rstrip(".")
