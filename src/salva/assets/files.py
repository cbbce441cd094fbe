"""The files that come with salva: sprites and weights, each checked against its sha256 when read.

Knows nothing of what is in them. training/make_sprites.py --checksums writes the checksums whenever an asset changes.
"""

from __future__ import annotations

import hashlib
import json
from functools import cache
from pathlib import Path

from salva.errors import PluginError
from salva.messages import message

_ROOT = Path(__file__).parent
_REPAIR = "pip install --force-reinstall salva"


def asset_path(relative: str) -> Path:
    """Where an asset lies; a missing one is a PluginError."""
    path = _ROOT / relative
    if not path.is_file():
        raise _damaged(relative, "missing")
    return path


def read_asset(relative: str) -> bytes:
    """The content of an asset, checked against its checksum."""
    content = asset_path(relative).read_bytes()
    if hashlib.sha256(content).hexdigest() != asset_digest(relative):
        raise _damaged(relative, "damaged")
    return content


def asset_digest(relative: str) -> str:
    """The sha256 an asset must have: pins what was trained or drawn without reading it."""
    table = _checksums()
    if relative not in table:
        raise _damaged(relative, "without a checksum")
    return table[relative]


def asset_names() -> list[str]:
    """Every asset with a checksum."""
    return sorted(_checksums())


def folder_digest(relative: str) -> str:
    """One hash for all assets below a folder."""
    below = {name: digest for name, digest in _checksums().items() if name.startswith(f"{relative}/")}
    return hashlib.sha256(json.dumps(below, sort_keys=True).encode()).hexdigest()


@cache
def _checksums() -> dict[str, str]:
    try:
        table: dict[str, str] = json.loads(asset_path("checksums.json").read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise _damaged("checksums.json", f"damaged ({error})") from error
    return table


def _damaged(name: str, problem: str) -> PluginError:
    return PluginError(message("asset-damaged", name=name, problem=problem, repair=_REPAIR))
