"""The SemVarBench suite: its sizes, its labels, and cases that can be stored."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

from salva.core.case import Case
from salva.core.options import parse_options
from salva.errors import UsageError
from salva.suites.semvar.suite import SemVar, SemVarOptions


def cases(size: str, **given: str) -> list[Case]:
    return list(SemVar(parse_options(SemVarOptions, given, "suite")).cases(size))


def write(path: Path, *rows: tuple[str, ...]) -> str:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join("\t".join(row) + "\n" for row in rows), encoding="utf-8")
    return str(path)


def test_without_a_path_the_embedded_set_is_used() -> None:
    built = cases("full")
    assert len(built) == len(cases("embedded")) == 240
    assert len({case.case_id for case in built}) == 240
    first = built[0]
    assert [prompt.role for prompt in first.prompts] == ["a", "pv", "pi"]
    assert first.check == "semantic-effect"
    assert first.labels["category"] == "absolute_location"
    assert first.labels["aspect"] == "relation"
    assert all(prompt.formula for case in built for prompt in case.prompts)
    assert not any(case.equivalent for case in built)
    assert all(case.determinate for case in built)


def test_quick_takes_four_of_each_category_out_of_the_whole() -> None:
    quick = cases("quick")
    assert set(Counter(case.category for case in quick).values()) == {4}
    assert {case.case_id for case in quick} <= {case.case_id for case in cases("full")}
    assert [case.case_id for case in quick] == [case.case_id for case in cases("quick")]


def test_splits_are_sizes_and_paper_is_the_test_split(tmp_path: Path) -> None:
    write(tmp_path / "testset/test_data.txt", ("1_1", "a b", "b a", "c"))
    write(tmp_path / "trainset/train_data.txt", ("2_1", "d e", "e d", "f"), ("2_2", "g h", "h g", "i"))
    path = str(tmp_path)
    assert [case.labels["split"] for case in cases("test", path=path)] == ["test"]
    assert [case.case_id for case in cases("train", path=path)] == ["semvar-2-1", "semvar-2-2"]
    assert [case.case_id for case in cases("paper", path=path)] == ["semvar-1-1"]
    assert len(cases("full", path=path)) == 3
    assert len(cases("embedded", path=path)) == 240
    assert {case.cluster for case in cases("train", path=path)} == {"template 2"}


def test_no_pair_of_things_is_in_both_embedded_splits() -> None:
    test, train = cases("test"), cases("train")
    assert len(test) + len(train) == 240
    assert not {case.cluster for case in test} & {case.cluster for case in train}
    assert min(Counter(case.category for case in test).values()) >= 10
    assert [case.case_id for case in cases("paper")] == [case.case_id for case in test]


def test_a_split_that_is_not_there_is_refused(tmp_path: Path) -> None:
    path = write(tmp_path / "mine.tsv", ("1", "a b", "b a", "c"))
    with pytest.raises(UsageError, match=r"own \(1\).*no-cases"):
        cases("train", path=path)
    with pytest.raises(UsageError, match=r"suite\.path"):
        cases("full", categories=path)


def test_several_categories_are_joined_and_the_rarest_is_the_stratum(tmp_path: Path) -> None:
    rows = [(str(i), f"a {i}", f"b {i}", f"c {i}", "color") for i in range(3)]
    path = write(tmp_path / "mine.tsv", *rows, ("9", "x", "y", "z", "color,weight"))
    built = {case.labels["id"]: case for case in cases("full", path=path)}
    assert built["9"].labels["category"] == "color,weight"
    assert built["9"].labels["aspect"] == "attribute-value,attribute-comparison"
    assert built["9"].category == "weight"
    assert built["0"].category == "color"


def test_of_two_categories_as_rare_the_first_of_the_alphabet_is_the_stratum(tmp_path: Path) -> None:
    path = write(tmp_path / "mine.tsv", ("1", "a", "b", "c", "weight,color"), ("2", "d", "e", "f", "color,weight"))
    assert {case.category for case in cases("full", path=path)} == {"color"}


def test_a_triple_has_one_category_in_every_size(tmp_path: Path) -> None:
    """Counted in all of its split: a sample, or the other split beside it, changes nothing."""
    rare = [(f"1_{i}", f"a {i}", f"b {i}", f"c {i}", "size") for i in range(20)]
    mixed = [(f"2_{i}", f"x {i}", f"y {i}", f"z {i}", "color,size") for i in range(3)]
    training = [(f"3_{i}", f"k {i}", f"l {i}", f"m {i}", "color") for i in range(99)]
    test = write(tmp_path / "one/test_data.txt", *rare, *mixed)
    write(tmp_path / "two/test_data.txt", *rare, *mixed)
    write(tmp_path / "two/train_data.txt", *training)
    for path in (test, str(tmp_path / "two")):
        for size in ("quick", "test", "full"):
            found = {case.category for case in cases(size, path=path) if case.case_id.startswith("semvar-2-")}
            assert found <= {"color"}, (path, size)


def test_quick_takes_more_of_each_where_four_would_be_too_few(tmp_path: Path) -> None:
    few = [(str(i), f"a {i}", f"b {i}", f"c {i}", "color") for i in range(40)]
    assert len(cases("quick", path=write(tmp_path / "one.tsv", *few))) == 18
    assert len(cases("quick", path=write(tmp_path / "two.tsv", *few[:7]))) == 7


def test_every_entity_that_a_right_image_must_show_is_named(tmp_path: Path) -> None:
    path = tmp_path / "mine.jsonl"
    path.write_text(
        '{"id": "1", "T_a": "a", "T_pv": "b", "T_pi": "c",'
        ' "formulas": {"a": "left_of(cat, dog) & 2 cow", "pv": "cat & !dog", "pi": "cat | dog"}}\n'
        '{"id": "2", "T_a": "d", "T_pv": "e", "T_pi": "f"}\n',
        encoding="utf-8",
    )
    with_formulas, without = cases("full", path=str(path))
    assert [prompt.entities for prompt in with_formulas.prompts] == [("cat", "dog", "cow"), ("cat",), ()]
    assert not any(prompt.entities for prompt in without.prompts)


def test_ids_that_come_out_alike_are_told_apart_and_stay_what_they_are(tmp_path: Path) -> None:
    path = write(tmp_path / "mine.tsv", ("A_1", "a", "b", "c"), ("a-1", "d", "e", "f"), ("?!", "g", "h", "i"))
    built = cases("full", path=path)
    assert len({case.case_id for case in built}) == 3
    assert all(case.case_id.startswith("semvar-a-1-") for case in built[:2])
    assert built[2].case_id == "semvar-row"
    assert [case.case_id for case in cases("full", path=path)] == [case.case_id for case in built]


def test_formulas_of_a_file_are_decided(tmp_path: Path) -> None:
    path = tmp_path / "mine.jsonl"
    path.write_text(
        '{"id": "1", "T_a": "a", "T_pv": "b", "T_pi": "c",'
        ' "formulas": {"a": "left_of(cat, dog)", "pv": "left_of(dog, cat)", "pi": "right_of(dog, cat)"}}\n'
        '{"id": "2", "T_a": "d", "T_pv": "e", "T_pi": "f", "category": "color"}\n',
        encoding="utf-8",
    )
    known, unknown = cases("full", path=str(path))
    assert (known.equivalent, known.determinate) == (False, True)
    assert (unknown.equivalent, unknown.determinate) == (None, None)
    assert known.labels["category"] == known.labels["aspect"] == "unlabelled"


def test_the_published_test_set_becomes_cases(foreign_data: Path) -> None:
    built = cases("test", path=str(foreign_data / "semvarbench"))
    assert len(built) == len({case.case_id for case in built}) == 684
    assert len({case.category for case in built}) == 20
    counts = Counter(name for case in built for name in case.labels["category"].split(","))
    for case in built:
        own = case.labels["category"].split(",")
        assert case.category == sorted(own, key=lambda name: (counts[name], name))[0]
    assert len({case.cluster for case in built}) == 100
    chased = next(case for case in built if case.case_id == "semvar-0-61-326")
    assert chased.prompt("pv").text == "The mouse chases the cat."
    assert len(cases("quick", path=str(foreign_data / "semvarbench"))) <= 80
