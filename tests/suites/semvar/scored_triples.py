"""Triples with scores drawn at random, for every test of the tables made of them."""

from __future__ import annotations

import random
from collections.abc import Sequence

from judged import judged

from salva.core.case import Case, Prompt
from salva.core.judgements import RunCheck
from salva.core.options import NoOptions
from salva.core.protocols import Measured
from salva.core.table import Cell, Table
from salva.core.verdict import Failure, Outcome, Verdict
from salva.suites.semvar.rows import finding
from salva.suites.semvar.tables import SemVarTables

CATEGORIES = ("color", "color,size", "size", "action", "action,color", "unlabelled")
ASPECT = {"color": "attribute-value", "size": "attribute-comparison", "action": "relation", "unlabelled": "unlabelled"}
NAMES = ("s_a_a", "s_pv_pv", "s_pi_pi", "s_a_pv", "s_pv_a", "s_a_pi", "s_pi_a")


def case(i: int) -> Case:
    category = CATEGORIES[i % len(CATEGORIES)]
    aspects = ",".join(dict.fromkeys(ASPECT[name] for name in category.split(",")))
    texts = {"a": f"cat number {i} chases dog", "pv": f"dog number {i} chases cat", "pi": f"cat {i} hunts a dog"}
    return Case(
        case_id=f"semvar-{i}",
        suite="semvar",
        category=category.split(",")[0],
        prompts=tuple(Prompt(role=role, text=text) for role, text in texts.items()),
        checks=("semantic-effect",),
        labels={"category": category, "aspect": aspects, "id": str(i)},
        cluster=f"template {i % 7}",
        findings=(finding("equal-texts", "so nothing is decided", "T_pv", "T_pi"),) if i == 3 else (),
    )


def verdict(i: int, repeat: int = 0, judge: str = "judge", **more: float) -> Verdict:
    rng = random.Random(f"{i}/{repeat}/{judge}")
    s = {name: rng.randint(0, 100) / 100 for name in NAMES}
    gamma_w = abs(s["s_a_pv"] - s["s_a_a"]) + abs(s["s_pv_pv"] - s["s_pv_a"])
    gamma_wo = abs(s["s_a_pi"] - s["s_a_a"]) + abs(s["s_pi_pi"] - s["s_pi_a"])
    scores = {**s, "gamma_w": gamma_w, "gamma_wo": gamma_wo, "kappa": gamma_w - gamma_wo}
    scores["alignment"] = (s["s_a_a"] + s["s_pv_pv"] + s["s_pi_pi"]) / 3
    holds = scores["kappa"] > 0.5
    failure = Failure(failure_type="reversed-role", role="pv", message="shows the swapped text")
    return Verdict(
        case_id=f"semvar-{i}",
        repeat=repeat,
        arm="pair",
        model="painter",
        check="semantic-effect",
        observers=tuple(judge.split("+")),
        outcome=Outcome.PASS if holds else Outcome.FAIL,
        failure_types=() if holds else ("reversed-role",),
        failures=() if holds else (failure,),
        scores={**scores, **more},
    )


CASES = [case(i) for i in range(60)]


def measured(verdicts: Sequence[Verdict], cases: Sequence[Case] = CASES) -> Measured:
    checks = {"semantic-effect": RunCheck(needs=("judge",)), "truth": RunCheck()}
    first = next((verdict.observers for verdict in verdicts), ())
    return SemVarTables(NoOptions()).measure(judged(cases, verdicts, checks, deciding=first))


def value(found: Measured, name: str) -> float:
    """A metric that was measured."""
    number = found.metrics[name].value
    assert number is not None
    return number


def table(found: Measured, name: str) -> Table:
    """The table of this name; what it is like in the paper follows in brackets."""
    return next(one for one in found.tables if one.name.partition(" (")[0] == name)


def rows(found: Measured, name: str) -> list[dict[str, Cell]]:
    one = table(found, name)
    return [dict(zip(one.columns, row, strict=True)) for row in one.rows]
