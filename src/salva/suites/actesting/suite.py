"""Suite: does a small change of a caption change just that in the picture? After ACTesting.

Captions come from a file or from pocket's world; each is taken apart into a pool of things and triples, and each
operator makes one mutant of it. A case is a caption and one mutant. Knows nothing of models, pictures or judges.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import ClassVar

from salva.core.about import About
from salva.core.case import Case, Prompt
from salva.core.fingerprint import fingerprint
from salva.core.mutation import Pool
from salva.core.options import option
from salva.errors import UsageError, unknown_name
from salva.logic.english_words import RELATIONS
from salva.logic.equivalence import are_equivalent, is_determinate
from salva.logic.formula import entity_problem
from salva.logic.notation import parse
from salva.suites.actesting.embedded import embedded_captions
from salva.writing.captions.classes import KINDS, Classes
from salva.writing.captions.grammar import GrammarReader
from salva.writing.captions.reading import Reader, nesting, pool_of
from salva.writing.mutation.corpus import Corpus
from salva.writing.mutation.density import Density
from salva.writing.mutation.making import Mutant, Tally, mutants
from salva.writing.mutation.operators import OPERATORS, Seed, Setting

RELATION = {
    "ec": "entity-change",
    "er-r": "triple-removal",
    "er-a": "triple-addition",
    "ss": "unchanged",
    "ec+er-r": "triple-removal",
    "ec+er-a": "triple-addition",
}
_N_SEEDS = {"quick": 10, "paper": 4062}


@dataclass(frozen=True, slots=True, kw_only=True)
class ActestingOptions:
    """Where captions come from and how they are changed."""

    classes: str = option("paper", "Which words count as one class.", choices=KINDS)
    operators: tuple[str, ...] = option(OPERATORS, "The operators to apply, each to every seed that can take it.")
    seed: int = option(0, "For other mutants of the same captions.")

    def __post_init__(self) -> None:
        for operator in self.operators:
            if operator not in OPERATORS:
                raise unknown_name("operator", operator, OPERATORS)
        if not self.operators:
            raise UsageError(f"suite.operators is empty; name some of {', '.join(OPERATORS)}")


class Actesting:
    """Suite: captions and what becomes of them when one thing, or one relation, is changed."""

    version: ClassVar[str] = "1"
    sizes: ClassVar[tuple[str, ...]] = ("quick", "paper", "full")
    about: ClassVar[About] = About(defaults={"reader": "none"}, leads="entity-change")
    Options = ActestingOptions

    def __init__(self, options: ActestingOptions) -> None:
        self._options = options

    def cases(self, size: str) -> Iterator[Case]:
        """The cases of a named size, seed by seed.

        quick: ten seeds. paper: up to 4,062, as many as were published. full: one caption of every image.
        """
        if size not in self.sizes:
            raise unknown_name("size", size, self.sizes)
        reader: Reader = GrammarReader()
        classes = Classes(kind=self._options.classes)
        captions = list(embedded_captions())
        corpus, seeds = Corpus(), []
        for (image, _), reading in zip(captions, reader.read(text for _, text in captions), strict=True):
            pool = pool_of(reading, classes)
            corpus.add(reading, pool, classes)
            if pool.triples:
                seeds.append((image, Seed(reading=reading, pool=pool)))
        seeds = seeds[: _N_SEEDS.get(size)]
        setting = Setting(classes=classes, density=Density(corpus=corpus))
        tally = Tally()
        made = mutants((seed for _, seed in seeds), self._options.operators, reader, setting, tally, self._options.seed)
        for (image, seed), by_operator in zip(seeds, made, strict=True):
            for operator in self._options.operators:
                if operator in by_operator:
                    yield _case(image, seed, by_operator[operator])


def _case(image: str, seed: Seed, mutant: Mutant) -> Case:
    operator = mutant.mutation.operator
    caption, text = seed.reading.text, mutant.text
    pools = (seed.pool, mutant.mutation.mutant)
    formulas = tuple(map(formula_of, pools))
    equivalent, determinate = _decided(pools, formulas)
    proposal = mutant.proposal
    labels = {
        "operator": operator,
        "predicate": ",".join(proposal.predicates),
        "entity": proposal.entity,
        "n_entities": str(len(seed.pool.entities)),
        "n_triples": str(len(seed.pool.triples)),
        "nesting": str(nesting(seed.pool)),
        "image": image,
        "density": proposal.density,
        "weight": f"{proposal.weight:.4g}",
    }
    return Case(
        case_id=f"actesting-{_slug(image)}-{operator.replace('+', '-')}",
        suite="actesting",
        category=operator,
        prompts=(
            Prompt(role="a", text=caption, formula=formulas[0]),
            Prompt(role="b", text=text, formula=formulas[1]),
        ),
        relation=RELATION[operator],
        labels={name: value for name, value in labels.items() if value},
        cluster=image,
        equivalent=equivalent,
        determinate=determinate,
        mutation=mutant.mutation,
        painting=f"actesting {fingerprint([image, caption])[:16]}",
    )


def formula_of(pool: Pool) -> str | None:
    """What a pool says, as a formula; None where a triple is nothing that boxes can decide."""
    relations = [RELATIONS.get(triple.predicate) for triple in pool.triples]
    if not pool.entities or None in relations or any(map(entity_problem, pool.entities)):
        return None
    related = {name for triple in pool.triples for name in (triple.subject, triple.object)}
    parts = [
        f"{relation}({triple.subject}, {triple.object})"
        for relation, triple in zip(relations, pool.triples, strict=True)
    ]
    return " & ".join((*parts, *(name for name in pool.entities if name not in related)))


def _decided(pools: Sequence[Pool], formulas: Sequence[str | None]) -> tuple[bool | None, bool | None]:
    """Whether the captions mean the same, and whether one picture is right for each; None without formulas."""
    if None in formulas:
        return None, None
    # By their shape: what is decided for cats and dogs is decided for all things.
    names = dict.fromkeys(name for pool in pools for name in pool.entities)
    placeholders = {name: f"thing {_letters(n)}" for n, name in enumerate(names)}
    return _decided_of_shape(*(formula_of(_with_names(pool, placeholders)) or "" for pool in pools))


@lru_cache(maxsize=4096)
def _decided_of_shape(a: str, b: str) -> tuple[bool, bool]:
    f, g = parse(a), parse(b)
    return are_equivalent(f, g), is_determinate(f) and is_determinate(g)


def _with_names(pool: Pool, names: Mapping[str, str]) -> Pool:
    triples = (replace(t, subject=names[t.subject], object=names[t.object]) for t in pool.triples)
    return Pool(entities=tuple(names[name] for name in pool.entities), triples=tuple(triples))


def _letters(n: int) -> str:
    return chr(ord("b") + n % 24) * (1 + n // 24)


def _slug(image: str) -> str:
    return re.sub(r"[^a-z0-9]+", "-", image.lower()).strip("-") or fingerprint(image)[:8]
