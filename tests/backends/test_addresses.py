"""Where answers came from is part of their key: two endpoints that serve one model name never share a run."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from backends.endpoints import Answered, Asked, Server, png_text, said, serving

from salva.core.plan import Plan
from salva.core.run_spec import ComponentSpec
from salva.engine.progress import SilentProgress
from salva.errors import StoreError, UsageError
from salva.judges.chat_judge import ChatJudge
from salva.registry import bind
from salva.runs.pipeline import execute
from salva.store.sqlite import open_run
from salva.testing.specs import fake_spec

pytest.importorskip("openai", reason="models at endpoints need the api extra")


class Notes(SilentProgress):
    """Keeps what is said."""

    def __init__(self) -> None:
        self.said: list[str] = []

    def note(self, text: str) -> None:
        self.said.append(text)


@pytest.fixture(autouse=True)
def environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-planted-4711")
    monkeypatch.delenv("OPENAI_BASE_URL", raising=False)


@pytest.fixture
def server() -> Iterator[Server]:
    def pictures(request: Asked) -> Answered:
        return said({"created": 1, "data": [{"b64_json": png_text(request.body["prompt"])}]})

    with serving(pictures) as made:
        yield made


def spec(n: int = 3, **options: str) -> Plan:
    model = bind(ComponentSpec(role="model", name="openai/paint-1", options=options))
    return fake_spec(n, models=(model,))


def run(directory: Path, asked: Plan) -> list[str]:
    notes = Notes()
    execute(asked, directory, notes)
    return notes.said


def asked_options(asked: Plan) -> dict[str, str]:
    base_url = asked.models[0].options.base_url
    return {"base_url": base_url} if base_url else {}


def test_the_address_is_in_the_key_whether_set_or_from_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    own = spec().models[0].identity()
    assert own["endpoint"] == "https://api.openai.com/v1"
    set_so = spec(base_url="https://one.example/v1/").models[0].identity()
    monkeypatch.setenv("OPENAI_BASE_URL", "https://one.example/v1")
    assert spec().models[0].identity() == set_so != own
    assert set_so["endpoint"] == "https://one.example/v1"
    judge = bind(ComponentSpec(role="judge", name="openai/judge-1"))
    reader = bind(ComponentSpec(role="reader", name="openai/judge-1"))
    assert judge.identity()["endpoint"] == reader.identity()["endpoint"] == "https://one.example/v1"


def test_a_label_stands_in_place_of_the_address() -> None:
    labelled = spec(base_url="https://one.example/v1", endpoint="gpu cluster").models[0].identity()
    assert labelled["endpoint"] == "gpu cluster"
    moved = spec(base_url="https://two.example/v1", endpoint="gpu cluster")
    assert moved.models[0].identity() == labelled
    assert moved.choice() == spec(base_url="https://one.example/v1", endpoint="gpu cluster").choice()


def test_another_address_is_refused_and_nothing_is_asked(
    server: Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_BASE_URL", f"{server.url}/v1")
    run(tmp_path / "run", spec())
    n_asked = len(server.asked)
    monkeypatch.setenv("OPENAI_BASE_URL", f"{server.url}/other/v1")
    with pytest.raises(UsageError) as refused:
        run(tmp_path / "run", spec())
    assert refused.value.code == "endpoint-moved"
    assert len(server.asked) == n_asked


def test_on_loopback_the_port_does_not_matter(server: Server, tmp_path: Path) -> None:
    first = spec(base_url=f"{server.url}/v1")
    run(tmp_path / "run", first)
    elsewhere = spec(base_url="http://127.0.0.1:9/v1")
    assert elsewhere.directory_name() == first.directory_name()
    # Nobody listens there, and nobody has to.
    run(tmp_path / "run", elsewhere)
    with open_run(tmp_path / "run") as store:
        assert [c.endpoint for c in store.components() if c.role == "model"] == ["http://127.0.0.1/v1"]


def test_a_base_url_in_a_strangers_run_json_is_not_taken_over(
    server: Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_BASE_URL", f"{server.url}/v1")
    run(tmp_path / "run", spec())
    content = json.loads((tmp_path / "run" / "run.json").read_text())
    content["spec"]["models"][0]["options"]["base_url"] = f"{server.url}/evil/v1"
    (tmp_path / "run" / "run.json").write_text(json.dumps(content))
    with pytest.raises(StoreError) as caught:
        run(tmp_path / "run", spec())
    assert caught.value.code == "run-file-edited"
    assert not [request.path for request in server.asked if "evil" in request.path]


def test_a_judge_has_its_address_too(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_BASE_URL", "http://localhost:8000/v1")
    assert ChatJudge.address(ChatJudge.Options(model="m")) == "http://localhost/v1"
