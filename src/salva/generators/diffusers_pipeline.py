"""Generator: any text-to-image checkpoint that diffusers can load, on the devices of this machine.

What can be set, and one copy of the checkpoint on every device. Loading and all that can be wrong with a checkpoint is
in diffusers_loading.py, painting in diffusers_easel.py.
"""

from __future__ import annotations

import threading
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import ClassVar

from salva.core.about import About, Habits
from salva.core.options import option
from salva.core.protocols import Rendered, RenderRequest
from salva.errors import SalvaError, UnusableError, UsageError
from salva.generators.diffusers_easel import DevicePipeline, parse_size
from salva.generators.diffusers_loading import (
    ALREADY_FINE,
    INDEX,
    AtWork,
    Pipeline,
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
from salva.hardware.ahead import AHEAD
from salva.hardware.checkpoints import Checkpoint, file_here, locate
from salva.hardware.devices import DTYPES, choose_devices, choose_dtype, describe_device, is_out_of_memory
from salva.messages import message


@dataclass(frozen=True, slots=True, kw_only=True)
class DiffusersOptions:
    """What can be set with --set model.NAME=VALUE."""

    checkpoint: str = option("", "A hub id, id@revision, or the folder of a checkpoint.", target=True)
    variant: str = option("", "Weight files of another kind, such as fp16; empty for the usual ones.")
    preset: str = option(AUTO, "Settings of a model family; auto by its class.", choices=(AUTO, *PRESETS))
    steps: int | None = option(None, "Denoising steps; none for the preset's.")
    guidance: float | None = option(None, "Guidance scale; none for the preset's.")
    size: str = option(AUTO, "Width and height in pixels, 768 or 768x512; auto for what it was trained for.")
    scheduler: str = option(AUTO, "Sampler; own for the checkpoint's.", choices=(AUTO, "own", *SAMPLERS))
    karras: bool = option(False, "Noise levels after Karras, for samplers that take them.")
    negative: str = option("", "Negative prompt, the same for every picture.")
    lora: str = option("", "A LoRA: a .safetensors file, or owner/model[:file] on the hub.", reaches="file")
    lora_scale: float = option(1.0, "How strongly the LoRA counts.")
    dtype: str = option(AUTO, "Precision; auto is half on a GPU, float32 on the processor.", choices=DTYPES)
    safety_checker: bool = option(False, "Use the checkpoint's own safety checker; what it blacks out is a refusal.")
    vae_tiling: bool = option(False, "Decode large pictures in tiles: less memory, slightly other pixels.")
    vae_slicing: bool = option(False, "Decode one picture at a time: less memory.", keyed=False)
    device: str = option(AUTO, "cpu, mps, cuda, or several: cuda:0,cuda:1; auto for every GPU.", keyed=False)
    batch_size: int | None = option(None, "Pictures at once; none to find out what fits.", keyed=False)
    compile: str = option(
        AUTO,
        "Compile the model: a minute at the start, then a third faster; auto has kernels for UNets that are as fast at "
        "once, and compiles others where the pictures to come are enough; false does neither.",
        choices=(AUTO, "true", "false"),
        keyed=False,
    )
    offload: str = option(
        "none",
        "Keep weights off the GPU while they are not needed: by part, or layer by layer (slow).",
        choices=("none", "model", "sequential"),
        keyed=False,
    )

    def __post_init__(self) -> None:
        parse_size(self.size)
        if self.steps is not None and self.steps < 1:
            raise ValueError(message("option-invalid", name="steps", value=self.steps, wanted="1 or more"))
        if self.batch_size is not None and self.batch_size < 1:
            raise ValueError(message("option-invalid", name="batch_size", value=self.batch_size, wanted="1 or more"))
        if self.compile == "true" and self.offload != "none":
            why = "compiled parts cannot be moved"
            raise ValueError(message("options-conflict", first="compile", second="offload", why=why))
        if self.lora_scale != 1 and not self.lora:
            raise ValueError(
                message("flag-needed", flag="model.lora", why="there is no lora it could scale with lora_scale")
            )

    @property
    def name(self) -> str:
        """What messages call it."""
        return f"diffusers/{self.checkpoint}"


class DiffusersPipeline:
    """A checkpoint at work, one copy of it on every device."""

    version: ClassVar[str] = "1"
    about: ClassVar[About] = About(seeds_hold=True)
    Options: ClassVar[type[DiffusersOptions]] = DiffusersOptions

    def __init__(self, options: DiffusersOptions) -> None:
        name = options.name
        import_diffusers(name)
        checkpoint = locate(name, options.checkpoint, INDEX)
        folder = fetch(name, checkpoint, options.variant, _left_out(options))
        devices = choose_devices(options.device)
        if options.offload != "none" and not devices[0].startswith("cuda"):
            wanted = f"none without a GPU; there is {devices[0]}"
            raise UsageError(message("option-invalid", name="model.offload", value=options.offload, wanted=wanted))
        self._easels = [DevicePipeline(options, device, load_easel(options, folder, device)) for device in devices]
        self._choosing = threading.Lock()
        # Two calls a GPU: while one waits for its pixels the other has the GPU.
        depth = sum(2 if device.startswith("cuda") else 1 for device in devices)
        self.habits = Habits(batch_size=self._easels[0].limit, depth=depth)

    @classmethod
    def weights(cls, options: DiffusersOptions) -> str:
        """Pins the checkpoint, and the LoRA where there is one."""
        name = options.name
        checkpoint = locate(name, options.checkpoint, INDEX)
        pinned = pin(name, checkpoint)
        AHEAD.plan(pinned, partial(_prepare, options, checkpoint))
        return f"{pinned}+{pin_lora(name, options.lora)}" if options.lora else pinned

    def expect(self, n: int) -> None:
        """So many pictures are to come."""
        for easel in self._easels:
            easel.expect(n // len(self._easels))

    def render(self, requests: Sequence[RenderRequest]) -> Sequence[Rendered | SalvaError]:
        """One picture or error per request."""
        with self._choosing:
            easel = min(self._easels, key=lambda easel: easel.n_calls)
            easel.n_calls += 1
        try:
            return easel.paint(requests)
        finally:
            with self._choosing:
                easel.n_calls -= 1


def load_easel(options: DiffusersOptions, folder: Path, device: str) -> AtWork:
    """A pipeline on its device with everything set that was asked for."""
    name = options.name
    dtype = _precision(options, folder, device)
    pipeline = load_pipeline(name, folder, dtype=dtype, variant=options.variant, without=_left_out(options))
    config = getattr(denoiser_of(pipeline), "config", {})
    preset = PRESETS[choose_preset(type(pipeline).__name__, config) if options.preset == AUTO else options.preset]
    if options.safety_checker and getattr(pipeline, "safety_checker", None) is None:
        raise invalid_model(name, "safety_checker is true, but this checkpoint has none")
    set_sampler(name, pipeline, preset.sampler if options.scheduler == AUTO else options.scheduler, options.karras)
    if options.lora:
        apply_lora(name, pipeline, options.lora, options.lora_scale)
    _save_memory(name, pipeline, options)
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
            raise UnusableError(
                f"{name} does not fit the memory of {describe_device(device)}; set model.offload=model"
            ) from error
    n_fused, no_kernels = 0, ""
    try:
        n_fused = fuse_parts(pipeline, device) if _takes_kernels(options, device) else 0
    except SalvaError as error:
        no_kernels = str(error)
    at_work = AtWork(pipeline=pipeline, preset=preset, dtype=dtype, n_fused=n_fused, no_kernels=no_kernels)
    return replace(at_work, on_no_number=ALREADY_FINE) if dtype == "float32" else at_work


def _prepare(options: DiffusersOptions, checkpoint: Checkpoint) -> None:
    """All that loading will need and that takes seconds, while somebody else is at work."""
    import_parts(options.name, checkpoint)
    device, index = choose_devices(options.device)[0], file_here(checkpoint, INDEX)
    if index is not None and _takes_kernels(options, device) and "unet" in read_index(options.name, index.parent):
        from salva.hardware import kernels

        kernels.get_ready(device, _precision(options, index.parent, device))


def _takes_kernels(options: DiffusersOptions, device: str) -> bool:
    return options.compile == AUTO and options.offload == "none" and device.startswith("cuda")


def _precision(options: DiffusersOptions, folder: Path, device: str) -> str:
    # The family is only known for sure once the pipeline is there; the precision is asked for before.
    return choose_dtype(options.dtype, device, PRESETS[_likely_preset(options, folder)].half)


def _likely_preset(options: DiffusersOptions, folder: Path) -> str:
    if options.preset != AUTO:
        return options.preset
    return choose_preset(str(read_index(options.name, folder)["_class_name"]), {})


def _save_memory(name: str, pipeline: Pipeline, options: DiffusersOptions) -> None:
    vae = getattr(pipeline, "vae", None)
    for is_asked, word, method in (
        (options.vae_slicing, "vae_slicing", "enable_slicing"),
        (options.vae_tiling, "vae_tiling", "enable_tiling"),
    ):
        if is_asked:
            if not hasattr(vae, method):
                raise invalid_model(name, f"its decoder ({type(vae).__name__}) cannot do {word}")
            getattr(vae, method)()


def _left_out(options: DiffusersOptions) -> tuple[str, ...]:
    return () if options.safety_checker else ("safety_checker",)
