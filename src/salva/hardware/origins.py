"""Where the weights in a folder come from: written by whoever converted them, read by whoever loads them.

The note names the file they were made of and the digest of what was made. Weights that changed since are not those
any more, whatever the note says.
"""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from pathlib import Path

from salva.hardware.checkpoints import digest_of_files

NOTE = "origin.json"
GENEVAL_SHA256 = "743b7d99"
"""How the digest of mmdet's checkpoint begins that GenEval was published with: the last part of that file's name."""


@dataclass(frozen=True, slots=True, kw_only=True)
class WeightsOrigin:
    """What a folder of weights was made of."""

    file: str
    """The name of the file."""
    sha256: str
    """Its digest."""
    weights: str
    """The digest of the safetensors that were made of it."""


def write_origin(folder: Path, file: str, sha256: str) -> None:
    """Write down what the safetensors of a folder were made of."""
    origin = WeightsOrigin(file=file, sha256=sha256, weights=_weights(folder))
    (folder / NOTE).write_text(json.dumps(asdict(origin), indent=2) + "\n", encoding="utf-8")


def read_origin(folder: Path) -> WeightsOrigin | None:
    """What the weights of a folder were made of; None where nothing says so, or they are others by now."""
    try:
        origin = WeightsOrigin(**json.loads((folder / NOTE).read_text(encoding="utf-8")))
    except (OSError, ValueError, TypeError):
        return None
    return origin if origin.weights == _weights(folder) else None


def _weights(folder: Path) -> str:
    return digest_of_files(folder.glob("*.safetensors"), folder)
