"""Triples about pocket's entities: templates, swap rules and their formulas.

Entities and templates go in, triples of sentences with their formulas go out. The paraphrase means the same as the
anchor, the swap does not, and each has one world; tests decide that with the logic core. The sentences keep to words
that pocket was trained on. Size words are said of two entities at once, so they are read as a comparison: "a large cat
and a small dog" is `larger_than(cat, dog)`.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import combinations, permutations

from salva.assets.pocket_priors import COLOURED, ENTITIES
from salva.core.fingerprint import fingerprint
from salva.english.nouns import plural
from salva.english.words import number_word, with_article
from salva.logic.notation import parse, to_notation
from salva.suites.semvar.rows import TripleRow

PER_CATEGORY = 48
WHERE = "embedded"
"""Stands in the place of a file and line."""
_TEST_BELOW = "6"
"""Six of sixteen pairs of entities are for testing only, so that what was trained on the others can be held apart."""

# Pairs that nobody takes for each other: red beside orange, or blue beside purple, would test eyes and not words.
_COLOUR_PAIRS = (
    *(("red", "blue"), ("red", "green"), ("red", "yellow"), ("yellow", "blue"), ("yellow", "purple")),
    *(("green", "purple"), ("orange", "blue"), ("orange", "green"), ("red", "black"), ("yellow", "black")),
)
_NUMBER_PAIRS = tuple((n, m) for n, m in permutations(range(1, 5), 2) if n + m <= 6)
_SIZE_PAIRS = (("large", "small"), ("big", "little"), ("huge", "tiny"))
_FRAMES = ("{}", "There is {}", "A picture of {}", "{}")


@dataclass(frozen=True, slots=True, kw_only=True)
class _TripleTemplate:
    """Three wordings over the fields of a pair, in the order a, pv, pi, with what each one means."""

    rule: str
    """What is swapped to change the meaning."""
    paraphrase: str
    """How it is said anew without a change of meaning."""
    texts: tuple[str, str, str]
    formulas: tuple[str, str, str]


_PLACED = tuple(
    _TripleTemplate(
        rule="nouns",
        paraphrase=paraphrase,
        texts=(f"{{a1}} {one} and {{a2}} {two}", f"{{a2}} {one} and {{a1}} {two}", said_again),
        formulas=(f"{{n1}}@{p} & {{n2}}@{q}", f"{{n2}}@{p} & {{n1}}@{q}", f"{{n2}}@{q} & {{n1}}@{p}"),
    )
    for (one, p), (two, q) in (
        (("on the left", "left"), ("on the right", "right")),
        (("at the top", "top"), ("at the bottom", "bottom")),
    )
    for paraphrase, said_again in (
        ("coordination", f"{{a2}} {two} and {{a1}} {one}"),
        ("fronting", f"{two} is {{a2}} and {one} is {{a1}}"),
    )
)
_RELATED = tuple(
    _TripleTemplate(
        rule="nouns",
        paraphrase="converse",
        texts=(f"{{a1}} {words} {{a2}}", f"{{a2}} {words} {{a1}}", f"{{a2}} {back} {{a1}}"),
        formulas=(f"{relation}({{n1}}, {{n2}})", f"{relation}({{n2}}, {{n1}})", f"{converse}({{n2}}, {{n1}})"),
    )
    for words, relation, back, converse in (
        ("to the left of", "left_of", "to the right of", "right_of"),
        ("above", "above", "below", "below"),
        ("to the right of", "right_of", "to the left of", "left_of"),
        ("below", "below", "above", "above"),
    )
)
_TWO_PARTS = ("{p11} and {p22}", "{p21} and {p12}", "{p22} and {p11}")
"""pXY: what is said first or second (X) of the first or the second entity (Y)."""
_SAID = {
    rule: _TripleTemplate(rule=rule, paraphrase="coordination", texts=_TWO_PARTS, formulas=formulas)
    for rule, formulas in {
        "colours": ("{f1} {n1} & {f2} {n2}", "{f2} {n1} & {f1} {n2}", "{f2} {n2} & {f1} {n1}"),
        "numbers": ("{f1} {n1} & {f2} {n2}", "{f2} {n1} & {f1} {n2}", "{f2} {n2} & {f1} {n1}"),
        "sizes": ("larger_than({n1}, {n2})", "larger_than({n2}, {n1})", "smaller_than({n2}, {n1})"),
    }.items()
}


@cache
def embedded_rows() -> tuple[TripleRow, ...]:
    """Every triple, category by category."""
    return (
        *_of_templates("absolute_location", _PLACED),
        *_of_templates("relative_location", _RELATED),
        *_of_words("color", "colours", COLOURED, _COLOUR_PAIRS),
        *_of_words("counting", "numbers", ENTITIES, _NUMBER_PAIRS),
        *_of_words("size", "sizes", ENTITIES, _SIZE_PAIRS),
    )


def _of_templates(category: str, templates: Sequence[_TripleTemplate]) -> Iterator[TripleRow]:
    for i, (one, two) in enumerate(_pairs(category, ENTITIES)):
        fields = {"n1": one, "n2": two, "a1": with_article(one), "a2": with_article(two)}
        # A fronted sentence takes no opening, so those templates alone would differ in it.
        yield _row(category, i, templates[i % len(templates)], fields, (one, two), "{}")


def _of_words(
    category: str, rule: str, things: Sequence[str], words: Sequence[tuple[object, object]]
) -> Iterator[TripleRow]:
    """Triples that swap two words said of two entities: colours, numbers or sizes."""
    for i, (one, two) in enumerate(_pairs(category, things)):
        first, second = words[i % len(words)]
        fields = {"n1": one, "n2": two, "f1": str(first), "f2": str(second)}
        fields |= {
            f"p{x}{y}": _phrase(word, thing)
            for x, word in ((1, first), (2, second))
            for y, thing in ((1, one), (2, two))
        }
        # "There is" would have to become "there are" with the number, and so tell it twice.
        frame = "{}" if rule == "numbers" else _FRAMES[i % len(_FRAMES)]
        yield _row(category, i, _SAID[rule], fields, (one, two), frame)


def _pairs(category: str, things: Sequence[str]) -> list[tuple[str, str]]:
    """Pairs of entities in an order that looks like chance and never changes."""
    chosen = sorted(combinations(things, 2), key=lambda pair: fingerprint([category, *pair]))[:PER_CATEGORY]
    return [pair if fingerprint([*pair, category])[0] < "8" else (pair[1], pair[0]) for pair in chosen]


def _phrase(word: object, thing: str) -> str:
    if isinstance(word, int):
        return f"{number_word(word)} {thing if word == 1 else plural(thing)}"
    return with_article(f"{word} {thing}")


def _row(
    category: str, i: int, template: _TripleTemplate, fields: dict[str, str], things: tuple[str, str], frame: str
) -> TripleRow:
    texts = [frame.format(text.format_map(fields)) for text in template.texts]
    a, pv, pi = (text[0].upper() + text[1:] for text in texts)
    formula_a, formula_pv, formula_pi = (to_notation(parse(f.format_map(fields))) for f in template.formulas)
    return TripleRow(
        row_id=f"{category}_{i + 1}_{'_'.join(things)}",
        texts=(a, pv, pi),
        formulas=(formula_a, formula_pv, formula_pi),
        categories=(category,),
        split="test" if fingerprint([*sorted(things), "split"])[0] < _TEST_BELOW else "train",
        where=WHERE,
        labels={"entities": ",".join(things), "rule": template.rule, "paraphrase": template.paraphrase},
        cluster="+".join(sorted(things)),
    )
