"""What runs in an actor: the same component as here, or none."""

from __future__ import annotations

import os
import pickle
import sys
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import ClassVar

import pytest

from salva.core.about import About
from salva.core.case import Prompt
from salva.core.options import option
from salva.core.plan import Around, Binding
from salva.core.protocols import Delivered, RenderRequest
from salva.core.run_spec import ComponentSpec
from salva.engine.executors import actor_worker
from salva.engine.executors.actor_worker import ActorWorker, PluginFile, WorkerInfo, WorkerSpec
from salva.errors import PluginError, SalvaError, UnusableError, UsageError
from salva.registry import add_loose_plugin, bind
from salva.testing.fakes import FakeGenerator
from salva.testing.specs import bound

ELSEWHERE = "another-machine"
REQUEST = RenderRequest(prompt=Prompt(role="a", text="cat, dog"), seed=1)


def worker_spec(binding: Binding, **changes: object) -> WorkerSpec:
    return replace(WorkerSpec.of(binding, 1.0), **changes)  # type: ignore[arg-type]  # whatever a test forges


def answer(sent: WorkerSpec) -> WorkerInfo | SalvaError:
    """What an actor says to an worker_spec that went through a cluster."""
    folder = os.getcwd()
    try:
        return ActorWorker().start(pickle.loads(pickle.dumps(sent)))
    finally:
        os.chdir(folder)


class Pinned(FakeGenerator):
    """A generator with weights in a file."""

    @dataclass(frozen=True, slots=True, kw_only=True)
    class Options:
        file: str = option("", "Its weights.")

    version: ClassVar[str] = "1"
    about: ClassVar[About] = About()

    def __init__(self, options: Options) -> None:
        super().__init__(FakeGenerator.Options())

    @classmethod
    def weights(cls, options: Options) -> str:
        return Path(options.file).read_text(encoding="utf-8")


class Wrapping(FakeGenerator):
    """A generator round another."""

    version: ClassVar[str] = "1"

    def __init__(self, options: FakeGenerator.Options, inner: object) -> None:
        super().__init__(options)


def test_an_actor_works_at_what_it_is_sent() -> None:
    worker = ActorWorker()
    assert worker.greet() == os.getpid()
    started = worker.start(worker_spec(bound("model", FakeGenerator, batch=3)))
    assert started == WorkerInfo(batch_size=3, depth=1)
    (outcome,) = worker.work([REQUEST])  # type: ignore[misc]  # outcomes, no error
    assert isinstance(outcome, Delivered), "pictures travel as files"


@pytest.mark.parametrize(("n_cpus", "depth"), [(0.3, 1), (1.0, 1), (2.0, 2), (64.0, 2)])
def test_it_works_at_no_more_batches_than_it_has_cores_for(n_cpus: float, depth: int) -> None:
    started = answer(worker_spec(bound("model", FakeGenerator), n_cpus=n_cpus))
    assert isinstance(started, WorkerInfo)
    assert started.depth == depth


def test_errors_are_given_back_and_not_raised() -> None:
    told = answer(worker_spec(bound("model", FakeGenerator, mischief="unusable")))
    assert isinstance(told, UnusableError)
    worker = ActorWorker()
    worker.start(worker_spec(bound("model", FakeGenerator, mischief="wrong-type")))
    assert isinstance(worker.work([REQUEST]), PluginError)


def test_once_stopped_it_tries_nothing_again() -> None:
    worker = ActorWorker()
    worker.start(worker_spec(bound("model", FakeGenerator, stumbles=1.0)))
    worker.stop()
    (outcome,) = worker.work([REQUEST])  # type: ignore[misc]  # outcomes, no error
    assert isinstance(outcome, SalvaError)


# The same there as here


@pytest.mark.parametrize("machine", [os.uname().nodename, ELSEWHERE])
@pytest.mark.parametrize(
    ("change", "versions"),
    [
        ({"salva": "0.0.1"}, "salva: 0.0.1 on"),
        ({"salva": None}, "salva: missing on"),
        ({"version": "2"}, "the model 'fakegenerator': 2 on"),
    ],
)
def test_other_versions_are_refused_on_any_machine(machine: str, change: dict[str, object], versions: str) -> None:
    refused = answer(worker_spec(bound("model", FakeGenerator), machine=machine, **change))
    assert isinstance(refused, UsageError)
    assert refused.code == "machines-differ"
    assert f"{versions} {machine!r}" in str(refused)


@pytest.mark.parametrize("is_wrapped", [False, True])
def test_other_weights_on_another_machine_are_refused(tmp_path: Path, is_wrapped: bool) -> None:
    weights = tmp_path / "weights"
    weights.write_text("as they were", encoding="utf-8")
    binding = bound("model", Pinned, file=str(weights))
    if is_wrapped:
        binding = bound("model", Around(outer=Wrapping, inner=binding))  # type: ignore[arg-type]  # called as a class is
    sent = worker_spec(binding, machine=ELSEWHERE)
    assert isinstance(answer(sent), WorkerInfo)
    weights.write_text("fine-tuned since", encoding="utf-8")
    refused = answer(sent)
    assert isinstance(refused, UsageError)
    assert refused.code == "machines-differ"
    assert f"others on {os.uname().nodename!r}" in str(refused)
    weights.unlink()
    missing = answer(sent)
    assert isinstance(missing, PluginError), "nor are they taken for granted where they are not there"
    assert missing.code == "component-failed"
    assert "FileNotFoundError" in str(missing)


PLUGIN = """
from salva.testing.fakes import FakeGenerator

class Loose(FakeGenerator):
    version = "1"
"""


@pytest.fixture
def loose(tmp_path: Path) -> Iterator[WorkerSpec]:
    (tmp_path / "loose.py").write_text(PLUGIN, encoding="utf-8")
    before = set(sys.modules)
    entry = add_loose_plugin(f"{tmp_path / 'loose.py'}:Loose")
    sent = worker_spec(bind(ComponentSpec(role="model", name=entry.name)))
    # As in the process of an actor, which has not seen the file.
    yield replace(sent, plugins=tuple(plugin for plugin in sent.plugins if str(tmp_path) in plugin.source))
    for name in set(sys.modules) - before:
        if name.startswith("salva_plugin_loose_"):
            del sys.modules[name]


def test_a_plugin_file_must_be_the_same_and_in_the_same_place(loose: WorkerSpec) -> None:
    assert isinstance(answer(loose), WorkerInfo)
    path = Path(loose.plugins[0].source.rpartition(":")[0])
    path.write_text(PLUGIN + "# and more\n", encoding="utf-8")
    changed = answer(loose)
    assert isinstance(changed, UsageError), "its class has the same version, and may paint otherwise"
    assert changed.code == "machines-differ"
    assert str(path) in str(changed)
    path.unlink()
    missing = answer(loose)
    assert isinstance(missing, UsageError)
    assert missing.code == "machines-differ"
    assert "missing on" in str(missing)


def test_what_cannot_be_opened_there_is_blamed_on_nobody_else() -> None:
    sent = worker_spec(bound("model", FakeGenerator), sent=b"\x80\x04 no binding", machine=ELSEWHERE)
    told = answer(sent)
    assert isinstance(told, PluginError)
    assert told.code == "component-failed"


def test_what_lives_in_memory_alone_cannot_be_sent() -> None:
    class Here(FakeGenerator):
        """Of this very function."""

    with pytest.raises(UsageError, match=r"\[not-sendable\]"):
        WorkerSpec.of(bound("model", Here), 1.0)


def test_a_salva_that_is_not_installed_is_the_same_as_another(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(actor_worker, "installed_version", lambda _: None)
    sent = worker_spec(bound("model", FakeGenerator))
    assert sent.salva is None
    assert isinstance(answer(sent), WorkerInfo)


def test_a_plugin_that_is_gone_has_no_digest(tmp_path: Path) -> None:
    assert PluginFile.of(f"{tmp_path / 'gone.py'}:Gone").digest == ""
