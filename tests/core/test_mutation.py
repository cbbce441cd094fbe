"""A caption taken apart, and what changed in it."""

import msgspec
import pytest

from salva.core.mutation import Mutation, Pool, Triple

DOG_ON_BED = Triple(subject="dog", predicate="on", object="bed")
CAT_ON_BED = Triple(subject="cat", predicate="on", object="bed")
SEED = Pool(entities=("dog", "cat", "bed"), triples=(DOG_ON_BED, CAT_ON_BED))


def test_what_changed_and_what_stays_is_the_difference_of_two_pools() -> None:
    mutant = Pool(entities=("dog", "bed", "lamp"), triples=(DOG_ON_BED,))
    mutation = Mutation(operator="er-r", seed=SEED, mutant=mutant)
    assert (mutation.removed_entities, mutation.added_entities) == (("cat",), ("lamp",))
    assert mutation.kept_entities == ("dog", "bed")
    assert (mutation.removed_triples, mutation.added_triples) == ((CAT_ON_BED,), ())
    assert mutation.kept_triples == (DOG_ON_BED,)


def test_a_mutation_comes_back_from_its_stored_form() -> None:
    mutation = Mutation(operator="ec", seed=SEED, mutant=Pool(entities=("horse",)))
    assert msgspec.convert(msgspec.to_builtins(mutation), Mutation) == mutation


def test_a_pool_refuses_repeats_and_triples_over_things_it_does_not_name() -> None:
    with pytest.raises(ValueError, match="once"):
        Pool(entities=("dog", "dog"))
    with pytest.raises(ValueError, match="does not name: bed"):
        Pool(entities=("dog",), triples=(DOG_ON_BED,))
