"""Recommended settings of model families, and samplers by their usual names.

The size of images is not among them, because checkpoints contain it. Steps, guidance and sampler of sd15 and sdxl are
those of the MetaLogic paper; the others are their authors'.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

AUTO = "auto"


@dataclass(frozen=True, slots=True, kw_only=True)
class Preset:
    """Settings of a family; None leaves the pipeline's default."""

    steps: int | None = None
    guidance: float | None = None
    sampler: str = "own"
    """A name in SAMPLERS."""
    half: str = "float16"
    """The half precision of its training, for GPUs."""
    guidance_word: str = "guidance_scale"
    """The pipeline's parameter that takes the guidance."""
    negative: str | None = None
    """A negative prompt without which the pipeline ignores its guidance."""
    settings: Mapping[str, int] = field(default_factory=dict)
    """Further parameters of the pipeline's call."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Sampler:
    """A scheduler class of diffusers with its settings."""

    scheduler: str
    settings: Mapping[str, object] = field(default_factory=dict)
    is_flow: bool = False
    """For flow-matching models only; the others are for diffusion models only."""


PRESETS: Mapping[str, Preset] = {
    "sd15": Preset(steps=30, guidance=7.5, sampler="dpm++2m"),
    "sd21": Preset(steps=30, guidance=7.5, sampler="dpm++2m"),
    "sdxl": Preset(steps=30, guidance=7.5, sampler="dpm++2m"),
    "sdxl-turbo": Preset(steps=4, guidance=0.0),
    "lcm": Preset(steps=4, guidance=8.5),
    "sd3": Preset(steps=28, guidance=7.0),
    "flux": Preset(steps=28, guidance=3.5, half="bfloat16"),
    "flux-schnell": Preset(steps=4, guidance=0.0, half="bfloat16", settings={"max_sequence_length": 256}),
    "pixart": Preset(steps=20, guidance=4.5),
    "sana": Preset(steps=20, guidance=4.5, half="bfloat16"),
    "qwen-image": Preset(steps=50, guidance=4.0, half="bfloat16", guidance_word="true_cfg_scale", negative=" "),
    "own": Preset(half="bfloat16"),
}
"""own: the pipeline's defaults."""

SAMPLERS: Mapping[str, Sampler] = {
    "dpm++2m": Sampler(
        scheduler="DPMSolverMultistepScheduler",
        settings={"algorithm_type": "dpmsolver++", "solver_order": 2},
    ),
    "dpm++2m-sde": Sampler(
        scheduler="DPMSolverMultistepScheduler",
        settings={"algorithm_type": "sde-dpmsolver++", "solver_order": 2},
    ),
    "euler": Sampler(scheduler="EulerDiscreteScheduler"),
    "euler-a": Sampler(scheduler="EulerAncestralDiscreteScheduler"),
    "heun": Sampler(scheduler="HeunDiscreteScheduler"),
    "unipc": Sampler(scheduler="UniPCMultistepScheduler"),
    "ddim": Sampler(scheduler="DDIMScheduler"),
    "ddpm": Sampler(scheduler="DDPMScheduler"),
    "pndm": Sampler(scheduler="PNDMScheduler"),
    "lcm": Sampler(scheduler="LCMScheduler"),
    "flow-euler": Sampler(scheduler="FlowMatchEulerDiscreteScheduler", is_flow=True),
    "flow-heun": Sampler(scheduler="FlowMatchHeunDiscreteScheduler", is_flow=True),
}

_BY_CLASS = (
    ("StableDiffusionXL", "sdxl"),
    ("StableDiffusion3", "sd3"),
    ("StableDiffusion", "sd15"),
    ("LatentConsistency", "lcm"),
    ("PixArt", "pixart"),
    ("Sana", "sana"),
    ("QwenImage", "qwen-image"),
)
_SD2_TEXT_WIDTH = 1024


def choose_preset(pipeline_class: str, denoiser: Mapping[str, object]) -> str:
    """The preset of a pipeline, by its class and its denoiser's config."""
    if pipeline_class == "FluxPipeline":
        # The distilled version takes no guidance; only its config differs.
        return "flux" if denoiser.get("guidance_embeds") else "flux-schnell"
    preset = next((name for start, name in _BY_CLASS if pipeline_class.startswith(start)), "own")
    return "sd21" if preset == "sd15" and denoiser.get("cross_attention_dim") == _SD2_TEXT_WIDTH else preset
