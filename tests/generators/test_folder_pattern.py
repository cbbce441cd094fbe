"""Folders of other benchmarks: a pattern and a list say which picture is whose, and nothing is guessed."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from salva.core.case import Prompt
from salva.core.image import Picture
from salva.core.protocols import Rendered, RenderRequest
from salva.errors import BackendError, UsageError
from salva.generators.folder import FolderImages
from salva.imaging.files import encode_picture
from salva.testing.fakes import painted, written_in

PROMPTS = ("a cat", "a dog, and a cow", "a horse")
LISTS = {
    "list.txt": "a cat\n\na dog, and a cow\na horse\n",
    "list.csv": 'id,prompt\n000,a cat\n001,"a dog, and a cow"\n002,a horse\n',
    "list.json": json.dumps([{"prompt_id": i, "Prompt": text} for i, text in enumerate(PROMPTS)]),
    "ids.json": json.dumps({f"{i:05}": {"prompt": text, "models": {}} for i, text in enumerate(PROMPTS)}),
    "list.jsonl": "".join(json.dumps({"type": "x", "short_description": text}) + "\n" for text in PROMPTS),
}
LAYOUTS: dict[str, tuple[str, str, str, Callable[[int, int], str]]] = {
    "UniGenBench": ("{index}_{sample}.png", "list.csv", "", lambda i, k: f"{i}_{k}.png"),
    "WISE": ("{prompt_id}.png", "list.json", "", lambda i, _: f"{i}.png"),
    "OneIG": ("{id}.webp", "list.csv", "", lambda i, _: f"{i:03}.webp"),
    "TIIF": (
        "short_description/{index}.png",
        "list.jsonl",
        "short_description",
        lambda i, _: f"short_description/{i}.png",
    ),
    "GenAI-Bench": ("{id}.jpeg", "ids.json", "", lambda i, _: f"{i:05}.jpeg"),
    "GenEval++": ("{number}.jpg", "list.txt", "", lambda i, _: f"{i + 1}.jpg"),
    "prompt and sample": ("{prompt}-{sample}.png", "", "", lambda i, k: f"{PROMPTS[i].replace(',', '')}-{k}.png"),
}


def put(path: Path, note: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(encode_picture(painted(["cat"], note)))


def opened(folder: Path, pattern: str, listing: str = "", column: str = "", grid: int = 1) -> FolderImages:
    options = FolderImages.Options(path=str(folder), pattern=pattern, listing=listing, column=column, grid=grid)
    return FolderImages(options)


def shown(model: FolderImages, text: str, repeat: int = 0) -> str:
    request = RenderRequest(prompt=Prompt(role="a", text=text), seed=123_456_789, repeat=repeat)
    (outcome,) = model.render([request])
    return written_in(outcome.picture)[1] if isinstance(outcome, Rendered) else type(outcome).__name__


@pytest.fixture
def lists(tmp_path: Path) -> Path:
    place = tmp_path / "lists"
    place.mkdir()
    for name, text in LISTS.items():
        (place / name).write_text(text)
    return place


@pytest.mark.parametrize("name", LAYOUTS)
def test_the_layouts_of_other_benchmarks(tmp_path: Path, lists: Path, name: str) -> None:
    pattern, listing, column, file_name = LAYOUTS[name]
    n_repeats = 4 if "sample" in pattern else 1
    for i in range(len(PROMPTS)):
        for k in range(n_repeats):
            if (i, k) != (1, 2):
                put(tmp_path / "pictures" / file_name(i, k), f"{i} {k}")
    model = opened(tmp_path / "pictures", pattern, str(lists / listing) if listing else "", column)
    for i, prompt in enumerate(PROMPTS):
        for k in range(n_repeats):
            assert shown(model, prompt, k) == (f"{i} {k}" if (i, k) != (1, 2) else "BackendError"), (
                "a missing image leaves a gap"
            )
    assert shown(model, "a cat", n_repeats) == "BackendError"
    assert shown(model, "a bird") == "BackendError"


def test_a_grid_file_has_four_images_of_its_prompt(tmp_path: Path) -> None:
    """DPG-Bench's layout."""
    (tmp_path / "prompts").mkdir()
    (tmp_path / "pictures").mkdir()
    (tmp_path / "prompts" / "COCOval2014_1.txt").write_text("a cat\n")
    # Two by two pictures of 2 x 1 pixels each: black, red, green, blue.
    black, red, green, blue = ((0, 0, 0), (255, 0, 0), (0, 255, 0), (0, 0, 255))
    rows = (*(black, black, red, red), *(green, green, blue, blue))
    grid = Picture(rgb=bytes(value for pixel in rows for value in pixel), width=4, height=2)
    (tmp_path / "pictures" / "COCOval2014_1.png").write_bytes(encode_picture(grid))
    model = opened(tmp_path / "pictures", "{id}.png", str(tmp_path / "prompts"), grid=2)
    requests = [RenderRequest(prompt=Prompt(role="a", text="a cat"), seed=1, repeat=repeat) for repeat in range(5)]
    *four, none = model.render(requests)
    for outcome, colour in zip(four, (black, red, green, blue), strict=True):
        assert isinstance(outcome, Rendered)
        assert outcome.picture == Picture(rgb=bytes(colour) * 2, width=2, height=1)
    assert isinstance(none, BackendError)


def test_images_counted_from_one_are_not_matched_with_the_previous_prompt(tmp_path: Path, lists: Path) -> None:
    for i in (1, 2, 3):
        put(tmp_path / "pictures" / f"{i}.png", str(i))
    with pytest.raises(UsageError, match=r"\{number\}.*\[pattern-invalid\]"):
        opened(tmp_path / "pictures", "{index}.png", str(lists / "list.txt"))
    assert shown(opened(tmp_path / "pictures", "{number}.png", str(lists / "list.txt")), "a cat") == "1"


def test_a_manifest_adds_missing_images(tmp_path: Path, lists: Path) -> None:
    put(tmp_path / "pictures" / "0_0.png", "cat")
    put(tmp_path / "pictures" / "later.png", "horse")
    (tmp_path / "pictures" / "manifest.jsonl").write_text(json.dumps({"prompt": "a horse", "path": "later.png"}))
    model = opened(tmp_path / "pictures", "{index}_{sample}.png", str(lists / "list.txt"))
    assert (shown(model, "a cat"), shown(model, "a horse")) == ("cat", "horse")


@pytest.mark.parametrize(
    ("pattern", "listing", "column", "code"),
    [
        ("{sample}.png", "list.txt", "", "pattern-invalid"),
        ("{}.png", "list.txt", "", "pattern-invalid"),
        ("{index}_{index}.png", "list.txt", "", "pattern-invalid"),
        ("{index}.png", "", "", "flag-needed"),
        ("{prompt}.png", "list.txt", "", "options-conflict"),
        ("{colour}.png", "list.csv", "", "column-missing"),
        ("{index}.png", "list.jsonl", "", "column-missing"),
        ("{index}.png", "list.csv", "caption", "column-missing"),
        ("{index}-{sample}.png", "list.csv", "", "pattern-invalid"),
        ("{type}_0.png", "list.jsonl", "short_description", "pattern-invalid"),
    ],
)
def test_invalid_patterns_are_refused(
    tmp_path: Path, lists: Path, pattern: str, listing: str, column: str, code: str
) -> None:
    put(tmp_path / "pictures" / "0_0.png", "x")
    with pytest.raises(UsageError) as caught:
        opened(tmp_path / "pictures", pattern, str(lists / listing) if listing else "", column)
    assert caught.value.code == code


def test_invalid_grids_are_refused(tmp_path: Path, lists: Path) -> None:
    with pytest.raises(UsageError, match=r"model\.grid.*\[options-conflict\]"):
        opened(tmp_path, "{index}_{sample}.png", str(lists / "list.txt"), grid=2)
    with pytest.raises(UsageError, match=r"99999.* 64 .*\[option-invalid\]"):
        opened(tmp_path, "{index}.png", str(lists / "list.txt"), grid=99999)
    with pytest.raises(UsageError, match=r"\[flag-needed\]"):
        FolderImages(FolderImages.Options(path=str(tmp_path), grid=2))
    with pytest.raises(UsageError, match=r"\[options-conflict\]"):
        FolderImages(FolderImages.Options(path=str(tmp_path), pattern="{prompt}.png", layout="names"))
