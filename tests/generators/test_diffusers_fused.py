"""Fused blocks: the network's output stays the same, and modified blocks are not fused."""

from __future__ import annotations

import copy
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import pytest

from salva.generators.diffusers_fused import fuse
from salva.hardware.kernels import Kernels

torch: Any = pytest.importorskip("torch", reason="needs the extra torch")
diffusers: Any = pytest.importorskip("diffusers", reason="needs the extra torch")
functional = torch.nn.functional


class Plain:
    """The kernels as torch computes them; counts its calls."""

    def __init__(self) -> None:
        self.n_calls = 0

    def group_norm(self, picture: Any, norm: Any, *, is_bent: bool = False, plus: Any = None) -> Any:
        self.n_calls += 1
        added = picture if plus is None else picture + plus[:, :, None, None]
        normal = functional.group_norm(added, norm.num_groups, norm.weight, norm.bias, norm.eps)
        return functional.silu(normal) if is_bent else normal

    def gated(self, halves: Any) -> Any:
        self.n_calls += 1
        first, second = halves.chunk(2, -1)
        return first * functional.gelu(second)

    def total(self, first: Any, second: Any, bias: Any) -> Any:
        self.n_calls += 1
        return first + second + bias[:, None, None]


def unet(**options: Any) -> Any:
    torch.manual_seed(0)
    given = {
        "sample_size": 8,
        "in_channels": 4,
        "out_channels": 4,
        "block_out_channels": (16, 32),
        "norm_num_groups": 4,
        "layers_per_block": 1,
        "attention_head_dim": 2,
        "cross_attention_dim": 24,
        "down_block_types": ("CrossAttnDownBlock2D", "DownBlock2D"),
        "up_block_types": ("UpBlock2D", "CrossAttnUpBlock2D"),
        **options,
    }
    return _perturbed(diffusers.UNet2DConditionModel(**given))


def decoder() -> Any:
    torch.manual_seed(0)
    kinds = {"down_block_types": ("DownEncoderBlock2D",) * 2, "up_block_types": ("UpDecoderBlock2D",) * 2}
    return _perturbed(diffusers.AutoencoderKL(block_out_channels=(8, 16), norm_num_groups=4, **kinds).decoder)


def _perturbed(network: Any) -> Any:
    """With norms and biases other than ones and zeros."""
    for weights in network.parameters():
        weights.data += 0.05 * torch.randn_like(weights)
    return network.eval()


def output_of(network: Any) -> Any:
    torch.manual_seed(1)
    with torch.inference_mode():
        if isinstance(network, diffusers.UNet2DConditionModel):
            given = torch.randn(2, 4, 8, 12), 3, torch.randn(2, 5, 24)
            return network(*given).sample
        return network(torch.randn(2, 4, 8, 8))


@pytest.mark.parametrize(
    ("make", "n_blocks"),
    [
        # Residual blocks, blocks of attention, their gates, and the last norm.
        (unet, 8 + 4 + 4 + 1),
        (lambda: unet(use_linear_projection=True), 8 + 4 + 4 + 1),
        (decoder, 6 + 1),
    ],
    ids=["unet", "unet with linear projections", "decoder"],
)
def test_fusing_does_not_change_the_output(make: Callable[[], Any], n_blocks: int) -> None:
    network, kernels = make(), Plain()
    before = output_of(network)
    assert fuse(network, kernels) == n_blocks
    kernels.n_calls = 0
    torch.testing.assert_close(output_of(network), before, atol=1e-5, rtol=1e-4)
    assert kernels.n_calls > n_blocks


@pytest.mark.parametrize("fault", ["bent", "no plus", "no bias", "gate", "nan", "shape"])
def test_kernels_with_wrong_output_are_not_used(fault: str) -> None:
    class Wrong(Plain):
        def group_norm(self, picture: Any, norm: Any, *, is_bent: bool = False, plus: Any = None) -> Any:
            is_bent, plus = is_bent != (fault == "bent"), None if fault == "no plus" else plus
            outcome = super().group_norm(picture, norm, is_bent=is_bent, plus=plus)
            return outcome * float("nan") if fault == "nan" else outcome

        def gated(self, halves: Any) -> Any:
            return super().gated(halves.flip(-1) if fault == "gate" else halves)

        def total(self, first: Any, second: Any, bias: Any) -> Any:
            outcome = super().total(first, second, torch.zeros_like(bias) if fault == "no bias" else bias)
            return outcome[..., :1] if fault == "shape" else outcome

    network = unet()
    before = output_of(network)
    n = fuse(network, Wrong())
    assert n < 17
    torch.testing.assert_close(output_of(network), before, atol=1e-5, rtol=1e-4)


def test_a_failing_kernel_leaves_the_network_unchanged() -> None:
    class Failing(Plain):
        def gated(self, halves: Any) -> Any:
            raise RuntimeError("out of registers")

    network = unet()
    with pytest.raises(RuntimeError, match="registers"):
        fuse(network, Failing())
    assert not any("forward" in vars(block) for block in network.modules())
    assert next(iter(network.parameters())).is_contiguous()


def _add_hook(layer: Any) -> None:
    layer.register_forward_hook(lambda _, __, outcome: outcome * 2)


def _other_class(block: Any) -> None:
    class Wrapped(torch.nn.Conv2d):  # type: ignore[misc]  # torch is Any here
        def forward(self, picture: Any) -> Any:
            return super().forward(picture) * 2

    wrapped = Wrapped(block.conv1.in_channels, block.conv1.out_channels, 3, padding=1)
    wrapped.load_state_dict(block.conv1.state_dict())
    block.conv1 = wrapped.eval()


CHANGES: dict[str, Callable[[Any], object]] = {
    "hook": lambda block: _add_hook(block.conv2),
    "class": _other_class,
    "scale": lambda block: setattr(block, "output_scale_factor", 2.0),
    "activation": lambda block: setattr(block, "nonlinearity", torch.nn.GELU()),
    "mirrored edges": lambda block: setattr(block.conv1, "padding_mode", "reflect"),
    "training": lambda block: block.train(),
}


@pytest.mark.parametrize("change", CHANGES)
def test_modified_blocks_are_not_fused(change: str) -> None:
    network = unet()
    CHANGES[change](network.mid_block.resnets[0])
    before = output_of(network)
    assert fuse(network, Plain()) == 16
    torch.testing.assert_close(output_of(network), before, atol=1e-5, rtol=1e-4)


def test_a_network_without_known_blocks_is_unchanged() -> None:
    network = torch.nn.Sequential(torch.nn.Conv2d(3, 3, 3), torch.nn.GroupNorm(1, 3)).eval()
    before = copy.deepcopy(network.state_dict())
    kernels: Kernels = Plain()
    assert fuse(network, kernels) == 0
    assert all(torch.equal(before[name], weights) for name, weights in network.state_dict().items())
    assert network[0].weight.is_contiguous()


def test_fusing_does_not_change_the_global_random_state() -> None:
    torch.manual_seed(5)
    expected = torch.rand(3)
    network = unet()
    torch.manual_seed(5)
    fuse(network, Plain())
    assert torch.equal(torch.rand(3), expected)


def test_a_pipeline_in_full_precision_is_not_fused() -> None:
    from salva.generators.diffusers_loading import fuse_parts

    pipeline = SimpleNamespace(unet=unet(), vae=None, transformer=None)
    assert fuse_parts(pipeline, "cpu") == 0
