"""Scenes and prompts as tests: what should be seen comes in, whether it was leaves, in words and with the pictures.

Every test is a small run of the suite `scene` in a folder of its own: what was painted once is never painted again,
and tests of several processes do not wait for each other. Components stay loaded between tests. Knows no test runner.
"""

from __future__ import annotations

import shlex
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from salva.component_facts import rates_of, widened
from salva.core.judgements import CaseVerdict
from salva.core.run_spec import RunSpec
from salva.core.source import RunSource
from salva.core.verdict import Outcome
from salva.engine.executors.reusing import ReusingExecutor
from salva.engine.progress import SilentProgress
from salva.errors import LockedError, UsageError
from salva.messages import message
from salva.report.pair_lines import lines_of, one_line
from salva.results.headline import leading_verdicts
from salva.runs.pipeline import execute
from salva.runs.plans import make_plan
from salva.store.blobs import Blobs
from salva.store.queries import open_source

_SUITE = "scene"
_PATIENCE_S, _WAIT_S = 600.0, 0.2
"""How long another process may take that paints the same."""
_WORST_FIRST = (Outcome.FAIL, Outcome.ERROR, Outcome.UNDECIDED, Outcome.PASS)


@dataclass(frozen=True, slots=True, kw_only=True)
class SceneTestResult:
    """What came of a test."""

    outcome: Outcome
    """PASS: passed. FAIL: not. UNDECIDED: nobody could tell. ERROR: something broke."""
    told: str
    """For people: every pair that is not right, with its pictures and what was seen in them; empty for PASS."""
    directory: Path
    """The run, for `salva report`."""
    pictures: tuple[Path, ...]
    """Every picture, in the order of the wordings and then of the repeats."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SceneComponents:
    """Who paints and who looks, as the flags of `salva run` name them; empty leaves it to the default."""

    model: str = ""
    detector: str = ""
    reader: str = ""
    settings: Mapping[str, str] = field(default_factory=dict)


class SceneTests:
    """Runs scenes; close it when no more will come."""

    def __init__(self, folder: Path, parts: SceneComponents | None = None) -> None:
        self._folder, self._parts = folder, parts or SceneComponents()
        self._executor = ReusingExecutor()

    def try_scene(
        self, scene: str, *, law: str = "", prompt: str = "", repeats: int = 1, at_least: int | None = None
    ) -> SceneTestResult:
        """Paint a scene and judge it; with a law, also every other wording that the law proves.

        at_least: in how many of the repeats every picture must be right; in all of them unless said.
        """
        wanted = repeats if at_least is None else at_least
        if not 1 <= wanted <= repeats:
            raise UsageError(
                message(
                    "option-invalid",
                    name="at_least",
                    value=wanted,
                    wanted=f"from 1 to {repeats}, the number of repeats",
                )
            )
        own = {"suite.scene": scene, "suite.law": law, "suite.prompt": prompt}
        spec = make_plan(
            RunSpec.of(
                suite=_SUITE,
                models=(self._parts.model,) if self._parts.model else (),
                detector=self._parts.detector,
                reader=self._parts.reader,
                repeats=repeats,
                settings={**self._parts.settings, **{name: value for name, value in own.items() if value}},
            )
        )
        directory = self._folder / spec.directory_name()
        deadline = time.monotonic() + _PATIENCE_S
        while True:
            try:
                execute(spec, directory, SilentProgress(), executor=self._executor)
                break
            except LockedError:
                if time.monotonic() > deadline:
                    raise
                time.sleep(_WAIT_S)
        with open_source(directory) as source:
            return _tried(source, directory, repeats, wanted)

    def close(self) -> None:
        """Let the components go."""
        self._executor.shut_down()


def _tried(source: RunSource, directory: Path, repeats: int, wanted: int) -> SceneTestResult:
    records = source.records
    rates = rates_of(verdict.check for verdict in records.verdicts)
    by_model = leading_verdicts(records.cases, records.verdicts, rates, records.asked.check)
    judged = [judgement for group in by_model.values() for judgement in group]
    # Nothing may look right because nobody judged it.
    worst = [
        _worst([judgement for judgement in judged if judgement.verdict.repeat == repeat]) for repeat in range(repeats)
    ]
    n_right, n_fail = worst.count(Outcome.PASS), worst.count(Outcome.FAIL)
    if n_right >= wanted:
        outcome = Outcome.PASS
    elif repeats - n_fail < wanted:
        outcome = Outcome.FAIL
    else:
        outcome = Outcome.ERROR if Outcome.ERROR in worst else Outcome.UNDECIDED
    blobs = Blobs(directory)
    ids = dict.fromkeys(image_id for judgement in judged for image_id in judgement.verdict.images.values())
    told = "" if outcome is Outcome.PASS else "\n".join(_lines(judged, source, directory, (n_right, repeats, wanted)))
    return SceneTestResult(
        outcome=outcome, told=told, directory=directory, pictures=tuple(blobs.path_of(image_id) for image_id in ids)
    )


def _worst(judged: Sequence[CaseVerdict]) -> Outcome:
    outcomes = {judgement.verdict.outcome for judgement in judged} or {Outcome.ERROR}
    return next(outcome for outcome in _WORST_FIRST if outcome in outcomes)


def _lines(
    judged: Sequence[CaseVerdict], source: RunSource, directory: Path, counts: tuple[int, int, int]
) -> Iterator[str]:
    """How many repeats are right, then every pair that is not."""
    n_right, repeats, wanted = counts
    wrong = [judgement for judgement in judged if judgement.verdict.outcome is not Outcome.PASS]
    said = dict.fromkeys(
        text for judgement in wrong for text in (judgement.verdict.failure_types or (judgement.verdict.reason,)) if text
    )
    told = one_line(", ".join(said)) or "nothing judged it: no check applies with these parts"
    seldom = f" (right in {n_right} of {repeats} repeats, where {wanted} are wanted)" if repeats > 1 else ""
    yield f"{', '.join(source.records.models)}: {told}{seldom}"
    chosen = widened(source.records.asked)
    for judgement in wrong:
        yield from lines_of(judgement, source.images, directory, chosen)
    yield f"report: salva report {shlex.quote(str(directory))}"
