"""Attention of models that write text.

cuDNN, which torch prefers on recent GPUs, plans every new length, which takes longer than computing several words.
So single words are computed here in plain steps, everything else by transformers.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import torch

NAME = "salva_word_by_word"
_BEYOND = ("position_bias", "softcap", "cache", "s_aux")
"""Arguments that only transformers' own function handles."""


def attend_word_by_word(model: Any, device: str) -> None:
    """Use this attention in the text part of a model that would use cuDNN otherwise."""
    text = getattr(model.config, "text_config", None)
    if device.startswith("cuda") and getattr(text, "_attn_implementation", None) == "sdpa":
        from transformers import AttentionInterface, AttentionMaskInterface
        from transformers.masking_utils import sdpa_mask

        AttentionInterface.register(NAME, attend)
        AttentionMaskInterface.register(NAME, sdpa_mask)
        model.set_attn_implementation({"text_config": NAME})


def attend(
    module: Any,
    query: torch.Tensor,
    key: torch.Tensor,
    value: torch.Tensor,
    attention_mask: torch.Tensor | None,
    scaling: float | None = None,
    **given: Any,
) -> tuple[torch.Tensor, None]:
    """The attention output: (texts, words, heads, width); keys and values may have fewer heads than queries."""
    import torch
    from transformers.integrations.sdpa_attention import sdpa_attention_forward

    if query.shape[2] != 1 or any(given.get(name) is not None for name in _BEYOND):
        outcome: tuple[torch.Tensor, None] = sdpa_attention_forward(
            module, query, key, value, attention_mask, scaling=scaling, **given
        )
        return outcome
    n, n_heads, _, width = query.shape
    n_keys = key.shape[2]
    # Queries that share a key's head take the place of further words.
    shared = (n, key.shape[1], n_heads // key.shape[1])
    scores = (query * (width**-0.5 if scaling is None else scaling)).reshape(*shared, width) @ key.transpose(-1, -2)
    if attention_mask is not None:
        mask = attention_mask.expand(n, n_heads, 1, n_keys).reshape(scores.shape)
        least = torch.finfo(scores.dtype).min
        scores = scores.masked_fill(~mask, least) if mask.dtype == torch.bool else scores + mask
    weights = torch.softmax(scores, -1, dtype=torch.float32).to(value.dtype)
    return (weights @ value).reshape(n, 1, n_heads, value.shape[-1]), None
