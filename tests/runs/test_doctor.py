"""The doctor: what is there, what is missing with its cure, and no secret in any line."""

from __future__ import annotations

import importlib.util
import tomllib
from importlib.machinery import ModuleSpec
from pathlib import Path

import pytest

from salva.assets import files
from salva.errors import install_line
from salva.runs import doctor
from salva.runs.doctor import examine


def state(section: str, directory: Path) -> dict[str, str]:
    return {finding.name: finding.state for finding in examine(directory) if finding.section == section}


def test_keys_are_named_and_never_shown(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-planted-4711")
    monkeypatch.delenv("HF_TOKEN", raising=False)
    findings = list(examine(tmp_path))
    keys = {finding.name: finding.state for finding in findings if finding.section == "keys"}
    assert (keys["OPENAI_API_KEY"], keys["HF_TOKEN"]) == ("set", "not set")
    assert all("sk-planted-4711" not in finding.state for finding in findings)
    assert not any(finding.is_bad for finding in findings)


def test_a_missing_extra_comes_with_its_install_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    real = importlib.util.find_spec

    def find(name: str, package: str | None = None) -> ModuleSpec | None:
        return None if name in {"torch", "openai"} else real(name, package)

    monkeypatch.setattr(importlib.util, "find_spec", find)
    extras = state("extras", tmp_path)
    assert extras["api"].startswith("openai ")
    assert extras["api"].endswith(install_line("api"))
    assert install_line("torch") in extras["torch"]


def test_every_extra_of_the_package_is_looked_for() -> None:
    project = tomllib.loads((Path(__file__).parents[2] / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    declared = {name: " ".join(needs) for name, needs in project["optional-dependencies"].items()}
    assert set(doctor.EXTRAS) == set(declared) - {"all", "test", "mutants", "measure", "site", "release"}
    for extra, modules in doctor.EXTRAS.items():
        assert all(module.replace(".", "-") in declared[extra] for module in modules)


def test_a_damaged_file_of_its_own_is_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    table = {name: files.asset_digest(name) for name in files.asset_names()[:3]}
    broken = sorted(table)[0]
    monkeypatch.setattr(files, "_checksums", lambda: {**table, broken: "0" * 64})
    bad = [finding for finding in examine(tmp_path) if finding.is_bad]
    assert len(bad) == 1
    assert f"{broken!r} is damaged" in bad[0].state


def test_a_place_that_cannot_be_written_is_told(tmp_path: Path) -> None:
    blocked = tmp_path / "file"
    blocked.write_text("")
    findings = {finding.name: finding for finding in examine(blocked / "runs")}
    assert findings["runs"].is_bad
    assert str(findings["runs"].state).startswith("cannot")
