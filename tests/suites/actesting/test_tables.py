"""ACTesting's tables: numbers computed by hand, noise floors, and the paper's own sentences."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from statistics import mean
from typing import Any

import pytest
from judged import judged
from suites.actesting.pictures import MUTATIONS

from salva.core.case import Case, Prompt
from salva.core.judgements import RunCheck
from salva.core.metric import LOWER
from salva.core.mutation import Mutation, Pool, Triple
from salva.core.options import NoOptions
from salva.core.protocols import Measured
from salva.core.table import Cell, Table
from salva.core.verdict import CONTROL, PAIR, Outcome, Verdict
from salva.english.captions.reading import nesting
from salva.stats.rates import Counted, seeds_interval
from salva.suites.actesting.published import ORIG, SETS, TABLE_1, TABLE_2
from salva.suites.actesting.tables import ActestingTables

RELATION = {"ec": "entity-change", "er-r": "triple-removal", "er-a": "triple-addition", "ss": "unchanged"}
RELATION |= {"ec+er-r": "triple-removal", "ec+er-a": "triple-addition"}


def case(operator: str, image: int, **labels: str) -> Case:
    return Case(
        case_id=f"c{image}-{operator.replace('+', '-')}",
        suite="actesting",
        category=operator,
        prompts=(Prompt(role="a", text=f"seed {image}"), Prompt(role="b", text=f"{operator} {image}")),
        checks=(RELATION[operator],),
        labels={"operator": operator, **labels},
        cluster=f"image {image}",
        mutation=MUTATIONS[operator],
        painting=f"caption {image}",
    )


def verdict(of: Case, scores: Mapping[str, float], arm: str = PAIR, **changes: Any) -> Verdict:
    fields: dict[str, Any] = {
        "case_id": of.case_id,
        "repeat": 0,
        "arm": arm,
        "model": "m",
        "check": of.check,
        "observers": ("d",),
        "outcome": Outcome.PASS,
        "scores": scores,
    }
    return Verdict(**{**fields, **changes})


def shown(entities: int, triples: int, told: int = 3) -> dict[str, float]:
    """Of four things and three triples in the seed's caption so many; of the mutant's as many of its own."""
    return {
        "named_a": float(entities),
        "entities_a": 4.0,
        "shown_triples_a": float(triples),
        "decided_triples_a": float(told),
        "named_b": 3.0,
        "entities_b": 4.0,
        "shown_triples_b": 2.0,
        "decided_triples_b": 3.0,
    }


def measured(cases: Iterable[Case], verdicts: Iterable[Verdict], definition: str = "expected") -> Measured:
    checks = {name: RunCheck(compares=True, options={"definition": definition}) for name in RELATION.values()}
    return ActestingTables(NoOptions()).measure(judged(list(cases), list(verdicts), checks, deciding=("d",)))


def rows(table: Table) -> list[dict[str, Cell]]:
    return [dict(zip(table.columns, row, strict=True)) for row in table.rows]


def table_of(found: Measured, name: str) -> list[dict[str, Cell]]:
    return rows(next(table for table in found.tables if table.name == name))


def test_errors_have_their_own_denominators() -> None:
    cases = [case("ec", i) for i in range(4)]
    scores: list[dict[str, float]] = [
        {"expected.entity_error": 1.0, "expected.relation_error": 0.0},
        {"expected.entity_error": 0.0},
        {"expected.entity_error": 0.0, "expected.relation_error": 1.0},
        {},
    ]
    found = measured(cases, map(verdict, cases, scores))
    by_kind = {row["error"]: row for row in table_of(found, "errors by operator") if row["definition"] == "expected"}
    assert (by_kind["Error_e"]["rate"], by_kind["Error_e"]["n"], by_kind["Error_e"]["undecided"]) == (1 / 3, 3, 1)
    assert (by_kind["Error_r"]["rate"], by_kind["Error_r"]["n"], by_kind["Error_r"]["undecided"]) == (1 / 2, 2, 2)
    assert by_kind["Error_e"]["noise_rate"] is None
    assert (by_kind["Error_e"]["low"], by_kind["Error_e"]["high"]) == (None, None), "three images are too few"
    assert found.metrics["entity_error"].value == 1 / 3


def test_an_error_is_a_mean_over_the_operators_without_the_baseline() -> None:
    cases = [case("ec+er-a", 1), case("ec+er-a", 2), case("ss", 1), case("ec", 1), case("er-r", 1)]
    wrong: list[dict[str, float]] = [{"expected.entity_error": float(n < 2)} for n in range(4)]
    error = measured(cases, map(verdict, cases, [*wrong, {}])).metrics["entity_error"]
    assert (error.value, error.n, error.better) == (0.5, 3, LOWER), "1 of ec+er-a and 0 of ec"
    interval = seeds_interval([Counted(category="a", n_hits=1, n=1)] * 2 + [Counted(category="b", n_hits=0, n=1)])
    assert interval is not None
    assert error.interval == (interval.low, interval.high)
    for words in ("mean over ec, ec+er-a", "er-r undecided", "synonyms alone 0.0 %"):
        assert words in error.reason
    none = measured(cases, [verdict(one, {}) for one in cases]).metrics["relation_error"]
    assert (none.value, none.interval, none.n) == (None, None, 0)
    assert "no pair is decided" in none.reason


def test_misses_of_the_captions_are_metrics() -> None:
    cases = [case(operator, image) for image in range(3) for operator in ("ec", "er-a")]
    metrics = measured(cases, [verdict(one, shown(3, 1, 2)) for one in cases]).metrics
    assert (metrics["miss_e"].value, metrics["miss_e"].n) == (1 / 4, 12)
    assert (metrics["miss_r"].value, metrics["miss_r"].n) == (1 / 2, 6)
    none = measured(cases, [verdict(one, {}) for one in cases]).metrics["miss_e"]
    assert (none.value, none.interval, none.n) == (None, None, 0)


def test_the_paper_s_figures_stand_beside_its_own_definition_alone() -> None:
    one = case("ec", 0)
    by_definition = {
        name: {key: metric.published for key, metric in measured([one], [verdict(one, {})], name).metrics.items()}
        for name in ("expected", "paper")
    }
    assert set(by_definition["expected"].values()) == {None}
    assert by_definition["paper"] == {
        "entity_error": 0.6,
        "relation_error": 0.6,
        "miss_e": pytest.approx((0.1834 + 0.2076 + 0.1844 + 0.2364) / 4),
        "miss_r": pytest.approx((0.3227 + 0.3206 + 0.3360 + 0.3395) / 4),
    }
    assert by_definition["paper"].keys() == ActestingTables.about.metrics.keys()


def test_the_deciding_observers_and_the_operators_own_checks_are_counted_alone() -> None:
    one = case("ec", 0)
    wrong, right = {"expected.entity_error": 1.0}, {"expected.entity_error": 0.0}
    verdicts = [
        verdict(one, right, observers=("another",)),
        verdict(one, wrong),
        verdict(one, right, check="before-it"),
    ]
    assert measured([one], verdicts).metrics["entity_error"].value == 1.0
    table = table_of(measured([one], verdicts), "errors by operator")
    assert [row["n"] for row in table if row["definition"] == "expected" and row["error"] == "Error_e"] == [1]


def test_the_noise_floor_stands_beside_every_bar() -> None:
    cases = [case("ec", 1), case("ss", 1)]
    pairs = [verdict(one, {"expected.entity_error": 1.0, "expected.relation_error": 1.0}) for one in cases]
    controls = [
        verdict(one, {"expected.entity_error.within_a": 0.25, "expected.relation_error.within_a": 0.5}, CONTROL)
        for one in cases
    ]
    found = measured(cases, [*pairs, *controls])
    floors = {row["error"]: row["noise_rate"] for row in table_of(found, "errors by operator") if row["rate"] == 1.0}
    assert floors == {"Error_e": 0.25, "Error_r": 0.5}
    figure = next(chart for chart in found.charts if chart.name == "actesting-error-e")
    assert [row[:3] for row in figure.table.rows] == [
        ("ec", "Error_e", 1.0),
        ("ec", "another seed alone", 0.25),
        ("ss", "Error_e", 1.0),
        ("ss", "another seed alone", 0.25),
    ]
    assert "another seed alone 25.0 %" in found.metrics["entity_error"].reason


def test_a_seeds_picture_counts_once_however_many_mutants_it_serves() -> None:
    cases = [case(operator, image) for image in range(3) for operator in ("ec", "er-a", "ss")]
    found = measured(cases, [verdict(one, shown(3, 1, 2)) for one in cases])
    by_set = {(row["set"], row["miss"]): row for row in table_of(found, "misses by set")}
    things, triples = by_set["orig", "Miss_e"], by_set["orig", "Miss_r"]
    assert (things["rate"], things["n"]) == (1 / 4, 3 * 4)
    assert (triples["rate"], triples["n"], triples["undecided"]) == (1 / 2, 6, 3)
    assert by_set["ec", "Miss_r"]["rate"] == 1 / 3
    assert by_set["ec", "Miss_r"]["change_rate"] == pytest.approx((1 / 3) / (1 / 2) - 1)
    assert things["change_rate"] is None
    assert by_set["ec", "Miss_e"]["change_rate"] == 0


def test_operators_stand_over_the_baseline() -> None:
    cases = [case(operator, image) for image in range(8) for operator in ("ec", "ss")]
    wrong = {"ec": 4, "ss": 2}
    pairs = [
        verdict(one, {"expected.entity_error": float(int(one.cluster[-1]) < wrong[one.category])}) for one in cases
    ]
    found = measured(cases, pairs)
    row = next(row for row in table_of(found, "errors by operator") if row["operator"] == "ec")
    assert (row["rate"], row["n"]) == (1 / 2, 8)
    assert isinstance(row["low"], float)
    assert isinstance(row["high"], float)
    assert 0 <= row["low"] < 1 / 2 < row["high"] <= 1
    row = next(row for row in table_of(found, "operators over ss") if row["error"] == "Error_e")
    assert row["change_rate"] == 1.0
    assert isinstance(row["low"], float)
    assert row["low"] < 1.0


def test_guided_samples_are_reweighted_and_both_are_shown() -> None:
    cases = [case("ec", 0, weight="0.5"), case("ec", 1, weight="1.5")]
    pairs = [verdict(one, {"expected.entity_error": float(i)}) for i, one in enumerate(cases)]
    row = table_of(measured(cases, pairs), "errors by operator")[0]
    assert (row["rate"], row["reweighted_rate"]) == (0.5, 0.75)
    plain = [case("ec", 0, weight="1"), case("ec", 1)]
    assert (
        "reweighted_rate" not in table_of(measured(plain, [verdict(one, {}) for one in plain]), "errors by operator")[0]
    )


def test_published_figures_stand_beside_the_published_rule_alone() -> None:
    one = case("ec", 0)
    names = {
        definition: {table.name for table in measured([one], [verdict(one, {})], definition).tables}
        for definition in ("expected", "paper")
    }
    assert names["paper"] - names["expected"] == {"published misses", "published quality"}


def test_nothing_decided_gives_no_number_and_no_crash() -> None:
    one = case("ec", 0)
    found = measured([one], [verdict(one, {}, outcome=Outcome.ERROR)])
    assert found.metrics["entity_error"].value is None
    assert not any(chart.name.startswith("actesting-error") for chart in found.charts)
    assert measured([], []) == Measured()


@pytest.mark.parametrize(
    ("triples", "depth"),
    [((), 0), (("ab",), 1), (("ab", "cb"), 1), (("ab", "bc"), 2), (("ab", "bc", "cd"), 3), (("ab", "ba"), 1)],
)
def test_nesting_is_the_longest_chain(triples: tuple[str, ...], depth: int) -> None:
    said = tuple(Triple(subject=pair[0], predicate="on", object=pair[1]) for pair in triples)
    assert nesting(Pool(entities=tuple("abcd"), triples=said)) == depth


def test_a_mutation_against_itself_changes_nothing() -> None:
    for mutation in MUTATIONS.values():
        for is_seed in (True, False):
            still = mutation.against_itself(is_seed=is_seed)
            changed = (*still.added_entities, *still.removed_entities, *still.added_triples, *still.removed_triples)
            assert not changed
            assert still == Mutation(operator="ss", seed=still.seed, mutant=still.seed)


# The paper's sentences, from its own tables

_PAGE = Path(__file__).parents[3] / "docs/explanation/paper-claims.md"


def _changes(operator: str, figure: str, base: str = ORIG) -> list[float]:
    rows_of = TABLE_1.values()
    return [100 * (getattr(row[operator], figure) / getattr(row[base], figure) - 1) for row in rows_of]


def _over(kind: str, both: str, single: str) -> float:
    pairs = [(getattr(row, kind)[SETS.index(both)], getattr(row, kind)[SETS.index(single)]) for row in TABLE_2.values()]
    return float(100 * mean(a / b - 1 for a, b in pairs))


def _range(values: Iterable[float]) -> str:
    ordered = sorted(values)
    return f"{ordered[0]:.1f} to {ordered[-1]:.1f} %"


_OURS = ("ec", "er-r", "er-a")
_OPERATORS = (*_OURS, "ss")
_RECKONED = {
    "ER_A raises I-FID by about 5 % on average": f"{mean(_changes('er-a', 'fid')):.1f} %",
    "all four operators raise I-FID": "yes" if min(v for o in _OPERATORS for v in _changes(o, "fid")) > 0 else "no",
    "EC outdoes SS in I-FID": f"{mean(_changes('ec', 'fid')):.1f} % against {mean(_changes('ss', 'fid')):.1f} %",
    "I-IS falls for every software in all four sets": f"SS on Wan Xiang {_changes('ss', 'inception_score')[2]:+.1f} %",
    "EC lowers I-IS by 2.9 to 9.6 %": _range(-v for v in _changes("ec", "inception_score")),
    "ER_A lowers I-IS by 8 to 15 %": _range(-v for v in _changes("er-a", "inception_score")),
    "ER_R lowers I-IS by 1.7 to 8.8 %": _range(-v for v in _changes("er-r", "inception_score")),
    "the operators reduce quality by 2.9 to 15 % (I-IS)": _range(
        -v for o in _OURS for v in _changes(o, "inception_score")
    ),
    "ER_R and ER_A have lower I-IS than EC": "ER_R is above EC for "
    + str(sum(v > 0 for v in _changes("er-r", "inception_score", "ec")))
    + " of 4",
    "ER_R and ER_A have higher I-FID than EC": "ER_R is below EC for "
    + str(sum(v < 0 for v in _changes("er-r", "fid", "ec")))
    + " of 4",
    "the operators decrease consistency by 7.5 to 21.1 % (RP)": _range(
        -v for o in _OURS for v in _changes(o, "r_precision")
    ),
    "EC lowers RP by 16.4 to 21.1 %": _range(-v for v in _changes("ec", "r_precision")),
    "ER_R lowers RP by 7.5 % on average": f"{-mean(_changes('er-r', 'r_precision')):.1f} %",
    "ER_A lowers RP by 8.4 % on average": f"{-mean(_changes('er-a', 'r_precision')):.1f} %",
    "consistency falls by up to 20 % against the baseline": f"{-min(_changes('ec', 'r_precision', 'ss')):.1f} %",
    "Miss_e of EC+ER_A is 26 % above EC": f"{_over('entities', 'ec+er-a', 'ec'):.1f} %",
    "Miss_e of EC+ER_A is 29.1 % above ER_A": f"{_over('entities', 'ec+er-a', 'er-a'):.1f} %",
    "Miss_e of EC+ER_R is 5.5 % above EC": f"{_over('entities', 'ec+er-r', 'ec'):.1f} %",
    "Miss_e of EC+ER_R is 31.3 % above ER_R": f"{_over('entities', 'ec+er-r', 'er-r'):.1f} %",
    "Miss_r of EC+ER_A is 5.1 % above EC": f"{_over('relations', 'ec+er-a', 'ec'):.1f} %",
    "Miss_r of EC+ER_A is 7.2 % above ER_A": f"{_over('relations', 'ec+er-a', 'er-a'):.1f} %",
    "Miss_r of EC+ER_R is 1.8 % above EC": f"{_over('relations', 'ec+er-r', 'ec'):.1f} %",
    "Miss_r of EC+ER_R is 10.8 % above ER_R": f"{_over('relations', 'ec+er-r', 'er-r'):.1f} %",
    "both compositions miss more than any single operator": str(
        sum(both > max(misses[1:4]) for row in TABLE_2.values() for misses in row for both in misses[4:])
    )
    + " of 16 cells",
    "Miss_r of every operator is above the seeds'": "ER_R is below for "
    + str(sum(row.relations[SETS.index("er-r")] < row.relations[0] for row in TABLE_2.values()))
    + " of 4",
    "more entities are missed than relations": "in "
    + str(sum(e > r for row in TABLE_2.values() for e, r in zip(*row, strict=True)))
    + " of 24 cells",
}


def test_the_papers_sentences_are_documented_as_its_tables_reckon_them() -> None:
    lines = [
        [cell.strip() for cell in line.strip().strip("|").split("|")]
        for line in _PAGE.read_text().splitlines()
        if line.startswith("|")
    ]
    documented = {row[0]: (row[1], row[2]) for row in lines if len(row) == 3 and row[2] in ("holds", "fails")}
    assert {sentence: value for sentence, (value, _) in documented.items()} == _RECKONED
    assert documented["ER_A raises I-FID by about 5 % on average"][1] == "fails"
    assert documented["EC outdoes SS in I-FID"][1] == "fails"
    assert documented["Miss_r of every operator is above the seeds'"][1] == "fails"
