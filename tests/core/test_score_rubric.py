"""One rubric for people and judges: the same words reach both, and attributes belong to the things that have them."""

from __future__ import annotations

from pathlib import Path

from report.fake_runs import ASKED, FakeImages, make_case, make_verdict, store_run
from suites.semvar.triples import triple

from salva.core.score_rubric import HALVES, OBJECTS, RELATIONS
from salva.core.source import RunRecords
from salva.exchange.exporting import export_run
from salva.judges.prompts import judge_prompt
from salva.judges.rubrics import RUBRICS
from salva.suites.semvar.semantic_effect import score_query


def test_people_and_judges_are_told_the_same_step_by_step(tmp_path: Path) -> None:
    verdict = make_verdict(images={"a": "a" * 40, "b": "b" * 40})
    store_run(tmp_path / "run", RunRecords(cases=(make_case(),), verdicts=(verdict,), asked=ASKED), FakeImages())
    export_run(tmp_path / "run", "ratings", tmp_path / "sheet")
    people = (tmp_path / "sheet" / "README.txt").read_text(encoding="utf-8")
    for is_structured in (True, False):
        # Another rubric is for graded questions: a score is held against people's.
        judges = judge_prompt(
            score_query(triple().prompts[0]), is_structured=is_structured, explains=True, rubric="strict"
        ).text
        for half in HALVES:
            for told in (people, judges):
                lines = [told.index(f"{number:>2}: {when}") for number, when in half.steps]
                assert lines == sorted(lines)
                assert half.about in told
        assert RUBRICS["strict"] not in judges


def test_attributes_belong_to_objects_and_what_stands_between_things_to_relations() -> None:
    assert [half.key for half in HALVES] == ["objects", "relations"]
    for half in HALVES:
        assert [number for number, _ in half.steps] == [50, 40, 30, 20, 10, 0]
    objects, relations = (" ".join((half.about, *(when for _, when in half.steps))) for half in (OBJECTS, RELATIONS))
    for word in ("colour", "shape", "attributes", "number"):
        assert word in objects
        assert word not in relations
    for word in ("places", "interaction"):
        assert word in relations
        assert word not in objects
