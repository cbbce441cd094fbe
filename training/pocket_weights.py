"""Weights on disk between pieces of training: bf16, in files small enough to travel.

A folder holds <name>-0.safetensors, <name>-1.safetensors ... for each set of weights and pocket.json with the network's
shape, the steps so far and what was measured. The optimiser's memory is not kept here; it warms up anew.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import torch
from pocket_model import PocketPainter, Shape
from safetensors.torch import load_file, save_file
from torch import Tensor

MAX_FILE_BYTES = 15 * 2**20 - 200_000


def save_weights(folder: Path, name: str, state: dict[str, Tensor]) -> None:
    """Write one set of weights, replacing an older one of that name."""
    folder.mkdir(parents=True, exist_ok=True)
    parts: list[dict[str, Tensor]] = [{}]
    size = 0
    for key, value in state.items():
        half = value.detach().to("cpu", torch.bfloat16)
        if size + half.numel() * 2 > MAX_FILE_BYTES:
            parts.append({})
            size = 0
        parts[-1][key] = half.contiguous().clone(memory_format=torch.contiguous_format)
        size += half.numel() * 2
    for old in folder.glob(f"{name}-[0-9].safetensors"):
        if int(old.stem.rsplit("-", 1)[1]) >= len(parts):
            old.unlink()
    for i, part in enumerate(parts):
        temporary = folder / f"{name}-{i}.part"
        save_file(part, temporary)
        temporary.replace(folder / f"{name}-{i}.safetensors")


def load_weights(folder: Path, name: str) -> dict[str, Tensor]:
    """Read one set of weights in full precision."""
    paths = sorted(folder.glob(f"{name}-[0-9].safetensors"))
    if not paths:
        raise SystemExit(f"no weights named {name!r} in {str(folder)!r}; wanted {name}-0.safetensors; train first")
    state: dict[str, Tensor] = {}
    for path in paths:
        state |= load_file(path)
    return {key: value.float() for key, value in state.items()}


def has_weights(folder: Path, name: str) -> bool:
    """Whether a set of this name lies there."""
    return any(folder.glob(f"{name}-[0-9].safetensors"))


def save_facts(folder: Path, facts: dict[str, Any]) -> None:
    """Write what is known about the weights in this folder."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "pocket.json").write_text(json.dumps(facts, indent=1) + "\n")


def load_facts(folder: Path) -> dict[str, Any]:
    """Read what save_facts wrote."""
    path = folder / "pocket.json"
    if not path.exists():
        raise SystemExit(f"no {str(path)!r}, which training/train_pocket.py writes beside weights; name its folder")
    facts: dict[str, Any] = json.loads(path.read_text())
    return facts


def load_painter(folder: Path, name: str) -> PocketPainter:
    """The network with these weights."""
    painter = PocketPainter(Shape(**load_facts(folder)["shape"]))
    painter.load_state_dict(load_weights(folder, name))
    return painter
