"""A long run against an endpoint that misbehaves, killed and interrupted at random; counts what is lost.

    make soak                       20,000 pictures and 40,000 answers, at most 25 minutes on two cores
    python tools/soak.py --scale 20 a twentieth of that

A server on loopback (a process of its own) paints and judges; every tenth request meets one of 23 kinds of bad
behaviour (tests/backends/faults.py). `salva run` is killed with -9 and with Ctrl-C again and again, and started anew
with the same command until it is done. Whatever the server answered well must be in the store, once.
"""

from __future__ import annotations

import argparse
import base64
import contextlib
import hashlib
import json
import os
import random
import re
import signal
import sqlite3
import subprocess
import sys
import tempfile
import threading
import time
import urllib.request
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, ClassVar

from salva.core.about import About
from salva.core.case import Case, Prompt
from salva.core.observation import Answer
from salva.core.options import option
from salva.core.protocols import Conclusion, Look, Query, Sight
from salva.core.verdict import Outcome

ROOT = Path(__file__).parents[1]
N_PICTURES, N_QUESTIONS = 20_000, 2
BAD = 0.10
"""The part of the requests that meet bad behaviour."""
N_KINDS = 23
N_BLOWS = 12
"""How often the run is killed, and how often it is interrupted."""
LATENCY_S, QUIET_S = 0.03, 2.0
MOST_MEMORY_MB = 600
MOST_MINUTES = 25
MOST_IN_FLIGHT = 512
"""Answers that a kill -9 may find on their way to the disk: what can be under way, twice."""
EXIT_INCOMPLETE = 3
_ENDS = {signal.SIGKILL: ("kill -9", -9), signal.SIGINT: ("Ctrl-C", 130), None: ("to the end", EXIT_INCOMPLETE)}
"""What ends a command, and the exit code it should have; to the end it is 3, since some requests always fail."""
_QUESTIONS = ("is there a cat?", "is there a dog?")


class SoakSuite:
    """Pairs of sentences that differ in a number, as many as are asked for."""

    @dataclass(frozen=True, slots=True, kw_only=True)
    class Options:
        """How many."""

        n: int = option(N_PICTURES // 2, "Cases.")

    version: ClassVar[str] = "1"
    sizes: ClassVar[tuple[str, ...]] = ("full",)
    about: ClassVar[About] = About(name="soak", leads="soak-answers")

    def __init__(self, options: Options) -> None:
        self.options = options

    def cases(self, size: str) -> Iterator[Case]:  # noqa: ARG002  # there is one size
        """Pairs."""
        for i in range(self.options.n):
            prompts = tuple(Prompt(role=role, text=f"picture {i} {role}") for role in ("a", "b"))
            yield Case(case_id=f"soak-{i}", suite="soak", category="all", prompts=prompts, relation="soak-answers")


class SoakAnswers:
    """Relation: a judge answers the same questions about both pictures."""

    version: ClassVar[str] = "1"
    about: ClassVar[About] = About(name="soak-answers", needs=("judge",), errors={"other": "Another answer."})

    def __init__(self, options: object) -> None:
        self.options = options

    def applies(self, case: Case) -> bool:
        """Our own cases."""
        return case.suite == "soak"

    def looks(self, case: Case, roles: Collection[str], sights: Mapping[str, Sight]) -> Sequence[Look]:  # noqa: ARG002  # the seam's signature
        """Two questions a picture."""
        queries = [Query(role="judge", kind="answer", text=text, choices=("yes", "no")) for text in _QUESTIONS]
        return [Look(role=prompt.role, query=query) for prompt in case.prompts for query in queries]

    def judge(self, case: Case, sights: Mapping[str, Sight]) -> Conclusion:  # noqa: ARG002  # the seam's signature
        """Whether all could be read."""
        answers = [seen for sight in sights.values() for seen in sight.seen.values() if isinstance(seen, Answer)]
        if any(answer.problem for answer in answers):
            return Conclusion(outcome=Outcome.INCONCLUSIVE, reason="a reply could not be read")
        return Conclusion(outcome=Outcome.HOLDS)


class Endpoint:
    """Paints, answers and misbehaves; what it does with a request follows from the request alone."""

    def __init__(self) -> None:
        from backends import faults

        self._faults = faults
        self.served: Counter[str] = Counter()
        """Requests that were answered well, and how often."""
        self.bad: dict[str, str] = {}
        """Requests that are never answered well, and the kind of fault."""
        self.kinds: Counter[str] = Counter()
        self.n_requests = 0
        self._n_asked: Counter[str] = Counter()
        self._lock = threading.Lock()

    def __call__(self, request: Any) -> Any:
        from backends.endpoints import said

        if request.method == "GET":
            with self._lock:
                if request.path == "/count":
                    return said(self.served.total())
                known = {"served": self.served, "bad": self.bad, "kinds": self.kinds}
                return said({**known, "n_requests": self.n_requests})
        is_picture = request.path.endswith("/images/generations")
        name = self._name(request.body, is_picture)
        with self._lock:
            self.n_requests += 1
            self._n_asked[name] += 1
            fault = self._fault(name, is_picture)
            if fault is not None:
                self.kinds[fault.name] += 1
        if fault is not None:
            return fault.answer()
        time.sleep(LATENCY_S)
        return self._good(name, request.body, is_picture)

    def _name(self, body: Any, is_picture: bool) -> str:
        if is_picture:
            return f"picture {body['prompt']}/{body['seed']}"
        content = body["messages"][1]["content"]
        picture = hashlib.sha256(base64.b64decode(content[0]["image_url"]["url"].partition(",")[2])).hexdigest()[:24]
        asked = next(question for question in _QUESTIONS if question in content[1]["text"])
        return f"answer {picture}/{asked}"

    def _fault(self, name: str, is_picture: bool) -> Any:
        draw = random.Random(name)
        if draw.random() >= BAD:
            return None
        fault = draw.choice(
            [*self._faults.ANYWHERE, *(self._faults.IN_PICTURES if is_picture else self._faults.IN_REPLIES)]
        )
        if fault.passes:
            return fault if self._n_asked[name] == 1 else None
        self.bad[name] = fault.name
        return fault

    def _good(self, name: str, body: Any, is_picture: bool) -> Any:
        from dataclasses import replace

        from backends.endpoints import png_text, said

        if is_picture:
            answer = said({"created": 1, "data": [{"b64_json": png_text(body["prompt"], name)}]})
        else:
            answer = self._faults.reply(json.dumps({"answer": "yes"}))

        def sent() -> None:
            with self._lock:
                self.served[name] += 1

        return replace(answer, when_sent=sent)


def serve() -> None:
    """The endpoint as a process: prints its address, ends with its input."""
    from backends.endpoints import serving

    with serving(Endpoint(), is_kept=False) as server:
        print(server.url, flush=True)
        sys.stdin.read()


@dataclass(slots=True)
class Tally:
    """What came of it."""

    codes: Counter[str] = field(default_factory=Counter)
    n_in_flight: int = 0
    """Answers that a kill -9 found on their way to the disk, all kills together."""
    most_in_flight: int = 0
    n_again: int = 0
    """Answers that were asked for again in any other way."""
    n_lost: int = 0
    """Answers that are not in the store when all is over."""
    peak_mb: float = 0.0
    problems: list[str] = field(default_factory=list)


class Soak:
    """One soak in a folder."""

    def __init__(self, folder: Path, url: str, n_pictures: int) -> None:
        self.run, self.url, self.n_pictures = folder / "run", url, n_pictures
        self.tally = Tally()
        self._names: dict[str, str] = {}

    def command(self) -> list[str]:
        """What a user would type."""
        here = str(Path(__file__))
        return [
            *(sys.executable, "-c", "from salva.cli.main import main; main()", "run", "soak", "--size", "full"),
            *("--plugin", f"{here}:SoakSuite", "--plugin", f"{here}:SoakAnswers", "--relation", "soak-answers"),
            *("--model", "openai/painter", "--judge", "openai/judge", "--reader", "none", "--no-progress"),
            *("--set", f"model.base_url={self.url}/v1", "--set", f"judge.base_url={self.url}/v1"),
            *("--set", "model.send_seed=true", "--set", "model.timeout_s=15", "--set", "judge.timeout_s=15"),
            *("--set", "judge.attempts=2", "--set", "run.canary=off", "--set", f"suite.n={self.n_pictures // 2}"),
            *("--out", str(self.run)),
        ]

    def once(self, blow: signal.Signals | None = None, at: int = 0) -> int:
        """The command, and perhaps a blow when the server has served so much, and something to it; its exit code."""
        environment = {**os.environ, "OPENAI_API_KEY": "sk-soak", "PYTHONUNBUFFERED": "1"}
        with tempfile.TemporaryFile("w+") as told:
            process = subprocess.Popen(
                self.command(), env=environment, stdout=subprocess.DEVNULL, stderr=told, preexec_fn=_heed_ctrl_c
            )
            is_hit, at = False, max(at, self.count() + 1)
            while process.poll() is None:
                self._watch(process.pid)
                if blow is not None and not is_hit and self.count() >= at:
                    process.send_signal(blow)
                    is_hit = True
                time.sleep(0.1)
            told.seek(0)
            words = told.read()
        name, wanted = _ENDS[blow if is_hit else None]
        self.tally.codes[f"{name}: {process.returncode}"] += 1
        # A blow may fall when all is done.
        if process.returncode not in (wanted, EXIT_INCOMPLETE):
            self.tally.problems.append(f"{name} gave exit code {process.returncode}: {words[-600:]}")
        if "Traceback" in words:
            self.tally.problems.append(f"a traceback: {words[-1500:]}")
        return process.returncode

    def count(self) -> int:
        """How much the server has served."""
        with urllib.request.urlopen(f"{self.url}/count") as answer:
            return int(answer.read())

    def await_quiet(self) -> None:
        """Wait until the server has no more to say: what a killed command had asked for is answered, to nobody."""
        before = -1
        while (now := self.count()) != before:
            before = now
            time.sleep(QUIET_S)

    def known(self) -> Any:
        """All that the server knows."""
        with urllib.request.urlopen(f"{self.url}/known") as answer:
            return json.load(answer)

    def stored(self, status: str) -> set[str]:
        """What the run has stored, in the server's names."""
        if not (self.run / "salva.db").exists():
            return set()
        with contextlib.closing(sqlite3.connect(self.run / "salva.db")) as store:
            renders = store.execute("SELECT text, seed, image_id FROM renders WHERE status = ?", (status,)).fetchall()
            looks = store.execute("SELECT image_id, query FROM looks WHERE status = ?", (status,)).fetchall()
        names = {f"picture {text}/{seed}" for text, seed, _ in renders}
        return names | {f"answer {self._digest(image_id)}/{json.loads(query)['text']}" for image_id, query in looks}

    def _digest(self, image_id: str) -> str:
        """The name of a picture at the server: the digest of the file it is sent."""
        if image_id not in self._names:
            from salva.imaging.files import decode_picture, encode_picture
            from salva.store.blobs import Blobs

            picture = decode_picture(Blobs(self.run).read(image_id), formats=("WEBP",))
            self._names[image_id] = hashlib.sha256(encode_picture(picture, "PNG")).hexdigest()[:24]
        return self._names[image_id]

    def surplus(self) -> int:
        """How many more answers were given than are stored: each was lost, or asked for twice."""
        served = Counter[str](self.known()["served"])
        return served.total() - len(self.stored("done") & served.keys())

    def _watch(self, pid: int) -> None:
        with contextlib.suppress(OSError):
            said = re.search(r"VmHWM:\s*(\d+) kB", Path(f"/proc/{pid}/status").read_text())
            if said:
                self.tally.peak_mb = max(self.tally.peak_mb, int(said[1]) / 1024)


def soak(folder: Path, url: str, scale: int, seed: int) -> Soak:
    """Blow after blow, then to the end, and what must hold."""
    made = Soak(folder, url, 2 * (N_PICTURES // (2 * scale)))
    tally, draw = made.tally, random.Random(seed)
    n_all = made.n_pictures * (1 + N_QUESTIONS)
    n_blows = max(3, N_BLOWS // scale)
    blows = [signal.SIGKILL, signal.SIGINT] * n_blows
    draw.shuffle(blows)
    moments = sorted(draw.randrange(n_all // 50, int(0.85 * n_all)) for _ in blows)
    before = 0
    for blow, at in [*zip(blows, moments, strict=True), *[(None, 0)] * 3]:
        made.once(blow, at)
        made.await_quiet()
        n_more, before = made.surplus() - before, made.surplus()
        if blow is signal.SIGKILL:
            tally.n_in_flight += n_more
            tally.most_in_flight = max(tally.most_in_flight, n_more)
        elif n_more:
            tally.n_again += n_more
            tally.problems.append(f"{n_more} answers were lost or asked for twice ({_ENDS[blow][0]})")
    check(made)
    return made


def check(made: Soak) -> None:
    """What must hold when all is over."""
    tally, known = made.tally, made.known()
    served, bad = Counter[str](known["served"]), known["bad"]
    failed = made.stored("failed") | made.stored("refused")
    problems = tally.problems
    done = made.stored("done")
    if lost := set(served) - done:
        tally.n_lost = len(lost)
        problems.append(f"{len(lost)} answers are not stored in the end, such as {sorted(lost)[0]!r}")
    if tally.most_in_flight > MOST_IN_FLIGHT:
        problems.append(f"one kill -9 cost {tally.most_in_flight} answers")
    if wrongly := failed - set(bad):
        problems.append(f"{len(wrongly)} failed that the server would serve, such as {sorted(wrongly)[0]!r}")
    n_pictures = sum(name.startswith("picture") for name in done | failed)
    if n_pictures != made.n_pictures:
        problems.append(f"{n_pictures} of {made.n_pictures} pictures were asked for")
    n_wanted = N_QUESTIONS * sum(name.startswith("picture") for name in done)
    n_answers = sum(name.startswith("answer") for name in done | failed)
    if n_answers != n_wanted:
        problems.append(f"{n_answers} of {n_wanted} answers were asked for")
    if made.n_pictures == N_PICTURES and len(known["kinds"]) != N_KINDS:
        problems.append(f"{len(known['kinds'])} of {N_KINDS} kinds of bad behaviour were met")
    if tally.peak_mb > MOST_MEMORY_MB:
        problems.append(f"{tally.peak_mb:.0f} MB of memory")
    verify = [sys.executable, "-c", "from salva.cli.main import main; main()", "verify", str(made.run)]
    verified = subprocess.run(verify, capture_output=True, text=True, check=False)
    if verified.returncode != 0:
        problems.append(f"salva verify: {(verified.stdout + verified.stderr)[-600:]}")


def report(made: Soak, took_s: float) -> None:
    """One table."""
    tally, known = made.tally, made.known()
    served = Counter[str](known["served"])
    n_answers = sum(name.startswith("answer") for name in served)
    n_failed = len(made.stored("failed") | made.stored("refused"))
    rows = (
        ("pictures, answers served", f"{len(served) - n_answers:,}, {n_answers:,}"),
        ("requests", f"{known['n_requests']:,}"),
        ("bad behaviour met", f"{sum(known['kinds'].values()):,} of {len(known['kinds'])} kinds"),
        ("how commands ended", ", ".join(f"{n} x {code}" for code, n in sorted(tally.codes.items()))),
        ("answers in flight at a kill -9", f"{tally.n_in_flight} in all, {tally.most_in_flight} at most"),
        ("asked twice otherwise", f"{tally.n_again}"),
        ("answered and not stored in the end", f"{tally.n_lost}"),
        ("never answered well / FAILED", f"{len(known['bad']):,} / {n_failed:,}"),
        ("most memory", f"{tally.peak_mb:.0f} MB of {MOST_MEMORY_MB}"),
        ("time", f"{took_s / 60:.1f} min of {MOST_MINUTES}"),
        ("promises", f"{len(tally.problems)} broken" if tally.problems else "kept"),
    )
    for name, value in rows:
        print(f"{name:<36} {value}")
    for problem in tally.problems:
        print(f"PROBLEM: {problem}")


def main() -> int:
    """Soak, print one table, exit 1 where something does not hold."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("--scale", type=int, default=1, help="A part of the full size, such as 20 for a twentieth.")
    parser.add_argument("--seed", type=int, default=1, help="Draws when blows fall.")
    parser.add_argument("--serve", action="store_true", help=argparse.SUPPRESS)
    asked = parser.parse_args()
    sys.path.insert(0, str(ROOT / "tests"))
    if asked.serve:
        serve()
        return 0
    began = time.monotonic()
    command = [sys.executable, __file__, "--serve"]
    with (
        tempfile.TemporaryDirectory() as folder,
        subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as server,
    ):
        assert server.stdin is not None
        assert server.stdout is not None
        made = soak(Path(folder), server.stdout.readline().strip(), asked.scale, asked.seed)
        took_s = time.monotonic() - began
        if took_s > 60 * MOST_MINUTES:
            made.tally.problems.append(f"it took {took_s / 60:.0f} minutes, and {MOST_MINUTES} are allowed")
        report(made, took_s)
        server.stdin.close()
    return 1 if made.tally.problems else 0


def _heed_ctrl_c() -> None:
    # A shell that starts us in the background has Ctrl-C ignored, and children inherit that.
    signal.signal(signal.SIGINT, signal.SIG_DFL)


if __name__ == "__main__":
    sys.exit(main())
