"""Changes places of the source at random, one at a time, and lists the changes that no test notices.

    make mutants                        200 of them, the same ones each time
    python tools/mutants.py --seed 7    others
    python tools/mutants.py --n 40 --rooms core results checks imaging store
                                        of these rooms, met by their own tests alone

Places are drawn over all rooms, by the number of places a room has. Which tests run through a line is recorded once
(coverage with one context per test); a mutant meets those tests, quickest first, in a copy of the tree. A line that
runs when its file is imported is recorded for nobody or for whoever came first: it meets the tests that run through any
line of the file and those of test files that name its module. So does a line of a file that only other processes run.
A survivor that changes nothing anybody could see is listed in tools/equivalent.toml with the reason.
"""

from __future__ import annotations

import argparse
import ast
import json
import os
import random
import re
import shutil
import sqlite3
import subprocess
import sys
import tomllib
import xml.etree.ElementTree as ET
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[1]
WORK = ROOT / "build" / "mutants"
SOURCE = Path("src/salva")
N_TESTS = 150
LONGEST_S = 300
MOST_FAILING = 0.01
"""Of all tests: a record in which more fail says little about who would notice what."""
_COMPARE = {
    ast.Lt: "<=", ast.LtE: "<", ast.Gt: ">=", ast.GtE: ">", ast.Eq: "!=", ast.NotEq: "==",
    ast.In: "not in", ast.NotIn: "in", ast.Is: "is not", ast.IsNot: "is",
}  # fmt: skip
_ARITHMETIC = {ast.Add: "-", ast.Sub: "+", ast.Mult: "/", ast.Div: "*", ast.FloorDiv: "*", ast.Mod: "*"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Mutant:
    """One change: which bytes of which file become what."""

    file: str
    line: int
    start: int
    end: int
    text: str
    was: str

    @property
    def name(self) -> str:
        """What it is called in lists; holds while the file does not change above it."""
        return f"{self.file}:{self.line} {self.was!r} -> {self.text!r}"

    @property
    def room(self) -> str:
        """The folder below the package."""
        return Path(self.file).relative_to(SOURCE).parts[0]

    @property
    def module(self) -> str:
        """What it is imported as."""
        return ".".join(Path(self.file).relative_to(SOURCE.parent).with_suffix("").parts).removesuffix(".__init__")


def places(path: Path) -> Iterator[Mutant]:
    """Every change that could be made to a file."""
    source = path.read_text(encoding="utf-8")
    lines = [0]
    for line in source.encode().splitlines(keepends=True):
        lines.append(lines[-1] + len(line))
    raw = source.encode()

    def at(node: ast.AST, text: str, part: tuple[int, int] | None = None) -> Mutant:
        assert isinstance(node, ast.expr | ast.stmt)
        begin = lines[node.lineno - 1] + node.col_offset
        end = lines[(node.end_lineno or node.lineno) - 1] + (node.end_col_offset or 0)
        begin, end = part or (begin, end)
        was = raw[begin:end].decode()
        return Mutant(
            file=str(path.relative_to(ROOT)),
            line=raw[:begin].count(b"\n") + 1,
            start=begin,
            end=end,
            text=text,
            was=was,
        )

    def between(left: ast.expr, right: ast.expr) -> tuple[int, int]:
        begin = lines[(left.end_lineno or 1) - 1] + (left.end_col_offset or 0)
        return begin, lines[right.lineno - 1] + right.col_offset

    for node in _worth_changing(ast.parse(source)):
        match node:
            case ast.Compare(left=left, ops=[op], comparators=[right]) if type(op) in _COMPARE:
                part = between(left, right)
                if b"(" not in raw[slice(*part)] and b")" not in raw[slice(*part)]:
                    yield at(node, f" {_COMPARE[type(op)]} ", part)
            case ast.BoolOp(op=op, values=[first, second, *_]):
                part = between(first, second)
                if raw[slice(*part)].strip() in (b"and", b"or"):
                    yield at(node, " or " if isinstance(op, ast.And) else " and ", part)
            case ast.BinOp(left=left, op=op, right=right) if type(op) in _ARITHMETIC:
                part = between(left, right)
                if b"(" not in raw[slice(*part)] and b")" not in raw[slice(*part)]:
                    yield at(node, f" {_ARITHMETIC[type(op)]} ", part)
            case ast.UnaryOp(op=ast.Not(), operand=operand):
                yield at(node, f"({ast.unparse(operand)})")
            case ast.Constant(value=bool(value)):
                yield at(node, str(not value))
            case ast.Constant(value=int(value)):
                yield at(node, str(value + 1))
            case ast.Constant(value=float(value)):
                yield at(node, repr(value * 2 + 1))
            case ast.If(test=test) | ast.IfExp(test=test):
                yield at(test, f"(not ({ast.unparse(test)}))")
            case ast.Expr(value=ast.Call()):
                yield at(node, "None")
            case ast.Continue():
                yield at(node, "break")
            case ast.Return(value=ast.expr() as value) if not isinstance(value, ast.Constant):
                yield at(value, "None")


def _worth_changing(tree: ast.AST) -> Iterator[ast.AST]:
    """The nodes that do something: no annotations, no help texts, nothing that is only for type checkers."""
    todo: list[ast.AST] = [tree]
    while todo:
        node = todo.pop(0)
        if isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test):
            continue
        if isinstance(node, ast.Raise | ast.Assert | ast.JoinedStr):
            continue
        if isinstance(node, ast.Call) and getattr(node.func, "id", "") == "dataclass":
            continue
        yield node
        for name, value in ast.iter_fields(node):
            if name in ("annotation", "returns", "decorator_list", "type_params"):
                continue
            todo += [v for v in (value if isinstance(value, list) else [value]) if isinstance(v, ast.AST)]


def draw(n: int, seed: int, rooms: list[str]) -> list[Mutant]:
    """So many places over these rooms or all, the same ones for the same source and seed."""
    by_room: dict[str, list[Mutant]] = {}
    for path in sorted((ROOT / SOURCE).rglob("*.py")):
        for mutant in places(path):
            if not rooms or mutant.room in rooms:
                by_room.setdefault(mutant.room, []).append(mutant)
    total = sum(map(len, by_room.values()))
    chosen: list[Mutant] = []
    for room, mutants in sorted(by_room.items()):
        share = max(1, round(n * len(mutants) / total))
        chosen += random.Random(f"{seed} {room}").sample(mutants, min(share, len(mutants)))
    random.Random(seed).shuffle(chosen)
    return chosen[:n]


def record(tests: list[str], workers: int) -> None:
    """Run the tests once and keep which test runs through which line, and how long it takes."""
    WORK.mkdir(parents=True, exist_ok=True)
    rc = WORK / "coveragerc"
    rc.write_text(f"[run]\nsource = {ROOT / SOURCE}\ndata_file = {WORK / 'coverage'}\n", encoding="utf-8")
    done = subprocess.run(
        [
            *(sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", f"--junitxml={WORK / 'times.xml'}"),
            *("--cov", "--cov-context=test", f"--cov-config={rc}", "--cov-report=", "-o", "junit_family=xunit1"),
            *("--numprocesses", str(workers), "--dist", "worksteal", *tests),
        ],
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": str(ROOT / "src")},
    )
    if done.returncode != 1:  # 1: a test fails as things are; Reach leaves it out, since it would kill anything
        done.check_returncode()


class Reach:
    """Which tests run through which line, from what record() kept."""

    def __init__(self) -> None:
        self._data = sqlite3.connect(f"file:{WORK / 'coverage'}?mode=ro", uri=True, check_same_thread=False)
        self._seconds: dict[str, float] = {}
        self._failing: set[str] = set()
        for case in ET.parse(WORK / "times.xml").iter("testcase"):
            name = _test_named(case)
            self._seconds[name] = float(case.get("time") or 0)
            if case.find("failure") is not None or case.find("error") is not None:
                self._failing.add(name)
        if len(self._failing) > MOST_FAILING * len(self._seconds):
            raise SystemExit(
                f"{len(self._failing)} of {len(self._seconds)} tests failed while who runs through what was recorded, "
                f"such as {min(self._failing)}; mend them first"
            )

    def tests(self, mutant: Mutant) -> list[str]:
        """The tests that run through its line, or belong to its file; those of its own room and quick ones first."""
        query = (
            "SELECT context, numbits FROM line_bits JOIN file ON file.id = line_bits.file_id "
            "JOIN context ON context.id = line_bits.context_id WHERE path = ?"
        )
        byte, bit = divmod(mutant.line, 8)
        through, beside = set(), set()
        for context, bits in self._data.execute(query, (str(ROOT / mutant.file),)):
            if name := _test_of(context):
                beside.add(name)
                if byte < len(bits) and bits[byte] & (1 << bit):
                    through.add(name)
        names = through
        if _runs_on_import(mutant) or not beside:
            names = beside | self._naming(mutant.module)
        own = f"tests/{mutant.room}/"

        def order(name: str) -> tuple[bool, bool, float]:
            seconds = self._seconds.get(name, 1.0)
            return seconds > 2, not name.startswith(own), seconds

        return sorted(names - self._failing, key=order)

    def _naming(self, module: str) -> set[str]:
        """The tests of the files that name a module."""
        is_named = re.compile(rf"\b{re.escape(module)}\b").search
        files = {name.partition("::")[0] for name in self._seconds}
        naming = {file for file in files if is_named((ROOT / file).read_text(encoding="utf-8"))}
        return {name for name in self._seconds if name.partition("::")[0] in naming}


def _test_named(case: ET.Element) -> str:
    """A test of pytest's list of times by the name that pytest takes."""
    file, place, name = (case.get(part) or "" for part in ("file", "classname", "name"))
    of_class = place.removeprefix(file.removesuffix(".py").replace("/", ".")).replace(".", "::")
    return f"{file}{of_class}::{name}"


def _test_of(context: str) -> str:
    """The test of a context, which says after a bar whether it was set up or run; bars may be in its name as well."""
    return context.rpartition("|")[0]


def _runs_on_import(mutant: Mutant) -> bool:
    """Whether its line is in the body of no function."""
    tree = ast.parse((ROOT / mutant.file).read_text(encoding="utf-8"))
    functions = [node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)]
    return not any(node.body[0].lineno <= mutant.line <= (node.end_lineno or 0) for node in functions)


def survives(mutant: Mutant, tests: list[str], tree: Path) -> bool:
    """Whether no test notices."""
    path = tree / mutant.file
    original = path.read_bytes()
    path.write_bytes(original[: mutant.start] + mutant.text.encode() + original[mutant.end :])
    names = tree / "names.txt"
    names.write_text("\n".join(tests[:N_TESTS]), encoding="utf-8")
    try:
        done = subprocess.run(
            [sys.executable, "-m", "pytest", "-q", "-x", "-p", "no:cacheprovider", f"@{names}"],
            cwd=tree,
            env={**os.environ, "PYTHONPATH": str(tree / "src"), "PYTHONDONTWRITEBYTECODE": "1"},
            capture_output=True,
            timeout=LONGEST_S,
        )
    except subprocess.TimeoutExpired:
        return False
    finally:
        path.write_bytes(original)
    assert b"ERROR: not found: " not in done.stderr, done.stderr.decode()
    return done.returncode == 0


def main() -> int:
    """Draw, test, tell; exit 1 when fewer than nine in ten are noticed."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--n", type=int, default=200)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--workers", type=int, default=max(1, len(os.sched_getaffinity(0))))
    parser.add_argument("--again", action="store_true", help="use the record of the last time")
    parser.add_argument("--rooms", nargs="*", default=[], help="draw from these, and record their own tests")
    given = parser.parse_args()
    if not given.again or not (WORK / "coverage").exists():
        record([f"tests/{room}" for room in given.rooms] or ["tests"], given.workers)
    reach = Reach()
    excused = {
        entry["mutant"]: entry["why"]
        for entry in tomllib.loads((ROOT / "tools" / "equivalent.toml").read_text(encoding="utf-8")).get(
            "equivalent", []
        )
    }
    trees = [WORK / f"tree-{number}" for number in range(given.workers)]
    for tree in trees:
        shutil.rmtree(tree, ignore_errors=True)
        shutil.copytree(ROOT, tree, ignore=shutil.ignore_patterns(".*", "build", "runs"))
    mutants = draw(given.n, given.seed, given.rooms)
    free = list(trees)
    results: dict[str, str] = {}

    def test(mutant: Mutant) -> tuple[Mutant, str]:
        if mutant.name in excused:
            return mutant, "equivalent"
        tests = reach.tests(mutant)
        if not tests:
            return mutant, "no test runs through it"
        tree = free.pop()
        try:
            return mutant, "survived" if survives(mutant, tests, tree) else "killed"
        finally:
            free.append(tree)

    with ThreadPoolExecutor(given.workers) as pool:
        for number, (mutant, result) in enumerate(pool.map(test, mutants), 1):
            results[mutant.name] = result
            print(f"{number:4} {result:24} {mutant.name}", flush=True)
    counted = [result for result in results.values() if result != "equivalent"]
    n_killed = counted.count("killed")
    (WORK / "results.json").write_text(json.dumps(results, indent=1), encoding="utf-8")
    share = n_killed / len(counted)
    print(f"\n{n_killed} of {len(counted)} killed ({share:.1%}); {len(results) - len(counted)} equivalent ones besides")
    return 0 if share >= 0.9 else 1


if __name__ == "__main__":
    sys.exit(main())
