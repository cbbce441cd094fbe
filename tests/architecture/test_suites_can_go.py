"""A suite is a folder and its lines in the registry: with both gone, everything else works as before."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

PACKAGE = Path(__file__).parents[2] / "src" / "salva"
SUITES = sorted(path.name for path in (PACKAGE / "suites").iterdir() if (path / "__init__.py").is_file())

LEFT = """
import csv, importlib, pkgutil, sys
from pathlib import Path
from click.testing import CliRunner
import salva
from salva import registry
from salva.cli.main import salva as command

suite, *gone = sys.argv[1:]
assert Path(salva.__file__).is_relative_to(Path.cwd().parent), "the copy is what runs"
for module in pkgutil.walk_packages(salva.__path__, "salva."):
    importlib.import_module(module.name)
left = {name.split(".")[2] for name in sys.modules if name.startswith("salva.suites.")}
assert not left & set(gone)

def do(*arguments):
    done = CliRunner().invoke(command, [str(argument) for argument in arguments], catch_exceptions=False)
    assert done.exit_code == 0, (arguments, done.output)
    return done.output

for kind in ("suites", "checks", "metrics", "importers", "exporters"):
    assert "broken" not in do("list", kind)
assert suite in do("list", "suites")
run = ("run", suite, "--model", "painter", "--reader", "none", "--size", 2, "--no-progress", "--out", "run")
do(*run, "--set", "model.faults=entity-omission:1")
for form in ("html", "md", "json", "csv"):
    do("report", "run", "--format", form, "-o", f"report.{form}")
for entry in registry.entries("exporter"):
    if entry.name in ("csv", "parquet", "counterexamples", "ratings"):
        do("export", "run", "--as", entry.name, "-o", f"as-{entry.name}")

with open("as-ratings/ratings.csv", newline="", encoding="utf-8") as file:
    rows = list(csv.DictReader(file))
with open("filled.csv", "w", newline="", encoding="utf-8") as file:
    writer = csv.DictWriter(file, rows[0])
    writer.writeheader()
    for number, row in enumerate(rows):
        for rater in ("ann", "bob"):
            writer.writerow({**row, "rater": rater, "objects": 10 * (number % 5), "relations": 40})
do("agree", "run", "--ratings", "filled.csv")
do("import", "filled.csv", "--as", "ratings", "--out", "rated")
do("report", "rated", "--format", "md")
do("agree", "rated")
tested = CliRunner().invoke(command, "selftest --pairs 10 --reader none".split())
assert tested.exit_code == 3, tested.output
print("all of it works")
"""


@pytest.mark.parametrize("kept", ["faithfulness", "metalogic"])
def test_suites_can_be_deleted_and_nothing_else_breaks(kept: str, tmp_path: Path) -> None:
    """All but one at once: no suite uses another, which an import contract holds, so each can go alone as well."""
    gone = [name for name in SUITES if name != kept]
    copy = tmp_path / "src" / "salva"
    # With what is compiled, as far as it is there; another process may be writing some of it under names of its own.
    shutil.copytree(PACKAGE, copy, ignore=shutil.ignore_patterns("*.pyc.*", "assets"))
    (copy / "assets").symlink_to(PACKAGE / "assets")
    registry = copy / "built_in.py"
    table = registry.read_text(encoding="utf-8")
    for name in gone:
        shutil.rmtree(copy / "suites" / name)
        entry = rf'^ {{8}}"[\w-]+": _one\(\s*"suites\.{name}\.[^\n]*\n(?: {{12}}[^\n]*\n| {{8}}\),\n)*'
        table, n_entries = re.subn(entry, "", table, flags=re.MULTILINE)
        assert n_entries
    registry.write_text(table, encoding="utf-8")
    work = tmp_path / "work"
    work.mkdir()
    environment = {**os.environ, "PYTHONPATH": str(copy.parent), "SALVA_NO_PLUGINS": "1"}
    done = subprocess.run(
        [sys.executable, "-c", LEFT, kept, *gone], cwd=work, env=environment, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stdout[-2000:] + done.stderr[-4000:]
    assert "all of it works" in done.stdout
