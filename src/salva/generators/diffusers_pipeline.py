"""Generator: any text-to-image checkpoint that diffusers can load, on the devices of this machine.

Requests come in batches; each picture starts from noise drawn on the processor from its own seed, so it does not
depend on its neighbours or the device, but for rounding. Pixels become bytes on the device and are copied while the
next batch is already being painted. Loading and all that can be wrong with a checkpoint is in diffusers_loading.py.
"""

from __future__ import annotations

import threading
from collections.abc import Sequence
from contextlib import nullcontext
from dataclasses import dataclass
from inspect import signature
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from salva.core.about import About, Habits
from salva.core.blame import translating
from salva.core.case import Prompt
from salva.core.fingerprint import Json
from salva.core.image import Picture
from salva.core.options import option
from salva.core.protocols import Rendered, RenderRequest
from salva.errors import BackendError, RefusedError, SalvaError, UnusableError, UsageError
from salva.generators.diffusers_copy import Copy
from salva.generators.diffusers_loading import (
    INDEX,
    AtWork,
    Pipeline,
    apply_lora,
    compile_parts,
    denoiser_of,
    fetch,
    import_diffusers,
    load_pipeline,
    own_size,
    pin,
    pin_lora,
    read_index,
    set_sampler,
)
from salva.generators.diffusers_presets import AUTO, PRESETS, SAMPLERS, Preset, choose_preset
from salva.hardware.batching import BatchSizer
from salva.hardware.checkpoints import locate
from salva.hardware.compiling import COMPILING, note_compiled, pays_to_compile
from salva.hardware.devices import DTYPES, choose_devices, choose_dtype, describe_device, is_out_of_memory

if TYPE_CHECKING:
    pass

_FULL_BATCH_PIXELS = 16 * 512 * 512
"""Beyond this a large GPU is busy, and more at once only takes more memory."""
_FIRST_BATCH = 4
_USUAL_SIZE = (1024, 1024)
_SIDES_WITH_SHAPES = (256, 512, 1024, 2048, 4096)


@dataclass(frozen=True, slots=True, kw_only=True)
class DiffusersOptions:
    """What can be set with --set model.NAME=VALUE."""

    checkpoint: str = option("", "A hub id (owner/model) or the folder of a checkpoint.", target=True)
    revision: str = option("", "Branch, tag or commit on the hub; empty for the main branch.")
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
        "Compile the model: a minute at the start, then a third faster; auto where the pictures to come are enough.",
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
            raise ValueError(f"steps is {self.steps!r}; give 1 or more")
        if self.batch_size is not None and self.batch_size < 1:
            raise ValueError(f"batch_size is {self.batch_size!r}; give 1 or more")
        if self.compile == "true" and self.offload != "none":
            raise ValueError("compile and offload do not go together; choose one")


def parse_size(text: str) -> tuple[int, int] | None:
    """Width and height as typed; None for auto."""
    if text == AUTO:
        return None
    width, _, height = text.lower().partition("x")
    if not width.isdecimal() or not (height or width).isdecimal() or not int(width) or not int(height or width):
        raise ValueError(f"size is {text!r}; give pixels, such as 768 or 768x512")
    return int(width), int(height or width)


class DiffusersPipeline:
    """A checkpoint at work, one copy of it on every device."""

    version: ClassVar[str] = "1"
    about: ClassVar[About] = About(seeds_hold=True)
    Options: ClassVar[type[DiffusersOptions]] = DiffusersOptions

    def __init__(self, options: DiffusersOptions) -> None:
        name = _name(options)
        import_diffusers(name)
        checkpoint = locate(name, options.checkpoint, options.revision, INDEX)
        folder = fetch(name, checkpoint, options.variant, _left_out(options))
        devices = choose_devices(options.device)
        if options.offload != "none" and not devices[0].startswith("cuda"):
            raise UsageError(f"{name}: offload is {options.offload!r}, which needs a GPU; there is {devices[0]}")
        self._easels = [Easel(options, device, load_easel(options, folder, device)) for device in devices]
        self._choosing = threading.Lock()
        # Two calls a GPU: while one waits for its pixels the other has the GPU.
        depth = sum(2 if device.startswith("cuda") else 1 for device in devices)
        self.habits = Habits(batch_size=self._easels[0].limit, depth=depth)

    @classmethod
    def weights(cls, options: DiffusersOptions) -> str:
        """Pins the checkpoint, and the LoRA where there is one."""
        name = _name(options)
        pinned = pin(name, locate(name, options.checkpoint, options.revision, INDEX))
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


class Easel:
    """One copy of the pipeline on one device."""

    def __init__(self, options: DiffusersOptions, device: str, at_work: AtWork) -> None:
        import torch

        pipeline, preset, dtype = at_work.pipeline, at_work.preset, at_work.dtype

        self.n_calls = 0
        self._name, self._device, self._options, self._is_compiled = _name(options), device, options, False
        self._lock = threading.Lock()
        self._pipeline, self._on_refusal, self._on_memory = pipeline, at_work.on_refusal, at_work.on_memory
        self._on_no_number = at_work.on_no_number
        self._call = call_arguments(self._name, self._pipeline, preset, options)
        width, height = parse_size(options.size) or own_size(self._pipeline) or _USUAL_SIZE
        self.limit = options.batch_size or _batch_limit(width * height, device)
        asked = f", {options.batch_size} at once" if options.batch_size else ""
        self._kind = f"{options.checkpoint}, {width}x{height}, {dtype}{asked}"
        self._sizer = self._new_sizer(self.limit if options.batch_size else min(_FIRST_BATCH, self.limit))
        self._provenance: dict[str, Json] = {
            "pipeline": type(self._pipeline).__name__,
            "scheduler": type(self._pipeline.scheduler).__name__,
            "steps": self._call.get("num_inference_steps"),
            "guidance": self._call.get(preset.guidance_word),
            "dtype": dtype,
            "device": describe_device(device),
            "torch": str(torch.__version__),
        }
        if options.compile == "true":
            self._compile()

    def expect(self, n: int) -> None:
        """So many pictures are to come: compile where that pays and nobody said otherwise."""
        is_free = self._options.compile == AUTO and self._options.offload == "none" and self._device.startswith("cuda")
        if is_free and not self._is_compiled and pays_to_compile(self._on_device, n):
            self._compile()

    @property
    def _on_device(self) -> str:
        return f"{self._kind} on {describe_device(self._device)}, torch {self._provenance['torch']}"

    def _new_sizer(self, start: int) -> BatchSizer:
        return BatchSizer(
            f"{self._kind}{', compiled' if self._is_compiled else ''}",
            start=start,
            limit=self.limit,
            device=self._device,
            name=self._name,
            advice=self._on_memory,
        )

    def _compile(self) -> None:
        """Now, before anybody has work to do: whoever else has something compiled would have to wait for it."""
        compile_parts(self._pipeline, self._device)
        self._is_compiled = True
        # Every size is compiled anew, so a compiled model starts with the one it should end with.
        self._sizer = self._new_sizer(self.limit)
        self.paint([RenderRequest(prompt=Prompt(role="first", text="a cat"), seed=0)])
        note_compiled(self._on_device)

    def paint(self, requests: Sequence[RenderRequest]) -> list[Rendered | SalvaError]:
        """One picture or error per request; the device is free for others while the last pixels are copied."""
        with self._lock:
            pending = self._sizer.run(self._launch, requests)
        return [
            outcome if isinstance(outcome, SalvaError) else self._rendered(request, *outcome)
            for request, outcome in zip(requests, pending, strict=True)
        ]

    def _launch(self, requests: Sequence[RenderRequest]) -> Sequence[tuple[Copy, int] | SalvaError]:
        """Start a batch; its pixels arrive later. A batch that breaks is tried one by one."""
        try:
            with translating(self._translate):
                copy = self._painted(requests)
        except UnusableError:
            raise
        except BackendError as failure:
            if len(requests) == 1:
                return [failure]
        else:
            return [(copy, i) for i in range(len(requests))]
        return [outcome for request in requests for outcome in self._launch([request])]

    def _translate(self, error: Exception) -> Exception:
        """Whatever torch, diffusers or transformers raise; memory is the batches' business."""
        if is_out_of_memory(error):
            return error
        if isinstance(error, ValueError):
            # diffusers checks what it is asked before it begins, and no other request would pass.
            return UsageError(f"{self._name}: {error}")
        if "CUDA error" in str(error):
            return self._dead(error)
        return BackendError(f"{self._name} failed: {type(error).__name__}: {error}", is_retryable=False)

    def _painted(self, requests: Sequence[RenderRequest]) -> Copy:
        import torch

        # A short batch is filled up with its own last picture: libraries compute other last digits for other shapes,
        # and a compiled model would be compiled anew.
        padded = [*requests, *[requests[-1]] * (self._sizer.size - len(requests))]
        given = dict(self._call)
        if "negative_prompt" in given:
            given["negative_prompt"] = [given["negative_prompt"]] * len(padded)
        with COMPILING.calling((self, len(padded))) if self._is_compiled else nullcontext():
            output = self._pipeline(
                prompt=[request.prompt.text for request in padded],
                # On the processor: the same seed is then the same noise on every device and in every batch.
                generator=[torch.Generator("cpu").manual_seed(request.seed) for request in padded],
                output_type="pt",
                **given,
            )
        flags = getattr(output, "nsfw_content_detected", None) or getattr(output, "nsfw_detected", None)
        # Here, where no other call can use the tokenizers: they do not stand two threads at once.
        n_cut = [n_tokens_cut(self._pipeline, request.prompt.text) for request in requests]
        return Copy(output.images[: len(requests)], flags, n_cut)

    def _rendered(self, request: RenderRequest, copy: Copy, i: int) -> Rendered | SalvaError:
        if copy.flags[i]:
            return RefusedError(f"{self._name}: its safety checker blacked the picture out; {self._on_refusal}")
        try:
            rgb, width, height, is_sound = copy.pixels(i)
        except RuntimeError as error:  # what went wrong on the device after the batch was started
            return self._dead(error)
        if not is_sound:
            return BackendError(
                f"{self._name} gave a picture that is black or no number at all, for {request.prompt.text!r}; "
                f"{self._on_no_number}",
                is_retryable=False,
            )
        provenance = dict(self._provenance)
        if copy.n_cut[i]:
            provenance["tokens_cut"] = copy.n_cut[i]
        return Rendered(picture=Picture(rgb=rgb, width=width, height=height), provenance=provenance)

    def _dead(self, error: Exception) -> UnusableError:
        return UnusableError(f"{self._name}: the GPU has failed; run again. {error}")


def load_easel(options: DiffusersOptions, folder: Path, device: str) -> AtWork:
    """A pipeline on its device with everything set that was asked for."""
    name = _name(options)
    # The family is only known for sure once the pipeline is there; the precision is asked for before.
    half = PRESETS[_likely_preset(options, folder)].half
    dtype = choose_dtype(options.dtype, device, half)
    pipeline = load_pipeline(name, folder, dtype=dtype, variant=options.variant, without=_left_out(options))
    config = getattr(denoiser_of(pipeline), "config", {})
    preset = PRESETS[choose_preset(type(pipeline).__name__, config) if options.preset == AUTO else options.preset]
    if options.safety_checker and getattr(pipeline, "safety_checker", None) is None:
        raise UsageError(f"{name}: safety_checker is true, but this checkpoint has none")
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
    return AtWork(pipeline=pipeline, preset=preset, dtype=dtype)


def _likely_preset(options: DiffusersOptions, folder: Path) -> str:
    if options.preset != AUTO:
        return options.preset
    return choose_preset(str(read_index(_name(options), folder)["_class_name"]), {})


def call_arguments(name: str, pipeline: Pipeline, preset: Preset, options: DiffusersOptions) -> dict[str, Any]:
    """What the pipeline is called with besides prompts and seeds; what it does not take is an error if asked for."""
    words = signature(type(pipeline).__call__).parameters
    size = parse_size(options.size)
    wanted: list[tuple[str, Any, bool]] = [
        ("num_inference_steps", options.steps or preset.steps, options.steps is not None),
        (
            preset.guidance_word,
            preset.guidance if options.guidance is None else options.guidance,
            options.guidance is not None,
        ),
        ("width", size[0] if size else None, size is not None),
        ("height", size[1] if size else None, size is not None),
        ("negative_prompt", options.negative or preset.negative, bool(options.negative)),
        *((word, value, False) for word, value in preset.settings.items()),
    ]
    given: dict[str, Any] = {}
    for word, value, is_asked in wanted:
        if value is None:
            continue
        if word in words:
            given[word] = value
        elif is_asked:
            raise UsageError(f"{name}: a {type(pipeline).__name__} takes no {word}; it was set to {value!r}")
    # Some pipelines keep to the shapes that models of certain sizes were trained with; for others they know none.
    if "use_resolution_binning" in words and (own_size(pipeline) or _USUAL_SIZE)[0] not in _SIDES_WITH_SHAPES:
        given["use_resolution_binning"] = False
    # Some pipelines take a negative prompt and leave it unread.
    is_unread = "true_cfg_scale" in words and preset.guidance_word != "true_cfg_scale"
    if options.negative and (is_unread or given.get(preset.guidance_word, 2.0) <= 1.0):
        raise UsageError(
            f"{name}: negative is {options.negative!r}, which a {type(pipeline).__name__} does not read at guidance "
            f"{given.get(preset.guidance_word)}; leave it empty"
        )
    return given


def n_tokens_cut(pipeline: Pipeline, text: str) -> int:
    """How many of a prompt's tokens no text encoder of the pipeline gets to see."""
    cut: list[int] = []
    for part in ("tokenizer", "tokenizer_2", "tokenizer_3"):
        tokenizer = getattr(pipeline, part, None)
        if tokenizer is None:
            continue
        if not type(tokenizer).__name__.startswith("CLIP"):
            return 0
        cut.append(max(0, len(tokenizer(text, verbose=False).input_ids) - tokenizer.model_max_length))
    return min(cut, default=0)


def _save_memory(name: str, pipeline: Pipeline, options: DiffusersOptions) -> None:
    vae = getattr(pipeline, "vae", None)
    for is_asked, word, method in (
        (options.vae_slicing, "vae_slicing", "enable_slicing"),
        (options.vae_tiling, "vae_tiling", "enable_tiling"),
    ):
        if is_asked:
            if not hasattr(vae, method):
                raise UsageError(f"{name}: its decoder ({type(vae).__name__}) cannot do {word}")
            getattr(vae, method)()


def _batch_limit(n_pixels: int, device: str) -> int:
    if not device.startswith("cuda"):
        return 1
    return max(1, min(64, _FULL_BATCH_PIXELS // n_pixels))


def _left_out(options: DiffusersOptions) -> tuple[str, ...]:
    return () if options.safety_checker else ("safety_checker",)


def _name(options: DiffusersOptions) -> str:
    return f"diffusers/{options.checkpoint}"
