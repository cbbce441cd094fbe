"""Lists and tables of words, from the TOML files of this folder."""

from __future__ import annotations

import tomllib
from functools import cache
from importlib.resources import files
from typing import Any


def words(file: str, name: str) -> frozenset[str]:
    """A list of words."""
    return frozenset(_content(file)[name])


def table(file: str, name: str) -> dict[str, str]:
    """A table from one word to another."""
    return dict(_content(file)[name])


def lists(file: str, name: str) -> dict[str, list[str]]:
    """A table from one word to several."""
    return dict(_content(file)[name])


def tables(file: str) -> dict[str, Any]:
    """Everything in a file."""
    return dict(_content(file))


@cache
def _content(file: str) -> dict[str, Any]:
    return tomllib.loads((files("salva.english") / f"{file}.toml").read_text("utf-8"))


DENYING = words("words", "denying")
CHOOSING = frozenset(("or", "either"))
