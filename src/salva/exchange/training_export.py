"""A run's pictures as training data: an image folder for supervised tuning, Parquet for preferences.

The folder is what `load_dataset("imagefolder")` and the diffusers training scripts read. Pictures are copied as PNG
without loss.
"""

from __future__ import annotations

import importlib.util
import json
import re
from pathlib import Path
from typing import ClassVar

from salva.core.exchange import Written
from salva.core.scoring import TrainingFilter
from salva.core.source import ImageSource, RunRecords, RunSource
from salva.core.table import Table
from salva.errors import MissingExtraError, UsageError
from salva.exchange.training_pairs import filter_table, preferences, right_pictures
from salva.files.outfiles import write_bytes, write_text
from salva.imaging.files import decode_picture, encode_picture

_OURS = re.compile(r"[0-9a-f]{40}\.png")


class SftFolder:
    """A folder: right pictures with their captions, for supervised tuning."""

    version: ClassVar[str] = "1"
    Options = TrainingFilter

    def __init__(self, options: TrainingFilter) -> None:
        self._wanted = options

    def write(self, source: RunSource, out: Path) -> Written:
        """OUT/images/*.png and OUT/metadata.jsonl."""
        examples = right_pictures(source.records, self._wanted)
        if not examples:
            raise _nothing(source.records)
        files = {f"{example.chosen}.png": example.chosen for example in examples}
        for name, image_id in files.items():
            write_bytes(out / "images" / name, _png(source.images, image_id))
        for old in (out / "images").glob("*.png"):
            # Left by an export with another filter; trainers stumble over pictures without a caption.
            if old.name not in files and _OURS.fullmatch(old.name):
                old.unlink()
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
        return Written(n=len(lines), what="captioned pictures", tables=_choices(source.records, self._wanted))


class DpoTable:
    """A Parquet file: right pictures against wrong ones under one caption, for preference tuning."""

    version: ClassVar[str] = "1"
    Options = TrainingFilter

    def __init__(self, options: TrainingFilter) -> None:
        self._wanted = options

    def write(self, source: RunSource, out: Path) -> Written:
        """OUT with caption, chosen and rejected."""
        if importlib.util.find_spec("pyarrow") is None:
            raise MissingExtraError("export --as dpo", "parquet")
        import pandas as pd

        examples = preferences(source.records, self._wanted)
        if not examples:
            raise _nothing(source.records)
        files: dict[str, dict[str, object]] = {}
        for example in examples:
            for image_id in (example.chosen, example.rejected):
                if image_id not in files:
                    # The shape in which the datasets library keeps images inside Parquet.
                    files[image_id] = {"bytes": _png(source.images, image_id), "path": f"{image_id}.png"}
        table = pd.DataFrame(
            {
                "caption": [example.caption for example in examples],
                "chosen": [files[example.chosen] for example in examples],
                "rejected": [files[example.rejected] for example in examples],
                "case_id": [example.case_id for example in examples],
                "model": [example.model for example in examples],
            }
        )
        write_bytes(out, table.to_parquet(index=False))
        return Written(n=len(examples), what="preferences", tables=_choices(source.records, self._wanted))


def _choices(records: RunRecords, wanted: TrainingFilter) -> tuple[Table, ...]:
    table = filter_table(records, wanted)
    return () if table is None else (table,)


def _png(images: ImageSource, image_id: str) -> bytes:
    return encode_picture(decode_picture(images.file_bytes(image_id)), "PNG")


def _nothing(records: RunRecords) -> UsageError:
    return UsageError(
        f"{records.name!r} has no picture that passes: no case whose scores reach --min-score, and no picture that "
        "is known to be right; try a lower --min-score, --filter none or --no-need-kept"
    )
