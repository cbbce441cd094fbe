"""Judge: a model whose chat takes images, at OpenAI or at any endpoint with its API. The key is OPENAI_API_KEY."""

from __future__ import annotations

import base64
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, ClassVar

from salva.core.fingerprint import Json
from salva.core.image import Picture
from salva.core.secrets import cut
from salva.errors import BackendError
from salva.imaging.files import encode_picture
from salva.judges.endpoint_judge import EndpointJudge
from salva.judges.interview import ChatOptions, JudgeReply
from salva.judges.prompts import JudgePrompt
from salva.messages import message
from salva.remote.providers import OPENAI, Provider

if TYPE_CHECKING:
    from openai.types.chat import ChatCompletion

_BAD_REQUEST = (400, 422)


class ChatJudge(EndpointJudge):
    """A vision-language model behind chat completions: OpenAI, vLLM, SGLang, Ollama, OpenRouter and others."""

    version: ClassVar[str] = "2"
    provider: ClassVar[Provider] = OPENAI

    def __init__(self, options: ChatOptions) -> None:
        super().__init__(options)
        self._limit = "max_tokens"

    def _question(self, prompt: JudgePrompt, picture: Picture, turns: Sequence[tuple[str, str]]) -> dict[str, Any]:
        file = base64.b64encode(encode_picture(picture, "PNG")).decode()
        image: dict[str, Json] = {"url": f"data:image/png;base64,{file}"}
        content = [{"type": "image_url", "image_url": image}, {"type": "text", "text": prompt.text}]
        messages: list[dict[str, object]] = [
            {"role": "system", "content": prompt.system},
            {"role": "user", "content": content},
        ]
        for reply, answer in turns:
            messages += [{"role": "assistant", "content": reply}, {"role": "user", "content": answer}]
        return {"model": self.options.model, "messages": messages}

    def _call(self, question: dict[str, Any], settings: dict[str, Any]) -> ChatCompletion:
        answer: ChatCompletion = self._client.chat.completions.create(**question, extra_body=settings)
        return answer

    def _call_options(self, prompt: JudgePrompt) -> dict[str, Json]:
        settings: dict[str, Json] = {self._limit: self.options.max_tokens, **self._temperature}
        if prompt.schema is not None:
            schema: Json = {"name": "reply", "strict": True, "schema": prompt.schema}
            settings["response_format"] = {"type": "json_schema", "json_schema": schema}
        return settings

    def _drop_setting(self, words: str, settings: dict[str, Any]) -> bool:
        """Newer models have another name for the limit, and name it in their error."""
        is_renamed = "max_tokens" in settings and "max_completion_tokens" in words
        if is_renamed:
            self._limit = "max_completion_tokens"
        return is_renamed

    def _read(self, answer: ChatCompletion) -> JudgeReply:
        choices = getattr(answer, "choices", None)
        if not choices:
            problem = message("reply-missing", judge=self._name, answer=cut(answer, 200))
            raise BackendError(problem, is_retryable=False)
        choice = choices[0]
        is_refused = choice.finish_reason == "content_filter" or choice.message.refusal
        why = message("judge-refused", judge=self._name, why=choice.message.refusal or "content filter")
        usage = answer.usage
        return JudgeReply(
            text=choice.message.content or "",
            snapshot=answer.model or "",
            n_input=usage.prompt_tokens if usage else None,
            n_output=usage.completion_tokens if usage else None,
            is_cut_off=choice.finish_reason == "length",
            refusal=why if is_refused else "",
        )

    def _is_bad_request(self, error: Exception) -> bool:
        import openai

        return isinstance(error, openai.APIStatusError) and error.status_code in _BAD_REQUEST
