"""The published test set against a chat endpoint on loopback that speaks OpenAI's API, from triples to tables."""

from __future__ import annotations

import base64
import io
import json
import re
import threading
from collections import Counter
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from salva.core.image import Picture
from salva.core.plan import Plan
from salva.core.run_spec import RunSpec
from salva.core.verdict import Outcome
from salva.engine.progress import SilentProgress
from salva.report.summary import summarise_run
from salva.runs.pipeline import execute
from salva.store.sqlite import open_run
from salva.suites.semvar.files import read_rows
from salva.suites.semvar.semantic_effect import SemanticEffect
from salva.suites.semvar.suite import SemVar
from salva.testing.fakes import FakeGenerator, written_in
from salva.testing.specs import bound

pytest.importorskip("openai", reason="the judge at an endpoint needs the api extra")


def plain(text: str) -> str:
    return " ".join(re.split(r"[\s,]+", text.strip()))


class Endpoint(ThreadingHTTPServer):
    """Reads in the pixels which sentence was painted, and knows which sentences of the set mean the same."""

    daemon_threads = True

    def __init__(self, path: Path) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.meanings: dict[str, set[tuple[str, bool]]] = {}
        for row in read_rows([str(path)]):
            for text, is_swapped in zip(row.texts, (False, True, False), strict=True):
                self.meanings.setdefault(plain(text), set()).add((row.row_id, is_swapped))
        self.n_calls = 0

    def reply(self, asked: str, painted: str) -> str:
        self.n_calls += 1
        asked_ids, painted_ids = self.meanings[plain(asked)], self.meanings[plain(painted)]
        objects = 50 * bool({row for row, _ in asked_ids} & {row for row, _ in painted_ids})
        return json.dumps({"objects": objects, "relations": 50 * bool(asked_ids & painted_ids), "explanation": "seen"})


class Handler(BaseHTTPRequestHandler):
    """POST /v1/chat/completions."""

    server: Endpoint
    protocol_version = "HTTP/1.1"

    def do_POST(self) -> None:
        from PIL import Image

        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        parts = {part["type"]: part for part in body["messages"][-1]["content"]}
        file = base64.b64decode(parts["image_url"]["image_url"]["url"].partition(",")[2])
        image = Image.open(io.BytesIO(file)).convert("RGB")
        painted = " ".join(written_in(Picture(rgb=image.tobytes(), width=image.width, height=image.height))[0])
        asked = re.search(r"\nText: (.*)", parts["text"]["text"])
        assert asked is not None
        message = {"role": "assistant", "content": self.server.reply(asked[1], painted)}
        answer = {
            "id": "1",
            "object": "chat.completion",
            "created": 0,
            "model": "fake-vlm-2026-01-01",
            "choices": [{"index": 0, "finish_reason": "stop", "message": message}],
            "usage": {"prompt_tokens": 100, "completion_tokens": 10, "total_tokens": 110},
        }
        content = json.dumps(answer).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002  # the base class's name
        """Say nothing."""


@pytest.fixture
def endpoint(foreign_data: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Endpoint]:
    monkeypatch.setenv("OPENAI_API_KEY", "nobody-checks-it")
    server = Endpoint(foreign_data / "semvarbench")
    thread = threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True)
    thread.start()
    yield server
    server.shutdown()
    server.server_close()
    thread.join()


def spec(folder: Path, endpoint: Endpoint) -> Plan:
    from salva.judges.chat_judge import ChatJudge

    url = f"http://127.0.0.1:{endpoint.server_address[1]}/v1"
    return Plan(
        suite=bound("suite", SemVar, "semvar", path=(str(folder),)),
        models=(bound("model", FakeGenerator, "fake", batch=64),),
        judges=(bound("judge", ChatJudge, "openai/fake-vlm", model="fake-vlm", base_url=url),),
        checks=(bound("check", SemanticEffect, "semantic-effect", flip_sample=0.0),),
        spec=RunSpec(size="quick", preflight=False),
    )


def test_the_published_test_set_is_scored_by_an_endpoint(
    tmp_path: Path, foreign_data: Path, endpoint: Endpoint
) -> None:
    """Four triples a category; test_semvar_run.py goes through all of them with a judge in this process."""
    out = tmp_path / "run"
    execute(spec(foreign_data / "semvarbench", endpoint), out, SilentProgress())
    with open_run(out) as store:
        verdicts = list(store.verdicts())
    outcomes = Counter(verdict.outcome for verdict in verdicts)
    assert outcomes.keys() == {Outcome.PASS, Outcome.UNDECIDED}
    assert outcomes[Outcome.PASS] >= 60
    n_calls = 7 * outcomes[Outcome.PASS] + 4 * outcomes[Outcome.UNDECIDED]
    n_controls = 24  # a tenth of 243 judged images, which the judge is asked about other sentences' images
    assert endpoint.n_calls == n_calls + n_controls, "of a triple with a doubled sentence there are four scores"
    (summary,) = summarise_run(out).by_model.values()
    assert summary.metrics["kappa"].value == 1.0
    table = next(table for table in summary.tables if table.name == "semantic effect (as Table 2, with intervals)")
    assert table.rows[0][0] == "openai/fake-vlm"
    before = endpoint.n_calls
    execute(spec(foreign_data / "semvarbench", endpoint), out, SilentProgress())
    assert endpoint.n_calls == before, "what was scored is stored"
