"""What verify finds: whoever falsifies a run and mends the digests of what he touched is found all the same."""

from __future__ import annotations

import json
import shutil
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from runs.forging import change, mend

from salva.core.run_spec import RunSpec
from salva.engine.progress import SilentProgress
from salva.errors import StoreError
from salva.runs.pipeline import execute
from salva.runs.plans import make_plan
from salva.runs.verify import VerifyReport, verify


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run with repeats, a control arm, a judge and verdicts of every kind."""
    directory = tmp_path_factory.mktemp("verify") / "run"
    ask = RunSpec.of(
        suite="metalogic",
        models=("painter",),
        reader="none",
        judges=("scene",),
        size="2",
        repeats=2,
        control=True,
        settings={
            "model.faults": "entity-omission:0.4,entity-duplication:0.6",
            "model.side": "256",
            "run.preflight": "off",
        },
    )
    execute(make_plan(ask), directory, SilentProgress())
    return directory


@pytest.fixture
def run(made: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(made, tmp_path / "run"))


def checked(run: Path) -> VerifyReport:
    return verify(run, SilentProgress())


def edit(run: Path, *statements: str) -> None:
    """Change the store and mend every digest, as somebody does who has read how they are made."""
    change(run, *statements)
    mend(run)


def test_a_run_as_it_was_made_matches_and_every_verdict_was_made_anew(run: Path) -> None:
    report = checked(run)
    assert (report.problems, report.unchecked) == ((), ())
    with closing(sqlite3.connect(run / "salva.db")) as connection:
        n_verdicts = connection.execute("SELECT count(*) FROM verdicts").fetchone()[0]
    assert report.n_recomputed == n_verdicts > 0


@pytest.mark.parametrize(
    ("statements", "told"),
    [
        (["UPDATE verdicts SET outcome = 'FAIL'"], "leads to PASS"),
        (
            ["UPDATE verdicts SET outcome = 'PASS', failure_types = '[]', failures = '[]'"],
            "leads to FAIL",
        ),
        (
            ["UPDATE verdicts SET failure_types = '[\"optical-character\"]' WHERE outcome = 'FAIL'"],
            "leads to other failure_types",
        ),
        (["UPDATE verdicts SET scores = '{}' WHERE scores != '{}'"], "leads to other scores"),
        (["DELETE FROM observations"], "is not stored"),
        (["DELETE FROM observations WHERE rowid % 7 = 0"], "is not stored"),
        (["DELETE FROM verdicts WHERE outcome = 'FAIL'"], "missing"),
        (["DELETE FROM verdicts WHERE \"check\" = 'truth'"], "missing"),
        (["DELETE FROM renders WHERE rowid = 1"], "is not stored"),
        (
            ['UPDATE cases SET record = replace(record, \'"text":"\', \'"text":"no \')'],
            "is not stored",
        ),
        (["UPDATE observations SET observation = replace(observation, '0.9', '0.1')"], "leads to"),
    ],
)
def test_a_falsified_store_is_found_with_every_digest_mended(run: Path, statements: list[str], told: str) -> None:
    edit(run, *statements)
    problems = checked(run).problems
    assert any(told in problem for problem in problems), problems[:5]


def test_a_way_that_no_case_went_is_not_missed_and_one_that_cases_went_is(tmp_path: Path) -> None:
    settings = {"model.side": "256", "run.preflight": "off"}
    ask = RunSpec.of(
        suite="prompts", models=("painter",), reader="none", judges=("scene",), size="3", settings=settings
    )
    execute(make_plan(ask), tmp_path / "run", SilentProgress())
    report = checked(tmp_path / "run")
    assert (report.problems, report.unchecked) == ((), ())
    edit(tmp_path / "run", "DELETE FROM verdicts WHERE \"check\" = 'truth'")
    problems = checked(tmp_path / "run").problems
    assert problems
    assert all("/truth: 1 verdict missing" in problem for problem in problems)


def test_cases_of_one_run_may_go_different_ways(tmp_path: Path) -> None:
    file = tmp_path / "prompts.txt"
    file.write_text("two cats and a dog\na red cat sleeping on a chair\n")
    settings = {"model.side": "256", "run.preflight": "off", "suite.path": str(file)}
    settings |= {"suite.questions": "parts", "suite.parser": "grammar"}
    ask = RunSpec.of(suite="prompts", models=("painter",), reader="none", judges=("scene",), settings=settings)
    execute(make_plan(ask), tmp_path / "run", SilentProgress())
    report = checked(tmp_path / "run")
    assert (report.problems, report.unchecked) == ((), ())
    assert report.n_recomputed == 2
    edit(tmp_path / "run", "DELETE FROM verdicts WHERE \"check\" = 'right-answers'")
    (problem,) = checked(tmp_path / "run").problems
    assert "/right-answers: 1 verdict missing" in problem


def seed_7(content: dict[str, object]) -> None:
    content["spec"]["seed"] = 7  # type: ignore[index]  # JSON


def another_rule(content: dict[str, object]) -> None:
    for relation in content["spec"]["checks"]:  # type: ignore[index]  # JSON
        if "counts" in relation["options"]:
            relation["options"]["counts"] = "at-least"


def another_model(content: dict[str, object]) -> None:
    components: Any = content["components"]
    next(part for part in components if part["role"] == "model")["component_id"] = "0" * 32


def more(content: dict[str, object]) -> None:
    content["environment"]["python"] = "2.7"  # type: ignore[index]  # JSON


@pytest.mark.parametrize("is_digest_lost", [False, True])
@pytest.mark.parametrize("change", [seed_7, another_rule, another_model, more])
def test_an_edited_run_json_is_found(
    run: Path, change: Callable[[dict[str, object]], None], is_digest_lost: bool
) -> None:
    if is_digest_lost:
        edit(run, "DELETE FROM meta WHERE key = 'run_file'")
    content = json.loads((run / "run.json").read_text())
    change(content)
    (run / "run.json").write_text(json.dumps(content))
    # Where it ran is in run.json alone.
    assert bool(checked(run).problems) == (not is_digest_lost or change is not more)


def test_the_store_of_another_run_is_found(run: Path, tmp_path: Path) -> None:
    ask = RunSpec.of(
        suite="metalogic", models=("painter",), reader="none", size="2", seed=5, settings={"run.preflight": "off"}
    )
    execute(make_plan(ask), tmp_path / "other", SilentProgress())
    shutil.copy(tmp_path / "other" / "salva.db", run / "salva.db")
    problems = checked(run).problems
    assert any("run.json" in problem for problem in problems), problems[:5]


@pytest.mark.parametrize("emptied", ["file", "rows", "foreign"])
def test_a_store_that_holds_no_run_is_an_error(run: Path, emptied: str) -> None:
    told = "empty"
    if emptied == "file":
        (run / "salva.db").write_bytes(b"")
    elif emptied == "rows":
        connection = sqlite3.connect(run / "salva.db")
        for table in ("cases", "verdicts", "observations", "renders", "images", "components", "meta"):
            connection.execute(f"DELETE FROM {table}")
        connection.commit()
        connection.close()
        told = r"\[cases-not-stored\]"
    else:
        (run / "salva.db").unlink()
        connection = sqlite3.connect(run / "salva.db")
        connection.execute("CREATE TABLE verdicts (name TEXT)")
        connection.commit()
        connection.close()
        told = "not one of salva's"
    with pytest.raises(StoreError, match=told):
        checked(run)


@pytest.mark.parametrize(
    ("old", "new", "told"),
    [
        ('"same-scene"', '"from-a-plugin"', "no check named 'from-a-plugin'"),
        ('"scene"', '"eye-of-a-plugin"', "no judge named 'eye-of-a-plugin'"),
    ],
)
def test_what_a_missing_plugin_made_is_not_checked_and_never_matches(run: Path, old: str, new: str, told: str) -> None:
    connection = sqlite3.connect(run / "salva.db")
    for table, columns in (("verdicts", ("check", "observers")), ("components", ("label", "identity"))):
        for column in columns:
            plain = [text.strip('"') for text in (old, new)]
            connection.execute(f'UPDATE {table} SET "{column}" = replace("{column}", ?, ?)', (old, new))
            connection.execute(f'UPDATE {table} SET "{column}" = ? WHERE "{column}" = ?', plain[::-1])
    connection.commit()
    connection.close()
    mend(run)
    (run / "run.json").write_text((run / "run.json").read_text().replace(old, new))
    report = checked(run)
    assert any(told in reason for reason in report.unchecked), report.unchecked
