"""Answers that are too large, and posts that are sent on to another host: refused in the kits' clients too."""

from __future__ import annotations

import gzip
import sys
from pathlib import Path

import pytest
from backends.endpoints import Answered, Asked, asked_for, serving

from salva.errors import BackendError, UnusableError
from salva.generators.command_line import CommandLine
from salva.generators.openai_images import OpenAiImages
from salva.remote import endpoint

pytest.importorskip("openai", reason="models at endpoints need the api extra")


@pytest.fixture(autouse=True)
def key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-planted-4711")
    monkeypatch.delenv("OPENAI_BASE_URL", raising=False)


def painted_at(url: str) -> object:
    (outcome,) = OpenAiImages(OpenAiImages.Options(model="m", base_url=f"{url}/v1")).render([asked_for("a cat")])
    return outcome


def test_an_answer_that_inflates_without_end_is_not_taken_in(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(endpoint, "MAX_BYTES", 2**20)
    bomb = gzip.compress(b" " * 2**26)

    def answer(_: Asked) -> Answered:
        return Answered(content=bomb, headers={"Content-Encoding": "gzip", "Content-Type": "application/json"})

    with serving(answer) as server:
        outcome = painted_at(server.url)
    assert isinstance(outcome, BackendError)
    assert "answered with more than 1,048,576 bytes" in str(outcome)


def test_a_post_is_not_sent_on_to_another_host() -> None:
    def answer(request: Asked) -> Answered:
        port = server.url.rpartition(":")[2]
        return Answered(status=307, headers={"Location": f"http://localhost:{port}/stolen{request.path}"})

    with serving(answer) as server:
        outcome = painted_at(server.url)
    assert isinstance(outcome, UnusableError)
    assert "sends what is posted on to 'localhost'" in str(outcome)
    assert not [request for request in server.asked if "stolen" in request.path]


@pytest.mark.parametrize("endless", ["print('x' * 4096, end='')", 'print(\'{"id": 9, "path": "x"}\')'])
def test_a_program_that_writes_without_end_is_stopped(tmp_path: Path, endless: str) -> None:
    program = tmp_path / "endless.py"
    program.write_text(f"input()\nwhile True:\n    {endless}\n")
    painter = CommandLine(CommandLine.Options(program=f"{sys.executable} {program}", timeout_s=20.0))
    try:
        (outcome,) = painter.render([asked_for("a cat")])
    finally:
        painter.close()
    assert isinstance(outcome, BackendError)
