"""The pocket painter's network: noise, a time and a sentence in, the velocity towards a picture out.

A flow-matching U-Net over 4 x 4 patches, convolutions at two scales with attention to the words at both,
and a small text transformer trained along with it. Knows nothing of things, captions or drawing; words are
row numbers. Time runs from 0 (the picture) to 1 (pure noise), and the velocity is noise minus picture. The last
layer says the picture and the velocity follows from it: noise, which no network can foresee, need not pass through.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import asdict, dataclass

import torch
from torch import Tensor, nn
from torch.nn import functional

PATCH = 4
N_FREQUENCIES = 64
EARLIEST = 0.1
"""Nearer to the picture than this time, errors no longer count for more."""
Forward = Callable[[Tensor, Tensor, Tensor], Tensor]
"""Pictures on their way, times and tokens to velocities."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Shape:
    """The sizes that make one network; stored beside the weights."""

    n_words: int
    side: int = 96
    max_tokens: int = 64
    text_width: int = 192
    n_text_layers: int = 3
    text_reach: int = 9
    """How many words in a row each word takes in before it looks further, an odd number; a caption's place, number
    or colour is seldom more than four words from its thing."""
    fine_width: int = 128
    coarse_width: int = 224
    n_fine: int = 2
    n_coarse: int = 2
    n_middle: int = 2
    head_width: int = 32

    def to_json(self) -> dict[str, int]:
        """Plain numbers, for the file beside the weights."""
        return asdict(self)


def unit(x: Tensor, dim: int) -> Tensor:
    """x at a mean square of one along dim."""
    return (x * torch.rsqrt(x.float().square().mean(dim, keepdim=True) + 1e-6)).to(x.dtype)


class PixelNorm(nn.Module):
    """Each cell's vector at length one, times a gain; unlike groups of channels it needs no look at other cells."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.gain = nn.Parameter(torch.ones(width, 1, 1))

    def forward(self, x: Tensor) -> Tensor:
        """x [b, c, h, w] to the same shape."""
        return unit(x, 1) * self.gain.to(x.dtype)


def start_as_nothing(layer: nn.Linear | nn.Conv2d) -> None:
    """Have a layer say zero until it has learnt something."""
    assert layer.bias is not None
    nn.init.zeros_(layer.weight)
    nn.init.zeros_(layer.bias)


class Attention(nn.Module):
    """Multi-head attention over a sequence, from itself or from another one."""

    def __init__(self, width: int, source_width: int, head_width: int) -> None:
        super().__init__()
        self.n_heads = width // head_width
        # Scores stay small whatever the weights grow to, so a high learning rate cannot blow them up.
        self.sharpness = nn.Parameter(torch.ones(self.n_heads, 1, 1))
        self.query = nn.Linear(width, width, bias=False)
        self.key_value = nn.Linear(source_width, 2 * width, bias=False)
        self.out = nn.Linear(width, width)
        start_as_nothing(self.out)

    def forward(self, x: Tensor, source: Tensor, bias: Tensor | None = None) -> Tensor:
        """x [b, n, w] looks at source [b, m, s]; bias [b, 1, 1, m] is added to the scores."""
        b, n, width = x.shape
        query = self.query(x).view(b, n, self.n_heads, -1).transpose(1, 2)
        key, value = self.key_value(source).view(b, source.shape[1], 2, self.n_heads, -1).permute(2, 0, 3, 1, 4)
        query, key = unit(query, -1), unit(key, -1) * self.sharpness.to(key.dtype)
        if bias is None:
            seen = functional.scaled_dot_product_attention(query, key, value)
        else:
            # Few words, so the scores are small; a fused kernel would spread the bias over every cell first.
            scores = query @ key.transpose(2, 3) * query.shape[3] ** -0.5 + bias
            seen = scores.softmax(3).to(value.dtype) @ value
        return self.out(seen.transpose(1, 2).reshape(b, n, width))


class FeedForward(nn.Sequential):
    """Two linear layers around a GELU; starts as nothing."""

    def __init__(self, width: int, factor: int) -> None:
        super().__init__(
            nn.Linear(width, factor * width), nn.GELU(approximate="tanh"), nn.Linear(factor * width, width)
        )
        start_as_nothing(self.last)

    @property
    def last(self) -> nn.Linear:
        """The layer that everything leaves through."""
        layer = self[2]
        assert isinstance(layer, nn.Linear)
        return layer


class TextEncoder(nn.Module):
    """Words to one vector each, and one vector for the whole sentence.

    Which place, number or colour belongs to which thing must be in the words' vectors before the canvas can gain
    from it, and the canvas must use it before it is worth putting there. So neighbours are mixed from the first
    step on, and no layer starts as nothing. Words start large: small ones drown in what the layers add to them.
    """

    def __init__(self, shape: Shape) -> None:
        super().__init__()
        width = shape.text_width
        self.words = nn.Embedding(shape.n_words, width)
        reach = shape.text_reach
        self.neighbours = nn.ModuleList(
            nn.Conv1d(width, width, reach, padding=reach // 2, groups=width if i else 1)
            for i in range(shape.n_text_layers)
        )
        self.norms = nn.ModuleList(nn.LayerNorm(width) for _ in range(2 * shape.n_text_layers))
        looks = [Attention(width, width, shape.head_width) for _ in range(shape.n_text_layers)]
        thoughts = [FeedForward(width, 4) for _ in range(shape.n_text_layers)]
        self.looks, self.thoughts = nn.ModuleList(looks), nn.ModuleList(thoughts)
        self.last = nn.LayerNorm(width)
        for look, think in zip(looks, thoughts, strict=True):
            nn.init.normal_(look.out.weight, std=width**-0.5)
            nn.init.normal_(think.last.weight, std=(4 * width) ** -0.5)

    def forward(self, tokens: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        """tokens [b, l], 0 for none, to word vectors [b, l, w], score bias [b, 1, 1, l] and sentence [b, w]."""
        present = (tokens != 0).to(self.words.weight.dtype)
        bias = (present - 1)[:, None, None, :] * 1e4
        x = self.words(tokens)
        for i, (near, look, think) in enumerate(zip(self.neighbours, self.looks, self.thoughts, strict=True)):
            x = x + near((x * present.unsqueeze(2)).transpose(1, 2)).transpose(1, 2)
            seen = self.norms[2 * i](x)
            x = x + look(seen, seen, bias.to(seen.dtype))
            x = x + think(self.norms[2 * i + 1](x))
        x = self.last(x)
        weight = (present / present.sum(1, keepdim=True).clamp_min(1)).unsqueeze(2)
        return x, bias, (x * weight).sum(1)


class ResidualBlock(nn.Module):
    """Two 3 x 3 convolutions; time and sentence scale and shift between them."""

    def __init__(self, width: int, mood_width: int) -> None:
        super().__init__()
        self.first_norm = PixelNorm(width)
        self.first = nn.Conv2d(width, width, 3, padding=1)
        self.mood = nn.Linear(mood_width, 2 * width)
        self.second_norm = PixelNorm(width)
        self.second = nn.Conv2d(width, width, 3, padding=1)
        start_as_nothing(self.mood)
        start_as_nothing(self.second)

    def forward(self, x: Tensor, mood: Tensor) -> Tensor:
        """x [b, c, h, w] and mood [b, m] to the same shape as x."""
        y = self.first(functional.silu(self.first_norm(x)))
        scale, shift = self.mood(mood)[:, :, None, None].chunk(2, 1)
        y = self.second(functional.silu(self.second_norm(y) * (1 + scale) + shift))
        return x + y


class AttentionBlock(nn.Module):
    """Cells look at each other, then at the words, then think; a brief one only looks at the words."""

    def __init__(self, width: int, shape: Shape, *, is_brief: bool) -> None:
        super().__init__()
        self.self_norm = None if is_brief else nn.LayerNorm(width)
        self.self_look = None if is_brief else Attention(width, width, shape.head_width)
        self.word_norm = nn.LayerNorm(width)
        self.word_look = Attention(width, shape.text_width, shape.head_width)
        self.think_norm = None if is_brief else nn.LayerNorm(width)
        self.think = None if is_brief else FeedForward(width, 3)

    def forward(self, x: Tensor, words: Tensor, bias: Tensor) -> Tensor:
        """x [b, c, h, w], word vectors and their score bias, to the same shape as x."""
        b, c, h, w = x.shape
        y = x.flatten(2).transpose(1, 2)
        if self.self_norm is not None and self.self_look is not None:
            seen = self.self_norm(y)
            y = y + self.self_look(seen, seen)
        y = y + self.word_look(self.word_norm(y), words, bias.to(y.dtype))
        if self.think_norm is not None and self.think is not None:
            y = y + self.think(self.think_norm(y))
        return y.transpose(1, 2).reshape(b, c, h, w)


class Canvas(nn.Module):
    """The U-Net: noisy picture, time and encoded sentence to velocity."""

    frequencies: Tensor

    def __init__(self, shape: Shape) -> None:
        super().__init__()
        fine, coarse = shape.fine_width, shape.coarse_width
        mood = coarse
        n_in = 3 * PATCH * PATCH
        cells_fine, cells_coarse = shape.side // PATCH, shape.side // PATCH // 2
        self.time = nn.Sequential(nn.Linear(2 * N_FREQUENCIES, mood), nn.SiLU(), nn.Linear(mood, mood))
        self.sentence = nn.Linear(shape.text_width, mood)
        self.enter = nn.Conv2d(n_in, fine, 3, padding=1)
        # Attention alone cannot tell left from right: each cell carries where it stands.
        self.fine_places = nn.Parameter(torch.randn(1, fine, cells_fine, cells_fine) * 0.02)
        self.coarse_places = nn.Parameter(torch.randn(1, coarse, cells_coarse, cells_coarse) * 0.02)

        def fine_look() -> AttentionBlock:
            return AttentionBlock(fine, shape, is_brief=True)

        def coarse_look() -> AttentionBlock:
            return AttentionBlock(coarse, shape, is_brief=False)

        self.fine_down = nn.ModuleList(ResidualBlock(fine, mood) for _ in range(shape.n_fine))
        self.fine_down_look = fine_look()
        self.down = nn.Conv2d(fine, coarse, 3, stride=2, padding=1)
        self.coarse_down = nn.ModuleList(ResidualBlock(coarse, mood) for _ in range(shape.n_coarse))
        self.coarse_down_look = nn.ModuleList(coarse_look() for _ in range(shape.n_coarse))
        self.middle = nn.ModuleList(coarse_look() for _ in range(shape.n_middle))
        self.coarse_up = nn.ModuleList(ResidualBlock(coarse, mood) for _ in range(shape.n_coarse))
        self.coarse_up_look = nn.ModuleList(coarse_look() for _ in range(shape.n_coarse))
        self.up = nn.Conv2d(coarse, 4 * fine, 1)
        self.fine_up = nn.ModuleList(ResidualBlock(fine, mood) for _ in range(shape.n_fine))
        self.fine_up_look = fine_look()
        self.leave_norm = PixelNorm(fine)
        self.leave = nn.Conv2d(fine, n_in, 3, padding=1)
        start_as_nothing(self.leave)
        frequencies = torch.exp(torch.linspace(math.log(1.0), math.log(1000.0), N_FREQUENCIES))
        self.register_buffer("frequencies", frequencies, persistent=False)

    def forward(self, x: Tensor, t: Tensor, words: Tensor, bias: Tensor, sentence: Tensor) -> Tensor:
        """x [b, 3, s, s], t [b], and what the text encoder made of the sentence, to the velocity [b, 3, s, s]."""
        return self.both(x, t, words, bias, sentence)[0]

    def both(self, x: Tensor, t: Tensor, words: Tensor, bias: Tensor, sentence: Tensor) -> tuple[Tensor, Tensor]:
        """The velocity, and what the middle of the network made of every coarse cell, [b, c, h, w]."""
        angles = t.float()[:, None] * self.frequencies
        waves = torch.cat([angles.cos(), angles.sin()], 1).to(x.dtype)
        mood = functional.silu(self.time(waves) + self.sentence(sentence))
        y = self.enter(functional.pixel_unshuffle(x, PATCH))
        # Places follow the convolution's precision: added in full precision they would turn all that follows into it.
        y = y + self.fine_places.to(y.dtype)
        kept = []
        for block in self.fine_down:
            y = block(y, mood)
            kept.append(y)
        y = self.fine_down_look(y, words, bias)
        kept[-1] = y
        y = self.down(y)
        y = y + self.coarse_places.to(y.dtype)
        for block, look in zip(self.coarse_down, self.coarse_down_look, strict=True):
            y = look(block(y, mood), words, bias)
            kept.append(y)
        for look in self.middle:
            y = look(y, words, bias)
        middle = y
        for block, look in zip(self.coarse_up, self.coarse_up_look, strict=True):
            y = look(block(y + kept.pop(), mood), words, bias)
        y = functional.pixel_shuffle(self.up(y), 2)
        for i, block in enumerate(self.fine_up):
            y = block(y + kept.pop(), mood)
            if i == 0:
                y = self.fine_up_look(y, words, bias)
        picture = functional.pixel_shuffle(self.leave(functional.silu(self.leave_norm(y))), PATCH)
        return (x - picture) / t.to(x.dtype).clamp_min(EARLIEST).view(-1, 1, 1, 1), middle


class PocketPainter(nn.Module):
    """Text encoder and canvas together, as they are trained."""

    def __init__(self, shape: Shape) -> None:
        super().__init__()
        self.shape = shape
        self.text = TextEncoder(shape)
        self.canvas = Canvas(shape)

    def forward(self, x: Tensor, t: Tensor, tokens: Tensor) -> Tensor:
        """Noisy pictures, times and tokens to velocities."""
        words, bias, sentence = self.text(tokens)
        velocity: Tensor = self.canvas(x, t, words, bias, sentence)
        return velocity


def compile_parts(painter: PocketPainter) -> None:
    """Compile block by block: blocks of one shape share what is compiled, which takes a fifth of the time of all."""
    import torch._dynamo.config  # loaded on demand only: it takes seconds

    torch._dynamo.config.recompile_limit = 64
    for module in painter.modules():
        if isinstance(module, ResidualBlock | AttentionBlock | TextEncoder):
            module.compile(dynamic=False)


def parameter_count(module: nn.Module) -> int:
    """How many numbers the module learns."""
    return sum(parameter.numel() for parameter in module.parameters())
