"""A text model behind an endpoint.

Used for paraphrases and for criteria that code cannot decide. A reply that is not the JSON asked for is asked for
again, then given up: None, never a guess. With a journal, what was of use once is not asked for again.
"""

from __future__ import annotations

import json
import re
import time

from salva.core.fingerprint import Json
from salva.core.secrets import cut
from salva.errors import BackendError, invalid_option
from salva.messages import message
from salva.remote.journal import Journal
from salva.remote.providers import OPENAI

_N_ATTEMPTS = 3
_LONGEST_WAIT_S = 120.0
_FENCE = re.compile(r"^```(?:json)?\s*|\s*```$")


class TextModel:
    """One model at one endpoint."""

    def __init__(
        self,
        name: str,
        base_url: str = "",
        timeout_s: float = 60.0,
        journal: Journal | None = None,
        key_env: str = "",
    ) -> None:
        maker, _, model = name.partition("/")
        if maker != "openai" or not model:
            raise invalid_option("--writer or --checker", name, "openai/MODEL")
        self.name = name
        self._model = model
        self._client = OPENAI.connect(name, base_url, timeout_s, key_env)
        self._journal = journal
        self._address = str(self._client.base_url)
        self.n_calls = self.n_tokens_in = self.n_tokens_out = 0
        """What was asked and answered by now, as far as the endpoint counts tokens."""

    def close(self) -> None:
        """Close the connections."""
        self._client.close()

    def keep(self, instruction: str, question: str, reply: Json) -> None:
        """Keep a reply that is of use, for the same command later."""
        if self._journal is not None:
            self._journal.keep(reply, self.name, self._address, instruction, question)

    def ask(self, instruction: str, question: str) -> Json | None:
        """The JSON of a reply; None when it stays unreadable."""
        if self._journal is not None:
            kept = self._journal.find(self.name, self._address, instruction, question)
            if kept is not None:
                return kept
        for attempt in range(_N_ATTEMPTS):
            try:
                with OPENAI.calling(self.name):
                    answered = self._client.chat.completions.create(
                        model=self._model,
                        temperature=0 if attempt == 0 else 0.3,
                        messages=[{"role": "system", "content": instruction}, {"role": "user", "content": question}],
                    )
            except BackendError as error:
                wait_s = error.retry_after_s or 0.5 * 2**attempt
                is_last = attempt == _N_ATTEMPTS - 1
                if not error.is_retryable or is_last or wait_s > _LONGEST_WAIT_S:
                    raise
                time.sleep(wait_s)
                continue
            self.n_calls += 1
            self.n_tokens_in += getattr(answered.usage, "prompt_tokens", 0) or 0
            self.n_tokens_out += getattr(answered.usage, "completion_tokens", 0) or 0
            try:
                content = answered.choices[0].message.content or ""
            except (AttributeError, IndexError, TypeError) as error:
                why = message("reply-not-chat", model=self.name, reply=cut(answered, 200))
                raise BackendError(why, is_retryable=False) from error
            text = _FENCE.sub("", content.strip())
            try:
                read: Json = json.loads(text)
            except (ValueError, RecursionError):
                continue
            return read
        return None
