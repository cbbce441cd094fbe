"""Flags made of the options of formats, and the list of formats, for `salva export` and `salva import`."""

from __future__ import annotations

import dataclasses
import typing
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from typing import Any, TypeVar

import click

from salva.cli.help import Flag
from salva.core.about import about_of, options_of
from salva.core.case import Case
from salva.core.table import Cell
from salva.errors import PluginError, UsageError
from salva.messages import message
from salva.registry import entries, load

F = TypeVar("F", bound=Callable[..., Any])
CaseRows = Callable[[Iterable[Case]], Iterator[list[Cell]]]


def format_list(role: str) -> Callable[[], list[tuple[str, str]]]:
    """What lists every format of a role with its first sentence, for the end of a help page."""

    def described() -> list[tuple[str, str]]:
        rows = []
        for entry in entries(role):
            try:
                what = entry.summary or (load(role, entry.name).__doc__ or "").strip().partition("\n")[0]
            except PluginError as error:
                what = f"broken: {error}"
            rows.append((entry.name, what))
        return rows

    return described


def case_formats() -> dict[str, CaseRows]:
    """The export formats that cases alone can be printed in, with what makes rows of them."""
    made = {name: about_of(exporter).case_rows for name, exporter in _loaded("exporter").items()}
    return {name: case_rows for name, case_rows in made.items() if case_rows is not None}


def format_flags(role: str) -> Callable[[F], F]:
    """A flag for every option that any format of a role has."""

    def add(command: F) -> F:
        for name, formats in reversed(_formats_by_option(role).items()):
            command = _flag(name, formats, load(role, formats[0]).Options)(command)
        return command

    return add


def given_options(role: str, form: str, flags: Mapping[str, Any]) -> dict[str, str]:
    """What the user said with these flags; one that this format does not know is refused."""
    load(role, form)  # a format that is not there is named before any of its flags
    context = click.get_current_context()
    by_option = _formats_by_option(role)
    given = {}
    for name, value in flags.items():
        if context.get_parameter_source(name) is click.core.ParameterSource.DEFAULT:
            continue
        if form not in by_option[name]:
            flag = f"--{name.replace('_', '-')}"
            why = f"{form} has no such option, but {' and '.join(by_option[name])}"
            raise UsageError(message("flag-unrelated", flags=flag, why=why))
        given[name] = str(value).lower() if isinstance(value, bool) else str(value)
    return given


def _formats_by_option(role: str) -> dict[str, list[str]]:
    by_option: dict[str, list[str]] = {}
    for form, component in _loaded(role).items():
        for field in dataclasses.fields(options_of(component)):
            by_option.setdefault(field.name, []).append(form)
    return by_option


def _loaded(role: str) -> dict[str, type[Any]]:
    """Every format of a role by name; a broken one stands in the list, with what is wrong with it."""
    loaded = {}
    for entry in entries(role):
        with suppress(PluginError):
            loaded[entry.name] = load(role, entry.name)
    return loaded


def _flag(name: str, formats: list[str], options: type[Any]) -> Callable[[F], F]:
    field = next(field for field in dataclasses.fields(options) if field.name == name)
    hint = typing.get_type_hints(options)[name]
    is_list = typing.get_origin(hint) is tuple
    help_text = field.metadata.get("help", "")
    settings: dict[str, Any] = {
        "default": ",".join(map(str, field.default)) if is_list else field.default,  # type: ignore[arg-type]  # a tuple
        "help": f"{', '.join(formats)}: {help_text[:1].lower()}{help_text[1:]}",
    }
    if hint is bool:
        settings["is_flag"] = True
    elif choices := field.metadata.get("choices"):
        settings["type"] = click.Choice(list(choices))
    elif is_list:
        settings["metavar"] = "NAME,..."
    flag = name.replace("_", "-")
    # What is on unless said otherwise needs a way to say so.
    return click.option(f"--{flag}/--no-{flag}" if field.default is True else f"--{flag}", name, cls=Flag, **settings)
