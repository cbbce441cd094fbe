"""The MetaLogic prompt templates as data: two wordings and the formula each one stands for.

In the wordings {a1} is the first entity with its article, {n1} without, {c1} with its number;
square brackets mark the groups and are printed only on request. The formulas were assigned by hand, because the
English is ambiguous about scope. Nothing here says whether a pair is equivalent: that is decided.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class LawTemplate:
    """One category of prompt pairs."""

    law: str
    modifier: str
    """and, or, x, y; empty for numbering."""
    n_entities: int
    texts: tuple[str, str]
    formulas: tuple[str, str]
    """In the notation, with {n1} for the first entity."""
    other_reading: str = ""
    """What the second wording can also mean when its brackets are not printed."""
    reduces_to: str = ""
    """A shorter formula that is claimed to have the same worlds; stated only after it was decided."""
    as_printed: tuple[str, str] | None = None
    """The formulas of the published pair, where this one replaces it."""
    count: int = 0
    """How many of the first entity, in the numbering categories."""
    is_as_printed: bool = False
    """Whether this is the published pair although it is no equivalence."""


def _pair(law: str, modifier: str, n_entities: int, a: tuple[str, str], b: tuple[str, str]) -> LawTemplate:
    """A template from (wording, formula) twice."""
    return LawTemplate(law=law, modifier=modifier, n_entities=n_entities, texts=(a[0], b[0]), formulas=(a[1], b[1]))


def _complement(modifier: str, a: tuple[str, str], group: str, other_reading: str) -> LawTemplate:
    """A says something, B that it is not the case that it is not so."""
    return LawTemplate(
        law="complement",
        modifier=modifier,
        n_entities=2,
        texts=(a[0], f"It is not the case that there is not {group}"),
        formulas=(a[1], f"!!({a[1]})"),
        other_reading=other_reading,
    )


def _de_morgan(modifier: str, first: str, second: str, reduces_to: str) -> LawTemplate:
    """The four De Morgan templates differ in the places they name and in the outer connective."""
    outer, flipped, sign, flipped_sign = ("or", "and", "|", "&") if modifier == "or" else ("and", "or", "&", "|")
    text_1 = f"[no {first} and no {second}]"
    text_2 = f"[no {second} and no {first}]"
    formula_1 = f"(!{_place(first)} & !{_place(second)})"
    formula_2 = f"(!{_place(second)} & !{_place(first)})"
    # Without brackets the not of "there isn't no cat and no dog" may end behind the cat.
    ended = (f"(!!{_place(first)} & !{_place(second)})", f"(!!{_place(second)} & !{_place(first)})")
    return LawTemplate(
        law="de-morgan",
        modifier=modifier,
        n_entities=2,
        texts=(
            f"It is not the case that there is {text_1} {outer} {text_2}",
            f"There isn't {text_1} {flipped} there isn't {text_2}",
        ),
        formulas=(f"!({formula_1} {sign} {formula_2})", f"!{formula_1} {flipped_sign} !{formula_2}"),
        other_reading=f" {flipped_sign} ".join(ended),
        reduces_to=reduces_to,
    )


_PLACES = {
    " on the right": "@right",
    " on the left": "@left",
    " on the bottom": "@bottom",
    " on top": "@top",
    " in the middle": "@middle",
}


def _place(words: str) -> str:
    """The atom for a noun with its place in words."""
    for phrase, place in _PLACES.items():
        words = words.replace(phrase, place)
    return words


def _on_axis(modifier: str, far: str, near: str) -> tuple[LawTemplate, ...]:
    """The templates of one axis; far and near are its ends in words."""
    far_at, near_at = _PLACES[f" {far}"], _PLACES[f" {near}"]
    one, two, three = f"{{a1}} {far}", f"{{a2}} {near}", "{a3} in the middle"
    f1, f2, f3 = f"{{n1}}{far_at}", f"{{n2}}{near_at}", "{n3}@middle"
    return (
        _pair(
            "commutative",
            modifier,
            2,
            (f"There is {one} and {two}", f"{f1} & {f2}"),
            (f"There is {two} and {one}", f"{f2} & {f1}"),
        ),
        _pair(
            "associative",
            modifier,
            3,
            (f"There is both [{one} and {two}], along with {three}", f"({f1} & {f2}) & {f3}"),
            (f"There is {one}, along with both [{two} and {three}]", f"{f1} & ({f2} & {f3})"),
        ),
        _pair(
            "distributive",
            modifier,
            3,
            (
                f"There is {one} with either both [{two} and {three}] or both [{three} and {two}]",
                f"{f1} & (({f2} & {f3}) | ({f3} & {f2}))",
            ),
            (
                f"There is {one} with both [{two} and {three}] or {one} with both [{three} and {two}]",
                f"({f1} & ({f2} & {f3})) | ({f1} & ({f3} & {f2}))",
            ),
        ),
        _complement(
            modifier,
            (f"There is {one} and {two}", f"{f1} & {f2}"),
            f"[{one} and {two}]",
            f"!(!{f1} & {f2})",
        ),
        _de_morgan(modifier, f"{{n1}} {far}", f"{{n2}} {near}", f"{f1} | {f2}"),
    )


_WITHOUT_PLACES = (
    _pair(
        "commutative",
        "and",
        2,
        ("There is {a1} and {a2}", "{n1} & {n2}"),
        ("There is {a2} and {a1}", "{n2} & {n1}"),
    ),
    _pair(
        "commutative",
        "or",
        2,
        ("There is [{a1} and {a2}] or [{a2} and {a1}]", "({n1} & {n2}) | ({n2} & {n1})"),
        ("There is [{a2} and {a1}] or [{a1} and {a2}]", "({n2} & {n1}) | ({n1} & {n2})"),
    ),
    _pair(
        "associative",
        "and",
        3,
        ("There is both [{a1} and {a2}], along with {a3}", "({n1} & {n2}) & {n3}"),
        ("There is {a1}, along with both [{a2} and {a3}]", "{n1} & ({n2} & {n3})"),
    ),
    _pair(
        "associative",
        "or",
        3,
        (
            "There is either [{a1} and {a2} and {a3}] or [{a1} and {a3} and {a2}], "
            "otherwise there is [{a2} and {a1} and {a3}]",
            "(({n1} & {n2} & {n3}) | ({n1} & {n3} & {n2})) | ({n2} & {n1} & {n3})",
        ),
        (
            "There is [{a1} and {a2} and {a3}], "
            "otherwise there is [{a1} and {a3} and {a2}] or [{a2} and {a1} and {a3}]",
            "({n1} & {n2} & {n3}) | (({n1} & {n3} & {n2}) | ({n2} & {n1} & {n3}))",
        ),
    ),
    _pair(
        "distributive",
        "and",
        3,
        (
            "There is {a1} with either both [{a2} and {a3}] or both [{a3} and {a2}]",
            "{n1} & (({n2} & {n3}) | ({n3} & {n2}))",
        ),
        (
            "There is {a1} with both [{a2} and {a3}] or {a1} with both [{a3} and {a2}]",
            "({n1} & ({n2} & {n3})) | ({n1} & ({n3} & {n2}))",
        ),
    ),
    _pair(
        "distributive",
        "or",
        3,
        (
            "There is either [{a1}, {a2} and {a3}] or both [{a1}, {a3} and {a2}] and [{a2}, {a3} and {a1}]",
            "({n1} & {n2} & {n3}) | (({n1} & {n3} & {n2}) & ({n2} & {n3} & {n1}))",
        ),
        (
            "There is either [{a1}, {a2} and {a3}] or [{a1}, {a3} and {a2}], "
            "and there is either [{a1}, {a2} and {a3}] or [{a2}, {a3} and {a1}]",
            "(({n1} & {n2} & {n3}) | ({n1} & {n3} & {n2})) & (({n1} & {n2} & {n3}) | ({n2} & {n3} & {n1}))",
        ),
    ),
    _complement("and", ("There is {a1} and {a2}", "{n1} & {n2}"), "[{a1} and {a2}]", "!(!{n1} & {n2})"),
    _complement(
        "or",
        ("There is [{a1} and {a2}] or [{a2} and {a1}]", "({n1} & {n2}) | ({n2} & {n1})"),
        # The outer brackets are ours: those of the published table leave the scope of "not" open.
        "[[{a1} and {a2}] or [{a2} and {a1}]]",
        "!(!({n1} & {n2}) | ({n2} & {n1}))",
    ),
    _de_morgan("and", "{n1}", "{n2}", "{n1} | {n2}"),
    _de_morgan("or", "{n1}", "{n2}", "{n1} | {n2}"),
)

LAWS = ("commutative", "associative", "distributive", "complement", "de-morgan")
MODIFIERS = ("and", "or", "x", "y")

LOGIC = tuple(
    sorted(
        (*_WITHOUT_PLACES, *_on_axis("x", "on the right", "on the left"), *_on_axis("y", "on the bottom", "on top")),
        key=lambda template: (LAWS.index(template.law), MODIFIERS.index(template.modifier)),
    )
)
"""The 20 logic categories, law by law."""


def numbering(count: int, *, is_as_printed: bool = False) -> LawTemplate:
    """The numbering template of one count.

    The published table pairs "a e1 and two e2" with "two e1 and a e2", which is an equivalence for one of each alone;
    the other form is that of the paper's own example, which keeps the numbers where they are.
    """
    many_1, many_2 = ("{n1}", "{n2}") if count == 1 else (f"{count} {{n1}}", f"{count} {{n2}}")
    text = f"There {'is' if count == 1 else 'are'} {{c1}} and {{a2}}"
    printed = (f"{{n1}} & {many_2}", f"{many_1} & {{n2}}")
    return LawTemplate(
        law="numbering",
        modifier="",
        n_entities=2,
        texts=("There is {a1} and {c2}", text) if is_as_printed else (text, "There is {a2} and {c1}"),
        formulas=printed if is_as_printed else (f"{many_1} & {{n2}}", f"{{n2}} & {many_1}"),
        as_printed=None if is_as_printed else printed,
        count=count,
        is_as_printed=is_as_printed,
    )


def _beyond_axis(modifier: str, far: str) -> tuple[LawTemplate, ...]:
    """The places' share of the categories that are ours.

    Only one end of the axis is named: places are decided by the order of what is placed at different
    ends, and under a negation or beside an OR such an order would rule out images that are right.
    """
    at = _PLACES[f" {far}"]
    one, two = f"{{a1}} {far}", f"{{a2}} {far}"
    f1, f2 = f"{{n1}}{at}", f"{{n2}}{at}"
    return (
        _pair(
            "true-or",
            modifier,
            2,
            (f"There is {one} or {two}", f"{f1} | {f2}"),
            (f"There is {two} or {one}", f"{f2} | {f1}"),
        ),
        _pair(
            "true-negation",
            modifier,
            2,
            (f"There is {one} and no {{n2}} {far}", f"{f1} & !{f2}"),
            (f"There is no {{n2}} {far}, but there is {one}", f"!{f2} & {f1}"),
        ),
        _pair(
            "absorption",
            modifier,
            2,
            (f"There is {one}, and there is {one} or {{a2}}", f"{f1} & ({f1} | {{n2}})"),
            (f"There is {one}", f1),
        ),
    )


_BEYOND_LAWS = ("true-or", "true-negation", "absorption")

BEYOND = tuple(
    sorted(
        (
            _pair(
                "true-or",
                "or",
                2,
                ("There is {a1} or {a2}", "{n1} | {n2}"),
                ("There is {a2} or {a1}", "{n2} | {n1}"),
            ),
            _pair(
                "true-or",
                "and",
                3,
                ("There is {a1} with either {a2} or {a3}", "{n1} & ({n2} | {n3})"),
                ("There is {a1} with {a2} or {a1} with {a3}", "({n1} & {n2}) | ({n1} & {n3})"),
            ),
            _pair(
                "true-negation",
                "and",
                2,
                ("There is {a1} and no {n2}", "{n1} & !{n2}"),
                ("There is no {n2}, but there is {a1}", "!{n2} & {n1}"),
            ),
            _pair(
                "true-negation",
                "or",
                2,
                ("It is not the case that there is both {a1} and {a2}", "!({n1} & {n2})"),
                ("There is no {n1} or there is no {n2}", "!{n1} | !{n2}"),
            ),
            _pair(
                "absorption",
                "and",
                2,
                ("There is {a1}, and there is {a1} or {a2}", "{n1} & ({n1} | {n2})"),
                ("There is {a1}", "{n1}"),
            ),
            _pair(
                "absorption",
                "or",
                2,
                ("There is {a1}, or there is {a1} and {a2}", "{n1} | ({n1} & {n2})"),
                ("There is {a1}", "{n1}"),
            ),
            *_beyond_axis("x", "on the right"),
            *_beyond_axis("y", "on the bottom"),
        ),
        key=lambda template: (_BEYOND_LAWS.index(template.law), MODIFIERS.index(template.modifier)),
    )
)
"""The categories the paper could not test, because more than one image is right."""
