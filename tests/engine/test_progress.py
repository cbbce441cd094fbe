"""Progress: silent when nobody watches, complete when somebody does."""

from __future__ import annotations

from pathlib import Path

import pytest

from salva.engine.progress import RichProgress, SilentProgress, make_progress
from salva.run.pipeline import execute
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
        assert told.totals == {"painting": 20, "looking": 40, "judging": 5}
        assert told.done["painting"] == 20
        assert told.done["judging"] == 5
        assert told.done["looking"] == 40 if not fails else told.done["looking"] < 40
        assert told.finished == ["painting", "looking", "judging"]


def test_bars_show_counts_and_notes_without_markup(capsys: pytest.CaptureFixture[str]) -> None:
    progress = RichProgress()
    progress.start("painting", 10)
    progress.advance("painting", 4)
    progress.start("painting", 4)
    progress.note("[red]left out[/red]")
    progress.finish("painting")
    shown = capsys.readouterr().err
    assert "painting" in shown
    assert "4/4" in shown
    assert "[red]left out[/red]" in shown


def test_nothing_is_drawn_where_nobody_watches() -> None:
    assert isinstance(make_progress(quiet=True), SilentProgress)
    assert isinstance(make_progress(), SilentProgress), "standard error is no terminal here"
