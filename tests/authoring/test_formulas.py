"""Formulas proposed by a text model: listed for a person, and used only where one has accepted them."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import in_process
import pytest
from backends.judge_servers import Fail, Say, Server, Turn, serving

from salva.authoring.formulas import INSTRUCTION, objection, propose
from salva.core.fingerprint import Json
from salva.english.prompt_files import read_prompt_rows
from salva.errors import BackendError, UnreachableError, UsageError
from salva.messages import code_of
from salva.suites.prompts.suite import Prompts, PromptsOptions


@pytest.mark.parametrize(
    ("prompt", "formula", "code"),
    [
        ("A fluffy cat is sitting beside a dog", "next_to(cat, dog)", ""),
        ("Two old men wearing two red hats", "2 man & 2 red hat", ""),
        ("Three teddy bears and a polar bear", "3 teddy bear & polar bear", ""),
        ("A kitchen without any people", "kitchen & !person", ""),
        ("A cat’s basket", "cat & basket", ""),
        ("A cat sits beside a dog", "cat & bird", "proposal-strange-word"),
        ("A teddy sits beside a dog", "teddy bear & dog", "proposal-strange-word"),
        ("A cat sits beside a dog", "cat & dog & !cat", "proposal-contradictory"),
        ("A cat sits beside a dog", "cat & (dog", "prompt-formula"),
    ],
)
def test_a_proposal_parses_has_a_world_and_names_what_the_prompt_names(prompt: str, formula: str, code: str) -> None:
    assert code_of(objection(prompt, formula)) == code


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
    writer = _Scripted({"formula": "bird"}, {"formula": "next_to(cat, dog)"})
    (made,) = propose(["A cat sits beside a dog"], writer)
    assert made.value == "next_to(cat, dog)"
    assert "[proposal-strange-word]" in writer.asked[1]
    assert writer.kept == [(writer.asked[0], {"formula": "next_to(cat, dog)"})]


@pytest.mark.parametrize(
    ("reply", "code", "n_asked"),
    [
        ({"formula": "bird"}, "proposal-strange-word", 3),
        ({"formula": None}, "proposal-none", 1),
        ({"formula": 3}, "reply-shape", 3),
        ({}, "reply-shape", 3),
        (["cat"], "reply-shape", 3),
        (None, "reply-unreadable", 1),
    ],
)
def test_a_prompt_without_a_proposal_is_listed_with_the_reason(reply: Json, code: str, n_asked: int) -> None:
    writer = _Scripted(reply)
    (made,) = propose(["A cat sits beside a dog"], writer)
    assert (made.value or "", code_of(made.why), len(writer.asked)) == ("", code, n_asked)


def test_a_very_long_prompt_is_not_asked_about() -> None:
    writer = _Scripted({"formula": "cat"})
    (made,) = propose(["cat " * 501], writer)
    assert (code_of(made.why), writer.asked) == ("text-length", [])


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


WRITE = ("write", "formulas", "p.csv", "-o", "with.jsonl", "--writer", "openai/x")


def test_the_command_lists_proposals_and_pays_for_each_once(server: Server, tmp_path: Path) -> None:
    (tmp_path / "p.csv").write_text(
        "prompt,style,formula\nA cat sits beside a dog,oil,\na cat and a dog,ink,\n"
        "A wave crashes,oil,\nDrei Hunde,,3 dog\n"
    )
    done = in_process.salva(*WRITE)
    assert done.returncode == 3, done.stderr
    assert "[proposals-written]" in done.stdout
    assert "[proposal-strange-word]" in done.stderr
    listed = [json.loads(line) for line in (tmp_path / "with-without.jsonl").read_text().splitlines()]
    assert [entry["prompt"] for entry in listed] == ["A wave crashes"]
    first, *rest = [json.loads(line) for line in (tmp_path / "with.jsonl").read_text().splitlines()]
    assert (first["formula"], first["formula_by"], first["accepted"]) == ("next_to(cat, dog)", "openai/x", "")
    assert first["style"] == "oil"
    assert all("accepted" not in entry for entry in rest)
    n_before = len(server.asked)
    server.turns = lambda body: Fail(status=500) if "sits beside" in json.dumps(body) else Say(text='{"formula": null}')
    again = in_process.salva(*WRITE)
    assert len(server.asked) == n_before + 1, "what was proposed is not asked for again; the other prompt is"
    assert "[proposal-none]" in again.stderr


@pytest.mark.parametrize(
    ("accepted", "source"),
    [("", "none"), ("no", "none"), ("0", "none"), ("yes", "given"), ("True", "given"), ("1", "given")],
)
def test_a_proposal_is_used_only_where_a_person_accepted_it(accepted: str, source: str, tmp_path: Path) -> None:
    path = tmp_path / "with.jsonl"
    entry = {"prompt": "A cat sits beside a dog", "formula": "next_to(cat, dog)", "formula_by": "openai/x"}
    path.write_text(json.dumps({**entry, "accepted": accepted}))
    suite = Prompts(PromptsOptions(path=str(path)))
    cases = list(suite.cases("quick"))
    assert cases[0].labels["formula"] == source
    assert {prompt.formula is None for case in cases for prompt in case.prompts} == {source == "none"}
    assert ("proposals-open" in map(code_of, suite.remarks("quick"))) == (source == "none")


def test_a_proposal_without_the_column_is_not_used_and_an_odd_mark_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "p.csv"
    path.write_text("prompt,formula,formula_by\nA cat sits by a dog,cat & dog,openai/x\n")
    (row,) = read_prompt_rows(str(path))
    assert (row.formulas, row.proposals) == ((None,), ("cat & dog",))
    path.write_text("prompt,formula,formula_by,accepted\nA cat sits by a dog,cat & dog,openai/x,maybe\n")
    with pytest.raises(UsageError, match=r"\[prompt-cell\]"):
        read_prompt_rows(str(path))


def test_what_a_person_accepted_survives_the_command(server: Server, tmp_path: Path) -> None:
    (tmp_path / "p.csv").write_text("prompt\nA cat sits beside a dog\nA cat sits beside a dog by day\n")
    in_process.salva(*WRITE)
    lines = (tmp_path / "with.jsonl").read_text().replace('"accepted": ""', '"accepted": "yes"', 1)
    (tmp_path / "with.jsonl").write_text(lines)
    in_process.salva(*WRITE[:-1], "openai/y")
    entries = [json.loads(line) for line in (tmp_path / "with.jsonl").read_text().splitlines()]
    assert [(entry["accepted"], entry["formula_by"]) for entry in entries] == [("yes", "openai/x"), ("", "openai/x")]


def test_a_file_that_the_grammar_reads_asks_no_model(server: Server, tmp_path: Path) -> None:
    (tmp_path / "p.csv").write_text("prompt\na cat and a dog\n")
    done = in_process.salva(*WRITE)
    assert done.returncode == 0, done.stderr
    assert server.asked == []
    assert not (tmp_path / "with-without.jsonl").exists()


@pytest.mark.parametrize("prompt", ["", "?!", "'", "n't", "a cat n't", "12", "cat " * 200, "猫", "a\x00b"])
def test_odd_prompts_are_an_objection_and_no_fault(prompt: str) -> None:
    assert objection(prompt, "cat & !dog")
