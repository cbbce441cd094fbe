"""`salva merge`: shards of a run, or what is left of some that were killed, into the run they are shares of.

Nothing named in the shards is contacted, built or opened but their own files. The merged run is one that could have
been made in one piece: the command without --shard goes on with it, and has nothing to do where all shards were done.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import msgspec
from msgspec import structs

from salva.core.fingerprint import Json
from salva.core.run_file import RunFile, new_run_file
from salva.core.shard import Shard
from salva.engine.progress import Progress
from salva.errors import StoreError, UsageError
from salva.messages import message
from salva.runs.directory import refuse_strangers
from salva.runs.run_state import ASKED, recorded_run_file, summed
from salva.store.images import IMAGES_AT
from salva.store.merging import merge_rows
from salva.store.records import (
    CASES,
    FIGURES,
    GATE,
    IN_VAIN,
    PACE,
    PASSED,
    RULES,
    STOPPED,
    UNTRIED,
    WARNED,
    WHOLE,
)
from salva.store.runfile import DIGESTS, read_run_file, store_run_file
from salva.store.sqlite import RunStore, open_run

_STAGE = "merging"
_OF_ONE_PART = {ASKED, CASES, DIGESTS, GATE, FIGURES, IMAGES_AT, WHOLE}
"""Notes that say nothing about the whole, or are made anew for it."""
_LISTS = {PASSED, WARNED, UNTRIED, STOPPED}
_ALIKE = {RULES: "was judged by other rules", "salva_version": "was made by another version of salva"}
_WHOLE_RUN = Shard(index=1, n=1)


@dataclass(frozen=True, slots=True, kw_only=True)
class Merged:
    """What a merge came to."""

    n_shards: int
    n_cases: int
    n_images: int
    unfinished: tuple[str, ...] = ()
    """Directories of shards that have work left, which the command without --shard does."""
    left_out: tuple[str, ...] = ()
    """Notes of shards that say nothing of the whole, a sentence each."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _FoundShard:
    """A shard, or a piece of one, as it was found."""

    directory: Path
    content: RunFile
    shard: Shard
    meta: Mapping[str, Json]
    n_images: int


def merge(directories: Sequence[Path], out: Path, progress: Progress) -> Merged:
    """Put shards together in a directory; the same call again goes on where it was stopped, or changes nothing."""
    if any(directory.resolve() == out.resolve() for directory in directories):
        raise UsageError(message("merge-into-shard", path=str(out)))
    parts = sorted((_read(directory) for directory in directories), key=lambda part: part.shard.index)
    first = parts[0]
    for part in parts[1:]:
        _check_alike(first, part)
    _check_all_there(parts)
    content = _content(parts)
    _check_out(out, content)
    with open_run(out, "write", images_at=content.images) as store:
        if (before := recorded_run_file(store)) is not None and before.spec != content.spec:
            raise UsageError(message("run-differs", path=str(out), differences="other shards"))
        # What was read so far may have been written on since: notes and rows are taken of one moment each.
        store.drop_meta(WHOLE)
        store_run_file(store, content)
        store.set_meta(ASKED, msgspec.to_builtins(new_run_file(content.spec.redacted(), choice=content.choice)))
        store.flush()
        metas = []
        progress.start(_STAGE, sum(part.n_images for part in parts))
        try:
            for part in parts:
                with open_run(part.directory) as source, source.read_transaction():
                    meta = source.meta()
                    metas.append(meta if source.is_whole() else {name: meta[name] for name in meta if name != WHOLE})
                    merge_rows(store, source, lambda n: progress.advance(_STAGE, n))
        finally:
            progress.finish(_STAGE)
        unfinished = _unfinished(parts, metas)
        left_out = tuple(_keep_notes(store, metas))
        _count_cases(store, metas[0])
        if not unfinished:
            store.set_whole()
        return Merged(
            n_shards=first.shard.n,
            n_cases=store.n_cases(),
            n_images=store.n_images(),
            unfinished=unfinished,
            left_out=left_out,
        )


def _read(directory: Path) -> _FoundShard:
    content = read_run_file(directory)
    if content is None:
        raise UsageError(message("run-missing", path=str(directory), file="run.json"))
    if content.imported is not None:
        raise UsageError(message("run-imported", path=str(directory)))
    try:
        shard = Shard.parse(content.spec.shard) if content.spec.shard else _WHOLE_RUN
    except UsageError as error:
        raise StoreError(
            message("file-invalid", path=str(directory / "run.json"), where="spec.shard", why=error)
        ) from error
    with open_run(directory) as store:
        return _FoundShard(
            directory=directory, content=content, shard=shard, meta=store.meta(), n_images=store.n_images()
        )


def _check_alike(first: _FoundShard, part: _FoundShard) -> None:
    """Refuse what is no share of the same run, with the first difference."""
    if difference := next(_differences(_comparable(first), _comparable(part)), ""):
        raise UsageError(message("shards-differ", path=str(part.directory), other=str(first.directory), why=difference))
    for note, what in _ALIKE.items():
        if note in part.meta and note in first.meta and part.meta[note] != first.meta[note]:
            why = f"it {what} ({next(_differences(first.meta[note], part.meta[note], note))})"
            raise UsageError(message("shards-differ", path=str(part.directory), other=str(first.directory), why=why))


def _comparable(part: _FoundShard) -> Json:
    """All that shards of one run have in common, less where they ran."""
    spec = structs.replace(part.content.spec, shard="")
    whole = structs.replace(part.content, spec=spec, environment={}, resumed_in=(), choice={})
    return {**msgspec.to_builtins(whole), "number of shards": part.shard.n}


def _differences(first: Json, other: Json, where: str = "") -> Iterator[str]:
    """Where two pieces of JSON differ, and how."""
    if isinstance(first, dict) and isinstance(other, dict):
        for name in sorted({*first, *other}):
            yield from _differences(first.get(name), other.get(name), f"{where}.{name}" if where else name)
    elif isinstance(first, list) and isinstance(other, list) and len(first) == len(other):
        for number, (one, two) in enumerate(zip(first, other, strict=True)):
            yield from _differences(one, two, f"{where}[{number}]")
    elif first != other:
        yield f"{where} is {_short(other)} there and {_short(first)} here"


def _short(value: Json) -> str:
    text = repr(value)
    return text if len(text) <= 80 else f"{text[:77]}..."


def _check_all_there(parts: Sequence[_FoundShard]) -> None:
    """Refuse when cases would be missing: a shard is not given, or was stopped before it knew its own."""
    n = parts[0].shard.n
    missing = sorted(set(range(1, n + 1)) - {part.shard.index for part in parts})
    if missing:
        named = ", ".join(f"{index}/{n}" for index in missing[:20]) + (" ..." if len(missing) > 20 else "")
        raise UsageError(message("shards-missing", n=len(missing), total=n, named=named))
    for index in range(1, n + 1):
        own = [part for part in parts if part.shard.index == index]
        if not any(CASES in part.meta for part in own):
            raise UsageError(message("cases-not-stored", path=str(own[0].directory)))


def _content(parts: Sequence[_FoundShard]) -> RunFile:
    """What run.json of the whole says."""
    first = parts[0].content
    places = [place for part in parts for place in (part.content.environment, *part.content.resumed_in)]
    others = [place for number, place in enumerate(places) if place not in places[:number]][1:]
    choice = {name: value for name, value in first.choice.items() if name != "shard"}
    judging = first.judging and structs.replace(first.judging, spec=structs.replace(first.judging.spec, shard=""))
    return structs.replace(
        first, spec=structs.replace(first.spec, shard=""), choice=choice, judging=judging, resumed_in=tuple(others)
    )


def _check_out(out: Path, content: RunFile) -> None:
    """Refuse a directory that holds something else."""
    if out.exists() and not out.is_dir():
        raise UsageError(message("out-is-file", path=str(out)))
    there = read_run_file(out)
    if there is None:
        refuse_strangers(out)
    elif difference := next(_differences(*map(msgspec.to_builtins, (content.spec, there.spec))), ""):
        raise UsageError(message("run-differs", path=str(out), differences=difference))


def _unfinished(parts: Sequence[_FoundShard], metas: Sequence[Mapping[str, Json]]) -> tuple[str, ...]:
    """Where every piece of a shard has work left."""
    done = {part.shard.index for part, meta in zip(parts, metas, strict=True) if WHOLE in meta}
    return tuple(str(part.directory) for part in parts if part.shard.index not in done)


def _count_cases(store: RunStore, meta: Mapping[str, Json]) -> None:
    """Note how many cases the whole has; they must stand one after another, since each shard left room for the rest."""
    n_cases, last, n_prompts = next(
        store.rows("SELECT count(*), max(ordinal), sum(json_array_length(record, '$.prompts')) FROM cases")
    )
    kept = meta.get(CASES)
    if n_cases != last + 1 or not isinstance(kept, dict):
        why = f"the shards hold {n_cases} cases and the last stands at place {last + 1}"
        raise StoreError(message("store-damaged", path=str(store.path), why=why))
    store.set_meta(CASES, {**kept, "n_cases": n_cases, "n_prompts": n_prompts})


def _keep_notes(store: RunStore, metas: Sequence[Mapping[str, Json]]) -> Iterator[str]:
    """The notes of all parts as those of one run; a sentence for each that cannot be."""
    for name in sorted({name for meta in metas for name in meta} - _OF_ONE_PART):
        values = [meta[name] for meta in metas if name in meta]
        if name in (IN_VAIN, PACE):
            store.set_meta(name, summed(values))
        elif name in _LISTS:
            lists = [value for value in values if isinstance(value, list)]
            store.set_meta(name, list(dict.fromkeys(str(who) for value in lists for who in value)))
        elif len(tables := [value for value in values if isinstance(value, dict)]) == len(values):
            store.set_meta(name, {key: value for table in tables for key, value in table.items()})
        elif all(value == values[0] for value in values):
            store.set_meta(name, values[0])
        elif name.startswith("snapshot:"):
            raise UsageError(message("snapshots-differ", snapshots=", ".join(sorted(map(str, values)))))
        else:
            yield message("note-dropped", name=name)
    if any(FIGURES in meta for meta in metas):
        yield message("note-dropped", name=FIGURES)
