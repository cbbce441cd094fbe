"""What `salva export` selected, packed for fine-tuning: pictures once each, captions as word numbers, in one .npz.

Image folders (metadata.jsonl with file_name and text) give right pictures; Parquet files (caption, chosen, rejected)
give preferences. The packed file needs neither pandas nor pyarrow to be read.
"""

from __future__ import annotations

import io
import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from PIL import Image
from pocket_captions import MAX_TOKENS, UNKNOWN, encode, tokenise, vocabulary

METADATA = "metadata.jsonl"


@dataclass(frozen=True, slots=True, kw_only=True)
class TuningData:
    """Pictures to learn from, and what is said of them."""

    pictures: np.ndarray
    """[n, side, side, 3] bytes, each picture once."""
    right_tokens: np.ndarray
    """[m, length] word numbers of captions whose picture is right."""
    right: np.ndarray
    """[m] which picture."""
    right_weights: np.ndarray
    """[m] how often to learn from it; every exported folder counts the same, however many pictures it holds."""
    pair_tokens: np.ndarray
    """[p, length] word numbers of captions with a better and a worse picture."""
    chosen: np.ndarray
    rejected: np.ndarray
    pair_weights: np.ndarray
    """[p] as right_weights."""


class _Album:
    """Pictures by content, numbered as they come."""

    def __init__(self) -> None:
        self.numbers: dict[bytes, int] = {}
        self.files: list[bytes] = []
        self.side = 0

    def add(self, content: bytes, where: str) -> int:
        """The number of a picture."""
        image = Image.open(io.BytesIO(content)).convert("RGB")
        self.side = self.side or image.width
        if image.size != (self.side, self.side):
            raise SystemExit(
                f"{where} is {image.width} x {image.height}; wanted {self.side} x {self.side} like the first"
            )
        pixels = image.tobytes()
        if pixels not in self.numbers:
            self.numbers[pixels] = len(self.files)
            small = io.BytesIO()
            image.save(small, "WEBP", lossless=True, quality=100, method=4)
            self.files.append(small.getvalue())
        return self.numbers[pixels]


def prepare(folders: Sequence[Path], tables: Sequence[Path], to: Path) -> dict[str, int]:
    """Pack exported folders and tables into one file; says how much is in it."""
    album = _Album()
    by_folder = [list(_read_folder(folder, album)) for folder in folders]
    by_table = [list(_read_table(table, album)) for table in tables]
    rows, pairs = [row for some in by_folder for row in some], [pair for some in by_table for pair in some]
    if not album.files:
        raise SystemExit("no picture was given; name a folder with --data or a Parquet file with --pairs")
    to.parent.mkdir(parents=True, exist_ok=True)
    np.savez_compressed(
        to,
        words=np.array("\n".join(vocabulary())),
        content=np.frombuffer(b"".join(album.files), np.uint8),
        lengths=np.array([len(file) for file in album.files], np.int64),
        right_tokens=_tokens(caption for caption, _ in rows),
        right=np.array([number for _, number in rows], np.int32),
        right_weights=_weights([len(some) for some in by_folder]),
        pair_tokens=_tokens(caption for caption, _, _ in pairs),
        chosen=np.array([number for _, number, _ in pairs], np.int32),
        rejected=np.array([number for _, _, number in pairs], np.int32),
        pair_weights=_weights([len(some) for some in by_table]),
    )
    return {"pictures": len(album.files), "right": len(rows), "pairs": len(pairs), "bytes": to.stat().st_size}


def load(path: Path) -> TuningData:
    """Read what prepare wrote."""
    with np.load(path) as stored:
        if str(stored["words"]).split("\n") != vocabulary():
            raise SystemExit(f"the words in {str(path)!r} are not today's; prepare it again")
        content, ends = stored["content"].tobytes(), np.cumsum(stored["lengths"])
        names = ("right_tokens", "right", "right_weights", "pair_tokens", "chosen", "rejected", "pair_weights")
        arrays = {name: stored[name] for name in names}
    starts = [0, *ends[:-1]]
    pictures = [_pixels(content[start:end]) for start, end in zip(starts, ends, strict=True)]
    return TuningData(pictures=np.stack(pictures), **arrays)


def _pixels(content: bytes) -> np.ndarray:
    return np.asarray(Image.open(io.BytesIO(content)).convert("RGB"))


def _read_folder(folder: Path, album: _Album) -> Iterator[tuple[str, int]]:
    path = folder / METADATA
    if not path.is_file():
        raise SystemExit(f"{str(folder)!r} has no {METADATA}; give a folder that `salva export --as sft` wrote")
    for line in path.read_text(encoding="utf-8").splitlines():
        row = json.loads(line)
        yield row["text"], album.add((folder / row["file_name"]).read_bytes(), row["file_name"])


def _read_table(path: Path, album: _Album) -> Iterator[tuple[str, int, int]]:
    import pandas as pd

    table = pd.read_parquet(path)
    missing = {"caption", "chosen", "rejected"} - set(table.columns)
    if missing:
        raise SystemExit(f"{str(path)!r} has no column {', '.join(sorted(missing))}; wanted `salva export --as dpo`")
    for caption, chosen, rejected in zip(table["caption"], table["chosen"], table["rejected"], strict=True):
        yield caption, album.add(chosen["bytes"], chosen["path"]), album.add(rejected["bytes"], rejected["path"])


def _weights(sizes: Sequence[int]) -> np.ndarray:
    """Shares that add up to 1, the same for every source that holds anything."""
    filled = [size for size in sizes if size]
    return np.concatenate([np.zeros(0), *(np.full(size, 1 / size / len(filled)) for size in filled)])


def _tokens(captions: Iterable[str]) -> np.ndarray:
    """Word numbers, padded to the longest; a word the network has no number for is refused."""
    numbers = {word: i for i, word in enumerate(vocabulary())}
    rows = []
    for caption in captions:
        words = tokenise(caption)
        row = encode(words, numbers)
        if UNKNOWN in row or len(words) > MAX_TOKENS - 2:
            raise SystemExit(f"the caption {caption!r} is too long or has words that pocket was not taught")
        rows.append(row)
    tokens = np.zeros((len(rows), max(map(len, rows), default=1)), np.int16)
    for i, row in enumerate(rows):
        tokens[i, : len(row)] = row
    return tokens
