"""`salva runs` lists what is there, names what is not, and is no harm to a terminal."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

from in_process import salva
from msgspec import structs
from PIL import Image
from report.fake_runs import small_run, store_run

import salva as package
from salva.core.run_spec import ComponentSpec


def test_runs_are_listed_with_model_suite_rate_and_date(tmp_path: Path) -> None:
    store_run(tmp_path / "runs" / "mine", *small_run())
    (tmp_path / "runs" / "junk").mkdir()
    done = salva("runs", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    head, line, junk = (text.split() for text in done.stdout.splitlines())
    assert head[:5] == ["run", "suite", "model", "failure", "rate"]
    assert line[:3] == ["mine", "metalogic", "painter"]
    assert line[4] == "%"
    assert "unfinished" in " ".join(line)
    assert junk == ["junk:", "no", "run:", "it", "has", "no", "salva.db"]


def test_names_that_move_a_cursor_are_shown_as_text(tmp_path: Path) -> None:
    records, images = small_run()
    named = ComponentSpec(role="model", name="evil\x1b[2J")
    asked = structs.replace(records.asked, models=(named,))
    store_run(tmp_path / "run", replace(records, asked=asked), images)
    (tmp_path / "other\x1b[31m").mkdir()
    done = salva("runs", str(tmp_path))
    assert "\x1b" not in done.stdout
    assert "\\x1b[2J" in done.stdout


def test_an_empty_folder_and_no_folder_are_said(tmp_path: Path) -> None:
    assert salva("runs", str(tmp_path)).stdout == f"no runs in {tmp_path}\n"
    done = salva("runs", cwd=tmp_path)
    assert done.returncode == 2
    assert "[file-missing]" in done.stderr


def test_a_rate_without_trust_does_not_stand_there_like_the_others(tmp_path: Path) -> None:
    def grey(prompt: str, seed: int) -> Image.Image:
        return Image.new("RGB", (64, 64), (128, 128, 128))

    flags: dict[str, Any] = {"size": 4, "reader": "none", "detector": "pocket", "version": 1}
    package.run_suite("metalogic", grey, out=tmp_path / "run", **flags)
    line = salva("runs", str(tmp_path)).stdout.splitlines()[1].split()
    assert line[3:5] == ["100", "%"]
    assert "none" in line
    assert list(package.open_runs(tmp_path)["trust"]) == ["none"]


def test_in_a_pipe_no_name_is_cut(tmp_path: Path) -> None:
    store_run(tmp_path / "runs" / ("long-" * 45), *small_run())
    done = salva("runs", cwd=tmp_path)
    assert ("long-" * 45) in done.stdout.splitlines()[1]
    assert "unfinished" in done.stdout.splitlines()[1]
