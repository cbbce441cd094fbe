"""Suite: prompts of one's own, each tested by the best check that can judge it.

A file comes in, or a few prompts of pocket's world; cases go out, with a formula where one is given or can be read,
a question for a judge where there is none, and on request rewordings that a law of logic proves. Nothing is dropped in
silence: what is in a file twice, and what no check can judge, is counted and listed. Knows no models and judges.
"""

from __future__ import annotations

import hashlib
import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import ClassVar

from salva.core.about import About
from salva.core.case import Case
from salva.core.options import option
from salva.core.quantity import quantity
from salva.core.verdict import NO_TEXT
from salva.english.captions.choosing import GRAMMAR, caption_reader
from salva.english.mutation.operators import OPERATORS
from salva.english.prompt_files import PromptRow, prompt_paths, read_prompt_rows
from salva.errors import unknown_name
from salva.files.infiles import file_bytes
from salva.files.tables import unusable
from salva.messages import message
from salva.results.rates import POOLED
from salva.results.tables import group_by
from salva.suites.prompts.cases import (
    GIVEN,
    NO_FORMULA,
    NONE,
    READ,
    case_name,
    cases_of,
)
from salva.suites.prompts.embedded import embedded_rows
from salva.suites.prompts.mutants import mutant_cases
from salva.suites.prompts.parts import with_parts

WHOLE, PARTS = "whole", "parts"
_N_SHOWN = 5
_ID = re.compile(r"(^|[\s._-])id$")
"""Columns of ids, which of an entry that is there twice keep both."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PromptsOptions:
    """Where the prompts come from, and what is made of them."""

    path: str = option(
        "",
        "Prompts: text, CSV or JSON lines (prompt, or prompt_a and prompt_b), or a.txt,b.txt.",
        reaches="file",
    )
    rewordings: int = option(0, "Equivalent wordings of each prompt with a formula.", least=0, most=8)
    mutate: tuple[str, ...] = option((), "Operators (ec, er-r, er-a, ...) that make mutants.")
    parser: str = option("", "grammar, or a spaCy pipeline; the default is spaCy for files.")
    questions: str = option(WHOLE, "Questions for prompts without a formula.", choices=(WHOLE, PARTS))

    def __post_init__(self) -> None:
        for operator in self.mutate:
            if operator not in OPERATORS:
                raise unknown_name("operator", operator, OPERATORS)


class Prompts:
    """Suite: prompts of one's own, by formulas where there are any, else by a judge, else by comparing pairs."""

    version: ClassVar[str] = "4"
    sizes: ClassVar[tuple[str, ...]] = ("quick", "full")
    about: ClassVar[About] = About(average=POOLED, vetoes=(NO_TEXT,))
    Options = PromptsOptions

    def __init__(self, options: PromptsOptions) -> None:
        self._options = options

    @classmethod
    def weights(cls, options: PromptsOptions) -> str:
        """Pins the file: other prompts are another run."""
        if not options.path:
            return ""
        return hashlib.sha256(b"\n".join(map(file_bytes, prompt_paths(options.path)))).hexdigest()[:16]

    def cases(self, size: str) -> Iterator[Case]:
        """The cases of a named size, in the order of the file: all of a file; of pocket's world quick takes some."""
        return iter(_planned(self._options, size, self.weights(self._options))[0])

    def remarks(self, size: str) -> tuple[str, ...]:
        """What became of the prompts."""
        return _planned(self._options, size, self.weights(self._options))[1]


# A run asks for its cases several times. digest: a file may change.
@lru_cache(maxsize=2)
def _planned(options: PromptsOptions, size: str, digest: str) -> tuple[tuple[Case, ...], tuple[str, ...]]:  # noqa: ARG001
    """The cases of a file, and what to say before they are generated."""
    rows = read_prompt_rows(options.path) if options.path else embedded_rows(size)
    if problems := [f"{row.where}: {message('prompt-group')}" for row in rows if len(row.texts) > 2]:
        raise unusable(options.path, problems, "entries")
    by_name: dict[str, PromptRow] = {}
    repeated = [row for row in rows if by_name.setdefault(case_name(row), row) is not row]
    for row in repeated:
        by_name[case_name(row)] = _with_ids_of(row, by_name[case_name(row)])
    cases = tuple(case for row in by_name.values() for case in cases_of(row, options.rewordings))
    remarks = [*_remarks(rows, by_name, repeated, cases)]
    parser = options.parser or ("" if options.path else GRAMMAR)
    if options.questions == PARTS:
        cases, remark = with_parts(cases, caption_reader(parser))
        remarks.append(remark)
    if options.mutate:
        alone = [row for row in by_name.values() if len(row.texts) == 1]
        changed, of_mutants = mutant_cases(alone, options.mutate, caption_reader(parser))
        cases, remarks = (*cases, *changed), [*remarks, *of_mutants]
    return cases, tuple(remarks)


def _with_ids_of(again: PromptRow, first: PromptRow) -> PromptRow:
    """An entry with its own ids and those of a later one that says the same: id becomes p1,p15."""
    ids = {
        name: ",".join(dict.fromkeys(value for row in (first, again) if (value := row.labels.get(name))))
        for name in first.labels.keys() | again.labels.keys()
        if _ID.search(name.lower())
    }
    return replace(first, labels={**first.labels, **ids})


def _remarks(
    rows: list[PromptRow], by_name: dict[str, PromptRow], repeated: list[PromptRow], cases: tuple[Case, ...]
) -> Iterator[str]:
    n_pairs = sum(len(row.texts) == 2 for row in by_name.values())
    numbers = {"prompts": len(by_name) - n_pairs, "pairs": n_pairs}
    counts = " and ".join(quantity(n, what) for what, n in numbers.items() if n)
    if repeated:
        shown = ", ".join(row.where for row in repeated[:_N_SHOWN])
        more = f" and {len(repeated) - _N_SHOWN} more" if len(repeated) > _N_SHOWN else ""
        counts += f"; repeated: {len(repeated)} of {len(rows)} entries (at {shown}{more}), each tested once"
    yield counts
    if names := dict.fromkeys(name for row in by_name.values() for name in row.labels):
        yield f"columns used as labels: {', '.join(names)}"
    ids = Counter(row.labels.get("id", "") for row in by_name.values())
    if shared := [name for name, n in ids.items() if name and n > 1]:
        yield message("prompt-id-shared", n=len(shared), example=shared[0])
    rows_of = {(case.painting, case.cluster, case.prompts[0].formula): case.labels["formula"] for case in cases}
    sources = Counter(rows_of.values())
    said = [f"{sources[name]} {name}" for name in (GIVEN, READ) if sources[name]]
    yield f"formulas: {', '.join(said) or 'none'}" + (f"; without one: {sources[NONE]}" if sources[NONE] else "")
    if n_open := sum(bool(row.proposals) and not any(row.formulas) for row in by_name.values()):
        yield message("proposals-open", n=n_open)
    yield from _unread(by_name, cases)


def _unread(by_name: dict[str, PromptRow], cases: tuple[Case, ...]) -> Iterator[str]:
    """The most frequent reasons why prompts have no formula, and where each stands first."""
    unread = {case.case_id: finding.shared for case in cases for finding in case.findings if finding.kind == NO_FORMULA}
    groups = sorted(group_by(unread, lambda name: unread[name]).items(), key=lambda group: -len(group[1]))
    for reason, names in groups[:_N_SHOWN]:
        pairs = sum(len(by_name[name].texts) == 2 for name in names)
        what = "pairs" if pairs == len(names) else "entries" if pairs else "prompts"
        yield f"{quantity(len(names), what)}, first at {by_name[names[0]].where}: {reason}"
    if more := groups[_N_SHOWN:]:
        yield f"{quantity(sum(len(names) for _, names in more), 'entries')} for {len(more)} more reasons"
