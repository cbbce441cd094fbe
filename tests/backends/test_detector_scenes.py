"""The scenes the pocket detector learns from: what a board hides is asked for no longer, manners are what they say."""

from __future__ import annotations

import dataclasses
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
import pytest

torch = pytest.importorskip("torch")
TRAINING = Path(__file__).parents[2] / "training"
LABELS = ["ball", "cat"]


@pytest.fixture
def bank(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Two things, a square of two colours each, and one patch."""
    monkeypatch.syspath_prepend(str(TRAINING))
    sprites = np.full((2, 4, 160, 160), 255, np.uint8)
    sprites[:, 0, :80], sprites[1, 1] = 20, 90
    np.savez(
        tmp_path / "bank.npz",
        labels=np.array(LABELS),
        sprites=sprites,
        extents=np.ones((2, 2), np.float32),
        owners=np.arange(2),
        colourable=np.ones(2, bool),
        dyed=np.zeros(2, bool),
        patches=np.full((1, 4, 160, 160), 255, np.uint8),
        patch_extents=np.ones((1, 2), np.float32),
    )
    return tmp_path / "bank.npz"


@pytest.fixture
def painter(bank: Path) -> Any:
    """The compositor of the tiny bank."""
    torch.manual_seed(0)
    return import_module("compositor").Compositor(bank, 64, torch.device("cpu"))


def plan_of(kind: str, bank: Path, monkeypatch: pytest.MonkeyPatch, n: int = 24) -> Any:
    """A plan with pictures of one kind alone."""
    layouts = import_module("layouts")
    monkeypatch.setattr(layouts, "KINDS", {name: float(name == kind) for name in layouts.KINDS})
    return layouts.Planner(bank, 64, n, 5).plan(n)


def test_hidden_sprites_are_no_targets(bank: Path, painter: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    plan = plan_of("boards", bank, monkeypatch)
    bare = painter.draw(dataclasses.replace(plan, board_shape=np.zeros_like(plan.board_shape)))
    behind = painter.draw(plan)
    assert torch.equal(bare.boxes, behind.boxes), "a box is that of the whole thing"
    is_lost = (bare.labels >= 0) & (behind.labels < 0)
    is_kept = (bare.labels >= 0) & (behind.labels >= 0)
    assert is_lost.sum() > 0
    assert is_kept.sum() > is_lost.sum(), "most boards leave 40 % open"
    assert not ((bare.labels < 0) & (behind.labels >= 0)).any()


def test_boards_hide_about_the_planned_share(bank: Path, painter: Any) -> None:
    planner = import_module("layouts").Planner(bank, 64, 1, 3)
    at = torch.stack(torch.meshgrid(*[(torch.arange(64) * 2 + 1) / 64 - 1] * 2, indexing="xy"), -1)
    inside_thing = (at.abs() < 0.5).all(-1)
    shares = []
    for _ in range(200):
        board = torch.from_numpy(planner._board(np.array((0.5, 0.5)), np.array((0.5, 0.5)))).float()[None]
        is_covered = (painter._grid(board)[0].abs() < 1).all(-1)
        shares.append(float(is_covered[inside_thing].float().mean()))
    assert np.mean([0.25 <= share <= 0.65 for share in shares]) > 0.8


def test_silhouettes_have_one_colour_and_keep_their_label(bank: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    plan = plan_of("silhouettes", bank, monkeypatch)
    for row in range(len(plan.kind)):
        things = [slot for slot in range(plan.n_used[row]) if plan.sprite[row, slot] < len(LABELS)]
        assert {LABELS[plan.sprite[row, slot]] for slot in things} <= {"cat"}, "a ball is a mere disc"
        assert not plan.matrix[row, things].any()
        assert len(np.unique(plan.offset[row, things], axis=0)) <= 1


def test_pixelation_has_the_planned_blocks(bank: Path, painter: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    plan = plan_of("blocks", bank, monkeypatch)
    assert 8 <= plan.n_blocks.min() <= plan.n_blocks.max() <= 24
    at = torch.linspace(-0.999, 0.999, 400).view(1, 400, 1, 1)
    assert len(import_module("restyling").in_blocks(at, torch.tensor([9])).unique()) == 9
    assert (painter.draw(plan).labels >= 0).any()


def test_outlines_keep_their_shape(bank: Path, painter: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    assert (painter.draw(plan_of("outlined", bank, monkeypatch)).labels >= 0).any()
    layer = torch.zeros(40, 4, 32, 32)
    layer[:, :, 8:24, 8:24] = 1
    drawn = import_module("restyling").outlined(layer)
    assert drawn[:, 3, 8, 8:24].min() > 0.9, "the rim is drawn"
    assert drawn[:, :, :6].max() == 0
    assert drawn[:, :, 26:].max() == 0
    assert {round(float(share)) for share in drawn[:, 3, 16, 16]} == {0, 1}, "some have paper, some have none"
