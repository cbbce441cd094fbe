"""Groups and probes as lines of JSON."""

from __future__ import annotations

import pytest

from salva.core.question import Question
from salva.errors import UsageError
from salva.suites.cfworld.groups import Entry, LevelGroup, LevelPrompt, Probe, question, read_entries, write_entries


def level(prompt: str, formula: str = "") -> LevelPrompt:
    asked = question("point", "Is it blue?", {1.0: "Blue.", 0.5: "Bluish.", 0.0: "Not blue."}, formula)
    return LevelPrompt(prompt=prompt, point="It is blue.", questions=(asked,), formula=formula)


ENTRIES: tuple[Entry, ...] = (
    LevelGroup(discipline="optics", group_id="0", category="Colour", l1=level("a"), l2=level("b"), l3=level("c")),
    LevelGroup(
        discipline="pocket",
        group_id="1-x",
        l1=level("a", "red cat"),
        l2=level("b", "blue cat"),
        l3=level("c", "blue cat"),
        denorm="d",
        labels={"law": "colour"},
    ),
    Probe(part="rule", probe_id="3", principle="up is down", factual=(level("a"),), counterfactual=(level("b"),) * 2),
)


def test_reading_undoes_writing() -> None:
    assert tuple(read_entries(write_entries(ENTRIES), "here")) == ENTRIES


def test_criteria_run_from_the_highest_score_to_the_lowest() -> None:
    asked = question("logic", "Is it?", {0.0: "no", 1.0: "yes"})
    assert (asked.criteria, asked.weight, asked.rule) == (((1.0, "yes"), (0.0, "no")), 8.0, "1: yes 0: no")
    with pytest.raises(ValueError, match="highest"):
        Question(kind="point", text="?", criteria=((0.0, "no"), (1.0, "yes")))


@pytest.mark.parametrize("line", ['{"discipline": "x"}', "{", "[]", '{"part": "other", "id": "1"}'])
def test_a_line_that_is_none_is_named(line: str) -> None:
    with pytest.raises(UsageError, match=r"mine\.jsonl', line 2"):
        list(read_entries(["", line], "mine.jsonl"))
