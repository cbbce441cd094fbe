"""`salva run --shard` and `salva merge` as people use them: real observers, their trial, report and rows."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from in_process import Done, salva

ASKED = ("run", "metalogic", "--model", "painter", "--size", "16", "--reader", "none", "--no-progress")
FAULTS = ("--set", "model.faults=entity-omission:0.4")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two shards under the names salva gives them, and the run in one piece."""
    folder = tmp_path_factory.mktemp("shards")
    for more in (("--shard", "1/2"), ("--shard", "2/2"), ("--out", "whole")):
        done = salva(*ASKED, *FAULTS, *more, cwd=folder)
        assert done.returncode == 0, done.stderr
    return folder


def printed(folder: Path, run: str, *command: str) -> str:
    done = salva(command[0], run, *command[1:], cwd=folder)
    assert done.returncode == 0, done.stderr
    return done.stdout


def merged(folder: Path, *runs: str, out: str) -> Done:
    return salva("merge", *runs, "--out", out, cwd=folder)


def test_shards_make_the_run_that_one_command_makes(folder: Path) -> None:
    runs = sorted(path.name for path in (folder / "runs").iterdir())
    assert [name.rpartition("-")[0] for name in runs] == [f"metalogic-painter-16-shard-{i}-of-2" for i in (1, 2)]
    done = merged(folder, *(f"runs/{name}" for name in runs), out="merged")
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith("2 shards: 16 cases and 32 images in merged\n")
    assert "everything matches" in printed(folder, "merged", "verify")
    for run in ("merged", "whole"):
        printed(folder, run, "report", "--format", "json", "-o", f"{run}.json")
        printed(folder, run, "export", "--as", "csv", "-o", f"{run}.csv")
    merged_json, whole_json = (json.loads((folder / f"{run}.json").read_text()) for run in ("merged", "whole"))
    assert merged_json == {**whole_json, "run": "merged"}
    assert (folder / "merged.csv").read_text() == (folder / "whole.csv").read_text()
    assert (folder / "merged/run.json").read_text() == (folder / "whole/run.json").read_text()
    again = salva(*ASKED, *FAULTS, "--out", "merged", cwd=folder)
    assert again.returncode == 0, again.stderr


def test_a_shard_says_that_it_is_one(folder: Path) -> None:
    run = next((folder / "runs").glob("*shard-1-of-2*"))
    assert json.loads((run / "run.json").read_text())["spec"]["shard"] == "1/2"
    printed(folder, str(run), "report", "--format", "html", "-o", "page.html")
    page = (folder / "page.html").read_text()
    assert "shard" in page
    assert "1/2" in page
    done = salva(*ASKED, *FAULTS, "--shard", "2/2", "--out", str(run), cwd=folder)
    assert done.returncode == 2
    assert 'shard was "1/2", now "2/2"' in done.stderr


def test_an_unfinished_shard_is_said_with_the_way_on(folder: Path) -> None:
    stopped = salva(*ASKED, *FAULTS, "--shard", "2/2", "--max-images", "4", "--out", "stopped", cwd=folder)
    assert stopped.returncode == 3
    first = next((folder / "runs").glob("*shard-1-of-2*"))
    done = merged(folder, f"runs/{first.name}", "stopped", out="part")
    assert done.returncode == 3
    assert done.codes == ["not-finished"]
    finished = salva(*ASKED, *FAULTS, "--out", "part", cwd=folder)
    assert finished.returncode == 0, finished.stderr
    for run in ("part", "whole"):
        printed(folder, run, "export", "--as", "csv", "-o", f"{run}.csv")
    assert (folder / "part.csv").read_text() == (folder / "whole.csv").read_text()


@pytest.mark.parametrize("shard", ["3/2", "half", "1/17"])
def test_a_shard_that_cannot_be_is_refused_before_anything_is_made(tmp_path: Path, shard: str) -> None:
    done = salva(*ASKED, "--shard", shard, cwd=tmp_path)
    assert done.returncode == 2
    assert "--shard" in done.stderr
    assert not (tmp_path / "runs").exists()


def test_the_line_to_paste_is_one_also_where_a_name_has_a_blank(folder: Path) -> None:
    runs = sorted(str(path) for path in (folder / "runs").iterdir())
    done = merged(folder, *runs, out="put together")
    assert done.stdout.splitlines()[-1] == "report: salva report 'put together'"
    again = salva(*ASKED, *FAULTS, "--out", "put together", cwd=folder)
    assert "salva report 'put together'" in again.stdout
