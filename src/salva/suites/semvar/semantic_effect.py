"""Check: the image changes when the meaning does and stays when it stays, after SemVarBench.

Takes a judge's seven scores of three images against their own and each other's prompts, gives S-bar, the two
gammas and kappa, and says of every wrong image in which of the published ways it is wrong. Kappa counts changes only:
a model that always draws the other meaning has the highest one, so images are held against their own texts besides.
Pure. A score that could not be read makes the case UNDECIDED, because a zero would be a guess.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar

from salva.checks.asking import AskingOptions, with_checks, with_notes
from salva.checks.scenes import mentioned
from salva.core.about import About
from salva.core.boxes import scene_of
from salva.core.case import Case, Prompt
from salva.core.observation import Answer, Detections, Vector
from salva.core.options import option
from salva.core.probe import Probe
from salva.core.protocols import Conclusion, ImageObservations, Need, Query
from salva.core.score_rubric import HIGHEST, SCORE_RUBRIC
from salva.core.scoring import Pair, pair_name
from salva.core.verdict import Failure, Outcome, failure_types_of
from salva.stats.similarity import cosine
from salva.suites.semvar.effect import CHANGED_AT, PAIRS, Effect, effect
from salva.suites.semvar.relation_errors import (
    RELATION_ERRORS,
    OwnScore,
    can_tell,
    failure_from_scene,
    failure_from_scores,
)
from salva.suites.semvar.rows import ROLES, bare_sentence
from salva.suites.semvar.scoring import SCORING
from salva.suites.semvar.token_words import token_query

INSENSITIVE = "insensitive"
OVERSENSITIVE = "oversensitive"
OTHER_MEANING = "other-meaning"
_OTHER_TEXT = {"a": "pv", "pv": "a"}
"""Image to the text of the other meaning that it is scored with. Of pi there is none among the seven scores: where
kappa is high, its image is like that of a, which means the same."""
_ROUNDING = 1e-9


@dataclass(frozen=True, slots=True, kw_only=True)
class SemanticEffectOptions(AskingOptions):
    """How seven scores become a verdict."""

    threshold: float = option(0.5, "Kappa must be above it to PASS.", least=-2, most=2, alone=True)
    margin: float = option(
        0.05, "How much higher an image may score with the text of the other meaning.", least=0, most=1
    )
    changed_at: ClassVar[float] = CHANGED_AT
    role_margin: ClassVar[float] = 0.1
    tokens: bool = option(False, "Ask about every word too.")


class SemanticEffect:
    """Check: meaning, and nothing else, changes the image."""

    version: ClassVar[str] = "3"
    about: ClassVar[About] = About(
        needs_roles=("judge",),
        failure_types={
            **RELATION_ERRORS,
            OTHER_MEANING: "Image changes with the meaning and fits the text of the other one better.",
            INSENSITIVE: "Meaning changes, image does not.",
            OVERSENSITIVE: "Meaning stays, image changes.",
        },
        scoring=SCORING,
    )
    Options = SemanticEffectOptions

    def __init__(self, options: SemanticEffectOptions) -> None:
        self._options = options

    def applies(self, case: Case) -> bool:
        """Whether the case has an anchor and its two permutations."""
        return {prompt.role for prompt in case.prompts} == set(ROLES)

    def needs(
        self, case: Case, roles: Collection[str], observations: Mapping[str, ImageObservations]
    ) -> Sequence[Need]:
        """Seven scores; boxes where the formulas say what to look for; the texts' vectors where somebody makes them."""
        needs = [Need(role=image, query=score_query(case.prompt(text))) for text, image in PAIRS]
        if "detector" in roles and _has_formulas(case):
            needs += [Need(role=role, query=mentioned(case).query) for role in ROLES]
        if "embedder" in roles:
            needs += [Need(role="a", query=text_query(case.prompt(role))) for role in ROLES]
        if self._options.tokens:
            asked = ((role, token_query(case.prompt(role))) for role in ROLES)
            needs += [Need(role=role, query=query) for role, query in asked if query.questions]
        return with_checks(needs, case, roles, self._options)

    def probes(self, case: Case) -> Sequence[Probe]:
        """The score of every image with its own text."""
        return [Probe(role=role, query=score_query(case.prompt(role))) for role in ROLES]

    def judge(self, case: Case, observations: Mapping[str, ImageObservations]) -> Conclusion:
        """Kappa above the threshold and no image of the other meaning; else every wrong image says in which way."""
        return with_notes(self._judge(case, observations), observations)

    def _judge(self, case: Case, observations: Mapping[str, ImageObservations]) -> Conclusion:
        given = {
            (text, image): _halves(observations[image].seen.get(score_query(case.prompt(text))))
            for text, image in PAIRS
        }
        return self.conclude(case, given, observations)

    def conclude(
        self, case: Case, given: Mapping[Pair, tuple[float, float] | str], observations: Mapping[str, ImageObservations]
    ) -> Conclusion:
        """The same from scores alone, from any source.

        given: by (text, image) objects and relations, 0 to 50 each, or why there are none.
        observations: whatever else was seen of the images; empty where nobody but the scorer looked.
        """
        own: dict[str, OwnScore] = {}
        totals: dict[Pair, float] = {}
        for text, image in PAIRS:
            halves = given[text, image]
            if isinstance(halves, str):
                reason = f"no score of image {image!r} with text {text!r}: {halves}"
                return Conclusion(outcome=Outcome.UNDECIDED, reason=reason)
            totals[text, image] = sum(halves) / (2 * HIGHEST)
            if text == image:
                own[image] = OwnScore(objects=halves[0], relations=halves[1])
        measured = effect(totals)
        scores = _scores(measured, totals, own)
        scores |= _text_distances(case, observations)
        scores |= _token_accuracy(case, observations) if self._options.tokens else {}
        if _is_one_sentence(case):
            reason = "T_pv and T_pi are equal"
            return Conclusion(outcome=Outcome.UNDECIDED, scores=scores, reason=reason)
        is_effect = measured.kappa > self._options.threshold
        failures = self._other_meanings(case, totals) if is_effect else self._wrong_changes(measured)
        if not failures:
            return Conclusion(outcome=Outcome.PASS, scores=scores)
        failures = [*self._wrong_images(case, observations, own, totals), *failures]
        return Conclusion(
            outcome=Outcome.FAIL,
            failure_types=failure_types_of(failures, self.about.failure_types),
            failures=tuple(failures),
            scores=scores,
        )

    def _other_meanings(self, case: Case, totals: Mapping[Pair, float]) -> list[Failure]:
        """The images that fit the text of the other meaning better than their own."""
        failures = []
        for image, text in _OTHER_TEXT.items():
            own, other = totals[image, image], totals[text, image]
            # Judges score in steps, so a lead of exactly the margin is common.
            if other - own > self._options.margin + _ROUNDING:
                wanted, shown = case.prompt(image).text, case.prompt(text).text
                failures.append(
                    Failure(
                        failure_type=OTHER_MEANING,
                        role=image,
                        message=f"scores {other:.2f} with {shown!r}, {own:.2f} with its own text",
                        expected=wanted,
                        seen=shown,
                    )
                )
        return failures

    def _wrong_images(
        self,
        case: Case,
        observations: Mapping[str, ImageObservations],
        own: Mapping[str, OwnScore],
        totals: Mapping[Pair, float],
    ) -> list[Failure]:
        """What is wrong with each image by its own prompt: from boxes and formula, else from scores."""
        failures: list[Failure | None] = []
        for prompt in case.prompts:
            other = case.prompt("a" if prompt.role == "pv" else "pv")
            boxes = _seen(observations, prompt.role, mentioned(case).query) if _has_formulas(case) else None
            if isinstance(boxes, Detections) and can_tell(prompt, other):
                scene = scene_of(boxes)
                failures.append(failure_from_scene(prompt, other, scene))
            else:
                swapped = totals.get((other.role, prompt.role))
                total = totals[prompt.role, prompt.role]
                margin = self._options.role_margin
                failures.append(failure_from_scores(prompt, own[prompt.role], total, swapped, margin))
        return [failure for failure in failures if failure is not None]

    def _wrong_changes(self, measured: Effect) -> list[Failure]:
        """Which of the two steps went wrong; where neither plainly did, the one that is further from right."""
        limit = self._options.changed_at
        is_insensitive, is_oversensitive = measured.gamma_w <= limit, measured.gamma_wo > limit
        if not is_insensitive and not is_oversensitive:
            is_insensitive = 1 - measured.gamma_w >= measured.gamma_wo
            is_oversensitive = not is_insensitive
        steps = (
            (is_insensitive, INSENSITIVE, f"gamma_w is {measured.gamma_w:.2f}, ideally 1", measured.gamma_w),
            (is_oversensitive, OVERSENSITIVE, f"gamma_wo is {measured.gamma_wo:.2f}, ideally 0", measured.gamma_wo),
        )
        return [
            Failure(failure_type=kind, role="", message=message, seen=f"{gamma:.2f}")
            for is_wrong, kind, message, gamma in steps
            if is_wrong
        ]


def score_query(prompt: Prompt) -> Query:
    """How a judge is asked for S(T, I)."""
    formulas = (prompt.formula,) if prompt.formula else ()
    return Query(role="judge", kind="score", text=prompt.text, rubric=SCORE_RUBRIC, formulas=formulas)


def text_query(prompt: Prompt) -> Query:
    """How an embedder is asked for the vector of a text."""
    return Query(role="embedder", text=prompt.text)


def _has_formulas(case: Case) -> bool:
    return all(prompt.formula for prompt in case.prompts)


def _is_one_sentence(case: Case) -> bool:
    changed, kept = (bare_sentence(case.prompt(role).text) for role in ("pv", "pi"))
    return bool(changed) and changed == kept


def _seen(observations: Mapping[str, ImageObservations], role: str, query: Query) -> object:
    return observations[role].seen.get(query) if role in observations else None


def _halves(answer: object) -> tuple[float, float] | str:
    """The two halves of a score, or why there are none."""
    if not isinstance(answer, Answer):
        return "no reply of the judge"
    if answer.problem:
        return answer.problem
    halves = [answer.scores.get(name) for name in ("objects", "relations")]
    if any(half is None or not 0 <= half <= HIGHEST for half in halves):
        return f"expected objects and relations from 0 to 50, got {dict(answer.scores)}"
    objects, relations = (half for half in halves if half is not None)
    return objects, relations


def _scores(measured: Effect, totals: Mapping[Pair, float], own: Mapping[str, OwnScore]) -> dict[str, float]:
    scores = {"kappa": measured.kappa, "gamma_w": measured.gamma_w, "gamma_wo": measured.gamma_wo}
    scores["alignment"] = measured.alignment
    scores |= {pair_name(text, image): total for (text, image), total in totals.items()}
    for role, halves in own.items():
        scores |= {f"objects_{role}": halves.objects, f"relations_{role}": halves.relations}
    return scores


def _text_distances(case: Case, observations: Mapping[str, ImageObservations]) -> dict[str, float]:
    """1 - cosine of the anchor with each permutation, where an embedder made vectors of all three."""
    vectors = {role: _seen(observations, "a", text_query(case.prompt(role))) for role in ROLES}
    values = {role: vector.values for role, vector in vectors.items() if isinstance(vector, Vector)}
    if len(values) < len(ROLES):
        return {}
    return {f"text_distance_{role}": 1 - cosine(values["a"], values[role]) for role in ("pv", "pi")}


def _token_accuracy(case: Case, observations: Mapping[str, ImageObservations]) -> dict[str, float]:
    """The part of the words of meaning that a judge found in each image; a reply nobody could read gives none."""
    shares: dict[str, float] = {}
    for prompt in case.prompts:
        answer = _seen(observations, prompt.role, token_query(prompt))
        if isinstance(answer, Answer) and answer.scores and not answer.problem:
            shares[f"tokens_{prompt.role}"] = sum(grade >= 0.5 for grade in answer.scores.values()) / len(answer.scores)
    return shares
