"""Scenes, captions and captions that are wrong about them, as arrays, made by many processes at once.

Each picture gets one true caption and a few false ones that differ in little: two things, colours, numbers or places
exchanged, one of them changed, a thing more, less or another. Mostly in the very words of the true one, so that only
what is said can tell them apart. The processes never use torch: start them before the first tensor goes to the GPU.
"""

from __future__ import annotations

import multiprocessing as mp
import os
import queue
import random
from collections.abc import Callable
from dataclasses import dataclass, replace
from multiprocessing.queues import Queue

import numpy as np
import pocket_priors as priors
from pocket_captions import encode, tokenise, vocabulary, write_caption
from pocket_stream import back_to_front
from pocket_world import MAX_THINGS, SIGN, Extents, Group, Scene, sample_scene

LONGEST = 40
"""Words of a caption, start and end included; the few that are longer are told anew."""
N_FALSE = 3
"""False captions for each picture."""
HASTY = 0.5
"""The share of true captions written as people do, now and then with a thing too few or too many."""
OTHER_STYLE = 0.35
"""The share of scenes in any of the painter's drawings instead of pocket's two."""
Rows = dict[tuple[str, str, str], int]
OPPOSITE: dict[str, tuple[str, ...]] = {"left": ("right",), "right": ("left",), "top": ("bottom",), "bottom": ("top",)}
OPPOSITE |= {"middle": ("left", "right", "top", "bottom")}


@dataclass(slots=True, kw_only=True)
class Chunk:
    """Some pictures to draw, with their captions first true, then false."""

    rows: np.ndarray
    places: np.ndarray
    """[n, things, 4]: x, y, size and turn; no size, no thing."""
    kinds: np.ndarray
    """[n]: the same number for pictures with the same things in the same numbers."""
    tokens: np.ndarray
    """[n, 1 + N_FALSE, words]"""
    n_with: list[int]
    """How many pictures have more than k things; those with most come first."""
    captions: list[list[str]] | None = None


def make_chunk(
    rng: random.Random,
    n: int,
    extents: Extents,
    rows_of: Rows,
    *,
    keeps_captions: bool = False,
    wild: float = OTHER_STYLE,
) -> Chunk:
    """n scenes with their captions."""
    numbers = {word: i for i, word in enumerate(vocabulary())}
    styles = _styles(rows_of)
    rows = np.zeros((n, MAX_THINGS), np.int16)
    places = np.zeros((n, MAX_THINGS, 4), np.float32)
    tokens = np.zeros((n, 1 + N_FALSE, LONGEST), np.int16)
    kinds = np.zeros(n, np.int64)
    kept = []
    scenes = sorted((sample_scene(rng, extents) for _ in range(n)), key=lambda scene: -len(scene.placements))
    for i, scene in enumerate(scenes):
        other = {thing: rng.choice(styles[thing]) for thing in styles} if rng.random() < wild else {}
        for k, placement in enumerate(back_to_front(scene)):
            style = other.get(placement.thing, placement.style)
            rows[i, k] = rows_of[placement.thing, style, placement.colour]
            places[i, k] = placement.x, placement.y, placement.size, placement.turn
        kinds[i] = hash(tuple(sorted((group.thing, group.n) for group in scene.groups)))
        encoded: list[list[int]] = []
        while not encoded or max(map(len, encoded)) > LONGEST:
            texts = write_captions(rng, scene)
            encoded = [encode(tokenise(text), numbers) for text in texts]
        for j, row in enumerate(encoded):
            tokens[i, j, : len(row)] = row
        kept.append(texts)
    longest = int((tokens != 0).sum(2).max())
    tokens = tokens[:, :, : min(LONGEST, -(-longest // 8) * 8)]
    n_with = [sum(len(scene.placements) > k for scene in scenes) for k in range(MAX_THINGS)]
    captions = kept if keeps_captions else None
    return Chunk(rows=rows, places=places, kinds=kinds, tokens=tokens, n_with=n_with, captions=captions)


def write_captions(rng: random.Random, scene: Scene) -> list[str]:
    """The true caption, then the false ones."""
    seed = rng.getrandbits(48)
    texts = [write_caption(random.Random(seed), scene, is_complete=rng.random() >= HASTY)]
    for change in (_exchanged, _changed, _other_things):
        false = change(rng, scene) or _other_things(rng, scene)
        wording = seed if rng.random() < 0.75 else rng.getrandbits(48)
        texts.append(write_caption(random.Random(wording), false, is_complete=True))
    return texts


def _exchanged(rng: random.Random, scene: Scene) -> Scene | None:
    """Two groups with their things, colours, numbers or places exchanged; None where that would still be true."""
    if len(scene.groups) < 2:
        return None
    one, two = rng.sample(range(len(scene.groups)), 2)
    first, second = scene.groups[one], scene.groups[two]
    ways = [field for field in ("n", "colour", "place") if getattr(first, field) != getattr(second, field)]
    # Where only one of the two has a place or a colour said, the other may have it unsaid.
    ways = [field for field in ways if getattr(first, field) and getattr(second, field)]
    # A tree takes no colour, so "a red tree" would be known for false by its words alone.
    can_swap = all(
        not group.colour or other.thing in priors.COLOURED for group, other in ((first, second), (second, first))
    )
    if can_swap and (ways or scene.relation in ("left of", "above", "on")):
        ways = [*ways, "thing", "thing"]
    if not ways:
        return None
    field = rng.choice(ways)
    groups = list(scene.groups)
    groups[one] = replace(first, **{field: getattr(second, field)})
    groups[two] = replace(second, **{field: getattr(first, field)})
    return _said(scene, groups)


def _changed(rng: random.Random, scene: Scene) -> Scene | None:
    """One group with another number, colour or place."""
    groups = list(scene.groups)
    at = rng.randrange(len(groups))
    group = groups[at]
    ways: list[Callable[[], Group]] = []
    n_others = sum(other.n for other in groups) - group.n
    numbers = [n for n in (group.n - 2, group.n - 1, group.n + 1, group.n + 2) if 1 <= n <= MAX_THINGS - n_others]
    if numbers and not scene.relation:
        ways.append(lambda: replace(group, n=rng.choice(numbers)))
    if group.colour:
        ways += [lambda: replace(group, colour=rng.choice([c for c in priors.COLOURS if c != group.colour]))] * 2
    if group.place:
        ways += [lambda: replace(group, place=rng.choice(OPPOSITE[group.place]))] * 2
    if not ways:
        return None
    groups[at] = rng.choice(ways)()
    return _said(scene, groups)


def _other_things(rng: random.Random, scene: Scene) -> Scene:
    """A thing less, more, or another in its place."""
    groups = list(scene.groups)
    draw = rng.random()
    at = rng.randrange(len(groups))
    if draw < 0.25 and len(groups) > 1:
        del groups[at]
        return Scene(groups=groups, placements=[])
    named = {group.thing for group in groups}
    pool = [t for t in (priors.COLOURED if groups[at].colour else priors.THINGS) if t not in named]
    if draw < 0.45 and len(groups) < 5 and not scene.relation:
        groups.insert(at, Group(thing=rng.choice([thing for thing in priors.THINGS if thing not in named])))
        return Scene(groups=groups, placements=[])
    groups[at] = replace(groups[at], thing=rng.choice(pool))
    return _said(scene, groups)


def _said(scene: Scene, groups: list[Group]) -> Scene:
    return Scene(groups=groups, relation=scene.relation, placements=[])


def _styles(rows_of: Rows) -> dict[str, list[str]]:
    styles: dict[str, list[str]] = {}
    for thing, style, colour in rows_of:
        if not colour and thing != SIGN:
            styles.setdefault(thing, []).append(style)
    return styles


def _work(out: Queue[Chunk], seed: int, n: int, extents: Extents, rows_of: Rows) -> None:
    rng = random.Random(seed)
    while True:
        out.put(make_chunk(rng, n, extents, rows_of))


class Stream:
    """Chunks without end from several processes; close it when done."""

    def __init__(self, *, n: int, seed: int, extents: Extents, rows_of: Rows, n_workers: int = 0) -> None:
        # Forked, so that they start at once; none of them may touch the GPU.
        context = mp.get_context("fork")
        n_workers = n_workers or max(1, (os.cpu_count() or 2) - 2)
        self.queue: Queue[Chunk] = context.Queue(maxsize=2 * n_workers)
        self.workers = [
            context.Process(target=_work, args=(self.queue, seed * 1000 + i, n, extents, rows_of), daemon=True)
            for i in range(n_workers)
        ]
        for worker in self.workers:
            worker.start()

    def next(self, *, waits: bool) -> Chunk | None:
        """The next chunk; None when there is none yet and nobody waits."""
        try:
            return self.queue.get(timeout=120) if waits else self.queue.get_nowait()
        except queue.Empty:
            if waits:
                raise
            return None

    def close(self) -> None:
        """End the processes."""
        for worker in self.workers:
            worker.terminate()
