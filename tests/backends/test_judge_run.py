"""The whole path with judges at an endpoint: painted, scored, stored, reported, and nothing bought twice."""

from __future__ import annotations

import json
import re
import shlex
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import in_process
import pytest
from backends.judge_servers import Fail, Say, Server, Turn, serving
from in_process import Command, Done

from salva.core.observation import Answer
from salva.store.sqlite import open_run

pytest.importorskip("openai", reason="judges at endpoints need the api extra")

KEY = "sk-a-planted-key-that-must-not-leak"


@pytest.fixture
def server() -> Iterator[Server]:
    with serving([Say(text=json.dumps({"explanation": "seen", "objects": 50, "relations": 20}))]) as made:
        yield made


@pytest.fixture
def salva(server: Server, monkeypatch: pytest.MonkeyPatch) -> Command:
    """The command line, in this process."""
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    monkeypatch.setenv("OPENAI_BASE_URL", f"{server.url}/v1")
    return in_process.salva


def run(salva: Command, out: Path, *arguments: str) -> Done:
    return salva(
        *("run", "semvar", "--size", "2", "--model", "painter", "--reader", "none", "--no-progress"),
        # The servers say one thing, whatever they are shown.
        *("--set", "run.preflight=off", "--out", str(out), *arguments),
    )


def costs(salva: Command, out: Path) -> list[dict[str, Any]]:
    done = salva("report", str(out), "--format", "json")
    assert done.returncode == 0, done.stderr
    table = next(table for table in json.loads(done.stdout)["tables"] if table["name"] == "judge costs")
    return [dict(zip(table["columns"], row, strict=True)) for row in table["rows"]]


def test_two_judges_are_reported_with_their_costs(server: Server, salva: Command, tmp_path: Path) -> None:
    done = run(salva, tmp_path / "run", "--judge", "scene", "--judge", "openai/judge-1")
    assert done.returncode == 0, done.stderr
    rows = {row["observers"].split("+")[-1]: row for row in costs(salva, tmp_path / "run")}
    remote = next(row for name, row in rows.items() if "openai/judge-1" in name)
    embedded = next(row for name, row in rows.items() if "scene" in name)
    assert remote["answers"] == remote["calls"] == len(server.asked) >= 14
    assert remote["input_tokens"] == 1000 * remote["calls"]
    assert remote["cost_usd"] is None
    assert (embedded["calls"], embedded["cost_usd"]) == (0, 0)
    n_asked = len(server.asked)
    assert run(salva, tmp_path / "run", "--judge", "scene", "--judge", "openai/judge-1").returncode == 0
    assert len(server.asked) == n_asked, "a finished run asks nobody"


def test_prices_become_costs_and_questions_can_be_asked_again(server: Server, salva: Command, tmp_path: Path) -> None:
    prices = ("--set", "judge.usd_per_million_input=2", "--set", "judge.usd_per_million_output=10")
    done = run(salva, tmp_path / "run", "--judge", "openai/x", *prices, "--set", "check.flip_sample=1")
    assert done.returncode == 0, done.stderr
    (row,) = costs(salva, tmp_path / "run")
    assert row["calls"] == 28
    assert row["cost_usd"] == pytest.approx(28 * 0.0022)
    assert (row["asked_again"], row["flipped"], row["flip_rate"]) == (14, 0, 0)


def test_unreadable_replies_are_stored_and_decide_nothing(server: Server, salva: Command, tmp_path: Path) -> None:
    server.turns = [Say(text="a solid 50 out of 50!")]
    out = tmp_path / "run"
    done = run(salva, out, "--judge", "openai/x", "--set", "check.flip_sample=0")
    assert done.returncode == 3, done.stderr
    assert len(server.asked) == 14 * 3
    (row,) = costs(salva, out)
    assert row["unreadable"] == row["answers"] == 14
    report = json.loads(salva("report", str(out), "--format", "json").stdout)
    assert report["results"]["undecided"] == 2
    assert report["failure_rate"] is None
    with open_run(out) as store:
        answers = [look.observation for _, look in store.observations() if isinstance(look.observation, Answer)]
    assert {answer.reply for answer in answers} == {"a solid 50 out of 50!"}
    assert not any(answer.scores for answer in answers)


def test_a_wrong_key_stops_the_run_with_one_line(server: Server, salva: Command, tmp_path: Path) -> None:
    server.turns = [Fail(status=401, message=f"Incorrect API key provided: {KEY[:6]}", kind="invalid_api_key")]
    done = run(salva, tmp_path / "run", "--judge", "openai/x")
    assert done.returncode != 0
    assert "[key-refused]" in done.stderr
    assert "Traceback" not in done.stderr
    assert len(server.asked) <= 8


def test_the_key_is_not_stored(server: Server, salva: Command, tmp_path: Path) -> None:
    done = run(salva, tmp_path / "run", "--judge", "openai/x", "--set", "judge.key_env=OPENAI_API_KEY")
    assert done.returncode == 0, done.stderr
    assert server.headers_seen[0]["authorization"] == f"Bearer {KEY}"
    files = [path for path in (tmp_path / "run").rglob("*") if path.is_file()]
    assert files
    assert not any(KEY.encode() in path.read_bytes() for path in files)
    assert KEY not in done.stdout + done.stderr


@pytest.mark.parametrize("is_set", [False, True], ids=["environment", "setting"])
def test_a_changed_snapshot_stops_the_run(
    server: Server, salva: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, is_set: bool
) -> None:
    where = ("--set", f"judge.base_url={server.url}/v1") if is_set else ()
    if is_set:
        monkeypatch.delenv("OPENAI_BASE_URL")
    said = json.dumps({"explanation": "", "objects": 50, "relations": 50})

    def answer(_: dict[str, Any]) -> Turn:
        if len(server.asked) < 6:
            return Say(text=said, model="judge-a")
        # Those asked at once are answered later, so that the first to arrive is the first model's.
        time.sleep(0.1 if len(server.asked) < 20 else 0)
        return Say(text=said, model="judge-b")

    server.turns = answer
    done = run(salva, tmp_path / "run", "--judge", "openai/x", *where)
    assert done.returncode != 0
    assert re.search(r"judge-[ab].*judge-[ab]", done.stderr), done.stderr
    (command,) = [line.strip() for line in done.stderr.splitlines() if line.strip().startswith("salva rejudge ")]
    command, _, code = command.rpartition(" [")
    assert (command.endswith("--judge openai/judge-b"), code) == (True, "snapshot-changed]")
    on = salva(*shlex.split(command)[1:], *where)
    assert "snapshot-changed" not in on.stderr
    assert on.returncode in (0, 3), on.stderr
    with open_run(tmp_path / "run") as store:
        answers = [look.observation for _, look in store.observations() if isinstance(look.observation, Answer)]
    assert {"judge-a", "judge-b"} == {answer.snapshot for answer in answers}
