"""Whether a formula says its numbers, colours, denials, places and relations of the things its prompt says them of.

What the prompt says is read from the order of its words; a formula that does not say the same is refused, and so is
every formula of a prompt whose words leave a doubt: the prompt then goes to a judge. No grammar stands behind it, so
many a right formula is refused, and some that are not quite right pass: "a man with a hat on the left" has the hat on
the left, and nobody misses what no formula can say (verbs, behind, inside, on the back of).
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain

from salva.authoring.hearing.mentions import hear
from salva.authoring.hearing.readings import Reading, read
from salva.logic.equivalence import are_equivalent
from salva.logic.formula import And, Atom, Formula, Literal, Not, Or, Related, entities, mentioned_by

Signed = list[tuple[Literal, bool]]


def misplaced(f: Formula, prompt: str) -> str:
    """What a formula says of another thing than its prompt, or in doubt; empty where nothing is."""
    used = list(_signed(f))
    reading = read(hear(prompt, entities(f)), dict(used))
    problems = chain(
        reading.doubts,
        _numbers(reading.said, used),
        _attributes(reading.said, used),
        _denials(reading.said, used),
        _choice(f, reading),
        _relations(reading.said, used),
        _whole(f, reading),
    )
    return next(problems, "")


def _choice(f: Formula, reading: Reading) -> Iterator[str]:
    is_formula, is_prompt = _has_choice(f), bool(reading.choices)
    if is_formula != is_prompt:
        who, other = ("the prompt", "the formula") if is_prompt else ("the formula", "the prompt")
        yield f"{who} leaves a choice and {other} does not"


def _has_choice(f: Formula, is_said: bool = True) -> bool:
    if isinstance(f, Atom | Related):
        return False
    if isinstance(f, Not):
        return _has_choice(f.part, not is_said)
    return isinstance(f, Or if is_said else And) or _has_choice(f.left, is_said) or _has_choice(f.right, is_said)


def _numbers(said: Signed, used: Signed) -> Iterator[str]:
    in_prompt, in_formula = (
        {(leaf.entity, leaf.count) for leaf, _ in leaves if isinstance(leaf, Atom) and leaf.count > 1}
        for leaves in (said, used)
    )
    for thing, n in sorted(in_prompt ^ in_formula):
        who, other = ("the prompt", "the formula") if (thing, n) in in_prompt else ("the formula", "the prompt")
        yield f"{who} says the number {n} of {thing!r} and {other} does not"


def _attributes(said: Signed, used: Signed) -> Iterator[str]:
    """Colours and places."""
    in_prompt, in_formula = (
        {
            (leaf.entity, what)
            for leaf, _ in leaves
            if isinstance(leaf, Atom)
            for what in (leaf.colour, leaf.place)
            if what
        }
        for leaves in (said, used)
    )
    for thing, what in sorted(in_prompt - in_formula):
        yield f"the prompt says {what!r} of {thing!r} and the formula does not"
    for thing, what in sorted(in_formula - in_prompt):
        yield f"the prompt does not say {what!r} of {thing!r}"


def _denials(said: Signed, used: Signed) -> Iterator[str]:
    in_prompt, in_formula = (
        {(name, is_said) for leaf, is_said in leaves if isinstance(leaf, Atom) for name in mentioned_by(leaf)}
        | {(name, True) for leaf, _ in leaves if isinstance(leaf, Related) for name in mentioned_by(leaf)}
        for leaves in (said, used)
    )
    for is_said, thing in sorted((is_said, thing) for thing, is_said in in_prompt - in_formula):
        if is_said:
            yield f"the formula denies {thing!r} and the prompt does not"
        else:
            yield f"the prompt denies {thing!r} and the formula does not"


def _relations(said: Signed, used: Signed) -> Iterator[str]:
    in_prompt, in_formula = (
        {(leaf, is_said) for leaf, is_said in leaves if isinstance(leaf, Related)} for leaves in (said, used)
    )
    for leaf, is_said in sorted(in_formula - in_prompt, key=str):
        yield f"the prompt does not {'say' if is_said else 'deny'} that {_sentence(leaf)}"
    for leaf, is_said in sorted(in_prompt - in_formula, key=str):
        yield f"the prompt {'says' if is_said else 'denies'} that {_sentence(leaf)} and the formula does not"


def _sentence(leaf: Related) -> str:
    return f"{leaf.first!r} is {leaf.relation} {leaf.second!r}"


def _whole(f: Formula, reading: Reading) -> Iterator[str]:
    """Each part may be in both and be put together in another way: `3 cat & red cat` does not say three red cats."""
    if not are_equivalent(f, reading.formula()):
        yield "the formula does not say together what the prompt says together"


def _signed(f: Formula, is_said: bool = True) -> Iterator[tuple[Literal, bool]]:
    """Every atom, with whether it is said or denied."""
    if isinstance(f, Atom | Related):
        yield f, is_said
    elif isinstance(f, Not):
        yield from _signed(f.part, not is_said)
    else:
        yield from _signed(f.left, is_said)
        yield from _signed(f.right, is_said)
