"""The Python API: run a suite, open a run, get data frames.

import salva
run = salva.run_suite("metalogic", model="pocket", size="paper")
run.verdicts.query("is_primary").groupby("label.law")["is_fail"].mean()
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Unpack

from salva.core.case import Case
from salva.core.printable import printable
from salva.core.python_objects import register_objects
from salva.core.run_spec import RunSpec
from salva.core.secrets import redact
from salva.engine.progress import make_progress
from salva.errors import MissingRoleError, SalvaError, UsageError
from salva.messages import message
from salva.notebook.frames import case_frame, image_frame, result_frame, run_frame, verdict_frame
from salva.notebook.keywords import (
    RunFlags,
    Setting,
    read_flags,
    read_limits,
    read_out,
    read_retry,
    read_settings,
    read_suite,
)
from salva.notebook.models import Model, Version, is_function, read_models
from salva.notebook.seeds import seed_notes
from salva.report.card import card_html, card_lines
from salva.report.run_list import list_runs
from salva.report.summary import Summary, summarise_records, summarise_run
from salva.results.gate import MIN_DECIDED
from salva.run_results import error_notes, results_of_run
from salva.runs.directory import RUNS
from salva.runs.forecast import Forecast, forecast
from salva.runs.pipeline import execute
from salva.runs.plans import AllButSuite, make_plan
from salva.runs.suite_paths import with_paths
from salva.runs.workplaces import bind_executor
from salva.store.images import allow_images_at
from salva.store.queries import open_source, read_records
from salva.store.runfile import read_run_file
from salva.store.sqlite import open_run as open_store

if TYPE_CHECKING:
    import pandas as pd

    from salva.compare.comparing import ComparedRuns


@dataclass(frozen=True, slots=True, repr=False)
class Run:
    """A run directory, read when asked; holds no file open.

    >>> salva.open_run("runs/v1").results["result"].value_counts().to_dict()
    {'PASS': 21}
    """

    directory: Path

    @property
    def summary(self) -> Summary:
        """The figures of the run, named as in the JSON report: failure_rate, interval, results, trust, metrics."""
        return summarise_run(self.directory)

    @property
    def results(self) -> pd.DataFrame:
        """One row a case, repeat and model: its result, the check that made it, what is wrong, prompts and labels."""
        return result_frame(read_records(self.directory))

    @property
    def verdicts(self) -> pd.DataFrame:
        """One row a verdict: case, repeat, arm, model, check, outcome, failure types, prompts, labels and scores.

        `is_primary` marks those that make a result; `is_fail` is missing where nothing was decided.
        """
        return verdict_frame(read_records(self.directory))

    @property
    def cases(self) -> pd.DataFrame:
        """One row a case: prompts, formulas, labels, whether they are equivalent and determinate."""
        return case_frame(self.case_list)

    @property
    def case_list(self) -> tuple[Case, ...]:
        """The cases themselves, as the logic core and the checks take them."""
        with open_store(self.directory) as store:
            return tuple(store.cases())

    @property
    def images(self) -> pd.DataFrame:
        """One row an image: case, role, prompt, seed, model, file and size, or why it is missing."""
        return image_frame(self.directory)

    def image_path(self, image_id: str) -> Path:
        """The file of an image."""
        with open_store(self.directory) as store:
            return store.image_path(image_id)

    def image_bytes(self, image_id: str) -> bytes:
        """The file of an image as bytes, wherever it is."""
        with open_store(self.directory) as store:
            return store.blobs.read(image_id)

    def __repr__(self) -> str:
        try:
            return "\n".join(card_lines(self.summary, str(self.directory)))
        except SalvaError as error:
            # Printing a variable must not raise.
            return f"salva run {self.directory}: {printable(redact(str(error)))}"

    def _repr_html_(self) -> str:
        """For notebooks: the rate, the first chart and a few counterexamples."""
        try:
            with open_source(self.directory) as (records, images):
                return card_html(summarise_records(records), images, str(self.directory))
        except SalvaError:
            return f"<pre>{escape(repr(self))}</pre>"


def run_suite(
    suite: str,
    model: Model = (),
    *,
    name: str = "",
    version: Version = None,
    out: str | Path | None = None,
    settings: Mapping[str, Setting] | None = None,
    executor: str = "local",
    progress: bool = False,
    images: str = "",
    max_images: int | None = None,
    max_cost: float | None = None,
    retry: str | Iterable[str] = (),
    **flags: Unpack[RunFlags],
) -> Run:
    """Run a suite as `salva run` does and give the finished run.

    model: a name, a diffusers pipeline, a function (prompt, seed) -> image, `batched` of one, a list of these, or a
    mapping of names to them. version: the state of a function or pipeline; without one its images are generated anew
    in every call. images: where to store images, such as s3://bucket/folder.

    >>> run = salva.run_suite("metalogic", "painter", size=21, reader="none")
    >>> run.summary.failure_rate
    0.0
    """
    images_at = allow_images_at(images) if images else ""
    limits, again = read_limits(max_images, max_cost), read_retry(retry)
    place, models = read_out(out), read_models(model, name, version)
    chosen = {**read_settings(settings), **models.settings}
    ask = _asked(suite, models.texts, chosen, flags)
    shown = make_progress(quiet=not progress)
    with register_objects(models.things):
        spec, workplace = make_plan(ask), bind_executor(executor, chosen)
        directory = place or RUNS / spec.directory_name()
        if models.one_off:
            if read_run_file(directory) is not None:
                raise UsageError(message("version-needed", path=str(directory), why=models.note))
            spec = replace(spec, notes=(models.note, *spec.notes))
        try:
            summary = execute(
                spec,
                directory,
                shown,
                executor=workplace,
                images_at=images_at,
                limits=limits,
                retry=again,
            )
        except MissingRoleError as error:
            # The call as it was made, with the keyword it lacks.
            given = {"name": name, "version": version, "out": out, "settings": settings, "images": images, **flags}
            words = [repr(suite), *([f"model={models.shown}"] if models.texts else [])]
            words += [f"{word}={value!r}" for word, value in given.items() if value]
            call = f"salva.run_suite({', '.join(words)}, {error.role}={error.name!r})"
            raise error.with_example(redact(call)) from error
        if summary.n_rendered:
            functions = {name: thing for name, thing in models.things.items() if is_function(thing)}
            for line in seed_notes(directory, functions):
                shown.note(line)
    if summary.outcomes.get("ERROR", 0):
        for line in error_notes(results_of_run(read_records(directory))):
            shown.note(line)
    return Run(directory)


def _asked(suite: str, models: tuple[str, ...], settings: Mapping[str, str], flags: RunFlags) -> RunSpec:
    """The specification that the keywords describe."""
    name, given = read_suite(suite), read_flags(flags)
    chosen = with_paths(name, given.pop("path", ()), settings)
    return RunSpec.of(suite=name, models=models, settings=chosen, **given)


def plan_run(
    suite: str,
    model: Model = (),
    *,
    name: str = "",
    version: Version = None,
    out: str | Path | None = None,
    settings: Mapping[str, Setting] | None = None,
    executor: str = "local",
    progress: bool = False,  # noqa: ARG001  # a plan takes exactly what a run takes
    images: str = "",
    max_images: int | None = None,
    max_cost: float | None = None,
    retry: str | Iterable[str] = (),
    **flags: Unpack[RunFlags],
) -> Forecast:
    """What `run_suite` would do with the same keywords, as `salva run --dry-run` shows it; nothing is written.

    >>> salva.plan_run("metalogic", "painter").n_cases
    63
    """
    read_limits(max_images, max_cost)
    read_retry(retry)
    if images:
        allow_images_at(images)
    place, models = read_out(out), read_models(model, name, version)
    chosen = {**read_settings(settings), **models.settings}
    ask = _asked(suite, models.texts, chosen, flags)
    with register_objects(models.things):
        plan = make_plan(ask, foreign=AllButSuite())
        bind_executor(executor, chosen)
        return forecast(plan, place or RUNS / plan.directory_name())


def open_run(directory: str | Path, *, images: str = "") -> Run:
    """A run made earlier; raises UsageError when the directory holds none. images: where its images are elsewhere.

    >>> salva.open_run("runs/v1").summary.failure_rate
    0.0
    """
    if images:
        allow_images_at(images)
    with open_store(Path(directory)):
        return Run(Path(directory))


def open_runs(folder: str | Path = RUNS) -> pd.DataFrame:
    """The runs in a folder, one row for each of their models: what was asked, failure rate, trust, date and state.

    What is damaged, unfinished or no run at all stands in the frame with its `state` and `problem`.

    >>> sorted(salva.open_runs("runs")["run"])
    ['v1', 'v2']
    """
    return run_frame(list_runs(Path(folder)))


def compare_runs(
    *runs: Run | str | Path,
    margin: float = 0.05,
    fail_if_worse: float | None = None,
    gate_on: str = "interval",
    min_decided: int = MIN_DECIDED,
) -> ComparedRuns:
    """Candidates against the first run as baseline, on the cases they share, as `salva compare` does.

    The models of one run are compared with its first; raises UsageError where two runs cannot be compared.

    >>> compared = salva.compare_runs("runs/v1", "runs/v2", fail_if_worse=0.05)
    >>> print(compared.decision, compared.gate.decision)
    worse failed
    """
    from salva.compare import comparing
    from salva.compare.margin import Demands

    demands = Demands(margin=margin, fail_if_worse=fail_if_worse, gate_on=gate_on, min_decided=min_decided)
    return comparing.compare_runs([run.directory if isinstance(run, Run) else Path(run) for run in runs], demands)
