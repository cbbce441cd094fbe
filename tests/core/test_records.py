"""The nouns: what they refuse, and that nothing is lost between memory and store."""

from __future__ import annotations

import json
import math
from dataclasses import dataclass

import pytest
from hypothesis import given
from hypothesis import strategies as st

from salva.core.case import Case, Finding, Prompt, case_from_json, case_to_json
from salva.core.fingerprint import canonical_json, derive_seed, fingerprint
from salva.core.image import Picture
from salva.core.mutation import Mutation, Pool, Triple
from salva.core.observation import (
    Answer,
    Detection,
    Detections,
    Observation,
    Reading,
    TextSpan,
    Vector,
    observation_from_json,
    observation_to_json,
)
from salva.core.options import keyed_options, option, parse_options
from salva.core.protocols import Query
from salva.core.question import Question
from salva.errors import UsageError
from salva.store.records import query_from_json, query_to_json, render_key

_fraction = st.floats(0, 1)
_box = st.tuples(_fraction, _fraction, _fraction, _fraction)
_observation: st.SearchStrategy[Observation] = st.one_of(
    st.builds(Detections, boxes=st.lists(st.builds(Detection, label=st.text(), score=_fraction, box=_box)).map(tuple)),
    st.builds(
        Reading,
        spans=st.lists(st.builds(TextSpan, text=st.text(), score=_fraction, box=_box)).map(tuple),
        reply=st.text(),
        problem=st.text(),
        usage=st.dictionaries(st.text(), _fraction),
        snapshot=st.text(),
    ),
    st.builds(Answer, text=st.text(), scores=st.dictionaries(st.text(), _fraction), reply=st.text()),
    st.builds(Vector, values=st.lists(st.floats(allow_nan=False, allow_infinity=False)).map(tuple)),
)


@given(_observation)
def test_an_observation_comes_back_from_json_as_it_was(observation: Observation) -> None:
    assert observation_from_json(json.loads(canonical_json(observation_to_json(observation)))) == observation


def _case(**changes: object) -> Case:
    fields: dict[str, object] = {
        "case_id": "a-1",
        "suite": "s",
        "category": "c",
        "prompts": (Prompt(role="a", text="x\u2028<b>", formula="cat"), Prompt(role="b", text="y")),
        "checks": ("truth",),
        "labels": {"law": "z"},
        "findings": (
            Finding(kind="other", sentence="one"),
            Finding(kind="k", sentence="two", subject=("a",), general="g"),
        ),
        "extra": {"k": [1, None]},
    }
    return Case(**{**fields, **changes})  # type: ignore[arg-type]  # fields vary by test


def test_a_case_comes_back_from_json_as_it_was() -> None:
    assert case_from_json(case_to_json(_case())) == _case()


def test_a_mutated_case_comes_back_from_json_as_it_was() -> None:
    dog, bed = (
        Pool(entities=("dog", "bed"), triples=(Triple(subject="dog", predicate="on", object="bed"),)),
        Pool(entities=("bed",)),
    )
    case = _case(mutation=Mutation(operator="er-r", seed=dog, mutant=bed), painting="caption 7")
    assert case_from_json(json.loads(canonical_json(case_to_json(case)))) == case


def test_a_case_that_shares_no_picture_is_stored_as_it_always_was() -> None:
    stored = case_to_json(_case())
    assert not {"painting", "mutation"} & stored.keys()
    assert _case().seed(3, 1) == derive_seed(3, "a-1", 1)


def test_cases_with_one_painting_key_start_from_the_same_noise() -> None:
    assert _case(painting="k").seed(0, 0) == _case(case_id="b-2", painting="k").seed(0, 0)
    assert _case(painting="k").seed(0, 0) != _case(painting="k").seed(0, 1)


@pytest.mark.parametrize("case_id", ["", "A", "a_b", "a--b", "-a", "a b", "../x", "ä"])
def test_case_ids_are_safe_as_file_names(case_id: str) -> None:
    with pytest.raises(ValueError, match="case id"):
        _case(case_id=case_id)


def test_a_case_needs_prompts_with_different_roles() -> None:
    with pytest.raises(ValueError, match="different roles"):
        _case(prompts=(Prompt(role="a", text="x"), Prompt(role="a", text="y")))


def test_a_label_that_is_no_text_is_refused_where_the_case_is_made() -> None:
    with pytest.raises(ValueError, match=r"labels .*\{'n': 3\}"):
        _case(labels={"law": "unit", "n": 3})


def test_pixels_must_fill_the_picture() -> None:
    with pytest.raises(ValueError, match="needs 12 bytes, got 11"):
        Picture(rgb=b"x" * 11, width=2, height=2)


def test_the_shape_is_part_of_an_images_identity() -> None:
    assert Picture(rgb=b"x" * 12, width=4, height=1).image_id() != Picture(rgb=b"x" * 12, width=1, height=4).image_id()


def test_fingerprints_do_not_depend_on_the_order_of_keys() -> None:
    assert fingerprint({"a": 1, "b": (1, 2)}) == fingerprint({"b": [1, 2], "a": 1})
    with pytest.raises(ValueError):
        fingerprint(math.nan)


def test_a_seed_is_the_same_for_every_wording_and_differs_by_repeat() -> None:
    assert derive_seed(0, "a-1", 0) == derive_seed(0, "a-1", 0)
    assert len({derive_seed(s, c, r) for s in (0, 1) for c in ("a", "b") for r in (0, 1)}) == 8
    assert 0 <= derive_seed(0, "a-1", 0) < 2**31


@dataclass(frozen=True, slots=True, kw_only=True)
class _Options:
    threshold: float = option(0.5, "A number.")
    names: tuple[str, ...] = option(("a",), "A list.")
    is_on: bool = option(False, "A switch.")
    limit: int | None = option(None, "A number or none.")
    kind: str = option("x", "A choice.", choices=("x", "y"))
    threads: int = option(1, "Not keyed.", keyed=False)


def test_options_are_read_from_strings() -> None:
    given_ = {"threshold": "0.25", "names": "b, c", "is_on": "yes", "limit": "3", "kind": "y"}
    assert parse_options(_Options, given_, "model") == _Options(
        threshold=0.25, names=("b", "c"), is_on=True, limit=3, kind="y"
    )
    assert parse_options(_Options, {"limit": "none"}, "model").limit is None


@pytest.mark.parametrize(
    ("name", "value", "message"),
    [
        ("treshold", "1", r"'threshold'.*\[name-unknown\]"),
        ("threshold", "high", r"threshold is 'high'.*\[option-invalid\]"),
        ("threshold", "nan", r"threshold is 'nan'.*\[option-invalid\]"),
        ("threshold", "-inf", r"\[option-invalid\]"),
        ("is_on", "maybe", "true or false"),
        ("kind", "z", r"one of x, y.*\[option-invalid\]"),
        ("threads", "1.5", "a whole number"),
    ],
)
def test_a_wrong_option_says_what_was_wanted(name: str, value: str, message: str) -> None:
    with pytest.raises(UsageError, match=message):
        parse_options(_Options, {name: value}, "model")


def test_only_options_that_change_outcomes_are_part_of_the_key() -> None:
    assert "threads" not in keyed_options(_Options())
    assert keyed_options(_Options())["names"] == ["a"]


def test_questions_and_words_passed_over_are_stored_and_absent_where_there_are_none() -> None:
    asked = Question(kind="point", text="Is it blue?", criteria=((1.0, "blue"), (0.0, "not")), weight=15, formula="x")
    case = Case(
        case_id="c",
        suite="s",
        category="k",
        checks=("r",),
        prompts=(
            Prompt(role="l1", text="a cat", questions=(asked,), passes_over=True),
            Prompt(role="l2", text="a dog"),
        ),
    )
    stored = case_to_json(case)
    assert case_from_json(json.loads(json.dumps(stored))) == case
    assert stored["prompts"][1] == {"role": "l2", "text": "a dog", "formula": None}  # type: ignore[index]  # JSON


def test_a_query_without_criteria_is_stored_as_it_always_was() -> None:
    plain = Query(role="judge", kind="grade", questions=("a?",))
    assert query_to_json(plain) == {"role": "judge", "kind": "grade", "questions": ["a?"]}
    ruled = Query(role="judge", kind="grade", questions=("a?",), criteria=("1: a",), rubric="fact")
    assert query_from_json(json.loads(json.dumps(query_to_json(ruled)))) == ruled
    assert render_key("m", "a", None, 1, 0) == fingerprint(["m", "a", None, 1, 0])
    assert render_key("m", "a", None, 1, 0, passes_over=True) != render_key("m", "a", None, 1, 0)


def test_reasons_survive_the_store() -> None:
    answer = Answer(text="", scores={"q1": 1.0}, reasons={"q1": "it is there"})
    assert observation_from_json(json.loads(json.dumps(observation_to_json(answer)))) == answer
    assert "reasons" not in observation_to_json(Answer(text="", scores={"q1": 1.0}))
