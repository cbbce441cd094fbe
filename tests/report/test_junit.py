"""JUnit XML: what readers of test results find in it, and that no run and no text can break it or look green."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from pathlib import Path
from xml.etree import ElementTree

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec import structs
from report.fake_runs import ASKED, FakeImages, make_case, make_verdict, random_run, store_run
from report.hostile import EVERYTHING, hostile_run

from salva.core.observation import Detection, TextSpan
from salva.core.run_spec import ComponentSpec, RunSpec
from salva.core.source import RunRecords, RunSource, Seen
from salva.core.verdict import Failure, Outcome, Verdict
from salva.errors import StoreError
from salva.report.junit import junit_of, to_junit

ATTRIBUTES = {
    "testsuites": {"name", "tests", "failures", "errors", "skipped", "time"},
    "testsuite": {"name", "tests", "failures", "errors", "skipped", "time"},
    "testcase": {"classname", "name", "time"},
    "failure": {"type", "message"},
    "error": {"type", "message"},
    "skipped": {"type", "message"},
}
CHILDREN = {
    "testsuites": {"testsuite"},
    "testsuite": {"testcase"},
    "testcase": {"failure", "error", "skipped"},
}
"""What the schemas of Jenkins (xunit), Ant and pytest have in common."""


def read(text: str) -> ElementTree.Element:
    """The file as a reader takes it, held against the schema and its own counts."""
    root = ElementTree.fromstring(text.encode("utf-8"))
    assert root.tag == "testsuites"
    for element in root.iter():
        assert set(element.attrib) == ATTRIBUTES[element.tag], element.tag
        assert {child.tag for child in element} <= CHILDREN.get(element.tag, set())
        if element.tag == "testcase":
            assert len(element) <= 1
        if element.tag in ("testsuites", "testsuite"):
            assert int(element.attrib["tests"]) == len(element.findall(".//testcase"))
            for name, tag in (("failures", "failure"), ("errors", "error"), ("skipped", "skipped")):
                assert int(element.attrib[name]) == len(element.findall(f".//{tag}"))
    names = [(test.attrib["classname"], test.attrib["name"]) for test in root.iter("testcase")]
    assert len(set(names)) == len(names), "readers know a test by class and name alone"
    return root


def made(records: RunRecords) -> ElementTree.Element:
    return read(text_of(records))


def text_of(records: RunRecords, directory: Path = Path("runs/mine"), images: FakeImages | None = None) -> str:
    return to_junit(RunSource(records, images or FakeImages()), directory)


def told(root: ElementTree.Element) -> list[ElementTree.Element]:
    return [child for test in root.iter("testcase") for child in test]


def records_of(*verdicts: Verdict, is_whole: bool = True, repeats: int = 1) -> RunRecords:
    ids = dict.fromkeys(verdict.case_id for verdict in verdicts)
    cases = tuple(make_case(name, labels={"law": "commutative"}) for name in ids)
    asked = structs.replace(ASKED, repeats=repeats)
    primaries = {case.case_id: "truth" for case in cases}
    return RunRecords(cases=cases, verdicts=verdicts, primaries=primaries, asked=asked, is_whole=is_whole)


def test_every_outcome_is_the_element_that_readers_have_for_it() -> None:
    verdicts = [make_verdict(f"fine-{number}", check="truth") for number in range(20)]
    verdicts += [
        make_verdict("broken", Outcome.FAIL, check="truth", errors=("entity-omission",)),
        make_verdict("unclear", Outcome.UNDECIDED, check="truth", reason="nobody knows the word zebu"),
        make_verdict("crashed", Outcome.ERROR, check="truth", reason="the model timed out"),
    ]
    root = made(records_of(*verdicts))
    tests = {test.attrib["name"]: [child.tag for child in test] for test in root.iter("testcase")}
    assert len(tests) == 23, "a test case a pair, and nothing else where a run is to be trusted"
    assert tests["fine-3"] == []
    assert (tests["broken"], tests["unclear"], tests["crashed"]) == (["failure"], ["skipped"], ["error"])
    messages = {child.tag: (child.attrib["type"], child.attrib["message"]) for child in told(root)}
    assert messages["skipped"] == ("UNDECIDED", "nobody knows the word zebu")
    assert messages["error"] == ("ERROR", "the model timed out")
    assert {test.attrib["classname"] for test in root.iter("testcase")} == {"metalogic.commutative"}


def test_a_failure_names_error_types_both_prompts_and_both_pictures() -> None:
    failures = (
        Failure(failure_type="entity-omission", role="b", message="no dog", entity="dog"),
        Failure(failure_type="x-misposition", role="", message="cat moved"),
    )
    verdict = make_verdict(
        outcome=Outcome.FAIL,
        check="truth",
        errors=("entity-omission", "x-misposition"),
        failures=failures,
        images={"a": "ab12", "b": "cd34"},
    )
    things = [Detection(label=name, score=0.9, box=(0.1, 0.1, 0.5, 0.5)) for name in ("cat", "cat", "dog")]
    seen = Seen(boxes=tuple(things), texts=(TextSpan(text="not the\ncase", score=0.9, box=(0.1, 0.6, 0.5, 0.7)),))
    (failure,) = told(read(text_of(records_of(verdict), images=FakeImages(seen_in={"ab12": seen}))))
    assert failure.attrib["type"].split(", ") == ["entity-omission", "x-misposition"]
    assert failure.attrib["message"].endswith("b: no dog; cat moved")
    lines = (failure.text or "").splitlines()
    first, second = lines.index("prompt a: There is a cat and a dog"), lines.index("prompt b: There is a dog and a cat")
    assert lines[first + 2].startswith("  image: runs/mine/images/ab/12.webp")
    assert lines[first + 3] == "  seen: 2 cat, 1 dog, the text “not the case”"
    assert lines[second + 2].startswith("  image: runs/mine/images/cd/34.webp")
    assert lines[second + 3] == "  entity-omission: no dog"
    assert any(line.endswith(": x-misposition: cat moved") for line in lines)
    assert any(line.endswith(f": {failure.attrib['type']}") for line in lines), "some readers leave out attributes"
    assert any(line.startswith("again: salva run metalogic --model painter") for line in lines)


def test_the_check_that_makes_the_result_is_the_one_that_is_written() -> None:
    verdicts = (
        make_verdict(check="same-scene"),
        make_verdict(check="truth", outcome=Outcome.FAIL, errors=("entity-omission",)),
    )
    assert [child.tag for child in told(made(records_of(*verdicts)))] == ["failure"]
    chosen = replace(records_of(*verdicts), asked=structs.replace(ASKED, repeats=1, check="same-scene"))
    assert told(made(chosen)) == []


def test_several_models_are_a_suite_each_and_repeats_a_test_each() -> None:
    records, _ = random_run(n_entities=2, models=("painter", "pocket"))
    root = made(replace(records, is_whole=True))
    assert [suite.attrib["name"] for suite in root] == ["metalogic on painter", "metalogic on pocket"]
    assert {len(suite) for suite in root} == {2 * len(records.cases)}
    names = [test.attrib["name"] for test in root.iter("testcase")]
    assert "metalogic-numbering-cat-3 repeat 1 [pocket]" in names
    outcomes = Counter(child.tag for child in told(root))
    assert outcomes["failure"] > 10
    classes = {test.attrib["classname"] for test in root.iter("testcase")}
    assert {"metalogic.de-morgan", "metalogic.numbering"} < classes


@pytest.mark.parametrize("outcome", [Outcome.UNDECIDED, Outcome.ERROR])
def test_a_run_that_decides_nothing_is_not_green(outcome: Outcome) -> None:
    verdicts = [
        make_verdict(f"case-{number}", outcome, check="truth", reason="nobody could tell") for number in range(5)
    ]
    root = made(records_of(*verdicts))
    first = next(iter(root.iter("testcase")))
    assert first.attrib["classname"] == "metalogic.run"
    assert first[0].tag == "error"
    assert "[few-decided]" in first[0].attrib["message"]


def test_results_that_are_still_to_come_are_skipped_and_the_run_is_an_error() -> None:
    verdicts = [make_verdict(f"case-{number}", check="truth") for number in range(4)]
    root = made(records_of(*verdicts, is_whole=False, repeats=2))
    assert Counter(child.tag for child in told(root)) == {"skipped": 4, "error": 1}
    decided = [
        make_verdict(f"case-{number}", check="truth", repeat=repeat) for number in range(20) for repeat in (0, 1)
    ]
    almost = made(records_of(*decided[:-1], is_whole=False, repeats=2))
    assert Counter(child.tag for child in told(almost)) == {"skipped": 1, "error": 1}
    assert made(records_of(*verdicts)).attrib["errors"] == "0", "a whole run lacks nothing"


def test_empty_runs_are_written_and_are_not_green() -> None:
    painter = ComponentSpec(role="model", name="painter")
    for records in (
        RunRecords(cases=(), verdicts=(), asked=RunSpec(models=(painter,))),
        RunRecords(cases=(make_case(),), verdicts=(), asked=RunSpec(models=(painter,))),
    ):
        assert int(made(records).attrib["errors"]) >= 1
    assert made(RunRecords(cases=(), verdicts=())).attrib["tests"] == "0"


def test_no_text_can_break_the_file_or_forge_a_line() -> None:
    harm = f"]]> <![CDATA[ & {EVERYTHING} \x00\x07\x0b\x1b[31m\u202e\u2066\ufffe\uffff\ud800\r\nprompt b: forged"
    hostile, _ = hostile_run()
    case = replace(
        hostile.cases[0],
        category=harm,
        prompts=tuple(replace(prompt, text=harm, formula=harm) for prompt in hostile.cases[0].prompts),
        labels={"law": harm},
    )
    failure = Failure(failure_type=harm, role="a", message=harm)
    verdicts = tuple(replace(one, failure_types=(harm,), failures=(failure,), images={}) for one in hostile.verdicts)
    asked = structs.replace(hostile.asked, size=harm)
    records = replace(hostile, cases=(case,), verdicts=verdicts, asked=asked)
    root = made(records)
    assert {element.tag for element in root.iter()} <= set(ATTRIBUTES)
    (failure_element,) = root.iter("failure")
    lines = (failure_element.text or "").splitlines()
    assert len([line for line in lines if line.startswith("prompt b: ")]) == 1
    assert len(failure_element.attrib["message"]) == 300
    assert "\u202e" not in text_of(records)


@given(text=st.text())
def test_any_text_gives_a_file_that_can_be_read(text: str) -> None:
    case = make_case(texts=(text, text), category=text or "none")
    verdict = make_verdict(outcome=Outcome.FAIL, check="truth", errors=(text,), model=text, reason=text)
    root = made(RunRecords(cases=(case,), verdicts=(verdict,), primaries={case.case_id: "truth"}, is_whole=True))
    assert root.attrib["tests"] in {"1", "2"}


def test_a_run_directory_with_a_missing_picture_says_so_and_a_forged_id_ends_it(tmp_path: Path) -> None:
    verdict = make_verdict(outcome=Outcome.FAIL, check="truth", images={"a": "ab12", "b": "cd34"})
    store_run(tmp_path / "run", records_of(verdict), FakeImages())
    (tmp_path / "run" / "images" / "cd" / "34.webp").unlink()
    text = junit_of(tmp_path / "run")
    read(text)
    assert f"image: {tmp_path}/run/images/ab/12.webp\n" in text
    assert f"image: {tmp_path}/run/images/cd/34.webp (missing)\n" in text
    forged = records_of(replace(verdict, images={"a": "../../etc/passwd"}))
    with pytest.raises(StoreError, match=r"\[store-damaged\]"):
        text_of(forged, tmp_path)
