"""A run directory is data: nothing that somebody's run names is contacted, opened or executed for whoever reads it."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from subprocess import PIPE
from typing import Any

import in_process
import pytest
from backends.judge_servers import Say, Server, serving
from in_process import Command

from salva.core.run_spec import RunSpec
from salva.engine.progress import SilentProgress
from salva.runs.pipeline import execute
from salva.runs.plans import make_plan
from salva.store.sqlite import open_run

pytest.importorskip("openai", reason="judges at endpoints need the api extra")

# An audit hook stays for good, and where tests are traced it lets another thread in while a tracer is being set, which
# that thread does not survive: so it has a process of its own, which calls nobody.
_WATCHER = """
import json, sys
from in_process import salva

EVENTS = ("open", "os.listdir", "os.scandir", "subprocess.Popen", "os.exec", "socket.connect")
seen = []

def watch(event, arguments):
    if event in EVENTS:
        seen.append((event, str(arguments)))
        if event == "socket.connect":
            raise OSError("nobody is called here")

sys.addaudithook(watch)
for line in sys.stdin:
    seen.clear()
    salva(*json.loads(line))
    print(json.dumps(seen), flush=True)
"""
Watched = Callable[..., list[tuple[str, str]]]


@pytest.fixture(scope="module")
def watched(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Watched]:
    """What `salva` with these arguments opens, starts or calls, and with what."""
    environment = {name: value for name, value in os.environ.items() if name != "OPENAI_BASE_URL"}
    paths = os.pathsep.join([str(Path(__file__).parents[1]), environment.get("PYTHONPATH", "")])
    environment |= {"PYTHONPATH": paths, "OPENAI_API_KEY": "sk-a-planted-key"}
    environment["XDG_CACHE_HOME"] = str(tmp_path_factory.mktemp("cache"))
    command = [sys.executable, "-c", _WATCHER]
    with subprocess.Popen(command, stdin=PIPE, stdout=PIPE, text=True, env=environment) as child:
        assert child.stdin is not None
        assert child.stdout is not None
        tell, hear = child.stdin, child.stdout

        def ask(*arguments: str) -> list[tuple[str, str]]:
            tell.write(json.dumps(arguments) + "\n")
            tell.flush()
            return [(event, said) for event, said in json.loads(hear.readline())]

        yield ask
        tell.close()


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
    ask = RunSpec.of(
        suite="semvar",
        models=("painter",),
        reader="none",
        judges=("openai/judge-1",),
        size="2",
        settings={"judge.base_url": f"{server.url}/v1", "run.preflight": "off"},
    )
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("OPENAI_API_KEY", "sk-a-planted-key")
        execute(make_plan(ask), directory, SilentProgress())
    return directory


@pytest.fixture
def judged(made: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(made, tmp_path / "run"))


def forget_observations(directory: Path) -> None:
    with open_run(directory, "write") as store:
        store._connection.execute("DELETE FROM observations WHERE rowid % 3 = 0")
        store.drop_meta("finished")


def test_judging_again_uses_what_is_stored_and_calls_nobody(server: Server, salva: Command, judged: Path) -> None:
    n_asked = len(server.asked)
    done = salva("rejudge", str(judged), "--no-progress")
    assert done.returncode == 0, done.stderr
    assert len(server.asked) == n_asked


def test_whoever_run_json_alone_names_is_not_asked_and_it_is_said_whom(
    server: Server, salva: Command, judged: Path
) -> None:
    forget_observations(judged)
    n_asked = len(server.asked)
    done = salva("rejudge", str(judged), "--no-progress")
    assert len(server.asked) == n_asked, "a stranger's endpoint was called, with a key"
    assert done.returncode == 3
    said = done.stdout + done.stderr
    assert "[observer-not-asked]" in said
    assert f"{server.url}/v1" in said
    again = f"--judge openai/judge-1 --set judge.base_url={server.url}/v1"
    assert again in said
    done = salva("rejudge", str(judged), "--no-progress", *again.split(), "--set", "run.preflight=off")
    assert done.returncode == 0, done.stderr
    assert len(server.asked) > n_asked, "named again, it is asked"


def test_naming_the_judge_does_not_take_its_address_from_run_json(server: Server, salva: Command, judged: Path) -> None:
    n_asked = len(server.asked)
    done = salva("rejudge", str(judged), "--judge", "openai/judge-1", "--no-progress")
    assert done.returncode == 2
    assert f"--set judge.base_url={server.url}/v1" in done.stderr
    assert len(server.asked) == n_asked


def test_setting_an_option_of_a_judge_that_only_run_json_names_is_refused(salva: Command, judged: Path) -> None:
    done = salva("rejudge", str(judged), "--set", "judge.side=64", "--no-progress")
    assert done.returncode == 2
    assert "--judge openai/judge-1" in done.stderr


TRAPS: dict[str, tuple[tuple[str, ...], str]] = {
    "a program": (("models", "0", "name"), "command/{trap}"),
    "a workflow": (("models", "0", "name"), "comfyui/{trap}"),
    "a folder": (("models", "0", "name"), "folder/{folder}"),
    "weights": (("models", "0", "options", "weights"), "{folder}"),
    "a suite's file": (("suite", "options", "path"), "[{trap}]"),
    "a check's file": (("checks", "0", "options", "questions"), "{trap}"),
    "an endpoint": (("models", "0", "name"), "openai/m"),
}


@pytest.mark.parametrize("trap", TRAPS)
@pytest.mark.parametrize(
    "command",
    [
        ("rejudge", "RUN", "--no-progress"),
        ("rejudge", "RUN", "--check", "semantic-effect", "--no-progress"),
        ("verify", "RUN"),
        ("report", "RUN", "--format", "json"),
        ("export", "RUN", "--as", "csv", "-o", "OUT"),
    ],
)
def test_what_run_json_names_is_neither_opened_nor_run_nor_called(
    watched: Watched, judged: Path, tmp_path: Path, trap: str, command: tuple[str, ...]
) -> None:
    folder = tmp_path / "trap-folder"
    folder.mkdir()
    program = folder / "trap.sh"
    program.write_text("#!/bin/sh\ntouch sprung\n")
    program.chmod(0o755)
    path, value = TRAPS[trap]
    content = json.loads((judged / "run.json").read_text())
    place: Any = content["spec"]
    for step in path[:-1]:
        place = place[int(step)] if step.isdigit() else place[step]
    if path[-1] == "name":
        place["options"] = {}
    filled = value.format(trap=program, folder=folder)
    place[path[-1]] = [filled.strip("[]")] if filled.startswith("[") else filled
    content.pop("choice")
    (judged / "run.json").write_text(json.dumps(content))
    seen = watched(*(part.replace("RUN", str(judged)).replace("OUT", str(tmp_path / "out.csv")) for part in command))
    assert any(event == "open" and str(judged) in said for event, said in seen), "the run itself is opened"
    assert not [
        event for event in seen if folder.name in event[1] or event[0] in ("subprocess.Popen", "socket.connect")
    ]
    assert not (folder / "sprung").exists()
