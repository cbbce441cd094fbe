"""Mutants from seeds: operators propose, the captions are read in batches, and what reads otherwise is discarded.

So is what a text model makes of them, where there are such wordings: the operator's own text then stays. Seeds come in
as they are read, mutants go out in the same order; a few hundred seeds are in memory at a time.
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import islice

from salva.core.fingerprint import fingerprint
from salva.core.mutation import Mutation, Pool
from salva.english.captions.classes import Classes
from salva.english.captions.grammar import GrammarReader
from salva.english.captions.reading import CaptionReader, CaptionReading, pool_of
from salva.english.mutation.operators import EC, ER_R, SINGLE, Proposal, Seed, Setting, exchanges, proposals

_SECOND = GrammarReader()
_CHUNK = 256
_N_TRIES = 4
"""Captions read for one seed and operator before it is given up."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Mutant:
    """A changed caption that reads as it should."""

    text: str
    mutation: Mutation
    proposal: Proposal
    seed: Seed
    """Itself, taken apart."""


@dataclass(slots=True)
class MutantCounts:
    """What became of the seeds, by operator."""

    made: Counter[str] = field(default_factory=Counter)
    skipped: Counter[tuple[str, str]] = field(default_factory=Counter)
    """Operator and reason."""
    discarded: Counter[str] = field(default_factory=Counter)
    """Captions that did not read as they should."""
    reworded: Counter[str] = field(default_factory=Counter)
    """Mutants in a text model's words."""
    misworded: Counter[str] = field(default_factory=Counter)
    """A text model's words that did not read as they should."""


@dataclass(slots=True)
class _Job:
    """One operator on one seed."""

    operator: str
    of: Seed
    """Whose pool is the mutation's first."""
    open: Iterator[Proposal]
    proposal: Proposal | None = None
    made: Mutant | None = None
    n_tried: int = 0


def operator_remark(operator: str, n_seeds: int, tally: MutantCounts) -> str:
    """How many mutants an operator made of so many seeds, and why not more."""
    why = Counter({reason: n for (one, reason), n in tally.skipped.items() if one == operator})
    return f"{operator}: {tally.made[operator]} of {n_seeds} seeds" + (f"; not {by_reason(why)}" if why else "")


def by_reason(reasons: Counter[str]) -> str:
    """Numbers with their reasons, the largest first."""
    return ", ".join(f"{n} ({why})" for why, n in reasons.most_common())


def mutants(
    seeds: Iterable[Seed],
    operators: Sequence[str],
    reader: CaptionReader,
    setting: Setting,
    tally: MutantCounts,
    seed: int = 0,
) -> Iterator[dict[str, Mutant]]:
    """For each seed its mutants by operator; one that could not be made is missing, and the tally says why."""
    rest = iter(seeds)
    while chunk := list(islice(rest, _CHUNK)):
        singles = [single for single in SINGLE if any(single in operator.split("+") for operator in operators)]
        first = [[_job(single, which, setting, seed) for single in singles] for which in chunk]
        _work([job for jobs in first for job in jobs], reader, setting, tally)
        then = [_composed(jobs, operators, setting, seed) for jobs in first]
        _work([job for jobs in then for job in jobs], reader, setting, tally)
        for jobs, more in zip(first, then, strict=True):
            made = [job for job in (*jobs, *more) if job.operator in operators]
            _reword(made, reader, setting, tally)
            _count(made, operators, tally)
            yield {job.operator: job.made for job in made if job.made}


def _job(operator: str, which: Seed, setting: Setting, seed: int) -> _Job:
    return _Job(operator, which, proposals(operator, which, setting, _luck(seed, which, operator)))


def _composed(jobs: Sequence[_Job], operators: Sequence[str], setting: Setting, seed: int) -> list[_Job]:
    """EC on what the other operator made; what that put in is left alone."""
    more = []
    for job in jobs:
        operator = f"{EC}+{job.operator}"
        if operator in operators and job.made:
            spared = frozenset(job.made.mutation.added_entities)
            spared |= {*job.of.pool.entities} - {*job.made.seed.pool.entities}
            second = exchanges(job.made.seed, setting, _luck(seed, job.of, operator), spared)
            more.append(_Job(operator, job.of, _after(job.made.proposal, second)))
    return more


def _after(first: Proposal, second: Iterator[Proposal]) -> Iterator[Proposal]:
    """Proposals that stand for both draws: a uniform one would have had to hit twice."""
    return (replace(proposal, weight=first.weight * proposal.weight) for proposal in second)


def _luck(seed: int, which: Seed, operator: str) -> random.Random:
    return random.Random(fingerprint([seed, which.reading.text, operator]))


def _work(jobs: Sequence[_Job], reader: CaptionReader, setting: Setting, tally: MutantCounts) -> None:
    """Try each job's proposals until one reads as it should."""
    waiting = list(jobs)
    for _ in range(_N_TRIES):
        trying = []
        for job in waiting:
            job.proposal = next(job.open, None)
            if job.proposal is not None:
                job.n_tried += 1
                trying.append(job)
        if not trying:
            return
        texts = [job.proposal.text for job in trying if job.proposal]
        for job, reading in zip(trying, reader.read(texts), strict=True):
            job.made = _mutant(job, reading, setting)
            tally.discarded[job.operator] += job.made is None
        waiting = [job for job in trying if job.made is None]


def _mutant(job: _Job, reading: CaptionReading, setting: Setting) -> Mutant | None:
    """The mutant of a job in these words; None where they do not read as they should, or are the seed's own."""
    assert job.proposal is not None
    pool = pool_of(reading, setting.classes)
    if not job.proposal.is_wanted(pool) or reading.text == job.of.reading.text:
        return None
    if not is_confirmed(job.of, pool, reading.text, setting.classes):
        return None
    mutation = Mutation(operator=job.operator, seed=job.of.pool, mutant=pool)
    return Mutant(text=reading.text, mutation=mutation, proposal=job.proposal, seed=Seed(reading=reading, pool=pool))


def is_confirmed(seed: Seed, pool: Pool, text: str, classes: Classes) -> bool:
    """Whether another reader sees the same entities change, and lets the same ones be near what came in.

    The small grammar knows nothing of the parser that the text was made with; where it does not read the seed as the
    parser does, it has no say.
    """
    before, after = (pool_of(one, classes) for one in _SECOND.read((seed.reading.text, text)))
    if {*before.entities} != {*seed.pool.entities}:
        return True
    if {*after.entities} != {*pool.entities}:
        return False
    new = {*pool.entities} - {*seed.pool.entities}
    ours, theirs = ({t for t in one.triples if new & {t.subject, t.object}} for one in (pool, after))
    said = {(t.predicate, t.object) for t in ours - theirs}
    return len(new) != 1 or not any((t.predicate, t.object) in said for t in theirs - ours)


def _reword(jobs: Sequence[_Job], reader: CaptionReader, setting: Setting, tally: MutantCounts) -> None:
    """Put what a text model says in the place of what operators wrote, where it reads alike."""
    worded = [(job, setting.wordings.get(job.made.text, "")) for job in jobs if job.made]
    worded = [(job, text) for job, text in worded if text]
    for (job, _), reading in zip(worded, reader.read([text for _, text in worded]), strict=True):
        other = _mutant(job, reading, setting)
        (tally.misworded if other is None else tally.reworded)[job.operator] += 1
        job.made = other or job.made


def _count(jobs: Sequence[_Job], operators: Sequence[str], tally: MutantCounts) -> None:
    by_operator = {job.operator: job for job in jobs}
    for operator in operators:
        job = by_operator.get(operator)
        if job is not None and job.made:
            tally.made[operator] += 1
        elif job is None:
            tally.skipped[operator, f"{operator.partition('+')[2]} made nothing to change"] += 1
        elif operator == ER_R and len(job.of.pool.triples) < 2:
            tally.skipped[operator, "fewer than two triples"] += 1
        elif job.n_tried == 0:
            tally.skipped[operator, "nothing to change"] += 1
        else:
            tally.skipped[operator, "read otherwise, whatever was tried"] += 1
