"""What judges behind an endpoint share: connecting, asking, and giving up what the endpoint refuses.

One question about one image a call; threads, retries and limits belong to the executor. A subclass says how its API
wants a question, what it asks for besides, and where the reply is in an answer.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Any, ClassVar

from salva.core.about import About
from salva.core.fingerprint import Json
from salva.core.image import Picture
from salva.core.observation import Answer, Observation
from salva.core.protocols import ObserveRequest, Query
from salva.core.secrets import cut
from salva.errors import BackendError, RefusedError, SalvaError, UnusableError
from salva.judges.interview import AT_AN_ENDPOINT, ChatOptions, Interview, JudgeReply, SchemaRefusedError, sized
from salva.judges.own_prompts import own_prompt, prompt_pin
from salva.judges.prompts import JudgePrompt
from salva.messages import message
from salva.remote.providers import Provider


class EndpointJudge(ABC):
    """A judge behind an API of some provider."""

    Options: ClassVar[type[ChatOptions]] = ChatOptions
    about: ClassVar[About] = AT_AN_ENDPOINT
    provider: ClassVar[Provider]

    def __init__(self, options: ChatOptions) -> None:
        self.options = options
        self.habits = options.habits()
        self.is_structured = options.structured != "off"
        self.own = own_prompt(options.prompt)
        self._name = f"{self.provider.name}/{options.model}"
        self._client: Any = self.provider.connect(self._name, options.base_url, options.timeout_s)
        self._temperature: dict[str, Json] = {}
        """What to ask for by that name; empty once it was refused."""
        if options.temperature is not None:
            self._temperature = {"temperature": options.temperature}

    @staticmethod
    def weights(options: ChatOptions) -> str:
        """Pins the user's own prompt, if there is one."""
        return prompt_pin(options.prompt)

    @classmethod
    def address(cls, options: ChatOptions) -> str:
        """Where its answers come from."""
        return cls.provider.address(options.base_url, options.endpoint)

    def observe(self, requests: Sequence[ObserveRequest]) -> Sequence[Observation | SalvaError]:
        """One answer or error per request; an image too large for the judge is made smaller first."""
        outcomes: list[Observation | SalvaError] = []
        for request in requests:
            picture = sized(request.picture, self.options.side)
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
        interview = Interview(query, self.options, self.options.price(), self.own)
        is_structured, is_refused = self.is_structured, False
        try:
            while True:
                try:
                    reply = self._send(interview.prompt(is_structured), picture, interview.turns)
                except SchemaRefusedError:
                    assert is_structured, "nothing is left to refuse"
                    is_structured, is_refused = False, True
                    continue
                if is_refused:
                    # Only now is it certain that the schema was the trouble; it is not tried again.
                    self.is_structured = False
                answer = interview.receive(reply)
                if answer is not None:
                    return answer
                if self.options.structured == "auto" and "{" not in reply.text:
                    # Some servers take the schema and do not keep to it: the form in words is asked for instead.
                    is_structured = False
        except BackendError as error:
            # What came to nothing was paid for as well.
            error.usage = interview.usage()
            raise

    def _send(self, ask: JudgePrompt, picture: Picture, turns: Sequence[tuple[str, str]]) -> JudgeReply:
        """The reply to one question, without what the endpoint has refused before; raises SalvaError."""
        question = self._question(ask, picture, turns)
        while True:
            settings = self._call_options(ask)
            try:
                with self.provider.calling(self._name):
                    return self._reply(self._call(question, settings))
            except BackendError as problem:
                error = problem.__cause__
                is_final = isinstance(problem, RefusedError | UnusableError)
                if is_final or not isinstance(error, Exception) or not self._is_bad_request(error):
                    raise
                words = str(error).lower()
                if self._give_up_setting(words, settings):
                    continue
                if "temperature" in settings and "temperature" in words:
                    self._temperature = {}
                elif ask.schema is not None and self.options.structured == "auto":
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

    def _give_up_setting(self, words: str, settings: dict[str, Any]) -> bool:  # for those who can
        """Give up a wish for good, if the words of the endpoint name it."""
        return False

    @abstractmethod
    def _question(self, ask: JudgePrompt, picture: Picture, turns: Sequence[tuple[str, str]]) -> Any:
        """A question about an image, after what was said before, as the API takes it."""

    @abstractmethod
    def _call(self, question: Any, settings: dict[str, Any]) -> Any:
        """One call of the API."""

    @abstractmethod
    def _call_options(self, ask: JudgePrompt) -> dict[str, Any]:
        """What is asked for besides the question."""

    @abstractmethod
    def _read(self, answer: Any) -> JudgeReply:
        """The reply in an answer."""

    @abstractmethod
    def _is_bad_request(self, error: Exception) -> bool:
        """Whether an exception of the kit says that the request was at fault."""
