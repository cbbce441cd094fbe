"""A comparison as JSON or text.

Words that came from runs are escaped or made printable on their way out; numbers are the record's own.
"""

from __future__ import annotations

from collections.abc import Iterable

from salva.compare.board import duels_table, groups_table, standings, standings_table
from salva.compare.comparing import Comparison, Duel
from salva.compare.pairing import FigureDifference, Flip, GroupDifference
from salva.compare.words import asides_of, flips_of, sentence_of, title_of, verdict_of
from salva.core.fingerprint import Json
from salva.core.printable import printable
from salva.core.table import Table
from salva.report.markdown import escape, table_text
from salva.report.summary_json import ends_json

SCHEMA = 1
_MOST_FLIPS = 20


def comparison_json(comparison: Comparison) -> dict[str, Json]:
    """The contract's object; with more than two entrants the top-level figures are null."""
    duels: list[Json] = [duel_json(duel) for duel in comparison.duels]
    only = duel_json(comparison.duels[0])
    is_one = len(comparison.duels) == 1
    return {
        "schema": SCHEMA,
        "suite": comparison.suite,
        "models": [
            {"title": entrant.title, "model": entrant.model, "run": entrant.run} for entrant in comparison.entrants
        ],
        "figure": _named(comparison.duels[0].leading),
        **(only if is_one else dict.fromkeys(only)),
        "comparisons": duels,
        "leaderboard": [
            {
                "place": standing.place,
                "title": standing.title,
                "run": standing.run,
                "value": standing.value,
                "pairs": standing.n_pairs,
                "ahead_of": list(standing.ahead_of),
            }
            for standing in standings(comparison)
        ],
    }


def duel_json(duel: Duel) -> dict[str, Json]:
    """Two entrants."""
    return {
        "first": duel.first.title,
        "second": duel.second.title,
        **_figure_json(duel.leading),
        "p_holm": duel.p_holm,
        "verdict": str(duel.verdict),
        "by_law": _groups_json(duel.by_law),
        "by_category": _groups_json(duel.by_category),
        "beside": {figure.name: {**_named(figure), **_figure_json(figure)} for figure in duel.beside},
        "flipped": [_flip_json(flip) for flip in duel.flipped],
        "notes": list(duel.notes),
    }


def _named(figure: FigureDifference) -> dict[str, Json]:
    return {"name": figure.name, "title": figure.title, "is_high_good": figure.is_high_good}


def _figure_json(figure: FigureDifference) -> dict[str, Json]:
    signs = figure.signs
    return {
        "pairs": figure.n_pairs,
        "cases": figure.n_cases,
        "undecided": figure.n_undecided,
        "values": [figure.first, figure.second],
        "difference": figure.difference,
        "interval": ends_json(figure.interval),
        "interval_entities": ends_json(figure.interval_entities),
        "why_no_interval_entities": figure.why_no_entities or None,
        "bounds": ends_json(figure.bounds),
        "p": figure.p,
        "detectable": figure.detectable,
        "effect": {"relative": figure.relative, "standardised": figure.standardised, "odds": figure.odds},
        "mcnemar": None
        if signs is None
        else {"only_first": signs.n_higher, "only_second": signs.n_lower, "p": signs.p},
    }


def _groups_json(groups: Iterable[GroupDifference]) -> dict[str, Json]:
    return {
        group.name: {
            "pairs": group.figure.n_pairs,
            "values": [group.figure.first, group.figure.second],
            "difference": group.figure.difference,
            "interval": ends_json(group.figure.interval),
            "p": group.figure.p,
            "p_holm": group.p_holm,
        }
        for group in groups
    }


def _flip_json(flip: Flip) -> dict[str, Json]:
    return {
        "case_id": flip.case.case_id,
        "repeat": flip.repeat,
        "got": "worse" if flip.got_worse else "better",
        "is_apart": flip.is_apart,
        "labels": dict(flip.case.labels),
        "prompts": {prompt.role: prompt.text for prompt in flip.case.prompts},
        "failure_types": list((flip.second if flip.got_worse else flip.first).failure_types),
        "images": {"first": dict(flip.first.images), "second": dict(flip.second.images)},
    }


def comparison_markdown(comparison: Comparison) -> str:
    """For an issue or a pull request, ending in a newline."""
    blocks = [f"# {escape(comparison.suite)}: {escape(title_of(comparison))}"]
    if len(comparison.entrants) > 2:
        blocks += [table_text(standings_table(comparison)), table_text(duels_table(comparison))]
    for duel in comparison.against_first:
        if len(comparison.entrants) > 2:
            blocks.append(f"## {escape(f'{duel.second.title} against {duel.first.title}')}")
        blocks.append(f"**{escape(verdict_of(duel))}**: {escape(sentence_of(duel))}.")
        blocks += [f"**{escape(note)}.**" for note in duel.notes]
        blocks.append(
            "\n".join(
                f"- {escape(aside.title)}: {escape(aside.value)} ({escape(aside.note)})" for aside in asides_of(duel)
            )
        )
        blocks += [f"### {escape(table.name)}\n\n{table_text(table)}" for table in _group_tables(duel)]
        blocks.append(_flips_markdown(duel))
    return "\n\n".join(block for block in blocks if block) + "\n"


def _group_tables(duel: Duel) -> list[Table]:
    laws, categories = ([group.name for group in groups] for groups in (duel.by_law, duel.by_category))
    tables = [groups_table("law", duel, duel.by_law)] if laws != categories else []
    return [*tables, groups_table("category", duel, duel.by_category)]


def _flips_markdown(duel: Duel) -> str:
    if not duel.flipped:
        return ""
    head = f"### {flips_of(duel)}"
    lines = []
    for flip in duel.flipped[:_MOST_FLIPS]:
        texts = " / ".join(prompt.text for prompt in flip.case.prompts)
        errors = ", ".join((flip.second if flip.got_worse else flip.first).failure_types)
        word = "worse" if flip.got_worse else "better"
        lines.append(
            f"- {word}: {escape(flip.case.case_id)}: {escape(texts)}" + (f" ({escape(errors)})" if errors else "")
        )
    n_more = len(duel.flipped) - _MOST_FLIPS
    more = f"\n\n{n_more} more in the json form of this comparison." if n_more > 0 else ""
    return f"{head}\n\n" + "\n".join(lines) + more


def comparison_text(comparison: Comparison) -> str:
    """For a terminal: the verdict, what it rests on, what could have been shown, the laws."""
    lines: list[str] = []
    if len(comparison.entrants) > 2:
        lines += [*_plain(standings_table(comparison)), "", *_plain(duels_table(comparison)), ""]
    for duel in comparison.against_first:
        lines += [f"{verdict_of(duel)}.", f"  {sentence_of(duel)}"]
        lines += [f"  note: {note}" for note in duel.notes]
        lines += [f"  {aside.title}  {aside.value} ({aside.note})" for aside in asides_of(duel)]
        lines += ["", *_plain(_group_tables(duel)[0]), ""]
        lines += [f"  {flips_of(duel)}", ""]
    return "\n".join(printable(line) for line in lines).rstrip() + "\n"


def _plain(table: Table) -> list[str]:
    rows = [list(table.columns), *([str(cell) for cell in row] for row in table.rows)]
    widths = [max(len(row[place]) for row in rows) for place in range(len(table.columns))]
    return [
        "  " + "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in rows
    ]
