"""Other people's components: installed packages, loose files, clashes and broken ones."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from salva import component_facts, registry
from salva.core.about import about_of
from salva.core.run_spec import ComponentSpec
from salva.errors import PluginError, UsageError

PACKAGE = Path(__file__).parents[1] / "plugin_package"


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The example package, really installed into a folder of its own."""
    target = tmp_path_factory.mktemp("site")
    source = tmp_path_factory.mktemp("source") / "package"
    subprocess.run(["cp", "-r", str(PACKAGE), str(source)], check=True)
    install = [sys.executable, "-m", "pip", "install", "--no-index", "--no-deps", "--no-build-isolation", "--quiet"]
    subprocess.run([*install, "--target", str(target), str(source)], check=True, capture_output=True)
    return target


def _salva(site: Path | None, *arguments: str, **variables: str) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, **variables}
    if site is not None:
        environment["PYTHONPATH"] = os.pathsep.join((str(site), str(Path(registry.__file__).parents[1])))
    return subprocess.run(
        [sys.executable, "-c", "from salva.cli.main import main; main()", *arguments],
        capture_output=True,
        text=True,
        env=environment,
    )


def test_an_installed_suite_is_listed_and_gives_cases(installed: Path) -> None:
    assert "with-swap" in _salva(installed, "list", "suites").stdout
    shown = _salva(installed, "cases", "with-swap", "--format", "jsonl")
    assert shown.stdout.count("\n") == 3, shown.stderr


def test_plugins_can_be_switched_off(installed: Path) -> None:
    assert "with-swap" not in _salva(installed, "list", "suites", SALVA_NO_PLUGINS="1").stdout


def test_an_installed_suite_detector_and_metric_run_end_to_end(installed: Path, tmp_path: Path) -> None:
    out = tmp_path / "run"
    run = ["run", "with-swap", "--size", "full", "--detector", "blobs", "--reader", "none", "--no-progress"]
    done = _salva(installed, *run, "--out", str(out), "--set", "detector.contrast=60")
    assert done.returncode in (0, 3), done.stderr
    assert (out / "salva.db").exists()
    report = json.loads(_salva(installed, "report", str(out), "--format", "json").stdout)
    by_repeat = next(table for table in report["tables"] if table["name"] == "by repeat")
    assert [row[:2] for row in by_repeat["rows"]] == [[0, report["n"]]]


def test_a_loose_file_is_tried_without_installing(tmp_path: Path) -> None:
    source = PACKAGE / "src" / "salva_example" / "with_swap.py"
    shown = _salva(None, "cases", "with-swap", "--plugin", f"{source}:WithSwap", "--size", "full", "--format", "jsonl")
    assert "with-swap-cat-dog" in shown.stdout, shown.stderr


def test_two_packages_with_one_name_are_named(installed: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(installed))
    builtin = {
        **registry.BUILT_IN,
        "suite": {**registry.BUILT_IN["suite"], "with-swap": registry.BuiltIn(source="salva.nowhere:Nothing")},
    }
    monkeypatch.setattr(registry, "BUILT_IN", builtin)
    assert "metalogic" in {entry.name for entry in registry.entries("suite")}, "nothing else is touched"
    with pytest.raises(PluginError) as error:
        registry.load("suite", "with-swap")
    assert error.value.code == "plugin-name-taken"


def test_what_is_installed_is_read_once_until_that_changes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(tmp_path))
    registry.entries("suite")
    monkeypatch.setattr(registry, "entry_points", lambda: pytest.fail("nothing was installed meanwhile"))
    registry.entries("suite")
    registry.entries("detector")
    monkeypatch.undo()
    monkeypatch.syspath_prepend(str(tmp_path))
    package = tmp_path / "late-1.0.dist-info"
    package.mkdir()
    (package / "METADATA").write_text("Name: late\nVersion: 1.0\n")
    (package / "entry_points.txt").write_text("[salva.suites]\nlate-comer = late:Comer\n")
    os.utime(tmp_path, ns=(0, 1))  # as a clock would have done, however coarse this disk's is
    assert [entry.distribution for entry in registry.entries("suite") if entry.name == "late-comer"] == ["late"]
    shutil.rmtree(package)
    os.utime(tmp_path, ns=(0, 2))
    assert "late-comer" not in {entry.name for entry in registry.entries("suite")}


def test_checks_say_whether_they_only_compare_images() -> None:
    compares = {name: component_facts.run_check(name, {}).compares for name in ("truth", "same-scene", "not-installed")}
    assert compares == {"truth": False, "same-scene": True, "not-installed": False}


def test_the_table_says_what_checks_need() -> None:
    stated = {name: entry.needs for name, entry in registry.BUILT_IN["check"].items()}
    assert stated == {name: about_of(check).needs_roles for name, check in registry.load_all("check").items()}


def test_a_run_imports_no_check_that_lacks_its_observer() -> None:
    code = (
        "import sys; from salva.core.run_spec import RunSpec; from salva.runs.plans import make_plan;"
        "make_plan(RunSpec.of(suite='metalogic', models=('painter',)));"
        "print([name for name in sys.modules if name.startswith('salva.checks.right_answers')])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_a_component_that_cannot_be_imported_says_which(monkeypatch: pytest.MonkeyPatch) -> None:
    builtin = {**registry.BUILT_IN, "suite": {"gone": registry.BuiltIn(source="salva.suites.gone:Gone")}}
    monkeypatch.setattr(registry, "BUILT_IN", builtin)
    with pytest.raises(PluginError, match=r"'gone' from salva .*cannot be loaded"):
        registry.load("suite", "gone")


def test_an_unknown_name_gets_the_nearest_one() -> None:
    with pytest.raises(UsageError, match="Did you mean 'metalogic'"):
        registry.load("suite", "metalogik")


def test_a_slash_is_refused_where_nothing_may_follow() -> None:
    with pytest.raises(UsageError, match="extra"):
        registry.bind(ComponentSpec(role="model", name="painter/extra"))


@pytest.fixture
def broken(tmp_path: Path) -> Path:
    """A distribution whose components of every role cannot be imported."""
    site = tmp_path / "site"
    package = site / "broken_plugin-1.0.dist-info"
    package.mkdir(parents=True)
    (package / "METADATA").write_text("Name: broken-plugin\nVersion: 1.0\n")
    groups = ["generators" if role == "model" else f"{role}s" for role in registry.ROLES]
    lines = [f"[salva.{group}]\nbad = nosuchmodule:Bad" for group in groups]
    lines += ["[salva.metrics]\nany.worse = nosuchmodule:Worse\nsemvar.other = nosuchmodule:Other"]
    points = "\n".join(lines).replace("[salva.metrics]\nbad = nosuchmodule:Bad\n", "")
    (package / "entry_points.txt").write_text(points + "\n")
    return site


def test_a_broken_plugin_of_every_role_is_a_warning_and_changes_nothing(broken: Path, tmp_path: Path) -> None:
    run = ["run", "metalogic", "--model", "painter", "--size", "3", "--reader", "none", "--no-progress", "--out"]
    done = _salva(broken, *run, str(tmp_path / "run"))
    assert done.returncode in (0, 3), done.stderr
    warnings = [line for line in done.stderr.splitlines() if "[plugin-broken]" in line]
    assert any("broken-plugin" in line for line in warnings)
    assert not any("'other'" in line for line in warnings), "a metric of another suite is not imported"
    for command in (["report", str(tmp_path / "run")], ["rejudge", str(tmp_path / "run")]):
        assert _salva(broken, *command).returncode in (0, 3)
    compared = _salva(broken, "compare", str(tmp_path / "run"), str(tmp_path / "run"))
    assert "nosuchmodule" not in compared.stdout
    assert "Traceback" not in compared.stderr


@pytest.mark.parametrize("role", registry.ROLES)
def test_a_broken_plugin_is_listed_and_named_where_it_is_asked_for(
    role: str, broken: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.syspath_prepend(str(broken))
    name = "worse" if role == "metric" else "bad"
    assert name in {entry.name for entry in registry.entries(role)}
    with pytest.raises(PluginError, match="broken-plugin"):
        registry.load(role, name)
