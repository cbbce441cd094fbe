"""Rubrics by name: how strictly a judge is to grade.

CF-World's program is more lenient with facts than with counterfactuals, and asks one judge that is too lenient to be
adversarial. These rubrics do the same in our own words. A query names one, and a judge's option `rubric` replaces it.
Scores of an image against a text always use the rubric for people.
"""

from __future__ import annotations

from collections.abc import Mapping

from salva.core.score_rubric import HALVES, SCORE_RUBRIC
from salva.errors import PluginError
from salva.messages import message

RUBRICS: Mapping[str, str] = {
    "fact": (
        "The picture shows the everyday world. If what is asked for can plainly be recognised, give the score for it; "
        "do not take points off for style, cropping or small flaws of drawing."
    ),
    "counterfactual": (
        "The picture shows a world in which one law differs from ours. What counts is whether that difference can be "
        "seen. A picture of the ordinary world, however well painted, shows nothing of it and gets the score for "
        "nothing; hints that one could miss are half at most."
    ),
    "lenient": "Where you waver between two scores, give the higher one.",
    "adversarial": (
        "You are a strict opponent of the picture. Look first for whatever speaks against it: things that behave as in "
        "the ordinary world, broken shapes, contradictions between parts. Give a high score only when you searched "
        "for such faults and there are none; where you waver, give the lower score."
    ),
    "strict": (
        "Signs, arrows and shapes must stand exactly as the question says: the right direction, place, number and "
        "colour. Nearly right is wrong."
    ),
    "steps": (
        "Give 1, 0.5 or 0 and nothing between: 1 when every thing and how they stand to each other is shown, 0.5 when "
        "all things are there but not as they should stand, 0 when a thing is missing or cannot be recognised."
    ),
}
"""Those that a judge's option may name."""
_ALL = {**RUBRICS, SCORE_RUBRIC: "\n\n".join(half.lines() for half in HALVES)}


def rubric_text(rubric: str) -> str:
    """The text of a rubric; empty for an empty name."""
    if rubric and rubric not in _ALL:
        known = ", ".join(_ALL)
        raise PluginError(message("name-unknown", kind="rubric", name=rubric, known=known, meant=""))
    return _ALL.get(rubric, "")
