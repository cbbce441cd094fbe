"""What operators may put where, and which mutants another reader confirms."""

from __future__ import annotations

import random

import pytest

from salva.core.mutation import Pool, Triple
from salva.english.captions.classes import Classes
from salva.english.captions.grammar import GrammarReader
from salva.english.captions.reading import CaptionReading, Link, Mention, pool_of
from salva.english.mutation.corpus import Corpus
from salva.english.mutation.density import Density
from salva.english.mutation.making import is_confirmed
from salva.english.mutation.operators import Seed, Setting, exchanges
from salva.english.mutation.synonyms import reworded
from salva.english.mutation.text import leaves_a_hole

CLASSES = Classes()


def seed_of(text: str) -> Seed:
    (reading,) = GrammarReader().read([text])
    return Seed(reading=reading, pool=pool_of(reading, CLASSES))


def setting_of(*texts: str) -> Setting:
    corpus = Corpus()
    for seed in map(seed_of, texts):
        corpus.add(seed.reading, seed.pool, CLASSES)
    return Setting(classes=CLASSES, density=Density(corpus=corpus))


@pytest.mark.parametrize(
    ("name", "is_new"), [("animal", False), ("desk", False), ("table", False), ("cat", True), ("lamp", True)]
)
def test_nothing_comes_in_that_an_image_of_the_seed_may_show(name: str, is_new: bool) -> None:
    assert setting_of().is_new(name, seed_of("A dog under a table")) is is_new


def test_an_exchange_never_takes_a_more_general_word() -> None:
    setting = setting_of(*["A chair next to a bench", "A lamp next to a seat", "A couch next to a cup"] * 3)
    proposed = [
        proposal.entity
        for n in range(40)
        for proposal in exchanges(seed_of("A chair next to a lamp"), setting, random.Random(n))
        if proposal.text.endswith("lamp")
    ]
    assert set(proposed) <= {"cup", "couch", "bench"}
    assert proposed


def test_a_with_that_may_be_said_of_another_is_left_alone() -> None:
    text = "A dog on a bed with pillows"
    names = ("dog", "bed", "pillows")
    mentions = tuple(
        Mention(
            name=name.removesuffix("s"),
            phrase=at - 2 * (name != "pillows"),
            start=at,
            end=at + len(name),
            is_plural=name == "pillows",
        )
        for name in names
        for at in [text.index(name)]
    )
    links = (Link(subject=0, predicate="on", object=1), Link(subject=0, predicate="with", object=2))
    reading = CaptionReading(text=text, mentions=mentions, links=links)
    setting = setting_of(*["A lamp on a cup", "A cup next to a lamp"] * 3)
    proposed = exchanges(Seed(reading=reading, pool=pool_of(reading, CLASSES)), setting, random.Random(0))
    assert {proposal.text.rpartition("with ")[2] for proposal in proposed} == {"pillows"}


@pytest.mark.parametrize(
    ("before", "cut", "after", "is_hole"),
    [
        ("A bird standing", " behind a horse", " carrying a bag", True),
        ("Buildings", " with a clock", " and a crane over head", True),
        ("A woman", " with a cigarette", ", while a dog eats", True),
        ("A cup", " on a table", " and next to a dog", False),
        ("A cup", " on a table", "", False),
        ("A man", " with a dog", " riding a horse", False),
    ],
)
def test_a_part_goes_only_where_nothing_needs_it(before: str, cut: str, after: str, is_hole: bool) -> None:
    assert leaves_a_hole(before + cut + after, (len(before), len(before + cut))) is is_hole


@pytest.mark.parametrize(
    ("caption", "never"),
    [
        ("A dog near a horse", "puppy"),
        ("A dog near a horse", "pony"),
        ("A large dog near a cat", "huge"),
        ("A bench near by", "close to by"),
        ("The clock Big Ben near a tree", "Large Ben"),
        ("A photo from above a tree", "from over"),
    ],
)
def test_a_synonym_is_no_kind_no_size_and_no_part_of_a_name(caption: str, never: str) -> None:
    assert not [text for text in reworded(seed_of(caption).reading) if never in text]


def _confirmed(seed: str, mutant: str, *pool: str) -> bool:
    """Whether the small grammar confirms a mutant that a parser reads as these entities."""
    entities = Pool(entities=pool, triples=())
    return is_confirmed(seed_of(seed), entities, mutant, CLASSES)


def test_another_reader_confirms_a_mutant_or_has_no_say() -> None:
    assert _confirmed("A dog on a chair", "A cat on a chair", "cat", "chair")
    assert not _confirmed("A dog on a chair", "A cat on a chair", "dog", "chair")
    unread = Seed(reading=seed_of("A dog on a chair").reading, pool=Pool(entities=("dog", "ball"), triples=()))
    assert is_confirmed(unread, unread.pool, "A cat on a chair", CLASSES)


def test_another_reader_may_see_a_new_entity_elsewhere() -> None:
    seed = seed_of("A dog on a chair")
    new = Triple("dog", "next to", "cup")
    told = Pool(entities=("dog", "chair", "cup"), triples=(*seed.pool.triples, new))
    assert not is_confirmed(seed, told, "A dog on a chair next to a cup", CLASSES)
    nearest = (*told.triples[:1], Triple("chair", "next to", "cup"))
    assert is_confirmed(seed, Pool(entities=told.entities, triples=nearest), "A dog on a chair next to a cup", CLASSES)
