"""The templates as data: complete, parseable, and about the entities they say they are."""

from __future__ import annotations

import string

import pytest

from salva.logic.formula import entities
from salva.logic.notation import parse
from salva.suites.metalogic.templates import BEYOND, LAWS, LOGIC, MODIFIERS, LawTemplate, numbering

NAMES = {"n1": "cat", "n2": "dog", "n3": "apple"}
ALL = [*LOGIC, *BEYOND, numbering(1), numbering(7)]


def name_of(template: LawTemplate) -> str:
    return f"{template.law}-{template.modifier or template.count}"


def test_every_law_has_every_modifier_once() -> None:
    assert [(t.law, t.modifier) for t in LOGIC] == [(law, modifier) for law in LAWS for modifier in MODIFIERS]


@pytest.mark.parametrize("template", ALL, ids=name_of)
def test_both_wordings_name_what_their_formulas_mention(template: LawTemplate) -> None:
    for text, formula in zip(template.texts, template.formulas, strict=True):
        in_text = {field[1:] for _, field, _, _ in string.Formatter().parse(text) if field}
        in_formula = entities(parse(formula.format_map(NAMES)))
        assert {NAMES[f"n{i}"] for i in in_text} == set(in_formula)
        assert len(in_formula) <= template.n_entities


@pytest.mark.parametrize("template", ALL, ids=name_of)
def test_brackets_close_and_the_two_wordings_differ(template: LawTemplate) -> None:
    for text in template.texts:
        assert text.count("[") == text.count("]")
        assert text.replace("[", "").replace("]", "").startswith(("There ", "It is not the case that "))
        assert not text.endswith((".", " "))
    assert template.texts[0] != template.texts[1]
