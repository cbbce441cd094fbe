"""Every fault that the lint looks for is planted once and found, and a sound group has none."""

from __future__ import annotations

from dataclasses import replace

import pytest

from salva.suites.cfworld.asking import integrity_question, logic_question, point_question
from salva.suites.cfworld.groups import Entry, LevelGroup, LevelPrompt, Probe
from salva.suites.cfworld.lint import lint, outcome_words

THINGS = integrity_question("the nail and the cork")


def _level(prompt: str, point: str, around: str, *, changed: bool = True) -> LevelPrompt:
    asked = (THINGS, point_question(point), logic_question(around, changed=changed))
    return LevelPrompt(prompt=prompt, point=point, questions=asked)


SOUND = LevelGroup(
    discipline="mechanics",
    group_id="cork",
    category="Buoyancy",
    principle="Light things float on water.",
    l1=_level(
        "A cork was dropped into a glass of water. Show where the cork is.",
        "The cork floats at the surface.",
        "the glass stands upright",
        changed=False,
    ),
    l2=_level(
        "Suppose that water repels light things. A cork was dropped into a glass of water and hovers above the rim.",
        "The cork hovers above the rim.",
        "other light things hover too",
    ),
    l3=_level(
        "Suppose that water repels light things. A cork was dropped into a glass of water. Show where the cork is.",
        "The cork hovers above the rim.",
        "other light things hover too",
    ),
    denorm="Suppose that water repels light things. A plug of brown bark was dropped into a glass of water and hovers "
    "above the rim.",
)
RULE = Probe(
    part="rule",
    probe_id="falling",
    principle="Things fall down.",
    factual=(LevelPrompt(prompt="A ball over a line, with an arrow.", point="The arrow points down.", questions=()),),
    counterfactual=tuple(
        LevelPrompt(prompt=f"Rule {n}: the ball falls to side {n}, with an arrow.", point="The arrow points up.")
        for n in range(4)
    ),
)
PAIR = Probe(
    part="attribute",
    probe_id="owl-pool",
    principle="owl: pool, not barn",
    factual=(LevelPrompt(prompt="An owl sits in an old barn window.", point="An owl sits in a barn."),),
    counterfactual=(LevelPrompt(prompt="An owl floats in a blue pool.", point="An owl floats in a pool."),),
)


def _kinds(*entries: Entry) -> set[str]:
    return {finding.kind for finding in lint(entries)}


def _l1(**changes: object) -> LevelGroup:
    return replace(SOUND, l1=replace(SOUND.l1, **changes))  # type: ignore[arg-type] # any one field is planted


def _l3(prompt: str) -> LevelGroup:
    return replace(SOUND, l3=replace(SOUND.l3, prompt=prompt))


def _asked(*questions: object) -> LevelGroup:
    return _l1(questions=questions)


POINT = point_question(SOUND.l1.point)
AROUND = SOUND.l1.questions[2]


def _sound_probe(probe: Probe) -> Probe:
    def ask(level: LevelPrompt) -> LevelPrompt:
        return replace(level, questions=(point_question(level.point),))

    facts, changed = tuple(map(ask, probe.factual)), tuple(map(ask, probe.counterfactual))
    return replace(probe, factual=facts, counterfactual=changed)


def test_sound_texts_have_no_findings() -> None:
    assert lint([SOUND, _sound_probe(RULE), _sound_probe(PAIR)]) == []


@pytest.mark.parametrize(
    ("kind", "planted"),
    [
        ("missing-field", replace(SOUND, principle=" ")),
        ("missing-field", replace(SOUND, denorm="")),
        ("missing-field", _l1(point="")),
        ("missing-field", _l1(prompt="")),
        ("not-ascii", _l1(prompt="A cork was dropped into a glass of water – show where the cork is.")),
        ("unsafe-word", _l1(prompt="A cork was dropped into a glass of blood. Show where the cork is.")),
        ("length", _l1(prompt="A cork.")),
        ("length", _l1(prompt=SOUND.l1.prompt * 9)),
        ("not-visible", _l1(point="The cork perhaps floats at the surface.")),
        ("question-kinds", _asked(THINGS, POINT)),
        ("question-kinds", _asked(THINGS, POINT, AROUND, AROUND)),
        ("not-a-question", _asked(THINGS, replace(POINT, text=POINT.text.rstrip("?")), AROUND)),
        ("criteria-steps", _asked(THINGS, replace(POINT, criteria=((1.0, "Yes."), (0.0, "No."))), AROUND)),
        ("point-not-covered", _asked(THINGS, replace(POINT, text="Is it plain to see that the cork floats?"), AROUND)),
        ("nothing-changed", replace(SOUND, l2=replace(SOUND.l2, point=SOUND.l1.point))),
        ("other-outcome", replace(SOUND, l3=replace(SOUND.l3, point="The cork is gone."))),
        ("same-prompt", _l3(SOUND.l2.prompt)),
        ("outcome-not-said", replace(SOUND, l2=replace(SOUND.l2, prompt=SOUND.l3.prompt + " Need."))),
        ("leaked-outcome", _l3(SOUND.l3.prompt + " It hovers.")),
        ("subject-not-shared", _l3("Imagine bees that loved mushrooms. Paint a meadow of flowers at noon.")),
        ("same-logic", replace(SOUND, l1=replace(SOUND.l1, questions=SOUND.l2.questions))),
        ("nothing-described", replace(SOUND, denorm=SOUND.l2.prompt)),
        ("law-dropped", replace(SOUND, denorm="Bees loved mushrooms in a meadow of flowers at noon.")),
        ("same-prompt", replace(RULE, counterfactual=RULE.counterfactual[:1] * 4)),
        ("question-kinds", RULE),
        ("missing-field", replace(PAIR, principle="")),
    ],
)
def test_a_planted_fault_is_found_by_its_kind(kind: str, planted: Entry) -> None:
    assert kind in _kinds(planted)


def test_an_exchange_without_a_new_word_is_given_away_by_a_run_of_words() -> None:
    fact = _level("A fox and a rabbit run over a meadow.", "The rabbit runs and the fox is behind.", "x", changed=False)
    said = "Suppose that hunters and hunted changed. A fox and a rabbit run over a meadow"
    outcome = "The fox runs and the rabbit is behind."
    second = _level(f"{said}: the fox runs and the rabbit is behind.", outcome, "y")
    group = replace(SOUND, l1=fact, l2=second, l3=_level(f"{said}.", outcome, "y"))
    assert outcome_words(group) == {}
    assert "leaked-outcome" not in _kinds(group)
    leaking = replace(group, l3=_level(f"{said}, and so the fox runs and the rabbit is behind.", outcome, "y"))
    assert "leaked-outcome" in _kinds(leaking)


def test_entries_are_held_against_each_other() -> None:
    twin = replace(SOUND, group_id="cork-again")
    assert _kinds(SOUND, SOUND) >= {"repeated-id", "near-duplicate"}
    assert _kinds(SOUND, twin) == {"near-duplicate"}
    (first, *_) = lint([SOUND, twin])
    assert first.subject == ("mechanics/cork", "mechanics/cork-again")
