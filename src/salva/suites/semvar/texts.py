"""SemVarBench's tables about the sentences: how far apart they are, what is wrong with them, which words are shown.

Cases, and verdicts by judge, come in; tables go out.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import lru_cache

from salva.core.case import Case
from salva.core.fingerprint import fingerprint
from salva.core.judgements import CaseVerdict
from salva.core.scoring import pair_name
from salva.core.table import Cell, Table
from salva.results.tables import TableColumns, build_table, group_by_each, named, rows_table, subgroups
from salva.stats.agreement import pearson
from salva.stats.means import mean
from salva.suites.semvar.judged import grouped, labels_of, values_of
from salva.suites.semvar.rows import title_of

_GAMMA_OF = {"pv": "gamma_w", "pi": "gamma_wo"}
_TOKENS = ("tokens_a", "tokens_pv", "tokens_pi")


def edit_distances(cases: Sequence[Case]) -> Table | None:
    """Letters to change from the anchor to each permutation, and to another anchor, of its category and of all."""
    # Ratings can come without the sentences they are about.
    cases = [case for case in cases if all(prompt.text for prompt in case.prompts)]
    groups = dict(sorted(group_by_each(cases, lambda case: labels_of(case, "category")).items()))
    # The paper's average is above nearly all of its categories: there the other sentence is of any of them.
    whole = {"all, by sample": cases} if cases else {}
    return build_table(
        "edit distance (as Table 14)",
        ("category",),
        [*named(groups), *named(whole)],
        TableColumns(("n", "a_pv", "a_pi", "a_random"), _mean_distances),
        note="Random: another triple's anchor.",
    )


def _mean_distances(cases: Sequence[Case]) -> tuple[Cell, ...]:
    distances = _distances(cases)
    columns = [[value for value in column if value is not None] for column in zip(*distances.values(), strict=True)]
    return (len(distances), *(mean(column) if column else None for column in columns))


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


def findings_table(cases: Sequence[Case]) -> Table | None:
    """What is wrong with the triples, by kind."""
    groups = group_by_each(cases, lambda case: dict.fromkeys(map(title_of, case.findings)))
    return build_table(
        "triples to check",
        ("finding",),
        sorted(named(groups), key=lambda group: -len(group[1])),
        TableColumns(("cases", "for example"), lambda group: (len(group), group[0].labels.get("id", group[0].case_id))),
    )


def text_similarity(by_judge: Mapping[str, Sequence[CaseVerdict]]) -> Table | None:
    """How far apart an embedder puts the sentences, against how far the images differ."""
    has_distance = {
        judge: [triple for triple in judged if "text_distance_pv" in triple.verdict.scores]
        for judge, judged in by_judge.items()
    }

    def cells(permuted: str, judged: Sequence[CaseVerdict]) -> tuple[Cell, ...]:
        names = (f"text_distance_{permuted}", pair_name(permuted, "a"), _GAMMA_OF[permuted])
        distances, fits, gammas = (values_of(judged, name) for name in names)
        means = (mean(distances), mean(fits), mean(gammas))
        return (len(judged), *means, pearson(distances, fits).value, pearson(distances, gammas).value)

    return rows_table(
        "text similarity (as Figure 6)",
        ("judge", "permutation", "n", "text_distance", "s_of_anchor_image", "gamma", "r_with_s", "r_with_gamma"),
        (
            (judge, permuted, *cells(permuted, judged))
            for judge, judged in has_distance.items()
            for permuted in (_GAMMA_OF if judged else ())
        ),
        note="r: Pearson's correlation over triples.",
    )


def token_accuracy(by_judge: Mapping[str, Sequence[CaseVerdict]]) -> Table | None:
    """The share of meaningful words that a judge finds in the images, by category."""

    def by_category(judged: Sequence[CaseVerdict]) -> dict[str, list[CaseVerdict]]:
        complete = [triple for triple in judged if all(name in triple.verdict.scores for name in _TOKENS)]
        return grouped(complete, "category")

    return build_table(
        "token accuracy (as Table 4)",
        ("judge", "category"),
        subgroups(by_judge, by_category),
        TableColumns(
            ("n", "t_a", "t_pv", "t_pi"),
            lambda group: (len(group), *(mean(values_of(group, name)) for name in _TOKENS)),
        ),
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
