"""Formulas proposed by a text model: accepted only where they say what the prompt says, in its own words."""

from __future__ import annotations

import json
import random
from collections.abc import Iterator, Mapping
from dataclasses import replace
from itertools import combinations
from pathlib import Path
from typing import Any

import in_process
import pytest
from backends.judge_servers import Fail, Say, Server, Turn, serving

from salva.authoring.formulas import INSTRUCTION, may_be_noun, objection, propose
from salva.authoring.hearing.misplaced import misplaced
from salva.core.fingerprint import Json
from salva.errors import BackendError, UnreachableError
from salva.logic.equivalence import are_equivalent
from salva.logic.formula import RELATIONS, And, Atom, Formula, Literal, Not, Or, Related, atoms, entities
from salva.logic.notation import parse, to_notation
from salva.suites.prompts.suite import Prompts, PromptsOptions

RIGHT = {
    "A fluffy cat is sitting beside a dog": "next_to(cat, dog)",
    "Two old men wearing two red hats": "2 man & 2 red hat",
    "Three cats sleeping on the left of a room": "3 cat@left & room",
    "A kitchen without any people": "kitchen & !people",
    "Two fluffy cats chasing three dogs": "2 cat & 3 dog",
    "A red car is passing a bus, which is blue": "red car & blue bus",
    "A cup sits under a lamp": "above(lamp, cup)",
    "A dozen eggs lying in a basket": "12 egg & basket",
    "Three shiny balls rolling past a box": "3 ball & box",
    "Three teddy bears and a polar bear": "3 teddy bear & polar bear",
    "A fluffy cat and a blue dog": "cat & blue dog",
    "A cat sits on a red mat": "on(cat, mat) & red mat",
    "The cat on the left is red and the dog on the right is blue": "red cat@left & blue dog@right",
    "On the left is a cat, on the right a dog": "cat@left & dog@right",
    "A living room with two sofas on the left and a lamp on the right": "living room & 2 sofa@left & lamp@right",
    "There is a cat but not a dog": "cat & !dog",
    "No bird, a cat and a dog": "!bird & cat & dog",
    "A street with no red cars or blue buses": "street & !red car & !blue bus",
    "A table with neither a cup nor a plate": "table & !cup & !plate",
    "A cat is not on a mat": "cat & mat & !on(cat, mat)",
    "A dog lies under a table and two cats sit on a chair": "below(dog, table) & 2 cat & on(cat, chair)",
    "To the left of a white house there is a tree": "left_of(tree, house) & white house",
    "The elephant is bigger than the three mice": "larger_than(elephant, mouse) & 3 mouse",
    "A couple of shoes and a pair of scissors": "2 shoe & scissors",
    "Two red cats chasing three blue cats": "2 red cat & 3 blue cat",
    "A table with a red cup or two plates": "table & (red cup | 2 plate)",
    "A red or blue car passing a bus": "(red car | blue car) & bus",
    "A teddy bear and a dog. The bear is brown": "brown teddy bear & dog",
}


@pytest.mark.parametrize(("prompt", "formula"), RIGHT.items())
def test_what_says_the_same_is_accepted(prompt: str, formula: str) -> None:
    assert objection(prompt, formula.replace("people", "person")) == ""


@pytest.mark.parametrize(
    ("prompt", "formula", "why"),
    [
        ("A cat sits beside a dog", "cat & bird", "'bird' is no word of the prompt"),
        ("Two old men wearing red hats", "2 man & red hat", "says 'hats' and not how many"),
        ("Dogs playing", "dog", "says 'dogs' and not how many"),
        ("A cat and n't", "cat & !dog", "'dog' is no word of the prompt"),
        ("A cat sits beside a dog", "cat", "leaves out 'dog'"),
        ("A cat sits beside a dog", "left_of(cat, dog)", "does not say 'left of'"),
        ("A cat sits beside a dog", "red cat & dog", "does not say 'red'"),
        ("A cat sits beside a dog", "cat@top & dog", "does not say 'top'"),
        ("Two cats sit beside a dog", "cat & dog", "the number 2"),
        ("A cat sits beside a dog", "2 cat & dog", "the number 2"),
        ("A cat sits beside a dog", "cat & !dog", "the formula denies something"),
        ("A cat without a dog", "cat & dog", "the prompt denies something"),
        ("A cat or a dog runs", "cat & dog", "the prompt leaves a choice"),
        ("A cat sits beside a dog", "cat & dog & !cat", "no picture can satisfy it"),
        ("A cat sits beside a dog", "cat & (dog", "cannot be read"),
        ("A cat chases a mysterious gizmo", "cat", "leaves out"),
        ("Two cats chasing three dogs", "3 cat & 2 dog", "the prompt says the number 2 of 'cat'"),
        ("Two cats chasing two dogs", "2 cat & dog", "the prompt says the number 2 of 'dog'"),
        ("Two cats chasing a dog", "2 cat & 2 dog", "the formula says the number 2 of 'dog'"),
        ("A dozen cats chasing a dog", "cat & dog", "the number 12"),
        ("A red cat chasing a blue dog", "blue cat & red dog", "the prompt says 'red'"),
        ("A red cat chasing a dog", "cat & dog", "the prompt says 'red'"),
        ("A red cat chasing a dog", "red cat & red dog", "does not say 'red' of 'dog'"),
        ("A cat sleeps without a dog", "!cat & dog", "the prompt denies 'dog'"),
        ("A cat sleeps and there is no dog", "!(cat & dog)", "the formula denies 'cat'"),
        ("A cat sleeps to the left of a dog", "left_of(dog, cat)", "'dog' is left_of 'cat'"),
        ("A cat sleeps to the left of a dog", "right_of(cat, dog)", "'cat' is right_of 'dog'"),
        ("a fluffy cat and a blue dog", "blue cat & dog", "the prompt says 'blue' of 'dog'"),
        ("a cat sits on a red mat", "red cat & mat", "the prompt says 'red' of 'mat'"),
        ("there is a cat but not a dog", "dog & !cat", "the prompt denies 'dog'"),
        ("no bird, a cat and a dog", "!bird & cat & !dog", "the formula denies 'dog'"),
        ("no cats or dogs", "!cat & dog", "the prompt denies 'dog'"),
        ("a dog is not chasing a cat", "dog & !cat", "it is open what the prompt denies by 'not'"),
        ("a cat on the left side of a dog", "right_of(cat, dog)", "'cat' is right_of 'dog'"),
        ("a cat left of a dog", "cat & dog", "the prompt says that 'cat' is left_of 'dog'"),
        ("a cat on the left of a dog", "cat@left & dog", "does not say 'left' of 'cat'"),
        ("a cat under a dog", "cat & dog", "the prompt says that 'cat' is below 'dog'"),
        ("a cat smaller than a dog", "cat & dog", "the prompt says that 'cat' is smaller_than 'dog'"),
        ("a cat on the left and a dog on the right", "cat@right & dog@left", "the prompt says 'left' of 'cat'"),
        ("a cat on the left", "cat", "the prompt says 'left' of 'cat'"),
        ("three teddy bears and a polar bear", "teddy bear & 3 polar bear", "the number 3 of 'polar bear'"),
        ("three red cats", "3 cat & red cat", "does not say together"),
        ("two red cats and three blue cats", "3 red cat & 2 blue cat", "does not say together"),
        ("a table with a cat or a dog", "table & cat | dog", "does not say together"),
        ("a pair of shoes", "shoe", "the number 2 of 'shoe'"),
    ],
)
def test_what_says_more_less_or_other_is_not(prompt: str, formula: str, why: str) -> None:
    assert why in objection(prompt, formula)


@pytest.mark.parametrize(
    ("prompt", "formulas"),
    [
        ("a kitchen without a cat and a dog", ("kitchen & !cat & dog", "kitchen & !cat & !dog")),
        ("a cat with no big dogs", ("cat & !dog",)),
        ("the cat beside the dog is red", ("next_to(cat, dog) & red cat", "next_to(cat, dog) & red dog")),
        ("a man wearing a hat on a horse", ("hat & on(man, horse)", "man & on(hat, horse)")),
        ("a cat to the left of a dog and a bird", ("left_of(cat, dog) & bird",)),
        ("a lion and a bear sit on the left", ("lion & bear@left", "lion@left & bear@left")),
        ("a table with a cup on it", ("table & cup",)),
        ("a dog looking to the left", ("dog", "dog@left")),
        ("a black and white cat", ("black cat & white cat", "black cat")),
        ("a woman in white and a red car", ("woman & white car & red car", "white woman & red car")),
        ("red cats and dogs", ("red cat & dog", "red cat & red dog")),
        ("a street with no red cats or dogs", ("street & !red cat & !dog", "street & !red cat & !red dog")),
        ("a red cat or dog", ("red cat | dog", "red cat | red dog")),
        ("two cats, one red", ("2 red cat", "2 cat & red cat")),
        ("a cat and another cat", ("cat", "2 cat")),
        ("a kitchen table", ("kitchen & table",)),
        ("a bird or a cat and a dog", ("bird | cat & dog", "(bird | cat) & dog")),
        ("at most two cats", ("2 cat",)),
        ("1,000 cats and several dogs", ("cat & dog",)),
        ("a number 3 bus", ("3 bus", "bus")),
    ],
)
def test_a_prompt_that_leaves_a_doubt_has_no_formula(prompt: str, formulas: tuple[str, ...]) -> None:
    assert all(objection(prompt, formula) for formula in formulas)


def _replaced(f: Formula, changes: Mapping[Literal, Formula | None]) -> Formula | None:
    """A formula with other leaves; where one is to be None, without it."""
    if isinstance(f, Atom | Related):
        return changes.get(f, f)
    if isinstance(f, Not):
        part = _replaced(f.part, changes)
        return part and Not(part)
    left, right = _replaced(f.left, changes), _replaced(f.right, changes)
    return type(f)(left, right) if left and right else left or right


def _changes(leaf: Literal) -> Iterator[Formula | None]:
    """What can go wrong with one leaf."""
    yield from (None, Not(leaf))
    if isinstance(leaf, Related):
        yield from (Related(leaf.relation, leaf.second, leaf.first), And(Atom(leaf.first), Atom(leaf.second)))
        yield from (Related(relation, leaf.first, leaf.second) for relation in RELATIONS)
    else:
        yield from (replace(leaf, count=1), replace(leaf, count=leaf.count + 1), replace(leaf, colour=None))
        yield from (replace(leaf, colour="red"), replace(leaf, place=None), replace(leaf, place="left"))


def _mutants(f: Formula) -> Iterator[Formula | None]:
    """Formulas in which one thing was changed, or something of two things was exchanged."""
    for leaf in atoms(f):
        yield from (_replaced(f, {leaf: change}) for change in _changes(leaf))
    for one, other in combinations(atoms(f), 2):
        yield _replaced(f, {one: Not(one), other: Not(other)})
        if isinstance(one, Atom) and isinstance(other, Atom):
            for what in ("entity", "count", "colour", "place"):
                a, b = getattr(one, what), getattr(other, what)
                yield _replaced(f, {one: replace(one, **{what: b}), other: replace(other, **{what: a})})
    for first, second in combinations(entities(f), 2):
        names = {first: second, second: first}
        yield _replaced(f, {leaf: _renamed(leaf, names) for leaf in atoms(f)})
    if isinstance(f, And | Or):
        yield (Or if isinstance(f, And) else And)(f.left, f.right)


def _renamed(leaf: Literal, names: Mapping[str, str]) -> Literal:
    if isinstance(leaf, Atom):
        return replace(leaf, entity=names.get(leaf.entity, leaf.entity))
    return replace(leaf, first=names.get(leaf.first, leaf.first), second=names.get(leaf.second, leaf.second))


@pytest.mark.parametrize("prompt", RIGHT)
def test_whatever_is_changed_in_a_right_formula_it_is_refused(prompt: str) -> None:
    right = parse(RIGHT[prompt].replace("people", "person"))
    wrong = [f for f in _mutants(right) if f and not are_equivalent(f, right)]
    assert len(wrong) > 5
    assert [text for f in wrong if not objection(prompt, text := to_notation(f))] == []


def test_words_in_any_order_are_refused_or_accepted_and_raise_nothing() -> None:
    dice = random.Random(0)
    words = " ".join(RIGHT).replace(".", " .").replace(",", " ,").split()
    for formula in RIGHT.values():
        for _ in range(20):
            prompt = " ".join(dice.sample(words, dice.randint(1, 30)))
            assert isinstance(objection(prompt, formula.replace("people", "person")), str)
            assert isinstance(misplaced(parse(formula), prompt), str)


def test_the_formula_of_another_prompt_is_never_accepted() -> None:
    for prompt in RIGHT:
        for other, formula in RIGHT.items():
            assert other == prompt or objection(prompt, formula.replace("people", "person"))


def test_a_word_nobody_knows_counts_as_a_thing() -> None:
    assert all(may_be_noun(word) for word in ("gizmo", "surfboard", "dog", "ring"))
    assert not any(may_be_noun(word) for word in ("the", "riding", "fluffy", "red", "two", "photo", "quickly", "3"))


class _Scripted:
    """A text model that says what it is told, in turn."""

    name = "openai/scripted"

    def __init__(self, *replies: Json | Exception) -> None:
        self.replies = list(replies)
        self.asked: list[str] = []
        self.kept: list[tuple[str, Json]] = []

    def ask(self, instruction: str, question: str) -> Json | None:
        assert instruction == INSTRUCTION
        self.asked.append(question)
        reply = self.replies.pop(0) if len(self.replies) > 1 else self.replies[0]
        if isinstance(reply, Exception):
            raise reply
        return reply

    def keep(self, instruction: str, question: str, reply: Json) -> None:
        assert instruction == INSTRUCTION
        self.kept.append((question, reply))


def test_a_bad_proposal_is_asked_for_again_with_what_was_wrong() -> None:
    writer = _Scripted({"formula": "cat"}, {"formula": "next_to(cat, dog)"})
    (made,) = propose(["A cat sits beside a dog"], writer)
    assert made.formula == "next_to(cat, dog)"
    assert "leaves out 'dog'" in writer.asked[1]
    assert writer.kept == [(writer.asked[0], {"formula": "next_to(cat, dog)"})]


@pytest.mark.parametrize(
    ("reply", "why"),
    [
        ({"formula": "bird"}, "asked 3 times"),
        ({"formula": None}, "the text model knows none"),
        ({"formula": 3}, "no object with a formula"),
        (["cat"], "no object with a formula"),
        (None, "no reply was JSON"),
    ],
)
def test_what_is_not_accepted_is_listed_with_its_reason(reply: Json, why: str) -> None:
    (made,) = propose(["A cat sits beside a dog"], _Scripted(reply))
    assert made.formula is None
    assert why in made.why


def test_an_endpoint_that_fails_thrice_is_given_up() -> None:
    made = propose(["a", "b", "c", "d"], _Scripted(BackendError("down")))
    assert [next(made).why, next(made).why] == ["down", "down"]
    with pytest.raises(BackendError):
        next(made)


def test_an_endpoint_that_nobody_reaches_is_given_up_at_once_and_one_that_spoke_is_not() -> None:
    with pytest.raises(UnreachableError):
        next(propose(["a", "b"], _Scripted(UnreachableError("no answer in time"))))
    made = propose(["a", "b", "c", "d"], _Scripted(BackendError("down"), UnreachableError("no answer in time")))
    assert [next(made).why, next(made).why] == ["down", "no answer in time"]


def proposing(body: dict[str, Any]) -> Turn:
    asked = json.dumps(body)
    return Say(text=json.dumps({"formula": "next_to(cat, dog)" if "sits beside" in asked else "bird"}))


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[Server]:
    pytest.importorskip("openai", reason="text models at endpoints need the api extra")
    with serving(proposing) as made:
        monkeypatch.setenv("OPENAI_API_KEY", "sk-of-a-test")
        monkeypatch.setenv("OPENAI_BASE_URL", f"{made.url}/v1")
        monkeypatch.chdir(tmp_path)
        yield made


WRITE = ("write", "formulas", "p.csv", "-o", "with.jsonl", "--writer", "openai/x", "--no-progress")


def test_the_command_pays_once_lists_the_rest_and_its_file_is_run(server: Server, tmp_path: Path) -> None:
    (tmp_path / "p.csv").write_text(
        "prompt,style,formula\nA cat sits beside a dog,oil,\na cat and a dog,ink,\n"
        "A wave crashes,oil,\nDrei Hunde,,3 dog\n"
    )
    done = in_process.salva(*WRITE)
    assert done.returncode == 3, done.stderr
    assert "1 of 2 formulas accepted; with.jsonl holds all 4 entries" in done.stdout
    assert "tokens in" in done.stdout
    assert "'bird' is no word of the prompt" in done.stderr
    listed = [json.loads(line) for line in (tmp_path / "with-without.jsonl").read_text().splitlines()]
    assert [entry["prompt"] for entry in listed] == ["A wave crashes"]
    cases = list(Prompts(PromptsOptions(path="with.jsonl")).cases("quick"))
    assert [case.labels["formula"] for case in cases] == ["proposed", "read", "none", "given"]
    assert cases[0].labels["style"] == "oil"
    n_before = len(server.asked)
    server.turns = lambda body: Fail(status=500) if "sits beside" in json.dumps(body) else Say(text='{"formula": null}')
    again = in_process.salva(*WRITE)
    # What was accepted is not asked for again; what was not is.
    assert len(server.asked) == n_before + 1
    assert "1 of 2 formulas accepted" in again.stdout
    assert "the text model knows none" in again.stderr


def test_a_file_of_which_all_is_read_asks_nobody(server: Server, tmp_path: Path) -> None:
    (tmp_path / "p.csv").write_text("prompt\na cat and a dog\n")
    done = in_process.salva(*WRITE)
    assert done.returncode == 0, done.stderr
    assert server.asked == []
    assert not (tmp_path / "with-without.jsonl").exists()


@pytest.mark.parametrize("prompt", ["", "?!", "'", "n't", "a cat n't", "12", "cat " * 200, "猫", "a\x00b"])
def test_odd_words_are_an_objection_and_no_fault(prompt: str) -> None:
    assert objection(prompt, "cat & !dog")
