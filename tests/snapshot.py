"""Wording that is reviewed by eye: what is shown is held against a file of tests/snapshots.

`UPDATE_SNAPSHOTS=1 pytest` writes the files of the tests that run anew.
"""

from __future__ import annotations

import os
from pathlib import Path

SNAPSHOTS = Path(__file__).parent / "snapshots"


def check_snapshot(name: str, shown: str) -> None:
    """That the snapshot of this name is what is shown."""
    file = SNAPSHOTS / f"{name}.txt"
    if os.environ.get("UPDATE_SNAPSHOTS"):
        file.write_text(shown, encoding="utf-8")
    assert shown == file.read_text(encoding="utf-8")
