"""A text model at an endpoint that says nothing, or that it is busy."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing, contextmanager

import pytest
from backends.endpoints import Answered, Asked, Server, said, serving

from salva.errors import UnknownError
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


def test_one_that_says_nothing_is_asked_once_since_it_may_be_paid() -> None:
    with (
        silent_after() as server,
        closing(TextModel("openai/x", f"{server.url}/v1", timeout_s=0.3)) as model,
    ):
        with pytest.raises(UnknownError):
            model.ask("answer", "first")
        assert len(server.asked) == 1


def test_one_that_is_busy_is_asked_again() -> None:
    busy = said({"error": {"message": "slow down"}}, 429, Retry_After="0.01")
    with silent_after(busy, ANSWER) as server, closing(TextModel("openai/x", f"{server.url}/v1")) as model:
        assert model.ask("answer", "first") == {"yes": 1}
