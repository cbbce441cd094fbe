"""The faithfulness suite: 20 categories of decided equivalences, contrasts, and pairs read from files."""

from __future__ import annotations

from pathlib import Path

import pytest

from salva.core.case import Case
from salva.errors import UsageError
from salva.logic.entailment import excludes
from salva.logic.equivalence import are_equivalent, is_contradictory
from salva.logic.notation import parse
from salva.suites.faithfulness.suite import Faithfulness, FaithfulnessOptions
from salva.suites.faithfulness.templates import CONTRASTS, DIMENSIONS, LAWS, TEMPLATES

CHECKS = ("truth", "right-answers")
HEADER = "pair_id,category_id,logical_law,semantic_dimension,prompt_A,prompt_B"


def cases(size: str = "quick", **options: object) -> list[Case]:
    return list(Faithfulness(FaithfulnessOptions(**options)).cases(size))  # type: ignore[arg-type]  # keywords of options


def sentences(case: Case) -> list[str]:
    return [finding.sentence for finding in case.findings]


def test_there_are_five_laws_by_four_dimensions() -> None:
    assert {(one.law, one.dimension) for one in TEMPLATES} == {(law, dim) for law in LAWS for dim in DIMENSIONS}
    assert len(TEMPLATES) == 20
    assert [len(cases("quick")), len(cases("paper")), len(cases("full", pairs=7))] == [20, 100, 140]


@pytest.mark.parametrize(
    "options",
    [{}, {"coloured": True, "surfaces": ("wooden table",)}, {"sizes": ()}, {"objects": ("cat", "dog", "teddy bear")}],
)
def test_every_generated_pair_is_equivalent_by_the_logic_core(options: dict[str, object]) -> None:
    for case in cases("paper", **options):
        f, g = (parse(prompt.formula or "") for prompt in case.prompts)
        assert are_equivalent(f, g), case.case_id
        assert case.equivalent is True
        assert not is_contradictory(f), case.case_id
        assert (case.checks, case.measures) == (CHECKS, ("same-answers", "same-similarity"))
        assert case.prompts[0].text != case.prompts[1].text


def test_only_open_laws_leave_several_pictures_right() -> None:
    indeterminate = {case.labels["law"] for case in cases("quick") if not case.determinate}
    assert indeterminate == {"distributive", "de-morgan"}
    assert all("not determinate" in case.findings[0].sentence for case in cases("quick") if not case.determinate)


def test_contrasts_are_not_equivalent_and_must_differ() -> None:
    found = cases("contrast", pairs=3)
    assert len(found) == 3 * len(CONTRASTS)
    for case in found:
        f, g = (parse(prompt.formula or "") for prompt in case.prompts)
        assert case.equivalent is False
        assert (case.checks, case.measures) == (CHECKS, ("must-differ", "same-similarity"))
        assert case.labels["law"] == "contrast"
        # A thing against its denial leaves no picture for both; the published De Morgan forms overlap.
        assert excludes(f, g) is (case.labels["contrast_of"] == "complement"), case.case_id
    assert len(cases("quick", contrast=True)) == 20 + len(CONTRASTS)
    assert len(cases("full")) == 20 * 20
    assert len(cases("contrast")) == 20 * len(CONTRASTS)


def test_more_pairs_keep_the_first_ones_and_all_differ() -> None:
    few, many = cases("full", pairs=3), cases("full", pairs=9)
    by_id = {case.case_id: case for case in many}
    assert all(by_id[case.case_id] == case for case in few)
    texts = [tuple(prompt.text for prompt in case.prompts) for case in many]
    assert len(set(texts)) == len(texts)


def test_surfaces_are_in_the_words_and_in_no_formula() -> None:
    for case in cases("quick", surfaces=("wooden table",)):
        assert all("a wooden table" in prompt.text for prompt in case.prompts)
        assert all("table" not in (prompt.formula or "") for prompt in case.prompts)
        assert "surface-left-out" in {finding.kind for finding in case.findings}


def test_sizes_are_said_and_meant() -> None:
    case = next(case for case in cases("quick", sizes=("tiny", "huge")) if case.category == "commutative-attributes")
    assert "a tiny " in case.prompts[0].text
    assert "smaller_than" in (case.prompts[0].formula or "")
    without = next(case for case in cases("quick", sizes=()) if case.category == "commutative-attributes")
    assert "than" not in (without.prompts[0].formula or "")


@pytest.mark.parametrize(
    ("options", "complaint"),
    [
        ({"objects": ("cat", "dog")}, "at least 3"),
        ({"objects": ("cat", "cat", "dog", "cow")}, "suite.objects"),
        ({"objects": ("cat", "dog", "A Cow")}, "suite.objects"),
        ({"colours": ("red",)}, "2 different ones"),
        ({"colours": ("red", "mauve")}, "no colour named 'mauve'"),
        ({"sizes": ("small",)}, "suite.sizes"),
    ],
)
def test_options_that_make_no_pairs_are_refused(options: dict[str, object], complaint: str) -> None:
    with pytest.raises(UsageError, match=complaint):
        FaithfulnessOptions(**options)  # type: ignore[arg-type]  # wrong on purpose


def test_a_category_that_runs_out_of_pairs_says_so() -> None:
    with pytest.raises(UsageError, match=r"about 6.*no-cases"):
        cases("full", objects=("cat", "dog", "cow"), pairs=50)


def _file(folder: Path, *lines: str, header: str = HEADER) -> str:
    path = folder / "pairs.csv"
    path.write_text("\n".join((header, *lines)) + "\n", encoding="utf-8")
    return str(path)


def test_pairs_come_from_a_file_with_what_the_logic_core_finds(tmp_path: Path) -> None:
    path = _file(
        tmp_path,
        "comm_1,1,Commutative,Conjunctive,a red cat and a blue dog,a blue dog and a red cat",
        "compl_1,13,Complement,Conjunctive,a red cat,no red cat",
        "odd_1,99,Symmetric Law,Moods,melancholy under the eaves,the eaves over melancholy",
    )
    first, second, third = cases("full", path=path)
    assert first.case_id == "faithfulness-comm-1"
    assert first.prompts[0].formula == "red cat & blue dog"
    assert first.equivalent is True
    assert second.equivalent is False
    assert (second.checks, second.measures) == (CHECKS, ("must-differ", "same-similarity"))
    assert any("not equivalent: a red cat fits only prompt a" in sentence for sentence in sentences(second))
    assert third.equivalent is None
    assert ("no-formula", ("a", "b")) in {(finding.kind, finding.subject) for finding in third.findings}
    assert third.labels["logical_law"] == "Symmetric Law"
    assert [case.case_id for case in cases("contrast", path=path)] == [second.case_id]


def test_a_pair_that_can_be_read_in_two_ways_says_which(tmp_path: Path) -> None:
    path = _file(tmp_path, "p1,1,Commutative,Horizontal,a cat and a dog on the left,a dog on the left and a cat")
    (case,) = cases("full", path=path)
    assert case.equivalent is None
    (finding,) = case.findings
    assert "[two-readings]" in finding.sentence
    assert (finding.kind, finding.subject) == ("no-formula", ("a",))


def test_quotes_newlines_and_byte_order_marks_are_read(tmp_path: Path) -> None:
    path = tmp_path / "pairs.csv"
    text = f'{HEADER}\r\np1,1,Commutative,Conjunctive,"a sign that says ""STOP, now""","a\nsign"\r\n'
    path.write_bytes(b"\xef\xbb\xbf" + text.encode())
    (case,) = cases("full", path=str(path))
    assert case.prompts[0].text == 'a sign that says "STOP, now"'
    assert case.prompts[1].text == "a\nsign"


def test_every_bad_row_is_named_in_one_reading(tmp_path: Path) -> None:
    path = _file(
        tmp_path,
        "p1,1,Commutative,Conjunctive,a cat,one cat",
        "p1,1,Commutative,Conjunctive,a dog,a dog",
        "P-1,1,Commutative,Conjunctive,a cow,A  cow.",
        "p2,1,Commutative,Conjunctive,,a dog",
        "p3,1,Commutative",
        "***,1,Commutative,Conjunctive,a dog,a dog",
    )
    with pytest.raises(UsageError) as raised:
        cases("full", path=path)
    message = str(raised.value)
    assert "has 5 rows" in message
    assert "line 3: pair_id 'p1' is that of line 2" in message
    assert "line 4: equal prompts, 'a cow'" in message
    assert "line 5: no prompt_A" in message
    assert "line 6: 3 cells under 6 columns" in message
    assert "line 7: pair_id '***'" in message


def test_columns_that_are_missing_extra_or_twice_are_named(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="column prompt_B"):
        cases("full", path=_file(tmp_path, "p1,1,C,C,a cat", header=HEADER.removesuffix(",prompt_B")))
    with pytest.raises(UsageError, match="'prompt_B' twice"):
        cases("full", path=_file(tmp_path, "p1,1,C,C,a cat,one cat,x", header=f"{HEADER},prompt_B"))
    (case,) = cases("full", path=_file(tmp_path, "p1,1,C,C,a cat,one cat,x", header=f"{HEADER},mood"))
    assert ("unused-columns", ("mood",)) in {(finding.kind, finding.subject) for finding in case.findings}


@pytest.mark.parametrize("content", [b"", b"\xff\xfe\x00", HEADER.encode()])
def test_files_that_hold_no_pairs_are_refused(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "pairs.csv"
    path.write_bytes(content)
    with pytest.raises(UsageError, match=r"pairs\.csv"):
        cases("full", path=str(path))
    with pytest.raises(UsageError, match="cannot be read"):
        cases("full", path=str(tmp_path / "nowhere.csv"))


def test_prompts_of_a_file_are_read_by_the_grammar(tmp_path: Path) -> None:
    (case,) = cases("full", path=_file(tmp_path, "p1,1,C,C,a cat on the left,a small cat on the left"))
    assert [prompt.formula for prompt in case.prompts] == ["cat@left", None]


def test_the_published_file_is_read_and_its_false_equivalences_are_found(foreign_data: Path) -> None:
    found = cases("full", path=str(foreign_data / "tifa_lite" / "prompts_metalogic.csv"))
    by_pair = {case.labels["pair_id"]: case for case in found}
    assert len(by_pair) == 100
    assert len({case.category for case in found}) == 20
    complement = [case for case in found if case.labels["law"] == "complement"]
    assert [case.equivalent for case in complement] == [False] * 20
    assert by_pair["demorgan_horiz_001"].equivalent is False
    assert by_pair["demorgan_attr_001"].equivalent is False
    assert by_pair["demorgan_conj_001"].equivalent is True
    quick = cases("quick", path=str(foreign_data / "tifa_lite" / "prompts_metalogic.csv"))
    assert len({case.category for case in quick}) == len(quick) == 20
    others = [case for case in found if case.labels["law"] in ("commutative", "distributive")]
    assert all(case.equivalent is not False for case in others)
    assert sum(case.equivalent is None for case in found) == 13
