"""Messages about formulas and sentences."""

from __future__ import annotations

from collections.abc import Mapping

from salva.messages.entry import Entry

ENTRIES: Mapping[str, Entry] = {
    "entity-form": Entry("An entity is lower-case words, got {entity!r}."),
    "entity-reserved": Entry("The word {word!r} of {entity!r} belongs to the grammar."),
    "entity-colour": Entry("A colour stands before the entity, got {entity!r}."),
    "count-range": Entry("A count is from 1 to {limit}, got {got}. For none: no cat, or !cat."),
    "formula-unknown": Entry("There is no {what} {name!r}. Known: {known}."),
    "relation-sides": Entry("A relation needs different entities or colours, such as {example}."),
    "formula-expected": Entry("Expected {wanted}, got {got}."),
    "formula-bracket": Entry("This bracket is never {missing}."),
    "formula-sign": Entry("{sign!r} is no sign of formulas, which are & | ! ( ) @ ,"),
    "formula-no-parts": Entry("A conjunction or disjunction has no part."),
    "formula-too-deep": Entry("Formulas and sentences nest at most {limit} levels deep."),
    "formula-too-large": Entry("The formula is too large to decide."),
    "formula-contradictory": Entry("The formula is contradictory."),
    "middle-open": Entry("The axis of middle is open. Write x-middle or y-middle."),
    "text-length": Entry("{what} may have at most {limit} characters, got {n}."),
    "text-unprintable": Entry("The character {character!r} cannot be printed. Remove it."),
    "two-readings": Entry("The sentence can be read as {one} or as {other}. Say which."),
    "reach-open": Entry("It is open how far {words!r} reaches. Repeat it for each entity."),
    "picture-or-thing": Entry("Is {picture!r} the image or a thing in it? Write only what is there: no cat."),
    "word-not-in-formulas": Entry(
        "{word!r} cannot be said in a formula of entities, numbers, colours and places. Ask a judge."
    ),
    "word-denies": Entry("{word!r} cannot be said in a formula. Write: no cat, or: a dog without a cat."),
    "word-counts": Entry("{word!r} states no number. Write how many, such as: two cats."),
    "number-missing": Entry("How many {words}? Write a number in front."),
    "article-missing": Entry("{words!r} needs a, an or a number in front."),
    "sentence-asks": Entry("This is a question. Write what an image shows: a cat and a dog."),
    "reference-open": Entry("Which {entity} is meant? Say all about each {entity} at once."),
    "corner-of-several": Entry("Which {entity!r} is in the corner? Give each its own colour."),
    "bound-reach": Entry("Exactly, at least and the like need a number after them, not {words!r}."),
    "colour-in-name": Entry("In {name!r} the colour is part of the name. Name the entity otherwise."),
    "entity-unknown": Entry(
        "The entity {entity!r} is not in the lexicon; the nearest is {nearest!r}.",
        "It is read all the same. Detectors may not know it either.",
    ),
    "entities-unknown": Entry("{entity!r} and maybe others are not in the lexicon."),
    "colour-alone": Entry("{colour} what? Name the entity: a {colour} ball."),
    "colour-or-thing": Entry("Is {word!r} a colour or a thing? Write an article before each thing."),
    "caption-pipeline-unfit": Entry("The spaCy pipeline {pipeline!r} lacks a tagger or a parser."),
    "caption-pipeline-missing": Entry(
        "No spaCy pipeline {pipelines} is installed. Use: python -m spacy download en_core_web_sm",
        "Plain captions need none: suite.parser=grammar.",
    ),
}
