"""Scenes and captions as arrays, made by many processes at once while the GPU learns.

Each chunk holds bank rows, places and word numbers of a fixed number of pictures. The processes never use torch:
start them before the first tensor goes to the GPU.
"""

from __future__ import annotations

import multiprocessing as mp
import os
import random
from dataclasses import dataclass
from multiprocessing.queues import Queue

import numpy as np
from pocket_captions import encode, scramble, tokenise, vocabulary, write_caption
from pocket_world import MAX_THINGS, SIGN, Extents, Placement, Scene, sample_scene

Rows = dict[tuple[str, str, str], int]
LONGEST = 32
"""Words of a training caption, marks of start and end included; one in two hundred is longer and told anew."""


@dataclass(slots=True, kw_only=True)
class Chunk:
    """Some pictures to draw and the captions to learn them by."""

    rows: np.ndarray
    places: np.ndarray
    """x, y, size and turn; size 0 where there is no thing."""
    tokens: np.ndarray
    captions: list[str] | None = None


def make_chunk(rng: random.Random, n: int, extents: Extents, rows_of: Rows, *, keeps_captions: bool = False) -> Chunk:
    """n scenes with their captions."""
    numbers = {word: i for i, word in enumerate(vocabulary())}
    rows = np.zeros((n, MAX_THINGS), np.int16)
    places = np.zeros((n, MAX_THINGS, 4), np.float32)
    tokens = np.zeros((n, LONGEST), np.int16)
    captions = []
    for i in range(n):
        scene, row = sample_scene(rng, extents), [0] * (LONGEST + 1)
        while len(row) > LONGEST:
            caption = write_caption(rng, scene)
            row = scramble(rng, encode(tokenise(caption), numbers))
        for k, placement in enumerate(back_to_front(scene)):
            rows[i, k] = rows_of[placement.thing, placement.style, placement.colour]
            places[i, k] = placement.x, placement.y, placement.size, placement.turn
        tokens[i, : len(row)] = row
        captions.append(caption)
    return Chunk(rows=rows, places=places, tokens=tokens, captions=captions if keeps_captions else None)


def back_to_front(scene: Scene) -> list[Placement]:
    """Lower things stand in front, signs behind all; a thing on or in front of another stands in front of it."""
    if scene.relation in ("on", "in front of"):
        return scene.placements[::-1]
    return sorted(scene.placements, key=lambda placement: (placement.thing != SIGN, placement.y))


def _work(queue: Queue[Chunk], seed: int, n: int, extents: Extents, rows_of: Rows) -> None:
    rng = random.Random(seed)
    while True:
        queue.put(make_chunk(rng, n, extents, rows_of))


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

    def next(self) -> Chunk:
        """The next chunk, waiting for it if need be."""
        return self.queue.get(timeout=120)

    def close(self) -> None:
        """End the processes."""
        for worker in self.workers:
            worker.terminate()
