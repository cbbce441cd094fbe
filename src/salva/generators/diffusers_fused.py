"""The blocks of a diffusers network, handed to kernels that do in one pass what diffusers does in several.

A block is handed over only where it is what it seems (its classes, its switches) and the kernels then say what the
block itself says, but for rounding: it is tried on noise. All others stay as they are. Knows blocks, and no GPU: the
kernels are given.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from typing import TYPE_CHECKING, Any

from salva.hardware.kernels import Kernels

if TYPE_CHECKING:
    import torch

_ROUNDINGS, _LEAST = 8, 1e-4
"""Two ways to compute may differ by so many roundings of the largest value, or by this part of it."""
_SIDE = 8


def fuse(network: Any, kernels: Kernels) -> int:
    """Hand the blocks of a network to kernels; how many it was."""
    import torch
    from diffusers.models.activations import GEGLU
    from diffusers.models.resnet import ResnetBlock2D
    from diffusers.models.transformers.transformer_2d import Transformer2DModel

    kinds: dict[type[Any], Callable[[Any, Kernels], Iterator[_Way]]] = {
        ResnetBlock2D: _residual,
        Transformer2DModel: _tokens,
        GEGLU: _gate,
    }
    agreed: list[tuple[Any, list[_Way]]] = []
    last = getattr(network, "conv_norm_out", None)
    with torch.inference_mode():
        for block in network.modules():
            kind = _norm if block is last else kinds.get(type(block))
            ways = list(kind(block, kernels)) if kind is not None and not block.training else []
            if ways and all(_agrees(getattr(block, name)(*given), own(*given)) for name, own, given in ways):
                agreed.append((block, ways))
    # All or none: a kernel that fails on the way leaves the network as it was.
    for block, ways in agreed:
        for name, own, _ in ways:
            setattr(block, name, own)
    if agreed:
        # The order that the kernels read pictures in; convolutions then keep to it.
        network.to(memory_format=torch.channels_last)
    return len(agreed)


_Way = tuple[str, Callable[..., Any], tuple[Any, ...]]
"""A method of a block, what does the same, and what both are tried on."""


def _agrees(theirs: Any, ours: Any) -> bool:
    """Whether two outcomes are the same but for rounding; what is not a number agrees with nothing."""
    import torch

    if isinstance(theirs, tuple):
        return len(theirs) == len(ours) and all(map(_agrees, theirs, ours))
    if isinstance(theirs, int):
        return bool(theirs == ours)
    if theirs.shape != ours.shape:
        return False
    apart, largest = (theirs.float() - ours.float()).abs().max(), theirs.float().abs().max()
    return bool(apart <= max(_ROUNDINGS * torch.finfo(theirs.dtype).eps, _LEAST) * largest)


def _noise(like: torch.Tensor, *shape: int) -> torch.Tensor:
    """Numbers that are not centred, so that a lost mean shows; always the same, and nobody else's are drawn."""
    import torch

    numbers = torch.randn(shape, generator=torch.Generator().manual_seed(0)) + 0.5
    return numbers.to(like.device, like.dtype)


def _residual(block: Any, kernels: Kernels) -> Iterator[_Way]:
    """Two convolutions, each after a norm, and a way round both."""
    import torch

    convolutions = [block.conv1, block.conv2, *([block.conv_shortcut] if block.conv_shortcut is not None else [])]
    is_usual = (
        block.upsample is None
        and block.downsample is None
        and (block.time_embedding_norm == "default" or block.time_emb_proj is None)
        and block.output_scale_factor == 1.0
        and type(block.nonlinearity) is torch.nn.SiLU
        and all(_is_norm(norm) for norm in (block.norm1, block.norm2))
        and all(_is_plain(layer, torch.nn.Conv2d) for layer in convolutions)
    )
    if is_usual:
        weight, time = block.conv1.weight, block.time_emb_proj
        moment = None if time is None else _noise(weight, 2, time.in_features)
        tried_on = (_noise(weight, 2, block.in_channels, _SIDE, _SIDE), moment)
        yield "forward", partial(_residual_forward, block, kernels), tried_on


def _residual_forward(
    block: Any, kernels: Kernels, input_tensor: torch.Tensor, temb: torch.Tensor | None = None, *_: Any, **__: Any
) -> torch.Tensor:
    picture = input_tensor
    changed = _convolved(block.conv1, kernels.group_norm(picture, block.norm1, is_bent=True))
    # Biases are added where a pass is made anyway.
    plus = block.conv1.bias.expand(len(picture), -1)
    if block.time_emb_proj is not None:
        plus = plus + block.time_emb_proj(temb if block.skip_time_act else block.nonlinearity(temb))
    elif temb is not None and block.time_embedding_norm == "default":
        plus = plus + temb.flatten(1)
    changed = _convolved(block.conv2, kernels.group_norm(changed, block.norm2, is_bent=True, plus=plus))
    bias = block.conv2.bias
    if block.conv_shortcut is not None:
        bias = bias + block.conv_shortcut.bias
        picture = _convolved(block.conv_shortcut, picture)
    return kernels.total(picture, changed, bias)


def _convolved(layer: Any, picture: torch.Tensor) -> torch.Tensor:
    """A convolution without its bias."""
    from torch.nn import functional

    return functional.conv2d(picture, layer.weight, None, layer.stride, layer.padding, layer.dilation, layer.groups)


def _tokens(block: Any, kernels: Kernels) -> Iterator[_Way]:
    """Pictures to tokens and back, around a block's attention: with channels last they are the same numbers."""
    import torch

    names = ("_operate_on_continuous_inputs", "_get_output_for_continuous_inputs")
    kinds = (torch.nn.Conv2d, torch.nn.Linear)
    is_usual = (
        block.is_input_continuous
        and all(hasattr(block, name) for name in names)
        and _is_norm(block.norm)
        and all(_is_plain(layer, *kinds) for layer in (block.proj_in, block.proj_out))
    )
    if is_usual:
        weight = block.proj_in.weight
        picture = _noise(weight, 2, weight.shape[1], _SIDE, _SIDE)
        words = _noise(weight, 2, _SIDE * _SIDE, len(weight))
        yield names[0], partial(_to_tokens, block, kernels), (picture,)
        yield names[1], partial(_from_tokens, block), (words, picture, len(picture), _SIDE, _SIDE, len(weight))


def _to_tokens(block: Any, kernels: Kernels, hidden_states: torch.Tensor) -> tuple[torch.Tensor, int]:
    picture = kernels.group_norm(hidden_states, block.norm)
    tokens = _mixed(block.proj_in, picture.permute(0, 2, 3, 1).flatten(1, 2))
    return tokens, tokens.shape[-1]


def _from_tokens(
    block: Any,
    hidden_states: torch.Tensor,
    residual: torch.Tensor,
    batch_size: int,
    height: int,
    width: int,
    inner_dim: int,  # noqa: ARG001  # as diffusers calls it
) -> torch.Tensor:
    tokens = _mixed(block.proj_out, hidden_states) + residual.permute(0, 2, 3, 1).flatten(1, 2)
    return tokens.view(batch_size, height, width, -1).permute(0, 3, 1, 2)


def _mixed(layer: Any, tokens: torch.Tensor) -> torch.Tensor:
    """A linear layer, or a convolution of single pixels."""
    from torch.nn import functional

    return functional.linear(tokens, layer.weight.flatten(1), layer.bias)


def _norm(block: Any, kernels: Kernels) -> Iterator[_Way]:
    """The norm before the last convolution."""
    if _is_norm(block):
        picture = _noise(block.weight, 2, block.num_channels, _SIDE, _SIDE)
        yield "forward", partial(kernels.group_norm, norm=block), (picture,)


def _gate(block: Any, kernels: Kernels) -> Iterator[_Way]:
    """A linear layer, of whose outcome one half opens and shuts the other."""
    if hasattr(block.proj, "in_features"):
        yield (
            "forward",
            lambda tokens, *_, **__: kernels.gated(block.proj(tokens)),
            (_noise(next(block.parameters()), 2, _SIDE, block.proj.in_features),),
        )


def _is_norm(norm: Any) -> bool:
    import torch

    return type(norm) is torch.nn.GroupNorm and norm.affine


def _is_plain(layer: Any, *kinds: type[Any]) -> bool:
    """Whether a layer does what its weights and bias say, and nobody has put anything around it."""
    has_hooks = any(getattr(layer, name, None) for name in ("_forward_hooks", "_forward_pre_hooks", "parametrizations"))
    return (
        type(layer) in kinds
        and layer.bias is not None
        and not has_hooks
        and getattr(layer, "padding_mode", "zeros") == "zeros"
        and not isinstance(getattr(layer, "padding", 0), str)
    )
