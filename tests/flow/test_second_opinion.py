"""training/second_opinion.py reads a run through the Python door: what the embedder says of each image."""

from __future__ import annotations

import re
import sys
from pathlib import Path

import pytest

import salva

TRAINING = Path(__file__).parents[2] / "training"


def test_the_embedder_tells_a_faultless_painter_from_a_forgetful_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.syspath_prepend(str(TRAINING))
    import second_opinion

    for name, faults in (("right", ""), ("wrong", "entity-omission:1")):
        settings = {"model.faults": faults} if faults else {}
        salva.run_suite("metalogic", "painter", size="40", reader="none", out=tmp_path / name, settings=settings)
    capsys.readouterr()
    monkeypatch.setattr(sys, "argv", ["second_opinion.py", str(tmp_path / "right"), str(tmp_path / "wrong")])
    second_opinion.main()
    told = capsys.readouterr().out.splitlines()[-1]
    found = re.fullmatch(r"all +n +\d+ +([\d.]+)% \(.*?\) +([\d.]+)% \(.*?\)", told)
    assert found is not None, told
    assert float(found[1]) <= 10, "wrong images of a faultless painter"
    assert float(found[2]) >= 60, "of one that leaves an entity out of every image"


def test_what_is_no_run_is_said_in_a_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(TRAINING))
    import second_opinion

    monkeypatch.setattr(sys, "argv", ["second_opinion.py", str(tmp_path)])
    with pytest.raises(SystemExit, match="is no run"):
        second_opinion.main()
