"""Embedder: the Inception network of published FID and Inception Scores, by torch-fidelity.

Only tensors are read from its file, which is a pickle; anything else is refused and never run. The network resizes
images itself, as the published code does. Embeds no texts.
"""

from __future__ import annotations

import io
import pickle
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from salva.core.about import Habits
from salva.core.foreign_errors import one_line
from salva.core.observation import Vector
from salva.core.options import option
from salva.core.protocols import ObserveRequest
from salva.errors import BackendError, SalvaError, UsageError
from salva.hardware.background_imports import BACKGROUND_IMPORTS
from salva.hardware.checkpoints import digest_of_files, invalid_checkpoint
from salva.hardware.devices import choose_device
from salva.hardware.networks import users_file
from salva.messages import message
from salva.observers.networks import observe_each

if TYPE_CHECKING:
    import torch

NAME = "published-inception"
URL = "https://github.com/toshas/torch-fidelity/releases/download/v0.2.0/weights-inception-2015-12-05-6726825d.pth"
"""Its name ends in the beginning of its SHA-256, which is checked after a download."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PublishedInceptionOptions:
    """What can be set with --set embedder.NAME=VALUE."""

    model: str = option(URL, "The file of weights; the default is downloaded once.", target=True)
    output: str = option(
        "2048",
        "2048 for FID, logits_unbiased for the published Inception Score.",
        choices=("2048", "logits_unbiased", "logits"),
    )
    device: str = option("auto", "auto, cpu, cuda, cuda:1 or mps.", keyed=False)


class PublishedInception:
    """Embedder: the features of an image by the network of published scores."""

    version: ClassVar[str] = "1"
    habits: ClassVar[Habits] = Habits(batch_size=8, depth=1)
    Options: ClassVar[type[PublishedInceptionOptions]] = PublishedInceptionOptions

    def __init__(self, options: PublishedInceptionOptions) -> None:
        BACKGROUND_IMPORTS.wait()
        try:
            import torch
            from torch_fidelity.feature_extractor_inceptionv3 import (  # type: ignore[import-not-found,unused-ignore]  # optional
                FeatureExtractorInceptionV3,
            )
        except ImportError as error:
            values = {"component": NAME, "package": "torch-fidelity", "why": error}
            raise UsageError(message("package-needed", **values, install="pip install torch-fidelity")) from error

        path = _download() if options.model == URL else users_file(options.model)
        # The library would unpickle the whole file; it gets only the tensors.
        tensors = io.BytesIO()
        torch.save(_tensors(path), tensors)
        tensors.seek(0)
        try:
            network = FeatureExtractorInceptionV3(
                "inception-v3-compat", [options.output], feature_extractor_weights_path=tensors
            )
        except (RuntimeError, AttributeError, TypeError) as error:
            raise invalid_checkpoint(NAME, path, f"its weights do not fit the network ({one_line(error)})") from error
        self._device = choose_device(options.device)
        self._network = network.to(self._device).eval()

    @classmethod
    def weights(cls, options: PublishedInceptionOptions) -> str:
        """The digest of the file, or the name of the published one, which holds a digest."""
        if options.model == URL:
            return Path(URL).stem
        path = users_file(options.model)
        return digest_of_files([path], path.parent)

    def observe(self, requests: Sequence[ObserveRequest]) -> Sequence[Vector | SalvaError]:
        """The features of each image, one at a time, so that none depends on its batch."""
        if any(request.query.text for request in requests):
            raise UsageError(message("texts-unsupported", component=NAME))
        return observe_each(NAME, requests, self._embed)

    def _embed(self, request: ObserveRequest) -> Vector:
        import torch

        picture = request.picture
        rows = torch.frombuffer(bytearray(picture.rgb), dtype=torch.uint8).view(1, picture.height, picture.width, 3)
        with torch.inference_mode():
            features = self._network(rows.permute(0, 3, 1, 2).contiguous().to(self._device))[0][0].double().cpu()
        if not torch.isfinite(features).all():
            problem = message("numbers-invalid", component=NAME, what="features that are not finite")
            raise BackendError(problem, is_retryable=False)
        return Vector(values=tuple(round(value, 6) for value in features.tolist()))


def _download() -> Path:
    """The file in torch's folder of downloads, downloaded and checked if needed."""
    import urllib.error

    from torch.hub import download_url_to_file, get_dir

    path = Path(get_dir()) / "checkpoints" / Path(URL).name
    if path.is_file():
        return path
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        download_url_to_file(URL, str(path), hash_prefix=path.stem.rpartition("-")[2], progress=False)
    except (urllib.error.URLError, OSError, RuntimeError) as error:  # no network; no disk; a wrong digest
        values = {"component": NAME, "url": URL, "why": one_line(error), "example": f"--embedder {NAME}/FILE"}
        raise UsageError(message("download-failed", **values)) from error
    return path


def _tensors(path: Path) -> dict[str, torch.Tensor]:
    import torch

    try:
        tensors: Any = torch.load(path, map_location="cpu", weights_only=True)
    except (pickle.UnpicklingError, RuntimeError, EOFError, OSError, ValueError, KeyError) as error:
        raise invalid_checkpoint(NAME, path, "it is damaged, or holds more than tensors") from error
    if not isinstance(tensors, dict) or not all(isinstance(value, torch.Tensor) for value in tensors.values()):
        raise invalid_checkpoint(NAME, path, f"it holds {type(tensors).__name__} instead of tensors by name")
    return tensors
