"""A parsed sentence as plain lists, and which of its nouns are entities.

Words, tags and arcs come in (Penn tags, ClearNLP arcs), so nothing here knows a parser. Some of what small parsers
get wrong in captions is put right; "a pair of" is looked through; a list of entities is one entity after another.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

from salva.english.captions.nouns import NO_THINGS, RELATIONAL, SEVERAL, TRANSPARENT
from salva.english.nouns import singular
from salva.english.wordlists import words

_NOUNS = ("NN", "NNS", "NNP", "NNPS")
_INSIDE = ("compound", "nmod", "npadvmod", "amod", "nummod", "quantmod")
"""Arcs of nouns that only say more of another noun."""
_NO = frozenset(("no", "zero", "neither"))
_WITHOUT = ("without", "minus", "lacking", "missing")
_ING_THINGS = words("captions", "ing_things")


_singular = cache(singular)


@dataclass(slots=True)
class Tree:
    """A sentence, word by word."""

    text: str
    words: list[str]
    """In small letters."""
    starts: list[int]
    tags: list[str]
    arcs: list[str]
    heads: list[int]
    children: list[list[int]]

    @classmethod
    def of(
        cls, text: str, words: list[str], starts: list[int], tags: list[str], arcs: list[str], heads: list[int]
    ) -> Tree:
        """The tree over these words; a root is its own head."""
        children: list[list[int]] = [[] for _ in words]
        for i, head in enumerate(heads):
            if head != i:
                children[head].append(i)
        return cls(text, words, starts, tags, arcs, heads, children)

    def kids(self, i: int, *arcs: str) -> list[int]:
        """The words under a word by these arcs."""
        return [kid for kid in self.children[i] if self.arcs[kid] in arcs]

    def is_noun(self, i: int) -> bool:
        """Whether a word is tagged as a noun."""
        return self.tags[i] in _NOUNS

    def is_verb(self, i: int) -> bool:
        """Whether a word is tagged as a verb."""
        return self.tags[i].startswith("VB")

    def is_absent(self, i: int) -> bool:
        """Whether a noun stands under a denial: no pillows, without using his hands, not wearing a shirt."""
        while True:
            determiners = [self.words[kid] for kid in self.kids(i, "det", "neg", "nummod")]
            if _NO & {*determiners}:
                return True
            above, arc = self.heads[i], self.arcs[i]
            if above == i or arc in ("nsubj", "nsubjpass", "relcl", "acl") or (arc == "conj" and determiners):
                return False
            if self.words[above] in _WITHOUT or (self.is_verb(above) and self.kids(above, "neg")):
                return True
            if self.is_noun(above) and arc != "conj" and not (arc == "prep" and self.words[i] == "of"):
                return False
            i = above

    def span(self, i: int) -> tuple[int, int]:
        """The first and last word under a word."""
        low = high = i
        for kid in self.children[i]:
            first, last = self.span(kid)
            low, high = min(low, first), max(high, last)
        return low, high


def mend(tree: Tree) -> None:
    """Put right what small parsers get wrong in captions: "a giraffe grazing" is no kind of grazing."""
    for i, word in enumerate(tree.words):
        if tree.tags[i] == "NN" and word.endswith("ing") and word not in _ING_THINGS and i and tree.is_noun(i - 1):
            before = i - 1
            if tree.heads[before] == i and tree.arcs[before] == "compound" and tree.arcs[i] not in _INSIDE:
                tree.tags[i] = "VBG"
                moved = [kid for kid in tree.children[i] if kid < before]
                tree.children[before] += moved
                tree.children[i] = [kid for kid in tree.children[i] if kid > before]
                for kid in moved:
                    tree.heads[kid] = before
                _adopt(tree, before, i)

    for i in range(len(tree.words)):
        # "A room filled with balloons and a shelf": spoken of in one breath, they are in one list.
        if tree.arcs[i] == "conj" and tree.is_noun(i) and tree.is_noun(tree.heads[i]):
            verbs = [kid for kid in tree.kids(tree.heads[i], "acl") if kid < i and tree.tags[kid] == "VBN"]
            withs = [kid for verb in verbs for kid in tree.kids(verb, "prep") if tree.words[kid] == "with"]
            if nouns := [kid for p in withs for kid in tree.kids(p, "pobj") if kid < i]:
                tree.children[tree.heads[i]].remove(i)
                tree.heads[i] = nouns[-1]
                tree.children[nouns[-1]].append(i)


def _adopt(tree: Tree, noun: int, verb: int) -> None:
    """Put a noun in the place of the participle behind it, and that under the noun."""
    above = tree.heads[verb]
    tree.arcs[noun], tree.arcs[verb] = tree.arcs[verb], "acl"
    tree.heads[noun] = above if above != verb else noun
    if above != verb:
        tree.children[above] = [noun if kid == verb else kid for kid in tree.children[above]]
    tree.heads[verb] = noun
    tree.children[noun].append(verb)


class Nouns:
    """Which nouns are entities, and which entities a noun stands for."""

    def __init__(self, tree: Tree) -> None:
        self.tree = tree
        self.name = [_singular(word) if tree.tags[i] in ("NNS", "NNPS") else word for i, word in enumerate(tree.words)]
        self.through = [tree.is_noun(i) and self._looks_through(i) for i in range(len(tree.words))]
        self.is_thing = [self._is_thing(i) for i in range(len(tree.words))]

    def is_between(self, i: int) -> bool:
        """Whether a noun stands between two prepositions and says how: on the side of a road."""
        return self.tree.is_noun(i) and self.tree.words[i] in RELATIONAL and bool(self._of(i))

    def _of(self, i: int) -> list[int]:
        """What follows the "of" of a noun; "a close up of" has a word between."""
        tree = self.tree
        ofs = [kid for kid in tree.kids(i, "prep") if tree.words[kid] == "of"]
        if self.tree.words[i] in ("close", "closeup", "shot"):
            ofs += [under for kid in tree.kids(i, "prep", "advmod", "prt") for under in tree.kids(kid, "prep")]
        return [thing for of in ofs for thing in tree.kids(of, "pobj")]

    def _looks_through(self, i: int) -> bool:
        return (self.tree.words[i] in TRANSPARENT or self.name[i] in TRANSPARENT) and bool(self._of(i))

    def _is_thing(self, i: int) -> bool:
        tree, word = self.tree, self.tree.words[i]
        if not tree.is_noun(i) or self.through[i] or tree.arcs[i] in _INSIDE or not word[0].isalpha():
            return False
        if tree.is_absent(i):
            return False
        if tree.arcs[i] == "pobj" and self.is_between(i):
            return False
        if (word in NO_THINGS or self.name[i] in NO_THINGS) and word not in SEVERAL:
            return False
        if word.endswith("ing") and tree.tags[i] == "NN" and word not in _ING_THINGS:
            return False
        # A lot and a slice are none, a parking lot and toast slices are.
        is_plain = word in SEVERAL or bool(tree.kids(i, "compound")) or (word == "lot" and bool(tree.kids(i, "amod")))
        return is_plain or (word not in TRANSPARENT and self.name[i] not in TRANSPARENT)

    def resolve(self, i: int) -> list[int]:
        """The entities one noun stands for."""
        if self.is_thing[i]:
            return [i]
        if self.through[i] or self.is_between(i):
            return [thing for under in self._of(i) for thing in self.standing(under)]
        return []

    def standing(self, i: int) -> list[int]:
        """The entities a noun and those in one list with it stand for."""
        rest = [thing for kid in self.tree.kids(i, "conj") if self.tree.is_noun(kid) for thing in self.standing(kid)]
        return [*self.resolve(i), *rest]

    def sharing(self, i: int, modifier: int, *, is_shared: bool) -> list[int]:
        """The entities of a list that something behind one of them is said of."""
        tree = self.tree
        sharing_it = self.resolve(i)
        # Said behind the list, hung on its first: "a chair and an umbrella that is ..."
        for kid in tree.kids(i, "conj"):
            if tree.is_noun(kid) and kid < modifier:
                sharing_it = [*sharing_it, *self.standing(kid)]
        # Said behind the list, hung on its last: "a man and a woman sitting ..."
        if is_shared and tree.arcs[i] == "conj" and tree.is_noun(tree.heads[i]):
            head = tree.heads[i]
            own = [kid for kid in tree.kids(head, "acl", "relcl", "prep") if tree.words[kid] != "of"]
            if not own:
                sharing_it = [*self.sharing(head, head, is_shared=True), *sharing_it]
        return sharing_it
