"""What a run may still spend: new images, and money where components say what their work costs.

Work under way is reserved at its usual price, so that a limit is not passed by what is on its way. Limits
count what this command does, not what was there before it. Knows no lanes and no store.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from salva.core.observation import Answer, Reading
from salva.core.plan import Binding
from salva.core.protocols import Painting, Ticket
from salva.engine.actors import Actor
from salva.errors import BackendError, UsageError
from salva.messages import message

COST = "cost_usd"
"""The entry of a picture's provenance and of an answer's or reading's usage that says what it cost."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """How much one command may do; None for as much as it takes."""

    max_images: int | None = None
    max_cost_usd: float | None = None


def check_prices(bindings: Iterable[Binding], limits: Limits) -> None:
    """Refuse a cost limit that nobody could keep."""
    if limits.max_cost_usd is None:
        return
    for binding in bindings:
        if not _is_priced(binding):
            names = [field.name for field in dataclasses.fields(binding.options) if "usd" in field.name]
            flags = " and ".join(f"--set {binding.role}.{name}=..." for name in names)
            instead = f"Set it in US dollars with {flags}." if flags else "It has no such option; leave --max-cost out."
            raise UsageError(message("price-missing", role=binding.role, name=binding.label, instead=instead))


def is_free(binding: Binding) -> bool:
    """Whether nothing that a component is asked can cost money: it works here, or has a price of 0."""
    about = binding.about
    prices = [getattr(binding.options, name, None) for name in about.priced_by]
    return not about.is_remote or (bool(prices) and all(price == 0 for price in prices))


def _is_priced(binding: Binding) -> bool:
    """Whether a component's work is free, or its options say what it costs."""
    about = binding.about
    return not about.is_remote or all(getattr(binding.options, name, None) is not None for name in about.priced_by)


class Budget:
    """What was spent, what is on its way, and what may still begin; used by the flow's one thread."""

    def __init__(self, limits: Limits | None = None) -> None:
        self._limits = limits or Limits()
        self.spent_usd = 0.0
        self.in_vain: dict[str, dict[str, float]] = {}
        """By component id, what was paid for work without a result."""
        self._n_generated = 0
        self._under_way: dict[str, tuple[Actor, int]] = {}
        self._paid: dict[str, tuple[int, float]] = {}
        self._n_generating = 0

    def n_allowed(self, actor: Actor) -> int:
        """How many more pieces of work a component may begin now."""
        reserved = sum(n * self._price(working) for working, n in self._under_way.values())
        return self._n_left(actor, self._n_generating, reserved)

    def is_over(self, actor: Actor) -> bool:
        """Whether a component can begin nothing more, whatever comes of the work under way."""
        return self._n_left(actor, 0, 0.0) < 1

    def _n_left(self, actor: Actor, n_generating: int, reserved: float) -> int:
        allowed = 1 << 30
        if actor.role == "model" and self._limits.max_images is not None:
            allowed = self._limits.max_images - self._n_generated - n_generating
        if self._limits.max_cost_usd is not None and actor.about.is_remote:
            price = self._price(actor)
            left = self._limits.max_cost_usd - self.spent_usd - reserved
            # Rounding must not cost the last image: ten at 0.10 fit into 1.00.
            affordable = int(left / price + 1e-6) if price > 0 else (1 if left > 0 else 0)
            allowed = min(allowed, affordable)
        return max(0, allowed)

    def begin(self, actor: Actor, n: int) -> None:
        """So many pieces of work are on their way."""
        self._under_way[actor.component_id] = (actor, self._n_under_way(actor) + n)
        self._n_generating += n * (actor.role == "model")

    def end(self, actor: Actor, outcome: object) -> None:
        """One came back."""
        self._under_way[actor.component_id] = (actor, self._n_under_way(actor) - 1)
        self._n_generating -= actor.role == "model"
        self._n_generated += isinstance(outcome, Painting | Ticket)
        cost = usage_of(outcome).get(COST)
        if isinstance(outcome, BackendError):
            self.drop(actor, outcome)
        if cost is not None:
            self.spent_usd += cost
            n, total = self._paid.get(actor.component_id, (0, 0.0))
            self._paid[actor.component_id] = (n + 1, total + cost)

    def drop(self, actor: Actor, outcome: object) -> None:
        """What came back and is not kept was paid for all the same."""
        if usage := usage_of(outcome):
            vain = self.in_vain.setdefault(actor.component_id, {})
            for name, value in usage.items():
                vain[name] = vain.get(name, 0.0) + value

    def reached(self) -> str:
        """Which limit was reached, in words."""
        limits = self._limits
        if limits.max_images is not None and self._n_generated >= limits.max_images:
            return f"--max-images {limits.max_images}: {self._n_generated} new images are generated"
        return f"--max-cost {limits.max_cost_usd or 0:g}: {self.spent_usd:.4f} USD are spent"

    def _n_under_way(self, actor: Actor) -> int:
        return self._under_way.get(actor.component_id, (actor, 0))[1]

    def _price(self, actor: Actor) -> float:
        """What a piece of work has cost so far, on average; before the first, what its options say."""
        n, total = self._paid.get(actor.component_id, (0, 0.0))
        if n:
            return total / n
        return float(getattr(actor.binding.options, "price_usd", None) or 0.0) if actor.binding else 0.0


def usage_of(outcome: object) -> dict[str, float]:
    """What an outcome says that it took: calls, tokens, money, as far as known."""
    if isinstance(outcome, Painting | Ticket):
        usage: Mapping[str, object] = {COST: outcome.provenance.get(COST)}
    else:
        usage = outcome.usage if isinstance(outcome, Answer | Reading | BackendError) else {}
    return {name: float(value) for name, value in usage.items() if isinstance(value, int | float)}
