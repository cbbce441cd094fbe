"""From a formula to an image: choose a world, plant faults, find a layout, draw.

The seed chooses the world, so two wordings of one meaning show the same entities. Words and seed choose layout,
styles, background and faults, so the two images differ like those of a model. A layout without faults is checked
against the formula before it is drawn.
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
from salva.errors import FormulaError, UsageError, unknown_name
from salva.generators.painter.drawing import (
    Placed,
    TextStrip,
    draw,
    pick_style,
    sprite_index,
    text_box_size,
)
from salva.generators.painter.faults import apply_fault, draw_faults, is_same_world, words_to_draw
from salva.generators.painter.hard import make_hard
from salva.generators.painter.layout import MOST_ENTITIES, EntityRequest, arrange
from salva.generators.painter.lettering import OTHER_SCRIPTS
from salva.imaging.palette import PALETTE
from salva.logic.formula import And, Atom, Formula, Not, atoms, axis_of, described_by, entities
from salva.logic.notation import parse, to_notation
from salva.logic.satisfaction import satisfies
from salva.logic.worlds import World, WorldThing, choose_world
from salva.messages import message

_WORLDS_TRIED = 12
_LAYOUTS_TRIED = 40


class SceneComposer:
    """Draws formulas or random scenes with fixed side, styles, background and fault rates."""

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

    def draw(self, prompt: Prompt, seed: int) -> Rendered:
        """The image of a prompt, with the true scene as its provenance."""
        formula = _formula(prompt.formula, prompt.text)
        _check_entities(entities(formula), self._styles)
        rng = random.Random(fingerprint([prompt.text, seed]))
        faults = draw_faults(self._rates, prompt.text, seed, prompt.role)
        words = words_to_draw(prompt.text, rng) if "optical-character" in faults else ""
        composed = self._compose_any_world(formula, faults, words, seed, rng)
        if composed is None:
            values = {"formula": to_notation(formula), "n": MOST_ENTITIES}
            raise UsageError(message("arrangement-missing", **values))
        return self._rendered(composed, formula, rng)

    def _compose_any_world(
        self, formula: Formula, faults: Sequence[str], words: str, seed: int, rng: random.Random
    ) -> _Composed | None:
        """A layout, with faults, of the first world that has one; the seed chooses the worlds."""
        # Not from the words, so that every wording of a case shows the same world.
        world_rng = random.Random(f"world:{seed}")
        for _ in range(_WORLDS_TRIED):
            world = choose_world(formula, world_rng)
            if len(world.things) > MOST_ENTITIES:
                continue
            right = self._compose(world, _with_absences(formula, world), words, rng)
            if right is None:
                continue
            shown, planted = _plant(world, faults, entities(formula), rng)
            if not planted:
                return right
            wrong = self._compose(shown, formula, words, rng, has_faults=True)
            return replace(wrong, planted=planted) if wrong is not None else None
        return None

    def draw_random(
        self, rng: random.Random, names: Sequence[str], n_entities: int, text: str, colour_rate: float
    ) -> tuple[Picture, tuple[Thing, ...]]:
        """An image of n random entities, and where they are."""
        _check_entities(names, self._styles)
        if n_entities > MOST_ENTITIES:
            raise UsageError(message("entities-too-many", n=MOST_ENTITIES, given=n_entities))
        drawings = sprite_index()["entities"]
        things = []
        for name in (rng.choice(names) for _ in range(n_entities)):
            is_coloured = drawings[name]["colourable"] and rng.random() < colour_rate
            things.append(WorldThing(entity=name, colour=rng.choice(list(PALETTE)) if is_coloured else None))
        composed = self._compose(World(things=tuple(things)), None, text, rng)
        assert composed is not None, "twelve entities always fit"
        return self._picture(composed, rng), _scene(composed.placed).things

    def _compose(
        self, world: World, formula: Formula | None, words: str, rng: random.Random, *, has_faults: bool = False
    ) -> _Composed | None:
        """A layout of the world that fits its formula; one with faults need not fit."""
        for attempt in range(_LAYOUTS_TRIED):
            placements = _placements(world, formula, self._styles, rng)
            text = _text_strip(words, self._side, rng, self._hard) if words else None
            arranged = arrange(
                placements,
                world.relations,
                side=self._side,
                rng=rng,
                scale=max(0.3, 1 - 0.05 * attempt),
                reserved=(text.box,) if text else (),
            )
            placed = make_hard(self._hard, arranged, rng) if arranged is not None else None
            if placed is not None and (formula is None or has_faults or satisfies(formula, _scene(placed))):
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
        return draw(
            composed.placed,
            side=self._side,
            background=self._background,
            seed=rng.getrandbits(32),
            has_shadows=rng.random() < 0.6,
            text=composed.text,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class _Composed:
    """A layout, its text and its world."""

    placed: tuple[Placed, ...]
    text: TextStrip | None
    world: World
    planted: tuple[str, ...] = ()


def _plant(
    world: World, faults: Sequence[str], mentioned: Sequence[str], rng: random.Random
) -> tuple[World, tuple[str, ...]]:
    """The world with its faults, and the names of those that changed something."""
    planted: tuple[str, ...] = ()
    for name in faults:
        changed = apply_fault(name, world, mentioned, rng)
        if not is_same_world(changed, world):
            world, planted = changed, (*planted, name)
    return world, planted


def _placements(
    world: World, formula: Formula | None, styles: tuple[str, ...], rng: random.Random
) -> list[EntityRequest]:
    # Most images have a favourite style, used for every entity that has it.
    favourite = rng.choice(styles or list(sprite_index()["styles"])) if rng.random() < 0.6 else None
    drawings = sprite_index()["entities"]
    placements = []
    for thing in world.things:
        has_favourite = favourite is not None and favourite in drawings[thing.entity]["styles"]
        placements.append(
            EntityRequest(
                entity=thing.entity,
                style=favourite if has_favourite and favourite else pick_style(rng, thing.entity, styles),
                colour=_colour(thing, formula, rng),
                x=_place(thing.x, "x", thing.entity, formula, rng),
                y=_place(thing.y, "y", thing.entity, formula, rng),
            )
        )
    return placements


def _with_absences(formula: Formula, world: World) -> Formula:
    """The formula with the places that are empty in this world.

    Otherwise a dog "elsewhere" may be left of the cat, which is "on the left" by the order of centroids.
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
    assert formula is not None
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
    assert formula is not None
    mentioned = {atom.colour for leaf in atoms(formula) for atom in described_by(leaf) if atom.entity == thing.entity}
    return rng.choice([colour for colour in PALETTE if colour not in mentioned])


def _text_strip(words: str, side: int, rng: random.Random, hard: str) -> TextStrip:
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
    return TextStrip(text=words, box=box, is_dark=rng.random() < 0.5, turn=turn)


def _visible(box: Box) -> Box:
    """The part of a box in the image."""
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
    from salva.english.sentences import from_english

    try:
        return from_english(text)
    except FormulaError as error:
        raise UsageError(message("formula-needed", text=text)) from error
