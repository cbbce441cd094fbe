"""The prompt templates: five laws by four dimensions, and the contrasts.

In the wordings {a1} is the first entity with its article ("a red cup" where it has a colour), {x1} the same
without the article, {u1} and {n1} the bare entity with and without one, {b2} the second entity in another
colour, {c1} a colour, {s1} the entity with size and colour; {scene} and {on} carry the surface. In the formulas
{p1} is the entity, {n1} the bare noun, {q2} the entity in the other colour, {z12} the order of sizes,
{first12} that entity 1 stands before entity 2 on the axis and {then21} the same said from the other end.
Whether a pair is equivalent is decided, not stated here.
"""

from __future__ import annotations

from dataclasses import dataclass

LAWS = ("commutative", "associative", "distributive", "complement", "de-morgan")
DIMENSIONS = ("conjunctive", "horizontal", "vertical", "attributes")
CONTRAST = "contrast"
"""The law of pairs that are no equivalences, whose images must differ."""

LAW_NAMES = {
    "commutative": "Commutative",
    "associative": "Associative",
    "distributive": "Distributive",
    "complement": "Complement",
    "de-morgan": "DeMorgan",
    CONTRAST: "Contrast",
}
DIMENSION_NAMES = {name: name.capitalize() for name in DIMENSIONS}
_SHORT_LAWS = dict(zip(LAWS, ("comm", "assoc", "dist", "compl", "demorgan"), strict=True))
_SHORT_DIMENSIONS = dict(zip(DIMENSIONS, ("conj", "horiz", "vert", "attr"), strict=True))


@dataclass(frozen=True, slots=True, kw_only=True)
class PairTemplate:
    """One category of prompt pairs."""

    law: str
    dimension: str
    n_objects: int
    texts: tuple[str, str]
    formulas: tuple[str, str]
    contrast_of: str = ""
    """For a contrast, the law the published form of it was filed under."""

    @property
    def category(self) -> str:
        """The name of the category, such as commutative-horizontal."""
        return "-".join(part for part in (self.law, self.contrast_of, self.dimension) if part)

    @property
    def short_name(self) -> str:
        """How pair ids of this category begin: comm_horiz."""
        law = f"contrast_{_SHORT_LAWS[self.contrast_of]}" if self.contrast_of else _SHORT_LAWS[self.law]
        return f"{law}_{_SHORT_DIMENSIONS[self.dimension]}"


def _pair(
    law: str, dimension: str, n: int, a: tuple[str, str], b: tuple[str, str], contrast_of: str = ""
) -> PairTemplate:
    """A template from (wording, formula) twice."""
    return PairTemplate(
        law=law,
        dimension=dimension,
        n_objects=n,
        texts=(a[0], b[0]),
        formulas=(a[1], b[1]),
        contrast_of=contrast_of,
    )


_BOTH = ("{a1} and {a2}{on}", "{p1} & {p2}")
_DENIED_BOTH = ("{scene}: it is not the case that there is not both {a1} and {a2}", "!!({p1} & {p2})")
_GROUPED_LEFT = ("both {a1} and {a2}, along with {a3}{on}", "({p1} & {p2}) & {p3}")
_GROUPED_RIGHT = ("{a1}, along with both {a2} and {a3}{on}", "{p1} & ({p2} & {p3})")

_CONJUNCTIVE = (
    _pair("commutative", "conjunctive", 2, _BOTH, ("{a2} and {a1}{on}", "{p2} & {p1}")),
    _pair("associative", "conjunctive", 3, _GROUPED_LEFT, _GROUPED_RIGHT),
    _pair(
        "distributive",
        "conjunctive",
        3,
        ("{a1} and either {a2} or {a3}{on}", "{p1} & ({p2} | {p3})"),
        ("either {a1} with {a2} or {a1} with {a3}{on}", "({p1} & {p2}) | ({p1} & {p3})"),
    ),
    _pair("complement", "conjunctive", 2, _BOTH, _DENIED_BOTH),
    _pair(
        "de-morgan",
        "conjunctive",
        2,
        ("{scene}: it is not the case that there is both {a1} and {a2}", "!({p1} & {p2})"),
        ("{scene} with either no {x1} or no {x2}", "!{p1} | !{p2}"),
    ),
)


def _on_axis(dimension: str, before: str, after: str) -> tuple[PairTemplate, ...]:
    """The templates of one axis; before and after are its two checks in words."""
    three = "{p1} & {p2} & {p3} & "
    return (
        _pair(
            "commutative",
            dimension,
            2,
            (f"{{a1}} {before} {{a2}}{{on}}", "{first12}"),
            (f"{{a2}} {after} {{a1}}{{on}}", "{then21}"),
        ),
        _pair(
            "associative",
            dimension,
            3,
            (f"{{a1}} {before} {{a2}}, and the {{n2}} {before} {{a3}}{{on}}", "{first12} & {first23}"),
            (f"{{a2}} {before} {{a3}}, with {{a1}} {before} both{{on}}", "{first23} & ({first12} & {first13})"),
        ),
        _pair(
            "distributive",
            dimension,
            3,
            (f"{{a1}} {before} either {{a2}} or {{a3}}{{on}}", "{p1} & ({first12} | {first13})"),
            (
                f"either {{a1}} {before} {{a2}} or {{a1}} {before} {{a3}}{{on}}",
                "({p1} & {first12}) | ({p1} & {first13})",
            ),
        ),
        _pair(
            "complement",
            dimension,
            2,
            (f"{{a1}} {before} {{a2}}{{on}}", "{first12}"),
            (f"{{scene}}: it is not the case that there is no {{x1}} {before} {{a2}}", "!!{first12}"),
        ),
        _pair(
            "de-morgan",
            dimension,
            3,
            (
                f"{{a1}}, {{a2}} and {{a3}}{{on}}, and it is not the case that both the {{n1}} is {before} "
                f"the {{n2}} and the {{n2}} is {before} the {{n3}}",
                three + "!({first12} & {first23})",
            ),
            (
                f"{{a1}}, {{a2}} and {{a3}}{{on}}, and either the {{n1}} is not {before} the {{n2}} "
                f"or the {{n2}} is not {before} the {{n3}}",
                three + "(!{first12} | !{first23})",
            ),
        ),
    )


_ATTRIBUTES = (
    _pair(
        "commutative",
        "attributes",
        2,
        ("{s1} and {s2}{on}", "{p1} & {p2}{z12}"),
        ("{s2} and {s1}{on}", "{p2} & {p1}{z21}"),
    ),
    _pair("associative", "attributes", 3, _GROUPED_LEFT, _GROUPED_RIGHT),
    _pair(
        "distributive",
        "attributes",
        2,
        ("{u1} and either {a2} or {b2}{on}", "{n1} & ({p2} | {q2})"),
        ("either {u1} with {a2} or {u1} with {b2}{on}", "({n1} & {p2}) | ({n1} & {q2})"),
    ),
    _pair("complement", "attributes", 2, _BOTH, _DENIED_BOTH),
    _pair(
        "de-morgan",
        "attributes",
        2,
        (
            "{u1} and {u2}{on}, and it is not the case that both the {n1} is {c1} and the {n2} is {c2}",
            "{n1} & {n2} & !({p1} & {p2})",
        ),
        (
            "{u1} and {u2}{on}, and either the {n1} is not {c1} or the {n2} is not {c2}",
            "{n1} & {n2} & (!{p1} | !{p2})",
        ),
    ),
)


def _contrasts_on_axis(dimension: str, before: str) -> tuple[PairTemplate, ...]:
    return (
        _pair(
            CONTRAST,
            dimension,
            2,
            (f"{{a1}} {before} {{a2}}{{on}}", "{first12}"),
            (f"{{a2}}{{on}}, but no {{x1}} {before} the {{n2}}", "{p2} & !{first12}"),
            contrast_of="complement",
        ),
        _pair(
            CONTRAST,
            dimension,
            2,
            (f"{{scene}}: it is not the case that {{a1}} is {before} {{a2}}", "!{first12}"),
            ("{scene} with either no {x1} or no {x2}", "!{p1} | !{p2}"),
            contrast_of="de-morgan",
        ),
    )


_all = (
    *_CONJUNCTIVE,
    *_on_axis("horizontal", "to the left of", "to the right of"),
    *_on_axis("vertical", "above", "below"),
    *_ATTRIBUTES,
)
TEMPLATES = tuple(sorted(_all, key=lambda one: (LAWS.index(one.law), DIMENSIONS.index(one.dimension))))
"""The 20 categories, law by law, in the published order."""

CONTRASTS = (
    _pair(
        CONTRAST,
        "conjunctive",
        1,
        ("{a1}{on}", "{p1}"),
        ("{scene} with no {x1}", "!{p1}"),
        contrast_of="complement",
    ),
    *_contrasts_on_axis("horizontal", "to the left of"),
    *_contrasts_on_axis("vertical", "above"),
    _pair(
        CONTRAST,
        "attributes",
        1,
        ("{a1}{on}", "{p1}"),
        ("{u1}{on} that is not {c1}", "{n1} & !{p1}"),
        contrast_of="complement",
    ),
    _pair(
        CONTRAST,
        "attributes",
        1,
        ("{scene}: it is not the case that there is {a1}", "!{p1}"),
        ("{u1}{on} that is not {c1}", "{n1} & !{p1}"),
        contrast_of="de-morgan",
    ),
)
"""The published forms of complement (an entity against its denial) and De Morgan that are no equivalences."""
