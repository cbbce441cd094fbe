"""Merges a LoRA from a file or the hub into a diffusers pipeline.

diffusers skips weights without a layer and only logs it; here such a LoRA is refused.
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


def locate_lora(name: str, lora: str) -> tuple[Checkpoint | None, Path | None, str]:
    """A checkpoint on the hub or a local file, and the name of the file on the hub."""
    path = Path(lora).expanduser()
    if path.is_dir():
        there = sorted(path.glob("*.safetensors"))
        named = [file for file in there if file.name == LORA_FILE] or there
        if len(named) != 1:
            raise invalid_model(name, f"{lora!r} has no {LORA_FILE} and {len(there)} other .safetensors files")
        path = named[0]
    if path.is_file():
        if path.suffix != ".safetensors":
            raise pickle_error(name, lora)
        return None, path, ""
    repo, colon, file = lora.partition(":")
    if not colon and path.suffix == ".safetensors":
        raise invalid_model(name, f"there is no LoRA file {lora!r}; give a file, or owner/model[:file] on the hub")
    return locate(name, repo, marker=file or LORA_FILE), None, file or LORA_FILE


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
    checkpoint, path, file = locate_lora(name, lora)
    if path is not None:
        source, place = str(path.parent), {"weight_name": path.name, "revision": None}
    else:
        assert checkpoint is not None
        source, place = checkpoint.source, {"weight_name": file, "revision": checkpoint.commit}
    # As its own loading does: if a file holds a layer by two names, one is dropped.
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
        if n_found >= max(n_held, 1):
            pipeline.fuse_lora(lora_scale=scale)
            pipeline.unload_lora_weights()
    if not n_found:
        raise invalid_model(name, f"{subject} has no layer of a {kind}")
    if n_found < n_held:
        raise invalid_model(name, f"{subject} is for {n_held} layers, and this {kind} has {n_found} of them")


def _n_layers(state: Mapping[str, Any]) -> int:
    """The number of layers that the weights of a LoRA are for."""
    return len({re.split(r"[._]lora[._]", key)[0] for key in state if re.search(r"[._]lora[._]", key)})


def pin_lora(name: str, lora: str) -> str:
    """Identifies the weights of a LoRA."""
    checkpoint, path, file = locate_lora(name, lora)
    if path is not None:
        return digest_of_files([path], path.parent)
    assert checkpoint is not None
    return f"{checkpoint.commit}:{file}"
