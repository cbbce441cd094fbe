"""Layouts of image folders: which file belongs to which prompt, seed and repeat.

Each layout lists the images of a folder with their prompts. A file name without spaces and commas gives a prompt in
the same simplified form. Reads names and lists, never pixels.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from salva.core.fingerprint import Json
from salva.errors import UsageError
from salva.files.infiles import file_text
from salva.files.tables import Row, columns_of, parse_json, read_json_lines, read_rows
from salva.generators.folder_cfworld import LAYOUT as CFWORLD
from salva.generators.folder_cfworld import is_of_cfworld, named_images
from salva.imaging.files import SUFFIXES
from salva.messages import message

LAYOUTS = ("manifest", "pairs", "geneval", "compbench", CFWORLD, "ids", "sets", "names")
MANIFESTS = ("manifest.csv", "manifest.jsonl")
PROMPTS_JSON = "prompts.json"
_NUMBERED = re.compile(r"(?P<stem>.+)_(?P<number>\d+)")
_SEEDED = re.compile(r"(?P<stem>.+?)[\W_]+(?:seed[\W_]*)?(?P<number>\d+)", re.IGNORECASE)
_COMPBENCH = re.compile(r"(?P<stem>.+)_(?P<number>\d{6})")


@dataclass(frozen=True, slots=True, kw_only=True)
class ListedImage:
    """An image file and its prompt."""

    path: Path
    prompt: str
    is_simplified: bool = False
    """Whether the prompt is from a file name, so that only its letters and digits are certain."""
    seed: int | None = None
    number: int | None = None
    """Counts the images of a prompt or of all; no seed."""
    repeat: int | None = None
    """None: derived from seeds, numbers or the order of the list."""
    tile: int | None = None
    """The place in a file that holds a grid of images."""


def simplify(prompt: str) -> str:
    """A prompt as in a file name: its words, in lower case, joined by underscores."""
    return re.sub(r"[\W_]+", "_", prompt.casefold()).strip("_")


def detect(folder: Path, listing: Path | None = None) -> tuple[str, ...]:
    """The layouts of a folder: its own, by file names if none fits, and a manifest, which lists additions."""
    if listing is not None:
        return (_kind_of_list(listing),)
    own = _layout_of_pictures(folder)
    return ("manifest", own) if _first_file(folder / name for name in MANIFESTS) else (own,)


def _layout_of_pictures(folder: Path) -> str:
    if any(folder.glob("*/metadata.jsonl")):
        return "geneval"
    # Suites read lists of pairs too, so one may be near any folder; here it must name the images.
    if (pairs := _pairs_list(folder)) is not None and _names_any(pairs, all_images(folder)):
        return "pairs"
    if is_of_cfworld(folder):
        return CFWORLD
    if _prompts_json(folder) is not None:
        return "ids"
    if any(_sets(folder, None)):
        return "sets"
    pictures = _pictures(_samples(folder))
    # Every one of them: a seed can have six digits too.
    return "compbench" if pictures and all(_COMPBENCH.fullmatch(path.stem) for path in pictures) else "names"


def _kind_of_list(listing: Path) -> str:
    """The layout of a list; a folder of caption files is that of sets."""
    if listing.is_dir():
        return "sets" if any(listing.glob("*captions*.json")) else CFWORLD
    if listing.suffix.lower() == ".json":
        return "ids"
    return "pairs" if _is_of_pairs(listing) else "manifest"


def list_layout(folder: Path, layout: str, listing: Path | None = None) -> list[ListedImage]:
    """Every image of a folder with its prompt.

    listing: the manifest or list of prompts, if it has another name or place.
    """
    if listing is not None and layout in ("geneval", "compbench", "names"):
        second, why = f"model.listing={listing}", "this layout reads no list"
        raise UsageError(message("options-conflict", first=f"model.layout={layout}", second=second, why=why))
    readers = {
        "manifest": lambda: _by_manifest(folder, listing),
        "pairs": lambda: _by_pairs(folder, listing),
        "geneval": lambda: _by_geneval(folder),
        "compbench": lambda: _by_compbench(folder),
        CFWORLD: lambda: _by_cfworld(folder, listing),
        "ids": lambda: _by_ids(folder, listing),
        "sets": lambda: _by_sets(folder, listing),
        "names": lambda: _by_names(folder),
    }
    return list(readers[layout]())


def _pictures(folder: Path) -> list[Path]:
    return sorted(path for path in folder.glob("*") if path.suffix.lower() in SUFFIXES and path.is_file())


def _by_manifest(folder: Path, listing: Path | None) -> Iterator[ListedImage]:
    path = listing or _first_file(folder / name for name in MANIFESTS)
    if path is None:
        raise _no_list(folder, f"{' or '.join(MANIFESTS)} with prompt and path")
    for where, row in _rows(path):
        if not row.get("prompt") or not row.get("path"):
            raise _invalid(path, where, f"it needs prompt and path, and has {sorted(row)}")
        yield ListedImage(
            path=folder / str(row["path"]),
            prompt=str(row["prompt"]),
            seed=_whole(row, "seed", path, where),
            repeat=_whole(row, "repeat", path, where),
        )


def _whole(row: Mapping[str, object], name: str, path: Path, where: str) -> int | None:
    value = row.get(name)
    if value is None or value == "":
        return None
    try:
        return int(str(value))
    except ValueError as error:
        values = {"path": str(path), "where": where, "name": name, "value": value, "wanted": "a whole number"}
        raise UsageError(message("value-invalid", **values)) from error


def _by_pairs(folder: Path, listing: Path | None) -> Iterator[ListedImage]:
    """Images/<law>/<category>/<dimension>/<pair>_A.png and _B.png, with a CSV of pair_id, prompt_A, prompt_B."""
    path = listing or _pairs_list(folder)
    if path is None:
        raise _no_list(folder, "CSV with pair_id, prompt_A and prompt_B")
    prompts = {}
    for where, row in _rows(path):
        missing = [name for name in ("pair_id", "prompt_A", "prompt_B") if not row.get(name)]
        if missing:
            raise _invalid(path, where, f"{', '.join(missing)} is empty or missing")
        for side in ("A", "B"):
            prompts[f"{row['pair_id']}_{side}"] = str(row[f"prompt_{side}"])
    files = {path.stem: path for path in all_images(folder)}
    return (ListedImage(path=files[stem], prompt=prompt, repeat=0) for stem, prompt in prompts.items() if stem in files)


def all_images(folder: Path) -> list[Path]:
    """Every image of a folder and its subfolders."""
    return sorted(path for path in folder.rglob("*") if path.suffix.lower() in SUFFIXES)


def _pairs_list(folder: Path) -> Path | None:
    """The CSV of the pairs layout, in the folder or its parent."""
    places = (*sorted(folder.glob("*.csv")), *sorted(folder.absolute().parent.glob("*.csv")))
    return next((path for path in places if _is_of_pairs(path)), None)


def _is_of_pairs(path: Path) -> bool:
    return {"pair_id", "prompt_A", "prompt_B"} <= set(columns_of(path))


def _names_any(pairs: Path, pictures: Iterable[Path]) -> bool:
    """Whether a list of pairs names one of these images <pair_id>_A or _B."""
    ends = {stem for path in pictures if (stem := path.stem).endswith(("_A", "_B"))}
    return bool(ends) and any(f"{row.get('pair_id')}_{side}" in ends for _, row in _rows(pairs) for side in "AB")


def _by_geneval(folder: Path) -> Iterator[ListedImage]:
    """00000/metadata.jsonl with the prompt, 00000/samples/0000.png and so on, by any all-digit names."""
    places = _sort_by_number(path.parent for path in folder.glob("*/metadata.jsonl"))
    samples = {place: _sort_by_number(_pictures(place / "samples")) for place in places}
    numbers = [int(path.stem) for paths in samples.values() for path in paths if path.stem.isdecimal()]
    first = 1 if numbers and min(numbers) == 1 else 0
    for place, pictures in samples.items():
        path = place / "metadata.jsonl"
        prompt = next((str(row["prompt"]) for _, row in _rows(path) if row.get("prompt")), "")
        if not prompt:
            raise UsageError(message("file-empty", path=str(path)))
        for picture in pictures:
            repeat = int(picture.stem) - first if picture.stem.isdecimal() else None
            yield ListedImage(path=picture, prompt=prompt, repeat=repeat)


def _sort_by_number(paths: Iterable[Path]) -> list[Path]:
    """The paths whose names are numbers, in order; all of them if there are none."""
    every = sorted(paths)
    return sorted((path for path in every if path.stem.isdecimal()), key=lambda path: int(path.stem)) or every


def _by_compbench(folder: Path) -> Iterator[ListedImage]:
    """samples/<prompt>_000123.png; the number counts the images of the prompt, or all."""
    for path in _pictures(_samples(folder)):
        match = _COMPBENCH.fullmatch(path.stem)
        if match:
            yield ListedImage(path=path, prompt=match["stem"], is_simplified=True, number=int(match["number"]))


def _samples(folder: Path) -> Path:
    return folder / "samples" if (folder / "samples").is_dir() else folder


def _by_ids(folder: Path, listing: Path | None) -> Iterator[ListedImage]:
    """<id>_<number>.png with a prompts.json of id to prompt, or to an object with text or prompt."""
    path = listing or _prompts_json(folder)
    if path is None:
        raise _no_list(folder, f"{PROMPTS_JSON} from id to prompt")
    prompts = _read_ids(path)
    for picture in _pictures(folder):
        match = _NUMBERED.fullmatch(picture.stem)
        if match and match["stem"] in prompts:
            yield ListedImage(path=picture, prompt=prompts[match["stem"]], seed=int(match["number"]))


def _sets(folder: Path, listing: Path | None) -> Iterator[tuple[Path, Path]]:
    """Folders of images with the list of the same name: in the folder, its parent, or elsewhere."""
    for place in sorted(path for path in folder.iterdir() if path.is_dir()):
        lists = (where / f"{place.name}.json" for where in (listing, folder, folder.absolute().parent) if where)
        if (path := _first_file(lists)) is not None:
            yield place, path


def _by_sets(folder: Path, listing: Path | None) -> Iterator[ListedImage]:
    """<set>/<image_id>_<number>.jpg with a <set>.json that has image_id and caption in each entry."""
    sets = list(_sets(folder, listing))
    if not sets:
        raise _no_list(folder, "<set>.json beside a folder <set>")
    for place, path in sets:
        captions = {str(row.get("image_id")): str(row.get("caption") or "") for _, row in read_rows(path)}
        for picture in _pictures(place):
            # An id may contain underscores.
            ids = (picture.stem.rpartition("_")[0], picture.stem.partition("_")[0], picture.stem)
            image = next((image_id for image_id in ids if image_id in captions), None)
            if image is not None and captions[image]:
                number = picture.stem.removeprefix(f"{image}_")
                repeat = int(number) if number.isdecimal() and len(number) < 4 else None
                yield ListedImage(path=picture, prompt=captions[image], repeat=repeat)


def _prompts_json(folder: Path) -> Path | None:
    return _first_file((folder / PROMPTS_JSON, folder.absolute().parent / PROMPTS_JSON))


def _first_file(paths: Iterable[Path]) -> Path | None:
    return next((path for path in paths if path.is_file()), None)


def _read_ids(path: Path) -> dict[str, str]:
    content = parse_json(path, file_text(path))
    if not isinstance(content, dict):
        raise UsageError(message("json-shape", path=str(path), where="", wanted="an object from id to prompt"))
    texts = {
        name: (value.get("text") or value.get("prompt")) if isinstance(value, dict) else value
        for name, value in content.items()
    }
    prompts = {name: text for name, text in texts.items() if isinstance(text, str) and text}
    if empty := texts.keys() - prompts.keys():
        raise _invalid(path, repr(min(empty)), "it has no prompt")
    return prompts


def _by_cfworld(folder: Path, listing: Path | None) -> Iterator[ListedImage]:
    """<discipline>/<id>_l1.png and the folders of the probes, with the folder of CF-World's prompts."""
    named = named_images(folder, listing, all_images(folder))
    return (ListedImage(path=path, prompt=prompt, repeat=0) for path, prompt in named)


def _by_names(folder: Path) -> Iterator[ListedImage]:
    """<prompt>_<seed>.png or <prompt>.png, with anything for spaces."""
    for path in _pictures(folder):
        match = _SEEDED.fullmatch(path.stem)
        if match:
            yield ListedImage(path=path, prompt=match["stem"], is_simplified=True, seed=int(match["number"]))
        # A prompt may end in a number itself; the request decides.
        yield ListedImage(path=path, prompt=path.stem, is_simplified=True, repeat=0)


def _rows(path: Path) -> Sequence[Row[Json]]:
    return read_rows(path) if path.suffix.lower() == ".csv" else read_json_lines(path)


def _invalid(path: Path, where: str, why: str) -> UsageError:
    return UsageError(message("file-invalid", path=str(path), where=where, why=why))


def _no_list(folder: Path, wanted: str) -> UsageError:
    return UsageError(message("prompt-list-missing", folder=str(folder), wanted=wanted))
