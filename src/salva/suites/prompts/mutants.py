"""Prompts changed by one entity, by ACTesting's operators: each mutant a case beside the prompt it was made from.

Rows of prompts come in, cases go out, with what to say of those that no operator could change. A mutant's images are
held against what changed and against nothing else.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from salva.core.case import Case, Prompt
from salva.core.quantity import quantity
from salva.english.captions.classes import Classes
from salva.english.captions.reading import CaptionReader
from salva.english.captions.seeds import fit_seeds
from salva.english.mutation.corpus import Corpus
from salva.english.mutation.density import Density
from salva.english.mutation.making import Mutant, MutantCounts, by_reason, mutants, operator_remark
from salva.english.mutation.meaning import CHECK_OF, formula_of
from salva.english.mutation.operators import Seed, Setting
from salva.english.prompt_files import PromptRow
from salva.suites.prompts.cases import case_name, painting_of

MUTANTS = "mutants"


def mutant_cases(
    rows: Sequence[PromptRow], operators: Sequence[str], reader: CaptionReader
) -> tuple[list[Case], list[str]]:
    """The cases of all mutants, and what to say of them."""
    classes, corpus, unfit = Classes(kind="vg"), Corpus(), Counter[str]()
    seeds: list[tuple[PromptRow, Seed]] = []
    for i, reading, pool, why in fit_seeds([row.texts[0] for row in rows], reader, classes, unfit):
        corpus.add(reading, pool, classes)
        if why:
            unfit[why] += 1
        else:
            seeds.append((rows[i], Seed(reading=reading, pool=pool)))
    tally = MutantCounts()
    made = mutants(
        [seed for _, seed in seeds],
        operators,
        reader,
        Setting(classes=classes, density=Density(corpus=corpus)),
        tally,
    )
    cases = [
        _case(row, seed, operator, by_operator[operator])
        for (row, seed), by_operator in zip(seeds, made, strict=True)
        for operator in operators
        if operator in by_operator
    ]
    over = f"; not {by_reason(unfit)}" if unfit else ""
    remark = f"{len(seeds)} of {quantity(len(rows), 'prompts')} can be changed by one thing{over}"
    return cases, [remark, *(operator_remark(operator, len(seeds), tally) for operator in operators)]


def _case(row: PromptRow, seed: Seed, operator: str, mutant: Mutant) -> Case:
    texts, formulas = (row.texts[0], mutant.text), (row.formulas[0] or formula_of(seed), formula_of(mutant.seed))
    return Case(
        case_id=f"{case_name(row)}-{operator.replace('+', '-')}",
        suite="prompts",
        category=f"{MUTANTS} {operator}",
        prompts=tuple(
            Prompt(role=role, text=text, formula=formula if all(formulas) else None)
            for role, text, formula in zip("ab", texts, formulas, strict=True)
        ),
        checks=(CHECK_OF[operator],),
        labels={**row.labels, "formula": "none", "mutated": operator},
        cluster=row.texts[0][:200],
        equivalent=False,
        mutation=mutant.mutation,
        painting=painting_of(row),
    )
