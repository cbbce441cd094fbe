"""Boxes and answers to observations: which entities, and which triples of the two captions.

Boxes decide predicates of place (on, under, left of, near, ...), by the geometry that formulas go by; a judge is asked
one closed question about every other triple; a detector that says how boxes stand to each other decides all that it has
a word for.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from salva.checks.asking import AskingOptions
from salva.core.boxes import PlacedEntity, boxes_above, placed_entities
from salva.core.case import Case
from salva.core.mutation import Mutation, Triple
from salva.core.observation import Answer, Detections
from salva.core.options import option
from salva.core.protocols import ImageObservations, Query
from salva.core.scene import Thing
from salva.english.captions.classes import VG_PREDICATES, Classes
from salva.english.predicates import is_geometric, stands
from salva.english.words import with_article
from salva.errors import UsageError
from salva.messages import message
from salva.suites.actesting.definitions import DEFINITIONS, EXPECTED, ObservedImage

YES, NO = "yes", "no"
_CLASSES = Classes()
_N_STRONGEST = 20
"""As many boxes, and relations, as the released program looks at."""
_FINITE = {"left of": "to the left of", "right of": "to the right of"} | {
    "has": "that has",
    "wears": "that wears",
    "says": "that says",
    "eats": "that eats",
    "holds": "that holds",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class MutationOptions(AskingOptions):
    """How two images are held against a mutation."""

    definition: str = option(EXPECTED, "Rule: ours, the paper's, or its program's.", choices=DEFINITIONS)
    scope: str = option("all", "For expected: which entities count.", choices=("all", "mentioned"))
    side: int = option(0, "Scale images to this side; 0: no.", least=0)
    tolerance: int = option(0, "Entities and relations that may differ.", least=0)
    threshold: float | None = option(None, "Least score of a box.", least=0, most=1)
    doubt: float | None = option(None, "Least score for certainty.", least=0, most=1)


def mutation_of(case: Case) -> Mutation:
    """What changed; cases of other suites have nothing of the kind."""
    if case.mutation is None:
        raise UsageError(message("case-of-other-suite", case=case.case_id, suite="actesting"))
    return case.mutation


def focal_triples(mutation: Mutation) -> tuple[Triple, ...]:
    """The triples of either caption, each once."""
    return tuple(dict.fromkeys((*mutation.seed.triples, *mutation.mutant.triples)))


def boxes_query(mutation: Mutation, side: int = 0) -> Query:
    """What the detector is asked: the entities of either caption."""
    names = {*mutation.seed.entities, *mutation.mutant.entities}
    return Query(role="detector", labels=tuple(sorted(names)), side=side)


def question_about(triple: Triple) -> Query:
    """The closed question about a triple."""
    predicate = _FINITE.get(triple.predicate, triple.predicate)
    text = f"Does the picture show {with_article(triple.subject)} {predicate} {with_article(triple.object)}?"
    return Query(role="judge", kind="answer", text=text, choices=(YES, NO))


def questions(mutation: Mutation, sight: ImageObservations | None, options: MutationOptions) -> list[Query]:
    """What a judge is asked: whatever boxes cannot decide, and the places that the boxes seen leave open."""
    seen = see(mutation, sight, options) if sight is not None else ""
    doubtful = () if isinstance(seen, str) else seen.undecided
    asked = [triple for triple in focal_triples(mutation) if not is_geometric(triple.predicate) or triple in doubtful]
    return [question_about(triple) for triple in asked]


@dataclass(frozen=True, slots=True, kw_only=True)
class ImageReading:
    """One image as the definitions see it, and how sure of it the detector was."""

    image: ObservedImage
    mean_score: float | None
    """Of what the captions name; None without scores, or where nothing of it was seen."""
    undecided: tuple[Triple, ...]
    """Triples that are undecided."""


def see(mutation: Mutation, sight: ImageObservations, options: MutationOptions) -> ImageReading | str:
    """What was seen of one image, or why nobody can tell."""
    # Not by boxes_query: two images of one caption are compared by what was asked about both captions.
    observed = ((query, seen) for query, seen in sight.seen.items() if isinstance(seen, Detections))
    query, boxes = next(observed, (None, None))
    if query is None or boxes is None:
        return "no detections"
    least = boxes.threshold if options.threshold is None else options.threshold
    if least is not None and boxes.floor is not None and least < boxes.floor:
        return f"threshold {least:g} is below the detector's {boxes.floor:g}"
    seen = placed_entities(boxes, query.labels, options.threshold)
    doubt = (boxes.doubt if options.doubt is None else options.doubt) or 0.0
    sure = {placed_entity.thing.label for placed_entity in seen if placed_entity.score >= doubt}
    entities = frozenset(placed_entity.thing.label for placed_entity in seen)
    all_related = _related(boxes, range(len(boxes.boxes)), query.labels)
    if all_related is None:
        top = placed_entities(replace(boxes, boxes=boxes.boxes[:_N_STRONGEST]), query.labels, 0.0)
        triples = _decided(mutation, seen, doubt, sight)
        # The published rules know no doubt, and the program no threshold.
        relations, strongest = (_shown(_decided(mutation, some, 0.0, sight)) for some in (seen, top))
    else:
        count = {id(box) for box in boxes_above(boxes, options.threshold)}
        places = [place for place, box in enumerate(boxes.boxes) if id(box) in count]
        relations = (_related(boxes, places, query.labels) or ())[:_N_STRONGEST]
        strongest = _related(boxes, range(_N_STRONGEST), query.labels)
        triples = {
            # What scene graph models have no word for (next to, kicking) is decided as with any other detector.
            triple: True if said else False if triple.predicate in VG_PREDICATES else _holds(triple, seen, doubt, sight)
            for triple in focal_triples(mutation)
            for said in [_is_said(triple, relations)]
        }
    named = [placed_entity.score for placed_entity in seen if placed_entity.thing.label in query.labels]
    has_scores = boxes.threshold is not None
    return ImageReading(
        image=ObservedImage(
            entities=entities,
            doubtful=entities - sure,
            triples=triples,
            relations=relations,
            strongest=frozenset(box.name_for(query.labels) for box in boxes.boxes[:_N_STRONGEST]),
            strongest_relations=strongest,
        ),
        mean_score=sum(named) / len(named) if named and has_scores else None,
        undecided=tuple(triple for triple, holds in triples.items() if holds is None),
    )


def _related(boxes: Detections, places: Sequence[int], wanted: Sequence[str]) -> tuple[Triple, ...] | None:
    """What the detector says of boxes at some places, in its own order; None where it says nothing of relations."""
    if boxes.relations is None:
        return None
    names = [box.name_for(wanted) for box in boxes.boxes]
    chosen = {*places}
    return tuple(
        Triple(subject=names[r.subject], predicate=r.predicate, object=names[r.object])
        for r in boxes.relations
        if r.subject in chosen and r.object in chosen
    )


def _is_said(triple: Triple, relations: Sequence[Triple]) -> bool:
    """Whether a detector says a triple in the caption's words, or in words of the same class: sitting on is on."""
    same_things = (r.predicate for r in relations if (r.subject, r.object) == (triple.subject, triple.object))
    return any(triple.predicate in (said, _CLASSES.predicate(said)) for said in same_things)


def _decided(
    mutation: Mutation, seen: Sequence[PlacedEntity], doubt: float, sight: ImageObservations
) -> dict[Triple, bool | None]:
    return {triple: _holds(triple, seen, doubt, sight) for triple in focal_triples(mutation)}


def _shown(triples: Mapping[Triple, bool | None]) -> tuple[Triple, ...] | None:
    """The triples that an image shows; None where that is not known of all."""
    return None if None in triples.values() else tuple(triple for triple, holds in triples.items() if holds)


def _holds(triple: Triple, seen: Sequence[PlacedEntity], doubt: float, sight: ImageObservations) -> bool | None:
    """Whether an image shows a triple; None where are undecided."""
    if is_geometric(triple.predicate):
        by_all, by_sure = (_placed(triple, _by_label(seen, least)) for least in (0.0, doubt))
        if by_all == by_sure:
            return by_all
    answer = sight.seen.get(question_about(triple))
    if not isinstance(answer, Answer) or answer.problem or answer.text not in (YES, NO):
        return None
    return answer.text == YES


def _placed(triple: Triple, entities: Mapping[str, Sequence[Thing]]) -> bool:
    return stands(triple.predicate, entities.get(triple.subject, ()), entities.get(triple.object, ()))


def _by_label(seen: Sequence[PlacedEntity], least: float) -> dict[str, list[Thing]]:
    entities: dict[str, list[Thing]] = {}
    for placed_entity in seen:
        if placed_entity.score >= least:
            entities.setdefault(placed_entity.thing.label, []).append(placed_entity.thing)
    return entities
