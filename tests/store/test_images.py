"""Where pictures are: what is an address, and who must have named it."""

from __future__ import annotations

from pathlib import Path

import pytest

from salva.errors import UsageError
from salva.store.blobs import Blobs
from salva.store.images import allow_images_at, checked_address, images_of, is_allowed


@pytest.mark.parametrize(
    "url",
    [
        *("", "bucket/folder", "s3:bucket", "s3://", "file:///", "file://host/folder", "s3://bucket/../other"),
        *("s3://bucket/%2e%2e/other", "s3://bucket?versionId=3", "zip://a::s3://bucket/b.zip", "s3://bucket/a#b"),
    ],
)
def test_what_is_no_address_of_a_folder_is_refused(url: str) -> None:
    with pytest.raises(UsageError, match="--images"):
        checked_address(url)


@pytest.mark.parametrize("url", ["s3://me:secretsecretsecret@bucket/x", "sftp://me@host/x", "s3://b/x?token=abcdefgh"])
def test_an_address_with_a_key_is_refused_and_not_repeated(url: str) -> None:
    with pytest.raises(UsageError, match=r"\[url-holds-secret\]") as refused:
        checked_address(url)
    assert "secretsecret" not in str(refused.value)
    assert "abcdefgh" not in str(refused.value)


def test_a_key_of_the_environment_is_refused_in_an_address(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "wJalrXUtnFEMIK7MDENGbPxRfiCY")
    with pytest.raises(UsageError, match=r"key of yours.*\[url-holds-secret\]"):
        checked_address("s3://bucket/wJalrXUtnFEMIK7MDENGbPxRfiCY")


def test_what_lies_below_a_named_folder_is_named() -> None:
    allow_images_at("s3://bucket/runs/")
    assert is_allowed("s3://bucket/runs")
    assert is_allowed("s3://bucket/runs/7")
    assert not is_allowed("s3://bucket/runs-of-others")
    assert not is_allowed("s3://bucket")


def test_an_address_nobody_named_is_not_used_and_a_folder_is_a_plain_one(tmp_path: Path) -> None:
    address = f"file://{tmp_path}/pictures"
    with pytest.raises(UsageError, match=rf"--images {address}\. \[images-not-named\]"):
        images_of(tmp_path, address)
    allow_images_at(address)
    named = images_of(tmp_path, address)
    assert isinstance(named, Blobs)
    named.write("abcd", b"pixels")
    assert (tmp_path / "pictures" / "ab" / "cd.webp").read_bytes() == b"pixels"
