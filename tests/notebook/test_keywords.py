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
        ({"judge": "scene"}, {"judges": ("scene",)}),
        ({"detector": ["pocket"]}, {"detector": "pocket"}),
        ({"judge": ("scene", "openai/x")}, {"judges": ("scene", "openai/x")}),
        ({"repeats": np.int32(2), "seed": 0, "control": True}, {"repeats": 2, "seed": 0, "control": True}),
        ({"detector": None, "check": "truth"}, {"check": "truth"}),
    ],
)
def test_flags_as_anybody_would_write_them(flags: dict[str, Any], read: dict[str, Any]) -> None:
    assert read_flags(flags) == read
    RunSpec.of(suite="metalogic", **read)


@pytest.mark.parametrize(
    ("flags", "code"),
    [
        ({"judges": "scene"}, "name-unknown"),
        ({"models": "pocket"}, "name-unknown"),
        ({"detectr": "pocket"}, "name-unknown"),
        ({"detector": 5}, "keyword-invalid"),
        ({"detector": ["pocket", "scene"]}, "keyword-invalid"),
        ({"path": 5}, "keyword-invalid"),
        ({"path": [5]}, "keyword-invalid"),
        ({"size": 2.5}, "keyword-invalid"),
        ({"size": True}, "keyword-invalid"),
        ({"repeats": "2"}, "keyword-invalid"),
        ({"control": "yes"}, "keyword-invalid"),
        ({"only": "law"}, "keyword-invalid"),
        ({"only": 5}, "keyword-invalid"),
        ({"judge": [5]}, "keyword-invalid"),
    ],
)
def test_what_nobody_can_take_is_named(flags: dict[str, Any], code: str) -> None:
    with pytest.raises(UsageError) as refused:
        read_flags(flags)
    assert refused.value.code == code
    assert next(iter(flags)) in str(refused.value)


def test_every_flag_that_is_declared_is_read_and_is_one_of_an_ask() -> None:
    for name in RunFlags.__annotations__:
        assert read_flags({name: None}) == {}


def test_settings_are_plain_values() -> None:
    given = {"model.steps": 20, "model.vae_tiling": True, "suite.entities": ("cat", "dog"), "model.guidance": None}
    assert read_settings(given) == {
        "model.steps": "20",
        "model.vae_tiling": "true",
        "suite.entities": "cat,dog",
        "model.guidance": "none",
    }
    assert read_settings(None) == {}


@pytest.mark.parametrize("settings", ["model.steps=2", {1: 2}, {"model.x": {}}])
def test_other_settings_are_named(settings: object) -> None:
    with pytest.raises(UsageError) as refused:
        read_settings(settings)
    assert refused.value.code == "keyword-invalid"


def test_a_suite_is_a_name() -> None:
    with pytest.raises(UsageError, match="suite= is 5"):
        read_suite(5)


def test_a_directory_is_a_text_or_a_path() -> None:
    assert read_out(None) is None
    assert read_out("runs/v1") == read_out(Path("runs/v1")) == Path("runs/v1")
    with pytest.raises(UsageError, match="out= is 3"):
        read_out(3)
