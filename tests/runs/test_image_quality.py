"""FID of a run against a folder: the pictures of each model, through the embedder, and nothing guessed."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from observers.onnx_files import save_means
from PIL import Image

from salva.api import run_suite
from salva.core.judgements import SetFigure
from salva.engine.progress import Progress
from salva.errors import UsageError
from salva.imaging.files import decode_picture
from salva.runs.image_quality import SILENT, QualityRequest, calibrated_temperature, quality_figures
from salva.stats.frechet import fid, inception_score


@pytest.fixture(scope="module")
def directory(tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("quality") / "run"
    run_suite("metalogic", "painter", out=out, size="6", reader="none")
    return out


@pytest.fixture
def reference(tmp_path: Path) -> Path:
    folder = tmp_path / "real" / "inner"
    folder.mkdir(parents=True)
    rng = np.random.default_rng(4)
    for i in range(12):
        colour = tuple(int(c) for c in rng.integers(0, 256, 3))
        Image.new("RGB", (16, 16), colour).save(folder / f"{i}.png")
    return tmp_path / "real"


def figures(directory: Path, network: str, progress: Progress = SILENT, **asked: Any) -> dict[str, SetFigure]:
    """The one figure of each model."""
    found = quality_figures(directory, QualityRequest(embedder=network, **asked), progress)
    return {model: figure for model, (figure,) in found.items()}


def run_fid(directory: Path, reference: Path, network: str, progress: Progress = SILENT) -> dict[str, SetFigure]:
    return figures(directory, network, progress, reference=reference, options=UNIT if "means" in network else {})


UNIT = {"pixels": "unit"}


def means(pictures: list[bytes]) -> list[list[float]]:
    """What the test network makes of pictures, computed without it."""
    rows = []
    for data in pictures:
        picture = decode_picture(data)
        small = Image.frombytes("RGB", (picture.width, picture.height), picture.rgb).resize(
            (8, 8), Image.Resampling.BICUBIC
        )
        rows.append((np.asarray(small, float) / 255).mean((0, 1)).tolist())
    return rows


def test_the_distance_is_that_of_the_runs_pictures_from_the_folders(
    directory: Path, reference: Path, tmp_path: Path
) -> None:
    network = save_means(tmp_path / "means.onnx")
    found = run_fid(directory, reference, f"inception/{network}")
    painted = [path.read_bytes() for path in sorted((directory / "images").rglob("*.webp"))]
    real = [path.read_bytes() for path in sorted(reference.rglob("*.png"))]
    assert list(found) == ["painter"]
    assert found["painter"].value == pytest.approx(fid(means(painted), means(real)).value, abs=1e-4)
    assert found["painter"].n_images == len(painted)
    assert found["painter"].n_reference == 12
    assert "[images-few]" in found["painter"].warning


def test_a_run_is_nearer_to_its_own_pictures(directory: Path, reference: Path, tmp_path: Path) -> None:
    network = f"inception/{save_means(tmp_path / 'means.onnx')}"
    itself = run_fid(directory, directory / "images", network)["painter"].value
    assert itself == pytest.approx(0, abs=1e-9)
    assert run_fid(directory, reference, network)["painter"].value > 0.01


def test_the_inception_score_is_that_of_the_runs_pictures(directory: Path, tmp_path: Path) -> None:
    network = save_means(tmp_path / "means.onnx")
    painted = [path.read_bytes() for path in sorted((directory / "images").rglob("*.webp"))]
    logits = [[255 * value for value in row] for row in means(painted)]
    found = figures(directory, f"inception/{network}", options={"pixels": "byte"}, logits="output")["painter"]
    wanted = inception_score(logits, n_splits=min(10, len(painted)))
    assert found.value == pytest.approx(wanted.value, abs=1e-3)
    assert found.value > 1
    assert found.n_images == len(painted)
    assert "[images-few]" in found.warning


def test_the_temperature_comes_from_pictures_whose_classes_are_known(tmp_path: Path) -> None:
    """Three classes by colour; in three pictures of four the classifier sees the right one."""
    network = f"inception/{save_means(tmp_path / 'means.onnx')}"
    for number in range(3):
        (tmp_path / "held out" / str(number)).mkdir(parents=True)
        for i, shown in enumerate((number, number, number, (number + 1) % 3)):
            colour = tuple(12 if channel == shown else 0 for channel in range(3))
            Image.new("RGB", (8, 8), colour).save(tmp_path / "held out" / str(number) / f"{i}.png")
    found = calibrated_temperature(tmp_path / "held out", network, {"pixels": "byte"})
    # At the optimum the classifier says 3/4 for what it sees, and the two others share the rest.
    assert found == pytest.approx(12 / np.log((3 / 4) / (1 / 8)), rel=1e-4)


def test_held_out_pictures_must_be_sorted_by_class(tmp_path: Path) -> None:
    network = f"inception/{save_means(tmp_path / 'means.onnx')}"
    with pytest.raises(UsageError, match=r"\[folder-invalid\]"):
        calibrated_temperature(tmp_path / "gone", network)
    (tmp_path / "sorted" / "cats").mkdir(parents=True)
    with pytest.raises(UsageError, match=r"folders cats\. \[folder-invalid\]"):
        calibrated_temperature(tmp_path / "sorted", network)


def test_a_folder_without_images_is_named(directory: Path, tmp_path: Path) -> None:
    network = f"inception/{save_means(tmp_path / 'means.onnx')}"
    with pytest.raises(UsageError, match=r"\[file-missing\]"):
        run_fid(directory, tmp_path / "gone", network)
    (tmp_path / "few").mkdir()
    with pytest.raises(UsageError, match=r"holds 0\. \[folder-invalid\]"):
        run_fid(directory, tmp_path / "few", network)
    for name in ("a.png", "b.png"):
        (tmp_path / "few" / name).write_text("<html>")
    with pytest.raises(UsageError, match=r"a\.png' .*\[file-unreadable\]"):
        run_fid(directory, tmp_path / "few", network)


class Counted:
    """Remembers what it was told."""

    def __init__(self) -> None:
        self.told: list[tuple[str, str, int | None]] = []

    def start(self, stage: str, total: int | None) -> None:
        self.told.append(("start", stage, total))

    def advance(self, stage: str, n: int = 1) -> None:
        self.told.append(("advance", stage, n))

    def finish(self, stage: str) -> None:
        self.told.append(("finish", stage, None))

    def note(self, text: str) -> None:
        self.told.append(("note", text, None))


def test_whoever_waits_is_told_how_far_it_is(directory: Path, reference: Path, tmp_path: Path) -> None:
    progress = Counted()
    made = run_fid(directory, reference, f"inception/{save_means(tmp_path / 'means.onnx')}", progress=progress)
    for stage, total in (("reference", 12), ("painter", made["painter"].n_images)):
        own = [(what, n) for what, name, n in progress.told if name == stage]
        assert (own[0], own[-1]) == (("start", total), ("finish", None))
        assert sum(n or 0 for what, n in own if what == "advance") == total


def test_vectors_the_run_has_stored_are_not_made_again(reference: Path, tmp_path: Path) -> None:
    run_suite("metalogic", "painter", out=tmp_path / "run", size="3", embedder="pocket", check="same-similarity")
    progress = Counted()
    run_fid(tmp_path / "run", reference, "pocket", progress=progress)
    assert ("start", "painter", 0) in progress.told
    assert ("start", "reference", 12) in progress.told


def test_the_run_is_looked_at_before_the_network_is_loaded(reference: Path, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="nowhere' is no run"):
        run_fid(tmp_path / "nowhere", reference, "inception/no-such-network.onnx")
