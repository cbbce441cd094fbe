"""Which run a directory holds: what the user chose decides, and recorded options win over today's defaults."""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest
from msgspec import structs

from salva.core.options import option
from salva.core.plan import Plan
from salva.core.run_file import new_run_file
from salva.engine.progress import SilentProgress
from salva.errors import MissingRoleError, UsageError
from salva.runs.directory import resume_or_start
from salva.runs.pipeline import execute
from salva.store.runfile import write_run_file
from salva.store.sqlite import open_run
from salva.testing.fakes import CALLS, FakeDetector, FakeGenerator, FakeSame
from salva.testing.specs import bound, fake_spec


class NewCheck(FakeSame):
    """One that a later version brings."""


class StricterSame(FakeSame):
    """The same check in a version with another default and one option more."""

    @dataclass(frozen=True, slots=True, kw_only=True)
    class Options:
        """As before, and more."""

        is_strict: bool = option(True, "Whether the order counts.")
        is_new: bool = option(False, "What nobody could set before.")


def check(component: type[Any], label: str = "fake-same", **options: object) -> Any:
    return bound("check", component, label, **options)


def verdicts(directory: Path) -> list[Any]:
    with open_run(directory) as store:
        return list(store.verdicts())


def test_another_default_and_a_new_option_leave_a_run_as_it_was(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    spec, later = fake_spec(), fake_spec(checks=(check(StricterSame),))
    assert later.directory_name() == spec.directory_name()
    execute(spec, tmp_path, SilentProgress())
    before = verdicts(tmp_path)
    CALLS.clear()
    for is_finished in (True, False):
        if not is_finished:
            with open_run(tmp_path, "write") as store:
                store.drop_meta("finished")
        execute(later, tmp_path, SilentProgress())
        assert verdicts(tmp_path) == before
        assert CALLS["render"] + CALLS["detect"] == 0
        assert "(check.is_strict false)" in (told := capsys.readouterr().err)
        assert "[resumed-with-recorded-options]" in told
    with pytest.raises(UsageError, match=r"check\.is_new was its default, now true"):
        execute(fake_spec(checks=(check(StricterSame, is_new=True),)), tmp_path, SilentProgress())


def test_weights_are_pinned_by_the_options_a_run_had(tmp_path: Path) -> None:
    def version(default: int) -> Plan:
        options: type[Any] = type("Options", (), {"__annotations__": {"n": int}, "n": option(default, "x")})
        made = dataclass(frozen=True, kw_only=True)(options)
        pinned = {"Options": made, "weights": staticmethod(lambda options: f"weights {options.n}")}
        return fake_spec(detector=bound("detector", type("Pinned", (FakeDetector,), pinned), "fake-detector"))

    content = new_run_file(version(1).run_spec(), choice=version(1).choice())
    write_run_file(tmp_path, content)
    settled = resume_or_start(tmp_path, version(2)).detector
    assert settled is not None
    assert (settled.options.n, settled.weights) == (1, "weights 1")


def test_what_cannot_change_an_outcome_is_taken_from_the_command(tmp_path: Path) -> None:
    spec = fake_spec(generator={"omits": 0.3})
    execute(spec, tmp_path, SilentProgress())
    now = replace(spec, models=(bound("model", FakeGenerator, "fake", omits=0.3, healed_by="x"),))
    assert resume_or_start(tmp_path, now).models[0].options.healed_by == "x"


@pytest.mark.parametrize(
    ("now", "told"),
    [
        (fake_spec(seed=9), "seed was 0, now 9"),
        (fake_spec(size="3"), 'size was "full", now "3"'),
        (fake_spec(control=True, repeats=2), "control was false, now true; repeats was 1, now 2"),
        (fake_spec(only=(("law", "x"),)), "only was none, now law,x"),
        (fake_spec(check="fake-same"), 'check was "", now "fake-same"'),
        (fake_spec(generator={"omits": 0.3}), r"model\.omits was its default, now 0\.3"),
        (fake_spec(n=7), r"suite\.n was its default, now 7"),
        (fake_spec(detector=bound("detector", FakeDetector, "other")), "detector was fake-detector, now other"),
        (fake_spec(detector=None), "detector was fake-detector, now none"),
        (fake_spec(checks=(check(FakeSame, is_strict=True),)), r"check\.is_strict was its default, now true"),
    ],
)
def test_what_was_chosen_otherwise_is_named_in_the_words_of_the_command_line(
    tmp_path: Path, now: Plan, told: str
) -> None:
    execute(fake_spec(), tmp_path, SilentProgress())
    with pytest.raises(UsageError, match=rf"\({told}\)") as refused:
        resume_or_start(tmp_path, now)
    assert refused.value.code == "run-differs"
    assert now.directory_name() != fake_spec().directory_name()


def test_a_check_that_is_new_is_judged_and_one_that_is_gone_keeps_its_verdicts(tmp_path: Path) -> None:
    spec = fake_spec()
    later = fake_spec(checks=(check(NewCheck, "new-same"),))
    assert later.directory_name() == spec.directory_name()
    execute(spec, tmp_path, SilentProgress())
    CALLS.clear()
    execute(later, tmp_path, SilentProgress())
    assert {verdict.check for verdict in verdicts(tmp_path)} == {"fake-same", "new-same"}
    assert CALLS["render"] + CALLS["detect"] == 0


def test_a_secret_in_an_option_is_the_same_run_and_the_command_s_own_is_used(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FAKE_API_KEY", "sk-planted-123")
    spec = fake_spec(detector=bound("detector", FakeDetector, "fake-detector", blind_to="sk-planted-123"))
    execute(spec, tmp_path, SilentProgress())
    later = replace(spec, checks=(*spec.checks, check(NewCheck, "new-same")))
    assert resume_or_start(tmp_path, later) == later


def test_a_new_run_says_what_was_chosen(tmp_path: Path) -> None:
    execute(fake_spec(generator={"omits": 0.3}), tmp_path, SilentProgress())
    assert json.loads((tmp_path / "run.json").read_text())["choice"] == {
        "suite": "fake",
        "model": ["fake"],
        "model.omits": 0.3,
        "detector": ["fake-detector"],
        "check": "",
        "published": False,
        "size": "full",
        "repeats": 1,
        "seed": 0,
        "control": False,
        "only": [],
    }


def test_an_option_that_the_command_sets_is_never_replaced_by_a_recorded_one(tmp_path: Path) -> None:
    execute(fake_spec(), tmp_path, SilentProgress())
    later = fake_spec(checks=(check(StricterSame),))
    later = replace(later, spec=structs.replace(later.spec, settings={"check.is_strict": "true"}))
    with pytest.raises(UsageError, match=r"check\.is_strict was false, now true") as refused:
        resume_or_start(tmp_path, later)
    assert refused.value.code == "run-differs"


def test_a_missing_detector_is_missing_though_the_directory_was_made_with_one(tmp_path: Path) -> None:
    execute(fake_spec(), tmp_path, SilentProgress())
    wanting = replace(fake_spec(detector=None), checks=(), wanting=(check(FakeSame),))
    with pytest.raises(MissingRoleError):
        resume_or_start(tmp_path, wanting)
