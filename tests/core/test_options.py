"""Options: from text and back, and which of them count."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Any

import pytest

from salva.core.fingerprint import Json
from salva.core.options import (
    NoOptions,
    as_typed,
    default_options,
    described,
    endpoint_label,
    endpoint_options,
    fields_of,
    keyed_options,
    open_pinned,
    option,
    parse_options,
    pinned_options,
    target_field,
    value_of,
)
from salva.errors import UsageError

READ: list[str] = []


def read(path: str) -> str:
    READ.append(path)
    return "digest"


@dataclass(frozen=True, slots=True, kw_only=True)
class Options:
    model: str = option("", "A model.", target=True)
    from_: str = option("x", "Where from.", choices=("x", "y"))
    sizes: tuple[int, ...] = option((1, 2), "Sizes.")
    limit: int | None = option(None, "A limit.")
    prompt: str = option("", "A file.", pinned=read)
    base_url: str = option("", "An address.", reaches="endpoint")
    endpoint: str = endpoint_label()
    rubric: str = option("plain", "For grades.")
    threads: int = option(1, "Not keyed.", keyed=False)

    def __post_init__(self) -> None:
        if self.limit == 0:
            raise ValueError("a limit of nothing")


@dataclass(frozen=True, slots=True, kw_only=True)
class Needed:
    path: str = option(..., "Must be given.", target=True, choices=("a", "b"))


def test_options_have_the_names_that_users_know() -> None:
    assert list(fields_of(Options)) == [field.name.rstrip("_") for field in fields(Options)]
    assert parse_options(Options, {"from": "y"}, "model").from_ == "y"
    assert keyed_options(Options(from_="y"))["from"] == "y"
    assert default_options(Options)["from"] == "x"


def test_what_is_not_given_comes_from_the_base() -> None:
    base = Options(limit=3, threads=2)
    assert parse_options(Options, {"threads": "4"}, "model", base) == Options(limit=3, threads=4)
    assert parse_options(Options, {}, "model", base) == base


@pytest.mark.parametrize(
    ("given", "code"),
    [
        ({"from": "z"}, "option-invalid"),
        ({"sizes": "1,x"}, "option-invalid"),
        ({"limit": "0"}, "options-invalid"),
        ({"threads": "1" + "0" * 400}, "option-invalid"),
    ],
)
def test_what_does_not_fit_is_an_error_with_its_code(given: dict[str, str], code: str) -> None:
    with pytest.raises(UsageError) as refused:
        parse_options(Options, given, "model")
    assert refused.value.code == code


@dataclass(frozen=True, slots=True, kw_only=True)
class Ranged:
    share: float | None = option(0.5, "A share.", least=0, most=1)
    attempts: int = option(3, "At least one.", least=1)
    similarity: float = option(0.8, "At most one.", most=1)


@pytest.mark.parametrize(
    ("name", "text", "is_within"),
    [
        *(("share", text, True) for text in ("0", "1", "none")),
        *(("share", text, False) for text in ("-0.1", "1.1")),
        *(("attempts", "1", True), ("attempts", "1000", True), ("attempts", "0", False)),
        *(("similarity", "-3", True), ("similarity", "1", True), ("similarity", "1.01", False)),
    ],
)
def test_a_number_out_of_range_is_refused(name: str, text: str, *, is_within: bool) -> None:
    if is_within:
        assert as_typed(getattr(parse_options(Ranged, {name: text}, "check"), name)) in (text, f"{text}.0")
        return
    with pytest.raises(UsageError) as refused:
        parse_options(Ranged, {name: text}, "check")
    assert refused.value.code == "option-invalid"


@pytest.mark.parametrize(("text", "value"), [("", None), ("none", None), ("NONE", None), ("7", 7)])
def test_an_option_may_be_none(text: str, value: int | None) -> None:
    assert parse_options(Options, {"limit": text}, "model").limit == value


@pytest.mark.parametrize(("text", "value"), [("1, 2,", (1, 2)), ("", ()), ("5", (5,))])
def test_a_list_is_separated_by_commas(text: str, value: tuple[int, ...]) -> None:
    assert parse_options(Options, {"sizes": text}, "model").sizes == value


@pytest.mark.parametrize(
    ("value", "text"),
    [(True, "true"), (False, "false"), (None, "none"), (3, "3"), ("a", "a"), ([1, True, "b"], "1,true,b")],
)
def test_a_value_is_shown_as_set_takes_it(value: Json, text: str) -> None:
    assert as_typed(value) == text


def test_defaults_have_the_target_of_the_name() -> None:
    assert default_options(Options, "openai/gpt/4")["model"] == "gpt/4"
    assert default_options(Options, "openai")["model"] == ""
    assert default_options(Options)["sizes"] == [1, 2]
    assert "threads" not in default_options(Options)
    assert default_options(NoOptions, "x/y") == {}


def test_options_are_described_with_defaults_and_choices() -> None:
    shown = {name: described(field) for name, field in fields_of(Options).items()}
    assert shown["sizes"] == ("1,2", "Sizes.")
    assert shown["from"] == ("x", "Where from. One of x, y.")
    assert shown["limit"] == ("", "A limit.")
    assert shown["threads"] == ("1", "Not keyed.")
    assert shown["model"] == ("", "A model.")
    filled = {name: described(field, "org/model") for name, field in fields_of(Options).items()}
    assert filled == {**shown, "model": ("org/model", "A model.")}
    assert default_options(Options, "openai", "org/model")["model"] == "org/model"
    assert default_options(Options, "openai/gpt", "org/model")["model"] == "gpt"


def test_some_options_name_endpoints_files_or_targets() -> None:
    assert endpoint_options(Options) == ("base_url", "endpoint")
    assert pinned_options(Options) == ("prompt",)
    assert target_field(Options) == "model"
    assert target_field(NoOptions) is None
    reaches = {name: field.metadata["reaches"] for name, field in fields_of(Options).items()}
    assert reaches == {**dict.fromkeys(reaches, ""), "model": "target", "base_url": "endpoint"}
    assert fields_of(Needed)["path"].metadata["reaches"] == "", "a choice reaches nothing"
    READ.clear()
    open_pinned(Options(prompt="file"))
    assert READ == ["file"]


def test_one_option_of_several_components() -> None:
    options: Any = Options(limit=3)
    assert (value_of(options, "limit"), value_of(options, "nonesuch")) == (3, None)
