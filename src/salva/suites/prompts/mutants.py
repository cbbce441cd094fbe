"""Prompts changed by one thing, by ACTesting's operators: each mutant a case beside the prompt it was made from.

Rows of prompts come in, cases go out, with what to tell of those that no operator could change. A mutant's images are
held against what changed and against nothing else, so they have a way and a rate of their own.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

from salva.core.case import Case, Prompt
from salva.core.counted import counted
from salva.english.captions.classes import Classes
from salva.english.captions.grammar import GrammarReader
from salva.english.captions.reading import Reader, pool_of
from salva.english.captions.seeds import unfit_seed, unfit_text
from salva.english.captions.spacy_reader import SpacyReader
from salva.english.mutation.corpus import Corpus
from salva.english.mutation.density import Density
from salva.english.mutation.making import Mutant, Tally, mutants
from salva.english.mutation.meaning import CHECK_OF, formula_of
from salva.english.mutation.operators import Seed, Setting
from salva.english.prompt_files import PromptRow
from salva.suites.prompts.cases import case_name, painting_of

GRAMMAR = "grammar"
MUTANTS = "mutants"


def reader_of(parser: str) -> Reader:
    """Who takes prompts apart: the small grammar, or a spaCy pipeline."""
    return GrammarReader() if parser == GRAMMAR else SpacyReader(parser)


def mutant_cases(rows: Sequence[PromptRow], operators: Sequence[str], reader: Reader) -> tuple[list[Case], list[str]]:
    """The cases of all mutants, and what to tell."""
    classes = Classes(kind="vg")
    passed: Counter[str] = Counter()
    fit = [row for row in rows if not _passed(unfit_text(row.texts[0]), passed)]
    corpus = Corpus()
    seeds: list[tuple[PromptRow, Seed]] = []
    for row, reading in zip(fit, reader.read(row.texts[0] for row in fit), strict=True):
        pool = pool_of(reading, classes)
        corpus.add(reading, pool, classes)
        if not _passed(unfit_seed(reading, pool), passed):
            seeds.append((row, Seed(reading=reading, pool=pool)))
    tally = Tally()
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
    return cases, list(_remarks(len(rows), len(seeds), operators, tally, passed))


def _passed(why: str, passed: Counter[str]) -> bool:
    if why:
        passed[why] += 1
    return bool(why)


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
        check=CHECK_OF[operator],
        labels={**row.labels, "formula": "none", "mutated": operator},
        cluster=row.texts[0][:200],
        equivalent=False,
        mutation=mutant.mutation,
        painting=painting_of(row),
        check_groups=((CHECK_OF[operator],),),
    )


def _remarks(n_rows: int, n_seeds: int, operators: Sequence[str], tally: Tally, passed: Counter[str]) -> Iterator[str]:
    over = f"; not {', '.join(f'{n} ({why})' for why, n in passed.most_common())}" if passed else ""
    yield f"{n_seeds} of {counted(n_rows, 'prompts')} can be changed by one thing{over}"
    for operator in operators:
        why = Counter({reason: n for (one, reason), n in tally.skipped.items() if one == operator})
        told = f"; not {', '.join(f'{n} ({reason})' for reason, n in why.most_common())}" if why else ""
        yield f"{operator}: {tally.made[operator]} of {n_seeds}{told}"
