"""Case, check and observations to a conclusion: the check is asked what it needs until it needs no more.

Needs come in waves, because a check may have a next one only when the last is answered. The engine drives it as answers
come in, the selftest and others at once through `conclude`. What failed becomes ERROR with its reason. Pure.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field, replace
from typing import TypeVar

from salva.core.case import Case
from salva.core.foreign_errors import describe_error, translate_errors
from salva.core.image import ImageRef
from salva.core.observation import Observation
from salva.core.protocols import Check, Conclusion, ImageObservations, Need, Query
from salva.core.verdict import Outcome
from salva.errors import PluginError
from salva.messages import message

_N_WAVES = 100
_T = TypeVar("_T")


@dataclass(frozen=True, slots=True, kw_only=True)
class Missing:
    """An image, an observation or a conclusion that there is none of, and why."""

    reason: str
    is_final: bool = False
    """Whether trying again needs the user's word (a refusal)."""
    is_refused_image: bool = False
    """Whether the model refused to generate an image."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Concluded:
    """What came of a check over some images."""

    conclusion: Conclusion
    images: Mapping[str, str]
    """Prompt role to image id; an image that was not generated is not here."""
    is_retryable: bool = False
    """Whether trying again could change it; never for anything but ERROR."""
    is_refused: bool = False
    """Whether it is an ERROR because the model refused to generate an image."""


@dataclass(slots=True, kw_only=True, eq=False)
class Waves:
    """One check over the images of one case: what it asks next, what it was answered, what it concludes."""

    case: Case
    check: Check
    label: str
    """What the check is called."""
    roles: Collection[str]
    """Who can be asked."""
    first_observations: tuple[Need, ...] = ()
    """What the check asks before anything is seen: each is asked as soon as its image is there."""
    undecidable: str = ""
    """Why nobody can tell whatever the images show; nothing is asked then, and no image is needed."""
    takes_gaps: bool = False
    """Whether the check is asked and heard about the images that are there, where others are missing."""
    images: dict[str, ImageRef | Missing] = field(default_factory=dict)
    """Prompt role to image, as they arrive."""
    _answers: dict[str, dict[Query, Observation | Missing | None]] = field(default_factory=dict)
    """Prompt role to what was asked about its image, in the order of asking."""
    _n_waves: int = 0
    _is_over: bool = False
    _problem: Missing | None = None
    """Why nothing can be concluded."""

    def show(self, role: str, image: ImageRef | Missing) -> list[Need]:
        """Put an image in its place; what can be asked about it at once."""
        self.images[role] = image
        if isinstance(image, Missing) or self.undecidable:
            return []
        return self._asked([look for look in self.first_observations if look.role == role])

    def next_needs(self) -> list[Need]:
        """The next wave, once all images are shown and every look is answered; empty when the check has no more."""
        if self._is_over or self.undecidable:
            return []
        looks = self._wanted()
        if isinstance(looks, Missing):
            self._problem, looks = looks, []
        self._is_over = not looks
        return self._asked(looks)

    def answer(self, look: Need, answer: Observation | Missing) -> None:
        """What came of a look."""
        self._answers[look.role][look.query] = answer

    def sight(self, role: str) -> ImageObservations | Missing:
        """What was seen of one prompt's image."""
        image = self.images[role]
        if isinstance(image, Missing):
            reason = f"image {role!r} was not generated: {image.reason}"
            return Missing(reason=reason, is_final=image.is_final, is_refused_image=image.is_final)
        answers = self._answers.get(role, {})
        assert None not in answers.values()
        lost = (answer for answer in answers.values() if isinstance(answer, Missing))
        return next(lost, None) or self._seen(role, image)

    def _seen(self, role: str, image: ImageRef) -> ImageObservations:
        """What was seen of an image, whatever else could not be told."""
        answers = self._answers.get(role, {}).items()
        return ImageObservations(
            image=image, seen={query: answer for query, answer in answers if isinstance(answer, Observation)}
        )

    def judged(self, observations: Mapping[str, ImageObservations], case: Case | None = None) -> Conclusion | Missing:
        """What the check makes of any observations in its places; case: in another light than this one."""
        return self._spoken(lambda: self.check.judge(case or self.case, observations))

    def conclude(self) -> Concluded:
        """What it all comes to, once no wave is left."""
        images = {
            prompt.role: image.image_id
            for prompt in self.case.prompts
            if isinstance(image := self.images.get(prompt.role), ImageRef)
        }
        if self.undecidable:
            return concluded(Conclusion(outcome=Outcome.UNDECIDED, reason=self.undecidable), images)
        observations = self._problem or self._observations()
        conclusion = observations if isinstance(observations, Missing) else self.judged(observations)
        gap = self._gap() if self.takes_gaps else None
        if gap is None or isinstance(conclusion, Missing):
            return concluded(conclusion, images)
        # Its scores stay.
        failed = replace(conclusion, outcome=Outcome.ERROR, failure_types=(), failures=(), reason=gap.reason)
        return replace(concluded(gap, images), conclusion=failed)

    def _observations(self) -> dict[str, ImageObservations] | Missing:
        observations: dict[str, ImageObservations] = {}
        for prompt in self.case.prompts:
            whole, image = self.sight(prompt.role), self.images[prompt.role]
            if isinstance(whole, Missing) and not self.takes_gaps:
                return whole
            if not isinstance(image, Missing):
                observations[prompt.role] = self._seen(prompt.role, image)
        return observations

    def _gap(self) -> Missing | None:
        """The first image or observation that is missing."""
        observations = (self.sight(prompt.role) for prompt in self.case.prompts)
        return next((sight for sight in observations if isinstance(sight, Missing)), None)

    def _wanted(self) -> list[Need] | Missing:
        """What the check asks that it has not asked yet."""
        observations = self._observations()
        if isinstance(observations, Missing):
            return observations
        looks = self._spoken(lambda: self.check.needs(self.case, self.roles, observations))
        if isinstance(looks, Missing):
            return looks
        new = [look for look in looks if look.query not in self._answers.get(look.role, ())]
        for look in new:
            if look.query.role not in self.roles or look.role not in observations:
                raise PluginError(message("check-need-unknown", check=self.label, need=repr(look)))
        self._n_waves += 1
        if new and self._n_waves > _N_WAVES:
            raise PluginError(message("check-endless", check=self.label, n=_N_WAVES))
        return new

    def _asked(self, looks: list[Need]) -> list[Need]:
        for look in looks:
            self._answers.setdefault(look.role, {})[look.query] = None
        return looks

    def _spoken(self, call: Callable[[], _T]) -> _T | Missing:
        """What the check says; one that breaks fails this conclusion and no other."""
        try:
            with translate_errors(lambda error: _Broke(f"the check {self.label!r} failed: {describe_error(error)}")):
                return call()
        except _Broke as error:
            return Missing(reason=str(error))


class _Broke(Exception):
    """A check raised something of its own."""


def concluded(conclusion: Conclusion | Missing, images: Mapping[str, str]) -> Concluded:
    """A conclusion about some images; ERROR where there is none."""
    if isinstance(conclusion, Missing):
        return Concluded(
            conclusion=Conclusion(outcome=Outcome.ERROR, reason=conclusion.reason),
            images=images,
            is_retryable=not conclusion.is_final,
            is_refused=conclusion.is_refused_image,
        )
    return Concluded(conclusion=conclusion, images=images)


def conclude(waves: Waves, look: Callable[[Need], Observation | Missing]) -> Concluded:
    """The conclusion of a check whose images are all there, for whoever can answer a look on the spot."""
    while looks := waves.next_needs():
        for wanted in looks:
            waves.answer(wanted, look(wanted))
    return waves.conclude()
