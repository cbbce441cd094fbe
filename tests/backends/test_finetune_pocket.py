"""Fine-tuning pocket, on a CPU and with a network of no use: data packed, losses as written, weights that go on."""

from __future__ import annotations

import io
import json
import math
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from PIL import Image

torch = pytest.importorskip("torch")
load_file = pytest.importorskip("safetensors.torch").load_file

TRAINING = Path(__file__).parents[2] / "training"
SCRIPT = """
import torch
from pathlib import Path
from pocket_captions import vocabulary
from pocket_model import PocketPainter, Shape
from pocket_weights import save_facts, save_weights
from train_pocket import TINY
torch.manual_seed(0)
painter = PocketPainter(Shape(n_words=len(vocabulary()), **TINY))
for weight in painter.parameters():
    torch.nn.init.normal_(weight, std=0.02)
out = Path({out!r})
save_weights(out / "base", "ema", painter.state_dict())
save_facts(out / "base", dict(shape=painter.shape.to_json(), words=vocabulary(), step=3, pieces=[]))
"""
ONE_AFTER_ANOTHER = """
import json, runpy, sys
for file, *words in json.load(sys.stdin):
    sys.argv = [file, *words]
    runpy.run_path(file, run_name="__main__")
"""
LONG = "There is a cat on the right with either both a dog on the left and an apple in the middle or both an apple"
"""Longer than any caption of the ordinary world."""


def python(*words: str, folder: Path, told: str = "") -> str:
    environment = {**os.environ, "OMP_NUM_THREADS": "1", "CUDA_VISIBLE_DEVICES": ""}
    done = subprocess.run(
        [sys.executable, *words],
        cwd=folder,
        env={**environment, "PYTHONPATH": str(TRAINING)},
        input=told,
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def png(number: int, side: int = 96) -> bytes:
    pixels = np.random.default_rng(number).integers(0, 255, (side, side, 3), dtype=np.uint8)
    out = io.BytesIO()
    Image.fromarray(pixels).save(out, "PNG")
    return out.getvalue()


def export_folder(where: Path, captions: list[str]) -> Path:
    (where / "images").mkdir(parents=True)
    lines = []
    for i, caption in enumerate(captions):
        (where / "images" / f"{i}.png").write_bytes(png(i))
        lines.append(json.dumps({"file_name": f"images/{i}.png", "text": caption}))
    (where / "metadata.jsonl").write_text("\n".join(lines) + "\n")
    return where


def export_table(where: Path, pairs: list[tuple[str, int, int]]) -> Path:
    def file(number: int) -> dict[str, object]:
        return {"bytes": png(number), "path": f"{number}.png"}

    columns = {
        "caption": [caption for caption, _, _ in pairs],
        "chosen": [file(chosen) for _, chosen, _ in pairs],
        "rejected": [file(rejected) for _, _, rejected in pairs],
    }
    pd.DataFrame(columns).to_parquet(where)
    return where


@pytest.fixture
def training(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(TRAINING))


@pytest.mark.usefixtures("training")
class TestData:
    def test_pictures_are_kept_once_and_without_loss(self, tmp_path: Path) -> None:
        import pocket_tuning_data as data

        folder = export_folder(tmp_path / "sft", ["a cat", "two dogs"])
        table = export_table(tmp_path / "dpo.parquet", [(LONG, 1, 5)])
        told = data.prepare([folder], [table], tmp_path / "own.npz")
        assert (told["pictures"], told["right"], told["pairs"]) == (3, 2, 1)
        loaded = data.load(tmp_path / "own.npz")
        pixels = np.asarray(Image.open(io.BytesIO(png(1))))
        assert np.array_equal(loaded.pictures[loaded.right[1]], pixels)
        assert loaded.chosen[0] == loaded.right[1]
        assert np.array_equal(loaded.pictures[loaded.rejected[0]], np.asarray(Image.open(io.BytesIO(png(5)))))
        assert loaded.pair_tokens.shape[1] == len(LONG.split()) + 2

    def test_a_large_source_does_not_drown_a_small_one(self, tmp_path: Path) -> None:
        import pocket_tuning_data as data

        large, small = export_folder(tmp_path / "x", ["a cat"] * 4), export_folder(tmp_path / "y", ["a dog"])
        data.prepare([large, small], [], tmp_path / "own.npz")
        weights = data.load(tmp_path / "own.npz").right_weights
        assert weights.tolist() == [0.125] * 4 + [0.5]

    def test_what_cannot_be_learnt_from_is_refused(self, tmp_path: Path) -> None:
        import pocket_tuning_data as data

        with pytest.raises(SystemExit, match=r"metadata.jsonl"):
            data.prepare([tmp_path], [], tmp_path / "own.npz")
        folder = export_folder(tmp_path / "sft", ["a zebra"])
        with pytest.raises(SystemExit, match="zebra"):
            data.prepare([folder], [], tmp_path / "own.npz")
        mixed = export_folder(tmp_path / "mixed", ["a cat", "a dog"])
        (mixed / "images" / "1.png").write_bytes(png(1, side=64))
        with pytest.raises(SystemExit, match="64 x 64; wanted 96 x 96"):
            data.prepare([mixed], [], tmp_path / "own.npz")
        table = tmp_path / "other.parquet"
        pd.DataFrame({"caption": ["a cat"]}).to_parquet(table)
        with pytest.raises(SystemExit, match="chosen, rejected"):
            data.prepare([], [table], tmp_path / "own.npz")


@pytest.mark.usefixtures("training")
class TestLosses:
    def test_the_preference_loss_is_the_written_formula(self) -> None:
        from finetune_pocket import preference_loss

        better, worse, better_before, worse_before = 0.020, 0.033, 0.021, 0.030
        lag = (better - better_before) - (worse - worse_before)
        wanted = -math.log(1 / (1 + math.exp(500 * lag)))
        one, two, one_before, two_before = (
            torch.tensor([value], dtype=torch.float64) for value in (better, worse, better_before, worse_before)
        )
        told = preference_loss(one, two, one_before, two_before, 500).item()
        assert told == pytest.approx(wanted, rel=1e-9)
        assert told < math.log(2), "ahead of the base on the pair"
        assert preference_loss(two, one, two_before, one_before, 500).item() > math.log(2)

    def test_the_error_is_that_of_the_velocity_from_picture_to_noise(self) -> None:
        from finetune_pocket import velocity_errors

        def off_by_two(mixed: object, t: object, tokens: object) -> Any:
            return noise - pictures + 2

        pictures, noise = torch.randn(2, 3, 8, 8), torch.randn(2, 3, 8, 8)
        times, tokens = torch.tensor([0.3, 0.9]), torch.zeros(2, 4, dtype=torch.long)
        errors = velocity_errors(off_by_two, pictures, noise, times, tokens)
        assert errors.tolist() == pytest.approx([4, 4], rel=1e-4)


@pytest.mark.slow
def test_every_method_of_tuning_gives_usable_weights(tmp_path: Path) -> None:
    (tmp_path / "base.py").write_text(SCRIPT.format(out=str(tmp_path)))
    folder = export_folder(tmp_path / "sft", ["a cat and a dog", "two cows"])
    table = export_table(tmp_path / "dpo.parquet", [("a cat", 0, 1), (LONG, 1, 2)])
    finetune, distil = str(TRAINING / "finetune_pocket.py"), str(TRAINING / "distil_pocket.py")
    own = ("--data", str(folder), "--pairs", str(table), "--to", "work/own.npz")
    quick = ("--base", "base", "--batch", "8", "--max-steps", "2", "--workers", "1", "--muon-rate", "0.05")
    student = ("--from", "alone", "--out", "student", "--max-steps", "1", "--batch", "2", "--workers", "1")
    commands = [
        (str(tmp_path / "base.py"),),
        (finetune, "prepare", *own),
        (finetune, "tune", "--how", "sft", "--data", "work/own.npz", "--out", "sft", *quick),
        (finetune, "tune", "--how", "dpo", "--data", str(table), "--out", "alone", *quick),
        (distil, *student, "--no-compile", "--minutes", "1"),
    ]
    # In one process, since each would load torch.
    python("-c", ONE_AFTER_ANOTHER, folder=tmp_path, told=json.dumps(commands))
    before, *tuned = (load_file(tmp_path / name / "ema-0.safetensors") for name in ("base", "sft", "alone"))
    for after in tuned:
        assert any(not torch.equal(before[name], after[name]) for name in before), "no weight moved"
    assert (tmp_path / "student" / "student-0.safetensors").is_file()
