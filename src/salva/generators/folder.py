"""Generator: existing images, found by prompt and seed or repeat.

A missing image only affects its own cases. All missing images can be listed in a file, which becomes the folder's
manifest once they exist.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import ClassVar

from salva.core.about import Habits
from salva.core.fingerprint import fingerprint
from salva.core.image import Picture
from salva.core.options import option
from salva.core.protocols import Rendered, RenderRequest
from salva.core.quantity import quantity
from salva.errors import BackendError, SalvaError, UsageError
from salva.generators.folder_layouts import (
    LAYOUTS,
    ListedImage,
    detect,
    list_layout,
    simplify,
)
from salva.generators.folder_pattern import Pattern, list_pattern
from salva.generators.folder_repeats import assign_repeats, key_of
from salva.imaging.files import ImageError, as_image, decode_picture
from salva.messages import Message, message

_LONGEST_NAME = 200
_N_SHOWN = 5


class FolderImages:
    """Images you already have, by manifest, by a known layout or by their file names."""

    @dataclass(frozen=True, slots=True, kw_only=True)
    class Options:
        """Where the images are, and how they are named."""

        path: str = option("", "The folder.", target=True)
        layout: str = option("auto", "How images are named; auto: by the files.", choices=("auto", *LAYOUTS))
        listing: str = option("", "The manifest or list of prompts.", reaches="file")
        missing: str = option("", "A file to list missing images in.", keyed=False, reaches="file")
        pattern: str = option(
            "", "File names with {index} (from 0), {number} (from 1), {prompt} or a column; {sample} or {seed}."
        )
        column: str = option("", "With a pattern: the column of prompts.")
        grid: int = option(1, "With a pattern: the images a side of every file.")
        made_by: str = option("", "What generated them, for the embedded observers.", choices=("", "painter", "pocket"))

    version: ClassVar[str] = "1"
    habits: ClassVar[Habits] = Habits(batch_size=4)

    def __init__(self, options: Options) -> None:
        self.options = options
        self._folder = Path(options.path).expanduser()
        if not self._folder.is_dir():
            raise UsageError(message("file-missing", path=options.path))
        listing = Path(options.listing).expanduser() if options.listing else None
        by_layout = _by_layout(self._folder, options, listing)
        if not options.missing and not any(by_layout.values()):
            raise UsageError(message("folder-empty", folder=options.path))
        self._layout = " and ".join(by_layout)
        self._by_seed: dict[tuple[str, int], list[ListedImage]] = {}
        self._by_repeat: dict[tuple[str, int], list[ListedImage]] = {}
        self._seeds: dict[int, int] = {}
        """The folder's own seed of a repeat, if known."""
        # Each for itself, because numbers have different meanings in layouts. The first layout takes precedence.
        for pictures in by_layout.values():
            for picture in pictures:
                if picture.seed is not None:
                    self._by_seed.setdefault((key_of(picture), picture.seed), []).append(picture)
            by_repeat, seeds = assign_repeats(pictures)
            for place, candidates in by_repeat.items():
                self._by_repeat.setdefault(place, []).extend(candidates)
            self._seeds = self._seeds or seeds
        self._prompts_by_name: dict[str, str] = {}
        self._missing: dict[tuple[str, int], RenderRequest] = {}
        self._blank: dict[str, None] = {}
        self._n_given = 0

    def render(self, requests: Sequence[RenderRequest]) -> Sequence[Rendered | SalvaError]:
        """One image or error per request."""
        return [self._render(request) for request in requests]

    def close(self) -> None:
        """Report images that are missing or of one colour; list the missing ones if the user named a file."""
        if self._blank:
            images = quantity(len(self._blank), "images are", "image is")
            _note(message("images-blank", images=images, shown=_first_few(list(self._blank))))
        if self.options.missing:
            try:
                self._list_missing(Path(self.options.missing).expanduser())
            except OSError as error:
                _note(message("file-unwritable", path=self.options.missing, why=error))
        if self._missing:
            self._note_missing()

    def _note_missing(self) -> None:
        prompts = list(dict.fromkeys(repr(request.prompt.text) for request in self._missing.values()))
        instead = "List them all with --set model.missing=FILE."
        others = dict.fromkeys(listed.path.name for each in self._by_repeat.values() for listed in each)
        if others and not self._n_given:
            instead = f"There are other files ({_first_few(list(others))}); set model.pattern."
        elif self.options.missing:
            instead = f"{self.options.missing} lists all of them."
        values = {"images": quantity(len(self._missing), "images"), "prompts": quantity(len(prompts), "prompts")}
        where = {"folder": str(self._folder), "layout": self._layout, "shown": _first_few(prompts)}
        _note(message("folder-incomplete", **values, **where, instead=instead))

    def _list_missing(self, list_path: Path) -> None:
        """Write the list; an empty one if no image is missing."""
        rows = [
            {"prompt": r.prompt.text, "seed": r.seed, "repeat": r.repeat, "path": path}
            for r, path in zip(self._missing.values(), _file_names(self._missing.values()), strict=True)
        ]
        if rows or self._n_given:
            list_path.write_text("".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows), encoding="utf-8")

    def _render(self, request: RenderRequest) -> Rendered | SalvaError:
        try:
            listed = self._find(request)
        except BackendError as error:
            return error
        if listed is None or not listed.path.is_file():
            # An image from another seed than the folder's could not be compared with the others.
            wanted = replace(request, seed=self._seeds.get(request.repeat, request.seed))
            self._missing[wanted.prompt.text, wanted.seed] = wanted
            where = f"no file {str(listed.path)!r}" if listed else f"none in {str(self._folder)!r} by {self._layout}"
            values = {"prompt": wanted.prompt.text, "seed": wanted.seed, "repeat": wanted.repeat, "where": where}
            return BackendError(message("image-not-listed", **values), is_retryable=False)
        try:
            picture = _tile(decode_picture(listed.path.read_bytes()), listed.tile, self.options.grid)
        except (OSError, ImageError) as error:
            why = f"it is {error.why}" if isinstance(error, ImageError) else error
            return BackendError(message("file-unreadable", path=str(listed.path), why=why), is_retryable=False)
        self._n_given += 1
        if picture.rgb == picture.rgb[:3] * (picture.width * picture.height):
            self._blank[str(listed.path)] = None
        return Rendered(picture=picture, provenance={"file": str(listed.path)})

    def _find(self, request: RenderRequest) -> ListedImage | None:
        text = request.prompt.text.strip()
        keys = dict.fromkeys((text, simplify(text)))
        candidates = [
            listed
            for places, number in ((self._by_seed, request.seed), (self._by_repeat, request.repeat))
            for key in keys
            for listed in places.get((key, number), ())
        ]
        # A list may name a file that is gone and, further down, its replacement.
        listed = next((listed for listed in candidates if listed.path.is_file()), candidates[0] if candidates else None)
        if listed is not None and listed.is_simplified:
            first = self._prompts_by_name.setdefault(simplify(text), text)
            if first != text:
                raise BackendError(message("file-names-ambiguous", prompt=text, other=first), is_retryable=False)
        return listed


def _by_layout(folder: Path, options: FolderImages.Options, listing: Path | None) -> dict[str, list[ListedImage]]:
    """The folder's images by its layouts; a manifest adds to a pattern, too."""
    if not options.pattern:
        if options.column or options.grid != 1:
            why = "column and grid belong to a pattern"
            raise UsageError(message("flag-needed", flag="--set model.pattern=PATTERN", why=why))
        layouts = detect(folder, listing) if options.layout == "auto" else (options.layout,)
        return {layout: list_layout(folder, layout, listing) for layout in layouts}
    if options.layout != "auto":
        values = {"first": "model.pattern", "second": f"model.layout={options.layout}"}
        raise UsageError(message("options-conflict", **values, why="both name images"))
    pattern = Pattern(text=options.pattern, listing=listing, column=options.column, grid=options.grid)
    by_manifest = {name: list_layout(folder, name) for name in detect(folder) if name == "manifest"}
    return by_manifest | {f"the pattern {options.pattern}": list_pattern(pattern, folder)}


def _note(text: Message) -> None:
    print(f"salva: {text}", file=sys.stderr)


def _tile(picture: Picture, tile: int | None, grid: int) -> Picture:
    """One of the images in a grid, counted row by row."""
    if tile is None:
        return picture
    width, height = picture.width // grid, picture.height // grid
    if not width or not height:
        raise ImageError(f"too small for a grid of {grid}")
    left, top = tile % grid * width, tile // grid * height
    cut = as_image(picture).crop((left, top, left + width, top + height))
    return Picture(rgb=cut.tobytes(), width=width, height=height)


def _first_few(names: Sequence[str]) -> str:
    more = f" and {len(names) - _N_SHOWN} more" if len(names) > _N_SHOWN else ""
    return ", ".join(names[:_N_SHOWN]) + more


def _file_names(requests: Iterable[RenderRequest]) -> Iterator[str]:
    """A file name for each missing image: prompt and seed, with a hash if that is too long or taken."""
    taken: set[str] = set()
    for request in requests:
        name = f"{simplify(request.prompt.text)}_{request.seed}.png"
        if name in taken or len(name.encode()) > _LONGEST_NAME:
            name = f"{simplify(request.prompt.text)[:40]}_{fingerprint(request.prompt.text)[:8]}_{request.seed}.png"
        taken.add(name)
        yield name
