"""What the selftest has generated: pairs of formulas that say the same, about things that painter and detector know.

A fault, a number and a seed go in, a case comes out. Made from formulas alone, so that no suite is needed to test an
oracle.
"""

from __future__ import annotations

import random
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from salva.core.case import Case, Prompt
from salva.core.fingerprint import fingerprint
from salva.core.verdict import ENTITY_FORBIDDEN, X_MISPOSITION, Y_MISPOSITION
from salva.english.sentences import to_english
from salva.errors import UsageError
from salva.logic.equivalence import is_determinate
from salva.logic.formula import COLOURS
from salva.logic.notation import parse
from salva.messages import message

WRONG_COLOUR = "wrong-colour"

THINGS = ("cat", "dog", "apple", "banana", "cow", "bird", "car", "sheep", "horse", "elephant", "cup", "umbrella")
"""Of what can be generated, what detectors of photographs know as well."""
COLOURED = ("apple", "banana", "bird", "book", "car", "chair", "cup", "umbrella")
"""Those that take colours."""

_MOST = 6


@dataclass(frozen=True, slots=True, kw_only=True)
class FormulaPair:
    """Two formulas with the same worlds; e1, e2, e3 are things, c1 and c2 colours, n a number."""

    name: str
    first: str
    second: str
    shows: str = ""
    """The fault that needs such a formula to show; empty for those that show in any."""


TEMPLATES = (
    FormulaPair(name="both", first="e1 & e2", second="e2 & e1"),
    FormulaPair(name="three", first="e1 & (e2 & e3)", second="(e1 & e2) & e3"),
    FormulaPair(name="numbers", first="n e1 & e2", second="e2 & n e1"),
    FormulaPair(name="not-missing", first="!(!(e1 & e2))", second="e1 & e2"),
    FormulaPair(name="either", first="e1 | e2", second="!(!e1 & !e2)"),
    FormulaPair(name="distributed", first="e1 & (e2 | e3)", second="(e1 & e2) | (e1 & e3)"),
    FormulaPair(name="sides", first="e1@left & e2@right", second="e2@right & e1@left", shows=X_MISPOSITION),
    FormulaPair(
        name="in-a-row",
        first="e1@left & e2@x-middle & e3@right",
        second="e3@right & e2@x-middle & e1@left",
        shows=X_MISPOSITION,
    ),
    FormulaPair(name="heights", first="e1@top & e2@bottom", second="e2@bottom & e1@top", shows=Y_MISPOSITION),
    FormulaPair(
        name="in-a-column",
        first="e1@top & e2@y-middle & e3@bottom",
        second="e3@bottom & e2@y-middle & e1@top",
        shows=Y_MISPOSITION,
    ),
    FormulaPair(name="without", first="e1 & !e2", second="!e2 & e1", shows=ENTITY_FORBIDDEN),
    FormulaPair(name="neither", first="e1 & !e2 & !e3", second="e1 & !(e2 | e3)", shows=ENTITY_FORBIDDEN),
    FormulaPair(name="coloured", first="c1 e1 & c2 e2", second="c2 e2 & c1 e1", shows=WRONG_COLOUR),
)


def nameable(names: Sequence[str] | None, things: Sequence[str] = THINGS) -> tuple[str, ...]:
    """Of the things, those a detector can name; names: None where it takes any word."""
    usable = tuple(thing for thing in things if names is None or thing in names)
    if len(usable) < 3:
        raise UsageError(message("selftest-words-few", n=len(usable), known=", ".join(things)))
    return usable


def case_for(fault: str, number: int, seed: int, things: Sequence[str], *, is_pair: bool = True) -> Case:
    """The case with this number in which a fault can show; templates take turns, things are drawn."""
    needing = [template for template in TEMPLATES if fault and template.shows == fault]
    fitting = needing or [template for template in TEMPLATES if template.shows != WRONG_COLOUR]
    template = fitting[number % len(fitting)]
    rng = random.Random(fingerprint(["selftest", seed, fault, number]))
    words = dict(zip(("e1", "e2", "e3"), rng.sample(list(things), 3), strict=True))
    words |= dict(zip(("c1", "c2"), rng.sample(list(COLOURS), 2), strict=True))
    words["n"] = str(rng.randint(2, _MOST))
    formulas = [_filled(text, words) for text in (template.first, template.second)][: 2 if is_pair else 1]
    named = "-".join(words[key].replace(" ", "-") for key in ("e1", "e2", "e3") if key in template.first)
    return Case(
        case_id=f"{template.name}-{named}-{number}",
        suite="selftest",
        category=template.name,
        prompts=tuple(
            Prompt(role=role, text=to_english(parse(formula)), formula=formula)
            for role, formula in zip("ab", formulas, strict=False)
        ),
        checks=("truth",),
        measures=("same-scene",),
        equivalent=True if is_pair else None,
        determinate=all(is_determinate(parse(formula)) for formula in formulas),
    )


def _filled(template: str, words: Mapping[str, str]) -> str:
    return re.sub(r"\b(?:e[123]|c[12]|n)\b", lambda match: words[match[0]], template)
