"""Prompts that providers rewrote.

A provider may rewrite a prompt, and a small model skips words it does not know: the image was then not generated
from the prompt word for word, and the report shows the text that was used.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet

from salva.core.quantity import quantity
from salva.core.result import Result
from salva.core.source import RewrittenPrompt
from salva.core.table import Cell, Table
from salva.results.tables import RATES, build_table, group_by

_MOST_ROWS = 200
AS_WRITTEN, REWRITTEN, TO_ONE_TEXT = "as written", "rewritten", "rewritten to one text"


def painting_tables(painted: Sequence[RewrittenPrompt], model: str, results: Sequence[Result] = ()) -> Iterator[Table]:
    """What one model made of its prompts, where that is not the prompts themselves; results: of that model."""
    mine = [made for made in painted if made.model == model]
    if any(made.text for made in mine):
        yield Table(
            name="rewritten prompts",
            columns=("prompt", "generated from", "images"),
            rows=tuple((made.prompt, made.text, made.n) for made in mine if made.text),
            note="The provider rewrote these prompts; the images are judged by the original prompts.",
        )
        yield from _rewritten_pairs(mine, results)
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


def _rewritten_pairs(mine: Sequence[RewrittenPrompt], results: Sequence[Result]) -> Iterator[Table]:
    """Pairs whose words were rewritten apart from the others, and those of which nothing is left to compare."""
    rewritten: dict[tuple[str, int], set[str]] = {}
    for made in mine:
        for repeat in made.repeats if made.text else ():
            rewritten.setdefault((made.prompt, repeat), set()).add(made.text)
    pairs = [result for result in results if len(result.case.prompts) == 2]
    groups = group_by(pairs, lambda result: _kind(result, rewritten))
    if groups.keys() <= {AS_WRITTEN}:
        return
    kinds = [((kind,), groups[kind]) for kind in (AS_WRITTEN, REWRITTEN, TO_ONE_TEXT) if kind in groups]
    apart = build_table(
        "rewritten pairs apart",
        ("prompts",),
        kinds,
        RATES,
        title="Pairs whose prompts were rewritten",
        note="The result of a rewritten pair is about other words than its prompts.",
    )
    yield from [apart] if apart else []
    merged = groups.get(TO_ONE_TEXT, [])
    rows: list[tuple[Cell, ...]] = [
        (result.case.case_id, result.repeat, *(p.text for p in result.case.prompts), *_texts(result, rewritten)[0])
        for result in merged[:_MOST_ROWS]
    ]
    if rows:
        yield Table(
            name=TO_ONE_TEXT,
            title="Two wordings, rewritten to one text",
            columns=("case_id", "repeat", "first", "second", "generated from"),
            rows=tuple(rows),
            note=f"{quantity(len(merged), 'pairs')}: the model received only one text.",
        )


_Rewritten = Mapping[tuple[str, int], AbstractSet[str]]


def _texts(result: Result, rewritten: _Rewritten) -> list[AbstractSet[str]]:
    """What each prompt was generated from: its own text where it was not rewritten.

    A prompt that several cases share can have several rewritten texts, and which belongs to which case is not known.
    """
    return [rewritten.get((prompt.text, result.repeat), {prompt.text}) for prompt in result.case.prompts]


def _kind(result: Result, rewritten: _Rewritten) -> str:
    first, second = texts = _texts(result, rewritten)
    if texts == [{prompt.text} for prompt in result.case.prompts]:
        return AS_WRITTEN
    return TO_ONE_TEXT if len(first) == 1 and first == second else REWRITTEN
