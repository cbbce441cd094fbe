"""An S3 server on loopback, moto's, for tests that keep pictures elsewhere."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import boto3  # type: ignore[import-untyped]  # the kit has no types
import pytest
from s3fs import S3FileSystem

BUCKET = "pictures"


@contextmanager
def s3_server() -> Iterator[str]:
    """The address of a server with one bucket, set up in the environment as people set up theirs."""
    from moto.server import ThreadedMotoServer

    server = ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
    server.start()
    host, port = server.get_host_and_port()
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("AWS_ENDPOINT_URL", f"http://{host}:{port}")
        patch.setenv("AWS_ACCESS_KEY_ID", "testing-id")
        patch.setenv("AWS_SECRET_ACCESS_KEY", "testing-secret-of-tests")
        patch.setenv("AWS_DEFAULT_REGION", "us-east-1")
        boto3.client("s3").create_bucket(Bucket=BUCKET)
        # Connections to a server that is gone are not taken for those to the next.
        S3FileSystem.clear_instance_cache()
        try:
            yield f"http://{host}:{port}"
        finally:
            S3FileSystem.clear_instance_cache()
            server.stop()
