"""Writes docs/reference and docs/map.md from the code: options, failure types, commands, messages, the tree.

`--check` writes nothing and fails when a page is not what the code says.
"""

from __future__ import annotations

import ast
import configparser
import dataclasses
import re
import sys
import textwrap
import tomllib
from pathlib import Path
from typing import Any

import click

from salva.cli.main import COMMANDS, salva
from salva.core.about import about_of, options_of
from salva.core.options import described, fields_of
from salva.messages import entries
from salva.registry import BUILT_IN, ROLES, load

DOCS = Path(__file__).parent
PACKAGE = DOCS.parent / "src" / "salva"
ROOMS = {
    "": "the front door: public names, the registry, the plugins for pytest and for trainings",
    "core": "the records that flow, and the protocols; standard library only",
    "logic": "formulas, laws, equivalence; has never heard of images or English",
    "english": "the only room that reads English: sentences to formulas and back",
    "english/captions": "captions to entities and triples",
    "english/mutation": "captions with one change",
    "authoring": "new sentences, questions and formulas by templates or a text model",
    "stats": "numbers in, numbers out",
    "suites/metalogic": "MetaLogic: pairs by laws of logic",
    "suites/semvar": "SemVarBench: triples of sentences",
    "suites/geneval": "GenEval: six tasks and the published rules",
    "suites/cfworld": "CF-World: groups of three levels",
    "suites/faithfulness": "TIFA-lite: questions about pairs",
    "suites/actesting": "ACTesting: captions and their mutants",
    "suites/prompts": "a user's own prompts",
    "suites/scene": "one scene in every wording that a law proves",
    "checks": "observations to verdicts, for several suites",
    "generators": "prompts to images; one adapter a file",
    "generators/painter": "draws what a formula says, with planted faults",
    "observers": "what detectors, readers, embedders and judges share",
    "detectors": "images to boxes; one adapter a file",
    "readers": "images to text; one adapter a file",
    "embedders": "images and prompts to vectors; one adapter a file",
    "judges": "images and questions to answers; one adapter a file",
    "judging": "a case to the observations that it needs, and to its verdict",
    "results": "verdicts to rates; no store, no threads",
    "results/metrics": "tables and figures that several suites share",
    "compare": "two models on the same cases; power; release checks",
    "store": "a run on disk",
    "engine": "moves cases through components while they work",
    "engine/executors": "where components run: threads or Ray",
    "runs": "whole-run commands: plan, run, rejudge, verify, selftest, doctor",
    "report": "a run as page, text, PDF, JUnit or JSON; knows no suite",
    "charts": "tables to SVG and PNG; numbers to text",
    "review": "people: ratings, agreement",
    "exchange": "import and export",
    "notebook": "models that a Python program hands over",
    "remote": "HTTP endpoints",
    "hardware": "devices, precision, batch sizes, checkpoints",
    "imaging": "image files to pixels and back",
    "files": "tables of other programs; files written whole or not at all",
    "assets": "sprites, names and weights, with licences and checksums",
    "messages": "every error, warning and note: its code, text and explanation; one subject a file",
    "testing": "fakes and conformance checks, for tests and plugin authors",
    "cli": "parses, calls, prints; one command a file",
}
"""Every folder of the package, in the order in which a reader meets them."""

NAMES_ONLY = {
    *("generators", "detectors", "readers", "embedders", "judges", "cli", "messages", "stats", "charts"),
    *(
        "results/metrics",
        "english/mutation",
        "notebook",
        "review",
        "authoring",
        "exchange",
        "hardware",
        "remote",
        "imaging",
        "files",
        "testing",
    ),
}
"""Rooms in which a file's name says enough."""

CHANGES = {
    "add a law": "logic/laws.py ([how](how-to/add-a-law.md))",
    "add a detector": "a file in detectors/, and its lines in built_in.py ([how](how-to/add-a-detector.md))",
    "add a judge provider": "a file in judges/ (see judges/endpoint_judge.py), its client in remote/, "
    "its lines in built_in.py; its package in pyproject.toml and runs/doctor.py; likely slips in spellings.py",
    "add a verdict column": "exchange/verdict_rows.py; a stored one also core/verdict.py, engine/verdicts.py and "
    "FORMAT in core/run_file.py (and store/rows.py unless it is a text or a number)",
    "add a failure type": "the check that finds it, in checks/ or suites/<suite>/ (its `about.failure_types`); a "
    "shared name in core/verdict.py; to plant it: generators/painter/faults.py, runs/selftest.py, "
    "runs/selftest_cases.py and runs/selftest_judge.py",
    "read another image suffix": "imaging/files.py (and its sentence in messages/files.py)",
    "add a flag to `salva run`": "cli/run_command.py, core/run_spec.py, and the file in runs/ that acts on it; "
    "also for `salva.run_suite`: notebook/keywords.py; for gate files: compare/gate_file.py; a gate: "
    "cli/gate_flags.py, results/gate.py, runs/gates.py; "
    "what is no part of the spec, such as a limit: api.py in place of core/run_spec.py",
    "add a suite": "a folder in suites/, its lines in built_in.py, its name in .importlinter and in the list of "
    "rooms of docs/generate ([how](how-to/add-a-suite.md))",
    "word the headline differently": "report/headline_text.py (results/rates.py has its numbers); order and labels: "
    "report/terminal.py",
    "use another interval": "stats/rates.py for the failure rate, stats/intervals.py for a share, "
    "stats/mean_intervals.py for a mean, stats/paired.py for a comparison, stats/correction.py for reviews; "
    "its copy in bench/coverage_cells; then run bench/coverage",
}
"""Ten changes, and the files of src/salva that each touches."""

MOST_WORDS = 6
"""Of a file's line; a longer one is cut to FEWER_WORDS."""
FEWER_WORDS = 5
_DANGLING = {
    *("a", "an", "the", "of", "in", "to", "and", "or", "that", "which", "with", "for", "by", "is", "are", "as")
}
_DANGLING |= {*("from", "on", "at", "whose", "what", "how", "who", "it", "its", "one", "every", "their", "be", "into")}


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
            lines += _options_table(role, component)
            about = about_of(component)
            if about.made_for:
                nouns = about.names if isinstance(about.names, str) else f"{len(about.names)} of its own"
                lines += [f"Made for: {about.made_for} Names: {nouns}.", ""]
            if about.failure_types:
                lines += ["| failure type | meaning |", "|---|---|"]
                lines += [f"| `{name}` | {meaning} |" for name, meaning in about.failure_types.items()] + [""]
    return "\n".join(lines)


def _options_table(role: str, component: Any) -> list[str]:
    options = options_of(component)
    if not dataclasses.fields(options):
        return []
    lines = ["| option | default | what it does | part of the key |", "|---|---|---|---|"]
    for name, field in fields_of(options).items():
        default, text = described(field, about_of(component).default_target)
        is_keyed = field.metadata.get("keyed", True) and role not in ("importer", "exporter")
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
        lines += _help(command, name, parent)
    lines += ["## Environment variables", "", "A flag wins over its variable, and a variable over the config file.", ""]
    lines += ["| variable | flag | commands |", "|---|---|---|"]
    for (variable, flag), names in sorted(_variables(salva, parent).items()):
        lines.append(f"| `{variable}` | `{flag}` | {', '.join(names)} |")
    return "\n".join([*lines, ""])


def _variables(group: click.Group, parent: click.Context) -> dict[tuple[str, str], list[str]]:
    """The variable of every flag, with the commands that read it."""
    found: dict[tuple[str, str], list[str]] = {}
    for name in group.list_commands(parent):
        command = group.get_command(parent, name)
        assert command is not None
        for parameter in command.params:
            if isinstance(parameter, click.Option) and isinstance(parameter.envvar, str):
                found.setdefault((parameter.envvar, max(parameter.opts, key=len)), []).append(name)
    return found


def _help(command: click.Command, name: str, parent: click.Context) -> list[str]:
    """The help of a command and of the commands in it."""
    with click.Context(command, info_name=name, parent=parent, terminal_width=80, max_content_width=80) as context:
        lines = [f"## {context.command_path}", "", "```text", command.get_help(context), "```", ""]
        if isinstance(command, click.Group):
            for part in command.list_commands(context):
                inner = command.get_command(context, part)
                assert inner is not None
                lines += _help(inner, part, context)
    return lines


def _layers() -> list[str]:
    """The import order, as the contracts have it."""
    contracts = configparser.ConfigParser()
    contracts.read(DOCS.parent / ".importlinter", encoding="utf-8")
    layers = contracts["importlinter:contract:rooms"]["layers"].split("\n")
    return [layer.replace("salva.", "") for layer in filter(None, layers)]


def short(path: Path) -> str:
    """The first words of a module's docstring, up to its first stop; a single word says nothing."""
    summary = (ast.get_docstring(ast.parse(path.read_text(encoding="utf-8"))) or "").partition("\n\n")[0]
    words = re.split(r"[:;,.](?=\s|$)", " ".join(summary.split()))[0].split()
    if len(words) <= MOST_WORDS:
        return " ".join(words) if len(words) > 1 else ""
    words = words[:FEWER_WORDS]
    while words[-1] in _DANGLING:
        words.pop()
    return " ".join(words)


def _room(room: str) -> list[str]:
    files = [path for path in sorted((PACKAGE / room).glob("*.py")) if path.name != "__init__.py"]
    if room in NAMES_ONLY:
        shown = textwrap.wrap("  ".join(path.name for path in files), 110, break_on_hyphens=False)
    else:
        widest = max(len(path.name) for path in files)
        shown = [f"{path.name:{widest}}  {short(path)}".rstrip() for path in files]
    return ["", f"## {room or 'salva'}", "", f"{ROOMS[room]}", "", "```text", *shown, "```"]


def _changes() -> list[str]:
    lines = ["| to | change |", "|---|---|"]
    for change, where in CHANGES.items():
        for name in re.findall(r"[\w/]+\.py|\w+/(?=[ ,<])", where):
            assert (PACKAGE / name).exists(), f"docs/generate.py names {name}, which is not there"
        lines.append(f"| {change} | {where} |")
    return lines


def map_page() -> str:
    """Every room in a line, every file in a few words, and where ten common changes are made."""
    found = {
        path.parent.relative_to(PACKAGE).as_posix() for path in PACKAGE.rglob("*.py") if path.name != "__init__.py"
    }
    missing = {name.replace(".", "", 1) if name == "." else name for name in found} ^ set(ROOMS)
    assert not missing, f"ROOMS in docs/generate.py and the folders of the package differ: {', '.join(sorted(missing))}"
    lines = [
        "# Map of the code",
        "",
        "Made from the code by `make docs`; do not edit. A case flows through the rooms of `src/salva` from suite to",
        "report. Each room is plain functions from one frozen record to the next.",
        "",
        "## Where do I change ...",
        "",
        *_changes(),
        "",
        "Then run the tests of the room (`tests/<room>`) and `make docs`.",
        "",
        "## Who imports whom",
        "",
        "Imports go down only; rooms in one line do not import each other. A test checks it (`.importlinter`). Nothing",
        "imports a plugin room: the registry reaches it by name.",
        "",
        "```text",
        *_layers(),
        "```",
    ]
    for room in ROOMS:
        lines += _room(room)
    lines += [
        "",
        "Beside the package: `training/` makes the weights of pocket, `bench/` measures, `tools/` maintains, and",
        "`tests/` mirrors the rooms.",
        "",
    ]
    return "\n".join(lines)


def messages_page() -> str:
    """Every code with its template and explanation."""
    lines = [
        "# Messages",
        "",
        "Made from the code by `make docs`; do not edit. `salva explain CODE` prints one of them.",
        "",
    ]
    for code, entry in sorted(entries().items()):
        lines += [f"## {code}", "", "```text", entry.template, "```", ""]
        if entry.explanation:
            lines += [entry.explanation, ""]
    return "\n".join(lines)


def papers_page() -> str:
    """Every table, figure, equation and study of the papers, and what gives it here."""
    lines = [
        "# What the papers have, and what gives it",
        "",
        "Made from docs/papers.toml by `make docs`; do not edit. A test runs these commands and looks for the tables",
        "and charts in the report. `a`, `b` and the embedded models stand for yours.",
        "",
    ]
    for paper in tomllib.loads((DOCS / "papers.toml").read_text(encoding="utf-8"))["paper"]:
        lines += [
            f"## {paper['title']}",
            "",
            "```sh",
            *paper["commands"],
            "```",
            "",
            "| in the paper | here |",
            "|---|---|",
        ]
        lines += [f"| {has} | {here} |" for has, here in paper["rows"]] + [""]
    return "\n".join(lines)


def main() -> int:
    """Write or check every page."""
    pages = {
        "reference/components.md": components_page(),
        "reference/commands.md": commands_page(),
        "reference/messages.md": messages_page(),
        "reference/papers.md": papers_page(),
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
