"""A key that an endpoint returns in its answers is in no file of the run and in no output."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from backends.endpoints import Answered, Asked, png_text, said, serving
from backends.judge_servers import Fail, Say
from backends.judge_servers import serving as judging

from salva.cli.main import salva as command_line
from salva.core.run_spec import ComponentSpec, RunSpec
from salva.engine.progress import SilentProgress
from salva.errors import UsageError
from salva.generators.openai_images import OpenAiImages
from salva.judges.chat_judge import ChatJudge
from salva.registry import bind
from salva.runs.pipeline import execute
from salva.runs.plans import make_plan
from salva.testing.specs import fake_spec

pytest.importorskip("openai", reason="models at endpoints need the api extra")

KEY = "sk-proj-Zq81xLmP0vT7uYc3RkWb5NfGh2JdSaE94"


@pytest.fixture(autouse=True)
def planted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    monkeypatch.delenv("OPENAI_BASE_URL", raising=False)


SPELLED = {
    "plain": KEY,
    "hex": KEY.encode().hex(),
    "HEX": KEY.encode().hex(":").upper(),
    "backwards": KEY[::-1],
    "spaced": " ".join(KEY),
    "dashed": "-".join(KEY[at : at + 4] for at in range(0, len(KEY), 4)),
    "joined by nothing": "\u200b".join(KEY),
}


def assert_no_key(directory: Path, printed: str, spelled: str = KEY) -> None:
    pieces = [spelled[start : start + 16] for start in range(len(spelled) - 15)]
    pieces += [KEY[start : start + 8] for start in range(len(KEY) - 7)]
    for path in directory.rglob("*"):
        if path.is_file():
            content = path.read_bytes()
            assert not [piece for piece in pieces if piece.encode() in content], path
    assert not [piece for piece in pieces if piece in printed]


@pytest.mark.parametrize("spelling", SPELLED)
def test_a_generator_that_returns_the_key(tmp_path: Path, capsys: pytest.CaptureFixture[str], spelling: str) -> None:
    def echo(request: Asked) -> Answered:
        assert request.headers["authorization"] == f"Bearer {KEY}"
        key = SPELLED[spelling]
        if "2" in request.body["prompt"]:
            return said({"error": {"message": f"{'no ' * 90}{key}", "code": "bad", "type": "x", "param": None}}, 400)
        data = {"b64_json": png_text(request.body["prompt"]), "revised_prompt": f"{request.body['prompt']} {key}"}
        return said({"created": 1, "data": [data], "model": f"snapshot-{key[:30]}"})

    with serving(echo) as server:
        options = {"base_url": f"{server.url}/v1", "key_env": "OPENAI_API_KEY"}
        for _ in range(2):
            model = bind(ComponentSpec(role="model", name="openai/m", options=options))
            execute(fake_spec(4, models=(model,)), tmp_path / "run", SilentProgress())
    shown = capsys.readouterr()
    assert_no_key(tmp_path / "run", shown.out + shown.err, SPELLED[spelling])
    assert "[OPENAI_API_KEY]" in (tmp_path / "run" / "salva.db").read_bytes().decode("latin-1")


@pytest.mark.parametrize("is_failing", [False, True])
def test_a_judge_that_returns_the_key(tmp_path: Path, capsys: pytest.CaptureFixture[str], is_failing: bool) -> None:
    reply = json.dumps({"explanation": f"I was told {KEY}", "objects": 50, "relations": 20})
    turn = Fail(status=400, body=f"{'wrong ' * 48}{KEY}".encode()) if is_failing else Say(text=reply)
    with judging([turn]) as server:
        settings = {"judge.base_url": f"{server.url}/v1", "judge.key_env": "OPENAI_API_KEY", "run.preflight": "off"}
        ask = RunSpec.of(
            suite="semvar", models=("painter",), reader="none", judges=("openai/j",), size="1", settings=settings
        )
        execute(make_plan(ask), tmp_path / "run", SilentProgress())
    command_line.main(["report", str(tmp_path / "run")], standalone_mode=False)
    command_line.main(["report", str(tmp_path / "run"), "--format", "md"], standalone_mode=False)
    shown = capsys.readouterr()
    assert_no_key(tmp_path / "run", shown.out + shown.err)


@pytest.mark.parametrize(
    "url",
    [
        "https://host/v1?api_key=abcdef123",
        "https://host/v1?x=1&access_token=t",
        f"https://host/{KEY}/v1",
        "https://user:password@host/v1",
    ],
)
@pytest.mark.parametrize("options", [OpenAiImages.Options, ChatJudge.Options])
def test_a_base_url_with_a_key_is_refused(options: type, url: str) -> None:
    with pytest.raises((ValueError, UsageError), match=r"\[url-holds-secret\]") as caught:
        options(model="m", base_url=url)
    assert url.partition("//")[2] not in str(caught.value)
    options(model="m", base_url="https://host/v1?api-version=2024-02-01")
