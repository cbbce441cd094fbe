"""Writes docs/reference from the code: options of components, error types, the command line.

`--check` writes nothing and fails when a page is not what the code says.
"""

from __future__ import annotations

import dataclasses
import sys
from pathlib import Path

import click

from salva.cli.main import COMMANDS, salva
from salva.registry import BUILT_IN, ROLES, load

REFERENCE = Path(__file__).parent / "reference"


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
            lines += _options_table(role, getattr(component, "Options", None))
            errors = getattr(component, "errors", {})
            if errors:
                lines += ["| error type | meaning |", "|---|---|"]
                lines += [f"| `{error}` | {meaning} |" for error, meaning in errors.items()] + [""]
    return "\n".join(lines)


def _options_table(role: str, options: type | None) -> list[str]:
    if options is None or not dataclasses.fields(options):
        return []
    lines = ["| option | default | what it does | part of the key |", "|---|---|---|---|"]
    for field in dataclasses.fields(options):
        default = ",".join(map(str, field.default)) if isinstance(field.default, tuple) else field.default
        choices = field.metadata.get("choices") or ()
        text = field.metadata.get("help", "") + (f" One of {', '.join(choices)}." if choices else "")
        keyed = "yes" if field.metadata.get("keyed", True) else "no"
        shown = "" if default in ("", None) else f"`{default}`"
        lines.append(f"| `{role}.{field.name}` | {shown} | {text} | {keyed} |")
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


def main() -> int:
    """Write or check every page."""
    pages = {"components.md": components_page(), "commands.md": commands_page()}
    stale = []
    for name, text in pages.items():
        path = REFERENCE / name
        if not path.exists() or path.read_text(encoding="utf-8") != text:
            stale.append(name)
            if "--check" not in sys.argv:
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_text(text, encoding="utf-8")
    if "--check" in sys.argv and stale:
        print(f"out of date: {', '.join(stale)}; run make docs")
        return 1
    print(f"reference: {', '.join(pages)} {'checked' if '--check' in sys.argv else 'written'}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
