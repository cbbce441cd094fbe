"""Generator: a text model deduces what an image should show, and the wrapped model generates that.

Prompts of the configured roles are rewritten first, others stay as they are. The rewriter is part of the key, its text
is stored with the image, and a prompt that it could not rewrite is an error.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, ClassVar, TypeVar

from salva.core.about import About, close, habits_of
from salva.core.addresses import KeyUse
from salva.core.options import option
from salva.core.protocols import Rendered, RenderRequest, Ticket, TwoStepGenerator
from salva.errors import BackendError, SalvaError, UsageError, invalid_option
from salva.messages import message
from salva.remote.keys import key_option
from salva.remote.providers import OPENAI
from salva.remote.urls import check_url

if TYPE_CHECKING:
    from salva.remote.text_model import TextModel

INSTRUCTION = (
    "You are given a description of a picture in a world where a law of nature or of society was changed. Work out "
    "what follows from the changed law, and describe the picture again for a painter who cannot reason: say plainly "
    "what is to be seen, where and how, without naming the law and without the word if. Change nothing that does not "
    'follow. Reply with JSON alone: {"seen": "the description"}'
)
_LONGEST = 2000
_Outcome = TypeVar("_Outcome", bound=Rendered | Ticket | SalvaError)


class Deduce:
    """Rewrites prompts with a text model, then generates with the model after the slash."""

    @dataclass(frozen=True, slots=True, kw_only=True)
    class Options:
        """Which model generates, which one rewrites, and which prompts."""

        model: str = option("", "The model that generates, as in --model.", target=True)
        inner: tuple[str, ...] = option((), "Its options, as NAME=VALUE.")
        rewriter: str = option("", "The text model: openai/MODEL.")
        rewriter_url: str = option("", "Its endpoint; empty for OPENAI_BASE_URL, else OpenAI's.", reaches="endpoint")
        rewriter_key_env: str = key_option()
        roles: tuple[str, ...] = option(("l3",), "The roles of prompts that are rewritten.")

        def __post_init__(self) -> None:
            if not self.rewriter:
                flag = "--set model.rewriter=openai/MODEL"
                raise UsageError(message("flag-needed", flag=flag, why="deduce rewrites prompts with a text model"))
            if bad := [pair for pair in self.inner if "=" not in pair]:
                raise invalid_option("model.inner", bad[0], "NAME=VALUE")
            check_url("rewriter_url", self.rewriter_url, "set it in the environment instead")

    version: ClassVar[str] = "1"
    about: ClassVar[About] = About(wraps="model")

    @classmethod
    def key_use(cls, options: Options) -> KeyUse:
        """The key that goes to the rewriter, and where."""
        return OPENAI.key_use(options.rewriter_url, options.rewriter_key_env, "rewriter_key_env")

    def __init__(self, options: Options, generator: Any) -> None:
        self._options, self._generator = options, generator
        self.habits = habits_of(generator)
        self._rewriter: TextModel | None = None
        self._texts: dict[str, str] = {}

    def render(self, requests: Sequence[RenderRequest]) -> Sequence[Rendered | SalvaError]:
        """One image or error per request."""
        return self._with_rewritten(self._generator.render, requests)

    def begin(self, requests: Sequence[RenderRequest]) -> Sequence[Rendered | Ticket | SalvaError]:
        """The paid step of the wrapped generator, or all that it does."""
        generator = self._generator
        begin = generator.begin if isinstance(generator, TwoStepGenerator) else generator.render
        return self._with_rewritten(begin, requests)

    def fetch(self, requests: Sequence[RenderRequest]) -> Sequence[Rendered | SalvaError]:
        """The images of tickets, whose prompts were rewritten when they were paid."""
        fetched: Sequence[Rendered | SalvaError] = self._generator.fetch(requests)
        return fetched

    def _with_rewritten(
        self, generate: Callable[[Sequence[RenderRequest]], Sequence[_Outcome]], requests: Sequence[RenderRequest]
    ) -> Sequence[_Outcome | SalvaError]:
        rewritten = [self._rewrite(request) for request in requests]
        valid = [request for request in rewritten if isinstance(request, RenderRequest)]
        generated = iter(generate(valid))
        outcomes: list[_Outcome | SalvaError] = []
        for before, after in zip(requests, rewritten, strict=True):
            if isinstance(after, SalvaError):
                outcomes.append(after)
                continue
            outcome = next(generated)
            if after is not before and not isinstance(outcome, SalvaError):
                outcome = replace(outcome, provenance={**outcome.provenance, "deduced": after.prompt.text})
            outcomes.append(outcome)
        return outcomes

    def close(self) -> None:
        """Close the connections and the wrapped generator."""
        if self._rewriter is not None:
            self._rewriter.close()
        close(self._generator)

    def _rewrite(self, request: RenderRequest) -> RenderRequest | SalvaError:
        """The request with the prompt that is sent, or an error."""
        if request.prompt.role not in self._options.roles:
            return request
        text = request.prompt.text
        try:
            if text not in self._texts:
                self._texts[text] = self._deduce(text)
        except SalvaError as error:
            return error
        return replace(request, prompt=replace(request.prompt, text=self._texts[text]))

    def _deduce(self, text: str) -> str:
        from salva.remote.text_model import TextModel

        if self._rewriter is None:
            self._rewriter = TextModel(
                self._options.rewriter, self._options.rewriter_url, key_env=self._options.rewriter_key_env
            )
        reply = self._rewriter.ask(INSTRUCTION, text)
        description = reply.get("seen") if isinstance(reply, dict) else None
        if not isinstance(description, str) or not description.strip() or len(description) > _LONGEST:
            raise BackendError(message("reply-missing", judge=self._options.rewriter, answer=str(reply)[:80]))
        return description.strip()
