"""The guard: whatever a component does, every element gets one outcome or the run stops with one clear error."""

from __future__ import annotations

import itertools
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from functools import partial
from typing import Any, cast

import pytest

from salva.core.case import Prompt
from salva.core.observation import Answer, Detection, Detections
from salva.core.protocols import Rendered, RenderRequest
from salva.core.secrets import redact
from salva.engine import endpoint_health
from salva.engine import guard as guarding
from salva.engine.guard import MOST_BOXES, Guard, build
from salva.engine.limiter import Limiter
from salva.errors import (
    BackendError,
    BusyError,
    DownError,
    PluginError,
    RefusedError,
    SalvaError,
    UnreachableError,
    UnusableError,
    UsageError,
)
from salva.messages import code_of
from salva.testing.fakes import FakeDetector, FakeGenerator, painted
from salva.testing.specs import bound

BINDING = bound("model", FakeGenerator, "fake")
GOOD = Rendered(picture=painted(["cat"]))


def requests(n: int) -> list[RenderRequest]:
    return [RenderRequest(prompt=Prompt(role="a", text=str(i)), seed=i) for i in range(n)]


@pytest.fixture(autouse=True)
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(guarding, "FIRST_DELAY_S", 0.0001)


def guarded(call: Callable[[Any], object], **options: Any) -> Guard:
    return Guard(BINDING, call, **options)


def test_only_what_can_be_retried_is_retried_and_neighbours_are_not_asked_twice() -> None:
    asked: list[list[str]] = []

    def call(batch: Sequence[RenderRequest]) -> list[object]:
        asked.append([r.prompt.text for r in batch])
        answers: dict[str, object] = {"0": GOOD, "1": BackendError("429"), "2": BackendError("no", is_retryable=False)}
        return [GOOD if len(asked) == 3 else answers[r.prompt.text] for r in batch]

    outcomes = guarded(call)(requests(3))
    assert asked == [["0", "1", "2"], ["1"], ["1"]]
    assert [type(outcome) for outcome in outcomes] == [Rendered, Rendered, BackendError]


def _next_of(turns: Iterator[list[object]], _requests: object) -> list[object]:
    return next(turns)


def test_what_failed_attempts_cost_is_part_of_what_comes_of_them() -> None:
    paid = BackendError("the picture is gone")
    paid.usage = {"n_calls": 1.0, "cost_usd": 0.25}
    answer = Answer(text="yes", scores={}, usage={"n_calls": 1.0, "input_tokens": 7.0})
    priced = Rendered(picture=painted(["cat"]), provenance={"cost_usd": 0.5, "snapshot": "s"})
    ends: list[tuple[str, object]] = [
        ("model", priced),
        ("model", GOOD),
        ("model", RefusedError("no")),
        ("judge", answer),
    ]
    outcomes: list[object] = []
    for role, end in ends:
        turns: Iterator[list[object]] = iter([[paid], [paid], [end]])
        guard = Guard(bound(role, FakeGenerator, "fake"), partial(_next_of, turns))
        outcomes.extend(guard(requests(1)))
    first, unpriced, refused, answered = outcomes
    assert isinstance(first, Rendered)
    assert first.provenance == {"cost_usd": 1.0, "snapshot": "s"}
    assert isinstance(unpriced, Rendered)
    assert unpriced.provenance == {"cost_usd": 0.5}
    assert isinstance(refused, RefusedError)
    assert refused.usage == {"n_calls": 2.0, "cost_usd": 0.5}
    assert isinstance(answered, Answer)
    assert answered.usage == {"n_calls": 3.0, "input_tokens": 7.0, "cost_usd": 0.5}
    assert paid.usage == {"n_calls": 1.0, "cost_usd": 0.25}, "an error that is handed out twice is counted once a time"


def test_what_was_paid_before_the_end_is_part_of_it_and_the_end_itself_is_paid_for_once() -> None:
    paid, end = BackendError("an empty picture"), UnusableError("401")
    paid.usage, end.usage = {"cost_usd": 0.25}, {"cost_usd": 1.0}
    turns: Iterator[list[object]] = iter([[paid], [end], [GOOD]])
    guard = guarded(partial(_next_of, turns), limiter=Limiter(4))
    costs = []
    for _ in range(2):
        with pytest.raises(UnusableError, match="401") as raised:
            guard(requests(1))
        costs.append(raised.value.usage)
    assert costs == [{"cost_usd": 1.25}, {}]


def test_retries_are_bounded() -> None:
    calls = itertools.count()
    outcomes = guarded(lambda _: [BackendError(f"500, call {next(calls)}")])(requests(1))
    assert next(calls) == 1 + guarding.N_RETRIES
    assert isinstance(outcomes[0], BackendError)


def test_the_time_the_server_asks_for_is_waited() -> None:
    times: list[float] = []

    def call(batch: Sequence[RenderRequest]) -> list[object]:
        times.append(time.monotonic())
        return [GOOD if len(times) > 1 else BackendError("429", retry_after_s=0.2)]

    assert guarded(call)(requests(1)) == [GOOD]
    assert times[1] - times[0] >= 0.2


def test_a_wait_longer_than_the_bound_is_not_begun() -> None:
    calls = itertools.count()
    outcomes = guarded(lambda _: [BackendError(f"429, call {next(calls)}", retry_after_s=3600)])(requests(1))
    assert (next(calls), str(outcomes[0])) == (1, "429, call 0")


def test_a_refusal_is_never_asked_again() -> None:
    calls = itertools.count()
    outcomes = guarded(lambda _: [RefusedError(f"no {next(calls)}")])(requests(1))
    assert (next(calls), str(outcomes[0])) == (1, "no 0")


def test_an_unexpected_exception_costs_only_the_element_that_raises_it() -> None:
    def call(batch: Sequence[RenderRequest]) -> list[object]:
        if any(r.prompt.text == "1" for r in batch):
            raise ZeroDivisionError("division by zero")
        return [GOOD for _ in batch]

    outcomes = guarded(call)(requests(3))
    assert [type(outcome) for outcome in outcomes] == [Rendered, BackendError, Rendered]
    assert str(outcomes[1]).startswith("the model 'fake' failed: ZeroDivisionError: division by zero (in test_guard.py")


@pytest.mark.parametrize(
    "stop", [UnusableError("401: wrong key"), UsageError("no sprite for 'yak'"), PluginError("bug")]
)
@pytest.mark.parametrize("is_raised", [True, False])
def test_what_no_element_can_survive_stops_the_run(stop: SalvaError, is_raised: bool) -> None:
    def call(batch: Sequence[RenderRequest]) -> list[object]:
        if is_raised:
            raise stop
        return [GOOD, stop]

    with pytest.raises(type(stop), match=str(stop)):
        guarded(call)(requests(2))


@pytest.mark.parametrize(
    ("answer", "told"),
    [
        ([GOOD], "1 outcomes.* 2 outcomes"),
        (None, "a NoneType"),
        ([GOOD, "a picture"], "a str;.* Rendered"),
        ([GOOD, Rendered(picture=cast(Any, None))], "a NoneType .* a Picture"),
    ],
)
def test_a_component_that_breaks_the_contract_is_named(answer: object, told: str) -> None:
    with pytest.raises(PluginError, match=rf"{told}.*\[output-invalid\]"):
        guarded(lambda _: answer)(requests(2))


def test_a_call_that_hangs_fails_its_elements_and_later_calls_go_on() -> None:
    release = threading.Event()

    def call(batch: Sequence[RenderRequest]) -> list[object]:
        if batch[0].prompt.text == "0" and batch[0].seed == 0:
            release.wait(20)
        return [GOOD for _ in batch]

    guard = guarded(call, timeout_s=0.1)
    try:
        outcomes = guard(requests(2))
        assert [code_of(outcome) for outcome in outcomes] == ["no-answer"] * 2
        assert guard(requests(3)[1:]) == [GOOD, GOOD]
    finally:
        release.set()


def test_a_component_that_never_answers_is_given_up() -> None:
    release = threading.Event()
    guard = guarded(lambda _: release.wait(20), timeout_s=0.02)
    try:
        for _ in range(endpoint_health.N_HANGS - 1):
            assert isinstance(guard(requests(1))[0], BackendError)
        with pytest.raises(UnusableError, match=r" 8 times.*\[endpoint-down\]"):
            guard(requests(1))
    finally:
        release.set()


def test_a_busy_endpoint_is_asked_more_often_than_a_broken_one_but_not_for_ever() -> None:
    calls = itertools.count()
    guard = guarded(lambda _: [BusyError(f"429, call {next(calls)}")], limiter=Limiter(8))
    (outcome,) = guard(requests(1))
    assert isinstance(outcome, BusyError)
    assert next(calls) == 1 + guarding.N_BUSY_RETRIES


def test_an_endpoint_that_is_down_stops_the_run_and_says_what_it_said() -> None:
    answers: list[object] = [GOOD]
    guard = guarded(lambda _: [answers.pop() if answers else BackendError("connection refused")], limiter=Limiter(8))
    for _ in range(endpoint_health.N_HANGS):
        guard(requests(1))
    with pytest.raises(UnusableError, match=r" 8 times.*connection refused.*\[endpoint-down\]"):
        guard(requests(1))


def test_an_endpoint_that_was_never_there_stops_even_a_run_of_two_pictures() -> None:
    guard = guarded(lambda _: [BackendError("no such host")], limiter=Limiter(8))
    assert isinstance(guard(requests(1))[0], BackendError)
    with pytest.raises(UnusableError, match=r" 2 times.*no such host.*\[endpoint-down\]"):
        guard(requests(1))


def test_requests_that_fail_together_after_all_others_say_nothing_about_the_endpoint() -> None:
    """The few that always fail are retried longest, so nothing else is left to succeed when they end."""
    others_are_done = threading.Event()

    def call(batch: Sequence[RenderRequest]) -> list[object]:
        if int(batch[0].prompt.text) < 12:
            others_are_done.wait(10)
            return [BackendError("500")]
        return [GOOD]

    guard = guarded(call, limiter=Limiter(64))
    for request in requests(16)[12:]:
        guard([request])
    with ThreadPoolExecutor(12) as threads:
        ending = [threads.submit(guard, [request]) for request in requests(12)]
        time.sleep(0.2)
        assert guard(requests(20)[15:16]) == [GOOD]
        others_are_done.set()
        assert all(isinstance(future.result(10)[0], BackendError) for future in ending)
    for _ in range(endpoint_health.N_HANGS - 1):
        guard(requests(1))
    with pytest.raises(DownError, match=r" 8 times.*\[endpoint-down\]"):
        guard(requests(1))


def again(n: int) -> list[RenderRequest]:
    return [replace(request, failed_before=True) for request in requests(n)]


def test_what_failed_in_an_earlier_command_and_is_answered_with_errors_again_says_nothing_about_the_endpoint() -> None:
    """At the end of a long run nothing is left but what always fails."""
    asked = Counter[str]()

    def call(batch: Sequence[RenderRequest]) -> list[object]:
        asked.update(request.prompt.text for request in batch)
        return [GOOD if request.prompt.text == "0" else BackendError("500", is_retryable=False) for request in batch]

    guard = guarded(call, limiter=Limiter(8))
    for request in again(3 * endpoint_health.N_FAILURES)[1:]:
        assert isinstance(guard([request])[0], BackendError)
    assert set(asked.values()) == {1}
    for request in requests(endpoint_health.N_FAILURES)[1:]:
        guard([request])
        guard(again(9)[8:])
    assert guard(requests(1)) == [GOOD]
    for request in requests(endpoint_health.N_FAILURES)[1:]:
        guard([request])
    with pytest.raises(DownError, match=r" 32 times.*\[endpoint-down\]"):
        guard(requests(2)[1:])


def test_what_failed_before_is_asked_no_more_where_nobody_answers_and_the_rest_is() -> None:
    def call(batch: Sequence[RenderRequest]) -> list[object]:
        return [UnreachableError("refused", is_retryable=False) if r.failed_before else GOOD for r in batch]

    guard = guarded(call, limiter=Limiter(8))
    for request in again(endpoint_health.N_HANGS):
        assert isinstance(guard([request])[0], UnreachableError)
    with pytest.raises(DownError, match=r" 8 times.*: refused.*\[endpoint-down\]"):
        guard(again(1))
    assert guard(requests(1)) == [GOOD]


def test_quick_errors_are_not_held_against_an_endpoint_that_is_at_work_on_its_first_picture(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(endpoint_health, "WORKING_S", 0.05)
    is_painted = threading.Event()

    def call(batch: Sequence[RenderRequest]) -> list[object]:
        if batch[0].prompt.text == "0":
            is_painted.wait(10)
            return [GOOD]
        return [BackendError("500")]

    guard = guarded(call, limiter=Limiter(8))
    with ThreadPoolExecutor(1) as threads:
        first = threads.submit(guard, requests(1))
        time.sleep(0.2)
        for request in requests(4)[1:]:
            assert isinstance(guard([request])[0], BackendError)
        is_painted.set()
        assert first.result(10) == [GOOD]


def test_bad_answers_stop_the_run_later_and_refusals_or_pictures_in_between_never() -> None:
    answers: list[object] = [BackendError("a web page", is_retryable=False)] * (endpoint_health.N_FAILURES - 1)
    flow = iter([*answers, RefusedError("no"), *answers, GOOD, *answers, BackendError("a web page", False)])
    guard = guarded(lambda _: [next(flow)], limiter=Limiter(8))
    for _ in range(3 * len(answers) + 2):
        guard(requests(1))
    with pytest.raises(UnusableError, match=r" 32 times.*a web page.*\[endpoint-down\]"):
        guard(requests(1))


def test_after_a_wrong_key_nothing_more_is_sent() -> None:
    calls = itertools.count()

    def call(batch: object) -> list[object]:
        next(calls)
        raise UnusableError("401: wrong key")

    limiter = Limiter(8)
    guard = guarded(call, limiter=limiter)
    for _ in range(5):
        with pytest.raises(UnusableError, match="401: wrong key"):
            guard(requests(1))
    assert next(calls) == 1
    assert limiter.limit == 4, "no answer is no reason to send more"


def test_components_that_are_no_endpoints_may_fail_for_every_case() -> None:
    guard = guarded(lambda _: [BackendError("no such file", is_retryable=False)])
    assert all(isinstance(guard(requests(1))[0], BackendError) for _ in range(2 * endpoint_health.N_FAILURES))


def test_an_endpoint_that_wants_to_be_left_alone_for_an_hour_stops_the_run() -> None:
    guard = guarded(lambda _: [BusyError("429: daily limit", retry_after_s=3600)], limiter=Limiter(8))
    with pytest.raises(UnusableError, match=r"3,600 s.*daily limit.*\[endpoint-busy\]"):
        guard(requests(1))


def test_no_error_keeps_the_value_of_a_secret(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SOME_API_KEY", "sk-planted-123")
    monkeypatch.setenv("SHORT_KEY", "a")
    assert redact("Bearer sk-planted-123 was refused") == "Bearer [SOME_API_KEY] was refused"

    def raise_it(error: Exception) -> Callable[[Any], object]:
        def call(batch: object) -> object:
            raise error

        return call

    told = [str(guarded(raise_it(ValueError("url?key=sk-planted-123")))(requests(1))[0])]
    told.append(str(guarded(raise_it(BackendError("sk-planted-123", is_retryable=False)))(requests(1))[0]))
    told.append(str(guarded(lambda _: [RefusedError("sk-planted-123")])(requests(1))[0]))
    for stop in (UnusableError("wrong key sk-planted-123"), UsageError("sk-planted-123")):
        with pytest.raises(type(stop)) as caught:
            guarded(raise_it(stop))(requests(1))
        told.append(str(caught.value))
        assert caught.value.__cause__ is None
    assert all("sk-planted-123" not in text and "[SOME_API_KEY]" in text for text in told)


def test_a_constructor_that_breaks_is_the_plugins_fault() -> None:
    class Broken:
        version = "1"

        def __init__(self, options: object) -> None:
            raise OSError("libcuda.so.1 not found")

    with pytest.raises(PluginError, match=r"'broken'.*OSError: libcuda\.so\.1 not found.*\[component-failed\]"):
        build(bound("model", Broken))


def _looked(box: object, score: object = 0.9) -> object:
    detection = Detection(label="cat", score=score, box=box)  # type: ignore[arg-type]  # what authors get wrong
    seen = Detections(boxes=(Detection(label="dog", score=0.9, box=(0.0, 0.0, 1.0, 1.0)), detection))
    (outcome,) = Guard(bound("detector", FakeDetector, "fake"), lambda _: [seen])(requests(1))
    return outcome


@pytest.mark.parametrize(
    "box",
    [
        (0, 0, 30, 30),
        (0.1, 0.1, 0.5, 1.5),
        (-0.5, 0.1, 0.5, 0.5),
        (0.5, 0.1, 0.1, 0.5),
        (0.1, 0.5, 0.5, 0.1),
        (0.2, 0.2, 0.2, 0.4),
        (0.0, 0.0, 0.0, 0.0),
        (float("nan"), 0.1, 0.5, 0.5),
        (0.1, 0.1, float("inf"), 0.5),
        (0.1, 0.1, 0.5),
        ("0.1", 0.1, 0.5, 0.5),
    ],
)
def test_a_box_that_is_nowhere_in_the_picture_is_not_judged(box: object) -> None:
    outcome = _looked(box)
    assert isinstance(outcome, BackendError)
    assert not outcome.is_retryable
    assert outcome.code == "output-invalid"
    assert f"'cat' with the corners {box!r}" in str(outcome)


@pytest.mark.parametrize("box", [(0.0, 0.0, 1.0, 1.0), (0.1, 0.2, 0.3, 0.4), (-0.01, 0.1, 1.01, 0.5), (0, 0, 1, 1)])
def test_a_box_may_touch_and_barely_leave_the_rim(box: object) -> None:
    assert isinstance(_looked(box), Detections)


def test_a_score_that_is_no_number_is_not_judged() -> None:
    assert "score nan" in str(_looked((0.1, 0.1, 0.5, 0.5), float("nan")))


def test_more_boxes_than_any_check_can_compare_are_not_judged() -> None:
    def seen(n: int) -> object:
        boxes = (Detection(label="cat", score=0.9, box=(0.1, 0.1, 0.5, 0.5)),) * n
        (outcome,) = Guard(bound("detector", FakeDetector, "fake"), lambda _: [Detections(boxes=boxes)])(requests(1))
        return outcome

    assert isinstance(seen(MOST_BOXES), Detections)
    assert code_of(seen(200_000)) == "output-invalid"


@pytest.mark.parametrize("timeout_s", [None, 5.0])
@pytest.mark.parametrize("kind", [GeneratorExit, BaseException, SystemExit])
def test_whatever_a_component_raises_is_the_outcome_of_its_element(
    kind: type[BaseException], timeout_s: float | None
) -> None:
    def call(_requests: object) -> object:
        raise kind

    (outcome,) = guarded(call, timeout_s=timeout_s)(requests(1))
    assert code_of(outcome) == "component-failed"
