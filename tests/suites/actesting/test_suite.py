"""The suite: one picture of a caption, one mutant an operator, each reading as its pool says."""

from __future__ import annotations

from collections import Counter

import pytest

from salva.core.case import Case
from salva.core.mutation import Pool
from salva.english.captions.classes import Classes
from salva.english.captions.grammar import GrammarReader
from salva.english.captions.reading import pool_of
from salva.errors import UsageError
from salva.logic.notation import parse
from salva.suites.actesting.cases import case_of_pair
from salva.suites.actesting.files import PublishedPair
from salva.suites.actesting.suite import Actesting, ActestingOptions


@pytest.fixture(scope="module")
def cases() -> list[Case]:
    return list(Actesting(ActestingOptions()).cases("full"))


def test_every_operator_takes_at_least_four_hundred_of_the_embedded_captions(cases: list[Case]) -> None:
    made = Counter(case.category for case in cases)
    assert set(made) == {"ec", "er-r", "er-a", "ss", "ec+er-r", "ec+er-a"}
    assert min(made.values()) >= 400


def test_each_caption_reads_as_the_pool_of_its_case(cases: list[Case]) -> None:
    classes = Classes(kind="paper")
    texts = [prompt.text for case in cases for prompt in case.prompts]
    pools = [pool_of(reading, classes) for reading in GrammarReader().read(texts)]
    for case, a, b in zip(cases, pools[::2], pools[1::2], strict=True):
        assert case.mutation is not None
        assert (set(a.entities), set(a.triples)) == ({*case.mutation.seed.entities}, {*case.mutation.seed.triples})
        assert (set(b.entities), set(b.triples)) == ({*case.mutation.mutant.entities}, {*case.mutation.mutant.triples})


def test_each_operator_changes_what_it_is_named_for_and_nothing_else(cases: list[Case]) -> None:
    for case in cases:
        m = case.mutation
        assert m is not None
        changed = [len(part) for part in (m.removed_entities, m.added_entities)]
        if case.category == "ec":
            assert changed == [1, 1]
        if case.category == "ss":
            assert changed == [0, 0]
            assert m.seed.triples == m.mutant.triples
            assert case.prompt("a").text != case.prompt("b").text
        if case.category == "er-r":
            assert len(m.removed_triples) == 1
            assert not m.added_triples
            assert not m.added_entities
        if case.category == "er-a":
            assert len(m.added_triples) == len(m.added_entities) == 1
            assert not m.removed_triples


def test_mutants_of_a_caption_share_its_picture_and_formulas_say_the_pool(cases: list[Case]) -> None:
    by_image: dict[str, set[tuple[str, str]]] = {}
    for case in cases:
        by_image.setdefault(case.cluster, set()).add((case.painting, case.prompt("a").text))
        assert case.prompt("b").formula is not None
        parse(case.prompt("b").formula or "")
    assert all(len(pictures) == 1 for pictures in by_image.values())


def test_each_caption_names_its_own_pool_s_entities(cases: list[Case]) -> None:
    for case in cases:
        assert case.mutation is not None
        own = (case.mutation.seed.entities, case.mutation.mutant.entities)
        assert tuple(prompt.entities for prompt in case.prompts) == own


def test_of_published_pairs_the_pools_are_the_files_and_a_denial_names_nothing() -> None:
    pools = (Pool(entities=("cat", "dog")), Pool(entities=("cat", "car")))
    texts = ("A cat and a dog", "A cat and no car")
    case = case_of_pair(PublishedPair(image="1", operator="ec", texts=texts, pools=pools))
    assert [prompt.entities for prompt in case.prompts] == [("cat", "dog"), ()]


def test_quick_has_enough_cases_for_a_rate() -> None:
    assert len(list(Actesting(ActestingOptions()).cases("quick"))) >= 18


def test_the_same_seed_gives_the_same_cases_and_another_others(cases: list[Case]) -> None:
    again = list(Actesting(ActestingOptions()).cases("quick"))
    assert len({case.cluster for case in again}) == 10
    by_id = {case.case_id: case for case in cases}
    assert all(case == by_id[case.case_id] for case in again)
    other = list(Actesting(ActestingOptions(seed=1)).cases("quick"))
    assert [case.prompt("b").text for case in other] != [case.prompt("b").text for case in again]


def test_an_unknown_operator_is_refused() -> None:
    with pytest.raises(UsageError, match="er-x"):
        ActestingOptions(operators=("er-x",))
