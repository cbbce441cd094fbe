"""Writes the embedder's two networks as ONNX, and embedder.json with all that the component needs beside them.

    python training/export_embedder.py --from DIR --out src/salva/assets/pocket

Weights are stored in 8 bits with a scale for each output and widened when loaded. Renew the checksums afterwards:
make_sprites.py --checksums.
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import Any

import numpy as np
import onnxruntime
import pocket_captions
import torch
from embedder_model import ConvBlock, Embedder, EmbedderShape, PictureTower, parameter_count
from export_pocket import export, need
from torch import nn
from torch.nn.utils.fusion import fuse_conv_bn_eval


def load_embedder(folder: Path) -> tuple[Embedder, dict[str, Any]]:
    """The trained network in full precision, and what is known about it."""
    path = folder / "embedder.json"
    if not path.exists():
        raise SystemExit(f"no {str(path)!r}, which training/train_embedder.py writes beside weights; name its folder")
    facts: dict[str, Any] = json.loads(path.read_text())
    embedder = Embedder(EmbedderShape(**facts["shape"])).eval()
    stored = torch.load(folder / "embedder.pt", map_location="cpu", weights_only=True)
    embedder.load_state_dict(
        {name: value.float() if value.is_floating_point() else value for name, value in stored.items()}
    )
    return embedder, facts


def fold(tower: PictureTower) -> None:
    """Put every normalisation into the convolution before it."""
    for down in (tower.enter, tower.to_fine, tower.to_coarse):
        down[0], down[1] = fused(down[0], down[1]), nn.Identity()
    for block in (*tower.fine, *tower.coarse):
        assert isinstance(block, ConvBlock)
        block.first, block.second = fused(block.first, block.first_norm), fused(block.second, block.second_norm)
        for name in ("first_norm", "second_norm"):
            block.register_module(name, nn.Identity())


def fused(conv: nn.Module, norm: nn.Module) -> nn.Conv2d:
    """One convolution that does what it and its normalisation did."""
    assert isinstance(conv, nn.Conv2d)
    assert isinstance(norm, nn.BatchNorm2d)
    return fuse_conv_bn_eval(conv, norm)


def check(out: Path, name: str, fed: dict[str, np.ndarray], wanted: torch.Tensor) -> float:
    """The largest difference between the file and torch."""
    session = onnxruntime.InferenceSession(str(out / name), providers=["CPUExecutionProvider"])
    return float(np.abs(session.run(None, fed)[0] - wanted.numpy()).max())


def main() -> None:
    """Export, check, and write the facts."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--from", dest="source", type=Path, required=True)
    parser.add_argument("--out", type=Path, required=True)
    args = parser.parse_args()
    need("onnx", "onnxscript")
    embedder, facts = load_embedder(args.source)
    shape = embedder.shape
    picture = torch.rand(1, 3, shape.side, shape.side) * 2 - 1
    tokens = torch.zeros(1, shape.max_tokens, dtype=torch.long)
    row = pocket_captions.encode(["a", "cat", "and", "a", "dog"], {word: i for i, word in enumerate(facts["words"])})
    tokens[0, : len(row)] = torch.tensor(row)
    with torch.no_grad():
        seen, said = embedder.picture(picture), embedder.text(tokens)
    fold(embedder.picture)
    export(embedder.picture, (picture,), (["picture"], ["vector"]), args.out / "embedder-picture.onnx", "int8")
    export(embedder.text, (tokens,), (["tokens"], ["vector"]), args.out / "embedder-text.onnx", "int8")
    card = {
        "side": shape.side,
        "max_tokens": shape.max_tokens,
        "width": shape.width,
        "words": facts["words"],
        "pad": pocket_captions.PAD,
        "start": pocket_captions.START,
        "end": pocket_captions.END,
        "unknown": pocket_captions.UNKNOWN,
        "n_parameters": parameter_count(embedder),
        "training": {key: facts[key] for key in ("steps", "batch", "seconds", "measured") if key in facts},
    }
    (args.out / "embedder.json").write_text(json.dumps(card, indent=1) + "\n")
    sizes = {path.name: round(path.stat().st_size / 1e6, 2) for path in sorted(args.out.glob("embedder*"))}
    differences = {
        "picture": check(args.out, "embedder-picture.onnx", {"picture": picture.numpy()}, seen),
        "text": check(args.out, "embedder-text.onnx", {"tokens": tokens.numpy()}, said),
    }
    print(json.dumps({"largest_difference": differences, "megabytes": sizes}))


if __name__ == "__main__":
    main()
