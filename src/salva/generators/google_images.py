"""Generator: Gemini's image models, through Google's library. The key is GEMINI_API_KEY or GOOGLE_API_KEY."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, ClassVar

from salva.core.about import About, Habits
from salva.core.foreign_errors import translate_errors
from salva.core.options import endpoint_label, option
from salva.core.protocols import Rendered, RenderRequest
from salva.errors import RefusedError
from salva.generators.remote_images import RemoteGenerator, no_image, provenance_of
from salva.messages import message
from salva.remote import google_client
from salva.remote.answers import paid_for, picture_from_bytes
from salva.remote.urls import check_url

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


class GoogleImages(RemoteGenerator):
    """Gemini image models, through Google's API."""

    @dataclass(frozen=True, slots=True, kw_only=True)
    class Options:
        """The model, its settings and its price."""

        model: str = option("", "The model's name, such as gemini-2.5-flash-image.", target=True)
        base_url: str = option("", "The endpoint; empty for GEMINI_BASE_URL, else Google's own.", reaches="endpoint")
        endpoint: str = endpoint_label()
        aspect_ratio: str = option("1:1", "Width to height; empty to leave it out.")
        send_seed: bool = option(True, "Send the seed.")
        price_usd: float | None = option(None, "What an image costs; --max-cost needs it.", keyed=False)
        max_at_once: int = option(128, "Most requests at once.", keyed=False)
        timeout_s: float = option(180.0, "Timeout of a request.", keyed=False)

        def __post_init__(self) -> None:
            check_url("base_url", self.base_url, f"set {google_client.BASE_URL_VARIABLE} in the environment instead")

    version: ClassVar[str] = "1"
    about: ClassVar[About] = About(is_remote=True, seeds_hold=False)

    def __init__(self, options: Options) -> None:
        self.options = options
        self.habits = Habits(max_at_once=options.max_at_once, timeout_s=options.timeout_s)
        self._name = f"google/{options.model}"
        # The executor ends a call at timeout_s; the client's own limit ends the thread.
        self._client = google_client.connect(self._name, options.base_url, options.timeout_s + 5)

    @staticmethod
    def address(options: Options) -> str:
        """The address of its server."""
        return google_client.address(options.base_url, options.endpoint)

    def _generate(self, request: RenderRequest) -> Rendered:
        from google.genai.types import GenerateContentConfig, ImageConfig

        config = GenerateContentConfig(response_modalities=["IMAGE"])
        if self.options.aspect_ratio:
            config.image_config = ImageConfig(aspect_ratio=self.options.aspect_ratio)
        if self.options.send_seed:
            config.seed = request.seed
        with translate_errors(partial(google_client.translate, self._name)):
            answer = self._client.models.generate_content(
                model=self.options.model, contents=request.prompt.text, config=config
            )
        content = self._image_data(answer)
        with paid_for(self.options.price_usd):
            picture = picture_from_bytes(self._name, content)
        return Rendered(
            picture=picture, provenance=provenance_of(self.options.price_usd, snapshot=answer.model_version)
        )

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
        raise no_image(self._name, text)
