"""A release gate: passed, failed, inconclusive or refused, each for its reason; nothing is generated twice."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest
from in_process import Done, salva

from salva.compare import gate_run
from salva.runs.pipeline import execute
from salva.runs.summary import RunSummary
from salva.store.sqlite import open_run

ROOT = Path(__file__).parents[2]
GREY = '''
from salva.core.about import About
from salva.core.image import Picture
from salva.core.protocols import Rendered

class Grey:
    """Draws nothing."""
    version = "1"
    about = About(seeds_hold=True)
    def __init__(self, options): ...
    def render(self, requests):
        return [Rendered(picture=Picture(rgb=bytes([128] * 3 * 64 * 64), width=64, height=64)) for _ in requests]
'''
HEAD = """
[candidate]
model = "painter"
[parts]
detector = "pocket"
reader = "none"
"""
FAULTY = HEAD.replace('"painter"', '"painter"\nset = {"model.faults" = "entity-omission:1"}')
AGAINST = '[baseline]\nmodel = "painter"\n'
FOREIGN = HEAD.replace("painter", "openai/x").replace('detector = "pocket"\n', "")
NOT_WORSE = "[rules]\nfail_if_worse = 0.05\n"
LIMIT = "[rules]\nmax_failure_rate = 0.5\n"
SUITE = '[[suite]]\nname = "metalogic"\nsize = 20\n'


def gate(folder: Path, text: str) -> Done:
    (folder / "release.toml").write_text(text, encoding="utf-8")
    return salva("gate", "release.toml", "--no-progress", cwd=folder)


def pictures(folder: Path) -> dict[Path, int]:
    return {path: path.stat().st_mtime_ns for path in folder.rglob("*.webp")}


def junit(folder: Path) -> tuple[int, int, int]:
    root = ElementTree.parse(folder / "salva-gate" / "report" / "junit.xml").getroot()
    return int(root.attrib["tests"]), int(root.attrib["failures"]), int(root.attrib["errors"])


def report(folder: Path) -> dict[str, Any]:
    content: dict[str, Any] = json.loads((folder / "salva-gate" / "report" / "gate.json").read_text(encoding="utf-8"))
    return content


def decisions(folder: Path) -> dict[str, str]:
    (suite,) = report(folder)["suites"]
    return {rule["rule"]: rule["decision"] for rule in suite["rules"]}


@pytest.fixture(scope="module")
def failed(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Done]:
    """A faulty candidate against a faultless baseline, both run by the file."""
    folder = tmp_path_factory.mktemp("failed")
    rules = "[rules]\nfail_if_worse = 0.05\nmax_failure_rate = 0.5\n"
    return folder, gate(folder, FAULTY + AGAINST + rules + SUITE)


def test_a_worse_candidate_fails_both_rules(failed: tuple[Path, Done]) -> None:
    folder, done = failed
    assert done.returncode == 1, done.stderr
    assert junit(folder) == (3, 2, 0)
    place = folder / "salva-gate" / "report"
    lines = (place / "junit.xml").read_text(encoding="utf-8").splitlines()
    assert [line.count("<testcase") for line in lines if "<testcase" in line] == [1, 1, 1], "a line each, for people"
    content = report(folder)
    assert (content["decision"], content["exit_code"]) == ("failed", 1)
    (suite,) = content["suites"]
    assert (suite["comparison"]["decision"], suite["comparison"]["gate"]["decision"]) == ("worse", "failed")
    assert suite["comparison"]["candidate"]["title"] == "painter (candidate)"
    assert decisions(folder) == {"decided": "passed", "not worse": "failed", "failure_rate": "failed"}
    assert (place / "gate.md").read_text(encoding="utf-8").startswith("# Gate failed: painter\n")
    made = {path.name for path in (place / "metalogic").iterdir()}
    assert {"index.html", "junit.xml", "comparison.html", "comparison.md", "comparison.json"} <= made
    page = (place / "index.html").read_text(encoding="utf-8")
    assert 'href="metalogic/comparison.html"' in page
    assert '<p class="big">failed</p>' in page
    assert "<h1>painter (baseline) -&gt; painter (candidate)</h1>" in page


def test_the_same_command_generates_nothing_again_and_another_candidate_keeps_the_baseline(
    failed: tuple[Path, Done],
) -> None:
    folder, _ = failed
    before = pictures(folder)
    assert salva("gate", "release.toml", "--no-progress", cwd=folder).returncode == 1
    assert pictures(folder) == before
    fine = FAULTY.replace("entity-omission:1", "optical-character:0")
    done = gate(folder, fine + AGAINST + NOT_WORSE.replace("0.05", "0.3") + SUITE)
    assert done.returncode == 0, done.stdout + done.stderr
    assert decisions(folder) == {"decided": "passed", "not worse": "passed"}
    assert len(list((folder / "salva-gate" / "runs").iterdir())) == 3, "one baseline, two candidates"


def test_what_is_not_sure_is_inconclusive(failed: tuple[Path, Done], tmp_path: Path) -> None:
    shutil.copytree(failed[0] / "salva-gate", tmp_path / "salva-gate")
    fine = FAULTY.replace("entity-omission:1", "optical-character:0")
    rules = "[rules]\nfail_if_worse = 0.01\nmax_failure_rate = 0.01\ngate = { inconsistent = 0.01 }\n"
    done = gate(tmp_path, fine + AGAINST + rules + SUITE)
    assert done.returncode == 3
    rules_of = dict.fromkeys(("not worse", "failure_rate", "inconsistent"), "inconclusive")
    assert decisions(tmp_path) == {"decided": "passed", **rules_of}
    assert junit(tmp_path) == (4, 0, 3)


def test_a_stored_run_is_a_baseline_and_nothing_else_of_it_is_used(failed: tuple[Path, Done], tmp_path: Path) -> None:
    folder, _ = failed
    runs = sorted((folder / "salva-gate" / "runs").glob("metalogic-painter-20-*"))
    stored = next(run for run in runs if "entity-omission" not in (run / "run.json").read_text())
    shutil.copytree(stored, tmp_path / "stored")
    before = pictures(tmp_path / "stored")
    done = gate(tmp_path, FAULTY + NOT_WORSE + SUITE + 'baseline = "stored"\n')
    assert done.returncode == 1, done.stdout + done.stderr
    assert pictures(tmp_path / "stored") == before
    assert len(list((tmp_path / "salva-gate" / "runs").iterdir())) == 1
    # A stranger's run may name anything as its model: it is read, and never built.
    file = tmp_path / "stored" / "run.json"
    content = json.loads(file.read_text(encoding="utf-8"))
    content["spec"]["models"][0] |= {"name": "painter", "typed": "command/touch owned", "options": {"x": "y"}}
    file.write_text(json.dumps(content), encoding="utf-8")
    done = salva("gate", "release.toml", "--no-progress", cwd=tmp_path)
    # The detector knows the painter's images alone.
    assert done.returncode == 3, done.stdout + done.stderr
    assert decisions(tmp_path) == {"decided": "inconclusive", "not worse": "failed"}
    assert not (tmp_path / "owned").exists()


@pytest.mark.parametrize(
    ("change", "shown"),
    [
        (('reader = "none"', 'reader = "rapidocr"'), "reader unset there, rapidocr here"),
        (("size = 20", "size = 21"), "size 20 there, 21 here"),
        (("[parts]", "[parts]\nseed = 7"), "seed 0 there, 7 here"),
        (('"metalogic"', '"scene"\ntitle = "s"'), "suite metalogic there, scene here"),
        (("size = 20", 'size = 20\nset = {"check.threshold" = 0.7}'), "check.threshold unset there, 0.7 here"),
        (
            ('"stored"', '"nowhere"'),
            "Make it with:\n  salva run metalogic",
        ),
    ],
)
def test_a_baseline_that_was_asked_otherwise_is_refused_before_any_image(
    failed: tuple[Path, Done], tmp_path: Path, change: tuple[str, str], shown: str
) -> None:
    stored = min((failed[0] / "salva-gate" / "runs").iterdir())
    shutil.copytree(stored, tmp_path / "stored")
    text = FAULTY + NOT_WORSE + SUITE + 'baseline = "stored"\n'
    assert change[0] in text
    done = gate(tmp_path, text.replace(*change).replace("size = 20\n", "" if "scene" in change[1] else "size = 20\n"))
    assert done.returncode == 2, done.stdout
    assert shown in done.stderr
    assert not (tmp_path / "salva-gate").exists()


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        (HEAD + AGAINST + NOT_WORSE + SUITE, "[gate-same-model]"),
        (HEAD.replace("painter", "paintr") + LIMIT + SUITE, "Did you mean 'painter'"),
        (HEAD + LIMIT + SUITE.replace("metalogic", "metalogik"), "Did you mean 'metalogic'"),
        (HEAD + LIMIT + SUITE + "only = ['law']\n", "[setting-invalid]"),
        (FOREIGN + LIMIT + SUITE, "in [parts] of"),
    ],
)
def test_what_must_be_changed_is_known_before_any_image(tmp_path: Path, text: str, shown: str) -> None:
    done = gate(tmp_path, text)
    assert done.returncode == 2, done.stdout
    assert shown in done.stderr
    assert not (tmp_path / "salva-gate").exists()


def test_an_unknown_metric_is_refused_before_any_image(tmp_path: Path) -> None:
    done = gate(tmp_path, HEAD + "[rules]\ngate = { kapa = 0.5 }\n" + SUITE)
    assert done.returncode == 2
    done = gate(tmp_path, HEAD + "[rules]\ngate = { chance = 0.5 }\n" + SUITE)
    assert (done.returncode, done.codes) == (2, ["gate-no-direction"])
    assert not (tmp_path / "salva-gate").exists()


def test_grey_images_and_too_few_pairs_never_pass(tmp_path: Path) -> None:
    (tmp_path / "grey.py").write_text(GREY, encoding="utf-8")
    grey = 'plugin = "grey.py:Grey"\n' + HEAD.replace('"painter"', '"grey"')
    done = gate(tmp_path, grey + AGAINST + "[rules]\nfail_if_worse = 1.0\n" + SUITE)
    assert done.returncode == 3, done.stdout + done.stderr
    assert decisions(tmp_path) == {"decided": "inconclusive", "not worse": "inconclusive"}
    done = gate(tmp_path, HEAD + LIMIT.replace("0.5", "0.9") + SUITE.replace("20", "4"))
    assert done.returncode == 3, done.stdout + done.stderr
    assert decisions(tmp_path) == {"decided": "passed", "failure_rate": "inconclusive"}
    assert "[gate-few-decided]" in done.stdout
    assert junit(tmp_path) == (2, 0, 1)


def test_an_empty_and_a_damaged_baseline_are_refused(failed: tuple[Path, Done], tmp_path: Path) -> None:
    stored = min((failed[0] / "salva-gate" / "runs").iterdir())
    text = FAULTY + NOT_WORSE + SUITE + 'baseline = "stored"\n'
    shutil.copytree(stored, tmp_path / "stored")
    with open_run(tmp_path / "stored", "write") as store:
        store.drop_verdicts("truth")
        store.drop_verdicts("same-scene")
    done = gate(tmp_path, text)
    assert done.returncode == 2
    assert "[gate-baseline-missing]" in done.stderr
    (tmp_path / "stored" / "salva.db").write_bytes(b"not a database" * 99)
    done = gate(tmp_path, text)
    assert done.returncode == 2
    assert "Traceback" not in done.stderr
    (tmp_path / "stored" / "run.json").write_text("[]")
    assert gate(tmp_path, text).returncode == 2
    assert not (tmp_path / "salva-gate").exists()


def test_an_interrupted_check_goes_on(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    text = FAULTY + AGAINST + NOT_WORSE + SUITE
    n_runs = 0

    def interrupted(*args: Any, **kwargs: Any) -> RunSummary:
        nonlocal n_runs
        n_runs += 1
        if n_runs == 2:
            raise KeyboardInterrupt
        return execute(*args, **kwargs)

    with monkeypatch.context() as patch:
        patch.setattr(gate_run, "execute", interrupted)
        done = gate(tmp_path, text)
    assert done.returncode == 130
    assert "the same command con" in done.stderr
    assert not (tmp_path / "salva-gate" / "report").exists(), "no half of a report"
    before = pictures(tmp_path)
    assert before
    assert gate(tmp_path, text).returncode == 1
    assert before.items() <= pictures(tmp_path).items()


def test_many_seeds_of_one_scene_show_no_difference_of_models(tmp_path: Path) -> None:
    scene = '[[suite]]\nname = "scene"\nrepeats = 16\nset = {"suite.scene" = "cat & dog"}\n'
    assert gate(tmp_path, FAULTY + AGAINST + NOT_WORSE + scene).returncode == 3
    (suite,) = report(tmp_path)["suites"]
    assert "compare-few-cases" in [note["code"] for note in suite["comparison"]["notes"]]
