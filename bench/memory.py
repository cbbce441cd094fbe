"""The most memory of a run whose endpoint sends what it should not: bombs, huge bodies, huge bodies after a lull.

Endpoint and run are processes of their own. Each attack is met after 40 clean answers, when as many requests as allowed
are under way, and once by judges. Every case must end as a result or as an ERROR; the peak is what the system counts.

    python bench/memory.py [ATTACK...]      default: all, at 1, 8 and 64 requests at once
"""

from __future__ import annotations

import base64
import itertools
import json
import re
import sqlite3
import subprocess
import sys
import tempfile
import threading
import time
import zlib
from collections.abc import Iterable, Iterator, Sequence
from contextlib import closing, contextmanager, suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from itertools import chain, repeat
from pathlib import Path
from typing import Any

MOST_MB = 1500
AT_ONCE = (1, 8, 64)
N_CLEAN = 40
SIDE, WIDE = 64, 4_000
PACKED = ("gzip", "deflate")
_PART = 2**16
_HUGE, _LONG, _ALLOWED = 300_000_000, 200_000_000, 66_000_000
"""Bytes of a body; the last is just within the limit."""


def main() -> None:
    """Measure and print one table."""
    attacks = sys.argv[1:] or [*ATTACKS]
    row = "{:<44} {:>9} {:>9} {:>9} {:>6} {:>7} {:>8}"
    print(row.format("after 40 clean answers", "at once", "peak MB", "wanted", "kept", "ERROR", "seconds"))
    worst = 0.0
    for attack in attacks:
        for n in AT_ONCE:
            seen = measure(attack, n)
            worst = max(worst, seen["peak_mb"])
            outcomes = [f"{seen[name]:.0f}" for name in ("kept", "failed")]
            figures = [f"{n}", f"{seen['peak_mb']:.0f}", f"< {MOST_MB:,}", *outcomes, f"{seen['seconds']:.0f}"]
            print(row.format(ATTACKS[attack], *figures), flush=True)
    if worst >= MOST_MB:
        sys.exit("too much memory")


ATTACKS = {
    "none": "clean answers alone",
    "huge": "300 MB of JSON, its length said",
    "chunked": "300 MB of JSON, its length not said",
    "lull": "200 MB of base64, its length not said",
    "gzip": "gzip, 300 MB unpacked",
    "deflate": "deflate, 300 MB unpacked",
    "allowed": "66 MB of base64, an image with a tail",
    "spoiled": "66 MB of base64 that are no image",
    "values": "66 MB of JSON, all empty objects",
    "url": "66 MB behind a URL, an image with a tail",
    "judge": "66 MB of a judge's words",
    "wide": "images of 4,000 x 4,000",
}


def measure(attack: str, at_once: int, scale: float = 1.0) -> dict[str, float]:
    """One run in a process of its own; scale: of the bodies."""
    with serving(attack, scale) as url, tempfile.TemporaryDirectory() as folder:
        command = [sys.executable, __file__, "--run", url, folder, attack, str(at_once), str(8 + at_once)]
        done = subprocess.run(command, check=True, capture_output=True, text=True)
    seen: dict[str, float] = json.loads(done.stdout.splitlines()[-1])
    return seen


def run(url: str, folder: str, attack: str, at_once: int, n_attacked: int) -> None:
    """The run itself; prints what came of it."""
    from salva.core.case import Case
    from salva.core.plan import Plan
    from salva.core.protocols import Need, Query
    from salva.core.run_spec import RunSpec
    from salva.engine.progress import SilentProgress
    from salva.errors import SalvaError
    from salva.generators.openai_images import OpenAiImages
    from salva.judges.chat_judge import ChatJudge
    from salva.runs.pipeline import execute
    from salva.testing.fakes import FakeAnswers, FakeDetector, FakeSame, FakeSuite
    from salva.testing.specs import bound

    class Asks(FakeAnswers):
        """The same question about each image."""

        def needs(self, case: Case, *_: object) -> Sequence[Need]:
            query = Query(role="judge", kind="answer", text="is there a cat?", choices=("yes", "no"))
            return [Need(role=prompt.role, query=query) for prompt in case.prompts]

    began = time.monotonic()
    usual: dict[str, Any] = {"model": "m", "base_url": f"{url}/v1", "max_at_once": at_once}
    is_judged = attack == "judge"
    plan = Plan(
        spec=RunSpec(size="full", preflight=False),
        suite=bound("suite", FakeSuite, n=(N_CLEAN + n_attacked) // 2),
        models=(bound("model", OpenAiImages, **usual, send_seed=True, price_usd=0.0),),
        detector=bound("detector", FakeDetector),
        judges=(bound("judge", ChatJudge, **usual),) if is_judged else (),
        checks=(bound("check", Asks if is_judged else FakeSame),),
    )
    with suppress(SalvaError):  # an endpoint that only fails ends the run
        execute(plan, Path(folder), SilentProgress())
    # Not ru_maxrss, which begins at what the parent had.
    peak = re.findall(r"VmHWM:\s+(\d+) kB", Path("/proc/self/status").read_text())
    table = "observations" if is_judged else "renders"
    with closing(sqlite3.connect(Path(folder) / "salva.db")) as store:
        counts = dict(store.execute(f"SELECT status = 'done', COUNT(*) FROM {table} GROUP BY 1"))
    figures = {"peak_mb": int(peak[0]) * 1024 / 1e6, "kept": counts.get(1, 0), "failed": counts.get(0, 0)}
    print(json.dumps({**figures, "seconds": time.monotonic() - began}))


@contextmanager
def serving(attack: str, scale: float) -> Iterator[str]:
    """The endpoint, in threads of this process; it holds no body as a whole."""
    count = itertools.count(1)
    bomb = [*packed(attack, body_of(attack, {"prompt": "a", "seed": 1}, scale, ""))] if attack in PACKED else []

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self) -> None:
            asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            is_chat = "messages" in asked
            is_attack = is_chat == (attack == "judge") and next(count) > N_CLEAN and attack != "none"
            port = self.server.server_port  # type: ignore[attr-defined]  # an HTTP server's
            body = body_of(attack if is_attack else "none", asked, scale, f"http://127.0.0.1:{port}")
            packing = attack if is_attack and attack in PACKED else ""
            self._send(body, packing, _HUGE if is_attack and attack == "huge" else 0)

        def do_GET(self) -> None:
            self._send(chain([png(SIDE, self.path)], zeros(b"\0", scale * _ALLOWED)), "", 0)

        def _send(self, body: Iterable[bytes], packing: str, n_said: int) -> None:
            self.send_response(200)
            self.send_header("Content-Type", "application/json")
            if packing:
                self.send_header("Content-Encoding", packing)
                body = bomb
            if n_said:
                self.send_header("Content-Length", str(n_said))
            else:
                self.send_header("Transfer-Encoding", "chunked")
            self.end_headers()
            with suppress(OSError):
                for part in body:
                    self.wfile.write(part if n_said else b"%x\r\n%s\r\n" % (len(part), part))
                self.wfile.write(b"" if n_said else b"0\r\n\r\n")

        def log_message(self, format: str, *args: object) -> None:  # noqa: A002  # the library's name
            """Quiet."""

    class Quiet(ThreadingHTTPServer):
        daemon_threads, request_queue_size = True, 128

        def handle_error(self, request: object, client_address: object) -> None:
            """A client that hangs up is what is wanted."""

    with Quiet(("127.0.0.1", 0), Handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_address[1]}"
        server.shutdown()


def packed(packing: str, body: Iterable[bytes]) -> Iterator[bytes]:
    """The parts packed."""
    packer = zlib.compressobj(1, wbits=31 if packing == "gzip" else 15)
    yield from filter(None, map(packer.compress, body))
    yield packer.flush()


def zeros(letter: bytes, n_bytes: float) -> Iterator[bytes]:
    """So many bytes of a letter or word."""
    part = letter * (_PART // len(letter))
    return repeat(part, int(n_bytes) // len(part))


def body_of(attack: str, asked: dict[str, Any], scale: float, url: str) -> Iterable[bytes]:
    """The parts of an answer."""
    if "messages" in asked:
        n_bytes = scale * _ALLOWED if attack == "judge" else 0
        head = b'{"id": "x", "object": "chat.completion", "created": 0, "model": "m", "choices": [{"index": 0, '
        head += b'"finish_reason": "stop", "message": {"role": "assistant", "content": "{\\"answer\\": \\"yes\\"}'
        return chain([head], zeros(b" ", n_bytes), [b'"}}]}'])
    if attack == "values":
        return chain([b'{"data": ['], zeros(b"{},", scale * _ALLOWED), [b"{}]}"])
    if attack == "url":
        return [json.dumps({"data": [{"url": f"{url}/{asked['prompt']}-{asked['seed']}"}]}).encode()]
    n_bytes = {"huge": _HUGE, "chunked": _HUGE, "gzip": _HUGE, "deflate": _HUGE, "lull": _LONG}.get(attack, 0)
    n_bytes = _ALLOWED if attack in ("allowed", "spoiled") else n_bytes
    side = WIDE if attack == "wide" else SIDE
    file = png(side, f"{asked['prompt']}-{asked['seed']}") if attack != "spoiled" else b"this is no image" * 3
    return chain([b'{"data": [{"b64_json": "', base64.b64encode(file)], zeros(b"A", scale * n_bytes), [b'"}]}'])


def png(side: int, note: str) -> bytes:
    """An image of its own for each note, its length a multiple of three."""
    rows = b"".join(b"\0" + note.encode().ljust(3 * side, b"\x80")[: 3 * side] for _ in range(side))
    file = b"\x89PNG\r\n\x1a\n"
    header = side.to_bytes(4, "big") * 2 + b"\x08\x02\0\0\0"
    for kind, data in ((b"IHDR", header), (b"IDAT", zlib.compress(rows, 1)), (b"IEND", b"")):
        file += len(data).to_bytes(4, "big") + kind + data + zlib.crc32(kind + data).to_bytes(4, "big")
    return file + bytes(-len(file) % 3)


if __name__ == "__main__":
    if sys.argv[1:2] == ["--run"]:
        run(*sys.argv[2:5], *map(int, sys.argv[5:]))  # type: ignore[arg-type]
    else:
        main()
