"""The report as JUnit XML, for whatever shows test results: a test suite a model, a test case a pair.

Takes records and a Summary. A pair that broke its relation is a failure, an undecided one is skipped, work that broke
or was never done is an error, and so is a run that decides too little: green means that somebody looked. Text from
prompts and pictures is data; it is printed on one line, and nothing in it can end an element.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from xml.etree import ElementTree

from salva.core.asked import Asked
from salva.core.case import Case
from salva.core.command import command_for
from salva.core.judged import Judged
from salva.core.legible import legible
from salva.core.source import RunRecords
from salva.core.verdict import Failure, Outcome, Verdict, observers_text
from salva.judging.headline import leading_verdicts
from salva.registry import rates_of, suite_about, widened
from salva.report.summary import ModelSummary, Summary, summarise_records
from salva.store.blobs import Blobs
from salva.store.queries import read_records

_FAILURE, _ERROR, _SKIPPED = "failure", "error", "skipped"
_COUNTED = {"failures": _FAILURE, "errors": _ERROR, "skipped": _SKIPPED}
_MAX_MESSAGE = 300
_THE_RUN = "the run as a whole"


@dataclass(frozen=True, slots=True, kw_only=True)
class _Told:
    """What is said of a test case that did not pass."""

    tag: str
    kind: str
    message: str
    text: str = ""


def junit_of(directory: Path) -> str:
    """The report of a run directory; pictures are named by the path it was given under."""
    records = read_records(directory)
    return to_junit(records, summarise_records(records), directory)


def to_junit(records: RunRecords, summary: Summary, directory: Path) -> str:
    """The whole file, ending in a newline."""
    rates = rates_of(verdict.relation for verdict in records.verdicts)
    leads = suite_about(records.suite).leads
    leading = leading_verdicts(records.cases, records.verdicts, rates, records.asked.headline, leads)
    root = ElementTree.Element("testsuites", {"name": _line(f"salva {records.suite}")})
    for model in summary.by_model:
        suite = ElementTree.SubElement(root, "testsuite", {"name": _line(f"{records.suite} on {model.model}")})
        writer = _Writer(suite, records, model.model, directory, is_alone=len(summary.by_model) == 1)
        writer.write(leading.get(model.model, []), model)
        _count(suite)
    _count(root)
    ElementTree.indent(root)
    return '<?xml version="1.0" encoding="utf-8"?>\n' + ElementTree.tostring(root, encoding="unicode") + "\n"


class _Writer:
    """Writes the test cases of one model into its suite."""

    def __init__(
        self, suite: ElementTree.Element, records: RunRecords, model: str, directory: Path, *, is_alone: bool
    ) -> None:
        self._suite, self._records, self._model = suite, records, model
        self._chosen: Asked = widened(records.asked)
        self._blobs = Blobs(directory)
        # Readers leave out the name of a suite, and then two models have tests of one name.
        self._ending = "" if is_alone else f" [{model}]"

    def write(self, leading: list[Judged], model: ModelSummary) -> None:
        """Every pair that speaks, every pair that should, and one line for the run where it is not to be trusted."""
        if model.leading.reason or model.leading.decides_too_little:
            reason = model.leading.reason or "too little is decided"
            told = _Told(tag=_ERROR, kind="decides-too-little", message=reason)
            self._test(f"{_part(self._records.suite)}.run", _THE_RUN, told)
        for judged in leading:
            self._test(_class_name(judged.case), self._name(judged.case, judged.verdict.repeat), self._told(judged))
        for case, repeat in self._missing(leading):
            told = _Told(tag=_ERROR, kind="not-judged", message="not judged yet; the same command goes on")
            self._test(_class_name(case), self._name(case, repeat), told)

    def _missing(self, leading: list[Judged]) -> Iterator[tuple[Case, int]]:
        """Pairs that were asked for and have no verdict; a whole run has none, whatever its relation applies to."""
        if not self._records.is_whole:
            judged = {(one.case.case_id, one.verdict.repeat) for one in leading}
            pairs = ((case, repeat) for case in self._records.cases for repeat in range(self._records.asked.repeats))
            yield from (pair for pair in pairs if (pair[0].case_id, pair[1]) not in judged)

    def _name(self, case: Case, repeat: int) -> str:
        return f"{case.case_id} repeat {repeat}" if self._records.asked.repeats > 1 else case.case_id

    def _test(self, class_name: str, name: str, told: _Told | None) -> None:
        given = {"classname": class_name, "name": _line(name + self._ending), "time": "0"}
        test = ElementTree.SubElement(self._suite, "testcase", given)
        if told is not None:
            element = ElementTree.SubElement(
                test, told.tag, {"type": _line(told.kind), "message": _short(told.message)}
            )
            element.text = told.text or _line(told.message)

    def _told(self, judged: Judged) -> _Told | None:
        verdict = judged.verdict
        if verdict.outcome is Outcome.HOLDS:
            return None
        text = "\n".join(self._lines(judged))
        if verdict.outcome is Outcome.VIOLATED:
            kinds = ", ".join(verdict.errors) or verdict.relation
            said = "; ".join(_who(failure) + failure.message for failure in verdict.failures)
            return _Told(tag=_FAILURE, kind=kinds, message=f"{kinds}: {said}" if said else kinds, text=text)
        tag = _SKIPPED if verdict.outcome is Outcome.INCONCLUSIVE else _ERROR
        reason = verdict.reason or "no reason is stored"
        return _Told(tag=tag, kind=str(verdict.outcome), message=reason, text=text)

    def _lines(self, judged: Judged) -> Iterator[str]:
        """What to know of a pair: each prompt with its picture and what is wrong in it, one fact a line."""
        case, verdict = judged
        yield _line(f"{verdict.outcome} by {verdict.relation}, as {observers_text(verdict.observers)} saw it")
        if verdict.errors:
            yield _line(f"error types: {', '.join(verdict.errors)}")
        if verdict.reason:
            yield _line(f"reason: {verdict.reason}")
        for prompt in case.prompts:
            yield _line(f"prompt {prompt.role}: {prompt.text}")
            if prompt.formula:
                yield "  " + _line(f"formula: {prompt.formula}")
            yield "  " + _line(f"picture: {self._picture(verdict, prompt.role)}")
            yield from ("  " + _of(failure) for failure in verdict.failures if failure.role == prompt.role)
        roles = {prompt.role for prompt in case.prompts}
        yield from ("between them: " + _of(failure) for failure in verdict.failures if failure.role not in roles)
        if command := command_for(case, verdict.model, self._chosen):
            yield _line(f"again: {command}")

    def _picture(self, verdict: Verdict, role: str) -> str:
        image_id = verdict.images.get(role)
        if image_id is None:
            return "none"
        path = self._blobs.path_of(image_id)
        return str(path) if path.is_file() else f"{path} (missing)"


def _who(failure: Failure) -> str:
    return f"{failure.role}: " if failure.role else ""


def _of(failure: Failure) -> str:
    return _line(f"{failure.error}: {failure.message}")


def _class_name(case: Case) -> str:
    """Suite and law, or suite and category; a dot parts a package from a class, so that no part may hold one."""
    return f"{_part(case.suite)}.{_part(case.labels.get('law') or case.category)}"


def _part(text: str) -> str:
    return _line(text).replace(".", "-") or "-"


def _line(text: str) -> str:
    """Text on one line, without the characters that XML forbids."""
    return " ".join(legible(text).split())


def _short(text: str) -> str:
    line = _line(text)
    return line if len(line) <= _MAX_MESSAGE else f"{line[: _MAX_MESSAGE - 1]}…"


def _count(suite: ElementTree.Element) -> None:
    """The numbers that a suite, or all of them together, say of themselves."""
    suite.set("tests", str(len(suite.findall(".//testcase"))))
    for name, tag in _COUNTED.items():
        suite.set(name, str(len(suite.findall(f".//testcase/{tag}"))))
    suite.set("time", "0")
