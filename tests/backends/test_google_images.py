"""Google's image models against a server with their API."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import closing

import pytest
from backends.endpoints import Answered, Asked, asked_for, png_text, said, serving

from salva.core.protocols import Rendered
from salva.errors import BackendError, RefusedError, SalvaError, UnknownError, UnusableError, UsageError
from salva.generators.google_images import GoogleImages
from salva.testing.fakes import written_in


@pytest.fixture(autouse=True)
def key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GEMINI_API_KEY", "AIza-planted-4711")
    for name in ("GOOGLE_API_KEY", "GEMINI_BASE_URL"):
        monkeypatch.delenv(name, raising=False)


def image_answer(_: Asked) -> Answered:
    part = {"inlineData": {"mimeType": "image/png", "data": png_text("cat, dog")}}
    return said(
        {
            "candidates": [{"content": {"role": "model", "parts": [{"text": "Here: "}, part]}, "finishReason": "STOP"}],
            "modelVersion": "gemini-2.5-flash-image-0815",
        }
    )


def without_image(reason: str) -> Callable[[Asked], Answered]:
    parts = [{"text": "I would rather talk."}]
    return lambda _: said({"candidates": [{"content": {"role": "model", "parts": parts}, "finishReason": reason}]})


def failing(status: int, name: str, message: str) -> Callable[[Asked], Answered]:
    return lambda _: said({"error": {"code": status, "message": message, "status": name}}, status)


def ask(handle: Callable[[Asked], Answered], model: str = "gemini-2.5-flash-image") -> Rendered | SalvaError:
    with (
        serving(handle) as server,
        closing(
            GoogleImages(GoogleImages.Options(model=model, base_url=server.url, key_env="GEMINI_API_KEY"))
        ) as generator,
    ):
        (outcome,) = generator.render([asked_for()])
        return outcome


def test_an_image_with_its_request_and_snapshot() -> None:
    seen: list[Asked] = []

    def handle(request: Asked) -> Answered:
        seen.append(request)
        return image_answer(request)

    outcome = ask(handle)
    assert isinstance(outcome, Rendered)
    assert written_in(outcome.picture)[0] == ["cat", "dog"]
    assert outcome.provenance == {"snapshot": "gemini-2.5-flash-image-0815"}
    assert seen[0].path.endswith("/models/gemini-2.5-flash-image:generateContent")
    assert seen[0].headers["x-goog-api-key"] == "AIza-planted-4711"
    assert seen[0].body["contents"][0]["parts"] == [{"text": "cat, dog"}]
    assert seen[0].body["generationConfig"]["seed"] == 7
    assert seen[0].body["generationConfig"]["imageConfig"] == {"aspectRatio": "1:1"}


@pytest.mark.parametrize(
    ("handle", "kind", "text"),
    [
        (without_image("IMAGE_SAFETY"), RefusedError, "IMAGE_SAFETY"),
        (without_image("PROHIBITED_CONTENT"), RefusedError, "I would rather talk"),
        (lambda _: said({"promptFeedback": {"blockReason": "SAFETY"}}), RefusedError, "refused the prompt: SAFETY"),
        (without_image("STOP"), BackendError, "I would rather talk"),
        (failing(400, "INVALID_ARGUMENT", "API key not valid. Please pass a valid API key."), UnusableError, "key"),
        (failing(403, "PERMISSION_DENIED", "no access"), UnusableError, "key-refused"),
        (failing(404, "NOT_FOUND", "models/x is not found"), UnusableError, "[model-not-found]"),
        (failing(500, "INTERNAL", "try later"), UnknownError, "try later"),
    ],
)
def test_answers_without_an_image_are_errors(
    handle: Callable[[Asked], Answered], kind: type[SalvaError], text: str
) -> None:
    outcome = ask(handle)
    assert type(outcome) is kind, outcome
    assert text in str(outcome)


def test_the_retry_delay_is_passed_on() -> None:
    details = [{"@type": "type.googleapis.com/google.rpc.RetryInfo", "retryDelay": "13s"}]
    error = {
        "code": 429,
        "status": "RESOURCE_EXHAUSTED",
        "message": "You exceeded your current quota",
        "details": details,
    }
    outcome = ask(lambda _: said({"error": error}, 429))
    assert isinstance(outcome, BackendError)
    assert (outcome.is_retryable, outcome.retry_after_s) == (True, 13)


def test_a_missing_key_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("GEMINI_API_KEY")
    with pytest.raises(UsageError, match="GEMINI_API_KEY"):
        GoogleImages(GoogleImages.Options(model="gemini-2.5-flash-image"))
