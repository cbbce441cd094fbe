"""Disks that are full, read-only or gone, and files somebody damaged: a clear message, nothing corrupt, resumable."""

from __future__ import annotations

import os
import shutil
import sqlite3
import subprocess
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

import in_process
import pytest
from PIL import Image

from salva.core.image import Picture
from salva.core.run_spec import RunSpec
from salva.engine.progress import SilentProgress
from salva.errors import StoreError, UnusableError
from salva.imaging.files import encode_picture
from salva.runs.pipeline import execute
from salva.runs.plans import make_plan
from salva.runs.rejudge import rejudge
from salva.runs.verify import verify
from salva.store.sqlite import open_run
from salva.testing.fakes import CALLS, FakeDetector
from salva.testing.specs import bound, fake_spec


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A disk of half a megabyte, where this user may mount one."""
    directory = tmp_path / "disk"
    directory.mkdir()
    command = ["mount", "-t", "tmpfs", "-o", "size=512k", "tmpfs", str(directory)]
    mounted = subprocess.run(command, capture_output=True, text=True) if shutil.which("mount") else None
    if mounted is None or mounted.returncode != 0:
        pytest.skip(
            f"no small disk: mounting a tmpfs is not permitted ({mounted.stderr.strip() if mounted else 'no mount'})"
        )
    yield directory
    subprocess.run(["umount", str(directory)], check=True)


def test_a_full_disk_stops_cleanly_and_the_run_goes_on_when_there_is_room(small_disk: Path, tmp_path: Path) -> None:
    spec = fake_spec(800)
    with pytest.raises(StoreError, match=r"\[disk-(full|error)\]"):
        execute(spec, small_disk / "run", SilentProgress())
    with open_run(small_disk / "run") as store:
        n_kept = store.n_images()
    assert verify(small_disk / "run", SilentProgress()).problems == ()
    subprocess.run(["mount", "-o", "remount,size=200m", str(small_disk)], check=True)
    summary = execute(spec, small_disk / "run", SilentProgress())
    assert summary.is_complete
    assert summary.n_reused == n_kept
    assert verify(small_disk / "run", SilentProgress()).is_sound


def test_a_disk_that_turns_read_only_is_said_and_can_still_be_read(small_disk: Path) -> None:
    done = execute(fake_spec(5), small_disk / "run", SilentProgress())
    subprocess.run(["mount", "-o", "remount,ro", str(small_disk)], check=True)
    assert execute(fake_spec(5), small_disk / "run", SilentProgress()).outcomes == done.outcomes
    assert verify(small_disk / "run", SilentProgress()).is_sound
    with pytest.raises(StoreError, match=r"Read-only.*\[disk-error\]"):
        rejudge(small_disk / "run", fake_spec(5), SilentProgress())
    with pytest.raises(StoreError, match=r"Read-only.*\[disk-error\]"):
        execute(fake_spec(5), small_disk / "other", SilentProgress())


def test_a_place_where_no_directory_can_be_made_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(StoreError, match=r"file/run.*\[disk-error\]"):
        execute(fake_spec(2), tmp_path / "file" / "run", SilentProgress())


@pytest.fixture
def finished(tmp_path: Path) -> Path:
    execute(fake_spec(5), tmp_path / "run", SilentProgress())
    return tmp_path / "run"


def first_image(directory: Path) -> Path:
    with open_run(directory) as store:
        return store.image_path(next(store.images()).image_id)


@pytest.mark.parametrize("form", ["archive", "counterexamples", "csv"])
@pytest.mark.parametrize("n_left", [0, 12 * 1024])
def test_an_export_to_a_full_disk_says_so_and_leaves_no_half_file(
    small_disk: Path, tmp_path: Path, form: str, n_left: int
) -> None:
    ask = RunSpec.of(
        suite="metalogic",
        models=("painter",),
        reader="none",
        size="2",
        settings={"model.faults": "entity-omission:1", "model.side": "256", "run.preflight": "off"},
    )
    execute(make_plan(ask), tmp_path / "run", SilentProgress())
    free = os.statvfs(small_disk).f_bavail * os.statvfs(small_disk).f_frsize
    (small_disk / "filler").write_bytes(b"x" * (free - n_left))
    done = in_process.salva("export", str(tmp_path / "run"), "--as", form, "-o", str(small_disk / "out"))
    if done.returncode == 0:
        assert (form, n_left > 0) == ("csv", True), "the others are larger"
    else:
        assert done.returncode == 2, done.stderr
        assert set(done.codes) & {"disk-error", "file-unwritable"}, done.stderr
        assert str(small_disk) in done.stderr
        left = [path for path in small_disk.rglob("*") if path.is_file() and path.name != "filler"]
        assert all(path.suffix == ".png" and Image.open(path).load() for path in left), left


def test_verify_finds_nothing_in_a_sound_run(finished: Path) -> None:
    report = verify(finished, SilentProgress())
    assert report.is_sound
    assert report.n_images == 10
    assert report.n_rows == 10 + 2 + 5 + 10 + 10 + 5


def harm(finished: Path, damage: str) -> Path:
    """Do something to the first image of a run; gives its file."""
    path = first_image(finished)
    data = path.read_bytes()
    if damage == "flip":
        path.write_bytes(data[:-3] + bytes([data[-3] ^ 1]) + data[-2:])
    elif damage == "empty":
        path.write_bytes(b"")
    elif damage == "truncate":
        path.write_bytes(data[:20])
    elif damage == "append":
        path.write_bytes(data + b"the pixels are still the same")
    elif damage == "delete":
        path.unlink()
    else:
        with open_run(finished) as store:
            shutil.copy(store.image_path(list(store.images())[-1].image_id), path)
    return path


@pytest.mark.parametrize("damage", ["flip", "truncate", "delete", "swap", "append"])
def test_verify_names_a_damaged_image(finished: Path, damage: str) -> None:
    path = harm(finished, damage)
    report = verify(finished, SilentProgress())
    assert len(report.problems) == 1
    assert path.parent.name + path.stem in report.problems[0]


@pytest.mark.parametrize(
    ("damage", "n_painted"), [("truncate", 1), ("empty", 1), ("delete", 1), ("swap", 1), ("append", 0), ("none", 0)]
)
def test_the_same_command_paints_again_what_is_not_as_large_as_it_was_written(
    finished: Path, damage: str, n_painted: int
) -> None:
    before = {path: path.read_bytes() for path in finished.rglob("*.webp")}
    if damage == "swap":
        # Pictures of one scene may be as large as each other; this one is of something else.
        first_image(finished).write_bytes(encode_picture(Picture(rgb=b"\x07" * 12, width=2, height=2), "WEBP"))
    elif damage != "none":
        harm(finished, damage)
    CALLS.clear()
    again = execute(fake_spec(5), finished, SilentProgress())
    assert (CALLS["render"], again.outcomes) == (n_painted, {"PASS": 5})
    assert CALLS["detect"] == 0, "what was seen in the same pixels still holds"
    assert verify(finished, SilentProgress()).is_sound
    if damage != "append":
        assert {path: path.read_bytes() for path in finished.rglob("*.webp")} == before
    CALLS.clear()
    execute(fake_spec(5), finished, SilentProgress())
    assert CALLS["render"] == 0


@pytest.mark.parametrize("model", [{"fails": 1.0}, {"mischief": "unusable"}], ids=["fails", "unusable"])
def test_pictures_that_come_back_are_not_painted_again_where_nobody_painted_them_meanwhile(
    finished: Path, tmp_path: Path, model: dict[str, object]
) -> None:
    before = (finished / "images").rename(tmp_path / "away")
    with suppress(UnusableError):
        assert execute(fake_spec(5, model), finished, SilentProgress()).outcomes == {"ERROR": 5}
    shutil.rmtree(finished / "images", ignore_errors=True)
    before.rename(finished / "images")
    CALLS.clear()
    again = execute(fake_spec(5), finished, SilentProgress())
    assert (CALLS["render"], again.outcomes) == (0, {"PASS": 5})
    assert verify(finished, SilentProgress()).is_sound


def test_who_judges_again_while_pictures_are_away_forgets_none(finished: Path, tmp_path: Path) -> None:
    before = (finished / "images").rename(tmp_path / "away")
    other = replace(fake_spec(5), detector=bound("detector", FakeDetector, "other"))
    rejudge(finished, other, SilentProgress())
    shutil.rmtree(finished / "images", ignore_errors=True)
    before.rename(finished / "images")
    CALLS.clear()
    assert execute(fake_spec(5), finished, SilentProgress()).outcomes == {"PASS": 5}
    assert CALLS["render"] == 0


def test_a_refusal_in_the_place_of_a_picture_that_is_gone_is_settled(tmp_path: Path) -> None:
    open_for, run = tmp_path / "open", tmp_path / "run"
    open_for.touch()
    spec = fake_spec(5, {"refuses": 1.0, "healed_by": str(open_for)})
    assert execute(spec, run, SilentProgress()).outcomes == {"PASS": 5}
    open_for.unlink()
    shutil.rmtree(run / "images")
    assert execute(spec, run, SilentProgress()).outcomes == {"ERROR": 5}
    CALLS.clear()
    assert execute(spec, run, SilentProgress()).outcomes == {"ERROR": 5}
    assert CALLS["render"] == 0


@pytest.mark.parametrize("what", ["pipe", "endless", "huge"])
def test_what_is_no_file_in_the_place_of_a_picture_is_named_and_painted_again(finished: Path, what: str) -> None:
    path = first_image(finished)
    path.unlink()
    if what == "pipe":
        os.mkfifo(path)
    elif what == "endless":
        path.symlink_to("/dev/zero")
    else:
        path.touch()
        os.truncate(path, 2**36)
    assert "[image-file-damaged]" in verify(finished, SilentProgress()).problems[0]
    assert execute(fake_spec(5), finished, SilentProgress()).n_rendered == 1
    assert verify(finished, SilentProgress()).is_sound


def test_what_verify_says_to_do_about_a_damaged_picture_works(finished: Path) -> None:
    path = harm(finished, "flip")
    report = verify(finished, SilentProgress())
    assert report.remedy.startswith("1 ")
    assert execute(fake_spec(5), finished, SilentProgress()).n_rendered == 0, "of the same size nobody reads it"
    assert str(path) in report.problems[0]
    path.unlink()
    assert execute(fake_spec(5), finished, SilentProgress()).n_rendered == 1
    healed = verify(finished, SilentProgress())
    assert (healed.problems, healed.remedy) == ((), "")


def test_verify_sees_through_a_digest_that_was_edited_too(finished: Path) -> None:
    import hashlib

    with open_run(finished) as store:
        first, last = next(store.images()), list(store.images())[-1]
        shutil.copy(store.image_path(last.image_id), store.image_path(first.image_id))
        digest = hashlib.sha256(store.image_path(last.image_id).read_bytes()).hexdigest()
    edit(
        finished, f"UPDATE images SET digest = '{digest}', n_bytes = {last.n_bytes} WHERE image_id = '{first.image_id}'"
    )
    report = verify(finished, SilentProgress())
    assert [problem for problem in report.problems if "have another hash" in problem and first.image_id in problem]


def edit(directory: Path, statement: str) -> None:
    connection = sqlite3.connect(directory / "salva.db")
    connection.execute(statement)
    connection.commit()
    connection.close()


@pytest.mark.parametrize(
    ("statement", "told"),
    [
        ("UPDATE renders SET seed = seed + 1 WHERE rowid = 1", "render"),
        ("UPDATE renders SET text = 'a yak' WHERE rowid = 1", "render"),
        ('UPDATE observations SET query = \'{"role":"reader","text":"","labels":[]}\' WHERE rowid = 1', "observation"),
        ("UPDATE observations SET observation = NULL WHERE rowid = 1", "observation"),
        ("UPDATE observations SET observation = '{' WHERE rowid = 1", "[row-invalid]"),
        ("UPDATE components SET identity = '{}' WHERE role = 'model'", "component"),
        ("UPDATE cases SET case_id = 'other' WHERE ordinal = 0", "case row other"),
        ("DELETE FROM cases WHERE ordinal = 4", "4 cases"),
        ('UPDATE verdicts SET images = \'{"a":"00"}\'', "table verdicts, row"),
        ("DELETE FROM images", "image"),
        ("UPDATE observations SET observation = replace(observation, 'cat', 'yak')", "table observations, row"),
        ("UPDATE verdicts SET outcome = 'FAIL' WHERE repeat = 0", "table verdicts, row"),
        ("UPDATE cases SET record = replace(record, 'cat', 'yak')", "table cases, row"),
    ],
)
def test_verify_names_a_row_that_was_edited(finished: Path, statement: str, told: str) -> None:
    edit(finished, statement)
    problems = verify(finished, SilentProgress()).problems
    assert any(told in problem for problem in problems), problems


def test_a_file_without_a_row_is_no_fault(finished: Path) -> None:
    stray = finished / "images" / "ab" / f"{'c' * 38}.webp"
    stray.parent.mkdir(exist_ok=True)
    stray.write_bytes(b"left behind")
    assert verify(finished, SilentProgress()).is_sound


def test_a_damaged_image_that_must_be_looked_at_is_painted_again(finished: Path) -> None:
    path = first_image(finished)
    sound = path.read_bytes()
    path.write_bytes(b"damaged")
    other = fake_spec(5, detector=bound("detector", FakeDetector, "other-detector"))
    judged = rejudge(finished, other, SilentProgress())
    assert judged.outcomes == {"PASS": 4, "ERROR": 1}
    CALLS.clear()
    edit(finished, "DELETE FROM meta WHERE key = 'finished'")
    assert execute(fake_spec(5), finished, SilentProgress()).n_rendered == 1
    assert CALLS["render"] == 1
    assert path.read_bytes() == sound
    assert rejudge(finished, other, SilentProgress()).outcomes == {"PASS": 5}


@pytest.mark.parametrize("form", ["counterexamples", "ratings", "sft"])
def test_another_picture_of_the_same_size_is_no_evidence(tmp_path: Path, form: str) -> None:
    ask = RunSpec.of(
        suite="metalogic",
        models=("painter",),
        reader="none",
        size="4",
        settings={"model.faults": "entity-omission:0.5", "run.preflight": "off"},
    )
    execute(make_plan(ask), tmp_path / "run", SilentProgress())
    for path in (tmp_path / "run" / "images").rglob("*.webp"):
        path.write_bytes(path.read_bytes()[::-1])
    done = in_process.salva("export", "run", "--as", form, "-o", "out", cwd=tmp_path)
    assert done.returncode == 2
    assert "[image-damaged]" in done.stderr
