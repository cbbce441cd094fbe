"""Captions from files: every form that people keep them in, the published sets, and what cannot be one."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from salva.errors import UsageError
from salva.suites.actesting.files import SEEDS, SETS, read_captions
from salva.suites.actesting.suite import Actesting, ActestingOptions

CAPTIONS = ("A cat next to a dog", "A ball above a chair and to the left of a cup")
COCO = {"annotations": [{"image_id": n, "id": n, "caption": text} for n, text in enumerate(CAPTIONS)]}


@pytest.mark.parametrize(
    ("name", "content", "images"),
    [
        ("c.json", json.dumps(COCO), ["0", "1"]),
        ("c.json", json.dumps(COCO["annotations"]), ["0", "1"]),
        ("c.jsonl", "\n".join(json.dumps({"prompt": text}) for text in CAPTIONS), ["line-1", "line-2"]),
        (
            "c.csv",
            "image,caption\nx.jpg,A cat next to a dog\ny,A ball above a chair and to the left of a cup\n",
            ["x.jpg", "y"],
        ),
        (
            "c.csv",
            "\ufeffImage ID;Caption;Split\r\n7;A cat next to a dog;val\r\n"
            "8;A ball above a chair and to the left of a cup;\r\n",
            ["7", "8"],
        ),
        ("c.txt", "\n".join(CAPTIONS) + "\n\n", ["line-1", "line-2"]),
    ],
)
def test_every_form_gives_the_same_captions(name: str, content: str, images: list[str], tmp_path: Path) -> None:
    (tmp_path / name).write_text(content)
    read = read_captions(str(tmp_path / name))
    assert [caption.text for caption in read] == list(CAPTIONS)
    assert [caption.image for caption in read] == images


@pytest.mark.parametrize(
    ("name", "content", "problem"),
    [
        ("c.json", '{"images": []}', "COCO's annotations"),
        ("c.csv", "image,words\n1,a cat\n", "line 2: no text under caption, prompt, text; it has image, words"),
        ("c.txt", "\n\n", "holds no caption"),
        ("c.jsonl", "{", "is no JSON"),
    ],
)
def test_a_file_without_captions_says_what_is_wrong(name: str, content: str, problem: str, tmp_path: Path) -> None:
    (tmp_path / name).write_text(content)
    with pytest.raises(UsageError, match=problem):
        read_captions(str(tmp_path / name))


def _own(path: Path, text: str) -> Actesting:
    path.write_text(text, encoding="utf-8")
    return Actesting(ActestingOptions(path=str(path), parser="grammar"))


def test_what_cannot_be_a_seed_is_counted_by_reason(tmp_path: Path) -> None:
    lines = [*CAPTIONS, "Ein Hund schläft auf einem Bett", "Собака спит на кровати", "...", "word " * 5000]
    lines += ["They like it", "A cat", "123 456"]
    suite = _own(tmp_path / "c.txt", "\n".join(lines))
    assert {case.cluster for case in suite.cases("full")} == {"line-1", "line-2"}
    told = suite.remarks("full")[0]
    assert told.startswith("2 seeds of 9 captions")
    for reason in ("2 (not English)", "2 (empty)", "1 (longer than 120 words)", "1 (names no thing)"):
        assert reason in told
    assert "1 (says nothing of" in told


def test_operators_that_a_seed_cannot_take_are_counted(tmp_path: Path) -> None:
    suite = _own(tmp_path / "c.txt", "\n".join(CAPTIONS))
    made = {(case.category, case.cluster) for case in suite.cases("full")}
    assert ("er-r", "line-1") not in made
    assert ("er-r", "line-2") in made
    assert any(remark.startswith("er-r: 1 of 2") for remark in suite.remarks("full"))


def test_a_corpus_of_one_caption_has_nothing_to_put_in(tmp_path: Path) -> None:
    suite = _own(tmp_path / "c.txt", CAPTIONS[1])
    assert {case.category for case in suite.cases("full")} == {"er-r", "ss"}
    assert "ec: 0 of 1 seeds; not 1 (nothing to change)" in suite.remarks("full")


@pytest.mark.parametrize("text", ["They like it", "Ein Hund schläft auf einem Bett", "12", "word " * 5000, "A cat"])
def test_one_error_where_no_caption_is_left(text: str, tmp_path: Path) -> None:
    suite = _own(tmp_path / "c.txt", text)
    with pytest.raises(UsageError, match=r"1 \(.*\[no-cases\]"):
        suite.cases("full")


def test_one_error_where_no_operator_can_change_anything(tmp_path: Path) -> None:
    path = tmp_path / "c.txt"
    path.write_text("A cat on a chair")
    suite = Actesting(ActestingOptions(path=str(path), parser="grammar", operators=("er-r",)))
    with pytest.raises(UsageError, match="no-cases"):
        suite.cases("full")


def _published(folder: Path) -> None:
    def entry(
        image: int, caption: str, classes: list[str], triples: list[list[str]], **more: object
    ) -> dict[str, object]:
        return {"image_id": image, "caption": caption, "classes": classes, "triples": triples, **more}

    on = ["cat", "on", "bed"]
    sets = {
        SEEDS: [entry(7, "A cat on a bed", ["cat", "bed"], [on])],
        SETS["ec"]: [entry(7, "A dog on a bed", ["dog", "bed"], [["dog", "on", "bed"]], EC=["cat", "dog"])],
        SETS["er-a"]: [
            entry(
                7,
                "A cat on a bed with a cup",
                ["cat", "bed", "cup"],
                [on, ["bed", "with", "cup"]],
                new_class="cup",
                new_re="with",
            )
        ],
        SETS["ss"]: [entry(7, "A cot on a bed", ["cat", "bed"], [on])],
    }
    for name, entries in sets.items():
        (folder / f"{name}.json").write_text(json.dumps(entries))


def test_published_sets_are_pairs_with_the_pools_they_name(tmp_path: Path) -> None:
    _published(tmp_path)
    suite = Actesting(ActestingOptions(path=str(tmp_path)))
    cases = {case.category: case for case in suite.cases("full")}
    assert set(cases) == {"ec", "er-a", "ss"}
    assert cases["ec"].prompt("b").text == "A dog on a bed"
    mutation = cases["ec"].mutation
    assert mutation is not None
    assert (mutation.removed_entities, mutation.added_entities) == (("cat",), ("dog",))
    assert cases["er-a"].labels["predicate"] == "with"
    assert len({case.painting for case in cases.values()}) == 1
    assert "ec 1, er-r 0, er-a 1, ss 1" in suite.remarks("full")[0]


def test_a_published_mutant_without_its_seed_is_named(tmp_path: Path) -> None:
    _published(tmp_path)
    (tmp_path / f"{SETS['ec']}.json").write_text(
        json.dumps([{"image_id": 8, "caption": "A dog", "classes": ["dog"], "triples": []}])
    )
    with pytest.raises(UsageError, match="image_id 8"):
        Actesting(ActestingOptions(path=str(tmp_path))).cases("full")
