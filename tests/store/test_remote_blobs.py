"""Pictures elsewhere: on an S3 server, in fsspec's memory, and on one that does not do as told."""

from __future__ import annotations

import time
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread

import fsspec
import pytest
from s3_server import BUCKET, s3_server
from s3fs import S3FileSystem

from salva.errors import BackendError, MissingExtraError, StoreError, UsageError
from salva.store.remote_blobs import RemoteBlobs

IMAGE_ID = "ab" + "c" * 38


@pytest.fixture(scope="module")
def s3() -> Iterator[str]:
    with s3_server():
        yield f"s3://{BUCKET}/run"


@pytest.fixture(autouse=True)
def fresh_connections() -> None:
    """fsspec remembers its connections by what was asked, not by the variables that say where."""
    S3FileSystem.clear_instance_cache()


@pytest.fixture(params=["s3", "memory"])
def blobs(request: pytest.FixtureRequest, s3: str) -> Iterator[RemoteBlobs]:
    address = f"{s3}/{request.node.name}" if request.param == "s3" else f"memory://{request.node.name}"
    yield RemoteBlobs(address)
    fsspec.filesystem("memory").store.clear()


def test_what_is_written_is_read_back(blobs: RemoteBlobs) -> None:
    blobs.prepare()
    assert not blobs.has(IMAGE_ID)
    blobs.write(IMAGE_ID, b"pixels")
    assert blobs.has(IMAGE_ID)
    assert blobs.read(IMAGE_ID) == b"pixels"
    assert list(blobs.lost([(IMAGE_ID, 6), ("ef01", 6)])) == ["ef01"]
    assert list(blobs.lost([(IMAGE_ID, 7)])) == [IMAGE_ID], "somebody else's file"
    blobs.write(IMAGE_ID, b"others")
    assert blobs.read(IMAGE_ID) == b"others"
    assert blobs.place_of(IMAGE_ID).endswith(f"/ab/{'c' * 38}.webp")


def test_a_picture_that_is_not_there_is_a_hole_in_the_run(blobs: RemoteBlobs) -> None:
    with pytest.raises(StoreError, match=r"\[disk-error\]"):
        blobs.read(IMAGE_ID)


def test_an_id_cannot_lead_elsewhere(blobs: RemoteBlobs) -> None:
    for image_id in ("../../x", "ab/../../x", "ab\n", ""):
        with pytest.raises(StoreError, match=r"\[store-damaged\]"):
            blobs.write(image_id, b"")


def test_a_bucket_that_is_not_there_is_said_and_not_made(s3: str) -> None:
    blobs = RemoteBlobs("s3://typing-error/run")
    with pytest.raises((StoreError, BackendError), match=r"\[disk-error\]"):
        blobs.prepare()
    with pytest.raises((StoreError, BackendError), match=r"\[disk-error\]"):
        blobs.prepare()


@pytest.fixture
def tried_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """What fails is not tried again, as it is five times with pauses that grow."""
    monkeypatch.setattr("s3fs.core.S3FileSystem.retries", 1)
    monkeypatch.setenv("AWS_MAX_ATTEMPTS", "1")


def test_nobody_there(monkeypatch: pytest.MonkeyPatch, s3: str, tried_once: None) -> None:
    monkeypatch.setenv("AWS_ENDPOINT_URL", "http://127.0.0.1:1")
    blobs = RemoteBlobs("s3://nobody/there")
    with pytest.raises(BackendError, match=r"\[disk-error\]") as refused:
        blobs.prepare()
    assert refused.value.is_retryable


class Grumpy(BaseHTTPRequestHandler):
    """Refuses everything, or never answers."""

    status = 403
    protocol_version = "HTTP/1.1"  # so that a kit that asks before it sends is told to go on

    def do_PUT(self) -> None:
        self.rfile.read(int(self.headers.get("Content-Length", 0)))
        if not self.status:
            time.sleep(1)
            self.close_connection = True
            return
        body = b"<Error><Code>AccessDenied</Code><Message>testing-secret-of-tests</Message></Error>"
        self.send_response(self.status)
        self.send_header("Content-Length", str(len(body)))
        self.send_header("Connection", "close")
        self.end_headers()
        self.wfile.write(body)

    do_GET = do_HEAD = do_PUT  # noqa: N815  # the names that http.server calls

    def log_message(self, *_: object) -> None:
        """Silent."""


@pytest.fixture
def grumpy(monkeypatch: pytest.MonkeyPatch, s3: str) -> Iterator[None]:
    server = ThreadingHTTPServer(("127.0.0.1", 0), Grumpy)
    thread = Thread(target=server.serve_forever, args=(0.02,))
    thread.start()
    monkeypatch.setenv("AWS_ENDPOINT_URL", f"http://127.0.0.1:{server.server_port}")
    yield
    server.shutdown()
    thread.join()
    server.server_close()


def test_a_key_that_may_not_write_is_said_without_repeating_it(grumpy: None) -> None:
    blobs = RemoteBlobs("s3://refused/run")
    with pytest.raises(BackendError, match=r"\[disk-error\]") as refused:
        blobs.prepare()
    assert "testing-secret" not in str(refused.value)


def test_a_storage_that_never_answers_is_not_waited_for_without_end(
    grumpy: None, tried_once: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Grumpy, "status", 0)
    monkeypatch.setattr(
        "salva.store.remote_blobs._SETTINGS",
        {"s3": {"config_kwargs": {"connect_timeout": 1, "read_timeout": 0.2, "retries": {"max_attempts": 1}}}},
    )
    with pytest.raises(BackendError, match=r"\[disk-error\]"):
        RemoteBlobs("s3://slow/run").prepare()


def test_a_storage_nobody_knows_and_one_that_lacks_its_package() -> None:
    with pytest.raises(UsageError, match="nowhere"):
        RemoteBlobs("nowhere://x/y")


def test_a_missing_extra_prints_its_install_line(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(__import__("sys").modules, "fsspec", None)
    with pytest.raises(MissingExtraError, match=r"\[storage\]"):
        RemoteBlobs("s3://x/y")
