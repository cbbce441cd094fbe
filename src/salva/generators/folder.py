"""Generator: pictures you already have, found by prompt and seed or repeat.

Nothing is painted. A picture that is not there costs its own cases only, and all that are missing are listed
in a file, where one is named, that serves as the folder's manifest once they are painted.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import ClassVar

from salva.core.about import About, Habits
from salva.core.fingerprint import fingerprint
from salva.core.image import Picture
from salva.core.options import option
from salva.core.protocols import Rendered, RenderRequest
from salva.core.quantity import quantity
from salva.errors import BackendError, SalvaError, UsageError
from salva.generators.folder_layouts import LAYOUTS, MANIFESTS, ListedPicture, detect, listed_in, unread_pictures, worn
from salva.generators.folder_pattern import Pattern, listed_by
from salva.generators.folder_repeats import key_of, placed
from salva.imaging.files import FORMATS, decode_picture
from salva.messages import message

_LONGEST_NAME = 200
_N_SHOWN = 5


class FolderImages:
    """Images you already have, by manifest, by a known layout or by their file names."""

    @dataclass(frozen=True, slots=True, kw_only=True)
    class Options:
        """Where the pictures are, and how they are named."""

        path: str = option("", "The folder.", target=True)
        layout: str = option(
            "auto", "How the images are named; auto finds out from the files.", choices=("auto", *LAYOUTS)
        )
        listing: str = option(
            "", "The manifest or list of prompts, where it has another name or lies elsewhere.", reaches="file"
        )
        missing: str = option("", "A file to list what is missing in; none unless named.", keyed=False, reaches="file")
        pattern: str = option(
            "",
            "How pictures are named, where no layout fits: {index} or {number} (a prompt's place in the list from 0 or "
            "from 1), a column of the list, or {prompt}; {sample} or {seed}.",
        )
        column: str = option("", "With a pattern, the list's column of prompts; prompt unless named.")
        grid: int = option(1, "With a pattern, every file is a grid of so many pictures a side.")

    version: ClassVar[str] = "1"
    about: ClassVar[About] = About(is_given=True)
    habits: ClassVar[Habits] = Habits(batch_size=4)

    def __init__(self, options: Options) -> None:
        self.options = options
        self._folder = Path(options.path).expanduser()
        if not self._folder.is_dir():
            raise UsageError(message("file-missing", path=options.path))
        listing = Path(options.listing).expanduser() if options.listing else None
        by_layout = _pictures_of(self._folder, options, listing)
        self._layout = " and ".join(by_layout)
        self._by_seed: dict[tuple[str, int], list[ListedPicture]] = {}
        self._by_repeat: dict[tuple[str, int], list[ListedPicture]] = {}
        self._seeds: dict[int, int] = {}
        """The folder's own seed of a repeat, where it is known."""
        # One after the other: numbers mean different things in different layouts. The first one has the say.
        for pictures in by_layout.values():
            for picture in pictures:
                if picture.seed is not None:
                    self._by_seed.setdefault((key_of(picture), picture.seed), []).append(picture)
            by_repeat, seeds = placed(pictures)
            for place, candidates in by_repeat.items():
                self._by_repeat.setdefault(place, []).extend(candidates)
            self._seeds = self._seeds or seeds
        self._asked_as: dict[str, str] = {}
        self._missing: dict[tuple[str, int], RenderRequest] = {}
        self._blank: dict[str, None] = {}
        self._n_given = 0

    def render(self, requests: Sequence[RenderRequest]) -> Sequence[Rendered | SalvaError]:
        """One picture or error per request."""
        return [self._render(request) for request in requests]

    def close(self) -> None:
        """Say what was missing or blank; list what was missing where the user named a file for it."""
        if self._blank:
            blank = quantity(len(self._blank), "pictures are", "picture is")
            why = "as some programs write them where painting failed"
            print(f"salva: {blank} of one colour, {why}: {_some(list(self._blank))}", file=sys.stderr)
        list_path = Path(self.options.missing).expanduser() if self.options.missing else None
        if list_path is not None:
            try:
                self._list_missing(list_path)
            except OSError as error:
                print(f"salva: the list of missing pictures cannot be written to {list_path}: {error}", file=sys.stderr)
                list_path = None
        if self._missing:
            prompts = list(dict.fromkeys(repr(request.prompt.text) for request in self._missing.values()))
            what_next = (
                f"they are listed in {list_path}: save each as its path says and add its line to {MANIFESTS[1]}"
                if list_path
                else "--set model.missing=FILE lists them all"
            )
            if not self._n_given and (others := [one.path.name for each in self._by_repeat.values() for one in each]):
                what_next += (
                    f". Where they are among the files there ({_some(list(dict.fromkeys(others)))}), say how those are "
                    "named with --set model.pattern=, or list them in a manifest"
                )
            print(
                f"salva: {quantity(len(self._missing), 'pictures')} of {quantity(len(prompts), 'prompts')} missing in "
                f"{self._folder} (read by {self._layout}): {_some(prompts)}; {what_next}",
                file=sys.stderr,
            )
            if unread := unread_pictures(self._folder):
                files = quantity(len(unread), "pictures there are", "picture there is")
                kinds = ", ".join(FORMATS)
                print(f"salva: {files} not read, as only {kinds} are: {_some(unread)}", file=sys.stderr)

    def _list_missing(self, list_path: Path) -> None:
        """An old list is removed when nothing is missing any more."""
        rows = [
            {"prompt": r.prompt.text, "seed": r.seed, "repeat": r.repeat, "path": path}
            for r, path in zip(self._missing.values(), _file_names(self._missing.values()), strict=True)
        ]
        if rows:
            list_path.write_text("".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows), encoding="utf-8")
        elif self._n_given and _is_list(list_path):
            list_path.unlink()

    def _render(self, request: RenderRequest) -> Rendered | SalvaError:
        try:
            listed = self._find(request)
        except BackendError as error:
            return error
        if listed is None or not listed.path.is_file():
            # Its other pictures were painted from the folder's seeds; from another one it could not be compared.
            wanted = replace(request, seed=self._seeds.get(request.repeat, request.seed))
            self._missing[wanted.prompt.text, wanted.seed] = wanted
            return BackendError(self._what_is_missing(wanted, listed), is_retryable=False)
        try:
            picture = _tile(decode_picture(listed.path.read_bytes()), listed.tile, self.options.grid)
        except (OSError, ValueError) as error:
            problem = message("file-unreadable", path=str(listed.path), why=f"it is {error}")
            return BackendError(problem, is_retryable=False)
        self._n_given += 1
        if picture.rgb == picture.rgb[:3] * (picture.width * picture.height):
            self._blank[str(listed.path)] = None
        return Rendered(picture=picture, provenance={"file": str(listed.path)})

    def _find(self, request: RenderRequest) -> ListedPicture | None:
        text = request.prompt.text.strip()
        keys = dict.fromkeys((text, worn(text)))
        candidates = [
            listed
            for places, number in ((self._by_seed, request.seed), (self._by_repeat, request.repeat))
            for key in keys
            for listed in places.get((key, number), ())
        ]
        # A list may name a file that is gone and, further down, the one that was painted in its place.
        listed = next((listed for listed in candidates if listed.path.is_file()), candidates[0] if candidates else None)
        if listed is not None and listed.is_worn:
            first = self._asked_as.setdefault(worn(text), text)
            if first != text:
                raise BackendError(
                    f"a file name cannot tell {text!r} from {first!r}; write a manifest with prompt and path",
                    is_retryable=False,
                )
        return listed

    def _what_is_missing(self, request: RenderRequest, listed: ListedPicture | None) -> str:
        what = f"no picture of {request.prompt.text!r} (seed {request.seed}, repeat {request.repeat})"
        where = (
            f"the file {str(listed.path)!r} is not there"
            if listed
            else f"in {str(self._folder)!r}, read by {self._layout}"
        )
        return f"{what}: {where}"


def _pictures_of(folder: Path, options: FolderImages.Options, listing: Path | None) -> dict[str, list[ListedPicture]]:
    """The folder's pictures by the layouts it has; a manifest adds to what a pattern finds, too."""
    if not options.pattern:
        if options.column or options.grid != 1:
            why = "model.column and model.grid belong to a pattern"
            raise UsageError(message("flag-needed", flag="--set model.pattern=PATTERN", why=why))
        layouts = detect(folder, listing) if options.layout == "auto" else (options.layout,)
        return {layout: listed_in(folder, layout, listing) for layout in layouts}
    if options.layout != "auto":
        values = {"first": "model.pattern", "second": f"model.layout={options.layout}"}
        raise UsageError(message("options-conflict", **values, why="both say how images are named"))
    pattern = Pattern(text=options.pattern, listing=listing, column=options.column, grid=options.grid)
    by_manifest = {name: listed_in(folder, name) for name in detect(folder) if name == "manifest"}
    return by_manifest | {f"the pattern {options.pattern}": listed_by(pattern, folder)}


def _tile(picture: Picture, tile: int | None, grid: int) -> Picture:
    """One of the pictures in a grid, counted row by row."""
    if tile is None:
        return picture
    width, height = picture.width // grid, picture.height // grid
    if not width or not height:
        raise ValueError(f"a picture of {picture.width} x {picture.height} pixels, too small for a grid of {grid}")
    left, top = tile % grid * width, tile // grid * height
    starts = (3 * (row * picture.width + left) for row in range(top, top + height))
    rgb = b"".join(picture.rgb[start : start + 3 * width] for start in starts)
    return Picture(rgb=rgb, width=width, height=height)


def _some(names: Sequence[str]) -> str:
    """The first few of them."""
    more = f" and {len(names) - _N_SHOWN} more" if len(names) > _N_SHOWN else ""
    return ", ".join(names[:_N_SHOWN]) + more


def _is_list(path: Path) -> bool:
    """Whether a file is a list that an earlier run left, and not something of the user's."""
    if not path.is_file():
        return False
    with path.open(encoding="utf-8", errors="replace") as lines:
        return lines.readline().startswith('{"prompt": ')


def _file_names(requests: Iterable[RenderRequest]) -> Iterator[str]:
    """A name for each picture to be painted: prompt and seed, and a hash where that is too long or taken."""
    taken: set[str] = set()
    for request in requests:
        name = f"{worn(request.prompt.text)}_{request.seed}.png"
        if name in taken or len(name.encode()) > _LONGEST_NAME:
            name = f"{worn(request.prompt.text)[:40]}_{fingerprint(request.prompt.text)[:8]}_{request.seed}.png"
        taken.add(name)
        yield name
