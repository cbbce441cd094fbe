"""An earlier run guides what is drawn, and its verdicts are part of the key."""

from __future__ import annotations

import json
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from salva.core.run_spec import ComponentSpec, RunSpec
from salva.engine.progress import SilentProgress
from salva.errors import UsageError
from salva.registry import bind
from salva.runs.pipeline import execute
from salva.runs.plans import make_plan
from salva.suites.actesting.guide import read_guide
from salva.suites.actesting.suite import Actesting, ActestingOptions

_Judged = tuple[str, str, str]
"""Outcome, entity and predicates of a case."""


def _run(folder: Path, *judged: _Judged) -> str:
    """What the guide reads of a run."""
    folder.mkdir(exist_ok=True)
    (folder / "salva.db").unlink(missing_ok=True)
    with closing(sqlite3.connect(folder / "salva.db")) as connection:
        connection.execute("CREATE TABLE cases (case_id, record, primary_check)")
        connection.execute('CREATE TABLE verdicts (case_id, repeat, model, "check", observers, arm, outcome)')
        for i, (outcome, entity, predicates) in enumerate(judged):
            case = {"labels": {"entity": entity, "predicate": predicates}}
            connection.execute("INSERT INTO cases VALUES (?, ?, ?)", (i, json.dumps(case), "entity-change"))
            for check in ("entity-change", "truth"):
                row = (i, 0, "m", check, "o", "pair", outcome if check == "entity-change" else "FAIL")
                connection.execute("INSERT INTO verdicts VALUES (?, ?, ?, ?, ?, ?, ?)", row)
        connection.commit()
    return str(folder)


def test_shares_are_over_decided_cases_and_their_own_check(tmp_path: Path) -> None:
    path = _run(tmp_path / "run", ("PASS", "dog", "on,above"), ("FAIL", "dog", "on"), ("UNDECIDED", "dog", "on"))
    assert read_guide(path) == {("dog", "on"): 0.5, ("dog", "above"): 1.0}


def test_a_real_run_is_read(tmp_path: Path) -> None:
    asked = RunSpec.of(
        suite="actesting",
        models=("painter",),
        size="12",
        control=True,
        settings={"model.faults": "entity-omission:0.4", "suite.operators": "ec,er-a"},
    )
    execute(make_plan(asked), tmp_path / "run", SilentProgress())
    shares = read_guide(str(tmp_path / "run"))
    assert 0 < sum(shares.values()) < len(shares), "some entities matched and others did not"


def test_a_guide_changes_what_is_drawn_and_the_key(tmp_path: Path) -> None:
    things = [case.labels["entity"] for case in Actesting(ActestingOptions(operators=("ec",))).cases("full")]
    weak = "giraffe"
    rows = [
        ("FAIL" if name == weak else "PASS", name, p)
        for name in sorted(set(things))
        for p in ("above", "under", "left of", "right of", "next to")
    ]
    path = _run(tmp_path / "run", *rows)
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
    _run(tmp_path / "run", *rows[1:])
    assert Actesting.weights(before) != digest


def test_two_draws_in_one_mutant_weigh_as_their_product(tmp_path: Path) -> None:
    """Only things next to something are told apart here, so that most exchanges are draws of one level."""
    path = _run(tmp_path / "run", ("FAIL", "chair", "next to"), ("PASS", "table", "next to"))
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
        ("FAIL" if name in weak else "PASS", name, p)
        for name in things
        for p in ("above", "under", "left of", "right of", "next to")
    ]
    path = _run(tmp_path / "run", *rows)
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
        read_guide(_run(tmp_path / "run", ("ERROR", "dog", "on")))
