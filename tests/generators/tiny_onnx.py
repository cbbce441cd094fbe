"""Small ONNX files of a few nodes, written without a package."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

FLOAT, INT64 = 1, 7
Tensor = NDArray[np.float32] | NDArray[np.int64]


@dataclass(frozen=True, slots=True, kw_only=True)
class Node:
    """One operator."""

    op: str
    inputs: Sequence[str]
    output: str
    whole: Mapping[str, int] = field(default_factory=dict)
    """Attributes that are one whole number."""
    lists: Mapping[str, Sequence[int]] = field(default_factory=dict)
    """Attributes that are several."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Port:
    """A named input or output."""

    name: str
    shape: Sequence[int]
    kind: int = FLOAT


def model(nodes: Sequence[Node], ins: Sequence[Port], outs: Sequence[Port], constants: Mapping[str, Tensor]) -> bytes:
    """The file."""
    graph = b"".join(_part(1, _node(node)) for node in nodes) + _text(2, "graph")
    graph += b"".join(_part(5, _tensor(name, values)) for name, values in constants.items())
    graph += b"".join(_part(11, _port(port)) for port in ins) + b"".join(_part(12, _port(port)) for port in outs)
    return _number(1, 8) + _part(7, graph) + _part(8, _text(1, "") + _number(2, 17))


def _node(node: Node) -> bytes:
    written = b"".join(_text(1, name) for name in node.inputs) + _text(2, node.output) + _text(4, node.op)
    for name, value in node.whole.items():
        written += _part(5, _text(1, name) + _number(3, value) + _number(20, 2))
    for name, values in node.lists.items():
        written += _part(5, _text(1, name) + b"".join(_number(8, value) for value in values) + _number(20, 7))
    return written


def _port(port: Port) -> bytes:
    sizes = b"".join(_part(1, _number(1, size)) for size in port.shape)
    return _text(1, port.name) + _part(2, _part(1, _number(1, port.kind) + _part(2, sizes)))


def _tensor(name: str, values: Tensor) -> bytes:
    dims = b"".join(_number(1, size) for size in values.shape)
    kind = INT64 if values.dtype == np.int64 else FLOAT
    return dims + _number(2, kind) + _text(8, name) + _part(9, values.tobytes())


def _number(place: int, value: int) -> bytes:
    return _varint(place << 3) + _varint(value)


def _text(place: int, text: str) -> bytes:
    return _part(place, text.encode())


def _part(place: int, content: bytes) -> bytes:
    return _varint(place << 3 | 2) + _varint(len(content)) + content


def _varint(value: int) -> bytes:
    written = b""
    while value > 127:
        written += bytes([value & 127 | 128])
        value >>= 7
    return written + bytes([value])
