"""Pixels prepared on the device agree with those of the checkpoint's processor, to within rounding."""

from __future__ import annotations

import random
from typing import Any

import numpy as np
import pytest
from PIL import Image, ImageFilter

from salva.core.image import Picture
from salva.errors import UsageError
from salva.observers.pixels import PixelSettings, in_groups, settings_of, to_pixels

torch: Any = pytest.importorskip("torch", reason="needs the extra torch")
transformers: Any = pytest.importorskip("transformers", reason="needs the extra torch")


def drawn(width: int, height: int, seed: int = 1) -> Picture:
    """Soft blotches, which unlike noise survive resizing."""
    noise = np.random.default_rng(seed).integers(0, 256, (max(2, height // 8), max(2, width // 8), 3), np.uint8)
    image = Image.fromarray(noise).resize((width, height), Image.Resampling.BICUBIC).filter(ImageFilter.GaussianBlur(1))
    return Picture(rgb=image.tobytes(), width=width, height=height)


def by_processor(processor: Any, picture: Picture) -> torch.Tensor:
    image = Image.frombytes("RGB", (picture.width, picture.height), picture.rgb)
    pixels: torch.Tensor = processor(images=[image], return_tensors="pt")["pixel_values"]
    return pixels


PROCESSORS = {
    "florence2": transformers.CLIPImageProcessorPil(size={"height": 96, "width": 96}, do_center_crop=False),
    "clip": transformers.CLIPImageProcessorPil(size={"shortest_edge": 64}, crop_size={"height": 64, "width": 64}),
    "crop larger than the picture": transformers.CLIPImageProcessorPil(
        size={"shortest_edge": 45}, crop_size={"height": 64, "width": 60}
    ),
    "siglip": transformers.SiglipImageProcessorPil(size={"height": 64, "width": 64}),
    "detr": transformers.DetrImageProcessorPil(size={"shortest_edge": 80, "longest_edge": 130}),
    "rt-detr": transformers.RTDetrImageProcessorPil(size={"height": 64, "width": 64}),
    "grounding-dino": transformers.GroundingDinoImageProcessorPil(size={"shortest_edge": 80, "longest_edge": 130}),
}


@pytest.mark.parametrize("size", [(64, 64), (256, 256), (200, 120), (90, 301), (48, 40)])
@pytest.mark.parametrize("name", PROCESSORS)
def test_pixels_agree_with_the_processor(name: str, size: tuple[int, int]) -> None:
    picture = drawn(*size)
    wanted = by_processor(PROCESSORS[name], picture)
    made = to_pixels([picture], settings_of(PROCESSORS[name], name), "cpu", torch.float32)
    assert made.shape == wanted.shape
    # One step of a byte, in units of the deviation: PIL rounds between its two passes, torch does not.
    step = 1 / 255 / (min(PROCESSORS[name].image_std) if PROCESSORS[name].do_normalize else 1)
    assert (made - wanted).abs().max() <= 2.01 * step
    assert (made - wanted).abs().mean() < 0.3 * step


def test_sides_are_rounded_as_by_transformers() -> None:
    from transformers.image_transforms import get_size_with_aspect_ratio

    rng = random.Random(0)
    settings = PixelSettings(shortest=800, longest=1333)
    sizes = [(rng.randint(1, 2000), rng.randint(1, 2000)) for _ in range(200)]
    for height, width in (*sizes, (600, 1334), (1334, 600), (800, 1000)):
        expected = get_size_with_aspect_ratio((height, width), 800, 1333)
        assert settings.resized(height, width) == tuple(max(1, side) for side in expected), (height, width)


def test_a_batch_equals_its_images() -> None:
    pictures = [drawn(50, 70, seed) for seed in range(3)]
    settings = settings_of(PROCESSORS["clip"], "clip")
    together = to_pixels(pictures, settings, "cpu", torch.float32)
    alone = torch.cat([to_pixels([picture], settings, "cpu", torch.float32) for picture in pictures])
    assert torch.equal(together, alone)


def test_squares_are_padded_right_and_below() -> None:
    settings = PixelSettings(height=8, width=8, is_squared=True, resampling="bilinear")
    wide = Picture(rgb=bytes(3 * 8 * 4), width=8, height=4)
    pixels = to_pixels([wide], settings, "cpu", torch.float32)
    assert torch.all(pixels[0, :, :4] == 0)
    assert torch.all(pixels[0, :, 4:] == 0.5)


def test_other_image_processors_are_refused() -> None:
    odd = transformers.CLIPImageProcessorPil(resample=0)
    with pytest.raises(UsageError, match=r"method 0.*\[checkpoint-invalid\]"):
        settings_of(odd, "clip")
    with pytest.raises(UsageError, match=r"\[checkpoint-invalid\]"):
        settings_of(transformers.CLIPImageProcessorPil(do_rescale=False), "clip")


def test_groups_are_not_mixed_and_keep_their_order() -> None:
    seen: list[list[int]] = []

    def call(part: Any) -> list[str]:
        seen.append(list(part))
        return [f"<{one}>" for one in part]

    assert in_groups([1, 12, 3, 14, 5], lambda n: n > 10, call) == ["<1>", "<12>", "<3>", "<14>", "<5>"]
    assert seen == [[1, 3, 5], [12, 14]]
    assert in_groups([], lambda n: n, call) == []
