"""Scenes and prompts as tests: what an image must show comes in; whether it does goes out, in words and with images.

Every test is a small run of the suite `scene` in a folder of its own: no image is generated twice, and tests of several
processes do not wait for each other. Components stay loaded between tests. Knows no test runner.
"""

from __future__ import annotations

import shlex
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from salva.component_facts import widened
from salva.core.result import Result
from salva.core.run_spec import RunSpec
from salva.core.source import RunSource
from salva.core.verdict import Outcome
from salva.engine.executors.reusing import ReusingExecutor
from salva.engine.progress import SilentProgress
from salva.errors import LockedError, UsageError
from salva.messages import message
from salva.report.pair_lines import lines_of, one_line
from salva.run_results import results_of_run
from salva.runs.pipeline import execute
from salva.runs.plans import make_plan
from salva.store.blobs import Blobs
from salva.store.queries import open_source

_SUITE = "scene"
_PATIENCE_S, _WAIT_S = 600.0, 0.2
"""How long another process may take that generates the same images."""
_WORST_FIRST = (Outcome.FAIL, Outcome.ERROR, Outcome.UNDECIDED, Outcome.PASS)


@dataclass(frozen=True, slots=True, kw_only=True)
class SceneTestResult:
    """What came of a test."""

    outcome: Outcome
    text: str
    """For people: every pair that is not right, with its images and what was seen in them; empty for PASS."""
    directory: Path
    """The run, for `salva report`."""
    images: tuple[Path, ...]
    """Every image, in the order of the wordings and then of the repeats."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SceneComponents:
    """Model and observers, as the flags of `salva run` name them; empty for the default."""

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
        """Generate a scene and judge it; with a law, also every other wording that the law proves.

        at_least: in how many of the repeats every image must be right; in all of them unless given.
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
    results = results_of_run(source.records)
    worst = [_worst([result for result in results if result.repeat == repeat]) for repeat in range(repeats)]
    n_right, n_fail = worst.count(Outcome.PASS), worst.count(Outcome.FAIL)
    if n_right >= wanted:
        outcome = Outcome.PASS
    elif repeats - n_fail < wanted:
        outcome = Outcome.FAIL
    else:
        outcome = Outcome.ERROR if Outcome.ERROR in worst else Outcome.UNDECIDED
    blobs = Blobs(directory)
    ids = dict.fromkeys(image_id for result in results for image_id in result.images.values())
    lines = [] if outcome is Outcome.PASS else _lines(results, source, directory, (n_right, repeats, wanted))
    return SceneTestResult(
        outcome=outcome,
        text="\n".join(lines),
        directory=directory,
        images=tuple(blobs.path_of(image_id) for image_id in ids),
    )


def _worst(results: Sequence[Result]) -> Outcome:
    outcomes = {result.outcome for result in results} or {Outcome.ERROR}
    return next(outcome for outcome in _WORST_FIRST if outcome in outcomes)


def _lines(
    results: Sequence[Result], source: RunSource, directory: Path, counts: tuple[int, int, int]
) -> Iterator[str]:
    """How many repeats are right, then every result that is not."""
    n_right, repeats, wanted = counts
    wrong = [result for result in results if result.outcome is not Outcome.PASS]
    reasons = dict.fromkeys(text for result in wrong for text in (result.failure_types or (result.reason,)) if text)
    seldom = f" (right in {n_right} of {repeats} repeats, {wanted} expected)" if repeats > 1 else ""
    yield f"{', '.join(source.records.models)}: {one_line(', '.join(reasons))}{seldom}"
    chosen = widened(source.records.asked)
    for result in wrong:
        yield from lines_of(result, source.images, directory, chosen)
    yield f"report: salva report {shlex.quote(str(directory))}"
