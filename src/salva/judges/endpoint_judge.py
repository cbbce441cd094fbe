"""What judges behind an endpoint share: connecting, asking, and omitting parameters that the endpoint refuses.

One question about one image a call; threads, retries and limits belong to the executor. A subclass builds the request
of its API and finds the reply in an answer.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Any, ClassVar

from salva.core.about import About
from salva.core.addresses import KeyUse
from salva.core.fingerprint import Json
from salva.core.image import Picture
from salva.core.observation import Answer, Observation
from salva.core.protocols import ObserveRequest, Query
from salva.core.secrets import cut
from salva.errors import BackendError, RefusedError, SalvaError, UnusableError
from salva.judges.interview import ChatOptions, Interview, JudgeReply, SchemaRefusedError, limit_side
from salva.judges.prompts import JudgePrompt
from salva.judges.score_templates import prompt_pin, score_template
from salva.messages import message
from salva.remote.providers import Provider


class EndpointJudge(ABC):
    """A judge behind the API of a provider."""

    Options: ClassVar[type[ChatOptions]] = ChatOptions
    about: ClassVar[About] = About(is_remote=True, priced_by=("usd_per_million_input", "usd_per_million_output"))
    provider: ClassVar[Provider]

    def __init__(self, options: ChatOptions) -> None:
        self.options = options
        self.habits = options.habits()
        self._is_structured = options.structured != "off"
        self._template = score_template(options.prompt)
        self._name = f"{self.provider.name}/{options.model}"
        self._client: Any = self.provider.connect(self._name, options.base_url, options.timeout_s, options.key_env)
        self._temperature: dict[str, Json] = {}
        """The parameter of that name; empty once it was refused."""
        if options.temperature is not None:
            self._temperature = {"temperature": options.temperature}

    @staticmethod
    def weights(options: ChatOptions) -> str:
        """Identifies the user's prompt template, if there is one."""
        return prompt_pin(options.prompt)

    @classmethod
    def key_use(cls, options: ChatOptions) -> KeyUse:
        """The key that it sends, and where."""
        return cls.provider.key_use(options.base_url, options.key_env)

    @classmethod
    def address(cls, options: ChatOptions) -> str:
        """The address of its server."""
        return cls.provider.address(options.base_url, options.endpoint)

    def observe(self, requests: Sequence[ObserveRequest]) -> Sequence[Observation | SalvaError]:
        """One answer or error per request; large images are scaled down first."""
        outcomes: list[Observation | SalvaError] = []
        for request in requests:
            picture = limit_side(request.picture, self.options.side)
            try:
                outcomes.append(self._answer(request.query, picture))
            except SalvaError as error:
                outcomes.append(error)
        return outcomes

    def close(self) -> None:
        """Close the connections."""
        self._client.close()

    def _answer(self, query: Query, picture: Picture) -> Answer:
        """Ask, read, and ask again until the reply can be read or the attempts are used up."""
        interview = Interview(query, self.options, self.options.price(), self._template)
        is_structured, is_refused = self._is_structured, False
        try:
            while True:
                try:
                    reply = self._send(interview.prompt(is_structured), picture, interview.turns)
                except SchemaRefusedError:
                    is_structured, is_refused = False, True
                    continue
                if is_refused:
                    # Without the schema it worked, so it is not tried again.
                    self._is_structured = False
                answer = interview.receive(reply)
                if answer is not None:
                    return answer
                if self.options.structured == "auto" and "{" not in reply.text:
                    # Some servers accept a schema and ignore it; the prompt then describes the form.
                    is_structured = False
        except BackendError as error:
            # Earlier replies were paid for as well.
            error.usage = interview.usage()
            raise

    def _send(self, prompt: JudgePrompt, picture: Picture, turns: Sequence[tuple[str, str]]) -> JudgeReply:
        """The reply to one question, without parameters that the endpoint refused before; raises SalvaError."""
        question = self._question(prompt, picture, turns)
        while True:
            settings = self._call_options(prompt)
            try:
                with self.provider.calling(self._name):
                    return self._reply(self._call(question, settings))
            except BackendError as problem:
                error = problem.__cause__
                is_final = isinstance(problem, RefusedError | UnusableError)
                if is_final or not isinstance(error, Exception) or not self._is_bad_request(error):
                    raise
                words = str(error).lower()
                if self._drop_setting(words, settings):
                    continue
                if "temperature" in settings and "temperature" in words:
                    self._temperature = {}
                elif prompt.schema is not None and self.options.structured == "auto":
                    raise SchemaRefusedError from error
                else:
                    raise

    def _reply(self, answer: Any) -> JudgeReply:
        """The reply in an answer; one of another shape than the API has is a BackendError."""
        try:
            return self._read(answer)
        except (AttributeError, TypeError) as error:
            problem = message("reply-missing", judge=self._name, answer=cut(repr(answer), 200))
            raise BackendError(problem, is_retryable=False) from error

    def _drop_setting(self, words: str, settings: dict[str, Any]) -> bool:
        """Replace a setting that the endpoint's error names; whether there was one."""
        return False

    @abstractmethod
    def _question(self, prompt: JudgePrompt, picture: Picture, turns: Sequence[tuple[str, str]]) -> Any:
        """A question about an image after earlier turns, as the API takes it."""

    @abstractmethod
    def _call(self, question: Any, settings: dict[str, Any]) -> Any:
        """One call of the API."""

    @abstractmethod
    def _call_options(self, prompt: JudgePrompt) -> dict[str, Any]:
        """The parameters besides the question."""

    @abstractmethod
    def _read(self, answer: Any) -> JudgeReply:
        """The reply in an answer."""

    @abstractmethod
    def _is_bad_request(self, error: Exception) -> bool:
        """Whether an exception of the provider's library means a bad request."""
