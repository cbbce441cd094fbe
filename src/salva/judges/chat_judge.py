"""Judge: a model that takes pictures in its chat, at OpenAI or at any endpoint that speaks its API.

One question about one picture a call; threads, retries and limits belong to the executor. What an endpoint refuses
(a schema for the reply, a temperature, the name of the token limit) is left out from then on. The key comes from
OPENAI_API_KEY alone.
"""

from __future__ import annotations

import base64
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

from salva.core.about import About
from salva.core.fingerprint import Json
from salva.core.image import Picture
from salva.core.observation import Observation
from salva.core.options import option
from salva.core.protocols import ObserveRequest
from salva.core.secrets import cut
from salva.errors import BackendError, SalvaError
from salva.imaging.files import encode_picture
from salva.judges.interview import AT_AN_ENDPOINT, ChatOptions, Line, Reply, interview_each
from salva.judges.own_prompts import own_prompt, prompt_pin
from salva.judges.prompts import Ask
from salva.remote import openai_client

if TYPE_CHECKING:
    from openai.types.chat import ChatCompletion

_BAD_REQUEST = (400, 422)


class ChatJudge:
    """A vision-language model behind chat completions: OpenAI, vLLM, SGLang, Ollama, OpenRouter and others."""

    @dataclass(frozen=True, slots=True, kw_only=True)
    class Options(ChatOptions):
        """Which model, how it is asked, and what it costs."""

        detail: str = option(
            "",
            "How closely the picture is looked at, where the endpoint knows that.",
            choices=("", "low", "high", "auto"),
        )

    version: ClassVar[str] = "2"
    about: ClassVar[About] = AT_AN_ENDPOINT

    def __init__(self, options: Options) -> None:
        self.options = options
        self.habits = options.habits()
        self._name = f"openai/{options.model}"
        self._client = openai_client.connect(self._name, options.base_url, options.timeout_s)
        self.is_structured = options.structured != "off"
        self.own = own_prompt(options.prompt)
        self._line = Line(self._name, options, openai_client, read=self._read, is_bad=_is_bad)
        self._limit = "max_tokens"

    @staticmethod
    def weights(options: Options) -> str:
        """Pins the user's own prompt, if there is one."""
        return prompt_pin(options.prompt)

    @staticmethod
    def address(options: Options) -> str:
        """Where its answers come from."""
        return openai_client.address(options.base_url, options.endpoint)

    def observe(self, requests: Sequence[ObserveRequest]) -> Sequence[Observation | SalvaError]:
        """One answer or error per request."""
        return interview_each(self, requests, self.options)

    def close(self) -> None:
        """Close the connections."""
        self._client.close()

    def say(self, ask: Ask, picture: Picture, said: Sequence[tuple[str, str]]) -> Reply:
        """One call, without what the endpoint has refused before; raises SalvaError."""
        asked = self._messages(ask, picture, said)
        return self._line.send(
            ask,
            lambda wishes: self._client.chat.completions.create(**asked, extra_body=wishes),
            wishes=self._wishes,
            concede=self._concede,
        )

    def _messages(self, ask: Ask, picture: Picture, said: Sequence[tuple[str, str]]) -> dict[str, Any]:
        file = base64.b64encode(encode_picture(picture, "PNG")).decode()
        image: dict[str, Json] = {"url": f"data:image/png;base64,{file}"}
        if self.options.detail:
            image["detail"] = self.options.detail
        content = [{"type": "image_url", "image_url": image}, {"type": "text", "text": ask.text}]
        messages: list[dict[str, object]] = [
            {"role": "system", "content": ask.system},
            {"role": "user", "content": content},
        ]
        for reply, answer in said:
            messages += [{"role": "assistant", "content": reply}, {"role": "user", "content": answer}]
        return {"model": self.options.model, "messages": messages}

    def _wishes(self, ask: Ask) -> dict[str, Json]:
        wishes: dict[str, Json] = {self._limit: self.options.max_tokens, **self._line.temperature}
        if ask.schema is not None:
            schema: Json = {"name": "reply", "strict": True, "schema": ask.schema}
            wishes["response_format"] = {"type": "json_schema", "json_schema": schema}
        return wishes

    def _concede(self, words: str, wishes: dict[str, Json]) -> bool:
        """Newer models call the limit by another name, and say so."""
        is_renamed = "max_tokens" in wishes and "max_completion_tokens" in words
        if is_renamed:
            self._limit = "max_completion_tokens"
        return is_renamed

    def _read(self, answer: ChatCompletion) -> Reply:
        choices = getattr(answer, "choices", None)
        if not choices:
            raise BackendError(f"{self._name} answered without a reply: {cut(answer, 200)!r}", is_retryable=False)
        choice = choices[0]
        is_refused = choice.finish_reason == "content_filter" or choice.message.refusal
        why = f"{self._name} would not judge this: {choice.message.refusal or 'content filter'}"
        usage = answer.usage
        return Reply(
            text=choice.message.content or "",
            snapshot=answer.model or "",
            n_input=usage.prompt_tokens if usage else None,
            n_output=usage.completion_tokens if usage else None,
            is_cut_off=choice.finish_reason == "length",
            refusal=why if is_refused else "",
        )


def _is_bad(error: Exception) -> bool:
    import openai

    return isinstance(error, openai.APIStatusError) and error.status_code in _BAD_REQUEST
