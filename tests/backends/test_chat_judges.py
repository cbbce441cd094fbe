"""Judges at endpoints: the APIs of three providers on loopback, and their errors."""

from __future__ import annotations

import gc
import json
import socket
from typing import Any

import pytest
from backends.judge_servers import Fail, Say, Server, Turn, picture_in, serving

from salva.core.image import Picture
from salva.core.observation import Answer
from salva.core.protocols import ObserveRequest, Query
from salva.core.run_spec import ComponentSpec
from salva.engine.budget import Limits, check_prices
from salva.errors import (
    BackendError,
    BusyError,
    PluginError,
    RefusedError,
    SalvaError,
    UnknownError,
    UnusableError,
    UsageError,
)
from salva.judges.prompts import SYSTEM
from salva.registry import bind
from salva.remote.providers import OPENAI
from salva.testing.conformance import check_observer

for package in ("openai", "anthropic", "google.genai"):
    pytest.importorskip(package, reason="judges at endpoints need the api extra")

PROVIDERS = ("openai", "anthropic", "google")
KEY = "sk-a-planted-key-that-must-not-leak"
PICTURE = Picture(rgb=bytes(range(192)), width=8, height=8)
SCORE = Query(role="judge", kind="score", text="a cat on a mat")
YES_NO = Query(role="judge", kind="answer", text="is there a cat?", choices=("yes", "no"))
GRADE = Query(role="judge", kind="grade", text="a mat", questions=("is there a cat?", "is it red?"))
IN_WORDS = "Relevance (0-50 points): [[35]], Object Accuracy (0-50 points): [[40]]"
AS_JSON = json.dumps({"explanation": "a cat", "objects": 40, "relations": 35})


@pytest.fixture(autouse=True)
def keys(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("OPENAI_API_KEY", "ANTHROPIC_API_KEY", "GEMINI_API_KEY"):
        monkeypatch.setenv(name, KEY)
    for name in ("OPENAI_BASE_URL", "ANTHROPIC_BASE_URL", "GEMINI_BASE_URL", "GOOGLE_API_KEY"):
        monkeypatch.delenv(name, raising=False)


def judge(provider: str, server: Server, **options: str) -> Any:
    url = server.url + ("/v1" if provider == "openai" else "")
    spec = ComponentSpec(role="judge", name=provider + "/" + "judge-1", options={"base_url": url, **options})
    return bind(spec).build()


def asked(provider: str, turns: list[Turn], query: Query = SCORE, **options: str) -> tuple[Answer | SalvaError, Server]:
    with serving(turns) as server:
        component = judge(provider, server, **options)
        (outcome,) = component.observe([ObserveRequest(picture=PICTURE, query=query)])
        component.close()
        return outcome, server


def settings_of(provider: str, body: dict[str, Any]) -> dict[str, Any]:
    """The settings of a request, by the same names for every provider."""
    if provider == "google":
        settings = body.get("generationConfig", {})
        return {
            "temperature": settings.get("temperature"),
            "limit": settings.get("maxOutputTokens"),
            "schema": settings.get("responseJsonSchema"),
        }
    if provider == "anthropic":
        schema = body.get("output_config", {}).get("format", {}).get("schema")
        return {"temperature": body.get("temperature"), "limit": body.get("max_tokens"), "schema": schema}
    schema = body.get("response_format", {}).get("json_schema", {}).get("schema")
    limit = body.get("max_tokens") or body.get("max_completion_tokens")
    return {"temperature": body.get("temperature"), "limit": limit, "schema": schema}


@pytest.mark.parametrize("provider", PROVIDERS)
def test_a_score_has_usage_and_snapshot(provider: str) -> None:
    prices = {"usd_per_million_input": "2", "usd_per_million_output": "10"}
    answer, server = asked(provider, [Say(text=AS_JSON)], SCORE, **prices)
    assert isinstance(answer, Answer), answer
    assert answer.scores == {"objects": 40.0, "relations": 35.0}
    assert (answer.reply, answer.problem, answer.snapshot) == (AS_JSON, "", "judge-2026-01-01")
    assert answer.usage == {
        "n_calls": 1.0,
        "input_tokens": 1000.0,
        "output_tokens": 20.0,
        "cost_usd": pytest.approx(0.0022),
    }
    (body,) = server.asked
    sent = settings_of(provider, body)
    assert (sent["temperature"], sent["limit"]) == (0, 1024)
    assert set(sent["schema"]["required"]) == {"explanation", "objects", "relations"}
    assert SCORE.text in json.dumps(body)
    assert SYSTEM in json.dumps(body)
    assert picture_in(body).tobytes() == PICTURE.rgb


@pytest.mark.parametrize("provider", PROVIDERS)
def test_the_template_semvarbench_replaces_the_prompt(provider: str) -> None:
    answer, server = asked(provider, [Say(text=f"A cat. {IN_WORDS}")], prompt="semvarbench")
    assert isinstance(answer, Answer), answer
    assert answer.scores == {"objects": 40.0, "relations": 35.0}
    (body,) = server.asked
    assert settings_of(provider, body)["schema"] is None
    assert f"[Prompt] {SCORE.text}" in json.dumps(body)
    assert "Give two ratings" not in json.dumps(body)


@pytest.mark.parametrize("provider", PROVIDERS)
def test_answers_and_grades(provider: str) -> None:
    answer, _ = asked(provider, [Say(text='{"explanation": "", "answer": "no"}')], YES_NO)
    assert isinstance(answer, Answer)
    assert (answer.text, answer.scores) == ("no", {})
    graded, server = asked(provider, [Say(text="q1: [[1]], q2: [[0.25]]")], GRADE, structured="off", explain="false")
    assert isinstance(graded, Answer)
    assert graded.scores == {"q1": 1.0, "q2": 0.25}
    assert settings_of(provider, server.asked[0])["schema"] is None
    assert "q2: is it red?" in json.dumps(server.asked[0])


@pytest.mark.parametrize("provider", PROVIDERS)
def test_conformance(provider: str) -> None:
    with serving([Say(text=AS_JSON)]) as server:
        url = server.url + ("/v1" if provider == "openai" else "")
        spec = ComponentSpec(role="judge", name=provider + "/" + "judge-1", options={"base_url": url})
        check_observer(bind(spec), [PICTURE, PICTURE], query=SCORE)


@pytest.mark.parametrize("provider", PROVIDERS)
def test_an_unreadable_reply_is_retried_with_the_problem(provider: str) -> None:
    answer, server = asked(provider, [Say(text="about 50/50"), Say(text=""), Say(text=IN_WORDS)], structured="off")
    assert isinstance(answer, Answer)
    assert answer.scores == {"objects": 40.0, "relations": 35.0}
    assert answer.usage["n_calls"] == 3
    assert answer.usage["input_tokens"] == 3000
    last = json.dumps(server.asked[-1])
    assert "about 50/50" in last
    assert "no rating" in last


@pytest.mark.parametrize("provider", PROVIDERS)
def test_after_the_last_attempt_the_answer_is_a_problem(provider: str) -> None:
    answer, server = asked(provider, [Say(text="I would say 50.")], structured="off", attempts="2")
    assert isinstance(answer, Answer)
    assert (answer.text, answer.scores, answer.reply) == ("", {}, "I would say 50.")
    assert "no rating" in answer.problem
    assert "asked 2 times" in answer.problem
    assert len(server.asked) == 2


@pytest.mark.parametrize("provider", PROVIDERS)
def test_a_refused_schema_is_not_sent_again(provider: str) -> None:
    def answer(body: dict[str, Any]) -> Turn:
        if settings_of(provider, body)["schema"] is not None:
            return Fail(status=400, message="json_schema is not supported by this model")
        return Say(text=IN_WORDS)

    with serving(answer) as server:
        component = judge(provider, server)
        for n_calls in (2, 3):
            (outcome,) = component.observe([ObserveRequest(picture=PICTURE, query=SCORE)])
            assert isinstance(outcome, Answer), outcome
            assert outcome.scores == {"objects": 40.0, "relations": 35.0}
            assert outcome.usage["n_calls"] == 1
            assert len(server.asked) == n_calls
        assert "[[number]]" in json.dumps(server.asked[-1])


@pytest.mark.parametrize("provider", PROVIDERS)
def test_an_ignored_schema_is_replaced_by_the_form(provider: str) -> None:
    """Some servers silently ignore a schema."""
    answer, server = asked(provider, [Say(text="It fits well."), Say(text=IN_WORDS)])
    assert isinstance(answer, Answer)
    assert answer.scores == {"objects": 40.0, "relations": 35.0}
    assert [settings_of(provider, body)["schema"] is not None for body in server.asked] == [True, False]
    assert "[[number]]" in json.dumps(server.asked[-1])
    _, insisting = asked(provider, [Say(text="It fits well.")], structured="on")
    assert all(settings_of(provider, body)["schema"] is not None for body in insisting.asked)


@pytest.mark.parametrize("provider", PROVIDERS)
def test_a_required_schema_is_not_dropped(provider: str) -> None:
    outcome, server = asked(provider, [Fail(status=400, message="no json_schema here")], structured="on")
    assert isinstance(outcome, BackendError)
    assert not outcome.is_retryable
    assert len(server.asked) == 1


@pytest.mark.parametrize("provider", PROVIDERS)
def test_other_bad_requests_do_not_drop_the_schema(provider: str) -> None:
    with serving([Fail(status=400, message="the picture is broken")] * 2 + [Say(text=AS_JSON)]) as server:
        component = judge(provider, server)
        (outcome,) = component.observe([ObserveRequest(picture=PICTURE, query=SCORE)])
        assert isinstance(outcome, BackendError)
        assert "the picture is broken" in str(outcome)
        (outcome,) = component.observe([ObserveRequest(picture=PICTURE, query=SCORE)])
        assert isinstance(outcome, Answer)
        assert settings_of(provider, server.asked[-1])["schema"] is not None


@pytest.mark.parametrize("provider", PROVIDERS)
def test_a_refused_temperature_is_not_sent_again(provider: str) -> None:
    message = "Unsupported value: 'temperature' does not support 0 with this model."
    outcome, server = asked(provider, [Fail(status=400, message=message), Say(text=AS_JSON)])
    assert isinstance(outcome, Answer), outcome
    assert [settings_of(provider, body)["temperature"] for body in server.asked] == [0, None]
    assert all(settings_of(provider, body)["schema"] for body in server.asked)


def test_the_new_name_of_the_token_limit_is_used() -> None:
    message = (
        "Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead."
    )
    outcome, server = asked("openai", [Fail(status=400, message=message), Say(text=AS_JSON)])
    assert isinstance(outcome, Answer)
    assert "max_tokens" not in server.asked[1]
    assert server.asked[1]["max_completion_tokens"] == 1024


@pytest.mark.parametrize(
    ("provider", "finish"), [("openai", "length"), ("anthropic", "max_tokens"), ("google", "MAX_TOKENS")]
)
def test_a_truncated_reply_is_a_problem(provider: str, finish: str) -> None:
    answer, _ = asked(provider, [Say(text=IN_WORDS, finish=finish)], attempts="1")
    assert isinstance(answer, Answer)
    assert "1024 tokens" in answer.problem
    assert answer.scores == {}


@pytest.mark.parametrize(
    ("provider", "turn"),
    [
        ("openai", Say(refusal="I cannot judge this")),
        ("openai", Say(finish="content_filter")),
        ("openai", Fail(status=400, message="rejected by our content_policy", kind="content_policy_violation")),
        ("anthropic", Say(text="I would rather not", finish="refusal")),
        ("google", Say(refusal="PROHIBITED_CONTENT")),
        ("google", Say(finish="SAFETY")),
    ],
)
def test_refusals_are_errors(provider: str, turn: Turn) -> None:
    outcome, server = asked(provider, [turn])
    assert isinstance(outcome, RefusedError), outcome
    assert len(server.asked) == 1


ERRORS: list[tuple[Turn, type[SalvaError], str]] = [
    (Fail(status=401, message="Incorrect API key provided", kind="authentication_error"), UnusableError, "key"),
    (Fail(status=404, message="no such model", kind="not_found"), UnusableError, "[model-not-found]"),
    (Fail(status=429, message="slow down", kind="rate_limit_error", headers={"retry-after": "7"}), BusyError, "429"),
    (Fail(status=500, message="oops", kind="api_error"), UnknownError, "500"),
    (Fail(status=500, body=b"<html>nginx</html>"), UnknownError, "500"),
]


@pytest.mark.parametrize("provider", PROVIDERS)
@pytest.mark.parametrize(("turn", "kind", "text"), ERRORS, ids=["key", "model", "busy", "server", "html"])
def test_errors_of_the_endpoint(provider: str, turn: Turn, kind: type[SalvaError], text: str) -> None:
    outcome, server = asked(provider, [turn])
    assert type(outcome) is kind, outcome
    assert text in str(outcome)
    assert KEY not in str(outcome)
    assert len(server.asked) == 1, "retries belong to the executor"
    if isinstance(outcome, BusyError):
        assert outcome.retry_after_s == 7


def test_an_invalid_google_key_is_unusable() -> None:
    turn = Fail(status=400, message="API key not valid. Please pass a valid API key.", kind="INVALID_ARGUMENT")
    outcome, server = asked("google", [turn])
    assert type(outcome) is UnusableError
    assert len(server.asked) == 1


@pytest.mark.parametrize("provider", PROVIDERS)
def test_an_unreachable_endpoint(provider: str) -> None:
    with serving([Say()]) as server:
        component = judge(provider, server)
    (outcome,) = component.observe([ObserveRequest(picture=PICTURE, query=SCORE)])
    component.close()
    assert isinstance(outcome, BackendError)
    assert outcome.is_retryable
    assert "cannot be reached" in str(outcome)


@pytest.mark.parametrize("provider", PROVIDERS)
def test_an_endpoint_that_hangs(provider: str) -> None:
    with socket.create_server(("127.0.0.1", 0)) as silent:
        options = {"base_url": f"http://127.0.0.1:{silent.getsockname()[1]}/v1", "timeout_s": "0.3"}
        component = bind(ComponentSpec(role="judge", name=provider + "/" + "judge-1", options=options)).build()
        (outcome,) = component.observe([ObserveRequest(picture=PICTURE, query=SCORE)])
        component.close()
    assert isinstance(outcome, UnknownError)
    assert outcome.code == "maybe-paid"
    assert "timeout_s" in str(outcome)


@pytest.mark.parametrize("provider", ["openai", "anthropic"])
def test_connections_are_closed_when_the_judge_is_collected(provider: str) -> None:
    with serving([Say(text=AS_JSON)]) as server:
        component = judge(provider, server)
        component.observe([ObserveRequest(picture=PICTURE, query=SCORE)])
        connections = component._client._client
        assert not connections.is_closed
        del component
        gc.collect()
        assert connections.is_closed


@pytest.mark.parametrize("provider", PROVIDERS)
def test_an_unknown_kind_of_query_is_not_sent(provider: str) -> None:
    outcome, server = asked(provider, [Say(text=AS_JSON)], Query(role="judge", kind="guess", text="?"))
    assert isinstance(outcome, PluginError)
    assert server.asked == []


@pytest.mark.parametrize("provider", PROVIDERS)
def test_a_missing_key_is_refused(provider: str, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("OPENAI_API_KEY", "ANTHROPIC_API_KEY", "GEMINI_API_KEY"):
        monkeypatch.delenv(name)
    with pytest.raises(UsageError, match="_API_KEY"):
        bind(ComponentSpec(role="judge", name=provider + "/" + "judge-1")).build()


def test_without_usage_the_cost_is_unknown() -> None:
    prices = {"usd_per_million_input": "2", "usd_per_million_output": "10"}
    answer, _ = asked("openai", [Say(text=AS_JSON, has_usage=False)], SCORE, **prices)
    assert isinstance(answer, Answer)
    assert answer.usage == {"n_calls": 1.0}


def test_large_images_are_scaled_down() -> None:
    big = Picture(rgb=bytes(3 * 64 * 32), width=64, height=32)
    with serving([Say(text=AS_JSON)]) as server:
        judge("openai", server, side="16").observe([ObserveRequest(picture=big, query=SCORE)])
    assert picture_in(server.asked[0]).size == (16, 8)


@pytest.mark.parametrize("name", ["attempts", "max_tokens"])
def test_invalid_options_are_refused(name: str) -> None:
    with pytest.raises(UsageError, match=r"\[option-invalid\]"):
        bind(ComponentSpec(role="judge", name="openai/x", options={name: "0"}))


@pytest.mark.parametrize("name", ["openai", "anthropic", "google"])
def test_a_password_in_an_address_is_refused(name: str) -> None:
    options = {"base_url": "http://me:sesame@127.0.0.1:9/v1"}
    with pytest.raises(UsageError, match=r"base_url .*\[url-holds-secret\]") as caught:
        bind(ComponentSpec(role="judge", name=name + "/" + "m", options=options))
    assert "sesame" not in str(caught.value)


def test_a_price_needs_both_parts() -> None:
    def has_price(**options: str) -> bool:
        binding = bind(ComponentSpec(role="judge", name="openai/x", options=options))
        try:
            check_prices([binding], Limits(max_cost_usd=1.0))
        except UsageError:
            return False
        return True

    assert has_price(usd_per_million_input="1", usd_per_million_output="2")
    assert not has_price(usd_per_million_input="1")


GARBAGE = [
    *(b"<html>a proxy's page</html>", b"", b"{}", b"[]", b"null", b'"yes"', b'{"choices": [{}]}'),
    *(b'{"choices": [{"message": null, "finish_reason": "stop"}]}', b'{"choices": [{"message": {"content": null}}]}'),
    *(b'{"content": null, "usage": null}', b'{"content": [{"type": "text"}]}', b'{"content": "yes"}'),
    *(b'{"candidates": [{}]}', b'{"candidates": [{"content": {"parts": [{}]}}]}', b'{"candidates": 5}'),
]


@pytest.mark.parametrize("provider", PROVIDERS)
@pytest.mark.parametrize("body", GARBAGE, ids=range(len(GARBAGE)))
def test_garbage_is_an_error_or_a_problem(provider: str, body: bytes) -> None:
    outcome, _ = asked(provider, [Fail(status=200, body=body)], attempts="1")
    if isinstance(outcome, Answer):
        assert outcome.problem
        assert (outcome.text, outcome.scores) == ("", {})
    else:
        assert isinstance(outcome, BackendError)
        assert "judge-1" in str(outcome)


def test_a_web_page_instead_of_an_answer_is_shown() -> None:
    page = "<html><body>Welcome to nginx!</body></html>"
    with pytest.raises(json.JSONDecodeError) as caught:
        json.loads(page)
    told = OPENAI.translate("openai/gpt-4o", caught.value)
    assert isinstance(told, BackendError)
    assert not told.is_retryable
    for part in (page, "[output-invalid]", "check the base URL"):
        assert part in str(told)
