"""What is told of costs is what was paid: every answered call counts, of refused and failed work too."""

from __future__ import annotations

import itertools
import json
import threading
from pathlib import Path
from typing import Any

import in_process
import pytest
from backends.judge_servers import Fail, Say, Turn, serving

pytest.importorskip("openai", reason="judges at endpoints need the api extra")


def test_refused_and_failed_work_and_readers_are_in_the_sums(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-planted-4711")
    turns, n_paid, lock = itertools.count(), itertools.count(), threading.Lock()

    def answer(body: dict[str, Any]) -> Turn:
        with lock:
            turn = next(turns)
            if len(body["messages"]) > 2:
                # It was told that its reply cannot be read: that reply was paid for, and all of it is asked again.
                return Fail(status=500)
            if turn % 7 == 3:
                return Fail(status=400)
            next(n_paid)
        if "written" in json.dumps(body):
            return Say(text=json.dumps({"answer": "no"}))
        if turn % 5 == 1:
            return Say(text="", finish="content_filter") if turn % 2 else Say(text="no JSON at all")
        return Say(text=json.dumps({"explanation": "seen", "objects": 50, "relations": 20}))

    with serving(answer) as server:
        prices = [f"{role}.usd_per_million_{way}=10" for role in ("judge", "reader") for way in ("input", "output")]
        urls = [f"{role}.base_url={server.url}/v1" for role in ("judge", "reader")]
        settings = [part for setting in (*prices, *urls, "run.preflight=off") for part in ("--set", setting)]
        done = in_process.salva(
            *("run", "semvar", "--size", "4", "--model", "painter", "--no-progress", "--out", str(tmp_path / "run")),
            *("--judge", "openai/j", "--reader", "openai/r", *settings),
        )
    assert done.returncode == 3, done.stderr
    n_answered = next(n_paid)
    report = json.loads(in_process.salva("report", str(tmp_path / "run"), "--format", "json").stdout)
    table = next(table for table in report["tables"] if table["name"] == "costs")
    rows = [dict(zip(table["columns"], row, strict=True)) for row in table["rows"]]
    assert {row["component"] for row in rows} >= {"openai/j", "openai/r"}
    assert sum(row["calls"] for row in rows if row["calls"]) == n_answered
    tokens = sum(row["input_tokens"] + row["output_tokens"] for row in rows if row["calls"])
    assert report["cost_usd"] == pytest.approx(tokens * 10 / 1e6)
    assert f"{report['cost_usd']:.4f} USD" in done.stderr
    assert sum(row["failed"] for row in rows) > 0
