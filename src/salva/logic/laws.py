"""The laws of logic as data: pairs of patterns in which P, Q and R stand for any formula.

One entry is all a new law costs. The identity law (P & true) is left out: formulas have no
constants, since no prompt says "true". Applying a law is rewrite.py's work.
"""

from __future__ import annotations

from dataclasses import dataclass

from salva.errors import unknown_name


@dataclass(frozen=True, slots=True, kw_only=True)
class Law:
    """Two patterns that always mean the same."""

    name: str
    family: str
    left: str
    """A formula in the notation, with P, Q and R for any part."""
    right: str
    summary: str


LAWS = (
    Law(
        name="commutative-and",
        family="commutative",
        left="P & Q",
        right="Q & P",
        summary="the order of two things that both hold does not matter",
    ),
    Law(
        name="commutative-or",
        family="commutative",
        left="P | Q",
        right="Q | P",
        summary="the order of two alternatives does not matter",
    ),
    Law(
        name="associative-and",
        family="associative",
        left="(P & Q) & R",
        right="P & (Q & R)",
        summary="of three things that all hold, any two can be grouped",
    ),
    Law(
        name="associative-or",
        family="associative",
        left="(P | Q) | R",
        right="P | (Q | R)",
        summary="of three alternatives, any two can be grouped",
    ),
    Law(
        name="distributive-and",
        family="distributive",
        left="P & (Q | R)",
        right="(P & Q) | (P & R)",
        summary="what goes with one of two alternatives goes with each of them",
    ),
    Law(
        name="distributive-or",
        family="distributive",
        left="P | (Q & R)",
        right="(P | Q) & (P | R)",
        summary="an alternative to two things together is an alternative to each of them",
    ),
    Law(
        name="complement",
        family="complement",
        left="P",
        right="!!P",
        summary="denying the denial says the thing itself",
    ),
    Law(
        name="de-morgan-and",
        family="de-morgan",
        left="!(P & Q)",
        right="!P | !Q",
        summary="not both is the same as one of them not",
    ),
    Law(
        name="de-morgan-or",
        family="de-morgan",
        left="!(P | Q)",
        right="!P & !Q",
        summary="neither of two is the same as both not",
    ),
    Law(
        name="absorption-and",
        family="absorption",
        left="P & (P | Q)",
        right="P",
        summary="an alternative that holds anyway adds nothing",
    ),
    Law(
        name="absorption-or",
        family="absorption",
        left="P | (P & Q)",
        right="P",
        summary="an alternative that contains the other adds nothing",
    ),
    Law(
        name="idempotence-and",
        family="idempotence",
        left="P & P",
        right="P",
        summary="saying a thing twice says it once",
    ),
    Law(
        name="idempotence-or",
        family="idempotence",
        left="P | P",
        right="P",
        summary="a choice between a thing and itself is the thing",
    ),
)


def find_laws(name: str | None = None) -> tuple[Law, ...]:
    """The laws with this name or of this family; all of them for None."""
    found = tuple(law for law in LAWS if name in (None, law.name, law.family))
    if not found:
        raise unknown_name("law", str(name), {known for law in LAWS for known in (law.name, law.family)})
    return found
