"""Judge: Gemini, at Google or at an endpoint that speaks its generateContent API.

One question about one picture a call; threads, retries and limits belong to the executor. A schema for the reply or
a temperature that the model refuses is left out from then on. The key comes from GEMINI_API_KEY or GOOGLE_API_KEY.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, ClassVar

from salva.core.about import About
from salva.core.image import Picture
from salva.core.observation import Observation
from salva.core.protocols import ObserveRequest
from salva.errors import BackendError, RefusedError, SalvaError
from salva.imaging.files import encode_picture
from salva.judges.interview import AT_AN_ENDPOINT, ChatOptions, Line, Reply, interview_each
from salva.judges.own_prompts import own_prompt, prompt_pin
from salva.judges.prompts import Ask
from salva.remote import google_client

if TYPE_CHECKING:
    from google.genai.types import GenerateContentResponse

_REFUSALS = ("SAFETY", "BLOCKLIST", "PROHIBITED_CONTENT", "SPII", "RECITATION", "IMAGE_SAFETY")


class GoogleJudge:
    """A Gemini model."""

    Options: ClassVar[type[ChatOptions]] = ChatOptions
    version: ClassVar[str] = "2"
    about: ClassVar[About] = AT_AN_ENDPOINT

    def __init__(self, options: ChatOptions) -> None:
        self.options = options
        self.habits = options.habits()
        self._name = f"google/{options.model}"
        self._client = google_client.connect(self._name, options.base_url, options.timeout_s)
        self.is_structured = options.structured != "off"
        self.own = own_prompt(options.prompt)
        self._line = Line(self._name, options, google_client, read=self._read, is_bad=_is_bad)

    @staticmethod
    def weights(options: ChatOptions) -> str:
        """Pins the user's own prompt, if there is one."""
        return prompt_pin(options.prompt)

    @staticmethod
    def address(options: ChatOptions) -> str:
        """Where its answers come from."""
        return google_client.address(options.base_url, options.endpoint)

    def observe(self, requests: Sequence[ObserveRequest]) -> Sequence[Observation | SalvaError]:
        """One answer or error per request."""
        return interview_each(self, requests, self.options)

    def close(self) -> None:
        """Close the connections."""
        self._client.close()

    def say(self, ask: Ask, picture: Picture, said: Sequence[tuple[str, str]]) -> Reply:
        """One call, without what the endpoint has refused before; raises SalvaError."""
        contents = _contents(ask, picture, said)

        def call(wishes: Any) -> GenerateContentResponse:
            return self._client.models.generate_content(model=self.options.model, contents=contents, config=wishes)

        return self._line.send(ask, call, wishes=self._wishes)

    def _wishes(self, ask: Ask) -> dict[str, Any]:
        """The settings of a call, which the kit takes as a mapping."""
        wishes: dict[str, Any] = {
            "system_instruction": ask.system,
            "max_output_tokens": self.options.max_tokens,
            "automatic_function_calling": {"disable": True},
            **self._line.temperature,
        }
        if ask.schema is not None:
            wishes |= {"response_mime_type": "application/json", "response_json_schema": ask.schema}
        return wishes

    def _read(self, answer: GenerateContentResponse) -> Reply:
        blocked = answer.prompt_feedback.block_reason if answer.prompt_feedback else None
        if blocked:
            raise RefusedError(f"{self._name} would not judge this: {blocked.value}")
        if not answer.candidates:
            raise BackendError(f"{self._name} answered without a reply", is_retryable=False)
        candidate = answer.candidates[0]
        reason = candidate.finish_reason.value if candidate.finish_reason else ""
        parts = (candidate.content.parts if candidate.content else None) or ()
        usage = answer.usage_metadata
        n_output: int | None = None
        if usage is not None and usage.candidates_token_count is not None:
            # Thinking is paid like writing.
            n_output = usage.candidates_token_count + (usage.thoughts_token_count or 0)
        return Reply(
            text="".join(part.text for part in parts if part.text and not part.thought),
            snapshot=answer.model_version or "",
            n_input=usage.prompt_token_count if usage is not None else None,
            n_output=n_output,
            is_cut_off=reason == "MAX_TOKENS",
            refusal=f"{self._name} would not judge this: {reason}" if reason in _REFUSALS else "",
        )


def _contents(ask: Ask, picture: Picture, said: Sequence[tuple[str, str]]) -> Any:
    """What is said, in the kit's own records."""
    from google.genai.types import Content, Part

    image = Part.from_bytes(data=encode_picture(picture, "PNG"), mime_type="image/png")
    contents = [Content(role="user", parts=[image, Part.from_text(text=ask.text)])]
    for reply, answer in said:
        contents.append(Content(role="model", parts=[Part.from_text(text=reply or "(nothing)")]))
        contents.append(Content(role="user", parts=[Part.from_text(text=answer)]))
    return contents


def _is_bad(error: Exception) -> bool:
    from google.genai.errors import APIError

    return isinstance(error, APIError) and error.code == 400
