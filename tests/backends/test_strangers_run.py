"""A run directory is data: nothing that somebody's run names is contacted, opened or executed for whoever reads it."""

from __future__ import annotations

import json
import shutil
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import in_process
import pytest
from backends.judge_servers import Say, Server, serving
from in_process import Command

from salva.engine.progress import SilentProgress
from salva.run.ask import Ask, make_spec
from salva.run.pipeline import execute
from salva.store.sqlite import open_run

pytest.importorskip("openai", reason="judges at endpoints need the api extra")

_watched: list[tuple[str, str]] = []
_is_watching = False


def _hook(event: str, arguments: tuple[Any, ...]) -> None:
    if _is_watching and event in ("open", "os.listdir", "os.scandir", "subprocess.Popen", "os.exec", "socket.connect"):
        _watched.append((event, str(arguments)))


sys.addaudithook(_hook)


class Watch:
    """What is opened, started or called meanwhile."""

    def __enter__(self) -> list[tuple[str, str]]:
        global _is_watching
        _watched.clear()
        _is_watching = True
        return _watched

    def __exit__(self, *_: object) -> None:
        global _is_watching
        _is_watching = False


@pytest.fixture(scope="module")
def server() -> Iterator[Server]:
    with serving([Say(text=json.dumps({"explanation": "seen", "objects": 50, "relations": 20}))]) as made:
        yield made


@pytest.fixture
def salva(monkeypatch: pytest.MonkeyPatch) -> Command:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-a-planted-key")
    monkeypatch.delenv("OPENAI_BASE_URL", raising=False)
    return in_process.salva


@pytest.fixture(scope="module")
def made(server: Server, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run whose judge is at an endpoint that run.json names."""
    directory = tmp_path_factory.mktemp("stranger") / "run"
    ask = Ask(
        suite="semvar",
        models=("painter",),
        reader="none",
        judges=("openai/judge-1",),
        size="2",
        settings={"judge.base_url": f"{server.url}/v1", "run.canary": "off"},
    )
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("OPENAI_API_KEY", "sk-a-planted-key")
        execute(make_spec(ask), directory, SilentProgress())
    return directory


@pytest.fixture
def judged(made: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(made, tmp_path / "run"))


def forget_looks(directory: Path) -> None:
    with open_run(directory, "write") as store:
        store._connection.execute("DELETE FROM looks WHERE rowid % 3 = 0")
        store.drop_meta("finished")


def test_judging_again_uses_what_is_stored_and_calls_nobody(server: Server, salva: Command, judged: Path) -> None:
    n_asked = len(server.asked)
    done = salva("judge", str(judged), "--no-progress")
    assert done.returncode == 0, done.stderr
    assert len(server.asked) == n_asked


def test_whoever_run_json_alone_names_is_not_asked_and_it_is_said_whom(
    server: Server, salva: Command, judged: Path
) -> None:
    forget_looks(judged)
    n_asked = len(server.asked)
    done = salva("judge", str(judged), "--no-progress")
    assert len(server.asked) == n_asked, "a stranger's endpoint was called, with a key"
    assert done.returncode == 3
    said = done.stdout + done.stderr
    assert "'openai/judge-1' was not asked" in said
    assert f"{server.url}/v1" in said
    again = f"--judge openai/judge-1 --set judge.base_url={server.url}/v1"
    assert again in said
    done = salva("judge", str(judged), "--no-progress", *again.split(), "--set", "run.canary=off")
    assert done.returncode == 0, done.stderr
    assert len(server.asked) > n_asked, "named again, it is asked"


def test_naming_the_judge_does_not_take_its_address_from_run_json(server: Server, salva: Command, judged: Path) -> None:
    n_asked = len(server.asked)
    done = salva("judge", str(judged), "--judge", "openai/judge-1", "--no-progress")
    assert done.returncode == 2
    assert f"--set judge.base_url={server.url}/v1" in done.stderr
    assert len(server.asked) == n_asked


def test_setting_an_option_of_a_judge_that_only_run_json_names_is_refused(salva: Command, judged: Path) -> None:
    done = salva("judge", str(judged), "--set", "judge.side=64", "--no-progress")
    assert done.returncode == 2
    assert "name it again with --judge openai/judge-1" in done.stderr


TRAPS: dict[str, tuple[tuple[str, ...], str]] = {
    "a program": (("models", "0", "name"), "command/{trap}"),
    "a workflow": (("models", "0", "name"), "comfyui/{trap}"),
    "a folder": (("models", "0", "name"), "folder/{folder}"),
    "weights": (("models", "0", "options", "weights"), "{folder}"),
    "a suite's file": (("suite", "options", "path"), "[{trap}]"),
    "a relation's file": (("relations", "0", "options", "questions"), "{trap}"),
    "an endpoint": (("models", "0", "name"), "openai/m"),
}


@pytest.mark.parametrize("trap", TRAPS)
@pytest.mark.parametrize(
    "command",
    [
        ("judge", "RUN", "--no-progress"),
        ("judge", "RUN", "--relation", "semantic-effect", "--no-progress"),
        ("verify", "RUN", "--no-progress"),
        ("report", "RUN", "--format", "json"),
        ("export", "RUN", "--as", "csv", "-o", "OUT"),
    ],
)
def test_what_run_json_names_is_neither_opened_nor_run_nor_called(
    salva: Command, judged: Path, tmp_path: Path, trap: str, command: tuple[str, ...]
) -> None:
    folder = tmp_path / "trap-folder"
    folder.mkdir()
    program = folder / "trap.sh"
    program.write_text("#!/bin/sh\ntouch sprung\n")
    program.chmod(0o755)
    path, value = TRAPS[trap]
    content = json.loads((judged / "run.json").read_text())
    place: Any = content["asked"]
    for step in path[:-1]:
        place = place[int(step)] if step.isdigit() else place[step]
    if path[-1] == "name":
        place["options"] = {}
    filled = value.format(trap=program, folder=folder)
    place[path[-1]] = [filled.strip("[]")] if filled.startswith("[") else filled
    content.pop("choice")
    (judged / "run.json").write_text(json.dumps(content))
    with Watch() as seen:
        salva(*(part.replace("RUN", str(judged)).replace("OUT", str(tmp_path / "out.csv")) for part in command))
    assert not [event for event in seen if "trap" in event[1] or event[0] in ("subprocess.Popen", "socket.connect")]
    assert not (folder / "sprung").exists()
