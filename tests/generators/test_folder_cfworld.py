"""Images with CF-World's file names, found by CF-World's prompt files."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from PIL import Image

from salva.core.case import Prompt
from salva.core.protocols import Rendered, RenderRequest
from salva.errors import UsageError
from salva.generators.folder import FolderImages


def picture(path: Path, shade: int) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    Image.new("RGB", (8, 8), (shade, shade, shade)).save(path)


@pytest.fixture
def folders(tmp_path: Path) -> tuple[Path, Path]:
    prompts = tmp_path / "data"
    (prompts / "prompt" / "physics").mkdir(parents=True)
    levels = [{"id": "0", **{f"prompt_l{i}": f"Draw a mirror {i}." for i in (1, 2, 3)}}]
    (prompts / "prompt" / "physics" / "Optics.json").write_text(json.dumps(levels), encoding="utf-8")
    ablation = prompts / "prompt_ablation"
    (ablation / "de-norm").mkdir(parents=True)
    rules = [{"rule_id": 3, "id": 17, "prompt": "Draw an arrow.", "ap": "down"}]
    (ablation / "rule_decouple.json").write_text(json.dumps(rules), encoding="utf-8")
    pairs = [{"id": "93_factual", "A": "a", "B": "b", "prompt": "An otter in a river."}]
    (ablation / "attribute_decouple.json").write_text(json.dumps(pairs), encoding="utf-8")
    denorm = [{"id": "0", "prompt": "Draw a smooth reflecting sheet."}]
    (ablation / "de-norm" / "Optics.json").write_text(json.dumps(denorm), encoding="utf-8")
    images = tmp_path / "pictures" / "sana"
    for i in (1, 2, 3):
        picture(images / "physics" / "Optics" / f"0_l{i}.png", i)
    picture(images / "rule_decouple" / "17.png", 4)
    picture(images / "sampled_Attribute_decoupling" / "93_factual.png", 5)
    picture(images / "de-norm" / "physics" / "Optics" / "0.png", 6)
    return images, prompts


WANTED = {
    "Draw a mirror 1.": 1,
    "Draw a mirror 3.": 3,
    "Draw an arrow.": 4,
    "An otter in a river.": 5,
    "Draw a smooth reflecting sheet.": 6,
}


@pytest.mark.parametrize("layout", ["auto", "cfworld"])
def test_all_parts_are_found(folders: tuple[Path, Path], layout: str) -> None:
    images, prompts = folders
    source = FolderImages(FolderImages.Options(path=str(images), layout=layout, listing=str(prompts)))
    asked = [RenderRequest(prompt=Prompt(role="l1", text=text), seed=1) for text in WANTED]
    for wanted, rendered in zip(WANTED.values(), source.render(asked), strict=True):
        assert isinstance(rendered, Rendered), rendered
        assert rendered.picture.rgb[0] == wanted


def test_a_folder_without_prompts_is_refused(folders: tuple[Path, Path]) -> None:
    with pytest.raises(UsageError, match=r"\[prompt-list-missing\]"):
        FolderImages(FolderImages.Options(path=str(folders[0])))
