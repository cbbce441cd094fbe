"""Bodies of answers: read raw, unpacked in small steps, counted, and never more in memory than the budget says."""

from __future__ import annotations

import gzip
import importlib.util
import json
import random
import sys
import zlib
from collections.abc import Callable, Mapping
from contextlib import closing
from pathlib import Path

import pytest
from backends.endpoints import Answered, serving

from salva.core import memory
from salva.core.memory import MIB, MemoryBudget, Reservation
from salva.errors import BackendError
from salva.remote import bodies
from salva.remote.endpoint import Endpoint, download

pytest.importorskip("openai", reason="models at endpoints need the api extra")

CONTENT = random.Random(7).randbytes(300_000) + bytes(300_000)
BENCH = Path(__file__).parents[2] / "bench" / "memory.py"


def packed_raw(content: bytes) -> bytes:
    packer = zlib.compressobj(wbits=-zlib.MAX_WBITS)
    return packer.compress(content) + packer.flush()


PACKINGS: Mapping[str, tuple[str, Callable[[bytes], bytes]]] = {
    "plain": ("", bytes),
    "gzip": ("gzip", gzip.compress),
    "deflate": ("deflate", zlib.compress),
    "deflate without a header": ("deflate", packed_raw),
    "gzip and something after it": ("gzip", lambda content: gzip.compress(content) + b"something"),
}


def sent(content: bytes, coding: str = "", status: int = 200) -> Answered:
    return Answered(status=status, content=content, headers={"Content-Encoding": coding} if coding else {})


def fetched(answer: Answered) -> bytes:
    with serving(lambda _: answer) as server:
        return download("a server", f"{server.url}/image", 20.0, server.url)


def posted(answer: Answered) -> object:
    with serving(lambda _: answer) as server, closing(Endpoint("a server", server.url, 20.0)) as endpoint:
        return endpoint.post_json("/generate", {})


@pytest.mark.parametrize("packing", PACKINGS)
def test_a_body_is_read_as_it_was_before_it_was_packed(packing: str) -> None:
    coding, pack = PACKINGS[packing]
    assert fetched(sent(pack(CONTENT), coding)) == CONTENT


@pytest.mark.parametrize("coding", ["gzip", "deflate"])
def test_a_broken_stream_is_an_error_of_the_answer(coding: str) -> None:
    with pytest.raises(BackendError) as caught:
        fetched(sent(b"\x1f\x8b no stream at all", coding))
    assert caught.value.code == "output-invalid"


@pytest.mark.parametrize("coding", ["gzip", "deflate"])
def test_a_bomb_is_unpacked_no_further_than_the_limit(coding: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SALVA_ANSWER_MIB", "1")
    steps: list[int] = []
    unpack = bodies._unpacked

    def watched(*args: object) -> object:
        for part in unpack(*args):  # type: ignore[arg-type]
            steps.append(len(part))
            yield part

    monkeypatch.setattr(bodies, "_unpacked", watched)
    with pytest.raises(BackendError):
        fetched(sent(PACKINGS[coding][1](bytes(50 * MIB)), coding))
    assert max(steps) <= 64 * 1024
    assert sum(steps) <= MIB + 64 * 1024


@pytest.mark.parametrize(
    "body",
    [
        pytest.param(b'{"data": [' + b"{}," * 50_000 + b"{}]}", id="empty objects take a hundred times their text"),
        pytest.param(json.dumps({"data": "é" * 600_000}, ensure_ascii=False).encode(), id="letters take four bytes"),
        pytest.param(b"[1, " + b" " * MIB + b"2]", id="longer than the limit"),
    ],
)
def test_json_that_becomes_too_large_in_memory_is_refused(body: bytes, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SALVA_ANSWER_MIB", "1")
    with pytest.raises(BackendError) as caught:
        posted(sent(body))
    assert caught.value.code == "output-invalid"


def test_a_large_error_is_known_by_its_status() -> None:
    with pytest.raises(BackendError) as caught:
        posted(sent(b"x" * 2 * MIB, status=429))
    assert caught.value.is_retryable


@pytest.mark.parametrize(("read", "copies"), [(fetched, 1), (posted, 4)])
def test_an_answer_is_counted_with_its_copies_until_its_call_ends(
    read: Callable[[Answered], object], copies: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    budget = MemoryBudget(1024 * MIB)
    monkeypatch.setattr(memory, "BUDGET", budget)
    call = Reservation()
    body = json.dumps("x" * 10 * MIB).encode()
    with call.under_way():
        assert call.begin(0)
        assert budget.n_bytes == 8 * MIB
        read(sent(body))
        assert call.largest == copies * len(body)
        assert copies * len(body) <= budget.n_bytes <= 2 * copies * len(body)
    assert budget.n_bytes == 0


@pytest.mark.parametrize("attack", ["allowed", "gzip"])
def test_a_run_stays_within_its_memory(attack: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """A sixteenth of what bench/memory.py measures: 64 at once, each answer just within the limit, or a bomb."""
    spec = importlib.util.spec_from_file_location("bench_memory", BENCH)
    assert spec is not None
    assert spec.loader is not None
    bench = importlib.util.module_from_spec(spec)
    monkeypatch.setitem(sys.modules, "bench_memory", bench)
    spec.loader.exec_module(bench)
    for name, value in (("OPENAI_API_KEY", "none"), ("SALVA_MEMORY_MIB", "64"), ("SALVA_ANSWER_MIB", "4")):
        monkeypatch.setenv(name, value)
    seen = bench.measure(attack, 64, scale=1 / 16)
    assert seen["kept"] >= bench.N_CLEAN
    assert seen["kept"] + seen["failed"] >= bench.N_CLEAN + 32
    assert seen["peak_mb"] < 230, "100 for clean answers alone, and the budget"
