"""Garbage never passes a gate, in any suite, and the report says why; a faultless model passes the same gate."""

from __future__ import annotations

import importlib.util
import sys
from collections.abc import Callable, Iterator, Mapping
from functools import cache
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from faults import garbage
from msgspec import structs

from salva import registry
from salva.core.run_spec import RunSpec
from salva.core.verdict import OPTICAL_CHARACTER
from salva.engine.progress import SilentProgress
from salva.report.summary import Summary, decided, summarise_run
from salva.results.chance import CHANCE
from salva.results.exit_code import exit_code
from salva.results.gate import FAILED, INCONCLUSIVE, PASSED, Gate
from salva.runs.cases import planned_cases
from salva.runs.pipeline import execute
from salva.runs.plans import make_plan

LIMIT = 0.2
SIZES: Mapping[str, dict[str, Any]] = {
    "metalogic": {"size": "21"},
    "scene": {"repeats": 16, "settings": {"suite.law": "commutative", "suite.scene": "2 cat & dog"}},
    "geneval": {},
    "faithfulness": {},
    "prompts": {},
    "semvar": {},
    "actesting": {"size": "18"},
    "cfworld": {},
}
"""The suites, each asked for at least sixteen results."""
JUDGED = tuple(suite for suite in SIZES if suite != "actesting")
"""Those whose cases a judge alone can decide."""
READ = (garbage.RIGHT, "captioned")
"""Generated in a run with the default reader; the others in one without, since reading takes most of the time."""
UNREAD = tuple(kind for kind in garbage.KINDS if kind not in READ)
_HERE = Path(__file__).parent
IN_WORDS: Mapping[str, dict[str, Any]] = {
    "cfworld of the starter set": {"suite": "cfworld", "size": "24"},
    "prompts in words": {"suite": "prompts", "settings": {"suite.path": str(_HERE / "plain_prompts.txt")}},
    "prompts with questions": {
        "suite": "prompts",
        "settings": {
            "suite.path": str(_HERE / "plain_prompts.txt"),
            "check.questions": str(_HERE / "plain_questions.csv"),
        },
    },
    "semvar of one verb": {"suite": "semvar", "settings": {"suite.path": str(_HERE / "plain_triples.tsv")}},
}
"""Without formulas, in words of a template."""

Runner = Callable[..., Summary]


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Runner]:
    """Runs a suite once for all tests that ask for the same, and holds it against a gate."""

    @cache
    def summarised(suite: str, models: tuple[str, ...], reader: str, judge: str) -> Summary:
        asked: dict[str, Any] = {"suite": suite, "size": "quick", **{**SIZES, **IN_WORDS}[suite]}
        own = {f"{kind}.kind": kind for kind in models} | ({"judge.manner": judge} if judge else {})
        asked["settings"] = {"run.preflight": "off", **asked.get("settings", {}), **own}
        spec = RunSpec.of(
            models=tuple(f"{kind}=garbage" for kind in models),
            detector="none" if judge else "pocket",
            reader=reader,
            judges=("careless",) if judge else (),
            **asked,
        )
        plan = make_plan(spec)
        garbage.deal(list(planned_cases(plan)))
        directory = tmp_path_factory.mktemp("garbage") / "run"
        execute(plan, directory, SilentProgress())
        return decided(summarise_run(directory), Gate(max_failure_rate=LIMIT))

    with pytest.MonkeyPatch.context() as patch:
        garbage.register(patch)
        yield summarised


def assert_passes_no_gate(summary: Summary, model: str) -> None:
    """The gate has not passed, the command ends with 1 or 3, and something says why."""
    figures = summary.by_model[model]
    (gate,) = figures.gates
    code = exit_code([figures.standing], is_complete=summary.complete)
    assert (gate.decision != PASSED, code in (1, 3)) == (True, True), (gate, figures.trust)
    has_reason = gate.decision == INCONCLUSIVE and (gate.reason or gate.pairs_needed or gate.is_out_of_reach)
    assert gate.decision == FAILED or figures.trust.reasons or has_reason, gate


@pytest.mark.parametrize("kind", garbage.KINDS)
@pytest.mark.parametrize("suite", SIZES)
def test_garbage_passes_no_gate(suite: str, kind: str, run: Runner) -> None:
    summary = run(suite, READ, "", "") if kind in READ else run(suite, UNREAD, "none", "")
    assert_passes_no_gate(summary, kind)


@pytest.mark.parametrize("suite", SIZES)
def test_the_same_gate_lets_a_faultless_model_pass(suite: str, run: Runner) -> None:
    summary = run(suite, READ, "", "")
    figures = summary.by_model[garbage.RIGHT]
    assert figures.gates[0].decision == PASSED, (figures.gates, figures.failure_types)
    assert exit_code([figures.standing], is_complete=summary.complete) == 0


@pytest.mark.parametrize("suite", JUDGED)
@pytest.mark.parametrize("judge", garbage.JUDGES)
def test_a_judge_that_does_not_look_passes_no_gate_of_right_images(suite: str, judge: str, run: Runner) -> None:
    assert_passes_no_gate(run(suite, (garbage.RIGHT,), "none", judge), garbage.RIGHT)


@pytest.mark.parametrize("suite", JUDGED)
def test_a_caption_fails_an_image_where_a_judge_decides(suite: str, run: Runner) -> None:
    figures = run(suite, ("captioned",), "", "yes").by_model["captioned"]
    assert (figures.failure_rate or 0) > 0.5
    assert OPTICAL_CHARACTER in figures.failure_types


@pytest.mark.parametrize("suite", IN_WORDS)
@pytest.mark.parametrize("judge", garbage.JUDGES)
def test_a_judge_that_does_not_look_has_no_trust_without_formulas_either(suite: str, judge: str, run: Runner) -> None:
    summary = run(suite, ("noise",), "none", judge)
    assert_passes_no_gate(summary, "noise")
    trust = summary.by_model["noise"].trust
    assert (trust.status, "judge-no-contrast" in [reason.code for reason in trust.reasons]) == ("none", True)


@pytest.mark.parametrize("suite", IN_WORDS)
def test_a_judge_that_looks_is_trusted_without_formulas_too(suite: str, run: Runner) -> None:
    trust = run(suite, (garbage.WRITTEN,), "none", garbage.LOOKING).by_model[garbage.WRITTEN].trust
    assert trust.status == "ok", trust


FILE = Path(__file__).parents[2] / "bench" / "garbage.py"
N_SHUFFLES = 3


@pytest.fixture
def bench(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    """The file that measures garbage, with its components known for the length of a test."""
    spec = importlib.util.spec_from_file_location("bench_garbage", FILE)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    monkeypatch.setitem(sys.modules, "bench_garbage", module)
    spec.loader.exec_module(module)
    monkeypatch.setattr(registry, "_loose", {})
    module.register()
    return module


@pytest.mark.parametrize("is_compared", [False, True])
def test_shuffled_images_score_what_chance_says(is_compared: bool, bench: ModuleType) -> None:
    asked = bench.shuffled("quick", N_SHUFFLES)
    if is_compared:
        settings = {**asked.settings, "model.singly": "true"}
        asked = structs.replace(asked, settings=settings, check="same-scene")
    model = bench.summarised(asked)
    assert model.failure_rate == pytest.approx(model.metrics[CHANCE].value, abs=0.05)
