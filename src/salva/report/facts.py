"""What a run is, in the words of the command line: what was asked, who looked, where, when and by which salva."""

from __future__ import annotations

from salva.core.source import RunRecords
from salva.report.costs import n_unread
from salva.report.lead import unread

_MAX_NAMES = 6
"""Of more raters than this the rest are counted."""


def facts_of(records: RunRecords) -> list[tuple[str, str]]:
    """What was asked, in the words of the command line."""
    asked = records.asked
    facts = [("cases", str(len(records.cases)))]
    if asked.size:
        facts += [("shard", asked.shard)] if asked.shard else []
        facts += [("size", asked.size), ("repeats", str(asked.repeats)), ("seed", str(asked.seed))]
    by_role: dict[str, list[str]] = {}
    for observer in asked.observers:
        by_role.setdefault(observer.role, []).append(observer.name)
    for role, names in by_role.items():
        more = f" and {len(names) - _MAX_NAMES} more" if len(names) > _MAX_NAMES else ""
        facts.append((role, ", ".join(names[:_MAX_NAMES]) + more))
    if note := unread(asked, n_unread(records.spent)):
        facts.append(("text in images", note))
    if asked.control:
        facts.append(("control", "crossed seeds"))
    if asked.check:
        facts.append(("headline", asked.check))
    if records.name:
        facts.append(("run", records.name))
    if records.written_at:
        facts.append(("date", f"{records.written_at:%Y-%m-%d %H:%M} UTC"))
    if records.made_by:
        facts.append(("salva", records.made_by))
    return facts
