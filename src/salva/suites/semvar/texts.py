"""SemVarBench's tables about the sentences: how far apart they are, what is wrong with them, which words are shown.

Cases, and verdicts by judge, come in; tables go out. Whether a judge or an embedder was asked is told from the
scores that are there.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from functools import lru_cache

from salva.core.case import Case
from salva.core.fingerprint import fingerprint
from salva.core.judged import Judged
from salva.core.scoring import pair_name
from salva.core.table import Cell, Table
from salva.stats.agreement import pearson
from salva.stats.means import mean
from salva.suites.semvar.rows import title_of

_TOKENS = ("tokens_a", "tokens_pv", "tokens_pi")


def edit_distances(cases: Sequence[Case]) -> Table | None:
    """Letters to change from the anchor to each permutation, and to another anchor, of its category and of all."""
    # Ratings can come without the sentences they are about.
    cases = [case for case in cases if all(prompt.text for prompt in case.prompts)]
    if not cases:
        return None
    groups: dict[str, list[Case]] = {}
    for case in cases:
        for category in case.labels["category"].split(","):
            groups.setdefault(category, []).append(case)
    by_category = {category: _distances(group) for category, group in sorted(groups.items())}
    rows = [
        (category, len(distances), *_means(list(distances.values()))) for category, distances in by_category.items()
    ]
    # The paper's average is above nearly all of its categories: there the other sentence is of any of them.
    rows.append(("all, by sample", len(cases), *_means(list(_distances(cases).values()))))
    return Table(
        name="edit distance (as Table 14)",
        columns=("category", "n", "a_pv", "a_pi", "a_random"),
        rows=tuple(rows),
        note="Letters to insert, drop or replace. Random is the anchor of another triple of the category, and in "
        "the last row of any. "
        "A paraphrase is further from its anchor than a swap, though it means the same.",
    )


def _distances(cases: Sequence[Case]) -> dict[str, tuple[int, int, int | None]]:
    """By case: from its anchor to each permutation and to another anchor of these; None where there is no other."""
    ring = sorted(cases, key=lambda case: fingerprint(case.case_id))
    distances = {}
    for case, other in zip(ring, [*ring[1:], *ring[:1]], strict=True):
        anchor = case.prompt("a").text
        to_random = None if other is case else edit_distance(anchor, other.prompt("a").text)
        to_pv, to_pi = (edit_distance(anchor, case.prompt(role).text) for role in ("pv", "pi"))
        distances[case.case_id] = (to_pv, to_pi, to_random)
    return distances


def _means(distances: Sequence[tuple[int, int, int | None]]) -> tuple[Cell, ...]:
    columns = [[value for value in column if value is not None] for column in zip(*distances, strict=True)]
    return tuple(mean(column) if column else None for column in columns)


def findings_table(cases: Sequence[Case]) -> Table | None:
    """What is wrong with the triples, by kind."""
    counts: Counter[str] = Counter()
    examples: dict[str, Case] = {}
    for case in cases:
        for title in dict.fromkeys(map(title_of, case.findings)):
            counts[title] += 1
            examples.setdefault(title, case)
    if not counts:
        return None
    return Table(
        name="triples that need a look",
        columns=("finding", "cases", "for example"),
        rows=tuple(
            (title, n, examples[title].labels.get("id", examples[title].case_id)) for title, n in counts.most_common()
        ),
        note="Found in the files, before anything was painted; the findings of each case say where.",
    )


def text_similarity(by_judge: Mapping[str, Sequence[Judged]]) -> Table | None:
    """How far apart an embedder puts the sentences, against what the pictures make of the difference."""
    rows: list[tuple[Cell, ...]] = []
    for judge, judged in by_judge.items():
        embedded = [triple.verdict.scores for triple in judged if "text_distance_pv" in triple.verdict.scores]
        if not embedded:
            continue
        for permuted, gamma in (("pv", "gamma_w"), ("pi", "gamma_wo")):
            apart = [scores[f"text_distance_{permuted}"] for scores in embedded]
            fits = [scores[pair_name(permuted, "a")] for scores in embedded]
            moves = [scores[gamma] for scores in embedded]
            means = (mean(apart), mean(fits), mean(moves))
            rows.append(
                (judge, permuted, len(embedded), *means, pearson(apart, fits).value, pearson(apart, moves).value)
            )
    if not rows:
        return None
    return Table(
        name="text similarity (as Figure 6)",
        columns=(
            "judge",
            "permutation",
            "n",
            "text_distance",
            "s_of_anchor_image",
            "gamma",
            "r_with_s",
            "r_with_gamma",
        ),
        rows=tuple(rows),
        note="1 - cosine of the anchor's vector with the permutation's, the score of the "
        "anchor's picture against the permutation, and gamma; r is Pearson's correlation over triples.",
    )


def token_accuracy(by_judge: Mapping[str, Sequence[Judged]]) -> Table | None:
    """The share of words of meaning that a judge finds in the pictures, by category."""
    rows: list[tuple[Cell, ...]] = []
    for judge, judged in by_judge.items():
        groups: dict[str, list[Mapping[str, float]]] = {}
        for triple in judged:
            if all(name in triple.verdict.scores for name in _TOKENS):
                for category in triple.case.labels["category"].split(","):
                    groups.setdefault(category, []).append(triple.verdict.scores)
        rows += [
            (judge, category, len(group), *(mean(scores[name] for scores in group) for name in _TOKENS))
            for category, group in sorted(groups.items())
        ]
    if not rows:
        return None
    return Table(
        name="token accuracy (as Table 4)",
        columns=("judge", "category", "n", "t_a", "t_pv", "t_pi"),
        rows=tuple(rows),
        note="Every word of meaning on its own, whatever it belongs to. A model can show all "
        "words and none of the relations between them.",
    )


@lru_cache(maxsize=65_536)
def edit_distance(triple: str, other: str) -> int:
    """The fewest letters to insert, drop or replace to turn one text into the other (Levenshtein).

    A column of the usual table is kept as bits of two whole numbers, up steps and down steps, and moved on a letter
    at a time (Myers 1999): some fifty times quicker than cell by cell.
    """
    if not triple:
        return len(other)
    where: dict[str, int] = {}
    for i, letter in enumerate(triple):
        where[letter] = where.get(letter, 0) | 1 << i
    every, last = (1 << len(triple)) - 1, 1 << (len(triple) - 1)
    up, down, distance = every, 0, len(triple)
    for letter in other:
        same = where.get(letter, 0)
        still = same | down
        across = (((same & up) + up) ^ up) | same
        rises, falls = down | (~(across | up) & every), up & across
        distance += bool(rises & last) - bool(falls & last)
        rises, falls = rises << 1 | 1, falls << 1
        up, down = (falls | ~(still | rises)) & every, rises & still & every
    return distance
