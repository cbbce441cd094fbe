"""A run as the published program keeps it: read again as a folder and as result lines it is the same run."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from in_process import salva

from salva.compare.comparing import compare_runs
from salva.core.verdict import Verdict
from salva.store.sqlite import open_run
from salva.suites.geneval.rules import SAYS


def _verdicts(run: Path, check: str) -> dict[tuple[str, int], Verdict]:
    with open_run(run) as store:
        return {(v.case_id, v.repeat): v for v in store.verdicts() if v.check == check}


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    run = tmp_path_factory.mktemp("made") / "run"
    flags = ("--size", "12", "--repeats", "2", "--model", "painter", "--set", "model.faults=entity-omission:0.4")
    done = salva("run", "geneval", *flags, "--published", "--no-progress", "--out", str(run))
    assert done.returncode in (0, 3), done.stderr
    done = salva("export", str(run), "--as", "geneval", "-o", str(run.parent / "out"))
    assert done.returncode == 0, done.stderr
    return run


def test_the_layout(made: Path) -> None:
    out = made.parent / "out"
    folders = sorted(path.name for path in out.iterdir() if path.is_dir())
    assert folders == [f"{number:05}" for number in range(12)]
    for folder in folders:
        assert [path.name for path in sorted((out / folder / "samples").iterdir())] == ["0000.png", "0001.png"]
        assert json.loads((out / folder / "metadata.jsonl").read_text()).keys() >= {"tag", "include", "prompt"}
    lines = [json.loads(line) for line in (out / "results.jsonl").read_text().splitlines()]
    assert [line["filename"] for line in lines] == sorted(line["filename"] for line in lines)
    assert all((out / line["filename"]).is_file() for line in lines)
    assert {line["rule"] for line in lines} == {"published"}
    assert {type(line["metadata"]) for line in lines} == {type(line["details"]) for line in lines} == {str}


def test_lines_come_back_equal(made: Path, tmp_path: Path) -> None:
    back = tmp_path / "back"
    done = salva("import", str(made.parent / "out" / "results.jsonl"), "--as", "geneval", "--out", str(back))
    assert done.returncode == 0, done.stderr
    assert "contradict" not in done.stdout
    before, after = _verdicts(made, "geneval"), _verdicts(back, "geneval")
    decided = {key: one for key, one in before.items() if one.outcome in ("PASS", "FAIL")}
    assert {key: (v.outcome, v.model, v.observers) for key, v in after.items()} == {
        key: (v.outcome, v.model, v.observers) for key, v in decided.items()
    }
    assert any(one.outcome == "FAIL" for one in decided.values())
    compared = compare_runs([made, back])
    assert (compared.difference, compared.pairs) == (0.0, len(decided))


@pytest.mark.parametrize("rule", ["ours", "published", "rl-strict", "rl-score"])
def test_error_types_come_back(tmp_path: Path, rule: str) -> None:
    run, out, back = (tmp_path / name for name in ("run", "out", "back"))
    faults = "entity-omission:0.3,entity-duplication:0.2,wrong-colour:0.5,x-misposition:0.5,y-misposition:0.5"
    flags = ("--size", "24", "--model", "painter", "--set", f"model.faults={faults}", "--set", f"check.rule={rule}")
    done = salva("run", "geneval", *flags, "--reader", "none", "--no-progress", "--out", str(run))
    assert done.returncode in (0, 3), done.stderr
    assert salva("export", str(run), "--as", "geneval", "-o", str(out)).returncode == 0
    done = salva("import", str(out / "results.jsonl"), "--as", "geneval", "--out", str(back))
    assert done.returncode == 0, done.stderr
    assert "without an error" not in done.stdout
    check = "truth" if rule == "ours" else "geneval"
    before, after = _verdicts(run, check), _verdicts(back, check)
    assert len({error for verdict in after.values() for error in verdict.failure_types}) >= 3
    for key, verdict in after.items():
        assert verdict.failure_types == before[key].failure_types, key
        told = [(one.failure_type, one.role, SAYS.sub("", one.message)) for one in before[key].failures]
        assert told == [(one.failure_type, one.role, SAYS.sub("", one.message)) for one in verdict.failures]


def test_pictures_come_back_equal(made: Path, tmp_path: Path) -> None:
    out, again = made.parent / "out", tmp_path / "again"
    flags = ("--size", "paper", "--repeats", "2", "--set", f"suite.path={out}", "--model", f"folder/{out}")
    done = salva(
        *("run", "geneval", *flags, "--detector", "pocket", "--published", "--no-progress", "--out", str(again))
    )
    assert done.returncode in (0, 3), done.stderr
    before, after = _verdicts(made, "geneval"), _verdicts(again, "geneval")
    assert {key: (v.outcome, v.failures, v.images) for key, v in before.items()} == {
        key: (v.outcome, v.failures, v.images) for key, v in after.items()
    }


def test_pictures_that_are_missing_are_counted(made: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    salva("export", str(made), "--as", "geneval", "-o", str(out))
    for name in ("0000.png", "0001.png"):
        (out / "00003" / "samples" / name).unlink()
    flags = ("--size", "paper", "--repeats", "2", "--set", f"suite.path={out}", "--model", f"folder/{out}")
    run = tmp_path / "run"
    done = salva("run", "geneval", *flags, "--detector", "pocket", "--published", "--no-progress", "--out", str(run))
    assert done.returncode == 3, "a case failed"
    assert json.loads(salva("report", str(run), "--format", "json").stdout)["results"]["error"] == 2


def test_a_run_of_another_suite_and_one_without_pictures(made: Path, tmp_path: Path) -> None:
    other = tmp_path / "other"
    salva(
        "run",
        "metalogic",
        "--size",
        "1",
        "--model",
        "painter",
        "--reader",
        "none",
        "--no-progress",
        "--out",
        str(other),
    )
    done = salva("export", str(other), "--as", "geneval", "-o", str(tmp_path / "x"))
    assert done.returncode == 2
    assert "[case-of-other-suite]" in done.stderr
    back = tmp_path / "back"
    salva("import", str(made.parent / "out" / "results.jsonl"), "--as", "geneval", "--out", str(back))
    done = salva("export", str(back), "--as", "geneval", "-o", str(tmp_path / "y"))
    assert done.returncode == 2
    assert "[run-without-images]" in done.stderr
    assert not (tmp_path / "y").exists()
