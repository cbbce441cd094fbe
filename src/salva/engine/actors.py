"""Who works in a run: a component in its part, with what the keys of its work are made of, and what it is asked for.

Nothing is loaded and nothing is stored here.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from salva.core.about import About
from salva.core.case import Case
from salva.core.fingerprint import Json, fingerprint
from salva.core.plan import Binding
from salva.core.protocols import Query, RenderRequest
from salva.store.records import StoredComponent, observation_key, render_key


@dataclass(frozen=True, slots=True, kw_only=True)
class Actor:
    """A component in the part it plays in a run, with what its keys are made of."""

    role: str
    label: str
    """What it is called in verdicts: its name as typed, with options where two share a name."""
    component_id: str
    binding: Binding | None
    """None for a generator whose images are only looked up."""
    about: About
    """What it says of itself; of a generator that is only looked up, no more than whether it saw formulas."""
    identity: Mapping[str, Json]

    @classmethod
    def of(cls, binding: Binding, label: str = "") -> Actor:
        """The actor of a binding."""
        identity = binding.identity()
        return cls(
            role=binding.role,
            label=label or binding.label,
            component_id=fingerprint([binding.role, identity]),
            binding=binding,
            about=binding.about,
            identity=identity,
        )

    @classmethod
    def remembered(cls, component: StoredComponent) -> Actor:
        """A generator that generated earlier and generates no more."""
        return cls(
            role=component.role,
            label=component.label,
            component_id=component.component_id,
            binding=None,
            about=About(sees_formula=component.is_formula_seen),
            identity=component.identity,
        )

    @property
    def is_usable(self) -> bool:
        """Whether it may be put to work, and not only looked up."""
        return self.binding is not None and not self.binding.is_foreign

    def stored(self) -> StoredComponent:
        """How the store remembers it."""
        return StoredComponent(
            component_id=self.component_id,
            role=self.role,
            label=self.label,
            is_formula_seen=self.about.sees_formula,
            identity=self.identity,
        )

    def render_key(self, request: RenderRequest) -> str:
        """The key of an image it generates."""
        formula = request.prompt.formula if self.about.sees_formula else None
        return render_key(
            *(self.component_id, request.prompt.text, formula, request.seed, request.repeat),
            passes_over=request.prompt.passes_over,
        )

    def keyed_query(self, query: Query) -> Query:
        """A query without what this observer never sees."""
        if query.labels and not self.about.takes_labels:
            query = replace(query, labels=())
        if query.formulas and not self.about.sees_formula:
            query = replace(query, formulas=())
        if self.about.needs_formulas and (query.criteria or query.rubric):
            query = replace(query, criteria=(), rubric="")
        return query

    def observation_key(self, image_id: str, query: Query, given: Mapping[str, str]) -> str:
        """The key of an observation; query as keyed_query gives it."""
        return observation_key(self.component_id, image_id, query, given)


def requests_of(case: Case, repeats: int, run_seed: int) -> list[RenderRequest]:
    """Every image of a case: each prompt in each repeat."""
    seeds = [case.seed(run_seed, repeat) for repeat in range(repeats)]
    return [
        RenderRequest(prompt=prompt, seed=seed, repeat=repeat)
        for repeat, seed in enumerate(seeds)
        for prompt in case.prompts
    ]
