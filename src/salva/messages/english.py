"""Messages about formulas and sentences."""

from __future__ import annotations

from collections.abc import Mapping

from salva.messages.entry import Entry

ENTRIES: Mapping[str, Entry] = {
    "entity-form": Entry("An entity is one or more lower-case words, got {entity!r}."),
    "entity-reserved": Entry(
        "The word {word!r} belongs to the grammar and cannot be part of an entity, got {entity!r}.",
        "A sentence that names such an entity could be read in two ways.",
    ),
    "entity-colour": Entry("A colour stands before the entity and is not part of it, got {entity!r}."),
    "count-range": Entry("A count must be from 1 to {limit}, got {got}. Say no cat, or !cat, for none."),
    "formula-unknown": Entry("There is no {what} {name!r}. Known: {known}."),
    "relation-sides": Entry(
        "A relation holds between two different single entities without a colour, such as {example}.",
    ),
    "formula-expected": Entry("Expected {wanted}, got {got}."),
    "formula-bracket": Entry("This bracket is never {missing}."),
    "formula-sign": Entry("{sign!r} has no meaning in a formula. The signs are & | ! ( ) @ ,"),
    "formula-no-parts": Entry("A conjunction or disjunction needs at least one part."),
    "formula-too-deep": Entry("A formula or sentence may nest {limit} levels deep. Simplify it."),
    "formula-too-large": Entry(
        "The formula is too large to decide. Split it, or name fewer entities, numbers and relations.",
        "Whether two formulas mean the same is decided over all their worlds, with a limit on the time.",
    ),
    "formula-contradictory": Entry("The formula is contradictory: no image can satisfy it."),
    "middle-open": Entry("The axis of middle is open. Write x-middle or y-middle."),
    "text-length": Entry("{what} may have at most {limit} characters, got {n}. Split it."),
    "text-unprintable": Entry("The character {character!r} cannot be printed. Remove it."),
    "two-readings": Entry(
        "The sentence can be read as {one} or as {other}. Say which.",
        "A prompt with two honest readings has no formula: a guess would make every later number wrong.",
    ),
    "reach-open": Entry(
        "It is open how far {words!r} reaches. Say it of each entity, or in two clauses.",
    ),
    "word-not-in-formulas": Entry(
        "{word!r} cannot be said in a formula. Name entities, numbers, colours and places.",
        "Actions, sizes and other attributes are no part of a formula. A judge can be asked about them.",
    ),
    "colour-alone": Entry("{colour} what? Name the entity after its colour, such as a {colour} ball."),
    "caption-pipeline-unfit": Entry("The spaCy pipeline {pipeline!r} lacks a tagger or a parser."),
    "caption-pipeline-missing": Entry(
        "No spaCy pipeline {pipelines} is installed. Install one with: python -m spacy download en_core_web_sm",
        "Captions of a user are taken apart by spaCy; plain ones in pocket's words by suite.parser=grammar.",
    ),
}
