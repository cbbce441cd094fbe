"""Judge: Gemini, at Google or at an endpoint with its generateContent API.

The key is GEMINI_API_KEY or GOOGLE_API_KEY.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, ClassVar

from salva.core.image import Picture
from salva.core.secrets import cut
from salva.errors import BackendError, RefusedError
from salva.imaging.files import encode_picture
from salva.judges.endpoint_judge import EndpointJudge
from salva.judges.interview import JudgeReply
from salva.judges.prompts import JudgePrompt
from salva.messages import message
from salva.remote.providers import GOOGLE, Provider

if TYPE_CHECKING:
    from google.genai.types import GenerateContentResponse

_REFUSALS = ("SAFETY", "BLOCKLIST", "PROHIBITED_CONTENT", "SPII", "RECITATION", "IMAGE_SAFETY")


class GoogleJudge(EndpointJudge):
    """A Gemini model."""

    version: ClassVar[str] = "2"
    provider: ClassVar[Provider] = GOOGLE

    def _question(self, prompt: JudgePrompt, picture: Picture, turns: Sequence[tuple[str, str]]) -> Any:
        from google.genai.types import Content, Part

        image = Part.from_bytes(data=encode_picture(picture, "PNG"), mime_type="image/png")
        contents = [Content(role="user", parts=[image, Part.from_text(text=prompt.text)])]
        for reply, answer in turns:
            contents.append(Content(role="model", parts=[Part.from_text(text=reply or "(nothing)")]))
            contents.append(Content(role="user", parts=[Part.from_text(text=answer)]))
        return contents

    def _call(self, question: Any, settings: dict[str, Any]) -> GenerateContentResponse:
        answer: GenerateContentResponse = self._client.models.generate_content(
            model=self.options.model, contents=question, config=settings
        )
        return answer

    def _call_options(self, prompt: JudgePrompt) -> dict[str, Any]:
        settings: dict[str, Any] = {
            "system_instruction": prompt.system,
            "max_output_tokens": self.options.max_tokens,
            "automatic_function_calling": {"disable": True},
            **self._temperature,
        }
        if prompt.schema is not None:
            settings |= {"response_mime_type": "application/json", "response_json_schema": prompt.schema}
        return settings

    def _read(self, answer: GenerateContentResponse) -> JudgeReply:
        blocked = answer.prompt_feedback.block_reason if answer.prompt_feedback else None
        if blocked:
            raise RefusedError(message("judge-refused", judge=self._name, why=blocked.value))
        if not answer.candidates:
            problem = message("reply-missing", judge=self._name, answer=cut(answer, 200))
            raise BackendError(problem, is_retryable=False)
        candidate = answer.candidates[0]
        reason = candidate.finish_reason.value if candidate.finish_reason else ""
        parts = (candidate.content.parts if candidate.content else None) or ()
        usage = answer.usage_metadata
        n_output = None
        if usage is not None and usage.candidates_token_count is not None:
            # Thoughts cost as much as the reply.
            n_output = usage.candidates_token_count + (usage.thoughts_token_count or 0)
        return JudgeReply(
            text="".join(part.text for part in parts if part.text and not part.thought),
            snapshot=answer.model_version or "",
            n_input=usage.prompt_token_count if usage is not None else None,
            n_output=n_output,
            is_cut_off=reason == "MAX_TOKENS",
            refusal=message("judge-refused", judge=self._name, why=reason) if reason in _REFUSALS else "",
        )

    def _is_bad_request(self, error: Exception) -> bool:
        from google.genai.errors import APIError

        return isinstance(error, APIError) and error.code == 400
