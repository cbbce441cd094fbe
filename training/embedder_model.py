"""The pocket embedder's two networks: a picture or a sentence in, one vector of length one out.

Both end alike: what each cell of the picture or each word says is widened, averaged and mixed, so that a vector holds
how much of what stands where, and how often. Knows nothing of things, captions or drawing; words are row numbers.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass

import torch
from torch import Tensor, nn
from torch.nn import functional


@dataclass(frozen=True, slots=True, kw_only=True)
class EmbedderShape:
    """The sizes that make one embedder; stored beside the weights."""

    n_words: int
    side: int = 96
    max_tokens: int = 64
    width: int = 256
    """Numbers in a vector."""
    wide: int = 512
    """What cells and words are widened to before they are averaged."""
    fine_width: int = 96
    coarse_width: int = 176
    n_fine: int = 2
    n_coarse: int = 3
    text_width: int = 144
    n_text_layers: int = 3
    text_reach: int = 9
    """Words in a row that each word takes in before it looks further; an odd number."""
    head_width: int = 24

    def to_json(self) -> dict[str, int]:
        """Plain numbers, for the file beside the weights."""
        return asdict(self)


class ConvBlock(nn.Module):
    """Two 3 x 3 convolutions beside a shortcut; the normalisation is folded away on export."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.first = nn.Conv2d(width, width, 3, padding=1, bias=False)
        self.first_norm = nn.BatchNorm2d(width, momentum=0.05)
        self.second = nn.Conv2d(width, width, 3, padding=1, bias=False)
        self.second_norm = nn.BatchNorm2d(width, momentum=0.05)
        nn.init.zeros_(self.second_norm.weight)

    def forward(self, x: Tensor) -> Tensor:
        """x [b, c, h, w] to the same shape."""
        y = functional.relu(self.first_norm(self.first(x)))
        return functional.relu(x + self.second_norm(self.second(y)))


def _down(n_in: int, n_out: int) -> nn.Sequential:
    """Half the side, more channels."""
    conv = nn.Conv2d(n_in, n_out, 3, stride=2, padding=1, bias=False)
    return nn.Sequential(conv, nn.BatchNorm2d(n_out, momentum=0.05), nn.ReLU())


class PictureTower(nn.Module):
    """Pictures to vectors."""

    def __init__(self, shape: EmbedderShape) -> None:
        super().__init__()
        half, fine, coarse = shape.fine_width // 2, shape.fine_width, shape.coarse_width
        self.enter = _down(3, half)
        self.to_fine = _down(half, fine)
        self.fine = nn.Sequential(*(ConvBlock(fine) for _ in range(shape.n_fine)))
        self.to_coarse = _down(fine, coarse)
        self.coarse = nn.Sequential(*(ConvBlock(coarse) for _ in range(shape.n_coarse)))
        # An average cannot tell left from right: each cell carries where it stands.
        self.places = nn.Parameter(torch.randn(1, shape.wide, shape.side // 8, shape.side // 8) * 0.2)
        self.widen = nn.Conv2d(coarse, shape.wide, 1)
        self.norm = nn.LayerNorm(shape.wide)
        self.leave = nn.Linear(shape.wide, shape.width)

    def forward(self, pictures: Tensor) -> Tensor:
        """pictures [b, 3, s, s] in -1 to 1 to vectors [b, w] of length one."""
        return unit(self.leave(self.averaged(pictures)))

    def averaged(self, pictures: Tensor) -> Tensor:
        """What the cells say on average, [b, wide]."""
        cells = self.coarse(self.to_coarse(self.fine(self.to_fine(self.enter(pictures)))))
        wide = self.widen(cells)
        wide = functional.relu(wide + self.places.to(wide.dtype))
        averaged: Tensor = self.norm(wide.mean((2, 3)))
        return averaged


class WordLook(nn.Module):
    """Words look at each other, then think."""

    def __init__(self, width: int, head_width: int) -> None:
        super().__init__()
        self.n_heads = width // head_width
        self.look_norm = nn.LayerNorm(width)
        self.query_key_value = nn.Linear(width, 3 * width, bias=False)
        self.out = nn.Linear(width, width)
        self.think_norm = nn.LayerNorm(width)
        self.think = nn.Sequential(
            nn.Linear(width, 3 * width), nn.GELU(approximate="tanh"), nn.Linear(3 * width, width)
        )

    def forward(self, x: Tensor, bias: Tensor) -> Tensor:
        """x [b, l, w] and score bias [b, 1, 1, l] to the same shape as x."""
        b, n, width = x.shape
        parts = self.query_key_value(self.look_norm(x)).view(b, n, 3, self.n_heads, width // self.n_heads)
        query, key, value = parts.permute(2, 0, 3, 1, 4).unbind(0)
        scores = query @ key.transpose(2, 3) * query.shape[3] ** -0.5 + bias.to(query.dtype)
        seen = scores.softmax(3).to(value.dtype) @ value
        x = x + self.out(seen.transpose(1, 2).reshape(b, n, width))
        return x + self.think(self.think_norm(x))


class TextTower(nn.Module):
    """Sentences to vectors; neighbours are mixed before the first look, or words stay a bag."""

    def __init__(self, shape: EmbedderShape) -> None:
        super().__init__()
        width, reach = shape.text_width, shape.text_reach
        self.words = nn.Embedding(shape.n_words, width)
        self.neighbours = nn.ModuleList(
            nn.Conv1d(width, width, reach, padding=reach // 2, groups=width if i else 1)
            for i in range(shape.n_text_layers)
        )
        self.looks = nn.ModuleList(WordLook(width, shape.head_width) for _ in range(shape.n_text_layers))
        self.last = nn.LayerNorm(width)
        self.widen = nn.Linear(width, shape.wide)
        self.norm = nn.LayerNorm(shape.wide)
        self.leave = nn.Linear(shape.wide, shape.width)

    def forward(self, tokens: Tensor) -> Tensor:
        """tokens [b, l], 0 for none, to vectors [b, w] of length one."""
        return unit(self.leave(self.averaged(tokens)))

    def averaged(self, tokens: Tensor) -> Tensor:
        """What the words say on average, [b, wide]."""
        present = (tokens != 0).to(self.words.weight.dtype)
        bias = (present - 1)[:, None, None, :] * 1e4
        x = self.words(tokens)
        for near, look in zip(self.neighbours, self.looks, strict=True):
            x = x + near((x * present.unsqueeze(2)).transpose(1, 2)).transpose(1, 2)
            x = look(x, bias)
        wide = functional.relu(self.widen(self.last(x)))
        share = (present / present.sum(1, keepdim=True).clamp_min(1)).unsqueeze(2)
        averaged: Tensor = self.norm((wide * share).sum(1))
        return averaged


def unit(x: Tensor) -> Tensor:
    """x [b, w] at length one."""
    x = x.float()
    return x * torch.rsqrt(x.square().sum(1, keepdim=True) + 1e-12)


class Embedder(nn.Module):
    """Both towers and how sharply their vectors are told apart."""

    def __init__(self, shape: EmbedderShape) -> None:
        super().__init__()
        self.shape = shape
        self.picture = PictureTower(shape)
        self.text = TextTower(shape)
        self.log_sharpness = nn.Parameter(torch.tensor(2.5))


def parameter_count(module: nn.Module) -> int:
    """How many numbers the module learns."""
    return sum(parameter.numel() for parameter in module.parameters())
