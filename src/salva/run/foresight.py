"""What a run can decide, known before anything is painted: who leads, and whether anybody can see what it needs.

A specification and its cases come in; a run that could decide nothing is refused with what to change. Loads no model.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import cast

from salva.core.about import Naming, about_of, options_of
from salva.core.options import target_field
from salva.core.protocols import Relation
from salva.core.spec import RunSpec
from salva.engine.guard import build
from salva.errors import NobodyNamedError, SalvaError
from salva.judging.headline import leading_relation
from salva.registry import entries, load
from salva.run.plan import planned_cases

EXAMPLE = "grounding-dino"
"""The detector that a refusal gives as an example: it takes words, and its scores let it doubt."""


def refuse_unwatched(spec: RunSpec) -> None:
    """Refuse a run whose pictures nobody was named to look at, where what leads needs boxes."""
    if not spec.wanting:
        return
    onlooker = next((binding for binding in spec.observers() if "detector" in binding.about.needs), None)
    instead = ""
    if onlooker is not None:
        problem = f"the {onlooker.role} {onlooker.label!r} goes by a detector's boxes"
        instead = f"Another {onlooker.role} may need none: --{onlooker.role} NAME. "
    else:
        leading = _leading_if_watched(spec)
        if leading not in {binding.label for binding in spec.wanting}:
            return
        problem = f"the relation {leading!r} leads here and goes by a detector's boxes"
    strangers = [b.label for b in spec.models if not b.about.defaults.get("detector")] or [b.label for b in spec.models]
    raise NobodyNamedError(
        f"{problem}, and nobody looks at pictures of {', '.join(strangers)} unless named",
        "detector",
        EXAMPLE,
        instead + " ".join(_who_could_look()),
    )


def _leading_if_watched(spec: RunSpec) -> str:
    """The relation that would lead if there were a detector."""
    relations = {b.label: cast(Relation, build(b)) for b in (*spec.wanting, *spec.relations)}
    rates = {b.label: b.about.rate for b in (*spec.wanting, *spec.relations)}
    judging: set[str] = set()
    own: list[str] = []
    for case in planned_cases(spec):
        judging |= {name for name, relation in relations.items() if name not in judging and relation.applies(case)}
        own.append(case.relation)
    return leading_relation(sorted(judging), own, rates, spec.headline, spec.suite.about.leads)


def _who_could_look() -> Iterator[str]:
    """The detectors one could name, by whether they take words."""
    takes_words: list[str] = []
    has_names: list[str] = []
    for entry in entries("detector"):
        try:
            component = load("detector", entry.name)
        except SalvaError:
            continue
        options = options_of(component)
        target = target_field(options)
        needs_target = target is not None and not options.__dataclass_fields__[target].default
        shown = f"{entry.name}/<{target}>" if needs_target else entry.name
        (takes_words if about_of(component).names is Naming.ASKED else has_names).append(shown)
    yield f"Looking for any word: {', '.join(takes_words) or 'none'}."
    yield f"With names of their own: {', '.join(has_names) or 'none'}."
    yield "`salva list detectors NAME` says what pictures each was made for."
