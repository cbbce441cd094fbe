"""`salva list KIND NAME` says of one component what it needs, and what it says is true."""

from __future__ import annotations

import tomllib
from pathlib import Path

import pytest
from in_process import salva

from salva.built_in import BUILT_IN
from salva.core.about import about_of
from salva.registry import built_in, load
from salva.runs.doctor import KEYS as EXAMINED

ROOT = Path(__file__).parents[2]


@pytest.mark.parametrize(
    ("kind", "name", "said"),
    [
        (
            "models",
            "diffusers/x",
            ("seeds:    the same", "extra torch: ", "model.lora="),
        ),
        (
            "models",
            "openai",
            ("seeds:    none", "a key in OPENAI_API_KEY (not set)", "extra api: ", "model.base_url="),
        ),
        ("models", "painter", ("model.faults=",)),
        ("models", "deduce", ("the extra api: ",)),
        ("models", "folder", ("seeds:    not stated",)),
        ("detectors", "mm-grounding-dino", ("extra torch: ", "names:")),
        ("judges", "anthropic", ("a key in ANTHROPIC_API_KEY",)),
        ("readers", "openai", ("a key in OPENAI_API_KEY",)),
        ("suites", "metalogic", ("suite.entities=",)),
    ],
)
def test_one_component_says_what_it_needs(kind: str, name: str, said: tuple[str, ...]) -> None:
    done = salva("list", kind, name, OPENAI_API_KEY="", ANTHROPIC_API_KEY="")
    assert done.returncode == 0, done.stderr
    for words in said:
        assert words in done.stdout


def test_a_key_that_is_set_is_said_and_never_shown() -> None:
    done = salva("list", "models", "openai", OPENAI_API_KEY="sk-planted-1234567890")
    assert "OPENAI_API_KEY (set)" in done.stdout
    assert "planted" not in done.stdout + done.stderr


def test_an_extra_that_is_missing_comes_with_its_install_line(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("salva.runs.doctor._is_there", lambda module: module != "transformers")
    listed = salva("list", "models", "diffusers").stdout
    assert "transformers not installed" in listed
    assert "the extra api: installed" in salva("list", "models", "openai").stdout


def test_what_is_said_of_extras_and_keys_is_true() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    ours = [component for names in BUILT_IN.values() for component in names.values()]
    assert {component.extra for component in ours} - {""} <= set(project["optional-dependencies"])
    assert {key for component in ours for key in component.keys} <= set(EXAMINED)
    for role in ("model", "judge"):
        for name in BUILT_IN[role]:
            assert (built_in(role, name).extra == "api") >= about_of(load(role, name)).is_remote, name


def test_commands_sizes_and_faults_that_are_nearly_right_are_named() -> None:
    for words, meant in (
        (("rn",), "run"),
        (("reprt", "x"), "report"),
        (("run", "metalogic", "--size", "papr"), "paper"),
        (("run", "metalogic", "--model", "painter", "--set", "model.faults=entity-omision:0.3"), "entity-omission"),
    ):
        done = salva(*words)
        assert done.returncode == 2
        assert f"Did you mean {meant!r}?" in done.stderr


def test_a_report_is_written_where_it_is_told_and_nowhere_else(tmp_path: Path) -> None:
    from report.fake_runs import small_run, store_run

    store_run(tmp_path / "run", *small_run())
    out = tmp_path / "out"
    out.mkdir()
    assert salva("report", str(tmp_path / "run"), "-o", str(out / "page.html")).returncode == 0
    assert [path.name for path in out.iterdir()] == ["page.html"]
    done = salva("report", str(tmp_path / "run"), "--format", "json", "-o", str(tmp_path / "typo" / "x.json"))
    assert done.returncode == 2
    assert done.codes == ["folder-missing"]
    assert not (tmp_path / "typo").exists()
    for odd, code in (
        (str(out), "output-is-folder"),
        (f"{tmp_path}/new/", "output-is-folder"),
        ("-", "output-to-stdout"),
    ):
        done = salva("report", str(tmp_path / "run"), "-o", odd)
        assert (done.returncode, done.codes) == (2, [code]), odd
    assert sorted(path.name for path in tmp_path.iterdir()) == ["out", "run"]
    (tmp_path / "out" / "link.md").symlink_to(tmp_path / "out" / "page.md")
    (tmp_path / "out" / "page.md").touch()
    done = salva("report", str(tmp_path / "run"), "--format", "md", "-o", str(tmp_path / "out" / "link.md"))
    assert done.returncode == 0
    assert (tmp_path / "out" / "page.md").read_text("utf-8"), "a link that a user names is followed"
    done = salva("report", str(tmp_path / "run"), "--format", "md", "-o", "/dev/null")
    assert (done.returncode, "/dev/null" in done.stderr) == (2, True)
    assert salva("report", str(tmp_path / "run")).returncode == 0
    assert {path.name for path in (tmp_path / "run" / "report").iterdir()} == {"index.html", "figures"}


def test_the_shell_completes_commands_flags_and_values() -> None:
    import os
    import subprocess
    import sys

    program = "import sys; from salva.cli.main import main; sys.argv = ['salva']; main()"
    for typed, offered in (("salva ru", "run"), ("salva run --ju", "--judge"), ("salva list det", "detectors")):
        words = {"_SALVA_COMPLETE": "bash_complete", "COMP_WORDS": typed, "COMP_CWORD": str(typed.count(" "))}
        done = subprocess.run(
            [sys.executable, "-c", program], env={**os.environ, **words}, capture_output=True, text=True
        )
        assert f"plain,{offered}" in done.stdout.splitlines(), done.stderr
