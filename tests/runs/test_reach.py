"""What a component taken from a run directory would open or contact."""

from __future__ import annotations

import pytest

from salva.core.run_spec import ComponentSpec
from salva.runs.reach import reached_by, reached_options


def spec(role: str, name: str, **options: str) -> ComponentSpec:
    return ComponentSpec(role=role, name=name, options=options)


@pytest.mark.parametrize("names", ["table", "none"])
def test_the_tables_of_names_are_no_files(names: str) -> None:
    asked = spec("detector", "onnx/net.onnx", names=names)
    assert reached_options(asked) == []
    assert reached_by(asked) == ["detector.model 'net.onnx'"]


def test_a_file_of_names_is_outside() -> None:
    asked = spec("detector", "onnx/net.onnx", names="/etc/names")
    assert reached_options(asked) == ["names"]
    assert "detector.names '/etc/names'" in reached_by(asked)


def test_a_preset_prompt_is_no_file() -> None:
    assert reached_options(spec("judge", "openai/x", prompt="semvarbench")) == []
    assert reached_options(spec("judge", "openai/x", prompt="mine.txt")) == ["prompt"]


@pytest.mark.parametrize(
    ("name", "model"), [("owlv2", "google/owlv2-base-patch16-ensemble"), ("owlv2/mine", "mine"), ("detr/mine", "mine")]
)
def test_a_checkpoint_is_outside_also_where_it_is_the_default(name: str, model: str) -> None:
    assert reached_by(spec("detector", name)) == [f"detector.model {model!r}"]


def test_what_comes_with_salva_reaches_nothing() -> None:
    assert reached_by(spec("detector", "pocket")) == []
