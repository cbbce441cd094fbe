"""Groups, and judges' grades of their pictures, for the tests of CF-World."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from salva.core.case import Case, Prompt
from salva.core.image import ImageRef
from salva.core.observation import Answer
from salva.core.protocols import Conclusion, ImageObservations, Need
from salva.core.question import Question
from salva.suites.cfworld.groups import question
from salva.suites.cfworld.levels import Levels, LevelsOptions

STEPS = {1.0: "yes", 0.5: "partly", 0.0: "no"}


def questions(level: str) -> tuple[Question, ...]:
    """One question of each kind."""
    return tuple(question(kind, f"{kind} of {level}?", STEPS) for kind in ("integrity", "point", "logic"))


def group(name: str = "g", roles: Sequence[str] = ("l1", "l2", "l3"), discipline: str = "optics") -> Case:
    """A group of levels."""
    prompts = tuple(
        Prompt(role=role, text=f"Draw {name} {role}.", questions=questions("l2" if role == "denorm" else role))
        for role in roles
    )
    return Case(
        case_id=name,
        suite="cfworld",
        category=discipline,
        prompts=prompts,
        checks=("levels",),
        labels={"discipline": discipline, "part": "levels"},
    )


def judged(
    case: Case,
    grades: Mapping[str, Sequence[float]],
    options: LevelsOptions | None = None,
    *,
    fact: Mapping[str, float] | None = None,
    alike: Sequence[float] | None = None,
    unreadable: Sequence[str] = (),
) -> tuple[Conclusion, list[Need]]:
    """What becomes of a group whose judge gives these grades, and everything that was asked.

    grades: by role, for integrity, point and logic. A role that is not there was not painted. fact: how far pictures
    show L1's point. alike: L1's grades by the rubric of the others.
    """
    check = Levels(options or LevelsOptions(flip_sample=0.0))
    image = ImageRef(image_id="i", width=1, height=1)
    observations = {role: ImageObservations(image=image) for role in grades}
    asked: list[Need] = []
    while True:
        wanted = [look for look in check.needs(case, ("judge",), observations) if look not in asked]
        if not wanted:
            return check.judge(case, observations), asked
        asked += wanted
        for look in wanted:
            if look.role in unreadable:
                answer = Answer(text="", scores={}, problem="a riddle")
            elif len(look.query.questions) == 1:
                answer = Answer(text="", scores={"q1": (fact or {}).get(look.role, 0.0)})
            else:
                is_alike = look.role == "l1" and look.query.rubric == "counterfactual"
                values = (alike or grades[look.role]) if is_alike else grades[look.role]
                scores = {f"q{i}": value for i, value in enumerate(values, 1)}
                answer = Answer(text="", scores=scores, reasons={"q2": f"{look.role} looks so"})
            sight = observations[look.role]
            observations[look.role] = ImageObservations(image=image, seen={**sight.seen, look.query: answer})
