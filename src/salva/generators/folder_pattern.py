"""Images named by a pattern such as {index}_{sample}.png, with a list of prompts.

{sample} counts the images of a prompt, {seed} is a seed, {index} and {number} count the list's prompts from 0 and from
1; any other name is a column of the list. Reads names and the list, never pixels.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from salva.errors import UsageError, invalid_option
from salva.files.infiles import file_text
from salva.files.tables import is_json, parse_json, read_rows
from salva.generators.folder_layouts import ListedImage, all_images
from salva.messages import message

_PLACES = re.compile(r"\{(\w*)\}")
_COUNTS = ("sample", "seed")
_MOST_A_SIDE = 64
"""Images along a side of a grid: every one is listed before the first file is opened."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Pattern:
    """How images are named, and where their prompts are."""

    text: str
    """With {names}, relative to the folder; / separates folders."""
    listing: Path | None
    """A list of prompts: text, a table, JSON, or a folder with one text file a prompt."""
    column: str = ""
    """The list's column of prompts; empty for prompt, in capitals or not."""
    grid: int = 1
    """Every file holds grid by grid images of its prompt, row by row."""

    @property
    def names(self) -> list[str]:
        """The names in braces."""
        return _PLACES.findall(self.text)


def list_pattern(pattern: Pattern, folder: Path) -> list[ListedImage]:
    """Every image whose name fits, with its prompt from the list."""
    _check(pattern)
    keys = [name for name in pattern.names if name not in _COUNTS]
    prompts = {} if keys == ["prompt"] else _prompts(pattern, keys)
    fitting = re.compile(_expression(pattern.text))
    names = {path.relative_to(folder).as_posix(): path for path in all_images(folder)}
    matches = [(path, match) for name, path in names.items() if (match := fitting.fullmatch(name))]
    if names and not matches:
        raise _unfit(pattern, f"the first of {len(names)} images in {str(folder)!r} is {next(iter(names))!r}")
    _check_start(pattern, prompts, [match for _, match in matches])
    return list(_list_matches(pattern, prompts, keys, matches))


def _list_matches(
    pattern: Pattern,
    prompts: Mapping[tuple[str, ...], str],
    keys: Sequence[str],
    matches: Sequence[tuple[Path, re.Match[str]]],
) -> Iterator[ListedImage]:
    for path, match in matches:
        groups = match.groupdict()
        is_simplified = list(keys) == ["prompt"]
        prompt = groups["prompt"] if is_simplified else prompts.get(tuple(_plain(groups[name]) for name in keys))
        if prompt is None:
            continue
        listed = ListedImage(path=path, prompt=prompt, is_simplified=is_simplified)
        if "seed" in groups:
            yield replace(listed, seed=int(groups["seed"]))
        elif "sample" in groups:
            yield replace(listed, number=int(groups["sample"]))
        elif pattern.grid > 1:
            for tile in range(pattern.grid**2):
                yield replace(listed, repeat=tile, tile=tile)
        else:
            yield replace(listed, repeat=0)


def _check(pattern: Pattern) -> None:
    names = pattern.names
    if not any(name not in _COUNTS for name in names) or "" in names or len(set(names)) < len(names):
        raise _unfit(pattern, "it needs {index}, {number}, {prompt} or columns, each once")
    if pattern.listing is None and set(names) - {"prompt", *_COUNTS}:
        raise UsageError(message("flag-needed", flag="--set model.listing=FILE", why="the pattern refers to a list"))
    if pattern.listing is not None and "prompt" in names:
        raise _conflict("model.listing", "{prompt}", "the pattern holds the prompt itself")
    if not 1 <= pattern.grid <= _MOST_A_SIDE:
        raise invalid_option("model.grid", pattern.grid, f"1 to {_MOST_A_SIDE} images a side")
    if pattern.grid > 1 and set(names) & set(_COUNTS):
        raise _conflict("model.grid", "{sample} or {seed}", "a grid counts its images itself")


def _conflict(option: str, name: str, why: str) -> UsageError:
    return UsageError(message("options-conflict", first=option, second=f"{name} in model.pattern", why=why))


def _unfit(pattern: Pattern, why: str) -> UsageError:
    return UsageError(message("pattern-invalid", pattern=pattern.text, why=why))


def _expression(text: str) -> str:
    """The pattern as a regular expression with a group for each name."""
    made = ""
    for number, part in enumerate(_PLACES.split(text)):
        value = "[0-9]+" if part in (*_COUNTS, "number") else "[^/]+"
        made += f"(?P<{part}>{value})" if number % 2 else re.escape(part)
    return made


def _prompts(pattern: Pattern, keys: Sequence[str]) -> dict[tuple[str, ...], str]:
    """Prompts of the list by what names them."""
    assert pattern.listing is not None
    rows = _rows(pattern.listing)
    if not rows:
        raise UsageError(message("file-empty", path=str(pattern.listing)))
    columns = dict.fromkeys(name for row in rows for name in row)
    column = pattern.column or next((name for name in columns if name.casefold() == "prompt"), "")
    if unknown := [name for name in (column, *keys) if name not in (*columns, "index", "number")]:
        values = {"path": str(pattern.listing), "column": unknown[0] or "prompt", "header": ", ".join(columns)}
        raise UsageError(message("column-missing", **values, flag="--set model.column=NAME or in the pattern"))
    prompts: dict[tuple[str, ...], str] = {}
    for place, row in enumerate(rows):
        counted = {"index": str(place), "number": str(place + 1)} | row
        key = tuple(_plain(counted.get(name, "")) for name in keys)
        prompt = row.get(column, "")
        if prompts.setdefault(key, prompt) != prompt:
            shared = ", ".join(f"{name} {counted.get(name, '')!r}" for name in keys)
            raise _unfit(pattern, f"the list has two prompts with {shared}: {prompts[key]!r} and {prompt!r}")
    return {key: prompt for key, prompt in prompts.items() if prompt}


def _rows(listing: Path) -> list[dict[str, str]]:
    if listing.is_dir():
        files = sorted(listing.glob("*.txt"))
        return [{"id": path.stem, "prompt": file_text(path).strip()} for path in files]
    text = file_text(listing)
    if is_json(text):
        content = None if listing.suffix.lower() == ".jsonl" else parse_json(listing, text)
        if isinstance(content, dict):
            # From id to prompt, or to an object that has it.
            return [
                {"id": name, **_texts(value)} if isinstance(value, dict) else {"id": name, "prompt": str(value)}
                for name, value in content.items()
            ]
    elif listing.suffix.lower() == ".txt":
        return [{"prompt": line.strip()} for line in text.splitlines() if line.strip()]
    return [_texts(row) for _, row in read_rows(listing)]


def _texts(row: Mapping[str, object]) -> dict[str, str]:
    return {name: str(value).strip() for name, value in row.items() if isinstance(value, str | int)}


def _plain(value: str) -> str:
    """A number without leading zeros."""
    return str(int(value)) if value.isdecimal() else value


def _check_start(pattern: Pattern, prompts: Mapping[tuple[str, ...], str], matches: Sequence[re.Match[str]]) -> None:
    """Images counted from 1 would each be compared with the previous prompt."""
    if [name for name in pattern.names if name not in _COUNTS] != ["index"]:
        return
    names = {_plain(match["index"]) for match in matches}
    if "0" not in names and ("0",) in prompts and names & {str(len(prompts))} and (str(len(prompts)),) not in prompts:
        raise _unfit(pattern, f"{{index}} counts from 0, but the images run from 1 to {len(prompts)}; write {{number}}")
