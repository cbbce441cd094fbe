"""Where a run ran: versions, platform and cores, for run.json. Never the values of variables."""

from __future__ import annotations

import platform
from importlib.metadata import PackageNotFoundError, version

from salva.core.fingerprint import Json
from salva.hardware.cores import n_cores

_PACKAGES = ("salva", "numpy", "pillow", "onnxruntime", "rapidocr", "torch", "diffusers", "transformers", "ray")


def environment() -> dict[str, Json]:
    """What could explain a difference between two machines."""
    return {
        "python": platform.python_version(),
        "platform": platform.platform(),
        "machine": platform.machine(),
        "n_cores": n_cores(),
        "packages": {name: found for name in _PACKAGES if (found := _version(name)) is not None},
    }


def salva_version() -> str | None:
    """This salva's own version."""
    return _version("salva")


def _version(package: str) -> str | None:
    try:
        return version(package)
    except PackageNotFoundError:
        return None
