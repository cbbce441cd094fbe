"""Keywords are taken as people write them, and named where nobody can take them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from salva.core.run_spec import RunSpec
from salva.errors import UsageError
from salva.notebook.keywords import RunFlags, read_flags, read_out, read_settings, read_suite


@pytest.mark.parametrize(
    ("flags", "read"),
    [
        ({"size": 3}, {"size": "3"}),
        ({"size": "paper"}, {"size": "paper"}),
        ({"size": np.int64(3)}, {"size": "3"}),
        ({"only": "law=numbering"}, {"only": ("law=numbering",)}),
        ({"only": ["law=numbering", "count=2"]}, {"only": ("law=numbering", "count=2")}),
        ({"only": {"law": "numbering", "count": 2}}, {"only": ("law=numbering", "count=2")}),
        ({"judges": "scene"}, {"judges": ("scene",)}),
        ({"judges": ("scene", "openai/x")}, {"judges": ("scene", "openai/x")}),
        ({"repeats": np.int32(2), "seed": 0, "control": True}, {"repeats": 2, "seed": 0, "control": True}),
        ({"detector": None, "check": "truth"}, {"check": "truth"}),
    ],
)
def test_flags_as_anybody_would_write_them(flags: dict[str, Any], read: dict[str, Any]) -> None:
    assert read_flags(flags) == read
    RunSpec.of(suite="metalogic", **read)


@pytest.mark.parametrize(
    ("flags", "said"),
    [
        ({"judge": "scene"}, "no keyword of run_suite named 'judge'.*Did you mean 'judges'"),
        ({"models": "pocket"}, "Did you mean 'model'"),
        ({"detectr": "pocket"}, "Did you mean 'detector'"),
        ({"detector": 5}, "detector= is 5, an int; it must be a text"),
        ({"size": 2.5}, "size= is 2.5, a float; it must be a named size or a whole number"),
        ({"size": True}, "size= is True"),
        ({"repeats": "2"}, "repeats= is '2', a str; it must be a whole number"),
        ({"control": "yes"}, "control= is 'yes', a str; it must be True or False"),
        ({"only": "law"}, "only= is 'law'; give LABEL=VALUE"),
        ({"only": 5}, "only= is 5"),
        ({"judges": [5]}, r"judges= is \[5\]"),
    ],
)
def test_what_nobody_can_take_is_named(flags: dict[str, Any], said: str) -> None:
    with pytest.raises(UsageError, match=said):
        read_flags(flags)


def test_every_flag_that_is_declared_is_read_and_is_one_of_an_ask() -> None:
    for name in RunFlags.__annotations__:
        assert read_flags({name: None}) == {}


def test_settings_are_plain_values() -> None:
    given = {"model.steps": 20, "model.karras": True, "suite.entities": ("cat", "dog"), "model.guidance": None}
    assert read_settings(given) == {
        "model.steps": "20",
        "model.karras": "true",
        "suite.entities": "cat,dog",
        "model.guidance": "none",
    }
    assert read_settings(None) == {}


@pytest.mark.parametrize(
    ("settings", "said"), [("model.steps=2", "give a mapping"), ({1: "x"}, "the key 1"), ({"model.x": {}}, "is a dict")]
)
def test_other_settings_are_named(settings: object, said: str) -> None:
    with pytest.raises(UsageError, match=said):
        read_settings(settings)


def test_a_suite_is_a_name() -> None:
    with pytest.raises(UsageError, match="suite= is 5"):
        read_suite(5)


def test_a_directory_is_a_text_or_a_path() -> None:
    assert read_out(None) is None
    assert read_out("runs/v1") == read_out(Path("runs/v1")) == Path("runs/v1")
    with pytest.raises(UsageError, match="out= is 3, an int; it must be a text or a path"):
        read_out(3)
