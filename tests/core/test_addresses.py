"""Where an answer came from, less what changes without changing that."""

from __future__ import annotations

import pytest

from salva.core.addresses import plain_address, plain_words
from salva.core.fingerprint import Json


@pytest.mark.parametrize(
    ("url", "plain"),
    [
        ("https://host.org/v1/", "https://host.org/v1"),
        (" HTTPS://Host.org:443/v1?key=x#y", "https://host.org/v1"),
        ("http://host.org:80", "http://host.org"),
        ("http://host.org:443", "http://host.org:443"),
        ("https://user:pass@host.org:8443/v1", "https://host.org:8443/v1"),
        ("http://localhost:8080/v1", "http://localhost/v1"),
        ("http://127.0.0.1:8081/v1", "http://127.0.0.1/v1"),
        ("http://[::1]:8081/v1", "http://[::1]/v1"),
        ("http://[fe80::1]:81/v1", "http://[fe80::1]:81/v1"),
        ("http://host:port", "http://host:port"),
        ("http://[", "http://["),
    ],
)
def test_an_address_is_its_scheme_host_and_path(url: str, plain: str) -> None:
    assert plain_address(url) == plain


def test_what_has_a_label_needs_no_address() -> None:
    words: dict[str, Json] = {
        "suite": "https",
        "size": 3,
        "model.base_url": "http://localhost:81/v1",
        "judge.base_url": "https://a.org/v1/",
        "judge.endpoint": "mine",
        "check.url": "http://b.org/",
        "check.endpoint of truth": "other",
    }
    assert plain_words(words) == {
        "suite": "https",
        "size": 3,
        "model.base_url": "http://localhost/v1",
        "judge.endpoint": "mine",
        "check.endpoint of truth": "other",
    }
