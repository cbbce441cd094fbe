"""The exit code is the command's own, whatever a component does to the process, and signals interrupt."""

from __future__ import annotations

import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

PLUGIN = """
import os, signal, sys, time
import click
from salva.core.image import Picture
from salva.core.options import NoOptions
from salva.core.protocols import Rendered

class Rude:
    version = "1"
    def __init__(self, options: NoOptions): pass
    def render(self, requests):
        open("begun", "w").close()
        {body}
        return [Rendered(picture=Picture(rgb=bytes(3 * 64 * 64), width=64, height=64)) for _ in requests]
"""
ASKED = ("run", "metalogic", "--size", "2", "--plugin", "rude.py:Rude", "--model", "rude", "--detector", "pocket")


def begin(folder: Path, body: str) -> subprocess.Popen[bytes]:
    (folder / "rude.py").write_text(PLUGIN.format(body=body))
    command = [sys.executable, "-m", "salva", *ASKED, "--reader", "none", "--no-progress", "--out", "run"]
    return subprocess.Popen(
        command, cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE, preexec_fn=_heed_signals
    )


def _heed_signals() -> None:
    # Under nohup SIGHUP is ignored, and children inherit that.
    for number in (signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.SIG_DFL)


@pytest.mark.parametrize(
    ("body", "code", "message"),
    [
        ("os._exit(0)", 3, b"[engine-died]"),
        ("os.kill(os.getpid(), signal.SIGKILL)", 3, b"[engine-died]"),
        ("raise SystemExit(0)", 3, b""),
        ("raise click.exceptions.Exit(0)", 3, b"[results-failed]"),
        ("raise GeneratorExit", 3, b"[results-failed]"),
        ("os.closerange(3, 8)", 3, b"[engine-died]"),
        ("os.kill(os.getpid(), signal.SIGTERM)", 130, b"[run-interrupted]"),
    ],
)
def test_no_component_makes_an_exit_code(body: str, code: int, message: bytes, tmp_path: Path) -> None:
    _, errors = (process := begin(tmp_path, body)).communicate(timeout=60)
    assert (process.returncode, message in errors) == (code, True), errors


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP])
@pytest.mark.parametrize("is_early", [True, False])
def test_signals_interrupt_at_any_time(number: signal.Signals, is_early: bool, tmp_path: Path) -> None:
    process = begin(tmp_path, "time.sleep(2)")
    deadline = time.monotonic() + 60
    while not is_early and not (tmp_path / "begun").exists() and time.monotonic() < deadline:
        time.sleep(0.05)
    time.sleep(0.1)
    process.send_signal(number)
    _, errors = process.communicate(timeout=60)
    assert (process.returncode, b"Traceback" in errors) == (130, False), errors
