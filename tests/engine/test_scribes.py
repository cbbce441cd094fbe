"""Processes that write and read pictures: the same files as from threads, and nothing depends on them but speed."""

from __future__ import annotations

import io
import os
import random
import signal
import subprocess
import sys
import textwrap
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest
from PIL import Image

from salva.core.image import AnyPicture, Picture
from salva.engine import scribes
from salva.engine.parcels import as_file
from salva.engine.pictures import ImageFiles
from salva.engine.progress import SilentProgress
from salva.engine.scribes import Scribes
from salva.errors import StoreError
from salva.run.judge_again import judge_again
from salva.run.pipeline import execute
from salva.run.verify import verify
from salva.store.blobs import Blobs, digest_of
from salva.store.sqlite import open_run
from salva.testing.fakes import FakeDetector
from salva.testing.specs import bound, fake_spec

pytestmark = pytest.mark.skipif(not hasattr(os, "memfd_create"), reason="scribes share memory as Linux has it")

SCRIPT = """
    import sys
    from pathlib import Path

    from salva.engine import scribes
    from salva.engine.progress import SilentProgress
    from salva.run.pipeline import execute
    from salva.testing.specs import fake_spec

    scribes.n_cores, scribes.is_gpu_at_work = lambda: 4, lambda: True
    print("run", flush=True)
    execute(fake_spec(int(sys.argv[2]), generator={"delay_s": 0.01}), Path(sys.argv[1]), SilentProgress())
"""


@pytest.fixture
def gpu(monkeypatch: pytest.MonkeyPatch) -> None:
    """A machine on which scribes pay."""
    monkeypatch.setattr(scribes, "n_cores", lambda: 4)
    monkeypatch.setattr(scribes, "is_gpu_at_work", lambda: True)


@pytest.fixture
def no_threads(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whoever would do it itself cannot."""

    def refuse(*_: object) -> None:
        raise AssertionError("a thread did what is a scribe's")

    monkeypatch.setattr(ImageFiles, "save", refuse)
    monkeypatch.setattr(ImageFiles, "load", refuse)


def noise(seed: int, width: int = 17, height: int = 9) -> Picture:
    return Picture(rgb=random.Random(seed).randbytes(3 * width * height), width=width, height=height)


def tightly_packed(picture: Picture) -> bytes:
    """The same pixels as another encoder writes them."""
    buffer = io.BytesIO()
    image = Image.frombytes("RGB", (picture.width, picture.height), picture.rgb)
    image.save(buffer, "WEBP", lossless=True, method=6, quality=100)
    return buffer.getvalue()


def pids_of(parent: int) -> set[int]:
    """The scribes that a process has at work."""
    return {int(path.parent.name) for path in Path("/proc").glob("[0-9]*/stat") if _is_scribe_of(path, parent)}


def _is_scribe_of(path: Path, parent: int) -> bool:
    try:
        state, ppid = path.read_text().rpartition(")")[2].split()[:2]
        return int(ppid) == parent and state != "Z" and b"scribes" in (path.parent / "cmdline").read_bytes()
    except OSError:
        return False


def soon(is_so: Callable[[], object]) -> bool:
    """Whether something becomes so while anybody would wait for it."""
    deadline = time.monotonic() + 60
    while not is_so() and time.monotonic() < deadline:
        time.sleep(0.05)
    return bool(is_so())


def start(directory: Path, n_cases: int) -> subprocess.Popen[str]:
    script = directory.with_suffix(".py")
    script.write_text(textwrap.dedent(SCRIPT))
    command = [sys.executable, str(script), str(directory), str(n_cases)]
    return subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, process_group=0, preexec_fn=_heed_ctrl_c
    )


def _heed_ctrl_c() -> None:
    signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.mark.usefixtures("gpu")
def test_every_kind_of_picture_is_stored_and_loaded_as_threads_do(
    tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    filed = noise(2, 64, 48)
    pictures: list[AnyPicture] = [noise(1), replace(filed, webp=tightly_packed(filed)), as_file(noise(3, 1, 1))]
    plain = ImageFiles(Blobs(tmp_path / "threads"))
    stored = plain.save(pictures)
    loaded = [plain.load(image.image_id) for image in stored]
    request.getfixturevalue("no_threads")
    with closing(Scribes(Blobs(tmp_path / "scribes"))) as files:
        assert files.save([]) == []
        assert files.save(pictures) == stored
        again = [files.load(image.image_id) for image in stored]
    assert again == loaded
    assert [picture.webp for picture in again] == [picture.webp for picture in loaded], "they bring their files"


@pytest.mark.usefixtures("gpu")
def test_more_than_a_scribe_takes_at_once_goes_in_portions(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pictures = [noise(seed) for seed in range(7)]
    share = 3 * len(pictures[0].rgb)
    monkeypatch.setattr(scribes, "_SHARE", share)
    handed_over = []

    def pwritev(file: int, parts: Sequence[bytes], start: int, write: Callable[..., int] = os.pwritev) -> int:
        handed_over.append((start % share, sum(map(len, parts))))
        return write(file, parts, start)

    monkeypatch.setattr(os, "pwritev", pwritev)
    large = noise(8, 40, 40)
    with closing(Scribes(Blobs(tmp_path))) as files:
        stored = files.save([*pictures, large, noise(9)])
    plain = ImageFiles(Blobs(tmp_path))
    assert [plain.load(image.image_id) for image in stored] == [*pictures, large, noise(9)]
    assert handed_over == [(0, share), (0, share), (0, share // 3), (0, share // 3)], "none writes into another's share"


def test_a_scribe_puts_nothing_into_the_memory_that_its_share_does_not_hold(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    files = ImageFiles(Blobs(tmp_path))
    (stored,) = files.save([noise(1)])
    n_bytes = len(noise(1).rgb) + stored.n_bytes
    order = {"load": stored.image_id}
    for share, n_written in ((n_bytes, n_bytes), (n_bytes - 1, 0)):
        monkeypatch.setattr(scribes, "_SHARE", share)
        memory = os.memfd_create("test")
        with open(memory, "rb") as shared:
            answer = scribes._done(files, order, memory, 0)
            assert (answer is not None, len(shared.read())) == (n_written > 0, n_written)


@pytest.mark.usefixtures("gpu")
def test_a_picture_too_large_for_a_scribe_is_stored_and_loaded_by_the_thread(tmp_path: Path) -> None:
    side = 2400
    assert 3 * side * side > scribes._SHARE
    picture = Picture(rgb=bytes(3 * side * side), width=side, height=side)
    with closing(Scribes(Blobs(tmp_path))) as files:
        (stored,) = files.save([picture])
        assert files.load(stored.image_id) == picture
        assert pids_of(os.getpid()), "asked, it declines"


def contents(directory: Path) -> dict[str, object]:
    with open_run(directory) as store:
        rows: dict[str, object] = dict(store.renders()) | {str(v): v for v in store.verdicts()}
    files = {str(path.relative_to(directory)): path.read_bytes() for path in (directory / "images").rglob("*.webp")}
    return rows | files


def test_a_run_by_scribes_has_the_rows_and_files_of_one_by_threads(
    tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    spec = fake_spec(30)
    execute(spec, tmp_path / "threads", SilentProgress())
    request.getfixturevalue("gpu")
    request.getfixturevalue("no_threads")
    execute(spec, tmp_path / "scribes", SilentProgress())
    assert contents(tmp_path / "scribes") == contents(tmp_path / "threads")
    another = fake_spec(30, detector=bound("detector", FakeDetector, "another"))
    assert judge_again(tmp_path / "scribes", another, SilentProgress()).n_looked > 0, "loaded by scribes too"
    assert not pids_of(os.getpid()), "they are gone with the run"


@pytest.mark.usefixtures("gpu")
def test_a_scribe_that_is_killed_costs_nothing_and_is_replaced_a_few_times(tmp_path: Path) -> None:
    with closing(Scribes(Blobs(tmp_path))) as files:
        n_killed = 0
        for seed in range(3 * scribes._N_LIVES):
            (stored,) = files.save([noise(seed)])
            assert files.load(stored.image_id) == noise(seed)
            for pid in pids_of(os.getpid()):
                n_killed += 1
                os.kill(pid, signal.SIGKILL)
            assert soon(lambda: not pids_of(os.getpid()))
    assert n_killed == scribes._N_LIVES, "who is killed again and again is left alone"


@pytest.mark.usefixtures("gpu")
def test_what_stops_a_scribe_is_said_as_a_thread_says_it(tmp_path: Path) -> None:
    picture = noise(1)
    folder = Blobs(tmp_path).path_of(picture.image_id()).parent
    folder.parent.mkdir(parents=True)
    folder.write_text("no folder")
    said = []
    with closing(Scribes(Blobs(tmp_path))) as files:
        for each in (ImageFiles(Blobs(tmp_path)), files):
            with pytest.raises(StoreError) as saving:
                each.save([picture])
            with pytest.raises(StoreError) as loading:
                each.load(picture.image_id())
            said.append((str(saving.value), str(loading.value)))
        assert said[0] == said[1]
        folder.unlink()
        assert files.load(files.save([picture])[0].image_id) == picture, "it is still at work"


@pytest.mark.usefixtures("gpu")
def test_equal_pictures_from_scribes_and_threads_make_one_file_whose_digest_is_right(tmp_path: Path) -> None:
    blobs = Blobs(tmp_path)
    with closing(Scribes(blobs)) as files:
        for seed in range(5):
            picture = noise(seed, 64, 64)
            other = replace(picture, webp=tightly_packed(picture))
            asked = [(save, each) for each in (picture, other) for save in (files.save, files._files.save)]
            with ThreadPoolExecutor(len(asked)) as pool:
                stored = list(pool.map(lambda call: call[0]([call[1]])[0], asked))
            assert {image.digest for image in stored} == {digest_of(blobs.read(picture.image_id()))}


def test_scribes_keep_to_themselves_and_end_with_their_thread_s_work(
    tmp_path: Path, gpu: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    del gpu
    monkeypatch.chdir(tmp_path)
    for name in ("json", "PIL", "salva"):
        # What happens to lie in the user's folder is none of ours.
        Path(f"{name}.py").write_text("raise SystemExit('imported')")
    files = Scribes(Blobs(tmp_path))
    files.save([noise(1)])
    (pid,) = pids_of(os.getpid())
    assert os.getsid(pid) == pid, "Ctrl-C is not for them"
    files.close()
    files.close()
    assert not pids_of(os.getpid())
    (stored,) = files.save([noise(2)])
    assert ImageFiles(Blobs(tmp_path)).load(stored.image_id) == noise(2), "a thread that is late does it itself"
    assert not pids_of(os.getpid())


class OwnBlobs(Blobs):
    """Somebody else's way to store files."""


@pytest.mark.parametrize("why", ["cores", "gpu", "store", "frozen", "executable", "system", "chosen"])
@pytest.mark.usefixtures("gpu")
def test_where_scribes_do_not_pay_or_cannot_be_there_are_none(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, why: str
) -> None:
    match why:
        case "cores":
            monkeypatch.setattr(scribes, "n_cores", lambda: 3)
        case "gpu":
            monkeypatch.setattr(scribes, "is_gpu_at_work", lambda: False)
        case "frozen":
            monkeypatch.setattr(sys, "frozen", True, raising=False)
        case "executable":
            monkeypatch.setattr(sys, "executable", "")
        case "system":
            monkeypatch.delattr(os, "memfd_create")
        case "chosen":
            monkeypatch.setattr(scribes, "MOST_SCRIBES", 0)
    with closing(Scribes(OwnBlobs(tmp_path) if why == "store" else Blobs(tmp_path))) as files:
        (stored,) = files.save([noise(1)])
        assert files.load(stored.image_id) == noise(1)
        assert not pids_of(os.getpid())


@pytest.mark.usefixtures("gpu")
def test_without_a_python_to_start_threads_do_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "executable", str(tmp_path / "no-python"))
    with closing(Scribes(Blobs(tmp_path))) as files:
        for seed in range(scribes._N_LIVES + 1):
            (stored,) = files.save([noise(seed)])
            assert files.load(stored.image_id) == noise(seed)


def test_a_script_without_a_main_guard_is_run_once(tmp_path: Path) -> None:
    with start(tmp_path / "run", n_cases=3) as process:
        output, errors = process.communicate(timeout=120)
    assert (process.returncode, output, errors) == (0, "run\n", "")


@pytest.fixture(params=[signal.SIGKILL, signal.SIGINT])
def ended_run(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[tuple[Path, set[int]]]:
    """A run that was ended while scribes were at work, and who they were."""
    with start(tmp_path / "run", n_cases=2000) as process:
        assert soon(lambda: pids_of(process.pid))
        pids = pids_of(process.pid)
        os.killpg(process.pid, request.param)
        process.communicate(timeout=120)
        assert process.returncode != 0
        yield tmp_path / "run", pids


def test_scribes_end_with_their_run_however_it_ends(ended_run: tuple[Path, set[int]]) -> None:
    directory, pids = ended_run
    assert soon(lambda: not any(Path(f"/proc/{pid}").exists() for pid in pids))
    assert verify(directory, SilentProgress()).problems == ()
