"""A run goes on where it stopped: what is done stays done, what failed is tried again, nothing else changes."""

from __future__ import annotations

import dataclasses
import random
import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from flow.same_command import run, verdicts

from salva.core.case import Case, Prompt
from salva.core.observation import Answer
from salva.core.protocols import Rendered
from salva.core.verdict import Outcome
from salva.engine.progress import SilentProgress
from salva.errors import PluginError, UnusableError, UsageError
from salva.runs.cases import n_pictures, planned_cases
from salva.runs.pipeline import execute
from salva.runs.rejudge import rejudge
from salva.runs.verify import verify
from salva.store.sqlite import open_run
from salva.testing.fakes import (
    CALLS,
    FakeAnswers,
    FakeDetector,
    FakeGenerator,
    FakeJudge,
    FakeSuite,
    painted,
)
from salva.testing.specs import bound, fake_spec


class Counting(SilentProgress):
    """Counts what is done of each stage, and keeps of how many."""

    def __init__(self) -> None:
        self.done: Counter[str] = Counter()
        self.totals: dict[str, int | None] = {}

    def start(self, stage: str, total: int | None) -> None:
        self.totals[stage] = total

    def advance(self, stage: str, n: int = 1) -> None:
        self.done[stage] += n


def test_a_finished_run_plans_its_cases_and_builds_and_calls_nothing_else(tmp_path: Path) -> None:
    first = run(tmp_path, n=10)
    assert (first.n_rendered, first.n_observed, first.n_reused, first.is_complete) == (20, 20, 0, True)
    again = run(tmp_path, n=10)
    assert (again.n_rendered, again.n_observed, again.n_reused) == (0, 0, 20)
    assert again.outcomes == first.outcomes
    assert [CALLS[name] for name in ("generator built", "detector built", "render", "detect")] == [0] * 4


def test_asking_a_finished_run_again_changes_no_file(tmp_path: Path) -> None:
    first = run(tmp_path, n=3)
    before = {path: path.stat().st_mtime_ns for path in tmp_path.rglob("*") if path.is_file()}
    assert run(tmp_path, n=3).outcomes == first.outcomes
    assert {path: path.stat().st_mtime_ns for path in before} == before


def test_failed_work_is_tried_again_and_everything_else_reused(tmp_path: Path) -> None:
    healed = tmp_path / "healed"
    options = {"fails": 0.3, "healed_by": str(healed)}
    first = run(tmp_path / "run", n=20, generator=options)
    assert not first.is_complete
    assert 0 < first.n_failed < 40
    failed = [v for v in verdicts(tmp_path / "run") if v.outcome is Outcome.ERROR]
    assert failed
    assert all(v.reason.endswith("on fire") for v in failed)
    healed.touch()
    second = run(tmp_path / "run", n=20, generator=options)
    assert second.is_complete
    assert (second.n_rendered, second.n_reused) == (first.n_failed, 40 - first.n_failed)
    assert CALLS["render"] == first.n_failed
    run(tmp_path / "fresh", n=20)
    assert verdicts(tmp_path / "run") == verdicts(tmp_path / "fresh")


def test_a_look_that_failed_is_tried_again_without_painting(tmp_path: Path) -> None:
    healed = tmp_path / "healed"
    detector = bound("detector", FakeDetector, "fake-detector", fails=0.3, healed_by=str(healed))
    first = run(tmp_path / "run", n=20, detector=detector)
    assert first.outcomes["ERROR"] > 0
    reasons = {v.reason for v in verdicts(tmp_path / "run") if v.outcome is Outcome.ERROR}
    assert any("'fake-detector'" in reason and reason.endswith(": the detector blinked") for reason in reasons)
    healed.touch()
    second = run(tmp_path / "run", n=20, detector=detector)
    assert second.is_complete
    assert (CALLS["render"], CALLS["generator built"], CALLS["detect"]) == (0, 0, first.n_failed)
    run(tmp_path / "fresh", n=20)
    assert verdicts(tmp_path / "run") == verdicts(tmp_path / "fresh")


def test_a_refusal_is_asked_again_only_on_request(tmp_path: Path) -> None:
    healed = tmp_path / "healed"
    options = {"refuses": 0.3, "healed_by": str(healed)}
    first = run(tmp_path / "run", n=20, generator=options)
    assert first.outcomes["ERROR"] > 0
    healed.touch()
    again = run(tmp_path / "run", n=20, generator=options)
    assert (CALLS["render"], again.outcomes, again.is_complete) == (0, first.outcomes, False)
    progress = Counting()
    rejudge(tmp_path / "run", fake_spec(n=20, generator=options), progress)
    assert progress.done["generating"] == progress.totals["generating"] == 40, (
        "what stays refused is over and done with"
    )
    assert any("the rules" in v.reason for v in verdicts(tmp_path / "run"))
    asked = run(tmp_path / "run", n=20, generator=options, retry=("refused",))
    assert asked.is_complete
    assert CALLS["render"] == first.n_failed
    assert Counter(v.outcome for v in verdicts(tmp_path / "run")) == {Outcome.PASS: 20}


def test_a_request_that_stumbles_is_retried_within_the_run(tmp_path: Path) -> None:
    summary = run(tmp_path, n=10, generator={"stumbles": 0.5})
    assert summary.is_complete
    assert CALLS["render"] > 20


def test_a_model_that_hangs_fails_its_pictures_and_the_run_goes_on(tmp_path: Path) -> None:
    summary = run(tmp_path, n=10, generator={"hangs": 0.15, "hang_s": 5.0, "timeout": 0.2, "batch": 1})
    assert 0 < summary.n_failed < 20
    assert summary.outcomes["PASS"] > 0
    assert any("(0.2 s)" in v.reason for v in verdicts(tmp_path))


def test_a_model_that_raises_fails_every_picture_with_its_message(tmp_path: Path) -> None:
    summary = run(tmp_path, n=3, generator={"mischief": "raise"})
    assert (summary.outcomes, summary.n_failed) == ({"ERROR": 3}, 6)
    (reason,) = {v.reason for v in verdicts(tmp_path)}
    assert "'fake' failed: RuntimeError: out of paint" in reason


@pytest.mark.parametrize("mischief", ["short", "wrong-type"])
def test_a_model_that_answers_garbage_stops_the_run(tmp_path: Path, mischief: str) -> None:
    with pytest.raises(PluginError, match="the model 'fake'"):
        run(tmp_path, n=50, generator={"mischief": mischief})
    assert CALLS["render"] <= 16
    assert not any(tmp_path.iterdir()), "nothing was painted, so nothing is left behind"


def test_an_unusable_model_or_detector_stops_before_a_picture_is_bought(tmp_path: Path) -> None:
    with pytest.raises(UnusableError, match="no such model"):
        run(tmp_path / "one", generator={"mischief": "unusable"})
    with pytest.raises(UnusableError, match="no such detector"):
        run(tmp_path / "two", detector=bound("detector", FakeDetector, "fake-detector", is_unusable=True))
    assert CALLS["render"] == 0


def test_the_same_prompt_and_seed_are_painted_once(tmp_path: Path) -> None:
    class Twins(FakeSuite):
        def cases(self, size: str) -> Any:
            for case in super().cases(size):
                twin = dataclasses.replace(case.prompts[0], role="b")
                yield dataclasses.replace(case, prompts=(case.prompts[0], twin))

    summary = run(tmp_path, suite=bound("suite", Twins, "fake", n=5))
    assert (CALLS["render"], CALLS["detect"]) == (5, 5)
    assert summary.outcomes == {"PASS": 5}


class MutantsOfOneCaption(FakeSuite):
    """Twelve cases: six mutants of each of two captions, which are painted once for all their mutants."""

    def cases(self, size: str) -> Iterator[Case]:
        for case in super().cases(size):
            caption = ("apple, cow", "banana, cow")[int(case.case_id.split("-")[1]) // 6]
            first = Prompt(role="a", text=caption, formula=caption.replace(",", " &"))
            yield dataclasses.replace(case, prompts=(first, case.prompt("b")), painting=caption)


@pytest.mark.parametrize("batch", [1, 4, 32])
def test_one_picture_of_a_caption_serves_all_its_mutants(tmp_path: Path, batch: int) -> None:
    changes: dict[str, Any] = {"suite": bound("suite", MutantsOfOneCaption, "fake", n=12), "n": 12, "repeats": 2}
    progress = Counting()
    run(tmp_path, progress=progress, generator={"batch": batch}, **changes)
    spec = fake_spec(generator={"batch": batch}, **changes)
    assert CALLS["render"] == n_pictures(planned_cases(spec)) * 2 == 14 * 2
    assert progress.done["generating"] == progress.totals["generating"] == 48
    by_caption: dict[str, set[str]] = {}
    for verdict in verdicts(tmp_path):
        by_caption.setdefault(f"{int(verdict.case_id.split('-')[1]) // 6} {verdict.repeat}", set()).add(
            verdict.images["a"]
        )
    assert [len(images) for images in by_caption.values()] == [1, 1, 1, 1]
    again = run(tmp_path, **changes, generator={"batch": batch})
    assert (again.n_rendered, CALLS["render"]) == (0, 0)


def test_equal_pictures_are_stored_and_looked_at_once(tmp_path: Path) -> None:
    class OneWord(FakeSuite):
        def cases(self, size: str) -> Any:
            for case in super().cases(size):
                yield dataclasses.replace(
                    case, prompts=tuple(dataclasses.replace(p, text="cat", formula=p.role) for p in case.prompts)
                )

    class Constant(FakeGenerator):
        def render(self, requests: Any) -> Any:
            return super().render([dataclasses.replace(r, seed=0, repeat=0) for r in requests])

    run(tmp_path, n=10, suite=bound("suite", OneWord, "fake", n=10), models=(bound("model", Constant, "fake"),))
    with open_run(tmp_path) as store:
        assert (store.n_images(), len(list(store.renders())), len(list(store.observations()))) == (1, 20, 1)
    assert CALLS["detect"] == 1
    assert verify(tmp_path, SilentProgress()).is_sound


def test_pictures_go_from_the_generator_to_the_perceivers_in_memory(tmp_path: Path) -> None:
    # The files these pictures bring cannot be read back, so any detour over the disk would fail.
    assert run(tmp_path, n=50, generator={"encoded": "stub"}).outcomes == {"PASS": 50}


def test_two_models_are_judged_on_the_same_cases_and_seeds(tmp_path: Path) -> None:
    models = (bound("model", FakeGenerator, "one"), bound("model", FakeGenerator, "two", omits=1.0))
    run(tmp_path, n=4, models=models)
    assert Counter((v.model, v.outcome) for v in verdicts(tmp_path)) == {
        ("one", Outcome.PASS): 4,
        ("two", Outcome.FAIL): 4,
    }
    with pytest.raises(UsageError, match=r"\[component-twice\]"):
        run(tmp_path / "other", models=(models[0], models[0]))


def test_a_model_that_becomes_another_within_a_run_stops_it(tmp_path: Path) -> None:
    class Drifting(FakeGenerator):
        def render(self, requests: Any) -> Any:
            snapshot = f"v{1 + (CALLS['render'] >= 8)}"
            painted: Any = super().render(requests)
            return [dataclasses.replace(rendered, provenance={"snapshot": snapshot}) for rendered in painted]

    with pytest.raises(UnusableError, match=r"'v2'.*'v1'(.|\n)*\[snapshot-changed\]"):
        run(tmp_path, n=20, models=(bound("model", Drifting, "api", batch=1),))


def test_what_cannot_be_stored_fails_that_picture_alone(tmp_path: Path) -> None:
    class Odd(FakeGenerator):
        def render(self, requests: Any) -> Any:
            painted: Any = super().render(requests)
            return [
                dataclasses.replace(rendered, provenance={"loss": float("nan")}) if r.prompt.role == "b" else rendered
                for r, rendered in zip(requests, painted, strict=True)
            ]

    summary = run(tmp_path, n=2, models=(bound("model", Odd, "odd"),))
    assert summary.outcomes == {"ERROR": 2}
    assert all("cannot be stored" in v.reason for v in verdicts(tmp_path))


def lose(directory: Path, every: int) -> set[str]:
    """Delete some image files; their names."""
    files = sorted((directory / "images").rglob("*.webp"))
    for file in files[::every]:
        file.unlink()
    return {file.name for file in files[::every]}


def test_image_files_that_are_gone_are_painted_again_by_the_same_command(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    first = run(tmp_path / "run", n=10)
    before = verdicts(tmp_path / "run")
    files = {path.name for path in (tmp_path / "run" / "images").rglob("*.webp")}
    lost = lose(tmp_path / "run", 3)
    assert not verify(tmp_path / "run", SilentProgress()).is_sound
    capsys.readouterr()
    healed = run(tmp_path / "run", n=10)
    assert (CALLS["render"], CALLS["detect"]) == (len(lost), 0), "what was seen in the same pixels still holds"
    assert healed.outcomes == first.outcomes
    assert verdicts(tmp_path / "run") == before
    assert {path.name for path in (tmp_path / "run" / "images").rglob("*.webp")} == files
    assert verify(tmp_path / "run", SilentProgress()).is_sound
    assert re.search(rf"\b{len(lost)} .*\[images-restored\]", capsys.readouterr().err)
    run(tmp_path / "run", n=10)
    assert CALLS["render"] == 0


class Moody(FakeGenerator):
    """Paints other pixels every time."""

    n_painted = 0

    def render(self, requests: Any) -> Any:
        outcomes = []
        for request in requests:
            type(self).n_painted += 1
            words = [word.strip() for word in request.prompt.text.split(",")]
            outcomes.append(Rendered(picture=painted(words, note=str(self.n_painted))))
        return outcomes


def test_a_model_that_does_not_repeat_itself_is_said_to_and_looked_at_anew(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    model = bound("model", Moody, "moody")
    run(tmp_path / "run", n=10, models=(model,))
    lost = lose(tmp_path / "run", 4)
    healed = run(tmp_path / "run", n=10, models=(model,))
    assert CALLS["detect"] == len(lost)
    assert healed.outcomes == {"PASS": 10}
    assert re.search(rf"\b{len(lost)} of {len(lost)} .*\[images-differ\]", capsys.readouterr().err)
    assert verify(tmp_path / "run", SilentProgress()).is_sound


class Mumbler(FakeJudge):
    """Cannot be read at first."""

    is_clear = False

    def observe(self, requests: Any) -> Any:
        answers = super().observe(requests)
        return [
            answer
            if self.is_clear or random.Random(f"{request.picture.image_id()}{request.query.text}").random() < 0.5
            else Answer(text="", scores={}, reply="hm", problem="the reply is hm")
            for request, answer in zip(requests, answers, strict=True)
        ]


def test_what_nobody_could_read_is_asked_again_alone_and_only_on_request(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    changes: dict[str, Any] = {
        "judges": (bound("judge", Mumbler, "mumbler"),),
        "checks": (bound("check", FakeAnswers, "fake-answers"),),
    }
    first = run(tmp_path / "run", n=12, **changes)
    assert 0 < first.n_unreadable < CALLS["judge"]
    assert run(tmp_path / "run", n=12, **changes).n_unreadable == first.n_unreadable
    assert CALLS["judge"] == 0, "without the word nobody is asked"
    monkeypatch.setattr(Mumbler, "is_clear", True)
    CALLS.clear()
    again = execute(fake_spec(n=12, **changes), tmp_path / "run", SilentProgress(), retry=("unreadable",))
    assert again.n_unreadable == 0
    with open_run(tmp_path / "run") as store:
        n_observations = sum(1 for _, look in store.observations() if look.query.role == "judge")
    assert first.n_unreadable <= CALLS["judge"] < n_observations
    assert CALLS["render"] == 0
