"""From sentences to pictures with torch: guided steps along the flow, and sheets to look at.

Takes any network of pocket's shape. Used while training, distilling and measuring; what ships runs on
ONNX and does the same few steps.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
import torch
from PIL import Image, ImageDraw
from pocket_captions import END, MAX_TOKENS, START, encode, tokenise, vocabulary
from pocket_model import PocketPainter
from torch import Tensor

SHEET_PROMPTS = (
    "a cat", "a banana", "there is a horse", "a red car", "a blue umbrella", "a green apple", "a giraffe",
    "a purple hat", "a cat and a dog", "a dog and a cat", "an apple and a banana", "there is a cow and a banana",
    "a bus with a tree", "a bird and a boat", "a clock along with a chair", "a pizza , a donut and a cake",
    "there is a cat on the left and a dog on the right", "an apple on the right and a cow on the left",
    "a train on top and a turtle on the bottom", "a banana at the bottom and a hat at the top",
    "a cat, a dog and an apple", "there is both a cow and a banana, along with a dog", "a sheep next to a house",
    "a flower in the middle", "two cats", "three apples", "four dogs", "there are five bananas", "six cows and a cat",
    "8 birds", "ten balls", "two cats and three dogs", "a ball above a chair", "a cup to the left of a book",
    "a cat on a chair", "a butterfly below a flower", "a blue banana", "a car at the top", "a large elephant",
    "a small bear",
    "there is either a cat or a dog", "there is no cat", "It is not the case that there is not a cat and a dog",
    "There is a cat with either both a dog and an apple or both an apple and a dog", "a dog and no cat",
    "a pink cup and a yellow book", "a red ball on the left and a green ball on the right", "",
)  # fmt: skip


def encode_prompts(prompts: Sequence[str], device: torch.device) -> Tensor:
    """Rows of word numbers, padded."""
    numbers = {word: i for i, word in enumerate(vocabulary())}
    tokens = torch.zeros(len(prompts), MAX_TOKENS, dtype=torch.long)
    for i, prompt in enumerate(prompts):
        row = encode(tokenise(prompt), numbers)
        tokens[i, : len(row)] = torch.tensor(row)
    return tokens.to(device)


def unsaid(tokens: Tensor) -> Tensor:
    """The same number of empty sentences."""
    empty = torch.zeros_like(tokens)
    empty[:, 0], empty[:, 1] = START, END
    return empty


def shifted_times(n_steps: int, shift: float) -> list[float]:
    """Times from 1 to 0; a shift above 1 takes more of the steps early, where things find their places."""
    even = [1 - i / n_steps for i in range(n_steps + 1)]
    return [shift * t / (1 + (shift - 1) * t) for t in even]


Encoded = tuple[Tensor, Tensor, Tensor]


def guided_velocity(
    painter: PocketPainter, encoded: Encoded, empty: Encoded | None, guidance: float
) -> Callable[[Tensor, Tensor], Tensor]:
    """The velocity as a function of picture and time, with guidance where an empty sentence is given."""

    def velocity(x: Tensor, t: Tensor) -> Tensor:
        if empty is None:
            said: Tensor = painter.canvas(x, t, *encoded)
            return said
        both = painter.canvas(
            torch.cat([x, x]), torch.cat([t, t]), *(torch.cat(pair) for pair in zip(encoded, empty, strict=True))
        )
        said, not_said = both.chunk(2)
        return not_said + guidance * (said - not_said)

    return velocity


def walk(velocity: Callable[[Tensor, Tensor], Tensor], x: Tensor, times: Sequence[float]) -> Tensor:
    """Euler steps through these times."""
    for t, t_next in itertools.pairwise(times):
        x = x + (t_next - t) * velocity(x, torch.full((x.shape[0],), t, device=x.device)).to(x.dtype)
    return x


@torch.no_grad()
def paint(
    painter: PocketPainter, tokens: Tensor, *, seed: int, n_steps: int, guidance: float = 1.0, shift: float = 1.5
) -> Tensor:
    """Pictures [b, 3, s, s] in -1 to 1; a guidance of 1 is none."""
    side = painter.shape.side
    noise = torch.randn(tokens.shape[0], 3, side, side, generator=torch.Generator().manual_seed(seed)).to(tokens.device)
    with torch.autocast(tokens.device.type, torch.bfloat16, enabled=tokens.device.type == "cuda"):
        encoded = painter.text(tokens)
        empty = painter.text(unsaid(tokens)) if guidance != 1 else None
        pictures = walk(guided_velocity(painter, encoded, empty, guidance), noise, shifted_times(n_steps, shift))
    return pictures.clamp(-1, 1)


def to_bytes(pictures: Tensor) -> np.ndarray:
    """[b, s, s, 3] bytes."""
    array: np.ndarray = ((pictures.float().cpu().permute(0, 2, 3, 1) + 1) * 127.5).round().clamp(0, 255).byte().numpy()
    return array


def save_sheet(pictures: Tensor, captions: Sequence[str], path: Path, n_columns: int = 8, side: int = 160) -> None:
    """A sheet of pictures with their captions below."""
    rows = -(-len(captions) // n_columns)
    sheet = Image.new("RGB", (n_columns * (side + 6), rows * (side + 42)), "white")
    pen = ImageDraw.Draw(sheet)
    for i, (pixels, caption) in enumerate(zip(to_bytes(pictures), captions, strict=True)):
        x, y = i % n_columns * (side + 6), i // n_columns * (side + 42)
        sheet.paste(Image.fromarray(pixels).resize((side, side), Image.Resampling.LANCZOS), (x, y))
        for line in range(3):
            pen.text((x, y + side + 1 + 13 * line), caption[line * 28 : line * 28 + 28], fill="black")
    path.parent.mkdir(parents=True, exist_ok=True)
    sheet.save(path)
