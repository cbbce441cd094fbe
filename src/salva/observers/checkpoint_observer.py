"""What observers with a checkpoint of transformers share: loading, its pin, batches, and the network's input."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, ClassVar

from salva.core.protocols import ObserveRequest
from salva.observers.loading import Batches, CheckpointKind, CheckpointOptions, load, pin
from salva.observers.pixels import PixelSettings, to_pixels

if TYPE_CHECKING:
    import torch


class CheckpointObserver:
    """A model of transformers; a subclass says which one and uses it."""

    version: ClassVar[str] = "1"
    name: ClassVar[str]
    kind: ClassVar[CheckpointKind]
    batch_limit: ClassVar[int] = 32
    """Images at once on a large GPU; on a smaller one as many as fit."""
    _pixels: PixelSettings

    def __init__(self, options: CheckpointOptions, *, detail: str = "", is_compiled: bool = False) -> None:
        """detail: what else decides how many images fit at once."""
        self._loaded = load(self.name, options, self.kind)
        self._batches = Batches(
            self.name, options, self._loaded, limit=self.batch_limit, detail=detail, is_compiled=is_compiled
        )
        self.habits = self._batches.habits

    @classmethod
    def weights(cls, options: CheckpointOptions) -> str:
        """The commit or digest of the checkpoint."""
        return pin(cls.name, options)

    def _input(self, requests: Sequence[ObserveRequest]) -> torch.Tensor:
        pictures = [request.picture for request in requests]
        return to_pixels(pictures, self._pixels, self._loaded.device, self._loaded.dtype)
