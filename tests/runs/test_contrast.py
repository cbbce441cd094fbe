"""Control questions: judges that accept everything, or nothing, are found out; an honest one is not."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, ClassVar

import pytest

import salva
from salva import registry
from salva.core.about import About
from salva.core.observation import Answer
from salva.core.options import NoOptions
from salva.core.protocols import ObserveRequest
from salva.errors import SalvaError
from salva.judges.scene_judge import SceneJudge
from salva.results.trust import Trust
from salva.store.records import CONTRAST
from salva.store.sqlite import open_run


class YesJudge:
    """Answers yes to everything."""

    version: ClassVar[str] = "1"
    about: ClassVar[About] = About()
    word: ClassVar[str] = "yes"

    def __init__(self, options: NoOptions) -> None:
        self._options = options

    def observe(self, requests: Sequence[ObserveRequest]) -> Sequence[Answer | SalvaError]:
        """One word."""
        return [Answer(text=self.word, scores={}) for _ in requests]


class NoJudge(YesJudge):
    """Answers no to everything."""

    word: ClassVar[str] = "no"


@pytest.fixture(autouse=True)
def judges(monkeypatch: pytest.MonkeyPatch) -> None:
    for name, judge in {"yes": YesJudge, "no": NoJudge}.items():
        entry = registry.BuiltIn(source=f"{__name__}:{judge.__name__}")
        monkeypatch.setitem(registry.BUILT_IN["judge"], name, entry)


def run_judged(tmp_path: Path, judge: str, settings: Mapping[str, str] | None = None) -> salva.Run:
    return salva.run_suite(
        "metalogic",
        "painter",
        size="quick",
        check="right-answers",
        judge=judge,
        reader="none",
        out=tmp_path / "run",
        settings={"run.preflight": "off", **(settings or {})},
    )


def trust_of(run: salva.Run) -> Trust:
    assert run.summary.trust is not None
    return run.summary.trust


def codes(run: salva.Run) -> list[str]:
    return [reason.code for reason in trust_of(run).reasons]


@pytest.mark.parametrize("judge", ["yes", "no"])
def test_a_constant_judge_has_no_contrast(tmp_path: Path, judge: str) -> None:
    run = run_judged(tmp_path, judge)
    assert trust_of(run).status == "none"
    assert "judge-no-contrast" in codes(run)
    assert run.summary.exit_code == 3


def test_an_honest_judge_has_contrast_and_is_asked_once(tmp_path: Path) -> None:
    run = run_judged(tmp_path, "scene")
    assert "judge-no-contrast" not in codes(run)
    assert "judge-unprobed" not in codes(run)
    with open_run(tmp_path / "run") as store:
        counts: Any = store.meta()[CONTRAST]
    assert counts["painter"]["scene"]["n_controls"] == 20
    assert counts["painter"]["scene"]["n_accepted"] == 0


def test_controls_are_the_same_ones_whatever_was_stored_before(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    run_judged(tmp_path, "scene")
    with open_run(tmp_path / "run", "write") as store:
        before = store.meta()[CONTRAST]
        n_before = next(iter(store.rows("SELECT count(*) AS n FROM observations")))["n"]
        store.drop_meta(CONTRAST)
    monkeypatch.setattr(SceneJudge, "observe", None)
    run_judged(tmp_path, "scene")
    with open_run(tmp_path / "run") as store:
        assert store.meta()[CONTRAST] == before
        assert next(iter(store.rows("SELECT count(*) AS n FROM observations")))["n"] == n_before


def test_without_controls_a_judge_is_unprobed(tmp_path: Path) -> None:
    run = run_judged(tmp_path, "yes", {"run.contrast": "off"})
    assert trust_of(run).status == "limited"
    assert "judge-unprobed" in codes(run)


def test_no_judge_no_controls(tmp_path: Path) -> None:
    run = salva.run_suite("metalogic", "painter", size=4, judge="scene", out=tmp_path / "run")
    with open_run(tmp_path / "run") as store:
        assert CONTRAST not in store.meta()
    assert "judge-unprobed" not in codes(run)
