"""Generator: deduce, then paint: a text model says what should be seen, and the model inside paints that.

A wrapper round any model: prompts of the roles it is for are rewritten first, all others go through as they are. The
rewriter is part of the key, what it wrote is kept with the picture, and a prompt it could not rewrite is not painted.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, ClassVar

from salva.core.about import About, close, habits_of
from salva.core.options import option
from salva.core.protocols import Rendered, RenderRequest
from salva.errors import BackendError, SalvaError, UsageError
from salva.messages import message
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


class Deduce:
    """Deduces what should be seen, then lets the model after the slash paint it."""

    @dataclass(frozen=True, slots=True, kw_only=True)
    class Options:
        """Who paints, who rewrites, and what."""

        model: str = option("", "The model that paints, as --model takes it.", target=True)
        inner: tuple[str, ...] = option((), "Options of that model, as NAME=VALUE.")
        rewriter: str = option("", "The text model that deduces: openai/MODEL.")
        rewriter_url: str = option(
            "", "Its endpoint; empty for OPENAI_BASE_URL, else the maker's own.", reaches="endpoint"
        )
        roles: tuple[str, ...] = option(("l3",), "The prompts that are rewritten, by their place in the case.")

        def __post_init__(self) -> None:
            if not self.rewriter:
                flag = "--set model.rewriter=openai/MODEL"
                raise UsageError(message("flag-needed", flag=flag, why="deduce rewrites prompts with a text model"))
            if bad := [pair for pair in self.inner if "=" not in pair]:
                raise UsageError(message("option-invalid", name="model.inner", value=bad[0], wanted="NAME=VALUE"))
            check_url("rewriter_url", self.rewriter_url, "set it in the environment instead")

    version: ClassVar[str] = "1"
    about: ClassVar[About] = About(wraps="model")

    def __init__(self, options: Options, painter: Any) -> None:
        self._options, self._painter = options, painter
        self.habits = habits_of(painter)
        self._rewriter: TextModel | None = None
        self._written: dict[str, str | SalvaError] = {}

    def render(self, requests: Sequence[RenderRequest]) -> Sequence[Rendered | SalvaError]:
        """One picture or error per request."""
        told = [self._told(request) for request in requests]
        asked = [request for request in told if isinstance(request, RenderRequest)]
        painted = iter(self._painter.render(asked))
        outcomes: list[Rendered | SalvaError] = []
        for request, rewritten in zip(requests, told, strict=True):
            outcome = rewritten if isinstance(rewritten, SalvaError) else next(painted)
            if isinstance(outcome, Rendered) and isinstance(rewritten, RenderRequest) and rewritten is not request:
                outcome = replace(outcome, provenance={**outcome.provenance, "deduced": rewritten.prompt.text})
            outcomes.append(outcome)
        return outcomes

    def close(self) -> None:
        """Close the connections, and let the painter put away what it holds."""
        if self._rewriter is not None:
            self._rewriter.close()
        close(self._painter)

    def _told(self, request: RenderRequest) -> RenderRequest | SalvaError:
        """The request with the prompt that is painted, or why there is none."""
        if request.prompt.role not in self._options.roles:
            return request
        text = request.prompt.text
        if text not in self._written:
            self._written[text] = self._rewritten(text)
        written = self._written[text]
        if isinstance(written, SalvaError):
            del self._written[text]  # another try may succeed
            return written
        return replace(request, prompt=replace(request.prompt, text=written))

    def _rewritten(self, text: str) -> str | SalvaError:
        from salva.remote.text_model import TextModel

        try:
            if self._rewriter is None:
                self._rewriter = TextModel(self._options.rewriter, self._options.rewriter_url)
            reply = self._rewriter.ask(INSTRUCTION, text)
        except SalvaError as error:
            return error
        seen = reply.get("seen") if isinstance(reply, dict) else None
        if not isinstance(seen, str) or not seen.strip() or len(seen) > _LONGEST:
            return BackendError(
                f"{self._options.rewriter} was asked what should be seen and replied {str(reply)[:80]!r}, which says "
                "nothing to paint"
            )
        return seen.strip()
