"""`salva prove`: decide worlds, determinacy and equivalence."""

from __future__ import annotations

import click

from salva.cli import flags
from salva.cli import help as pages
from salva.core.quantity import quantity

_SHOWN = 20


@click.command("prove", cls=pages.Command)
@click.argument("formula")
@click.argument("other", required=False, metavar="[FORMULA]")
@flags.counts_flag
def command(formula: str, other: str | None, counts: str | None) -> None:
    """Print the worlds of FORMULA and whether it is determinate; of two, whether they are equivalent.

    A formula can be an English sentence. One with two readings is refused.

    \b
    salva prove "cat & (dog | apple)" "(cat & dog) | (cat & apple)"
    salva prove "!cat & dog@left"
    salva prove "neither a cat nor a dog" "no dogs and no cats"
    """
    from salva.english.describe import describe_world
    from salva.english.sentences import parse_text
    from salva.logic.formula import Formula, entities
    from salva.logic.notation import to_notation
    from salva.logic.worlds import count_worlds, worlds

    counts = counts or "exact"

    def show_worlds(title: str, one: Formula) -> int:
        n_worlds = count_worlds(one, counts)
        if title.strip() != to_notation(one):
            title = f"{title} ({to_notation(one)})"
        click.echo(f"{title}: {quantity(n_worlds, 'worlds')}")
        for world in worlds(one, counts, limit=_SHOWN):
            click.echo(f"  - {describe_world(world, entities(one))}")
        if n_worlds > _SHOWN:
            click.echo(f"  ... and {n_worlds - _SHOWN} more")
        return n_worlds

    first = parse_text(formula)
    if other is None:
        n_worlds = count_worlds(first, counts)
        click.echo("contradictory" if n_worlds == 0 else "determinate" if n_worlds == 1 else "not determinate")
        show_worlds(formula, first)
        return
    from salva.logic.equivalence import witness

    second = parse_text(other)
    found = witness(first, second, counts)
    click.echo("equivalent" if found is None else "not equivalent")
    if found is not None:
        mentioned = tuple(dict.fromkeys((*entities(first), *entities(second))))
        fits = (formula, other) if found.holds_for == 1 else (other, formula)
        click.echo(f"witness: {describe_world(found.world, mentioned)}\n  fits       {fits[0]}\n  but not    {fits[1]}")
    n_worlds_of = [show_worlds(text, one) for text, one in ((formula, first), (other, second))]
    if never := [text for text, n in zip((formula, other), n_worlds_of, strict=True) if n == 0]:
        click.echo(f"not determinate: no image is right for {' or for '.join(never)}")
    else:
        click.echo("determinate" if n_worlds_of == [1, 1] else "not determinate: two right images may differ")
