"""Formulas proposed by a text model: accepted only where they say what the prompt says, in its own words."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import in_process
import pytest
from backends.judge_servers import Fail, Say, Server, Turn, serving

from salva.core.fingerprint import Json
from salva.errors import BackendError, UnreachableError
from salva.suites.prompts.suite import Prompts, PromptsOptions
from salva.writing.formulas import INSTRUCTION, may_be_noun, objection, propose

RIGHT = {
    "A fluffy cat is sitting beside a dog": "next_to(cat, dog)",
    "Two old men wearing red hats": "2 man & red hat",
    "Three cats sleeping on the left of a room": "3 cat@left & room",
    "A kitchen without any people": "kitchen & !people",
    "Two fluffy cats chasing three dogs": "2 cat & 3 dog",
    "A red car is passing a bus, which is blue": "red car & blue bus",
    "A cup sits under a lamp": "above(lamp, cup)",
    "A dozen eggs lying in a basket": "12 egg & basket",
    "Three shiny balls rolling past a box": "3 ball & box",
}


@pytest.mark.parametrize(("prompt", "formula"), RIGHT.items())
def test_what_says_the_same_is_accepted(prompt: str, formula: str) -> None:
    assert objection(prompt, formula.replace("people", "person")) == ""


@pytest.mark.parametrize(
    ("prompt", "formula", "why"),
    [
        ("A cat sits beside a dog", "cat & bird", "'bird' is no word of the prompt"),
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
    ],
)
def test_what_says_more_less_or_other_is_not(prompt: str, formula: str, why: str) -> None:
    assert why in objection(prompt, formula)


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
