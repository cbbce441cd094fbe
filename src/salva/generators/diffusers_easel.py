"""One copy of a diffusers pipeline at work on one device: requests come in batches, a picture or error each goes out.

Each picture starts from noise drawn on the processor from its own seed, so it does not depend on its neighbours or the
device, but for rounding. Pixels become bytes on the device and are copied while the next batch is already painted.
Knows nothing of checkpoints.
"""

from __future__ import annotations

import threading
from collections.abc import Sequence
from contextlib import nullcontext
from inspect import signature
from typing import TYPE_CHECKING, Any

from salva.core.case import Prompt
from salva.core.fingerprint import Json
from salva.core.foreign_errors import translate_errors
from salva.core.image import Picture
from salva.core.protocols import Rendered, RenderRequest
from salva.errors import BackendError, RefusedError, SalvaError, UnusableError, UsageError
from salva.generators.diffusers_copy import Copy
from salva.generators.diffusers_loading import AtWork, Pipeline, compile_parts, own_size
from salva.generators.diffusers_presets import AUTO, Preset
from salva.hardware.batching import BatchSizer
from salva.hardware.compiling import COMPILING, note_compiled, pays_to_compile
from salva.hardware.devices import describe_device, is_out_of_memory, on_device

if TYPE_CHECKING:
    from salva.generators.diffusers_pipeline import DiffusersOptions

_FULL_BATCH_PIXELS = 16 * 512 * 512
"""Beyond this a large GPU is busy, and more at once only takes more memory."""
_FIRST_BATCH = 4
_USUAL_SIZE = (1024, 1024)
_SIDES_WITH_SHAPES = (256, 512, 1024, 2048, 4096)


def parse_size(text: str) -> tuple[int, int] | None:
    """Width and height as typed; None for auto."""
    if text == AUTO:
        return None
    width, _, height = text.lower().partition("x")
    if not width.isdecimal() or not (height or width).isdecimal() or not int(width) or not int(height or width):
        raise ValueError(f"size is {text!r}; give pixels, such as 768 or 768x512")
    return int(width), int(height or width)


class DevicePipeline:
    """One copy of the pipeline on one device."""

    def __init__(self, options: DiffusersOptions, device: str, at_work: AtWork) -> None:
        import torch

        pipeline, preset, dtype = at_work.pipeline, at_work.preset, at_work.dtype

        self.n_calls = 0
        self._name, self._device, self._options, self._is_compiled = options.name, device, options, False
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
        self._n_fused = at_work.n_fused
        if self._n_fused:
            self._provenance["fused_blocks"] = self._n_fused
        elif at_work.no_kernels:
            self._provenance["no_kernels"] = at_work.no_kernels
        if options.compile == "true":
            self._compile()

    def expect(self, n: int) -> None:
        """So many pictures are to come: compile where that pays and nobody said otherwise."""
        is_free = self._options.compile == AUTO and self._options.offload == "none" and self._device.startswith("cuda")
        # Kernels of our own are as fast as compiled ones.
        if is_free and not self._n_fused and not self._is_compiled and pays_to_compile(self._on_device, n):
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
            with translate_errors(self._translate):
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
        turn = COMPILING.calling((self, len(padded))) if self._is_compiled else nullcontext()
        with on_device(self._device), turn:
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


def _batch_limit(n_pixels: int, device: str) -> int:
    if not device.startswith("cuda"):
        return 1
    return max(1, min(64, _FULL_BATCH_PIXELS // n_pixels))
