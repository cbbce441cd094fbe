"""The report as JUnit XML, for whatever shows test results: a test suite a model, a test case a result.

FAIL is a failure, UNDECIDED is skipped, ERROR is an error; so is a run that cannot be trusted or decides too little.
Text from prompts and images is data: it is printed on one line, and nothing in it can end an element.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from xml.etree import ElementTree

from salva.component_facts import widened
from salva.core.case import Case
from salva.core.result import Result
from salva.core.source import RunSource
from salva.core.verdict import Outcome
from salva.report.headline_text import trust_text
from salva.report.pair_lines import lines_of, one_line
from salva.report.summary import ModelSummary, summarise_records
from salva.results.trust import FEW_DECIDED, INCOMPLETE, NONE
from salva.store.queries import open_source

_TAGS = {Outcome.FAIL: "failure", Outcome.UNDECIDED: "skipped", Outcome.ERROR: "error"}
_COUNTED = {"failures": "failure", "errors": "error", "skipped": "skipped"}
_MAX_MESSAGE = 300
_THE_RUN = "the run as a whole"


@dataclass(frozen=True, slots=True, kw_only=True)
class _Problem:
    """What a test case that did not pass has to say."""

    tag: str
    kind: str
    message: str
    text: str = ""


def junit_of(directory: Path) -> str:
    """The report of a run directory; images are named by the path it was given under."""
    with open_source(directory) as source:
        return to_junit(source, directory)


def to_junit(source: RunSource, directory: Path) -> str:
    """The whole file, ending in a newline."""
    summary = summarise_records(source.records)
    root = ElementTree.Element("testsuites", {"name": one_line(f"salva {summary.suite}")})
    for name, model in summary.by_model.items():
        suite = ElementTree.SubElement(root, "testsuite", {"name": one_line(f"{summary.suite} on {name}")})
        _JunitWriter(suite, source, directory, ending="" if len(summary.by_model) == 1 else f" [{name}]").write(model)
        _count(suite)
    _count(root)
    ElementTree.indent(root)
    return '<?xml version="1.0" encoding="utf-8"?>\n' + ElementTree.tostring(root, encoding="unicode") + "\n"


class _JunitWriter:
    """Writes the test cases of one model into its suite."""

    def __init__(self, suite: ElementTree.Element, source: RunSource, directory: Path, *, ending: str) -> None:
        self._suite, self._directory = suite, directory
        self._records, self._images = source
        self._chosen = widened(source.records.asked)
        # Readers leave out the name of a suite, and then two models have tests of one name.
        self._ending = ending

    def write(self, model: ModelSummary) -> None:
        """Every result, after one line for the run where it is not to be trusted: green means that images were seen."""
        trust = model.trust
        if trust.status == NONE or trust.has(FEW_DECIDED) or trust.has(INCOMPLETE) or not model.all_results:
            text = trust_text(model) if trust.reasons else "no result"
            self._test(f"{_part(self._records.suite)}.run", _THE_RUN, _Problem(tag="error", kind="trust", message=text))
        for result in model.all_results:
            self._test(_class_name(result.case), self._name(result), self._problem(result))

    def _name(self, result: Result) -> str:
        case_id = result.case.case_id
        return f"{case_id} repeat {result.repeat}" if self._records.asked.repeats > 1 else case_id

    def _test(self, class_name: str, name: str, problem: _Problem | None) -> None:
        given = {"classname": class_name, "name": one_line(name + self._ending), "time": "0"}
        test = ElementTree.SubElement(self._suite, "testcase", given)
        if problem is not None:
            element = ElementTree.SubElement(
                test, problem.tag, {"type": one_line(problem.kind), "message": _short(problem.message)}
            )
            element.text = problem.text or one_line(problem.message)

    def _problem(self, result: Result) -> _Problem | None:
        if result.outcome is Outcome.PASS:
            return None
        text = "\n".join(lines_of(result, self._images, self._directory, self._chosen))
        kind, message = str(result.outcome), result.reason or "no reason is stored"
        if result.is_fail:
            kind = ", ".join(result.failure_types) or result.check
            found = "; ".join(f"{one.role}: {one.message}" if one.role else one.message for one in result.failures)
            message = f"{kind}: {found}" if found else kind
        return _Problem(tag=_TAGS[result.outcome], kind=kind, message=message, text=text)


def _class_name(case: Case) -> str:
    """Suite and law, or suite and category; a dot parts a package from a class, so that no part may hold one."""
    return f"{_part(case.suite)}.{_part(case.labels.get('law') or case.category)}"


def _part(text: str) -> str:
    return one_line(text).replace(".", "-") or "-"


def _short(text: str) -> str:
    line = one_line(text)
    return line if len(line) <= _MAX_MESSAGE else f"{line[: _MAX_MESSAGE - 1]}…"


def _count(suite: ElementTree.Element) -> None:
    """The numbers that a suite, or all of them together, give of themselves."""
    suite.set("tests", str(len(suite.findall(".//testcase"))))
    for name, tag in _COUNTED.items():
        suite.set(name, str(len(suite.findall(f".//testcase/{tag}"))))
    suite.set("time", "0")
