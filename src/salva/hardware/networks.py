"""A network in an ONNX file, on the processor: a file or its bytes come in, a session that runs it goes out."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from salva.core.foreign_errors import one_line, translate_errors
from salva.errors import UsageError
from salva.messages import message


def open_network(source: bytes | Path, *, threads: int = 1, **settings: object) -> Any:
    """A session of a network; threads: cores for one call. settings: others of onnxruntime's, by their names."""
    import onnxruntime

    chosen = onnxruntime.SessionOptions()
    for name, value in {"intra_op_num_threads": threads, "inter_op_num_threads": 1, **settings}.items():
        setattr(chosen, name, value)
    given = source if isinstance(source, bytes) else str(source)
    return onnxruntime.InferenceSession(given, chosen, providers=["CPUExecutionProvider"])


def open_users_network(name: str, path: Path) -> Any:
    """A session of a file that a user gave; name: the component, for messages."""
    values = {"component": name, "model": str(path)}
    # onnxruntime's own exceptions share no base class.
    with translate_errors(lambda error: UsageError(message("checkpoint-invalid", **values, why=one_line(error)))):
        return open_network(path, log_severity_level=4)


def users_file(path: str) -> Path:
    """The file that a user named; an error where there is none."""
    file = Path(path).expanduser()
    if not file.is_file():
        raise UsageError(message("file-missing", path=path))
    return file
