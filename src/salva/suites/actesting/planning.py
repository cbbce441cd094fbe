"""From captions to cases: which captions are seeds, which operators they can take, and what became of the rest.

Everything is read before anything is made, so that operators can draw from the whole corpus; what is kept of it are
counts and the seeds' texts. The same options and the same file give the same cases, in the order of the file.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from salva.core.case import Case
from salva.core.fingerprint import fingerprint
from salva.core.mutation import Pool
from salva.core.quantity import quantity
from salva.english.captions.reading import AND, CaptionReader
from salva.english.captions.seeds import fit_seeds
from salva.english.mutation.corpus import Corpus
from salva.english.mutation.making import MutantCounts, by_reason, mutants, operator_remark
from salva.english.mutation.operators import Seed, Setting
from salva.errors import UsageError
from salva.messages import message
from salva.suites.actesting.cases import case_of
from salva.suites.actesting.files import Caption

_DISCARDED = "captions were discarded"
_ONE_DISCARDED = "caption was discarded"


@dataclass(frozen=True, slots=True, kw_only=True)
class MutantPlan:
    """The cases of a run, and what to tell before it."""

    cases: tuple[Case, ...]
    remarks: tuple[str, ...] = ()


@dataclass(slots=True)
class _SeedReading:
    """What reading the corpus left."""

    corpus: Corpus
    seeds: list[tuple[str, str, Pool]] = field(default_factory=list)
    """Image, caption and pool of the first caption of each image that can be one."""
    passed: Counter[str] = field(default_factory=Counter)
    """Captions that cannot, by reason."""


def plan(
    captions: Sequence[Caption],
    reader: CaptionReader,
    setting: Setting,
    operators: Sequence[str],
    n_seeds: int | None,
    seed: int,
) -> MutantPlan:
    """The cases of these captions; what they say how often is counted in the setting's corpus."""
    read = _read(captions, reader, setting)
    if not read.seeds:
        raise UsageError(message("no-cases", what=f"seeds of {len(captions)} captions", why=by_reason(read.passed)))
    chosen = stratified(read.seeds, n_seeds)
    tally = MutantCounts()
    again = reader.read(text for _, text, _ in chosen)
    seeds = [Seed(reading=reading, pool=pool) for reading, (_, _, pool) in zip(again, chosen, strict=True)]
    made = mutants(seeds, operators, reader, setting, tally, seed)
    cases = [
        case_of(image, one, by_operator[operator])
        for (image, _, _), one, by_operator in zip(chosen, seeds, made, strict=True)
        for operator in operators
        if operator in by_operator
    ]
    remarks = tuple(_remarks(read, chosen, operators, tally))
    if not cases:
        raise UsageError(message("no-cases", what=f"mutants of {len(chosen)} seeds", why="; ".join(remarks[1:])))
    return MutantPlan(cases=tuple(cases), remarks=remarks)


def _read(captions: Sequence[Caption], reader: CaptionReader, setting: Setting) -> _SeedReading:
    read, classes = _SeedReading(setting.density.corpus), setting.classes
    taken: set[str] = set()
    for i, reading, pool, why in fit_seeds([caption.text for caption in captions], reader, classes, read.passed):
        caption = captions[i]
        read.corpus.add(reading, pool, classes)
        if why:
            read.passed[why] += 1
        elif caption.image in taken:
            read.passed["not the first of its image"] += 1
        else:
            taken.add(caption.image)
            read.seeds.append((caption.image, caption.text, pool))
    return read


def stratified(seeds: Sequence[tuple[str, str, Pool]], n_seeds: int | None) -> list[tuple[str, str, Pool]]:
    """So many seeds, in their order: turn by turn one of each stratum, the same ones for the same captions."""
    if n_seeds is None or n_seeds >= len(seeds):
        return list(seeds)
    by_stratum: dict[tuple[str, str], list[int]] = {}
    for i, (_, _, pool) in enumerate(seeds):
        by_stratum.setdefault(stratum(pool), []).append(i)
    order = []
    for name, members in by_stratum.items():
        shuffled = sorted(members, key=lambda i: fingerprint([seeds[i][0], seeds[i][1]]))
        order += [(turn, fingerprint([*name]), i) for turn, i in enumerate(shuffled)]
    return [seeds[i] for i in sorted(i for _, _, i in sorted(order)[:n_seeds])]


def stratum(pool: Pool) -> tuple[str, str]:
    """A caption's first predicate that is no list, and how many triples it has."""
    said = [triple.predicate for triple in pool.triples]
    first = next((predicate for predicate in said if predicate != AND), said[0])
    return first, str(min(len(said), 3)) + ("+" if len(said) > 2 else "")


def _remarks(
    read: _SeedReading, chosen: Sequence[tuple[str, str, Pool]], operators: Sequence[str], tally: MutantCounts
) -> Iterator[str]:
    n_captions = read.corpus.n_captions + _n_unread(read.passed)
    yield (
        f"{quantity(len(chosen), 'seeds')} of {quantity(n_captions, 'captions')}"
        + (f"; skipped: {by_reason(read.passed)}" if read.passed else "")
    )
    for operator in operators:
        dropped = tally.discarded[operator]
        yield (
            operator_remark(operator, len(chosen), tally)
            + (f"; {quantity(dropped, _DISCARDED, _ONE_DISCARDED)}" if dropped else "")
            + _worded(operator, tally)
        )


def _worded(operator: str, tally: MutantCounts) -> str:
    """What became of a text model's words."""
    n, n_discarded = tally.reworded[operator], tally.misworded[operator]
    dropped = f", {n_discarded} of them discarded" if n_discarded else ""
    return f"; {n} of {n + n_discarded} paraphrases used{dropped}" if n + n_discarded else ""


def _n_unread(passed: Counter[str]) -> int:
    return sum(n for why, n in passed.items() if why in ("empty", "not English") or why.startswith("longer"))
