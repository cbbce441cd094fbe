"""Reading triples: the published shapes, what people write themselves, and everything that can be wrong with either."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from salva.errors import UsageError
from salva.suites.semvar.files import read_rows
from salva.suites.semvar.rows import TripleRow, title_of

CHASE = ("0_61_326", "The cat chases the mouse.", "The mouse chases the cat.", "The mouse is chased by the cat.")
RING = ("184_38_23", "A ring on the finger.", "A finger on the ring.", "On the finger is a ring.")


def found_in(row: TripleRow) -> list[tuple[str, str]]:
    return [(finding.kind, finding.sentence.partition(": ")[2]) for finding in row.findings]


def write(path: Path, *lines: tuple[str, ...] | str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    text = "".join((line if isinstance(line, str) else "\t".join(line)) + "\n" for line in lines)
    path.write_text(text, encoding="utf-8", newline="")
    return path


def read(*paths: Path, categories: tuple[Path, ...] = ()) -> tuple[TripleRow, ...]:
    return read_rows([str(path) for path in paths], [str(path) for path in categories])


def test_a_tab_separated_file_without_a_header(tmp_path: Path) -> None:
    (row,) = read(write(tmp_path / "test_data.txt", CHASE))
    assert (row.row_id, *row.texts) == CHASE
    assert row.split == "test"
    assert row.where == "test_data.txt line 1"
    assert row.categories == ()


def test_headers_windows_line_ends_byte_order_marks_and_a_fifth_column(tmp_path: Path) -> None:
    path = tmp_path / "mine.tsv"
    path.write_bytes(
        b"\xef\xbb\xbfcategory\tT_pi\tid\tT_a\tT_pv\r\nColour, Size\tpi \xe2\x80\xa8 same line\tx\ta\tpv\r\n\r\n"
    )
    (row,) = read(path)
    assert row.row_id == "x"
    assert row.texts == ("a", "pv", "pi \u2028 same line")
    assert row.categories == ("color", "size")
    assert row.split == "own"
    (other,) = read(write(tmp_path / "five.tsv", (*CHASE, "Spatio-temporal")))
    assert other.categories == ("spatio_temporal",)


def test_json_lines_with_categories_and_formulas(tmp_path: Path) -> None:
    one = {"id": 7, "T_a": "a", "T_pv": "b", "T_pi": "c", "category": ["Color", "size"], "note": "kept out"}
    two = {"id": "8", "t_a": "d", "t_pv": "e", "t_pi": "f", "formulas": {"a": "cat", "pv": "dog", "pi": "cat"}}
    rows = read(write(tmp_path / "train.jsonl", json.dumps(one), json.dumps(two)))
    assert [row.row_id for row in rows] == ["7", "8"]
    assert rows[0].categories == ("color", "size")
    assert rows[1].formulas == ("cat", "dog", "cat")
    assert {row.split for row in rows} == {"train"}


def test_what_reviewers_said_and_the_template_are_kept(tmp_path: Path) -> None:
    one = {"id": "1", "T_a": "a", "T_pv": "b", "T_pi": "c", "review": "unreviewed", "template": "swap-nouns"}
    two = {"id": "2", "T_a": "d", "T_pv": "e", "T_pi": "f", "review": "valid", "template": "swap-nouns"}
    open_one, valid = read(write(tmp_path / "mine.jsonl", json.dumps(one), json.dumps(two)))
    assert open_one.labels == {"review": "unreviewed"}
    assert [kind for kind, _ in found_in(open_one)] == ["unreviewed"]
    assert valid.findings == ()
    assert open_one.cluster == valid.cluster == "template swap-nouns"


def test_a_folder_of_the_published_shape_gets_its_categories_from_their_files(tmp_path: Path) -> None:
    write(tmp_path / "testset/test_data.txt", CHASE, RING)
    write(tmp_path / "testset_divided_category/action.txt", CHASE)
    write(tmp_path / "testset_divided_category/interaction.txt", CHASE)
    write(tmp_path / "testset_divided_category/absolute_location.txt", RING)
    write(tmp_path / "README.txt", "no triples here")
    chase, ring = read(tmp_path)
    assert chase.categories == ("action", "interaction")
    assert ring.categories == ("absolute_location",)
    assert {chase.split, ring.split} == {"test"}
    assert chase.findings == ring.findings == ()


def test_category_files_can_stand_apart_or_alone(tmp_path: Path) -> None:
    main = write(tmp_path / "mine.tsv", CHASE)
    labels = write(tmp_path / "labels/action.txt", CHASE)
    assert read(main, categories=(labels.parent,))[0].categories == ("action",)
    alone = write(tmp_path / "testset_divided_category/color.txt", RING)
    (row,) = read(alone)
    assert row.categories == ("color",)
    assert row.split == "test"
    assert row.findings == ()


def test_every_bad_line_is_named_after_all_files_were_read(tmp_path: Path) -> None:
    first = write(tmp_path / "first.tsv", CHASE, ("x", "only two"), ("y", "a", " ", "c"), RING)
    second = tmp_path / "second.jsonl"
    second.write_bytes(b'{"id": "z"}\nnot json\n[1]\n\xff\xfe\n{"id": "w", "T_a": 1.5, "T_pv": "b", "T_pi": "c"}\n')
    with pytest.raises(UsageError) as caught:
        read(first, second)
    text = str(caught.value)
    assert text.startswith("7 lines")
    for part in (
        "first.tsv line 2: 2 columns",
        "first.tsv line 3: t_pv is ' '",
        "second.jsonl line 1: t_a is None",
        "second.jsonl line 2: is no JSON",
        "second.jsonl line 3: is no JSON object",
        "second.jsonl line 4: is not UTF-8",
        "second.jsonl line 5: t_a is 1.5",
    ):
        assert part in text, part


def test_many_bad_lines_are_counted_and_some_are_shown(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"(?s)300 lines.*line 1: .*and 280 more"):
        read(write(tmp_path / "bad.tsv", *(["nothing"] * 300)))


@pytest.mark.parametrize(
    ("line", "problem"),
    [
        ({"formulas": {"a": "cat &"}}, "formulas: "),
        ({"formulas": ["cat"]}, "formulas is"),
        ({"category": 3}, "category is 3"),
        ({"id": ""}, "id is ''"),
        ({"id": True}, "id is True"),
    ],
)
def test_a_wrong_field_is_named(tmp_path: Path, line: dict[str, object], problem: str) -> None:
    good: dict[str, object] = {"id": "1", "T_a": "a", "T_pv": "b", "T_pi": "c"}
    with pytest.raises(UsageError, match=problem):
        read(write(tmp_path / "one.jsonl", json.dumps({**good, **line})))


def test_nothing_to_read_is_refused_with_what_to_do(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="file-missing"):
        read(tmp_path / "nowhere")
    with pytest.raises(UsageError, match="suite-file-empty"):
        read(tmp_path)
    with pytest.raises(UsageError, match="suite-file-empty"):
        read(write(tmp_path / "empty.tsv"))


def test_a_triple_listed_twice_counts_once_and_says_where(tmp_path: Path) -> None:
    (row,) = read(write(tmp_path / "mine.tsv", CHASE, CHASE))
    assert found_in(row) == [("listed-again", "mine.tsv line 1; mine.tsv line 2")]


def test_the_same_sentences_under_another_id_are_found_whatever_their_full_stops(tmp_path: Path) -> None:
    again = ("9", CHASE[1].upper().rstrip("."), *CHASE[2:])
    first, second = read(write(tmp_path / "mine.tsv", CHASE, again))
    assert found_in(first) == [("same-texts", "9 (mine.tsv line 2)")]
    assert found_in(second) == [("same-texts", "0_61_326 (mine.tsv line 1)")]


def test_an_id_that_names_two_triples_is_found(tmp_path: Path) -> None:
    first, second = read(write(tmp_path / "mine.tsv", CHASE, (CHASE[0], *RING[1:])))
    assert found_in(first) == [("ambiguous-id", "mine.tsv line 2")]
    assert len(second.findings) == 1


@pytest.mark.parametrize(
    ("texts", "kind"),
    [
        (("a", "b", "B."), "T_pv equals T_pi"),
        (("a", "the one is and the other isn't", "The one is, and the other isn't."), "T_pv equals T_pi"),
        (("a", "a", "c"), "T_pv equals T_a"),
        (("a", "b", "a"), "T_pi equals T_a"),
    ],
)
def test_sentences_that_cannot_be_what_they_claim(tmp_path: Path, texts: tuple[str, str, str], kind: str) -> None:
    (row,) = read(write(tmp_path / "mine.tsv", ("1", *texts)))
    assert [title_of(finding) for finding in row.findings] == [kind]


def test_splits_that_share_triples_are_found(tmp_path: Path) -> None:
    write(tmp_path / "testset/test_data.txt", CHASE, RING)
    write(tmp_path / "trainset/train_data.txt", ("77", *CHASE[1:]))
    rows = {(row.split, row.row_id): found_in(row) for row in read(tmp_path)}
    assert rows["test", "0_61_326"] == [("same-texts-in-other-split", "77")]
    assert rows["train", "77"] == [("same-texts-in-other-split", "0_61_326")]


def test_the_training_files_go_by_their_published_names(tmp_path: Path) -> None:
    write(tmp_path / "trainingset/training_data.txt", CHASE)
    write(tmp_path / "trainingset_divided_category/action.txt", CHASE, RING)
    chase, ring = read(tmp_path)
    assert chase.split == ring.split == "train"
    assert chase.categories == ("action",)
    assert chase.findings == ()


def test_category_files_that_disagree_with_the_main_file_say_so(tmp_path: Path) -> None:
    write(tmp_path / "testset/test_data.txt", CHASE)
    write(tmp_path / "testset_divided_category/action.txt", (*CHASE[:3], "Another paraphrase."), RING)
    chase, ring = read(tmp_path)
    assert chase.texts == CHASE[1:]
    assert chase.categories == ("action",)
    assert chase.findings[0].kind == "other-wording"
    assert ring.texts == RING[1:]


def test_the_published_test_set(foreign_data: Path) -> None:
    rows = read_rows([str(foreign_data / "semvarbench")])
    assert len(rows) == 684
    assert sum(len(row.categories) for row in rows) == 819
    assert len({category for row in rows for category in row.categories}) == 20
    assert {row.split for row in rows} == {"test"}
    flagged = {row.row_id: row.findings for row in rows if row.findings}
    assert {name: [title_of(finding) for finding in found] for name, found in flagged.items()} == {
        "328_155_142": ["T_pv equals T_pi"],
        "126_v2_185_547": ["T_pi equals T_a"],  # but for a comma
    }
