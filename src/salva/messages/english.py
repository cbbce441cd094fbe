"""Messages about formulas and sentences."""

from __future__ import annotations

from collections.abc import Mapping

from salva.messages.entry import Entry

ENTRIES: Mapping[str, Entry] = {
    "entity-form": Entry("An entity is one or more lower-case words, got {entity!r}."),
    "entity-reserved": Entry(
        "The word {word!r} belongs to the grammar and cannot be part of an entity, got {entity!r}.",
    ),
    "entity-colour": Entry(
        "A colour stands before the entity, got {entity!r}.",
    ),
    "count-range": Entry(
        "A count must be from 1 to {limit}, got {got}. For none say no cat, or !cat.",
    ),
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
        "The formula is too large to decide. Split it, or name fewer entities.",
    ),
    "formula-contradictory": Entry("The formula is contradictory: no image can satisfy it."),
    "middle-open": Entry("The axis of middle is open. Write x-middle or y-middle."),
    "text-length": Entry("{what} may have at most {limit} characters, got {n}. Split it."),
    "text-unprintable": Entry("The character {character!r} cannot be printed. Remove it."),
    "two-readings": Entry(
        "The sentence can be read as {one} or as {other}. Say which.",
    ),
    "reach-open": Entry(
        "It is open how far {words!r} reaches. Repeat it for each entity.",
    ),
    "word-not-in-formulas": Entry(
        "{word!r} cannot be said in a formula. Use entities, numbers, colours and places.",
        "Ask a judge about actions, sizes and other attributes.",
    ),
    "colour-alone": Entry(
        "{colour} what? Name the entity after it, such as a {colour} ball.",
    ),
    "caption-pipeline-unfit": Entry("The spaCy pipeline {pipeline!r} lacks a tagger or a parser."),
    "caption-pipeline-missing": Entry(
        "No spaCy pipeline {pipelines} is installed. Install one with: python -m spacy download en_core_web_sm",
        "Plain captions can be read with suite.parser=grammar.",
    ),
}
