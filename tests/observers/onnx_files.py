"""Small ONNX files with one node, from one image to one tensor; written without a package."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
from numpy.typing import ArrayLike

FLOAT = 1


def save_fixed(path: Path, rows: ArrayLike, side: int | str = 64, metadata: Mapping[str, str] | None = None) -> Path:
    """A network that gives the same tensor for every picture."""
    values = np.asarray(rows, np.float32)
    stored = _tensor("rows", values)
    return _save(path, "Identity", ["rows"], [stored], values.shape, side, metadata)


def save_means(path: Path, side: int | str = 8) -> Path:
    """A network that gives the mean of each colour."""
    return _save(path, "GlobalAveragePool", ["images"], [], (1, 3, 1, 1), side, None)


def _save(
    path: Path,
    operator: str,
    inputs: Sequence[str],
    tensors: Sequence[bytes],
    shape: Sequence[int],
    side: int | str,
    metadata: Mapping[str, str] | None,
) -> Path:
    node = b"".join(_text(1, name) for name in inputs) + _text(2, "output") + _text(4, operator)
    graph = _part(1, node) + _text(2, "graph") + b"".join(_part(5, tensor) for tensor in tensors)
    graph += _part(11, _value("images", (1, 3, side, side))) + _part(12, _value("output", shape))
    model = _number(1, 8) + _part(7, graph) + _part(8, _text(1, "") + _number(2, 17))
    for key, value in (metadata or {}).items():
        model += _part(14, _text(1, key) + _text(2, value))
    path.write_bytes(model)
    return path


def _value(name: str, shape: Sequence[int | str]) -> bytes:
    sizes = b"".join(_part(1, _number(1, size) if isinstance(size, int) else _text(2, size)) for size in shape)
    return _text(1, name) + _part(2, _part(1, _number(1, FLOAT) + _part(2, sizes)))


def _tensor(name: str, values: np.ndarray[tuple[int, ...], np.dtype[np.float32]]) -> bytes:
    dims = b"".join(_number(1, size) for size in values.shape)
    return dims + _number(2, FLOAT) + _text(8, name) + _part(9, values.tobytes())


def _number(field: int, value: int) -> bytes:
    return _varint(field << 3) + _varint(value)


def _text(field: int, text: str) -> bytes:
    return _part(field, text.encode())


def _part(field: int, content: bytes) -> bytes:
    return _varint(field << 3 | 2) + _varint(len(content)) + content


def _varint(value: int) -> bytes:
    written = b""
    while value > 127:
        written += bytes([value & 127 | 128])
        value >>= 7
    return written + bytes([value])
