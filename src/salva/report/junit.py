"""The report as JUnit XML, for whatever shows test results: a test suite a model, a test case a pair.

Takes a run's records and pictures. A pair that broke its check is a failure, an undecided one is skipped, what broke
or was never judged is an error, and so is a run that decides too little: green means that somebody looked. Text from
prompts and pictures is data; it is printed on one line, and nothing in it can end an element.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from xml.etree import ElementTree

from salva.component_facts import rates_of, suite_about, widened
from salva.core.case import Case
from salva.core.judgements import CaseVerdict
from salva.core.run_spec import RunSpec
from salva.core.source import RunSource
from salva.core.verdict import Failure, Outcome
from salva.report.pair_lines import lines_of, one_line
from salva.report.summary import ModelSummary, summarise_records
from salva.results.headline import leading_verdicts
from salva.store.queries import open_source

_FAILURE, _ERROR, _SKIPPED = "failure", "error", "skipped"
_COUNTED = {"failures": _FAILURE, "errors": _ERROR, "skipped": _SKIPPED}
_MAX_MESSAGE = 300
_THE_RUN = "the run as a whole"


@dataclass(frozen=True, slots=True, kw_only=True)
class _Problem:
    """What is said of a test case that did not pass."""

    tag: str
    kind: str
    message: str
    text: str = ""


def junit_of(directory: Path) -> str:
    """The report of a run directory; pictures are named by the path it was given under."""
    with open_source(directory) as source:
        return to_junit(source, directory)


def to_junit(source: RunSource, directory: Path) -> str:
    """The whole file, ending in a newline."""
    records = source.records
    summary = summarise_records(records)
    rates = rates_of(verdict.check for verdict in records.verdicts)
    leads = suite_about(records.suite).leads
    leading = leading_verdicts(records.cases, records.verdicts, rates, records.asked.check, leads)
    root = ElementTree.Element("testsuites", {"name": one_line(f"salva {records.suite}")})
    for model in summary.by_model:
        suite = ElementTree.SubElement(root, "testsuite", {"name": one_line(f"{records.suite} on {model.model}")})
        writer = _JunitWriter(suite, source, model.model, directory, is_alone=len(summary.by_model) == 1)
        writer.write(leading.get(model.model, []), model)
        _count(suite)
    _count(root)
    ElementTree.indent(root)
    return '<?xml version="1.0" encoding="utf-8"?>\n' + ElementTree.tostring(root, encoding="unicode") + "\n"


class _JunitWriter:
    """Writes the test cases of one model into its suite."""

    def __init__(
        self, suite: ElementTree.Element, source: RunSource, model: str, directory: Path, *, is_alone: bool
    ) -> None:
        self._suite, self._directory = suite, directory
        self._records, self._images = source
        self._chosen: RunSpec = widened(source.records.asked)
        # Readers leave out the name of a suite, and then two models have tests of one name.
        self._ending = "" if is_alone else f" [{model}]"

    def write(self, leading: list[CaseVerdict], model: ModelSummary) -> None:
        """Every pair that speaks, every pair that should, and one line for the run where it is not to be trusted."""
        if model.leading.reason or model.leading.decides_too_little:
            reason = model.leading.reason or "too little is decided"
            problem = _Problem(tag=_ERROR, kind="decides-too-little", message=reason)
            self._test(f"{_part(self._records.suite)}.run", _THE_RUN, problem)
        for judged in leading:
            self._test(_class_name(judged.case), self._name(judged.case, judged.verdict.repeat), self._told(judged))
        for case, repeat in self._missing(leading):
            problem = _Problem(tag=_ERROR, kind="not-judged", message="not judged yet; run the same command again")
            self._test(_class_name(case), self._name(case, repeat), problem)

    def _missing(self, leading: list[CaseVerdict]) -> Iterator[tuple[Case, int]]:
        """Pairs that were asked for and have no verdict; a whole run has none, whatever its check applies to."""
        if not self._records.is_whole:
            judged = {(pair.case.case_id, pair.verdict.repeat) for pair in leading}
            pairs = ((case, repeat) for case in self._records.cases for repeat in range(self._records.asked.repeats))
            yield from (pair for pair in pairs if (pair[0].case_id, pair[1]) not in judged)

    def _name(self, case: Case, repeat: int) -> str:
        return f"{case.case_id} repeat {repeat}" if self._records.asked.repeats > 1 else case.case_id

    def _test(self, class_name: str, name: str, problem: _Problem | None) -> None:
        given = {"classname": class_name, "name": one_line(name + self._ending), "time": "0"}
        test = ElementTree.SubElement(self._suite, "testcase", given)
        if problem is not None:
            element = ElementTree.SubElement(
                test, problem.tag, {"type": one_line(problem.kind), "message": _short(problem.message)}
            )
            element.text = problem.text or one_line(problem.message)

    def _told(self, judged: CaseVerdict) -> _Problem | None:
        verdict = judged.verdict
        if verdict.outcome is Outcome.PASS:
            return None
        text = "\n".join(lines_of(judged, self._images, self._directory, self._chosen))
        if verdict.outcome is Outcome.FAIL:
            kinds = ", ".join(verdict.failure_types) or verdict.check
            said = "; ".join(_who(failure) + failure.message for failure in verdict.failures)
            return _Problem(tag=_FAILURE, kind=kinds, message=f"{kinds}: {said}" if said else kinds, text=text)
        tag = _SKIPPED if verdict.outcome is Outcome.UNDECIDED else _ERROR
        reason = verdict.reason or "no reason is stored"
        return _Problem(tag=tag, kind=str(verdict.outcome), message=reason, text=text)


def _who(failure: Failure) -> str:
    return f"{failure.role}: " if failure.role else ""


def _class_name(case: Case) -> str:
    """Suite and law, or suite and category; a dot parts a package from a class, so that no part may hold one."""
    return f"{_part(case.suite)}.{_part(case.labels.get('law') or case.category)}"


def _part(text: str) -> str:
    return one_line(text).replace(".", "-") or "-"


def _short(text: str) -> str:
    line = one_line(text)
    return line if len(line) <= _MAX_MESSAGE else f"{line[: _MAX_MESSAGE - 1]}…"


def _count(suite: ElementTree.Element) -> None:
    """The numbers that a suite, or all of them together, say of themselves."""
    suite.set("tests", str(len(suite.findall(".//testcase"))))
    for name, tag in _COUNTED.items():
        suite.set(name, str(len(suite.findall(f".//testcase/{tag}"))))
    suite.set("time", "0")
