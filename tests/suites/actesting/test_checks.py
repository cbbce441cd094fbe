"""The four checks over boxes and answers: what is asked, what is decided, what stays open."""

from __future__ import annotations

from typing import Any

import pytest
from checks.planted import judge, observations, row, things
from suites.actesting.pictures import MUTATIONS, pool

from salva.core.case import Case, Prompt
from salva.core.mutation import Mutation
from salva.core.observation import Answer, Detection, Detections, SeenRelation
from salva.core.options import parse_options
from salva.core.protocols import Conclusion
from salva.core.verdict import Outcome
from salva.errors import UsageError
from salva.judging.crossing import crossed, within_name
from salva.judging.waves import Waves, conclude
from salva.suites.actesting import observing
from salva.suites.actesting.checks import (
    ERROR_SCORES,
    EntityChange,
    TripleAddition,
    TripleRemoval,
    Unchanged,
    error_score,
)
from salva.suites.actesting.observing import MutationOptions

RELATIONS = {"ec": EntityChange, "er-r": TripleRemoval, "er-a": TripleAddition, "ss": Unchanged}
RELATIONS |= {"ec+er-r": TripleRemoval, "ec+er-a": TripleAddition}
CAT_LEFT = pool("cat dog", "cat left.of dog")
HORSE_LEFT = pool("horse dog", "horse left.of dog")
SWAP = Mutation(operator="ec", seed=CAT_LEFT, mutant=HORSE_LEFT)
RIDING = Mutation(
    operator="ss", seed=pool("man horse", "man riding horse"), mutant=pool("man horse", "man riding horse")
)


def case_of(mutation: Mutation) -> Case:
    return Case(
        case_id="planted",
        suite="actesting",
        category=mutation.operator,
        prompts=(Prompt(role="a", text="seed"), Prompt(role="b", text="mutant")),
        checks=("entity-change",),
        mutation=mutation,
    )


def check_of(mutation: Mutation, **options: str) -> Any:
    return RELATIONS[mutation.operator](parse_options(MutationOptions, options, "check"))


def judged(mutation: Mutation, a: Detections, b: Detections, **options: str) -> Conclusion:
    return judge(check_of(mutation, **options), case_of(mutation), a, b)


def test_each_relation_is_for_the_pairs_of_its_operators() -> None:
    for operator, mutation in MUTATIONS.items():
        for check in RELATIONS.values():
            assert check(MutationOptions()).applies(case_of(mutation)) == (check is RELATIONS[operator])
    plain = Case(case_id="x", suite="s", category="c", prompts=(Prompt(role="a", text="x"),), checks=("truth",))
    assert not EntityChange(MutationOptions()).applies(plain)


def test_boxes_decide_places_and_the_pair_holds() -> None:
    concluded = judged(SWAP, row("cat", "dog"), row("horse", "dog"))
    assert concluded.outcome is Outcome.PASS
    assert {concluded.scores[name] for name in ERROR_SCORES} == {0.0}
    assert concluded.scores["named_a"] == concluded.scores["entities_a"] == 2
    assert concluded.scores["shown_triples_b"] == concluded.scores["decided_triples_b"] == 1


@pytest.mark.parametrize(
    ("a", "b", "errors"),
    [
        (row("cat", "dog"), row("dog", "horse"), ("new-relation-missing",)),
        (row("cat", "dog"), row("cat", "horse", "dog"), ("old-relation-stays", "old-entity-stays")),
        (row("cat", "dog"), row("horse"), ("new-relation-missing", "kept-entity-dropped")),
        (row("cat", "dog"), row("dog"), ("new-relation-missing", "new-entity-missing")),
        (row("cat"), row("horse", "dog"), ("seed-entity-missing",)),
        (row("cat", "dog"), row("horse", "dog", "cow"), ("extra-entity",)),
        (things(), things(), ("new-relation-missing", "new-entity-missing")),
    ],
)
def test_what_is_wrong_is_named(a: Detections, b: Detections, errors: tuple[str, ...]) -> None:
    concluded = judged(SWAP, a, b)
    assert concluded.outcome is Outcome.FAIL
    assert concluded.failure_types == errors
    assert {failure.failure_type for failure in concluded.failures} == set(errors)
    roles = {failure.failure_type: failure.role for failure in concluded.failures}
    assert roles == {error: "a" if error == "seed-entity-missing" else "b" for error in errors}, "whose image it is in"
    assert set(errors) <= EntityChange.about.failure_types.keys()


def test_the_definition_that_leads_decides_and_all_are_stored() -> None:
    a, b = row("cat", "dog"), row("cat", "horse", "dog")
    ours, theirs, program = (judged(SWAP, a, b, definition=name) for name in ("expected", "paper", "released"))
    assert (ours.outcome, theirs.outcome, program.outcome) == (Outcome.FAIL, Outcome.FAIL, Outcome.PASS)
    assert ours.scores == theirs.scores == program.scores
    assert theirs.failure_types == ("entity-sets",)
    assert (theirs.failures[0].expected, theirs.failures[0].seen) == ("cat, dog", "cat, dog, horse")


def test_without_a_judge_what_boxes_cannot_tell_is_undecided_and_counted() -> None:
    concluded = judged(RIDING, row("man", "horse"), row("man", "horse"))
    assert concluded.outcome is Outcome.UNDECIDED
    assert "man riding horse" in concluded.reason
    assert concluded.scores["undecided_triples"] == 2
    assert concluded.scores["decided_triples_a"] == 0
    assert {name for name in ERROR_SCORES if name in concluded.scores} == {
        error_score(definition, "entity_error") for definition in ("expected", "paper", "released")
    }
    dropped = judged(RIDING, row("man", "horse"), row("man"))
    assert dropped.outcome is Outcome.FAIL, "a wrong thing is wrong whoever else could tell more"


def _answered(*said: str) -> Conclusion:
    """By a judge who says this of the seed's image and of the mutant's."""
    check = check_of(RIDING, flip_sample="0")
    case = case_of(RIDING)
    seen = observations(check, case, {"a": (row("man", "horse"),), "b": (row("man", "horse"),)})
    for look in check.needs(case, {"detector", "judge"}, {}):
        if look.query.role == "judge":
            assert look.query.text == "Does the picture show a man riding a horse?"
            text = said["ab".index(look.role)]
            problem = "" if text in ("yes", "no") else "unreadable"
            answer = Answer(text="" if problem else text, scores={}, problem=problem)
            seen[look.role].seen[look.query] = answer  # type: ignore[index]  # a dict, as the helper makes it
    concluded: Conclusion = check.judge(case, seen)
    return concluded


def test_a_judge_answers_one_closed_question_about_every_other_triple() -> None:
    assert _answered("yes", "yes").outcome is Outcome.PASS
    assert _answered("yes", "no").failure_types == ("kept-relation-broken",)
    assert _answered("yes", "what?").outcome is Outcome.UNDECIDED


def test_a_detector_that_says_how_things_stand_is_believed() -> None:
    def seen(*checks: tuple[int, str, int]) -> Detections:
        boxes = tuple(Detection(label=name, score=0.9, box=(0.1, 0.1, 0.4, 0.4)) for name in ("man", "horse"))
        told = tuple(SeenRelation(subject=s, predicate=p, object=o, score=0.5) for s, p, o in checks)
        return Detections(boxes=boxes, relations=told)

    assert judged(RIDING, seen((0, "riding", 1)), seen((0, "riding", 1))).outcome is Outcome.PASS
    assert judged(RIDING, seen((0, "riding", 1)), seen((1, "riding", 0))).failure_types == ("kept-relation-broken",)
    far_down = seen(*[(1, "near", 0)] * 20, (0, "riding", 1))
    assert judged(RIDING, seen((0, "riding", 1)), far_down).outcome is Outcome.FAIL


def test_a_detector_with_words_of_its_own_is_understood() -> None:
    """Scene graph models say sitting on where captions say on, and have no word at all for next to."""

    def seen(predicate: str, *names: str) -> Detections:
        told = SeenRelation(subject=0, predicate=predicate, object=1, score=0.5)
        return Detections(boxes=row(*names).boxes, relations=(told,))

    def shown(predicate: str, detections: Detections) -> float | str:
        said = pool("cat dog", f"cat {predicate.replace(' ', '.')} dog")
        scores = judged(Mutation(operator="ss", seed=said, mutant=said), detections, detections).scores
        return scores["shown_triples_b"] if scores["decided_triples_b"] else "untold"

    pair = ("cat", "dog")
    assert shown("on", seen("sitting on", *pair)) == 1
    assert shown("on", seen("near", *pair)) == 0
    assert shown("sitting on", seen("on", *pair)) == 0, "to be on something is not yet to sit"
    assert shown("left of", seen("near", *pair)) == 1, "boxes tell what it has no word for"
    assert shown("right of", seen("near", *pair)) == 0
    assert shown("kicking", seen("near", *pair)) == "untold"
    assert shown("kicking", seen("kicking", *pair)) == 1


def test_a_thing_in_doubt_leaves_the_pair_open_under_expected_alone() -> None:
    def seen(score: float) -> Detections:
        plain = row("horse", "dog")
        boxes = (Detection(label="horse", score=score, box=plain.boxes[0].box), plain.boxes[1])
        return Detections(boxes=boxes, floor=0.1, threshold=0.3, doubt=0.6)

    concluded = judged(SWAP, row("cat", "dog"), seen(0.5))
    assert (concluded.outcome, concluded.reason) == (Outcome.UNDECIDED, "horse in doubt")
    assert concluded.scores["paper.entity_error"] == concluded.scores["paper.relation_error"] == 0
    assert judged(SWAP, row("cat", "dog"), seen(0.5), doubt="0").outcome is Outcome.PASS
    assert judged(SWAP, row("cat", "dog"), seen(0.2)).failure_types == ("new-relation-missing", "new-entity-missing")
    assert "0.05" in judged(SWAP, row("cat", "dog"), seen(0.2), threshold="0.05").reason


def test_two_blank_pictures_never_pass() -> None:
    for mutation in MUTATIONS.values():
        assert judged(mutation, things(), things()).outcome is not Outcome.PASS
    concluded = judged(MUTATIONS["ss"], things(), things())
    assert "seed" in concluded.reason


def test_the_seeds_caption_is_held_against_itself_to_see_luck() -> None:
    """Three repeats: the right image of the seed twice, then without its cat; the mutant is always right."""
    check, case = check_of(SWAP), case_of(SWAP)
    seen = {"a": [row("cat", "dog"), row("cat", "dog"), row("dog")], "b": [row("horse", "dog")] * 3}
    repeats = []
    for i in range(3):
        waves = Waves(case=case, check=check, label="entity-change", roles={"detector"})
        for role in "ab":
            waves.show(role, observations(check, case, {"a": (row("cat"),), "b": (row("cat"),)})[role].image)
        conclude(waves, lambda look, i=i: seen[look.role][i])  # type: ignore[misc]  # i of now
        repeats.append(waves)
    scores = crossed(repeats, 0).conclusion.scores
    assert scores["differs_within_a"] == scores[within_name("expected.entity_error", "a")] == 0.5
    assert scores["differs_within_b"] == scores[within_name("paper.entity_error", "b")] == 0.0
    assert "differs_between" not in scores, "held to another rule, so there is no distance of the two"


@pytest.mark.parametrize("options", [{"tolerance": "-1"}, {"threshold": "2"}, {"definition": "ours"}, {"doubt": "-1"}])
def test_options_that_mean_nothing_are_refused(options: dict[str, str]) -> None:
    with pytest.raises(UsageError):
        check_of(SWAP, **options)


def test_a_judge_decides_places_that_boxes_leave_open() -> None:
    def seen(score: float) -> Detections:
        boxes = tuple(
            Detection(label=name, score=score, box=(x, 0.4, x + 0.1, 0.5)) for name, x in (("cat", 0.1), ("dog", 0.7))
        )
        return Detections(boxes=boxes, floor=0.1, threshold=0.3, doubt=0.6)

    def asked(a: Detections, b: Detections) -> list[tuple[str, str]]:
        sight = observations(check, case, {"a": (a,), "b": (b,)})
        needs = check.needs(case, {"detector", "judge"}, sight)
        return [(need.role, need.query.text) for need in needs if need.query.role == "judge"]

    mutation = Mutation(operator="ss", seed=CAT_LEFT, mutant=CAT_LEFT)
    check, case = check_of(mutation, flip_sample="0"), case_of(mutation)
    question = "Does the picture show a cat to the left of a dog?"
    assert asked(seen(0.9), seen(0.9)) == []
    assert asked(seen(0.9), seen(0.5)) == [("b", question)]
    for said, holds in (("yes", True), ("no", False)):
        sight = observations(check, case, {"b": (seen(0.5),)})["b"]
        query = observing.question_about(CAT_LEFT.triples[0])
        sight.seen[query] = Answer(text=said, scores={})  # type: ignore[index]  # a dict, as the helper makes it
        reading = observing.see(mutation, sight, MutationOptions())
        assert not isinstance(reading, str)
        assert reading.image.triples[CAT_LEFT.triples[0]] is holds
