"""Which words name an entity, and what is said of a name that the lexicon does not have."""

from __future__ import annotations

import pytest

from salva.assets.coco_names import COCO
from salva.english import names
from salva.english.names import is_known, may_be_name, nearest
from salva.english.nouns import is_plural_noun, plural, singular
from salva.english.sentences import from_english, read_prompt
from salva.logic.formula import entity_problem
from salva.messages import SalvaWarning, code_of


@pytest.fixture(autouse=True)
def nothing_said_yet(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(names, "_warned", set())
    monkeypatch.setattr("salva.messages._warned", set())


def codes_of(text: str) -> list[str]:
    with pytest.warns(SalvaWarning) as caught:
        from_english(text)
    return [code_of(warning.message) for warning in caught]


def test_an_unknown_entity_is_read_with_a_warning_that_names_it_and_the_nearest_known_one() -> None:
    with pytest.warns(SalvaWarning) as caught:
        assert read_prompt("a catt").formula == "catt"
    assert code_of(caught[0].message) == "entity-unknown"
    assert "'catt'" in str(caught[0].message)
    assert "'cat'" in str(caught[0].message)


def test_a_known_entity_is_read_without_one() -> None:
    assert read_prompt("a polar bear and a skateboard").formula == "polar bear & skateboard"


def test_of_many_unknown_entities_the_first_ones_are_named() -> None:
    text = " and ".join(f"a {letter}ibblezonk" for letter in "bcdfghjklmnp")
    assert codes_of(text) == ["entity-unknown"] * 8 + ["entities-unknown"]


def test_the_lexicon_has_the_names_of_coco_and_no_name_that_a_sentence_could_not_say() -> None:
    known = names._known()
    assert len(known) > 2000
    assert [name for name in COCO if not is_known(name)] == []
    of_lexicon = frozenset().union(*names._names().values())
    assert [name for name in of_lexicon if entity_problem(name) or is_plural_noun(name.split(" ")[-1])] == []
    assert [name for name in of_lexicon if singular(plural(name)) != name] == []


@pytest.mark.parametrize(
    ("entity", "is_name"),
    [
        *(("wug", True), ("teddy bear", True), ("kitchen lamp", True), ("wooden lamp", False), ("lamp wug", False)),
        *(("cat dog", False), ("glass lamp", False), ("woman drink", False), ("dining table lamp", True)),
    ],
)
def test_of_several_words_each_must_be_a_noun(entity: str, is_name: bool) -> None:
    assert may_be_name(entity) is is_name


def test_the_nearest_known_name_is_always_one() -> None:
    assert nearest("elefant") == "elephant"
    assert is_known(nearest("xqzw"))
