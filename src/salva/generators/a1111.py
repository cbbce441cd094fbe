"""Generator: a Stable Diffusion web UI (AUTOMATIC1111, Forge and similar) started with --api.

Its API has no queue: the answer to the one request is the image. Every request names the checkpoint, so the server may
be shared. The checkpoint of each answer is stored, and a run
stops if it changes.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any, ClassVar

from salva.core.about import About
from salva.core.fingerprint import Json
from salva.core.options import option
from salva.core.protocols import Rendered, RenderRequest
from salva.errors import UnusableError, unknown_name
from salva.generators.remote_images import HostGenerator, HostOptions
from salva.remote.answers import picture_from_base64


class A1111(HostGenerator):
    """A checkpoint on a Stable Diffusion web UI."""

    @dataclass(frozen=True, slots=True, kw_only=True)
    class Options(HostOptions):
        """Which checkpoint, where, and the usual settings."""

        checkpoint: str = option("", "A checkpoint on the server: title, name or hash.", target=True)
        host: str = option("http://127.0.0.1:7860", "The server.", keyed=False, reaches="endpoint")
        negative: str = option("", "The negative prompt.")
        steps: int = option(30, "Steps.")
        guidance: float = option(7.5, "Guidance scale.")
        width: int = option(512, "Width in pixels.")
        height: int = option(512, "Height in pixels.")
        sampler: str = option("DPM++ 2M", "The server's name of the sampler.")

    about: ClassVar[About] = About(is_remote=True, seeds_hold=True)
    keys = ("A1111_API_KEY",)
    """user:password, as in the server's --api-auth."""
    options: Options

    def __init__(self, options: Options) -> None:
        # The executor ends a call at timeout_s; the client's later limit ends the thread.
        super().__init__(options, f"a1111/{options.checkpoint}", timeout_s=options.timeout_s + 5)
        self._is_known = False

    def _check_checkpoint(self) -> None:
        """Refuse an unknown checkpoint: some versions would use whichever is loaded."""
        if self._is_known:
            return
        listed: Any = self._client.get_json("/sdapi/v1/sd-models")
        models = [model for model in listed if isinstance(model, dict)] if isinstance(listed, list) else []
        names = {str(model.get(part)) for model in models for part in ("title", "model_name", "hash", "sha256")}
        if self.options.checkpoint not in names:
            titles = [str(model.get("model_name")) for model in models]
            raise UnusableError(unknown_name("checkpoint on the server", self.options.checkpoint, titles).args[0])
        self._is_known = True

    def _generate(self, request: RenderRequest) -> Rendered:
        self._check_checkpoint()
        options = self.options
        body: Json = {
            "prompt": request.prompt.text,
            "negative_prompt": options.negative,
            "seed": request.seed,
            "steps": options.steps,
            "cfg_scale": options.guidance,
            "width": options.width,
            "height": options.height,
            "sampler_name": options.sampler,
            "batch_size": 1,
            "n_iter": 1,
            "override_settings": {"sd_model_checkpoint": options.checkpoint},
            "override_settings_restore_afterwards": False,
            "send_images": True,
            "save_images": False,
        }
        answer: Any = self._client.post_json("/sdapi/v1/txt2img", body)
        images = answer.get("images") if isinstance(answer, dict) else None
        if not isinstance(images, list) or not images:
            raise self._no_image(answer)
        picture = picture_from_base64(self._name, str(images[0]))
        return Rendered(picture=picture, provenance=self._provenance(snapshot=_snapshot(answer.get("info"))))


def _snapshot(info: object) -> str:
    """The checkpoint's hash, from the JSON text that describes the image."""
    try:
        details: Any = json.loads(info) if isinstance(info, str) else info
    except ValueError:
        return ""
    return str(details.get("sd_model_hash") or "") if isinstance(details, dict) else ""
