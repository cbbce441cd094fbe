"""Questions written by a text model: read strictly, resumed, and asked in a run."""

from __future__ import annotations

import csv
import json
import re
from collections.abc import Callable, Iterator, Sequence
from copy import deepcopy
from pathlib import Path
from typing import Any

import pytest
from backends.judge_servers import Fail, Say, Server, Turn, serving
from click.testing import CliRunner, Result
from hypothesis import given
from hypothesis import strategies as st

from salva.authoring.asking import AuthoredAnswer
from salva.authoring.question_replies import read_elements, read_propositions
from salva.authoring.questions import STYLES, different, file_text, write_questions
from salva.checks.question_files import read_questions
from salva.cli.main import salva as command
from salva.core.fingerprint import Json
from salva.english.prompt_files import read_prompts
from salva.errors import BackendError, UnusableError, UsageError
from salva.store.queries import read_records

pytest.importorskip("openai", reason="text models at endpoints need the api extra")

WHALE = "Is there a whale in the picture?"
Entry = dict[str, Any]


def elements(prompt: str = "a cup") -> Entry:
    """A good reply in the TIFA manner."""
    about = {"element": "cup", "element_type": "object"}
    return {
        "questions": [
            {**about, "question": f"Does it show {prompt}?", "choices": ["Yes", "no"], "answer": "yes"},
            {**about, "question": WHALE, "choices": ["yes", "no"], "answer": "No"},
            {**about, "question": f"What is it in {prompt}?", "choices": [], "answer": "Tea cup"},
            {**about, "question": f"How many in {prompt}?", "choices": ["1", "two", "none"], "answer": "two"},
        ]
    }


def propositions(prompt: str = "a cup") -> Entry:
    """A good reply in the DSG manner: two things, and a relation between them."""
    return {
        "propositions": [
            _proposition(1, f"Is there a cup in {prompt}?"),
            _proposition(2, f"Is there a hat in {prompt}?"),
            _proposition(3, f"Is the cup left of the hat in {prompt}?", 1, 2),
        ]
    }


def _proposition(number: int, question: str, *parents: int) -> Entry:
    about = {"category": "entity", "detail": "whole", "tuple": ["cup", "left of"]}
    return {"id": number, **about, "question": question, "depends_on": [*parents]}


GOOD = {"tifa": elements, "dsg": propositions}


def prompt_in(body: dict[str, Any]) -> str:
    """The prompt that a text model was asked about."""
    line = body["messages"][1]["content"].splitlines()[0]
    prompt: str = json.loads(line.removeprefix("Prompt: "))
    return prompt


def good(body: dict[str, Any]) -> Turn:
    style = "dsg" if "propositions" in body["messages"][0]["content"] else "tifa"
    return Say(text=f"```json\n{json.dumps(GOOD[style](prompt_in(body)))}\n```")


@pytest.fixture
def server() -> Iterator[Server]:
    with serving(good) as made:
        yield made


@pytest.fixture
def no_waiting(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("salva.remote.text_model.time.sleep", lambda _seconds: None)


def write(server: Server, *arguments: str | Path) -> Result:
    base = ("write", "questions", "--writer", "openai/w", "--base-url", f"{server.url}/v1")
    return CliRunner().invoke(command, [*base, *map(str, arguments)])


@pytest.fixture
def prompts(tmp_path: Path) -> Path:
    path = tmp_path / "prompts.txt"
    path.write_text('a cup\na hat\n\nA  cup.\nzwei Hüte, "rot"\n', encoding="utf-8")
    return path


def lines(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text("utf-8").splitlines()]


def asked_about(server: Server) -> list[str]:
    return [prompt_in(body) for body in server.asked]


@pytest.mark.parametrize(("style", "name"), [("tifa", "q.json"), ("dsg", "q.csv")])
def test_every_prompt_gets_its_questions_in_a_file_that_runs_read(
    server: Server, prompts: Path, tmp_path: Path, style: str, name: str
) -> None:
    done = write(server, prompts, "-o", tmp_path / name, "--style", style)
    assert done.exit_code == 0, done.output
    assert asked_about(server) == ["a cup", "a hat", 'zwei Hüte, "rot"'], "the same prompt in other letters is one"
    file = read_questions(str(tmp_path / name))
    for prompt in ("a cup", "A CUP.", "a hat", 'zwei Hüte, "rot"'):
        found = file.about(prompt)
        assert len(found) == len(next(iter(GOOD[style]().values())))
    found = file.about("a hat")
    if style == "tifa":
        assert [(one.question.choices, one.expected) for one in found] == [
            (("yes", "no"), "yes"),
            (("yes", "no"), "no"),
            ((), "tea cup"),
            (("1", "two", "none"), "two"),
        ]
        assert {one.question.kind for one in found} == {"object"}
    else:
        assert found[2].question.parents == ("Is there a cup in a hat?", "Is there a hat in a hat?")
        assert {one.expected for one in found} == {"yes"}
        with (tmp_path / name).open(newline="", encoding="utf-8") as opened:
            row = list(csv.DictReader(opened))[2]
        assert (row["dependency"], row["tuple"], row["writer"]) == (
            "1,2",
            "entity - whole (cup, left of)",
            "openai/w",
        )
    assert not (tmp_path / "q-unwritten.jsonl").exists()


def changed(reply: Entry, change: Callable[[list[Entry]], object]) -> Json:
    reply = deepcopy(reply)
    change(next(iter(reply.values())))
    return reply


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        (lambda q: q[0].update(answer="maybe"), "'maybe' is none"),
        (lambda q: q[0].update(answer=""), "questions[0].answer"),
        (lambda q: q[0].update(answer=None), "questions[0].answer"),
        (lambda q: q[0].update(question=" "), "questions[0].question"),
        (lambda q: q[0].update(question="There is a cup."), "questions[0].question"),
        (lambda q: q[0].update(question="=1+1?"), "questions[0].question"),
        (lambda q: q[1].update(question="DOES it show a cup?"), "asked twice"),
        (lambda q: q[3].update(choices=["2", "two", "one"]), "are the same"),
        (lambda q: q[3].update(choices=["two"]), "one choice"),
        (lambda q: q[3].update(choices="two"), "questions[3].choices"),
        (lambda q: q[3].update(choices=["two", "'one'"]), "punctuation"),
        (lambda q: q[3].update(choices=[]), "several ways"),
        (lambda q: q[2].update(answer="a cup with some tea in it"), "needs choices"),
        (lambda q: q[2].update(element_type="thing"), "questions[2].element_type"),
        (lambda q: q[2].update(note="sure!"), "questions[2]"),
        (lambda q: q[2].pop("element"), "questions[2]"),
        (lambda q: q.__delitem__(slice(1, 4)), "is yes"),
        (lambda q: q.clear(), "questions: "),
        (lambda q: q.extend([q[0]] * 40), "questions: "),
    ],
)
def test_a_reply_in_the_tifa_manner_is_read_strictly(change: Callable[[list[Entry]], object], problem: str) -> None:
    made, problems = read_elements(elements())
    assert (len(made), problems) == (4, [])
    assert any(problem in one for one in read_elements(changed(elements(), change))[1])


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        (lambda q: q[0].update(depends_on=[3]), "circle: 1 on 3 on 1"),
        (lambda q: q[0].update(depends_on=[1]), "circle: 1 on 1"),
        (lambda q: q[0].update(depends_on=[7]), "depends on 7"),
        (lambda q: q[0].update(depends_on=["2"]), "propositions[0].depends_on[0]"),
        (lambda q: q[0].update(depends_on=2), "propositions[0].depends_on"),
        (lambda q: q[0].update(id=2), "given twice"),
        (lambda q: q[0].update(id=True), "propositions[0].id"),
        (lambda q: q[0].update(id=0), "propositions[0].id"),
        (lambda q: q[0].update(category="thing"), "propositions[0].category"),
        (lambda q: q[0].update(tuple=[]), "propositions[0].tuple"),
        (lambda q: q[0].update(question="How many cups are there?"), "propositions[0].question"),
        (lambda q: q[0].update(question=""), "propositions[0].question"),
        (lambda q: q[1].update(question=q[0]["question"]), "asked twice"),
        (lambda q: q[1].update(answer="yes"), "propositions[1]"),
    ],
)
def test_a_reply_in_the_dsg_manner_is_read_strictly(change: Callable[[list[Entry]], object], problem: str) -> None:
    made, problems = read_propositions(propositions())
    assert (len(made), problems) == (3, [])
    assert any(problem in one for one in read_propositions(changed(propositions(), change))[1])


@pytest.mark.parametrize("reply", [None, [], "yes", 3, {}, {"questions": 1}, {**elements(), "note": "done"}])
def test_anything_else_is_no_reply(reply: Json) -> None:
    assert read_elements(reply)[1]
    assert read_propositions(reply)[1]


class Fluent:
    """A writer that always writes well."""

    name = "openai/fluent"

    def __init__(self, style: str) -> None:
        self._style = style

    def ask(self, _instruction: str, _question: str) -> Json | None:
        return GOOD[self._style]()

    def keep(self, _instruction: str, _question: str, _reply: Json) -> None:
        pass


# A file with a NUL byte in it is refused as no text, so no prompt comes with one; a cell with NaN is an empty one.
LETTERS = st.characters(exclude_categories=["Cs"], exclude_characters="\0")


@given(st.lists(st.text(LETTERS, min_size=1).filter(lambda text: text.strip().casefold() not in ("", "nan"))))
def test_a_prompt_of_any_letters_is_found_again(
    tmp_path_factory: pytest.TempPathFactory, written: Sequence[str]
) -> None:
    for style in STYLES:
        texts = different(written)
        made = list(write_questions(texts, style, Fluent(style)))
        kept = [one for one in made if one.value is not None]
        assert all(style == "dsg" and text.startswith(("=", "+", "-", "@")) for text in _left_out(texts, kept))
        if kept:
            path = tmp_path_factory.getbasetemp() / f"any-{style}"
            rows = [row for one in kept for row in one.value or ()]
            path.write_bytes(file_text(rows, style).encode())
            file = read_questions(str(path))
            assert all(file.about(one.prompt) for one in kept)


def _left_out(texts: Sequence[str], kept: Sequence[AuthoredAnswer[Any]]) -> set[str]:
    return set(texts) - {one.prompt for one in kept}


def bad_about(prompt: str, reply: object) -> Callable[[dict[str, Any]], Turn]:
    text = reply if isinstance(reply, str) else json.dumps(reply)
    return lambda body: Say(text=text) if prompt_in(body) == prompt else good(body)


def test_a_file_that_was_not_written_is_not_said_to_be(server: Server, prompts: Path, tmp_path: Path) -> None:
    server.turns = lambda _: Say(text="{}")
    done = write(server, prompts, "-o", tmp_path / "q.csv", "--style", "dsg")
    assert done.exit_code == 3, done.output
    assert " 0 of 3 " in done.output
    assert not (tmp_path / "q.csv").exists()


@pytest.mark.parametrize(
    ("style", "reply", "why"),
    [
        ("tifa", changed(elements(), lambda q: q[0].update(answer="maybe")), "'maybe'"),
        ("dsg", changed(propositions(), lambda q: q[0].update(depends_on=[3])), "circle"),
        ("tifa", f"Here you are: {json.dumps(elements())}", "[reply-unreadable]"),
    ],
)
def test_what_cannot_be_used_is_asked_for_again_then_listed_and_tried_anew_next_time(
    server: Server, prompts: Path, tmp_path: Path, style: str, reply: object, why: str
) -> None:
    server.turns = bad_about("a hat", reply)
    out = tmp_path / ("q.json" if style == "tifa" else "q.csv")
    done = write(server, prompts, "-o", out, "--style", style)
    assert done.exit_code == 3, done.output
    assert asked_about(server).count("a hat") == 3
    assert "questions about 2 of 3 prompts" in done.output
    assert "'a hat': " in done.output
    assert why in done.output
    (listed,) = lines(tmp_path / "q-unwritten.jsonl")
    assert listed["prompt"] == "a hat"
    assert why in listed["why"]
    assert listed["reply"] == (None if isinstance(reply, str) else reply)
    if not isinstance(reply, str):
        told = [body["messages"][1]["content"] for body in server.asked if prompt_in(body) == "a hat"]
        assert why not in told[0]
        assert why in told[1]
    assert read_questions(str(out)).about("a hat") == ()
    assert read_questions(str(out)).about("a cup")

    server.turns = good
    server.asked.clear()
    again = write(server, prompts, "-o", out, "--style", style)
    assert again.exit_code == 0, again.output
    assert asked_about(server) == ["a hat"], "what is there is not asked for again"
    assert "2 were there already" in again.output
    assert read_questions(str(out)).about("a hat")
    assert not (tmp_path / "q-unwritten.jsonl").exists()

    server.asked.clear()
    before = out.read_bytes()
    assert write(server, prompts, "-o", out, "--style", style).exit_code == 0
    assert server.asked == []
    assert out.read_bytes() == before


def many(tmp_path: Path, n: int) -> Path:
    path = tmp_path / "many.txt"
    path.write_text("".join(f"prompt {i}\n" for i in range(n)))
    return path


def failing(about: str, fail: Fail) -> Callable[[dict[str, Any]], Turn]:
    return lambda body: fail if re.search(about, prompt_in(body)) else good(body)


def test_a_wrong_key_stops_at_once_and_keeps_what_is_there(server: Server, tmp_path: Path) -> None:
    out, prompts = tmp_path / "q.json", many(tmp_path, 5)
    server.turns = failing("prompt [234]", Fail(status=401, message="no such key"))
    done = write(server, prompts, "-o", out)
    assert isinstance(done.exception, UnusableError)
    assert "questions about 2 of 5 prompts" in done.output
    assert asked_about(server) == ["prompt 0", "prompt 1", "prompt 2"]
    server.turns = good
    server.asked.clear()
    assert write(server, prompts, "-o", out).exit_code == 0
    assert asked_about(server) == ["prompt 2", "prompt 3", "prompt 4"]


@pytest.mark.usefixtures("no_waiting")
def test_an_endpoint_that_fails_on_one_prompt_costs_no_other(server: Server, tmp_path: Path) -> None:
    server.turns = failing("prompt [13]", Fail(status=500, message="out of order"))
    done = write(server, many(tmp_path, 5), "-o", tmp_path / "q.json")
    assert done.exit_code == 3, done.output
    assert asked_about(server).count("prompt 1") == 1, "it may have been billed"
    found = lines(tmp_path / "q-unwritten.jsonl")
    assert [one["prompt"] for one in found] == ["prompt 1", "prompt 3"]
    assert all("500" in one["why"] for one in found)
    assert len(json.loads((tmp_path / "q.json").read_text())) == 3 * 4


@pytest.mark.usefixtures("no_waiting")
def test_an_endpoint_that_keeps_failing_is_given_up(server: Server, tmp_path: Path) -> None:
    server.turns = failing("prompt [1-9]", Fail(status=500, message="out of order"))
    done = write(server, many(tmp_path, 9), "-o", tmp_path / "q.json")
    assert isinstance(done.exception, BackendError)
    assert set(asked_about(server)) == {f"prompt {i}" for i in range(4)}
    assert read_questions(str(tmp_path / "q.json")).about("prompt 0")


def test_a_policy_of_the_endpoint_is_the_prompts_own_trouble(server: Server, tmp_path: Path) -> None:
    refusal = Fail(status=400, message="against our content policy", kind="content_policy_violation")
    server.turns = failing("prompt [0-4]", refusal)
    done = write(server, many(tmp_path, 6), "-o", tmp_path / "q.json")
    assert done.exit_code == 3
    assert len(lines(tmp_path / "q-unwritten.jsonl")) == 5
    assert read_questions(str(tmp_path / "q.json")).about("prompt 5")


def test_work_is_saved_on_the_way(server: Server, tmp_path: Path) -> None:
    out = tmp_path / "q.json"
    seen: list[bool] = []

    def watched(body: dict[str, Any]) -> Turn:
        seen.append(out.exists())
        return good(body)

    server.turns = watched
    assert write(server, many(tmp_path, 12), "-o", out).exit_code == 0
    assert seen == [False] + [True] * 11


@pytest.mark.parametrize(
    ("name", "content", "found"),
    [
        ("p.txt", "a cup\n\n a hat \n", ["a cup", "a hat"]),
        ("p.csv", 'pair_id,prompt_A,prompt_B\n1,a cup,"a, hat"\n', ["a cup", "a, hat"]),
        ("p.csv", "caption,n\na cup,3\n", ["a cup"]),
        ("p.jsonl", '{"text": "a cup"}\n{"prompts": {"a": "a hat", "b": "a ball"}}\n', ["a cup", "a hat", "a ball"]),
    ],
)
def test_prompts_come_from_files(tmp_path: Path, name: str, content: str, found: list[str]) -> None:
    (tmp_path / name).write_text(content)
    assert read_prompts(tmp_path / name) == found


@pytest.mark.parametrize(
    ("name", "content", "problem"),
    [
        ("p.txt", "\n", "[file-empty]"),
        ("p.csv", "name\nx\n", "[prompt-column-missing]"),
        ("p.csv", "prompt,n\na cup,1\n,2\n", "line 3: "),
        ("p.jsonl", '{"text": "a cup"}\n{"text": 3}\n{}\n', "[rows-invalid]"),
        ("p.jsonl", "a cup\n", "[json-invalid]"),
        ("p.txt", None, "[file-unreadable]"),
    ],
)
def test_a_file_of_prompts_with_something_wrong_says_where(
    tmp_path: Path, name: str, content: str | None, problem: str
) -> None:
    if content is not None:
        (tmp_path / name).write_text(content)
    with pytest.raises(UsageError, match=re.escape(problem)):
        read_prompts(tmp_path / name)


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        (["{prompts}", "-o", "{tmp}/q.csv"], "[option-invalid]"),
        (["{prompts}", "-o", "{tmp}/q.json", "--style", "dsg"], "[option-invalid]"),
        (["{prompts}", "-o", "{prompts}"], "[question-file-other]"),
        (["{prompts}", "-o", "{tmp}/q.json", "--size", "full"], "[flag-unrelated]"),
        (["faithfulnes", "-o", "{tmp}/q.json"], "'faithfulnes'"),
        (["faithfulness", "-o", "{tmp}/q.json", "--set", "model.faults=none"], "[option-invalid]"),
        (["{prompts}", "-o", "{tmp}/q.json", "--writer", "gpt"], "openai/MODEL"),
    ],
)
def test_what_cannot_work_is_said_before_anyone_is_asked(
    server: Server, prompts: Path, tmp_path: Path, arguments: list[str], problem: str
) -> None:
    before = prompts.read_bytes()
    done = write(server, *(one.format(prompts=prompts, tmp=tmp_path) for one in arguments))
    assert isinstance(done.exception, UsageError)
    assert problem in str(done.exception)
    assert server.asked == []
    assert prompts.read_bytes() == before


def is_about_a_picture(body: dict[str, Any]) -> bool:
    return "image_url" in json.dumps(body["messages"])


def question_in(body: dict[str, Any]) -> str:
    found = re.search(r"Question: (.*?)\\n", json.dumps(body["messages"], ensure_ascii=False))
    assert found is not None
    return found.group(1)


def run(server: Server, out: Path, questions: Path, monkeypatch: pytest.MonkeyPatch) -> dict[str, float]:
    """The mean scores of a run that asks an endpoint these questions."""
    monkeypatch.setenv("OPENAI_BASE_URL", f"{server.url}/v1")
    cast = ("--model", "painter", "--reader", "none", "--embedder", "none", "--judge", "openai/j", "--no-progress")
    asked = ("--set", f"check.questions={questions}", "--set", "check.flip_sample=0", "--set", "run.preflight=off")
    done = CliRunner().invoke(command, ["run", "faithfulness", "--size", "2", *cast, *asked, "--out", str(out)])
    assert done.exit_code == 0, done.output
    verdicts = [one for one in read_records(out).verdicts if one.check == "same-answers"]
    assert len(verdicts) == 2
    names = set.intersection(*(set(one.scores) for one in verdicts))
    return {name: sum(one.scores[name] for one in verdicts) / 2 for name in names}


@pytest.mark.parametrize(("style", "name"), [("tifa", "q.json"), ("dsg", "q.csv")])
def test_a_run_asks_what_the_text_model_wrote(
    server: Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, style: str, name: str
) -> None:
    path = tmp_path / name
    done = write(server, "faithfulness", "--size", "2", "-o", path, "--style", style)
    assert done.exit_code == 0, done.output
    prompts = asked_about(server)
    assert len(prompts) == len(set(prompts)) == 4
    written = {one.question.text for prompt in prompts for one in read_questions(str(path)).about(prompt)}
    server.asked.clear()

    def judged(body: dict[str, Any]) -> Turn:
        assert is_about_a_picture(body)
        question = question_in(body)
        answer = {"Wha": "tea cup", "How": "two"}.get(question[:3], "no" if "hat in" in question else "yes")
        return Say(text=json.dumps({"explanation": "", "answer": answer}))

    server.turns = judged
    means = run(server, tmp_path / "run", path, monkeypatch)
    questions = {question_in(body) for body in server.asked}
    if style == "tifa":
        assert questions == written
        # The judge sees a whale, which both prompts' lists ask about: one of seven answers is wrong.
        assert means["n_questions"] == 7
        assert means["faith_mean"] == pytest.approx(6 / 7)
    else:
        assert questions == {text for text in written if text.startswith("Is there")}, (
            "no hat, so nothing is left of it"
        )
        assert means["faith_mean"] == pytest.approx(2 / 6)
    assert means["agreement"] == 1.0
