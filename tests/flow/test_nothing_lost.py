"""Whatever ends a run, what an endpoint answered is stored, and one bad answer ends nothing."""

from __future__ import annotations

import signal
import subprocess
import sys
import threading
import time
from collections import Counter
from pathlib import Path

import pytest
from backends.endpoints import Answered, Asked, png_text, said, serving

from salva.core.plan import Plan
from salva.core.verdict import Outcome
from salva.engine.budget import Limits
from salva.engine.progress import SilentProgress
from salva.errors import UnusableError
from salva.generators.openai_images import OpenAiImages
from salva.runs.cases import planned_cases
from salva.runs.pipeline import execute
from salva.runs.summary import RunSummary
from salva.store.records import Status
from salva.store.sqlite import open_run
from salva.testing.specs import bound, fake_spec

SCRIPT = Path(__file__).with_name("endpoint_run.py")


@pytest.fixture(autouse=True)
def key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-planted-4711")
    monkeypatch.delenv("OPENAI_BASE_URL", raising=False)


class Painter:
    """An endpoint that counts what it answered, and misbehaves when it is told to."""

    def __init__(self, delay_s: float = 0.05) -> None:
        self.delay_s = delay_s
        self.answered: Counter[str] = Counter()
        self.asked: list[str] = []
        self.bad: set[str] = set()
        """Requests that are answered with 500 whatever happens."""
        self.closed_after: int | None = None
        """From so many pictures on, the key is refused."""
        self._lock = threading.Lock()

    def __call__(self, request: Asked) -> Answered:
        name = f"{request.body['prompt']}/{request.body['seed']}"
        with self._lock:
            self.asked.append(name)
            is_closed = self.closed_after is not None and self.answered.total() >= self.closed_after
        if is_closed:
            return said({"error": {"message": "Incorrect API key", "code": "invalid_api_key"}}, 401)
        if name in self.bad:
            time.sleep(2 * self.delay_s)
            return said({"error": {"message": "no picture today"}}, 500)
        time.sleep(self.delay_s)
        with self._lock:
            self.answered[name] += 1
        return said({"created": 1, "data": [{"b64_json": png_text(request.body["prompt"], name)}]})


def spec_of(url: str, n: int, **options: object) -> Plan:
    """A run at an endpoint that bills nothing, so that what fails is asked again without a word of the user's."""
    options = {"price_usd": 0.0, **options}
    model = bound("model", OpenAiImages, "openai/m", model="m", base_url=f"{url}/v1", send_seed=True, **options)
    return fake_spec(n, models=(model,))


def painted(directory: Path) -> list[str]:
    with open_run(directory) as store:
        return [f"{render.text}/{render.seed}" for _, render in store.renders() if render.status is Status.DONE]


def outcomes(directory: Path) -> Counter[Outcome]:
    with open_run(directory) as store:
        return Counter(verdict.outcome for verdict in store.verdicts())


def start(directory: Path, url: str, n: int) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, str(SCRIPT), str(directory), url, str(n)],
        stderr=subprocess.PIPE,
        text=True,
        # A shell that starts us in the background has Ctrl-C ignored, and children inherit that.
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
    )


def wait_for(painter: Painter, n: int) -> None:
    until = time.monotonic() + 60
    while painter.answered.total() < n:
        assert time.monotonic() < until, "the run does not begin"
        time.sleep(0.01)


def test_ctrl_c_stores_every_answer_that_was_under_way(tmp_path: Path) -> None:
    painter = Painter(delay_s=0.3)
    with serving(painter) as server:
        process = start(tmp_path / "run", server.url, 120)
        wait_for(painter, 60)
        process.send_signal(signal.SIGINT)
        _, told = process.communicate(timeout=60)
        assert process.returncode == 130
        assert "[stopping]" in told
        assert sorted(painted(tmp_path / "run")) == sorted(painter.answered.elements())
        n_asked = len(painter.asked)
        time.sleep(0.2)
        assert len(painter.asked) == n_asked, "nothing is asked after Ctrl-C"
        process = start(tmp_path / "run", server.url, 120)
        assert process.wait(120) == 0
        assert process.stderr is not None
        process.stderr.close()
    assert set(painter.answered.values()) == {1}, "nothing is paid for twice"


def test_a_second_ctrl_c_leaves_at_once(tmp_path: Path) -> None:
    painter = Painter(delay_s=0.05)
    with serving(painter) as server:
        process = start(tmp_path / "run", server.url, 120)
        wait_for(painter, 40)
        painter.delay_s = 600.0
        time.sleep(0.5)
        process.send_signal(signal.SIGINT)
        time.sleep(0.5)
        assert process.poll() is None, "it waits for what is paid for"
        process.send_signal(signal.SIGINT)
        process.communicate(timeout=60)
        assert process.returncode == 130
    assert len(painted(tmp_path / "run")) >= 40


def test_a_wrong_key_in_mid_run_stores_every_answer_before_it_stops(tmp_path: Path) -> None:
    painter = Painter(delay_s=0.1)
    painter.closed_after = 60
    with serving(painter) as server, pytest.raises(UnusableError, match=r"\[key-refused\]"):
        execute(spec_of(server.url, 120), tmp_path / "run", SilentProgress())
    assert painter.answered.total() >= 60
    assert sorted(painted(tmp_path / "run")) == sorted(painter.answered.elements())


def names_of(n: int) -> list[str]:
    """What a run of n cases asks for, in its order."""
    cases = planned_cases(spec_of("http://127.0.0.1:9", n))
    return [f"{prompt.text}/{case.seed(0, 0)}" for case in cases for prompt in case.prompts]


def test_requests_that_always_fail_end_as_failed_verdicts_and_stop_nothing(tmp_path: Path) -> None:
    names = names_of(100)
    painter = Painter(delay_s=0.005)
    # The last ones asked for fail together, when nothing else is left to succeed.
    painter.bad = {*names[10:190:28], *names[-14::2]}
    with serving(painter) as server:
        summary = execute(spec_of(server.url, 100), tmp_path / "run", SilentProgress())
        assert summary.outcomes["ERROR"] == outcomes(tmp_path / "run")[Outcome.ERROR]
        assert not summary.is_complete
        assert len(painted(tmp_path / "run")) == 200 - len(painter.bad)
        for _ in range(2):
            again = execute(spec_of(server.url, 100), tmp_path / "run", SilentProgress())
            assert again.outcomes == summary.outcomes
            assert again.n_rendered == 0
        painter.bad.clear()
        healed = execute(spec_of(server.url, 100), tmp_path / "run", SilentProgress())
    assert healed.is_complete
    assert set(painter.answered.values()) == {1}


def test_failed_work_is_asked_last_when_the_command_is_repeated(tmp_path: Path) -> None:
    names = names_of(100)
    painter = Painter(delay_s=0.005)
    painter.bad = set(names[9:49:2])
    with serving(painter) as server:
        execute(spec_of(server.url, 100), tmp_path / "run", SilentProgress(), limits=Limits(max_images=120))
        done = painted(tmp_path / "run")
        with open_run(tmp_path / "run") as store:
            failed = {f"{r.text}/{r.seed}" for _, r in store.renders() if r.status is Status.ERROR}
        assert failed, "the test wants work that failed before the end"
        painter.asked.clear()
        summary = execute(spec_of(server.url, 100, max_at_once=2), tmp_path / "run", SilentProgress())
    assert len(painted(tmp_path / "run")) == 180
    seeds_of_failed = {name.rpartition("/")[2] for name in failed}
    assert summary.outcomes["ERROR"] == len({name.rpartition("/")[2] for name in painter.bad}), "a seed is a case"
    assert len([name for name in painter.asked if name not in painter.bad]) == 180 - len(done)
    places = [(name.rpartition("/")[2] in seeds_of_failed, place) for place, name in enumerate(painter.asked)]
    first_again = min(place for is_again, place in places if is_again)
    last_fresh = max(place for is_again, place in places if not is_again)
    assert first_again > last_fresh - 8, "a few are under way side by side"


@pytest.mark.parametrize("price_usd", [0.0, None])
def test_where_only_failed_work_is_left_all_of_it_is_asked_again_unless_nobody_answers(
    tmp_path: Path, price_usd: float | None
) -> None:
    """price_usd: where it may have been billed, the user says so."""
    names = names_of(60)
    painter = Painter(delay_s=0.0)
    painter.bad = set(names[1:120:2])

    def run(url: str) -> RunSummary:
        return execute(spec_of(url, 60, price_usd=price_usd), tmp_path / "run", SilentProgress(), retry=("unknown",))

    with serving(painter) as server:
        url = server.url
        first = run(url)
        painter.asked.clear()
        again = run(url)
        assert set(painter.asked) == painter.bad
    assert again.outcomes == first.outcomes
    gone = run(url)
    assert gone.outcomes == first.outcomes
    with open_run(tmp_path / "run") as store:
        reasons = {verdict.reason for verdict in store.verdicts() if verdict.outcome is Outcome.ERROR}
    assert any("not asked again" in reason and "no picture today" in reason for reason in reasons)
