"""Small records and helpers that everybody uses."""

from __future__ import annotations

import threading
from dataclasses import replace

import msgspec
import pytest

import salva
from salva.core.case import Case, Finding, Prompt, case_from_json, case_to_json, unit_of
from salva.core.decoding import decoded
from salva.core.exchange import Flaw
from salva.core.fingerprint import canonical_json, derive_seed, fingerprint
from salva.core.judgements import CaseVerdict, Judgements, RunCheck
from salva.core.mutation import Mutation, Pool
from salva.core.own_figure import OwnFigure
from salva.core.run_file import FORMAT, Judging, new_run_file
from salva.core.run_spec import ComponentSpec, RunSpec
from salva.core.source import RunRecords
from salva.core.threads import any_left_behind, start_thread
from salva.core.verdict import Failure, Outcome, Verdict, failure_types_of, observers_text
from salva.core.versions import installed_version
from salva.errors import StoreError, UsageError

CASE = Case(
    case_id="c-1",
    suite="s",
    category="c",
    prompts=(Prompt(role="a", text="x"), Prompt(role="b", text="y")),
    checks=("truth",),
    measures=("same-scene",),
    counts="at-least",
)
VERDICT = Verdict(
    case_id="c-1", repeat=0, arm="pair", model="m", check="truth", observers=("d", "j"), outcome=Outcome.PASS
)


def test_a_prompt_is_found_by_its_role() -> None:
    assert [CASE.prompt(role).text for role in "ab"] == ["x", "y"]
    assert case_from_json(case_to_json(CASE)) == CASE
    plain = case_to_json(replace(CASE, measures=(), counts="exact"))
    assert not {"measures", "counts"} & plain.keys()


def test_two_images_of_one_wording_differ_by_nothing() -> None:
    assert CASE.within("a") is CASE
    before, after = Pool(entities=("dog",)), Pool(entities=("cat",))
    mutated = replace(CASE, mutation=Mutation(operator="ec", seed=before, mutant=after))
    assert mutated.within("a").mutation == Mutation(operator="ss", seed=before, mutant=before)
    assert mutated.within("b").mutation == Mutation(operator="ss", seed=after, mutant=after)


def test_cases_are_pairs_where_all_have_two_prompts() -> None:
    single = replace(CASE, prompts=CASE.prompts[:1])
    assert (unit_of([CASE, CASE]), unit_of([CASE, single]), unit_of([single])) == ("pairs", "cases", "cases")


def test_findings_are_counted_under_what_they_share() -> None:
    assert Finding(kind="k-1", sentence="s", general="g").shared == "g"
    assert Finding(kind="k", sentence="s").shared == "s"
    with pytest.raises(ValueError, match="K_1"):
        Finding(kind="K_1", sentence="s")


def test_fingerprints_are_the_same_everywhere() -> None:
    assert canonical_json({"b": (1, None), "a": "é"}) == '{"a":"é","b":[1,null]}'
    assert fingerprint("\ud800") != fingerprint("a")
    assert len(fingerprint(1)) == 32
    # Seeds of stored runs: another value would generate every image again.
    assert [derive_seed(0, "a-1", repeat) for repeat in (0, 1)] == [424447367, 2094680752]


def test_failure_types_stand_in_the_order_of_the_check() -> None:
    failures = [Failure(failure_type=name, role="a", message="m") for name in ("z", "b", "new", "a", "b")]
    assert failure_types_of(failures, ("a", "b", "z")) == ("a", "b", "z", "new")
    assert failure_types_of(failures) == ("z", "b", "new", "a")
    assert observers_text(("d", "j+k")) == "d+j+k"


def test_judgements_give_the_first_verdict_of_a_check_for_every_unit() -> None:
    first, other, later = (
        replace(VERDICT, observers=who, repeat=n) for who, n in ((("d",), 0), (("e",), 0), (("e",), 1))
    )
    found = Judgements(
        cases=(CASE,),
        pairs=tuple(CaseVerdict(CASE, verdict) for verdict in (first, other, later)),
        checks={"own": RunCheck(needs=("judge",)), "truth": RunCheck(options={"counts": "exact"})},
    )
    assert [pair.verdict for pair in found.of_check("truth")] == [first, later]
    assert found.of_check("none") == ()
    assert (found.options_of("truth"), found.options_of("none")) == ({"counts": "exact"}, {})
    assert found.observer_of(VERDICT) == "d+j"
    assert found.observer_of(replace(VERDICT, check="own")) == "j", "of a check that asks a judge the judge"


def test_records_know_their_suite_and_models() -> None:
    asked = RunSpec(
        suite=ComponentSpec(role="suite", name="asked"), models=(ComponentSpec(role="model", name="first"),)
    )
    records = RunRecords(cases=(CASE,), verdicts=(VERDICT, replace(VERDICT, model="first")), asked=asked)
    assert (records.suite, records.models) == ("s", ("first", "m"))
    assert replace(records, cases=()).suite == "asked"


def test_a_flaw_is_shown_with_its_place() -> None:
    assert str(Flaw(file="f.csv", where="line 3", what="no id")) == "f.csv line 3: no id"
    assert str(Flaw(file="f.csv", what="empty")) == "f.csv: empty"


def test_a_run_is_judged_as_asked_unless_it_was_judged_again() -> None:
    asked = new_run_file(RunSpec(seed=1))
    again = Judging(spec=RunSpec(seed=1, check="truth"))
    assert asked.format == FORMAT
    assert asked.current_judging() == Judging(spec=RunSpec(seed=1))
    assert new_run_file(RunSpec(seed=1), judging=again).current_judging() == again


def test_a_figure_is_the_mean_of_its_one_term_unless_it_says_another() -> None:
    figure = OwnFigure(name="k", title="k", terms=lambda _: (0.5,))
    assert figure.of_means([0.25, 4.0]) == 0.25


class _File(msgspec.Struct, forbid_unknown_fields=True):
    n: int


@pytest.mark.parametrize(("form", "text"), [("json", '{"n": 3}'), ("toml", "n = 3")])
def test_a_text_is_decoded_by_its_form(form: str, text: str) -> None:
    assert decoded(text, _File, "f", form) == _File(n=3)  # type: ignore[arg-type]  # parametrised


@pytest.mark.parametrize(
    ("text", "where"),
    [('{"n": "x"}', ", n: "), ("{", "as a whole"), ("[" * 200_000, "as a whole"), ('{"m": 1}', "whole")],
)
def test_what_does_not_fit_is_an_error_with_its_place(text: str, where: str) -> None:
    with pytest.raises(UsageError, match=where) as refused:
        decoded(text, _File, "a.json")
    assert refused.value.code == "file-invalid"
    with pytest.raises(StoreError):
        decoded(text, _File, "a.json", error=StoreError)


def test_a_thread_at_work_is_known_until_it_ends() -> None:
    assert not any_left_behind()
    go_on = threading.Event()

    def wait() -> None:
        go_on.wait()

    thread = start_thread(wait, "tests")
    assert any_left_behind()
    assert thread.daemon
    go_on.set()
    thread.join()
    assert not any_left_behind()


def test_versions_of_packages() -> None:
    assert installed_version("salva") == salva.__version__
    assert installed_version("no-such-package-1") is None
