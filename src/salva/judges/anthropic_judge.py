"""Judge: Claude, at Anthropic or at an endpoint that speaks its messages API.

One question about one picture a call; threads, retries and limits belong to the executor. A schema for the reply or
a temperature that the model refuses is left out from then on. The key comes from ANTHROPIC_API_KEY alone.
"""

from __future__ import annotations

import base64
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, ClassVar

from salva.core.about import About
from salva.core.fingerprint import Json
from salva.core.image import Picture
from salva.core.observation import Observation
from salva.core.protocols import ObserveRequest
from salva.core.secrets import cut
from salva.errors import SalvaError
from salva.imaging.files import encode_picture
from salva.judges.interview import AT_AN_ENDPOINT, ChatOptions, Line, Reply, interview_each
from salva.judges.own_prompts import own_prompt, prompt_pin
from salva.judges.prompts import Ask
from salva.remote import anthropic_client

if TYPE_CHECKING:
    from anthropic.types import Message

_CUT_OFF = ("max_tokens", "model_context_window_exceeded")


class AnthropicJudge:
    """A Claude model behind the messages API."""

    Options: ClassVar[type[ChatOptions]] = ChatOptions
    version: ClassVar[str] = "2"
    about: ClassVar[About] = AT_AN_ENDPOINT

    def __init__(self, options: ChatOptions) -> None:
        self.options = options
        self.habits = options.habits()
        self._name = f"anthropic/{options.model}"
        self._client = anthropic_client.connect(self._name, options.base_url, options.timeout_s)
        self.is_structured = options.structured != "off"
        self.own = own_prompt(options.prompt)
        self._line = Line(self._name, options, anthropic_client, read=self._read, is_bad=_is_bad)

    @staticmethod
    def weights(options: ChatOptions) -> str:
        """Pins the user's own prompt, if there is one."""
        return prompt_pin(options.prompt)

    @staticmethod
    def address(options: ChatOptions) -> str:
        """Where its answers come from."""
        return anthropic_client.address(options.base_url, options.endpoint)

    def observe(self, requests: Sequence[ObserveRequest]) -> Sequence[Observation | SalvaError]:
        """One answer or error per request."""
        return interview_each(self, requests, self.options)

    def close(self) -> None:
        """Close the connections."""
        self._client.close()

    def say(self, ask: Ask, picture: Picture, said: Sequence[tuple[str, str]]) -> Reply:
        """One call, without what the endpoint has refused before; raises SalvaError."""
        asked = self._message(ask, picture, said)
        return self._line.send(
            ask, lambda wishes: self._client.messages.create(**asked, extra_body=wishes), wishes=self._wishes
        )

    def _message(self, ask: Ask, picture: Picture, said: Sequence[tuple[str, str]]) -> dict[str, Any]:
        file = base64.b64encode(encode_picture(picture, "PNG")).decode()
        image = {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": file}}
        messages: list[dict[str, object]] = [{"role": "user", "content": [image, {"type": "text", "text": ask.text}]}]
        for reply, answer in said:
            # An empty turn is refused; the judge is told that its reply was empty anyway.
            messages += [{"role": "assistant", "content": reply or "(nothing)"}, {"role": "user", "content": answer}]
        return {
            "model": self.options.model,
            "max_tokens": self.options.max_tokens,
            "system": ask.system,
            "messages": messages,
        }

    def _wishes(self, ask: Ask) -> dict[str, Json]:
        wishes = dict(self._line.temperature)
        if ask.schema is not None:
            wishes["output_config"] = {"format": {"type": "json_schema", "schema": ask.schema}}
        return wishes

    def _read(self, answer: Message) -> Reply:
        text = "".join(block.text for block in answer.content or () if block.type == "text")
        why = f"{self._name} would not judge this: {cut(text, 200) or 'refusal'}"
        usage = answer.usage
        n_input: int | None = None
        if usage is not None:
            n_input = usage.input_tokens + sum(
                n or 0 for n in (usage.cache_creation_input_tokens, usage.cache_read_input_tokens)
            )
        return Reply(
            text=text,
            refusal=why if answer.stop_reason == "refusal" else "",
            snapshot=answer.model or "",
            n_input=n_input,
            n_output=usage.output_tokens if usage is not None else None,
            is_cut_off=answer.stop_reason in _CUT_OFF,
        )


def _is_bad(error: Exception) -> bool:
    import anthropic

    return isinstance(error, anthropic.BadRequestError)
