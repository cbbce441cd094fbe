"""Faults in groups and probes.

Visual unambiguity (what decides can be seen), logical deduction (l3 leaves the outcome open, l2 says it), safety, and
form; that a claim is true to science no code here can tell. Texts in, findings out; nothing is mended.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from itertools import combinations

from salva.core.case import Finding
from salva.core.question import Question
from salva.suites.cfworld.groups import (
    ATTRIBUTE,
    KINDS,
    LEVELS,
    LOGIC,
    POINT,
    Entry,
    LevelGroup,
    LevelPrompt,
    Probe,
)
from salva.suites.cfworld.plain_words import likeness, telling, words

PROMPT_WORDS, POINT_WORDS, QUESTION_WORDS = (5, 90), (3, 32), (5, 70)
"""The shortest and the longest, in words."""
TOO_ALIKE = 0.85
SHARED = 0.3
"""The share of its words that a prompt must have in common with the other levels for the subject to be the same."""
COVERED = 0.99
DESCRIBED = 1
"""How many telling words of l2 a de-nominalised prompt must do without."""
PHRASE = 5
"""So many words in a row of l2's point give the outcome away."""
STEPS = (1.0, 0.5, 0.0)
_UNSAFE = """
blood bloody corpse corpses dismembered explosive gore gory gun guns kill killed kills murder naked nsfw nude nudity
poison pornographic rifle severed sexual sexy shooting slaughter suicide terrorist torture weapon weapons wounded wounds
"""
_UNSEEN = """
believes feels hears hear heard imagines loud maybe melody might noise perhaps possibly probably quiet remembers scent
smell smells sound sounds taste tastes thinks wishes
"""
UNSAFE, UNSEEN = frozenset(_UNSAFE.split()), frozenset(_UNSEEN.split())
"""Words that no prompt may say; words for what one still image cannot show, and those that leave a point open."""


def lint(entries: Iterable[Entry]) -> list[Finding]:
    """Everything found, entry by entry, then what entries have to do with each other."""
    listed = list(entries)
    found = [finding for entry in listed for finding in _of_entry(entry)]
    return [*found, *_repeated_names(listed), *_near_duplicates(listed)]


def name_of(entry: Entry) -> str:
    """What a finding calls a group or probe."""
    return f"{entry.discipline}/{entry.group_id}" if isinstance(entry, LevelGroup) else f"{entry.part}/{entry.probe_id}"


def _of_entry(entry: Entry) -> Iterator[Finding]:
    checks = _of_group(entry) if isinstance(entry, LevelGroup) else _of_probe(entry)
    name = name_of(entry)
    for kind, sentence in checks:
        yield Finding(kind=kind, sentence=f"{name}: {sentence}", subject=(name,), general=sentence)


_Found = Iterator[tuple[str, str]]


def _of_group(group: LevelGroup) -> _Found:
    for field, text in (("principle", group.principle), ("denorm", group.denorm), ("category", group.category)):
        yield from _text(field, text)
    for level_name in LEVELS:
        yield from _level(level_name, group.level(level_name), KINDS)
    yield from _deduction(group)
    yield from _subject(group)
    yield from _third_kind(group)
    if group.denorm and group.l2.prompt:
        yield from _described(group)


def _of_probe(probe: Probe) -> _Found:
    yield from _text("principle", probe.principle)
    levels = [*probe.factual, *probe.counterfactual]
    for number, level in enumerate(levels, 1):
        yield from _level(f"prompt {number}", level, (POINT,))
    for prompt, times in Counter(level.prompt for level in levels).items():
        if times > 1:
            yield "same-prompt", f"{times} times: {prompt[:50]!r}"


def _level(name: str, level: LevelPrompt, kinds: tuple[str, ...]) -> _Found:
    for what, text, limits in (("prompt", level.prompt, PROMPT_WORDS), ("point", level.point, POINT_WORDS)):
        yield from _text(f"{name} {what}", text, limits)
    for word in words(level.point):
        if word in UNSEEN:
            yield "not-visible", f"{name} point: {word!r} is not visible"
    yield from _questions(name, level, kinds)


def _text(where: str, text: str, limits: tuple[int, int] | None = None) -> _Found:
    """limits: the fewest and the most words."""
    if not text.strip():
        yield "missing-field", f"no {where}"
        return
    if not text.isascii():
        odd = next(character for character in text if not character.isascii())
        yield "not-ascii", f"{where}: {odd!r}"
    said = words(text)
    for word in said:
        if word in UNSAFE:
            yield "unsafe-word", f"{where}: {word!r}"
    if limits and not limits[0] <= len(said) <= limits[1]:
        yield "length", f"{where}: {len(said)} words, wanted {limits[0]} to {limits[1]}"


def _questions(name: str, level: LevelPrompt, kinds: tuple[str, ...]) -> _Found:
    asked = Counter(question.kind for question in level.questions)
    for kind in kinds:
        if asked[kind] != 1:
            yield "question-kinds", f"{name}: {asked[kind]} {kind} questions, wanted 1"
    for question in level.questions:
        if question.kind not in kinds:
            yield "question-kinds", f"{name}: a {question.kind} question, which weighs {question.weight:g}"
        yield from _question(f"{name} {question.kind} question", question)
        if question.kind == POINT and level.point:
            yield from _covers(name, level.point, question)


def _question(where: str, question: Question) -> _Found:
    yield from _text(where, question.text, QUESTION_WORDS)
    if not question.text.rstrip().endswith("?"):
        yield "not-a-question", f"{where}: no question mark"
    if tuple(score for score, _ in question.criteria) != STEPS:
        yield "criteria-steps", f"{where}: criteria for 1, 0.5, 0 wanted"
    for score, sentence in question.criteria:
        yield from _text(f"{where} criterion {score:g}", sentence)


def _covers(name: str, point: str, question: Question) -> _Found:
    wanted, asked = telling(point), telling(question.text)
    left_out = [word for stem, word in wanted.items() if stem not in asked]
    if wanted and len(left_out) / len(wanted) > 1 - COVERED:
        yield "point-not-covered", f"{name} point question lacks {', '.join(left_out)}"


def _deduction(group: LevelGroup) -> _Found:
    """L2 says the outcome, l3 does not, and the outcome is another one than the fact's."""
    if group.l2.point and group.l1.point == group.l2.point:
        yield "nothing-changed", "l1 and l2: one point"
    if group.l3.point and group.l2.point and group.l3.point != group.l2.point:
        yield "other-outcome", "l2 and l3: different points"
    if group.l3.prompt and group.l3.prompt.strip() == group.l2.prompt.strip():
        yield "same-prompt", "l2 and l3: one prompt"
    outcome = outcome_words(group)
    said = set(telling(group.l2.prompt))
    if outcome and not said & set(outcome):
        yield "outcome-not-said", f"l2 lacks its outcome: {', '.join(outcome.values())}"
    leaked = [word for stem, word in outcome.items() if stem in telling(group.l3.prompt)] or _leaked_phrases(group)
    if leaked:
        yield "leaked-outcome", f"l3 gives the outcome away: {', '.join(leaked)}"


def _leaked_phrases(group: LevelGroup) -> list[str]:
    """Where an outcome exchanges what the fact has, no word of it is new, but runs of words are."""
    third, first = f" {' '.join(words(group.l3.prompt))} ", f" {' '.join(words(group.l1.prompt))} "
    point = words(group.l2.point)
    runs = [" ".join(point[start : start + PHRASE]) for start in range(len(point) - PHRASE + 1)]
    return [repr(run) for run in runs if f" {run} " in third and f" {run} " not in first]


def outcome_words(group: LevelGroup) -> dict[str, str]:
    """The words of l2's point that are new beside the fact: stems, each with its word."""
    known = set(telling(group.l1.prompt)) | set(telling(group.l1.point))
    return {stem: word for stem, word in telling(group.l2.point).items() if stem not in known}


def _subject(group: LevelGroup) -> _Found:
    if not all(group.level(name).prompt for name in LEVELS):
        return
    first, second, third = (set(telling(group.level(name).prompt)) for name in LEVELS)
    for name, one, other in (("l2", first, second), ("l3", first, third), ("l3", second, third)):
        share = len(one & other) / (min(len(one), len(other)) or 1)
        if share < SHARED:
            yield "subject-not-shared", f"{name} shares {100 * share:.0f} % of its words with another level"


def _third_kind(group: LevelGroup) -> _Found:
    texts = {name: [q.text for q in group.level(name).questions if q.kind == LOGIC] for name in LEVELS}
    for name in ("l2", "l3"):
        if texts["l1"] and texts["l1"] == texts[name]:
            yield "same-logic", f"l1 and {name} share the logic question"


def _described(group: LevelGroup) -> _Found:
    second, described = telling(group.l2.prompt), telling(group.denorm)
    missing = [word for stem, word in second.items() if stem not in described]
    if len(missing) < DESCRIBED:
        yield "nothing-described", "denorm names all of l2"
    if len(set(second) & set(described)) < SHARED * len(second):
        yield "law-dropped", "denorm has too little of l2"


def _repeated_names(entries: list[Entry]) -> Iterator[Finding]:
    for name, times in Counter(map(name_of, entries)).items():
        if times > 1:
            yield Finding(kind="repeated-id", sentence=f"{name}: {times} times", subject=(name,))


def _near_duplicates(entries: list[Entry]) -> Iterator[Finding]:
    groups = [entry for entry in entries if isinstance(entry, LevelGroup)]
    pairs = [entry for entry in entries if isinstance(entry, Probe) and entry.part == ATTRIBUTE]
    yield from _alike([(name_of(group), group.l1.prompt) for group in groups], "l1")
    yield from _alike([(name_of(group), group.l3.prompt) for group in groups], "l3")
    yield from _alike([(name_of(pair), pair.counterfactual[0].prompt) for pair in pairs if pair.counterfactual], "rare")


def _alike(named: list[tuple[str, str]], what: str) -> Iterator[Finding]:
    stems = [(name, frozenset(telling(prompt))) for name, prompt in named]
    for (one, first), (other, second) in combinations(stems, 2):
        share = likeness(first, second)
        if share >= TOO_ALIKE:
            sentence = f"{one}: {what} like {other} ({100 * share:.0f} %)"
            yield Finding(kind="near-duplicate", sentence=sentence, subject=(one, other))
