"""A Mask2Former over Swin as mmdet 2 stores it, weight by weight, and where each goes in transformers.

The architecture is read from the shapes, then every weight it must have is listed: what is missing and what nobody
expects are two differences of sets. Where the two libraries lay numbers out differently, the step that turns one
into the other stands beside the names. Reads no file.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    import torch

    State = Mapping[str, torch.Tensor]

UNREAD = ("criterion.", "model.pixel_level_module.encoder.swin.layernorm.")
"""How those weights of transformers' class begin that no answer depends on: older files, and mmdet's, have none."""
_LEVELS, _POINTS = 3, 4
_UNUSED = re.compile(r"backbone\.stages\.\d+\.blocks\.\d+\.attn\.w_msa\.relative_position_index")
"""Stored by mmdet, computed by transformers."""
_BOTH = ("weight", "bias")


class Move(NamedTuple):
    """One weight of mmdet, and what of it goes where in transformers."""

    old: str
    new: tuple[str, ...]
    parts: Callable[[torch.Tensor], tuple[torch.Tensor, ...]] = lambda weight: (weight,)


@dataclass(frozen=True, slots=True, kw_only=True)
class Shape:
    """The numbers of one architecture."""

    embed_dim: int
    depths: tuple[int, ...]
    heads: tuple[int, ...]
    window: int
    mlp_ratio: float
    feature: int
    mask_feature: int
    n_encoders: int
    encoder_width: int
    n_decoders: int
    decoder_width: int
    n_heads: int
    """Of the pixel decoder, where the shapes say it; the published config has as many in the decoder."""
    n_queries: int
    n_classes: int


def shape_of(state: State) -> Shape:
    """The architecture that the weights are of; a weight that should say so and is not there is named."""
    depths = _counted(state, r"backbone\.stages\.(\d+)\.blocks\.(\d+)\.")
    blocks = [f"backbone.stages.{stage}.blocks.0" for stage in range(len(depths))]
    tables = [_sizes(state, f"{block}.attn.w_msa.relative_position_bias_table", 2) for block in blocks]
    patch = _sizes(state, "backbone.patch_embed.projection.weight", 4)
    head, pixel = "panoptic_head", "panoptic_head.pixel_decoder"
    encoder, decoder = f"{pixel}.encoder.layers", f"{head}.transformer_decoder.layers"
    mask = _sizes(state, f"{pixel}.mask_feature.weight", 4)
    offsets = _sizes(state, f"{encoder}.0.attentions.0.sampling_offsets.weight", 2)
    return Shape(
        embed_dim=patch[0],
        depths=depths,
        heads=tuple(n_heads for _, n_heads in tables),
        window=(math.isqrt(tables[0][0]) + 1) // 2,
        mlp_ratio=_sizes(state, f"{blocks[0]}.ffn.layers.0.0.weight", 2)[0] / patch[0],
        feature=mask[1],
        mask_feature=mask[0],
        n_encoders=_counted(state, re.escape(encoder) + r"(\.)(\d+)\.")[0],
        encoder_width=_sizes(state, f"{encoder}.0.ffns.0.layers.0.0.weight", 2)[0],
        n_decoders=_counted(state, re.escape(decoder) + r"(\.)(\d+)\.")[0],
        decoder_width=_sizes(state, f"{decoder}.0.ffns.0.layers.0.0.weight", 2)[0],
        n_heads=max(1, offsets[0] // (2 * _LEVELS * _POINTS)),
        n_queries=_sizes(state, f"{head}.query_feat.weight", 2)[0],
        n_classes=_sizes(state, f"{head}.cls_embed.weight", 2)[0] - 1,
    )


def moves(shape: Shape) -> Iterator[Move]:
    """Every weight that a network of this shape has, in mmdet's order."""
    yield from _backbone(shape)
    yield from _pixel_decoder(shape)
    yield from _decoder(shape)


def is_unused(old: str) -> bool:
    """Whether a stored weight is one that transformers computes by itself."""
    return bool(_UNUSED.fullmatch(old))


def _backbone(shape: Shape) -> Iterator[Move]:
    old, new = "backbone", "model.pixel_level_module.encoder"
    yield from _pairs(f"{old}.patch_embed.projection", f"{new}.embeddings.patch_embeddings.projection")
    yield from _pairs(f"{old}.patch_embed.norm", f"{new}.embeddings.norm")
    for stage, depth in enumerate(shape.depths):
        for block in range(depth):
            was, will = f"{old}.stages.{stage}.blocks.{block}", f"{new}.encoder.layers.{stage}.blocks.{block}"
            yield from _pairs(f"{was}.norm1", f"{will}.layernorm_before")
            table = "relative_position_bias_table"
            yield Move(f"{was}.attn.w_msa.{table}", (f"{will}.attention.self.{table}",))
            for kind in _BOTH:
                into = tuple(f"{will}.attention.self.{name}.{kind}" for name in ("query", "key", "value"))
                yield Move(f"{was}.attn.w_msa.qkv.{kind}", into, _thirds)
            yield from _pairs(f"{was}.attn.w_msa.proj", f"{will}.attention.output.dense")
            yield from _pairs(f"{was}.norm2", f"{will}.layernorm_after")
            yield from _pairs(f"{was}.ffn.layers.0.0", f"{will}.intermediate.dense")
            yield from _pairs(f"{was}.ffn.layers.1", f"{will}.output.dense")
        if stage < len(shape.depths) - 1:
            was, will = f"{old}.stages.{stage}.downsample", f"{new}.encoder.layers.{stage}.downsample"
            for name in ("norm.weight", "norm.bias", "reduction.weight"):
                yield Move(f"{was}.{name}", (f"{will}.{name}",), _unfolded)
        yield from _pairs(f"{old}.norm{stage}", f"{new}.hidden_states_norms.stage{stage + 1}")


def _pixel_decoder(shape: Shape) -> Iterator[Move]:
    old, new = "panoptic_head.pixel_decoder", "model.pixel_level_module.decoder"
    for level in range(_LEVELS):  # both begin with the smallest map
        yield from _pairs(f"{old}.input_convs.{level}.conv", f"{new}.input_projections.{level}.0")
        yield from _pairs(f"{old}.input_convs.{level}.gn", f"{new}.input_projections.{level}.1")
    for layer in range(shape.n_encoders):
        was, will = f"{old}.encoder.layers.{layer}", f"{new}.encoder.layers.{layer}"
        for name in ("sampling_offsets", "attention_weights", "value_proj", "output_proj"):
            yield from _pairs(f"{was}.attentions.0.{name}", f"{will}.self_attn.{name}")
        yield from _pairs(f"{was}.ffns.0.layers.0.0", f"{will}.fc1")
        yield from _pairs(f"{was}.ffns.0.layers.1", f"{will}.fc2")
        yield from _pairs(f"{was}.norms.0", f"{will}.self_attn_layer_norm")
        yield from _pairs(f"{was}.norms.1", f"{will}.final_layer_norm")
    yield Move(f"{old}.level_encoding.weight", (f"{new}.level_embed",))
    for was, will in ((f"{old}.lateral_convs.0", f"{new}.adapter_1"), (f"{old}.output_convs.0", f"{new}.layer_1")):
        yield Move(f"{was}.conv.weight", (f"{will}.0.weight",))
        yield from _pairs(f"{was}.gn", f"{will}.1")
    yield from _pairs(f"{old}.mask_feature", f"{new}.mask_projection")


def _decoder(shape: Shape) -> Iterator[Move]:
    old, new = "panoptic_head", "model.transformer_module"
    for layer in range(shape.n_decoders):
        was, will = f"{old}.transformer_decoder.layers.{layer}", f"{new}.decoder.layers.{layer}"
        # Across first, then among themselves.
        across, among = f"{was}.attentions.0.attn", f"{was}.attentions.1.attn"
        for kind in _BOTH:
            yield Move(f"{across}.in_proj_{kind}", (f"{will}.cross_attn.in_proj_{kind}",))
            into = tuple(f"{will}.self_attn.{name}_proj.{kind}" for name in "qkv")
            yield Move(f"{among}.in_proj_{kind}", into, _thirds)
        yield from _pairs(f"{across}.out_proj", f"{will}.cross_attn.out_proj")
        yield from _pairs(f"{among}.out_proj", f"{will}.self_attn.out_proj")
        yield from _pairs(f"{was}.ffns.0.layers.0.0", f"{will}.fc1")
        yield from _pairs(f"{was}.ffns.0.layers.1", f"{will}.fc2")
        for i, name in enumerate(("cross_attn_layer_norm", "self_attn_layer_norm", "final_layer_norm")):
            yield from _pairs(f"{was}.norms.{i}", f"{will}.{name}")
    yield from _pairs(f"{old}.transformer_decoder.post_norm", f"{new}.decoder.layernorm")
    yield Move(f"{old}.query_embed.weight", (f"{new}.queries_embedder.weight",))
    yield Move(f"{old}.query_feat.weight", (f"{new}.queries_features.weight",))
    yield Move(f"{old}.level_embed.weight", (f"{new}.level_embed.weight",))
    yield from _pairs(f"{old}.cls_embed", "class_predictor")
    for i in range(3):  # mmdet counts the steps between them
        yield from _pairs(f"{old}.mask_embed.{2 * i}", f"{new}.decoder.mask_predictor.mask_embedder.{i}.0")


def _pairs(old: str, new: str) -> Iterator[Move]:
    yield from (Move(f"{old}.{kind}", (f"{new}.{kind}",)) for kind in _BOTH)


def _thirds(weight: torch.Tensor) -> tuple[torch.Tensor, ...]:
    """Query, key and value, which lie above one another in one weight."""
    return tuple(weight.chunk(3))


def _unfolded(weight: torch.Tensor) -> tuple[torch.Tensor]:
    """The channels of four neighbouring pixels, in transformers' order.

    mmdet unfolds: all four pixels of the first channel, then of the second, the pixels row by row. transformers puts
    the channels of one pixel together, the pixels column by column.
    """
    n_out = weight.shape[0] if weight.dim() == 2 else 1
    apart = weight.reshape(n_out, -1, 2, 2)  # channel, row, column
    return (apart.permute(0, 3, 2, 1).reshape(weight.shape),)


def _counted(state: State, pattern: str) -> tuple[int, ...]:
    """How many there are of what the second number counts, for each first one."""
    numbers = {(match[1], int(match[2])) for key in state if (match := re.match(pattern, key))}
    if not numbers:
        raise _missing(pattern.replace("\\", "").replace("(d+)", "0").replace("(.)", "."))
    firsts = sorted({first for first, _ in numbers}, key=lambda text: (len(text), text))
    return tuple(1 + max(second for other, second in numbers if other == first) for first in firsts)


def _sizes(state: State, key: str, n_sides: int) -> tuple[int, ...]:
    if key not in state:
        raise _missing(key)
    sizes = tuple(state[key].shape)
    if len(sizes) != n_sides:
        raise ValueError(f"the weight {key!r} has the shape {list(sizes)}, which is not of {n_sides} dimensions")
    return sizes


def _missing(key: str) -> ValueError:
    return ValueError(f"it has no weight {key!r}")
