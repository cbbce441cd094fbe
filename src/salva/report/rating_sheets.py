"""An empty sheet for people: which picture to hold against which text, and where to write the ratings.

`salva agree RUN --ratings SHEET` reads it back when it is filled in. Blind on purpose: neither the model nor what
any judge said stands in it, and pictures are named by number.
"""

from __future__ import annotations

import csv
import io
import random
from pathlib import Path

from salva.imaging.files import decode_picture, encode_picture
from salva.report.export import safe_cell, write_bytes, write_text
from salva.report.source import open_source
from salva.stats.semantic_effect import PAIRS
from salva.stats.tally import PAIR

COLUMNS = (
    *("case_id", "repeat", "model", "text_role", "image_role", "text", "picture"),
    *("rater", "objects", "relations"),
)
_HINT = """Hold each picture against its text and fill in, for every row:
rater      your name, the same in all your rows
objects    0 to 50: 50 all things are there with their attributes, 30 most are, 0 none
relations  0 to 50: 50 places, numbers and interactions are as the text says, 30 partly, 0 not at all
Several raters: each fills in a copy; put the rows of all copies under one heading.
"""


def write_rating_sheet(directory: Path, out: Path) -> int:
    """OUT/ratings.csv, OUT/README.txt and OUT/pictures/*.png; says how many rows there are to rate."""
    with open_source(directory) as (records, images):
        cases = {case.case_id: case for case in records.cases}
        models = sorted({verdict.model for verdict in records.verdicts})
        wanted: dict[tuple[str, str, str, str, str], tuple[str, str]] = {}
        for verdict in records.verdicts:
            if verdict.arm != PAIR:
                continue
            case = cases[verdict.case_id]
            roles = [prompt.role for prompt in case.prompts]
            pairs = PAIRS if {"a", "pv", "pi"} <= set(roles) else tuple((role, role) for role in roles)
            for text_role, image_role in pairs:
                if image_role in verdict.images:
                    key = (case.case_id, str(verdict.repeat), verdict.model, text_role, image_role)
                    wanted[key] = (case.prompt(text_role).text, verdict.images[image_role])
        rows = list(wanted.items())
        # Shuffled, so that no rater sees the pictures of one case in a row; seeded, so that a sheet can be made again.
        random.Random(len(rows)).shuffle(rows)
        numbers = {image_id: number for number, image_id in enumerate(dict.fromkeys(i for _, (_, i) in rows), 1)}
        for image_id, number in numbers.items():
            data = encode_picture(decode_picture(images.file_bytes(image_id)), "PNG")
            write_bytes(out / "pictures" / f"{number:05}.png", data)
    buffer = io.StringIO(newline="")
    writer = csv.writer(buffer)
    writer.writerow(COLUMNS)
    for (case_id, repeat, model, text_role, image_role), (text, image_id) in rows:
        # A single model need not be named: the sheet stays blind.
        named = model if len(models) > 1 else ""
        picture = f"pictures/{numbers[image_id]:05}.png"
        cells = (case_id, repeat, named, text_role, image_role, text, picture, "", "", "")
        writer.writerow([safe_cell(cell) for cell in cells])
    write_text(out / "ratings.csv", buffer.getvalue())
    write_text(out / "README.txt", _HINT)
    return len(rows)
