"""CF-World in pocket's world: the three levels against what is usual there, each question with its formula.

A law about colours, places or numbers is changed; L1 leaves what is usual unsaid, L2 says what is to be seen, L3 only
what the law is now. Words that a small model does not know may be passed over. Knows no model.
"""

from __future__ import annotations

from collections.abc import Iterator

from salva.assets.pocket_priors import USUAL_COLOURS, USUAL_PLACES
from salva.core.question import Question
from salva.english.words import counted, number_word, with_article
from salva.suites.cfworld.groups import INTEGRITY, LOGIC, POINT, LevelGroup, LevelPrompt, question

COLOUR, PLACE, NUMBER = "colour", "place", "number"
_COLOURS = ("blue", "purple", "white")
"""What usual colours are changed to; usual for none of the entities."""
_COMPANIONS = ("dog", "cat", "cup", "book", "ball")
"""Entities without a usual colour or place, that stand beside the one the law is about."""
_COUNTED = (("cat", "cup"), ("dog", "ball"), ("cow", "book"), ("cup", "dog"))
_NUMBERS = (2, 3, 4)
_OPPOSITE = {"top": "bottom", "bottom": "top"}
_UP_DOWN = {"top": "up in the sky", "bottom": "down on the ground"}


def embedded_groups() -> Iterator[LevelGroup]:
    """Every group, law by law."""
    yield from _colours()
    yield from _places()
    yield from _numbers()


def _colours() -> Iterator[LevelGroup]:
    for i, (entity, usual) in enumerate(USUAL_COLOURS.items()):
        for j, other in enumerate(_COLOURS):
            beside = _COMPANIONS[(i + j) % len(_COMPANIONS)]
            scene = f"{with_article(entity)} and {with_article(beside)}"
            fact = " | ".join(f"{colour} {entity}" for colour in usual)
            point = f"The {entity} is {other}."
            law = f"everything that is {usual[0]} were {other} and everything {other} were {usual[0]}"
            yield _group(
                COLOUR,
                f"{entity}-{other}",
                f"Things keep their colours: {with_article(entity)} is {' or '.join(usual)}.",
                # Two usual colours are two entities to the logic: without a number the painter may add one of a third.
                fact=(
                    f"Draw {scene}.",
                    f"The {entity} is {' or '.join(usual)}.",
                    f"({fact}) & !2 {entity} & {beside}",
                    f"({fact})",
                ),
                law=(f"If {law}, draw {scene}.", point, f"{other} {entity} & {beside}", f"{other} {entity}"),
                old=f"!({fact})",
                entities=(entity, beside),
            )


def _places() -> Iterator[LevelGroup]:
    for i, (entity, usual) in enumerate(USUAL_PLACES.items()):
        beside, other = _COMPANIONS[i % len(_COMPANIONS)], _OPPOSITE[usual]
        scene = f"{with_article(entity)} and {with_article(beside)}"
        law = f"what belongs {_UP_DOWN[usual]} were found {_UP_DOWN[other]}"
        yield _group(
            PLACE,
            f"{entity}-{other}",
            f"Things have their place: {with_article(entity)} is at the {usual}.",
            fact=(
                f"Draw {scene}.",
                f"The {entity} is at the {usual}.",
                f"{entity}@{usual} & {beside}",
                f"{entity}@{usual}",
            ),
            law=(
                f"If {law}, draw {scene}.",
                f"The {entity} is at the {other}.",
                f"{entity}@{other} & {beside}",
                f"{entity}@{other}",
            ),
            old=f"!{entity}@{usual}",
            entities=(entity, beside),
        )


def _numbers() -> Iterator[LevelGroup]:
    for entity, beside in _COUNTED:
        for n in _NUMBERS:
            scene = f"{with_article(entity)} and {with_article(beside)}"
            many = f"{counted(entity, n)} and {counted(beside, n)}"
            fact = ("Draw " + scene + ".", f"There is one {entity}.", f"{entity} & {beside}", f"{entity} & !2 {entity}")
            yield _group(
                NUMBER,
                f"{entity}-{n}",
                f"One is one: somebody who asks for {with_article(entity)} is shown one.",
                fact=fact,
                law=(
                    f"If every thing always came in groups of {number_word(n)}, draw {scene}.",
                    f"There are {many}.",
                    f"{n} {entity} & {n} {beside}",
                    f"{n} {entity} & !{n + 1} {entity}",
                ),
                old=f"{n} {beside} & !{n + 1} {beside}",
                entities=(entity, beside),
            )


def _group(
    law_name: str,
    name: str,
    principle: str,
    *,
    fact: tuple[str, str, str, str],
    law: tuple[str, str, str, str],
    old: str,
    entities: tuple[str, str],
) -> LevelGroup:
    """A group from a fact and a law: prompt, point, what is generated, and what the point means.

    old: what is left of the old law is gone.
    """
    entity, beside = entities
    one = f"{beside} & !2 {beside}"
    rest = old if law_name == NUMBER else f"{old} & {one}"
    prompt, point, scene, meaning = law
    said = LevelPrompt(
        prompt=f"{prompt} {point}", point=point, formula=scene, questions=_questions(point, meaning, rest, entities)
    )
    unsaid = LevelPrompt(prompt=prompt, point=point, formula=scene, questions=said.questions)
    return LevelGroup(
        discipline=f"pocket-{law_name}",
        group_id=name,
        category=law_name,
        principle=principle,
        l1=LevelPrompt(
            prompt=fact[0], point=fact[1], formula=fact[2], questions=_questions(fact[1], fact[3], one, entities)
        ),
        l2=said,
        l3=unsaid,
        labels={"law": law_name, "entity": entity},
    )


def _questions(point: str, meaning: str, rest: str, entities: tuple[str, str]) -> tuple[Question, ...]:
    entity, beside = entities
    return (
        question(
            INTEGRITY,
            f"Can {with_article(entity)} and {with_article(beside)} be recognised?",
            {1.0: "Both can.", 0.0: "One of them cannot."},
            f"{entity} & {beside}",
        ),
        question(POINT, f"Is this so: {point}", {1.0: "It is so.", 0.0: "It is not."}, meaning),
        question(
            LOGIC,
            f"Does the rest of the picture follow the same law, the {beside} included?",
            {1.0: "It does.", 0.0: "It does not."},
            rest,
        ),
    )
