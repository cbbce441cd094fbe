"""What people type for a model or judge, and what salva calls it: the hint of an unknown name."""

from __future__ import annotations

import re

_SPELLINGS: tuple[tuple[str, str, str], ...] = (
    ("model", r"sdxl", "diffusers/stabilityai/stable-diffusion-xl-base-1.0"),
    ("model", r"sdxl-turbo", "diffusers/stabilityai/sdxl-turbo"),
    ("model", r"(sd|stable-diffusion)[-_]?v?1[.-]?5", "diffusers/stable-diffusion-v1-5/stable-diffusion-v1-5"),
    ("model", r"sd[-_]?3([.-]5)?|stable-diffusion-3.*", "diffusers/stabilityai/stable-diffusion-3.5-medium"),
    ("model", r"flux.*", "diffusers/black-forest-labs/FLUX.1-dev"),
    ("model", r"(gpt-image.*|dall-?e.*)", r"openai/\1"),
    ("model", r"(gemini.*|imagen.*)", r"google/\1"),
    ("model", r"([\w.-]+/[\w.-]+)", r"diffusers/\1"),
    ("judge", r"((?:gpt|o[1-9]|chatgpt).*)", r"openai/\1"),
    ("judge", r"(claude.*)", r"anthropic/\1"),
    ("judge", r"(gemini.*)", r"google/\1"),
    ("judge", r"([\w.-]+/[\w.-]+)", r"transformers/\1"),
    ("detector", r"yolo.*", "onnx/<file.onnx>"),
    ("detector", r"florence.*", "florence2"),
    ("detector", r"(grounding.?dino|dino|gdino).*", "mm-grounding-dino"),
    ("detector", r"owl.*", "owlv2"),
    ("detector", r"([\w.-]+/[\w.-]+)", r"detr/\1"),
    ("embedder", r"([\w.-]+/[\w.-]*clip[\w.-]*)", r"clip/\1"),
    ("embedder", r"([\w.-]+/[\w.-]*siglip[\w.-]*)", r"siglip/\1"),
)
"""Role, what is typed (a regular expression), and what is meant; the first that fits."""


def likely_name(role: str, typed: str) -> str:
    """What a name probably means; empty where nothing fits."""
    for owner, pattern, meant in _SPELLINGS:
        match = re.fullmatch(pattern, typed, re.IGNORECASE) if owner == role else None
        if match:
            return match.expand(meant)
    return ""
