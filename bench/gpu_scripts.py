"""One picture at a time, as published scripts paint and look; and how much is measured."""

from __future__ import annotations

import contextlib
import importlib
import os
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

PROMPT = "a cat to the left of a dog and two horses"
N_TOKENS = 48


def can_measure(*, is_tiny: bool) -> bool:
    """Whether there is what to measure on; says so where there is not."""
    import torch

    if is_tiny or torch.cuda.is_available():
        return True
    print("no GPU here, nothing measured; --tiny tries the measurement on the processor")
    return False


@contextlib.contextmanager
def own_folder() -> Iterator[Path]:
    """A folder for one measurement, with a cache: batch sizes found before must not decide what is measured."""
    with tempfile.TemporaryDirectory(prefix="salva-bench-") as name:
        os.environ["XDG_CACHE_HOME"] = str(Path(name) / "cache")
        yield Path(name)


@dataclass(frozen=True, slots=True, kw_only=True)
class Scale:
    """How much is measured."""

    device: str
    is_tiny: bool
    steps: int
    side: int
    n_single: int
    n_batches: int
    paint_batch: int
    observe_batch: int
    n_painted: int
    n_seen: int


FULL = Scale(
    device="cuda:0",
    is_tiny=False,
    steps=30,
    side=512,
    n_single=16,
    n_batches=5,
    paint_batch=16,
    observe_batch=128,
    n_painted=320,
    n_seen=2560,
)
TINY = Scale(
    device="cpu",
    is_tiny=True,
    steps=2,
    side=64,
    n_single=2,
    n_batches=2,
    paint_batch=2,
    observe_batch=4,
    n_painted=8,
    n_seen=16,
)


class PaintScript:
    """The generator as a script uses it: one picture after the other, a PNG file each."""

    def __init__(self, scale: Scale, folder: Path, out: Path) -> None:
        import torch

        diffusers: Any = importlib.import_module("diffusers")
        self._scale, self._out = scale, out
        word = "dtype" if hasattr(diffusers.utils.deprecation_utils, "_resolve_dtype") else "torch_dtype"
        dtype = {word: torch.float16 if scale.device.startswith("cuda") else torch.float32}
        pipeline = diffusers.StableDiffusionPipeline.from_pretrained(folder, safety_checker=None, **dtype)
        pipeline.scheduler = diffusers.DPMSolverMultistepScheduler.from_config(pipeline.scheduler.config)
        pipeline.set_progress_bar_config(disable=True)
        self._pipeline = pipeline.to(scale.device)

    def __call__(self, seed: int) -> Any:
        import torch

        image = self._pipeline(
            PROMPT,
            num_inference_steps=self._scale.steps,
            guidance_scale=7.5,
            width=self._scale.side,
            height=self._scale.side,
            generator=torch.Generator("cpu").manual_seed(seed),
        ).images[0]
        image.save(self._out / f"{seed}.png")
        return image


class ObserveScript:
    """The detector as a script uses it: one PIL image after the other."""

    def __init__(self, scale: Scale, folder: Path) -> None:
        import torch

        transformers: Any = importlib.import_module("transformers")
        self._device = scale.device
        self._dtype = torch.bfloat16 if scale.device.startswith("cuda") else torch.float32
        model = transformers.Florence2ForConditionalGeneration.from_pretrained(folder, dtype=self._dtype)
        self._model = model.to(scale.device).eval()
        self._processor = transformers.AutoProcessor.from_pretrained(folder)

    def __call__(self, image: Any) -> None:
        inputs = self._processor(text="<OD>", images=image, return_tensors="pt").to(self._device, self._dtype)
        written = self._model.generate(**inputs, max_new_tokens=N_TOKENS, do_sample=False, num_beams=1)
        answer = self._processor.batch_decode(written, skip_special_tokens=False)[0]
        self._processor.post_process_generation(text=answer, task="<OD>", image_size=image.size)


def noise_image(side: int, seed: int) -> Any:
    """A picture that compresses like a painted one: soft blobs of colour."""
    import numpy as np
    from PIL import Image

    coarse = np.random.default_rng(seed).integers(0, 256, (max(2, side // 16), max(2, side // 16), 3), np.uint8)
    return Image.fromarray(coarse).resize((side, side), Image.Resampling.BICUBIC)
