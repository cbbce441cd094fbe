"""From a checkpoint to a diffusers pipeline that is ready to paint, or to the reason why it never will be.

Everything that can be wrong with a checkpoint is found here, before anything is painted: weights that are pickled,
cut off or not all there, code of its own, pipelines that make no pictures from text. Knows no requests.
"""

from __future__ import annotations

import contextlib
import json
import logging
import threading
import warnings
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from inspect import Parameter, signature
from pathlib import Path
from typing import Any

from salva.core.foreign_errors import one_line, plugin_errors, translate_errors
from salva.errors import MissingExtraError, SalvaError, UsageError
from salva.generators.diffusers_presets import SAMPLERS, Preset
from salva.hardware.ahead import AHEAD
from salva.hardware.checkpoints import (
    Checkpoint,
    check_complete,
    check_weights,
    digest_of_files,
    file_here,
    hub_error,
    pickle_error,
)
from salva.hardware.devices import on_device
from salva.messages import message

INDEX = "model_index.json"
_WITHOUT_WEIGHTS = ("Tokenizer", "Scheduler", "Processor", "FeatureExtractor")
_NOT_FROM_TEXT = ("num_frames", "video", "audio_length_in_s", "audio_end_in_s", "image", "frames")
_MORE_WORDS = Parameter.VAR_KEYWORD
_ONE_AT_A_TIME = threading.Lock()

Pipeline = Any
"""A diffusers pipeline; the library has no types."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AtWork:
    """A pipeline on its device, ready to be called, and what to do where it gives no picture."""

    pipeline: Pipeline
    preset: Preset
    dtype: str
    n_fused: int = 0
    """Blocks of its networks that were handed to kernels of our own."""
    no_kernels: str = ""
    """Why there are none, where there should be."""
    on_memory: str = "set model.size lower, model.dtype=float16, model.vae_tiling=true or model.offload=model"
    on_refusal: str = "set model.safety_checker=false to see it"
    on_no_number: str = "half precision is too coarse for it: set model.dtype=bfloat16 or float32"


ALREADY_FINE = "see that its weights, and those of its LoRA, are numbers (a training may have diverged)"
"""What to do where a pipeline in full precision gives no picture."""


def import_diffusers(name: str) -> Any:
    """The library, or the line that installs it."""
    AHEAD.wait()
    try:
        import accelerate  # noqa: F401  # diffusers runs without, slowly and with warnings
        import diffusers
        import transformers  # noqa: F401  # as above: nearly every pipeline needs it
    except ImportError as error:
        raise MissingExtraError(name, "torch") from error
    return diffusers


def import_parts(name: str, checkpoint: Checkpoint) -> None:
    """Import the classes of a checkpoint's parts, to have them at hand when it is loaded."""
    import accelerate  # noqa: F401  # as above
    import diffusers
    import transformers

    index = file_here(checkpoint, INDEX)
    with _quiet(diffusers):
        if index is None:
            # It will be downloaded: what every pipeline needs is most of it.
            diffusers.DiffusionPipeline  # noqa: B018
            return
        said = read_index(name, index.parent)
        classes = [("diffusers", said["_class_name"]), *_parts(said).values()]
        for library in (diffusers, transformers):
            for kind in (kind for owner, kind in classes if owner == library.__name__):
                getattr(library, str(kind))


def pin(name: str, checkpoint: Checkpoint) -> str:
    """What tells these weights from all others: the hub's commit, or the digest of the folder's files."""
    if checkpoint.folder is None:
        return str(checkpoint.commit)
    parts = [checkpoint.folder / part for part in _parts(read_index(name, checkpoint.folder))]
    kinds = (".json", ".txt", ".model", ".safetensors")
    files = [path for part in parts if part.is_dir() for path in part.iterdir() if path.suffix in kinds]
    return digest_of_files([checkpoint.folder / INDEX, *files], checkpoint.folder)


def fetch(name: str, checkpoint: Checkpoint, variant: str, without: tuple[str, ...]) -> Path:
    """The folder of the checkpoint; one on the hub is downloaded first, without the parts that are left out."""
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

    with translate_errors(translate), _quiet(diffusers):
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
    """The pipeline of a checked checkpoint, on the processor.

    without: parts to leave out, where the checkpoint has them.
    """
    diffusers = import_diffusers(name)
    import torch

    index = read_index(name, folder)
    left_out = {part: None for part in without if part in index}
    check_folder(name, folder, index, variant, left_out)
    # `torch_dtype` became `dtype`; a version that does not know the word would ignore it and load float32.
    word = "dtype" if hasattr(diffusers.utils.deprecation_utils, "_resolve_dtype") else "torch_dtype"
    given: dict[str, Any] = {word: getattr(torch, dtype), "use_safetensors": True, **left_out}
    if "safety_checker" in left_out and "requires_safety_checker" in index:
        given["requires_safety_checker"] = False
    if str(index["_class_name"]).startswith("StableDiffusionXL"):
        # It would mark its pictures where a certain package is installed, and paint other pixels than elsewhere.
        given["add_watermarker"] = False

    def translate(error: Exception) -> SalvaError:
        if "can't find a pipeline linked to" in str(error):
            return invalid_model(
                name, f"a {index['_class_name']} makes no pictures from text alone; give a text-to-image checkpoint"
            )
        return invalid_model(name, f"diffusers {diffusers.__version__} cannot load it: {one_line(error, 600)}")

    with translate_errors(translate), _quiet(diffusers), _refusing_random(name, folder, diffusers):
        kind = _pipeline_class(name, diffusers, index["_class_name"])
        pipeline = kind.from_pretrained(str(folder), variant=variant or None, trust_remote_code=False, **given)
    check_inputs(name, pipeline)
    pipeline.set_progress_bar_config(disable=True)
    for part in pipeline.components.values():
        # Pipelines count a long prompt's tokens before they cut it; the tokenizer's alarm at that is a false one.
        if hasattr(part, "deprecation_warnings"):
            part.deprecation_warnings["sequence-length-is-longer-than-the-specified-maximum"] = True
    return pipeline


def check_folder(name: str, folder: Path, index: Mapping[str, Any], variant: str, left_out: Mapping[str, None]) -> None:
    """Refuse a checkpoint with parts that are missing, pickled, cut off or made of code."""
    if not isinstance(index["_class_name"], str):
        raise _own_code(name, index["_class_name"])
    for part, (library, kind) in _parts(index).items():
        if library is None or part in left_out:
            continue
        place = folder / part
        if not place.is_dir():
            raise invalid_model(name, f"{str(folder)!r} is only half there: no folder {part!r}; download it again")
        if (place / f"{library}.py").exists():
            raise _own_code(name, f"{part}/{library}.py")
        if not any(word in str(kind) for word in _WITHOUT_WEIGHTS):
            check_weights(name, place, variant)


def set_sampler(name: str, pipeline: Pipeline, sampler: str, is_karras: bool) -> None:
    """Put another scheduler in the place of the checkpoint's own; `own` keeps it."""
    import diffusers

    own = pipeline.scheduler
    if sampler == "own":
        if is_karras:
            raise invalid_model(name, f"karras needs a sampler that takes it: {', '.join(_karras_samplers())}")
        return
    chosen = SAMPLERS[sampler]
    if chosen.is_flow != type(own).__name__.startswith("FlowMatch"):
        kind = "a diffusion" if chosen.is_flow else "a flow-matching"
        raise invalid_model(name, f"the sampler {sampler!r} cannot sample {kind} model; leave it at auto")
    if is_karras and not chosen.takes_karras:
        raise invalid_model(name, f"the sampler {sampler!r} takes no karras; {', '.join(_karras_samplers())} do")
    settings = {**chosen.settings, **({"use_karras_sigmas": True} if is_karras else {})}
    with _quiet(diffusers):
        pipeline.scheduler = getattr(diffusers, chosen.scheduler).from_config(own.config, **settings)


def denoiser_of(pipeline: Pipeline) -> Any:
    """The part that does nearly all the work: a unet or a transformer."""
    return getattr(pipeline, "unet", None) or getattr(pipeline, "transformer", None)


def own_size(pipeline: Pipeline) -> tuple[int, int] | None:
    """Width and height the checkpoint was trained for, where it says so."""
    side = getattr(pipeline, "default_sample_size", None)
    side = side or getattr(getattr(denoiser_of(pipeline), "config", None), "sample_size", None)
    factor = getattr(pipeline, "vae_scale_factor", None)
    if not factor or not isinstance(side, int | list | tuple):
        return None
    height, width = (side, side) if isinstance(side, int) else (side[0], side[1])
    return width * factor, height * factor


def _pipeline_class(name: str, diffusers: Any, class_name: str) -> Any:
    """What loads the checkpoint as a text-to-image pipeline."""
    kind = getattr(diffusers, class_name, None)
    if kind is None:
        raise invalid_model(
            name,
            f"diffusers {diffusers.__version__} knows no {class_name!r}; install a newer one, "
            "if the checkpoint is newer than that",
        )
    if paints_from_text(kind):
        return kind
    # An image-to-image checkpoint may have a text-to-image sibling. Only asked for when needed, because it imports
    # every pipeline there is, with all that those need.
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return diffusers.AutoPipelineForText2Image


def paints_from_text(kind: type[Any]) -> bool:
    """Whether a pipeline's class makes pictures and needs nothing but a text for it."""
    words = signature(kind.__call__).parameters
    required = {word for word, given in words.items() if given.default is given.empty and given.kind is not _MORE_WORDS}
    has_all = {"prompt", "width"} <= set(words)
    return has_all and required <= {"self", "prompt"} and not set(_NOT_FROM_TEXT) & set(words)


def check_inputs(name: str, pipeline: Pipeline) -> None:
    """An inpainting checkpoint may call itself a text-to-image one; its first layer knows better."""
    unet, vae = getattr(pipeline, "unet", None), getattr(pipeline, "vae", None)
    if unet is None or vae is None:
        return
    n_in, n_latent = unet.config.in_channels, getattr(vae.config, "latent_channels", None)
    if n_latent is not None and n_in != n_latent:
        raise invalid_model(
            name,
            f"its unet takes {n_in} channels and its vae has {n_latent}, so it "
            "needs more than text; give a text-to-image checkpoint",
        )


def _parts(index: Mapping[str, Any]) -> dict[str, tuple[str | None, str | None]]:
    return {part: (value[0], value[1]) for part, value in index.items() if isinstance(value, list) and len(value) == 2}


def _karras_samplers() -> list[str]:
    return [name for name, sampler in SAMPLERS.items() if sampler.takes_karras]


def invalid_model(name: str, why: str) -> UsageError:
    """The error for a checkpoint or a LoRA that cannot be used."""
    return UsageError(message("checkpoint-invalid", component="diffusers", model=name, why=why))


def _own_code(name: str, what: object) -> UsageError:
    return invalid_model(name, f"it brings code of its own ({what}), which salva never runs; wrap it in a --plugin")


@contextlib.contextmanager
def _refusing_random(name: str, folder: Path, diffusers: Any) -> Iterator[None]:
    """Refuse parts whose weights are not all in their files.

    A pipeline loads its parts without handing on what they lacked, and both libraries then paint with random
    numbers. So while it loads, every part of this folder is asked for its loading info, which from_pretrained gives.
    """
    import transformers

    def asking(whole: Any, also: Mapping[str, bool]) -> Any:
        def from_pretrained(
            kind: type[Any], /, source: Any, *more: Any, output_loading_info: bool = False, **settings: Any
        ) -> Any:
            model, info = whole(kind, source, *more, output_loading_info=True, **also, **settings)
            # Another thread may be loading something else meanwhile.
            if Path(source).is_relative_to(folder):
                check_complete(name, str(source), kind.__name__, info)
            return (model, info) if output_loading_info else model

        return classmethod(from_pretrained)

    # Of a wrong shape diffusers says itself which weight it is; transformers would only point at a log nobody sees.
    bases = {diffusers.ModelMixin: {}, transformers.PreTrainedModel: {"ignore_mismatched_sizes": True}}
    with _ONE_AT_A_TIME, contextlib.ExitStack() as stack:
        for base, also in bases.items():
            own = vars(base)["from_pretrained"]
            stack.callback(setattr, base, "from_pretrained", own)
            base.from_pretrained = asking(own.__func__, also)
        yield


@contextlib.contextmanager
def _quiet(diffusers: Any) -> Iterator[None]:
    """Without the libraries' progress bars, which would write over ours."""
    import transformers

    # For good: it would tell of every long prompt, which is in the provenance, and of nothing else we do not check.
    diffusers.utils.logging.set_verbosity_error()
    switches = (diffusers.utils.logging, transformers.utils.logging)
    level = transformers.utils.logging.get_verbosity()
    transformers.utils.logging.set_verbosity(logging.ERROR)
    for switch in switches:
        switch.disable_progress_bar()
    try:
        yield
    finally:
        transformers.utils.logging.set_verbosity(level)
        for switch in switches:
            switch.enable_progress_bar()


def fuse_parts(pipeline: Pipeline, device: str) -> int:
    """Hand the blocks that work longest to kernels of our own; how many it was, none where the denoiser has none.

    SalvaError without a compiler at hand, or with a Triton that lacks something: it paints as the library has it.
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
    # Some pipelines have their decoder work in full precision, where the library's own way may be the faster one.
    if n and vae is not None and hasattr(vae, "decoder") and not hasattr(pipeline, "upcast_vae"):
        # Without it the denoiser has its kernels all the same.
        with contextlib.suppress(SalvaError), failing(), on_device(device):
            n += fuse(vae.decoder, kernels)
    return n


def compile_parts(pipeline: Pipeline, device: str) -> None:
    """Have the parts that work longest compiled in their next call."""
    import torch

    vae = getattr(pipeline, "vae", None)
    for part in (denoiser_of(pipeline), vae):
        if part is not None and device.startswith("cuda"):
            # Only here: uncompiled, norms copy such pixels back and forth, and a picture takes a tenth longer.
            part.to(memory_format=torch.channels_last)
    for part in (denoiser_of(pipeline), getattr(vae, "decoder", None)):
        if part is not None:
            part.compile(dynamic=False)
