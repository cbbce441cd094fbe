"""Verdicts: pairs, the control arm, several judges, waves of questions."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping
from pathlib import Path

import pytest

from salva.core.case import Case
from salva.core.protocols import Conclusion, ImageObservations
from salva.core.verdict import Outcome, Verdict
from salva.engine.progress import SilentProgress
from salva.errors import PluginError, UsageError
from salva.runs.pipeline import execute
from salva.store.queries import read_records
from salva.store.sqlite import open_run
from salva.testing.fakes import CALLS, FakeAnswers, FakeDetector, FakeJudge, FakeReader, FakeSame
from salva.testing.specs import bound, fake_spec


def verdicts(directory: Path) -> list[Verdict]:
    with open_run(directory) as store:
        return list(store.verdicts())


def run(directory: Path, **changes: object) -> list[Verdict]:
    execute(fake_spec(**changes), directory, SilentProgress())  # type: ignore[arg-type]  # changes are checked there
    return verdicts(directory)


def test_planted_omissions_are_found_where_they_were_planted(tmp_path: Path) -> None:
    found = run(tmp_path, n=60, generator={"omits": 0.3})
    assert Counter(v.outcome for v in found).keys() == {Outcome.PASS, Outcome.FAIL}
    with open_run(tmp_path) as store:
        for verdict in found:
            planted = {r: bool(store.renders_of(i)[0].provenance["planted"]) for r, i in verdict.images.items()}
            expected = planted["a"] != planted["b"] or planted["a"]  # both lack their last word: other words
            assert (verdict.outcome is Outcome.FAIL) == expected
            if planted["a"] != planted["b"]:
                assert [f.role for f in verdict.failures] == ["a" if planted["a"] else "b"]


def test_the_control_arm_counts_every_other_seed(tmp_path: Path) -> None:
    found = run(tmp_path, n=20, generator={"omits": 0.4}, repeats=4, control=True)
    pairs = {(v.case_id, v.repeat): v for v in found if v.arm == "pair"}
    controls = [v for v in found if v.arm == "control"]
    assert len(controls) == len(pairs) == 80
    with open_run(tmp_path) as store:
        for verdict in controls:
            shown = {
                (k, role): sorted(
                    store.observations_of(pairs[verdict.case_id, k].images[role])[0].observation.boxes,  # type: ignore[union-attr]  # detections
                    key=lambda box: box.label,
                )
                for k in range(4)
                for role in "ab"
            }
            labels = {place: [box.label for box in boxes] for place, boxes in shown.items()}
            i, others = verdict.repeat, [j for j in range(4) if j != verdict.repeat]

            def rate(
                one: str,
                two: str,
                i: int = i,
                others: list[int] = others,
                seen: Mapping[tuple[int, str], list[str]] = labels,
            ) -> float:
                return sum(seen[i, one] != seen[j, two] for j in others) / len(others)

            between, a, b = rate("a", "b"), rate("a", "a"), rate("b", "b")
            assert verdict.scores == pytest.approx(
                {
                    "differs_between": between,
                    "differs_within_a": a,
                    "differs_within_b": b,
                    "excess": between - (a + b) / 2,
                    "n_compared": 9,
                }
            )
            neighbour = (i + 1) % 4
            assert (verdict.outcome is Outcome.FAIL) == (labels[i, "a"] != labels[neighbour, "a"])
            assert verdict.images == {
                "a": pairs[verdict.case_id, i].images["a"],
                "b": pairs[verdict.case_id, neighbour].images["a"],
            }


def test_comparisons_nobody_can_decide_are_left_out_and_counted(tmp_path: Path) -> None:
    blind = bound("detector", FakeDetector, "fake-detector", blind_to="cat")

    class SeesNothingTwice(FakeSame):
        def judge(self, case: Case, observations: Mapping[str, ImageObservations]) -> Conclusion:
            first = {sight.image.image_id for sight in observations.values()}
            if min(first) < "8":
                return Conclusion(outcome=Outcome.UNDECIDED, reason="too dark")
            return super().judge(case, observations)

    check = bound("check", SeesNothingTwice, "fake-same")
    found = run(tmp_path, n=10, repeats=3, control=True, detector=blind, checks=(check,))
    controls = [v for v in found if v.arm == "control"]
    assert {v.outcome for v in controls} >= {Outcome.UNDECIDED}
    assert any(v.scores["n_compared"] < 6 for v in controls)
    for verdict in controls:
        assert ("excess" in verdict.scores) == all(
            f"differs_{name}" in verdict.scores for name in ("between", "within_a", "within_b")
        )
        assert (verdict.reason == "too dark") == (verdict.outcome is Outcome.UNDECIDED)


def test_with_many_repeats_each_meets_eight_others(tmp_path: Path) -> None:
    found = run(tmp_path, n=1, repeats=12, control=True)
    assert {v.scores["n_compared"] for v in found if v.arm == "control"} == {24.0}


def test_control_with_one_repeat_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"\[flag-needed\]"):
        run(tmp_path / "run", control=True)
    assert not (tmp_path / "run").exists()


def test_a_judge_is_asked_in_waves_and_given_what_the_detector_saw(tmp_path: Path) -> None:
    CALLS.clear()
    found = run(
        tmp_path,
        n=4,
        judges=(bound("judge", FakeJudge, "counter"),),
        checks=(bound("check", FakeAnswers, "answers"),),
    )
    assert [(v.observers, v.scores) for v in found] == [(("fake-detector", "counter"), {"n_answers": 2.0})] * 4
    assert (CALLS["detect"], CALLS["judge"]) == (8, 16)
    with open_run(tmp_path) as store:
        looks = store.observations_of(found[0].images["a"])
    assert [(look.query.role, look.query.text) for look in looks] == [
        ("detector", ""),
        ("judge", looks[1].query.text),
        ("judge", looks[2].query.text),
    ]
    assert all(look.given == {"detector": looks[0].key()} for look in looks[1:])


def test_every_judge_has_its_own_verdict_and_relations_without_one_are_judged_once(tmp_path: Path) -> None:
    judges = (bound("judge", FakeJudge, "one"), bound("judge", FakeJudge, "two", bias=-2))
    checks = (bound("check", FakeSame, "same"), bound("check", FakeAnswers, "answers"))
    CALLS.clear()
    spec = fake_spec(3, judges=judges, checks=checks, reader=bound("reader", FakeReader, "reader"))
    summary = execute(spec, tmp_path, SilentProgress())
    found = verdicts(tmp_path)
    assert sum(summary.outcomes.values()) == len(found) == 9
    assert Counter((v.check, v.observers) for v in found) == {
        ("same", ("fake-detector", "reader")): 3,
        ("answers", ("fake-detector", "one")): 3,
        ("answers", ("fake-detector", "two")): 3,
    }
    assert CALLS["detect"] == 6, "two judges share what the detector saw"
    by_judge = {v.observers[-1]: v.scores["n_answers"] for v in found if v.check == "answers"}
    assert by_judge == {"one": 2.0, "two": 1.0}, "a count of 0 is not asked about further"


def test_a_perceiver_whose_need_is_not_bound_is_refused_before_anything_is_painted(tmp_path: Path) -> None:
    CALLS.clear()
    with pytest.raises(UsageError, match=r"--detector .*\n.*\[detector-missing\]"):
        run(
            tmp_path / "run",
            detector=None,
            judges=(bound("judge", FakeJudge, "counter"),),
            checks=(bound("check", FakeAnswers, "answers"),),
        )
    assert CALLS["render"] == 0


def test_a_relation_that_breaks_fails_its_verdict_and_no_other(tmp_path: Path) -> None:
    class Fragile(FakeSame):
        def judge(self, case: Case, observations: Mapping[str, ImageObservations]) -> Conclusion:
            raise IndexError("list index out of range")

    found = run(tmp_path, n=3, checks=(bound("check", FakeSame, "same"), bound("check", Fragile, "fragile")))
    assert Counter((v.check, v.outcome) for v in found) == {
        ("same", Outcome.PASS): 3,
        ("fragile", Outcome.ERROR): 3,
    }
    (reason,) = {v.reason for v in found if v.check == "fragile"}
    assert re.fullmatch(
        r"the check 'fragile' failed: IndexError: list index out of range \(in test_verdicts.py line \d+\)", reason
    )


def test_a_relation_that_cannot_even_say_what_it_wants_is_named(tmp_path: Path) -> None:
    class Confused(FakeSame):
        def applies(self, case: Case) -> bool:
            raise KeyError("modifier")

    CALLS.clear()
    with pytest.raises(PluginError, match=r"'confused'.*'fake-0-cat-dog': KeyError: 'modifier'.*\[component-failed\]"):
        run(tmp_path, checks=(bound("check", Confused, "confused"),))
    assert CALLS["render"] == 0


def test_a_relation_that_never_stops_asking_is_stopped(tmp_path: Path) -> None:
    from collections.abc import Collection, Sequence

    from salva.core.protocols import Need, Query

    class Curious(FakeSame):
        def needs(
            self, case: Case, roles: Collection[str], observations: Mapping[str, ImageObservations]
        ) -> Sequence[Need]:
            n = len(observations["a"].seen)
            return [Need(role="a", query=Query(role="detector", text=f"and {n}?"))]

    with pytest.raises(PluginError, match=r"'curious' .* 100 waves") as stopped:
        run(tmp_path, n=1, checks=(bound("check", Curious, "curious"),))
    assert stopped.value.code == "check-endless"


def test_a_case_no_relation_applies_to_is_not_painted(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    class Picky(FakeSame):
        def applies(self, case: Case) -> bool:
            return case.labels["first"] == "cat"

    CALLS.clear()
    found = run(tmp_path, n=30, checks=(bound("check", Picky, "picky"),))
    assert len(found) == 5
    assert CALLS["render"] == 10
    assert "[cases-unchecked]" in capsys.readouterr().err
    assert read_records(tmp_path).is_whole, "the report must not wait for them"
