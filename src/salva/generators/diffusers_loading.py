"""Loads a diffusers pipeline from a checkpoint, or raises why it cannot be used.

Defects are found before anything is generated: weights that are pickled, cut off or incomplete, code in the
checkpoint, pipelines that do not generate from text. Knows no requests.
"""

from __future__ import annotations

import contextlib
import json
import threading
import warnings
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import partial
from inspect import Parameter, signature
from pathlib import Path
from typing import Any

from salva.core.foreign_errors import one_line, plugin_errors, translate_errors
from salva.errors import MissingExtraError, SalvaError, UsageError
from salva.generators.diffusers_presets import SAMPLERS, Preset
from salva.hardware.background_imports import BACKGROUND_IMPORTS
from salva.hardware.checkpoints import (
    Checkpoint,
    check_complete,
    check_weights,
    digest_of_files,
    file_here,
    hub_error,
    invalid_checkpoint,
    pickle_error,
    quiet,
)
from salva.hardware.devices import on_device

INDEX = "model_index.json"
_WITHOUT_WEIGHTS = ("Tokenizer", "Scheduler", "Processor", "FeatureExtractor")
_NOT_FROM_TEXT = ("num_frames", "video", "audio_length_in_s", "audio_end_in_s", "image", "frames")
_MORE_WORDS = Parameter.VAR_KEYWORD
_ONE_AT_A_TIME = threading.Lock()

Pipeline = Any
"""A diffusers pipeline; the library has no types."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LoadedPipeline:
    """A pipeline on its device."""

    pipeline: Pipeline
    preset: Preset
    dtype: str
    n_fused: int = 0
    """Blocks of its networks that run on salva's kernels."""
    no_kernels: str = ""
    """Why there are none."""
    parameters: Mapping[str, int] = field(default_factory=dict)
    """How many each of its networks has, as loaded."""


def import_diffusers(name: str) -> Any:
    """The library; MissingExtraError if it is not installed."""
    BACKGROUND_IMPORTS.wait()
    try:
        import accelerate  # noqa: F401  # diffusers runs without, slowly and with warnings
        import diffusers
        import transformers  # noqa: F401  # as above: nearly every pipeline needs it
    except ImportError as error:
        raise MissingExtraError(name, "torch") from error
    # It would log every long prompt, which is in the provenance.
    diffusers.utils.logging.set_verbosity_error()
    return diffusers


def import_parts(name: str, checkpoint: Checkpoint) -> None:
    """Import the classes of a checkpoint's parts, which takes seconds, before it is loaded."""
    import accelerate  # noqa: F401  # as above
    import diffusers
    import transformers

    index = file_here(checkpoint, INDEX)
    with _quiet():
        if index is None:
            # The index will be downloaded. Most of the time goes into what every pipeline imports.
            diffusers.DiffusionPipeline  # noqa: B018
            return
        index_of_parts = read_index(name, index.parent)
        classes = [("diffusers", index_of_parts["_class_name"]), *_parts(index_of_parts).values()]
        for library in (diffusers, transformers):
            for kind in (kind for owner, kind in classes if owner == library.__name__):
                getattr(library, str(kind))


def pin(name: str, checkpoint: Checkpoint) -> str:
    """Identifies the weights: the hub's commit, or the digest of the folder's files."""
    if checkpoint.folder is None:
        return str(checkpoint.commit)
    parts = [checkpoint.folder / part for part in _parts(read_index(name, checkpoint.folder))]
    kinds = (".json", ".txt", ".model", ".safetensors")
    files = [path for part in parts if part.is_dir() for path in part.iterdir() if path.suffix in kinds]
    return digest_of_files([checkpoint.folder / INDEX, *files], checkpoint.folder)


def fetch(name: str, checkpoint: Checkpoint, variant: str, without: tuple[str, ...]) -> Path:
    """The folder of the checkpoint, downloaded if needed, without the parts in `without`."""
    if checkpoint.folder is not None:
        return checkpoint.folder
    diffusers = import_diffusers(name)
    repo, commit = checkpoint.source, str(checkpoint.commit)

    def translate(error: Exception) -> SalvaError:
        if "necessary `safetensors` weights" in str(error):
            return pickle_error(name, repo)
        if isinstance(error, ValueError):
            return invalid_model(name, one_line(error, 600))
        return hub_error(name, repo, commit, error)

    with translate_errors(translate), _quiet():
        downloaded = diffusers.DiffusionPipeline.download(
            repo,
            revision=commit,
            use_safetensors=True,
            variant=variant or None,
            trust_remote_code=False,
            **dict.fromkeys(without),
        )
    return Path(downloaded)


def read_index(name: str, folder: Path) -> dict[str, Any]:
    """model_index.json: which pipeline, and which class each of its parts is."""
    try:
        index = json.loads((folder / INDEX).read_text(encoding="utf-8"))
        if not isinstance(index, dict) or "_class_name" not in index:
            raise ValueError("it names no pipeline class")
    except (OSError, ValueError) as error:
        raise invalid_model(name, f"{str(folder / INDEX)!r} is no index of a pipeline: {error}") from error
    return index


def load_pipeline(name: str, folder: Path, *, dtype: str, variant: str, without: tuple[str, ...]) -> Pipeline:
    """The pipeline of a checkpoint, checked and on the CPU, without the parts in `without`."""
    diffusers = import_diffusers(name)
    import torch

    index = read_index(name, folder)
    skipped = {part: None for part in without if part in index}
    check_folder(name, folder, index, variant, skipped)
    # `torch_dtype` became `dtype`; a version that does not know the name would ignore it and load float32.
    word = "dtype" if hasattr(diffusers.utils.deprecation_utils, "_resolve_dtype") else "torch_dtype"
    settings: dict[str, Any] = {word: getattr(torch, dtype), "use_safetensors": True, **skipped}
    if "safety_checker" in skipped and "requires_safety_checker" in index:
        settings["requires_safety_checker"] = False
    if str(index["_class_name"]).startswith("StableDiffusionXL"):
        # If a certain package is installed, it would add a watermark.
        settings["add_watermarker"] = False

    def translate(error: Exception) -> SalvaError:
        if "can't find a pipeline linked to" in str(error):
            return invalid_model(name, f"a {index['_class_name']} does not generate from text alone")
        return invalid_model(name, f"diffusers {diffusers.__version__} cannot load it: {one_line(error, 600)}")

    with translate_errors(translate), _quiet(), _refusing_random(name, folder, diffusers):
        kind = _pipeline_class(name, diffusers, index["_class_name"])
        pipeline = kind.from_pretrained(str(folder), variant=variant or None, trust_remote_code=False, **settings)
    pipeline.set_progress_bar_config(disable=True)
    for part in pipeline.components.values():
        # Pipelines count a long prompt's tokens before they cut it; the tokenizer's warning is wrong.
        if hasattr(part, "deprecation_warnings"):
            part.deprecation_warnings["sequence-length-is-longer-than-the-specified-maximum"] = True
    return pipeline


def check_folder(name: str, folder: Path, index: Mapping[str, Any], variant: str, skipped: Mapping[str, None]) -> None:
    """Refuse a checkpoint with parts that are missing, pickled, cut off or code."""
    if not isinstance(index["_class_name"], str):
        raise _own_code(name, index["_class_name"])
    for part, (library, kind) in _parts(index).items():
        if library is None or part in skipped:
            continue
        place = folder / part
        if not place.is_dir():
            raise invalid_model(name, f"{str(folder)!r} is incomplete: no folder {part!r}; download it again")
        if (place / f"{library}.py").exists():
            raise _own_code(name, f"{part}/{library}.py")
        if not any(word in str(kind) for word in _WITHOUT_WEIGHTS):
            check_weights(name, place, variant)


def count_parameters(pipeline: Pipeline) -> dict[str, int]:
    """The parameters of text encoders, denoiser and decoder, by the pipeline's names for them."""
    parts = {name: part for name, part in pipeline.components.items() if hasattr(part, "num_parameters")}
    return {name: int(part.num_parameters()) for name, part in parts.items()}


def set_sampler(name: str, pipeline: Pipeline, sampler: str) -> None:
    """Replace the checkpoint's scheduler; `own` keeps it."""
    import diffusers

    own = pipeline.scheduler
    if sampler == "own":
        return
    chosen = SAMPLERS[sampler]
    if chosen.is_flow != type(own).__name__.startswith("FlowMatch"):
        kind = "a diffusion" if chosen.is_flow else "a flow-matching"
        raise invalid_model(name, f"the sampler {sampler!r} cannot sample {kind} model; leave it at auto")
    with _quiet():
        pipeline.scheduler = getattr(diffusers, chosen.scheduler).from_config(own.config, **chosen.settings)


def denoiser_of(pipeline: Pipeline) -> Any:
    """The unet or transformer."""
    return getattr(pipeline, "unet", None) or getattr(pipeline, "transformer", None)


def trained_size(pipeline: Pipeline) -> tuple[int, int] | None:
    """Width and height of the checkpoint's training, if known."""
    side = getattr(pipeline, "default_sample_size", None)
    side = side or getattr(getattr(denoiser_of(pipeline), "config", None), "sample_size", None)
    factor = getattr(pipeline, "vae_scale_factor", None)
    if not factor or not isinstance(side, int | list | tuple):
        return None
    height, width = (side, side) if isinstance(side, int) else (side[0], side[1])
    return width * factor, height * factor


def _pipeline_class(name: str, diffusers: Any, class_name: str) -> Any:
    """The class that loads the checkpoint as a text-to-image pipeline."""
    kind = getattr(diffusers, class_name, None)
    if kind is None:
        raise invalid_model(name, f"diffusers {diffusers.__version__} has no {class_name!r}")
    if takes_text_alone(kind):
        return kind
    # An image-to-image checkpoint may have a text-to-image sibling. Last, because this imports every pipeline.
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return diffusers.AutoPipelineForText2Image


def takes_text_alone(kind: type[Any]) -> bool:
    """Whether a pipeline class generates images and needs only a text for it."""
    words = signature(kind.__call__).parameters
    required = {word for word, given in words.items() if given.default is given.empty and given.kind is not _MORE_WORDS}
    has_all = {"prompt", "width"} <= set(words)
    return has_all and required <= {"self", "prompt"} and not set(_NOT_FROM_TEXT) & set(words)


def _parts(index: Mapping[str, Any]) -> dict[str, tuple[str | None, str | None]]:
    return {part: (value[0], value[1]) for part, value in index.items() if isinstance(value, list) and len(value) == 2}


def invalid_model(name: str, why: str) -> UsageError:
    """The error for a checkpoint or a LoRA that cannot be used."""
    return invalid_checkpoint("diffusers", name, why)


def _own_code(name: str, what: object) -> UsageError:
    return invalid_model(name, f"it contains code ({what}), which salva never runs; write a --plugin for it")


@contextlib.contextmanager
def _refusing_random(name: str, folder: Path, diffusers: Any) -> Iterator[None]:
    """Refuse parts whose weights are not all in their files.

    Both libraries fill missing weights with random numbers, and a pipeline does not report that. So while it loads,
    from_pretrained of every part of this folder returns its loading info too.
    """
    import transformers

    def checking(original: Any, also: Mapping[str, bool]) -> Any:
        def from_pretrained(
            kind: type[Any], /, source: Any, *more: Any, output_loading_info: bool = False, **settings: Any
        ) -> Any:
            model, info = original(kind, source, *more, output_loading_info=True, **also, **settings)
            # Another thread may load something else at the same time.
            if Path(source).is_relative_to(folder):
                check_complete(name, str(source), kind.__name__, info)
            return (model, info) if output_loading_info else model

        return classmethod(from_pretrained)

    # diffusers names a weight of a wrong shape in its error; transformers only in its log.
    bases = {diffusers.ModelMixin: {}, transformers.PreTrainedModel: {"ignore_mismatched_sizes": True}}
    with _ONE_AT_A_TIME, contextlib.ExitStack() as stack:
        for base, also in bases.items():
            own = vars(base)["from_pretrained"]
            stack.callback(setattr, base, "from_pretrained", own)
            base.from_pretrained = checking(own.__func__, also)
        yield


def _quiet() -> contextlib.AbstractContextManager[None]:
    import diffusers
    import transformers

    return quiet(diffusers, transformers)


def fuse_parts(pipeline: Pipeline, device: str) -> int:
    """Run the slowest blocks on salva's kernels; returns their number.

    SalvaError without a compiler or a complete Triton; the pipeline is then unchanged.
    """
    import torch

    from salva.generators.diffusers_fused import fuse
    from salva.hardware import kernels

    denoiser, vae = denoiser_of(pipeline), getattr(pipeline, "vae", None)
    if denoiser is None or denoiser.dtype not in (torch.float16, torch.bfloat16):
        return 0
    failing = partial(plugin_errors, "a kernel", "cannot be compiled")
    with failing(), on_device(device):
        kernels.require()
        n = fuse(denoiser, kernels)
    # Some pipelines decode in full precision, where the library may be faster.
    if n and vae is not None and hasattr(vae, "decoder") and not hasattr(pipeline, "upcast_vae"):
        # If it fails, the denoiser keeps its kernels.
        with contextlib.suppress(SalvaError), failing(), on_device(device):
            n += fuse(vae.decoder, kernels)
    return n


def compile_parts(pipeline: Pipeline, device: str) -> None:
    """Compile the slowest parts at their next call."""
    import torch

    vae = getattr(pipeline, "vae", None)
    for part in (denoiser_of(pipeline), vae):
        if part is not None and device.startswith("cuda"):
            # Only if compiled: otherwise norms copy such pixels back and forth, and an image takes a tenth longer.
            part.to(memory_format=torch.channels_last)
    for part in (denoiser_of(pipeline), getattr(vae, "decoder", None)):
        if part is not None:
            part.compile(dynamic=False)
