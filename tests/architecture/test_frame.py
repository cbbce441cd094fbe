"""The shape of the project: who imports whom, what is public, what is documented."""

from __future__ import annotations

import ast
import inspect
import json
import pickle
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import salva
from salva import errors, registry
from salva.core.about import about_of, options_of
from salva.core.options import fields_of

ROOT = Path(__file__).parents[2]
PACKAGE = ROOT / "src" / "salva"


def test_import_contracts_hold() -> None:
    linter = subprocess.run(
        [str(Path(sys.executable).with_name("lint-imports")), "--no-cache"], cwd=ROOT, capture_output=True, text=True
    )
    assert linter.returncode == 0, linter.stdout + linter.stderr


def test_public_names_are_few_and_all_load() -> None:
    assert len(salva.__all__) <= 40
    assert sorted(salva.__all__) == list(salva.__all__)
    for name in salva.__all__:
        assert getattr(salva, name) is not None


@pytest.mark.parametrize("module", ["salva", "salva.cli.main", "salva.registry", "salva.core.protocols"])
def test_the_front_door_loads_nothing_heavy(module: str) -> None:
    heavy = ["numpy", "PIL", "onnxruntime", "rapidocr", "cv2", "pandas", "jinja2", "rich", "torch", "sqlite3"]
    code = f"import json, sys, {module}; print(json.dumps([m for m in {heavy!r} if m in sys.modules]))"
    loaded = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert json.loads(loaded) == []


def _components() -> list[tuple[str, str]]:
    return [(role, name) for role in registry.ROLES for name in registry.BUILT_IN[role]]


# One interpreter that has loaded the registry and nothing else, and a child of it for each component: what a component
# loads is seen from as clean a start as in a process of its own, without starting Python a hundred times.
LOADED_BY_EACH = """
import json, os, sys, traceback
from salva.registry import load

heavy = {"onnxruntime", "rapidocr", "cv2", "pandas", "torch"}
for role, name in json.load(sys.stdin):
    sys.stdout.flush()
    child = os.fork()
    if child == 0:
        try:
            load(role, name)
            print(json.dumps([role, name, sorted(heavy & set(sys.modules))]), flush=True)
        except BaseException:
            print(json.dumps([role, name, [traceback.format_exc()]]), flush=True)
        os._exit(0)
    os.waitpid(child, 0)
"""


@pytest.fixture(scope="module")
def heavy_packages() -> dict[tuple[str, str], list[str]]:
    """For each component, which model runtimes are loaded once its class is; or why it cannot be loaded."""
    asked = json.dumps(_components())
    done = subprocess.run(
        [sys.executable, "-c", LOADED_BY_EACH], input=asked, capture_output=True, text=True, check=True
    )
    return {(role, name): heavy for role, name, heavy in map(json.loads, done.stdout.splitlines())}


@pytest.mark.parametrize(("role", "name"), _components())
def test_loading_a_component_class_loads_no_model_runtime(
    role: str, name: str, heavy_packages: dict[tuple[str, str], list[str]]
) -> None:
    assert heavy_packages[role, name] == []


def _error_classes() -> list[type[errors.SalvaError]]:
    return [kind for _, kind in inspect.getmembers(errors, inspect.isclass) if issubclass(kind, errors.SalvaError)]


@pytest.mark.parametrize("kind", _error_classes())
def test_every_error_survives_pickle(kind: type[errors.SalvaError]) -> None:
    arguments: dict[type[errors.SalvaError], tuple[Any, ...]] = {
        errors.FormulaError: ("no formula", "cat &", 5),
        errors.MissingExtraError: ("florence2", "torch"),
        errors.MissingRoleError: ("nobody looks", "detector", "owlv2", "Or another."),
    }
    if kind is errors.BackendError:
        error: errors.SalvaError = errors.BackendError("busy", is_retryable=True, retry_after_s=2.5)
    else:
        error = kind(*arguments.get(kind, ("what happened",)))
    copy = pickle.loads(pickle.dumps(error))
    assert type(copy) is kind
    assert str(copy) == str(error)
    assert vars(copy) == vars(error)


def test_every_error_stands_in_the_tree_that_is_drawn() -> None:
    drawn = errors.__doc__ or ""
    assert [kind.__name__ for kind in _error_classes() if kind.__name__ not in drawn] == []


def _modules() -> list[Path]:
    return [path for path in PACKAGE.rglob("*.py") if path.name != "__init__.py" or path.parent == PACKAGE]


@pytest.mark.parametrize("path", _modules(), ids=lambda path: str(path.relative_to(PACKAGE)))
def test_modules_introduce_themselves_and_stay_readable(path: Path) -> None:
    source = path.read_text(encoding="utf-8")
    tree = ast.parse(source)
    assert ast.get_docstring(tree), f"{path.name} has no module docstring"
    n_lines = source.count("\n")
    assert n_lines <= 420, f"{path.name} has {n_lines} lines; look for the second thing it does"
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef):
            length = (node.end_lineno or node.lineno) - node.lineno + 1
            assert length <= 75, f"{path.name}: {node.name} has {length} lines"


def test_packages_have_no_code_in_their_init() -> None:
    exempt = (PACKAGE, PACKAGE / "messages")
    full = [p for p in PACKAGE.rglob("__init__.py") if p.parent not in exempt and p.read_text(encoding="utf-8").strip()]
    assert full == []


def test_the_map_names_every_room_and_file() -> None:
    drawn = (ROOT / "docs" / "map.md").read_text(encoding="utf-8")
    missing = [
        str(path.relative_to(PACKAGE)) for path in _modules() if path.parent != PACKAGE and path.name not in drawn
    ]
    assert missing == []


def test_every_error_type_and_option_has_a_docs_entry() -> None:
    reference = (ROOT / "docs" / "reference" / "components.md").read_text(encoding="utf-8")
    missing = []
    for role, name in _components():
        component = registry.load(role, name)
        missing += [error for error in about_of(component).failure_types if f"`{error}`" not in reference]
        options = options_of(component)
        missing += [f"{role}.{f}" for f in fields_of(options) if f"`{role}.{f}`" not in reference]
    assert missing == []


def test_the_reference_is_what_the_code_says() -> None:
    made = subprocess.run(
        [sys.executable, str(ROOT / "docs" / "generate.py"), "--check"], capture_output=True, text=True
    )
    assert made.returncode == 0, made.stdout + made.stderr


def test_a_percent_sign_has_a_space_before_it() -> None:
    glued = re.compile(r":\.\d%\}")
    assert [path.name for path in _modules() if glued.search(path.read_text(encoding="utf-8"))] == []


def test_no_file_names_the_machine_it_was_written_on() -> None:
    tracked = subprocess.run(["git", "ls-files"], cwd=ROOT, capture_output=True, text=True)
    if tracked.returncode != 0:
        pytest.skip("not a git checkout")
    for name in tracked.stdout.split():
        path = ROOT / name
        if path.suffix in {".py", ".md", ".toml", ".txt", ".html", ".json"} and path.is_file():
            assert str(ROOT) not in path.read_text(encoding="utf-8"), name
