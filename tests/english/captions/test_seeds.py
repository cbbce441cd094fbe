"""Which captions can be seeds: implausible readings are none, what is denied is absent, nouns have senses."""

from __future__ import annotations

from collections import Counter

import pytest

from salva.core.mutation import Triple
from salva.english.captions.classes import Classes, is_a
from salva.english.captions.grammar import GrammarReader
from salva.english.captions.plausible import is_plausible
from salva.english.captions.reading import CaptionReading, Link, Mention, pool_of
from salva.english.captions.seeds import fit_seeds, unfit_seed, unfit_text
from salva.english.captions.senses import sense
from salva.english.captions.spacy_reader import SpacyReader


@pytest.mark.parametrize(
    ("triple", "plausible"),
    [
        (("person", "holding", "racket"), True),
        (("court", "holding", "racket"), False),
        (("tree", "standing", "giraffe"), False),
        (("person", "of", "skateboard"), False),
        (("room", "in", "outfit"), False),
        (("giraffe", "in", "zoo"), True),
        (("bird", "above", "cat"), True),  # boxes decide it, so it may be anything
        (("bowl", "of", "fruit"), True),
        (("person", "juggling", "ball"), True),
        (("kitchen", "juggling", "ball"), False),
    ],
)
def test_a_triple_is_plausible_as_captions_say_such_things(triple: tuple[str, str, str], plausible: bool) -> None:
    assert is_plausible(Triple(*triple)) is plausible


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        ("dog", "animal", True),
        ("animal", "dog", True),
        ("chair", "seat", True),
        ("dog", "cat", False),
        ("hat", "hat", True),
        ("table", "desk", True),
    ],
)
def test_a_class_and_a_more_general_one_overlap(one: str, other: str, same: bool) -> None:
    assert is_a(one, other) is same


@pytest.mark.parametrize(
    ("name", "caption", "meant"),
    [
        ("batter", "batter in a bowl", "dough"),
        ("batter", "a batter swinging a bat at a ball", "batter"),
        ("pitcher", "a pitcher of water", "jug"),
        ("pitcher", "a pitcher on the mound", "pitcher"),
        ("glass", "a man wearing glasses", "eyeglasses"),
        ("glass", "a man with glasses", "eyeglasses"),
        ("glass", "a man with glasses of wine", "glass"),
        ("glass", "two glasses on a shelf", "glass"),
    ],
)
def test_a_noun_has_the_sense_of_its_caption(name: str, caption: str, meant: str) -> None:
    words = caption.split()
    at = next(i for i, word in enumerate(words) if word.startswith(name))
    assert sense(name, words, at) == meant


def test_an_oven_keeps_its_name() -> None:
    assert Classes().entity("oven") == "oven"


DENIALS = [
    ("A couch with no pillows", {"couch"}),
    ("A man on a skateboard without using his hands", {"person", "skateboard"}),
    ("A man who is not wearing a shirt on a beach", {"person", "beach"}),
    ("A man without a shirt next to a dog", {"person", "dog"}),
]


@pytest.mark.parametrize(("caption", "named"), DENIALS)
def test_what_is_denied_is_absent(caption: str, named: set[str]) -> None:
    pytest.importorskip("spacy", reason="the extra captions is not installed")
    (reading,) = SpacyReader().read([caption])
    assert named >= set(pool_of(reading, Classes()).entities)
    assert pool_of(reading, Classes()).entities


def test_the_small_grammar_reads_denials_too() -> None:
    (reading,) = GrammarReader().read(["A couch with no pillows next to a dog"])
    assert [mention.name for mention in reading.mentions] == ["couch", "dog"]
    assert not [link for link in reading.links if link.predicate == "with"]


def _reading(text: str, subject: str, predicate: str, thing: str, *others: str) -> CaptionReading:
    mentions = tuple(
        Mention(name=name, phrase=text.index(name), start=text.index(name), end=text.index(name) + len(name))
        for name in (*others, subject, thing)
    )
    n = len(others)
    return CaptionReading(text=text, mentions=mentions, links=(Link(subject=n, predicate=predicate, object=n + 1),))


@pytest.mark.parametrize(
    ("reading", "is_fit"),
    [
        (_reading("a boy with a bat standing at a plate", "bat", "standing at", "plate", "boy"), False),
        (_reading("a bat leaning on a wall", "bat", "leaning on", "wall"), True),
        (_reading("a boy standing at a plate", "boy", "standing at", "plate"), True),
        (_reading("a court holding a racket", "court", "holding", "racket"), False),
    ],
)
def test_doings_that_may_be_of_somebody_else_make_no_seed(reading: CaptionReading, is_fit: bool) -> None:
    assert (unfit_seed(reading, pool_of(reading, Classes()), Classes()) == "") is is_fit


def test_a_verb_read_as_a_noun_makes_no_seed() -> None:
    pytest.importorskip("spacy", reason="the extra captions is not installed")
    (one,) = fit_seeds(["A young child squats in front of a bowl."], SpacyReader(), Classes(), Counter())
    assert one[3]


@pytest.mark.parametrize(("text", "is_fit"), [("A actress near an elephant", False), ("An hour of A UNICORN", True)])
def test_a_wrong_article_makes_no_seed(text: str, is_fit: bool) -> None:
    assert (unfit_text(text) == "") is is_fit
