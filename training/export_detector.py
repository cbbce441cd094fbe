"""Turns trained weights into the files salva ships: detector.onnx and detector.json.

With --ship they are copied to the package's assets:

    python training/export_detector.py training/out/detector.pt --ship
    python training/export_detector.py --start training/out/start.pt     the shipped weights, to go on from

--mean-with FILE exports the mean of a checkpoint's weights and those of the file it went on from.
"""

from __future__ import annotations

import argparse
import copy
import json
import shutil
import warnings
from pathlib import Path
from typing import Any

import torch
from network import PocketNetwork

THRESHOLD = 0.4
"""The detector's default, from the sweep in README.md."""
ASSETS = Path(__file__).resolve().parent.parent / "src" / "salva" / "assets" / "pocket"


def save_weights(network: torch.nn.Module, labels: list[str], side: int, out: Path, n_scenes: int) -> None:
    """Write detector.pt to a folder."""
    weights = {name: value.cpu().contiguous() for name, value in network.state_dict().items()}
    torch.save({"weights": weights, "labels": labels, "side": side, "n_scenes": n_scenes}, out / "detector.tmp")
    (out / "detector.tmp").replace(out / "detector.pt")  # a run cut short leaves a whole file


def folded_weights(path: Path) -> list[tuple[torch.Tensor, torch.Tensor]]:
    """Weights and biases of an exported file in the order in which they are used, heat and box last."""
    import onnx
    from onnx import numpy_helper

    graph = onnx.load(str(path)).graph
    values = {tensor.name: torch.tensor(numpy_helper.to_array(tensor)) for tensor in graph.initializer}
    values |= {node.output[0]: values[node.input[0]] for node in graph.node if node.op_type == "Cast"}
    return [(values[node.input[1]], values[node.input[2]]) for node in graph.node if node.op_type == "Conv"]


def meet_half_way(model: Any, earlier: Path) -> None:
    """Put each weight of an exported model half way back to that of an earlier file of the same network."""
    import onnx
    from onnx import numpy_helper

    for now, before in zip(model.graph.initializer, onnx.load(str(earlier)).graph.initializer, strict=True):
        tuned, start = numpy_helper.to_array(now), numpy_helper.to_array(before)
        if tuned.shape != start.shape or now.name != before.name:
            raise SystemExit(f"{earlier} has {before.name} {start.shape} where the checkpoint has {now.name} "
                             f"{tuned.shape}; give a file of the same network")  # fmt: skip
        if tuned.dtype.kind == "f":
            mean = (tuned.astype("f8") + start.astype("f8")) / 2
            now.CopyFrom(numpy_helper.from_array(mean.astype(tuned.dtype), now.name))


def export(
    network: torch.nn.Module, labels: list[str], side: int, out: Path, n_scenes: int, mean_with: Path | None = None
) -> None:
    """Write ONNX file, with weights in fp16, and card to a folder."""
    import onnx
    from export_pocket import narrow

    plain: torch.nn.Module = copy.deepcopy(network).cpu().float().eval()
    plain.to(memory_format=torch.contiguous_format)  # type: ignore[call-overload]  # torch documents memory_format, its types lack it
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the exporter announces its successor; this one folds the normalisation
        torch.onnx.export(plain, (torch.zeros(1, 3, side, side),), str(out / "detector.onnx"), dynamo=False,
                          input_names=["picture"], output_names=["heat", "box"], opset_version=17)  # fmt: skip
    model = onnx.load(str(out / "detector.onnx"))
    narrow(model, "fp16")
    if mean_with:
        meet_half_way(model, mean_with)
    onnx.checker.check_model(model)
    onnx.save(model, str(out / "detector.onnx"))
    n_parameters = sum(p.numel() for p in network.parameters())
    card = {
        "labels": labels,
        "side": side,
        "threshold": THRESHOLD,
        "training": {
            "n_parameters": n_parameters,
            "n_scenes": n_scenes,
            "scenes": "sprites of the painter over random backgrounds, painted while training; see training/README.md",
        },
    }
    (out / "detector.json").write_text(json.dumps(card, indent=1) + "\n")


def main() -> None:
    """Export a checkpoint."""
    from export_pocket import need

    parser = argparse.ArgumentParser()
    parser.add_argument("checkpoint", type=Path, nargs="?")
    parser.add_argument("--start", type=Path)
    parser.add_argument("--mean-with", type=Path, metavar="FILE")
    parser.add_argument("--ship", action="store_true")
    given = parser.parse_args()
    need("onnx")
    if given.start:
        torch.save(folded_weights(ASSETS / "detector.onnx"), given.start)
        return
    if given.checkpoint is None or not given.checkpoint.exists():
        parser.error("name a checkpoint that training/train_detector.py wrote, or --start FILE")
    stored = torch.load(given.checkpoint, map_location="cpu")
    network = PocketNetwork(len(stored["labels"])).eval()
    network.load_state_dict(stored["weights"])
    out = given.checkpoint.parent
    export(network, stored["labels"], stored["side"], out, stored["n_scenes"], given.mean_with)
    if given.ship:
        ASSETS.mkdir(parents=True, exist_ok=True)
        for name in ("detector.onnx", "detector.json"):
            shutil.copy(out / name, ASSETS / name)


if __name__ == "__main__":
    main()
