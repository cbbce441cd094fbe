"""Attention of models that write.

cuDNN, which torch prefers on recent GPUs, plans anew for every length, and in a text every word has a length of its
own: a plan takes longer than several words. So single words attend here, in plain steps; all else as transformers does.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import torch

NAME = "salva_word_by_word"
_BEYOND = ("position_bias", "softcap", "cache", "s_aux")
"""What only transformers' own way knows."""


def attend_word_by_word(model: Any, device: str) -> None:
    """Have the part of a model that writes attend this way, where it would go to cuDNN otherwise."""
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
    """What was attended to: (texts, words, heads, width); keys and values may have fewer heads than queries."""
    import torch
    from transformers.integrations.sdpa_attention import sdpa_attention_forward

    if query.shape[2] != 1 or any(given.get(name) is not None for name in _BEYOND):
        outcome: tuple[torch.Tensor, None] = sdpa_attention_forward(
            module, query, key, value, attention_mask, scaling=scaling, **given
        )
        return outcome
    n, n_heads, _, width = query.shape
    n_heard = key.shape[2]
    # Queries that share a key's head stand where other words of the text would.
    shared = (n, key.shape[1], n_heads // key.shape[1])
    scores = (query * (width**-0.5 if scaling is None else scaling)).reshape(*shared, width) @ key.transpose(-1, -2)
    if attention_mask is not None:
        mask = attention_mask.expand(n, n_heads, 1, n_heard).reshape(scores.shape)
        least = torch.finfo(scores.dtype).min
        scores = scores.masked_fill(~mask, least) if mask.dtype == torch.bool else scores + mask
    weights = torch.softmax(scores, -1, dtype=torch.float32).to(value.dtype)
    return (weights @ value).reshape(n, 1, n_heads, value.shape[-1]), None
