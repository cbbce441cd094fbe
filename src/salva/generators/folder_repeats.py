"""The repeat of each image of a folder, from its seed or running number.

A missing image leaves a gap, so that images from different noise are never compared. Knows no files.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from salva.generators.folder_layouts import ListedImage, simplify

_LARGE_SEED = 10_000
"""Larger seeds are those of a run, which has one for every case."""

_Group = dict[str, list[ListedImage]]


def key_of(picture: ListedImage) -> str:
    """The prompt, or its simplified form if it is from a file name."""
    return simplify(picture.prompt) if picture.is_simplified else picture.prompt.strip()


def assign_repeats(listed: Sequence[ListedImage]) -> tuple[dict[tuple[str, int], list[ListedImage]], dict[int, int]]:
    """Images by prompt and repeat; and the folder's own seed of each repeat, if prompts share small ones."""
    groups: _Group = {}
    for picture in listed:
        groups.setdefault(key_of(picture), []).append(picture)
    repeats, seeds = _repeats_by_number(groups)
    places: dict[tuple[str, int], list[ListedImage]] = {}
    for key, pictures in groups.items():
        n_plain = 0
        for picture in pictures:
            number = _number(picture)
            repeat = picture.repeat
            if repeat is not None and picture.seed is not None and picture.seed >= _LARGE_SEED:
                # A prompt may be in two cases, with a seed each: seeds of a run decide.
                repeat = None
            elif repeat is None and number is not None:
                repeat = repeats.get((key, number))
            elif repeat is None:
                repeat, n_plain = n_plain, n_plain + 1
            if repeat is not None:
                places.setdefault((key, repeat), []).append(picture)
    return places, seeds


def _repeats_by_number(
    groups: Mapping[str, Sequence[ListedImage]],
) -> tuple[dict[tuple[str, int], int], dict[int, int]]:
    """The repeat of each prompt and number, and the seed of each repeat."""
    numbers = {
        key: sorted(
            {number for picture in pictures if picture.repeat is None and (number := _number(picture)) is not None}
        )
        for key, pictures in groups.items()
    }
    is_counted = any(picture.number is not None for pictures in groups.values() for picture in pictures)
    if not is_counted and any(number < _LARGE_SEED for own in numbers.values() for number in own):
        # Images with seeds of a run were added later; they are found by their seed.
        numbers = {key: [number for number in own if number < _LARGE_SEED] for key, own in numbers.items()}
    numbers = {key: own for key, own in numbers.items() if own}
    most = max(map(len, numbers.values()), default=0)
    every = sorted({number for own in numbers.values() for number in own})
    if len(every) > most and len(every) == sum(map(len, numbers.values())):
        is_numbered = is_counted or every[-1] < _LARGE_SEED
        return (_running(numbers, most) if is_numbered else {}), {}
    if len(every) > most and not is_counted and every[-1] >= _LARGE_SEED:
        return {}, {}
    ranks = {number: rank for rank, number in enumerate(every)}
    repeats = {(key, number): ranks[number] for key, own in numbers.items() for number in own}
    is_shared = not is_counted and every and every[-1] < _LARGE_SEED
    return repeats, {rank: number for number, rank in ranks.items()} if is_shared else {}


def _running(numbers: Mapping[str, Sequence[int]], most: int) -> dict[tuple[str, int], int]:
    """Repeats if every image has a number of its own.

    Numbers that count prompt after prompt, from 0 or 1, give the repeat even next to a gap. Otherwise the order of a
    prompt's numbers decides.
    """
    for first in (0, 1):
        blocks = [{(number - first) // most for number in own} for own in numbers.values()]
        if all(len(block) == 1 for block in blocks) and len(set.union(*blocks)) == len(blocks):
            return {(key, number): (number - first) % most for key, own in numbers.items() for number in own}
    return {(key, number): order for key, own in numbers.items() for order, number in enumerate(own)}


def _number(picture: ListedImage) -> int | None:
    return picture.number if picture.number is not None else picture.seed
