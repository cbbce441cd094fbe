"""Ratings made up for tests: seven pairs of triples by several raters, and items in a wide table."""

from __future__ import annotations

import csv
import random
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path

import pytest

from salva.core.exchange import ReadIn
from salva.errors import UsageError
from salva.exchange.importing import import_files
from salva.review.columns import Columns
from salva.suites.semvar.effect import PAIRS

Rows = list[dict[str, object]]
TEXTS = {"a": "a cat chases a dog", "pv": "a dog chases a cat", "pi": "a dog is chased by a cat"}
RATERS = ("ann", "bob", "cyd")
WIDE = {"people": "human_1,human_2", "judge": "tifa"}
"""What names the columns of wide_rows to the importer, and the same for agreement."""
WIDE_COLUMNS = Columns(people=("human_1", "human_2"), judges=("tifa",))


@contextmanager
def raises_code(code: str) -> Iterator[None]:
    """An error of the user with this code."""
    with pytest.raises(UsageError) as caught:
        yield
    assert caught.value.code == code


def write(path: Path, rows: Sequence[Mapping[str, object]], delimiter: str = ",") -> Path:
    names = list(dict.fromkeys(name for row in rows for name in row))
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, names, delimiter=delimiter)
        writer.writeheader()
        writer.writerows(rows)
    return path


def triple_rows(
    raters: Sequence[str] = RATERS, n_cases: int = 6, models: Sequence[str] = ("sd",), repeats: int = 1
) -> Rows:
    """What people gave the seven pairs of some triples; every second picture follows the meaning."""
    rows: Rows = []
    for i in range(n_cases):
        for model in models:
            for repeat in range(repeats):
                for text, image in PAIRS:
                    for who in raters:
                        noise = random.Random(f"{i}{model}{repeat}{text}{image}{who}")
                        is_right = text == image or "pv" not in (text, image) or (i % 2 and who != "cyd")
                        row: dict[str, object] = {"case_id": f"semvar-{i}", "repeat": repeat, "model": model}
                        row |= {"category": "color,size" if i % 3 else "Action", "text": TEXTS[text]}
                        row |= {"text_role": text, "image_role": image, "rater": who}
                        row |= {"objects": noise.randint(35, 50)}
                        row |= {"relations": noise.randint(40, 50) if is_right else noise.randint(0, 15)}
                        rows.append(row)
    return rows


def imported(path: Path, *files: Path, model: str = "", **options: str) -> ReadIn:
    return import_files(files, "ratings", path, model=model, options=options)


def wide_rows(n: int = 40) -> Rows:
    noise = random.Random(3)
    rows: Rows = []
    for i in range(n):
        good = noise.uniform(1, 5)
        row: dict[str, object] = {"id": f"Item {i // 2}", "model": "xy"[i % 2], "prompt": f"a cat, number {i}"}
        row |= {f"human_{k}": "" if noise.random() < 0.1 else round(good + noise.uniform(-1, 1)) for k in (1, 2)}
        rows.append({**row, "tifa": round(good / 5, 3)})
    return rows
