"""What must be the same on both sides, and what may differ and is said."""

from __future__ import annotations

import json
import shlex
import shutil
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import pytest
from compare.fake_entrants import asked, cases, number, store, verdicts
from in_process import salva
from report.fake_runs import FakeImages, make_verdict, store_run

import salva as api
from salva.compare.comparing import Duel, compare_runs
from salva.core.case import Case
from salva.core.fingerprint import Json
from salva.core.run_spec import ComponentSpec
from salva.core.source import RunRecords
from salva.errors import UsageError
from salva.runs.run_state import CASES, RULES
from salva.store.records import Status, StoredComponent, StoredRender
from salva.store.sqlite import open_run


def some(case: Case, repeat: int) -> bool:
    return number(case) < 3


def duel(first: Path, second: Path) -> Duel:
    (made,) = compare_runs([first, second]).duels
    return made


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


def test_another_suite_is_refused(tmp_path: Path) -> None:
    other = [replace(case, suite="prompts") for case in cases(3)]
    with pytest.raises(UsageError, match=r"'metalogic'.*'prompts'.*\[compare-suites\]"):
        duel(store(tmp_path / "a", {"m": some}), store(tmp_path / "b", {"m": some}, other))


def test_no_case_in_common_is_refused_with_what_was_asked(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"--size paper against quick.*\[compare-no-cases\]"):
        duel(
            store(tmp_path / "a", {"m": some}, cases(4)[:4]),
            store(tmp_path / "b", {"m": some}, cases(4)[4:], size="quick"),
        )


def test_other_prompts_under_the_same_ids_are_refused_with_both_versions(tmp_path: Path) -> None:
    changed = [replace(case, prompts=tuple(replace(p, text=f"{p.text}!") for p in case.prompts)) for case in cases(3)]
    runs = store(tmp_path / "a", {"m": some}, cases(3)), store(tmp_path / "b", {"m": some}, changed)
    for run, version in zip(runs, "12", strict=True):
        note(run, CASES, {"suite": {"name": "metalogic", "version": version}, "n_cases": 12, "n_prompts": 24})
    with pytest.raises(UsageError, match=r"12 of 12 .*version 2.*version 1.*\[compare-prompts\]"):
        duel(*runs)


def test_another_version_with_the_same_prompts_is_said(tmp_path: Path) -> None:
    runs = store(tmp_path / "a", {"m": some}), store(tmp_path / "b", {"m": some})
    for run, version in zip(runs, "12", strict=True):
        note(run, CASES, {"suite": {"name": "metalogic", "version": version}, "n_cases": 40, "n_prompts": 80})
    assert any("version 1" in said and "version 2" in said for said in duel(*runs).notes)


def test_another_reading_is_refused_with_the_command_that_mends_it(tmp_path: Path) -> None:
    def checks(counts: str) -> tuple[ComponentSpec, ...]:
        return (ComponentSpec(role="check", name="truth", options={"counts": counts, "place": "order"}),)

    runs = (
        store(tmp_path / "a", {"m": some}, checks=checks("exact")),
        store(tmp_path / "b", {"m": some}, checks=checks("at-least")),
    )
    with pytest.raises(UsageError, match=r"counts exact against at-least.*--counts exact \[compare-rules\]"):
        duel(*runs)


def test_another_version_of_the_rule_is_refused(tmp_path: Path) -> None:
    checks = (ComponentSpec(role="check", name="truth", options={"counts": "exact"}),)
    runs = [store(tmp_path / name, {"m": some}, checks=checks) for name in "ab"]
    for run, version in zip(runs, "12", strict=True):
        note(run, RULES, {"truth": {"name": "truth", "version": version}})
    for pair, differing in ((runs, "1 against 2"), (runs[::-1], "2 against 1")):
        with pytest.raises(UsageError, match=rf"version {differing}.*salva rejudge \S+a \[compare-rules\]$"):
            duel(*pair)


def by_both_rules(directory: Path, scope: str, observers: tuple[str, ...] = ("pocket",)) -> Path:
    """Led by truth, with same-scene beside it by a rule and eyes of its own."""
    of = cases(2)
    same = [make_verdict(case.case_id, model="m", check="same-scene", observers=observers) for case in of]
    by = tuple(
        ComponentSpec(role="check", name=name, options=options)
        for name, options in (("truth", {"counts": "exact"}), ("same-scene", {"scope": scope}))
    )
    made = (*verdicts(of, some, "m"), *same)
    records = RunRecords(cases=tuple(of), verdicts=made, asked=asked(("m",), checks=by), name=directory.name)
    store_run(directory, records, FakeImages())
    return directory


def test_a_figure_that_stands_beside_by_another_rule_is_left_out_and_said(tmp_path: Path) -> None:
    first = by_both_rules(tmp_path / "a", "mentioned")
    made = duel(first, by_both_rules(tmp_path / "b", "all"))
    assert (made.leading.name, made.beside) == ("wrong", ())
    notes = [said for said in made.notes if "(scope mentioned against all)" in said]
    assert [note.partition(" is ")[0] for note in notes] == ["inconsistent", "both wrong"]
    made = duel(first, by_both_rules(tmp_path / "c", "mentioned", ("owlv2",)))
    assert made.beside == ()
    assert any("by same-scene a was observed by pocket and c by owlv2" in said for said in made.notes)
    assert len(duel(first, by_both_rules(tmp_path / "d", "mentioned")).beside) == 2


def test_a_run_judged_by_another_rule_and_eyes_passes_no_gate_and_one_command_brings_it_back(tmp_path: Path) -> None:
    plain, other = tmp_path / "plain", tmp_path / "other"
    flags = {"model": "painter", "size": "24", "settings": {"model.faults": "entity-omission:0.4"}}
    api.run_suite("metalogic", out=plain, reader="none", **flags)  # type: ignore[arg-type]  # flags by name
    shutil.copytree(plain, other)
    rule = ("--check", "same-scene", "--set", "check.doubt=0")
    assert salva("rejudge", str(other), *rule).returncode == 0
    gate = ("--fail-if-worse", "0.01")
    refused = salva("compare", str(plain), str(other), *gate)
    assert refused.returncode == 2
    assert "[compare-figures]" in refused.stderr
    assert "gate" not in refused.stderr
    # Each is brought to the other's with what it says, whatever was judged in between.
    for first, second in ((plain, other), (other, plain)):
        copies = [shutil.copytree(run, tmp_path / f"{first.name}-{run.name}") for run in (first, second)]
        said = salva("compare", *map(str, copies), *gate).stderr
        command = shlex.split(said.rpartition(": salva ")[2].removesuffix(" [compare-figures]\n"))
        assert salva(*command).returncode == 0
        made = duel(*copies)
        assert made.leading.signs is not None
        n_counted = sum(not flip.is_apart for flip in made.flipped)
        assert made.leading.signs.n_higher + made.leading.signs.n_lower == n_counted


def test_another_detector_is_refused_by_name_and_by_its_weights(tmp_path: Path) -> None:
    runs = [store(tmp_path / name, {"m": some}) for name in "ab"]
    for run, weights in zip(runs, ("one", "two"), strict=True):
        with open_run(run, "write") as opened:
            identity = json.dumps({"name": "pocket", "version": "1", "weights": weights})
            opened._write("UPDATE components SET identity = :identity WHERE label = 'pocket'", {"identity": identity})
    with pytest.raises(UsageError, match=r"pocket.*--detector pocket.*\[compare-observer-version\]"):
        duel(*runs)


def test_where_two_versions_of_a_detector_looked_the_other_run_is_to_be_judged_again(tmp_path: Path) -> None:
    runs = [store(tmp_path / name, {"m": some}) for name in "ab"]
    component(runs[0], {"name": "pocket", "version": "1", "weights": "newer"}, label="pocket", role="detector")
    refused = r"a' .* 2 versions of pocket.*salva rejudge \S+b\. \[compare-observer-mixed\]"
    for pair in (runs, runs[::-1]):
        # Judging that one again would add to them, and end here again.
        with pytest.raises(UsageError, match=refused):
            duel(*pair)


def test_another_snapshot_of_the_judge_is_refused(tmp_path: Path) -> None:
    runs = [store(tmp_path / name, {"m": some}) for name in "ab"]
    for run, snapshot in zip(runs, ("gpt-2026-01-01", "gpt-2026-02-02"), strict=True):
        component(run, {"name": "pocket", "version": "1"}, label="pocket")
        note(run, "snapshot:pocket-id", snapshot)
    with pytest.raises(UsageError, match=r"gpt-2026-01-01 in .* and as gpt-2026-02-02.*\[compare-snapshot\]"):
        duel(*runs)


def test_other_seeds_and_repeats_are_said(tmp_path: Path) -> None:
    runs = store(tmp_path / "a", {"m": some}, repeats=2), store(tmp_path / "b", {"m": some}, seed=8)
    made = duel(*runs)
    assert made.leading.n_pairs == 40
    assert any("--seed 7 and b with --seed 8" in said for said in made.notes)
    assert any("a has 2 repeats and b 1" in said for said in made.notes)


def test_rewritten_prompts_are_counted(tmp_path: Path) -> None:
    runs = [store(tmp_path / name, {name: some}, cases(1), has_pictures=True) for name in "ab"]
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
    assert any("1 of the 4 pairs" in note and "rewritten" in note for note in duel(*runs).notes)


def test_a_run_that_lost_its_run_file_is_compared_by_what_is_left(tmp_path: Path) -> None:
    runs = [store(tmp_path / name, {"m": some}) for name in "ab"]
    (runs[1] / "run.json").unlink()
    assert duel(*runs).leading.difference == 0
