"""Real captions through the prompts suite with a judge at an endpoint: none is lost, and none is unexplained."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import in_process
import pytest
from backends.judge_servers import Say, Server, Turn, picture_in, serving
from PIL import Image

from salva.store.queries import read_records

pytest.importorskip("openai", reason="judges at endpoints need the api extra")

N_CAPTIONS = 60


def by_colour(body: dict[str, Any]) -> Turn:
    """A judge that says yes to green images; about the drawing of the preflight it is honest."""
    asked, picture = json.dumps(body), picture_in(body)
    if picture.size != (32, 32):
        return Say(text=json.dumps({"answer": "no" if "airplane" in asked else "yes"}))
    red, green, blue = picture.resize((1, 1)).getpixel((0, 0))
    is_green = green > red and green > blue
    words = ("one", "none") if "How many" in asked else ("yes", "no")
    return Say(text=json.dumps({"answer": words[0] if is_green else words[1]}))


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[Server]:
    with serving(by_colour) as made:
        monkeypatch.setenv("OPENAI_API_KEY", "sk-of-a-test")
        monkeypatch.setenv("OPENAI_BASE_URL", f"{made.url}/v1")
        yield made


@pytest.fixture
def captions(foreign_data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Sixty captions in a file, one of them twice, and a folder beside it with an image of each: every third wrong."""
    content = json.loads((foreign_data / "coco" / "captions_val2017_first1000.json").read_text(encoding="utf-8"))
    texts = list(dict.fromkeys(" ".join(row["caption"].split()) for row in content["annotations"]))[:N_CAPTIONS]
    (tmp_path / "captions.txt").write_text("\n".join([*texts, texts[0]]), encoding="utf-8")
    folder = tmp_path / "images"
    folder.mkdir()
    lines = []
    for n, text in enumerate(texts):
        # No two are the same: one image for many prompts would be noticed.
        Image.new("RGB", (32, 32), (128, 128, n) if n % 3 == 0 else (20, 200, n)).save(folder / f"{n:03}.png")
        lines.append(json.dumps({"prompt": text, "path": f"{n:03}.png"}))
    (folder / "manifest.jsonl").write_text("\n".join(lines), encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    return texts


RUN = ("run", "prompts", "--set", "suite.path=captions.txt", "--model", "folder/images", "--judge", "openai/judge-1")


def test_sixty_captions_each_have_a_verdict_or_a_reason(captions: list[str], server: Server) -> None:
    done = in_process.salva(*RUN, "--no-progress", "--out", "run")
    assert done.returncode in (0, 3), done.stderr
    assert f"{N_CAPTIONS} prompts; repeated: 1 of {N_CAPTIONS + 1} entries" in done.stderr
    records = read_records(Path("run"))
    assert {prompt.text for case in records.cases for prompt in case.prompts} == set(captions)
    judged = {verdict.case_id: verdict.outcome for verdict in records.verdicts}
    assert judged.keys() == {case.case_id for case in records.cases}
    outcomes: Counter[tuple[bool, str]] = Counter()
    for case in records.cases:
        if case.labels["formula"] == "none":
            outcomes[captions.index(case.prompts[0].text) % 3 == 0, str(judged[case.case_id])] += 1
    assert outcomes.keys() == {(True, "FAIL"), (False, "PASS")}
    assert outcomes.total() > 50
    report = json.loads(in_process.salva("report", "run", "--format", "json").stdout)
    assert report["checks"] == {"right-answers": N_CAPTIONS}
    assert report["average"] == "pooled"
    assert report["n"] == report["results"]["total"] == N_CAPTIONS
    assert report["failure_rate"] == pytest.approx(sum(v == "FAIL" for v in judged.values()) / N_CAPTIONS)
    by_check = next(table for table in report["tables"] if table["name"] == "prompts by check")
    assert sum(row[2] for row in by_check["rows"]) == N_CAPTIONS
    assert server.asked


@pytest.mark.usefixtures("captions")
def test_without_anybody_to_ask_the_reasons_are_counted_and_nothing_is_left(server: Server) -> None:
    done = in_process.salva(*RUN[:-2], "--detector", "pocket", "--only", "formula=none", "--no-progress")
    assert done.returncode == 2
    assert "[check-inapplicable]" in done.stderr
    assert "no formula: " in done.stderr
    assert not Path("runs").exists()
    assert server.asked == []


@pytest.mark.usefixtures("captions")
def test_a_dry_run_asks_nobody_and_leaves_nothing(server: Server) -> None:
    before = sorted(Path().rglob("*"))
    done = in_process.salva(*RUN, "--dry-run", "--set", "check.flip_sample=0")
    assert done.returncode == 0, done.stderr
    assert server.asked == []
    assert sorted(Path().rglob("*")) == before
    assert f"model folder/images: {N_CAPTIONS}" in done.stdout
    assert "judge openai/judge-1: " in done.stdout
    assert "price" in done.stdout
    assert "usd_per_million_input" in done.stdout


@pytest.mark.usefixtures("server")
def test_questions_of_a_file_are_asked_and_prompts_it_does_not_have_are_listed(captions: list[str]) -> None:
    fields = "item_id,text,proposition_id,dependency,question_natural_language\n"
    unread = captions[4:10]
    asked = [f'{n},"{text}",{m},{m - 1},"Is part {m} of {n} there?"\n' for n, text in enumerate(unread) for m in (1, 2)]
    Path("questions.csv").write_text(fields + "".join(asked), encoding="utf-8")
    Path("captions.txt").write_text("\n".join(captions[4:12]), encoding="utf-8")
    done = in_process.salva(*RUN, "--set", "check.questions=questions.csv", "--no-progress", "--out", "run")
    assert done.returncode == 3, "two of eight are more than may stay unjudged"
    report = json.loads(in_process.salva("report", "run", "--format", "json").stdout)
    tables = {table["name"]: table for table in report["tables"]}
    (unchecked,) = (tables[name]["rows"] for name in sorted(tables) if name.startswith("prompts without"))
    assert sorted(prompt for _, prompt, _ in unchecked) == sorted(captions[10:12])
    assert all("'questions.csv'" in reason for *_, reason in unchecked)
    assert (report["n"], report["coverage"]) == (6, 0.75)
    outcomes = {verdict.case_id: verdict for verdict in read_records(Path("run")).verdicts}
    wrong = [text for n, text in enumerate(captions[4:10], 4) if n % 3 == 0]
    assert sum(verdict.scores["dsg_A"] == 0 for verdict in outcomes.values()) == len(wrong)
