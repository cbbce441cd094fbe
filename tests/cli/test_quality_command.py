"""`salva quality` as people use it: garbage in, and what it says about it."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner, Result
from observers.onnx_files import save_means
from PIL import Image
from review.rating_rows import imported, triple_rows, write

from salva.api import run_suite
from salva.cli.main import salva
from salva.errors import UsageError
from salva.imaging.files import decode_picture
from salva.runs import image_quality


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Pictures of one model, painted by the painter."""
    out = tmp_path_factory.mktemp("quality") / "run"
    run_suite("metalogic", "painter", out=out, size="6", reader="none")
    return out


@pytest.fixture(scope="module")
def network(tmp_path_factory: pytest.TempPathFactory) -> str:
    return f"inception/{save_means(tmp_path_factory.mktemp('network') / 'means.onnx')}"


def quality(run: Path, *arguments: object) -> Result:
    return CliRunner().invoke(salva, ["quality", str(run), *map(str, arguments)])


def figures(done: Result) -> list[dict[str, object]]:
    assert done.exit_code == 0, done.output
    made: list[dict[str, object]] = json.loads(done.stdout)
    return made


def fid(run: Path, reference: Path, network: str) -> float:
    (figure,) = figures(quality(run, "--reference", reference, "--embedder", network, "--format", "json"))
    assert (figure["model"], figure["figure"]) == ("painter", "FID")
    assert "2,048" in str(figure["warning"])
    return float(str(figure["value"]))


def test_the_runs_own_pictures_are_at_no_distance_grey_ones_far_away_and_order_does_not_matter(
    run: Path, network: str, tmp_path: Path
) -> None:
    own = [decode_picture(path.read_bytes()) for path in sorted((run / "images").rglob("*.webp"))]
    for folder, order in (("same", own), ("shuffled", own[::-1])):
        (tmp_path / folder).mkdir()
        for i, picture in enumerate(order):
            image = Image.frombytes("RGB", (picture.width, picture.height), picture.rgb)
            image.save(tmp_path / folder / f"{i:03}.png")
    (tmp_path / "grey").mkdir()
    for i in range(len(own)):
        Image.new("RGB", (32, 32), (128 + i, 128 + i, 128 + i)).save(tmp_path / "grey" / f"{i}.png")
    same, shuffled, grey = (fid(run, tmp_path / name, network) for name in ("same", "shuffled", "grey"))
    assert same == pytest.approx(0, abs=1e-6)
    assert shuffled == pytest.approx(same, abs=1e-9)
    assert grey > 0.05


def test_a_table_for_people_says_how_to_read_it_and_warns_of_few_pictures(run: Path, network: str) -> None:
    done = quality(run, "--reference", run / "images", "--embedder", network)
    assert done.exit_code == 0, done.output
    assert "painter" in done.stdout
    assert "smaller is better" in done.stdout
    assert "[images-few]" in done.stderr


def test_logits_give_the_inception_score_and_held_out_pictures_calibrate_it(
    run: Path, network: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(image_quality, "SPLITS", 2)
    common = ("--embedder", network, "--set", "embedder.pixels=byte", "--logits", "output")
    (score,) = figures(quality(run, *common, "--format", "json"))
    assert score["figure"] == "Inception Score"
    assert score["n_reference"] is None
    assert isinstance(score["spread"], float)
    for number in range(3):
        folder = tmp_path / "held out" / str(number)
        folder.mkdir(parents=True)
        for i, shown in enumerate((number, number, number, (number + 1) % 3)):
            colour = tuple(12 if channel == shown else 0 for channel in range(3))
            Image.new("RGB", (8, 8), colour).save(folder / f"{i}.png")
    (calibrated,) = figures(quality(run, *common, "--held-out", tmp_path / "held out", "--format", "json"))
    assert str(calibrated["figure"]).startswith("I-IS, temperature 6.697")
    assert float(str(calibrated["value"])) < float(str(score["value"])), "a less sure classifier scores lower"


def test_both_figures_come_in_one_call(run: Path, network: str) -> None:
    done = quality(
        *(run, "--reference", run / "images", "--logits", "output", "--embedder", network, "--format", "json")
    )
    assert [figure["figure"] for figure in figures(done)] == ["FID", "Inception Score"]


def folders(tmp_path: Path) -> None:
    for name in ("empty", "one", "texts", "torn"):
        (tmp_path / name).mkdir()
    Image.new("RGB", (8, 8)).save(tmp_path / "one" / "a.png")
    (tmp_path / "texts" / "a.txt").write_text("hello")
    for name in ("a.png", "b.png"):
        (tmp_path / "torn" / name).write_bytes(np.random.default_rng(1).bytes(300))


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((), "[flag-needed]"),
        (("--held-out", "one"), "[flag-needed]"),
        (("--reference", "gone"), "'gone'. [file-missing]"),
        (("--reference", "empty"), "holds 0. [folder-invalid]"),
        (("--reference", "one"), "holds 1. [folder-invalid]"),
        (("--reference", "texts"), "holds 0 among 1 file. [folder-invalid]"),
        (("--reference", "torn"), "[file-unreadable]"),
        (("--reference", "torn", "--embedder", "incption/x"), "Did you mean 'inception'"),
        (("--reference", "torn", "--set", "detector.x=1"), "[option-invalid]"),
        (("--reference", "torn", "--set", "embedder.pixls=unit"), "Did you mean 'pixels'"),
        (("--logits", "nothing"), "no output 'nothing' among output. [checkpoint-invalid]"),
    ],
)
def test_bad_input_is_one_clear_message(
    run: Path, network: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, arguments: tuple[str, ...], message: str
) -> None:
    folders(tmp_path)
    monkeypatch.chdir(tmp_path)
    given = () if "--embedder" in arguments else ("--embedder", network)
    done = quality(run, *arguments, *given)
    assert isinstance(done.exception, UsageError), done.output
    assert message in str(done.exception)
    assert "0x" not in str(done.exception), "no address in memory"


def test_a_run_without_pictures_is_named(network: str, tmp_path: Path) -> None:
    imported(tmp_path / "imported", write(tmp_path / "ratings.csv", triple_rows()))
    folders(tmp_path)
    for i in range(3):
        Image.new("RGB", (8, 8), (i, 0, 0)).save(tmp_path / "one" / f"{i}.png")
    done = quality(tmp_path / "imported", "--reference", tmp_path / "one", "--embedder", network)
    assert "[run-imported]" in str(done.exception)
    done = quality(tmp_path / "nowhere", "--reference", tmp_path / "one", "--embedder", network)
    assert "nowhere" in str(done.exception)
