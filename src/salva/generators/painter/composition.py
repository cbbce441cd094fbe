"""From a formula to a picture: choose a world, spoil it where asked, find a layout, paint.

The seed chooses the world, so two wordings of one meaning show the same things; the words and
the seed choose layout, styles, background and faults, so the two pictures differ as a model's
would. Every faultless layout is checked against the formula before it is painted.
"""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache

from salva.core.case import Prompt
from salva.core.fingerprint import Json, fingerprint
from salva.core.image import Picture
from salva.core.protocols import Rendered
from salva.core.scene import Box, Scene, Thing
from salva.english.describe import describe_world
from salva.english.sentences import from_english
from salva.errors import FormulaError, UsageError, unknown_name
from salva.generators.painter.drawing import (
    PaintedText,
    Placed,
    paint,
    pick_style,
    sprite_index,
    text_box_size,
)
from salva.generators.painter.faults import apply_fault, draw_faults, is_same_world, words_to_paint
from salva.generators.painter.hard import harden
from salva.generators.painter.layout import MOST_THINGS, EntityRequest, arrange
from salva.generators.painter.lettering import OTHER_SCRIPTS
from salva.imaging.palette import PALETTE
from salva.logic.formula import And, Atom, Formula, Not, atoms, axis_of, entities
from salva.logic.notation import parse, to_notation
from salva.logic.satisfaction import satisfies
from salva.logic.worlds import World, WorldThing, choose_world
from salva.messages import message

_WORLDS_TRIED = 12
_LAYOUTS_TRIED = 40


class SceneComposer:
    """Paints formulas, or scenes of its own choice, with fixed side, styles, background and fault rates."""

    def __init__(
        self,
        *,
        side: int,
        styles: tuple[str, ...],
        background: str,
        rates: Mapping[str, float],
        hard: str = "",
    ) -> None:
        drawn_styles = sprite_index()["styles"]
        for style in styles:
            if style not in drawn_styles:
                raise unknown_name("style", style, drawn_styles)
        self._side = side
        self._styles = styles
        self._background = "photo" if hard == "photo-ground" else background
        self._rates = rates
        self._hard = hard

    def paint(self, prompt: Prompt, seed: int) -> Rendered:
        """The picture of a prompt, with the true scene as its provenance."""
        formula = _formula(prompt.formula, prompt.text)
        _check_entities(entities(formula), self._styles)
        rng = random.Random(fingerprint([prompt.text, seed]))
        faults = draw_faults(self._rates, prompt.text, seed, prompt.role)
        words = words_to_paint(prompt.text, rng) if "optical-character" in faults else ""
        composed = self._of_some_world(formula, faults, words, seed, rng)
        if composed is None:
            values = {"formula": to_notation(formula), "n": MOST_THINGS}
            raise UsageError(message("arrangement-missing", **values))
        return self._rendered(composed, formula, rng)

    def _of_some_world(
        self, formula: Formula, faults: Sequence[str], words: str, seed: int, rng: random.Random
    ) -> _Composed | None:
        """A layout of the first world that has one, of those the seed chooses; spoilt where faults change it."""
        # The words are left out on purpose: every wording of a case shows the same world.
        world_rng = random.Random(f"world:{seed}")
        for _ in range(_WORLDS_TRIED):
            world = choose_world(formula, world_rng)
            if len(world.things) > MOST_THINGS:
                continue
            right = self._compose(world, _with_absences(formula, world), words, rng)
            if right is None:
                continue
            shown, planted = _spoil(world, faults, entities(formula), rng)
            if not planted:
                return right
            wrong = self._compose(shown, formula, words, rng, is_spoilt=True)
            return replace(wrong, planted=planted) if wrong is not None else None
        return None

    def paint_random(
        self, rng: random.Random, names: Sequence[str], n_things: int, text: str, colour_rate: float
    ) -> tuple[Picture, tuple[Thing, ...]]:
        """A picture of n random things, and what is where in it."""
        _check_entities(names, self._styles)
        if n_things > MOST_THINGS:
            raise UsageError(message("entities-too-many", n=MOST_THINGS, given=n_things))
        drawings = sprite_index()["entities"]
        things = []
        for name in (rng.choice(names) for _ in range(n_things)):
            is_coloured = drawings[name]["colourable"] and rng.random() < colour_rate
            things.append(WorldThing(entity=name, colour=rng.choice(list(PALETTE)) if is_coloured else None))
        composed = self._compose(World(things=tuple(things)), None, text, rng)
        assert composed is not None, "a dozen things without places always find room"
        return self._picture(composed, rng), _scene(composed.placed).things

    def _compose(
        self, world: World, formula: Formula | None, words: str, rng: random.Random, *, is_spoilt: bool = False
    ) -> _Composed | None:
        """A layout of the world that shows its formula; a spoilt world cannot, and is laid out as it is."""
        for attempt in range(_LAYOUTS_TRIED):
            wishes = _wishes(world, formula, self._styles, rng)
            text = _text_strip(words, self._side, rng, self._hard) if words else None
            arranged = arrange(
                wishes,
                world.relations,
                side=self._side,
                rng=rng,
                scale=max(0.3, 1 - 0.05 * attempt),
                kept_free=(text.box,) if text else (),
            )
            placed = harden(self._hard, arranged, rng) if arranged is not None else None
            if placed is not None and (formula is None or is_spoilt or satisfies(formula, _scene(placed))):
                return _Composed(placed=placed, text=text, world=world)
        return None

    def _rendered(self, composed: _Composed, formula: Formula, rng: random.Random) -> Rendered:
        things: list[Json] = [
            {"label": p.entity, "box": [round(edge, 4) for edge in _visible(p.box)], "colour": p.colour}
            for p in composed.placed
        ]
        text = composed.text.text if composed.text else ""
        planted: list[Json] = [*composed.planted, *(["optical-character"] if text else [])]
        world = describe_world(composed.world, entities(formula))
        return Rendered(
            picture=self._picture(composed, rng),
            provenance={"planted": planted, "things": things, "world": world, "text": text},
        )

    def _picture(self, composed: _Composed, rng: random.Random) -> Picture:
        return paint(
            composed.placed,
            side=self._side,
            background=self._background,
            seed=rng.getrandbits(32),
            has_shadows=rng.random() < 0.6,
            text=composed.text,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class _Composed:
    """A layout, the words that go with it, and what it shows."""

    placed: tuple[Placed, ...]
    text: PaintedText | None
    world: World
    planted: tuple[str, ...] = ()


def _spoil(
    world: World, faults: Sequence[str], mentioned: Sequence[str], rng: random.Random
) -> tuple[World, tuple[str, ...]]:
    """The world with its faults, and the names of those that changed something."""
    planted: tuple[str, ...] = ()
    for name in faults:
        spoilt = apply_fault(name, world, mentioned, rng)
        if not is_same_world(spoilt, world):
            world, planted = spoilt, (*planted, name)
    return world, planted


def _wishes(world: World, formula: Formula | None, styles: tuple[str, ...], rng: random.Random) -> list[EntityRequest]:
    # Most pictures are of one hand: a favourite style, taken wherever a thing is drawn in it.
    favourite = rng.choice(styles or list(sprite_index()["styles"])) if rng.random() < 0.6 else None
    drawings = sprite_index()["entities"]
    wishes = []
    for thing in world.things:
        has_favourite = favourite is not None and favourite in drawings[thing.entity]["styles"]
        wishes.append(
            EntityRequest(
                entity=thing.entity,
                style=favourite if has_favourite and favourite else pick_style(rng, thing.entity, styles),
                colour=_colour(thing, formula, rng),
                x=_place(thing.x, "x", thing.entity, formula, rng),
                y=_place(thing.y, "y", thing.entity, formula, rng),
            )
        )
    return wishes


def _with_absences(formula: Formula, world: World) -> Formula:
    """The formula, and that nothing stands where this world has nothing.

    By the order of centroids a dog "elsewhere" may come to stand left of the cat and so be on the left after all;
    such a layout shows another world than the one that was chosen.
    """
    for atom in atoms(formula):
        if isinstance(atom, Atom) and atom.place:
            axis, place = axis_of(atom.place), atom.place.removeprefix("x-").removeprefix("y-")
            own = [thing.x if axis == "x" else thing.y for thing in world.things if thing.entity == atom.entity]
            if own and place not in own:
                formula = And(formula, Not(Atom(atom.entity, place=atom.place)))
    return formula


def _place(place: str | None, axis: str, entity: str, formula: Formula | None, rng: random.Random) -> str | None:
    if place != "elsewhere":
        return place
    assert formula is not None, "only a formula speaks of elsewhere"
    mentioned = {
        atom.place.removeprefix("x-").removeprefix("y-")
        for atom in atoms(formula)
        if isinstance(atom, Atom) and atom.entity == entity and atom.place and axis_of(atom.place) == axis
    }
    places = ("left", "middle", "right") if axis == "x" else ("top", "middle", "bottom")
    return rng.choice([other for other in places if other not in mentioned] or list(places))


def _colour(thing: WorldThing, formula: Formula | None, rng: random.Random) -> str | None:
    if thing.colour is None:
        return None
    drawings = sprite_index()["entities"]
    if not drawings[thing.entity]["colourable"]:
        names = ", ".join(name for name in drawings if drawings[name]["colourable"])
        raise UsageError(message("colour-unavailable", entity=thing.entity, names=names))
    if thing.colour != "other":
        return thing.colour
    assert formula is not None, "only a formula speaks of other colours"
    mentioned = {a.colour for a in atoms(formula) if isinstance(a, Atom) and a.entity == thing.entity}
    return rng.choice([colour for colour in PALETTE if colour not in mentioned])


def _text_strip(words: str, side: int, rng: random.Random, hard: str) -> PaintedText:
    if hard == "other-scripts":
        words = rng.choice(OTHER_SCRIPTS)
    turn = rng.choice((-1, 1)) * rng.uniform(15, 90) if hard == "turned-text" else 0.0
    width, height = text_box_size(words, side, turn)
    while max(width, height) > 0.96 and len(words) > 1:
        words = words[:-1].rstrip()
        width, height = text_box_size(words, side, turn)
    x0 = round(rng.uniform(0.02, max(0.02, 0.98 - width)) * side) / side
    y0 = round((rng.uniform(0.01, 0.04) if rng.random() < 0.5 else rng.uniform(0.96, 0.99) - height) * side) / side
    box = (x0, max(0.0, y0), x0 + width, max(0.0, y0) + height)
    return PaintedText(text=words, box=box, is_dark=rng.random() < 0.5, turn=turn)


def _visible(box: Box) -> Box:
    """What of a box lies in the picture."""
    return max(0.0, box[0]), max(0.0, box[1]), min(1.0, box[2]), min(1.0, box[3])


def _scene(placed: Sequence[Placed]) -> Scene:
    return Scene(things=tuple(Thing(label=p.entity, box=_visible(p.box), colour=p.colour) for p in placed))


def _check_entities(names: Sequence[str], styles: tuple[str, ...]) -> None:
    drawings = sprite_index()["entities"]
    missing = [name for name in names if name not in drawings]
    if missing:
        raise unknown_name("drawing", missing[0], drawings)
    undrawn = [name for name in names if styles and not set(styles) & set(drawings[name]["styles"])]
    if undrawn:
        available = ", ".join(drawings[undrawn[0]]["styles"])
        raise UsageError(message("style-unavailable", entity=undrawn[0], style=", ".join(styles), available=available))


@lru_cache(maxsize=4096)
def _formula(notation: str | None, text: str) -> Formula:
    if notation is not None:
        return parse(notation)
    try:
        return from_english(text)
    except FormulaError as error:
        raise UsageError(message("formula-needed", text=text)) from error
