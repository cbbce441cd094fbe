"""Flags that several commands share; each also reads a SALVA_ variable named after it.

A flag that is spelled the same in several commands and means another thing in each has the command in its variable too:
what is set for one must not reach the other.
"""

from __future__ import annotations

import math
import os
import tomllib
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from salva.errors import UsageError
from salva.files.outfiles import cannot_write
from salva.registry import add_loose_plugin

if TYPE_CHECKING:
    from salva.remote.text_model import TextModel

F = TypeVar("F", bound=Callable[..., Any])


class Span(click.FloatRange):
    """A range of numbers that "nan" and "inf" are not in: a limit that nothing can exceed is none."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> float:
        number: float = super().convert(value, param, ctx)
        if not math.isfinite(number):
            self.fail(f"{value!r} is no number that anything can be held against.", param, ctx)
        return number


class _OutputFile(click.Path):
    """The name of a file to write; what is something else is refused. A link that a user names is followed."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Path:
        text = str(value)
        if text == "-":
            raise UsageError("-o wants the name of a file; leave it out to print what can be printed")
        try:
            is_folder, is_file = Path(text).is_dir(), Path(text).is_file()
        except OSError as error:
            raise cannot_write(Path(text), error) from error
        if not text or text.endswith(os.sep) or is_folder:
            raise UsageError(f"-o is {text!r}, a folder; name the file to write in it")
        super().convert(text, param, ctx)
        return Path(text).resolve() if is_file else Path(text)


def check_folder(output: Path | None, own: Path | None = None) -> None:
    """Refuse a file in a folder that is not there, and may be a slip; own: the folder that is made where it belongs."""
    if output is not None and not output.parent.is_dir() and output.parent != own:
        raise UsageError(f"there is no folder {str(output.parent)!r} to write {output.name!r} to; make it first")


OUTPUT_FILE = _OutputFile()
_SETTINGS = "salva.settings"
"""Where a context keeps the settings of its config file."""
RUN_DIRECTORY = click.Path(file_okay=False, path_type=Path)


def flag(*names: str, of: str = "", **settings: Any) -> Callable[[F], F]:
    """A click option that the variable SALVA_<NAME> can set too; SALVA_<OF>_<NAME> where it is one command's alone."""
    long_name = next(name for name in names if name.startswith("--")).split("/")[0]
    variable = "_".join(("SALVA", *([of] if of else []), long_name.removeprefix("--").replace("-", "_"))).upper()
    return click.option(*names, envvar=variable, show_envvar=True, **settings)


def _read_config(ctx: click.Context, _parameter: click.Parameter, path: Path | None) -> None:
    if path is None:
        return
    try:
        content = tomllib.loads(path.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise UsageError(f"--config {path}: {error}") from error
    settings = content.pop("set", {})
    if not isinstance(settings, dict):
        raise UsageError(f"--config {path}: [set] must be a table of ROLE.OPTION = value")
    named = {_written(parameter): parameter for parameter in ctx.command.params}
    known = sorted(named.keys() - {"config"})
    defaults: dict[str, Any] = {}
    for key, value in content.items():
        name = key.replace("_", "-")
        if name not in known:
            raise UsageError(f"--config {path}: {key!r} is no flag of this command; known: {', '.join(known)}")
        takes_many = isinstance(named[name], click.Option) and named[name].multiple
        defaults[str(named[name].name)] = _as_typed(f"--config {path}: {key}", value, takes_many=takes_many)
    ctx.meta[_SETTINGS] = _flatten(settings)
    ctx.default_map = {**(ctx.default_map or {}), **defaults}


def _written(parameter: click.Parameter) -> str:
    """How a parameter is named where it is typed: a flag without its dashes."""
    return max(parameter.opts, key=len).removeprefix("--")


def _as_typed(what: str, value: Any, *, takes_many: bool) -> str | list[str]:
    """A value of a file as it would be typed, so that both are held to the same."""
    values = value if isinstance(value, list) and takes_many else [value]
    if any(isinstance(one, list | dict) for one in values):
        raise UsageError(f"{what} is {value!r}; it takes {'a list of values' if takes_many else 'one value'}")
    typed = [_text(one) for one in values]
    return typed if takes_many else typed[0]


def _text(value: Any) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


def _flatten(table: dict[str, Any], prefix: str = "") -> dict[str, str]:
    flat: dict[str, str] = {}
    for key, value in table.items():
        if isinstance(value, dict):
            flat |= _flatten(value, f"{prefix}{key}.")
        elif isinstance(value, list):
            flat[prefix + key] = ",".join(map(_text, value))
        else:
            flat[prefix + key] = _text(value)
    return flat


def _over_config(ctx: click.Context, _parameter: click.Parameter, typed: tuple[str, ...]) -> tuple[str, ...]:
    """What was typed, and those settings of the config file that it does not set otherwise."""
    keys = {pair.partition("=")[0] for pair in typed}
    left = {key: value for key, value in ctx.meta.get(_SETTINGS, {}).items() if key not in keys}
    return (*(f"{key}={value}" for key, value in left.items()), *typed)


def _name_images(_ctx: click.Context, _parameter: click.Parameter, url: str) -> str:
    if not url:
        return ""
    from salva.store.images import name_images

    if url.partition("://")[0].lower() == "memory":
        raise UsageError(f"--images is {url!r}, and memory is gone when the command ends; name a folder that stays")
    return name_images(url)


def _load_plugins(_ctx: click.Context, _parameter: click.Parameter, sources: tuple[str, ...]) -> None:
    for source in sources:
        add_loose_plugin(source)


config_flag = flag(
    "--config",
    type=click.Path(dir_okay=False, path_type=Path),
    callback=_read_config,
    is_eager=True,
    expose_value=False,
    help="A TOML file with the same names as the flags; flags win.",
)
plugin_flag = flag(
    "--plugin",
    multiple=True,
    callback=_load_plugins,
    is_eager=True,
    expose_value=False,
    metavar="FILE:CLASS",
    help="Try a component from a loose file.",
)
_IMAGES: dict[str, Any] = {"default": "", "metavar": "URL", "callback": _name_images, "is_eager": True}
new_images_flag = flag(
    "--images", "images_at", **_IMAGES, help="A folder elsewhere for the pictures: s3://bucket/folder"
)
images_flag = flag(
    "--images", expose_value=False, **_IMAGES, help="Where the run's pictures are, if it says that they are elsewhere."
)
set_flag = flag(
    "--set",
    "settings",
    multiple=True,
    callback=_over_config,
    metavar="ROLE.OPTION=VALUE",
    help="An option of a component, e.g. model.faults=entity-omission:0.3",
)
counts_flag = flag(
    "--counts",
    type=click.Choice(["exact", "at-least"]),
    default="exact",
    help="Whether two cats are wrong for 'a cat'.",
)
size_flag = flag(
    "--size", default="", metavar="NAME|N", help="A named size, or how many cases; default: quick, or a suite's first."
)
seed_flag = flag("--seed", type=int, default=0, show_default=True, help="The seed all others derive from.")
progress_flag = flag("--no-progress", is_flag=True, help="No progress: no bars, and no lines in a log.")


def text_model_flags(command: F) -> F:
    """Where a text model is, handed to the command, and how long it may take, which `text_model` knows."""
    patience = click.option(
        "--timeout-s",
        type=click.FloatRange(min=0, min_open=True, max=86_400),
        default=60.0,
        show_default=True,
        expose_value=False,
        callback=lambda ctx, _, seconds: ctx.meta.update({_TIMEOUT_S: seconds}),
        help="How long the text model may take for an answer.",
    )
    place = click.option("--base-url", default="", help="The text model's endpoint; OPENAI_BASE_URL otherwise.")
    return place(patience(command))


_TIMEOUT_S = "salva.timeout_s"


def text_model(name: str, base_url: str, output: Path | None = None) -> TextModel:
    """A text model whose connections end with the command; its replies are kept beside the output, where one is named.

    The same command then pays for nothing twice, whatever ended it.
    """
    from salva.remote.journal import Journal
    from salva.remote.text_model import TextModel

    journal = None if output is None else Journal(output.with_name(f"{output.stem}-replies.jsonl"))
    context = click.get_current_context()
    model = TextModel(name, base_url, context.meta[_TIMEOUT_S], journal)
    context.call_on_close(model.close)
    return model
