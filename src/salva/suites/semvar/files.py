"""SemVarBench's files: tab-separated or JSON lines, one triple a line, and one more file per category.

Paths come in, triples with their categories and splits go out, together with what is wrong with the data: triples
listed twice, sentences that cannot be what they claim to be, splits that share triples. A line that is no triple is
never skipped: every file is read to its end, and then all such lines are named at once.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from salva.core.case import Finding
from salva.core.quantity import quantity
from salva.errors import FormulaError, UsageError
from salva.files.infiles import file_bytes
from salva.files.tables import shown_problems
from salva.logic.notation import parse
from salva.messages import message
from salva.results.tables import group_by
from salva.suites.semvar.effect import category_name
from salva.suites.semvar.rows import ROLES, TripleRow, bare_sentence, finding

_SUFFIXES = (".txt", ".tsv", ".jsonl")
_NO_DATA = ("readme", "license", "licence", "notice")
_COLUMNS = ("id", "t_a", "t_pv", "t_pi", "category")
_N_NEEDED = 4
_Key = tuple[str, str, tuple[str, str, str]]
"""Split, id and texts of a triple."""
_SPLIT = re.compile(r"(?<![a-z])(train|test)(?:ing)?[-_ ]?(?:set|data)?(?![a-z])")
_CATEGORY_FOLDER = re.compile(r"categor(?:y|ies)$")
_SPLIT_FOLDER = re.compile(r"(train|test)(?:ing)?[-_ ]?set")


class _BadLineError(Exception):
    """What is wrong with one line; it never leaves this file."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Source:
    """A file and what its place says about it."""

    path: Path
    shown: str
    split: str
    category: str
    """Empty for a file of triples of all categories."""


def read_rows(paths: Sequence[str], category_paths: Sequence[str] = ()) -> tuple[TripleRow, ...]:
    """Every triple of the files, once each, with its categories and with what was found wrong with it."""
    sources = [source for path in paths for source in _sources(path)]
    listed_paths = {source.path for source in sources}
    sources += [
        replace(source, category=category_name(source.path.stem))
        for path in category_paths
        for source in _sources(path)
        if source.path not in listed_paths
    ]
    problems: list[str] = []
    listed: list[tuple[_Source, TripleRow]] = []
    for source in sources:
        listed += [(source, row) for row in _read(source, problems)]
    if problems:
        shown = "".join(f"\n  {line}" for line in shown_problems(problems))
        raise UsageError(message("triples-invalid", n=len(problems), paths=", ".join(map(repr, paths)), shown=shown))
    if not listed:
        raise UsageError(message("suite-file-empty", path=", ".join(paths), what="triples", wanted="at least one"))
    return _with_findings(_merged(listed))


def _sources(text: str) -> list[_Source]:
    path = Path(text).expanduser()
    if path.is_dir():
        files = sorted(file for file in path.rglob("*") if file.is_file() and _is_data(file.relative_to(path)))
        if not files:
            raise UsageError(
                message(
                    "suite-file-empty",
                    path=text,
                    what="files of triples",
                    wanted=f"names that end in {', '.join(_SUFFIXES)}",
                )
            )
        return [_source(file, file.relative_to(path).parts[:-1], str(file.relative_to(path))) for file in files]
    if not path.is_file():
        raise UsageError(message("file-missing", path=text))
    return [_source(path, path.resolve().parts[-2:-1], path.name)]


def _is_data(path: Path) -> bool:
    is_hidden = any(part.startswith(".") for part in path.parts)
    return path.suffix.lower() in _SUFFIXES and not is_hidden and not path.stem.lower().startswith(_NO_DATA)


def _source(path: Path, folders: Sequence[str], shown: str) -> _Source:
    in_name = _SPLIT.search(path.stem.lower())
    in_folder = (_SPLIT_FOLDER.match(folder.lower()) for folder in folders)
    split = next((match[1] for match in (in_name, *in_folder) if match), "own")
    is_category = any(_CATEGORY_FOLDER.search(folder.lower()) for folder in folders)
    return _Source(path=path, shown=shown, split=split, category=category_name(path.stem) if is_category else "")


def _read(source: _Source, problems: list[str]) -> Iterator[TripleRow]:
    content = file_bytes(source.path)
    is_json = source.path.suffix.lower() == ".jsonl"
    header: list[str] = []
    # Lines are cut at newlines alone: a sentence may hold other characters that count as ends of lines.
    for number, raw in enumerate(content.removeprefix(b"\xef\xbb\xbf").split(b"\n"), 1):
        where = f"{source.shown} line {number}"
        try:
            line = _decoded(raw)
            if not line.strip():
                continue
            if not is_json and not header and (names := _header(line)):
                header = names
                continue
            fields = _json_fields(line) if is_json else _tab_fields(line, header)
            yield _row(fields, source, where)
        except _BadLineError as error:
            problems.append(f"{where}: {error}")


def _decoded(raw: bytes) -> str:
    try:
        return raw.removesuffix(b"\r").decode()
    except UnicodeDecodeError as error:
        raise _BadLineError(f"is not UTF-8 text: {error.reason} at byte {error.start + 1}") from error


def _header(line: str) -> list[str]:
    names = [name.strip().lower() for name in line.split("\t")]
    return names if set(_COLUMNS[:_N_NEEDED]) <= set(names) else []


def _tab_fields(line: str, header: Sequence[str]) -> Mapping[str, object]:
    values = line.split("\t")
    names = header or _COLUMNS[: max(_N_NEEDED, len(values))]
    is_whole = len(values) == len(names) if header else _N_NEEDED <= len(values) <= len(_COLUMNS)
    if not is_whole:
        wanted = str(len(header)) if header else f"{_N_NEEDED} or {len(_COLUMNS)}"
        raise _BadLineError(f"{quantity(len(values), 'columns')} where {wanted} are wanted: {_short(line)}")
    return dict(zip(names, values, strict=True))


def _json_fields(line: str) -> Mapping[str, object]:
    try:
        fields = json.loads(line)
    except (ValueError, RecursionError) as error:
        raise _BadLineError(f"is no JSON: {_short(line)}") from error
    if not isinstance(fields, dict):
        raise _BadLineError(f"is no JSON object: {_short(line)}")
    return {str(name).lower(): value for name, value in fields.items()}


def _row(fields: Mapping[str, object], source: _Source, where: str) -> TripleRow:
    def text(name: str) -> str:
        value = fields.get(name)
        if not isinstance(value, str | int) or isinstance(value, bool) or not str(value).strip():
            raise _BadLineError(f"{name} is {value!r}, not text")
        return str(value).strip()

    categories = fields.get("categories", fields.get("category", ""))
    if isinstance(categories, str):
        categories = categories.split(",")
    if not isinstance(categories, list) or not all(isinstance(name, str) for name in categories):
        raise _BadLineError(f"category is {categories!r}")
    names = [source.category, *(category_name(name) for name in categories)]
    a, pv, pi = (text(f"t_{role}") for role in ROLES)
    review, template = fields.get("review"), fields.get("template")
    review = review if isinstance(review, str) else ""
    unreviewed = finding("unreviewed", "not reviewed as valid", review)
    return TripleRow(
        row_id=text("id"),
        texts=(a, pv, pi),
        formulas=_formulas(fields.get("formulas")),
        categories=tuple(dict.fromkeys(filter(None, names))),
        split=source.split,
        where=where,
        labels={"review": review} if review else {},
        cluster=f"template {template}" if isinstance(template, str) and template else "",
        findings=() if review in ("", "valid") else (unreviewed,),
    )


def _formulas(given: object) -> tuple[str | None, str | None, str | None]:
    if given is None:
        return (None, None, None)
    if not isinstance(given, dict) or not all(isinstance(given.get(role), str | None) for role in ROLES):
        raise _BadLineError(f"formulas is {given!r}")
    try:
        for role in ROLES:
            parse(given[role]) if given.get(role) else None
    except (FormulaError, UsageError) as error:
        raise _BadLineError(f"formulas: {error}") from error
    return given.get("a"), given.get("pv"), given.get("pi")


def _merged(listed: Iterable[tuple[_Source, TripleRow]]) -> list[TripleRow]:
    """One row per triple and split; category files add their label to a triple that stands elsewhere."""
    rows: dict[_Key, TripleRow] = {}
    first_of_id: dict[tuple[str, str], _Key] = {}
    lines: dict[_Key, list[str]] = {}
    for source, row in sorted(listed, key=lambda one: bool(one[0].category)):
        key = (row.split, row.row_id, row.texts)
        first = first_of_id.setdefault(key[:2], key)
        if source.category and key not in rows and first in rows:
            key = first
            used = finding("other-wording", f"{row.where}; the wording of {rows[key].where} is used")
            rows[key] = replace(rows[key], findings=(*rows[key].findings, used))
        merged = rows.setdefault(key, row)
        rows[key] = replace(merged, categories=tuple(dict.fromkeys((*merged.categories, *row.categories))))
        if not source.category:
            lines.setdefault(key, []).append(row.where)
    for key, where in lines.items():
        if len(where) > 1:
            repeated = finding("listed-again", "; ".join(where), str(len(where)))
            rows[key] = replace(rows[key], findings=(*rows[key].findings, repeated))
    return list(rows.values())


def _with_findings(rows: Sequence[TripleRow]) -> tuple[TripleRow, ...]:
    """The rows with what is wrong with each, alone or beside the others."""
    by_texts = group_by(rows, lambda row: tuple(map(bare_sentence, row.texts)))
    by_id = group_by(rows, lambda row: (row.split, row.row_id))
    examined = []
    for row in rows:
        findings = [*row.findings, *_of_itself(row)]
        findings += _beside(row, by_texts[tuple(map(bare_sentence, row.texts))])
        if namesakes := [other for other in by_id[row.split, row.row_id] if other is not row]:
            findings.append(finding("ambiguous-id", namesakes[0].where, row.row_id))
        examined.append(replace(row, findings=tuple(findings)))
    return tuple(examined)


def _of_itself(row: TripleRow) -> Iterator[Finding]:
    texts = dict(zip(("T_a", "T_pv", "T_pi"), map(bare_sentence, row.texts), strict=True))
    for first, second, so in (
        ("T_pv", "T_pi", "nothing is decided"),
        ("T_pv", "T_a", "no change of meaning"),
        ("T_pi", "T_a", "no other wording"),
    ):
        if texts[first] == texts[second]:
            yield finding("equal-texts", so, first, second)


def _beside(row: TripleRow, same: Sequence[TripleRow]) -> Iterator[Finding]:
    within = [other for other in same if other is not row and other.split == row.split]
    across = [other for other in same if other.split != row.split]
    if within:
        yield finding("same-texts", f"{within[0].row_id} ({within[0].where})")
    if across:
        yield finding("same-texts-in-other-split", across[0].row_id, across[0].split)


def _short(line: str) -> str:
    return repr(line if len(line) <= 60 else f"{line[:59]}…")
