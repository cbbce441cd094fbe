"""Generator: the images API of OpenAI, also at other endpoints. The key is OPENAI_API_KEY.

One prompt a call; threads, retries and limits belong to the executor. OpenAI does not document that failed requests are
free, so none that may have been served is repeated. An image that comes as a URL is fetched in a step of its own.
DALL-E 3 rewrites prompts unless a prefix asks it not to.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from salva.core.fingerprint import Json
from salva.core.image import Picture
from salva.core.options import option
from salva.core.protocols import Rendered, RenderRequest, Ticket
from salva.errors import LostError, UnusableError
from salva.generators.remote_images import ProviderGenerator, ProviderOptions
from salva.remote.answers import paid_for, picture_from_base64, picture_from_bytes
from salva.remote.endpoint import check_address, download
from salva.remote.providers import OPENAI, Provider
from salva.remote.urls import expiry_of

AS_IS = "I NEED to test how the tool works with extremely simple prompts. DO NOT add any detail, just use it AS-IS:"
"""Quoted from the MetaLogic paper, which took it from OpenAI's own advice."""


class OpenAiImages(ProviderGenerator):
    """The images API of OpenAI, and of compatible endpoints."""

    @dataclass(frozen=True, slots=True, kw_only=True)
    class Options(ProviderOptions):
        """The model, its settings and its price."""

        size: str = option("1024x1024", "Width x height; empty to omit it.")
        quality: str = option("", "Such as low or hd; empty to omit it.")
        style: str = option("", "vivid or natural, for DALL-E 3.")
        prefix: str = option("auto", "Ask not to rewrite the prompt; auto: DALL-E 3.", choices=("auto", "on", "off"))
        send_seed: bool = option(False, "Send the seed.")
        answer: str = option(
            "auto", "Format; auto: b64_json for DALL-E.", keyed=False, choices=("auto", "b64_json", "url")
        )

    provider: ClassVar[Provider] = OPENAI
    options: Options

    def __init__(self, options: Options) -> None:
        super().__init__(options)
        is_dall_e_3 = options.model.startswith("dall-e-3")
        self._is_prefixed = options.prefix == "on" or (options.prefix == "auto" and is_dall_e_3)

    def _generate(self, request: RenderRequest) -> Rendered | Ticket:
        text = f"{AS_IS} {request.prompt.text}" if self._is_prefixed else request.prompt.text
        with self.provider.calling(self._name):
            answer = self._client.images.generate(
                model=self.options.model, prompt=text, n=1, extra_body=self._parameters(request)
            )
        data = getattr(answer, "data", None)
        if not data:
            raise self._no_image(answer)
        # OpenAI names no snapshot for images; several compatible endpoints name the model.
        snapshot = (answer.model_extra or {}).get("model")
        provenance = self._provenance(
            prompt_sent=self._is_prefixed and text,
            revised_prompt=data[0].revised_prompt,
            snapshot=isinstance(snapshot, str) and snapshot,
        )
        encoded, url = data[0].b64_json, data[0].url
        if url and not url.startswith("data:") and not encoded:
            with paid_for(self.options.price_usd):
                check_address(self._name, url, str(self._client.base_url))
            return Ticket(place=url, provenance=provenance, expires_at=expiry_of(url, data[0].model_extra or {}))
        with paid_for(self.options.price_usd):
            return Rendered(picture=self._picture(encoded or url), provenance=provenance)

    def _parameters(self, request: RenderRequest) -> dict[str, Json]:
        """Parameters for which the library's types are too narrow, as other endpoints have other values."""
        options = self.options
        parameters: dict[str, Json] = {"size": options.size, "quality": options.quality, "style": options.style}
        # DALL-E's addresses expire. OpenAI's other models always send the image and have no such parameter.
        own = "b64_json" if options.model.startswith("dall-e") else ""
        parameters["response_format"] = own if options.answer == "auto" else options.answer
        if options.send_seed:
            parameters["seed"] = request.seed
        return {name: value for name, value in parameters.items() if value != ""}

    def _picture(self, encoded: str | None) -> Picture:
        if not encoded:
            raise self._no_image("neither b64_json nor url")
        return picture_from_base64(self._name, encoded)

    def _fetch(self, ticket: Ticket) -> Picture:
        try:
            content = download(self._name, ticket.place, self.options.timeout_s, str(self._client.base_url))
        except UnusableError as error:
            # It leads where no image is fetched from, today or later.
            raise LostError(error.args[0]) from error
        return picture_from_bytes(self._name, content)
