"""Generator: any text-to-image checkpoint that diffusers can load, on the devices of this machine.

Options, and one copy of the checkpoint on every device. diffusers_loading.py loads and checks it, diffusers_device.py
generates.
"""

from __future__ import annotations

import threading
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, ClassVar

from salva.core.about import About, Habits
from salva.core.options import option
from salva.core.protocols import Rendered, RenderRequest
from salva.errors import SalvaError, UnusableError, invalid_option
from salva.generators.diffusers_device import CallOptions, DevicePipeline
from salva.generators.diffusers_loading import (
    INDEX,
    LoadedPipeline,
    count_parameters,
    denoiser_of,
    fetch,
    fuse_parts,
    import_diffusers,
    import_parts,
    invalid_model,
    load_pipeline,
    pin,
    read_index,
    set_sampler,
)
from salva.generators.diffusers_lora import apply_lora, pin_lora
from salva.generators.diffusers_presets import AUTO, PRESETS, SAMPLERS, choose_preset
from salva.hardware.background_imports import BACKGROUND_IMPORTS
from salva.hardware.checkpoints import Checkpoint, file_here, locate
from salva.hardware.devices import DTYPES, choose_devices, choose_dtype, describe_device, is_out_of_memory
from salva.messages import message


@dataclass(frozen=True, slots=True, kw_only=True)
class DiffusersOptions(CallOptions):
    """What can be set with --set model.NAME=VALUE."""

    checkpoint: str = option("", "A hub id, id@revision, or the folder of a checkpoint.", target=True)
    variant: str = option("", "A variant of the weight files, such as fp16.")
    preset: str = option(AUTO, "Settings of a model family; auto by its class.", choices=(AUTO, *PRESETS))
    scheduler: str = option(AUTO, "Sampler; own for the checkpoint's.", choices=(AUTO, "own", *SAMPLERS))
    lora: str = option("", "A LoRA: a .safetensors file, or owner/model[:file] on the hub.", reaches="file")
    lora_scale: float = option(1.0, "The weight of the LoRA.")
    dtype: str = option(AUTO, "Precision; auto is half on a GPU, float32 on the CPU.", choices=DTYPES)
    safety_checker: bool = option(False, "Use the checkpoint's safety checker; a replaced image is a refusal.")
    vae_tiling: bool = option(False, "Decode large images in tiles, with less memory.")
    device: str = option(AUTO, "cpu, mps, cuda, or several: cuda:0,cuda:1; auto for every GPU.", keyed=False)
    compile: str = option(
        AUTO, "auto: if it is faster, with salva's kernels for UNets.", choices=(AUTO, "true", "false"), keyed=False
    )
    offload: str = option(
        "none",
        "Keep idle weights off the GPU, by part or by layer (slow).",
        choices=("none", "model", "sequential"),
        keyed=False,
    )

    def __post_init__(self) -> None:
        CallOptions.__post_init__(self)
        if self.compile == "true" and self.offload != "none":
            why = "compiled parts cannot be moved"
            raise ValueError(message("options-conflict", first="compile", second="offload", why=why))
        if self.lora_scale != 1 and not self.lora:
            raise ValueError(message("flag-needed", flag="model.lora", why="lora_scale scales it"))

    @property
    def name(self) -> str:
        """Its name in messages."""
        return f"diffusers/{self.checkpoint}"

    def may_optimise(self, device: str) -> bool:
        """Whether kernels or compiled parts may replace those of the library."""
        return self.compile == AUTO and self.offload == "none" and device.startswith("cuda")


class DiffusersPipeline:
    """A checkpoint, one copy of it on every device."""

    version: ClassVar[str] = "1"
    about: ClassVar[About] = About(seeds_hold=True)
    Options: ClassVar[type[DiffusersOptions]] = DiffusersOptions

    def __init__(self, options: DiffusersOptions) -> None:
        name = options.name
        import_diffusers(name)
        checkpoint = locate(name, options.checkpoint, INDEX)
        folder = fetch(name, checkpoint, options.variant, _skipped_parts(options))
        devices = choose_devices(options.device)
        if options.offload != "none" and not devices[0].startswith("cuda"):
            raise invalid_option("model.offload", options.offload, f"none without a GPU; there is {devices[0]}")
        self._copies = [_on_device(options, folder, device) for device in devices]
        self._choosing = threading.Lock()
        # Two calls a GPU: while one waits for its pixels, the other uses the GPU.
        depth = sum(2 if device.startswith("cuda") else 1 for device in devices)
        self.habits = Habits(batch_size=self._copies[0].limit, depth=depth)

    @classmethod
    def weights(cls, options: DiffusersOptions) -> str:
        """Identifies the checkpoint and the LoRA."""
        name = options.name
        checkpoint = locate(name, options.checkpoint, INDEX)
        pinned = pin(name, checkpoint)
        BACKGROUND_IMPORTS.plan(pinned, partial(_prepare, options, checkpoint))
        return f"{pinned}+{pin_lora(name, options.lora)}" if options.lora else pinned

    def expect(self, n: int) -> None:
        """Announce the number of images."""
        for copy in self._copies:
            copy.expect(n // len(self._copies))

    def render(self, requests: Sequence[RenderRequest]) -> Sequence[Rendered | SalvaError]:
        """One image or error per request."""
        with self._choosing:
            copy = min(self._copies, key=lambda copy: copy.n_calls)
            copy.n_calls += 1
        try:
            return copy.generate(requests)
        finally:
            with self._choosing:
                copy.n_calls -= 1


def _on_device(options: DiffusersOptions, folder: Path, device: str) -> DevicePipeline:
    compiles = options.compile if options.compile != AUTO or options.may_optimise(device) else "false"
    return DevicePipeline(options.name, options, device, load_on_device(options, folder, device), compiles)


def load_on_device(options: DiffusersOptions, folder: Path, device: str) -> LoadedPipeline:
    """A pipeline on its device with all options applied."""
    name = options.name
    dtype = _precision(options, folder, device)
    pipeline = load_pipeline(name, folder, dtype=dtype, variant=options.variant, without=_skipped_parts(options))
    parameters = count_parameters(pipeline)
    config = getattr(denoiser_of(pipeline), "config", {})
    preset = PRESETS[choose_preset(type(pipeline).__name__, config) if options.preset == AUTO else options.preset]
    if options.safety_checker and getattr(pipeline, "safety_checker", None) is None:
        raise invalid_model(name, "it has no safety_checker")
    set_sampler(name, pipeline, preset.sampler if options.scheduler == AUTO else options.scheduler)
    if options.lora:
        apply_lora(name, pipeline, options.lora, options.lora_scale)
    if options.vae_tiling:
        vae: Any = getattr(pipeline, "vae", None)
        if not hasattr(vae, "enable_tiling"):
            raise invalid_model(name, f"its {type(vae).__name__} has no tiling")
        vae.enable_tiling()
    if options.offload == "model":
        pipeline.enable_model_cpu_offload(device=device)
    elif options.offload == "sequential":
        pipeline.enable_sequential_cpu_offload(device=device)
    else:
        try:
            pipeline.to(device)
        except (RuntimeError, MemoryError) as error:
            if not is_out_of_memory(error):
                raise
            why = f"{describe_device(device)} has too little memory; set model.offload=model"
            raise UnusableError(message("generation-failed", model=name, why=why)) from error
    n_fused, no_kernels = 0, ""
    try:
        n_fused = fuse_parts(pipeline, device) if options.may_optimise(device) else 0
    except SalvaError as error:
        no_kernels = str(error)
    return LoadedPipeline(
        pipeline=pipeline, preset=preset, dtype=dtype, n_fused=n_fused, no_kernels=no_kernels, parameters=parameters
    )


def _prepare(options: DiffusersOptions, checkpoint: Checkpoint) -> None:
    """Slow preparations for loading, done in the background."""
    import_parts(options.name, checkpoint)
    device, index = choose_devices(options.device)[0], file_here(checkpoint, INDEX)
    if index is not None and options.may_optimise(device) and "unet" in read_index(options.name, index.parent):
        from salva.hardware import kernels

        kernels.get_ready(device, _precision(options, index.parent, device))


def _precision(options: DiffusersOptions, folder: Path, device: str) -> str:
    # The family is only certain once the pipeline is loaded; the precision is needed before.
    is_open = options.preset == AUTO
    likely = choose_preset(str(read_index(options.name, folder)["_class_name"]), {}) if is_open else options.preset
    return choose_dtype(options.dtype, device, PRESETS[likely].half)


def _skipped_parts(options: DiffusersOptions) -> tuple[str, ...]:
    return () if options.safety_checker else ("safety_checker",)
