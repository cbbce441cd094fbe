"""Everyday names: labels change by the table and in no other way."""

from __future__ import annotations

from pathlib import Path

import pytest

from salva.assets.coco_names import COCO
from salva.detectors.label_names import Names, look_up, names_pin, parse_table, read_table
from salva.detectors.pocket_detector import PocketDetector
from salva.errors import UsageError


@pytest.mark.parametrize(
    ("label", "name"),
    [
        ("kitten", "cat"),
        ("a brown dog", "dog"),
        ("Two little kittens", "two little kitten"),
        ("the small black cats", "cat"),
        ("sports ball", "ball"),
        ("puppies", "dog"),
        ("doughnuts", "donut"),
        ("Golden Retriever", "dog"),
        ("people", "person"),
        ("a pair of scissors", "scissors"),
        ("scissors", "scissors"),
        ("bus", "bus"),
        ("School buses", "bus"),
        ("sheep", "sheep"),
        ("christmas tree", "tree"),
        ("black and white cat", "cat"),
        ("wine glasses", "wine glass"),
    ],
)
def test_everyday_names(label: str, name: str) -> None:
    assert Names().name(label) == name


@pytest.mark.parametrize(
    ("label", "name"),
    [
        ("hot dog", "hot dog"),
        ("teddy bear", "teddy bear"),
        ("toy car", "toy car"),
        ("cat toy", "cat toy"),
        ("dog house", "dog house"),
        ("car wheel", "car wheel"),
        ("mouse", "mouse"),
        ("ship", "ship"),
        ("catfish", "catfish"),
        ("statue of a horse", "statue of a horse"),
        ("glasses case", "glasses case"),
        ("glasses", "glasses"),
        ("a green cactus", "cactus"),
        ("octopus", "octopus"),
        ("camera lens", "camera lens"),
        ("pandas", "panda"),
        ("taxis", "car"),
    ],
)
def test_similar_labels_are_not_changed(label: str, name: str) -> None:
    assert Names().name(label) == name


def test_a_colour_before_an_entity_is_dropped() -> None:
    names = Names()
    assert names.name("orange cat") == "cat"
    assert names.name("orange") == "orange"
    assert names.name("small orange") == "orange"
    assert names.name("red") == "red"


def test_none_changes_no_label() -> None:
    assert Names("none").name("a Brown Dog") == "a Brown Dog"
    assert names_pin("none") == ""


def test_the_table_has_the_entities_of_the_painter_and_of_coco() -> None:
    table = read_table()
    assert set(PocketDetector.labels()) <= set(table.names.values())
    # A mouse may be an animal or, in COCO, a device, so the table leaves it out.
    assert [label for label in COCO if label not in table.names] == ["mouse"]


def test_names_of_the_table_map_to_themselves_in_singular_and_plural() -> None:
    from salva.english.nouns import plural

    table = read_table()
    for name in set(table.names.values()):
        assert look_up(name, table) == name
        assert look_up(plural(name), table) == name, plural(name)


def test_a_users_table_replaces_the_default(tmp_path: Path) -> None:
    file = tmp_path / "names.txt"
    file.write_text("[my zoo]\nquokka: happy marsupial\n")
    names = Names(str(file))
    assert names.name("happy marsupials") == "quokka"
    assert names.name("kitten") == "kitten"
    assert names_pin(str(file)) != names_pin("table")


@pytest.mark.parametrize(
    ("text", "match"),
    [
        ("cat: kitten\ndog: kitten", r"line 2.*'cat'.*'dog'.*\[file-invalid\]"),
        ("cat, kitten", r"line 1.*'cat, kitten'.*\[file-invalid\]"),
    ],
)
def test_invalid_tables_are_refused(text: str, match: str) -> None:
    with pytest.raises(UsageError, match=match):
        parse_table(text, "mine")


def test_missing_and_unreadable_tables_are_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"gone\.txt.*\[file-unreadable\]"):
        Names(str(tmp_path / "gone.txt"))
    (tmp_path / "latin.txt").write_bytes("größe: x".encode("latin-1"))
    with pytest.raises(UsageError, match=r"\[file-invalid\]"):
        Names(str(tmp_path / "latin.txt"))
