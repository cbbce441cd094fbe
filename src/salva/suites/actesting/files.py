"""Captions from files: COCO's JSON, CSV, JSON lines, a line each; and the sets that ACTesting published.

A path comes in, captions with their image go out, or pairs of captions with the pools that the sets name. What is
wrong with a file is one error that says what and where; what is wrong with a caption is the planner's matter.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import msgspec

from salva.core.decoding import decoded
from salva.core.fingerprint import Json
from salva.core.mutation import Pool, Triple
from salva.english.prompt_files import plain_name
from salva.errors import UsageError
from salva.files.infiles import file_text
from salva.files.tables import Row, read_json, read_rows, unusable
from salva.messages import message

SEEDS = "new-captions_val2017_new"
SETS = {
    "ec": "EC_captions_val2017",
    "er-r": "ER-R_captions_val2017",
    "er-a": "ER-A_captions_val2017",
    "ss": "letter_captions_val2017",
    "ec+er-r": "EC+ER-R_captions_val2017",
    "ec+er-a": "EC+ER-A_captions_val2017",
}
"""Operator to the name of its published set; the synonym baseline is called letter there."""
_TEXTS = ("caption", "prompt", "text")
_IMAGES = ("image_id", "image", "id")


@dataclass(frozen=True, slots=True, kw_only=True)
class Caption:
    """A caption of a file."""

    image: str
    """The image it was written for; its place in the file where none is named."""
    text: str


class _SetEntry(msgspec.Struct, frozen=True):
    """An entry of a published set."""

    image_id: int | str
    caption: str
    classes: list[str]
    triples: list[tuple[str, str, str]]


@dataclass(frozen=True, slots=True, kw_only=True)
class PublishedPair:
    """A caption and a mutant of it, as published."""

    image: str
    operator: str
    texts: tuple[str, str]
    pools: tuple[Pool, Pool]


def is_published(path: str) -> bool:
    """Whether a path is a folder of published sets."""
    return (Path(path).expanduser() / f"{SEEDS}.json").is_file()


def read_captions(path: str) -> list[Caption]:
    """Every caption of a file, in its order; an empty one stays, to be counted."""
    file = Path(path).expanduser()
    if file.is_dir():
        raise UsageError(
            message(
                "suite-file-empty",
                path=path,
                what="captions",
                wanted=f"a file, or {SEEDS}.json",
            )
        )
    captions = list(_captions(file))
    if not captions:
        raise UsageError(message("suite-file-empty", path=path, what="caption", wanted="one a line"))
    return captions


def _captions(file: Path) -> Iterator[Caption]:
    suffix = file.suffix.lower()
    if suffix == ".json":
        yield from _of_objects(file, _annotations(file))
    elif suffix in (".jsonl", ".csv", ".tsv"):
        yield from _of_objects(file, read_rows(file))
    else:
        for number, line in enumerate(file_text(file).splitlines(), 1):
            if line.strip():
                yield Caption(image=f"line-{number}", text=line.strip())


def _annotations(file: Path) -> list[Row[Json]]:
    """The rows of COCO's captions file, or of a list of objects."""
    content = read_json(file)
    rows = content.get("annotations") if isinstance(content, dict) else content
    if not isinstance(rows, list) or not all(isinstance(row, dict) for row in rows):
        wanted = "COCO's annotations, or a list of objects"
        raise UsageError(message("json-shape", path=str(file), where="", wanted=wanted))
    return [Row(f"entry {n}", row) for n, row in enumerate(rows, 1) if isinstance(row, dict)]


def _of_objects(file: Path, rows: Sequence[Row[Json]]) -> Iterator[Caption]:
    problems = []
    for number, (where, row) in enumerate(rows, 1):
        by_name = {plain_name(name): value for name, value in row.items()}
        text = next((by_name[name] for name in _TEXTS if name in by_name), None)
        if not isinstance(text, str):
            problems.append(f"{where}: no text under {', '.join(_TEXTS)}; it has {', '.join(row) or 'nothing'}")
            continue
        image = next((by_name[name] for name in _IMAGES if by_name.get(name) not in (None, "")), f"line-{number}")
        yield Caption(image=str(image), text=text.strip())
    if problems:
        raise unusable(str(file), problems)


def read_published(folder: str) -> list[PublishedPair]:
    """Every pair of the published sets, set by set; sets that are not there are left out."""
    place = Path(folder).expanduser()
    seeds = {str(entry.image_id): entry for entry in _entries(place / f"{SEEDS}.json")}
    pairs: list[PublishedPair] = []
    absent: list[str] = []
    for operator, name in SETS.items():
        file = place / f"{name}.json"
        for entry in _entries(file) if file.is_file() else ():
            image = str(entry.image_id)
            if seed := seeds.get(image):
                texts, pools = (seed.caption, entry.caption), (_pool(seed), _pool(entry))
                pairs.append(PublishedPair(image=image, operator=operator, texts=texts, pools=pools))
            else:
                absent.append(f"{name}: image_id {image} is in no entry of {SEEDS}")
    if absent:
        raise unusable(folder, absent, "mutants without a seed")
    if not pairs:
        raise UsageError(
            message(
                "suite-file-empty",
                path=folder,
                what="set of mutants",
                wanted=", ".join(f"{n}.json" for n in SETS.values()),
            )
        )
    return pairs


def _entries(file: Path) -> list[_SetEntry]:
    return decoded(file_text(file), list[_SetEntry], file)


def _pool(entry: _SetEntry) -> Pool:
    """The pool of an entry; what is named twice is one entity, and triples bring their ends with them."""
    related = [Triple(subject=a, predicate=predicate, object=b) for a, predicate, b in entry.triples]
    ends = (name for triple in related for name in (triple.subject, triple.object))
    return Pool(entities=tuple(dict.fromkeys((*entry.classes, *ends))), triples=tuple(dict.fromkeys(related)))
