"""A comparison as JSON, Markdown or text.

Words that came from runs are escaped or made printable on their way out; numbers are the record's own.
"""

from __future__ import annotations

import textwrap
from collections.abc import Iterator, Mapping

from salva.compare.comparing import ComparedRuns, Comparison
from salva.compare.entrants import Entrant
from salva.compare.pairing import FigureDifference, Flip, GroupDifference
from salva.compare.tables import candidates_table, tables_of
from salva.compare.words import (
    changed_text,
    flips_text,
    margin_text,
    metric_text,
    pair_title,
    pairs_of,
    sentence_of,
    title_of,
    trusts_text,
)
from salva.core.fingerprint import Json
from salva.core.printable import printable
from salva.report.markdown import escape, table_text
from salva.report.summary_json import trust_json
from salva.stats.intervals import Interval

SCHEMA = 2
_MOST_FLIPS = 20
_MOST_LINES = 12
_WIDTH, _LABEL = 80, 9
_LEAST_GAP = 2
_N_METRICS = 2


def comparison_json(compared: ComparedRuns) -> dict[str, Json]:
    """The contract's object; with several candidates the figures of a comparison are null at the top."""
    made: list[Json] = [one_json(one) for one in compared.comparisons]
    first = one_json(compared.comparisons[0])
    return {
        "schema": SCHEMA,
        "suite": compared.suite,
        "rule": str(compared.baseline.asked.rule),
        "exit_code": compared.exit_code,
        "baseline": _entrant_json(compared.baseline),
        **(first if compared.only else dict.fromkeys(first)),
        "comparisons": made,
    }


def one_json(comparison: Comparison) -> dict[str, Json]:
    """One candidate against the baseline."""
    return {
        "candidate": _entrant_json(comparison.candidate),
        **_figure_json(comparison.figure),
        "undecided": comparison.n_shared - comparison.pairs,
        "p_holm": comparison.p_holm,
        "decision": str(comparison.decision),
        "margin": comparison.demands.margin,
        "gate": comparison.gate.to_json() if comparison.gate else None,
        "metrics": {name: {**_figure_json(one), "better": one.better} for name, one in comparison.metrics.items()},
        "by_category": _groups_json(comparison.by_category),
        "by_law": _groups_json(comparison.by_law),
        "flipped": [_flip_json(flip) for flip in comparison.flipped],
        "notes": [{"code": note.code, "text": note.plain} for note in comparison.notes],
    }


def _entrant_json(entrant: Entrant) -> dict[str, Json]:
    return {
        "title": entrant.title,
        "model": entrant.model,
        "run": entrant.run.run,
        "failure_rate": entrant.figures.failure_rate,
        "trust": trust_json(entrant.figures.trust),
    }


def _figure_json(figure: FigureDifference) -> dict[str, Json]:
    return {
        "pairs": figure.n_pairs,
        "cases": figure.n_cases,
        "values": [figure.baseline, figure.candidate],
        "difference": figure.difference,
        "interval": _ends(figure.interval),
        "interval_entities": _ends(figure.interval_entities),
        "p": figure.p,
        "detectable": figure.detectable,
        "effect_size": figure.effect_size,
    }


def _ends(interval: Interval | None) -> Json:
    return None if interval is None else [interval.low, interval.high]


def _groups_json(groups: Mapping[str, GroupDifference]) -> dict[str, Json]:
    return {
        name: {**_figure_json(one.figure), "failed": [*one.n_failed], "p_holm": one.p_holm}
        for name, one in groups.items()
    }


def _flip_json(flip: Flip) -> dict[str, Json]:
    case = flip.failed.case
    return {
        "case_id": case.case_id,
        "repeat": flip.failed.repeat,
        "got": "worse" if flip.got_worse else "better",
        "labels": dict(case.labels),
        "prompts": {prompt.role: prompt.text for prompt in case.prompts},
        "failure_types": list(flip.failed.failure_types),
        "images": {"baseline": dict(flip.baseline.images), "candidate": dict(flip.candidate.images)},
    }


def comparison_markdown(compared: ComparedRuns) -> str:
    """For an issue or a pull request, ending in a newline."""
    blocks = [f"# {escape(compared.suite)}: {escape(title_of(compared))}"]
    if compared.only is None:
        blocks.append(table_text(candidates_table(compared)))
    for one in compared.comparisons:
        if compared.only is None:
            blocks.append(f"## {escape(one.candidate.title)}")
        blocks.append(f"**{escape(sentence_of(one))}**")
        rows = [row for row in _rows(one) if row[0] in ("pairs", "note", "trust", "gate")]
        blocks.append("\n".join(f"- {label}: {escape(text)}" for label, text in rows))
        blocks += [f"### {escape(table.name)}\n\n{table_text(table)}" for table in tables_of(one)]
        blocks.append(_flips_markdown(one))
    return "\n\n".join(block for block in blocks if block) + "\n"


def _flips_markdown(comparison: Comparison) -> str:
    if not comparison.flipped:
        return ""
    lines = []
    for flip in comparison.flipped[:_MOST_FLIPS]:
        case, types = flip.failed.case, ", ".join(flip.failed.failure_types)
        texts = " / ".join(prompt.text for prompt in case.prompts)
        word = "worse" if flip.got_worse else "better"
        lines.append(f"- {word}: {escape(case.case_id)}: {escape(texts)}" + (f" ({escape(types)})" if types else ""))
    n_more = len(comparison.flipped) - _MOST_FLIPS
    more = f"\n\n{n_more} more in the json form of this comparison." if n_more > 0 else ""
    return f"### {flips_text(comparison)}\n\n" + "\n".join(lines) + more


def comparison_text(compared: ComparedRuns, *, verbose: bool = False) -> str:
    """For a terminal: twelve lines of eighty columns at most for one candidate, one sentence each for several."""
    if compared.only is None and not verbose:
        lines = [f"{compared.suite}: {title_of(compared)}"]
        for one in compared.comparisons:
            lines += _wrapped("", sentence_of(one))
            lines += _wrapped("gate", margin_text(one, one.gate)) if one.gate else []
    else:
        lines = [line for one in compared.comparisons for line in _lines(one, verbose=verbose)]
    return "\n".join(printable(line).rstrip() for line in lines) + "\n"


def _lines(comparison: Comparison, *, verbose: bool) -> Iterator[str]:
    title = f"{comparison.baseline.run.suite}: {pair_title(comparison)}"
    pairs = pairs_of(comparison)
    gap = _WIDTH - len(title) - len(pairs)
    rows = [row for row in _rows(comparison) if row[0] != "pairs" or gap < _LEAST_GAP]
    # What matters least goes first where the lines would be too many.
    for label in () if verbose else ("", "metrics", "failures", "flipped", "note"):
        if sum(len(_wrapped(*row)) for row in rows) < _MOST_LINES:
            break
        rows = [row for row in rows if row[0] != label]
    yield f"{title}{' ' * gap}{pairs}" if gap >= _LEAST_GAP else textwrap.shorten(title, _WIDTH, placeholder=" ...")
    for row in rows:
        yield from _wrapped(*row)


def _rows(comparison: Comparison) -> Iterator[tuple[str, str]]:
    yield "pairs", pairs_of(comparison)
    yield "result", sentence_of(comparison)
    if changed := changed_text(comparison):
        yield "failures", changed
    yield "flipped", flips_text(comparison)
    for place, metric in enumerate([*comparison.metrics.values()][:_N_METRICS]):
        yield "metrics" if not place else "", f"{metric.title} {metric_text(metric)}"
    if trust := trusts_text(comparison):
        yield "trust", trust
    for note in comparison.notes:
        yield "note", str(note)
    if comparison.gate:
        yield "gate", margin_text(comparison, comparison.gate)


def _wrapped(label: str, text: str) -> list[str]:
    lines = textwrap.wrap(text, _WIDTH - _LABEL, break_on_hyphens=False) or [""]
    return [f"{label if not i else '':<{_LABEL}}{line}" for i, line in enumerate(lines)]
