"""A network in an ONNX file, on the processor: a file or its bytes come in, a session that runs it goes out."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from salva.core.blame import one_line, translating
from salva.errors import UsageError


def open_network(source: bytes | Path, *, threads: int = 1, **settings: object) -> Any:
    """A session of a network; threads: cores for one call. settings: others of onnxruntime's, by their names."""
    import onnxruntime

    chosen = onnxruntime.SessionOptions()
    for name, value in {"intra_op_num_threads": threads, "inter_op_num_threads": 1, **settings}.items():
        setattr(chosen, name, value)
    given = source if isinstance(source, bytes) else str(source)
    return onnxruntime.InferenceSession(given, chosen, providers=["CPUExecutionProvider"])


def open_users_network(name: str, path: Path, threads: int) -> Any:
    """A session of a file that a user gave; name: the component, for messages."""
    problem = f"{name}: {str(path)!r} is no ONNX file that can be loaded"
    # onnxruntime's own exceptions share no base class.
    with translating(lambda error: UsageError(f"{problem}: {one_line(error)}")):
        return open_network(path, threads=threads, log_severity_level=4)
