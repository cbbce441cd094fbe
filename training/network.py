"""The pocket detector's network: a square picture in, one heat map per thing and a box per cell out.

Plain residual convolutions down to an eighth or sixteenth of the side and back up to a quarter, because
a dozen small things side by side must keep peaks of their own. Knows nothing of sprites or scenes.
"""

from __future__ import annotations

import torch
from torch import Tensor, nn
from torch.nn import functional

STRIDE = 4
UP_WIDTH = 48


class ConvNorm(nn.Sequential):
    """Convolution, batch normalisation and, unless told otherwise, a ReLU."""

    def __init__(self, n_in: int, n_out: int, kernel: int = 3, stride: int = 1, is_active: bool = True) -> None:
        super().__init__(
            nn.Conv2d(n_in, n_out, kernel, stride, kernel // 2, bias=False),
            nn.BatchNorm2d(n_out),
            nn.ReLU(inplace=True) if is_active else nn.Identity(),
        )

    @property
    def parts(self) -> tuple[nn.Conv2d, nn.BatchNorm2d]:
        """The convolution and its normalisation."""
        conv, norm = self[0], self[1]
        assert isinstance(conv, nn.Conv2d)
        assert isinstance(norm, nn.BatchNorm2d)
        return conv, norm


class Block(nn.Module):
    """Two 3x3 convolutions around a shortcut, narrow in the middle."""

    def __init__(self, width: int, middle: int) -> None:
        super().__init__()
        self.body = nn.Sequential(ConvNorm(width, middle), ConvNorm(middle, width, is_active=False))

    def forward(self, x: Tensor) -> Tensor:
        """The input plus what the block adds."""
        return functional.relu(x + self.body(x))


class PocketNetwork(nn.Module):
    """Heat-map logits and boxes at a quarter of the input's side."""

    def __init__(self, n_labels: int, widths: tuple[int, int, int, int] = (16, 32, 64, 128)) -> None:
        super().__init__()
        w2, w4, w8, w16 = widths
        self.stem = ConvNorm(3, w2, stride=2)
        self.stage4 = nn.Sequential(ConvNorm(w2, w4, stride=2), Block(w4, w4))
        self.stage8 = nn.Sequential(ConvNorm(w4, w8, stride=2), Block(w8, w8), Block(w8, w8))
        self.stage16 = nn.Sequential(ConvNorm(w8, w16, stride=2), Block(w16, w16), Block(w16, w16), Block(w16, w16))
        # These start as nothing beside the rest.
        self.more8, self.more16 = Block(w8, w8), Block(w16, w16)
        for block in (self.more8, self.more16):
            last = block.body[1]
            assert isinstance(last, ConvNorm)
            nn.init.zeros_(last.parts[1].weight)
        self.lateral16 = ConvNorm(w16, w8, kernel=1, is_active=False)
        self.merge8 = ConvNorm(w8, w8)
        self.lateral8 = ConvNorm(w8, UP_WIDTH, kernel=1, is_active=False)
        self.lateral4 = ConvNorm(w4, UP_WIDTH, kernel=1, is_active=False)
        self.merge4 = ConvNorm(UP_WIDTH, w8)
        self.heat = nn.Conv2d(w8, n_labels, 1)
        self.box = nn.Conv2d(w8, 4, 1)
        assert self.heat.bias is not None
        nn.init.constant_(self.heat.bias, -4.6)  # starts at a probability of 1 %, as nearly every cell is empty
        nn.init.normal_(self.box.weight, std=0.01)

    def forward(self, x: Tensor) -> tuple[Tensor, Tensor]:
        """Picture (values 0 to 1) to heat-map logits [n, labels, s/4, s/4] and boxes [n, 4, s/4, s/4]."""
        x4 = self.stage4(self.stem((x - 0.5) * 4))
        x8 = self.more8(self.stage8(x4))
        x16 = self.more16(self.stage16(x8))
        up8 = functional.relu(x8 + functional.interpolate(self.lateral16(x16), scale_factor=2.0, mode="nearest"))
        up8 = self.merge8(up8)
        up4 = functional.relu(
            self.lateral4(x4) + functional.interpolate(self.lateral8(up8), scale_factor=2.0, mode="nearest")
        )
        up4 = self.merge4(up4)
        return self.heat(up4), self.box(up4)


@torch.no_grad()
def start_from(network: PocketNetwork, folded: list[tuple[Tensor, Tensor]], pictures: Tensor) -> None:
    """Begin with another network's weights, given without normalisation in the order in which they are used.

    Normalisation is set so that on these pictures it changes nothing.
    """
    rest = iter(folded)

    def take(module: nn.Module, inputs: tuple[Tensor]) -> None:
        weight, bias = next(rest)
        if isinstance(module, ConvNorm):
            conv, norm = module.parts
            conv.weight.copy_(weight)
            seen = conv(inputs[0])
            mean, spread = seen.mean((0, 2, 3)), seen.var((0, 2, 3), unbiased=False)
            assert norm.running_mean is not None
            assert norm.running_var is not None
            norm.running_mean.copy_(mean)
            norm.running_var.copy_(spread)
            norm.weight.copy_((spread + norm.eps).sqrt())
            norm.bias.copy_(mean + bias)
        else:
            assert isinstance(module, nn.Conv2d)
            assert module.bias is not None
            module.weight.copy_(weight)
            module.bias.copy_(bias)

    asked = [module for module in network.modules() if isinstance(module, ConvNorm)] + [network.heat, network.box]
    hooks = [module.register_forward_pre_hook(take) for module in asked]
    network.train()(pictures)
    for hook in hooks:
        hook.remove()
