"""A run as one file and back: equal, the same bytes each time, and nothing else gets in."""

from __future__ import annotations

import hashlib
import io
import json
import shutil
import sqlite3
import tarfile
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import fsspec
import pytest
from hypothesis import given
from hypothesis import strategies as st
from in_process import salva
from review.rating_rows import raises_code

from salva.core.review import Label, Review
from salva.engine.progress import SilentProgress
from salva.errors import SalvaError, StoreError
from salva.exchange.exporting import export_run
from salva.exchange.importing import import_files
from salva.runs.pipeline import execute
from salva.runs.verify import verify
from salva.store.images import allow_images_at
from salva.store.reviews import append_reviews, read_reviews
from salva.store.rows import quoted
from salva.store.schema import COLUMNS
from salva.store.sqlite import open_run
from salva.testing.fakes import CALLS
from salva.testing.specs import fake_spec

QUIET = SilentProgress()
SPEC = fake_spec(12, {"omits": 0.3})
REVIEW = Review(case_id="case-1", model="fake", repeat=0, reviewer="ada", label=Label.PASS)


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    directory = tmp_path_factory.mktemp("archive") / "run"
    execute(SPEC, directory, QUIET)
    append_reviews(directory, [REVIEW])
    return directory


@pytest.fixture(scope="module")
def archive(run: Path) -> Path:
    path = run.with_name("run.tar")
    export_run(run, "archive", path)
    return path


def rows(directory: Path) -> dict[str, list[tuple[Any, ...]]]:
    with open_run(directory) as store:
        return {
            table: sorted(map(tuple, store.rows(f"SELECT {quoted(columns)} FROM {table}")), key=repr)
            for table, columns in COLUMNS.items()
        }


def files(directory: Path) -> dict[str, bytes]:
    return {
        path.relative_to(directory).as_posix(): path.read_bytes()
        for path in sorted(directory.rglob("*"))
        if path.is_file() and not path.name.startswith((".lock", "salva.db", "review.db"))
    }


def test_what_comes_back_is_the_run(run: Path, archive: Path, tmp_path: Path) -> None:
    read_in = import_files([archive], "archive", tmp_path / "back")
    assert read_in.counts == {"cases": 12, "images": 24}
    assert rows(tmp_path / "back") == rows(run)
    assert files(tmp_path / "back") == files(run)
    assert verify(tmp_path / "back", QUIET).problems == ()
    assert read_reviews(tmp_path / "back") == (REVIEW,)
    CALLS.clear()
    execute(SPEC, tmp_path / "back", QUIET)
    assert CALLS["render"] == CALLS["detect"] == 0


def test_the_same_run_gives_the_same_bytes(run: Path, archive: Path, tmp_path: Path) -> None:
    export_run(run, "archive", tmp_path / "again.tar")
    assert (tmp_path / "again.tar").read_bytes() == archive.read_bytes()
    assert [path.name for path in tmp_path.iterdir()] == ["again.tar"]


def test_reviews_that_nobody_has_begun_stay_so(run: Path, tmp_path: Path) -> None:
    shutil.copytree(run, tmp_path / "run")
    (tmp_path / "run" / "review.db").write_bytes(b"")
    export_run(tmp_path / "run", "archive", tmp_path / "run.tar")
    import_files([tmp_path / "run.tar"], "archive", tmp_path / "back")
    connection = sqlite3.connect(tmp_path / "back" / "review.db")
    assert connection.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
    connection.close()


def test_other_programs_read_it(archive: Path) -> None:
    with tarfile.open(archive) as tar:
        names = tar.getnames()
        assert names[:4] == ["archive.json", "run.json", "salva.db", "review.db"]
        assert len(names) == 4 + 24
        assert {(member.mtime, member.uid, member.uname) for member in tar} == {(0, 0, "")}


def test_a_run_that_is_being_written_is_archived_as_of_one_moment(tmp_path: Path) -> None:
    directory = tmp_path / "run"
    spec = fake_spec(60, {"omits": 0.3, "delay_s": 0.01})
    worker = threading.Thread(target=lambda: execute(spec, directory, QUIET))
    worker.start()
    n_images: list[int] = []
    try:
        while worker.is_alive() and len(n_images) < 4:
            try:
                written = export_run(directory, "archive", tmp_path / f"{len(n_images)}.tar")
            except SalvaError:
                continue  # there is no run yet
            n_images.append(written.n)
    finally:
        worker.join()
    assert len(n_images) == 4
    assert n_images[0] < 120
    for number in range(4):
        import_files([tmp_path / f"{number}.tar"], "archive", tmp_path / f"back{number}")
        with open_run(tmp_path / f"back{number}") as store:
            assert store.n_images() == n_images[number]
            if store.n_cases():
                store.close()
                assert verify(tmp_path / f"back{number}", QUIET).problems == ()
    execute(spec, tmp_path / "back0", QUIET)
    assert rows(tmp_path / "back0")["verdicts"] == rows(directory)["verdicts"]


def test_pictures_elsewhere_come_home(tmp_path: Path) -> None:
    allow_images_at("memory://archived")
    execute(SPEC, tmp_path / "away", QUIET, images_at="memory://archived")
    export_run(tmp_path / "away", "archive", tmp_path / "run.tar")
    fsspec.filesystem("memory").store.clear()
    import_files([tmp_path / "run.tar"], "archive", tmp_path / "home")
    assert verify(tmp_path / "home", QUIET).problems == ()
    assert "images" not in json.loads((tmp_path / "home" / "run.json").read_text())


def test_a_damaged_picture_is_not_archived(run: Path, tmp_path: Path) -> None:
    copy = Path(shutil.copytree(run, tmp_path / "copy"))
    image = next((copy / "images").glob("*/*.webp"))
    image.write_bytes(b"other")
    with pytest.raises(StoreError) as caught:
        export_run(copy, "archive", tmp_path / "run.tar")
    assert caught.value.code == "image-damaged"
    image.unlink()
    with pytest.raises(StoreError):
        export_run(copy, "archive", tmp_path / "run.tar")
    assert [path.name for path in tmp_path.iterdir()] == ["copy"]


def test_a_run_with_a_damaged_run_file_is_not_archived(run: Path, tmp_path: Path) -> None:
    shutil.copytree(run, tmp_path / "run")
    (tmp_path / "run" / "run.json").write_text("{", encoding="utf-8")
    with pytest.raises(SalvaError, match=r"run\.json"):
        export_run(tmp_path / "run", "archive", tmp_path / "out.tar")
    assert not (tmp_path / "out.tar").exists()


Members = list[tuple[tarfile.TarInfo, bytes]]


def members(archive: Path) -> Members:
    with tarfile.open(archive) as tar:
        return [(info, (tar.extractfile(info) or io.BytesIO()).read()) for info in tar.getmembers()]


def written(path: Path, content: Members) -> Path:
    with tarfile.open(path, "w", format=tarfile.GNU_FORMAT) as tar:
        for info, data in content:
            info.size = len(data)
            tar.addfile(info, io.BytesIO(data))
    return path


def link(content: Members) -> None:
    info = tarfile.TarInfo(content[5][0].name)
    info.type, info.linkname = tarfile.SYMTYPE, "/etc/passwd"
    content[5] = (info, b"")


def hard_link(content: Members) -> None:
    info = tarfile.TarInfo(content[5][0].name)
    info.type, info.linkname = tarfile.LNKTYPE, "run.json"
    content[5] = (info, b"")


def renamed(name: str, place: int) -> Callable[[Members], None]:
    def change(content: Members) -> None:
        content[place][0].name = name

    return change


def listed(**changes: Any) -> Callable[[Members], None]:
    def change(content: Members) -> None:
        info, data = content[0]
        content[0] = (info, json.dumps({**json.loads(data), **changes}).encode())

    return change


def listed_name(name: str) -> Callable[[Members], None]:
    def change(content: Members) -> None:
        content[1][0].name = name
        parts = json.loads(content[0][1])["files"]
        parts[0]["name"] = name
        listed(files=parts)(content)

    return change


def flipped(place: int) -> Callable[[Members], None]:
    def change(content: Members) -> None:
        info, data = content[place]
        content[place] = (info, data[:-1] + bytes([data[-1] ^ 1]))

    return change


def other_database(name: str, *statements: str) -> Callable[[Members], None]:
    """The database of that name with more in it, its size and digest mended in the list."""

    def change(content: Members) -> None:
        place = next(i for i, (info, _) in enumerate(content) if info.name == name)
        connection = sqlite3.connect(":memory:")
        connection.deserialize(content[place][1])
        for statement in statements:
            connection.execute(statement)
        connection.commit()
        data = connection.serialize()
        connection.close()
        content[place] = (content[place][0], data)
        parts = json.loads(content[0][1])["files"]
        next(part for part in parts if part["name"] == name).update(
            n_bytes=len(data), sha256=hashlib.sha256(data).hexdigest()
        )
        listed(files=parts)(content)

    return change


def long_name(content: Members) -> None:
    content[4][0].name = "images/" + "a" * 5000


@pytest.mark.parametrize("form", [tarfile.GNU_FORMAT, tarfile.PAX_FORMAT])
def test_headers_that_change_what_follows_are_refused(archive: Path, tmp_path: Path, form: int) -> None:
    """PAX and GNU have headers that rename, resize or redirect the next file."""
    content = members(archive)
    for kind in (tarfile.XHDTYPE, tarfile.XGLTYPE, tarfile.GNUTYPE_LONGNAME, tarfile.GNUTYPE_SPARSE):
        info = tarfile.TarInfo("run.json")
        info.type, data = kind, b"21 path=../../evil.db\n"
        with tarfile.open(tmp_path / "bad.tar", "w", format=form) as tar:
            for place, (member, text) in enumerate(content):
                if place == 1:
                    info.size = len(data)
                    tar.addfile(info, io.BytesIO(data))
                member.size = len(text)
                tar.addfile(member, io.BytesIO(text))
        with raises_code("archive-invalid"):
            import_files([tmp_path / "bad.tar"], "archive", tmp_path / "in" / "back")
        assert list((tmp_path / "in").iterdir()) == []


@pytest.mark.parametrize(
    "spoil",
    [
        other_database("salva.db", "CREATE VIEW v AS SELECT 1"),
        other_database("salva.db", "CREATE TRIGGER t AFTER INSERT ON meta BEGIN DELETE FROM cases; END"),
        other_database("review.db", "CREATE TRIGGER t AFTER INSERT ON labels BEGIN DELETE FROM labels; END"),
        other_database("review.db", "UPDATE labels SET label = 'fail'"),
    ],
)
def test_databases_that_define_or_say_anything_else_are_refused(
    archive: Path, tmp_path: Path, spoil: Callable[[Members], object]
) -> None:
    content = members(archive)
    spoil(content)
    source = written(tmp_path / "bad.tar", content)
    with pytest.raises(StoreError) as caught:
        import_files([source], "archive", tmp_path / "in" / "back")
    assert caught.value.code == "store-damaged"
    assert list((tmp_path / "in").iterdir()) == []


@pytest.mark.parametrize(
    "spoil",
    [
        renamed("../../evil", 1),
        renamed("/etc/evil", 5),
        renamed("images/ab/../../../evil.webp", 5),
        listed_name("../evil"),
        listed_name("imported/../../evil"),
        listed_name(".ssh/authorized_keys"),
        link,
        hard_link,
        long_name,
        flipped(1),
        flipped(2),
        flipped(3),
        flipped(8),
        lambda content: content.pop(7),
        lambda content: content.pop(2),
        lambda content: content.pop(0),
        lambda content: content.append((tarfile.TarInfo("more.txt"), b"more")),
        lambda content: content.insert(1, (tarfile.TarInfo("more.txt"), b"more")),
        lambda content: content.reverse(),
        lambda content: content.clear(),
        listed(version=2),
        listed(files=[]),
        listed(files=[{"name": "run.json", "n_bytes": -5, "sha256": ""}]),
        listed(files=7),
        listed(n_images=10**9),
        listed(format="other"),
    ],
)
def test_what_does_not_belong_there_is_refused_and_leaves_nothing(
    archive: Path, tmp_path: Path, spoil: Callable[[Members], object]
) -> None:
    content = members(archive)
    spoil(content)
    source = written(tmp_path / "bad.tar", content)
    with raises_code("archive-invalid"):
        import_files([source], "archive", tmp_path / "in" / "back")
    assert list((tmp_path / "in").iterdir()) == []
    assert sorted(path.name for path in tmp_path.iterdir()) == ["bad.tar", "in"]


@given(st.data())
def test_an_archive_that_ends_early_or_has_one_wrong_byte_never_becomes_another_run(data: st.DataObject) -> None:
    import tempfile

    with tempfile.TemporaryDirectory() as folder:
        whole = _ARCHIVE[0].read_bytes()
        place = data.draw(st.integers(0, len(whole) - 1025))
        cut = data.draw(st.booleans())
        spoilt = whole[:place] if cut else whole[:place] + bytes([whole[place] ^ 255]) + whole[place + 1 :]
        source = Path(folder) / "bad.tar"
        source.write_bytes(spoilt)
        try:
            import_files([source], "archive", Path(folder) / "back")
        except SalvaError:
            assert [path.name for path in Path(folder).iterdir()] == ["bad.tar"]
        else:
            # What no digest covers says nothing: padding, and the owner and time of a header that has a checksum.
            assert rows(Path(folder) / "back") == _ROWS[0]


_ARCHIVE: list[Path] = []
_ROWS: list[Any] = []


@pytest.fixture(autouse=True)
def known(archive: Path, run: Path) -> None:
    _ARCHIVE[:], _ROWS[:] = [archive], [rows(run)]


def test_a_header_that_wants_gigabytes_is_refused_at_once(archive: Path, tmp_path: Path) -> None:
    info = tarfile.TarInfo("x")
    info.type, info.size = tarfile.XHDTYPE, 1 << 40
    (tmp_path / "bomb.tar").write_bytes(info.tobuf(tarfile.GNU_FORMAT) + b"0" * 2048)
    with raises_code("archive-invalid"):
        import_files([tmp_path / "bomb.tar"], "archive", tmp_path / "back")
    sparse = tarfile.TarInfo("archive.json")
    sparse.type, sparse.size = tarfile.GNUTYPE_SPARSE, 1 << 40
    (tmp_path / "sparse.tar").write_bytes(sparse.tobuf(tarfile.GNU_FORMAT) + b"0" * 2048)
    with raises_code("archive-invalid"):
        import_files([tmp_path / "sparse.tar"], "archive", tmp_path / "back")
    assert not (tmp_path / "back").exists()


def test_the_commands(run: Path, tmp_path: Path) -> None:
    done = salva("export", str(run), "--as", "archive", "-o", "run.tar", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("24 images ")
    done = salva("import", "run.tar", "--as", "archive", "--out", "back", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("12 cases, 24 images of fake in back\n")
    assert salva("import", "run.tar", "--as", "archive", "--out", "back", cwd=tmp_path).returncode == 2
    assert salva("import", "run.tar", "run.tar", "--as", "archive", "--out", "b", cwd=tmp_path).returncode == 2
    assert salva("import", "nowhere.tar", "--as", "archive", "--out", "b", cwd=tmp_path).returncode == 2
