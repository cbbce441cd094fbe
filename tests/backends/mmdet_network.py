"""mmdet's Mask2Former over Swin, written down once more from its description, on weights under mmdet's names.

Nothing here is shared with transformers or with the conversion: attention within windows is one large matrix with
most of it forbidden, sampling is four corners by hand. Slow, and small enough to be read against the paper.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest

from salva.hardware.mmdet_names import Shape

torch: Any = pytest.importorskip("torch", reason="needs the extra torch")
F: Any = torch.nn.functional

EMBED, DEPTHS, HEADS, WINDOW = 8, (2, 2, 1, 1), (1, 2, 2, 4), 3
FEATURE, N_HEADS, N_ENCODERS, N_DECODERS, N_QUERIES, N_CLASSES, WIDTH = 32, 2, 2, 4, 12, 80, 24
SHAPE = Shape(
    embed_dim=EMBED,
    depths=DEPTHS,
    heads=HEADS,
    window=WINDOW,
    feature=FEATURE,
    n_encoders=N_ENCODERS,
    encoder_width=WIDTH,
    n_decoders=N_DECODERS,
    decoder_width=WIDTH,
    n_heads=N_HEADS,
    n_queries=N_QUERIES,
)
PIXEL, HEAD = "panoptic_head.pixel_decoder", "panoptic_head"


def random_state() -> dict[str, Any]:
    """Weights of a tiny network under the names of mmdet 2."""
    generator = torch.Generator().manual_seed(5)
    state: dict[str, Any] = {}

    def put(name: str, *sizes: int, bias: bool = True, size: float = 0.3) -> None:
        state[f"{name}.weight"] = torch.randn(*sizes, generator=generator) * size
        if bias:
            state[f"{name}.bias"] = torch.randn(sizes[0], generator=generator) * size

    def norm(name: str, n: int) -> None:
        state[f"{name}.weight"] = 1 + torch.randn(n, generator=generator) * 0.3
        state[f"{name}.bias"] = torch.randn(n, generator=generator) * 0.3

    put("backbone.patch_embed.projection", EMBED, 3, 4, 4)
    norm("backbone.patch_embed.norm", EMBED)
    for stage, depth in enumerate(DEPTHS):
        n = EMBED * 2**stage
        for block in range(depth):
            name = f"backbone.stages.{stage}.blocks.{block}"
            norm(f"{name}.norm1", n)
            norm(f"{name}.norm2", n)
            table = torch.randn((2 * WINDOW - 1) ** 2, HEADS[stage], generator=generator)
            state[f"{name}.attn.w_msa.relative_position_bias_table"] = table
            state[f"{name}.attn.w_msa.relative_position_index"] = torch.zeros(WINDOW**2, WINDOW**2, dtype=torch.long)
            put(f"{name}.attn.w_msa.qkv", 3 * n, n)
            put(f"{name}.attn.w_msa.proj", n, n)
            put(f"{name}.ffn.layers.0.0", 4 * n, n)
            put(f"{name}.ffn.layers.1", n, 4 * n)
        if stage < len(DEPTHS) - 1:
            norm(f"backbone.stages.{stage}.downsample.norm", 4 * n)
            put(f"backbone.stages.{stage}.downsample.reduction", 2 * n, 4 * n, bias=False)
        norm(f"backbone.norm{stage}", n)
    for level in range(3):
        put(f"{PIXEL}.input_convs.{level}.conv", FEATURE, EMBED * 2 ** (3 - level), 1, 1)
        norm(f"{PIXEL}.input_convs.{level}.gn", FEATURE)
    for layer in range(N_ENCODERS):
        name = f"{PIXEL}.encoder.layers.{layer}"
        put(f"{name}.attentions.0.sampling_offsets", N_HEADS * 3 * 4 * 2, FEATURE)
        put(f"{name}.attentions.0.attention_weights", N_HEADS * 3 * 4, FEATURE)
        put(f"{name}.attentions.0.value_proj", FEATURE, FEATURE)
        put(f"{name}.attentions.0.output_proj", FEATURE, FEATURE)
        put(f"{name}.ffns.0.layers.0.0", WIDTH, FEATURE)
        put(f"{name}.ffns.0.layers.1", FEATURE, WIDTH)
        norm(f"{name}.norms.0", FEATURE)
        norm(f"{name}.norms.1", FEATURE)
    put(f"{PIXEL}.level_encoding", 3, FEATURE, bias=False)
    put(f"{PIXEL}.lateral_convs.0.conv", FEATURE, EMBED, 1, 1, bias=False)
    put(f"{PIXEL}.output_convs.0.conv", FEATURE, FEATURE, 3, 3, bias=False)
    norm(f"{PIXEL}.lateral_convs.0.gn", FEATURE)
    norm(f"{PIXEL}.output_convs.0.gn", FEATURE)
    put(f"{PIXEL}.mask_feature", FEATURE, FEATURE, 1, 1)
    for layer in range(N_DECODERS):
        name = f"{HEAD}.transformer_decoder.layers.{layer}"
        for i in range(2):
            state[f"{name}.attentions.{i}.attn.in_proj_weight"] = torch.randn(3 * FEATURE, FEATURE, generator=generator)
            state[f"{name}.attentions.{i}.attn.in_proj_bias"] = torch.randn(3 * FEATURE, generator=generator)
            put(f"{name}.attentions.{i}.attn.out_proj", FEATURE, FEATURE)
        put(f"{name}.ffns.0.layers.0.0", WIDTH, FEATURE)
        put(f"{name}.ffns.0.layers.1", FEATURE, WIDTH)
        for i in range(3):
            norm(f"{name}.norms.{i}", FEATURE)
    norm(f"{HEAD}.transformer_decoder.post_norm", FEATURE)
    put(f"{HEAD}.query_embed", N_QUERIES, FEATURE, bias=False, size=1)
    put(f"{HEAD}.query_feat", N_QUERIES, FEATURE, bias=False, size=1)
    put(f"{HEAD}.level_embed", 3, FEATURE, bias=False, size=1)
    put(f"{HEAD}.cls_embed", N_CLASSES + 1, FEATURE)
    for i in (0, 2, 4):
        put(f"{HEAD}.mask_embed.{i}", FEATURE, FEATURE)
    return state


class Network:
    """One picture at a time, in double precision: (3, height, width) in, class logits and mask logits out."""

    def __init__(self, state: dict[str, Any]) -> None:
        self.state = {name: weight.double() for name, weight in state.items()}

    def __call__(self, picture: Any) -> tuple[Any, Any]:
        maps = self.swin(picture)
        mask_map, memories = self.pixel_decoder(maps)
        return self.decoder(mask_map, memories)

    def linear(self, name: str, x: Any) -> Any:
        return x @ self.state[f"{name}.weight"].T + self.state.get(f"{name}.bias", 0)

    def norm(self, name: str, x: Any) -> Any:
        x = (x - x.mean(-1, keepdim=True)) / (x.var(-1, keepdim=True, unbiased=False) + 1e-5).sqrt()
        return x * self.state[f"{name}.weight"] + self.state[f"{name}.bias"]

    def conv(self, name: str, x: Any, **how: Any) -> Any:
        return F.conv2d(x[None], self.state[f"{name}.conv.weight"], self.state.get(f"{name}.conv.bias"), **how)[0]

    def groups(self, name: str, x: Any) -> Any:
        return F.group_norm(x[None], 32, self.state[f"{name}.gn.weight"], self.state[f"{name}.gn.bias"])[0]

    # The backbone, on (height, width, channels)

    def swin(self, picture: Any) -> list[Any]:
        name = "backbone.patch_embed.projection"
        x = F.conv2d(picture[None], self.state[f"{name}.weight"], self.state[f"{name}.bias"], stride=4)[0]
        x = self.norm("backbone.patch_embed.norm", x.permute(1, 2, 0))
        maps = []
        for stage, depth in enumerate(DEPTHS):
            for block in range(depth):
                name = f"backbone.stages.{stage}.blocks.{block}"
                shift = WINDOW // 2 if block % 2 else 0
                x = x + self.windows(f"{name}.attn.w_msa", self.norm(f"{name}.norm1", x), HEADS[stage], shift)
                wide = F.gelu(self.linear(f"{name}.ffn.layers.0.0", self.norm(f"{name}.norm2", x)))
                x = x + self.linear(f"{name}.ffn.layers.1", wide)
            maps.append(self.norm(f"backbone.norm{stage}", x).permute(2, 0, 1))
            if stage < len(DEPTHS) - 1:
                x = self.merged(f"backbone.stages.{stage}.downsample", x)
        return maps

    def merged(self, name: str, x: Any) -> Any:
        """Four neighbours to one, as nn.Unfold puts them: channel by channel, each row by row."""
        height, width, n = x.shape
        x = F.pad(x, (0, 0, 0, width % 2, 0, height % 2))
        rows = []
        for top in range(0, x.shape[0], 2):
            row = []
            for left in range(0, x.shape[1], 2):
                square = x[top : top + 2, left : left + 2]
                row.append(torch.stack([square[dy, dx, c] for c in range(n) for dy in range(2) for dx in range(2)]))
            rows.append(torch.stack(row))
        return self.linear(f"{name}.reduction", self.norm(f"{name}.norm", torch.stack(rows)))

    def windows(self, name: str, x: Any, n_heads: int, shift: int) -> Any:
        """Attention of every pixel to all that share its window and were not wrapped round to it."""
        height, width, n = x.shape
        x = F.pad(x, (0, 0, 0, -width % WINDOW, 0, -height % WINDOW))
        tall, wide = x.shape[:2]
        qkv = self.linear(f"{name}.qkv", x.reshape(-1, n))
        query, key, value = (part.reshape(-1, n_heads, n // n_heads) for part in qkv.split(n, 1))
        ys, xs = (axis.flatten() for axis in torch.meshgrid(torch.arange(tall), torch.arange(wide), indexing="ij"))
        ys, xs = (ys - shift) % tall, (xs - shift) % wide

        def zone(place: Any, size: int) -> Any:
            return (place >= size - WINDOW).int() + (place >= size - shift).int() if shift else torch.zeros_like(place)

        kinds = torch.stack((ys // WINDOW, xs // WINDOW, zone(ys, tall), zone(xs, wide)), 1)
        together = (kinds[:, None] == kinds[None]).all(-1)
        down, right = ys[:, None] - ys[None], xs[:, None] - xs[None]
        index = ((down + WINDOW - 1) * (2 * WINDOW - 1) + right + WINDOW - 1)[together]
        bias = torch.full((len(ys), len(ys), n_heads), -torch.inf, dtype=x.dtype)
        bias[together] = self.state[f"{name}.relative_position_bias_table"][index]
        weights = torch.einsum("ihc,jhc->ijh", query, key) * (n // n_heads) ** -0.5 + bias
        seen = torch.einsum("ijh,jhc->ihc", weights.softmax(1), value).reshape(tall, wide, n)
        return self.linear(f"{name}.proj", seen)[:height, :width]

    # The pixel decoder

    def pixel_decoder(self, maps: Sequence[Any]) -> tuple[Any, list[Any]]:
        inputs = [
            self.groups(f"{PIXEL}.input_convs.{i}", self.conv(f"{PIXEL}.input_convs.{i}", maps[3 - i]))
            for i in range(3)
        ]
        sizes = [one.shape[1:] for one in inputs]
        x = torch.cat([one.flatten(1).T for one in inputs])
        places = torch.cat(
            [waves(*size) + self.state[f"{PIXEL}.level_encoding.weight"][i] for i, size in enumerate(sizes)]
        )
        centres = torch.cat([centres_of(*size) for size in sizes])
        for layer in range(N_ENCODERS):
            name = f"{PIXEL}.encoder.layers.{layer}"
            x = self.norm(f"{name}.norms.0", x + self.deformable(f"{name}.attentions.0", x, places, centres, sizes))
            wide = self.linear(f"{name}.ffns.0.layers.0.0", x).relu()
            x = self.norm(f"{name}.norms.1", x + self.linear(f"{name}.ffns.0.layers.1", wide))
        parts = x.split([h * w for h, w in sizes])
        memories = [part.T.reshape(FEATURE, *size) for part, size in zip(parts, sizes, strict=True)]
        fine = self.groups(f"{PIXEL}.lateral_convs.0", self.conv(f"{PIXEL}.lateral_convs.0", maps[0]))
        fine = fine + F.interpolate(memories[-1][None], fine.shape[1:], mode="bilinear", align_corners=False)[0]
        name = f"{PIXEL}.output_convs.0"
        fine = self.groups(name, self.conv(name, fine, padding=1)).relu()
        name = f"{PIXEL}.mask_feature"
        return F.conv2d(fine[None], self.state[f"{name}.weight"], self.state[f"{name}.bias"])[0], memories

    def deformable(self, name: str, x: Any, places: Any, centres: Any, sizes: Sequence[tuple[int, int]]) -> Any:
        n, each = len(x), FEATURE // N_HEADS
        offsets = self.linear(f"{name}.sampling_offsets", x + places).reshape(n, N_HEADS, 3, 4, 2)
        weights = self.linear(f"{name}.attention_weights", x + places).reshape(n, N_HEADS, 12).softmax(-1)
        values = self.linear(f"{name}.value_proj", x).reshape(n, N_HEADS, each)
        seen = torch.zeros(n, N_HEADS, each, dtype=x.dtype)
        start = 0
        for level, (height, width) in enumerate(sizes):
            part = values[start : start + height * width].reshape(height, width, N_HEADS, each)
            start += height * width
            for head in range(N_HEADS):
                for point in range(4):
                    across = centres[:, 0] * width + offsets[:, head, level, point, 0] - 0.5
                    down = centres[:, 1] * height + offsets[:, head, level, point, 1] - 0.5
                    share = weights[:, head, 4 * level + point, None]
                    seen[:, head] += share * between(part[:, :, head], down, across)
        return self.linear(f"{name}.output_proj", seen.reshape(n, FEATURE))

    # The decoder

    def decoder(self, mask_map: Any, memories: Sequence[Any]) -> tuple[Any, Any]:
        queries, places = self.state[f"{HEAD}.query_feat.weight"], self.state[f"{HEAD}.query_embed.weight"]
        level_embed = self.state[f"{HEAD}.level_embed.weight"]
        for layer in range(N_DECODERS):
            level = layer % 3
            memory = memories[level].flatten(1).T + level_embed[level]
            size = memories[level].shape[1:]
            _, masks = self.answers(queries, mask_map)
            small = F.interpolate(masks[None], size, mode="bilinear", align_corners=False)[0].flatten(1)
            forbidden = small < 0
            forbidden[forbidden.all(1)] = False
            name = f"{HEAD}.transformer_decoder.layers.{layer}"
            seen = self.attention(f"{name}.attentions.0", queries + places, memory + waves(*size), memory, forbidden)
            queries = self.norm(f"{name}.norms.0", queries + seen)
            seen = self.attention(f"{name}.attentions.1", queries + places, queries + places, queries, None)
            queries = self.norm(f"{name}.norms.1", queries + seen)
            wide = self.linear(f"{name}.ffns.0.layers.0.0", queries).relu()
            queries = self.norm(f"{name}.norms.2", queries + self.linear(f"{name}.ffns.0.layers.1", wide))
        return self.answers(queries, mask_map)

    def answers(self, queries: Any, mask_map: Any) -> tuple[Any, Any]:
        x = self.norm(f"{HEAD}.transformer_decoder.post_norm", queries)
        masks = self.linear(f"{HEAD}.mask_embed.0", x).relu()
        masks = self.linear(f"{HEAD}.mask_embed.4", self.linear(f"{HEAD}.mask_embed.2", masks).relu())
        return self.linear(f"{HEAD}.cls_embed", x), torch.einsum("qc,chw->qhw", masks, mask_map)

    def attention(self, name: str, query: Any, key: Any, value: Any, forbidden: Any) -> Any:
        weight, bias = self.state[f"{name}.attn.in_proj_weight"], self.state[f"{name}.attn.in_proj_bias"]
        given = [
            (x @ weight[i * FEATURE : (i + 1) * FEATURE].T + bias[i * FEATURE : (i + 1) * FEATURE]).reshape(
                len(x), N_HEADS, FEATURE // N_HEADS
            )
            for i, x in enumerate((query, key, value))
        ]
        scores = torch.einsum("ihc,jhc->hij", given[0], given[1]) * (FEATURE // N_HEADS) ** -0.5
        if forbidden is not None:
            scores = scores.masked_fill(forbidden, -torch.inf)
        seen = torch.einsum("hij,jhc->ihc", scores.softmax(-1), given[2]).reshape(len(query), FEATURE)
        return self.linear(f"{name}.attn.out_proj", seen)


def waves(height: int, width: int) -> Any:
    """Where a pixel is, as sines and cosines: the first half of the channels of its row, the second of its column."""
    half = FEATURE // 2
    speeds = 10000 ** (2 * (torch.arange(half) // 2).double() / half)

    def along(n: int) -> Any:
        angles = (torch.arange(1, n + 1).double() / (n + 1e-6) * 2 * torch.pi)[:, None] / speeds
        return torch.where(torch.arange(half) % 2 == 0, angles.sin(), angles.cos())

    rows, columns = along(height)[:, None].expand(-1, width, -1), along(width)[None].expand(height, -1, -1)
    return torch.cat((rows, columns), 2).reshape(-1, FEATURE)


def centres_of(height: int, width: int) -> Any:
    """The middle of every pixel, (across, down) as shares of the sides."""
    down, across = ((torch.arange(n).double() + 0.5) / n for n in (height, width))
    ys, xs = torch.meshgrid(down, across, indexing="ij")
    return torch.stack((xs.flatten(), ys.flatten()), 1)


def between(values: Any, down: Any, across: Any) -> Any:
    """What lies at places between pixels, (height, width, channels) given; nothing beyond the edge."""
    height, width = values.shape[:2]
    top, left = down.floor(), across.floor()
    total = 0
    for dy in (0, 1):
        for dx in (0, 1):
            y, x = top + dy, left + dx
            share = (1 - (down - y).abs()) * (1 - (across - x).abs())
            is_there = (y >= 0) & (y < height) & (x >= 0) & (x < width)
            total = (
                total
                + (share * is_there)[:, None] * values[y.clamp(0, height - 1).long(), x.clamp(0, width - 1).long()]
            )
    return total
