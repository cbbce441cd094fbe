"""A run's images as training data: an image folder for supervised tuning, Parquet for preferences.

The folder is what `load_dataset("imagefolder")` and the diffusers training scripts read. Images are copied as PNG
without loss.
"""

from __future__ import annotations

import importlib.util
import io
import json
import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

from salva.core.exchange import ExportCount
from salva.core.options import option
from salva.core.scoring import TrainingFilter
from salva.core.source import RunSource
from salva.errors import MissingExtraError, UsageError
from salva.exchange.training_pairs import Example, filter_table, preferences, right_images
from salva.files.outfiles import write_bytes, write_text
from salva.imaging.files import png_of
from salva.messages import message
from salva.results.tables import present

_SIDE = re.compile(r"\b(?:left|right)", re.IGNORECASE)


class SftFolder:
    """A folder: right images with their captions, for supervised tuning."""

    version: ClassVar[str] = "1"
    Options = TrainingFilter

    def __init__(self, options: TrainingFilter) -> None:
        self._wanted = options

    def write(self, source: RunSource, out: Path) -> ExportCount:
        """OUT/images/*.png and OUT/metadata.jsonl."""
        examples = right_images(source.records, self._wanted)
        if not examples:
            raise UsageError(message("training-empty", path=source.records.name, lacking="an image known to be right"))
        for image_id in {example.chosen for example in examples}:
            write_bytes(out / "images" / f"{image_id}.png", png_of(source.images, image_id))
        lines = [
            {
                "file_name": f"images/{example.chosen}.png",
                "text": example.caption,
                "case_id": example.case_id,
                "model": example.model,
            }
            for example in examples
        ]
        write_text(out / "metadata.jsonl", "".join(json.dumps(line, ensure_ascii=False) + "\n" for line in lines))
        return ExportCount(
            n=len(lines),
            what="captioned images",
            tables=present(filter_table(source.records, self._wanted)),
            warning=_flip_warning(examples, "without --random_flip"),
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class DpoOptions(TrainingFilter):
    """What is exported, and its columns."""

    layout: str = option(
        "chosen",
        "Columns of the table: chosen and rejected, or jpg_0, jpg_1 and label_0 as Pick-a-Pic has them.",
        choices=("chosen", "pickapic"),
    )


class DpoTable:
    """A Parquet file: right images against failed ones under one caption, for preference tuning."""

    version: ClassVar[str] = "1"
    Options = DpoOptions

    def __init__(self, options: DpoOptions) -> None:
        self._wanted = options

    def write(self, source: RunSource, out: Path) -> ExportCount:
        """OUT with a caption and two images a row, marked as images for the datasets library."""
        if importlib.util.find_spec("pyarrow") is None:
            raise MissingExtraError("export --as dpo", "parquet")
        examples = preferences(source.records, self._wanted)
        if not examples:
            lacking = "a case with a right image and a failed one"
            raise UsageError(message("training-empty", path=source.records.name, lacking=lacking))
        data_of = {
            image_id: png_of(source.images, image_id)
            for example in examples
            for image_id in (example.chosen, example.rejected)
        }
        layout = _as_chosen if self._wanted.layout == "chosen" else _as_pickapic
        write_bytes(out, layout(examples, data_of))
        return ExportCount(
            n=len(examples),
            what="preferences",
            tables=present(filter_table(source.records, self._wanted)),
            warning=_flip_warning(examples, "with --no_hflip"),
        )


def _as_chosen(examples: Sequence[Example], data_of: Mapping[str, bytes]) -> bytes:
    def column(name: str) -> list[dict[str, object]]:
        ids = [getattr(example, name) for example in examples]
        return [{"bytes": data_of[image_id], "path": f"{image_id}.png"} for image_id in ids]

    captions = [example.caption for example in examples]
    columns: dict[str, list[Any]] = {"caption": captions, "chosen": column("chosen"), "rejected": column("rejected")}
    return _parquet(columns | _origin(examples), images=("chosen", "rejected"))


def _as_pickapic(examples: Sequence[Example], data_of: Mapping[str, bytes]) -> bytes:
    """Images as plain bytes, as diffusers' script needs them; the better one is the first in every other row."""
    firsts = [number % 2 == 0 for number in range(len(examples))]
    pairs = [
        (one.chosen, one.rejected) if is_first else (one.rejected, one.chosen)
        for one, is_first in zip(examples, firsts, strict=True)
    ]
    columns: dict[str, list[Any]] = {
        "caption": [example.caption for example in examples],
        "jpg_0": [data_of[first] for first, _ in pairs],
        "jpg_1": [data_of[second] for _, second in pairs],
        "label_0": [int(is_first) for is_first in firsts],
    }
    return _parquet(columns | _origin(examples), images=())


def _origin(examples: Sequence[Example]) -> dict[str, list[Any]]:
    return {"case_id": [example.case_id for example in examples], "model": [example.model for example in examples]}


def _parquet(columns: Mapping[str, list[Any]], images: Collection[str]) -> bytes:
    """A Parquet file that marks its columns of images for the datasets library."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    table = pa.table(dict(columns))
    features = {
        field.name: {"_type": "Image"} if field.name in images else {"dtype": str(field.type), "_type": "Value"}
        for field in table.schema
    }
    # The place where that library looks for the kinds of columns.
    info = json.dumps({"info": {"features": features}})
    buffer = io.BytesIO()
    pq.write_table(table.replace_schema_metadata({"huggingface": info}), buffer)
    return buffer.getvalue()


def _flip_warning(examples: Sequence[Example], flag: str) -> str:
    """The warning where captions name sides, which mirrored images contradict."""
    n = sum(bool(_SIDE.search(example.caption)) for example in examples)
    return message("captions-sided", n=n, total=len(examples), flag=flag) if n else ""
