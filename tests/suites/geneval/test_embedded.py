"""Our own prompts: in the published words, nested, one picture right for each; and ones that grow by an atom."""

from __future__ import annotations

from collections import Counter

from salva.logic.equivalence import is_contradictory, is_determinate
from salva.logic.formula import atoms
from salva.logic.notation import parse
from salva.suites.geneval.demands import TASKS
from salva.suites.geneval.embedded import FEWEST_ATOMS, MOST_ATOMS, embedded, hard


def test_as_many_of_each_task_and_a_small_set_in_every_larger_one() -> None:
    small, large = embedded(4), embedded(30)
    assert Counter(one.demand.tag for one in small) == dict.fromkeys(TASKS, 4)
    assert Counter(one.demand.tag for one in large) == dict.fromkeys(TASKS, 30)
    assert set(small) <= set(large)
    assert len({one.text for one in large}) == len(large)


def test_every_prompt_has_one_right_picture() -> None:
    assert all(one.text and is_determinate(parse(one.formula)) for one in embedded(30))


def test_hard_prompts_grow_by_one_atom_and_can_be_painted() -> None:
    prompts = list(hard(12))
    assert len(prompts) == 12 * (MOST_ATOMS - FEWEST_ATOMS + 1)
    before: set[object] = set()
    for chain, n_atoms, asked in prompts:
        formula = parse(asked.formula)
        leaves = set(atoms(formula))
        assert len(leaves) == n_atoms, (chain, asked.formula)
        assert not is_contradictory(formula)
        assert is_determinate(formula)
        assert n_atoms == FEWEST_ATOMS or before < leaves
        before = set(leaves)
