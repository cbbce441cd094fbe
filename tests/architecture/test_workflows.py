"""The workflows in .github run pinned actions with no more rights than they need."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path
from typing import Any

import pytest
import yaml

ROOT = Path(__file__).parents[2]
WORKFLOWS = sorted((ROOT / ".github" / "workflows").glob("*.yml"))


def _jobs(path: Path) -> dict[str, dict[str, Any]]:
    jobs: dict[str, dict[str, Any]] = yaml.safe_load(path.read_text(encoding="utf-8"))["jobs"]
    return jobs


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.stem)
def test_every_action_is_pinned_by_commit_and_names_its_version(path: Path) -> None:
    used = re.findall(r"uses: (.*)", path.read_text(encoding="utf-8"))
    assert used
    for action in used:
        assert re.fullmatch(r"[\w-]+/[\w-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+", action), action


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.stem)
def test_nothing_may_write_but_the_job_that_publishes(path: Path) -> None:
    workflow = yaml.safe_load(path.read_text(encoding="utf-8"))
    assert workflow["permissions"] in ({}, {"contents": "read"})
    rights = {name: job.get("permissions", {}) for name, job in workflow["jobs"].items()}
    writing = {name for name, held in rights.items() if "write" in held.values()}
    if path.stem == "release":
        assert writing == {"publish"}
        assert rights["publish"] == {"id-token": "write"}
        assert workflow["jobs"]["publish"]["environment"] == "pypi"
        assert not any("run" in step for step in workflow["jobs"]["publish"]["steps"]), "no code of ours has that right"
    else:
        assert writing == set()


def test_the_versions_tested_are_those_the_package_allows() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    (test,) = [job for job in _jobs(ROOT / ".github" / "workflows" / "ci.yml").values() if "strategy" in job]
    versions = test["strategy"]["matrix"]["python"]
    assert project["requires-python"] == f">={versions[0]}"
    stated = [line.rpartition(" ")[2] for line in project["classifiers"] if "Python :: 3." in line]
    assert stated == versions
