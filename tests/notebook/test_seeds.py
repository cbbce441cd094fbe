"""A function that ignores its seed is told of, once, and one that keeps it is not."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import pytest
from PIL import Image

import salva

FLAGS: dict[str, Any] = {"size": 2, "reader": "none", "detector": "pocket", "version": 1}
UNLIKE = "gives another picture for the same prompt and seed"


class Painter:
    """Counts its calls; lucky: paints whatever it likes; shy: cannot do it again."""

    __name__ = "painter-of-mine"

    def __init__(self, *, lucky: bool = False, most: int = 10**9) -> None:
        self.lucky, self.most, self.n = lucky, most, 0

    def __call__(self, prompt: str, seed: int) -> Image.Image:
        self.n += 1
        if self.n > self.most:
            raise RuntimeError("enough")
        dice = random.Random(None if self.lucky else f"{prompt} {seed}")
        return Image.new("RGB", (32, 32), (dice.randrange(256), dice.randrange(256), dice.randrange(256)))


def said(painter: Painter, out: Path, capsys: pytest.CaptureFixture[str]) -> str:
    model = salva.batched(lambda prompts, seeds: [painter(p, s) for p, s in zip(prompts, seeds, strict=True)])
    salva.run_suite("metalogic", {"one": painter, "many": model}, out=out, settings={"run.preflight": "off"}, **FLAGS)
    return capsys.readouterr().err


def test_a_function_that_keeps_its_seed_is_called_once_more_and_nothing_is_said(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    painter = Painter()
    assert said(painter, tmp_path / "run", capsys) == ""
    assert painter.n == 2 * 4 + 2
    assert said(painter, tmp_path / "run", capsys) == ""
    assert painter.n == 2 * 4 + 2, "not when nothing new was painted"


def test_one_that_ignores_its_seed_is_told_of(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    told = said(Painter(lucky=True), tmp_path / "run", capsys)
    assert told.count(UNLIKE) == 2
    assert "salva: one gives" in told
    assert "salva: many gives" in told


def test_one_that_cannot_do_it_again_costs_no_run(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    told = said(Painter(most=8), tmp_path / "run", capsys)
    assert told.count(": RuntimeError: enough") == 2
    assert not salva.open_run(tmp_path / "run").verdicts["outcome"].eq("ERROR").any()
