"""The pytest plugin in a pytest of its own: what a test says, what it is told, and that nothing is painted twice."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator, Sequence
from importlib.metadata import entry_points
from pathlib import Path
from typing import Any

import pytest

from salva import registry, scene_tests
from salva.core.plan import Binding, Plan
from salva.core.verdict import Outcome
from salva.engine.executors.local import LocalExecutor, LocalLane
from salva.errors import FormulaError, LockedError, MissingRoleError, UsageError
from salva.runs.pipeline import execute
from salva.scene_tests import SceneComponents, SceneTests

pytest_plugins = ["pytester"]

PLUGIN = "salva.pytest_plugin"
IS_INSTALLED = any(point.value == PLUGIN for point in entry_points(group="pytest11"))
LOADED = () if IS_INSTALLED else ("-p", PLUGIN)
FLAGS = (*LOADED, "--salva-model", "painter", "--salva-reader", "none", "-p", "no:xdist", "-q")

GREY = '''
from salva.core.about import About
from salva.core.image import Picture
from salva.core.protocols import Rendered

class Grey:
    """Paints nothing, and counts how often."""
    version = "1"
    about = About(seeds_hold=True)
    def __init__(self, options):
        open("loaded", "a").write("x")
    def render(self, requests):
        open("painted", "a").write("x" * len(requests))
        return [Rendered(picture=Picture(rgb=bytes([128] * 3 * 64 * 64), width=64, height=64)) for _ in requests]
'''

STATED = """
import pytest

def test_law(salva):
    tried = salva.holds("2 cat & dog", law="commutative")
    assert len(tried.images) == 2
    assert all(path.is_file() for path in tried.images)

def test_sentence(salva):
    assert salva.shows("There is a cat and a dog").directory.is_dir()

def test_prompt_and_formula(salva):
    salva.shows("a portrait of my cat", "cat", repeats=2)

def test_alternatives(salva):
    salva.holds("!(cat | dog) & apple", law="de-morgan")

def test_a_word_nobody_knows(salva):
    with pytest.raises(pytest.fail.Exception, match="cannot name zebra"):
        salva.shows("There is a zebra")

def test_no_formula(salva):
    with pytest.raises(pytest.fail.Exception, match=r"got 'peace'[\\s\\S]*salva.shows\\(prompt, formula\\)"):
        salva.shows("peace on earth, trending")

def test_a_law_that_does_not_apply(salva):
    with pytest.raises(pytest.fail.Exception, match="law-not-applicable"):
        salva.holds("cat", law="distributive")
"""


def test_a_right_model_passes_and_nothing_is_painted_again(pytester: pytest.Pytester) -> None:
    pytester.makepyfile(STATED)
    pytester.makeini("[pytest]\nfilterwarnings = error")
    pytester.runpytest_subprocess(*FLAGS).assert_outcomes(passed=7)
    kept = pytester.path / ".pytest_cache" / "d" / "salva"
    before = {path: path.stat().st_mtime_ns for path in kept.rglob("*.webp")}
    assert len(before) == 2 + 1 + 2 + 2
    pytester.runpytest_subprocess(*FLAGS).assert_outcomes(passed=7)
    assert {path: path.stat().st_mtime_ns for path in kept.rglob("*.webp")} == before


def test_a_grey_painter_fails_with_its_pictures_and_is_loaded_once(pytester: pytest.Pytester) -> None:
    pytester.makepyfile(
        """
        def test_law(salva):
            salva.holds("2 cat & dog", law="commutative")

        def test_prompt(salva):
            salva.shows("a cat and a dog", "cat & dog", repeats=3, at_least=2)
        """
    )
    (pytester.path / "grey.py").write_text(GREY)
    flags = (*LOADED, "--salva-plugin", "grey.py:Grey", "--salva-model", "grey", "--salva-reader", "none", "-q")
    flags = (*flags, "--salva-detector", "pocket", "--salva-out", "mine", "-p", "no:xdist")
    told = pytester.runpytest_subprocess(*flags)
    told.assert_outcomes(failed=2)
    told.stdout.fnmatch_lines(
        [
            "E*Failed: grey: entity-omission",
            "E*prompt a: There are two cats and a dog",
            "E*image: */mine/scene-grey-quick-*/images/*.webp",
            "E*entity-omission: no cat, 2 expected",
            "E*again: salva run scene --model grey*",
            "E*Failed: grey: entity-omission (right in 0 of 3 repeats, 2 expected)",
        ]
    )
    assert "Traceback" not in told.stdout.str()
    assert "During handling" not in told.stdout.str()
    painted = (pytester.path / "painted").read_text()
    assert (pytester.path / "loaded").read_text() == "x", "one component for the whole session"
    pytester.runpytest_subprocess(*flags).assert_outcomes(failed=2)
    assert (pytester.path / "painted").read_text() == painted


def test_a_model_that_nobody_looks_at_is_told_which_flag_to_add(pytester: pytest.Pytester) -> None:
    pytester.makepyfile("def test_it(salva):\n    salva.shows('a cat', 'cat')")
    (pytester.path / "grey.py").write_text(GREY)
    flags = ("--salva-plugin", "grey.py:Grey", "--salva-model", "grey", "-p", "no:xdist", "-p", "no:cacheprovider")
    told = pytester.runpytest_subprocess(*LOADED, *flags)
    told.assert_outcomes(failed=1)
    told.stdout.fnmatch_lines(["*  --salva-detector *"])
    wrong = pytester.runpytest_subprocess(*LOADED, "--salva-set", "nonsense", "-p", "no:xdist")
    wrong.assert_outcomes(errors=1)
    wrong.stdout.fnmatch_lines(["*setting-invalid*"])
    assert "pytest_plugin.py" not in wrong.stdout.str(), "what to change is no place in salva"


def test_a_folder_that_another_process_has_is_waited_for(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    tries: list[Path] = []

    def busy_twice(spec: Plan, directory: Path, *given: Any, **named: Any) -> None:
        tries.append(directory)
        if len(tries) < 3:
            raise LockedError("another process writes here")
        execute(spec, directory, *given, **named)

    monkeypatch.setattr(scene_tests, "execute", busy_twice)
    monkeypatch.setattr(scene_tests, "_WAIT_S", 0.0)
    tests = SceneTests(tmp_path, SceneComponents(model="painter", reader="none"))
    assert tests.try_scene("cat & dog").outcome is Outcome.PASS
    assert len(tries) == 3
    tries.clear()
    monkeypatch.setattr(scene_tests, "_PATIENCE_S", 0.0)
    with pytest.raises(LockedError):
        tests.try_scene("cat & dog")
    tests.close()


def test_a_run_without_the_fixture_imports_nothing_of_salva(pytester: pytest.Pytester) -> None:
    pytester.makepyfile(
        """
        import json, sys

        def test_it():
            mine = sorted(name for name in sys.modules if name.split(".")[0] == "salva")
            heavy = sorted({"numpy", "PIL", "onnxruntime", "sqlite3", "click", "jinja2"} & set(sys.modules))
            open("loaded.json", "w").write(json.dumps([mine, heavy]))
        """
    )
    pytester.runpytest_subprocess(*LOADED, "-p", "no:xdist").assert_outcomes(passed=1)
    mine, heavy = json.loads((pytester.path / "loaded.json").read_text())
    assert mine == ["salva", PLUGIN]
    assert heavy == []


def test_the_flags_are_named_in_the_help(pytester: pytest.Pytester) -> None:
    told = pytester.runpytest_subprocess(*LOADED, "--help").stdout.str()
    for name in ("model", "detector", "reader", "set", "plugin", "out"):
        assert f"--salva-{name}" in told


@pytest.fixture
def tests(tmp_path: Path) -> Iterator[SceneTests]:
    made = SceneTests(tmp_path, SceneComponents(model="painter", reader="none"))
    yield made
    made.close()


def faulty(folder: Path, share: str) -> SceneTests:
    return SceneTests(
        folder, SceneComponents(model="painter", reader="none", settings={"model.faults": f"entity-omission:{share}"})
    )


def test_repeats_must_be_right_as_often_as_is_wanted(tmp_path: Path) -> None:
    tests = faulty(tmp_path, "0.5")
    outcomes = {n: tests.try_scene("cat & dog", repeats=6, at_least=n).outcome for n in range(1, 7)}
    tests.close()
    n_right = sum(outcome is Outcome.PASS for outcome in outcomes.values())
    assert 0 < n_right < 6
    assert [outcomes[n] for n in range(1, 7)] == [Outcome.PASS] * n_right + [Outcome.FAIL] * (6 - n_right)


def test_a_fault_is_told_with_picture_and_what_was_seen(tmp_path: Path) -> None:
    tests = faulty(tmp_path, "1")
    tried = tests.try_scene("cat & dog", law="commutative")
    tests.close()
    assert tried.outcome is Outcome.FAIL
    first, *lines = tried.text.splitlines()
    assert first == "painter: entity-omission"
    assert sum(line.startswith("  image: ") for line in lines) == 2
    assert sum(line.startswith("  seen: 1 ") for line in lines) == 2
    assert lines[-1] == f"report: salva report {tried.directory}"
    shown = [line.removeprefix("  image: ") for line in lines if line.startswith("  image: ")]
    assert [str(path) for path in tried.images] == shown


def test_wrong_statements_are_refused_and_leave_no_folder(tests: SceneTests, tmp_path: Path) -> None:
    for stated, error in (
        ({"scene": "cat &"}, FormulaError),
        ({"scene": "cat & !cat"}, UsageError),
        ({"scene": "cat", "law": "communist"}, UsageError),
        ({"scene": "cat", "law": "distributive"}, UsageError),
        ({"scene": "cat", "repeats": 0}, UsageError),
        ({"scene": "cat", "repeats": 2, "at_least": 3}, UsageError),
        ({"scene": "cat", "at_least": 0}, UsageError),
    ):
        with pytest.raises(error):
            tests.try_scene(**stated)
    assert list(tmp_path.iterdir()) == []


def test_nobody_looks_by_default_at_a_foreign_model(tmp_path: Path) -> None:
    (tmp_path / "grey.py").write_text(GREY)
    registry.add_loose_plugin(f"{tmp_path / 'grey.py'}:Grey")
    with pytest.raises(MissingRoleError):
        SceneTests(tmp_path / "runs", SceneComponents(model="grey")).try_scene("cat")


def test_a_component_is_opened_once_and_again_after_something_stopped_it(
    tests: SceneTests, monkeypatch: pytest.MonkeyPatch
) -> None:
    opened: list[str] = []
    plain = LocalExecutor.open

    def count(self: LocalExecutor, binding: Binding, crowd: Sequence[Binding]) -> LocalLane:
        opened.append(binding.role)
        return plain(self, binding, crowd)

    monkeypatch.setattr(LocalExecutor, "open", count)
    for scene in ("cat", "dog", "2 cat"):
        assert tests.try_scene(scene).outcome is Outcome.PASS
    assert sorted(opened) == ["detector", "model"]
    tests._executor.stop()
    tests._executor.close()
    assert tests.try_scene("3 cat").outcome is Outcome.PASS
    assert sorted(opened) == ["detector", "detector", "model", "model"]


def test_importing_the_plugin_costs_next_to_nothing() -> None:
    code = f"import pytest, sys; before = set(sys.modules); import {PLUGIN}; print(sorted(set(sys.modules) - before))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == f"['salva', '{PLUGIN}']"
