"""Existing images: every layout is read, missing images are reported and listed, none are mixed up."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import pytest

from salva.core.case import Prompt
from salva.core.image import Picture
from salva.core.protocols import Rendered, RenderRequest
from salva.engine.actors import requests_of
from salva.engine.progress import SilentProgress
from salva.errors import BackendError, SalvaError, UsageError
from salva.generators.folder import FolderImages
from salva.generators.folder_layouts import detect, simplify
from salva.imaging.files import encode_picture
from salva.runs.cases import planned_cases
from salva.runs.pipeline import execute
from salva.testing.conformance import check_generator
from salva.testing.fakes import painted, written_in
from salva.testing.specs import bound, fake_spec


def put(path: Path, note: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(encode_picture(painted(["cat"], note)))


def opened(folder: Path, layout: str = "auto", listing: str = "", missing: str | None = None) -> FolderImages:
    to_list = f"{folder}/missing.jsonl" if missing is None else missing
    return FolderImages(FolderImages.Options(path=str(folder), layout=layout, listing=listing, missing=to_list))


def render(model: FolderImages, text: str, repeat: int = 0, seed: int = 123_456_789) -> Rendered | SalvaError:
    (outcome,) = model.render([RenderRequest(prompt=Prompt(role="a", text=text), seed=seed, repeat=repeat)])
    return outcome


def note(outcome: Rendered | SalvaError) -> str:
    assert isinstance(outcome, Rendered), outcome
    return written_in(outcome.picture)[1]


def test_a_manifest_may_have_seeds_repeats_or_neither(tmp_path: Path) -> None:
    for name in "abcdef":
        put(tmp_path / f"{name}.png", name)
    rows = [
        {"prompt": "a cat", "path": "a.png", "seed": 123_456_789, "repeat": 0},
        {"prompt": "a cat", "path": "b.png", "repeat": 1},
        {"prompt": "a dog", "path": "c.png"},
        {"prompt": "a dog", "path": "d.png"},
        {"prompt": "a cow, and a cat", "path": "e.png", "seed": 987_654_321},
    ]
    (tmp_path / "manifest.jsonl").write_text("\n".join(json.dumps(row) for row in rows))
    model = opened(tmp_path)
    assert note(render(model, "a cat")) == "a"
    assert note(render(model, "a cat", repeat=1, seed=5)) == "b"
    assert [note(render(model, "a dog", repeat=i)) for i in (0, 1)] == ["c", "d"]
    assert note(render(model, "a cow, and a cat", seed=987_654_321)) == "e"
    assert isinstance(render(model, "a dog", repeat=2), BackendError)


def test_a_csv_manifest(tmp_path: Path) -> None:
    put(tmp_path / "pictures" / "one.png", "one")
    (tmp_path / "manifest.csv").write_text('prompt,path,seed\n"a cat, and a dog",pictures/one.png,0\n')
    assert note(render(opened(tmp_path), "a cat, and a dog")) == "one"


def test_the_layout_of_pairs(tmp_path: Path) -> None:
    for side in "AB":
        put(tmp_path / "Images" / "DeMorgan" / "17" / "Attributes" / f"dm_001_{side}.png", side)
    (tmp_path / "prompts.csv").write_text(
        "pair_id,category_id,logical_law,semantic_dimension,prompt_A,prompt_B\n"
        "dm_001,17,DeMorgan,Attributes,no red cat,not a red cat\ndm_002,17,DeMorgan,Attributes,x,y\n"
    )
    model = opened(tmp_path)
    assert detect(tmp_path) == ("pairs",)
    assert (note(render(model, "no red cat")), note(render(model, "not a red cat"))) == ("A", "B")
    assert isinstance(render(model, "x"), BackendError)
    assert note(render(opened(tmp_path / "Images"), "no red cat")) == "A", "the list may be in the parent folder"


@pytest.mark.parametrize("other", ["a_dog_0.png", "vitamin_A.png"])
def test_a_list_of_pairs_that_names_no_image_is_ignored(tmp_path: Path, other: str) -> None:
    put(tmp_path / "pictures" / "a_cat_0.png", "cat")
    put(tmp_path / "pictures" / other, "other")
    (tmp_path / "mine.csv").write_text("pair_id,prompt_A,prompt_B\np1,a cat,one cat\n")
    assert detect(tmp_path / "pictures") == ("names",)
    assert note(render(opened(tmp_path / "pictures"), "a cat")) == "cat"


def test_the_layout_of_geneval(tmp_path: Path) -> None:
    for i, prompt in enumerate(("a photo of a bench", "a photo of a cow")):
        put(tmp_path / f"{i:05}" / "samples" / "0000.png", f"{i}-0")
        put(tmp_path / f"{i:05}" / "samples" / "0002.png", f"{i}-2")
        (tmp_path / f"{i:05}" / "metadata.jsonl").write_text(json.dumps({"tag": "x", "prompt": prompt}))
    model = opened(tmp_path)
    assert note(render(model, "a photo of a cow", repeat=2)) == "1-2"
    assert isinstance(render(model, "a photo of a cow", repeat=1), BackendError), "a gap stays a gap"


def test_geneval_folders_may_have_any_numbers(tmp_path: Path) -> None:
    """Folders and files need not have five and four digits, and may count from 1; other names are skipped."""
    for i, prompt in enumerate(("a photo of a bench", "a photo of a cow")):
        place = tmp_path / f"{i + 9}"
        for sample in (1, 2, 10):
            put(place / "samples" / f"{sample}.png", f"{i}-{sample}")
        put(place / "samples" / "grid.png", "grid")
        (place / "metadata.jsonl").write_text(json.dumps({"prompt": prompt}))
    put(tmp_path / "old" / "samples" / "1.png", "old")
    (tmp_path / "old" / "metadata.jsonl").write_text(json.dumps({"prompt": "a photo of a cow"}))
    model = opened(tmp_path)
    assert [note(render(model, "a photo of a cow", repeat=i)) for i in (0, 1, 9)] == ["1-1", "1-2", "1-10"]


def test_the_layout_of_compbench(tmp_path: Path) -> None:
    put(tmp_path / "samples" / "a red car and a blue house_000007.png", "seven")
    put(tmp_path / "samples" / "a red car and a blue house_000008.png", "eight")
    put(tmp_path / "samples" / "a green bench_000009.png", "nine")
    model = opened(tmp_path)
    assert detect(tmp_path) == ("compbench",)
    assert [note(render(model, "a red car and a blue house", repeat=i)) for i in (0, 1)] == ["seven", "eight"]
    assert note(render(model, "A green bench.")) == "nine"


def test_seeds_in_file_names_give_the_same_repeat_for_all_prompts(tmp_path: Path) -> None:
    for name in ("a_cat_0", "a_cat_3", "a_dog_0", "a_dog_1", "a_dog_3"):
        put(tmp_path / f"{name}.png", name)
    model = opened(tmp_path)
    assert note(render(model, "a dog", repeat=2)) == "a_dog_3"
    assert note(render(model, "a cat", repeat=2)) == "a_cat_3"
    assert isinstance(render(model, "a cat", repeat=1), BackendError), "seed 1 of the cat is missing; 3 is not it"


def test_running_compbench_numbers_leave_gaps_for_missing_images(tmp_path: Path) -> None:
    for number, prompt in enumerate(("a cat", "a dog", "a cow")):
        for repeat in range(3):
            put(tmp_path / f"{prompt}_{3 * number + repeat:06}.png", f"{prompt} {repeat}")
    (tmp_path / "a cat_000000.png").unlink()
    (tmp_path / "a dog_000004.png").unlink()
    model = opened(tmp_path)
    for prompt, missing in (("a cat", 0), ("a dog", 1), ("a cow", None)):
        for repeat in range(3):
            outcome = render(model, prompt, repeat)
            assert isinstance(outcome, BackendError) if repeat == missing else note(outcome) == f"{prompt} {repeat}"


def test_shared_compbench_numbers_leave_gaps_for_missing_images(tmp_path: Path) -> None:
    for name in ("a cat_000000", "a cat_000002", "a dog_000000", "a dog_000001", "a dog_000002"):
        put(tmp_path / f"{name}.png", name)
    model = opened(tmp_path)
    assert note(render(model, "a cat", repeat=2)) == "a cat_000002"
    assert isinstance(render(model, "a cat", repeat=1), BackendError)


def test_six_digit_seeds_do_not_make_a_compbench_folder(tmp_path: Path) -> None:
    put(tmp_path / "a_cat_123456.png", "short")
    put(tmp_path / "a_dog_1234567890.png", "long")
    model = opened(tmp_path)
    assert note(render(model, "a cat", seed=123_456)) == "short"
    assert note(render(model, "a dog", seed=1_234_567_890)) == "long"


@pytest.mark.parametrize("name", ["A cat, a dog 7", "a-cat-a-dog-7", "a_cat_a_dog_seed7", "a cat a dog, seed=7"])
def test_file_names_with_prompt_and_seed(tmp_path: Path, name: str) -> None:
    put(tmp_path / f"{name}.png", name)
    assert note(render(opened(tmp_path), "a cat, a dog", seed=7)) == name


def test_a_prompt_that_ends_in_a_number(tmp_path: Path) -> None:
    put(tmp_path / "route_66.png", "route")
    assert note(render(opened(tmp_path), "Route 66")) == "route"


@pytest.mark.parametrize("layout", ["geneval", "pairs", "compbench", "names", "manifest"])
def test_a_manifest_adds_missing_images_to_any_layout(tmp_path: Path, layout: str) -> None:
    prompts, n_repeats = ("a cat", "a dog"), 1 if layout == "pairs" else 3
    listed = []
    for number, prompt in enumerate(prompts):
        for repeat in range(n_repeats):
            names = {
                "geneval": f"{number:05}/samples/{repeat:05}.png",
                "pairs": f"Images/DeMorgan/1/Attributes/p1_{'AB'[number]}.png",
                "compbench": f"samples/{prompt}_{repeat:06}.png",
                "names": f"{simplify(prompt)}_{repeat}.png",
                "manifest": f"{number}-{repeat}.png",
            }
            put(tmp_path / names[layout], f"{prompt} {repeat}")
            listed.append({"prompt": prompt, "path": names["manifest"], "seed": repeat})
        if layout == "geneval":
            (tmp_path / f"{number:05}" / "metadata.jsonl").write_text(json.dumps({"prompt": prompt}))
    if layout == "pairs":
        (tmp_path / "prompts.csv").write_text("pair_id,prompt_A,prompt_B\np1,a cat,a dog\n")
    if layout == "manifest":
        (tmp_path / "manifest.jsonl").write_text("".join(json.dumps(row) + "\n" for row in listed))
    next(path for path in sorted(tmp_path.rglob("*.png"))).unlink()
    model = opened(tmp_path)
    wanted = [(prompt, repeat) for prompt in prompts for repeat in range(n_repeats)]
    (gone,) = [(p, r) for p, r in wanted if isinstance(render(model, p, r, seed=70_000 + r), BackendError)]
    model.close()
    with (tmp_path / "manifest.jsonl").open("a") as manifest:
        manifest.write((tmp_path / "missing.jsonl").read_text())
    row = json.loads((tmp_path / "missing.jsonl").read_text())
    assert (row["prompt"], row["repeat"]) == gone
    put(tmp_path / row["path"], f"{gone[0]} {gone[1]}")
    again = opened(tmp_path)
    for prompt, repeat in wanted:
        assert note(render(again, prompt, repeat, seed=70_000 + repeat)) == f"{prompt} {repeat}"


def test_missing_images_are_listed_with_the_folders_seeds(tmp_path: Path) -> None:
    for name in ("a_cat_3", "a_cat_8", "a_dog_3"):
        put(tmp_path / f"{name}.png", name)
    model = opened(tmp_path)
    missing = render(model, "a dog", repeat=1)
    assert isinstance(missing, BackendError)
    assert missing.code == "image-not-listed"
    assert "seed 8, repeat 1" in str(missing)
    model.close()
    (row,) = [json.loads(line) for line in (tmp_path / "missing.jsonl").read_text().splitlines()]
    assert row == {"prompt": "a dog", "seed": 8, "repeat": 1, "path": "a_dog_8.png"}
    put(tmp_path / row["path"], "new")
    assert note(render(opened(tmp_path), "a dog", repeat=1)) == "new"


def test_manifests_may_have_prompts_of_several_lines(tmp_path: Path) -> None:
    put(tmp_path / "x.png", "x")
    with (tmp_path / "manifest.csv").open("w", newline="") as lines:
        csv.writer(lines).writerows([["prompt", "path"], ["a cat\nand a dog", "x.png"], ["a\u2028cow", "x.png"]])
    assert note(render(opened(tmp_path), "a cat\nand a dog")) == "x"
    (tmp_path / "manifest.csv").unlink()
    (tmp_path / "manifest.jsonl").write_text(
        json.dumps({"prompt": "a\u2028cow", "path": "x.png"}, ensure_ascii=False) + "\r\n", encoding="utf-8"
    )
    assert note(render(opened(tmp_path), "a\u2028cow")) == "x"


def test_two_prompts_with_the_same_file_name_are_ambiguous(tmp_path: Path) -> None:
    put(tmp_path / "a_cat_and_a_dog_0.png", "x")
    model = opened(tmp_path)
    assert note(render(model, "a cat and a dog")) == "x"
    same_name = render(model, "a cat, and a dog")
    assert isinstance(same_name, BackendError)
    assert same_name.code == "file-names-ambiguous"


def test_real_images_by_name(foreign_data: Path) -> None:
    model = opened(foreign_data / "real_images" / "commuted")
    pictures = set()
    for text in ("a photo of a red cat and a yellow car", "a photo of a yellow car and a red cat"):
        for repeat in range(4):
            outcome = render(model, text, repeat)
            assert isinstance(outcome, Rendered), outcome
            assert str(outcome.provenance["file"]).endswith(f"{simplify(text)}_{repeat}.jpg")
            pictures.add(outcome.picture.image_id())
    assert len(pictures) == 8
    assert isinstance(render(model, "a photo of a red cat"), BackendError)


def test_real_images_by_id(foreign_data: Path) -> None:
    folder = foreign_data / "real_images" / "spatial"
    prompts = json.loads((folder / "prompts.json").read_text())
    for name in ("stable-diffusion", "dallev2"):
        model = opened(folder / name)
        for number, prompt in list(prompts.items())[:5]:
            outcome = render(model, prompt["text"], repeat=3)
            assert isinstance(outcome, Rendered), outcome
            assert Path(str(outcome.provenance["file"])).stem == f"{number}_3"


def test_missing_images_are_listed_and_the_list_becomes_the_manifest(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = tmp_path / "pictures"
    folder.mkdir()
    spec = fake_spec(
        6,
        models=(bound("model", FolderImages, "folder/pictures", path=str(folder), missing=f"{folder}/missing.jsonl"),),
        repeats=2,
    )
    everything = [request for case in planned_cases(spec) for request in requests_of(case, 2, spec.spec.seed)]

    def generate(rows: list[dict[str, object]]) -> None:
        for row in rows:
            words = [word.strip() for word in str(row["prompt"]).split(",")]
            (folder / str(row["path"])).write_bytes(encode_picture(painted(words, f"{row['seed']}")))
        with (folder / "manifest.jsonl").open("a") as manifest:
            manifest.writelines(json.dumps(row) + "\n" for row in rows)

    first = execute(spec, tmp_path / "run", SilentProgress())
    assert first.outcomes == {"ERROR": 12}
    listed = [json.loads(line) for line in (folder / "missing.jsonl").read_text().splitlines()]
    assert {(row["prompt"], row["seed"], row["repeat"]) for row in listed} == {
        (request.prompt.text, request.seed, request.repeat) for request in everything
    }
    printed = capsys.readouterr().err
    assert "24 images of 10 prompts" in printed
    assert "[folder-incomplete]" in printed
    generate(listed[:20])
    second = execute(spec, tmp_path / "run", SilentProgress())
    assert second.outcomes == {"PASS": 10, "ERROR": 2}
    assert len((folder / "missing.jsonl").read_text().splitlines()) == 4
    generate([json.loads(line) for line in (folder / "missing.jsonl").read_text().splitlines()])
    third = execute(spec, tmp_path / "run", SilentProgress())
    assert third.outcomes == {"PASS": 12}
    assert (folder / "missing.jsonl").read_text() == ""


def test_missing_images_are_only_listed_on_request(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    put(tmp_path / "a_cat_0.png", "cat")
    model = opened(tmp_path, missing="")
    for number in range(7):
        assert isinstance(render(model, f"{number} dogs"), BackendError)
    model.close()
    assert [path.name for path in tmp_path.iterdir()] == ["a_cat_0.png"]
    printed = capsys.readouterr().err
    assert "7 images of 7 prompts" in printed
    assert "'0 dogs'" in printed
    assert "and 2 more" in printed
    assert "[folder-incomplete]" in printed


def test_blank_images_are_reported(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    put(tmp_path / "a_cat_0.png", "cat")
    (tmp_path / "a_dog_0.png").write_bytes(encode_picture(Picture(rgb=bytes(3 * 64), width=8, height=8)))
    model = opened(tmp_path)
    assert all(isinstance(render(model, text), Rendered) for text in ("a cat", "a dog"))
    model.close()
    printed = capsys.readouterr().err
    assert "[images-blank]" in printed
    assert str(tmp_path / "a_dog_0.png") in printed
    assert "a_cat_0.png" not in printed


def test_other_files_are_reported_if_no_image_is_found(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    put(tmp_path / "0.png", "cat")
    put(tmp_path / "a_bird.png", "bird")
    for text, is_reported in (("a cat", True), ("a bird", False)):
        model = opened(tmp_path)
        render(model, text)
        render(model, "a dog")
        model.close()
        printed = capsys.readouterr().err
        assert "[folder-incomplete]" in printed
        assert ("0.png, a_bird.png" in printed) == ("model.pattern" in printed) == is_reported, printed


def test_listed_file_names_are_unique(tmp_path: Path) -> None:
    model = opened(tmp_path)
    long = "a cat and " * 40
    for text in ("a cat, a dog", "a cat a dog", f"{long} a dog", f"{long} a cow"):
        assert isinstance(render(model, text, seed=70_000), BackendError)
    model.close()
    names = [json.loads(line)["path"] for line in (tmp_path / "missing.jsonl").read_text().splitlines()]
    assert len(set(names)) == 4
    assert all(len(name) < 250 for name in names)


def test_a_file_that_is_no_image_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "a_cat_0.png").write_text("<html>not found</html>")
    outcome = render(opened(tmp_path), "a cat")
    assert isinstance(outcome, BackendError)
    assert outcome.code == "file-unreadable"
    assert "a_cat_0.png" in str(outcome)


@pytest.mark.parametrize(
    ("name", "content", "match"),
    [
        ("manifest.jsonl", '{"prompt": "a cat"}', r"line 1.*\[file-invalid\]"),
        ("manifest.jsonl", "{", r"line 1.*\[json-invalid\]"),
        ("manifest.csv", "prompt,path,seed\na cat,x.png,many\n", r"'many'.*\[value-invalid\]"),
        ("prompts.json", "[]", r"\[json-shape\]"),
    ],
)
def test_invalid_lists_are_refused(tmp_path: Path, name: str, content: str, match: str) -> None:
    (tmp_path / name).write_text(content)
    with pytest.raises(UsageError, match=match):
        opened(tmp_path)


def test_a_missing_folder_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"\[file-missing\]"):
        opened(tmp_path / "nowhere")


def test_conformance(tmp_path: Path) -> None:
    put(tmp_path / "a_cat_0.png", "x")
    put(tmp_path / "a_dog_0.png", "y")
    requests = [RenderRequest(prompt=Prompt(role="a", text=text), seed=1) for text in ("a cat", "a dog")]
    check_generator(bound("model", FolderImages, path=str(tmp_path)), requests)


def test_the_list_may_be_in_another_folder(tmp_path: Path) -> None:
    put(tmp_path / "p" / "x.png", "x")
    with (tmp_path / "mine.csv").open("w", newline="") as lines:
        csv.writer(lines).writerows([["prompt", "path"], ["a cat", "x.png"]])
    for layout in ("manifest", "auto"):
        model = opened(tmp_path / "p", layout=layout, listing=str(tmp_path / "mine.csv"))
        assert note(render(model, "a cat")) == "x"
    with pytest.raises(UsageError, match=r"names.*\[options-conflict\]"):
        opened(tmp_path / "p", layout="names", listing=str(tmp_path / "mine.csv"))
