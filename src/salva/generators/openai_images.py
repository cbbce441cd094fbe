"""Generator: the images API of OpenAI, and every endpoint that speaks it.

One prompt a call; the executor has threads, retries and limits. The key is OPENAI_API_KEY. DALL-E 3 rewrites prompts
unless a prefix asks it not to.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import ClassVar

from salva.core.about import About, Habits
from salva.core.fingerprint import Json
from salva.core.foreign_errors import translate_errors
from salva.core.image import Picture
from salva.core.options import endpoint_label, option
from salva.core.protocols import Rendered, RenderRequest
from salva.generators.remote_images import RemoteGenerator, no_image, provenance_of
from salva.remote import openai_client
from salva.remote.answers import paid_for, picture_from_base64, picture_from_bytes
from salva.remote.endpoint import download
from salva.remote.urls import check_url

AS_IS = "I NEED to test how the tool works with extremely simple prompts. DO NOT add any detail, just use it AS-IS:"
"""Quoted from the MetaLogic paper, which took it from OpenAI's own advice."""


class OpenAiImages(RemoteGenerator):
    """The images API of OpenAI, and of compatible endpoints."""

    @dataclass(frozen=True, slots=True, kw_only=True)
    class Options:
        """The model, its settings and its price."""

        model: str = option("", "The model's name at the endpoint.", target=True)
        base_url: str = option("", "The endpoint; empty for OPENAI_BASE_URL, else OpenAI's own.", reaches="endpoint")
        endpoint: str = endpoint_label()
        size: str = option("1024x1024", "Width x height, as the endpoint spells it; empty to leave it out.")
        quality: str = option("", "Such as low, high, standard or hd; empty for the default.")
        style: str = option("", "DALL-E 3: vivid or natural; empty for the default.")
        prefix: str = option(
            "auto", "Ask not to rewrite the prompt; auto does for dall-e-3.", choices=("auto", "on", "off")
        )
        send_seed: bool = option(False, "Send the seed, for compatible endpoints that take one.")
        answer: str = option(
            "auto",
            "Format of the image; auto asks DALL-E for b64_json.",
            keyed=False,
            choices=("auto", "b64_json", "url"),
        )
        price_usd: float | None = option(None, "What an image costs; --max-cost needs it.", keyed=False)
        max_at_once: int = option(128, "Most requests at once.", keyed=False)
        timeout_s: float = option(180.0, "Timeout of a request.", keyed=False)

        def __post_init__(self) -> None:
            check_url("base_url", self.base_url, f"set {openai_client.BASE_URL_VARIABLE} in the environment instead")

    version: ClassVar[str] = "1"
    about: ClassVar[About] = About(is_remote=True, seeds_hold=False)

    def __init__(self, options: Options) -> None:
        self.options = options
        self.habits = Habits(max_at_once=options.max_at_once, timeout_s=options.timeout_s)
        self._name = f"openai/{options.model}"
        # The executor ends a call at timeout_s; the client's own limit ends the thread.
        self._client = openai_client.connect(self._name, options.base_url, options.timeout_s + 5)
        is_dall_e_3 = options.model.startswith("dall-e-3")
        self._is_prefixed = options.prefix == "on" or (options.prefix == "auto" and is_dall_e_3)

    @staticmethod
    def address(options: Options) -> str:
        """The address of its server."""
        return openai_client.address(options.base_url, options.endpoint)

    def _generate(self, request: RenderRequest) -> Rendered:
        text = f"{AS_IS} {request.prompt.text}" if self._is_prefixed else request.prompt.text
        with translate_errors(partial(openai_client.translate, self._name)):
            answer = self._client.images.generate(
                model=self.options.model, prompt=text, n=1, extra_body=self._parameters(request)
            )
        data = getattr(answer, "data", None)
        if not data:
            raise no_image(self._name, answer)
        with paid_for(self.options.price_usd):
            picture = self._picture(data[0].b64_json, data[0].url)
        # OpenAI names no snapshot for images; several compatible endpoints say which model answered.
        snapshot = (answer.model_extra or {}).get("model")
        provenance = provenance_of(
            self.options.price_usd,
            prompt_sent=self._is_prefixed and text,
            revised_prompt=data[0].revised_prompt,
            snapshot=isinstance(snapshot, str) and snapshot,
        )
        return Rendered(picture=picture, provenance=provenance)

    def _parameters(self, request: RenderRequest) -> dict[str, Json]:
        """Parameters for which the library's types are too narrow, as other endpoints have other values."""
        options = self.options
        parameters: dict[str, Json] = {"size": options.size, "quality": options.quality, "style": options.style}
        # DALL-E's addresses expire; OpenAI's other models send the image itself and have no such parameter.
        own = "b64_json" if options.model.startswith("dall-e") else ""
        parameters["response_format"] = own if options.answer == "auto" else options.answer
        if options.send_seed:
            parameters["seed"] = request.seed
        return {name: value for name, value in parameters.items() if value != ""}

    def _picture(self, b64_json: str | None, url: str | None) -> Picture:
        encoded = b64_json or (url if url and url.startswith("data:") else "")
        if encoded:
            return picture_from_base64(self._name, encoded)
        if url:
            content = download(self._name, url, self.options.timeout_s, str(self._client.base_url))
            return picture_from_bytes(self._name, content)
        raise no_image(self._name, "neither b64_json nor url")
