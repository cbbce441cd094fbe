"""Flags, commands, option keys and names of the package that the pages give exist."""

from __future__ import annotations

import pkgutil
import re
from pathlib import Path

import click
import pytest

from salva.cli.main import COMMANDS, salva
from salva.registry import ROLES

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
# Not the changelog, which names what is gone, and not what is made from the code.
# Decisions name what went.
PAGES = sorted(
    {*ROOT.glob("*.md"), *DOCS.rglob("*.md")}
    - {ROOT / "CHANGELOG.md", *DOCS.glob("reference/*"), *DOCS.glob("decisions/*")}
)
# Made from the code, and compared with it by another test.
COMPONENTS = (DOCS / "reference" / "components.md").read_text(encoding="utf-8")
KEYS = set(re.findall(r"^\| `([a-z]+\.[a-z_]+)` \|", COMPONENTS, flags=re.MULTILINE))
# A judge can be bound as a reader or an embedder.
KEYS |= {
    f"{role}.{key.partition('.')[2]}" for key in KEYS if key.startswith("judge.") for role in ("reader", "embedder")
}
# A flag of a web UI, one of a training script, a class in JUnit files, the fixture of the pytest plugin.
OTHERS = {"--api", "--part", "suite.run", "salva.holds", "salva.shows"}
FILES = (".db", ".md", ".py", ".json", ".onnx", ".safetensors", ".toml")
_KEY = re.compile(rf"(?<![\w./])(?:{'|'.join({key.partition('.')[0] for key in KEYS})})\.[a-z_]+\b(?!\()")


def _code(page: Path) -> list[str]:
    """Code spans, and the lines of code blocks."""
    text = page.read_text(encoding="utf-8").replace("\\\n", " ")
    blocks = re.findall(r"^```(?:\w*)\n(.*?)^```", text, flags=re.MULTILINE | re.DOTALL)
    spans = re.findall(r"`([^`\n]+)`", re.sub(r"^```.*?^```", "", text, flags=re.MULTILINE | re.DOTALL))
    return [*spans, *(line for block in blocks for line in block.splitlines())]


def _leaves(command: click.Command, words: tuple[str, ...]) -> dict[tuple[str, ...], click.Command]:
    if isinstance(command, click.Group):
        context = click.Context(command)
        found: dict[tuple[str, ...], click.Command] = {}
        for name in command.list_commands(context):
            child = command.get_command(context, name)
            assert child is not None
            found |= _leaves(child, (*words, name))
        return found
    return {words: command}


@pytest.fixture(scope="module")
def flags() -> set[str]:
    commands = _leaves(salva, ())
    assert len(commands) >= len(COMMANDS)
    return {"--help", "--version"} | {
        name
        for command in commands.values()
        for option in command.params
        if isinstance(option, click.Option)
        for name in (*option.opts, *option.secondary_opts)
    }


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.relative_to(ROOT).as_posix())
def test_what_a_page_names_exists(page: Path, flags: set[str]) -> None:
    unknown = []
    for code in _code(page):
        if code.lstrip("$ ").startswith(("salva ", "--")) and not code.startswith("--salva-"):
            given = re.findall(r"(?<![^ (\[])--[a-z-]+(?![\w])", re.sub(r"\"[^\"]*\"", "", code))
            unknown += [flag for flag in given if flag not in flags | OTHERS]
            unknown += [word for word in re.findall(r"^(?:\$ )?salva ([a-z]+)\b", code) if word not in COMMANDS]
        unknown += [key for key in _KEY.findall(code) if key not in KEYS | OTHERS and not key.endswith(FILES)]
        unknown += [name for name in re.findall(r"(?<![\w./\[])salva(?:\.[a-z_]\w*)+", code) if not _exists(name)]
    assert not unknown


def _exists(name: str) -> bool:
    if name in OTHERS or name.removeprefix("salva.").removesuffix("s") in ROLES:
        return True
    try:
        pkgutil.resolve_name(name)
    except (ImportError, AttributeError):
        return name.endswith(FILES)
    return True
