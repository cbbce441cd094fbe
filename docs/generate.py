"""Writes docs/reference and docs/map.md from the code: options, error types, the command line, the tree.

`--check` writes nothing and fails when a page is not what the code says.
"""

from __future__ import annotations

import ast
import configparser
import dataclasses
import sys
from pathlib import Path

import click

from salva.cli.main import COMMANDS, salva
from salva.core.about import about_of, options_of
from salva.core.options import described, fields_of
from salva.registry import BUILT_IN, ROLES, load

DOCS = Path(__file__).parent
PACKAGE = DOCS.parent / "src" / "salva"
ROOMS = {
    "": "the front door",
    "core": "the nouns that flow: frozen dataclasses, standard library only",
    "logic": "formulas only; has never heard of images",
    "stats": "numbers in, numbers out; names no check and no suite",
    "judging": "which verdict speaks for a case, controls and tallies; no store, no threads",
    "suites/metalogic": "MetaLogic: cases, templates, tables",
    "suites/actesting": "ACTesting: captions and their mutants, files, the relations and tables",
    "suites/semvar": "SemVarBench: triples, files, its relation, tables and charts",
    "suites/cfworld": "CF-World: groups of three levels, probes, files, its check, tables and charts",
    "suites/scene": "one scene of your own, said again by a law",
    "suites/faithfulness": "the TIFA-lite project: pairs, files, tables",
    "suites/geneval": "GenEval: six tasks, the published rules, files, tables",
    "suites/prompts": "prompts of one's own: the ways open to each, rewordings by laws, tables",
    "checks": "observations to conclusions, for several suites; pure functions",
    "metrics": "verdicts to tables, for several suites",
    "generators": "prompts to pictures",
    "generators/painter": "draws what a formula says, faults on request",
    "perception": "pictures to observations: what all actors_by_role share",
    "detectors": "pictures to boxes",
    "readers": "pictures to text",
    "embedders": "pictures and texts to vectors",
    "judges": "pictures and questions to answers and scores",
    "testing": "shipped fakes and conformance checks, for us and for plugin authors",
    "store": "a run on disk",
    "engine": "moves units through lanes while components work",
    "engine/executors": "where components run",
    "run": "whole-run commands: ask, plan, run, judge again, verify, selftest, doctor",
    "figures": "charts to SVG and PNG, numbers to text",
    "report": "summary, gallery and its forms; reads the store, knows no suite",
    "compare": "models held against each other on the same cases; how many pairs a difference takes",
    "people": "rating tables, sheets, agreement",
    "exchange": "the door of import and export, and formats of no suite",
    "english": "sentences to formulas and back, questions about formulas, files of prompts",
    "english/captions": "captions to entities and triples: by spaCy or by a small grammar",
    "english/mutation": "captions changed by one entity or triple: operators, their texts, and the reading back",
    "authoring": "new sentences, questions and proposed formulas by templates and a text model",
    "remote": "endpoints on the other side of HTTP, and their errors in our words",
    "hardware": "devices, precision, batch sizes, checkpoints on disk and on the hub",
    "imaging": "image files to pictures and back",
    "files": "what people and other programs keep: tables read, files written whole or not at all",
    "assets": "sprites, names and weights, their licences and checksums",
    "notebook": "what Python programs and notebooks hand in, and what a run is there",
    "cli": "parses, calls, prints: one short file per command",
}


def components_page() -> str:
    """Every component with its options and error types."""
    lines = ["# Components", "", "Made from the code by `make docs`; do not edit.", ""]
    for role in ROLES:
        names = BUILT_IN[role]
        if not names:
            continue
        lines += [f"## {role}", ""]
        for name in names:
            component = load(role, name)
            summary = (component.__doc__ or "").strip().partition("\n")[0]
            lines += [f"### {name}", "", summary, ""]
            lines += _options_table(role, options_of(component))
            about = about_of(component)
            if about.made_for:
                names = about.names if isinstance(about.names, str) else f"{len(about.names)} of its own"
                lines += [f"Made for: {about.made_for} Names: {names}.", ""]
            errors = about.errors
            if errors:
                lines += ["| error type | meaning |", "|---|---|"]
                lines += [f"| `{error}` | {meaning} |" for error, meaning in errors.items()] + [""]
    return "\n".join(lines)


def _options_table(role: str, options: type) -> list[str]:
    if not dataclasses.fields(options):
        return []
    lines = ["| option | default | what it does | part of the key |", "|---|---|---|---|"]
    for name, field in fields_of(options).items():
        default, text = described(field)
        counts = field.metadata.get("keyed", True) and not field.metadata.get("once_keyed")
        is_keyed = counts and role not in ("importer", "exporter")
        keyed = "yes" if is_keyed else "no"
        shown = f"`{default}`" if default else ""
        lines.append(f"| `{role}.{name}` | {shown} | {text} | {keyed} |")
    return [*lines, ""]


def commands_page() -> str:
    """The help of every command."""
    lines = ["# Command line", "", "Made from the code by `make docs`; do not edit.", ""]
    parent = click.Context(salva, info_name="salva", auto_envvar_prefix="SALVA")
    lines += ["```", salva.get_help(parent), "```", ""]
    for name in COMMANDS:
        command = salva.get_command(parent, name)
        assert command is not None
        with click.Context(
            command, info_name=name, parent=parent, terminal_width=100, max_content_width=100
        ) as context:
            lines += [f"## salva {name}", "", "```", command.get_help(context), "```", ""]
    return "\n".join(lines)


def _layers() -> list[str]:
    """The import order, as the contracts have it."""
    contracts = configparser.ConfigParser()
    contracts.read(DOCS.parent / ".importlinter", encoding="utf-8")
    layers = contracts["importlinter:contract:rooms"]["layers"].split("\n")
    return [f"{number}. `{layer.replace('salva.', '')}`" for number, layer in enumerate(filter(None, layers), 1)]


def map_page() -> str:
    """Every room and file, with the first sentence of its docstring."""
    lines = [
        "# Map",
        "",
        "Made from the code by `make docs`; do not edit. A case flows through the rooms from suite to report;",
        "each room is plain functions from one frozen record to the next, and no room knows its neighbours.",
        "Imports go down only, and rooms beside each other are strangers:",
        "",
        *_layers(),
        "",
        "Nothing imports a plugin room; the registry reaches it by name. These contracts are checked with the tests.",
    ]
    for room, what in ROOMS.items():
        lines += ["", f"## {'salva/' + room if room else 'salva'}: {what}", "", "| file | what it holds |", "|---|---|"]
        for path in sorted((PACKAGE / room).glob("*.py")):
            summary = (ast.get_docstring(ast.parse(path.read_text(encoding="utf-8"))) or "").split("\n\n")[0]
            if summary:
                lines.append(f"| `{path.name}` | {' '.join(summary.split())} |")
    lines += [
        "",
        "Beside the package: `training/` makes the pocket weights again (needs torch, not installed),",
        "`bench/` measures, `tests/` mirrors the rooms.",
        "",
    ]
    return "\n".join(lines)


def main() -> int:
    """Write or check every page."""
    pages = {
        "reference/components.md": components_page(),
        "reference/commands.md": commands_page(),
        "map.md": map_page(),
    }
    stale = []
    for name, text in pages.items():
        path = DOCS / name
        if not path.exists() or path.read_text(encoding="utf-8") != text:
            stale.append(name)
            if "--check" not in sys.argv:
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_text(text, encoding="utf-8")
    if "--check" in sys.argv and stale:
        print(f"out of date: {', '.join(stale)}; run make docs")
        return 1
    print(f"docs: {', '.join(pages)} {'checked' if '--check' in sys.argv else 'written'}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
