"""A judge as a reader: two questions, their answers and errors."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

import pytest

from salva.core.about import About, Habits
from salva.core.image import Picture
from salva.core.observation import Answer, Reading, observation_from_json, observation_to_json
from salva.core.options import option
from salva.core.plan import Binding
from salva.core.protocols import ObserveRequest, Query
from salva.core.run_spec import ComponentSpec
from salva.errors import BackendError, RefusedError, SalvaError, UsageError
from salva.readers.judge_reader import IS_ANY, WHAT, JudgeAsReader, JudgeReader, reading_of
from salva.registry import bind, entries, load
from salva.testing.conformance import check_observer

BLANK, SIGN, POSTER, BLURRED, RUDE = (Picture(rgb=bytes([i]) * 192, width=8, height=8) for i in range(5))
WRITTEN = {SIGN.rgb: "STOP", POSTER.rgb: "grand “hotel” | 1922 |"}


class Clerk:
    """A judge that knows the texts of five images."""

    @dataclass(frozen=True, slots=True, kw_only=True)
    class Options:
        patience: float = option(30.0, "How long it may take.", keyed=False)

    version: ClassVar[str] = "7"
    about: ClassVar[About] = About(is_remote=True)

    def __init__(self, options: Options) -> None:
        self.habits = Habits(timeout_s=options.patience)
        self.asked: list[Query] = []

    def observe(self, requests: Sequence[ObserveRequest]) -> Sequence[Answer | SalvaError]:
        self.asked += [request.query for request in requests]
        return [self._answer(request) for request in requests]

    def _answer(self, request: ObserveRequest) -> Answer | SalvaError:
        if request.picture == RUDE:
            return RefusedError("policy")
        usage = {"n_calls": 1.0, "cost_usd": 0.5}
        if request.query.choices:
            text = "no" if request.picture == BLANK else "yes"
            return Answer(text=text, scores={}, reply=f"[[{text}]]", usage=usage, snapshot="clerk-1")
        if request.picture == BLURRED:
            return Answer(text="", scores={}, reply="Hm.", problem="no answer in it", usage=usage, snapshot="clerk-1")
        text = WRITTEN[request.picture.rgb]
        return Answer(text=text, scores={}, reply=text, usage={"cost_usd": 0.25}, snapshot="clerk-1")


def reader() -> Any:
    return JudgeAsReader(Clerk)(Clerk.Options())


def requests(*pictures: Picture) -> list[ObserveRequest]:
    return [ObserveRequest(picture=picture, query=Query(role="reader")) for picture in pictures]


def test_a_reading_has_the_texts_of_the_judges_answers() -> None:
    clerk = Clerk(Clerk.Options())
    asking: Any = JudgeReader(clerk)
    blank, sign, poster = asking.observe(requests(BLANK, SIGN, POSTER))
    assert blank == Reading(reply="[[no]]", usage={"n_calls": 1.0, "cost_usd": 0.5}, snapshot="clerk-1")
    assert [span.text for span in sign.spans] == ["STOP"]
    assert [span.text for span in poster.spans] == ["grand “hotel", "1922"]
    assert {(span.score, span.box) for span in poster.spans} == {(1.0, (0.0, 0.0, 1.0, 1.0))}
    assert clerk.asked == [IS_ANY, IS_ANY, IS_ANY, WHAT, WHAT], "images without text need one question"


def test_usage_covers_both_questions() -> None:
    (sign,) = reader().observe(requests(SIGN))
    assert sign.usage == {"cost_usd": 0.75}, "only one answer has the number of calls"
    assert reader().habits.timeout_s == 60.0
    refused = RefusedError("policy")
    refused.usage = {"n_calls": 1.0}
    lost = reading_of(Answer(text="yes", scores={}, usage={"n_calls": 1.0, "cost_usd": 0.5}), refused)
    assert isinstance(lost, RefusedError)
    assert (lost.usage, refused.usage) == ({"n_calls": 2.0, "cost_usd": 0.5}, {"n_calls": 1.0})


def test_a_refusal_or_unreadable_reply_concerns_its_own_image_only() -> None:
    rude, blurred, sign = reader().observe(requests(RUDE, BLURRED, SIGN))
    assert isinstance(rude, RefusedError)
    assert blurred.problem == "no answer in it"
    assert blurred.spans == ()
    assert blurred.reply == "Hm."
    assert sign.spans[0].text == "STOP"


def test_contradictory_answers_are_a_problem(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(WRITTEN, SIGN.rgb, "Nothing")
    (sign,) = reader().observe(requests(SIGN))
    assert sign.spans == ()
    assert "'Nothing'" in sign.problem


def test_other_observations_of_a_judge_are_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Clerk, "_answer", lambda *_: Reading())
    (found,) = reader().observe(requests(SIGN))
    assert isinstance(found, BackendError)
    assert found.code == "input-unexpected"


def test_readings_survive_json() -> None:
    for seen in (*reader().observe(requests(BLANK, SIGN, BLURRED)), Reading()):
        assert observation_from_json(json.loads(json.dumps(observation_to_json(seen)))) == seen
    assert observation_to_json(Reading()) == {"kind": "reading", "spans": ()}


def test_conformance_and_version() -> None:
    binding = Binding(role="reader", label="clerk", component=JudgeAsReader(Clerk), options=Clerk.Options())
    check_observer(binding, [BLANK, SIGN, POSTER])
    assert JudgeAsReader(Clerk) == JudgeAsReader(Clerk)
    assert binding.identity()["version"] == "7, reads 1"


def test_judges_that_see_pixels_can_be_readers() -> None:
    assert {"anthropic", "blip-vqa", "google", "openai", "rapidocr", "transformers"} <= {
        entry.name for entry in entries("reader")
    }
    bound = bind(ComponentSpec(role="reader", name="openai/gpt", options={"usd_per_million_input": "1"}))
    assert bound.about.is_remote
    assert bound.options.model == "gpt"
    with pytest.raises(UsageError, match=r"\[judge-cannot-read\]"):
        load("reader", "scene")


def test_judges_and_plugin_judges_are_listed_as_readers(tmp_path: Path) -> None:
    plugin = tmp_path / "clerk.py"
    plugin.write_text(
        "from salva.core.about import About\n\n\n"
        'class Clerk:\n    """Judge: knows."""\n    about = About(role="judge")\n    version = "1"\n'
    )
    shown = subprocess.run(
        [
            sys.executable,
            "-c",
            "from salva.cli.main import main; main()",
            "list",
            "readers",
            "--plugin",
            f"{plugin}:Clerk",
        ],
        capture_output=True,
        text=True,
        check=True,
    ).stdout
    names = [line.split()[0] for line in shown.splitlines() if line[:1].strip()]
    assert {"clerk", "openai", "rapidocr"} <= set(names)
    assert "scene" not in names
