"""A dry run's numbers are those of the run that follows, and it leaves no trace."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path

import pytest
from in_process import salva

from salva.api import plan_run
from salva.core.run_spec import RunSpec
from salva.engine.budget import Limits
from salva.engine.progress import SilentProgress
from salva.errors import UsageError
from salva.runs.forecast import Forecast, forecast
from salva.runs.pipeline import execute
from salva.runs.plans import AllButSuite, make_plan
from salva.store.sqlite import open_run

SUITES = ("actesting", "cfworld", "faithfulness", "metalogic", "prompts", "semvar")
QUIET = {"run.preflight": "off"}


def seen(ask: RunSpec, directory: Path) -> Forecast:
    return forecast(make_plan(ask, foreign=AllButSuite()), directory)


@pytest.mark.parametrize("suite", SUITES)
def test_what_is_foreseen_is_what_is_done(suite: str, tmp_path: Path) -> None:
    # Of a number of cases cfworld takes those of its starter set, which no embedded judge can judge.
    size = "quick" if suite == "cfworld" else "2"
    ask = RunSpec.of(suite=suite, models=("painter",), size=size, repeats=2, settings=QUIET)
    before = seen(ask, tmp_path / "run")
    assert not (tmp_path / "run").exists()
    summary = execute(make_plan(ask), tmp_path / "run", SilentProgress())
    by_role = {work.role: work for work in before.work}
    assert before.n_cases == sum(before.checks.values()) == before.n_decidable
    assert by_role["model"].n == summary.n_rendered
    with open_run(tmp_path / "run") as store:
        looks = Counter(
            row["role"] for row in store.rows("SELECT role FROM observations JOIN components USING (component_id)")
        )
    assert looks.keys() == by_role.keys() - {"model"}
    for role, n in looks.items():
        # A painter may paint one picture for two prompts, and that is looked at once.
        assert n <= by_role[role].n_most
        assert n >= by_role[role].n * 0.5
    after = seen(ask, tmp_path / "run")
    assert after.n_stored
    assert after.is_finished
    assert {(work.n, work.n_most) for work in after.work} == {(0, 0)}, "nothing is done twice"
    assert {work.role: work.n_there for work in after.work} == {"model": summary.n_rendered, **looks}


def test_of_an_unfinished_run_what_is_left_is_counted(tmp_path: Path) -> None:
    ask = RunSpec.of(suite="metalogic", models=("painter",), size="4")
    run = tmp_path / "run"
    whole = next(work for work in seen(ask, run).work if work.role == "model")
    execute(make_plan(ask), run, SilentProgress(), limits=Limits(max_images=3))
    after = seen(ask, run)
    painting = next(work for work in after.work if work.role == "model")
    assert not after.is_finished
    assert (painting.n_there, painting.n) == (3, whole.n - 3)
    looking = next(work for work in after.work if work.role == "detector")
    assert looking.n_there <= 3, "pictures of salva's own were looked at besides, and are not counted"
    words = ("run", "metalogic", "--model", "painter", "--size", "4", "--out", str(run))
    shown = salva(*words, "--dry-run").stdout
    assert f"model painter: {whole.n - 3}; 3 are stored" in shown
    assert salva(*words).returncode == 0
    shown = salva(*words, "--dry-run").stdout
    assert "remaining" in shown
    assert "detector pocket: 0; " in shown


@pytest.mark.parametrize(
    ("settings", "least", "most"),
    [
        ({}, 3, 5),
        ({"check.lock_in": "false"}, 3, 3),
        ({"check.rubrics": "one", "check.gate": "skip"}, 1, 5),
    ],
)
def test_what_low_grades_would_lead_to_is_in_the_plan(
    settings: dict[str, str], least: int, most: int, tmp_path: Path
) -> None:
    """A group of CF-World: L1, L2 and L3 (to this judge all rubrics are one), and whether failures show the fact."""
    asked = {"check.flip_sample": "0", **QUIET, **settings}
    plan = seen(RunSpec.of(suite="cfworld", models=("painter",), size="quick", settings=asked), tmp_path / "run")
    judge = next(work for work in plan.work if work.role == "judge")
    n_controls = 20
    assert (judge.n, judge.n_most) == (least * plan.n_cases, most * plan.n_cases + n_controls)


def test_prices_come_from_options(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-of-a-test")
    ask = RunSpec.of(suite="prompts", models=("openai/x",), judges=("openai/j",), settings={"model.price_usd": "0.04"})
    unknown = seen(ask, tmp_path / "run")
    painted = next(work for work in unknown.work if work.role == "model")
    assert painted.usd == pytest.approx(0.04 * painted.n)
    assert unknown.usd is None
    judge = next(work for work in unknown.work if work.role == "judge")
    assert "judge.usd_per_million_input" in judge.why_no_price


@pytest.mark.parametrize("suite", SUITES)
def test_the_command_exits_0_and_writes_nothing(suite: str, tmp_path: Path) -> None:
    done = salva("run", suite, "--dry-run", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "images" in done.stdout
    assert "checks" in done.stdout
    assert not list(tmp_path.iterdir())


def test_what_would_refuse_the_run_refuses_the_dry_run(tmp_path: Path) -> None:
    for words in (("--model", "openai/x"), ("--max-cost", "1", "--model", "openai/x", "--detector", "pocket")):
        done = salva("run", "metalogic", "--dry-run", *words, cwd=tmp_path, OPENAI_API_KEY="sk-of-a-test")
        assert done.returncode == 2, done.stdout
    assert not list(tmp_path.iterdir())


def test_a_file_of_a_judges_own_words_is_opened_before_anybody_is_asked(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-of-a-test")
    own = tmp_path / "own.txt"
    ask = RunSpec.of(suite="semvar", models=("painter",), judges=("openai/j",), settings={"judge.prompt": str(own)})
    with pytest.raises(UsageError, match=r"judge\.prompt is .*own\.txt.*\[option-invalid\]"):
        seen(ask, tmp_path / "run")
    own.write_text("Rate {prompt}")
    assert seen(ask, tmp_path / "run").n_cases == 20


def test_things_without_a_name_are_told_before_anything_is_painted(tmp_path: Path) -> None:
    (tmp_path / "p.txt").write_text("a cat and a dog\na cat and a skateboard\nA man rides a wave")
    done = salva("run", "prompts", "--set", "suite.path=p.txt", "--dry-run", cwd=tmp_path)
    assert "1: the detector 'pocket' cannot name skateboard" in done.stdout
    assert "1: no formula: " in done.stdout


def test_prompts_that_a_question_file_does_not_have_are_told_so(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-of-a-test")
    (tmp_path / "p.txt").write_text("a man rides a wave\nthe bird sings\n")
    header = "item_id,text,proposition_id,dependency,category_broad,tuple,question_natural_language\n"
    (tmp_path / "q.csv").write_text(f"{header}1,a man rides a wave,1,0,entity,man,Is there a man?\n")
    settings = {"suite.path": str(tmp_path / "p.txt"), "check.questions": str(tmp_path / "q.csv")}
    ask = RunSpec.of(suite="prompts", models=("openai/x",), judges=("openai/j",), settings=settings)
    plan = seen(ask, tmp_path / "run")
    ((reason, n),) = plan.reasons.items()
    assert (str(tmp_path / "q.csv") in reason, n) == (True, 1)
    assert (plan.n_cases, plan.n_decidable) == (2, 1)


def test_python_gets_the_same_plan(tmp_path: Path) -> None:
    planned = plan_run("prompts", model="painter", size=3, out=tmp_path / "run")
    assert planned == seen(RunSpec.of(suite="prompts", models=("painter",), size="3"), tmp_path / "run")
    assert plan_run("prompts", model=_never, detector="pocket", out=tmp_path / "run").n_cases == 18
    assert not list(tmp_path.iterdir())


def _never(prompt: str, seed: int) -> None:
    raise AssertionError(f"{prompt!r} was painted with seed {seed}")


def test_entities_that_a_checkpoint_cannot_name_are_listed_before_its_weights_are_here(tmp_path: Path) -> None:
    (tmp_path / "config.json").write_text(json.dumps({"id2label": {"0": "cat", "1": "dog", "2": "puppy"}}))
    spec = RunSpec.of(suite="metalogic", models=("painter",), size="quick", detector=f"detr/{tmp_path}", settings=QUIET)
    before = seen(spec, tmp_path / "run")
    assert 0 < before.n_decidable < before.n_cases
    named = {name for reason in before.reasons for name in reason.partition(" cannot name ")[2].split(", ")}
    assert "apple" in named
    assert not {"cat", "dog", ""} & named
    unknown = RunSpec.of(suite="metalogic", models=("painter",), size="quick", detector="detr/no/where", settings=QUIET)
    assert seen(unknown, tmp_path / "run").reasons == {}
