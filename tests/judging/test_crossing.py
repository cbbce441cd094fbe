"""The control arm where images are missing; the figures of whole runs are tested with the engine."""

from __future__ import annotations

from collections.abc import Mapping

from salva.core.about import About
from salva.core.case import Case, Prompt
from salva.core.image import ImageRef
from salva.core.observation import Detection, Detections
from salva.core.protocols import Conclusion, ImageObservations, Need, Query
from salva.core.verdict import Outcome
from salva.judging.crossing import can_cross, crossed
from salva.judging.waves import Missing, Waves
from salva.testing.fakes import FakeSame

CASE = Case(
    case_id="one",
    suite="fake",
    category="all",
    prompts=(Prompt(role="a", text="cat"), Prompt(role="b", text="a cat")),
    checks=("same",),
)


def seen(a: str, b: str) -> Waves:
    """The waves of one repeat in which each image shows one thing; an empty name for an image that is missing."""
    first = tuple(Need(role=role, query=Query(role="detector")) for role in "ab")
    check = FakeSame(FakeSame.Options())
    waves = Waves(case=CASE, check=check, label="same", roles=("detector",), first_observations=first)
    for role, label in (("a", a), ("b", b)):
        image = ImageRef(image_id=f"{role} {label}", width=2, height=2)
        for look in waves.show(role, image if label else Missing(reason="refused", is_final=True)):
            waves.answer(look, Detections(boxes=(Detection(label=label, score=1.0, box=(0, 0, 1, 1)),)))
    assert waves.next_needs() == []
    return waves


def test_each_repeat_is_held_against_the_others_and_shown_beside_the_next() -> None:
    repeats = [seen("cat", "cat"), seen("cat", "dog"), seen("dog", "cat")]
    assert can_cross(repeats[0])
    first, last = crossed(repeats, 0), crossed(repeats, 2)
    assert first.conclusion.outcome is Outcome.PASS
    assert first.images == {"a": "a cat", "b": "a cat"}
    assert first.conclusion.scores == {
        "differs_between": 0.5,
        "differs_within_a": 0.5,
        "differs_within_b": 0.5,
        "excess": 0.0,
        "n_compared": 6.0,
    }
    assert last.conclusion.outcome is Outcome.FAIL
    assert last.images == {"a": "a dog", "b": "a cat"}, "after the last comes the first"


def test_a_missing_neighbour_fails_the_control_and_other_missing_images_are_left_out() -> None:
    repeats = [seen("cat", "cat"), seen("", "cat"), seen("cat", "")]
    failed = crossed(repeats, 0)
    assert failed.conclusion.outcome is Outcome.ERROR
    assert failed.conclusion.reason == "image 'a' was not generated: refused"
    assert failed.images == {"a": "a cat"}
    assert not failed.is_retryable
    rest = crossed(repeats, 2)
    assert rest.conclusion.outcome is Outcome.PASS
    assert rest.conclusion.scores == {"differs_between": 0.0, "differs_within_a": 0.0, "n_compared": 3.0}


class _Right(FakeSame):
    """Each image by itself: right when it shows a cat."""

    about = About(needs_roles=("detector",), has_control=True)

    def judge(self, case: Case, observations: Mapping[str, ImageObservations]) -> Conclusion:  # what it shows is enough
        if any("unsure" in sight.image.image_id for sight in observations.values()):
            return Conclusion(outcome=Outcome.UNDECIDED, reason="nobody could tell")
        scores = {f"right_{role}": float("cat" in sight.image.image_id) for role, sight in observations.items()}
        return Conclusion(outcome=Outcome.PASS if all(scores.values()) else Outcome.FAIL, scores=scores)


def test_pictures_held_against_their_own_prompts_differ_when_one_is_right() -> None:
    def right(a: str, b: str) -> Waves:
        waves = seen(a, b)
        waves.check = _Right(FakeSame.Options())
        return waves

    # The first wording is always wrong, the second always right: all harm and no noise.
    harmed = crossed([right("dog", "cat")] * 3, 0).conclusion
    assert harmed.outcome is Outcome.PASS
    assert harmed.scores["differs_between"] == 1.0
    assert harmed.scores["differs_within_a"] == harmed.scores["differs_within_b"] == 0.0
    noisy = crossed([right("dog", "cat"), right("cat", "dog")], 0).conclusion
    assert noisy.outcome is Outcome.FAIL
    assert (noisy.scores["differs_between"], noisy.scores["excess"]) == (0.0, -1.0)
    blank = crossed([right("nothing", "nothing")] * 2, 0).conclusion
    assert blank.scores["excess"] == 0.0
    blind = crossed([right("cat", "cat"), right("unsure", "cat")], 0).conclusion
    assert (blind.outcome, blind.scores) == (Outcome.UNDECIDED, {"n_compared": 0.0})
