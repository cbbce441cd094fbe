"""Runs that somebody edited: each forgery is repaired, refused or found, and none is believed."""

from __future__ import annotations

import json
import os
import shutil
import sqlite3
from collections.abc import Callable
from contextlib import closing, suppress
from pathlib import Path

import pytest
from in_process import salva
from runs.forging import change, edit_run_file, mend

from salva.core.plan import Plan
from salva.core.review import Label, Review
from salva.core.run_spec import RunSpec
from salva.engine.progress import SilentProgress
from salva.errors import SalvaError, StoreError
from salva.run_results import results_of_run
from salva.runs.pipeline import execute
from salva.runs.plans import make_plan
from salva.runs.verify import verify
from salva.store.queries import read_records
from salva.store.reviews import append_reviews

QUIET = SilentProgress()
Results = list[tuple[str, str, str]]


def plan() -> Plan:
    settings = {
        "model.faults": "entity-omission:0.4,entity-duplication:0.4",
        "model.side": "256",
        "run.preflight": "off",
    }
    return make_plan(RunSpec.of(suite="metalogic", models=("painter",), reader="none", size="8", settings=settings))


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    directory = tmp_path_factory.mktemp("forged") / "run"
    execute(plan(), directory, QUIET)
    case_id = results(directory)[0][0]
    append_reviews(directory, [Review(case_id=case_id, repeat=0, model="painter", reviewer="ada", label=Label.FAIL)])
    assert {outcome for *_, outcome in results(directory)} == {"PASS", "FAIL"}
    return directory


@pytest.fixture
def run(made: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(made, tmp_path / "run"))


def results(run: Path) -> Results:
    return [(r.case.case_id, r.model, str(r.outcome)) for r in results_of_run(read_records(run))]


def sql(*statements: str) -> Callable[[Path], None]:
    return lambda run: change(run, *statements)


def another_label(run: Path) -> None:
    change(
        run,
        "UPDATE components SET label = 'mm-grounding-dino' WHERE role = 'detector'",
        "UPDATE verdicts SET observers = replace(observers, 'pocket', 'mm-grounding-dino')",
    )


def another_label_everywhere(run: Path) -> None:
    another_label(run)
    text = json.loads((run / "run.json").read_text(encoding="utf-8"))
    for observer in text["spec"]["observers"]:
        observer["name"] = "mm-grounding-dino"
    (run / "run.json").write_text(json.dumps(text), encoding="utf-8")


def renamed_model(run: Path) -> None:
    change(
        run,
        "UPDATE components SET label = 'openai/gpt-image-1' WHERE role = 'model'",
        "UPDATE verdicts SET model = 'openai/gpt-image-1'",
    )
    text = json.loads((run / "run.json").read_text(encoding="utf-8"))
    text["spec"]["models"][0]["name"] = "openai/gpt-image-1"
    (run / "run.json").write_text(json.dumps(text), encoding="utf-8")


def edited_review(run: Path) -> None:
    with closing(sqlite3.connect(run / "review.db")) as connection:
        connection.execute("UPDATE labels SET label = 'pass'")
        connection.commit()


def view_in_reviews(run: Path) -> None:
    with closing(sqlite3.connect(run / "review.db")) as connection:
        connection.execute("CREATE VIEW more AS SELECT * FROM labels")
        connection.commit()


def other_than_a_file(name: str, kind: str) -> Callable[[Path], None]:
    """Put what never ends, or ends late, in the place of a file of the run."""

    def put(run: Path) -> None:
        place = run / name
        place.unlink()
        if kind == "pipe":
            os.mkfifo(place)
        elif kind == "device":
            place.symlink_to("/dev/zero")
        else:
            place.touch()
            os.truncate(place, 65 << 20)

    return put


def case_taken_away(run: Path) -> None:
    change(
        run,
        "DELETE FROM cases WHERE case_id IN (SELECT case_id FROM verdicts WHERE outcome = 'FAIL')",
        "DELETE FROM verdicts WHERE case_id NOT IN (SELECT case_id FROM cases)",
        "UPDATE meta SET value = json_set(value, '$.n_cases', (SELECT count(*) FROM cases)) WHERE key = 'cases'",
    )


def rule_in_run_file(run: Path) -> None:
    text = json.loads((run / "run.json").read_text(encoding="utf-8"))
    for check in text["spec"]["checks"]:
        check["options"]["counts"] = "at-least"
    (run / "run.json").write_text(json.dumps(text), encoding="utf-8")


FORGERIES: dict[str, Callable[[Path], None]] = {
    "verdict passed": sql("UPDATE verdicts SET outcome = 'PASS', failure_types = '[]', failures = '[]'"),
    "verdict failed": sql("UPDATE verdicts SET outcome = 'FAIL'"),
    "score": sql("""UPDATE verdicts SET scores = '{"match": 1.0}'"""),
    "verdicts deleted": sql("DELETE FROM verdicts WHERE outcome = 'FAIL'"),
    "verdicts of a check deleted": sql("DELETE FROM verdicts WHERE \"check\" = 'truth'"),
    "all verdicts deleted": sql("DELETE FROM verdicts"),
    "verdicts and their note deleted": sql(
        "DELETE FROM verdicts WHERE outcome = 'FAIL'", "DELETE FROM meta WHERE key = 'is_whole'"
    ),
    "cases taken away": case_taken_away,
    "case without a check": sql(
        "UPDATE cases SET primary_check = '' WHERE case_id IN (SELECT case_id FROM verdicts WHERE outcome = 'FAIL')",
        "DELETE FROM verdicts WHERE outcome = 'FAIL'",
    ),
    "verdicts on another model": sql(
        "INSERT INTO verdicts SELECT case_id, repeat, arm, 'better', \"check\", observers, 'PASS', '[]', '[]', scores, "
        "images, reason, is_refused, digest FROM verdicts"
    ),
    "label of a component": another_label,
    "label of a component everywhere": another_label_everywhere,
    "model renamed": renamed_model,
    "formulas": sql('UPDATE cases SET record = replace(record, \'"formula":"\', \'"formula":"3 \')'),
    "texts": sql('UPDATE cases SET record = replace(record, \'"text":"\', \'"text":"no \')'),
    "ids inside the cases": sql("UPDATE cases SET record = replace(record, 'distributive', 'commutative')"),
    "reasons": sql("UPDATE verdicts SET reason = 'all is well'"),
    "reasons as bytes": sql("UPDATE verdicts SET reason = CAST('x' AS BLOB)"),
    "images swapped": sql(
        "UPDATE renders SET image_id = (SELECT other.image_id FROM renders AS other WHERE other.image_id <> "
        "renders.image_id ORDER BY other.image_id LIMIT 1)"
    ),
    "size of an image": sql("UPDATE images SET width = 64"),
    "digest of an image": sql("UPDATE images SET digest = 'x'"),
    "boxes": sql('UPDATE observations SET observation = replace(observation, \'"label":"\', \'"label":"x\')'),
    "observations deleted": sql("DELETE FROM observations WHERE rowid % 3 = 0"),
    "identity of a component": sql("UPDATE components SET identity = replace(identity, 'painter', 'dall-e-3')"),
    "faults hidden in run.json": lambda run: edit_run_file(run, "entity-omission:0.4", "entity-omission:0.0"),
    "rule in run.json": rule_in_run_file,
    "seed in run.json": lambda run: edit_run_file(run, '"size": "8"', '"seed": 5, "size": "8"'),
    "trigger": sql("CREATE TRIGGER t AFTER INSERT ON verdicts BEGIN UPDATE verdicts SET outcome = 'PASS'; END"),
    "view": sql("ALTER TABLE verdicts RENAME TO v", "CREATE VIEW verdicts AS SELECT * FROM v WHERE outcome = 'PASS'"),
    "computed column": sql("ALTER TABLE cases ADD COLUMN more TEXT AS (upper(record))"),
    "label of a reviewer": edited_review,
    "view in reviews": view_in_reviews,
}


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("run.json", "pipe"),
        ("run.json", "device"),
        ("run.json", "large"),
        ("review.db", "pipe"),
        ("review.db", "device"),
    ],
)
def test_what_is_no_file_of_a_run_is_refused_at_once(run: Path, name: str, kind: str) -> None:
    other_than_a_file(name, kind)(run)
    assert salva("verify", str(run)).returncode == 2
    done = salva("report", str(run))
    assert (done.returncode, done.codes) == (2, ["store-damaged"])


@pytest.mark.parametrize("note", ["is_whole", "cases", "rules", "asked", "run_file", "%"])
def test_a_run_without_its_notes_is_not_held_to_be_finished(run: Path, note: str) -> None:
    change(run, f"DELETE FROM meta WHERE key LIKE '{note}'")
    mend(run)
    assert salva("verify", str(run)).returncode == 3


def is_found(run: Path) -> bool:
    """Whether `salva verify` ends with anything but 0."""
    try:
        report = verify(run, QUIET)
    except StoreError:
        return True
    return bool(report.problems or report.unchecked)


@pytest.mark.parametrize("is_mended", [False, True])
@pytest.mark.parametrize("forgery", FORGERIES)
def test_verify_finds_it(run: Path, forgery: str, is_mended: bool) -> None:
    assert not is_found(run)
    FORGERIES[forgery](run)
    if is_mended:
        # A table that cannot be written any more has no digests to mend.
        with suppress(sqlite3.OperationalError):
            mend(run)
    assert is_found(run)


@pytest.mark.parametrize("forgery", FORGERIES)
def test_the_report_refuses_it_or_says_that_the_run_is_incomplete(run: Path, forgery: str) -> None:
    before = results(run)
    FORGERIES[forgery](run)
    try:
        assert not read_records(run).is_whole or results(run) == before
    except StoreError:
        return


@pytest.mark.parametrize("forgery", FORGERIES)
def test_the_same_command_repairs_or_refuses_it(run: Path, forgery: str) -> None:
    before = results(run)
    FORGERIES[forgery](run)
    try:
        execute(plan(), run, QUIET)
        assert results(run) == before
        assert read_records(run).is_whole
    except SalvaError:
        assert is_found(run)


def test_no_gate_passes_without_the_verdicts_that_failed(run: Path) -> None:
    change(run, "DELETE FROM verdicts WHERE outcome = 'FAIL'")
    reported = json.loads(salva("report", str(run), "--format", "json").stdout)
    assert (reported["complete"], reported["exit_code"]) == (False, 3)
    assert salva("verify", str(run)).returncode == 2


def test_a_finished_run_is_only_read(run: Path) -> None:
    stamps = {path: path.stat().st_mtime_ns for path in run.rglob("*") if path.suffix not in (".db-shm", "")}
    done = execute(plan(), run, QUIET)
    assert (done.n_rendered, done.n_observed) == (0, 0)
    assert done.outcomes["FAIL"] > 0
    assert {path: path.stat().st_mtime_ns for path in run.rglob("*") if path.suffix not in (".db-shm", "")} == stamps
