"""Scored triples in groups: what the tables and the charts share."""

from __future__ import annotations

from collections.abc import Sequence

from salva.core.case import Case
from salva.core.judgements import CaseVerdict
from salva.results.tables import group_by_each


def labels_of(case: Case, label: str) -> list[str]:
    """The categories or aspects of a case; it can have several."""
    return case.labels[label].split(",")


def grouped(judged: Sequence[CaseVerdict], label: str) -> dict[str, list[CaseVerdict]]:
    """The verdicts by category or aspect, by name; one of a case with two stands under both."""
    return dict(sorted(group_by_each(judged, lambda triple: labels_of(triple.case, label)).items()))


def values_of(judged: Sequence[CaseVerdict], name: str) -> list[float]:
    """One score of every verdict."""
    return [triple.verdict.scores[name] for triple in judged]
