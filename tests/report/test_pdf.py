"""The PDF: it opens, holds what a reader must find, and takes hostile words as words."""

from __future__ import annotations

import re
import subprocess
from base64 import b64encode
from dataclasses import replace
from io import BytesIO
from pathlib import Path
from shutil import which

import pytest
from PIL import Image
from report.fake_runs import ASKED, FakeImages, make_case, make_verdict, random_run
from report.hostile import hostile_run

from salva.core.source import RewrittenPrompt, RunRecords, Seen
from salva.core.verdict import Failure, Outcome
from salva.report.gallery import Overlay, Thumbnail
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
    for wanted in ("pairs failed", "Failure rate", "Counterexamples", "3 of ", "by category", "Methods"):
        assert wanted in words
    command = ["pdftotext", "-l", "1", "-bbox", str(tmp_path / "report.pdf"), "-"]
    places = subprocess.run(command, capture_output=True, check=True, timeout=60).stdout.decode()
    last = re.findall(r'xMax="([\d.]+)" yMax="([\d.]+)">(.*?)</word>', places)[-3:]
    assert [word for _, _, word in last] == ["salva,", "page", "1"]
    right, foot = (float(place) for place in last[-1][:2])
    assert right == pytest.approx(595.28 - 48, abs=0.5), "where the text ends on the right"
    assert foot == pytest.approx(841.89 - 28 + 0.24 * 7, abs=0.5), "28 points from the foot, below it what g and p need"


def test_a_picture_fills_its_room_and_its_boxes_lie_where_they_were_seen() -> None:
    from reportlab.pdfgen.canvas import Canvas

    from salva.report.pdf_pictures import BoxedPicture

    buffer = BytesIO()
    Image.new("RGB", (200, 100), "red").save(buffer, "PNG")
    picture = Thumbnail(uri=f"data:image/png;base64,{b64encode(buffer.getvalue()).decode()}", width=200, height=100)
    seen = Overlay(label="cat 90", x=20, y=10, width=60, height=40, is_blamed=False, is_text=False)
    page = Canvas(BytesIO(), pageCompression=0)
    BoxedPicture(picture, [seen], 50, "Helvetica").drawOn(page, 100, 300)
    drawn = " ".join(page._code)
    assert "1 0 0 1 100 300 cm" in drawn
    assert "50 0 0 25 0 0 cm" in drawn, "a quarter of its size, from the corner of its room"
    assert "n 5 12.5 15 10 re" in drawn, "a page is measured from its foot"


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
    made = tuple(RewrittenPrompt(model="m", prompt=text, text="Rain rises.", passed_over=(), n=1) for text in texts)
    shown = {image: Seen(painted=made) for one in scored for image in one.images.values()}
    words = words_of(render_pdf(replace(records, verdicts=scored), FakeImages(seen_in=shown), limit=1), tmp_path)
    assert "0.25" in words
    assert "generated from “Rain rises.”" in words


def test_boxes_are_drawn_on_the_pictures_with_their_names(tmp_path: Path) -> None:
    records, images = random_run(n_entities=2)
    words = words_of(render_pdf(records, images, limit=3), tmp_path)
    assert re.search(r"\b(cat|dog) 9\d\b", words), "a thing and its score"
    for seen, scene in images.seen_in.items():
        images.seen_in[seen] = replace(scene, boxes=(), texts=())
    assert not re.search(r"\b(cat|dog) 9\d\b", words_of(render_pdf(records, images, limit=3), tmp_path))


def test_several_models_stand_side_by_side_under_each_case(tmp_path: Path) -> None:
    records, images = random_run(n_entities=2, models=("painter", "other"))
    words = words_of(render_pdf(records, images, limit=4), tmp_path)
    heads = re.findall(r"(metalogic-[a-z0-9-]+): the models differ", words)
    assert len(heads) == 2, "a limit of four is two pairs of two models"
    for head in heads:
        case = words.split(f"{head}: the models differ")[1]
        assert 0 < case.index("painter: ") < case.index("other: ")


def test_a_case_that_is_longer_than_a_page_is_set_smaller() -> None:
    failures = tuple(Failure(failure_type=f"t{n}", role="b", message="no cat " * 80) for n in range(6))
    verdict = make_verdict(outcome=Outcome.FAIL, check="truth", failures=failures, images={"a": "1", "b": "2"})
    case = make_case(texts=("a cat " * 200, "a dog " * 200))
    records = RunRecords(cases=(case,), verdicts=(verdict,), primaries={"case-1": "truth"}, asked=ASKED, is_whole=True)
    for models in (1, 2):
        named = tuple(replace(verdict, model=f"m{n}") for n in range(models))
        assert render_pdf(replace(records, verdicts=named), FakeImages()).startswith(b"%PDF-")


def test_no_page_but_the_last_is_half_empty(tmp_path: Path) -> None:
    if which("pdftotext") is None:
        pytest.skip("pdftotext is not installed; it reads the PDF back")
    records, images = random_run()
    path = tmp_path / "report.pdf"
    path.write_bytes(render_pdf(records, images, limit=9))
    done = subprocess.run(["pdftotext", "-bbox", path, "-"], capture_output=True, check=True, timeout=60)
    pages = done.stdout.decode().split("<page ")[1:]
    # The last three words of a page are its number.
    lowest = [max(float(y) for y in re.findall(r'yMax="([\d.]+)"', page)[:-3]) for page in pages]
    assert len(lowest) > 5
    assert min(lowest[:-1]) > 841.89 / 2


def test_no_heading_stands_alone_at_the_foot_of_a_page(tmp_path: Path) -> None:
    if which("pdftotext") is None:
        pytest.skip("pdftotext is not installed; it reads the PDF back")
    records, images = random_run(models=("painter", "other", "third"))
    path = tmp_path / "report.pdf"
    path.write_bytes(render_pdf(records, images, limit=9))
    done = subprocess.run(["pdftotext", "-layout", path, "-"], capture_output=True, check=True, timeout=60)
    pages = [page.split("\n") for page in done.stdout.decode().split("\f") if page.strip()]
    titles = {"Where it fails", "Counterexamples", "Metrics", "Methods", "Tables", "by category", "failure types"}
    last = [[line.strip() for line in page if line.strip()][-2] for page in pages]
    assert not [line for line in last if line.split(" – ")[0] in titles or line.startswith("metalogic-")]
