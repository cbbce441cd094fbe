"""The PDF: it opens, holds what a reader must find, and takes hostile words as words."""

from __future__ import annotations

import re
import subprocess
from dataclasses import replace
from pathlib import Path
from shutil import which

import pytest
from report.fake_runs import FakeImages, random_run
from report.hostile import hostile_run

from salva.core.source import Painted, Seen
from salva.report.pdf import render_pdf


def words_of(data: bytes, folder: Path) -> str:
    if which("pdftotext") is None:
        pytest.skip("pdftotext is not installed; it reads the PDF back")
    path = folder / "report.pdf"
    path.write_bytes(data)
    done = subprocess.run(["pdftotext", "-layout", path, "-"], capture_output=True, check=True, timeout=60)
    return " ".join(done.stdout.decode().split())


def test_a_run_becomes_a_pdf_with_figures_pictures_and_tables(tmp_path: Path) -> None:
    records, images = random_run()
    data = render_pdf(records, images, limit=3)
    assert data.startswith(b"%PDF-")
    assert data.count(b"/Subtype /Image") >= 6, "three pairs have six pictures"
    words = words_of(data, tmp_path)
    for wanted in ("Wrong:", "Counterexamples", "3 are shown", "by category"):
        assert wanted in words


def test_the_same_run_gives_the_same_file() -> None:
    records, images = random_run()
    assert render_pdf(records, images, limit=1) == render_pdf(records, images, limit=1)


def test_hostile_words_stay_words(tmp_path: Path) -> None:
    records, images = hostile_run()
    data = render_pdf(records, images)
    assert not re.search(rb"/(JavaScript|JS|Launch|URI|OpenAction)\b", data)
    assert "<script>" in words_of(data, tmp_path)


def test_scores_and_what_was_painted_in_a_prompts_place_are_there(tmp_path: Path) -> None:
    records, _ = random_run(n_entities=2)
    scored = tuple(replace(one, scores={**one.scores, "s_a": 0.25}) for one in records.verdicts)
    texts = {prompt.text for case in records.cases for prompt in case.prompts}
    made = tuple(Painted(model="m", prompt=text, text="Rain rises.", passed_over=(), n=1) for text in texts)
    shown = {image: Seen(painted=made) for one in scored for image in one.images.values()}
    words = words_of(render_pdf(replace(records, verdicts=scored), FakeImages(seen_in=shown), limit=1), tmp_path)
    assert "0.25" in words
    assert "painted from “Rain rises.”" in words
