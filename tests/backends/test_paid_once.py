"""Every billable request is counted at the server: what was paid for is not paid for again, whatever goes wrong."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import threading
import time
from collections import Counter
from collections.abc import Callable, Mapping
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast
from urllib.parse import urlparse

import pytest
from backends.endpoints import Answered, Asked, Server, asked_for, png, png_text, said, serving
from backends.faults import reply

pytest.importorskip("openai", reason="models at endpoints need the api extra")

from salva.core.observation import Answer
from salva.core.plan import Binding, Plan
from salva.core.protocols import ObserveOrder, Query, Rendered, Ticket
from salva.engine import guard
from salva.engine.budget import Limits
from salva.engine.component_runner import ComponentRunner
from salva.engine.progress import SilentProgress
from salva.errors import BackendError, SalvaError, UnknownError, UnreachableError, UnusableError
from salva.generators.a1111 import A1111
from salva.generators.comfyui import ComfyUi
from salva.generators.google_images import GoogleImages
from salva.generators.openai_images import OpenAiImages
from salva.judges.anthropic_judge import AnthropicJudge
from salva.judges.chat_judge import ChatJudge
from salva.judges.google_judge import GoogleJudge
from salva.remote.errors import unreachable
from salva.remote.providers import GOOGLE
from salva.remote.urls import expiry_of
from salva.runs.pipeline import execute, flow_through
from salva.runs.summary import RunSummary
from salva.store.records import Status
from salva.store.sqlite import open_run
from salva.testing.fakes import painted
from salva.testing.specs import bound, fake_spec

SCRIPT = Path(__file__).parents[1] / "flow" / "endpoint_run.py"
WORKFLOW = {
    "3": {"class_type": "KSampler", "inputs": {"seed": 1, "positive": ["6", 0]}},
    "6": {"class_type": "CLIPTextEncode", "inputs": {"text": "", "clip": ["4", 1]}},
    "9": {"class_type": "SaveImage", "inputs": {"images": ["8", 0]}},
}


@pytest.fixture(autouse=True)
def keys(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("OPENAI", "ANTHROPIC", "GEMINI"):
        monkeypatch.setenv(f"{name}_API_KEY", "planted-key-4711")
        monkeypatch.delenv(f"{name}_BASE_URL", raising=False)
    monkeypatch.delenv("GOOGLE_API_KEY", raising=False)
    monkeypatch.setattr(guard, "FIRST_DELAY_S", 0.01)


def well(request: Asked) -> Answered:
    """What every adapter's server answers when nothing is wrong."""
    path = urlparse(request.path).path
    if path == "/sdapi/v1/sd-models":
        return said([{"model_name": "v1"}])
    if path == "/sdapi/v1/txt2img":
        return said({"images": [png_text()], "info": "{}"})
    if path == "/prompt":
        return said({"prompt_id": "job-1"})
    if path == "/history/job-1":
        outputs = {"9": {"images": [{"filename": "a.png", "subfolder": "", "type": "output"}]}}
        return said({"job-1": {"outputs": outputs, "status": {"completed": True}}})
    if path == "/view":
        return Answered(content=png())
    if path.endswith("/chat/completions"):
        return reply('{"answer": "yes"}')
    if path.endswith("/messages"):
        made = {"id": "1", "type": "message", "role": "assistant", "model": "j", "stop_reason": "end_turn"}
        usage = {"input_tokens": 1, "output_tokens": 1}
        return said({**made, "content": [{"type": "text", "text": '{"answer": "yes"}'}], "usage": usage})
    if path.endswith(":generateContent"):
        is_judge = "judge" in path
        part = (
            {"text": '{"answer": "yes"}'} if is_judge else {"inlineData": {"mimeType": "image/png", "data": png_text()}}
        )
        return said({"candidates": [{"content": {"role": "model", "parts": [part]}, "finishReason": "STOP"}]})
    return said({"created": 1, "data": [{"b64_json": png_text()}]})


def binding_of(name: str, url: str, folder: Path, **options: object) -> Binding:
    """An adapter's component at a server."""
    workflow = folder / "w.json"
    workflow.write_text(json.dumps(WORKFLOW))
    match name:
        case "openai":
            return bound("model", OpenAiImages, "openai/m", model="m", base_url=f"{url}/v1", **options)
        case "google":
            return bound("model", GoogleImages, "google/m", model="m", base_url=url, **options)
        case "a1111":
            return bound("model", A1111, "a1111/v1", checkpoint="v1", host=url, **options)
        case "comfyui":
            return bound("model", ComfyUi, "comfyui/w", workflow=str(workflow), host=url, **options)
        case "openai judge":
            return bound("judge", ChatJudge, "openai/judge", model="judge", base_url=f"{url}/v1", **options)
        case "anthropic judge":
            return bound("judge", AnthropicJudge, "anthropic/judge", model="judge", base_url=url, **options)
        case _:
            return bound("judge", GoogleJudge, "google/judge", model="judge", base_url=url, **options)


BILLED = ("openai", "google", "openai judge", "anthropic judge", "google judge")
OWN_SERVER = ("a1111", "comfyui")


def outcome_of(binding: Binding) -> object:
    """What comes of one order, with all that is tried again."""
    runner = ComponentRunner(binding, threading.Event())
    with closing(runner):
        if binding.role == "judge":
            query = Query(role="judge", kind="answer", text="Is there a cat?", choices=("yes", "no"))
            (outcome,) = runner([ObserveOrder(picture=painted(["cat"]), query=query)])
        else:
            (outcome,) = runner([asked_for()])
    return outcome


def failing_with(fault: Callable[[int], Answered | None]) -> Callable[[Asked], Answered]:
    """A server whose n-th billable request meets a fault."""
    n_posts, lock = [0], threading.Lock()

    def handle(request: Asked) -> Answered:
        if request.method != "POST":
            return well(request)
        with lock:
            n_posts[0] += 1
            n = n_posts[0]
        return fault(n) or well(request)

    return handle


def n_posts(server: Server) -> int:
    return sum(request.method == "POST" for request in server.asked)


def error(status: int, **headers: str) -> Answered:
    return said({"error": {"message": "no", "type": "x", "code": status}}, status, **headers)


UNKNOWN: Mapping[str, Callable[[], Answered]] = {
    "500": lambda: error(500),
    "502": lambda: error(502),
    "503 alone": lambda: error(503),
    "504": lambda: error(504),
    "reset": lambda: Answered(is_dropped=True),
    "half": lambda: Answered(content=b'{"created": 1, "da', n_bytes_said=5000),
    "no HTTP": lambda: Answered(content=b"\x00\x01 hello\r\n\r\n", is_raw=True),
}


@pytest.mark.parametrize("fault", UNKNOWN)
@pytest.mark.parametrize("name", BILLED)
def test_what_may_have_been_billed_is_asked_once(name: str, fault: str, tmp_path: Path) -> None:
    with serving(failing_with(lambda _: UNKNOWN[fault]())) as server:
        outcome = outcome_of(binding_of(name, server.url, tmp_path))
        assert n_posts(server) == 1
    assert isinstance(outcome, UnknownError)
    assert (outcome.code, outcome.is_retryable) == ("maybe-paid", False)


@pytest.mark.parametrize("fault", ["500", "reset"])
@pytest.mark.parametrize("name", OWN_SERVER)
def test_ones_own_server_is_asked_at_most_twice_more(name: str, fault: str, tmp_path: Path) -> None:
    with serving(failing_with(lambda _: UNKNOWN[fault]())) as server:
        outcome = outcome_of(binding_of(name, server.url, tmp_path))
        assert n_posts(server) == 3
        assert isinstance(outcome, UnknownError)
        assert outcome.is_retryable
    with serving(failing_with(lambda _: UNKNOWN[fault]())) as server:
        outcome_of(binding_of(name, server.url, tmp_path, price_usd=0.01))
        assert n_posts(server) == 1, "a server with a price is not asked again"


@pytest.mark.parametrize("name", BILLED)
def test_an_answer_that_takes_too_long_may_have_been_billed(name: str, tmp_path: Path) -> None:
    with serving(failing_with(lambda _: Answered(delay_s=20, is_dropped=True))) as server:
        outcome = outcome_of(binding_of(name, server.url, tmp_path, timeout_s=0.3))
        assert n_posts(server) == 1
    assert isinstance(outcome, UnknownError)
    assert outcome.code == "maybe-paid"


@pytest.mark.parametrize("name", [*BILLED, *OWN_SERVER])
@pytest.mark.parametrize(("status", "headers"), [(429, {}), (429, {"Retry_After": "0"}), (503, {"Retry_After": "0"})])
def test_what_was_turned_away_is_asked_again(name: str, status: int, headers: dict[str, str], tmp_path: Path) -> None:
    with serving(failing_with(lambda n: error(status, **headers) if n < 3 else None)) as server:
        outcome = outcome_of(binding_of(name, server.url, tmp_path))
        assert n_posts(server) == 3
    assert isinstance(outcome, Rendered | Ticket | Answer)


@pytest.mark.parametrize("name", [*BILLED, *OWN_SERVER])
@pytest.mark.parametrize("status", [400, 408, 409, 413, 425])
def test_other_errors_of_the_request_are_final(name: str, status: int, tmp_path: Path) -> None:
    with serving(failing_with(lambda _: error(status))) as server:
        try:
            outcome = outcome_of(binding_of(name, server.url, tmp_path, **_plain(name)))
        except SalvaError as problem:
            outcome = problem
        assert n_posts(server) == 1
    assert isinstance(outcome, BackendError)
    assert not isinstance(outcome, UnknownError)


def _plain(name: str) -> dict[str, object]:
    """Judges leave parameters out after a 400, which is another request; without them there is nothing to leave out."""
    return {"structured": "off", "temperature": None} if "judge" in name else {}


def test_what_was_never_sent_is_sent_again() -> None:
    class ConnectTimeout(Exception):
        pass

    class ReadTimeout(Exception):
        pass

    assert isinstance(unreachable("m", "http://x", ConnectTimeout()), UnreachableError)
    assert isinstance(unreachable("m", "http://x", ReadTimeout()), UnknownError)
    assert isinstance(unreachable("m", "http://x", ReadTimeout(), is_free=True), UnreachableError)


def test_google_says_that_its_own_500_is_free() -> None:
    from google.genai.errors import ServerError

    def is_free(url: str, status: int) -> bool:
        response = SimpleNamespace(request=SimpleNamespace(url=url), headers={})
        problem: Any = ServerError(status, {"error": {"message": "x"}}, cast(Any, response))
        error = GOOGLE.translate("google/m", problem)
        assert isinstance(error, UnknownError)
        return error.is_retryable

    path = "v1beta/models/m:generateContent"
    assert is_free(f"https://generativelanguage.googleapis.com/{path}", 500)
    assert not is_free(f"https://generativelanguage.googleapis.com/{path}", 504)
    assert not is_free(f"https://elsewhere.example/{path}", 500)


# Redirects


@pytest.mark.parametrize("status", [302, 307, 308])
@pytest.mark.parametrize("name", [*BILLED, *OWN_SERVER])
def test_a_loop_of_redirects_costs_ten_requests_in_all(name: str, status: int, tmp_path: Path) -> None:
    def again(request: Asked) -> Answered:
        return Answered(status=status, headers={"Location": f"http://{request.headers['host']}{request.path}"})

    with serving(again) as server:
        binding = binding_of(name, server.url, tmp_path)
        runner, problems = ComponentRunner(binding, threading.Event()), list[SalvaError]()

        def work(n: int) -> None:
            query = Query(role="judge", kind="answer", text=f"{n}?", choices=("yes", "no"))
            order: Any = ObserveOrder(picture=painted(["cat"]), query=query)
            try:
                runner([order if binding.role == "judge" else asked_for(seed=n)])
            except SalvaError as problem:
                problems.append(problem)

        threads = [threading.Thread(target=work, args=(n,)) for n in range(8)]
        with closing(runner):
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join(20)
        assert len(server.asked) <= 10
    assert {problem.code for problem in problems} <= {"redirect-loop", "redirect-refused"}
    assert len(problems) == 8


def test_a_redirected_request_is_served(tmp_path: Path) -> None:
    def handle(request: Asked) -> Answered:
        if request.path.startswith("/v1"):
            return Answered(status=307, headers={"Location": f"http://{request.headers['host']}/new{request.path}"})
        return well(request)

    with serving(handle) as server:
        binding = binding_of("openai", server.url, tmp_path)
        with closing(ComponentRunner(binding, threading.Event())) as runner:
            outcomes = [runner([asked_for(seed=n)])[0] for n in range(12)]
    assert all(isinstance(outcome, Rendered) for outcome in outcomes), "only redirects in a row are counted"


# Images behind URLs


@dataclass(slots=True)
class UrlServer:
    """Generates images behind URLs; fails as told when they are fetched."""

    flaw: Callable[[str, int], Answered | None] = lambda _path, _n: None
    """Of a URL, what its n-th request meets."""
    paid: Counter[str] = field(default_factory=Counter)
    fetched: Counter[str] = field(default_factory=Counter)
    extra: dict[str, object] = field(default_factory=dict)
    """What more is said of an image."""
    _prompts: dict[str, str] = field(default_factory=dict)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def __call__(self, request: Asked) -> Answered:
        if request.method == "GET":
            path = urlparse(request.path).path
            with self._lock:
                self.fetched[path] += 1
                n = self.fetched[path]
            return self.flaw(path, n) or Answered(content=png(self._prompts[path], path))
        name = f"{request.body['prompt']}/{request.body['seed']}"
        with self._lock:
            self.paid[name] += 1
            path = f"/image-{len(self._prompts)}.png"
            self._prompts[path] = request.body["prompt"]
        url = f"http://{request.headers['host']}{path}?signature=secret-of-the-url"
        return said({"created": 1, "data": [{"url": url, **self.extra}]})


def spec_of(url: str, n: int = 16, **options: object) -> Plan:
    options = {"price_usd": 0.1, **options}
    model = bound("model", OpenAiImages, "openai/m", model="m", base_url=f"{url}/v1", send_seed=True, **options)
    return fake_spec(n, models=(model,))


def run(
    server: Server, directory: Path, n: int = 16, limits: Limits | None = None, *, retry_unknown: bool = False
) -> RunSummary:
    return execute(
        spec_of(server.url, n), directory, SilentProgress(), limits=limits, retry=("unknown",) if retry_unknown else ()
    )


def n_tickets(directory: Path) -> int:
    with open_run(directory) as store:
        return int(next(store.rows("SELECT count(*) FROM tickets"))[0])


def holds_url(directory: Path) -> bool:
    return any(b"secret-of-the-url" in path.read_bytes() for path in directory.rglob("*") if path.is_file())


FLAWS: Mapping[str, Callable[[], Answered]] = {
    "500": lambda: Answered(status=500),
    "429": lambda: Answered(status=429),
    "reset": lambda: Answered(is_dropped=True),
    "half": lambda: Answered(content=png()[:50], n_bytes_said=5000),
}


@pytest.mark.parametrize("flaw", FLAWS)
def test_an_endpoint_with_flaky_urls_is_paid_once_an_image(flaw: str, tmp_path: Path) -> None:
    endpoint = UrlServer(flaw=lambda path, n: FLAWS[flaw]() if n <= 1 + int(path[7:-4]) % 3 else None)
    with serving(endpoint) as server:
        done = run(server, tmp_path / "run", limits=Limits(max_cost_usd=3.2))
    assert done.outcomes == {"PASS": 16}
    assert (endpoint.paid.total(), max(endpoint.paid.values())) == (32, 1)
    assert done.cost_usd == pytest.approx(3.2)
    assert n_tickets(tmp_path / "run") == 0
    assert not holds_url(tmp_path / "run")


def test_the_next_command_goes_on_with_the_download(tmp_path: Path) -> None:
    endpoint = UrlServer(flaw=lambda path, _: Answered(status=500) if path in broken else None)
    broken = {"/image-3.png", "/image-9.png"}
    with serving(endpoint) as server:
        first = run(server, tmp_path / "run", 8)
        assert first.outcomes["ERROR"] > 0
        assert n_tickets(tmp_path / "run") == 2
        n_before = endpoint.fetched.total()
        broken.clear()
        # It is paid already, so no limit of this command is in its way.
        second = run(server, tmp_path / "run", 8, limits=Limits(max_cost_usd=0.05, max_images=1))
    assert second.outcomes == {"PASS": 8}
    assert (endpoint.paid.total(), endpoint.fetched.total() - n_before) == (16, 2)
    assert second.cost_usd == 0
    assert not holds_url(tmp_path / "run")


def test_a_run_that_was_killed_goes_on_with_the_download(tmp_path: Path) -> None:
    is_slow = [True]
    endpoint = UrlServer(flaw=lambda *_: Answered(delay_s=30, is_dropped=True) if is_slow[0] else None)
    with serving(endpoint) as server:
        command = [sys.executable, str(SCRIPT), str(tmp_path / "run"), server.url, "4"]
        child = subprocess.Popen(command, stderr=subprocess.PIPE)
        deadline = time.monotonic() + 60
        while not endpoint.fetched and time.monotonic() < deadline:
            time.sleep(0.02)
        child.send_signal(signal.SIGKILL)
        child.communicate()
        is_slow[0] = False
        n_paid, n_stored = endpoint.paid.total(), n_tickets(tmp_path / "run")
        assert n_stored >= len(endpoint.fetched) > 0, "a URL is stored before it is fetched"
        done = execute(spec_of(server.url, 4, price_usd=None), tmp_path / "run", SilentProgress())
    assert done.outcomes == {"PASS": 4}
    assert endpoint.paid.total() == 8 + (n_paid - n_stored)


@pytest.mark.parametrize("status", [403, 404, 410])
def test_an_image_that_is_gone_is_generated_again_only_with_the_users_word(status: int, tmp_path: Path) -> None:
    is_gone = [True]
    endpoint = UrlServer(
        flaw=lambda path, _: Answered(status=status) if is_gone[0] and path == "/image-5.png" else None
    )
    with serving(endpoint) as server:
        run(server, tmp_path / "run", 8)
        with open_run(tmp_path / "run") as store:
            (lost,) = [render for _, render in store.renders() if render.status is not Status.DONE]
        assert (lost.status, "[image-lost]" in lost.error) == (Status.UNKNOWN, True)
        assert n_tickets(tmp_path / "run") == 0
        is_gone[0] = False
        assert run(server, tmp_path / "run", 8).outcomes["ERROR"] == 1
        assert endpoint.paid.total() == 16
        assert run(server, tmp_path / "run", 8, retry_unknown=True).outcomes == {"PASS": 8}
        assert endpoint.paid.total() == 17


def test_an_image_that_cannot_be_fetched_is_generated_again_with_the_users_word(tmp_path: Path) -> None:
    endpoint = UrlServer(flaw=lambda path, _: Answered(content=b"<html>log in") if path == "/image-5.png" else None)
    with serving(endpoint) as server:
        for n_paid, again in ((16, False), (16, False), (17, True)):
            done = run(server, tmp_path / "run", 8, retry_unknown=again)
            assert endpoint.paid.total() == n_paid
    assert done.outcomes == {"PASS": 8}
    with open_run(tmp_path / "run") as store:
        (vain,) = store.meta()["spent_in_vain"].values()  # type: ignore[union-attr]
    assert vain == {"cost_usd": 0.1}


def test_a_url_that_has_expired_is_not_fetched(tmp_path: Path) -> None:
    endpoint = UrlServer(flaw=lambda *_: Answered(status=500), extra={"expires_at": time.time() + 2.5})
    with serving(endpoint) as server:
        run(server, tmp_path / "run", 1)
        assert n_tickets(tmp_path / "run") == 2
        time.sleep(2.6)
        n_fetched = endpoint.fetched.total()
        assert run(server, tmp_path / "run", 1).outcomes == {"ERROR": 1}
    assert (endpoint.paid.total(), endpoint.fetched.total()) == (2, n_fetched)
    assert n_tickets(tmp_path / "run") == 0


@pytest.mark.parametrize(
    ("url", "ends"),
    [
        ("https://a.example/x?se=2026-01-02T03%3A04%3A05Z&sig=1", 1767323045.0),
        ("https://a.example/x?X-Amz-Date=20260102T030405Z&X-Amz-Expires=60", 1767323105.0),
        ("https://a.example/x?X-Goog-Date=20260102T030405Z&X-Goog-Expires=60", 1767323105.0),
        ("https://a.example/x?Expires=1767323045", 1767323045.0),
        ("https://a.example/x?Expires=soon", None),
        ("https://a.example/x", None),
    ],
)
def test_signed_urls_say_when_they_end(url: str, ends: float | None) -> None:
    assert expiry_of(url, {}) == ends
    assert expiry_of(url, {"expires_at": 5}) == 5


def test_a_url_that_redirects_to_itself_costs_ten_requests(tmp_path: Path) -> None:
    endpoint = UrlServer(flaw=lambda path, _: Answered(status=302, headers={"Location": path}))
    with serving(endpoint) as server:
        run(server, tmp_path / "run", 1)
    assert endpoint.paid.total() == 2
    assert max(endpoint.fetched.values()) == 10


def test_a_stored_url_passes_the_same_network_check(tmp_path: Path) -> None:
    endpoint = UrlServer(flaw=lambda *_: Answered(status=500))
    with serving(endpoint) as server:
        run(server, tmp_path / "run", 1)
        with open_run(tmp_path / "run", "write") as store:
            for row in list(store.rows("SELECT * FROM tickets")):
                store.put_row("tickets", {**dict(row), "place": "http://169.254.169.254/latest/meta-data"})
        n_asked = len(server.asked)
        assert run(server, tmp_path / "run", 1).outcomes == {"ERROR": 1}
        assert len(server.asked) == n_asked
    with open_run(tmp_path / "run") as store:
        lost = [render for _, render in store.renders()]
    assert {(render.status, "[address-private]" in render.error) for render in lost} == {(Status.UNKNOWN, True)}


def test_images_on_a_private_network_end_the_run_and_what_was_paid_is_kept(tmp_path: Path) -> None:
    def handle(request: Asked) -> Answered:
        return said({"created": 1, "data": [{"url": "http://169.254.169.254/latest/meta-data"}]})

    with serving(handle) as server:
        with pytest.raises(UnusableError, match=r"\[address-private\]"):
            run(server, tmp_path / "run", 30)
        n_paid = len(server.asked)
        assert n_paid <= 4
        with open_run(tmp_path / "run") as store:
            (vain,) = store.meta()["spent_in_vain"].values()  # type: ignore[union-attr]
        assert vain == {"n_calls": n_paid, "cost_usd": pytest.approx(0.1 * n_paid)}


def test_redirects_into_a_private_network_end_the_run_and_what_was_paid_is_stored(tmp_path: Path) -> None:
    private = Answered(status=302, headers={"Location": "http://169.254.169.254/latest/meta-data"})
    endpoint = UrlServer(flaw=lambda *_: private)
    with serving(endpoint) as server:
        with pytest.raises(UnusableError, match=r"\[address-private\]"):
            run(server, tmp_path / "run", 30)
        with open_run(tmp_path / "run") as store:
            assert sum(1 for _ in store.renders()) + n_tickets(tmp_path / "run") == endpoint.paid.total()


def test_only_a_command_that_generates_fetches(tmp_path: Path) -> None:
    from salva.engine.executors.local import LocalExecutor
    from salva.engine.run_components import Cast
    from salva.runs.run_state import stored_count

    endpoint = UrlServer(flaw=lambda *_: Answered(status=500))
    with serving(endpoint) as server:
        run(server, tmp_path / "run", 2)
        n_asked = len(server.asked)
        plan = spec_of(server.url, 2)
        with open_run(tmp_path / "run", "write") as store, closing(LocalExecutor()) as lanes:
            counted = stored_count(store)
            assert counted is not None
            flow_through(store, Cast.of(plan), lanes, SilentProgress(), counted, may_generate=False)
            store.write_snapshot(tmp_path / "copy.db")
        assert len(server.asked) == n_asked
    assert n_tickets(tmp_path / "run") == 4
    assert b"secret-of-the-url" not in (tmp_path / "copy.db").read_bytes(), "copies that travel hold no URL"


def test_a_key_in_a_url_is_not_stored(tmp_path: Path) -> None:
    from salva.store.sqlite import RunStore

    with open_run(tmp_path / "run", "write") as store:
        assert isinstance(store, RunStore)
        store.put_ticket(Ticket(place="https://a.example/x?key=planted-key-4711"), "k", "c")
        store.put_ticket(Ticket(place="https://a.example/x?key=other"), "l", "c")
        assert (store.ticket("k"), store.ticket("l")) == (None, Ticket(place="https://a.example/x?key=other"))


# Jobs


class Jobs:
    """A ComfyUI server that counts what it queues."""

    def __init__(self) -> None:
        self.queued: dict[str, dict[str, Any]] = {}
        self.is_down = True

    def __call__(self, request: Asked) -> Answered:
        path = urlparse(request.path)
        if path.path == "/prompt":
            self.queued[f"id-{len(self.queued)}"] = request.body["prompt"]
            return said({"prompt_id": f"id-{len(self.queued) - 1}"})
        if path.path == "/queue":
            return said({"queue_running": [], "queue_pending": []})
        job = path.path.rsplit("/", 1)[1]
        if path.path.startswith("/history/"):
            images = [{"filename": job, "subfolder": "", "type": "output"}]
            known = {job: {"outputs": {"9": {"images": images}}, "status": {"completed": True}}}
            return Answered(status=500) if self.is_down else said(known if job in self.queued else {})
        workflow = self.queued[path.query.split("filename=")[1].split("&")[0]]
        return Answered(content=png(workflow["6"]["inputs"]["text"]))


def test_a_job_is_polled_by_the_next_command_and_not_queued_again(tmp_path: Path) -> None:
    jobs = Jobs()
    with serving(jobs) as server:
        plan = fake_spec(2, models=(binding_of("comfyui", server.url, tmp_path),))
        first = execute(plan, tmp_path / "run", SilentProgress())
        assert first.outcomes == {"ERROR": 2}
        jobs.is_down = False
        assert execute(plan, tmp_path / "run", SilentProgress()).outcomes == {"PASS": 2}
    assert len(jobs.queued) == 4


def test_a_job_that_the_server_forgot_is_queued_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("salva.generators.comfyui._POLLS_PER_QUEUE", 1)
    jobs = Jobs()
    with serving(jobs) as server:
        plan = fake_spec(1, models=(binding_of("comfyui", server.url, tmp_path),))
        execute(plan, tmp_path / "run", SilentProgress())
        jobs.is_down, jobs.queued = False, {}
        assert execute(plan, tmp_path / "run", SilentProgress()).outcomes == {"ERROR": 1}
        assert execute(plan, tmp_path / "run", SilentProgress()).outcomes == {"PASS": 1}
    assert len(jobs.queued) == 2


def test_a_run_repeats_what_may_have_been_billed_only_with_the_users_word(tmp_path: Path) -> None:
    bad, paid = {"cat, dog"}, Counter[str]()

    def handle(request: Asked) -> Answered:
        paid[request.body["prompt"]] += 1
        if request.body["prompt"] in bad:
            return Answered(is_dropped=True)
        return said({"created": 1, "data": [{"b64_json": png_text(request.body["prompt"])}]})

    with serving(handle) as server:
        for n_paid in (1, 1):
            assert run(server, tmp_path / "run", 4).outcomes["ERROR"] == 1
            assert paid["cat, dog"] == n_paid
        with open_run(tmp_path / "run") as store:
            (failed,) = [render for _, render in store.renders() if render.status is not Status.DONE]
        assert (failed.status, "[maybe-paid]" in failed.error) == (Status.UNKNOWN, True)
        bad.clear()
        assert run(server, tmp_path / "run", 4, retry_unknown=True).outcomes == {"PASS": 4}
    assert paid["cat, dog"] == 2
    assert paid.total() == 9
