"""Suite: is a world generated whose laws were changed, when the outcome is said and when it must be deduced?

Groups of three levels, and probes, from CF-World's files, from our own starter set or from pocket's world become cases
after one pattern. Knows nothing of models, images or judges.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import ClassVar

from salva.core.about import About
from salva.core.case import Case, Finding, Prompt
from salva.core.case_sets import few_cases, slug, with_distinct_ids
from salva.core.options import option
from salva.core.verdict import NO_TEXT
from salva.english.pair_facts import settled
from salva.errors import UsageError
from salva.messages import message
from salva.suites.cfworld.authoring import GroupAuthor
from salva.suites.cfworld.embedded import embedded_groups
from salva.suites.cfworld.files import CfWorldFiles, read_files
from salva.suites.cfworld.groups import ATTRIBUTE, LEVELS, RULE, Entry, LevelGroup, LevelPrompt, Probe
from salva.suites.cfworld.levels import DENORM
from salva.suites.cfworld.lint import lint
from salva.suites.cfworld.retention import CF, FACT
from salva.suites.cfworld.starter_set import starter_groups, starter_probes

PARTS = ("levels", RULE, ATTRIBUTE, DENORM)
_QUICK_PER_CATEGORY = 4


@dataclass(frozen=True, slots=True, kw_only=True)
class CfWorldOptions:
    """Where the groups are, and which part of them is generated."""

    path: tuple[str, ...] = option(
        (),
        "CF-World's folders or files, or JSON lines.",
        reaches="file",
    )
    part: str = option(
        "levels",
        "What to generate; denorm: levels with a fourth prompt.",
        choices=PARTS,
    )


class CfWorld:
    """Suite: facts, counterfactuals said and counterfactuals to be deduced, after CF-World."""

    version: ClassVar[str] = "3"
    sizes: ClassVar[tuple[str, ...]] = ("quick", "embedded", "paper", "full")
    about: ClassVar[About] = About(
        defaults={"judge": "scene"},
        published={"check.mean": "questions", "check.missing": "zero"},
        vetoes=(NO_TEXT,),
    )
    Options = CfWorldOptions
    author: ClassVar[GroupAuthor] = GroupAuthor()

    def __init__(self, options: CfWorldOptions) -> None:
        self._options = options
        self._read: CfWorldFiles | None = None

    def cases(self, size: str) -> Iterator[Case]:
        """The cases of a named size, in the order of the files.

        quick: four a discipline of suite.path, or of each law of pocket's world, and at least 18 groups. embedded:
        pocket's world, which the embedded judge can observe, whatever suite.path says. paper, full: all of suite.path
        or of the starter set.
        """
        part = self._options.part
        if size == "embedded" or (size == "quick" and not self._options.path and part == "levels"):
            entries, of_files = CfWorldFiles(list(embedded_groups()) if part == "levels" else [], ())
        else:
            entries, of_files = self._all()
        made = [(entry, _case(entry, part)) for entry in entries]
        cases = [case for _, case in made if case is not None]
        if not cases:
            where = "pocket's world" if size == "embedded" else ", ".join(self._options.path) or "the starter set"
            raise UsageError(
                message(
                    "no-cases",
                    what=f"cases of suite.part={part}",
                    why="; ".join((f"{where} has none", *self.remarks(size))),
                )
            )
        chosen = with_distinct_ids(cases)
        if size == "quick":
            chosen = few_cases(chosen, _QUICK_PER_CATEGORY)
        # What cannot be generated at all is reported with the first of the others.
        lost = [f for entry, case in made if case is None and _is_of(entry, part) for f in entry.findings]
        return iter([replace(chosen[0], findings=(*of_files, *lost, *chosen[0].findings)), *chosen[1:]])

    def remarks(self, size: str) -> Iterator[str]:
        """What is missing or odd in all of suite.path, whichever groups of it are generated."""
        counts = Counter(finding.kind for finding in self._gaps()) if self._options.path and size != "embedded" else {}
        if counts:
            listed = ", ".join(f"{kind} {n}" for kind, n in sorted(counts.items()))
            yield f"gaps in the files: {listed} (salva cases cfworld --lint)"

    def lint(self) -> list[Finding]:
        """What is wrong with the texts of suite.path or of the starter set: gaps of the files, then of the texts."""
        return [*self._gaps(), *lint(self._all().entries)]

    def _gaps(self) -> list[Finding]:
        entries, of_files = self._all()
        return [*of_files, *(finding for entry in entries for finding in entry.findings)]

    def _all(self) -> CfWorldFiles:
        if self._read is None:
            if self._options.path:
                self._read = read_files(self._options.path)
            else:
                self._read = CfWorldFiles([*starter_groups(), *starter_probes(RULE), *starter_probes(ATTRIBUTE)], ())
        return self._read


def _is_of(entry: Entry, part: str) -> bool:
    return entry.part == part if isinstance(entry, Probe) else part == "levels"


def _case(entry: Entry, part: str) -> Case | None:
    """The case of a group or probe; None where it is of another part."""
    if isinstance(entry, Probe):
        return _of_probe(entry) if entry.part == part else None
    if not entry.l1.can_be_asked or (part == DENORM and not (entry.denorm and entry.l2.can_be_asked)):
        return None
    return _of_group(entry, part) if part in ("levels", DENORM) else None


def _of_group(group: LevelGroup, part: str) -> Case:
    prompts = [_prompt(name, group.level(name)) for name in LEVELS if group.level(name).can_be_asked]
    if part == DENORM:
        prompts.append(_prompt(DENORM, LevelPrompt(prompt=group.denorm, questions=group.l2.questions)))
    equivalent, determinate = settled(*(prompt.formula for prompt in prompts))
    return Case(
        case_id=f"cfworld-{slug(group.discipline, 'x')}-{slug(group.group_id, 'x')}",
        suite="cfworld",
        category=group.discipline,
        prompts=tuple(prompts),
        checks=("levels",),
        labels={
            "discipline": group.discipline,
            "category": group.category,
            "id": group.group_id,
            "part": part,
            **group.labels,
        },
        cluster=f"{group.discipline} {group.group_id}",
        equivalent=equivalent,
        determinate=determinate,
        findings=group.findings,
    )


def _of_probe(probe: Probe) -> Case | None:
    parts = {FACT: probe.factual, CF: probe.counterfactual}
    asked = {part: [level for level in levels if level.can_be_asked] for part, levels in parts.items()}
    if not all(asked.values()):
        return None
    prompts = [_prompt(f"{part}{i}", level) for part, levels in asked.items() for i, level in enumerate(levels, 1)]
    return Case(
        case_id=f"cfworld-{probe.part}-{slug(probe.probe_id, 'x')}",
        suite="cfworld",
        category=probe.part,
        prompts=tuple(prompts),
        checks=("retention",),
        labels={"part": probe.part, "id": probe.probe_id, "principle": probe.principle},
        cluster=f"{probe.part} {probe.probe_id}",
        findings=probe.findings,
    )


def _prompt(role: str, level: LevelPrompt) -> Prompt:
    formula = None if level.unread else level.formula or None
    return Prompt(
        role=role, text=level.prompt, formula=formula, questions=level.questions, passes_over=formula is not None
    )
