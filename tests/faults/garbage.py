"""Generators and judges of garbage, as components for the length of a test."""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from typing import ClassVar

import pytest

from salva import registry
from salva.core.about import About
from salva.core.case import Case, Prompt
from salva.core.fingerprint import fingerprint
from salva.core.image import Picture
from salva.core.observation import Answer, Observation
from salva.core.options import option
from salva.core.protocols import ObserveRequest, Rendered, RenderRequest
from salva.errors import SalvaError
from salva.generators.painter.component import Painter, random_scene
from salva.logic.formula import entities
from salva.logic.notation import parse
from salva.runs.trials import drawing
from salva.testing.fakes import painted, written_in

SIDE = 256
RIGHT = "right"
"""No garbage: what every prompt asks for, so that a test knows that a gate can pass."""
KINDS = ("grey", "noise", "empty", "fixed", "shuffled", "opposite", "everything", "captioned", "first")
WRITTEN = "written"
"""No garbage either: the prompt in the pixels, for a judge that looks."""
JUDGES = ("yes", "no", "random", "first", "hundred", "knowing", "by-text")
LOOKING = "looking"
_WORD = re.compile(r"[a-z]{4,}")
_MOST_AT_ONCE = 12
_drawn: list[Case] = []
"""The cases of the run, for images that have to do with others of them."""


def deal(cases: Sequence[Case]) -> None:
    """Say which cases a run has."""
    _drawn[:] = cases
    _dealt.cache_clear()
    _mentioned.cache_clear()
    _vocabulary.cache_clear()


@cache
def _dealt() -> Mapping[tuple[int, str], Prompt]:
    """Each prompt by its seed and text, to one of another case that says something else."""
    prompts = [(case.seed(0, 0), prompt) for case in _drawn for prompt in case.prompts]
    turned = prompts[len(prompts) // 2 :] + prompts[: len(prompts) // 2]
    dealt = {}
    for number, (seed, prompt) in enumerate(prompts):
        others = (other for _, other in (*turned[number:], *turned[:number]))
        dealt[seed, prompt.text] = next(other for other in others if _names(other) != _names(prompt))
    return dealt


@cache
def _mentioned() -> tuple[str, ...]:
    return tuple(sorted({name for case in _drawn for prompt in case.prompts for name in _names(prompt)}))


@cache
def _vocabulary() -> frozenset[str]:
    return frozenset(word for case in _drawn for prompt in case.prompts for word in _words(prompt.text))


def _words(text: str) -> frozenset[str]:
    return frozenset(_WORD.findall(text.casefold()))


def _is_there(asked: str, picture: Picture) -> float:
    """Whether an image with its prompt in the pixels has what a question is about."""
    wanted = _words(asked) & _vocabulary()
    return float(len(wanted & _words(written_in(picture)[1])) >= 0.5 * len(wanted))


def _names(prompt: Prompt) -> tuple[str, ...]:
    return tuple(entities(parse(prompt.formula))) if prompt.formula else ()


@dataclass(frozen=True, slots=True, kw_only=True)
class GarbageOptions:
    """Which garbage, and the domain that its images pass for."""

    kind: str = option("grey", "What is drawn.", choices=(RIGHT, WRITTEN, *KINDS))
    made_by: str = option("painter", "Whose images they pass for.")


class Garbage:
    """Generator: images that have little or nothing to do with their prompt."""

    version: ClassVar[str] = "1"
    about: ClassVar[About] = About(sees_formula=True)
    Options = GarbageOptions

    def __init__(self, options: GarbageOptions) -> None:
        self._draw: Callable[[RenderRequest], Picture | SalvaError] = getattr(self, f"_{options.kind}")
        self._painter = Painter(Painter.Options())
        self._captioning = Painter(Painter.Options(faults="optical-character:1"))

    def render(self, requests: Sequence[RenderRequest]) -> Sequence[Rendered | SalvaError]:
        """One image or error per request."""
        images = map(self._draw, requests)
        return [Rendered(picture=image) if isinstance(image, Picture) else image for image in images]

    def _right(self, request: RenderRequest) -> Picture | SalvaError:
        return self._of(self._painter, request, request.prompt)

    def _written(self, request: RenderRequest) -> Picture:
        return painted((), request.prompt.text)

    def _grey(self, request: RenderRequest) -> Picture:
        return Picture(rgb=b"\x80" * (3 * SIDE * SIDE), width=SIDE, height=SIDE)

    def _noise(self, request: RenderRequest) -> Picture:
        rng = random.Random(fingerprint([request.prompt.text, request.seed]))
        return Picture(rgb=rng.randbytes(3 * SIDE * SIDE), width=SIDE, height=SIDE)

    def _empty(self, request: RenderRequest) -> Picture:
        return random_scene(random.Random(request.seed), (), 0, SIDE)[0]

    def _fixed(self, request: RenderRequest) -> Picture:
        return random_scene(random.Random(1), ("cat", "dog"), 2, SIDE)[0]

    def _shuffled(self, request: RenderRequest) -> Picture | SalvaError:
        return self._of(self._painter, request, _dealt()[request.seed, request.prompt.text])

    def _opposite(self, request: RenderRequest) -> Picture | SalvaError:
        return self._of(self._painter, request, replace(request.prompt, formula=f"!({request.prompt.formula})"))

    def _everything(self, request: RenderRequest) -> Picture:
        names = _mentioned()[:_MOST_AT_ONCE]
        return random_scene(random.Random(request.seed), names, len(names), SIDE)[0]

    def _captioned(self, request: RenderRequest) -> Picture | SalvaError:
        return self._of(self._captioning, request, request.prompt)

    def _first(self, request: RenderRequest) -> Picture | SalvaError:
        return self._of(self._painter, request, replace(request.prompt, formula=_names(request.prompt)[0]))

    @staticmethod
    def _of(painter: Painter, request: RenderRequest, prompt: Prompt) -> Picture | SalvaError:
        (drawn,) = painter.render([replace(request, prompt=prompt)])
        return drawn.picture if isinstance(drawn, Rendered) else drawn


@dataclass(frozen=True, slots=True, kw_only=True)
class CarelessOptions:
    """How the judge answers."""

    manner: str = option("yes", "What it says.", choices=(*JUDGES, LOOKING))


class Careless:
    """Judge: answers without a look at the image, but for one that knows the drawing of the preflight, and an honest
    one that reads the prompt in the pixels."""

    version: ClassVar[str] = "1"
    Options = CarelessOptions

    def __init__(self, options: CarelessOptions) -> None:
        self._manner = options.manner

    def observe(self, requests: Sequence[ObserveRequest]) -> Sequence[Observation | SalvaError]:
        """An answer per request."""
        return [self._answer(request) for request in requests]

    def _answer(self, request: ObserveRequest) -> Answer:
        query = request.query
        is_known = self._manner == "knowing" and request.picture.image_id() == drawing().image_id()
        if self._manner == LOOKING:
            shares = [_is_there(question, request.picture) for question in query.questions or (query.text,)]
            share = sum(shares) / len(shares)
        elif is_known:
            share = float("airplane" not in f"{query.text}{query.questions}")
        elif self._manner == "random":
            share = random.Random(fingerprint([request.picture.image_id(), query.text, *query.questions])).random()
        elif self._manner == "by-text":
            share = random.Random(fingerprint([query.text, *query.questions])).random()
        else:
            share = float(self._manner != "no")
        if query.kind == "score":
            return Answer(text="", scores={"objects": 50 * share, "relations": 50 * share}, usage={"n_calls": 1.0})
        if query.kind == "grade":
            grades = {f"q{place}": float(share >= 0.5) for place in range(1, len(query.questions) + 1)}
            return Answer(text="", scores=grades, usage={"n_calls": 1.0})
        return Answer(text=self._choice(query.choices, share), scores={}, usage={"n_calls": 1.0})

    def _choice(self, choices: Sequence[str], share: float) -> str:
        if self._manner in ("first", "random") and choices:
            return choices[0 if self._manner == "first" else int(share * len(choices))]
        said = "yes" if share >= 0.5 else "no"
        return said if said in choices or not choices else choices[-1 if share >= 0.5 else 0]


def register(monkeypatch: pytest.MonkeyPatch) -> None:
    """Put these components into the registry for the length of a test."""
    for role, name, component in (("model", "garbage", Garbage), ("judge", "careless", Careless)):
        source = registry.BuiltIn(source=f"{__name__}:{component.__name__}")
        monkeypatch.setitem(registry.BUILT_IN[role], name, source)
