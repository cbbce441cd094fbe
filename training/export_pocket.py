"""Writes the painter's two networks as ONNX, and pocket.json with all a generator needs beside them.

    python training/export_pocket.py --from DIR --name student --out src/salva/assets/pocket
    python training/export_pocket.py --random --out OUT                  no training: to measure speed and size

painter-text.onnx turns word numbers into what painter-canvas.onnx looks at; the canvas is asked once for each time.
Weights are stored in fp16 (or int8 with a scale for each output) and widened when loaded: what runs is fp32.
"""

from __future__ import annotations

import argparse
import importlib.util
import itertools
import json
import time
from pathlib import Path
from typing import Any

import numpy as np
import onnxruntime
import pocket_captions
import pocket_priors as priors
import torch
from pocket_model import PocketPainter, Shape, parameter_count
from pocket_sampling import encode_prompts, shifted_times
from pocket_weights import load_facts, load_painter

from salva.generators.pocket import step_times

BATCH = 4
SMALL = 2048
"""Tensors with fewer numbers stay as they are."""


def need(*packages: str) -> None:
    """Stop where nothing can be exported; painting with exported files needs the runtime alone."""
    missing = [name for name in packages if importlib.util.find_spec(name) is None]
    if missing:
        raise SystemExit(f"exporting needs {' and '.join(missing)}: pip install {' '.join(missing)}")


def narrow(model: Any, kind: str) -> None:
    """Store large weights as fp16 or int8, with the nodes that widen them again; the runtime folds those away."""
    from onnx import TensorProto, helper, numpy_helper

    nodes = []
    for tensor in list(model.graph.initializer):
        values = numpy_helper.to_array(tensor)
        if values.dtype != np.float32 or values.size < SMALL:
            continue
        name = tensor.name
        model.graph.initializer.remove(tensor)
        if kind == "int8" and values.ndim > 1:
            # Convolutions keep their outputs first, matrices of linear layers last.
            axes = tuple(range(1, values.ndim)) if values.ndim == 4 else tuple(range(values.ndim - 1))
            scale = np.maximum(np.abs(values).max(axes, keepdims=True), 1e-8).astype(np.float32) / 127
            whole = np.round(values / scale).astype(np.int8)
            model.graph.initializer.append(numpy_helper.from_array(whole, name + ".narrow"))
            model.graph.initializer.append(numpy_helper.from_array(scale, name + ".scale"))
            nodes.append(helper.make_node("Cast", [name + ".narrow"], [name + ".wide"], to=TensorProto.FLOAT))
            nodes.append(helper.make_node("Mul", [name + ".wide", name + ".scale"], [name]))
        else:
            model.graph.initializer.append(numpy_helper.from_array(values.astype(np.float16), name + ".narrow"))
            nodes.append(helper.make_node("Cast", [name + ".narrow"], [name], to=TensorProto.FLOAT))
    kept = list(model.graph.node)
    del model.graph.node[:]
    model.graph.node.extend([*nodes, *kept])


def export(
    module: torch.nn.Module, inputs: tuple[torch.Tensor, ...], names: tuple[list[str], list[str]], path: Path, kind: str
) -> None:
    """One network at the fixed batch."""
    import onnx

    module.eval()
    program = torch.onnx.export(
        module, inputs, dynamo=True, input_names=names[0], output_names=names[1], external_data=False, verbose=False
    )
    assert program is not None
    program.optimize()
    model = program.model_proto
    for node in model.graph.node:
        del node.metadata_props[:]
        node.doc_string = ""
    narrow(model, kind)
    onnx.checker.check_model(model)
    path.parent.mkdir(parents=True, exist_ok=True)
    onnx.save(model, str(path))


def session(path: Path, n_threads: int) -> onnxruntime.InferenceSession:
    """The runtime as the generator will use it."""
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = n_threads
    return onnxruntime.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])


def check(painter: PocketPainter, out: Path, times: list[float]) -> dict[str, float]:
    """Paint one batch with the files, against torch; returns the difference, the load and the painting time."""
    tokens = encode_prompts(["a cat and a dog", "three red apples on the left"] * (BATCH // 2), torch.device("cpu"))
    x = torch.randn(BATCH, 3, painter.shape.side, painter.shape.side, generator=torch.Generator().manual_seed(1))
    begin = time.time()
    text, canvas = session(out / "painter-text.onnx", 2), session(out / "painter-canvas.onnx", 2)
    loaded = time.time()
    words, bias, sentence = text.run(None, {"tokens": tokens.numpy()})
    picture = x.numpy()
    for t, t_next in itertools.pairwise(times):
        fed = {"x": picture, "t": np.full(BATCH, t, np.float32), "words": words, "bias": bias, "sentence": sentence}
        picture = picture + np.float32(t_next - t) * canvas.run(None, fed)[0]
    done = time.time()
    with torch.no_grad():
        encoded = painter.text(tokens)
        for t, t_next in itertools.pairwise(times):
            x = x + (t_next - t) * painter.canvas(x, torch.full((BATCH,), t), *encoded)
    return {
        "largest_difference": float(np.abs(picture - x.numpy()).max()),
        "load_s": round(loaded - begin, 3),
        "s_per_picture": round((done - loaded) / BATCH, 4),
    }


def main() -> None:
    """Export, check, and write the facts."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    painters = parser.add_mutually_exclusive_group(required=True)
    painters.add_argument("--from", dest="source", type=Path)
    painters.add_argument("--random", action="store_true")
    parser.add_argument("--name", default="student", choices=("student", "ema"))
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--weights", default="fp16", choices=("fp16", "int8"))
    parser.add_argument("--steps", type=int, default=0, help="other than it was distilled for, on the same curve")
    args = parser.parse_args()
    need("onnx", "onnxscript")
    facts: dict[str, Any] = {}
    if args.random:
        painter = PocketPainter(Shape(n_words=len(pocket_captions.vocabulary())))
        for parameter in painter.parameters():
            torch.nn.init.normal_(parameter, std=0.02)
    else:
        facts = load_facts(args.source)
        painter = load_painter(args.source, args.name)
    times = step_times(facts.get("times") or shifted_times(4, 1.5), args.steps)
    tokens = encode_prompts(["a cat and a dog"] * BATCH, torch.device("cpu"))
    with torch.no_grad():
        encoded = painter.text(tokens)
    x = torch.randn(BATCH, 3, painter.shape.side, painter.shape.side)
    text_names = (["tokens"], ["words", "bias", "sentence"])
    canvas_names = (["x", "t", "words", "bias", "sentence"], ["velocity"])
    export(painter.text, (tokens,), text_names, args.out / "painter-text.onnx", args.weights)
    export(
        painter.canvas, (x, torch.rand(BATCH), *encoded), canvas_names, args.out / "painter-canvas.onnx", args.weights
    )
    measured = check(painter, args.out, times)
    card = {
        "side": painter.shape.side,
        "batch": BATCH,
        "max_tokens": painter.shape.max_tokens,
        "times": times,
        "words": facts.get("words") or pocket_captions.vocabulary(),
        "pad": pocket_captions.PAD,
        "start": pocket_captions.START,
        "end": pocket_captions.END,
        "unknown": pocket_captions.UNKNOWN,
        "things": list(priors.THINGS),
        "colours": list(priors.COLOURS),
        "coloured": list(priors.COLOURED),
        "n_parameters": parameter_count(painter),
        "training": {key: facts[key] for key in ("step", "guidance", "distilling") if key in facts},
    }
    (args.out / "painter.json").write_text(json.dumps(card, indent=1) + "\n")
    sizes = {path.name: round(path.stat().st_size / 1e6, 2) for path in sorted(args.out.glob("painter*"))}
    print(json.dumps({**measured, "megabytes": sizes}))


if __name__ == "__main__":
    main()
