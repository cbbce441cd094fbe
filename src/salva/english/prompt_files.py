"""Prompts from a file of one's own: a line each, CSV or JSON with named columns, two text files side by side.

A path comes in, rows go out: one prompt or the two of a pair, formulas where the file gives any, and every other
column as a label. Names are read in capitals too. What is wrong is found in one reading and named line by line.
Knows nothing of what the prompts are for.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from difflib import get_close_matches
from pathlib import Path

from salva.core.exchange import Flaw
from salva.core.fingerprint import Json
from salva.errors import FormulaError, UsageError
from salva.files.infiles import file_text
from salva.files.tables import read_sheet, unusable
from salva.logic.notation import parse, to_notation
from salva.messages import message

NAMES = ("prompt", "caption", "text")
"""What a column of prompts may be called, the first that is there."""
PAIR_NAMES = ("prompt_a", "prompt_b")
_KNOWN = (*NAMES, *PAIR_NAMES)
_ABOUT_PROMPTS = ("prompt_id", "prompt_idx", "prompt_index", "prompt_no", "prompt_number", "prompt_type")
"""Columns about a prompt that hold none."""
_FORMULAS = ("formula", "formula_a", "formula_b")
CHECK, FORMULA_BY, ACCEPTED, PARAPHRASED_BY = "check", "formula_by", "accepted", "paraphrased_by"
_ACCEPTED = {"yes": True, "true": True, "1": True, "": False, "no": False, "false": False, "0": False}
_CASE_COLUMNS = ("category", "cluster")
"""Labels that say something of a case, by these names however a file writes them."""
_TABLES, _JSON = (".csv", ".tsv"), (".json", ".jsonl", ".ndjson")
_ROLES = re.compile(r"[\s.-]+")
_ID = re.compile(r"\S*\d\S*|\w+ \d+|.+\.(?:png|jpe?g|webp|gif|bmp|tiff?|txt)", re.IGNORECASE)
"""What a name of a prompt looks like, and no name of a field: 17, prompt_1, img-0001, 3f9a, cat.png."""
_MANY = 12
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
    check: str = ""
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
    """Prompt to its other wording, of a file that was written here."""
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
        raise unusable(path, sorted(problems, key=_place), "entries")
    if not rows:
        raise UsageError(f"{path!r} holds no prompt; write one a line, or under a column called prompt")
    return rows


def _place(problem: str) -> int:
    """The line or entry that a problem is with."""
    return int(problem.split(maxsplit=2)[1].rstrip(":"))


def _records(file: Path, problems: list[str]) -> _Records:
    if file.is_dir():
        raise UsageError(f"{str(file)!r} is a folder; name a file of prompts in it")
    suffix = file.suffix.lower()
    if suffix in _TABLES:
        return _of_table(file, problems)
    return _of_json(file, problems) if suffix in _JSON else _of_lines(file)


def _lines(file: Path) -> Iterator[tuple[int, str]]:
    for number, line in enumerate(_LINE_ENDS.split(file_text(file)), 1):
        if line.strip():
            yield number, line.strip()


def _of_lines(file: Path) -> _Records:
    for number, line in _lines(file):
        yield f"line {number}", {NAMES[0]: line}


def _of_two(first: Path, second: Path, problems: list[str]) -> _Records:
    """Line N of one beside line N of the other; a line that is empty in both is passed over."""
    for file in (first, second):
        if file.suffix.lower() in (*_TABLES, *_JSON):
            raise UsageError(f"{str(file)!r} is no text file; two files are read line by line, so save both as .txt")
    a, b = dict(_lines(first)), dict(_lines(second))
    for number in sorted(a.keys() | b.keys()):
        if number in a and number in b:
            yield f"line {number}", dict(zip(PAIR_NAMES, (a[number], b[number]), strict=True))
        else:
            full, empty = map(str, (first, second) if number in a else (second, first))
            problems.append(f"line {number}: a prompt in {full!r} and none in {empty!r}; line by line they are pairs")


def _of_table(file: Path, problems: list[str]) -> _Records:
    ragged: list[Flaw] = []
    sheet = read_sheet(file, ragged)
    _check_columns(file, sheet.columns)
    told = [f"{flaw.where}: {flaw.what}" for flaw in ragged]
    if told and len(sheet.columns) == 1:
        told[0] += "; a prompt with a comma wants quotation marks round it, or save the file as .txt"
    problems += told
    for where, cells in sheet.rows:
        yield where, dict[str, Json](cells)


def _of_json(file: Path, problems: list[str]) -> _Records:
    """A list, COCO's captions file, an object of ids, or a line each; of objects, or of prompts alone."""
    names: dict[str, None] = {}
    records: list[tuple[str, dict[str, Json]]] = []
    for where, entry in _listed(file, problems):
        if not isinstance(entry, dict | str):
            problems.append(f"{where}: an object or a prompt was expected, got {str(entry)[:80]!r}")
            continue
        record: dict[str, Json] = _flat(entry) if isinstance(entry, dict) else {NAMES[0]: entry}
        names |= dict.fromkeys(record)
        records.append((where, record))
    # Of a file with bad lines each is named, also those without a prompt.
    if records and not problems:
        _check_columns(file, tuple(names))
    yield from records


def _listed(file: Path, problems: list[str]) -> list[tuple[str, Json]]:
    """The entries of a JSON file, each with where it stands."""
    text = file_text(file)
    is_whole = file.suffix.lower() == _JSON[0]
    try:
        content: Json = json.loads(text)
    except (ValueError, RecursionError) as error:
        listed: list[tuple[str, Json]] = []
        wrong: list[str] = []
        for number, line in _lines(file):
            try:
                listed.append((f"line {number}", json.loads(line)))
            except (ValueError, RecursionError) as of_line:
                wrong.append(f"line {number} is no JSON: {_what(of_line)}")
        is_lines = any(isinstance(entry, dict) for _, entry in listed) and not text.lstrip().startswith("[")
        if is_whole and wrong and not is_lines:
            raise UsageError(f"{str(file)!r} is no JSON: {error}") from error
        problems += wrong
        return listed
    return [(f"entry {n}", entry) for n, entry in enumerate(_entries(content, is_whole=is_whole), 1)]


def _what(error: Exception) -> str:
    return f"{error.msg} at column {error.colno}" if isinstance(error, json.JSONDecodeError) else str(error)


def _entries(content: Json, *, is_whole: bool) -> list[Json]:
    """The entries of a JSON file; of an object that is id to prompt, or id to object, each with its id as a label.

    is_whole: the object is all of a file, and not the one line of another.
    """
    if not isinstance(content, dict):
        return content if isinstance(content, list) else [content]
    for name in ("annotations", "prompts"):
        if isinstance(listed := content.get(name), list):
            return listed
    names, values = {*map(plain_name, content)}, content.values()
    if is_whole and content and _are_ids(content) and all(isinstance(value, str) for value in values):
        return [{"id": key, NAMES[0]: value} for key, value in content.items()]
    if content and not {"prompts", "labels"} & names and all(isinstance(value, dict) for value in values):
        return [{"id": key, **value} for key, value in content.items() if isinstance(value, dict)]
    return [content]


def _are_ids(content: Mapping[str, Json]) -> bool:
    """Whether names are those of many prompts, and not of the fields of one."""
    if all(map(_ID.fullmatch, map(str.strip, content))):
        return True
    # Nobody describes one prompt in so many fields, each of them a phrase.
    is_one_entry = len(content) < _MANY or any(name in _KNOWN for name in map(plain_name, content))
    return not is_one_entry and all(" " in str(value).strip() for value in content.values())


def _flat(entry: Mapping[str, Json]) -> dict[str, Json]:
    """The fields of an object; prompts and formulas by role and labels, as `salva cases` prints them, side by side."""
    flat: dict[str, Json] = {}
    for name, value in entry.items():
        if isinstance(value, dict) and name in ("prompts", "formulas"):
            flat |= {f"{name[:-1]}_{role}": part for role, part in value.items()}
        elif isinstance(value, dict) and name == "labels":
            flat |= value
        elif name not in ("questions", "findings") or isinstance(value, str):
            flat[name] = value
    return flat


def plain_name(name: str) -> str:
    """A column's name as it is looked for."""
    return _ROLES.sub("_", name.strip().lower())


def _check_columns(file: Path, columns: Sequence[str]) -> None:
    plain = {plain_name(name): name for name in columns}
    if any(map(_is_prompt, plain)):
        return
    close = next((name for name in plain if get_close_matches(name, _KNOWN, n=1)), None)
    meant = f" Did you mean {get_close_matches(close, _KNOWN, n=1)[0]!r} by {plain[close]!r}?" if close else ""
    change = "Name the column in the first line"
    if file.suffix.lower() in _JSON:
        change = "Give a list of prompts, or of objects with a prompt, an object a line, an object of ids and prompts"
    got = ", ".join(repr(name) for name in columns[:12]) or "an empty file"
    raise UsageError(
        f"{str(file)!r} has no column prompt, or prompt_a and prompt_b (caption and text will do too); got {got}."
        f"{meant} {change}, or save the prompts alone as .txt"
    )


def _is_prompt(plain: str) -> bool:
    return plain in NAMES or _is_role(plain)


def _is_role(plain: str) -> bool:
    return plain.startswith("prompt_") and plain not in _ABOUT_PROMPTS


def _row(where: str, record: Mapping[str, Json], problems: list[str]) -> PromptRow | None:
    """An entry; what is wrong with it goes to the problems."""
    by_name = {plain_name(name): value for name, value in record.items() if name}
    has_roles = NAMES[0] not in by_name or PAIR_NAMES[0] in by_name
    roles = [name for name in by_name if has_roles and _is_role(name)]
    places = roles or [next((name for name in NAMES if name in by_name), NAMES[0])]
    texts = [value.strip() for name in places if isinstance(value := by_name.get(name), str)]
    if len(texts) < len(places) or not all(texts):
        problems.append(f"{where}: {_gap(places, by_name)}")
        return None
    if places == [PAIR_NAMES[0]]:
        problems.append(f"{where}: prompt_a and no prompt_b; a prompt by itself stands under prompt")
        return None
    formulas = [_formula(where, by_name.get(_formula_name(name)), problems) for name in places]
    formula_by, accepted = _text(by_name.get(FORMULA_BY)), _text(by_name.get(ACCEPTED)).lower()
    if formula_by and accepted not in _ACCEPTED:
        problems.append(f"{where}: {message('accepted-unknown', value=accepted)}")
        return None
    is_open = bool(formula_by) and not _ACCEPTED[accepted]
    taken = {*places, CHECK, FORMULA_BY, *((ACCEPTED,) if formula_by else ()), *map(_formula_name, places), *_FORMULAS}
    labels = {_label_name(name): _text(value) for name, value in record.items() if plain_name(name) not in taken}
    return PromptRow(
        where=where,
        texts=tuple(texts),
        formulas=(None,) * len(formulas) if is_open else tuple(formulas),
        check=_text(by_name.get(CHECK)).lower(),
        formula_by=formula_by,
        proposals=tuple(formulas) if formula_by else (),
        accepted=accepted if formula_by else "",
        labels={name: value for name, value in labels.items() if name and value},
    )


def _label_name(name: str) -> str:
    plain = plain_name(name)
    return plain if plain in _CASE_COLUMNS else name.strip()


def _gap(places: Iterable[str], by_name: Mapping[str, Json]) -> str:
    """Which prompt an entry lacks, and what it has instead."""
    name = next(name for name in places if not (isinstance(value := by_name.get(name), str) and value.strip()))
    if name not in by_name:
        return f"no {name}; it has {', '.join(map(repr, by_name)) or 'nothing'}"
    value = by_name[name]
    return f"no {name}" if value is None or isinstance(value, str) else f"{name} is {str(value)[:40]}, which is no text"


def _formula_name(name: str) -> str:
    return f"formula_{name.removeprefix('prompt_')}" if name.startswith("prompt_") else "formula"


def _formula(where: str, value: Json, problems: list[str]) -> str | None:
    text = _text(value)
    if not text:
        return None
    try:
        return to_notation(parse(text))
    except FormulaError as error:
        problems.append(f"{where}: the formula {text[:80]!r} cannot be read: {error.problem}")
        return None


def _text(value: Json) -> str:
    if value is None or value == "":
        return ""
    return value.strip() if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
