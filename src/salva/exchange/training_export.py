"""A run's pictures as training data: an image folder for supervised tuning, Parquet for preferences.

The folder is what `load_dataset("imagefolder")` and the diffusers training scripts read. Pictures are copied as PNG
without loss.
"""

from __future__ import annotations

import importlib.util
import json
import re
from pathlib import Path

from salva.core.source import ImageSource
from salva.core.table import Table
from salva.errors import MissingExtraError, UsageError
from salva.exchange.training_pairs import Filter, filter_table, preferences, right_pictures
from salva.files.outfiles import write_bytes, write_text
from salva.imaging.files import decode_picture, encode_picture
from salva.store.queries import open_source

_OURS = re.compile(r"[0-9a-f]{40}\.png")


def write_sft(directory: Path, out: Path, wanted: Filter) -> tuple[int, Table | None]:
    """Right pictures with their captions: OUT/images/*.png and OUT/metadata.jsonl; says how many rows."""
    with open_source(directory) as (records, images):
        examples = right_pictures(records, wanted)
        if not examples:
            raise _nothing(directory)
        files = {f"{example.chosen}.png": example.chosen for example in examples}
        for name, image_id in files.items():
            write_bytes(out / "images" / name, _png(images, image_id))
        for old in (out / "images").glob("*.png"):
            # Left by an export with another filter; trainers stumble over pictures without a caption.
            if old.name not in files and _OURS.fullmatch(old.name):
                old.unlink()
        lines = [
            {
                "file_name": f"images/{one.chosen}.png",
                "text": one.caption,
                "case_id": one.case_id,
                "model": one.model,
            }
            for one in examples
        ]
        write_text(out / "metadata.jsonl", "".join(json.dumps(line, ensure_ascii=False) + "\n" for line in lines))
        return len(lines), filter_table(records, wanted)


def write_dpo(directory: Path, out: Path, wanted: Filter) -> tuple[int, Table | None]:
    """Right pictures against wrong ones, as Parquet: caption, chosen, rejected; says how many rows."""
    if importlib.util.find_spec("pyarrow") is None:
        raise MissingExtraError("export --as dpo", "parquet")
    import pandas as pd

    with open_source(directory) as (records, images):
        examples = preferences(records, wanted)
        if not examples:
            raise _nothing(directory)
        files: dict[str, dict[str, object]] = {}
        for example in examples:
            for image_id in (example.chosen, example.rejected):
                if image_id not in files:
                    # The shape in which the datasets library keeps images inside Parquet.
                    files[image_id] = {"bytes": _png(images, image_id), "path": f"{image_id}.png"}
        table = pd.DataFrame(
            {
                "caption": [one.caption for one in examples],
                "chosen": [files[one.chosen] for one in examples],
                "rejected": [files[one.rejected] for one in examples],
                "case_id": [one.case_id for one in examples],
                "model": [one.model for one in examples],
            }
        )
        write_bytes(out, table.to_parquet(index=False))
        return len(examples), filter_table(records, wanted)


def _png(images: ImageSource, image_id: str) -> bytes:
    return encode_picture(decode_picture(images.file_bytes(image_id)), "PNG")


def _nothing(directory: Path) -> UsageError:
    return UsageError(
        f"{str(directory)!r} has no picture that passes: no case whose scores reach --min-score, and no picture that "
        "truth finds right; try a lower --min-score or --filter none"
    )
