"""One copy of a diffusers pipeline on one device: from batches of requests to images or errors.

Each image starts from noise drawn on the CPU from its own seed, so apart from rounding it does not depend on its batch
or device. Pixels are copied to memory while the next batch is generated. Knows no checkpoints.
"""

from __future__ import annotations

import threading
from collections.abc import Sequence
from contextlib import nullcontext
from dataclasses import dataclass
from inspect import signature
from typing import Any

from salva.core.case import Prompt
from salva.core.fingerprint import Json
from salva.core.foreign_errors import one_line, translate_errors
from salva.core.image import Picture
from salva.core.options import option
from salva.core.protocols import Rendered, RenderRequest
from salva.errors import BackendError, RefusedError, SalvaError, UnusableError, UsageError, invalid_option
from salva.generators.diffusers_loading import LoadedPipeline, Pipeline, compile_parts, trained_size
from salva.generators.diffusers_presets import AUTO, Preset
from salva.generators.diffusers_transfer import PixelTransfer
from salva.hardware.batching import BatchSizer
from salva.hardware.compile_lock import COMPILE_LOCK, is_compiling_worthwhile, remember_compiled
from salva.hardware.devices import describe_device, is_out_of_memory, on_device
from salva.messages import message

_ON_MEMORY = "use a smaller model.size, model.vae_tiling=true or model.offload=model"
_FULL_BATCH_PIXELS = 16 * 512 * 512
"""The pixels that use a large GPU fully; larger batches only need more memory."""
_FIRST_BATCH = 4
_USUAL_SIZE = (1024, 1024)
_SIDES_WITH_SHAPES = (256, 512, 1024, 2048, 4096)


def parse_size(text: str) -> tuple[int, int] | None:
    """Width and height as typed; None for auto."""
    if text == AUTO:
        return None
    width, _, height = text.lower().partition("x")
    if not width.isdecimal() or not (height or width).isdecimal() or not int(width) or not int(height or width):
        raise invalid_option("size", text, "pixels, such as 768 or 768x512")
    return int(width), int(height or width)


@dataclass(frozen=True, slots=True, kw_only=True)
class CallOptions:
    """What can be set for every pipeline."""

    steps: int | None = option(None, "Denoising steps; none for the preset's.", least=1)
    guidance: float | None = option(None, "Guidance scale; none for the preset's.")
    size: str = option(AUTO, "Pixels, 768 or 768x512; auto: as trained.")
    negative: str = option("", "Negative prompt of every image.")
    batch_size: int | None = option(None, "Images at once; none for what fits.", keyed=False, least=1)

    def __post_init__(self) -> None:
        parse_size(self.size)


class DevicePipeline:
    """One copy of the pipeline on one device."""

    def __init__(
        self, name: str, options: CallOptions, device: str, loaded: LoadedPipeline, compiles: str = "false"
    ) -> None:
        import torch

        preset, dtype = loaded.preset, loaded.dtype
        self.n_calls = 0
        self._name, self._device, self._compiles, self._is_compiled = name, device, compiles, False
        self._lock = threading.Lock()
        self._loaded, self._pipeline = loaded, loaded.pipeline
        self._call = call_arguments(self._name, self._pipeline, preset, options)
        width, height = parse_size(options.size) or trained_size(self._pipeline) or _USUAL_SIZE
        self.limit = options.batch_size or _batch_limit(width * height, device)
        limited = f", {options.batch_size} at once" if options.batch_size else ""
        self._kind = f"{name}, {width}x{height}, {dtype}{limited}"
        self._sizer = self._new_sizer(self.limit if options.batch_size else min(_FIRST_BATCH, self.limit))
        self._provenance: dict[str, Json] = {
            "pipeline": type(self._pipeline).__name__,
            "scheduler": type(self._pipeline.scheduler).__name__,
            "steps": self._call.get("num_inference_steps"),
            "guidance": self._call.get(preset.guidance_word),
            "dtype": dtype,
            "device": describe_device(device),
            "torch": str(torch.__version__),
            "parameters": dict[str, Json](loaded.parameters),
        }
        if loaded.n_fused:
            self._provenance["fused_blocks"] = loaded.n_fused
        elif loaded.no_kernels:
            self._provenance["no_kernels"] = loaded.no_kernels
        if compiles == "true":
            self._compile()

    def expect(self, n: int) -> None:
        """Announce the number of images: compile if that is worthwhile and no option forbids it."""
        # salva's own kernels are as fast as compiled ones.
        may_compile = self._compiles == AUTO and not self._loaded.n_fused and not self._is_compiled
        if may_compile and is_compiling_worthwhile(self._on_device, n):
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
            advice=_ON_MEMORY,
        )

    def _compile(self) -> None:
        """Compile before any real work: other compiled components would have to wait for it."""
        compile_parts(self._pipeline, self._device)
        self._is_compiled = True
        # Every batch size is compiled separately, so a compiled model starts with the final one.
        self._sizer = self._new_sizer(self.limit)
        self.generate([RenderRequest(prompt=Prompt(role="first", text="a cat"), seed=0)])
        remember_compiled(self._on_device)

    def generate(self, requests: Sequence[RenderRequest]) -> list[Rendered | SalvaError]:
        """One image or error per request; other calls may use the device while the pixels are copied."""
        with self._lock:
            pending = self._sizer.run(self._launch, requests)
        return [
            outcome if isinstance(outcome, SalvaError) else self._rendered(request, *outcome)
            for request, outcome in zip(requests, pending, strict=True)
        ]

    def _launch(self, requests: Sequence[RenderRequest]) -> Sequence[tuple[PixelTransfer, int] | SalvaError]:
        """Start a batch; its pixels arrive later. A batch that fails is repeated one by one."""
        try:
            with translate_errors(self._translate):
                transfer = self._call_pipeline(requests)
        except UnusableError:
            raise
        except BackendError as failure:
            if len(requests) == 1:
                return [failure]
        else:
            return [(transfer, i) for i in range(len(requests))]
        return [outcome for request in requests for outcome in self._launch([request])]

    def _translate(self, error: Exception) -> Exception:
        """Errors of torch, diffusers or transformers; the batch sizer handles those about memory."""
        if is_out_of_memory(error):
            return error
        if isinstance(error, ValueError):
            # diffusers checks its arguments before it begins, and no other request would pass.
            return UsageError(message("options-invalid", owner=self._name, why=one_line(error)))
        if "CUDA error" in str(error):
            return self._gpu_failure(error)
        why = f"{type(error).__name__}: {error}"
        return BackendError(message("generation-failed", model=self._name, why=why), is_retryable=False)

    def _call_pipeline(self, requests: Sequence[RenderRequest]) -> PixelTransfer:
        import torch

        # A short batch is padded with its last request, because rounding depends on the shape, and a compiled model
        # would be compiled again.
        padded = [*requests, *[requests[-1]] * (self._sizer.size - len(requests))]
        arguments = dict(self._call)
        if "negative_prompt" in arguments:
            arguments["negative_prompt"] = [arguments["negative_prompt"]] * len(padded)
        turn = COMPILE_LOCK.calling((self, len(padded))) if self._is_compiled else nullcontext()
        with on_device(self._device), turn:
            output = self._pipeline(
                prompt=[request.prompt.text for request in padded],
                # On the CPU, so that a seed gives the same noise on every device and in every batch.
                generator=[torch.Generator("cpu").manual_seed(request.seed) for request in padded],
                output_type="pt",
                **arguments,
            )
        flags = getattr(output, "nsfw_content_detected", None) or getattr(output, "nsfw_detected", None)
        # Inside the lock: tokenizers are not thread-safe.
        n_cut = [n_tokens_cut(self._pipeline, request.prompt.text) for request in requests]
        return PixelTransfer(output.images[: len(requests)], flags, n_cut)

    def _rendered(self, request: RenderRequest, transfer: PixelTransfer, i: int) -> Rendered | SalvaError:
        if transfer.flags[i]:
            return RefusedError(
                message("prompt-refused", model=self._name, why="its safety checker replaced the image")
            )
        try:
            rgb, width, height, is_sound = transfer.pixels(i)
        except RuntimeError as error:  # an error on the device after the batch was started
            return self._gpu_failure(error)
        if not is_sound:
            why = f"the image for {request.prompt.text!r} is black or not finite; use bfloat16 or float32"
            return BackendError(message("generation-failed", model=self._name, why=why), is_retryable=False)
        provenance = dict(self._provenance)
        if transfer.n_cut[i]:
            provenance["tokens_cut"] = transfer.n_cut[i]
        return Rendered(picture=Picture(rgb=rgb, width=width, height=height), provenance=provenance)

    def _gpu_failure(self, error: Exception) -> UnusableError:
        why = f"the GPU has failed, run the command again ({error})"
        return UnusableError(message("generation-failed", model=self._name, why=why))


def call_arguments(name: str, pipeline: Pipeline, preset: Preset, options: CallOptions) -> dict[str, Any]:
    """Arguments of the pipeline besides prompts and seeds; a set option that it does not take is an error."""
    words = signature(type(pipeline).__call__).parameters
    size = parse_size(options.size)
    chosen = {
        "num_inference_steps": options.steps,
        preset.guidance_word: options.guidance,
        "width": size[0] if size else None,
        "height": size[1] if size else None,
        "negative_prompt": options.negative or None,
    }
    chosen = {word: value for word, value in chosen.items() if value is not None}
    for word in sorted(chosen.keys() - words.keys()):
        why = f"a {type(pipeline).__name__} takes no {word}, which is {chosen[word]!r}"
        raise UsageError(message("options-invalid", owner=name, why=why))
    defaults = {
        "num_inference_steps": preset.steps,
        preset.guidance_word: preset.guidance,
        "negative_prompt": preset.negative,
        **preset.settings,
    }
    arguments = {word: value for word, value in defaults.items() if value is not None and word in words} | chosen
    # Some pipelines round to the shapes that models of certain sizes were trained with.
    if "use_resolution_binning" in words and (trained_size(pipeline) or _USUAL_SIZE)[0] not in _SIDES_WITH_SHAPES:
        arguments["use_resolution_binning"] = False
    return arguments


def n_tokens_cut(pipeline: Pipeline, text: str) -> int:
    """The number of a prompt's tokens that no text encoder reads."""
    cut: list[int] = []
    for part in ("tokenizer", "tokenizer_2", "tokenizer_3"):
        tokenizer = getattr(pipeline, part, None)
        if tokenizer is None:
            continue
        if not type(tokenizer).__name__.startswith("CLIP"):
            return 0
        cut.append(max(0, len(tokenizer(text, verbose=False).input_ids) - tokenizer.model_max_length))
    return min(cut, default=0)


def _batch_limit(n_pixels: int, device: str) -> int:
    if not device.startswith("cuda"):
        return 1
    return max(1, min(64, _FULL_BATCH_PIXELS // n_pixels))
