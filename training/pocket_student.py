"""The shipped few-step painter as torch weights again: read from its ONNX files, packed small enough to travel.

Only the ONNX files of the student are kept, and the averaged weights it was distilled from. To go on from the student
its weights are needed under the network's names: most keep their names in the file; matrices of linear layers lie
there transposed and unnamed and are known by the teacher's matrix they are nearest to. Packed, each number is a byte:
the difference from the teacher, with a scale for each row.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import torch
from torch import Tensor

FARTHEST = 0.5
"""A matrix further than this from the teacher's, as a share of its length, is no copy of it gone on learning."""


def read_student(folder: Path, teacher: dict[str, Tensor]) -> dict[str, Tensor]:
    """Weights of the ONNX files in a folder, under the names and in the shapes of the teacher's."""
    import onnx
    from onnx import numpy_helper

    student = {}
    for part in ("text", "canvas"):
        graph = onnx.load(str(folder / f"painter-{part}.onnx")).graph
        stored = {
            one.name.removesuffix(".narrow"): torch.from_numpy(numpy_helper.to_array(one).astype(np.float32))
            for one in graph.initializer
            if one.data_type in (onnx.TensorProto.FLOAT, onnx.TensorProto.FLOAT16)
        }
        mine = {name.removeprefix(f"{part}."): w for name, w in teacher.items() if name.startswith(f"{part}.")}
        unnamed = [value for name, value in stored.items() if name not in mine and value.ndim == 2]
        for name, weight in mine.items():
            found = stored[name] if name in stored else _nearest(weight, unnamed)
            distance = float((found - weight).norm() / weight.norm().clamp_min(1e-6))
            if weight.numel() > weight.shape[0] and distance > FARTHEST:
                raise SystemExit(
                    f"{part}.{name} of {str(folder)!r} is {distance:.2f} away from the teacher's; wanted under "
                    f"{FARTHEST}: these are not weights distilled from that teacher"
                )
            student[f"{part}.{name}"] = found
    return student


def _nearest(weight: Tensor, candidates: list[Tensor]) -> Tensor:
    """The candidate that is most nearly the weight, turned as the weight is."""
    fitting = [one.T for one in candidates if one.T.shape == weight.shape]
    if not fitting:
        raise SystemExit(f"the ONNX file holds no matrix of shape {tuple(weight.shape)}; export it with today's code")
    return min(fitting, key=lambda one: float((one - weight).norm())).contiguous()


def pack_student(student: dict[str, Tensor], teacher: dict[str, Tensor], path: Path) -> None:
    """Write the differences, a byte each."""
    arrays = {}
    for name, weight in teacher.items():
        rows = (student[name] - weight).reshape(weight.shape[0], -1)
        scale = rows.abs().amax(1, keepdim=True).clamp_min(1e-12) / 127
        arrays[f"{name}:bytes"] = (rows / scale).round().to(torch.int8).reshape(weight.shape).numpy()
        arrays[f"{name}:scale"] = scale.squeeze(1).numpy()
    path.parent.mkdir(parents=True, exist_ok=True)
    np.savez_compressed(path, **arrays)  # type: ignore[arg-type]  # keyword arrays


def unpack_student(path: Path, teacher: dict[str, Tensor]) -> dict[str, Tensor]:
    """What pack_student wrote, in full precision."""
    student = {}
    with np.load(path) as stored:
        for name, weight in teacher.items():
            scale = torch.from_numpy(stored[f"{name}:scale"]).view(-1, *[1] * (weight.ndim - 1))
            student[name] = weight + torch.from_numpy(stored[f"{name}:bytes"]).float() * scale
    return student
