"""Our own starter set: its numbers, that it passes its own lint, and that no prompt of it is one of the published."""

from __future__ import annotations

import json
import subprocess
import sys
from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from salva.suites.cfworld.groups import KINDS, Entry, LevelGroup
from salva.suites.cfworld.lint import lint
from salva.suites.cfworld.plain_words import likeness, telling
from salva.suites.cfworld.starter_set import DISCIPLINES, starter_groups, starter_probes

NEARLY_EQUAL = 0.6
"""By shared stems; the nearest today share 0.43."""


def _all() -> list[Entry]:
    return [*starter_groups(), *starter_probes("rule"), *starter_probes("attribute")]


def _prompts() -> list[str]:
    said = [text for group in starter_groups() for text in (group.l1.prompt, group.l2.prompt, group.l3.prompt)]
    said += [group.denorm for group in starter_groups()]
    probes = [*starter_probes("rule"), *starter_probes("attribute")]
    return said + [level.prompt for probe in probes for level in (*probe.factual, *probe.counterfactual)]


def test_the_starter_set_passes_its_own_lint() -> None:
    assert [finding.sentence for finding in lint(_all())] == []


def test_there_are_enough_groups_of_every_discipline_and_probes_as_published() -> None:
    counted = Counter(group.discipline for group in starter_groups())
    assert set(counted) == set(DISCIPLINES)
    assert all(13 <= n <= 15 for n in counted.values())
    assert sum(counted.values()) >= 120
    rules = list(starter_probes("rule"))
    assert len(rules) == 33
    assert sum(len(rule.factual) + len(rule.counterfactual) for rule in rules) == 198
    assert len(list(starter_probes("attribute"))) == 100


def test_no_prompt_stands_there_twice() -> None:
    assert [prompt for prompt, times in Counter(_prompts()).items() if times > 1] == []


@pytest.mark.parametrize(
    ("kind", "at_least", "spoil"),
    [
        ("leaked-outcome", 115, lambda one, _: _with(one, "l3", one.l2.prompt + " Need.")),
        ("outcome-not-said", 110, lambda one, _: _with(one, "l2", one.l3.prompt + " Need.")),
        ("subject-not-shared", 125, lambda one, other: _with(one, "l3", other.l3.prompt)),
        ("law-dropped", 125, lambda one, other: replace(one, denorm=other.denorm)),
        ("point-not-covered", 130, lambda one, other: replace(one, l1=replace(one.l1, point=other.l1.point))),
    ],
)
def test_spoiled_groups_are_found(
    kind: str, at_least: int, spoil: Callable[[LevelGroup, LevelGroup], LevelGroup]
) -> None:
    """An outcome told in l3 or kept back in l2, and the texts of another group: the lint sees nearly all of them."""
    groups = list(starter_groups())
    others = [*groups[1:], groups[0]]
    found = [kind in {f.kind for f in lint([spoil(*pair)])} for pair in zip(groups, others, strict=True)]
    assert sum(found) >= at_least


def _with(group: LevelGroup, level: str, prompt: str) -> LevelGroup:
    changed = replace(group.level(level), prompt=prompt)
    return replace(group, l2=changed) if level == "l2" else replace(group, l3=changed)


def test_the_questions_of_l3_are_those_of_l2_and_every_kind_is_asked() -> None:
    for group in starter_groups():
        assert group.l2.questions == group.l3.questions
        assert [asked.kind for asked in group.l1.questions] == list(KINDS)
        assert group.l1.questions[1:] != group.l2.questions[1:]


def test_no_prompt_equals_or_nearly_equals_a_published_one(foreign_data: Path) -> None:
    folder = foreign_data / "cfworld"
    published = [
        frozenset(telling(text))
        for path in folder.glob("prompt*/**/*.json")
        for entry in json.loads(path.read_text(encoding="utf-8"))
        for key, text in entry.items()
        if key.startswith("prompt") and text
    ]
    assert len(published) > 500
    ours = {prompt: frozenset(telling(prompt)) for prompt in _prompts()}
    near = [
        prompt for prompt, stems in ours.items() if any(likeness(stems, other) >= NEARLY_EQUAL for other in published)
    ]
    assert near == []


def test_the_croissant_file_describes_these_very_files() -> None:
    """The validator itself is too heavy for a dependency; what goes stale is the checksums."""
    root = Path(__file__).parents[3]
    done = subprocess.run(
        [sys.executable, str(root / "tools/croissant.py"), "--check"], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    described = json.loads((root / "src/salva/suites/cfworld/starter/croissant.json").read_text(encoding="utf-8"))
    assert {file["name"] for file in described["distribution"]} == {
        *(f"{discipline}.jsonl" for discipline in DISCIPLINES),
        "rules.jsonl",
        "attributes.jsonl",
    }
