"""Progress: silent when nobody watches, complete when somebody does."""

from __future__ import annotations

from pathlib import Path

import pytest

from salva.engine.progress import LineProgress, RichProgress, SilentProgress, make_progress
from salva.runs.pipeline import execute
from salva.testing.fakes import FakeReader
from salva.testing.specs import bound, fake_spec


class Told(SilentProgress):
    def __init__(self) -> None:
        self.totals: dict[str, int | None] = {}
        self.done: dict[str, int] = {}
        self.finished: list[str] = []

    def start(self, stage: str, total: int | None) -> None:
        self.totals[stage] = total

    def advance(self, stage: str, n: int = 1) -> None:
        self.done[stage] = self.done.get(stage, 0) + n

    def finish(self, stage: str) -> None:
        self.finished.append(stage)


@pytest.mark.parametrize("fails", [0.0, 0.3])
def test_every_stage_is_told_to_its_end_also_when_resumed(tmp_path: Path, fails: float) -> None:
    spec = fake_spec(5, {"fails": fails}, repeats=2, reader=bound("reader", FakeReader))
    for _ in range(2 if fails else 1):
        told = Told()
        execute(spec, tmp_path, told)
        assert told.totals == {"generating": 20, "observing": 40, "judging": 5}
        assert told.done["generating"] == 20
        assert told.done["judging"] == 5
        assert told.done["observing"] == 40 if not fails else told.done["observing"] < 40
        assert told.finished == ["generating", "observing", "judging"]


def test_bars_show_counts_and_notes_without_markup(capsys: pytest.CaptureFixture[str]) -> None:
    progress = RichProgress()
    progress.start("generating", 10)
    progress.advance("generating", 4)
    progress.start("generating", 4)
    progress.note("[red]left out[/red]")
    progress.finish("generating")
    shown = capsys.readouterr().err
    assert "generating" in shown
    assert "4/4" in shown
    assert "[red]left out[/red]" in shown


def test_nothing_is_drawn_where_nobody_watches() -> None:
    assert type(make_progress(quiet=True)) is SilentProgress
    assert isinstance(make_progress(), LineProgress), "standard error is no terminal here"


def test_a_log_gets_a_line_now_and_then(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    now = 1000.0
    monkeypatch.setattr("salva.engine.progress.time.monotonic", lambda: now)
    progress = LineProgress()
    progress.start("generating", 400)
    progress.start("judging", None)
    for second in range(1, 101):
        now = 1000.0 + second
        progress.advance("generating", 2)
    progress.finish("generating")
    progress.finish("judging")
    lines = capsys.readouterr().err.splitlines()
    assert lines == [
        "salva: generating 60 of 400, judging 0 of ? after 30 s; about 3 min left",
        "salva: generating 120 of 400, judging 0 of ? after 60 s; about 2 min left",
        "salva: generating 180 of 400, judging 0 of ? after 2 min; about 2 min left",
    ]


def test_nobody_guesses_the_end_before_every_stage_has_begun(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    now = 1000.0
    monkeypatch.setattr("salva.engine.progress.time.monotonic", lambda: now)
    progress = LineProgress()
    progress.start("generating", 300)
    progress.start("observing", 900)
    for second, n_observed in ((40, 1), (80, 99)):
        now = 1000.0 + second
        progress.advance("observing", n_observed)
    lines = capsys.readouterr().err.splitlines()
    assert lines == [
        "salva: generating 0 of 300, observing 1 of 900 after 40 s",
        "salva: generating 0 of 300, observing 100 of 900 after 80 s",
    ]
    now = 1120.0
    progress.advance("generating", 60)
    assert capsys.readouterr().err.endswith(
        "generating 60 of 300, observing 100 of 900 after 2 min; about 16 min left\n"
    )
    now = 1160.0
    progress.advance("observing", 801)
    assert "observing 901 of more than 900 after 3 min; about 11 min left" in capsys.readouterr().err


def test_what_is_over_at_once_writes_no_line(capsys: pytest.CaptureFixture[str]) -> None:
    progress = LineProgress()
    progress.start("generating", 2)
    progress.advance("generating", 2)
    progress.finish("generating")
    assert capsys.readouterr().err == ""
