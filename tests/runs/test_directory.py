"""Whose directory it is: what the user chose decides; whatever else changed, a run goes on as it was begun."""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest

from salva.core.options import option
from salva.core.run_json import RunFile
from salva.core.spec import RunSpec
from salva.engine.progress import SilentProgress
from salva.errors import UsageError
from salva.runs.directory import find_directory, settle
from salva.runs.pipeline import execute
from salva.store.runfile import read_run_file, write_run_file
from salva.store.sqlite import open_run
from salva.testing.fakes import CALLS, FakeDetector, FakeGenerator, FakeSame
from salva.testing.specs import bound, fake_spec


class NewRelation(FakeSame):
    """One that a later version brings."""


class StricterSame(FakeSame):
    """The same check in a version with another default and one option more."""

    @dataclass(frozen=True, slots=True, kw_only=True)
    class Options:
        """As before, and more."""

        is_strict: bool = option(True, "Whether the order counts.")
        is_new: bool = option(False, "What nobody could set before.", since="0.2")


class BareSame(FakeSame):
    """The same check in a version without its option."""

    @dataclass(frozen=True, slots=True, kw_only=True)
    class Options:
        """Nothing of what there was."""

        is_other: bool = option(False, "x")

    def __init__(self, options: Options) -> None:
        self.options = FakeSame.Options()


def check(component: type[Any], label: str = "fake-same", **options: object) -> Any:
    return bound("check", component, label, **options)


def verdicts(directory: Path) -> list[Any]:
    with open_run(directory) as store:
        return list(store.verdicts())


def make_old(directory: Path) -> None:
    """Take away what earlier versions did not write."""
    content = json.loads((directory / "run.json").read_text())
    del content["choice"], content["schema"]
    (directory / "run.json").write_text(json.dumps(content))


@pytest.mark.parametrize("is_old", [False, True])
def test_a_new_relation_asks_nothing_else_and_is_not_judged_there(
    tmp_path: Path, is_old: bool, capsys: pytest.CaptureFixture[str]
) -> None:
    spec = fake_spec()
    later = fake_spec(checks=(*spec.checks, check(NewRelation, "new-same")))
    assert later.directory_name() == spec.directory_name()
    execute(spec, tmp_path, SilentProgress())
    if is_old:
        make_old(tmp_path)
    before, file = verdicts(tmp_path), (tmp_path / "run.json").read_bytes()
    CALLS.clear()
    capsys.readouterr()
    execute(later, tmp_path, SilentProgress())
    assert (verdicts(tmp_path), (tmp_path / "run.json").read_bytes()) == (before, file)
    assert CALLS["render"] + CALLS["detect"] == 0
    (line,) = capsys.readouterr().err.splitlines()
    assert "goes by the rules it was made with (new-same is not judged)" in line


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
        assert "check.is_strict of fake-same stays false" in capsys.readouterr().err
    with pytest.raises(UsageError, match=r"check\.is_new was its default, now true"):
        execute(fake_spec(checks=(check(StricterSame, is_new=True),)), tmp_path, SilentProgress())


def test_a_choice_that_became_the_default_is_the_same_run(tmp_path: Path) -> None:
    execute(fake_spec(checks=(check(FakeSame, is_strict=True),)), tmp_path / "run", SilentProgress())
    later = fake_spec(checks=(check(StricterSame),))
    assert settle(tmp_path / "run", later) == later


def test_weights_are_pinned_by_the_options_a_run_had(tmp_path: Path) -> None:
    def version(default: int) -> RunSpec:
        options: type[Any] = type("Options", (), {"__annotations__": {"n": int}, "n": option(default, "x")})
        made = dataclass(frozen=True, kw_only=True)(options)
        pinned = {"Options": made, "weights": staticmethod(lambda options: f"weights {options.n}")}
        return fake_spec(detector=bound("detector", type("Pinned", (FakeDetector,), pinned), "fake-detector"))

    content = RunFile(asked=version(1).asked(), choice=version(1).choice())
    write_run_file(tmp_path, content)
    settled = settle(tmp_path, version(2)).detector
    assert settled is not None
    assert (settled.options.n, settled.weights) == (1, "weights 1")


def test_an_old_run_is_finished_by_its_rules_and_says_from_then_on_what_was_chosen(tmp_path: Path) -> None:
    spec = fake_spec()
    execute(spec, tmp_path, SilentProgress())
    before = verdicts(tmp_path)
    make_old(tmp_path)
    with open_run(tmp_path, "write") as store:
        store.drop_meta("finished")
    later = fake_spec(checks=(*spec.checks, check(NewRelation, "new-same")))
    execute(later, tmp_path, SilentProgress())
    assert verdicts(tmp_path) == before
    content = read_run_file(tmp_path)
    assert content is not None
    assert content.asked == spec.asked()
    assert content.choice == spec.choice()


def test_what_cannot_change_an_outcome_is_taken_from_the_command(tmp_path: Path) -> None:
    spec = fake_spec(generator={"omits": 0.3})
    execute(spec, tmp_path, SilentProgress())
    now = replace(spec, models=(bound("model", FakeGenerator, "fake", omits=0.3, healed_by="x"),))
    assert settle(tmp_path, now).models[0].options.healed_by == "x"


@pytest.mark.parametrize(
    ("now", "told"),
    [
        (fake_spec(seed=9), "seed was 0, now 9"),
        (fake_spec(size="3"), 'size was "full", now "3"'),
        (fake_spec(control=True, repeats=2), "control was false, now true; repeats was 1, now 2"),
        (fake_spec(only=(("law", "x"),)), "only was none, now law,x"),
        (fake_spec(headline="fake-same"), 'check was "", now "fake-same"'),
        (fake_spec(generator={"omits": 0.3}), r"model\.omits was its default, now 0\.3"),
        (fake_spec(n=7), r"suite\.n was its default, now 7"),
        (fake_spec(detector=bound("detector", FakeDetector, "other")), "detector was fake-detector, now other"),
        (fake_spec(detector=None), "detector was fake-detector, now none"),
        (fake_spec(checks=(check(FakeSame, is_strict=True),)), r"check\.is_strict was its default, now true"),
    ],
)
def test_what_was_chosen_otherwise_is_named_in_the_words_of_the_command_line(
    tmp_path: Path, now: RunSpec, told: str
) -> None:
    execute(fake_spec(), tmp_path, SilentProgress())
    with pytest.raises(UsageError, match=rf"was asked differently \({told}\); ask the same again"):
        settle(tmp_path, now)
    assert now.directory_name() != fake_spec().directory_name()


@pytest.mark.parametrize("is_old", [False, True])
@pytest.mark.parametrize(
    ("later", "told"),
    [
        (
            fake_spec(checks=(check(NewRelation, "new-same"),)),
            "judged by the check 'fake-same', which is not there",
        ),
        (
            fake_spec(checks=(check(BareSame),)),
            "made with check.is_strict of 'fake-same', which is no option now",
        ),
    ],
)
def test_a_rule_that_is_gone_is_named_with_what_to_do(tmp_path: Path, is_old: bool, later: RunSpec, told: str) -> None:
    execute(fake_spec(), tmp_path, SilentProgress())
    if is_old:
        make_old(tmp_path)
        # Without a record of what was chosen, an option that is gone may have been: it is named as a difference.
        told = told.replace(
            "made with check.is_strict of 'fake-same', which is no option now", "check.is_strict was"
        )
    with pytest.raises(UsageError, match=told) as error:
        execute(later, tmp_path, SilentProgress())
    assert "another directory with --out" in str(error.value)


def test_a_secret_in_an_option_is_the_same_run_and_the_command_s_own_is_used(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FAKE_API_KEY", "sk-planted-123")
    spec = fake_spec(detector=bound("detector", FakeDetector, "fake-detector", blind_to="sk-planted-123"))
    execute(spec, tmp_path, SilentProgress())
    later = replace(spec, checks=(*spec.checks, check(NewRelation, "new-same")))
    assert settle(tmp_path, later) == spec


def test_a_run_under_the_name_of_an_earlier_version_is_found(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    spec = fake_spec()
    name = spec.directory_name()
    for hexes, other in (("00000000", fake_spec(seed=1)), ("11111111", spec), ("1111111111", spec)):
        execute(other, tmp_path / f"{name[:-8]}{hexes}", SilentProgress())
    (tmp_path / f"{name[:-8]}0000000z").mkdir()
    (tmp_path / f"{name[:-8]}0000000z" / "run.json").write_text("{")
    capsys.readouterr()
    assert find_directory(spec, tmp_path, SilentProgress()).name == f"{name[:-8]}11111111"
    (line,) = capsys.readouterr().err.splitlines()
    assert "is this run under the name of an earlier version; it goes on there" in line
    assert find_directory(fake_spec(seed=2), tmp_path, SilentProgress()).name == fake_spec(seed=2).directory_name()
    (tmp_path / name).mkdir()
    assert find_directory(spec, tmp_path, SilentProgress()).name == name
    assert capsys.readouterr().err == ""


def test_a_new_run_says_what_was_chosen(tmp_path: Path) -> None:
    execute(fake_spec(generator={"omits": 0.3}), tmp_path, SilentProgress())
    assert json.loads((tmp_path / "run.json").read_text())["choice"] == {
        "suite": "fake",
        "model": ["fake"],
        "model.omits": 0.3,
        "detector": ["fake-detector"],
        "check": "",
        "size": "full",
        "repeats": 1,
        "seed": 0,
        "control": False,
        "only": [],
    }
