"""Limits on images and money: kept while work is under way, and never half a verdict."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar, cast

import pytest

from salva.core.about import About, Habits
from salva.core.observation import Answer, Observation
from salva.core.options import option
from salva.core.plan import Binding
from salva.core.protocols import ObserveRequest, Rendered
from salva.engine import guard as guarding
from salva.engine.actors import Actor
from salva.engine.budget import Budget, Limits, check_prices
from salva.engine.progress import SilentProgress
from salva.errors import BackendError, BusyError, SalvaError, UnusableError, UsageError
from salva.runs.pipeline import execute
from salva.runs.verify import verify
from salva.store.queries import read_records, spent
from salva.store.records import IN_VAIN
from salva.store.sqlite import open_run
from salva.testing.fakes import CALLS, FakeAnswers, FakeGenerator, painted
from salva.testing.specs import bound, fake_spec


class Priced:
    """A judge at an endpoint that says what an answer cost, and which model gave it."""

    @dataclass(frozen=True, slots=True, kw_only=True)
    class Options:
        price_usd: float | None = option(None, "What an answer costs.", keyed=False)
        drifts_after: int = option(1_000_000, "How many answers one snapshot gives.", keyed=False)
        at_once: int | None = option(None, "How many may be asked for at once.", keyed=False)

    version: ClassVar[str] = "1"
    about: ClassVar[About] = About(is_remote=True)

    def __init__(self, options: Options) -> None:
        self.options = options
        self.habits = Habits(max_at_once=options.at_once)

    def observe(self, requests: Sequence[ObserveRequest]) -> Sequence[Observation | SalvaError]:
        n = CALLS.add("priced", len(requests))
        snapshot = "judge-1" if n < self.options.drifts_after else "judge-2"
        usage = {"cost_usd": self.options.price_usd} if self.options.price_usd is not None else {}
        return [Answer(text="0", scores={}, usage=usage, snapshot=snapshot) for _ in requests]


@pytest.fixture(autouse=True)
def counted() -> None:
    CALLS.clear()


def judged(**options: object) -> dict[str, Any]:
    return {
        "judges": (bound("judge", Priced, "priced", **options),),
        "checks": (bound("check", FakeAnswers, "fake-answers"),),
    }


def test_what_is_under_way_is_reserved_until_it_comes_back() -> None:
    actor = Actor.of(bound("judge", Priced, "priced", price_usd=0.1))
    budget = Budget(Limits(max_cost_usd=1.0))
    answer = Answer(text="0", scores={}, usage={"cost_usd": 0.1})
    allowed = [budget.n_allowed(actor)]
    budget.begin(actor, 4)
    allowed.append(budget.n_allowed(actor))
    for _ in range(4):
        budget.end(actor, answer)
        allowed.append(budget.n_allowed(actor))
    assert allowed == [10, 6, 6, 6, 6, 6]


@pytest.mark.parametrize("batch", [1, 4])
def test_painting_stops_at_the_limit_and_goes_on_with_the_same_command(tmp_path: Path, batch: int) -> None:
    spec = fake_spec(10, {"batch": batch})
    first = execute(spec, tmp_path, SilentProgress(), limits=Limits(max_images=7))
    assert (first.n_rendered, CALLS["render"]) == (7, 7)
    assert not first.is_complete
    assert first.limit_reached.startswith("--max-images 7: 7 ")
    assert first.outcomes.get("ERROR", 0) == 0
    assert sum(first.outcomes.values()) + first.n_unpainted == 10
    assert not read_records(tmp_path).is_whole
    second = execute(spec, tmp_path, SilentProgress(), limits=Limits(max_images=7))
    assert (second.n_rendered, second.n_reused) == (7, 7)
    third = execute(spec, tmp_path, SilentProgress(), limits=Limits(max_images=7))
    assert third.outcomes == {"PASS": 10}
    assert third.is_complete
    assert CALLS["render"] == 20
    assert read_records(tmp_path).is_whole
    assert not verify(tmp_path, SilentProgress()).problems


def test_pictures_that_failed_do_not_count(tmp_path: Path) -> None:
    summary = execute(fake_spec(10, {"fails": 0.5}), tmp_path, SilentProgress(), limits=Limits(max_images=5))
    assert summary.n_rendered == 5
    assert summary.n_failed > 0


def test_a_limit_that_is_not_reached_changes_nothing(tmp_path: Path) -> None:
    summary = execute(fake_spec(4), tmp_path, SilentProgress(), limits=Limits(max_images=8))
    assert summary.outcomes == {"PASS": 4}
    assert summary.is_complete
    assert summary.limit_reached == ""


def test_judges_are_paid_within_the_limit_and_go_on_later(tmp_path: Path) -> None:
    spec = fake_spec(10, **judged(price_usd=0.5))
    first = execute(spec, tmp_path, SilentProgress(), limits=Limits(max_cost_usd=3.2))
    assert CALLS["priced"] == 6
    assert first.cost_usd == pytest.approx(3.0)
    assert sum(first.outcomes.values()) + first.n_unpainted == 10
    assert "ERROR" not in first.outcomes
    assert "--max-cost 3.2: 3.0000" in first.limit_reached
    second = execute(spec, tmp_path, SilentProgress())
    assert second.outcomes == {"PASS": 10}
    assert CALLS["priced"] == 20


def test_a_judge_that_becomes_another_model_stops_the_run(tmp_path: Path) -> None:
    with pytest.raises(UnusableError, match=r"'judge-2'(.|\n)*\[snapshot-changed\]"):
        execute(fake_spec(10, **judged(drifts_after=7, at_once=1)), tmp_path, SilentProgress())
    CALLS.clear()
    CALLS.add("priced", 100)
    with pytest.raises(UnusableError, match="began with 'judge-1'"):
        execute(fake_spec(10, **judged(drifts_after=7, at_once=1)), tmp_path, SilentProgress())


class Ending:
    """One whose every call is paid for, and who ends a run sooner or later."""

    @dataclass(frozen=True, slots=True, kw_only=True)
    class Options:
        end: str = option("", "How it ends.")
        after: int = option(0, "How many answers it gives before.")

    version: ClassVar[str] = "1"
    about: ClassVar[About] = About(is_remote=True)

    def __init__(self, options: Options) -> None:
        self.options = options

    def observe(self, requests: Sequence[ObserveRequest]) -> Sequence[Observation | SalvaError]:
        (n,) = (CALLS.add("priced", 1) for _ in requests)
        is_over, usage = n > self.options.after, {"n_calls": 1.0, "cost_usd": 0.5}
        snapshot = f"judge-{n}" if is_over and self.options.end == "drift" else "judge-1"
        if not is_over or self.options.end == "drift":
            return [Answer(text="0", scores={}, usage=usage, snapshot=snapshot)]
        error = BackendError("an empty answer", is_retryable=self.options.end == "tried again")
        if self.options.end == "tried again" and n > self.options.after + 4:
            error = UnusableError("the account is empty")
        if self.options.end == "told to wait":
            error = BusyError("a second try was turned away", retry_after_s=3600)
        error.usage = usage
        return [error]


@pytest.mark.parametrize(
    ("end", "after"),
    [
        *(("drift", 7), ("down", 0), ("down", 7), ("tried again", 0), ("tried again", 7)),
        *(("told to wait", 0), ("told to wait", 7)),
    ],
)
def test_no_call_that_was_paid_for_is_missing_from_the_sum_of_a_run_that_ended(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, end: str, after: int
) -> None:
    monkeypatch.setattr(guarding, "FIRST_DELAY_S", 0.001)
    judge = bound("judge", Ending, "ending", end=end, after=after)
    spec = fake_spec(40, **{**judged(), "judges": (judge,)})
    with pytest.raises(UnusableError):
        execute(spec, tmp_path / "run", SilentProgress())
    with open_run(tmp_path / "run") as store:
        (line,) = (line for line in spent(store) if line.role == "judge")
    assert line.usage == {"n_calls": CALLS["priced"], "cost_usd": 0.5 * CALLS["priced"]}


def test_what_was_paid_in_vain_before_stays_when_less_is_known_of_what_comes_after(tmp_path: Path) -> None:
    spec = fake_spec(4, **{**judged(), "judges": (bound("judge", Ending, "ending", end="drift", after=2),)})
    for _ in range(2):
        with pytest.raises(UnusableError):
            execute(spec, tmp_path, SilentProgress())
        with open_run(tmp_path, "write") as store:
            noted = cast("dict[str, dict[str, float]]", store.meta()[IN_VAIN])
            (usage,) = noted.values()
            store.set_meta(IN_VAIN, {component_id: {**usage, "input_tokens": 70.0} for component_id in noted})
    assert usage["input_tokens"] == 70
    assert usage["n_calls"] > 1


def test_a_cost_limit_needs_prices_of_endpoints_only() -> None:
    limits = Limits(max_cost_usd=1)
    check_prices([bound("model", FakeGenerator), bound("judge", Priced, price_usd=0.0)], limits)
    with pytest.raises(UsageError, match=r"--set judge\.price_usd=.*\[price-missing\]"):
        check_prices([bound("judge", Priced)], limits)


def test_what_is_under_way_is_reserved() -> None:
    binding: Binding = bound("judge", Priced, price_usd=0.1)
    actor, budget = Actor.of(binding), Budget(Limits(max_cost_usd=1.0))
    assert budget.n_allowed(actor) == 10
    budget.begin(actor, 8)
    assert budget.n_allowed(actor) == 2
    budget.begin(actor, 2)
    assert (budget.n_allowed(actor), budget.is_over(actor)) == (0, False)
    for _ in range(9):
        budget.end(actor, Answer(text="", scores={}, usage={"cost_usd": 0.1}))
    budget.end(actor, Answer(text="", scores={}))
    assert budget.n_allowed(actor) == 1, "the last one cost nothing"


def test_images_of_all_models_count_together() -> None:
    one, two = (Actor.of(bound("model", FakeGenerator, name)) for name in ("one", "two"))
    budget = Budget(Limits(max_images=3))
    budget.begin(one, 2)
    assert budget.n_allowed(two) == 1
    budget.end(one, Rendered(picture=painted(["cat"])))
    budget.end(one, UnusableError("no"))
    assert budget.n_allowed(two) == 2
