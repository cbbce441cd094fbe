"""A gate as files: a table for people, JSON for programs, JUnit for readers of test results, a page for each suite.

Results in, files in one folder out, each whole or not there. Words from runs are escaped for the format at hand.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from xml.etree import ElementTree

from salva.charts.formats import percent_text
from salva.compare.forms import comparison_json, comparison_markdown
from salva.compare.gate_run import GateResult, SuiteResult
from salva.compare.page import comparison_page
from salva.compare.words import ARROW, figure_texts, sentence_of
from salva.core.fingerprint import Json
from salva.core.printable import printable_json
from salva.core.table import Cell, Table
from salva.files.outfiles import write_text
from salva.report.html import write_html
from salva.report.junit import junit_of
from salva.report.markdown import escape, table_text
from salva.report.pages import render_page
from salva.report.pair_lines import one_line
from salva.report.summary_json import ends_json, trust_json
from salva.results.gate import FAILED, INCONCLUSIVE, PASSED

REPORT = "report"
SCHEMA = 2
_TAGS = {FAILED: "failure", INCONCLUSIVE: "error"}


def write_gate(result: GateResult) -> Path:
    """Write everything into its folder; gives the folder of the reports."""
    folder = result.spec.out / REPORT
    for suite in result.suites:
        write_html(suite.candidate, folder / suite.title / "index.html")
        write_text(folder / suite.title / "junit.xml", junit_of(suite.candidate))
        if suite.compared is not None:
            write_text(folder / suite.title / "comparison.html", comparison_page(suite.compared))
            write_text(folder / suite.title / "comparison.md", comparison_markdown(suite.compared))
            write_text(folder / suite.title / "comparison.json", _json_text(comparison_json(suite.compared)))
    write_text(folder / "index.html", gate_page(result))
    write_text(folder / "gate.json", _json_text(gate_json(result)))
    write_text(folder / "gate.md", gate_markdown(result))
    write_text(folder / "junit.xml", gate_junit(result))
    return folder


def gate_table(result: GateResult) -> Table:
    """A row a suite: both failure rates, their difference, and how each rule came out."""
    rules = tuple(dict.fromkeys(rule.name for suite in result.suites for rule in suite.rules))
    rows: list[tuple[Cell, ...]] = []
    for suite in result.suites:
        outcomes = {rule.name: rule.decision for rule in suite.rules}
        rows.append((suite.title, *_rates(suite), *(outcomes.get(name, "") for name in rules)))
    columns = ("suite", "baseline", "candidate", "difference", *rules)
    has_two = any(suite.comparison is not None for suite in result.suites)
    note = "Failure rates: over pairs decided in both runs." if has_two else ""
    return Table(name="gate", columns=columns, rows=tuple(rows), note=note)


def _rates(suite: SuiteResult) -> tuple[str, str, str]:
    one = suite.comparison
    if one is None:
        return "", percent_text(suite.model.failure_rate), ""
    return figure_texts(one.figure)


def gate_page(result: GateResult) -> str:
    """The table with a link to each suite's pages, which lie beside it."""
    return render_page(
        "compare",
        "gate.html.j2",
        result=result,
        table=gate_table(result),
        title=_title(result),
        sentence_of=sentence_of,
    )


def _title(result: GateResult) -> str:
    """Who is compared with whom; two of one name, with other options, by their parts too."""
    candidate, baseline = result.spec.candidate.model, result.spec.baseline
    if baseline is None:
        return candidate
    if baseline.model == candidate:
        return f"{candidate} (baseline){ARROW}{candidate} (candidate)"
    return f"{baseline.model}{ARROW}{candidate}"


def gate_lines(result: GateResult) -> Iterator[str]:
    """What every rule says, a line each."""
    for suite in result.suites:
        yield from (f"{suite.title}: {rule.name}: {rule.decision}: {rule.reason}" for rule in suite.rules)


def gate_markdown(result: GateResult) -> str:
    """For a job's summary or a pull request, ending in a newline."""
    blocks = [f"# Gate {result.decision}: {escape(result.spec.candidate.model)}", table_text(gate_table(result))]
    for suite in result.suites:
        blocks.append(f"## {escape(suite.title)}")
        if suite.comparison is not None:
            blocks.append(f"{escape(sentence_of(suite.comparison))}.")
        rules = [f"- {escape(rule.name)}: **{rule.decision}**: {escape(rule.reason)}" for rule in suite.rules]
        blocks.append("\n".join(rules))
    return "\n\n".join(blocks) + "\n"


def gate_json(result: GateResult) -> dict[str, Json]:
    """For programs."""
    baseline = result.spec.baseline
    return {
        "schema": SCHEMA,
        "decision": result.decision,
        "exit_code": result.exit_code,
        "candidate": result.spec.candidate.model,
        "baseline": baseline.model if baseline else None,
        "suites": [_suite_json(suite) for suite in result.suites],
    }


def _suite_json(suite: SuiteResult) -> dict[str, Json]:
    return {
        "title": suite.title,
        "suite": suite.run.suite,
        "candidate": {"run": str(suite.candidate), "model": suite.model.model},
        "baseline": str(suite.baseline) if suite.baseline else None,
        "failure_rate": suite.model.failure_rate,
        "interval": ends_json(suite.model.interval),
        "trust": trust_json(suite.model.trust),
        "comparison": comparison_json(suite.compared) if suite.compared else None,
        "rules": [{"rule": rule.name, "decision": rule.decision, "reason": rule.reason} for rule in suite.rules],
    }


def gate_junit(result: GateResult) -> str:
    """A test suite a suite, a test case a rule; the pairs of each are in its own file."""
    root = ElementTree.Element("testsuites", {"name": "salva gate"})
    for suite in result.suites:
        tests = ElementTree.SubElement(root, "testsuite", {"name": suite.title})
        for rule in suite.rules:
            given = {"classname": f"gate.{suite.title}", "name": rule.name, "time": "0"}
            test = ElementTree.SubElement(tests, "testcase", given)
            if rule.decision != PASSED:
                content = {"type": rule.decision, "message": one_line(rule.reason)}
                ElementTree.SubElement(test, _TAGS[rule.decision], content).text = one_line(rule.reason)
    for element in (*root, root):
        counts = {"tests": "testcase", "failures": "failure", "errors": "error", "skipped": "skipped"}
        for name, tag in counts.items():
            element.set(name, str(len(element.findall(f".//{tag}"))))
        element.set("time", "0")
    ElementTree.indent(root)
    return '<?xml version="1.0" encoding="utf-8"?>\n' + ElementTree.tostring(root, encoding="unicode") + "\n"


def _json_text(content: dict[str, Json]) -> str:
    return printable_json(content, indent=2) + "\n"
