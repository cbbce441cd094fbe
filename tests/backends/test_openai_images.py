"""The OpenAI images generator against a server with its API and errors."""

from __future__ import annotations

import base64
import io
import json
import socket
import struct
import subprocess
import sys
import zlib
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import in_process
import pytest
from backends.endpoints import Answered, Asked, asked_for, png, png_text, said, serving

from salva.core.plan import Plan
from salva.core.protocols import Rendered
from salva.core.run_spec import ComponentSpec
from salva.engine.budget import Limits
from salva.engine.progress import SilentProgress
from salva.errors import BackendError, BusyError, RefusedError, SalvaError, UnknownError, UnusableError, UsageError
from salva.generators.openai_images import AS_IS, OpenAiImages
from salva.registry import bind
from salva.remote.endpoint import download
from salva.remote.urls import strange_network
from salva.runs.pipeline import execute
from salva.store.sqlite import open_run
from salva.testing.fakes import written_in
from salva.testing.specs import bound, fake_spec

KEY = "sk-planted-4711"


@pytest.fixture(autouse=True)
def key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    monkeypatch.delenv("OPENAI_BASE_URL", raising=False)


def refusal(code: str, message: str, status: int, kind: str = "invalid_request_error") -> Answered:
    return said({"error": {"message": message, "type": kind, "param": None, "code": code}}, status)


def pictures(request: Asked) -> Answered:
    return said({"created": 1, "data": [{"b64_json": png_text(request.body["prompt"])}]})


def ask(handle: Callable[[Asked], Answered], **options: object) -> Rendered | SalvaError:
    """One request, without retries."""
    with serving(handle) as server:
        model = OpenAiImages(OpenAiImages.Options(base_url=f"{server.url}/v1", **{"model": "some-model", **options}))  # type: ignore[arg-type]  # options by name
        (outcome,) = model.render([asked_for()])
        model.close()
        return outcome


def spec_of(url: str, n: int = 4, **options: object) -> Plan:
    model = bound("model", OpenAiImages, "openai/m", model="m", base_url=f"{url}/v1", send_seed=True, **options)
    return fake_spec(n, models=(model,))


def test_an_image_and_its_request() -> None:
    with serving(pictures) as server:
        settings = {"quality": "low", "price_usd": 0.04, "key_env": "OPENAI_API_KEY"}
        options = OpenAiImages.Options(model="gpt-image-1", base_url=f"{server.url}/v1", **settings)  # type: ignore[arg-type]  # by name
        with closing(OpenAiImages(options)) as model:
            (outcome,) = model.render([asked_for()])
        request = server.asked[0]
    assert isinstance(outcome, Rendered)
    assert written_in(outcome.picture)[0] == ["cat", "dog"]
    assert outcome.provenance == {"cost_usd": 0.04}
    assert request.path == "/v1/images/generations"
    assert request.headers["authorization"] == f"Bearer {KEY}"
    assert request.body == {
        "model": "gpt-image-1",
        "prompt": "cat, dog",
        "n": 1,
        "size": "1024x1024",
        "quality": "low",
    }


def test_dall_e_3_gets_a_prefix_and_its_rewrite_is_recorded() -> None:
    seen: list[Asked] = []

    def handle(request: Asked) -> Answered:
        seen.append(request)
        return said({"created": 1, "data": [{"b64_json": png_text(), "revised_prompt": "A cat beside a dog"}]})

    outcome = ask(handle, model="dall-e-3")
    assert isinstance(outcome, Rendered)
    assert seen[0].body["prompt"] == f"{AS_IS} cat, dog"
    assert seen[0].body["response_format"] == "b64_json"
    assert outcome.provenance["revised_prompt"] == "A cat beside a dog"
    ask(handle, model="dall-e-3", prefix="off")
    assert seen[1].body["prompt"] == "cat, dog"


def test_images_behind_urls_are_fetched_without_the_key() -> None:
    def handle(request: Asked) -> Answered:
        if request.method == "GET":
            assert "authorization" not in request.headers
            return Answered(content=png("cow"))
        return said({"created": 1, "data": [{"url": f"http://{request.headers['host']}/picture.png?sig=1"}]})

    outcome = ask(handle)
    assert isinstance(outcome, Rendered)
    assert written_in(outcome.picture)[0] == ["cow"]


@pytest.mark.parametrize(
    ("endpoint", "url", "network"),
    [
        ("http://8.8.8.8/v1", "http://127.0.0.1:80/a.png", "loopback"),
        ("http://8.8.8.8/v1", "http://localhost/a.png", "loopback"),
        ("http://8.8.8.8/v1", "http://2130706433/a.png", "loopback"),
        ("http://8.8.8.8/v1", "http://127.1/a.png", "loopback"),
        ("http://8.8.8.8/v1", "http://0x7f.0.0.1/a.png", "loopback"),
        ("http://8.8.8.8/v1", "http://a.localhost/a.png", "loopback"),
        ("http://8.8.8.8/v1", "http://[::127.0.0.1]/a.png", "private"),
        ("http://8.8.8.8/v1", "http://[64:ff9b::a9fe:a9fe]/a.png", "private"),
        ("http://8.8.8.8/v1", "http://[fec0::1]/a.png", "private"),
        ("http://8.8.8.8/v1", "http://[64:ff9b:1::7f00:1]/a.png", "private"),
        ("http://8.8.8.8/v1", "http://[::ffff:0:127.0.0.1]/a.png", "private"),
        ("http://8.8.8.8/v1", "http://[2606:4700::1111]/a.png", ""),
        ("http://8.8.8.8/v1", "http://0.0.0.0/a.png", "loopback"),
        ("http://8.8.8.8/v1", "http://[::1]/a.png", "loopback"),
        ("http://8.8.8.8/v1", "http://[::ffff:127.0.0.1]/a.png", "loopback"),
        ("http://8.8.8.8/v1", "http://169.254.169.254/latest/meta-data", "link-local"),
        ("http://8.8.8.8/v1", "https://10.0.0.7/a.png", "private"),
        ("http://8.8.8.8/v1", "https://100.100.100.200/a.png", "private"),
        ("http://8.8.8.8/v1", "https://[fd00:ec2::254]/a.png", "private"),
        ("http://8.8.8.8/v1", "https://1.1.1.1/a.png", ""),
        ("http://192.168.0.5:8000/v1", "http://10.0.0.7/a.png", ""),
        ("http://192.168.0.5:8000/v1", "http://127.0.0.1/a.png", "loopback"),
        ("http://127.0.0.1:8000/v1", "http://[::1]:9/a.png", ""),
        ("http://127.0.0.1:8000/v1", "http://169.254.169.254/", "link-local"),
        ("http://127.0.0.1:8000/v1", "http://1.1.1.1/a.png", ""),
    ],
)
def test_urls_must_be_public_or_on_the_endpoints_network(endpoint: str, url: str, network: str) -> None:
    assert strange_network(url, endpoint) == network


def test_every_address_of_a_host_name_is_checked(monkeypatch: pytest.MonkeyPatch) -> None:
    known = {"pictures.example": ["1.1.1.1", "10.0.0.7"], "api.example": ["8.8.8.8"]}

    def found(host: str, *_: object, **__: object) -> list[Any]:
        return [(0, 0, 0, "", (address, 0)) for address in known[host]]

    monkeypatch.setattr(socket, "getaddrinfo", found)
    assert strange_network("https://pictures.example/a.png", "https://api.example/v1") == "private"
    assert strange_network("https://pictures.example./a.png", "https://api.example/v1") == "private"


def test_host_names_are_resolved_once_and_never_behind_a_proxy(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[str] = []

    def found(host: str, *_: object, **__: object) -> list[Any]:
        asked.append(host)
        if host == "later.example" and asked.count(host) == 1:
            raise socket.gaierror(socket.EAI_AGAIN, "try again")
        return [(0, 0, 0, "", ("10.0.0.7", 0))]

    monkeypatch.setattr(socket, "getaddrinfo", found)
    for _ in range(3):
        assert strange_network("https://once.example/a.png", "https://8.8.8.8/v1") == "private"
    assert asked == ["once.example"]
    assert strange_network("https://later.example/a.png", "https://8.8.8.8/v1") == ""
    assert strange_network("https://later.example/a.png", "https://8.8.8.8/v1") == "private", (
        "what failed is asked again"
    )
    monkeypatch.setenv("HTTPS_PROXY", "http://127.0.0.1:9")
    asked.clear()
    assert strange_network("https://elsewhere.example/a.png", "https://8.8.8.8/v1") == ""
    assert strange_network("https://10.0.0.7/a.png", "https://8.8.8.8/v1") == "private"
    assert strange_network("https://localhost/a.png", "https://8.8.8.8/v1") == "loopback"
    assert asked == []


def test_public_endpoints_cannot_name_loopback_urls() -> None:
    with serving(lambda _: Answered(content=png("cow"))) as server:
        with pytest.raises(UnusableError, match="loopback") as refused:
            download("openai/m", f"{server.url}/a.png?sig=1", 5.0, "https://8.8.8.8/v1")
        assert refused.value.code == "address-private"
        assert server.asked == []
        assert download("openai/m", f"{server.url}/a.png", 5.0, server.url) == png("cow")


@pytest.mark.parametrize(
    ("location", "error"),
    [
        ("http://169.254.169.254/latest/meta-data", "link-local"),
        ("http://10.0.0.7/a.png", "a private address"),
        ("file:///etc/passwd", "/etc/passwd'"),
    ],
)
def test_redirects_to_private_networks_are_refused(location: str, error: str) -> None:
    def handle(request: Asked) -> Answered:
        if request.method == "GET":
            return Answered(status=302, headers={"Location": location})
        return said({"created": 1, "data": [{"url": f"http://{request.headers['host']}/picture.png"}]})

    outcome = ask(handle)
    assert isinstance(outcome, BackendError)
    assert error in str(outcome)
    assert not outcome.is_retryable


_MANY_AT_ONCE = """
import sys
from concurrent.futures import ThreadPoolExecutor
from backends.endpoints import asked_for
from salva.errors import SalvaError
from salva.generators.openai_images import OpenAiImages

model = OpenAiImages(OpenAiImages.Options(model="m", base_url=sys.argv[1]))
with ThreadPoolExecutor(8) as threads:
    outcomes = [outcome for outcomes in threads.map(lambda i: model.render([asked_for(seed=i)]), range(24))
                for outcome in outcomes]
print(*{str(outcome) for outcome in outcomes if isinstance(outcome, SalvaError)}, sep="\\n")
"""


def test_many_threads_can_download_at_once() -> None:
    """In a new process: errors only occurred while libraries were being imported."""

    def handle(request: Asked) -> Answered:
        if request.method == "GET":
            return Answered(content=png("cow"))
        return said({"created": 1, "data": [{"url": f"http://{request.headers['host']}/picture.png"}]})

    with serving(handle) as server:
        child = subprocess.run(
            [sys.executable, "-c", _MANY_AT_ONCE, f"{server.url}/v1"],
            capture_output=True,
            text=True,
            check=False,
            cwd=Path(__file__).parents[1],
        )
    assert (child.stdout.strip(), child.returncode) == ("", 0), child.stderr


def huge_png() -> bytes:
    """A PNG that says it is 30,000 x 30,000, in a few kilobytes."""

    def chunk(name: bytes, content: bytes) -> bytes:
        return struct.pack(">I", len(content)) + name + content + struct.pack(">I", zlib.crc32(name + content))

    header = struct.pack(">IIBBBBB", 30_000, 30_000, 8, 2, 0, 0, 0)
    body = zlib.compress(b"\0" * 100_000)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + chunk(b"IDAT", body) + chunk(b"IEND", b"")


def as_picture(content: bytes) -> Callable[[Asked], Answered]:
    return lambda _: said({"created": 1, "data": [{"b64_json": base64.b64encode(content).decode()}]})


@pytest.mark.parametrize(
    ("handle", "kind", "text"),
    [
        (lambda _: refusal("invalid_api_key", "Incorrect API key provided", 401), UnusableError, "key-refused"),
        (
            lambda _: refusal("insufficient_quota", "You exceeded your current quota", 429, "insufficient_quota"),
            UnusableError,
            "credit-used-up",
        ),
        (lambda _: refusal("billing_hard_limit_reached", "Billing hard limit", 400), UnusableError, "credit-used-up"),
        (lambda _: refusal("model_not_found", "The model 'm' does not exist", 404), UnusableError, "[model-not-found]"),
        (lambda _: refusal("content_policy_violation", "rejected by our safety system", 400), RefusedError, "safety"),
        (lambda _: refusal("moderation_blocked", "rejected", 400), RefusedError, "moderation_blocked"),
        (
            lambda _: refusal("rate_limit_exceeded", "Rate limit reached; see account/billing to pay for more", 429),
            BusyError,
            "Rate limit",
        ),
        (lambda _: refusal("", "The engine is overloaded", 503), UnknownError, "overloaded"),
        (lambda _: refusal("invalid_size", "1x1 is not one of", 400), BackendError, "1x1 is not one of"),
        (lambda _: said({"created": 1, "data": []}), BackendError, "image-missing"),
        (as_picture(b"<!DOCTYPE html><p>Please log in"), BackendError, "Please log in"),
        (as_picture(huge_png()), BackendError, "900000000 pixels"),
        (as_picture(png()[:-30]), BackendError, "not a whole PNG"),
        (lambda _: said({"created": 1, "data": [{"b64_json": "%%%"}]}), BackendError, "output-invalid"),
        (lambda _: Answered(content=b"<html>gateway</html>", headers={"Content-Type": "text/html"}), BackendError, ""),
        (lambda _: Answered(content=b'{"created": 1, "da', n_bytes_said=500), UnknownError, "cannot be reached"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_answers_without_an_image_are_errors(
    handle: Callable[[Asked], Answered], kind: type[SalvaError], text: str
) -> None:
    outcome = ask(handle)
    assert type(outcome) is kind, outcome
    assert text in str(outcome)
    assert KEY not in str(outcome)


def test_the_retry_delay_is_passed_on() -> None:
    outcome = ask(lambda _: said({"error": {"message": "slow down"}}, 429, Retry_After="7"))
    assert isinstance(outcome, BusyError)
    assert outcome.retry_after_s == 7


def test_a_missing_key_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("OPENAI_API_KEY")
    with pytest.raises(UsageError, match="OPENAI_API_KEY"):
        OpenAiImages(OpenAiImages.Options(model="m"))


def test_a_rate_limited_run_loses_and_repeats_nothing(tmp_path: Path) -> None:
    import threading
    import time

    lock = threading.Lock()
    state = {"now": 0, "peak": 0}
    served: list[str] = []

    def handle(request: Asked) -> Answered:
        with lock:
            if state["now"] >= 6:
                return said({"error": {"message": "Rate limit reached"}}, 429)
            state["now"] += 1
            state["peak"] = max(state["peak"], state["now"])
        time.sleep(0.03)
        with lock:
            state["now"] -= 1
            served.append(f"{request.body['prompt']}/{request.body['seed']}")
        return said({"created": 1, "data": [{"b64_json": png_text(request.body["prompt"], str(request.body["seed"]))}]})

    with serving(handle) as server:
        summary = execute(spec_of(server.url, 60), tmp_path / "run", SilentProgress())
        n_busy = len(server.asked) - len(served)
    assert summary.outcomes == {"PASS": 60}
    assert summary.n_rendered == 120
    assert len(served) == len(set(served)) == 120
    assert state["peak"] == 6, "it grew up to the limit"
    assert 0 < n_busy < 40


def test_a_wrong_key_stops_the_run(tmp_path: Path) -> None:
    with serving(lambda _: refusal("invalid_api_key", f"Incorrect API key provided: {KEY}", 401)) as server:
        with pytest.raises(UnusableError, match=r"\[key-refused\]") as caught:
            execute(spec_of(server.url, 50), tmp_path / "run", SilentProgress())
        assert len(server.asked) <= 8
    assert KEY not in str(caught.value)
    stored = b"".join(path.read_bytes() for path in (tmp_path / "run").rglob("*") if path.is_file())
    assert KEY.encode() not in stored


def test_an_unreachable_endpoint_stops_the_run(tmp_path: Path) -> None:
    with pytest.raises(UnusableError, match=r" 2 times.*cannot be reached.*\[endpoint-down\]"):
        execute(spec_of("http://127.0.0.1:9", 1), tmp_path / "run", SilentProgress())


@pytest.mark.parametrize("model", ["openai", "google", "a1111", "comfyui"])
def test_a_password_in_an_address_is_refused(model: str) -> None:
    name = "base_url" if model in ("openai", "google") else "host"
    with pytest.raises(UsageError, match=rf"{name} .*\[url-holds-secret\]") as caught:
        bind(ComponentSpec(role="model", name=model + "/" + "m", options={name: "http://me:sesame@127.0.0.1:9/v1"}))
    assert "sesame" not in str(caught.value)


def test_a_password_in_the_environment_is_not_printed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_BASE_URL", "http://me:sesame@127.0.0.1:9/v1")
    with closing(OpenAiImages(OpenAiImages.Options(model="m"))) as model:
        (outcome,) = model.render([asked_for()])
    assert "at http://127.0.0.1:9/v1/images/generations cannot be reached" in str(outcome)


def test_an_unknown_host_name_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    def unknown(*arguments: object, **more: object) -> object:
        raise socket.gaierror(socket.EAI_NONAME, "Name or service not known")

    monkeypatch.setattr(socket, "getaddrinfo", unknown)
    with closing(OpenAiImages(OpenAiImages.Options(model="m", base_url="http://no-such-host.invalid/v1"))) as model:
        (outcome,) = model.render([asked_for()])
    assert isinstance(outcome, BackendError)
    assert outcome.is_retryable
    assert "http://no-such-host.invalid/v1" in str(outcome)
    assert "Name or service not known" in str(outcome)


def test_an_endpoint_that_hangs_stops_the_run(tmp_path: Path) -> None:
    def hang(request: Asked) -> Answered:
        server.release.wait(30)
        return said({})

    told = r" 8 times.*0\.2 s.*timeout_s.*\[endpoint-down\]"
    with serving(hang) as server, pytest.raises(UnusableError, match=told):
        execute(spec_of(server.url, 50, timeout_s=0.2), tmp_path / "run", SilentProgress())


def test_refusals_and_damaged_images_concern_their_own_cases(tmp_path: Path) -> None:
    def handle(request: Asked) -> Answered:
        if request.body["prompt"].startswith("cat"):
            return refusal("content_policy_violation", "rejected by our safety system", 400)
        if request.body["prompt"].startswith("cow"):
            return as_picture(b"<html>oops")(request)
        return pictures(request)

    with serving(handle) as server:
        spec = spec_of(server.url, 30)
        summary = execute(spec, tmp_path / "run", SilentProgress())
        n_asked = len(server.asked)
        again = execute(spec, tmp_path / "run", SilentProgress())
        # What broke is tried again; a refusal only with the user's word.
        asked_again = {request.body["prompt"] for request in server.asked[n_asked:]}
    assert summary.outcomes["PASS"] == 12
    assert summary.outcomes["ERROR"] == 18
    assert again.n_rendered == 0
    assert asked_again
    assert all(prompt.startswith("cow") for prompt in asked_again)
    with open_run(tmp_path / "run") as store:
        reasons = {verdict.reason for verdict in store.verdicts() if verdict.outcome == "ERROR"}
    assert any("safety system" in reason for reason in reasons)
    assert any("not a whole" in reason for reason in reasons)


def test_a_snapshot_that_drifts_stops_the_run(tmp_path: Path) -> None:
    def handle(request: Asked) -> Answered:
        name = "m-2026-01" if len(server.asked) < 12 else "m-2026-02"
        return said({"created": 1, "model": name, "data": [{"b64_json": png_text(request.body["prompt"])}]})

    with serving(handle) as server, pytest.raises(UnusableError, match=r"\[snapshot-changed\]") as caught:
        execute(spec_of(server.url, 30), tmp_path / "run", SilentProgress())
    assert "--model openai/m-2026-02" in str(caught.value)
    with open_run(tmp_path / "run") as store:
        assert {row.provenance["snapshot"] for _, row in store.renders() if row.image_id} == {"m-2026-01"}


def test_a_cost_limit_is_exact_and_the_run_can_continue(tmp_path: Path) -> None:
    with serving(pictures) as server:
        spec = spec_of(server.url, 10, price_usd=0.1)
        first = execute(spec, tmp_path / "run", SilentProgress(), limits=Limits(max_cost_usd=0.7))
        assert len(server.asked) == 7
        assert first.cost_usd == pytest.approx(0.7)
        assert "--max-cost 0.7" in first.limit_reached
        assert not first.is_complete
        rest = execute(spec, tmp_path / "run", SilentProgress(), limits=Limits(max_cost_usd=10))
        assert len(server.asked) == 20
    assert rest.outcomes == {"PASS": 10}
    assert rest.is_complete
    assert rest.limit_reached == ""


def test_a_cost_limit_without_a_price_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"'openai/m'.*--set model\.price_usd=.*\[price-missing\]"):
        execute(spec_of("http://127.0.0.1:9"), tmp_path / "run", SilentProgress(), limits=Limits(max_cost_usd=1))


def test_from_the_command_line(tmp_path: Path) -> None:
    """White images show no entity, so trust is none."""
    from PIL import Image

    buffer = io.BytesIO()
    Image.new("RGB", (64, 64), "white").save(buffer, "PNG")
    white = base64.b64encode(buffer.getvalue()).decode()
    with serving(lambda _: said({"created": 1, "data": [{"b64_json": white}]})) as server:
        command = [
            *("run", "metalogic", "--size", "6", "--model", "openai/gpt-image-1", "--reader", "none"),
            *("--detector", "pocket", "--set", f"model.base_url={server.url}/v1"),
            *("--set", "model.price_usd=0.01", "--out", str(tmp_path / "run"), "--no-progress"),
        ]
        first = in_process.salva(*command, "--max-images", "5")
        assert (first.returncode, len(server.asked)) == (3, 5), first.stderr
        assert "Stopped at --max-images 5" in first.stderr
        assert "cost: 0.0500 USD" in first.stderr
        second = in_process.salva(*command)
        assert (second.returncode, len(server.asked)) == (3, 12), second.stderr
    asked = json.loads((tmp_path / "run" / "run.json").read_text())["spec"]
    assert asked["models"][0]["name"] == "openai/gpt-image-1"
