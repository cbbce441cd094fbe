"""Generator: draws a scene that fits the prompt's formula, with planted faults on request.

composition.py does the work. It is imported when a painter is built, because options need neither numpy nor Pillow.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from salva.assets.files import folder_digest
from salva.core.about import About, Habits
from salva.core.image import Picture
from salva.core.options import option
from salva.core.protocols import Rendered, RenderRequest
from salva.core.scene import Thing
from salva.errors import BackendError, SalvaError
from salva.generators.painter.faults import parse_faults
from salva.generators.painter.hard import HARD
from salva.messages import Message

BACKGROUNDS = ("varied", "plain", "white", "photo")


@dataclass(frozen=True, slots=True, kw_only=True)
class PainterOptions:
    """What can be set with --set model.NAME=VALUE."""

    side: int = option(256, "Width and height in pixels.", least=256, most=2048)
    faults: str = option("", "Faults and rates, entity-omission:0.3,x-misposition:0.1; NAME@ROLE for one role.")
    styles: tuple[str, ...] = option((), "Drawing styles; empty for all.")
    background: str = option("varied", "The background.", choices=BACKGROUNDS)
    hard: str = option("", "A kind of difficulty for detectors.", choices=("", *HARD))

    def __post_init__(self) -> None:
        parse_faults(self.faults)


class Painter:
    """Draws formulas from sprites; without errors unless faults are planted."""

    version: ClassVar[str] = "1"
    about: ClassVar[About] = About(sees_formula=True, seeds_hold=True, defaults={"detector": "pocket"})
    habits: ClassVar[Habits] = Habits(batch_size=8)
    Options = PainterOptions

    def __init__(self, options: PainterOptions) -> None:
        from salva.generators.painter.composition import SceneComposer

        self._composer = SceneComposer(
            side=options.side,
            styles=options.styles,
            background=options.background,
            rates=parse_faults(options.faults),
            hard=options.hard,
        )

    @classmethod
    def weights(cls, options: PainterOptions) -> str:  # noqa: ARG003  # one set of sprites
        """The digest of the sprites."""
        return folder_digest("sprites")[:16]

    def render(self, requests: Sequence[RenderRequest]) -> Sequence[Rendered | SalvaError]:
        """One image or error per request."""
        outcomes: list[Rendered | SalvaError] = []
        for request in requests:
            try:
                outcomes.append(self._composer.draw(request.prompt, request.seed))
            except SalvaError as error:
                # An error concerns this prompt only.
                outcomes.append(BackendError(Message(str(error), error.code), is_retryable=False))
        return outcomes


def random_scene(
    rng: random.Random,
    entities: Sequence[str],
    n_entities: int,
    side: int = 256,
    *,
    styles: tuple[str, ...] = (),
    background: str = "varied",
    text: str = "",
    colour_rate: float = 0.0,
) -> tuple[Picture, tuple[Thing, ...]]:
    """An image of n random entities and where they are, without a formula.

    text: words to draw besides. colour_rate: how often an entity that can be coloured gets a colour.
    """
    from salva.generators.painter.composition import SceneComposer

    composer = SceneComposer(side=side, styles=styles, background=background, rates={})
    return composer.draw_random(rng, entities, n_entities, text, colour_rate)
