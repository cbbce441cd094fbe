"""Prompts that providers rewrote.

A provider may rewrite a prompt, and a small model skips words it does not know: the image was then not generated
from the prompt word for word, and the report shows the text that was used.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet

from salva.core.judgements import CaseVerdict
from salva.core.quantity import quantity
from salva.core.source import RewrittenPrompt
from salva.core.table import Cell, Table
from salva.results.tally import RATE_COLUMNS, tally_by

_MOST_ROWS = 200
AS_WRITTEN, REWRITTEN, TO_ONE_TEXT = "as written", "rewritten", "rewritten to one text"


def painting_tables(
    painted: Sequence[RewrittenPrompt], model: str, speaking: Sequence[CaseVerdict] = ()
) -> Iterator[Table]:
    """What one model made of its prompts, where that is not the prompts themselves.

    speaking: the verdicts on it that speak for their cases.
    """
    mine = [made for made in painted if made.model == model]
    if any(made.text for made in mine):
        yield Table(
            name="rewritten prompts",
            columns=("prompt", "generated from", "images"),
            rows=tuple((made.prompt, made.text, made.n) for made in mine if made.text),
            note="The provider rewrote these prompts; the images are judged by the original prompts.",
        )
        yield from _rewritten_pairs(mine, speaking)
    pictures: Counter[str] = Counter()
    for made in mine:
        pictures.update(dict.fromkeys(made.passed_over, made.n))
    if pictures:
        yield Table(
            name="unknown words",
            columns=("word", "images"),
            rows=tuple(pictures.most_common()),
            note="Words that the model does not know and skipped, as a prompt or an option allows.",
        )


def _rewritten_pairs(mine: Sequence[RewrittenPrompt], speaking: Sequence[CaseVerdict]) -> Iterator[Table]:
    """Pairs whose words were rewritten apart from the others, and those of which nothing is left to compare."""
    said: dict[tuple[str, int], set[str]] = {}
    for made in mine:
        for repeat in made.repeats if made.text else ():
            said.setdefault((made.prompt, repeat), set()).add(made.text)
    pairs = [judged for judged in speaking if len(judged.case.prompts) == 2]
    groups = tally_by(pairs, lambda judged: _kind(judged, said))
    if groups.keys() <= {AS_WRITTEN}:
        return
    yield Table(
        name="rewritten pairs apart",
        title="Pairs whose prompts were rewritten",
        columns=("prompts", *RATE_COLUMNS),
        rows=tuple((kind, *groups[kind].cells()) for kind in (AS_WRITTEN, REWRITTEN, TO_ONE_TEXT) if kind in groups),
        note="The verdict on a rewritten pair is about other words than its prompts.",
    )
    merged = [judged for judged in pairs if _kind(judged, said) == TO_ONE_TEXT]
    rows: list[tuple[Cell, ...]] = [
        (judged.case.case_id, judged.verdict.repeat, *(p.text for p in judged.case.prompts), *_painted(judged, said)[0])
        for judged in merged[:_MOST_ROWS]
    ]
    if rows:
        yield Table(
            name=TO_ONE_TEXT,
            title="Two wordings, rewritten to one text",
            columns=("case_id", "repeat", "first", "second", "generated from"),
            rows=tuple(rows),
            note=f"{quantity(len(merged), 'pairs')}: the model received only one text.",
        )


_Said = Mapping[tuple[str, int], AbstractSet[str]]


def _painted(judged: CaseVerdict, said: _Said) -> list[AbstractSet[str]]:
    """Of each prompt what was painted: its own text where nobody rewrote it.

    One that several cases share can have become several texts; which of them is whose, nobody kept.
    """
    return [said.get((prompt.text, judged.verdict.repeat), {prompt.text}) for prompt in judged.case.prompts]


def _kind(judged: CaseVerdict, said: _Said) -> str:
    first, second = texts = _painted(judged, said)
    if texts == [{prompt.text} for prompt in judged.case.prompts]:
        return AS_WRITTEN
    return TO_ONE_TEXT if len(first) == 1 and first == second else REWRITTEN
