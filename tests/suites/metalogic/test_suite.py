"""The MetaLogic suite: how many cases, what they say, and what the logic core found in them."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from itertools import pairwise

import pytest
from snapshot import check_snapshot

from salva.checks.same_scene import SameScene, SameSceneOptions
from salva.checks.scenes import SceneOptions
from salva.checks.truth import Truth
from salva.core.case import Case
from salva.core.options import parse_options
from salva.errors import UsageError
from salva.logic.equivalence import are_equivalent, is_determinate
from salva.logic.notation import parse
from salva.suites.metalogic.suite import MetaLogic, MetaLogicOptions, decide
from salva.suites.metalogic.templates import LawTemplate


def cases(size: str, **given: str) -> list[Case]:
    return list(MetaLogic(parse_options(MetaLogicOptions, given, "suite")).cases(size))


def by_id(size: str, case_id: str, **given: str) -> Case:
    return next(case for case in cases(size, **given) if case.case_id == case_id)


def texts(case: Case) -> tuple[str, ...]:
    return tuple(prompt.text for prompt in case.prompts)


@pytest.mark.parametrize(("size", "n"), [("quick", 63), ("paper", 800), ("full", 840), ("beyond", 280)])
def test_number_of_cases(size: str, n: int) -> None:
    built = cases(size)
    assert len(built) == n
    assert len({case.case_id for case in built}) == n
    assert all(case.suite == "metalogic" and len(case.prompts) == 2 for case in built)


def test_quick_is_three_pairs_of_each_category_about_six_entities() -> None:
    quick = cases("quick")
    per_category = Counter(case.category for case in quick)
    assert len(per_category) == 21
    assert set(per_category.values()) == {3}
    named = Counter(name for case in quick for name in case.labels["entities"].split(","))
    assert len(named) == 6
    assert max(named.values()) - min(named.values()) <= 2
    assert [case.labels["count"] for case in quick if case.category == "numbering"] == ["2", "5", "9"]


def test_paper_is_every_ordered_choice_and_two_numbering_partners() -> None:
    per_category = Counter(case.category for case in cases("paper"))
    assert len(per_category) == 21
    for category, n in per_category.items():
        law = category.rsplit("-", 1)[0]
        expected = 80 if category == "numbering" else 60 if law in {"associative", "distributive"} else 20
        assert n == expected, category


def test_sizes_are_nested_but_beyond_is_only_ours() -> None:
    ids = {size: {case.case_id for case in cases(size)} for size in ("paper", "full", "beyond")}
    assert ids["paper"] < ids["full"]
    assert not ids["full"] & ids["beyond"]
    assert {case.labels["law"] for case in cases("beyond")} == {"true-or", "true-negation", "absorption"}


def test_images_are_held_against_their_prompts_and_compared_besides() -> None:
    assert {(case.checks, case.measures) for case in cases("full")} == {(("truth", "right-answers"), ("same-scene",))}
    assert {(case.checks, case.measures) for case in cases("beyond")} == {(("truth", "right-answers"), ())}


def test_every_pair_of_the_suite_is_equivalent_and_only_de_morgan_is_not_determinate() -> None:
    for case in cases("quick"):
        assert case.equivalent, case.case_id
        assert case.determinate is not (case.labels["law"] == "de-morgan"), case.case_id


def test_beyond_is_equivalent_and_says_what_is_determinate() -> None:
    determinate = {case.category: case.determinate for case in cases("beyond")}
    assert all(case.equivalent for case in cases("beyond"))
    assert [category for category, is_one in determinate.items() if is_one] == ["true-negation-and"]
    assert len(determinate) == 12


def test_a_pair_is_determinate_only_if_both_prompts_are() -> None:
    for formulas in (("{n1}", "{n1} & ({n1} | {n2})"), ("{n1} & ({n1} | {n2})", "{n1}")):
        template = LawTemplate(law="absorption", modifier="and", n_entities=2, texts=("", ""), formulas=formulas)
        assert decide(template).equivalent
        assert not decide(template).determinate


def test_a_pair_that_is_no_equivalence_is_caught_with_a_witness() -> None:
    printed = LawTemplate(
        law="numbering", modifier="", n_entities=2, texts=("", ""), formulas=("{n1} & 2 {n2}", "2 {n1} & {n2}")
    )
    assert not decide(printed).equivalent
    assert decide(printed).witness is not None


def test_what_is_decided_for_a_template_is_true_of_its_cases() -> None:
    for case in [*cases("full")[::29], *cases("beyond")[::13]]:
        f, g = (parse(prompt.formula or "") for prompt in case.prompts)
        assert case.equivalent == are_equivalent(f, g)
        assert case.determinate == (is_determinate(f) and is_determinate(g))


def test_wordings_are_the_snapshot() -> None:
    published = (
        "commutative-and-cat-dog",
        "commutative-or-cat-apple",
        "distributive-x-cat-dog-apple",
        "complement-y-cow-apple",
        "de-morgan-or-apple-dog",
        "numbering-cat-1-dog",
        "numbering-cat-2-dog",
        "numbering-apple-10-banana",
    )
    our_own = ("true-or-or-cat-dog", "true-negation-and-dog-cat", "absorption-and-cat-dog")
    printed = ("numbering-as-printed-cat-1-dog", "numbering-as-printed-cat-2-dog")
    chosen = [
        *(by_id("full", f"metalogic-{name}") for name in published),
        *(by_id("beyond", f"metalogic-{name}") for name in our_own),
        *(by_id("paper", f"metalogic-{name}", numbering="as-printed") for name in printed),
        by_id("paper", "metalogic-associative-and-cat-dog-apple", brackets="true"),
    ]
    lines = ("\n  ".join((case.case_id, *texts(case))) for case in chosen)
    check_snapshot("metalogic-prompts", "\n".join((*lines, "")))


def test_brackets_are_printed_on_request_only() -> None:
    assert not any("[" in text for case in cases("full") for text in texts(case))
    bracketed = by_id("paper", "metalogic-associative-and-cat-dog-apple", brackets="true")
    assert all(text.count("[") == text.count("]") == 1 for text in texts(bracketed))


def test_labels_are_the_contract() -> None:
    logic = by_id("paper", "metalogic-de-morgan-x-cat-dog")
    assert logic.labels == {"law": "de-morgan", "modifier": "x", "entities": "cat,dog"}
    assert logic.category == "de-morgan-x"
    number = by_id("paper", "metalogic-numbering-dog-3-apple")
    assert number.labels == {"law": "numbering", "count": "3", "entity": "dog", "entities": "dog,apple"}
    assert number.category == "numbering"


def test_mirrored_pairs_share_a_cluster() -> None:
    one, other = (by_id("paper", f"metalogic-commutative-x-{names}") for names in ("cat-dog", "dog-cat"))
    assert one.cluster == other.cluster == "cat+dog"


def test_complement_has_a_second_reading_without_brackets() -> None:
    plain = by_id("paper", "metalogic-complement-and-cat-dog")
    (reading,) = plain.findings
    assert (reading.kind, reading.subject) == ("second-reading", ("cat", "dog"))
    assert "!(!cat & dog)" in reading.sentence
    assert "!(!e1 & e2)" in reading.shared
    assert "e1 and no e2" in reading.shared
    bracketed = by_id("paper", "metalogic-complement-and-cat-dog", brackets="true")
    assert bracketed.findings == ()
    contradictory = by_id("paper", "metalogic-complement-or-cat-dog")
    assert any("no image" in finding.sentence for finding in contradictory.findings)


def test_de_morgan_comes_down_to_an_or() -> None:
    x = by_id("paper", "metalogic-de-morgan-x-dog-cow")
    said = {
        "several-worlds": ("5 worlds", "5 worlds"),
        "reduces": ("dog@right | cow@left", "e1@right | e2@left"),
        "second-reading": (
            "(!!dog@right & !cow@left) | (!!cow@left & !dog@right)",
            "(!!e1@right & !e2@left) | (!!e2@left & !e1@right)",
        ),
    }
    assert [finding.kind for finding in x.findings] == list(said)
    for finding in x.findings:
        own, shared = said[finding.kind]
        assert own in finding.sentence
        assert shared in finding.shared
    assert x.findings[1].subject == ("dog", "cow")


@pytest.mark.parametrize("modifier", ["and", "or", "x", "y"])
def test_de_morgan_has_a_second_reading_without_brackets(modifier: str) -> None:
    plain, bracketed = (
        by_id("paper", f"metalogic-de-morgan-{modifier}-cat-dog", brackets=brackets) for brackets in ("false", "true")
    )
    (reading,) = (finding for finding in plain.findings if finding.kind == "second-reading")
    end = "which no image can satisfy" if modifier == "or" else "fits one only"
    assert reading.sentence.endswith(end)
    assert "second-reading" not in {finding.kind for finding in bracketed.findings}


def test_a_finding_about_other_things_has_the_same_general_sentence() -> None:
    for size, n_shared in (("full", 22), ("beyond", 4)):
        shared = {finding.shared for case in cases(size) for finding in case.findings}
        assert len(shared) == n_shared
        assert not any(thing in sentence for sentence in shared for thing in ("cat", "apple", "an e1", "an e2"))


def test_table_5_as_printed_is_refuted_from_two_on() -> None:
    for case in cases("full"):
        if case.labels["law"] != "numbering":
            continue
        refuted = [finding for finding in case.findings if "Table 5 as printed" in finding.sentence]
        assert bool(refuted) == (case.labels["count"] != "1")
    two = by_id("paper", "metalogic-numbering-cat-2-dog")
    assert "(cat & 2 dog against 2 cat & dog)" in two.findings[0].sentence
    assert "two e1s and e2 fits only one" in two.findings[0].shared
    assert are_equivalent(parse("cat & dog"), parse("cat & dog"))
    assert not are_equivalent(parse("cat & 2 dog"), parse("2 cat & dog"))


def test_table_5_can_be_generated_as_printed_and_is_found_to_be_no_equivalence() -> None:
    printed = [case for case in cases("paper", numbering="as-printed") if case.labels["law"] == "numbering"]
    assert len(printed) == 80
    assert {case.case_id for case in printed}.isdisjoint(case.case_id for case in cases("full"))
    for case in printed:
        is_first_row = case.labels["count"] == "1"
        assert case.equivalent is is_first_row
        assert case.determinate
        assert case.measures == ("same-scene",), "the paper compares them"
        assert [finding.kind for finding in case.findings] == ([] if is_first_row else ["not-equivalent"])
        f, g = (parse(prompt.formula or "") for prompt in case.prompts)
        assert are_equivalent(f, g) is is_first_row
    two = next(case for case in printed if case.case_id == "metalogic-numbering-as-printed-cat-2-dog")
    assert texts(two)[1].removeprefix("There are ") in two.findings[0].sentence


def test_what_is_no_equivalence_is_compared_by_the_published_rule_alone() -> None:
    two = by_id("paper", "metalogic-numbering-as-printed-cat-2-dog", numbering="as-printed")
    ours, published = (SameScene(SameSceneOptions(scope="all", indeterminate=rule)) for rule in ("truth", "same-scene"))
    assert not ours.applies(two)
    assert published.applies(two)
    assert not published.applies(replace(two, measures=()))
    assert Truth(SceneOptions()).applies(two)


def test_entities_of_ones_own() -> None:
    built = cases("quick", entities="teddy bear,umbrella,sheep")
    assert built[0].case_id == "metalogic-commutative-and-teddy-bear-umbrella"
    assert texts(built[0])[0] == "There is a teddy bear and an umbrella"
    numbering = [case for case in built if case.category == "numbering"]
    assert {case.labels["entity"] for case in numbering} == {"teddy bear", "umbrella", "sheep"}
    first = by_id("paper", "metalogic-numbering-umbrella-1-sheep", entities="teddy bear,umbrella,sheep")
    assert texts(first)[0] == "There is one umbrella and a sheep"


def test_numbering_partners_are_balanced() -> None:
    paper = [case for case in cases("paper") if case.labels["law"] == "numbering"]
    partners = Counter(case.labels["entities"].split(",")[1] for case in paper)
    assert set(partners.values()) == {20}


def test_order_is_stable_and_by_category() -> None:
    categories = [case.category for case in cases("full")]
    changes = sum(one != other for one, other in pairwise(categories))
    assert changes == 20
    assert cases("full") == cases("full")


@pytest.mark.parametrize(
    ("given", "problem"),
    [
        ({"entities": "cat,dog"}, "at least 3"),
        ({"entities": ""}, "at least 3"),
        ({"entities": "cat,cat,dog"}, "suite.entities is 'cat,cat,dog'"),
        ({"entities": "Cat,dog,cow"}, "lower-case"),
        ({"entities": "a cat,dog,cow"}, "'a cat'"),
        ({"entities": "cat & dog,dog,cow"}, "'cat & dog'"),
        ({"entities": "red panda,dog,cow"}, "'red panda'"),
        ({"entities": "3 cat,dog,cow"}, "'3 cat'"),
        ({"entities": "<script>,dog,cow"}, "'<script>'"),
        ({"entities": "café,dog,cow"}, "noun-invalid"),
        ({"brackets": "maybe"}, "true or false"),
        ({"numbering": "printed"}, "as-printed"),
    ],
)
def test_odd_options_are_refused(given: dict[str, str], problem: str) -> None:
    with pytest.raises(UsageError, match=problem):
        parse_options(MetaLogicOptions, given, "suite")


def test_two_cases_never_share_an_id() -> None:
    suite = MetaLogic(MetaLogicOptions(entities=("hot", "dog cat", "hot dog", "cat")))
    with pytest.raises(UsageError, match="metalogic-commutative-and-hot-dog-cat"):
        list(suite.cases("paper"))
