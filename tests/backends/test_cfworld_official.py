"""Part of CF-World's published files against a chat endpoint on loopback that speaks OpenAI's API, end to end."""

from __future__ import annotations

import json
import random
import re
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from backends.endpoints import Answered, Asked, said, serving

from salva.core.plan import Plan
from salva.core.run_spec import RunSpec
from salva.engine.progress import SilentProgress
from salva.errors import UsageError
from salva.report.summary import summarise_run
from salva.runs.pipeline import execute
from salva.runs.plans import make_plan
from salva.store.sqlite import open_run
from salva.testing.fakes import FakeGenerator
from salva.testing.specs import bound

pytest.importorskip("openai", reason="the judge at an endpoint needs the api extra")

Grade = Callable[[str], float]


def answering(grade: Grade) -> Callable[[Asked], Answered]:
    """An endpoint that gives every question about an image the same grade, by the text of the request."""

    def answer(asked: Asked) -> Answered:
        body = asked.body
        text = next(part["text"] for part in body["messages"][-1]["content"] if part["type"] == "text")
        names = re.findall(r"^q\d+(?=:)", text, re.MULTILINE)
        reply = {key: value for name in names for key, value in ((f"{name}_reason", "so"), (name, grade(text)))}
        if "criteria" not in text:
            reply = {name: grade(text) for name in names} | {"explanation": "so"}
        message = {"role": "assistant", "content": json.dumps(reply)}
        return said(
            {
                "id": "1",
                "object": "chat.completion",
                "created": 0,
                "model": "fake-vlm",
                "choices": [{"index": 0, "finish_reason": "stop", "message": message}],
                "usage": {"prompt_tokens": 100, "completion_tokens": 10, "total_tokens": 110},
            }
        )

    return answer


def honest(text: str) -> float:
    """Facts are drawn, counterfactuals half; of our own drawing it says what is there."""
    if "in the picture?" in text and "criteria" not in text:
        return float("a cat" in text)
    return 0.4 if "one law differs" in text or "opponent" in text else 1.0


def spec(folder: Path, url: str, size: str = "12", **settings: str) -> Plan:
    ask = RunSpec.of(
        suite="cfworld",
        models=("pocket",),
        detector="none",
        judges=("kind=openai/fake-vlm", "strict=openai/fake-vlm"),
        size=size,
        settings={
            "suite.path": str(folder),
            "judge.base_url": url,
            "strict.rubric": "adversarial",
            "check.flip_sample": "0",
            **{name.replace("__", "."): value for name, value in settings.items()},
        },
    )
    return replace(make_plan(ask), models=(bound("model", FakeGenerator, "fake", batch=64),))


def test_the_published_files_are_graded_by_two_named_judges(
    foreign_data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "nobody-checks-it")
    with serving(answering(honest)) as server:
        url = f"{server.url}/v1"
        made = spec(foreign_data / "cfworld", url)
        execute(made, tmp_path / "run", SilentProgress())
        n_calls = len(server.asked)
        execute(made, tmp_path / "run", SilentProgress())
        assert len(server.asked) == n_calls, "a finished run asks nobody"
    (model,) = summarise_run(tmp_path / "run").by_model.values()
    table = next(table for table in model.tables if table.name.startswith("models and judges"))
    rows = [dict(zip(table.columns, row, strict=True)) for row in table.rows]
    by_judge = {str(row["judge"]): row for row in rows}
    assert by_judge["kind"]["L1"] == pytest.approx(1.0)
    assert by_judge["kind"]["PRR"] == pytest.approx(0.4)
    assert by_judge["kind"]["RRR"] == pytest.approx(0.4 / 0.4**0.5)
    assert by_judge["strict"]["L1"] == pytest.approx(0.4), "an opponent of every image"
    assert by_judge["strict"]["L2"] == 0.0, "behind its own gate, by its own grades"
    assert any(table.name.startswith("gaps") for table in model.tables)
    with open_run(tmp_path / "run") as store:
        verdict = next(v for v in store.verdicts() if v.observers == ("rapidocr", "kind") and v.scores.get("s_l2"))
    assert "so" in verdict.reason, "why, in the judge's words"


@pytest.mark.parametrize(
    "grade", [lambda _: 1.0, lambda _: 0.0, lambda text: 1 - honest(text)], ids=["always 1", "always 0", "inverted"]
)
def test_a_judge_that_tells_nothing_apart_stops_the_run(
    foreign_data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, grade: Grade
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "nobody-checks-it")
    with serving(answering(grade)) as server:
        made = spec(foreign_data / "cfworld", f"{server.url}/v1", size="3")
        with pytest.raises(UsageError, match=r"\[preflight-failed\]"):
            execute(made, tmp_path / "run", SilentProgress())


def test_a_judge_that_always_says_1_is_reported_without_a_preflight(
    foreign_data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "nobody-checks-it")
    with serving(answering(lambda _: 1.0)) as server:
        execute(
            spec(foreign_data / "cfworld", f"{server.url}/v1", run__preflight="off"), tmp_path / "run", SilentProgress()
        )
    (model,) = summarise_run(tmp_path / "run").by_model.values()
    prr = model.metrics["prr"]
    assert prr.value == 1.0, "as good as can be"
    assert "[judge-constant]" in prr.reason


def test_a_judge_that_throws_dice_is_seen_to(
    foreign_data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "nobody-checks-it")
    dice = random.Random(3)
    with serving(answering(lambda _: dice.random())) as server:
        made = spec(foreign_data / "cfworld", f"{server.url}/v1", check__flip_sample="1", run__preflight="off")
        execute(made, tmp_path / "run", SilentProgress())
    (model,) = summarise_run(tmp_path / "run").by_model.values()
    assert model.results["pass"] < model.results["fail"]
    costs = model.table("judge costs")
    assert costs is not None
    flip_rate = costs.columns.index("flip_rate")
    assert {row[flip_rate] for row in costs.rows} == {1.0}, "never the same grade twice"
