"""`salva report`: every format where it belongs, and the summary without one."""

from __future__ import annotations

import json
from pathlib import Path
from xml.etree import ElementTree

import pytest
from in_process import salva
from report.fake_runs import small_run, store_run


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    directory = tmp_path_factory.mktemp("report") / "run"
    store_run(directory, *small_run())
    return directory


def test_without_a_format_it_prints_the_summary_and_makes_the_page(run: Path) -> None:
    done = salva("report", str(run))
    assert done.returncode == 0, done.stderr
    lines = done.stdout.splitlines()
    assert lines[0].startswith("metalogic on painter")
    assert len(lines) <= 12
    assert any(str(run / "report" / "index.html") in line for line in lines)
    assert (run / "report" / "index.html").is_file()


def test_details_are_all_metrics_and_all_tables(run: Path) -> None:
    shown = salva("report", str(run), "-v").stdout
    for name in ("inconsistent", "by category", "by law", "failure types"):
        assert f"\n{name}" in shown


@pytest.mark.parametrize("form", ["html", "pdf"])
def test_pages_are_written_beside_the_run_and_named(run: Path, form: str, tmp_path: Path) -> None:
    done = salva("report", str(run), "--format", form)
    path = Path(done.stdout.strip())
    assert path.parent == run / "report"
    assert path.stat().st_size > 1000
    own = tmp_path / f"mine.{form}"
    assert salva("report", str(run), "--format", form, "-o", str(own)).stdout.strip() == str(own)
    assert own.is_file()
    assert list(tmp_path.iterdir()) == [own], "nothing beside it"


def test_texts_are_printed_or_written(run: Path, tmp_path: Path) -> None:
    forms = {form: salva("report", str(run), "--format", form).stdout for form in ("md", "json", "csv", "junit")}
    assert forms["md"].startswith("# metalogic on painter")
    assert json.loads(forms["json"])["schema"] == 3
    assert forms["csv"].startswith("case_id,")
    assert ElementTree.fromstring(forms["junit"]).tag == "testsuites"
    for form, text in forms.items():
        path = tmp_path / form
        assert salva("report", str(run), "--format", form, "-o", str(path)).stdout.strip() == str(path)
        assert path.read_bytes().decode() == text
