"""Prompts from a user's file: one a line, CSV or JSON with named columns, or two text files side by side.

A row has one prompt, or those of a pair or group, formulas where the file gives any, and every other column as a label.
Everything that is wrong with a file is named in one reading.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from salva.core.exchange import Flaw
from salva.core.fingerprint import Json
from salva.errors import FormulaError, UsageError
from salva.files.infiles import file_text
from salva.files.tables import columns_of, parse_json, read_json_lines, read_rows, unusable
from salva.logic.notation import parse, to_notation
from salva.messages import message

NAMES = ("prompt", "caption", "text")
"""What a column of prompts may be called, the first that is there."""
PAIR_NAMES = ("prompt_a", "prompt_b")
EXPECT, FORMULA_BY, ACCEPTED, PARAPHRASED_BY = "expect", "formula_by", "accepted", "paraphrased_by"
SAME, DIFFER = "same", "differ"
_ROLE = re.compile(r"prompt_(?:[a-z0-9]|pv|pi|l[0-9])")
_ACCEPTED = {"yes": True, "true": True, "1": True, "": False, "no": False, "false": False, "0": False}
_CASE_COLUMNS = ("category", "cluster")
"""Labels that say something of a case, by these names however a file writes them."""
_TABLES, _JSON = (".csv", ".tsv"), (".json", ".jsonl", ".ndjson")
_SEPARATORS = re.compile(r"[\s.-]+")
_LINE_ENDS = re.compile(r"\r\n|\r|\n")
_Records = Iterator[tuple[str, dict[str, Json]]]
"""Where an entry stands, and its fields by the names the file gives them."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PromptRow:
    """One entry of a file."""

    where: str
    texts: tuple[str, ...]
    """One prompt, or those of a pair or group."""
    formulas: tuple[str | None, ...]
    """In notation; None where the file gives none, or only a proposal that nobody has accepted."""
    expect: str = ""
    """Of a pair: same, differ, or nothing."""
    formula_by: str = ""
    """The text model that proposed the formulas; empty for a person's."""
    proposals: tuple[str | None, ...] = ()
    """The formulas that it proposed, accepted or not."""
    accepted: str = ""
    """What a person wrote about the proposals: yes, no or nothing."""
    labels: Mapping[str, str] = field(default_factory=dict)
    """Every other column that is filled in."""


def read_prompts(path: Path) -> list[str]:
    """Every prompt of a file, in its order."""
    return [text for row in read_prompt_rows(str(path)) for text in row.texts]


def paraphrased_in(rows: Sequence[PromptRow]) -> dict[str, str]:
    """Prompt to its other wording, of a file that `salva write paraphrases` made."""
    return {row.texts[0]: row.texts[1] for row in rows if PARAPHRASED_BY in row.labels and len(row.texts) == 2}


def prompt_paths(path: str) -> tuple[Path, ...]:
    """The file that a path names, or the two of `a.txt,b.txt`."""
    whole = Path(path).expanduser()
    parts = [part.strip() for part in path.split(",")]
    if whole.exists() or len(parts) != 2 or not all(parts):
        return (whole,)
    return tuple(Path(part).expanduser() for part in parts)


def read_prompt_rows(path: str) -> list[PromptRow]:
    """Every entry of a file, or of two text files; one with anything wrong in it is refused with all that is."""
    files = prompt_paths(path)
    problems: list[str] = []
    records = _of_two(*files, problems) if len(files) == 2 else _records(files[0], problems)
    rows = [row for where, record in records if (row := _row(where, record, problems)) is not None]
    if problems:
        # By the line or entry that each is with.
        in_order = sorted(problems, key=lambda problem: int(problem.split(maxsplit=2)[1].rstrip(":")))
        raise unusable(path, in_order, "entries")
    if not rows:
        raise UsageError(message("file-empty", path=path))
    return rows


def plain_name(name: str) -> str:
    """A column's name as it is looked for."""
    return _SEPARATORS.sub("_", name.strip().lower())


def _records(file: Path, problems: list[str]) -> _Records:
    if file.suffix.lower() not in (*_TABLES, *_JSON):
        for number, line in _lines(file):
            yield f"line {number}", {NAMES[0]: line}
        return
    flaws: list[Flaw] = []
    records = [(where, _flat(entry)) for where, entry in _entries(file, flaws)]
    header = columns_of(file) if file.suffix.lower() in _TABLES else ()
    names = header or tuple(dict.fromkeys(name for _, record in records for name in record))
    if not any(name in NAMES or _ROLE.fullmatch(name) for name in map(plain_name, names)):
        raise UsageError(message("prompt-column-missing", path=str(file), columns=", ".join(names) or "none"))
    problems += [f"{flaw.where}: {flaw.what}" for flaw in flaws]
    yield from records


def _entries(file: Path, flaws: list[Flaw]) -> Iterable[tuple[str, dict[str, Json]]]:
    """The entries of a table or a JSON file; a JSON list may also hold prompts alone."""
    text = file_text(file)
    if text.lstrip().startswith("["):
        content = parse_json(file, text, flaws=flaws)
        listed = content if isinstance(content, list) else []
        return [
            (f"entry {number}", dict[str, Json](entry if isinstance(entry, dict) else {NAMES[0]: entry}))
            for number, entry in enumerate(listed, 1)
        ]
    return read_json_lines(file, flaws) if file.suffix.lower() in _JSON[1:] else read_rows(file, flaws)


def _lines(file: Path) -> Iterator[tuple[int, str]]:
    for number, line in enumerate(_LINE_ENDS.split(file_text(file)), 1):
        if line.strip():
            yield number, line.strip()


def _of_two(first: Path, second: Path, problems: list[str]) -> _Records:
    """Line N of one beside line N of the other; a line that is empty in both is passed over."""
    for file in (first, second):
        if file.suffix.lower() in (*_TABLES, *_JSON):
            raise UsageError(message("prompt-files-not-text", path=str(file)))
    a, b = dict(_lines(first)), dict(_lines(second))
    for number in sorted(a.keys() | b.keys()):
        if number in a and number in b:
            yield f"line {number}", dict(zip(PAIR_NAMES, (a[number], b[number]), strict=True))
        else:
            problems.append(f"line {number}: {message('prompt-missing', column=str(second if number in a else first))}")


def _flat(entry: Mapping[str, Json]) -> dict[str, Json]:
    """The fields of an object; prompts, formulas and labels, as `salva cases` prints them, side by side."""
    flat: dict[str, Json] = {}
    for name, value in entry.items():
        if isinstance(value, dict) and name in ("prompts", "formulas"):
            flat |= {f"{name[:-1]}_{role}": part for role, part in value.items()}
        elif isinstance(value, dict) and name == "labels":
            flat |= value
        elif name not in ("questions", "findings") or isinstance(value, str):
            flat[name] = value
    return flat


def _row(where: str, record: Mapping[str, Json], problems: list[str]) -> PromptRow | None:
    """An entry; what is wrong with it goes to the problems."""
    by_name = {plain_name(name): value for name, value in record.items() if name}
    columns = _columns(by_name)
    texts = [value.strip() if isinstance(value := by_name.get(name), str) else "" for name in columns]
    wrong: list[str] = [
        message("prompt-missing", column=name) for name, text in zip(columns, texts, strict=True) if not text
    ]
    formulas = [_formula(by_name.get(_formula_name(name)), wrong) for name in columns]
    expect, formula_by = _text(by_name.get(EXPECT)).lower(), _text(by_name.get(FORMULA_BY))
    accepted = _text(by_name.get(ACCEPTED)).lower() if formula_by else ""
    if expect not in ("", SAME, DIFFER):
        wrong.append(message("prompt-cell", column=EXPECT, value=expect, wanted="same or differ"))
    if expect == DIFFER and len(columns) == 1:
        wrong.append(message("expect-single"))
    if accepted not in _ACCEPTED:
        wrong.append(message("prompt-cell", column=ACCEPTED, value=accepted, wanted="yes or no"))
    if wrong:
        problems += [f"{where}: {problem}" for problem in wrong]
        return None
    taken = {*columns, EXPECT, FORMULA_BY, *([ACCEPTED] if formula_by else []), "formula", *map(_formula_name, columns)}
    named = ((plain_name(name), name.strip(), value) for name, value in record.items())
    labels = {
        plain if plain in _CASE_COLUMNS else name: _text(value) for plain, name, value in named if plain not in taken
    }
    is_open = bool(formula_by) and not _ACCEPTED[accepted]
    return PromptRow(
        where=where,
        texts=tuple(texts),
        formulas=(None,) * len(formulas) if is_open else tuple(formulas),
        expect=expect,
        formula_by=formula_by,
        proposals=tuple(formulas) if formula_by else (),
        accepted=accepted,
        labels={name: value for name, value in labels.items() if name and value},
    )


def _columns(by_name: Mapping[str, Json]) -> list[str]:
    """The columns that hold an entry's prompts: of a sheet with single prompts and pairs, those that it fills."""
    roles = [name for name in by_name if _ROLE.fullmatch(name)]
    plain = [name for name in NAMES if name in by_name]
    filled = [name for name in plain if _text(by_name[name])]
    if roles and NAMES[0] not in filled and (any(_text(by_name[name]) for name in roles) or not plain):
        return [*PAIR_NAMES] if roles == [PAIR_NAMES[0]] else roles
    return [*filled, *plain, NAMES[0]][:1]


def _formula_name(name: str) -> str:
    return f"formula_{name.removeprefix('prompt_')}" if name.startswith("prompt_") else "formula"


def _formula(value: Json, wrong: list[str]) -> str | None:
    text = _text(value)
    if not text:
        return None
    try:
        return to_notation(parse(text))
    except FormulaError as error:
        wrong.append(message("prompt-formula", formula=text[:80], problem=error.problem))
        return None


def _text(value: Json) -> str:
    if value is None or value == "":
        return ""
    return value.strip() if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
