"""A release is possible: wheel and sdist build, hold what they must, and the installed wheel works."""

from __future__ import annotations

import email.parser
import os
import shutil
import subprocess
import sys
import tarfile
import zipfile
from pathlib import Path

import pytest

from salva.report.summary import summarise_run

ROOT = Path(__file__).parents[2]
LARGEST_WHEEL_MB = 60


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the sdist of the tree as it is, and the wheel that is built from that."""
    tree = tmp_path_factory.mktemp("release") / "tree"
    for name in ("src", "LICENSE", "README.md", "pyproject.toml"):
        source = ROOT / name
        if source.is_dir():
            shutil.copytree(source, tree / name, ignore=shutil.ignore_patterns("__pycache__", "*.egg-info"))
        else:
            tree.mkdir(parents=True, exist_ok=True)
            shutil.copy(source, tree / name)
    _build("build_sdist", tree, tree / "dist")
    (sdist,) = (tree / "dist").glob("*.tar.gz")
    with tarfile.open(sdist) as archive:
        archive.extractall(tree.parent / "unpacked", filter="data")
    (unpacked,) = (tree.parent / "unpacked").iterdir()
    _build("build_wheel", unpacked, tree / "dist")
    return tree / "dist"


def _build(what: str, tree: Path, out: Path) -> None:
    code = f"from setuptools import build_meta as b; b.{what}({str(out)!r})"
    made = subprocess.run([sys.executable, "-W", "error", "-c", code], cwd=tree, capture_output=True, text=True)
    assert made.returncode == 0, made.stderr[-3000:]


def test_the_wheel_of_the_sdist_holds_weights_licences_and_templates_and_stays_small(built: Path) -> None:
    (wheel,) = built.glob("*.whl")
    assert wheel.stat().st_size < LARGEST_WHEEL_MB * 2**20
    names = zipfile.ZipFile(wheel).namelist()
    for wanted in ("salva/py.typed", "salva/assets/pocket/detector.onnx", "salva/report/templates/report.html.j2"):
        assert wanted in names
    assert any(name.endswith("licenses/LICENSE") for name in names)
    assert any("LICENSE-fluent" in name for name in names)
    shipped = {name.removeprefix("salva/") for name in names if name.startswith("salva/")}
    tracked = {
        path.relative_to(ROOT / "src" / "salva").as_posix()
        for path in (ROOT / "src" / "salva").rglob("*")
        if path.is_file() and "__pycache__" not in path.parts
    }
    assert tracked - shipped == set()


def test_the_installed_wheel_generates_judges_and_reports(built: Path, tmp_path: Path) -> None:
    (wheel,) = built.glob("*.whl")
    target, run = tmp_path / "installed", tmp_path / "run"
    install = [sys.executable, "-m", "pip", "install", "-q", "--no-deps", "--no-index", "--no-compile"]
    subprocess.run([*install, "--target", str(target), str(wheel)], check=True, capture_output=True, text=True)
    # -I keeps the checkout and its variables out; the dependencies, the reader's weights among them, come from this
    # environment.
    start = f"import sys; sys.path.insert(0, {str(target)!r}); from salva.cli.main import main; main()"
    asked = ["run", "metalogic", "--model", "painter", "--model", "pocket", "--size", "4", "--out", str(run)]
    done = subprocess.run(
        [sys.executable, "-I", "-c", start, *asked],
        cwd=tmp_path,
        env={name: value for name, value in os.environ.items() if name != "PYTHONPATH"},
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert done.returncode in (0, 3), done.stdout + done.stderr
    painter, pocket = summarise_run(run).by_model.values()
    assert (painter.results["pass"], pocket.n) == (4, 4)
    assert (run / "report" / "index.html").is_file()


def test_what_is_said_of_the_version_is_one_thing(built: Path) -> None:
    (wheel,) = built.glob("*.whl")
    with zipfile.ZipFile(wheel) as archive:
        (name,) = [name for name in archive.namelist() if name.endswith(".dist-info/METADATA")]
        version = email.parser.Parser().parsestr(archive.read(name).decode())["Version"]
    assert f"\nversion: {version}\n" in (ROOT / "CITATION.cff").read_text(encoding="utf-8")
