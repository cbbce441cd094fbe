"""Whoever catches everything hides something: one helper blames components, and what else is broad has a reason."""

from __future__ import annotations

import ast
from pathlib import Path

PACKAGE = Path(__file__).parents[2] / "src" / "salva"
BROAD = {"Exception", "BaseException"}

ALLOWED = {
    # A component at work may raise anything: one outcome an element, and one thread that is waited for.
    "engine/guard.py": 2,
    # What a call raises in a thread is handed over in its future.
    "engine/workers.py": 1,
    # An event that cannot be made becomes the failure of its work: a callback has nobody to raise to.
    "engine/dispatch.py": 1,
    # A component that cannot tidy up must not change how a run ended.
    "engine/component_runner.py": 1,
    # What was answered is stored, whatever ends the work; it raises on.
    "engine/flow.py": 1,
    # Ctrl-C may have become any error on its way; what it was not raises on.
    "engine/ctrl_c.py": 1,
    # A fault of ours is shown, and is no failed gate; nor is any end that a component gives the process.
    "cli/main.py": 2,
    # A training goes on, whatever happens to whoever watches it.
    "callbacks.py": 1,
    # Ray raises a plain Exception where a node is slow to start; whatever else it is goes on.
    "testing/two_nodes.py": 1,
}


def _broad(path: Path) -> int:
    """How often a file catches everything: by an except, or by suppressing it."""
    n = 0
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        if isinstance(node, ast.ExceptHandler):
            caught = [node.type]
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Name | ast.Attribute):
            name = node.func.id if isinstance(node.func, ast.Name) else node.func.attr
            caught = list(node.args) if name == "suppress" else []
        else:
            continue
        kinds = [kind for part in caught for kind in (part.elts if isinstance(part, ast.Tuple) else [part])]
        n += any(kind is None or (isinstance(kind, ast.Name) and kind.id in BROAD) for kind in kinds)
    return n


def test_everything_is_caught_only_where_there_is_a_reason() -> None:
    counts = {str(path.relative_to(PACKAGE)): _broad(path) for path in sorted(PACKAGE.rglob("*.py"))}
    broad = {path: n for path, n in counts.items() if n}
    assert broad == ALLOWED, "call components inside blaming(...) or translating(...) of core/foreign_errors.py instead"
