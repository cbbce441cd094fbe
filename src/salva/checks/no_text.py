"""Check: no image shows text that its prompt does not ask for.

Of a prompt without a formula only its own words count: a street has signs, and no caption says so. Readings come in,
and boxes where a prompt names what has text on it: that text is no fault, and without boxes the image of such a prompt
is passed over. Pure: no model, no disk, no clock.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from functools import lru_cache
from typing import ClassVar

from salva.checks.scenes import CARRIES_TEXT, READER, letters_of, mentioned, text_failure, unrequested_text
from salva.core.about import About
from salva.core.boxes import boxes_above
from salva.core.case import Case, Prompt
from salva.core.observation import Detections, Reading
from salva.core.options import WithoutOptions
from salva.core.protocols import Conclusion, ImageObservations, Need, Query
from salva.core.verdict import OPTICAL_CHARACTER, Outcome
from salva.english.mentions import mentioned_entities

_ASKING = frozenset(
    (
        *("text", "label", "labelled", "labeled", "caption", "title", "writing", "lettering"),
        *("diagram", "chart", "graph"),
    )
)
"""Words of prompts that ask for text without quoting it."""
_CARRIERS = CARRIES_TEXT.union(
    ("blackboard", "chalkboard", "whiteboard", "screen", "monitor", "shop", "store", "package", "jersey"),
    ("thermometer", "ruler", "compass", "dial", "gauge", "scale"),
)

_LONG_WORD = 4
"""Letters of a word that is hardly in an image by accident."""


class NoText(WithoutOptions):
    """Check: every image is without text that its prompt does not ask for."""

    version: ClassVar[str] = "1"
    about: ClassVar[About] = About(
        needs_roles=("reader",),
        has_control=True,
        failure_types={OPTICAL_CHARACTER: "The image shows text that the prompt does not ask for."},
    )

    def applies(self, case: Case) -> bool:
        """Whether some prompt asks for no text."""
        return any(_named(prompt.text).isdisjoint(_ASKING) for prompt in case.prompts)

    def needs(
        self, case: Case, roles: Collection[str], observations: Mapping[str, ImageObservations]
    ) -> Sequence[Need]:
        """The text in every image, and the boxes that other checks ask for where a prompt names what carries text."""
        boxes = _boxes_query(case)
        needs = []
        for prompt in case.prompts:
            named = _named(prompt.text)
            if not named:
                needs.append(Need(role=prompt.role, query=READER))
            elif named.issubset(boxes.labels) and "detector" in roles:
                needs += [Need(role=prompt.role, query=query) for query in (READER, boxes)]
        return needs

    def judge(self, case: Case, observations: Mapping[str, ImageObservations]) -> Conclusion:
        """Text that nobody asked for fails the case; an image that nobody could read leaves it undecided."""
        query = _boxes_query(case)
        failures = []
        problem = ""
        for prompt in case.prompts:
            named, seen = _named(prompt.text), observations[prompt.role].seen
            reading, found = seen.get(READER), seen.get(query)
            if named and not isinstance(found, Detections):
                continue
            boxes = boxes_above(found, None) if isinstance(found, Detections) else ()
            carriers = [box.box for box in boxes if box.name_for(query.labels) in named]
            if not isinstance(reading, Reading) or reading.problem:
                problem = f"the text in the image of prompt {prompt.role!r} was not read"
            elif text := _counted(unrequested_text(reading, prompt.text, carriers), prompt):
                failures.append(text_failure(prompt.role, text))
        if failures:
            types = (OPTICAL_CHARACTER,)
            return Conclusion(outcome=Outcome.FAIL, failure_types=types, failures=tuple(failures))
        return Conclusion(outcome=Outcome.UNDECIDED if problem else Outcome.PASS, reason=problem)


def _boxes_query(case: Case) -> Query:
    """What other checks ask of the detector too, so that nothing is observed twice."""
    entities = {name for prompt in case.prompts for name in prompt.entities} or mentioned(case).entities
    return Query(role="detector", labels=tuple(sorted(entities)))


def _counted(texts: Sequence[str], prompt: Prompt) -> Sequence[str]:
    """The texts that are faults: all where a formula says what the image shows, else those that repeat the prompt."""
    if prompt.formula:
        return texts
    words = [letters_of(word) for word in prompt.text.split()]
    long = {word for word in words if len(word) >= _LONG_WORD}
    shown = [letters_of(text) for text in texts]
    is_said = any(word in letters for letters in shown for word in long)
    return texts if is_said or any(len(part) >= _LONG_WORD and part in "".join(words) for part in shown) else ()


@lru_cache(maxsize=4096)
def _named(prompt: str) -> frozenset[str]:
    """What a prompt names that has text on it or asks for text."""
    known = _CARRIERS | _ASKING
    named = mentioned_entities(prompt, known)
    return frozenset(name for name in named if name in known or name.rpartition(" ")[2] in known)
