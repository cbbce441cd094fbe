"""Flags that several commands share; each also reads a variable SALVA_<NAME>.

Where one spelling means different things in two commands, the variable has the command's name too.
"""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click
import msgspec

from salva.cli import help as pages
from salva.cli.help import Flag
from salva.core.decoding import decoded
from salva.errors import UsageError
from salva.files.outfiles import cannot_write
from salva.messages import message
from salva.registry import add_loose_plugin

if TYPE_CHECKING:
    from salva.remote.text_model import TextModel

F = TypeVar("F", bound=Callable[..., Any])
RUN_DIRECTORY = click.Path(file_okay=False, path_type=Path)
_SETTINGS = "salva.settings"
"""Where a context keeps the settings of its config file."""
_KEY_ENV = "salva.key_env"
_Value = str | int | float | bool


class Number(click.FloatRange):
    """A finite number in a range: a limit of "nan" or "inf" would be none."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> float:
        if self.max == 1 and param is not None:
            _refuse_percentage(value, param.opts[-1])
        number: float = super().convert(value, param, ctx)
        if not math.isfinite(number):
            self.fail(message("number-not-finite", value=value), param, ctx)
        return number


def _refuse_percentage(value: Any, name: str) -> None:
    """Say what a percentage is as a fraction."""
    try:
        number = float(str(value).removesuffix("%"))
    except ValueError:
        return
    if 1 < number <= 100:
        raise UsageError(message("not-a-fraction", name=name, value=value, meant=number / 100))


class _OutputFile(click.Path):
    """The name of a file to write; a link that a user names is followed."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Path:
        text = str(value)
        if text == "-":
            raise UsageError(message("output-to-stdout"))
        try:
            is_folder, is_file = Path(text).is_dir(), Path(text).is_file()
        except OSError as error:
            raise cannot_write(Path(text), error) from error
        if not text or text.endswith(os.sep) or is_folder:
            raise UsageError(message("output-is-folder", path=text))
        super().convert(text, param, ctx)
        return Path(text).resolve() if is_file else Path(text)


OUTPUT_FILE = _OutputFile()


def require_folder(output: Path | None, own: Path | None = None) -> None:
    """Refuse a file in a folder that does not exist; own: the folder that is made where it belongs."""
    if output is not None and not output.parent.is_dir() and output.parent != own:
        raise UsageError(message("folder-missing", folder=str(output.parent), name=output.name))


def flag(*names: str, group: str = pages.ADVANCED, of: str = "", **settings: Any) -> Callable[[F], F]:
    """An option of a group that the variable SALVA_<NAME> sets too; SALVA_<OF>_<NAME> where it is one command's own."""
    long_name = next(name for name in names if name.startswith("--")).split("/")[0]
    variable = "_".join(("SALVA", *([of] if of else []), long_name.removeprefix("--").replace("-", "_"))).upper()
    return click.option(*names, cls=Flag, group=group, envvar=variable, **settings)


def _read_config(ctx: click.Context, _parameter: click.Parameter, path: Path | None) -> None:
    if path is None:
        return
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(message("file-unreadable", path=str(path), why=error)) from error
    options = {str(option.name): option for option in ctx.command.params if isinstance(option, click.Option)}
    content = msgspec.structs.asdict(decoded(text, _config_record(options), path, "toml"))
    values = {name: value for name, value in content.items() if value is not msgspec.UNSET}
    ctx.meta[_SETTINGS] = _flatten(values.pop("settings", {}))
    lists = {name: value if isinstance(value, list) else [value] for name, value in values.items()}
    defaults = {name: list(map(_text, each)) for name, each in lists.items()}
    typed = {name: texts if options[name].multiple else texts[0] for name, texts in defaults.items()}
    ctx.default_map = {**(ctx.default_map or {}), **typed}


def _config_record(options: Mapping[str, click.Option]) -> type[msgspec.Struct]:
    """What a config file of a command may hold: its long flags without dashes, and the table [set]."""
    one = _Value | msgspec.UnsetType
    fields: list[tuple[str, Any, Any]] = []
    for name, option in options.items():
        kind = (
            dict[str, Any] | msgspec.UnsetType if name == "settings" else list[_Value] | one if option.multiple else one
        )
        fields.append((name, kind, msgspec.UNSET))
    long_names = {name: max(option.opts, key=len).removeprefix("--") for name, option in options.items()}
    return msgspec.defstruct("Config", fields, frozen=True, forbid_unknown_fields=True, rename=long_names)


def _text(value: object) -> str:
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
    """What was typed, and the settings of the config file that it does not override."""
    keys = {pair.partition("=")[0] for pair in typed}
    rest = {key: value for key, value in ctx.meta.get(_SETTINGS, {}).items() if key not in keys}
    return (*(f"{key}={value}" for key, value in rest.items()), *typed)


def _name_images(_ctx: click.Context, _parameter: click.Parameter, url: str) -> str:
    if not url:
        return ""
    from salva.store.images import allow_images_at

    if url.partition("://")[0].lower() == "memory":
        raise UsageError(message("images-in-memory", url=url))
    return allow_images_at(url)


def _load_plugins(_ctx: click.Context, _parameter: click.Parameter, sources: tuple[str, ...]) -> None:
    for source in sources:
        add_loose_plugin(source)


path_argument = click.argument("paths", nargs=-1, metavar="[PATH]...")
config_flag = flag(
    "--config",
    type=click.Path(dir_okay=False, path_type=Path),
    callback=_read_config,
    is_eager=True,
    expose_value=False,
    help="A TOML file with long flags as keys; flags win.",
)
plugin_flag = flag(
    "--plugin",
    multiple=True,
    callback=_load_plugins,
    is_eager=True,
    expose_value=False,
    metavar="FILE:CLASS",
    help="Add a component from a file.",
)
_IMAGES: dict[str, Any] = {"default": "", "metavar": "URL", "callback": _name_images, "is_eager": True}
new_images_flag = flag(
    "--images", "images_at", group=pages.OUTPUT, **_IMAGES, help="Where to store images: s3://bucket/folder"
)
images_flag = flag("--images", expose_value=False, **_IMAGES, help="Where the run's images are, if not in RUN.")
set_flag = flag(
    "--set",
    "settings",
    multiple=True,
    callback=_over_config,
    metavar="KEY=VALUE",
    help="Set ROLE.OPTION, such as model.faults=entity-omission:0.3",
)
counts_flag = flag(
    "--counts",
    group=pages.TEST,
    type=click.Choice(["exact", "at-least"]),
    help="Whether more than asked fails: two cats for 'a cat'. Default: the suite's.",
)
only_flag = flag(
    "--only", group=pages.TEST, multiple=True, metavar="LABEL=VALUE", help="Only cases with this label: law=de-morgan"
)
size_flag = flag(
    "--size",
    group=pages.AMOUNT,
    default="",
    metavar="NAME|N",
    help="quick, paper, full, beyond, or a number. Default: quick.",
)
seed_flag = flag("--seed", group=pages.AMOUNT, type=int, default=0, help="The seed that all others derive from.")
executor_flag = flag("--executor", default="local", help="Where components run: local or ray. Default: local.")
verbose_flag = flag("-v", "--verbose", group=pages.OUTPUT, is_flag=True, help="Print all metrics and tables.")
quiet_flag = flag("-q", "--quiet", group=pages.OUTPUT, is_flag=True, help="Print one line.")
progress_flag = flag("--no-progress", group=pages.OUTPUT, is_flag=True, help="Show no progress.")


def format_flag(of: str, *forms: str) -> Callable[[F], F]:
    """In which of these forms something is printed; the first is the default."""
    text = f"Default: {forms[0]}."
    return flag("--format", "form", group=pages.OUTPUT, of=of, type=click.Choice(forms), default=forms[0], help=text)


def base_url_flag(command: F) -> F:
    """Where a text model is, and which key it gets."""
    at = flag("--base-url", of="write", default="", help="The endpoint of the text model.")
    key_env = flag(
        "--key-env",
        of="write",
        default="",
        expose_value=False,
        callback=_keep_key_env,
        metavar="VARIABLE",
        help="The variable that holds its key, or none.",
    )
    return at(key_env(command))


def _keep_key_env(ctx: click.Context, _parameter: click.Parameter, variable: str) -> None:
    ctx.meta[_KEY_ENV] = variable


def text_model(name: str, base_url: str, output: Path | None = None) -> TextModel:
    """A text model for this command; its replies are stored beside the output, so that nothing is paid twice."""
    from salva.remote.journal import Journal
    from salva.remote.text_model import TextModel

    journal = None if output is None else Journal(output.with_name(f"{output.stem}-replies.jsonl"))
    context = click.get_current_context()
    model = TextModel(name, base_url, journal=journal, key_env=context.meta.get(_KEY_ENV, ""))
    context.call_on_close(model.close)
    return model
