"""Generators that break in an actor each in its own way, as a plugin file has them."""

from __future__ import annotations

import os
import threading
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar

from salva.core.about import About
from salva.core.options import option
from salva.core.protocols import Rendered, RenderRequest
from salva.errors import SalvaError
from salva.testing.fakes import FakeGenerator

Outcomes = Sequence[Rendered | SalvaError]


def _with(outcomes: Outcomes, provenance: dict[str, Any]) -> Outcomes:
    return [replace(each, provenance=provenance) if isinstance(each, Rendered) else each for each in outcomes]


class Doomed(FakeGenerator):
    """Ends its process over one pair of words, and breaks over another."""

    version: ClassVar[str] = "1"
    about: ClassVar[About] = About(sees_formula=True)

    def render(self, requests: Sequence[RenderRequest]) -> Outcomes:
        for request in requests:
            if request.prompt.text == "cat, dog":
                os._exit(7)
            if request.prompt.text == "dog, cat":
                raise RuntimeError("out of paint")
        return super().render(requests)


class Indiscreet(FakeGenerator):
    """Says what it should not."""

    version: ClassVar[str] = "1"

    def render(self, requests: Sequence[RenderRequest]) -> Outcomes:
        raise RuntimeError("refused with " + os.environ["PLANTED_API_KEY"])


class Locked(FakeGenerator):
    """Answers with what no other process can have."""

    version: ClassVar[str] = "1"

    def render(self, requests: Sequence[RenderRequest]) -> Outcomes:
        return _with(super().render(requests), {"lock": threading.Lock()})


class OnGpu(FakeGenerator):
    """Says which GPU it was given."""

    @dataclass(frozen=True, slots=True, kw_only=True)
    class Options(FakeGenerator.Options):
        """And where."""

        device: str = option("auto", "Where.", keyed=False)

    version: ClassVar[str] = "1"

    def render(self, requests: Sequence[RenderRequest]) -> Outcomes:
        return _with(super().render(requests), {"gpu": os.environ.get("CUDA_VISIBLE_DEVICES", ""), "pid": os.getpid()})
