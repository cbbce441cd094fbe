"""Generator: Gemini's image models, through Google's library. The key is GEMINI_API_KEY or GOOGLE_API_KEY."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from salva.core.options import option
from salva.core.protocols import Rendered, RenderRequest
from salva.errors import RefusedError
from salva.generators.remote_images import ProviderGenerator, ProviderOptions
from salva.messages import message
from salva.remote.answers import paid_for, picture_from_bytes
from salva.remote.providers import GOOGLE, Provider

if TYPE_CHECKING:
    from google.genai.types import GenerateContentResponse

_REFUSALS = (
    "SAFETY",
    "PROHIBITED_CONTENT",
    "BLOCKLIST",
    "SPII",
    "RECITATION",
    "IMAGE_SAFETY",
    "IMAGE_PROHIBITED_CONTENT",
    "IMAGE_RECITATION",
)


class GoogleImages(ProviderGenerator):
    """Gemini image models, through Google's API."""

    @dataclass(frozen=True, slots=True, kw_only=True)
    class Options(ProviderOptions):
        """The model, its settings and its price."""

        aspect_ratio: str = option("1:1", "Width to height; empty to omit it.")
        send_seed: bool = option(True, "Send the seed.")

    provider: ClassVar[Provider] = GOOGLE

    options: Options

    def _generate(self, request: RenderRequest) -> Rendered:
        from google.genai.types import GenerateContentConfig, ImageConfig

        config = GenerateContentConfig(response_modalities=["IMAGE"])
        if self.options.aspect_ratio:
            config.image_config = ImageConfig(aspect_ratio=self.options.aspect_ratio)
        if self.options.send_seed:
            config.seed = request.seed
        with self.provider.calling(self._name):
            answer = self._client.models.generate_content(
                model=self.options.model, contents=request.prompt.text, config=config
            )
        content = self._image_data(answer)
        with paid_for(self.options.price_usd):
            picture = picture_from_bytes(self._name, content)
        return Rendered(picture=picture, provenance=self._provenance(snapshot=answer.model_version))

    def _image_data(self, answer: GenerateContentResponse) -> bytes:
        """The image file in an answer, or why there is none."""
        feedback = answer.prompt_feedback
        if feedback and feedback.block_reason:
            reason = feedback.block_reason_message or feedback.block_reason.value
            raise RefusedError(message("prompt-refused", model=self._name, why=reason))
        text = ""
        for candidate in answer.candidates or []:
            for part in (candidate.content.parts if candidate.content else None) or []:
                if part.inline_data and part.inline_data.data:
                    return part.inline_data.data
                text += part.text or ""
            reason = candidate.finish_reason.value if candidate.finish_reason else ""
            if reason in _REFUSALS:
                why = f"{reason} {candidate.finish_message or text}".rstrip()
                raise RefusedError(message("prompt-refused", model=self._name, why=why))
            text = f"{reason} {text}".strip()
        raise self._no_image(text)
