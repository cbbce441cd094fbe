"""`make bench` measures what it can: a bench that lacks its data says so in a line and lets the next one begin."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

BENCH = Path(__file__).parents[2] / "bench"


@pytest.mark.parametrize("name", ["captions", "captions_run", "mutants_aloud", "real_pictures"])
def test_without_foreign_data_nothing_is_measured_and_nothing_breaks(name: str, tmp_path: Path) -> None:
    for module in {"captions_run": ("torch", "diffusers")}.get(name, ()):
        pytest.importorskip(module, reason=f"needs {module}, of the test extras")
    done = subprocess.run(
        [sys.executable, str(BENCH / f"{name}.py")],
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "SALVA_TEST_DATA": str(tmp_path)},
    )
    assert done.returncode == 0, done.stderr
    (line,) = done.stdout.splitlines()
    assert "SALVA_TEST_DATA" in line
