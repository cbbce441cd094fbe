"""Replaces methods of a diffusers network's blocks with kernels that need fewer passes over the data.

A block is only changed if its class and settings are known and the kernels give the same output on noise, apart from
rounding. Knows blocks but no GPU; the kernels are a parameter.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from typing import TYPE_CHECKING, Any

from salva.hardware.kernels import Kernels

if TYPE_CHECKING:
    import torch

_ROUNDINGS, _LEAST = 8, 1e-4
"""The accepted difference of two outputs, relative to the largest value: in rounding errors, or this much."""
_SIDE = 8

_Replacement = tuple[str, Callable[..., Any], tuple[Any, ...]]
"""The name of a block's method, its replacement, and inputs on which both are compared."""


def fuse(network: Any, kernels: Kernels) -> int:
    """Let kernels compute the blocks of a network; returns the number of blocks."""
    import torch
    from diffusers.models.activations import GEGLU
    from diffusers.models.resnet import ResnetBlock2D
    from diffusers.models.transformers.transformer_2d import Transformer2DModel

    makers: dict[type[Any], Callable[[Any, Kernels], Iterator[_Replacement]]] = {
        ResnetBlock2D: _residual,
        Transformer2DModel: _tokens,
        GEGLU: _gate,
    }
    by_block: list[tuple[Any, list[_Replacement]]] = []
    last = getattr(network, "conv_norm_out", None)
    with torch.inference_mode():
        for block in network.modules():
            maker = _norm if block is last else makers.get(type(block))
            replacements = list(maker(block, kernels)) if maker is not None and not block.training else []
            if replacements and all(
                _is_close(getattr(block, name)(*x), method(*x)) for name, method, x in replacements
            ):
                by_block.append((block, replacements))
    # Only now: a kernel that fails leaves the network unchanged.
    for block, replacements in by_block:
        for name, method, _ in replacements:
            setattr(block, name, method)
    if by_block:
        # The kernels' memory format; convolutions then keep it.
        network.to(memory_format=torch.channels_last)
    return len(by_block)


def _is_close(expected: Any, actual: Any) -> bool:
    """Whether two outputs are the same apart from rounding; NaN is close to nothing."""
    import torch

    if isinstance(expected, tuple):
        return len(expected) == len(actual) and all(map(_is_close, expected, actual))
    if isinstance(expected, int):
        return bool(expected == actual)
    if expected.shape != actual.shape:
        return False
    difference, largest = (expected.float() - actual.float()).abs().max(), expected.float().abs().max()
    return bool(difference <= max(_ROUNDINGS * torch.finfo(expected.dtype).eps, _LEAST) * largest)


def _noise(like: torch.Tensor, *shape: int) -> torch.Tensor:
    """Numbers that are not centred, so that a lost mean shows; always the same, from a generator of its own."""
    import torch

    numbers = torch.randn(shape, generator=torch.Generator().manual_seed(0)) + 0.5
    return numbers.to(like.device, like.dtype)


def _residual(block: Any, kernels: Kernels) -> Iterator[_Replacement]:
    """Two convolutions, each after a norm, and a shortcut around both."""
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
        embedding = None if time is None else _noise(weight, 2, time.in_features)
        inputs = (_noise(weight, 2, block.in_channels, _SIDE, _SIDE), embedding)
        yield "forward", partial(_residual_forward, block, kernels), inputs


def _residual_forward(
    block: Any, kernels: Kernels, input_tensor: torch.Tensor, temb: torch.Tensor | None = None, *_: Any, **__: Any
) -> torch.Tensor:
    x = input_tensor
    hidden = _convolve(block.conv1, kernels.group_norm(x, block.norm1, is_bent=True))
    # The next kernel adds the bias, which saves a pass.
    plus = block.conv1.bias.expand(len(x), -1)
    if block.time_emb_proj is not None:
        plus = plus + block.time_emb_proj(temb if block.skip_time_act else block.nonlinearity(temb))
    elif temb is not None and block.time_embedding_norm == "default":
        plus = plus + temb.flatten(1)
    hidden = _convolve(block.conv2, kernels.group_norm(hidden, block.norm2, is_bent=True, plus=plus))
    bias = block.conv2.bias
    if block.conv_shortcut is not None:
        bias = bias + block.conv_shortcut.bias
        x = _convolve(block.conv_shortcut, x)
    return kernels.total(x, hidden, bias)


def _convolve(layer: Any, x: torch.Tensor) -> torch.Tensor:
    """A convolution without its bias."""
    from torch.nn import functional

    return functional.conv2d(x, layer.weight, None, layer.stride, layer.padding, layer.dilation, layer.groups)


def _tokens(block: Any, kernels: Kernels) -> Iterator[_Replacement]:
    """From images to tokens and back, around a block's attention; with channels last no data is moved."""
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
        image = _noise(weight, 2, weight.shape[1], _SIDE, _SIDE)
        tokens = _noise(weight, 2, _SIDE * _SIDE, len(weight))
        yield names[0], partial(_to_tokens, block, kernels), (image,)
        yield names[1], partial(_from_tokens, block), (tokens, image, len(image), _SIDE, _SIDE, len(weight))


def _to_tokens(block: Any, kernels: Kernels, hidden_states: torch.Tensor) -> tuple[torch.Tensor, int]:
    image = kernels.group_norm(hidden_states, block.norm)
    tokens = _project(block.proj_in, image.permute(0, 2, 3, 1).flatten(1, 2))
    return tokens, tokens.shape[-1]


def _from_tokens(
    block: Any,
    hidden_states: torch.Tensor,
    residual: torch.Tensor,
    batch_size: int,
    height: int,
    width: int,
    inner_dim: int,  # noqa: ARG001  # diffusers' signature
) -> torch.Tensor:
    tokens = _project(block.proj_out, hidden_states) + residual.permute(0, 2, 3, 1).flatten(1, 2)
    return tokens.view(batch_size, height, width, -1).permute(0, 3, 1, 2)


def _project(layer: Any, tokens: torch.Tensor) -> torch.Tensor:
    """A linear layer, or a convolution with a kernel of one pixel."""
    from torch.nn import functional

    return functional.linear(tokens, layer.weight.flatten(1), layer.bias)


def _norm(block: Any, kernels: Kernels) -> Iterator[_Replacement]:
    """The norm before the last convolution."""
    if _is_norm(block):
        image = _noise(block.weight, 2, block.num_channels, _SIDE, _SIDE)
        yield "forward", partial(kernels.group_norm, norm=block), (image,)


def _gate(block: Any, kernels: Kernels) -> Iterator[_Replacement]:
    """A linear layer; one half of its output gates the other."""
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
    """Whether a layer is one of these classes with a bias, and without hooks or unusual padding."""
    has_hooks = any(getattr(layer, name, None) for name in ("_forward_hooks", "_forward_pre_hooks", "parametrizations"))
    return (
        type(layer) in kinds
        and layer.bias is not None
        and not has_hooks
        and getattr(layer, "padding_mode", "zeros") == "zeros"
        and not isinstance(getattr(layer, "padding", 0), str)
    )
