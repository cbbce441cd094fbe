"""Every function of the Python door has an example, and it does what it says."""

from __future__ import annotations

import doctest
import inspect
from pathlib import Path

import pytest

import salva

FUNCTIONS = [name for name in salva.__all__ if inspect.isfunction(getattr(salva, name))]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with two runs of a model, the second with faults."""
    made = tmp_path_factory.mktemp("door")
    for name, faults in (("v1", ""), ("v2", "entity-omission:1")):
        settings = {"model.faults": faults}
        salva.run_suite("metalogic", "painter", size=21, reader="none", out=made / "runs" / name, settings=settings)
    return made


@pytest.mark.parametrize("name", ["Run", *FUNCTIONS])
def test_the_example_of_a_public_name_is_true(name: str, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(folder)
    public = getattr(salva, name)
    (example, *_) = doctest.DocTestFinder(recurse=False).find(public, name, globs={"salva": salva})
    assert example.examples, f"{name} has no example"
    said: list[str] = []
    assert doctest.DocTestRunner(verbose=False).run(example, out=said.append).failed == 0, "".join(said)
