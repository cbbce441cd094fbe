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
        "A relation holds between different entities, or those of different colours, such as {example}.",
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
    "word-denies": Entry(
        "{word!r} denies something in a way that formulas cannot say. Write: no cat, or: a dog without a cat.",
    ),
    "word-counts": Entry(
        "{word!r} states no number. Write how many there are in all, such as: two cats.",
    ),
    "number-missing": Entry("How many {words}? Write a number in front."),
    "article-missing": Entry("Write a, an or a number before {words!r}."),
    "sentence-asks": Entry("This is a question. Write what an image shows, such as: a cat and a dog."),
    "reference-open": Entry(
        "It is open which {entity} is meant. Mention each {entity} once, and say all about it there.",
        "A sentence may come back to an entity with the, if only one such entity, or one group, was mentioned before.",
    ),
    "corner-of-several": Entry(
        "With {entity!r} mentioned elsewhere, a formula cannot say which one is in the corner. Give each its own colour.",
    ),
    "bound-reach": Entry(
        "Exactly, at least and the like go with a number, not with {words!r}. Write the number alone.",
    ),
    "colour-in-name": Entry(
        "In {name!r} the colour is part of the name and need not be seen. Name the entity in another way.",
    ),
    "entity-unknown": Entry(
        "The entity {entity!r} is not in the lexicon; the nearest known one is {nearest!r}. Check the spelling.",
        "An unknown entity is read all the same. Detectors may not know it either.",
    ),
    "entities-unknown": Entry("The entity {entity!r} and maybe others are not in the lexicon. Check the spelling."),
    "colour-alone": Entry(
        "{colour} what? Name the entity after it, such as a {colour} ball.",
    ),
    "caption-pipeline-unfit": Entry("The spaCy pipeline {pipeline!r} lacks a tagger or a parser."),
    "caption-pipeline-missing": Entry(
        "No spaCy pipeline {pipelines} is installed. Install one with: python -m spacy download en_core_web_sm",
        "Plain captions can be read with suite.parser=grammar.",
    ),
}
