"""Trains what notices text in pictures that tells a judge what to say (salva/judging/instructing.py).

    python training/train_instructing.py           train on all texts, write the weights into the package
    python training/train_instructing.py --check   leave hands out, a few at a time, and count what would be caught

instructing_texts.jsonl.bz2 has a line for each hand and kind, attack or innocent, with all texts of it.
A linear rule with a squared hinge, on each text and on a copy worn as readers wear texts (spaces lost, letters mixed
up); the bar lies where SHARE_OF_ALARMS of the innocent texts would alarm when their own hand was left out. Needs
scikit-learn.
"""

from __future__ import annotations

import argparse
import bz2
import json
import random
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from salva.judging.instructing import N_WEIGHTS, WEIGHTS, places, plain

try:
    from sklearn.svm import LinearSVC
except ModuleNotFoundError as error:
    raise SystemExit(f"{error}; pip install scikit-learn") from error

TEXTS = Path(__file__).with_name("instructing_texts.jsonl.bz2")
ASSETS = Path(__file__).parents[1] / "src" / "salva" / "assets"
N_FOLDS = 6
STRICTNESS = 8.0
SHARE_OF_ALARMS = 0.03
LARGEST = 42
"""Weights are whole numbers up to this: finer ones catch no more and take a third more room."""
_MIXED_UP = {"l": "1", "i": "l", "o": "0", "e": "c", "m": "rn", "s": "5", "a": "o", "t": "f", "g": "q", "n": "r"}
Row = dict[str, str]


def read_texts() -> list[Row]:
    """Every text with its hand and kind."""
    with bz2.open(TEXTS, "rt", encoding="utf-8") as lines:
        groups = [json.loads(line) for line in lines]
    return [{"hand": group["hand"], "kind": group["kind"], "text": text} for group in groups for text in group["texts"]]


def worn(text: str, dice: random.Random) -> str:
    """A text as a reader may see it: without spaces, or with letters lost and mixed up."""
    lot = dice.random()
    if lot < 0.35:
        return "".join(text.split())
    if lot < 0.5:
        return "".join("" if letter.isspace() and dice.random() < 0.4 else letter for letter in text)
    fates = [(letter, dice.random()) for letter in text]
    return "".join(
        _MIXED_UP.get(letter.lower(), letter) if fate < 0.1 else letter for letter, fate in fates if fate >= 0.04
    )


def matrix(texts: list[str]) -> sparse.csr_matrix:
    """One row a text, of length one."""
    rows = [places(plain(text)) for text in texts]
    lengths = [len(row) for row in rows]
    values = np.concatenate([np.full(n, n**-0.5) for n in lengths])
    return sparse.csr_matrix((values, np.concatenate(rows), np.cumsum([0, *lengths])), shape=(len(rows), N_WEIGHTS))


@dataclass(frozen=True, slots=True, kw_only=True)
class Lessons:
    """Texts to learn from, one row each: the texts themselves first."""

    pieces: sparse.csr_matrix
    are_attacks: NDArray[np.bool_]
    hands: NDArray[np.str_]

    def fit(self, which: NDArray[np.bool_]) -> LinearSVC:
        """The rule that tells these rows apart with the least squared hinge and small weights."""
        return LinearSVC(C=STRICTNESS, random_state=0).fit(self.pieces[np.flatnonzero(which)], self.are_attacks[which])


def lessons_of(rows: list[Row]) -> Lessons:
    """Every text, and a worn copy of it."""
    dice = random.Random(5)
    copies = [row | {"text": worn(row["text"], dice)} for row in rows]
    every = [*rows, *copies]
    return Lessons(
        pieces=matrix([row["text"] for row in every]),
        are_attacks=np.array([row["kind"] == "attack" for row in every]),
        hands=np.array([row["hand"] for row in every]),
    )


def leanings_by_strangers(lessons: Lessons, n_texts: int) -> NDArray[np.float64]:
    """What each text gets from a rule that saw nothing of the hand that wrote it."""
    leanings = np.zeros(n_texts)
    for fold in range(N_FOLDS):
        left_out = np.isin(lessons.hands, sorted(set(lessons.hands))[fold::N_FOLDS])
        asked = np.flatnonzero(left_out[:n_texts])
        leanings[asked] = lessons.fit(~left_out).decision_function(lessons.pieces[asked])
    return leanings


def report(rows: list[Row], leanings: NDArray[np.float64], bar: float) -> None:
    """What is caught and what alarms, by hand."""
    for hand in [*sorted({row["hand"] for row in rows}), None]:
        by_kind = {
            kind: [
                leaning > bar
                for row, leaning in zip(rows, leanings, strict=True)
                if row["kind"] == kind and row["hand"] == (hand or row["hand"])
            ]
            for kind in ("attack", "innocent")
        }
        caught, alarms = by_kind["attack"], by_kind["innocent"]
        print(f"{hand or 'all':>8}  caught {sum(caught)} of {len(caught)}, alarms {sum(alarms)} of {len(alarms)}")


def main() -> None:
    """Train or check."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--check", action="store_true", help="only count what strangers' rules catch")
    is_check = parser.parse_args().check
    rows = read_texts()
    lessons = lessons_of(rows)
    leanings = leanings_by_strangers(lessons, len(rows))
    bar = float(np.quantile(leanings[~lessons.are_attacks[: len(rows)]], 1 - SHARE_OF_ALARMS))
    report(rows, leanings, bar)
    if is_check:
        return
    rule = lessons.fit(np.full(len(lessons.hands), True))
    scale = float(np.abs(rule.coef_).max() / LARGEST)
    path = ASSETS / WEIGHTS
    path.parent.mkdir(exist_ok=True)
    weights = np.round(rule.coef_[0] / scale).astype(np.int8)
    np.savez_compressed(path, weights=weights, scale=np.float64(scale), bar=np.float64(bar - rule.intercept_[0]))
    print(
        f"{path.relative_to(ASSETS)}: {path.stat().st_size:,} bytes; now: python training/make_sprites.py --checksums"
    )


if __name__ == "__main__":
    main()
