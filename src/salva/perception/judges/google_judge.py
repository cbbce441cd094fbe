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
from salva.core.protocols import LookRequest
from salva.errors import BackendError, RefusedError, SalvaError, UnusableError
from salva.imaging.files import encode_picture
from salva.perception.judges.interview import (
    AT_AN_ENDPOINT,
    ChatOptions,
    Reply,
    SchemaRefusedError,
    interview_each,
    readable,
)
from salva.perception.judges.judge_prompts import Ask
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
        self._has_temperature = options.temperature is not None

    def look(self, requests: Sequence[LookRequest]) -> Sequence[Observation | SalvaError]:
        """One answer or error per request."""
        return interview_each(self, requests, self.options)

    def close(self) -> None:
        """Close the connections."""
        self._client.close()

    def say(self, ask: Ask, picture: Picture, said: Sequence[tuple[str, str]]) -> Reply:
        """One call, without what the endpoint has refused before; raises SalvaError."""
        from google.genai.errors import APIError

        contents = _contents(ask, picture, said)
        while True:
            wishes = self._wishes(ask)
            try:
                answer = self._client.models.generate_content(
                    model=self.options.model, contents=contents, config=wishes
                )
                return readable(self._name, answer, self._read)
            except SalvaError:
                raise
            except Exception as error:  # the kit lets the exceptions of its HTTP library through
                told = google_client.translate(self._name, error)
                is_bad = isinstance(error, APIError) and error.code == 400
                if not is_bad or isinstance(told, RefusedError | UnusableError):
                    raise told from error
                if "temperature" in wishes and "temperature" in str(error).lower():
                    self._has_temperature = False
                elif ask.schema is not None and self.options.structured == "auto":
                    raise SchemaRefusedError from error
                else:
                    raise told from error

    def _wishes(self, ask: Ask) -> Any:
        """The settings of a call, which the kit takes as a mapping."""
        wishes: dict[str, object] = {
            "system_instruction": ask.system,
            "max_output_tokens": self.options.max_tokens,
            "automatic_function_calling": {"disable": True},
        }
        if self._has_temperature:
            wishes["temperature"] = self.options.temperature
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
        if reason in _REFUSALS:
            raise RefusedError(f"{self._name} would not judge this: {reason}")
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
