"""A Mask2Former over Swin as mmdet 2 stores it, weight by weight, and where each goes in transformers.

Every weight that the architecture must have is listed: what is missing and what nobody expects are two differences of
sets. Where the two libraries lay numbers out differently, the step that turns one
into the other stands beside the names. Reads no file.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    import torch

UNREAD = ("criterion.", "model.pixel_level_module.encoder.swin.layernorm.")
"""How those weights of transformers' class begin that no answer depends on: older files, and mmdet's, have none."""
_LEVELS = 3
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
    feature: int
    n_encoders: int
    encoder_width: int
    n_decoders: int
    decoder_width: int
    n_heads: int
    n_queries: int


GENEVAL = Shape(
    embed_dim=96,
    depths=(2, 2, 18, 2),
    heads=(3, 6, 12, 24),
    window=7,
    feature=256,
    n_encoders=6,
    encoder_width=1024,
    n_decoders=9,
    decoder_width=2048,
    n_heads=8,
    n_queries=100,
)
"""mmdet's mask2former_swin-s-p4-w7-224_lsj_8x2_50e_coco."""


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
