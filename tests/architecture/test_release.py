"""A release is possible: wheel and sdist build, hold what they must, and the installed wheel passes a selftest."""

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

ROOT = Path(__file__).parents[2]
LARGEST_WHEEL_MB = 60


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the wheel and the sdist of the tree as it is."""
    tree = tmp_path_factory.mktemp("release") / "tree"
    for name in ("src", "LICENSE", "README.md", "pyproject.toml"):
        source = ROOT / name
        if source.is_dir():
            shutil.copytree(source, tree / name, ignore=shutil.ignore_patterns("__pycache__", "*.egg-info"))
        else:
            tree.mkdir(parents=True, exist_ok=True)
            shutil.copy(source, tree / name)
    code = "from setuptools import build_meta as b; b.build_sdist('dist'); b.build_wheel('dist')"
    made = subprocess.run([sys.executable, "-W", "error", "-c", code], cwd=tree, capture_output=True, text=True)
    assert made.returncode == 0, made.stderr[-3000:]
    return tree / "dist"


def test_the_wheel_holds_weights_licences_and_templates_and_stays_small(built: Path) -> None:
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


def test_the_sdist_builds_from_itself(built: Path, tmp_path: Path) -> None:
    (sdist,) = built.glob("*.tar.gz")
    with tarfile.open(sdist) as archive:
        archive.extractall(tmp_path, filter="data")
    (tree,) = tmp_path.iterdir()
    made = subprocess.run(
        [sys.executable, "-c", "from setuptools import build_meta as b; print(b.build_wheel('dist'))"],
        cwd=tree,
        capture_output=True,
        text=True,
    )
    assert made.returncode == 0, made.stderr[-3000:]
    (again,) = (tree / "dist").glob("*.whl")
    (first,) = built.glob("*.whl")
    assert sorted(zipfile.ZipFile(again).namelist()) == sorted(zipfile.ZipFile(first).namelist())


def test_the_installed_wheel_passes_a_selftest(built: Path, tmp_path: Path) -> None:
    (wheel,) = built.glob("*.whl")
    target = tmp_path / "installed"
    install = [sys.executable, "-m", "pip", "install", "-q", "--no-deps", "--no-index", "--target", str(target)]
    subprocess.run([*install, str(wheel)], check=True, capture_output=True, text=True)
    # -I keeps the checkout and its variables out; the dependencies, the reader's weights among them, come from this
    # environment.
    start = f"import sys; sys.path.insert(0, {str(target)!r}); from salva.cli.main import main; main()"
    done = subprocess.run(
        [sys.executable, "-I", "-c", start, "selftest", "--pairs", "48", "--reader", "none"],
        cwd=tmp_path,
        env={name: value for name, value in os.environ.items() if name != "PYTHONPATH"},
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert "the detector passes" in done.stdout


def test_what_is_said_of_the_version_is_one_thing(built: Path) -> None:
    (wheel,) = built.glob("*.whl")
    with zipfile.ZipFile(wheel) as archive:
        (name,) = [name for name in archive.namelist() if name.endswith(".dist-info/METADATA")]
        version = email.parser.Parser().parsestr(archive.read(name).decode())["Version"]
    assert f"\nversion: {version}\n" in (ROOT / "CITATION.cff").read_text(encoding="utf-8")
