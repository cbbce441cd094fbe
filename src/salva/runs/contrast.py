"""Judge contrast: the judge is asked about images of other prompts what it accepted about the right ones.

Units come in as they are concluded; at the end of a run a few control questions are asked, inside every limit, and
their counts are kept with the run. What the counts mean is in stats/contrast.py.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from itertools import chain, islice
from typing import NamedTuple, TypeVar

from salva.core.case import Case
from salva.core.fingerprint import Json, fingerprint
from salva.core.image import ImageRef
from salva.core.observation import Observation
from salva.core.probe import Probe, Probing, accepts
from salva.engine.flow import Flow
from salva.engine.run_components import ActorsByRole, AppliedCheck
from salva.engine.units import Unit
from salva.english.wordlists import words as words_of
from salva.judging.waves import Missing, Waves
from salva.results.rates import named_in
from salva.stats.contrast import FEWEST_CONTROLS, ControlCounts, controls_wanted
from salva.store.records import CONTRAST
from salva.store.sqlite import RunStore

_MOST_KEPT = 400
"""So many questions and images of each model stay in memory; far more than are used."""
_MOST_IMAGES = 3
"""An accepted question is asked about so many images at most, where few were accepted."""
_T = TypeVar("_T")
_WORD = re.compile(r"[^\W\d_]{2,}")
_COMMON = words_of("words", "small")
"""Words that two prompts may share and still be about different things."""


class _Subject(NamedTuple):
    """What a case is about."""

    names: frozenset[str]
    """The entities of its formulas; without formulas its group."""
    words: frozenset[str]
    """Without formulas: those of its prompts."""


class _Common(NamedTuple):
    """Words that most cases of a run share, as those of a template: they say nothing about one of them."""

    of_prompts: frozenset[str]
    of_questions: frozenset[str]


class _AcceptedQuestion(NamedTuple):
    """A question that a judge accepted about the right image."""

    probe: Probe
    actors_by_role: ActorsByRole
    case_id: str
    subject: _Subject


class _ShownImage(NamedTuple):
    """An image that controls may be asked about."""

    image: ImageRef
    subject: _Subject


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
        subject = _subject_of(unit.case)
        for image in _images(waves[repeat] for _, waves in judged[:1] for repeat in range(unit.repeats)):
            self._n_images[unit.model.label] += 1
            _keep(
                self._shown.setdefault(unit.model.label, {}), fingerprint([image.image_id]), _ShownImage(image, subject)
            )
        for applied, waves in judged:
            for repeat, one in enumerate(waves):
                self._note(unit, applied, one, repeat, subject)

    def _note(self, unit: Unit, applied: AppliedCheck, waves: Waves, repeat: int, subject: _Subject) -> None:
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
                _keep(seen.accepted, rank, _AcceptedQuestion(probe, applied.actors_by_role, unit.case.case_id, subject))

    def finish(self, flow: Flow) -> None:
        """Ask the control questions of every judge about every model, and keep the counts."""
        kept: dict[str, dict[str, Json]] = {}
        for (model, judge), seen in self._seen.items():
            wanted = self._controls(model, seen)[: controls_wanted(self._n_images[model])]
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

    def _controls(self, model: str, seen: _JudgeTally) -> list[tuple[_AcceptedQuestion, _ShownImage]]:
        """Accepted questions, each with an image of another prompt that shares nothing with it; few with several."""
        shown, accepted = _ranked(self._shown.get(model, {})), _ranked(seen.accepted)
        common = _Common(_in_most([one.subject.words for one in shown]), _in_most(_words_by_case(accepted)))
        apart = [
            list(islice(_apart(asked, shown, number, common), _MOST_IMAGES)) if _tells(asked, common) else []
            for number, asked in enumerate(accepted)
        ]
        first, *more = (
            [(asked, others[turn]) for asked, others in zip(accepted, apart, strict=True) if turn < len(others)]
            for turn in range(_MOST_IMAGES)
        )
        return first + list(chain(*more))[: max(0, FEWEST_CONTROLS - len(first))]


def _words_by_case(accepted: Iterable[_AcceptedQuestion]) -> Collection[frozenset[str]]:
    by_case: dict[str, frozenset[str]] = {}
    for asked in accepted:
        by_case[asked.case_id] = by_case.get(asked.case_id, frozenset()) | _asked_words(asked)
    return by_case.values()


def _in_most(sets: Collection[frozenset[str]]) -> frozenset[str]:
    """The words of more than half of these."""
    counted = Counter(word for words in sets for word in words)
    return frozenset(word for word, n in counted.items() if 2 * n > len(sets))


def _tells(asked: _AcceptedQuestion, common: _Common) -> bool:
    """Whether a question is about its own case: what is asked of most images may be right for all of them."""
    words = _asked_words(asked)
    return bool(words - common.of_questions or words & _words(*asked.subject.names))


def _apart(
    asked: _AcceptedQuestion, shown: Sequence[_ShownImage], start: int, common: _Common
) -> Iterator[_ShownImage]:
    """The images from a place on that have nothing to do with a question."""
    own = _telling(asked.subject, common)
    turned = (shown[(start + step) % len(shown)] for step in range(len(shown)))
    return (one for one in turned if not _telling(one.subject, common) & own)


def _telling(subject: _Subject, common: _Common) -> frozenset[str]:
    return subject.names | (subject.words - common.of_prompts)


def _subject_of(case: Case) -> _Subject:
    """Questions are left out: their words are those of the prompt, or of a template."""
    formulas = tuple(prompt.formula for prompt in case.prompts)
    if all(formulas) and (named := named_in(formulas)):
        return _Subject(frozenset(named), frozenset())
    group = frozenset((case.cluster or case.case_id,))
    return _Subject(group, _words(*(prompt.text for prompt in case.prompts)))


def _asked_words(asked: _AcceptedQuestion) -> frozenset[str]:
    return _words(asked.probe.query.text, *asked.probe.query.questions)


def _words(*texts: str) -> frozenset[str]:
    found = (word for text in texts for word in _WORD.findall(text.casefold()) if word not in _COMMON)
    return frozenset(word.removesuffix("s") for word in found)


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
