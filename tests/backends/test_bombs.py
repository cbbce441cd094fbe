"""Answers that are too large, and posts that are sent on to another host: refused in every client, the kits' too."""

from __future__ import annotations

import gzip
import json
import os
import resource
import sys
import time
from collections.abc import Callable, Mapping
from contextlib import closing
from pathlib import Path
from types import SimpleNamespace

import pytest
from backends.endpoints import Answered, Asked, asked_for, serving

from salva.core.image import Picture
from salva.core.protocols import ObserveRequest, Query
from salva.core.run_spec import ComponentSpec
from salva.errors import BackendError, SalvaError
from salva.generators.command_line import CommandLine
from salva.generators.openai_images import OpenAiImages
from salva.registry import bind
from salva.remote import endpoint, text_model
from salva.remote.endpoint import Endpoint, download
from salva.remote.text_model import TextModel

for package in ("openai", "anthropic", "google.genai"):
    pytest.importorskip(package, reason="models at endpoints need the api extra")


@pytest.fixture(autouse=True)
def key(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("OPENAI", "ANTHROPIC", "GEMINI"):
        monkeypatch.setenv(f"{name}_API_KEY", "sk-planted-4711")
        monkeypatch.delenv(f"{name}_BASE_URL", raising=False)


def painted_at(url: str) -> object:
    with closing(OpenAiImages(OpenAiImages.Options(model="m", base_url=f"{url}/v1"))) as model:
        (outcome,) = model.render([asked_for("a cat")])
    return outcome


def painted_by_google(url: str) -> object:
    spec = ComponentSpec(role="model", name="google/gemini-image", options={"base_url": url})
    with closing(bind(spec).build()) as model:
        (outcome,) = model.render([asked_for("a cat")])
    return outcome


def judged_by(maker: str, path: str = "") -> Callable[[str], object]:
    def ask(url: str) -> object:
        spec = ComponentSpec(role="judge", name=maker + "/" + "j", options={"base_url": f"{url}{path}"})
        picture = Picture(rgb=bytes(12), width=2, height=2)
        query = Query(role="judge", kind="answer", text="is there a cat?", choices=("yes", "no"))
        with closing(bind(spec).build()) as judge:
            (outcome,) = judge.observe([ObserveRequest(picture=picture, query=query)])
        return outcome

    return ask


def written_at(url: str) -> object:
    with closing(TextModel("openai/w", f"{url}/v1")) as model:
        return model.ask("say", "what")


def posted_plainly(url: str) -> object:
    with closing(Endpoint("a server", url, 20.0)) as server:
        return server.post_json("/paint", {})


CLIENTS: Mapping[str, Callable[[str], object]] = {
    "openai pictures": painted_at,
    "google pictures": painted_by_google,
    "openai judge": judged_by("openai", "/v1"),
    "anthropic judge": judged_by("anthropic"),
    "google judge": judged_by("google"),
    "text model": written_at,
    "plain": posted_plainly,
}


def fetched(url: str) -> object:
    return download("a server", f"{url}/picture", 20.0, url)


def outcome_of(client: str, url: str) -> object:
    try:
        return CLIENTS.get(client, fetched)(url)
    except SalvaError as error:
        return error


@pytest.mark.parametrize("client", [*CLIENTS, "download"])
def test_an_answer_that_decompresses_too_large_is_refused(monkeypatch: pytest.MonkeyPatch, client: str) -> None:
    monkeypatch.setenv("SALVA_ANSWER_MIB", "1")
    bomb = gzip.compress(b" " * 2**22)

    def answer(_: Asked) -> Answered:
        return Answered(content=bomb, headers={"Content-Encoding": "gzip", "Content-Type": "application/json"})

    with serving(answer) as server:
        outcome = outcome_of(client, server.url)
    assert isinstance(outcome, BackendError)
    assert "more than 1,048,576 bytes" in str(outcome)


@pytest.mark.parametrize("client", [*CLIENTS, "download"])
@pytest.mark.parametrize("packed", ["gzip, gzip", "br", "zstd"])
def test_an_unrequested_compression_is_refused(client: str, packed: str) -> None:
    def answer(_: Asked) -> Answered:
        return Answered(content=gzip.compress(gzip.compress(b"{}")), headers={"Content-Encoding": packed})

    with serving(answer) as server:
        outcome = outcome_of(client, server.url)
    assert isinstance(outcome, BackendError)
    assert f"packed as '{packed}'" in str(outcome)
    assert {request.headers["accept-encoding"] for request in server.asked} == {"gzip, deflate"}


@pytest.mark.parametrize("client", [*CLIENTS, "download"])
@pytest.mark.parametrize("status", [429, 503, 500])
def test_an_error_with_unrequested_compression_is_known_by_its_status(
    client: str, status: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(text_model, "time", SimpleNamespace(monotonic=time.monotonic, sleep=lambda _: None))
    with serving(lambda _: Answered(status=status, content=b"x", headers={"Content-Encoding": "br"})) as server:
        outcome = outcome_of(client, server.url)
    assert isinstance(outcome, BackendError)
    assert outcome.is_retryable == (status == 429 or client == "download"), "only a download is free"
    assert f"answered {status}" in str(outcome)


@pytest.mark.parametrize("named", ["aws-chunked", "utf-8", "none", "identity", "gzip, aws-chunked"])
def test_unknown_content_encodings_are_ignored(named: str) -> None:
    content = gzip.compress(b"{}") if "gzip" in named else b"{}"
    with serving(lambda _: Answered(content=content, headers={"Content-Encoding": named})) as server:
        assert (outcome_of("plain", server.url), outcome_of("download", server.url)) == ({}, b"{}")


@pytest.mark.parametrize("client", [client for client in (*CLIENTS, "download") if client != "plain"])
def test_redirect_bodies_are_bounded(monkeypatch: pytest.MonkeyPatch, client: str) -> None:
    monkeypatch.setenv("SALVA_ANSWER_MIB", "1")

    def answer(request: Asked) -> Answered:
        headers = {"Location": f"{server.url}/again{request.path}", "Content-Encoding": "gzip"}
        return Answered(status=307, content=gzip.compress(b" " * 2**22), headers=headers)

    with serving(answer) as server:
        outcome = outcome_of(client, server.url)
    assert isinstance(outcome, BackendError)
    assert "more than 1,048,576 bytes" in str(outcome)
    assert len(server.asked) == 1


@pytest.mark.parametrize("client", CLIENTS)
@pytest.mark.parametrize("first", ["within the host", "to another port"])
def test_keys_do_not_leave_by_chained_redirects(client: str, first: str) -> None:
    """What was posted may be fetched after a redirect, and that is redirected again, to where the key must not go."""

    def answer(request: Asked) -> Answered:
        port = server.url.rpartition(":")[2]
        if "within" in first and "detour" not in request.path:
            return Answered(status=303, headers={"Location": f"{server.url}/detour"})
        elsewhere = f"http://localhost:{port}" if "within" in first else other.url
        return Answered(status=302, headers={"Location": f"{elsewhere}/stolen"})

    with serving(answer) as server, serving(answer) as other:
        outcome = outcome_of(client, server.url)
    assert isinstance(outcome, BackendError)
    assert not [request for request in (*server.asked, *other.asked) if "stolen" in request.path]


def test_the_same_host_under_https_is_the_same_server() -> None:
    import httpx

    def is_same(here: str, there: str) -> bool:
        return endpoint._is_same_server(httpx.URL(here), httpx.URL(there))

    assert is_same("http://a.example/v1", "https://a.example/v1")
    assert is_same("http://a.example:80/v1", "https://a.example:443/v1")
    assert is_same("https://a.example/v1", "https://a.example:443/v2")
    assert is_same("http://a.example:8080/v1", "http://a.example:8080/v2")
    assert not is_same("http://a.example:8080/v1", "https://a.example/v1")
    assert not is_same("http://a.example/v1", "https://a.example:8443/v1")
    assert not is_same("https://a.example/v1", "http://a.example/v1")
    assert not is_same("https://a.example/v1", "https://a.example:8443/v1")


@pytest.mark.parametrize("client", CLIENTS)
def test_a_post_is_not_redirected_to_another_host(client: str) -> None:
    def answer(request: Asked) -> Answered:
        port = server.url.rpartition(":")[2]
        return Answered(status=307, headers={"Location": f"http://localhost:{port}/stolen{request.path}"})

    with serving(answer) as server:
        outcome = outcome_of(client, server.url)
    assert isinstance(outcome, BackendError)
    assert outcome.code == "redirect-refused"
    assert not [request for request in server.asked if "stolen" in request.path]


@pytest.mark.parametrize(
    "endless",
    [
        "print('x' * 4096, end='')",
        "print('x' * 4096, end='', file=sys.stderr)",
        'print(\'{"id": 9, "path": "x"}\')',
        'print(\'{"id": 1, "error": "x"}\')',
    ],
)
def test_a_program_with_endless_output_is_stopped(tmp_path: Path, endless: str) -> None:
    program = tmp_path / "endless.py"
    pid = tmp_path / "pid"
    program.write_text(
        f"import os, sys\nopen({str(pid)!r}, 'w').write(str(os.getpid()))\ninput()\nwhile True:\n    {endless}\n"
    )
    generator = CommandLine(CommandLine.Options(program=f"{sys.executable} {program}", timeout_s=0.6))
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    (outcome,) = generator.render([asked_for("a cat")])
    assert isinstance(outcome, BackendError)
    assert len(str(outcome)) < 1000
    generator.close()
    with pytest.raises(ProcessLookupError):
        os.kill(int(pid.read_text()), 0)
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 100 * 1024, "its output fills the memory"


def test_a_very_long_retry_after_is_not_waited_for(monkeypatch: pytest.MonkeyPatch) -> None:
    clock = SimpleNamespace(monotonic=time.monotonic, sleep=lambda _: pytest.fail("it waited"))
    monkeypatch.setattr(text_model, "time", clock)
    with serving(lambda _: Answered(status=429, headers={"Retry-After": "31536000"})) as server:
        outcome = outcome_of("text model", server.url)
    assert isinstance(outcome, BackendError)
    assert outcome.retry_after_s == 31536000


@pytest.mark.parametrize("content", ["[" * 100_000, "9" * 5000, "no JSON"])
def test_an_invalid_reply_of_a_text_model_is_none(content: str) -> None:
    body = {"id": "x", "object": "chat.completion", "created": 0, "model": "w"}
    message = {"role": "assistant", "content": content}
    body |= {"choices": [{"index": 0, "finish_reason": "stop", "message": message}]}
    with serving(lambda _: Answered(content=json.dumps(body).encode())) as server:
        assert outcome_of("text model", server.url) is None
