"""Options of a component: one frozen dataclass that is CLI, docs table and part of the stored key.

    @dataclass(frozen=True, slots=True, kw_only=True)
    class Options:
        threshold: float = option(0.5, "Boxes with a lower score are dropped.")
        threads: int = option(1, "Worker threads.", keyed=False)

An option that cannot change an outcome (batch size, device, concurrency) is marked keyed=False
and stays out of the key.
"""

from __future__ import annotations

import dataclasses
import math
import types
import typing
from collections.abc import Callable, Mapping
from typing import Any

from salva.core.addresses import LABEL
from salva.core.fingerprint import Json
from salva.errors import UsageError, unknown_name
from salva.messages import code_of, message

_TRUE = {"1", "true", "yes", "on"}
_FALSE = {"0", "false", "no", "off"}


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class NoOptions:
    """For components without options."""


class WithoutOptions:
    """The base of components that nothing can be chosen about."""

    def __init__(self, options: NoOptions) -> None:
        """Made with options, as every component is."""


def option(
    default: Any,
    help_text: str,
    *,
    keyed: bool = True,
    choices: tuple[str, ...] = (),
    least: float | None = None,
    most: float | None = None,
    target: bool = False,
    reaches: str = "",
    keywords: tuple[str, ...] = (),
    pinned: Callable[[str], str] | None = None,
    alone: bool = False,
) -> Any:
    """A field of an Options class.

    choices: the values allowed. least, most: the range of a number. target: filled from what follows the slash in a
    model string. reaches: file or endpoint, where its value names one: a run directory must not choose that. A target
    without choices always does. keywords: values that name no file or endpoint.
    pinned: it names a file whose content the component's weights() pins by this function, so that its path stays out of
    the key. alone: of a check, whether a setting of this name reaches no other check, where it means something else.
    """
    metadata = {"help": help_text, "keyed": keyed, "choices": choices, "range": (least, most), "target": target}
    metadata |= {"reaches": reaches or ("target" if target and not choices else "")}
    metadata |= {"keywords": keywords, "pinned": pinned, "alone": alone}
    return dataclasses.field(default=default, metadata=metadata)


def fields_of(options_class: type[Any]) -> dict[str, dataclasses.Field[Any]]:
    """Options by what they are called; a word that Python keeps for itself has an underscore in the code alone."""
    return {field.name.rstrip("_"): field for field in dataclasses.fields(options_class)}


def endpoint_label() -> Any:
    """The option with which a user names an endpoint in place of its address, in every component that has one."""
    return option(
        "", "A name of yours for the endpoint, in place of its address in keys: it may move without a new run."
    )


def parse_options(options_class: type[Any], given: Mapping[str, str], owner: str, base: Any = None) -> Any:
    """An Options object from strings such as --set gives; a wrong name or value is a UsageError.

    base: an Options object that says what is not given.
    """
    fields = fields_of(options_class)
    hints = typing.get_type_hints(options_class)
    values: dict[str, object] = {}
    for name, text in given.items():
        if name not in fields:
            raise unknown_name(f"option of {owner}", name, fields)
        field = fields[name].name
        value = _parse_value(text, hints[field], f"{owner}.{name}")
        if wanted := _wanted_instead(value, fields[name].metadata):
            raise UsageError(message("option-invalid", name=f"{owner}.{name}", value=text, wanted=wanted))
        values[field] = value
    try:
        return options_class(**values) if base is None else dataclasses.replace(base, **values)
    except (ValueError, TypeError) as error:
        if code_of(error):
            raise UsageError(*error.args) from error
        raise UsageError(message("options-invalid", owner=owner, why=error)) from error


def _wanted_instead(value: Any, metadata: Mapping[str, Any]) -> str:
    """What a value should be that is none of the choices or out of range; empty where it is right."""
    choices = metadata.get("choices", ())
    if choices and value not in choices:
        return f"one of {', '.join(choices)}"
    least, most = metadata.get("range", (None, None))
    if value is None or ((least is None or value >= least) and (most is None or value <= most)):
        return ""
    if most is None:
        return f"{least:g} or more"
    return f"{most:g} or less" if least is None else f"from {least:g} to {most:g}"


def keyed_options(options: Any) -> dict[str, Json]:
    """The options that can change an outcome."""
    fields = _keyed_fields(type(options))
    return {field.name.rstrip("_"): _to_json(getattr(options, field.name)) for field in fields}


def default_options(options_class: type[Any], label: str = "", default_target: str = "") -> dict[str, Json]:
    """What the keyed options are when nobody sets them; label: a name as typed, whose target fills one of them."""
    fields = _keyed_fields(options_class)
    said = [field for field in fields if field.default is not dataclasses.MISSING]
    values = {field.name.rstrip("_"): _to_json(field.default) for field in said}
    target, text = target_field(options_class), label.partition("/")[2] or default_target
    return {**values, target: text} if target and text else values


def as_typed(value: Json) -> str:
    """An option's value as --set takes it."""
    if isinstance(value, list):
        return ",".join(as_typed(element) for element in value)
    if isinstance(value, bool):
        return str(value).lower()
    return "none" if value is None else str(value)


def described(field: dataclasses.Field[Any], default_target: str = "") -> tuple[str, str]:
    """An option's default and what it does, for people; default_target: of the component, for the option it fills."""
    default = ",".join(map(str, field.default)) if isinstance(field.default, tuple) else field.default
    default = (default_target if field.metadata.get("target") else "") or default
    choices = field.metadata.get("choices") or ()
    text = field.metadata.get("help", "") + (f" One of {', '.join(choices)}." if choices else "")
    return "" if default in ("", None, dataclasses.MISSING) else str(default), text


def value_of(options: Any, name: str) -> Any:
    """What one of several components' options is set to; None for those that do not have it."""
    return getattr(options, name, None)


def target_field(options_class: type[Any]) -> str | None:
    """The option that takes what follows the slash in a model string, if there is one."""
    return next((field.name for field in dataclasses.fields(options_class) if field.metadata.get("target")), None)


def endpoint_options(options_class: type[Any]) -> tuple[str, ...]:
    """The options that name an endpoint, and the label that may stand for it."""
    fields = dataclasses.fields(options_class)
    return tuple(field.name for field in fields if field.metadata.get("reaches") == "endpoint" or field.name == LABEL)


def pinned_options(options_class: type[Any]) -> tuple[str, ...]:
    """The options that name a file whose content stands in the key."""
    return tuple(name for name, field in fields_of(options_class).items() if field.metadata.get("pinned"))


def open_pinned(options: Any) -> None:
    """Read the files whose content would stand in a key; UsageError where one cannot be used."""
    for field in dataclasses.fields(options):
        if pin := field.metadata.get("pinned"):
            pin(getattr(options, field.name))


def _keyed_fields(options_class: type[Any]) -> list[dataclasses.Field[Any]]:
    return [field for field in dataclasses.fields(options_class) if field.metadata.get("keyed", True)]


def _to_json(value: object) -> Json:
    if isinstance(value, tuple):
        return [_to_json(element) for element in value]
    assert value is None or isinstance(value, bool | int | float | str), f"option values are plain, got {value!r}"
    return value


def _parse_value(text: str, hint: Any, where: str) -> object:
    origin = typing.get_origin(hint)
    if origin in (types.UnionType, typing.Union):
        kinds = [kind for kind in typing.get_args(hint) if kind is not types.NoneType]
        return None if text.lower() in {"", "none"} else _parse_value(text, kinds[0], where)
    if origin is tuple:
        kind = typing.get_args(hint)[0]
        return tuple(_parse_value(part.strip(), kind, where) for part in text.split(",") if part.strip())
    if hint is bool:
        if text.lower() in _TRUE | _FALSE:
            return text.lower() in _TRUE
        raise UsageError(message("option-invalid", name=where, value=text, wanted="true or false"))
    if hint in (int, float):
        try:
            number = hint(text)
            if not math.isfinite(number):
                raise ValueError(text)
            return number
        except (ValueError, OverflowError):
            wanted = "a whole number" if hint is int else "a number"
            raise UsageError(message("option-invalid", name=where, value=text, wanted=wanted)) from None
    assert hint is str, f"{where}: options are bool, int, float, str or tuples of these, not {hint}"
    return text
