"""Judge contrast: the judge is asked about images of other prompts what it accepted about the right ones.

Units come in as they are concluded; at the end of a run a few control questions are asked, inside every limit, and
their counts are kept with the run. What the counts mean is in stats/contrast.py.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from itertools import islice
from typing import NamedTuple, TypeVar

from salva.core.case import Case
from salva.core.fingerprint import Json, fingerprint
from salva.core.image import ImageRef
from salva.core.observation import Observation
from salva.core.probe import Probe, Probing, accepts
from salva.engine.flow import Flow
from salva.engine.run_components import ActorsByRole, AppliedCheck
from salva.engine.units import Unit
from salva.judging.waves import Missing, Waves
from salva.results.rates import named_in
from salva.stats.contrast import ControlCounts, controls_wanted
from salva.store.records import CONTRAST
from salva.store.sqlite import RunStore

_MOST_KEPT = 400
"""So many questions and images of each model stay in memory; far more than are used."""
_T = TypeVar("_T")
_WORD = re.compile(r"[a-z]{4,}")
_COMMON = frozenset(
    (
        *(
            "image",
            "picture",
            "photo",
            "there",
            "does",
            "have",
            "with",
            "this",
            "that",
            "shown",
            "show",
            "what",
            "many",
        ),
        *("which", "where", "color", "colour", "left", "right", "above", "below", "case", "neither", "either", "both"),
    )
)
"""Words that two prompts may share and still be about different things."""


class _AcceptedQuestion(NamedTuple):
    """A question that a judge accepted about the right image."""

    probe: Probe
    actors_by_role: ActorsByRole
    subject: frozenset[str]


class _ShownImage(NamedTuple):
    """An image that controls may be asked about."""

    image: ImageRef
    subject: frozenset[str]


@dataclass(slots=True)
class _JudgeTally:
    """What one judge answered about the images of one model."""

    accepted: dict[str, _AcceptedQuestion] = field(default_factory=dict)
    """By rank."""
    n_own: int = 0
    n_accepted: int = 0


class JudgeContrast:
    """Collects what judges accepted, and asks the control questions when all else is done."""

    def __init__(self, store: RunStore) -> None:
        self._store = store
        self._seen: dict[tuple[str, str], _JudgeTally] = {}
        self._shown: dict[str, dict[str, _ShownImage]] = {}
        self._n_images: Counter[str] = Counter()

    def concluded(self, unit: Unit) -> None:
        """Take note of a unit whose questions are all answered."""
        # Only the primary check makes results, and answers cost money.
        primary = unit.checks[0][0].part.label
        judged = [(applied, waves) for applied, waves in unit.checks if applied.part.label == primary]
        judged = [one for one in judged if one[0].asks_judge]
        if not judged:
            return
        subject = subject_of(unit.case)
        for image in _images(waves[repeat] for _, waves in judged[:1] for repeat in range(unit.repeats)):
            self._n_images[unit.model.label] += 1
            _keep(
                self._shown.setdefault(unit.model.label, {}), fingerprint([image.image_id]), _ShownImage(image, subject)
            )
        for applied, waves in judged:
            for repeat, one in enumerate(waves):
                self._note(unit, applied, one, repeat, subject)

    def _note(self, unit: Unit, applied: AppliedCheck, waves: Waves, repeat: int, subject: frozenset[str]) -> None:
        if not isinstance(applied.part.check, Probing) or waves.undecidable:
            return
        seen = self._seen.setdefault((unit.model.label, applied.actors_by_role["judge"].label), _JudgeTally())
        for probe in applied.part.check.probes(waves.case):
            sight = waves.sight(probe.role) if probe.role in waves.images else None
            is_accepted = (
                None if sight is None or isinstance(sight, Missing) else accepts(probe, sight.seen.get(probe.query))
            )
            if is_accepted is None:
                continue
            seen.n_own += 1
            seen.n_accepted += is_accepted
            if is_accepted:
                rank = fingerprint([unit.case.case_id, repeat, probe.role, probe.query.text, [*probe.query.questions]])
                _keep(seen.accepted, rank, _AcceptedQuestion(probe, applied.actors_by_role, subject))

    def finish(self, flow: Flow) -> None:
        """Ask the control questions of every judge about every model, and keep the counts."""
        kept: dict[str, dict[str, Json]] = {}
        for (model, judge), seen in self._seen.items():
            wanted = list(self._controls(model, seen, controls_wanted(self._n_images[model])))
            found = flow.observe_stored(
                [(asked.actors_by_role, shown.image, asked.probe.query) for asked, shown in wanted]
            )
            answers = [
                accepts(asked.probe, outcome if isinstance(outcome, Observation) else None)
                for (asked, _), outcome in zip(wanted, found, strict=True)
            ]
            counts = ControlCounts(
                n_controls=sum(answer is not None for answer in answers),
                n_accepted=sum(answer is True for answer in answers),
                n_own=seen.n_own,
                n_as_expected=seen.n_accepted,
                has_accepted=bool(seen.n_accepted) or any(answers),
            )
            kept.setdefault(model, {})[judge] = asdict(counts)
        if kept:
            noted: dict[str, Json] = {model: {**judges} for model, judges in kept.items()}
            self._store.set_meta(CONTRAST, noted)

    def _controls(
        self, model: str, seen: _JudgeTally, n_wanted: int
    ) -> Iterator[tuple[_AcceptedQuestion, _ShownImage]]:
        """Accepted questions, each with an image of another prompt that shares nothing with it."""
        shown = _ranked(self._shown.get(model, {}))
        pairs = (
            (asked, other)
            for number, asked in enumerate(_ranked(seen.accepted))
            if (other := _first_apart(asked, shown, number)) is not None
        )
        yield from islice(pairs, n_wanted)


def _first_apart(asked: _AcceptedQuestion, shown: Sequence[_ShownImage], start: int) -> _ShownImage | None:
    """The first image from a place on that has nothing to do with a question."""
    turned = (shown[(start + step) % len(shown)] for step in range(len(shown)))
    return next((one for one in turned if not one.subject & asked.subject), None)


def subject_of(case: Case) -> frozenset[str]:
    """What a case is about: the entities of its formulas; without formulas the words of its prompts and questions."""
    formulas = tuple(prompt.formula for prompt in case.prompts)
    if all(formulas) and (named := named_in(formulas)):
        # The words of a template are in every prompt, so no two cases would be apart.
        return frozenset(named)
    texts = [
        text for prompt in case.prompts for text in (prompt.text, *(question.text for question in prompt.questions))
    ]
    return frozenset((case.cluster or case.case_id,)).union(*map(_words, texts))


def _words(text: str) -> frozenset[str]:
    return frozenset(word.removesuffix("s") for word in _WORD.findall(text.casefold()) if word not in _COMMON)


def _images(waves: Iterable[Waves]) -> Iterator[ImageRef]:
    for one in waves:
        yield from (image for image in one.images.values() if isinstance(image, ImageRef))


def _keep(kept: dict[str, _T], rank: str, one: _T) -> None:
    """Keep those of the highest ranks: the same ones whatever order they come in."""
    kept[rank] = one
    if len(kept) > 2 * _MOST_KEPT:
        for low in sorted(kept, reverse=True)[_MOST_KEPT:]:
            del kept[low]


def _ranked(kept: Mapping[str, _T]) -> list[_T]:
    return [kept[rank] for rank in sorted(kept, reverse=True)[:_MOST_KEPT]]
