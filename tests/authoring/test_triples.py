"""New triples: made by rule, checked by code and by a text model, reviewed by people, the hard ones chosen."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from typing import Any, ClassVar

import pytest
from click.testing import CliRunner
from hypothesis import given, settings
from hypothesis import strategies as st
from report.fake_runs import FakeImages, make_verdict, store_run

from salva.authoring.author import CONFIDENCE, METHODS
from salva.authoring.criteria import CRITERIA, checks_by_code
from salva.authoring.samples import DISPUTED, INVALID, UNREVIEWED, VALID, read_samples, verdict_of
from salva.authoring.templates import load_grammar, triples, with_articles
from salva.cli import write_semvar_command
from salva.cli.main import salva as command
from salva.core.case import Case, Prompt
from salva.core.scoring import pair_name
from salva.core.source import RunRecords
from salva.english.reader import read
from salva.errors import UnusableError, UsageError
from salva.logic.equivalence import are_equivalent
from salva.logic.notation import parse
from salva.suites.semvar.effect import PAIRS
from salva.suites.semvar.suite import SemVar


def lines(path: Path) -> list[dict[str, object]]:
    return [json.loads(line) for line in path.read_text().splitlines()]


def reviewed_by(*sheets: Path) -> list[str]:
    return [word for sheet in sheets for word in ("--review", str(sheet))]


def hard(*runs: Path) -> list[str]:
    return [word for run in runs for word in ("--hard", str(run))]


def invoke(*arguments: str | Path) -> str:
    done = CliRunner().invoke(command, ["write", *map(str, arguments)])
    assert done.exit_code == 0, done.output
    return done.output


def test_there_are_fourteen_criteria() -> None:
    assert len(CRITERIA) == 14


@settings(max_examples=20)
@given(st.integers(0, 1000))
def test_every_triple_follows_its_rule_and_none_comes_twice(seed: int) -> None:
    made = list(triples(load_grammar(), 60, seed))
    assert len({one.anchor for one in made}) == len(made) == 60
    anchors = {one.anchor for one in made}
    for one in made:
        assert one.changed not in anchors, "the same triple the other way round"
        bad = [check for check in checks_by_code(one.anchor, one.changed, one.kept) if not check.is_valid]
        assert not bad, (one, bad)


def test_what_the_logic_core_can_read_it_confirms() -> None:
    placed = [one for one in triples(load_grammar(), 300, 1) if one.anchor.endswith("on the right")]
    assert placed
    for one in placed:
        assert are_equivalent(read(one.anchor), read(one.kept))
        assert not are_equivalent(read(one.anchor), read(one.changed))


@pytest.mark.parametrize(
    ("sentences", "criterion"),
    [
        (("a cat and a dog", "a cat and two dogs", "a dog and a cat"), "permutation-rule"),
        (("a cat and a dog", "a dog and a cat", "a dog with a cat"), "distinct-semantics"),
        (("a cat above a dog", "a dog above a cat", "a cat below a dog"), "distinct-semantics"),
        (("a cat is chasing a dog", "a dog is chasing a cat", "a dog is chasing a cat"), "distinct-semantics"),
        (("a red red cat and a dog", "a red red dog and a cat", "a dog and a red red cat"), "complete-expression"),
    ],
)
def test_code_finds_what_is_wrong(sentences: tuple[str, str, str], criterion: str) -> None:
    checks = list(checks_by_code(*sentences))
    assert criterion in {check.criterion for check in checks if not check.is_valid}
    assert {check.confidence for check in checks} == {1.0}, "code is sure"


def test_articles() -> None:
    assert with_articles("a orange hat and an cup by a umbrella") == "an orange hat and a cup by an umbrella"


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("[lexicon]\n", "file-invalid"),
        ("[[template]]\ncategory='x'\n[lexicon]\n", "file-invalid"),
        ("[[template]]\ncategory='x'\nanchor='a {noun1}'\nswap='noun1'\n[lexicon]\n", "file-invalid"),
        (
            "[[template]]\ncategory='x'\nanchor='a {noun1}'\nswap=['noun1','noun2']\n[lexicon]\nnoun=['a']\n",
            "template-invalid",
        ),
        (
            "[[template]]\ncategory='x'\nanchor='{noun1} {noun2}'\nswap=['noun1','noun2']\n[lexicon]\n",
            "template-invalid",
        ),
        ("[[template]\n", "file-invalid"),
    ],
)
def test_templates_that_cannot_work_are_refused(tmp_path: Path, text: str, code: str) -> None:
    path = tmp_path / "t.toml"
    path.write_text(text)
    with pytest.raises(UsageError) as error:
        load_grammar(path)
    assert error.value.code == code


def test_the_words_run_out(tmp_path: Path) -> None:
    path = tmp_path / "t.toml"
    path.write_text(
        "[[template]]\ncategory='c'\nanchor='a {noun1} above a {noun2}'\nswap=['noun1','noun2']\n"
        "kept='a {noun2} below a {noun1}'\n[lexicon]\nnoun=['cat','dog','cow']\n"
    )
    told = invoke("semvar", "-o", tmp_path / "s.jsonl", "--templates", path, "-n", "50")
    assert len(lines(tmp_path / "s.jsonl")) == 3
    assert " 3 of 50" in told


MOODS = load_grammar().lexicon["mood"]


class TextEndpoint(BaseHTTPRequestHandler):
    """An OpenAI-shaped endpoint that paraphrases, and finds fault with every sentence that holds a robot."""

    static_scene: ClassVar[Any] = {"answer": "Yes.", "confidence": "0.95"}
    is_readable = True
    asked: ClassVar[list[str]] = []
    dies_after: int | None = None

    def do_POST(self) -> None:
        asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        question = asked["messages"][1]["content"]
        self.asked.append(question)
        if self.dies_after is not None and len(self.asked) > self.dies_after:
            self.send_error(401)
            return
        reply: object
        if "T_a:" in question:
            is_bad = "robot" in question
            reply = {c: {"answer": "yes", "confidence": 0.9} for c in CRITERIA}
            reply["reasonable-semantics"] = {"answer": "no" if is_bad else "yes", "confidence": 0.95}
            reply["visually-distinct"] = {"answer": "no", "confidence": CONFIDENCE - 0.1}
            reply["static-scene"] = self.static_scene
        else:
            moods = [word for word in question.split() if word in MOODS]
            swapped = question.replace(moods[0], "X").replace(moods[1], moods[0]).replace("X", moods[1])
            reply = {"1": None, "2": swapped, "3": f"seen again: {question}", "4": "None"}
        content = f"```json\n{json.dumps(reply)}\n```" if self.is_readable else "They all look fine to me!"
        message = {"role": "assistant", "content": content}
        body = {"id": "x", "object": "chat.completion", "created": 0, "model": asked["model"]}
        body |= {"choices": [{"index": 0, "finish_reason": "stop", "message": message}]}
        data = json.dumps(body).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002  # the library's own name
        """Quiet."""


@pytest.fixture
def endpoint(monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    monkeypatch.setattr(TextEndpoint, "asked", [])
    monkeypatch.setenv("OPENAI_API_KEY", "sk-planted-4711")
    server = ThreadingHTTPServer(("127.0.0.1", 0), TextEndpoint)
    thread = Thread(target=server.serve_forever, args=(0.02,), daemon=True)
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}/v1"
    server.shutdown()
    server.server_close()
    thread.join()


def test_text_models_paraphrase_and_remove(tmp_path: Path, endpoint: str) -> None:
    models = ("--writer", "openai/w", "--checker", "openai/c", "--base-url", endpoint)
    invoke("semvar", "-o", tmp_path / "s.jsonl", "-n", "60", *models)
    kept, removed = lines(tmp_path / "s.jsonl"), lines(tmp_path / "s-removed.jsonl")
    assert len(kept) + len(removed) == 60
    assert all("robot" in str(one["T_a"]) for one in removed)
    assert not any("robot" in str(one["T_a"]) for one in kept)
    assert all("reasonable-semantics" in str(one["why"]) for one in removed)
    by_model = [one for one in kept if not str(one["kept_by"]).startswith("rule")]
    assert by_model
    # The second way has the words of T_pv, which code can see, so the third is taken.
    assert {one["kept_by"] for one in by_model} == {f"openai/w: {METHODS[2]}"}
    # A doubtful no removes nothing but stays on record; an answer may be in quotes and begin with a capital.
    named = {check.criterion: check for check in read_samples(tmp_path / "s.jsonl")[0].checks}
    assert not named["visually-distinct"].is_valid
    assert (named["static-scene"].is_valid, named["static-scene"].confidence) == (True, 0.95)


@pytest.mark.parametrize(
    ("said", "told"),
    [
        ({"answer": "No", "confidence": "0.95"}, "static-scene (openai/c): no"),
        ({"answer": "NO.", "confidence": 1}, "static-scene (openai/c): no"),
        ({"answer": "perhaps", "confidence": 1}, "[triple-unanswered]"),
        ({"answer": "yes", "confidence": "very"}, "[triple-unanswered]"),
        ({"answer": "yes", "confidence": "0,9"}, "[triple-unanswered]"),
        ({"answer": "yes", "confidence": 95}, "[triple-unanswered]"),
        ({"answer": "yes"}, "[triple-unanswered]"),
        (None, "[triple-unanswered]"),
        ("yes", "[triple-unanswered]"),
    ],
)
def test_a_check_that_gave_no_answer_is_no_pass_and_a_no_in_capitals_is_a_no(
    tmp_path: Path, endpoint: str, monkeypatch: pytest.MonkeyPatch, said: object, told: str
) -> None:
    monkeypatch.setattr(TextEndpoint, "static_scene", said)
    checker = ("--checker", "openai/c", "--base-url", endpoint)
    invoke("semvar", "-o", tmp_path / "s.jsonl", "-n", "4", *checker)
    assert lines(tmp_path / "s.jsonl") == []
    removed = [one for one in lines(tmp_path / "s-removed.jsonl") if one["T_pi"]]
    assert removed
    assert all(str(one["why"]).endswith(told) or f"{told};" in str(one["why"]) for one in removed), removed[0]["why"]


def test_a_checker_that_nobody_can_read_is_an_error(
    tmp_path: Path, endpoint: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(TextEndpoint, "is_readable", False)
    for n in ("2", "60"):
        TextEndpoint.asked.clear()
        arguments = ["write", "semvar", "-o", str(tmp_path / "s.jsonl"), "-n", n]
        done = CliRunner().invoke(command, [*arguments, "--checker", "openai/c", "--base-url", endpoint])
        assert isinstance(done.exception, UnusableError)
        assert done.exception.code == "checker-unreadable"
        assert lines(tmp_path / "s.jsonl") == [], "nothing that was not checked has passed"
        assert len(TextEndpoint.asked) <= 15, "five triples, each asked three times"


def test_what_was_paid_for_is_kept_and_the_same_command_goes_on(
    tmp_path: Path, endpoint: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    arguments = ["write", "semvar", "-o", str(tmp_path / "s.jsonl"), "-n", "40"]
    arguments += ["--writer", "openai/w", "--checker", "openai/c", "--base-url", endpoint]
    monkeypatch.setattr(TextEndpoint, "dies_after", 30)
    died = CliRunner().invoke(command, arguments)
    assert isinstance(died.exception, UnusableError)
    n_before = len(lines(tmp_path / "s.jsonl")) + len(lines(tmp_path / "s-removed.jsonl"))
    assert n_before > 10
    paid = TextEndpoint.asked[:30]
    with (tmp_path / "s-replies.jsonl").open("a") as journal:
        journal.write('{"asked": "half a li')  # what a kill leaves behind
    TextEndpoint.asked.clear()
    monkeypatch.setattr(TextEndpoint, "dies_after", None)
    assert CliRunner().invoke(command, arguments).exit_code == 0
    assert not set(TextEndpoint.asked) & set(paid), "nothing is paid for twice"
    assert len(lines(tmp_path / "s.jsonl")) + len(lines(tmp_path / "s-removed.jsonl")) == 40
    TextEndpoint.asked.clear()
    finished = (tmp_path / "s.jsonl").read_text()
    assert CliRunner().invoke(command, arguments).exit_code == 0
    assert (TextEndpoint.asked, (tmp_path / "s.jsonl").read_text()) == ([], finished)
    assert "sk-planted" not in (tmp_path / "s-replies.jsonl").read_text()


def test_without_a_writer_what_no_rule_can_do_is_removed(tmp_path: Path) -> None:
    invoke("semvar", "-o", tmp_path / "s.jsonl", "-n", "30")
    assert {one["category"] for one in lines(tmp_path / "s-removed.jsonl")} == {"sentiment"}
    ways = {str(one["category"]): one["kept_by"] for one in lines(tmp_path / "s.jsonl")}
    assert ways["color"] == ways["absolute_location"] == f"rule: {METHODS[0]}"
    assert ways["interaction"] == f"rule: {METHODS[1]}"


def test_what_the_logic_core_reads_is_written_down_for_embedded_models(tmp_path: Path) -> None:
    invoke("semvar", "-o", tmp_path / "s.jsonl", "-n", "45")
    by_category = {str(one["category"]): one for one in lines(tmp_path / "s.jsonl")}
    placed = read_samples(tmp_path / "s.jsonl")[0]
    assert placed.category == "absolute_location"
    assert placed.formulas is not None
    a, pv, pi = map(parse, placed.formulas)
    assert are_equivalent(a, pi)
    assert not are_equivalent(a, pv)
    assert "formulas" not in by_category["interaction"], "nobody can read it"
    assert "formulas" not in by_category["size"], "a large cat is no name of a thing"


@pytest.mark.parametrize(
    ("said", "verdict"),
    [
        ([], UNREVIEWED),
        ([True], UNREVIEWED),
        ([True, True], VALID),
        ([False, False], INVALID),
        ([True, False], DISPUTED),
        ([True, False, True], VALID),
        ([True, False, False], INVALID),
    ],
)
def test_two_decide_and_a_third_where_they_differ(said: list[bool], verdict: str) -> None:
    assert verdict_of(said) == verdict


def test_reviews_come_back_from_sheets(tmp_path: Path) -> None:
    samples = tmp_path / "s.jsonl"
    invoke("semvar", "-o", samples, "-n", "3")
    invoke("semvar", samples, "--sheet", tmp_path / "blank.csv")
    blank = (tmp_path / "blank.csv").read_text()
    for name, answers in (("ann", ["yes", "yes", ""]), ("bob", ["yes", "no", ""])):
        head, *rows = blank.splitlines()
        filled = [f"{row.removesuffix(',,,')},{name},{answer}," for row, answer in zip(rows, answers, strict=True)]
        (tmp_path / f"{name}.csv").write_text("\n".join([head, *filled]) + "\n")
    sheets = (tmp_path / "ann.csv", tmp_path / "bob.csv")
    told = invoke("semvar", samples, *reviewed_by(*sheets), "-o", tmp_path / "r.jsonl")
    assert [one["review"] for one in lines(tmp_path / "r.jsonl")] == [VALID, DISPUTED, UNREVIEWED]
    assert "1 disputed" in told
    invoke("semvar", samples, *reviewed_by(*sheets), "-o", tmp_path / "v.jsonl", "--only-valid")
    assert len(lines(tmp_path / "v.jsonl")) == 1
    # The third adds a sheet to what the first two said.
    told = invoke("semvar", tmp_path / "r.jsonl", "--sheet", tmp_path / "carol.csv", "--disputed")
    assert "1 sample" in told
    head, row = (tmp_path / "carol.csv").read_text().splitlines()
    (tmp_path / "carol.csv").write_text(f"{head}\n{row.removesuffix(',,,')},carol,no,\n")
    invoke("semvar", tmp_path / "r.jsonl", *reviewed_by(tmp_path / "carol.csv"), "-o", tmp_path / "r3.jsonl")
    assert [one["review"] for one in lines(tmp_path / "r3.jsonl")] == [VALID, INVALID, UNREVIEWED]
    assert lines(tmp_path / "r3.jsonl")[1]["reviews"] == {"ann": "yes", "bob": "no", "carol": "no"}
    (tmp_path / "carol.csv").write_text(f"{head}\n{row.removesuffix(',,,')},ann,no,\n")
    again = CliRunner().invoke(
        command, ["write", "semvar", str(tmp_path / "r.jsonl"), *reviewed_by(tmp_path / "carol.csv"), "-o", "x"]
    )
    assert isinstance(again.exception, UsageError)
    assert again.exception.code == "review-contradiction"
    (tmp_path / "bad.csv").write_text("id,reviewer,valid\nx,ann,maybe\n")
    failed = CliRunner().invoke(
        command, ["write", "semvar", str(samples), *reviewed_by(tmp_path / "bad.csv"), "-o", "x"]
    )
    assert isinstance(failed.exception, UsageError)
    assert failed.exception.code == "value-invalid"


def test_no_cell_of_a_sheet_is_run_by_a_spreadsheet(tmp_path: Path) -> None:
    sample = {"id": "-1", "T_a": "=1+1", "T_pv": "@b", "T_pi": "c", "category": "color"}
    (tmp_path / "s.jsonl").write_text(json.dumps(sample) + "\n")
    invoke("semvar", tmp_path / "s.jsonl", "--sheet", tmp_path / "sheet.csv")
    head, row = (tmp_path / "sheet.csv").read_text().splitlines()
    assert row == "'-1,color,'=1+1,'@b,c,,,"
    for name in ("ann", "bob"):
        (tmp_path / f"{name}.csv").write_text(f"{head}\n{row.removesuffix(',,,')},{name},yes,\n")
    invoke(
        "semvar",
        tmp_path / "s.jsonl",
        *reviewed_by(tmp_path / "ann.csv", tmp_path / "bob.csv"),
        "-o",
        tmp_path / "r.jsonl",
    )
    assert lines(tmp_path / "r.jsonl")[0]["review"] == VALID


def test_the_hard_cases_are_those_most_models_fail(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(write_semvar_command, "_HARD_PER_CATEGORY", 2)
    prompts = tuple(Prompt(role=role, text=f"text {role}") for role in ("a", "pv", "pi"))
    cases = tuple(
        Case(case_id=f"sv-{i}", suite="semvar", category="ab"[i % 2], prompts=prompts, checks=("semantic-effect",))
        for i in range(6)
    )
    scores = {"pocket": [0.9, 0.5, 0.6, 0.5, 0.9, 0.4], "painter": [0.9, 0.5, 0.9, 0.9, 0.6, 0.3]}
    verdicts = tuple(
        make_verdict(f"sv-{i}", model=model, check="semantic-effect", scores={pair_name(*p): value for p in PAIRS})
        for model, values in scores.items()
        for i, value in enumerate(values)
    )
    store_run(tmp_path / "run", RunRecords(cases=cases, verdicts=verdicts), FakeImages())
    invoke("semvar", *hard(tmp_path / "run"), "-o", tmp_path / "hard.jsonl")
    found = [one["id"] for one in lines(tmp_path / "hard.jsonl")]
    # b: 5 and 1 have two votes and leave no room for 3; a: 2 and 4 have one each (mean 0.75 both: by id).
    assert found == ["sv-5", "sv-1", "sv-2", "sv-4"]
    # The same model again has no second vote: 2 and 4 stay behind what two models fail.
    store_run(tmp_path / "again", RunRecords(cases=cases, verdicts=verdicts[:6]), FakeImages())
    invoke("semvar", *hard(tmp_path / "run", tmp_path / "again"), "-o", tmp_path / "hard.jsonl")
    assert [one["id"] for one in lines(tmp_path / "hard.jsonl")] == ["sv-5", "sv-1", "sv-2", "sv-4"]


def test_hard_cases_stay_what_they_were(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Categories, formulas, id and review go along, and a case of two categories counts in both."""
    monkeypatch.setattr(write_semvar_command, "_HARD_PER_CATEGORY", 2)
    cases = tuple(SemVar(SemVar.Options()).cases("quick"))[:3]
    labelled = [replace(one, labels={**one.labels, "category": "color,size"}) for one in cases]
    verdicts = tuple(
        make_verdict(one.case_id, check="semantic-effect", scores={pair_name(*p): 0.1 * i for p in PAIRS})
        for i, one in enumerate(cases, 1)
    )
    store_run(tmp_path / "run", RunRecords(cases=tuple(labelled), verdicts=verdicts), FakeImages())
    invoke("semvar", *hard(tmp_path / "run"), "-o", tmp_path / "hard.jsonl")
    again = list(SemVar(SemVar.Options(path=(str(tmp_path / "hard.jsonl"),))).cases("full"))
    assert [one.case_id for one in again] == [one.case_id for one in cases[:2]]
    assert [one.prompts for one in again] == [one.prompts for one in cases[:2]]
    assert {one.labels["category"] for one in again} == {"color,size"}
    assert not any(one.findings for one in again), "what came without a review is not called unreviewed"
