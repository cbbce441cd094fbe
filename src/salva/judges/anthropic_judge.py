"""Judge: Claude, at Anthropic or at an endpoint with its messages API. The key is ANTHROPIC_API_KEY."""

from __future__ import annotations

import base64
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, ClassVar

from salva.core.fingerprint import Json
from salva.core.image import Picture
from salva.core.secrets import cut
from salva.imaging.files import encode_picture
from salva.judges.endpoint_judge import EndpointJudge
from salva.judges.interview import JudgeReply
from salva.judges.prompts import JudgePrompt
from salva.messages import message
from salva.remote.providers import ANTHROPIC, Provider

if TYPE_CHECKING:
    from anthropic.types import Message

_CUT_OFF = ("max_tokens", "model_context_window_exceeded")


class AnthropicJudge(EndpointJudge):
    """A Claude model behind the messages API."""

    version: ClassVar[str] = "2"
    provider: ClassVar[Provider] = ANTHROPIC

    def _question(self, prompt: JudgePrompt, picture: Picture, turns: Sequence[tuple[str, str]]) -> dict[str, Any]:
        file = base64.b64encode(encode_picture(picture, "PNG")).decode()
        image = {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": file}}
        messages: list[dict[str, object]] = [
            {"role": "user", "content": [image, {"type": "text", "text": prompt.text}]}
        ]
        for reply, answer in turns:
            # An empty turn is refused.
            messages += [{"role": "assistant", "content": reply or "(nothing)"}, {"role": "user", "content": answer}]
        return {
            "model": self.options.model,
            "max_tokens": self.options.max_tokens,
            "system": prompt.system,
            "messages": messages,
        }

    def _call(self, question: dict[str, Any], settings: dict[str, Any]) -> Message:
        answer: Message = self._client.messages.create(**question, extra_body=settings)
        return answer

    def _call_options(self, prompt: JudgePrompt) -> dict[str, Json]:
        settings = dict(self._temperature)
        if prompt.schema is not None:
            settings["output_config"] = {"format": {"type": "json_schema", "schema": prompt.schema}}
        return settings

    def _read(self, answer: Message) -> JudgeReply:
        text = "".join(block.text for block in answer.content or () if block.type == "text")
        why = message("judge-refused", judge=self._name, why=cut(text, 200) or "refusal")
        usage = answer.usage
        n_input = None
        if usage is not None:
            cached = (usage.cache_creation_input_tokens, usage.cache_read_input_tokens)
            n_input = usage.input_tokens + sum(filter(None, cached))
        return JudgeReply(
            text=text,
            refusal=why if answer.stop_reason == "refusal" else "",
            snapshot=answer.model or "",
            n_input=n_input,
            n_output=usage.output_tokens if usage is not None else None,
            is_cut_off=answer.stop_reason in _CUT_OFF,
        )

    def _is_bad_request(self, error: Exception) -> bool:
        import anthropic

        return isinstance(error, anthropic.BadRequestError)
