"""The Stable Diffusion web UI against a server with its API."""

from __future__ import annotations

import json
from contextlib import closing
from pathlib import Path

import pytest
from backends.endpoints import Answered, Asked, asked_for, png_text, said, serving

from salva.core.protocols import Rendered
from salva.engine.progress import SilentProgress
from salva.errors import BackendError, UnusableError
from salva.generators.a1111 import A1111
from salva.runs.pipeline import execute
from salva.testing.specs import bound, fake_spec

MODELS = [{"title": "v1-5.safetensors [6ce0161689]", "model_name": "v1-5", "hash": "6ce0161689", "sha256": None}]


def web_ui(request: Asked) -> Answered:
    if request.path == "/sdapi/v1/sd-models":
        return said(MODELS)
    info = json.dumps({"seed": request.body["seed"], "sd_model_hash": "6ce0161689"})
    return said({"images": [png_text(request.body["prompt"])], "parameters": {}, "info": info})


def test_a_whole_run_with_a_checkpoint(tmp_path: Path) -> None:
    with serving(web_ui) as server:
        model = bound("model", A1111, "a1111/v1-5", checkpoint="v1-5", host=server.url)
        summary = execute(fake_spec(4, models=(model,)), tmp_path / "run", SilentProgress())
        bodies = [request.body for request in server.asked if request.method == "POST"]
    assert summary.outcomes == {"PASS": 4}
    assert len(bodies) == 8
    assert {body["override_settings"]["sd_model_checkpoint"] for body in bodies} == {"v1-5"}
    assert len({body["seed"] for body in bodies}) == 4, "both wordings of a case have the same seed"


def test_the_checkpoint_is_recorded_and_the_password_is_sent(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("A1111_API_KEY", "me:planted-4711")
    with serving(web_ui) as server:
        model = A1111(A1111.Options(checkpoint="6ce0161689", host=server.url, key_env="A1111_API_KEY"))
        (outcome,) = model.render([asked_for()])
        model.close()
        assert server.asked[0].headers["authorization"].startswith("Basic ")
    assert isinstance(outcome, Rendered)
    assert outcome.provenance["snapshot"] == "6ce0161689"


def test_at_most_two_requests_at_once_by_default() -> None:
    with closing(A1111(A1111.Options(checkpoint="v1-5", host="http://127.0.0.1:9"))) as model:
        assert model.habits.max_at_once == 2


def test_an_unknown_checkpoint_is_refused() -> None:
    with serving(web_ui) as server, closing(A1111(A1111.Options(checkpoint="v9", host=server.url))) as model:
        (outcome,) = model.render([asked_for()])
    assert isinstance(outcome, UnusableError)
    assert outcome.code == "name-unknown"
    assert "'v9'. Known: v1-5" in str(outcome)


@pytest.mark.parametrize(
    ("answer", "text"),
    [
        (said({"error": "OutOfMemoryError", "detail": "", "errors": "CUDA out of memory"}, 500), "CUDA out of memory"),
        (said({"images": [], "info": ""}), "image-missing"),
        (said({"detail": "Not authenticated"}, 401), "key-refused"),
    ],
)
def test_errors_of_the_server(answer: Answered, text: str) -> None:
    with (
        serving(lambda request: said(MODELS) if request.method == "GET" else answer) as server,
        closing(A1111(A1111.Options(checkpoint="v1-5", host=server.url))) as model,
    ):
        (outcome,) = model.render([asked_for()])
    assert isinstance(outcome, BackendError)
    assert text in str(outcome)
