"""Merges a LoRA from a file or the hub into a diffusers pipeline.

diffusers skips weights for unknown layers and only logs that; here such a LoRA is refused.
"""

from __future__ import annotations

import logging
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from salva.core.foreign_errors import one_line, translate_errors
from salva.errors import MissingExtraError
from salva.generators.diffusers_loading import Pipeline, invalid_model
from salva.hardware.checkpoints import Checkpoint, digest_of_files, locate, pickle_error, quiet

LORA_FILE = "pytorch_lora_weights.safetensors"


def locate_lora(name: str, lora: str) -> tuple[Checkpoint, str]:
    """A folder or a repository on the hub, and the name of its file."""
    path = Path(lora).expanduser()
    if path.is_file():
        if path.suffix != ".safetensors":
            raise pickle_error(name, lora)
        return Checkpoint(source=str(path.parent), folder=path.parent), path.name
    repo, colon, file = lora.partition(":")
    if not colon and path.suffix == ".safetensors":
        raise invalid_model(name, f"{lora!r} is neither a LoRA file nor owner/model[:file] on the hub")
    return locate(name, repo, marker=file or LORA_FILE), file or LORA_FILE


def apply_lora(name: str, pipeline: Pipeline, lora: str, scale: float) -> None:
    """Merge a LoRA into the weights, so that it costs nothing per step."""
    try:
        import diffusers
        import transformers
        from diffusers.loaders.lora_pipeline import StableDiffusionXLLoraLoaderMixin
        from peft.tuners.tuners_utils import BaseTunerLayer  # diffusers loads LoRAs through it
    except ImportError as error:
        raise MissingExtraError(f"{name} with a LoRA", "torch") from error
    kind = type(pipeline).__name__
    if not hasattr(pipeline, "load_lora_weights"):
        raise invalid_model(name, f"a {kind} takes no LoRA")
    checkpoint, file = locate_lora(name, lora)
    source, place = checkpoint.source, {"weight_name": file, "revision": checkpoint.commit}
    # As in its own loading: if a file has a layer under two names, one is dropped.
    is_xl = isinstance(pipeline, StableDiffusionXLLoraLoaderMixin)
    own = {"unet_config": pipeline.unet.config} if is_xl else {}
    subject = f"the LoRA {lora!r}"
    with translate_errors(
        lambda error: invalid_model(name, f"{subject} cannot be loaded into a {kind}: {one_line(error, 300)}")
    ):
        with quiet(diffusers, transformers, level=logging.CRITICAL):
            state = pipeline.lora_state_dict(source, use_safetensors=True, **place, **own)
            pipeline.load_lora_weights(source, use_safetensors=True, **place)
        parts = [part for part in pipeline.components.values() if hasattr(part, "modules")]
        n_found = sum(isinstance(module, BaseTunerLayer) for part in parts for module in part.modules())
        n_held = _n_layers(state[0] if isinstance(state, tuple) else state)
        if n_found < max(n_held, 1):
            raise invalid_model(name, f"{subject} is for {n_held} layers, and this {kind} has {n_found} of them")
        pipeline.fuse_lora(lora_scale=scale)
        pipeline.unload_lora_weights()


def _n_layers(state: Mapping[str, Any]) -> int:
    """The number of layers that the weights of a LoRA are for."""
    return len({re.split(r"[._]lora[._]", key)[0] for key in state if re.search(r"[._]lora[._]", key)})


def pin_lora(name: str, lora: str) -> str:
    """Identifies the weights of a LoRA."""
    checkpoint, file = locate_lora(name, lora)
    if checkpoint.folder is not None:
        return digest_of_files([checkpoint.folder / file], checkpoint.folder)
    return f"{checkpoint.commit}:{file}"
