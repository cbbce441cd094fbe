"""A key belongs to one server: planted keys, and what each of two servers is sent of them."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import in_process
import pytest
from backends.endpoints import Server, asked_for, said, serving
from backends.test_paid_once import BILLED, OWN_SERVER, binding_of, outcome_of, well

pytest.importorskip("openai", reason="models at endpoints need the api extra")

from salva.core.plan import Around, Binding, Plan
from salva.engine.component_runner import ComponentRunner
from salva.engine.progress import SilentProgress
from salva.engine.run_components import Cast
from salva.errors import UsageError
from salva.generators.deduce import Deduce
from salva.judges.chat_judge import ChatJudge
from salva.readers.judge_reader import JudgeAsReader
from salva.remote import urls
from salva.remote.providers import OPENAI
from salva.runs.pipeline import execute
from salva.testing.specs import bound, fake_spec

PLANTED = {
    "OPENAI_API_KEY": "sk-default-of-openai",
    "ANTHROPIC_API_KEY": "sk-default-of-anthropic",
    "ANTHROPIC_AUTH_TOKEN": "token-of-anthropic",
    "GEMINI_API_KEY": "default-of-google",
    "A1111_API_KEY": "me:default-of-a1111",
    "OPENAI_ORG_ID": "org-of-mine",
    "OPENAI_PROJECT_ID": "project-of-mine",
    "OPENAI_CUSTOM_HEADERS": "X-Gateway: gateway-of-openai",
    "ANTHROPIC_CUSTOM_HEADERS": "X-Gateway: gateway-of-anthropic",
    "FIRST_SERVER": "first-Kw3RkWb5NfGh2J",
    "SECOND_SERVER": "Zx91vLmQ0sT7-second",
}
DEFAULT_KEY = {
    **dict.fromkeys(("openai", "openai judge"), "sk-default-of-openai"),
    **dict.fromkeys(("google", "google judge"), "default-of-google"),
    "anthropic judge": "sk-default-of-anthropic",
}


@pytest.fixture(autouse=True)
def planted(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("OPENAI_BASE_URL", "ANTHROPIC_BASE_URL", "GEMINI_BASE_URL", "GOOGLE_API_KEY"):
        monkeypatch.delenv(name, raising=False)
    for name, value in PLANTED.items():
        monkeypatch.setenv(name, value)


@pytest.fixture
def public(monkeypatch: pytest.MonkeyPatch) -> None:
    """Loopback passes for the public network, where tests send nothing."""
    monkeypatch.setattr(urls, "_networks_of", lambda _: ("public",))


def seen_by(server: Server) -> set[str]:
    """Which planted values a server was sent."""
    from base64 import b64encode

    sent = json.dumps([[request.path, request.headers, request.body] for request in server.asked])
    basic = {b64encode(value.encode()).decode(): value for value in PLANTED.values() if ":" in value}
    found = {value for value in PLANTED.values() if value in sent}
    return (
        found
        | {value for coded, value in basic.items() if coded in sent}
        | ({"gateway"} if "gateway-of" in sent else set())
    )


@contextmanager
def two_servers() -> Iterator[tuple[Server, Server]]:
    with serving(well) as first, serving(well) as second:
        yield first, second


@pytest.mark.parametrize("name", [*BILLED, *OWN_SERVER])
def test_ones_own_network_gets_no_key_but_the_one_that_is_named(name: str, tmp_path: Path) -> None:
    with two_servers() as (first, second):
        outcome_of(binding_of(name, first.url, tmp_path))
        outcome_of(binding_of(name, second.url, tmp_path, key_env="SECOND_SERVER"))
        assert first.asked
        assert (seen_by(first), seen_by(second)) == (set(), {"Zx91vLmQ0sT7-second"})


@pytest.mark.usefixtures("public")
@pytest.mark.parametrize("name", [*BILLED, "a1111"])
def test_the_one_public_server_gets_the_default_key_and_nothing_else(name: str, tmp_path: Path) -> None:
    with two_servers() as (first, second):
        outcome_of(binding_of(name, first.url, tmp_path))
        outcome_of(binding_of(name, second.url, tmp_path, key_env="none"))
        assert seen_by(first) == {DEFAULT_KEY.get(name, "me:default-of-a1111")}
        assert second.asked
        assert seen_by(second) == set()


def plan_of(*models: Binding, judges: tuple[Binding, ...] = (), reader: Binding | None = None) -> Plan:
    return fake_spec(1, models=models, judges=judges, reader=reader)


def named(binding: Binding, name: str) -> Binding:
    from dataclasses import replace

    return replace(binding, label=name, typed=binding.label)


@pytest.mark.usefixtures("public")
@pytest.mark.parametrize("name", [*BILLED, "a1111"])
def test_a_second_public_server_needs_a_key_of_its_own(name: str, tmp_path: Path) -> None:
    with two_servers() as (first, second):
        one = named(binding_of(name, first.url, tmp_path), "one")
        for key_env, sent in (("", None), ("SECOND_SERVER", {"Zx91vLmQ0sT7-second"}), ("none", set())):
            two = named(binding_of(name, second.url, tmp_path, key_env=key_env), "two")
            plan = plan_of(one, two) if one.role == "model" else plan_of(judges=(one, two))
            if sent is None:
                with pytest.raises(UsageError) as refused:
                    Cast.of(plan)
                assert refused.value.code == "key-of-another"
                assert "two.key_env" in str(refused.value)
                assert not first.asked + second.asked
            else:
                Cast.of(plan)
                second.asked.clear()
                outcome_of(two)
                assert seen_by(second) == sent


def test_the_providers_own_server_keeps_its_key(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(urls, "_networks_of", lambda url: ("loopback",) if "127.0.0.1" in url else ("public",))
    elsewhere = named(binding_of("openai", "https://elsewhere.example", tmp_path), "elsewhere")
    own = named(bound("judge", ChatJudge, "openai/judge", model="judge"), "own")
    with pytest.raises(UsageError, match=r"^elsewhere at https://elsewhere\.example:443 .*\[key-of-another\]"):
        Cast.of(plan_of(elsewhere, judges=(own,)))
    # What is on one's own network gets none, and is no second server.
    Cast.of(plan_of(binding_of("openai", "http://127.0.0.1:9", tmp_path), judges=(own,)))


@pytest.mark.usefixtures("public")
def test_readers_and_rewriters_are_servers_too(tmp_path: Path) -> None:
    model = named(binding_of("openai", "https://a.example", tmp_path), "a")
    options = ChatJudge.Options(model="r", base_url="https://b.example/v1")
    reader = Binding(role="reader", label="openai/r", component=JudgeAsReader(ChatJudge), options=options)
    with pytest.raises(UsageError, match=r"reader\.key_env.*\[key-of-another\]"):
        Cast.of(plan_of(model, reader=reader))
    rewriting = Deduce.Options(model="openai/m", rewriter="openai/t", rewriter_url="https://c.example/v1")
    deduce = Binding(role="model", label="deduce/openai/m", component=Around(Deduce, model), options=rewriting)
    with pytest.raises(UsageError, match=r"model\.rewriter_key_env.*\[key-of-another\]"):
        Cast.of(plan_of(deduce))


def test_a_run_keeps_the_keys_of_two_models_apart(tmp_path: Path) -> None:
    with two_servers() as (first, second):
        models = [
            named(binding_of("openai", server.url, tmp_path, key_env=f"{name.upper()}_SERVER", endpoint=name), name)
            for name, server in (("first", first), ("second", second))
        ]
        execute(plan_of(*models), tmp_path / "run", SilentProgress())
        assert seen_by(first) == {"first-Kw3RkWb5NfGh2J"}
        assert seen_by(second) == {"Zx91vLmQ0sT7-second"}


def test_a_key_in_a_variable_of_any_name_stays_out_of_the_run(tmp_path: Path) -> None:
    def echo(request: object) -> object:
        return said({"error": {"message": f"no: {PLANTED['FIRST_SERVER']}"}}, 400)

    with serving(echo) as server:  # type: ignore[arg-type]  # any request
        model = binding_of("openai", server.url, tmp_path, key_env="FIRST_SERVER")
        execute(plan_of(model), tmp_path / "run", SilentProgress())
    content = b"".join(path.read_bytes() for path in (tmp_path / "run").rglob("*") if path.is_file())
    assert b"[FIRST_SERVER]" in content
    assert PLANTED["FIRST_SERVER"].encode() not in content


@pytest.mark.usefixtures("public")
def test_the_command_line_refuses_before_the_first_request(tmp_path: Path) -> None:
    with two_servers() as (first, second):
        command = ["run", "metalogic", "--size", "2", "--reader", "none", "--out", str(tmp_path / "run")]
        command += ["--model", "one=openai/m", "--model", "two=openai/m", "--detector", "pocket", "--no-progress"]
        for name, url in (("one", first.url), ("two", second.url)):
            command += ["--set", f"{name}.base_url={url}/v1", "--set", f"{name}.endpoint={name}"]
        done = in_process.salva(*command)
        assert (done.returncode, "[key-of-another]" in done.stderr) == (2, True), done.stderr
        done = in_process.salva(*command, "--set", "two.key_env=NO_SUCH_VARIABLE")
        assert (done.returncode, "[key-variable-unset]" in done.stderr) == (2, True), done.stderr
        assert first.asked == second.asked == []
    assert not (tmp_path / "run").exists()


def test_a_missing_default_key_is_told_at_the_providers_own_server_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("OPENAI_API_KEY")
    with pytest.raises(UsageError, match=r"\[key-missing\]"):
        OPENAI.connect("openai/m", "", 1.0)
    with pytest.raises(UsageError, match=r"\[key-missing\]"):
        OPENAI.connect("openai/m", "https://api.openai.com/v1/", 1.0)
    OPENAI.connect("openai/m", "http://127.0.0.1:9/v1", 1.0).close()
    OPENAI.connect("openai/m", "", 1.0, "none").close()


def test_a_redirect_takes_no_key_along(tmp_path: Path) -> None:
    from backends.endpoints import Answered

    with serving(well) as second:
        away = lambda request: Answered(status=307, headers={"Location": f"{second.url}{request.path}"})  # noqa: E731
        with serving(away) as first:
            binding = binding_of("openai", first.url, tmp_path, key_env="FIRST_SERVER")
            with (
                closing(ComponentRunner(binding, threading.Event())) as runner,
                pytest.raises(Exception, match="redirect"),
            ):
                runner([asked_for()])
        assert second.asked == []
