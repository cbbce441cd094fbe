"""A parsed sentence: what is put right in it, and which of its nouns are things."""

from __future__ import annotations

import pytest

from salva.english.captions.tree import Nouns, Tree, mend


def parsed(sentence: str) -> Tree:
    """A tree from word/TAG/arc/head, one after another."""
    words, tags, arcs, heads = zip(*(word.split("/") for word in sentence.split()), strict=True)
    starts = [sum(len(word) + 1 for word in words[:i]) for i in range(len(words))]
    return Tree.of(" ".join(words), list(words), starts, list(tags), list(arcs), [int(head) for head in heads])


@pytest.mark.parametrize(
    ("sentence", "things"),
    [
        ("the/DT/det/1 walking/NN/ROOT/1", []),
        ("a/DT/det/1 building/NN/ROOT/1", ["building"]),
        ("two/CD/nummod/1 walkings/NNS/ROOT/1", ["walkings"]),
        ("a/DT/det/1 slice/NN/ROOT/1", []),
        ("toast/NN/compound/1 slices/NNS/ROOT/1", ["slices"]),
        ("on/IN/ROOT/0 the/DT/det/2 side/NN/pobj/0 of/IN/prep/2 a/DT/det/5 road/NN/pobj/3", ["road"]),
        ("a/DT/det/1 pair/NN/ROOT/1 of/IN/prep/1 dogs/NNS/pobj/2", ["dogs"]),
    ],
)
def test_these_nouns_are_things(sentence: str, things: list[str]) -> None:
    tree = parsed(sentence)
    assert [word for word, is_thing in zip(tree.words, Nouns(tree).is_thing, strict=True) if is_thing] == things


def test_what_a_room_is_filled_with_takes_in_the_rest_of_the_list() -> None:
    tree = parsed(
        "a/DT/det/1 room/NN/ROOT/1 filled/VBN/acl/1 with/IN/prep/2 balloons/NNS/pobj/3 covered/VBN/acl/1 "
        "with/IN/prep/5 stripes/NNS/pobj/6 and/CC/cc/1 shelves/NNS/conj/1"
    )
    mend(tree)
    assert tree.words[tree.heads[9]] == "stripes"
    assert 9 in tree.children[7]
    assert 9 not in tree.children[1]
