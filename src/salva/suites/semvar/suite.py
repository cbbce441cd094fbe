"""Suite: does the image change when the meaning does, and stay when it stays? After SemVarBench.

Triples come from files or from the embedded set; each becomes a case of three prompts: an anchor (a), the same
words in an order that changes the meaning (pv), and a wording that keeps it (pi). Knows nothing of models, images
or judges.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import ClassVar

from salva.core.about import About
from salva.core.case import Case, Prompt
from salva.core.case_sets import few_cases, slug, with_distinct_ids
from salva.core.options import option
from salva.core.verdict import NO_TEXT
from salva.english.pair_facts import settled
from salva.errors import UsageError
from salva.logic.entailment import entails
from salva.logic.formula import Atom, entities
from salva.logic.notation import parse
from salva.messages import message
from salva.suites.semvar.effect import UNLABELLED, labels_of_triple
from salva.suites.semvar.embedded import embedded_rows
from salva.suites.semvar.files import read_rows
from salva.suites.semvar.rows import ROLES, TripleRow

_QUICK_PER_CATEGORY = 4


@dataclass(frozen=True, slots=True, kw_only=True)
class SemVarOptions:
    """Where the triples are."""

    path: tuple[str, ...] = option((), "Files or folders of triples.", reaches="file")
    categories: tuple[str, ...] = option((), "Files of single categories.", reaches="file")

    def __post_init__(self) -> None:
        if self.categories and not self.path:
            raise UsageError(message("flag-needed", flag="suite.path", why="suite.categories labels its triples"))


class SemVar:
    """Suite: triples of sentences that share their words; the image must follow the meaning."""

    version: ClassVar[str] = "1"
    sizes: ClassVar[tuple[str, ...]] = ("quick", "paper", "full", "test", "train", "embedded")
    about: ClassVar[About] = About(defaults={"judge": "scene"}, vetoes=("truth", "named-entities", NO_TEXT))
    Options = SemVarOptions

    def __init__(self, options: SemVarOptions) -> None:
        self._options = options
        self._rows: tuple[TripleRow, ...] | None = None

    def cases(self, size: str) -> Iterator[Case]:
        """The cases of a named size, in the order of the files.

        quick: four a category, and at least 18 triples. paper: the test split, or all where none is called so. full:
        all. test, train: one split; the embedded set has both, with no pair of entities in both. embedded: the embedded
        set, whatever suite.path says.
        """
        rows = self._of_size(size)
        # Counted by split, so that a triple has one category in every size.
        rarity = Counter((row.split, category) for row in rows for category in row.categories)
        cases = with_distinct_ids(_case(row, rarity) for row in rows)
        return iter(few_cases(cases, _QUICK_PER_CATEGORY) if size == "quick" else cases)

    def _of_size(self, size: str) -> Sequence[TripleRow]:
        if size == "embedded" or not self._options.path:
            rows = embedded_rows()
        else:
            if self._rows is None:
                self._rows = read_rows(self._options.path, self._options.categories)
            rows = self._rows
        splits = Counter(row.split for row in rows)
        split = "test" if size == "paper" and splits["test"] else size
        if split not in ("test", "train"):
            return rows
        if not splits[split]:
            here = ", ".join(f"{name} ({n})" for name, n in splits.items())
            raise UsageError(
                message(
                    "no-cases",
                    what=f"cases of size {size}",
                    why=f"the triples belong to {here}",
                )
            )
        return [row for row in rows if row.split == split]


def _case(row: TripleRow, rarity: Mapping[tuple[str, str], int]) -> Case:
    categories = row.categories or (UNLABELLED,)
    equivalent, determinate = settled(*row.formulas)
    return Case(
        case_id=f"semvar-{slug(row.row_id, 'row')}",
        suite="semvar",
        # A triple of several categories stands for the rarest, or small categories would be left without any.
        category=min(categories, key=lambda category: (rarity.get((row.split, category), 0), category)),
        prompts=tuple(
            Prompt(role=role, text=text, formula=formula, entities=_named_in(formula))
            for role, text, formula in zip(ROLES, row.texts, row.formulas, strict=True)
        ),
        checks=("semantic-effect",),
        labels={**labels_of_triple(categories, row.split, row.row_id), **row.labels},
        # Published ids begin with the number of the template that the sentences were made from.
        cluster=row.cluster or f"template {row.row_id.partition('_')[0]}",
        equivalent=equivalent,
        determinate=determinate,
        findings=row.findings,
    )


@lru_cache(maxsize=4096)
def _named_in(notation: str | None) -> tuple[str, ...]:
    """The entities that every right image of a formula shows."""
    if notation is None:
        return ()
    formula = parse(notation)
    return tuple(name for name in entities(formula) if entails(formula, Atom(name)))
