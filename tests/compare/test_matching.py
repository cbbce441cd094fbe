"""What must be the same in both runs, and what may differ and is said."""

from __future__ import annotations

import json
import shlex
import shutil
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from compare.fake_entrants import asked, cases, number, store, verdicts
from in_process import salva
from report.fake_runs import FakeImages, store_run

import salva as api
from salva.compare.comparing import Comparison, compare_runs
from salva.component_facts import installed_version_of
from salva.core.case import Case
from salva.core.fingerprint import Json
from salva.core.run_spec import ComponentSpec
from salva.core.source import RunRecords
from salva.errors import UsageError
from salva.store.records import CASES, RULES, Status, StoredComponent, StoredRender
from salva.store.rows import digest_of_row
from salva.store.sqlite import open_run


def some(case: Case, repeat: int) -> bool:
    return number(case) < 3


def compare(first: Path, second: Path) -> Comparison:
    (made,) = compare_runs([first, second]).comparisons
    return made


def refused(first: Path, second: Path) -> UsageError:
    with pytest.raises(UsageError) as caught:
        compare(first, second)
    return caught.value


def codes(first: Path, second: Path) -> list[str]:
    return [note.code for note in compare(first, second).notes]


def note(directory: Path, key: str, value: Json) -> None:
    with open_run(directory, "write") as opened:
        opened.set_meta(key, value)


def component(directory: Path, identity: Mapping[str, Json], label: str = "eye", role: str = "judge") -> None:
    with open_run(directory, "write") as opened:
        opened.put_component(
            StoredComponent(
                component_id=f"{label}-id", role=role, label=label, is_formula_seen=False, identity=identity
            )
        )


def check(**options: Json) -> tuple[ComponentSpec, ...]:
    return (ComponentSpec(role="check", name="truth", options=options),)


DETECTOR = ComponentSpec(role="detector", name="pocket")


def test_another_suite_is_refused(tmp_path: Path) -> None:
    other = [replace(case, suite="prompts") for case in cases(3)]
    error = refused(store(tmp_path / "a", {"m": some}), store(tmp_path / "b", {"m": some}, other))
    assert error.code == "compare-settings"
    assert "metalogic and prompts" in str(error)


@pytest.mark.parametrize(
    ("first", "second", "differing", "command"),
    [
        ({}, {"check": "truth"}, "rule: primary and check:truth", "rejudge a --check truth"),
        ({"check": "truth"}, {}, "rule: check:truth and primary", "rejudge b --check truth"),
        (
            {"check": "truth", "checks": check(threshold=0.5)},
            {"checks": check(threshold=0.7)},
            "rule: check:truth and primary; 1 more",
            "rejudge b --check truth --set check.threshold=0.5",
        ),
        ({}, {"published": True}, "rule: primary and published", "rejudge a --published"),
        (
            {"checks": check(counts="exact", place="order")},
            {"checks": check(counts="at-least", place="order")},
            "check.counts of truth: exact and at-least",
            "rejudge b --counts exact",
        ),
        (
            {"checks": check(threshold=0.5)},
            {"checks": check(threshold=0.7)},
            "check.threshold of truth: 0.5 and 0.7",
            "rejudge b --set check.threshold=0.5",
        ),
        (
            {"observers": (DETECTOR,), "check": "truth"},
            {},
            "rule: check:truth and primary",
            "rejudge b --check truth --reader none",
        ),
    ],
)
def test_other_rules_are_refused_with_the_command_that_judges_alike(
    tmp_path: Path, first: dict[str, Any], second: dict[str, Any], differing: str, command: str
) -> None:
    runs = store(tmp_path / "a", {"m": some}, **first), store(tmp_path / "b", {"m": some}, **second)
    error = refused(*runs)
    assert error.code == "compare-settings"
    text = str(error).replace(f"{tmp_path}/", "")
    assert f"({differing})" in text
    assert f"salva {command} [" in text


def test_no_case_in_common_is_refused_with_what_was_asked(tmp_path: Path) -> None:
    of = cases(4)
    error = refused(
        store(tmp_path / "a", {"m": some}, of[:4]), store(tmp_path / "b", {"m": some}, of[4:], size="quick")
    )
    assert error.code == "compare-no-cases"
    assert "--size: paper and quick" in str(error)


def test_other_prompts_under_the_same_ids_are_refused(tmp_path: Path) -> None:
    changed = [replace(case, prompts=tuple(replace(p, text=f"{p.text}!") for p in case.prompts)) for case in cases(3)]
    runs = store(tmp_path / "a", {"m": some}, cases(3)), store(tmp_path / "b", {"m": some}, changed)
    error = refused(*runs)
    assert error.code == "compare-prompts"
    assert "12 of 12" in str(error)


def test_another_version_with_the_same_prompts_is_said(tmp_path: Path) -> None:
    runs = store(tmp_path / "a", {"m": some}), store(tmp_path / "b", {"m": some})
    for run, version in zip(runs, "12", strict=True):
        note(run, CASES, {"suite": {"name": "metalogic", "version": version}, "n_cases": 40, "n_prompts": 80})
    assert codes(*runs) == ["compare-suite-version"]


def test_another_version_of_a_check_is_refused(tmp_path: Path) -> None:
    runs = [store(tmp_path / name, {"m": some}, checks=check(counts="exact")) for name in "ab"]
    # Judging again goes by the version that is installed, so the other run can be brought to it.
    for run, version in zip(runs, ("former", installed_version_of("check", "truth")), strict=True):
        note(run, RULES, {"truth": {"name": "truth", "version": version}})
    for pair in (runs, runs[::-1]):
        error = refused(*pair)
        assert error.code == "compare-settings"
        assert f"salva rejudge {runs[0]} [" in str(error)


def test_a_run_judged_by_another_rule_is_refused_and_one_command_judges_alike(tmp_path: Path) -> None:
    plain, other = tmp_path / "plain", tmp_path / "other"
    flags = {"model": "painter", "size": "24", "settings": {"model.faults": "entity-omission:0.4"}}
    api.run_suite("metalogic", out=plain, reader="none", **flags)  # type: ignore[arg-type]  # flags by name
    shutil.copytree(plain, other)
    assert salva("rejudge", str(other), "--check", "same-scene", "--set", "check.doubt=0").returncode != 2
    done = salva("compare", str(plain), str(other), "--fail-if-worse", "0.01")
    assert (done.returncode, done.codes) == (2, ["compare-settings"])
    # Each is brought to the other's rule with what the message says, whatever was judged in between.
    for first, second in ((plain, other), (other, plain)):
        copies = [shutil.copytree(run, tmp_path / f"{first.name}-{run.name}") for run in (first, second)]
        text = salva("compare", *map(str, copies)).stderr
        command = shlex.split(text.rpartition(": salva ")[2].removesuffix(" [compare-settings]\n"))
        assert salva(*command).returncode != 2
        assert compare(*copies).difference == 0


def test_other_observers_are_refused_by_name_and_by_weights(tmp_path: Path) -> None:
    runs = [store(tmp_path / name, {"m": some}) for name in "ab"]
    for run, weights in zip(runs, ("one", "two"), strict=True):
        with open_run(run, "write") as opened:
            (row,) = [dict(row) for row in opened.rows("SELECT * FROM components WHERE label = 'pocket'")]
            row["identity"] = json.dumps({"name": "pocket", "version": "1", "weights": weights})
            opened.put_row("components", {**row, "digest": digest_of_row("components", row)})
    error = refused(*runs)
    assert error.code == "compare-observers"
    assert "weights: one and two" in str(error)
    assert "--detector pocket [" in str(error)
    of = cases(2)
    made = [replace(verdict, observers=("owlv2",)) for verdict in verdicts(of, some, "m")]
    records = RunRecords(cases=tuple(of), verdicts=tuple(made), asked=asked(("m",)), name="c")
    store_run(tmp_path / "c", records, FakeImages())
    error = refused(runs[0], tmp_path / "c")
    assert error.code == "compare-settings"
    assert "owlv2" in str(error)


def test_where_two_versions_of_a_detector_observed_the_other_run_is_to_be_judged_again(tmp_path: Path) -> None:
    runs = [store(tmp_path / name, {"m": some}) for name in "ab"]
    component(runs[0], {"name": "pocket", "version": "1", "weights": "newer"}, label="pocket", role="detector")
    for pair in (runs, runs[::-1]):
        error = refused(*pair)
        # Judging that one again would add to them, and end here again.
        assert error.code == "compare-observers"
        assert f"salva rejudge {runs[1]} " in str(error)


def test_another_snapshot_of_the_judge_is_refused(tmp_path: Path) -> None:
    runs = [store(tmp_path / name, {"m": some}) for name in "ab"]
    for run, snapshot in zip(runs, ("gpt-2026-01-01", "gpt-2026-02-02"), strict=True):
        component(run, {"name": "pocket", "version": "1"}, label="pocket")
        note(run, "snapshot:pocket-id", snapshot)
    error = refused(*runs)
    assert error.code == "compare-observers"
    assert "gpt-2026-01-01 and as gpt-2026-02-02" in str(error)


def test_other_seeds_and_repeats_are_said(tmp_path: Path) -> None:
    runs = store(tmp_path / "a", {"m": some}, repeats=2), store(tmp_path / "b", {"m": some}, seed=8)
    assert compare(*runs).pairs == 40
    assert codes(*runs) == ["compare-repeats", "compare-seeds"]


def test_rewritten_prompts_are_counted(tmp_path: Path) -> None:
    runs = [store(tmp_path / name, {name: some}, cases(2), has_pictures=True) for name in "ab"]
    with open_run(runs[1], "write") as opened:
        verdict = next(opened.verdicts())
        opened.put_render(
            StoredRender(
                component_id="model-id",
                text="a cat",
                formula=None,
                seed=1,
                repeat=0,
                status=Status.DONE,
                image_id=verdict.images["a"],
                provenance={"revised_prompt": "a fluffy cat in a meadow"},
            )
        )
    (only,) = compare(*runs).notes
    assert only.code == "compare-rewritten"
    assert " 1 pair" in str(only)


def test_a_run_that_lost_its_run_file_is_compared_by_what_is_left(tmp_path: Path) -> None:
    runs = [store(tmp_path / name, {"m": some}) for name in "ab"]
    (runs[1] / "run.json").unlink()
    assert compare(*runs).difference == 0
