"""A long run against an endpoint that misbehaves, killed and interrupted at random; counts what is lost.

    make soak                       20,000 pictures and 40,000 answers, at most 25 minutes on two cores
    python tools/soak.py --scale 20 a twentieth of that

A server on loopback (a process of its own) paints and judges; every tenth request meets bad behaviour
(tests/backends/faults.py, tools/soak_endpoint.py), and a third of the pictures come as URLs. `salva run` is killed,
told to end by SIGINT, SIGTERM and SIGHUP, once or twice within a second, and started anew with the same command until
it is done. Whatever the server answered well must be in the store, once.
"""

from __future__ import annotations

import argparse
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
import time
import urllib.parse
import urllib.request
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

from soak_suite import N_PICTURES, QUESTIONS

ROOT = Path(__file__).parents[1]
N_BLOWS = 6
"""How often each of them falls."""
QUIET_S = 2.0
MOST_MEMORY_MB = 1500
MOST_MINUTES = 25
MOST_IN_FLIGHT = 512
"""Answers that a kill -9 may find on their way to the disk: what can be under way, twice."""
TWICE_S = 0.3
_SUITE = Path(__file__).with_name("soak_suite.py")
PLUGINS = ("--plugin", f"{_SUITE}:SoakSuite", "--plugin", f"{_SUITE}:SoakAnswers")
EXIT_INCOMPLETE = 3
EXIT_UNUSABLE = 2


class Blow(NamedTuple):
    """What ends a command, and the exit code that it should have."""

    name: str
    code: int
    signals: tuple[signal.Signals, ...] = ()

    @property
    def gives_up(self) -> bool:
        """Whether what is under way may be left to the server."""
        return signal.SIGKILL in self.signals or len(self.signals) > 1


BLOWS = (
    Blow("SIGKILL", -9, (signal.SIGKILL,)),
    *(Blow(one.name, 130, (one,)) for one in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)),
    *(Blow(f"{one.name} twice", 130, (one, one)) for one in (signal.SIGINT, signal.SIGTERM)),
)
TO_THE_END = Blow("to the end", EXIT_INCOMPLETE)
"""With exit code 3, since some requests always fail."""


@dataclass(slots=True)
class Tally:
    """What came of it."""

    codes: Counter[str] = field(default_factory=Counter)
    n_in_flight: int = 0
    """Answers that a kill, or a second signal, found on their way to the disk, all together."""
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
        return [
            *(sys.executable, "-c", "from salva.cli.main import main; main()", "run", "soak", "--size", "full"),
            *(*PLUGINS, "--check", "soak-answers"),
            *("--model", "openai/painter", "--judge", "openai/judge", "--reader", "none", "--no-progress"),
            *("--set", f"model.base_url={self.url}/v1", "--set", f"judge.base_url={self.url}/v1"),
            *("--set", "model.send_seed=true", "--set", "model.timeout_s=15", "--set", "judge.timeout_s=15"),
            *("--set", "model.key_env=SOAK_KEY", "--set", "judge.key_env=SOAK_KEY"),
            *(
                "--set",
                "judge.attempts=2",
                "--set",
                "run.preflight=off",
                "--set",
                "run.contrast=off",
                "--set",
                f"suite.n={self.n_pictures // 2}",
            ),
            *("--out", str(self.run)),
        ]

    def once(self, blow: Blow, at: int = 0, *, retries_unknown: bool = False) -> None:
        """The command, and perhaps a blow when the server has served so much, and something to it."""
        environment = {**os.environ, "SOAK_KEY": "sk-soak", "PYTHONUNBUFFERED": "1"}
        command = [*self.command(), *(("--retry", "unknown") if retries_unknown else ())]
        with tempfile.TemporaryFile("w+") as told:
            process = subprocess.Popen(
                command, env=environment, stdout=subprocess.DEVNULL, stderr=told, preexec_fn=_heed_signals
            )
            is_hit, at = False, max(at, self.count() + 1)
            while process.poll() is None:
                self._watch(process.pid)
                if blow.signals and not is_hit and self.count() >= at:
                    is_hit = True
                    self._strike(process, blow)
                time.sleep(0.1)
            told.seek(0)
            words = told.read()
        ended = blow if is_hit else TO_THE_END
        self.tally.codes[f"{ended.name}: {process.returncode}"] += 1
        # A blow may fall when all is done; and where only what is never served well is left, that many in a row fail.
        is_down = ended is TO_THE_END and process.returncode == EXIT_UNUSABLE and "[endpoint-down]" in words
        if process.returncode not in (ended.code, EXIT_INCOMPLETE) and not is_down:
            self.tally.problems.append(f"{ended.name} gave exit code {process.returncode}: {words[-600:]}")
        if "Traceback" in words:
            self.tally.problems.append(f"a traceback: {words[-1500:]}")

    def _strike(self, process: subprocess.Popen[bytes], blow: Blow) -> None:
        if signal.SIGKILL in blow.signals:
            # The supervisor alone: who works for it notices.
            process.kill()
            return
        for number, one in enumerate(blow.signals):
            time.sleep(TWICE_S * bool(number))
            process.send_signal(one)

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
            looks = store.execute("SELECT image_id, query FROM observations WHERE status = ?", (status,)).fetchall()
            places = store.execute("SELECT place FROM tickets WHERE ? = 'done'", (status,)).fetchall()
        tickets = {urllib.parse.unquote(place.rpartition("/picture/")[2]) for (place,) in places}
        names = tickets | {f"picture {text}/{seed}" for text, seed, _ in renders}
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
            for each in (pid, *map(int, Path(f"/proc/{pid}/task/{pid}/children").read_text().split())):
                if said := re.search(r"VmHWM:\s*(\d+) kB", Path(f"/proc/{each}/status").read_text()):
                    self.tally.peak_mb = max(self.tally.peak_mb, int(said[1]) / 1024)


def soak(folder: Path, url: str, scale: int, seed: int) -> Soak:
    """Blow after blow, then to the end, and what must hold."""
    made = Soak(folder, url, 2 * (N_PICTURES // (2 * scale)))
    tally, draw = made.tally, random.Random(seed)
    n_all = made.n_pictures * (1 + len(QUESTIONS))
    blows = [*BLOWS] * max(1, N_BLOWS // scale)
    draw.shuffle(blows)
    moments = sorted(draw.randrange(n_all // 50, int(0.85 * n_all)) for _ in blows)
    before = 0
    for blow, at in [*zip(blows, moments, strict=True), *[(TO_THE_END, 0)] * 4]:
        made.once(blow, at, retries_unknown=blow is TO_THE_END)
        made.await_quiet()
        n_more, before = made.surplus() - before, made.surplus()
        if blow.gives_up:
            tally.n_in_flight += n_more
            tally.most_in_flight = max(tally.most_in_flight, n_more)
        elif n_more > 0:
            tally.n_again += n_more
            tally.problems.append(f"{n_more} answers were lost or asked for twice ({blow.name})")
    check(made)
    return made


def check(made: Soak) -> None:
    """What must hold when all is over."""
    tally, known = made.tally, made.known()
    served, bad = Counter[str](known["served"]), known["bad"]
    failed = made.stored("failed") | made.stored("refused") | made.stored("unknown")
    problems = tally.problems
    done = made.stored("done")
    if lost := set(served) - done:
        tally.n_lost = len(lost)
        problems.append(f"{len(lost)} answers are not stored in the end, such as {sorted(lost)[0]!r}")
    if tally.most_in_flight > MOST_IN_FLIGHT:
        problems.append(f"one blow cost {tally.most_in_flight} answers")
    if wrongly := failed - set(bad):
        problems.append(f"{len(wrongly)} failed that the server would serve, such as {sorted(wrongly)[0]!r}")
    n_pictures = sum(name.startswith("picture") for name in done | failed)
    if n_pictures != made.n_pictures:
        problems.append(f"{n_pictures} of {made.n_pictures} pictures were asked for")
    n_wanted = len(QUESTIONS) * sum(name.startswith("picture") for name in done)
    n_answers = sum(name.startswith("answer") for name in done | failed)
    if n_answers != n_wanted:
        problems.append(f"{n_answers} of {n_wanted} answers were asked for")
    if made.n_pictures == N_PICTURES and len(known["kinds"]) != known["n_kinds"]:
        problems.append(f"{len(known['kinds'])} of {known['n_kinds']} kinds of bad behaviour were met")
    if tally.peak_mb > MOST_MEMORY_MB:
        problems.append(f"{tally.peak_mb:.0f} MB of memory")
    verify = [sys.executable, "-c", "from salva.cli.main import main; main()", "verify", str(made.run), *PLUGINS]
    verified = subprocess.run(verify, capture_output=True, text=True, check=False)
    if verified.returncode != 0:
        problems.append(f"salva verify: {(verified.stdout + verified.stderr)[-600:]}")


def report(made: Soak, took_s: float) -> None:
    """One table."""
    tally, known = made.tally, made.known()
    served = Counter[str](known["served"])
    n_answers = sum(name.startswith("answer") for name in served)
    n_failed = len(made.stored("failed") | made.stored("refused") | made.stored("unknown"))
    rows = (
        ("pictures, answers served", f"{len(served) - n_answers:,}, {n_answers:,}"),
        ("requests", f"{known['n_requests']:,}"),
        ("bad behaviour met", f"{sum(known['kinds'].values()):,} of {len(known['kinds'])} kinds"),
        ("how commands ended", ", ".join(f"{n} x {code}" for code, n in sorted(tally.codes.items()))),
        (
            "answers in flight at a kill or a second signal",
            f"{tally.n_in_flight} in all, {tally.most_in_flight} at most",
        ),
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
        from soak_endpoint import serve  # its requests and faults are those of the tests

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


def _heed_signals() -> None:
    # A shell that starts us in the background has Ctrl-C ignored, nohup SIGHUP, and children inherit that.
    for one in (signal.SIGINT, signal.SIGHUP):
        signal.signal(one, signal.SIG_DFL)


if __name__ == "__main__":
    sys.exit(main())
