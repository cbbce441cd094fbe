"""Measures how large a tree of salva is: python tools/measure.py [TREE]

Prints a table by room and one of single figures, in Markdown; the function that takes a figure defines it. Nothing of
the tree is imported here: processes of their own run it, with its .venv where there is one. Complexity needs radon.
"""

from __future__ import annotations

import ast
import json
import os
import re
import subprocess
import sys
import tempfile
import tomllib
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from statistics import mean
from typing import Any

PROSE, PHRASE = 3, 4  # words that make a string prose, and a string of a test a phrase
_PUNCTUATION = ".,;:!?()[]{}<>'\"`*/"
_WORD = re.compile(r"[A-Za-z][A-Za-z'’-]*")
_FUNCTION = (ast.FunctionDef, ast.AsyncFunctionDef)

_COMMANDS = """
import click, json
from salva.cli.main import salva
def leaves(command, path, context):
    if not isinstance(command, click.Group):
        return [path]
    names = command.list_commands(context)
    return [leaf for n in names for leaf in leaves(command.get_command(context, n), [*path, n], context)]
def options(path):
    command, found = salva, []
    for name in path:
        command = command.get_command(click.Context(command), name)
    return [flag for p in command.params if isinstance(p, click.Option)
            for flag in (*p.opts, *p.secondary_opts) if flag.startswith("--")]
paths = leaves(salva, [], click.Context(salva))
print(json.dumps({" ".join(path): options(path) for path in paths}))
"""
_OPTIONS = """
import dataclasses, importlib, json, sys
keys = set()
for source in sys.argv[1:]:
    module, _, name = source.partition(":")
    options = getattr(getattr(importlib.import_module(module), name), "Options", None)
    keys |= {(options.__module__, options.__qualname__, field.name)
             for field in dataclasses.fields(options)} if options else set()
print(json.dumps(sorted(keys)))
"""
_LOADED = """
import contextlib, json, pathlib, sys
from salva.cli.main import salva
def call(*words):
    with contextlib.suppress(SystemExit), contextlib.redirect_stderr(sys.stdout):
        salva.main(list(words), standalone_mode=False)
if sys.argv[1:] == ["list"]:
    call("list", "suites")
else:
    call("run", "metalogic", "--model", "painter", "--size", "3", "--out", sys.argv[1])
    pages = pathlib.Path(sys.argv[1], "report").glob
    if not any(pages("*.html")):
        call("report", sys.argv[1])
    assert any(pages("*.html"))
print(json.dumps([name for name in sys.modules if name.startswith("salva.")]))
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Source:
    """One Python file of the package."""

    room: str
    """The folder below the package; `(top)` for the files beside the rooms."""
    path: Path
    text: str
    tree: ast.Module
    n_lines: int


def sources(package: Path) -> list[Source]:
    """Every Python file of the package."""
    found = []
    for path in sorted(package.rglob("*.py")):
        parts = path.relative_to(package).parts
        text = path.read_text(encoding="utf-8")
        room = parts[0] if len(parts) > 1 else "(top)"
        found.append(Source(room=room, path=path, text=text, tree=ast.parse(text), n_lines=text.count("\n")))
    return found


def n_statements(tree: ast.AST) -> int:
    """Statements of Python (ast.stmt); docstrings, also those below attributes, are not counted."""
    return sum(isinstance(node, ast.stmt) and not _is_docstring(node) for node in ast.walk(tree))


def complexities(text: str) -> list[int]:
    """The cyclomatic complexity of every function, method and class, as `radon cc --average` has it."""
    from radon.complexity import cc_visit

    return [block.complexity for block in cc_visit(text)]


def strings(node: ast.AST) -> Iterator[str]:
    """The string constants below a node, without docstrings; the parts of an f-string are one string."""
    if _is_docstring(node):
        return
    if isinstance(node, ast.JoinedStr):
        yield "".join(str(part.value) if isinstance(part, ast.Constant) else "{}" for part in node.values)
        for part in node.values:
            if isinstance(part, ast.FormattedValue):
                yield from strings(part.value)
        return
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        yield node.value
    for child in ast.iter_child_nodes(node):
        yield from strings(child)


def n_prose(text: str) -> int:
    """The words of a text that has at least three of them, else 0: what stands between spaces, and is only letters."""
    words = [word for part in text.split() if _WORD.fullmatch(word := part.strip(_PUNCTUATION))]
    return len(words) if len(words) >= PROSE else 0


def data_prose(package: Path) -> int:
    """Words of prose in values of TOML and JSON files and between the tags of templates; not in test data (jsonl)."""
    n = 0
    for path in package.rglob("*"):
        if path.suffix == ".toml":
            n += sum(map(n_prose, _values(tomllib.loads(path.read_text(encoding="utf-8")))))
        elif path.suffix == ".json":
            n += sum(map(n_prose, _values(json.loads(path.read_text(encoding="utf-8")))))
        elif path.suffix in (".html", ".j2"):
            text = re.sub(r"(?s)<(style|script).*?</\1>|\{#.*?#\}", "<>", path.read_text(encoding="utf-8"))
            n += sum(map(n_prose, re.split(r"(?s)<[^>]*>|\{[{%].*?[%}]\}", text)))
    return n


def shared_class_names(found: list[Source]) -> dict[str, int]:
    """Names of several classes and how many each has; leading underscores do not make another name, and `Options`,
    which a component nests, is left out."""
    classes = (node for source in found for node in ast.walk(source.tree) if isinstance(node, ast.ClassDef))
    n = Counter(node.name.lstrip("_") for node in classes)
    return {name: times for name, times in n.items() if times > 1 and name != "Options"}


def bound_to_prose(tests: Path, found: list[Source]) -> tuple[int, int, int]:
    """Test functions; those that assert, match (`match=`) or are parametrised with a string of four words or more;
    those of them where four words in a row also stand in a string of the package, and so in its own wording."""
    wording = {phrase for source in found for text in strings(source.tree) for phrase in _phrases(text)}
    n = n_bound = n_own = 0
    for path in tests.rglob("test_*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, _FUNCTION) and node.name.startswith("test_"):
                said = [phrases for part in _expected(node) for text in strings(part) if (phrases := _phrases(text))]
                n += 1
                n_bound += bool(said)
                n_own += any(phrases & wording for phrases in said)
    return n, n_bound, n_own


def commands(tree: Path) -> tuple[int, int, int, int]:
    """Commands at top level, subcommands of `write`, flags over all commands, and distinct names among these."""
    flags = json.loads(_ran(tree, _COMMANDS))
    top = {command.partition(" ")[0] for command in flags}
    names = [flag for of_command in flags.values() for flag in of_command]
    return len(top), sum(command.startswith("write ") for command in flags), len(names), len(set(names))


def option_keys(tree: Path) -> int:
    """Options that components take: one a field of each options class named in the registry's table, inherited ones
    counted in each class. Options that only point to another and those of executors are left out."""
    table = (tree / "src/salva/built_in.py").read_text(encoding="utf-8")
    built_in = {f"salva.{name}" for name in re.findall(r'"(?:salva\.)?([a-z_]+\.[\w.]+:\w+)"', table)}
    return len(json.loads(_ran(tree, _OPTIONS, *sorted(name for name in built_in if ".executors." not in name))))


def loaded(tree: Path) -> tuple[list[str], list[str]]:
    """Modules `salva.*` loaded by `salva run metalogic` (painter, three pairs) with its page, and by `list suites`."""
    with tempfile.TemporaryDirectory() as folder:
        run = json.loads(_ran(tree, _LOADED, f"{folder}/run"))
    return run, json.loads(_ran(tree, _LOADED, "list"))


def docs_words(tree: Path) -> tuple[int, int, int]:
    """Words, as `wc -w` counts them, of docs without the generated docs/reference, of README and of docs/map.md."""
    pages = [p for p in (tree / "docs").rglob("*.md") if "reference" not in p.relative_to(tree / "docs").parts]
    n = {page: len(page.read_text(encoding="utf-8").split()) for page in (*pages, tree / "README.md")}
    return sum(n[page] for page in pages), n[tree / "README.md"], n[tree / "docs/map.md"]


def by_room(found: list[Source]) -> Iterator[list[str]]:
    """The rows of the table by room, the total last."""
    rooms = sorted({source.room for source in found})
    yield ["room", "files", "lines", "statements", "complexity", "words", "per 1,000", "longest file", "function"]
    for room in (*rooms, "total"):
        part = [source for source in found if room in (source.room, "total")]
        n_lines = sum(source.n_lines for source in part)
        words = sum(n_prose(text) for source in part for text in strings(source.tree))
        yield [
            *(room, f"{len(part)}", f"{n_lines:,}", f"{sum(n_statements(source.tree) for source in part):,}"),
            *(_mean_complexity(part), f"{words:,}", f"{1000 * words / n_lines:.0f}"),
            *(f"{max(source.n_lines for source in part)}", f"{max(map(_longest_function, part))}"),
        ]


def figures(tree: Path, found: list[Source]) -> dict[str, str]:
    """Every single figure by what it counts."""
    top, subcommands, flags, flag_names = commands(tree)
    docs, readme, map_page = docs_words(tree)
    run, listed = loaded(tree)
    others = [name for name in run if name.startswith("salva.suites.") and ".metalogic" not in name]
    unasked = [name for name in run if name.startswith(("salva.compare", "salva.authoring"))]
    n_tests, bound, own = bound_to_prose(tree / "tests", found)
    shared = shared_class_names(found)
    return {
        "words of prose in data files": f"{data_prose(tree / 'src/salva'):,}",
        "commands at top level": f"{top}",
        "subcommands of `write`": f"{subcommands}",
        "flags over all commands (distinct names)": f"{flags} ({flag_names})",
        "option keys": f"{option_keys(tree)}",
        "modules loaded by `run metalogic` and its page": f"{len(run)}",
        "of these in other suites": f"{len(others)}",
        "of these in compare or authoring": f"{len(unasked)}",
        "modules loaded by `list suites`": f"{len(listed)}",
        "words of docs without reference": f"{docs:,}",
        "words of README": f"{readme:,}",
        "words of docs/map.md": f"{map_page:,}",
        "test functions": f"{n_tests:,}",
        "tests that assert a phrase": f"{bound:,} ({100 * bound / n_tests:.1f} %)",
        "tests that assert the package's wording": f"{own:,} ({100 * own / n_tests:.1f} %)",
        "class names of several classes": f"{len(shared)} ({sum(shared.values())} classes)",
    }


def _is_docstring(node: ast.AST) -> bool:
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str)


def _longest_function(source: Source) -> int:
    functions = (node for node in ast.walk(source.tree) if isinstance(node, _FUNCTION))
    return max(((node.end_lineno or 0) - node.lineno + 1 for node in functions), default=0)


def _mean_complexity(part: list[Source]) -> str:
    try:
        found = [n for source in part for n in complexities(source.text)]
    except ImportError:
        return "radon not installed"
    return f"{mean(found):.2f}" if found else "-"


def _values(node: Any) -> Iterator[str]:
    if isinstance(node, str):
        yield node
    elif isinstance(node, dict | list):
        for part in node.values() if isinstance(node, dict) else node:
            yield from _values(part)


def _phrases(text: str) -> set[tuple[str, ...]]:
    words = re.findall(r"[a-z]+", text.lower())
    return {tuple(words[i : i + PHRASE]) for i in range(len(words) - PHRASE + 1)}


def _expected(test: ast.FunctionDef | ast.AsyncFunctionDef) -> Iterator[ast.AST]:
    yield from test.decorator_list
    for node in ast.walk(test):
        if isinstance(node, ast.Assert):
            yield node.test
        elif isinstance(node, ast.keyword) and node.arg == "match":
            yield node.value


def _ran(tree: Path, code: str, *words: str) -> str:
    own = tree / ".venv/bin/python"
    python = str(own) if own.exists() else sys.executable
    env = {**os.environ, "PYTHONPATH": str(tree / "src"), "PYTHONDONTWRITEBYTECODE": "1"}
    done = subprocess.run([python, "-c", code, *words], env=env, stdout=subprocess.PIPE, text=True, check=True)
    return done.stdout.splitlines()[-1]


def main() -> None:
    """Print both tables of the tree that was named, else of this one."""
    tree = Path(sys.argv[1] if len(sys.argv) > 1 else Path(__file__).parents[1]).resolve()
    found = sources(tree / "src/salva")
    for header, *rows in (by_room(found), [["figure", "value"], *map(list, figures(tree, found).items())]):
        for row in (header, ["---"] * len(header), *rows):
            print("|", " | ".join(row), "|")
        print()


if __name__ == "__main__":
    main()
