"""How close a run comes to what an endpoint can serve: 400 ms a picture, 32 at once, 429 for all above.

The endpoint is a process of its own that speaks OpenAI's images API and counts what it hands out; the run is a
whole one, pictures decoded, stored, looked at and judged. No picture may be lost or painted twice.

    python bench/endpoint.py [N_IMAGES]      default 3,200
"""

from __future__ import annotations

import asyncio
import base64
import json
import subprocess
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path

LATENCY_S = 0.4
AT_ONCE = 32
SIDE = 64


def main() -> None:
    """Measure and print one table."""
    n_images = int(sys.argv[1]) if len(sys.argv) > 1 else 3_200
    row = "{:<38} {:>8} {:>12} {:>12} {:>8} {:>6} {:>14}"
    print(row.format("what", "images/s", "of its best", "whole run", "wanted", "429s", "lost, doubled"))
    best = AT_ONCE / LATENCY_S
    for what, retry_after in (("429 alone", ""), ("429 with Retry-After: 1", "1")):
        figures = measure(n_images, retry_after)
        rate, whole = n_images / figures["served_s"], n_images / figures["wall_s"]
        kept = f"{figures['lost']:.0f}, {figures['doubled']:.0f}"
        print(
            row.format(
                f"{what}, {n_images:,} images",
                f"{rate:.1f}",
                f"{rate / best:.1%}",
                f"{whole / best:.1%}",
                "90 %",
                f"{figures['busy']:.0f}",
                kept,
            )
        )


def measure(n_images: int, retry_after: str) -> dict[str, float]:
    """One run against a fresh endpoint."""
    from salva.core.plan import Plan
    from salva.core.run_spec import RunSpec
    from salva.engine.progress import SilentProgress
    from salva.generators.openai_images import OpenAiImages
    from salva.runs.pipeline import execute
    from salva.testing.fakes import FakeDetector, FakeSame, FakeSuite
    from salva.testing.specs import bound

    command = [sys.executable, __file__, "--serve", retry_after]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as server:
        assert server.stdin is not None
        assert server.stdout is not None
        port = int(server.stdout.readline())
        spec = Plan(
            suite=bound("suite", FakeSuite, n=n_images // 2),
            models=(
                bound("model", OpenAiImages, model="bench", base_url=f"http://127.0.0.1:{port}/v1", send_seed=True),
            ),
            detector=bound("detector", FakeDetector),
            checks=(bound("check", FakeSame),),
            spec=RunSpec(size="full"),
        )
        with tempfile.TemporaryDirectory(prefix="salva-bench-") as directory:
            began = time.perf_counter()
            summary = execute(spec, Path(directory) / "run", SilentProgress())
            wall_s = time.perf_counter() - began
        server.stdin.close()
        counted = json.loads(server.stdout.readline())
    assert sum(summary.outcomes.values()) == n_images // 2
    return {"wall_s": wall_s, "lost": n_images - summary.n_rendered, **counted}


async def serve(retry_after: str) -> None:
    """The endpoint; prints its port, and its counts when its input ends."""
    served: Counter[str] = Counter()
    state = {"at_once": 0, "busy": 0}
    times: list[float] = []

    async def handle(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        while request := await reader.readline():
            assert request.startswith(b"POST /v1/images/generations"), request
            length = 0
            while (line := (await reader.readline()).strip()) != b"":
                if line.lower().startswith(b"content-length:"):
                    length = int(line.split(b":")[1])
            asked = json.loads(await reader.readexactly(length))
            times.append(time.perf_counter())
            if state["at_once"] >= AT_ONCE:
                state["busy"] += 1
                wait = f"Retry-After: {retry_after}\r\n" if retry_after else ""
                answer(
                    writer,
                    "429 Too Many Requests",
                    {"error": {"message": "Rate limit reached", "type": "requests"}},
                    wait,
                )
                continue
            state["at_once"] += 1
            await asyncio.sleep(LATENCY_S)
            state["at_once"] -= 1
            served[f"{asked['prompt']}/{asked['seed']}"] += 1
            answer(writer, "200 OK", {"created": 1, "data": [{"b64_json": picture(asked["prompt"], asked["seed"])}]})
        writer.close()

    server = await asyncio.start_server(handle, "127.0.0.1", 0)
    print(server.sockets[0].getsockname()[1], flush=True)
    await asyncio.get_running_loop().run_in_executor(None, sys.stdin.read)
    doubled = sum(n - 1 for n in served.values())
    print(
        json.dumps({"busy": state["busy"], "doubled": doubled, "served_s": times[-1] + LATENCY_S - times[0]}),
        flush=True,
    )


def answer(writer: asyncio.StreamWriter, status: str, body: object, headers: str = "") -> None:
    """One HTTP answer."""
    content = json.dumps(body).encode()
    head = f"HTTP/1.1 {status}\r\nContent-Type: application/json\r\n{headers}Content-Length: {len(content)}\r\n\r\n"
    writer.write(head.encode() + content)


def picture(prompt: str, seed: int) -> str:
    """A PNG that the fake detector can read, different for every prompt and seed."""
    from salva.core.image import Picture
    from salva.imaging.files import encode_picture
    from salva.testing.fakes import painted

    small = painted([word.strip() for word in prompt.split(",")], note=str(seed))
    rgb = small.rgb.ljust(3 * SIDE * SIDE, b"\x80")
    return base64.b64encode(encode_picture(Picture(rgb=rgb, width=SIDE, height=SIDE))).decode()


if __name__ == "__main__":
    if "--serve" in sys.argv:
        asyncio.run(serve(sys.argv[2]))
    else:
        main()
