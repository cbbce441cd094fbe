"""The Python door gives the numbers the command line gives."""

from __future__ import annotations

import functools
import hashlib
import inspect
import json
import re
import signal
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from in_process import salva as typed
from PIL import Image

import salva


def test_a_few_lines_run_a_suite_and_give_a_data_frame(tmp_path: Path) -> None:
    run = salva.run_suite(
        "metalogic",
        model="painter",
        size="12",
        reader="none",
        out=tmp_path / "run",
        settings={"model.faults": "entity-omission:0.6"},
    )
    frame = run.verdicts
    assert set(frame["check"]) == {"same-scene", "truth"}
    truth = frame[frame["check"] == "truth"]
    assert len(truth) == 12
    assert truth["is_fail"].any()
    assert set(truth.loc[truth["is_fail"], "failure_types"]) <= {"entity-omission"}
    rates = frame.groupby("label.law")["is_fail"].mean()
    assert rates.between(0, 1).all()
    assert run.summary.results is not None
    assert (run.summary.results["total"], run.summary.results["fail"]) == (12, truth["is_fail"].sum())
    assert run.summary.failure_rate == run.summary.to_json()["failure_rate"]
    first = frame["image.a"].iloc[0]
    assert run.image_path(first).is_file()
    assert len(salva.open_run(tmp_path / "run").cases) == 12


def test_opening_what_is_no_run_says_so(tmp_path: Path) -> None:
    with pytest.raises(salva.UsageError, match=str(tmp_path)):
        salva.open_run(tmp_path)


def draw(prompt: str, seed: int) -> Image.Image:
    """Every prompt and seed its own colours."""
    digest = hashlib.sha256(f"{prompt} {seed}".encode()).digest()
    return Image.new("RGB", (64, 64), (digest[0], digest[1], digest[2]))


def ask(out: Path, model: Any = draw, **more: Any) -> salva.Run:
    flags: dict[str, Any] = {"size": 3, "reader": "none", "detector": "pocket", "settings": {"run.preflight": "off"}}
    return salva.run_suite("metalogic", model, out=out, **{**flags, **more})


def test_a_function_is_a_model(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    run = ask(tmp_path / "run", version=1)
    assert capsys.readouterr().err == ""
    assert set(run.verdicts["model"]) == {"draw"}
    told = json.loads((tmp_path / "run" / "run.json").read_text())
    (model,) = told["spec"]["models"]
    assert (model["name"], model["typed"]) == ("draw", "python/draw")
    assert model["options"] == {"name": "draw", "version": "1"}


def test_a_version_shares_what_is_stored_and_its_absence_shares_nothing(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    prompts: list[str] = []

    def counted(prompt: str, seed: int) -> Image.Image:
        prompts.append(prompt)
        return draw(prompt, seed)

    ask(tmp_path / "one", counted, version="a")
    n = len(prompts)
    assert n > 0
    ask(tmp_path / "one", counted, version="a")
    assert len(prompts) == n, "a finished run makes no call"
    with pytest.raises(salva.UsageError, match=r'counted\.version was "a", now "b"'):
        ask(tmp_path / "one", counted, version="b")
    ask(tmp_path / "two", counted)
    said = capsys.readouterr().err
    assert said.count("without version=") == 1
    with pytest.raises(salva.UsageError, match="version-needed"):
        ask(tmp_path / "two", counted)
    assert len(prompts) == 2 * n


def test_unnamed_directories_of_two_calls_without_a_version_are_two(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    flags: dict[str, Any] = {"size": 1, "reader": "none", "detector": "pocket", "settings": {"run.preflight": "off"}}
    first, second = (salva.run_suite("metalogic", draw, name="mine", **flags) for _ in range(2))
    assert first.directory != second.directory
    assert first.directory.name.startswith("metalogic-mine-1-")


def test_what_a_function_does_wrong_is_failed_with_its_cause(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    def broken(prompt: str, seed: int) -> Image.Image:
        raise RuntimeError("out of paint")

    run = ask(tmp_path / "run", broken, version=1)
    assert set(run.verdicts["outcome"]) == {"ERROR"}
    assert run.summary.failure_rate is None
    assert run.verdicts["reason"].str.contains("RuntimeError: out of paint").all()
    said = " ".join(capsys.readouterr().err.split())
    assert re.search(r"RuntimeError: out of paint.*\[results-failed\]", said)


@pytest.fixture
def _ctrl_c_is_heard() -> Iterator[None]:
    """As in a terminal: what a shell starts in the background ignores Ctrl-C."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.mark.usefixtures("_ctrl_c_is_heard")
def test_ctrl_c_keeps_what_was_painted_and_the_same_call_goes_on(tmp_path: Path) -> None:
    painted: list[tuple[str, int]] = []

    def interrupted(prompt: str, seed: int) -> Image.Image:
        painted.append((prompt, seed))
        if len(painted) == 3:
            signal.raise_signal(signal.SIGINT)
        if len(painted) >= 3 and not n_before:
            time.sleep(0.3)  # else a busy machine may paint all of it before anybody heeds
        return draw(prompt, seed)

    n_before = 0
    with pytest.raises(KeyboardInterrupt):
        ask(tmp_path / "run", interrupted, name="m", version=1, size=8)
    n_before = len(painted)
    run = ask(tmp_path / "run", interrupted, name="m", version=1, size=8)
    assert len(run.verdicts) > 0
    assert len(painted) - len(set(painted)) == 1, "nothing is painted twice but the one that is compared"
    assert len(painted) > n_before


def test_several_models_are_told_apart_by_their_names(tmp_path: Path) -> None:
    run = ask(tmp_path / "run", {"v1.5": draw, "v2": "painter"}, version={"v1.5": 1})
    assert set(run.verdicts["model"]) == {"v1.5", "v2"}
    assert set(run.summary.to_json()["by_model"]) == {"v1.5", "v2"}  # type: ignore[arg-type]  # JSON


def test_a_run_of_a_function_opens_without_it(tmp_path: Path) -> None:
    run = ask(tmp_path / "run", name="mine", version=1)
    directory = str(tmp_path / "run")

    for words in (
        ("report", directory, "--format", "json"),
        ("verify", directory),
        ("rejudge", directory, "--set", "check.threshold=0.6"),
        ("export", directory, "--as", "csv", "-o", str(tmp_path / "rows.csv")),
        ("report", directory, "-o", str(tmp_path / "report.html")),
    ):
        done = typed(*words)
        assert done.returncode in (0, 3), done.stderr
    assert "python/mine" not in (tmp_path / "report.html").read_text(), "no command that no shell can run"
    again = typed("run", "metalogic", "--model", "mine=python/mine", "--detector", "pocket", "--out", directory)
    assert again.returncode == 2
    assert "[object-missing]" in again.stderr
    assert "salva.run_suite(" in again.stderr
    assert "name='mine'" in again.stderr
    assert len(run.verdicts) > 0


def test_a_function_needs_somebody_who_looks_and_the_call_is_shown(tmp_path: Path) -> None:
    with pytest.raises(salva.UsageError, match=r"\[detector-missing\]") as refused:
        salva.run_suite("metalogic", draw, version=2, size=3, out=tmp_path / "run")
    assert "salva.run_suite('metalogic', model=draw, version=2, out=" in str(refused.value)
    assert "size=3, detector='mm-grounding-dino')" in str(refused.value)
    assert "object at 0x" not in str(refused.value)


def test_unknown_keywords_and_wrong_kinds_are_named_before_anything_is_made(tmp_path: Path) -> None:
    with pytest.raises(salva.UsageError, match="Did you mean 'judge'"):
        ask(tmp_path / "run", judges="scene")
    with pytest.raises(salva.UsageError, match=r"size= is 2\.5"):
        ask(tmp_path / "run", size=2.5)
    assert not (tmp_path / "run").exists()


def test_a_run_shows_itself_in_four_lines_and_in_a_notebook(tmp_path: Path) -> None:
    run = ask(tmp_path / "run", version=1)
    lines = repr(run).splitlines()
    assert len(lines) == 4
    assert lines[0] == f"salva run {tmp_path / 'run'}"
    assert "metalogic on draw" in lines[1]
    assert "data:image/webp" in run._repr_html_()
    (tmp_path / "run" / "salva.db").write_bytes(b"torn")
    assert "[disk-error]" in repr(run)
    assert run._repr_html_().startswith("<pre>salva run")


def test_a_path_is_the_suites_own_file(tmp_path: Path) -> None:
    (tmp_path / "prompts.txt").write_text("a cat and a dog\n", encoding="utf-8")
    with pytest.raises(salva.UsageError) as refused:
        salva.plan_run("metalogic", "painter", path=tmp_path / "prompts.txt")
    assert refused.value.code == "path-unused"
    path = tmp_path / "prompts.txt"
    assert salva.plan_run("prompts", "painter", path=path).n_cases == 1
    with pytest.raises(salva.UsageError) as refused:
        salva.plan_run("prompts", "painter", path=path, settings={"suite.path": str(path)})
    assert refused.value.code == "options-conflict"


def test_a_plan_takes_exactly_what_a_run_takes() -> None:
    planned, run = (inspect.signature(function).parameters for function in (salva.plan_run, salva.run_suite))
    assert list(planned.values()) == list(run.values())


class _Waits:
    async def __call__(self, prompt: str, seed: int) -> Image.Image:
        raise AssertionError("it was called")


async def _waits(prompt: str, seed: int) -> Image.Image:
    raise AssertionError("it was called")


def _yields(prompt: str, seed: int) -> Iterator[Image.Image]:
    yield draw(prompt, seed)


@pytest.mark.parametrize(
    "model",
    [_waits, _yields, _Waits(), functools.partial(_waits), salva.batched(_yields)],  # type: ignore[arg-type]  # that is the point
)
def test_what_gives_no_image_when_called_is_refused_when_handed_over(model: object, tmp_path: Path) -> None:
    with pytest.raises(salva.UsageError) as refused:
        ask(tmp_path / "run", model, version=1)
    assert refused.value.code == "keyword-invalid"
    assert not list(tmp_path.iterdir())


def test_the_version_is_public() -> None:
    assert re.fullmatch(r"\d+\.\d+.*", str(salva.__version__))
