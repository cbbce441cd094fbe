"""A caption and a mutant: prompts, pools, formulas where boxes can decide all of them.

Knows nothing of where the caption came from.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache

from salva.core.case import Case, Prompt
from salva.core.case_sets import slug
from salva.core.fingerprint import fingerprint
from salva.core.mutation import Mutation, Pool
from salva.english.captions.reading import nesting
from salva.english.mutation.making import Mutant
from salva.english.mutation.meaning import CHECK_OF, entities_of, formula_of, pool_formula
from salva.english.mutation.operators import Seed
from salva.logic.equivalence import are_equivalent, is_determinate
from salva.logic.notation import parse
from salva.suites.actesting.files import PublishedPair


def case_of(image: str, seed: Seed, mutant: Mutant) -> Case:
    """A seed and what an operator made of it."""
    proposal = mutant.proposal
    labels = {
        "predicate": ",".join(proposal.predicates),
        "entity": proposal.entity,
        "density": proposal.density,
        "weight": f"{proposal.weight:.4g}",
        "reworded": "yes" if mutant.text != proposal.text else "",
    }
    texts = (seed.reading.text, mutant.text)
    return _case(image, mutant.mutation, texts, (formula_of(seed), formula_of(mutant.seed)), labels)


def case_of_pair(pair: PublishedPair) -> Case:
    """A published pair; its sets say nothing of numbers, so it has no formulas."""
    mutation = Mutation(operator=pair.operator, seed=pair.pools[0], mutant=pair.pools[1])
    changed = (*mutation.added_entities, *mutation.removed_entities)
    predicates = dict.fromkeys(t.predicate for t in (*mutation.added_triples, *mutation.removed_triples))
    labels = {"predicate": ",".join(predicates), "entity": changed[0] if changed else ""}
    return _case(pair.image, mutation, pair.texts, (None, None), labels)


def _case(
    image: str,
    mutation: Mutation,
    texts: tuple[str, str],
    formulas: tuple[str | None, str | None],
    labels: Mapping[str, str],
) -> Case:
    pool, operator = mutation.seed, mutation.operator
    equivalent, determinate = None, None
    if formulas[0] and formulas[1]:
        equivalent, determinate = _decided(mutation)
    all_labels = {
        "operator": operator,
        **labels,
        "n_entities": str(len(pool.entities)),
        "n_triples": str(len(pool.triples)),
        "nesting": str(nesting(pool)),
        "image": image,
    }
    return Case(
        case_id=f"actesting-{_slug(image)}-{operator.replace('+', '-')}",
        suite="actesting",
        category=operator,
        prompts=tuple(
            Prompt(role=role, text=text, formula=formula, entities=entities_of(text, own))
            for role, text, formula, own in zip("ab", texts, formulas, (mutation.seed, mutation.mutant), strict=True)
        ),
        checks=(CHECK_OF[operator],),
        labels={name: value for name, value in all_labels.items() if value},
        cluster=image,
        equivalent=equivalent,
        determinate=determinate,
        mutation=mutation,
        painting=f"actesting {fingerprint([image, texts[0]])[:16]}",
    )


def _decided(mutation: Mutation) -> tuple[bool, bool]:
    """Whether the captions mean the same, and whether one image is right for each."""
    # By their shape: what is decided for cats and dogs is decided for all entities.
    names = dict.fromkeys((*mutation.seed.entities, *mutation.mutant.entities))
    placeholders = {name: f"thing {_letters(n)}" for n, name in enumerate(names)}
    shapes = (pool_formula(_with_names(pool, placeholders)) for pool in (mutation.seed, mutation.mutant))
    return _decided_of_shape(*(shape or "" for shape in shapes))


@lru_cache(maxsize=4096)
def _decided_of_shape(a: str, b: str) -> tuple[bool, bool]:
    f, g = parse(a), parse(b)
    return are_equivalent(f, g), is_determinate(f) and is_determinate(g)


def _with_names(pool: Pool, names: Mapping[str, str]) -> Pool:
    triples = (t._replace(subject=names[t.subject], object=names[t.object]) for t in pool.triples)
    return Pool(entities=tuple(names[name] for name in pool.entities), triples=tuple(triples))


def _letters(n: int) -> str:
    return chr(ord("b") + n % 24) * (1 + n // 24)


def _slug(image: str) -> str:
    plain = slug(image)
    return plain if plain == image else "-".join(filter(None, (plain[:60].strip("-"), fingerprint(image)[:8])))
