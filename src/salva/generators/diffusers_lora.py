"""A LoRA merged into a diffusers pipeline, from a file or from the hub; whole, or refused.

diffusers leaves out what finds no layer and only logs it: such a pipeline is neither the model nor what was trained.
"""

from __future__ import annotations

import contextlib
import logging
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from salva.core.foreign_errors import one_line, translate_errors
from salva.errors import MissingExtraError
from salva.generators.diffusers_loading import Pipeline, invalid_model
from salva.hardware.checkpoints import Checkpoint, digest_of_files, locate, pickle_error

LORA_FILE = "pytorch_lora_weights.safetensors"


def locate_lora(name: str, lora: str) -> tuple[Checkpoint | None, Path | None, str]:
    """Where a LoRA is: on the hub, or a file of one's own; and the name of its file on the hub."""
    path = Path(lora).expanduser()
    if path.is_dir():
        there = sorted(path.glob("*.safetensors"))
        named = [file for file in there if file.name == LORA_FILE] or there
        if len(named) != 1:
            held = f"{len(there)} other files .safetensors" if there else "no other"
            raise invalid_model(name, f"the folder {lora!r} has no {LORA_FILE}, and {held}; give the LoRA's file")
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
    # As its own loading asks: of a layer that a file holds by two names, one is dropped.
    is_xl = isinstance(pipeline, StableDiffusionXLLoraLoaderMixin)
    own = {"unet_config": pipeline.unet.config} if is_xl else {}
    said = f"the LoRA {lora!r}"
    with translate_errors(
        lambda error: invalid_model(name, f"{said} cannot be loaded into a {kind}: {one_line(error, 300)}")
    ):
        with _silent():
            state = pipeline.lora_state_dict(source, use_safetensors=True, **place, **own)
            pipeline.load_lora_weights(source, use_safetensors=True, **place)
        parts = [part for part in pipeline.components.values() if hasattr(part, "modules")]
        n_found = sum(isinstance(module, BaseTunerLayer) for part in parts for module in part.modules())
        n_held = _n_layers(state[0] if isinstance(state, tuple) else state)
        if n_found >= max(n_held, 1):
            pipeline.fuse_lora(lora_scale=scale)
            pipeline.unload_lora_weights()
    if not n_found:
        raise invalid_model(name, f"{said} holds nothing for a {kind}")
    if n_found < n_held:
        raise invalid_model(name, f"{said} is for {n_held} layers, and this {kind} has {n_found} of them")


def _n_layers(state: Mapping[str, Any]) -> int:
    """How many layers the weights of a LoRA are for, by whatever names its two halves go."""
    return len({re.split(r"[._]lora[._]", key)[0] for key in state if re.search(r"[._]lora[._]", key)})


def pin_lora(name: str, lora: str) -> str:
    """What tells a LoRA's weights from all others."""
    checkpoint, path, file = locate_lora(name, lora)
    if path is not None:
        return digest_of_files([path], path.parent)
    assert checkpoint is not None
    return f"{checkpoint.commit}:{file}"


@contextlib.contextmanager
def _silent() -> Iterator[None]:
    """Without what the libraries log before they raise it, and of what is counted afterwards."""
    import diffusers
    import transformers

    levels = [(library.utils.logging, library.utils.logging.get_verbosity()) for library in (diffusers, transformers)]
    for switch, _ in levels:
        switch.set_verbosity(logging.CRITICAL)
    try:
        yield
    finally:
        for switch, level in levels:
            switch.set_verbosity(level)
