"""Judges as readers, from `salva run` to a report: an endpoint that reads, one that cannot be read, one that costs."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import in_process
import pytest
from backends.judge_servers import Fail, Say, Server, Turn, picture_in, serving
from in_process import Command

from salva.core.image import Picture
from salva.core.observation import Reading
from salva.core.options import NoOptions
from salva.core.protocols import ObserveRequest, Query
from salva.core.run_spec import ComponentSpec
from salva.readers.judge_reader import IS_ANY
from salva.readers.rapid_ocr import RapidOcr
from salva.registry import bind

pytest.importorskip("openai", reason="judges at endpoints need the api extra")

FAULTY = ("--size", "8", "--model", "painter", "--set", "model.faults=optical-character:0.5", "--no-progress")
GREY = Picture(rgb=bytes([120]) * 192, width=8, height=8)


@pytest.fixture
def salva() -> Command:
    """The command line, in this process."""
    return in_process.salva


@pytest.fixture(scope="module")
def eye() -> RapidOcr:
    return RapidOcr(NoOptions())


@pytest.fixture
def literate(eye: RapidOcr, monkeypatch: pytest.MonkeyPatch) -> Iterator[Server]:
    """An endpoint that really reads the picture it is sent."""

    def answer(body: dict[str, Any]) -> Turn:
        image = picture_in(body)
        picture = Picture(rgb=image.tobytes(), width=image.width, height=image.height)
        (seen,) = eye.observe([ObserveRequest(picture=picture, query=Query(role="reader"))])
        assert isinstance(seen, Reading)
        if IS_ANY.text in json.dumps(body):
            return Say(text=json.dumps({"explanation": "looked", "answer": "yes" if seen.spans else "no"}))
        return Say(text=json.dumps({"explanation": "read", "answer": " | ".join(span.text for span in seen.spans)}))

    with serving(answer) as server:
        point_to(server, monkeypatch)
        yield server


def point_to(server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-x")
    monkeypatch.setenv("OPENAI_BASE_URL", f"{server.url}/v1")


def outcomes(salva: Command, run: Path) -> dict[str, tuple[str, str]]:
    """Outcome and errors of each case."""
    import csv

    table = run.parent / f"{run.name}.csv"
    assert salva("export", str(run), "--as", "csv", "-o", str(table)).returncode == 0
    with table.open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    return {f"{row['case_id']} {row['check']}": (row["outcome"], row["failure_types"]) for row in rows}


def test_a_reading_judge_gives_the_verdicts_of_its_reader(literate: Server, salva: Command, tmp_path: Path) -> None:
    asked = ("run", "metalogic", *FAULTY, "--reader", "openai/clerk", "--out", str(tmp_path / "judge"))
    done = salva(*asked)
    assert done.returncode == 0, done.stderr
    n_asked = len(literate.asked)
    assert salva(*asked).returncode == 0
    assert len(literate.asked) == n_asked, "a finished run asks nobody again"
    assert salva("run", "metalogic", *FAULTY, "--out", str(tmp_path / "ocr")).returncode == 0
    by_judge = outcomes(salva, tmp_path / "judge")
    assert by_judge == outcomes(salva, tmp_path / "ocr")
    assert any("optical-character" in errors for _, errors in by_judge.values())
    page = tmp_path / "page.html"
    assert salva("report", str(tmp_path / "judge"), "--format", "html", "-o", str(page)).returncode == 0
    assert "openai/clerk" in page.read_text(encoding="utf-8")


def test_an_unreadable_reply_leaves_the_pair_undecided(
    salva: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with serving([Say(text="It depends on what you call text.")]) as server:
        point_to(server, monkeypatch)
        arguments = ("--size", "2", "--model", "painter", "--reader", "openai/vague", "--no-progress")
        done = salva("run", "metalogic", *arguments, "--out", str(tmp_path / "run"))
        assert done.returncode == 3, done.stderr
    assert {outcome for outcome, _ in outcomes(salva, tmp_path / "run").values()} == {"UNDECIDED"}


def test_cost_limits_include_readers(literate: Server, salva: Command, tmp_path: Path) -> None:
    run = ("run", "metalogic", *FAULTY, "--reader", "openai/clerk", "--out", str(tmp_path / "run"), "--max-cost", "0.5")
    done = salva(*run)
    assert done.returncode == 2
    assert "reader.usd_per_million_input=" in done.stderr
    prices = ("--set", "reader.usd_per_million_input=100", "--set", "reader.usd_per_million_output=100")
    # One at a time: what is under way when the limit is reached is finished and paid for.
    done = salva(*run, *prices, "--set", "reader.max_at_once=1")
    assert "Stopped at --max-cost 0.5" in done.stderr
    assert len(literate.asked) < 16, "sixteen pictures would have cost 1.6 and more"


def test_a_changed_snapshot_of_a_reader_stops_the_run(
    salva: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    no = json.dumps({"explanation": "nothing there", "answer": "no"})
    with serving([Say(text=no, model="clerk-1"), Say(text=no, model="clerk-2")]) as server:
        point_to(server, monkeypatch)
        done = salva("run", "metalogic", *FAULTY, "--reader", "openai/clerk", "--out", str(tmp_path / "run"))
    assert done.returncode == 2
    assert "[snapshot-changed]" in done.stderr


def test_a_wrong_key_stops_the_run(salva: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with serving([Fail(status=401, message="no such key", kind="invalid_api_key")]) as server:
        point_to(server, monkeypatch)
        done = salva("run", "metalogic", *FAULTY, "--reader", "openai/clerk", "--out", str(tmp_path / "run"))
    assert done.returncode == 2
    assert "answered 401" in done.stderr
    assert len(server.asked) < 16, "not one question for every picture"


@pytest.mark.parametrize(
    ("name", "key", "place", "package"),
    [
        ("anthropic", "ANTHROPIC_API_KEY", "", "anthropic"),
        ("google", "GEMINI_API_KEY", "", "google.genai"),
        ("openai", "OPENAI_API_KEY", "/v1", "openai"),
    ],
)
def test_every_provider_can_read(
    name: str, key: str, place: str, package: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip(package, reason=f"{name} needs the api extra")
    monkeypatch.setenv(key, "k")
    turns: list[Turn] = [Say(text="[[yes]]"), Say(text="[[Keep left]]"), Say(text="[[no]]")]
    with serving(turns) as server:
        options = {"base_url": f"{server.url}{place}", "structured": "off"}
        reader = bind(ComponentSpec(role="reader", name=name + "/" + "m", options=options)).build()
        look = [ObserveRequest(picture=GREY, query=Query(role="reader"))]
        (sign,), (blank,) = reader.observe(look), reader.observe(look)
        reader.close()
    assert [span.text for span in sign.spans] == ["keep left"]
    assert blank.spans == ()
    assert not blank.problem


def test_a_local_model_can_read(tmp_path: Path) -> None:
    pytest.importorskip("torch", reason="local judges need the torch extra")
    from backends.tiny_judges import save_blip

    folder = save_blip(tmp_path, "yes")
    reader = bind(ComponentSpec(role="reader", name=f"blip-vqa/{folder}", options={"max_tokens": "1"})).build()
    first, second = reader.observe([ObserveRequest(picture=GREY, query=Query(role="reader"))] * 2)
    assert [span.text for span in first.spans] == ["yes"], first
    assert first == second
