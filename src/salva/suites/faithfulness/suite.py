"""Suite: pairs that a law of logic makes equivalent, asked about entity by entity, after the TIFA-lite project.

Objects, colours, sizes and surfaces come in, or a file of pairs in the published columns; cases go out with the
formulas of both prompts and what the logic core found in them. Knows nothing of models, judges or questions.
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import ClassVar

from salva.core.about import About
from salva.core.case import Case, Finding, Prompt
from salva.core.case_sets import few_cases
from salva.core.options import option
from salva.core.verdict import NO_TEXT
from salva.english.pair_facts import facts_of, findings_of
from salva.english.words import with_article
from salva.errors import UsageError, invalid_option, unknown_name
from salva.logic.formula import COLOURS, entity_problem
from salva.messages import message
from salva.suites.faithfulness.files import PairRow, read_pairs
from salva.suites.faithfulness.templates import CONTRAST, CONTRASTS, TEMPLATES, PairTemplate
from salva.suites.faithfulness.tifa_files import CONTRAST_OF

_PAPER_PAIRS = 5
_TRIES = 300
"""Draws without a new pair after which a category counts as used up."""
_CHECKS = ("truth", "right-answers")
_AXES = {"horizontal": ("left_of", "right_of"), "vertical": ("above", "below")}


@dataclass(frozen=True, slots=True, kw_only=True)
class FaithfulnessOptions:
    """What the prompts are about."""

    objects: tuple[str, ...] = option(
        ("apple", "ball", "book", "car", "chair", "cup", "hat", "umbrella"), "Things, as singular nouns."
    )
    colours: tuple[str, ...] = option(("red", "yellow", "green", "blue"), "Colours.")
    sizes: tuple[str, ...] = option(("small", "large"), "Words for sizes, smallest first.")
    surfaces: tuple[str, ...] = option((), "Surfaces such as wooden table, in no formula.")
    coloured: bool = option(False, "Colours in every category, as published.")
    pairs: int = option(20, "Pairs per category in full and contrast.", least=1, most=10_000)
    contrast: bool = option(False, "Add the contrast categories.")
    path: str = option("", "A CSV file of pairs with the published columns.", reaches="file")

    def __post_init__(self) -> None:
        if problems := list(filter(None, map(entity_problem, self.objects))):
            raise UsageError(message("noun-invalid", name="suite.objects", why=problems[0]))
        for colour in self.colours:
            if colour not in COLOURS:
                raise unknown_name("colour", colour, COLOURS)
        wanted = {"objects": (self.objects, 3), "colours": (self.colours, 2), "sizes": (self.sizes, 2)}
        for name, (words, least) in wanted.items():
            is_left_out = name == "sizes" and not words
            if len(set(words)) < max(least, len(words)) and not is_left_out:
                raise invalid_option(f"suite.{name}", ",".join(words), f"at least {least} different ones")


class Faithfulness:
    """Suite: 5 laws by 4 dimensions, and the published pairs that are no equivalences as a contrast."""

    version: ClassVar[str] = "1"
    sizes: ClassVar[tuple[str, ...]] = ("quick", "paper", "full", "contrast")
    about: ClassVar[About] = About(defaults={"embedder": "pocket", "judge": "scene"}, vetoes=(NO_TEXT,))
    Options = FaithfulnessOptions

    def __init__(self, options: FaithfulnessOptions) -> None:
        self._options = options

    def cases(self, size: str) -> Iterator[Case]:
        """The cases of a named size, category by category.

        quick: one pair a category. paper: five, as published. full: suite.pairs. contrast: the pairs that must
        differ, suite.pairs a category. Of a file quick takes a pair of each category and at least 18, contrast those
        that the logic core finds not to be equivalent, and the others take all.
        """
        return self._of_file(size) if self._options.path else self._made(size)

    def _of_file(self, size: str) -> Iterator[Case]:
        cases = [_case_of_row(row) for row in read_pairs(self._options.path)]
        if size == "contrast":
            cases = [case for case in cases if case.equivalent is False]
        return iter(few_cases(cases, 1) if size == "quick" else cases)

    def _made(self, size: str) -> Iterator[Case]:
        if size == "contrast":
            templates: tuple[PairTemplate, ...] = CONTRASTS
        else:
            templates = TEMPLATES + (CONTRASTS if self._options.contrast else ())
        n_pairs = {"quick": 1, "paper": _PAPER_PAIRS}.get(size, self._options.pairs)
        for template in templates:
            number = (TEMPLATES + CONTRASTS).index(template) + 1
            for i, filled in enumerate(self._filled(template, n_pairs), start=1):
                yield _case_of_pair(template, number, i, filled)

    def _filled(self, template: PairTemplate, n_pairs: int) -> Iterator[_Filled]:
        """Different pairs of a category, always the same ones first."""
        rng = random.Random(template.category)
        seen: set[tuple[str, ...]] = set()
        n_tries = 0
        while len(seen) < n_pairs:
            filled = _fill(template, self._options, rng)
            if filled.texts in seen:
                n_tries += 1
                if n_tries > _TRIES:
                    what = f"{n_pairs} pairs of the category {template.category!r}"
                    raise UsageError(message("no-cases", what=what, why=f"these words make about {len(seen)}"))
                continue
            n_tries = 0
            seen.add(filled.texts)
            yield filled


@dataclass(frozen=True, slots=True, kw_only=True)
class _Filled:
    """A template with its entities."""

    texts: tuple[str, ...]
    formulas: tuple[str, ...]
    objects: tuple[str, ...]
    surface: str


def _fill(template: PairTemplate, options: FaithfulnessOptions, rng: random.Random) -> _Filled:
    # Drawn in one order whatever the template uses, so that an option changes only what it is about.
    objects = tuple(rng.sample(options.objects, 3))[: template.n_objects]
    colours = rng.sample(options.colours, len(options.colours))
    sizes = sorted(rng.sample(range(len(options.sizes)), 2)) if options.sizes else []
    surface = rng.choice(options.surfaces) if options.surfaces else ""
    # One entity without a colour would give no more pairs than there are objects.
    is_coloured = options.coloured or template.dimension == "attributes" or template.n_objects == 1
    fields = {
        "scene": with_article(surface) if surface else "a scene",
        "on": f" on {with_article(surface)}" if surface else "",
        "z12": "",
        "z21": "",
    }
    phrases: list[str] = []
    for i, noun in enumerate(objects):
        colour, other = colours[i % len(colours)], colours[(i + 1) % len(colours)]
        phrase = f"{colour} {noun}" if is_coloured else noun
        size = f"{options.sizes[sizes[i]]} " if sizes and i < len(sizes) else ""
        phrases.append(phrase)
        fields |= {
            f"n{i + 1}": noun,
            f"c{i + 1}": colour,
            f"x{i + 1}": phrase,
            f"p{i + 1}": phrase,
            f"q{i + 1}": f"{other} {noun}",
            f"a{i + 1}": with_article(phrase),
            f"u{i + 1}": with_article(noun),
            f"b{i + 1}": with_article(f"{other} {noun}"),
            f"s{i + 1}": with_article(size + phrase),
        }
    if sizes and len(objects) > 1:
        fields["z12"] = f" & smaller_than({objects[0]}, {objects[1]})"
        fields["z21"] = f" & larger_than({objects[1]}, {objects[0]})"
    fields |= _orders(template.dimension, objects, phrases, is_coloured)
    return _Filled(
        texts=tuple(text.format_map(fields) for text in template.texts),
        formulas=tuple(formula.format_map(fields) for formula in template.formulas),
        objects=objects,
        surface=surface,
    )


def _orders(dimension: str, nouns: Sequence[str], phrases: Sequence[str], is_coloured: bool) -> dict[str, str]:
    """{first12}, {then21} and so on; a relation holds between bare nouns, so colours are said with it."""
    fields = {}
    for i, first in enumerate(nouns, start=1):
        for j, second in enumerate(nouns, start=1):
            if i == j or dimension not in _AXES:
                continue
            for name, check in zip(("first", "then"), _AXES[dimension], strict=True):
                said = f"{check}({first}, {second})"
                coloured = f"({phrases[i - 1]} & {phrases[j - 1]} & {said})"
                fields[f"{name}{i}{j}"] = coloured if is_coloured else said
    return fields


def _compared(is_contrast: bool) -> tuple[str, ...]:
    """The checks that compare the two images, for the suite's own figures."""
    return ("must-differ" if is_contrast else "same-answers", "same-similarity")


def _case_of_pair(template: PairTemplate, number: int, i: int, filled: _Filled) -> Case:
    findings = findings_of(*filled.formulas)
    if filled.surface:
        sentence = "the surface is in no formula"
        findings = (*findings, Finding(kind="surface-left-out", sentence=sentence, subject=(filled.surface,)))
    labels = {"law": template.law, "dimension": template.dimension, "category_id": str(number)}
    if template.contrast_of:
        labels[CONTRAST_OF] = template.contrast_of
    labels |= {"pair_id": f"{template.short_name}_{i:03d}", "objects": ",".join(filled.objects)}
    return Case(
        case_id=f"faithfulness-{template.category}-{i:03d}",
        suite="faithfulness",
        category=template.category,
        prompts=tuple(
            Prompt(role=role, text=text, formula=formula)
            for role, text, formula in zip("ab", filled.texts, filled.formulas, strict=True)
        ),
        checks=_CHECKS,
        measures=_compared(template.law == CONTRAST),
        labels=labels,
        cluster="+".join(sorted(filled.objects)),
        equivalent=facts_of(*filled.formulas).equivalent,
        determinate=facts_of(*filled.formulas).determinate,
        findings=findings,
    )


def _case_of_row(row: PairRow) -> Case:
    """A pair of a file, with whatever the logic core makes of its words."""
    a, b = row.formulas
    facts = facts_of(a, b) if a is not None and b is not None else None
    findings = list(row.findings)
    if a is not None and b is not None:
        findings += findings_of(a, b)
    else:
        unread = tuple(role for role, formula in zip("ab", row.formulas, strict=True) if formula is None)
        sentence = f"no formula for prompt {' and '.join(unread)}"
        why = "; ".join(f"{role}: {why}" for role, why in zip("ab", row.problems, strict=True) if why)
        findings.append(Finding(kind="no-formula", sentence=f"{sentence} ({why})", subject=unread, general=sentence))
    return Case(
        case_id=f"faithfulness-{row.slug}",
        suite="faithfulness",
        category="-".join(filter(None, (row.law, row.contrast_of, row.dimension))),
        prompts=tuple(
            Prompt(role=role, text=text, formula=formula)
            for role, text, formula in zip("ab", row.texts, row.formulas, strict=True)
        ),
        checks=_CHECKS,
        measures=_compared(facts is not None and not facts.equivalent),
        labels={
            "law": row.law,
            "dimension": row.dimension,
            "category_id": row.category_id,
            "pair_id": row.pair_id,
            **({CONTRAST_OF: row.contrast_of} if row.contrast_of else {}),
            **row.names,
        },
        cluster=row.cluster,
        equivalent=facts.equivalent if facts else None,
        determinate=facts.determinate if facts else None,
        findings=tuple(findings),
    )
