"""A generator and a detector with random weights: the preflight fails, and without it every case does."""

from __future__ import annotations

import json
from pathlib import Path

import in_process
import pytest

pytest.importorskip("torch", reason="checkpoints run on torch")
pytest.importorskip("diffusers", reason="checkpoints are loaded with diffusers")

from backends.tiny_models import save_florence2, save_grounding_dino
from backends.tiny_pipelines import save_stable_diffusion
from in_process import Command, Done

pytestmark = pytest.mark.filterwarnings("ignore:__array__ implementation:DeprecationWarning")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("random")
    save_stable_diffusion(folder / "painter")
    save_grounding_dino(folder / "grounding-dino")
    save_florence2(folder / "florence2")
    return folder


@pytest.fixture
def salva(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Command:
    """The command line, in this process."""
    monkeypatch.chdir(tmp_path)
    return in_process.salva


def run(salva: Command, folder: Path, detector: str, *settings: str, size: int = 24) -> Done:
    words = [word for setting in ("model.size=64", "model.steps=2", *settings) for word in ("--set", setting)]
    return salva(
        *(
            "run",
            "metalogic",
            "--model",
            f"diffusers/{folder / 'painter'}",
            "--detector",
            f"{detector}/{folder / detector}",
        ),
        *("--reader", "none", "--size", str(size), "--max-failure-rate", "0.5"),
        *("--no-progress", "--out", "run", *words),
    )


def test_a_random_detector_fails_the_preflight(salva: Command, folder: Path) -> None:
    done = run(salva, folder, "grounding-dino")
    assert done.returncode == 2
    assert "[preflight-failed]" in done.stderr
    assert not list(Path("run/images").rglob("*.webp"))


def test_random_weights_without_preflight_fail_everywhere(salva: Command, folder: Path) -> None:
    done = run(salva, folder, "grounding-dino", "run.preflight=off")
    assert done.returncode == 1, done.stderr
    report = json.loads(salva("report", "run", "--format", "json").stdout)
    assert [gate["decision"] for gate in report["gates"]] == ["failed"]
    assert report["failure_rate"] >= 0.95
    assert report["n"] >= 16
    assert "made with run.preflight=off" in done.stdout


def test_a_random_detector_without_scores_decides_nothing(salva: Command, folder: Path) -> None:
    done = run(salva, folder, "florence2", "detector.max_tokens=60", "run.preflight=off", size=12)
    assert done.returncode == 3, done.stderr
    report = json.loads(salva("report", "run", "--format", "json").stdout)
    assert [gate["decision"] for gate in report["gates"]] == ["inconclusive"]
    assert report["n"] == 0
    assert "[answer-cut]" in done.stderr
