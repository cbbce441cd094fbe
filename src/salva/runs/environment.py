"""Where a run ran: versions, platform and cores, for run.json. Never the values of variables."""

from __future__ import annotations

import platform

from salva.core.fingerprint import Json
from salva.core.versions import installed_version
from salva.hardware.cores import n_cores

_PACKAGES = ("salva", "numpy", "pillow", "onnxruntime", "rapidocr", "torch", "diffusers", "transformers", "ray")


def environment() -> dict[str, Json]:
    """What could explain a difference between two machines."""
    return {
        "python": platform.python_version(),
        "platform": platform.platform(),
        "machine": platform.machine(),
        "n_cores": n_cores(),
        "packages": {name: found for name in _PACKAGES if (found := installed_version(name)) is not None},
    }
