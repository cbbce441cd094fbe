"""`salva write cfworld`: what lands in its files, that it goes on where it stopped, sheets and reviews."""

from __future__ import annotations

import csv
import json
from pathlib import Path
from typing import Any

import pytest
from backends.judge_servers import Say, Server, Turn, serving
from click.testing import CliRunner, Result

from salva.cli.main import salva as command
from salva.errors import UnusableError, UsageError

OTHER = {
    "l1": {"prompt": "A candle burns in still air. Show its flame.", "point": "The flame points up."},
    "l2": {
        "prompt": "Suppose that hot gases sink. A candle burns in still air, and its flame hangs down along the wax.",
        "point": "The flame hangs along the wax.",
    },
    "l3": {"prompt": "Suppose that hot gases sink. A candle burns in still air. Show its flame."},
    "denorm": "Suppose that hot gases sink. A stick with a wick burns in still air, and its glow hangs down along it.",
}


def _entry(principle: str, **more: Any) -> dict[str, Any]:
    return {"discipline": "thermodynamics", "id": "candle", "category": "Convection", "principle": principle, **more}


def _lines(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def _write(*arguments: object) -> Result:
    return CliRunner().invoke(command, ["write", "cfworld", *map(str, arguments)])


def test_templates_ask_about_groups_and_bare_principles_are_left_over(tmp_path: Path) -> None:
    source, output = tmp_path / "in.jsonl", tmp_path / "out.jsonl"
    entries = [_entry("Hot gas rises.", **OTHER), _entry("Ice floats.")]
    source.write_text("".join(json.dumps(entry) + "\n" for entry in entries), encoding="utf-8")
    done = _write(source, "-o", output)
    assert done.exit_code == 3
    assert "name a --writer" in done.stderr
    (line,) = _lines(output)
    assert [asked["kind"] for asked in line["l3"]["questions"]] == ["integrity", "point", "logic"]
    (left,) = _lines(tmp_path / "out-removed.jsonl")
    assert left["principle"] == "Ice floats."
    cases = CliRunner().invoke(command, ["cases", "cfworld", "--lint", "--set", f"suite.path={output}"])
    assert cases.exit_code == 0, cases.output


def test_bare_principles_alone_ask_for_a_writer_before_anything_is_written(tmp_path: Path) -> None:
    source, output = tmp_path / "in.txt", tmp_path / "out.jsonl"
    source.write_text("optics: Mirrors reflect light.\nmechanics: Ice floats.\n", encoding="utf-8")
    done = _write(source, "-o", output)
    assert isinstance(done.exception, UsageError)
    assert "2 principles" in str(done.exception)
    assert "--writer openai/MODEL" in str(done.exception)
    assert [path.name for path in tmp_path.iterdir()] == ["in.txt"]


def test_two_reviewers_decide(tmp_path: Path) -> None:
    source, output, sheet = tmp_path / "in.jsonl", tmp_path / "out.jsonl", tmp_path / "sheet.csv"
    source.write_text(json.dumps(_entry("Hot gas rises.", **OTHER)) + "\n", encoding="utf-8")
    assert _write(source, "-o", output, "--sheet", sheet).exit_code == 0
    rows = list(csv.DictReader(sheet.read_text(encoding="utf-8").splitlines()))
    assert rows[0]["id"] == "thermodynamics/candle"
    assert rows[0]["l2 point"] == "The flame hangs along the wax."
    filled = []
    for name, valid in (("ann", "yes"), ("ben", "yes")):
        copy = tmp_path / f"{name}.csv"
        with copy.open("w", encoding="utf-8", newline="") as file:
            table = csv.DictWriter(file, list(rows[0]))
            table.writeheader()
            table.writerow({**rows[0], "reviewer": name, "valid": valid})
        filled += ["--review", copy]
    done = _write(source, "-o", output, *filled, "--only-valid")
    assert done.exit_code == 0, done.output
    assert "1 valid" in done.stdout
    assert _lines(output)[0]["labels"]["review"] == "valid"
    assert _write(source, "-o", output, "--only-valid").exit_code != 0


def test_reviews_of_strangers_are_refused(tmp_path: Path) -> None:
    source, output, sheet = tmp_path / "in.jsonl", tmp_path / "out.jsonl", tmp_path / "sheet.csv"
    source.write_text(json.dumps(_entry("Hot gas rises.", **OTHER)) + "\n", encoding="utf-8")
    sheet.write_text("id,reviewer,valid\nmechanics/other,ann,yes\n", encoding="utf-8")
    done = _write(source, "-o", output, "--review", sheet)
    assert "mechanics/other" in str(done.exception)


def test_a_writer_is_asked_once_for_each_principle_and_the_same_command_goes_on(tmp_path: Path) -> None:
    pytest.importorskip("openai", reason="text models at endpoints need the api extra")
    asked: list[str] = []

    def reply(body: dict[str, Any]) -> Turn:
        asked.append(body["messages"][1]["content"])
        if "graded" in body["messages"][0]["content"]:
            return Say(text="nothing of use")
        return Say(text=json.dumps({"id": f"candle {len(asked)}", "category": "Convection", **OTHER}))

    source, output = tmp_path / "in.txt", tmp_path / "out.jsonl"
    source.write_text("thermodynamics: Hot gas rises.\n", encoding="utf-8")
    with serving(reply) as server:
        done = _asking(server, source, output)
        assert done.exit_code == 0, done.output
        n_asked = len(asked)
        assert "1 group" in done.stdout
        assert _asking(server, source, output).exit_code == 0
    assert len(asked) == n_asked
    (line,) = _lines(output)
    assert line["labels"] == {"written_by": "openai/test", "questions_by": "template"}


def test_a_writer_nobody_can_read_is_given_up(tmp_path: Path) -> None:
    pytest.importorskip("openai", reason="text models at endpoints need the api extra")
    source, output = tmp_path / "in.txt", tmp_path / "out.jsonl"
    source.write_text("".join(f"optics: Principle {n}.\n" for n in range(9)), encoding="utf-8")
    with serving([Say(text="I would rather not.")]) as server:
        done = _asking(server, source, output)
        assert isinstance(done.exception, UnusableError)
        assert len(_lines(tmp_path / "out-removed.jsonl")) == 5


def _asking(server: Server, source: Path, output: Path) -> Result:
    return _write(source, "-o", output, "--writer", "openai/test", "--base-url", server.url)
