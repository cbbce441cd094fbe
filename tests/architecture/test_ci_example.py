"""The GitHub Actions example is a workflow, and its commands do what the page says."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest
import yaml

ROOT = Path(__file__).parents[2]
EXAMPLE = ROOT / "docs" / "how-to" / "test-in-ci.github.yml"
PAGE = ROOT / "docs" / "how-to" / "test-in-ci.md"


@pytest.fixture(scope="module")
def steps() -> list[dict[str, Any]]:
    workflow = yaml.safe_load(EXAMPLE.read_text(encoding="utf-8"))
    # YAML 1.1 reads the bare word `on` as true, and GitHub does not.
    assert set(workflow) == {"name", True, "permissions", "jobs"}
    assert workflow["permissions"] == {"contents": "read"}, "a report needs no right to write"
    (job,) = workflow["jobs"].values()
    found: list[dict[str, Any]] = job["steps"]
    return found


def test_reports_are_made_also_where_the_gate_fails(steps: list[dict[str, Any]]) -> None:
    names = [step.get("name", step.get("uses", "")) for step in steps]
    gate = names.index("Run and gate")
    assert [bool(step.get("if")) for step in steps] == [False] * (gate + 1) + [True] * (len(steps) - gate - 1)
    assert steps[-1]["with"]["path"] == "ci-run/report"
    assert not any("${{" in step.get("run", "") for step in steps), "nothing from outside is put into a shell"


def test_the_page_names_the_file() -> None:
    assert f"({EXAMPLE.name})" in PAGE.read_text(encoding="utf-8")


@pytest.mark.parametrize(("faults", "code"), [("0", 0), ("1", 1)])
def test_the_commands_run_gate_and_report(steps: list[dict[str, Any]], tmp_path: Path, faults: str, code: int) -> None:
    commands = {step["name"]: step["run"] for step in steps if "name" in step}
    small = f"--model painter --reader none --set model.faults=entity-omission:{faults}"
    asked = commands["Run and gate"].replace("--model pocket --size quick", f"{small} --size 20")
    assert asked != commands["Run and gate"]
    path = f"{Path(sys.executable).parent}:{os.environ['PATH']}"
    around = {**os.environ, "PATH": path, "GITHUB_STEP_SUMMARY": str(tmp_path / "summary.md")}
    gate = subprocess.run(["bash", "-e", "-c", asked], cwd=tmp_path, env=around, capture_output=True, text=True)
    assert gate.returncode == code, gate.stderr
    subprocess.run(["bash", "-e", "-c", commands["Report"]], cwd=tmp_path, env=around, check=True, capture_output=True)
    assert (tmp_path / "summary.md").read_text(encoding="utf-8").startswith("# metalogic on painter\n")
    suites = ElementTree.parse(tmp_path / "ci-run" / "report" / "junit.xml").getroot()
    assert suites.attrib["tests"] == "20"
    # What is left of "a cat or a dog" can be right with one thing less.
    assert int(suites.attrib["failures"]) in (range(15, 21) if code else [0])
    assert (tmp_path / "ci-run" / "report" / "index.html").is_file()
