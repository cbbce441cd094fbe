"""`salva cases --lint`: a suite's own lint, by its findings, its exit code and its refusals."""

from __future__ import annotations

import json
from itertools import count
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from salva.cli.cases_command import command
from salva.errors import PluginError, UsageError

SUITE = """
from dataclasses import dataclass
from salva.core.case import Case, Finding, Prompt

class {name}:
    version = "1"
    sizes = ("full",)

    def __init__(self, options):
        pass

    def cases(self, size):
        prompt = Prompt(role="a", text="a cat")
        yield Case(case_id="a", suite="sentences", category="x", prompts=(prompt,), checks=("truth",))

    def lint(self):
        {body}
"""
NUMBERS = count(1)
FINDING = 'yield Finding(kind="too-short", sentence="a: two words are too few", subject=("a",))'


def test_the_questions_that_a_judge_would_be_asked_are_printed(tmp_path: Path) -> None:
    (tmp_path / "p.txt").write_text("a photo of a red cat sleeping on a chair\ntwo cats\n")
    words = ["prompts", "--set", f"suite.path={tmp_path / 'p.txt'}", "--format", "jsonl"]
    words += ["--set", "suite.questions=parts", "--set", "suite.parser=grammar"]
    shown = CliRunner().invoke(command, words)
    asked, plain = (json.loads(line)["questions"] for line in shown.stdout.splitlines())
    assert [question["kind"] for question in asked["a"]] == ["thing", "thing", "attribute", "relation", "whole"]
    assert asked["a"][2]["parents"] == [asked["a"][0]["text"]]
    assert plain == {"a": []}, "a formula says more"


def _check(tmp_path: Path, body: str, *more: str) -> Result:
    # A test may name several, and each needs a name of its own.
    name = f"Suite{next(NUMBERS)}"
    plugin = tmp_path / f"{name.lower()}.py"
    plugin.write_text(SUITE.replace("{body}", body).replace("{name}", name), encoding="utf-8")
    return CliRunner().invoke(
        command, [name.lower(), "--size", "full", "--lint", "--plugin", f"{plugin}:{name}", *more]
    )


def test_findings_are_printed_a_line_each_and_end_with_2(tmp_path: Path) -> None:
    done = _check(tmp_path, FINDING)
    assert done.stdout == "too-short: a: two words are too few\n"
    assert done.stderr == "1 finding: 1 too-short\n"
    assert done.exit_code == 2


def test_findings_as_objects(tmp_path: Path) -> None:
    done = _check(tmp_path, FINDING, "--format", "jsonl")
    assert json.loads(done.stdout) == {"kind": "too-short", "sentence": "a: two words are too few", "subject": ["a"]}


def test_without_findings_it_ends_with_0(tmp_path: Path) -> None:
    done = _check(tmp_path, "return []")
    assert (done.stdout, done.exit_code) == ("0 findings\n", 0)


def test_a_lint_that_breaks_off_is_blamed_on_its_suite(tmp_path: Path) -> None:
    done = _check(tmp_path, 'raise RuntimeError("no paper")')
    assert isinstance(done.exception, PluginError)
    assert "no paper" in str(done.exception)


@pytest.mark.parametrize("arguments", [("metalogic", "--lint"), ("metalogic", "--lint", "--format", "csv")])
def test_a_suite_without_a_lint_says_so(arguments: tuple[str, ...]) -> None:
    done = CliRunner().invoke(command, arguments)
    assert isinstance(done.exception, UsageError)
    assert done.exception.code == "flag-unrelated"


def test_what_a_run_would_say_first_goes_to_the_error_stream() -> None:
    printed = CliRunner().invoke(command, ["actesting", "--size", "quick", "--format", "jsonl"])
    assert printed.exit_code == 0
    assert printed.stderr.startswith("10 seeds of 600 captions")
    assert "er-a: 10 of 10 seeds" in printed.stderr
    assert all(json.loads(line)["suite"] == "actesting" for line in printed.stdout.splitlines())


def test_a_hostile_prompt_cannot_turn_the_table_round(tmp_path: Path) -> None:
    name = f"Suite{next(NUMBERS)}"
    plugin = tmp_path / f"{name.lower()}.py"
    text = SUITE.format(name=name, body=FINDING).replace('"a cat"', '"a \\x1b[2Jcat \\u202eon a mat"')
    plugin.write_text(text, encoding="utf-8")
    done = CliRunner().invoke(command, [name.lower(), "--size", "full", "--plugin", f"{plugin}:{name}"])
    assert done.exit_code == 0, done.output
    assert "\x1b[2J" not in done.output
    assert "\u202e" not in done.output
    assert "\\u202e" in done.output.replace("\n", "")
