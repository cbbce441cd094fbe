"""A text model at an endpoint that says nothing: given the time to load, and no more."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing, contextmanager

import pytest
from backends.endpoints import Answered, Asked, Server, said, serving

from salva.remote.text_model import TextModel

pytest.importorskip("openai", reason="text models at endpoints need the api extra")
HANGING = Answered(content=b"{}", delay_s=30)
ANSWER = said({"choices": [{"index": 0, "message": {"role": "assistant", "content": '{"yes": 1}'}}], "model": "x"})


@contextmanager
def silent_after(*first: Answered) -> Iterator[Server]:
    """A server that answers so, and then never again."""
    left = iter(first)

    def answer(_: Asked) -> Answered:
        return next(left, HANGING)

    with serving(answer) as server:
        try:
            yield server
        finally:
            server.release.set()


@pytest.fixture(autouse=True)
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-of-a-test")


def test_one_that_loads_for_longer_than_an_answer_may_take_is_waited_for() -> None:
    with (
        silent_after(HANGING, ANSWER) as server,
        closing(TextModel("openai/x", f"{server.url}/v1", timeout_s=0.3)) as model,
    ):
        assert model.ask("answer", "first") == {"yes": 1}
