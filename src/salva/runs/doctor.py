"""What this machine offers: versions, extras, devices, keys, disk, and whether salva's own files are whole.

Says of keys only whether they are set. Nothing is downloaded and no endpoint is asked.
"""

from __future__ import annotations

import importlib.util
import os
import platform
import shutil
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from salva.assets.files import asset_names, read_asset
from salva.core.foreign_errors import translate_errors
from salva.core.versions import installed_version
from salva.errors import PluginError, SalvaError, install_line
from salva.hardware.cores import n_cores
from salva.store.sqlite import open_run

KEYS = (
    "OPENAI_API_KEY",
    "OPENAI_BASE_URL",
    "ANTHROPIC_API_KEY",
    "ANTHROPIC_BASE_URL",
    "GEMINI_API_KEY",
    "GOOGLE_API_KEY",
    "GEMINI_BASE_URL",
    "A1111_API_KEY",
    "HF_TOKEN",
)
EXTRAS = {
    "api": ("openai", "anthropic", "google.genai", "httpx"),
    "torch": ("torch", "diffusers", "transformers", "accelerate", "peft", "safetensors", "sentencepiece"),
    "pdf": ("reportlab",),
    "parquet": ("pyarrow",),
    "sign": ("cryptography",),
    "storage": ("fsspec", "s3fs"),
    "captions": ("spacy",),
    "tensorboard": ("tensorboardX",),
    "wordnet": ("wn",),
    "ray": ("ray",),
}
_PACKAGES = (
    *("salva", "numpy", "pillow", "onnxruntime", "rapidocr", "torch", "diffusers", "transformers"),
    *("openai", "anthropic", "google-genai", "httpx", "reportlab", "pyarrow", "torch-fidelity", "wn", "ray"),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class DoctorLine:
    """One line of the examination."""

    section: str
    name: str
    state: str
    is_bad: bool = False
    """Whether salva cannot work as it is."""


def examine(directory: Path = Path("runs")) -> Iterator[DoctorLine]:
    """Everything, section by section; directory: where runs would be stored."""
    yield from _versions()
    yield from _extras()
    yield from _devices()
    for name in KEYS:
        yield DoctorLine(section="keys", name=name, state="set" if os.environ.get(name) else "not set")
    yield from _own_files()
    yield from _disk(directory)


def _versions() -> Iterator[DoctorLine]:
    yield DoctorLine(section="versions", name="python", state=f"{platform.python_version()} on {platform.platform()}")
    yield DoctorLine(section="versions", name="cores", state=str(n_cores()))
    for package in _PACKAGES:
        if (installed := installed_version(package)) is not None:
            yield DoctorLine(section="versions", name=package, state=installed)


def _extras() -> Iterator[DoctorLine]:
    for extra in EXTRAS:
        yield DoctorLine(section="extras", name=extra, state=state_of_extra(extra))


def state_of_extra(extra: str) -> str:
    """Whether an extra is installed; else what of it is missing, and the line that installs it."""
    missing = [module for module in EXTRAS[extra] if not _is_there(module)]
    return f"{', '.join(missing)} not installed; install with: {install_line(extra)}" if missing else "installed"


def _is_there(module: str) -> bool:
    try:
        return importlib.util.find_spec(module) is not None
    except ModuleNotFoundError:
        return False


def _devices() -> Iterator[DoctorLine]:
    if _is_there("torch"):
        try:
            with translate_errors(lambda error: PluginError(str(error))):
                from salva.hardware.devices import choose_devices, describe_device

                for device in choose_devices():
                    state = "no GPU that torch can use" if device == "cpu" else describe_device(device)
                    yield DoctorLine(section="devices", name=device, state=state)
        except SalvaError as error:  # a broken torch is what people run this for
            yield DoctorLine(section="devices", name="torch", state=f"cannot be used: {error}")
        return
    yield DoctorLine(section="devices", name="cpu", state="torch is not installed, and nothing else uses a GPU")


def _own_files() -> Iterator[DoctorLine]:
    names = asset_names()
    problems = []
    for name in names:
        try:
            read_asset(name)
        except SalvaError as error:
            problems.append(str(error))
    state = "; ".join(problems) or f"{len(names)} files match their checksums"
    yield DoctorLine(section="files", name="weights and sprites", state=state, is_bad=bool(problems))


def _disk(where: Path) -> Iterator[DoctorLine]:
    present = next(path for path in (where.absolute(), *where.absolute().parents) if path.exists())
    try:
        with tempfile.TemporaryDirectory(prefix=".salva-doctor-", dir=present) as trial, open_run(Path(trial), "write"):
            pass
    except (SalvaError, OSError) as error:
        yield DoctorLine(section="disk", name="runs", state=f"cannot be stored in {present}: {error}", is_bad=True)
    else:
        yield DoctorLine(section="disk", name="runs", state=f"can be stored in {present}")
    yield DoctorLine(section="disk", name="free", state=size_text(shutil.disk_usage(present).free))


def size_text(n_bytes: float) -> str:
    """A number of bytes for people."""
    for unit in ("B", "KiB", "MiB", "GiB"):
        if n_bytes < 1024:
            return f"{n_bytes:.0f} {unit}" if unit in ("B", "KiB") else f"{n_bytes:.1f} {unit}"
        n_bytes /= 1024
    return f"{n_bytes:.1f} TiB"
