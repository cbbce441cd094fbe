"""Suite: pairs of prompts that a law of logic makes equivalent, after the MetaLogic paper.

Entities come in, cases go out, each with the formulas of its two prompts and what the logic core
found in them: whether the pair is equivalent, whether only one image is right, which wordings
can be read in two ways. Knows nothing of models, images or detectors.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache, partial
from itertools import permutations
from typing import ClassVar

from salva.core.about import About
from salva.core.case import SEVERAL_WORLDS, Case, Finding, Prompt
from salva.core.options import option
from salva.core.verdict import NO_TEXT
from salva.english.describe import describe_world
from salva.english.words import counted, with_article
from salva.errors import UsageError, invalid_option
from salva.logic.equivalence import are_equivalent, is_contradictory, is_determinate, witness
from salva.logic.formula import entity_problem
from salva.logic.notation import parse
from salva.logic.worlds import World, count_worlds
from salva.messages import message
from salva.suites.metalogic.templates import BEYOND, LOGIC, LawTemplate, numbering

_STAND_INS = ("first", "second", "third")
_NUMBERED = ("e1", "e2", "e3")
_ARTICLE = re.compile(r"\ban (?=e\d)")
_FEWEST = 3
"""Entities that a suite needs: some templates name as many."""
_N_NUMBERED, _COUNTS = 4, range(1, 11)
"""Of numbering: the first entities, and their numbers."""
_QUICK_PAIRS, _QUICK_COUNTS, _SIXTH = 3, (2, 5, 9), "car"
"""Of size quick: the pairs a category, the number of each numbering pair, and the entity that joins the usual five."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MetaLogicOptions:
    """What the prompts are about."""

    entities: tuple[str, ...] = option(("cat", "dog", "apple", "banana", "cow"), "Entities; numbering takes four.")
    brackets: bool = option(False, "Print square brackets around groups of words.")
    numbering: str = option(
        "equivalent",
        "Numbering pairs that are equivalent, or as printed in Table 5.",
        choices=("equivalent", "as-printed"),
    )

    def __post_init__(self) -> None:
        for entity in self.entities:
            problem: str | None = entity_problem(entity)
            if problem is None and not entity.isascii():
                problem = f"only ASCII letters are allowed, got {entity!r}"
            if problem:
                raise UsageError(message("noun-invalid", name="suite.entities", why=problem))
        if len(set(self.entities)) != len(self.entities) or len(self.entities) < _FEWEST:
            raise invalid_option("suite.entities", ",".join(self.entities), f"at least {_FEWEST} different ones")


class MetaLogic:
    """Suite: 20 logic categories, numbering, and those the paper could not test."""

    version: ClassVar[str] = "1"
    sizes: ClassVar[tuple[str, ...]] = ("quick", "paper", "full", "beyond")
    about: ClassVar[About] = About(
        published={
            "check": "same-scene",
            "reader": "none",
            "check.scope": "all",
            "check.indeterminate": "same-scene",
            "check.doubt": "0",
        },
        vetoes=(NO_TEXT,),
    )
    Options = MetaLogicOptions

    def __init__(self, options: MetaLogicOptions) -> None:
        self._options = options

    def cases(self, size: str) -> Iterator[Case]:
        """The cases of a named size, category by category.

        quick: three pairs a category. paper: every ordered choice of entities for the logic categories, and numbering
        with two partners each. full: every numbering partner too. beyond: our own categories.
        """
        return _each_once(self._all_cases(size))

    def _all_cases(self, size: str) -> Iterator[Case]:
        template_of = partial(numbering, is_as_printed=self._options.numbering == "as-printed")
        if size == "quick":
            yield from self._few_cases([*LOGIC, *map(template_of, _QUICK_COUNTS)])
            return
        for template in BEYOND if size == "beyond" else LOGIC:
            for entities in permutations(self._options.entities, template.n_entities):
                yield self._case(template, entities)
        if size == "beyond":
            return
        n_partners = {"paper": 2, "full": None}[size]
        numbered = self._options.entities[:_N_NUMBERED]
        for i, entity in enumerate(numbered):
            # Partners follow the entity in a circle, so that each is a partner equally often.
            circle = numbered[i + 1 :] + numbered[:i]
            for count in _COUNTS:
                for partner in circle[:n_partners]:
                    yield self._case(template_of(count), (entity, partner))

    def _few_cases(self, templates: Sequence[LawTemplate]) -> Iterator[Case]:
        """Three pairs a category; the entities go round, so that every one of them is asked about as often."""
        entities = self._options.entities
        circle = (*entities, _SIXTH) if entities == MetaLogicOptions().entities else entities
        pairs = (template for template in templates for _ in range(1 if template.count else _QUICK_PAIRS))
        chosen: dict[tuple[LawTemplate, tuple[str, ...]], None] = {}
        for start, template in enumerate(pairs):
            about = tuple(circle[(start + i) % len(circle)] for i in range(template.n_entities))
            chosen[template, about] = None
        for template, about in chosen:
            yield self._case(template, about)

    def _case(self, template: LawTemplate, entities: tuple[str, ...]) -> Case:
        facts = decide(template)
        if template.count:
            category = template.law
            kind = "numbering-as-printed" if template.is_as_printed else "numbering"
            name = f"{kind}-{_slug(entities[0])}-{template.count}"
            labels = {"law": template.law, "count": str(template.count), "entity": entities[0]}
        else:
            name = category = f"{template.law}-{template.modifier}"
            labels = {"law": template.law, "modifier": template.modifier}
        rest = entities[1:] if template.count else entities
        return Case(
            case_id="-".join(("metalogic", name, *map(_slug, rest))),
            suite="metalogic",
            category=category,
            prompts=_prompts(template, entities, self._options.brackets),
            checks=("truth", "right-answers"),
            measures=("same-scene",) if _is_compared(template, facts) else (),
            labels={**labels, "entities": ",".join(entities)},
            cluster="+".join(sorted(entities)),
            equivalent=facts.equivalent,
            determinate=facts.determinate,
            findings=_findings(template, facts, entities, self._options.brackets),
        )


def _is_compared(template: LawTemplate, facts: LawFacts) -> bool:
    """Whether the two images are compared; prompts of two meanings only where the paper prints them as a pair."""
    return (facts.equivalent or template.is_as_printed) and template not in BEYOND


def _each_once(cases: Iterator[Case]) -> Iterator[Case]:
    """The same cases; entities such as hot, dog cat, hot dog and cat would give two of them one id."""
    seen = set()
    for case in cases:
        if case.case_id in seen:
            wanted = f"without two entities of one case id ({case.case_id!r})"
            raise invalid_option("suite.entities", case.labels["entities"], wanted)
        seen.add(case.case_id)
        yield case


@dataclass(frozen=True, slots=True, kw_only=True)
class LawFacts:
    """What the logic core says about a template, whatever its entities are."""

    equivalent: bool
    determinate: bool
    n_worlds: tuple[int, int]
    witness: World | None
    """A world of one prompt that is none of the other; None when they are equivalent."""
    other_reading: World | None
    """A world of the other reading or of prompt a, but not of both."""
    other_reading_is_contradictory: bool
    reduces: bool
    """Whether the template's shorter formula has the same worlds."""
    as_printed: World | None
    """A world of the first published prompt alone; None when that pair is an equivalence."""


@lru_cache(maxsize=256)
def decide(template: LawTemplate) -> LawFacts:
    """Decide a template once for all entities: its worlds do not depend on their names."""
    names = _formula_fields(_STAND_INS)
    f, g = (parse(formula.format_map(names)) for formula in template.formulas)
    other = parse(template.other_reading.format_map(names)) if template.other_reading else None
    apart = witness(f, g)
    other_apart = witness(f, other) if other else None
    printed = None
    if template.as_printed:
        printed = witness(*(parse(formula.format_map(names)) for formula in template.as_printed))
    return LawFacts(
        equivalent=apart is None,
        determinate=is_determinate(f) and is_determinate(g),
        n_worlds=(count_worlds(f), count_worlds(g)),
        witness=apart.world if apart else None,
        other_reading=other_apart.world if other_apart else None,
        other_reading_is_contradictory=other is not None and is_contradictory(other),
        reduces=bool(template.reduces_to) and are_equivalent(f, parse(template.reduces_to.format_map(names))),
        as_printed=printed.world if printed else None,
    )


def _findings(template: LawTemplate, facts: LawFacts, entities: tuple[str, ...], brackets: bool) -> tuple[Finding, ...]:
    """The facts with the names of this case, and as they hold for any names."""
    said = _sentences(template, facts, entities, brackets)
    return tuple(
        Finding(kind=kind, sentence=sentence, subject=entities, general=general if general != sentence else "")
        for (kind, sentence), general in zip(said, _general_sentences(template, len(entities), brackets), strict=True)
    )


@lru_cache(maxsize=256)
def _general_sentences(template: LawTemplate, n_entities: int, brackets: bool) -> tuple[str, ...]:
    said = _sentences(template, decide(template), _NUMBERED[:n_entities], brackets)
    return tuple(_ARTICLE.sub("", sentence) for _, sentence in said)


def _sentences(
    template: LawTemplate, facts: LawFacts, entities: tuple[str, ...], brackets: bool
) -> Iterator[tuple[str, str]]:
    """The kind of every finding, and its sentence."""
    names = _formula_fields(entities)
    if not facts.equivalent and facts.witness:
        yield "not-equivalent", f"not equivalent: {_describe(facts.witness, entities)} fits one prompt only"
    if not facts.determinate:
        n_a, n_b = facts.n_worlds
        worlds = f"{n_a} worlds" if n_a == n_b else f"{n_a} worlds of prompt a, {n_b} of prompt b"
        yield SEVERAL_WORLDS, f"not determinate: {worlds}, so two right images may differ"
    if facts.reduces:
        yield "reduces", f"both prompts reduce to {template.reduces_to.format_map(names)}"
    if not brackets and facts.other_reading:
        reading = template.other_reading.format_map(names)
        why = (
            "which no image can satisfy"
            if facts.other_reading_is_contradictory
            else f"which is not equivalent: {_describe(facts.other_reading, entities)} fits one only"
        )
        yield "second-reading", f"a second reading of prompt b: {reading}, {why}"
    if facts.as_printed and template.as_printed:
        first, second = (formula.format_map(names) for formula in template.as_printed)
        yield (
            "no-equivalence-as-printed",
            f"Table 5 as printed ({first} against {second}) is no equivalence: "
            f"{_describe(facts.as_printed, entities)} fits only one; here the numbers stay in place",
        )


def _describe(world: World, entities: tuple[str, ...]) -> str:
    """A world of the stand-ins in the words of this case."""
    name = dict(zip(_STAND_INS, entities, strict=False))
    renamed = replace(world, things=tuple(replace(thing, entity=name[thing.entity]) for thing in world.things))
    return describe_world(renamed, entities)


def _prompts(template: LawTemplate, entities: tuple[str, ...], brackets: bool) -> tuple[Prompt, ...]:
    fields = _text_fields(entities, template.count)
    formula_fields = _formula_fields(entities)
    prompts = []
    for role, text, formula in zip("ab", template.texts, template.formulas, strict=True):
        wording = text if brackets else text.replace("[", "").replace("]", "")
        prompts.append(Prompt(role=role, text=wording.format_map(fields), formula=formula.format_map(formula_fields)))
    return tuple(prompts)


@lru_cache(maxsize=1024)
def _text_fields(entities: tuple[str, ...], count: int) -> dict[str, str]:
    fields = _formula_fields(entities)
    fields |= {f"a{i}": with_article(entity) for i, entity in enumerate(entities, 1)}
    # "one cat" and not "a cat": a numbering prompt states its number, as the published first row does.
    for i, entity in enumerate(entities[:2], 1):
        fields[f"c{i}"] = counted(entity, count) if count > 1 else f"one {fields[f'a{i}'].partition(' ')[2]}"
    return fields


def _formula_fields(entities: Sequence[str]) -> dict[str, str]:
    return {f"n{i}": entity for i, entity in enumerate(entities, 1)}


def _slug(entity: str) -> str:
    return entity.replace(" ", "-")
