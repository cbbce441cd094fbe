"""An earlier run guides what is drawn, and its verdicts are part of the key."""

from __future__ import annotations

from pathlib import Path

import pytest

import salva
from salva.core.run_spec import ComponentSpec
from salva.errors import UsageError
from salva.exchange.exporting import export_run
from salva.registry import bind
from salva.suites.actesting.guide import read_guide
from salva.suites.actesting.suite import Actesting, ActestingOptions

_HEADER = "case_id,outcome,label.entity,label.predicate,is_primary\n"


def _sheet(path: Path, *rows: str) -> str:
    path.write_text(_HEADER + "".join(f"{row}\n" for row in rows))
    return str(path)


def test_shares_are_over_decided_cases(tmp_path: Path) -> None:
    path = _sheet(
        tmp_path / "v.csv",
        'a,PASS,dog,"on,above",true',
        "b,FAIL,dog,on,true",
        "c,UNDECIDED,dog,on,true",
        "d,FAIL,dog,on,false",
    )
    assert read_guide(path) == {("dog", "on"): 0.5, ("dog", "above"): 1.0}


def test_a_run_says_what_the_csv_of_its_verdicts_says(tmp_path: Path) -> None:
    run = salva.run_suite(
        "actesting",
        "painter",
        reader="none",
        size="12",
        control=True,
        out=tmp_path / "run",
        settings={"model.faults": "entity-omission:0.4", "suite.operators": "ec,er-a"},
    )
    export_run(run.directory, "csv", tmp_path / "verdicts.csv")
    shares = read_guide(str(run.directory))
    assert shares == read_guide(str(tmp_path / "verdicts.csv"))
    assert 0 < sum(shares.values()) < len(shares), "some things held and others did not"


def test_a_guide_changes_what_is_drawn_and_the_key(tmp_path: Path) -> None:
    things = [case.labels["entity"] for case in Actesting(ActestingOptions(operators=("ec",))).cases("full")]
    weak = "giraffe"
    rows = [
        f"{i},{'FAIL' if name == weak else 'PASS'},{name},{p},true"
        for i, name in enumerate(set(things))
        for p in ("above", "under", "left of", "right of", "next to")
    ]
    path = _sheet(tmp_path / "v.csv", *rows)
    guided = Actesting(ActestingOptions(operators=("ec",), guide=path))
    drawn = [case for case in guided.cases("full") if case.labels["entity"] == weak]
    assert len(drawn) > 5 * things.count(weak)
    assert {case.labels["density"] for case in drawn} == {"low"}
    assert all(float(case.labels["weight"]) < 1 for case in drawn)
    plain, keyed = (
        bind(ComponentSpec(role="suite", name="actesting", options=options)).identity
        for options in ({}, {"guide": path})
    )
    assert plain != keyed
    before = ActestingOptions(guide=path)
    digest = Actesting.weights(before)
    _sheet(tmp_path / "v.csv", *rows[1:])
    assert Actesting.weights(before) != digest


def test_two_draws_in_one_mutant_weigh_as_their_product(tmp_path: Path) -> None:
    """Only things next to something are told apart here, so that most exchanges are draws of one level."""
    path = _sheet(tmp_path / "v.csv", "0,FAIL,chair,next to,true", "1,PASS,table,next to,true")
    cases = Actesting(ActestingOptions(operators=("er-a", "ec+er-a"), guide=path)).cases("full")
    by_operator: dict[str, dict[str, dict[str, str]]] = {}
    for case in cases:
        by_operator.setdefault(case.category, {})[case.labels["image"]] = dict(case.labels)
    both = [
        (labels["weight"], by_operator["er-a"][image]["weight"])
        for image, labels in by_operator["ec+er-a"].items()
        if not labels["predicate"].startswith("next to")
    ]
    assert sum(added != "1" for _, added in both) >= 10
    assert all(composed == added for composed, added in both)


def test_weights_undo_the_guidance(tmp_path: Path) -> None:
    things = sorted({case.labels["entity"] for case in Actesting(ActestingOptions(operators=("ec",))).cases("full")})
    weak = set(things[:5])
    rows = [
        f"{i},{'FAIL' if name in weak else 'PASS'},{name},{p},true"
        for i, name in enumerate(things)
        for p in ("above", "under", "left of", "right of", "next to")
    ]
    path = _sheet(tmp_path / "v.csv", *rows)
    cases = [
        case
        for seed in range(4)
        for case in Actesting(ActestingOptions(operators=("ec",), guide=path, seed=seed)).cases("full")
    ]
    weight = [float(case.labels["weight"]) for case in cases]
    drawn = sum(case.labels["entity"] in weak for case in cases) / len(cases)
    weighted = sum(w for w, case in zip(weight, cases, strict=True) if case.labels["entity"] in weak) / sum(weight)
    assert drawn > 0.5
    assert weighted == pytest.approx(5 / len(things), abs=0.03)


def test_no_run_and_a_run_of_nothing_are_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="guide-invalid"):
        read_guide(str(tmp_path / "nowhere"))
    with pytest.raises(UsageError, match="guide-invalid"):
        read_guide(str(tmp_path))
    with pytest.raises(UsageError, match="guide-invalid"):
        read_guide(_sheet(tmp_path / "v.csv", "c,ERROR,dog,on,true"))
