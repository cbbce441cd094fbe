"""pocket with the weights of a folder, and the members of its family."""

from __future__ import annotations

import itertools
import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from generators.test_pocket import BATCH, LENGTH, SIDE, TIMES, WORDS, ask, pixels, tiny_canvas, tiny_text

from salva.api import Run, run_suite
from salva.core.options import keyed_options
from salva.core.run_spec import ComponentSpec
from salva.errors import UsageError
from salva.generators.pocket import MEMBERS, Pocket, PocketOptions
from salva.registry import bind

NAMES = ("painter-text.onnx", "painter-canvas.onnx", "painter.json")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Tiny weights in a folder."""
    where = tmp_path / "mine"
    where.mkdir()
    (where / NAMES[0]).write_bytes(tiny_text())
    (where / NAMES[1]).write_bytes(tiny_canvas())
    write_card(where)
    return where


def write_card(where: Path, **changes: object) -> None:
    card = {"side": SIDE, "batch": BATCH, "max_tokens": LENGTH, "times": TIMES, "words": WORDS, "pad": 0, "start": 1}
    card |= {"end": 2, "unknown": 3, "things": ["banana", "cat", "dog"], "colours": ["red", "blue"]}
    (where / NAMES[2]).write_text(json.dumps({**card, **changes}))


def options(where: Path) -> PocketOptions:
    return PocketOptions(weights=str(where))


def test_networks_and_card_of_the_folder_are_used(folder: Path) -> None:
    one = pixels(Pocket(options(folder)).render([ask("a cat")])[0])
    assert one.shape == (SIDE, SIDE, 3), "the shipped weights make larger images"
    write_card(folder, times=[1.0, 0.0])
    other = pixels(Pocket(options(folder)).render([ask("a cat")])[0])
    assert np.abs(one.astype(int) - other).max() > 5, "the card's times were not used"


def test_the_vocabulary_of_the_folder_is_used(folder: Path) -> None:
    (outcome,) = Pocket(options(folder)).render([ask("a horse")])
    assert "horse" in str(outcome)
    assert "banana, cat, dog" in str(outcome)


def test_the_pin_depends_on_the_content_and_not_on_the_path(folder: Path, tmp_path: Path) -> None:
    before = Pocket.weights(options(folder))
    assert before != Pocket.weights(PocketOptions())
    copy = tmp_path / "copy"
    copy.mkdir()
    for name in NAMES:
        (copy / name).write_bytes((folder / name).read_bytes())
    assert Pocket.weights(options(copy)) == before
    for name in NAMES:
        content = (copy / name).read_bytes()
        (copy / name).write_bytes(content + b" ")
        assert Pocket.weights(options(copy)) != before, name
        (copy / name).write_bytes(content)


def test_the_folder_is_part_of_the_key(folder: Path) -> None:
    assert keyed_options(options(folder))["weights"] == str(folder)


@pytest.mark.parametrize("name", NAMES)
def test_a_missing_file_is_refused(folder: Path, name: str) -> None:
    (folder / name).unlink()
    for act in (Pocket, Pocket.weights):
        with pytest.raises(UsageError, match=rf"{name}.*\[checkpoint-invalid\]"):
            act(options(folder))


def test_a_path_that_is_no_folder_is_refused(folder: Path) -> None:
    for wrong in (folder / "nowhere", folder / NAMES[2]):
        with pytest.raises(UsageError, match=r"\[checkpoint-invalid\]"):
            Pocket.weights(options(wrong))


@pytest.mark.parametrize("name", NAMES[:2])
def test_a_file_that_is_no_network_is_refused(folder: Path, name: str) -> None:
    (folder / name).write_bytes(b"no network")
    with pytest.raises(UsageError, match=rf"{name}.*\[checkpoint-invalid\]"):
        Pocket(options(folder))


@pytest.mark.parametrize(
    ("content", "code"),
    [
        ("{", "file-unreadable"),
        ("3", "file-unreadable"),
        ("[]", "checkpoint-invalid"),
        ('{"side": 8}', "checkpoint-invalid"),
    ],
)
def test_an_invalid_card_is_refused(folder: Path, content: str, code: str) -> None:
    (folder / NAMES[2]).write_text(content)
    with pytest.raises(UsageError, match=rf"painter\.json.*\[{code}\]"):
        Pocket(options(folder))


def test_a_run_records_the_pin_of_the_folder(folder: Path, tmp_path: Path) -> None:
    settings = {"model.weights": str(folder), "model.unknown": "ignore", "suite.entities": "cat,dog,banana"}

    def run(where: str) -> Run:
        return run_suite("metalogic", "pocket", out=tmp_path / where, settings=settings, size="1", reader="none")

    assert len(run("run").verdicts)
    assert Pocket.weights(options(folder)) in (tmp_path / "run" / "run.json").read_text()
    (folder / NAMES[1]).unlink()
    with pytest.raises(UsageError, match=NAMES[1]):
        run("other")


def test_all_members_are_in_the_wheel_and_generate_different_images() -> None:
    bound = [bind(ComponentSpec(role="model", name=f"pocket/{name}")) for name in MEMBERS[1:]]
    assert [one.label for one in bound] == ["pocket/tuned", "pocket/small", "pocket/early"]
    every = [PocketOptions(), *(one.options for one in bound)]
    assert len({Pocket.weights(one) for one in every}) == len(MEMBERS)
    images = [pixels(Pocket(replace(one, steps=2)).render([ask("a cat and a dog")])[0]) for one in every]
    for one, other in itertools.combinations(images, 2):
        assert one.shape == other.shape
        assert np.abs(one.astype(int) - other).mean() > 1


def test_the_member_is_part_of_the_key() -> None:
    assert keyed_options(PocketOptions(member="small"))["member"] == "small"


def test_an_unknown_member_is_refused() -> None:
    with pytest.raises(UsageError, match=r"smal.*pocket, tuned, small, early"):
        bind(ComponentSpec(role="model", name="pocket/smal"))


def test_a_folder_and_a_member_conflict(folder: Path) -> None:
    with pytest.raises(UsageError, match=r"\[options-conflict\]"):
        PocketOptions(member="small", weights=str(folder))
