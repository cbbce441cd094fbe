"""A thing that the detector cannot name decides nothing, and nothing is painted or looked at for it."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from typing import Any, ClassVar

import pytest
from click.testing import CliRunner, Result

from salva.cli.main import salva as command_line
from salva.core.about import About, Habits, Naming
from salva.core.case import Case
from salva.core.observation import Answer
from salva.core.options import NoOptions
from salva.core.protocols import Conclusion, ImageObservations, Need, ObserveRequest, Query
from salva.core.verdict import Outcome, Verdict
from salva.engine.progress import SilentProgress
from salva.errors import UsageError
from salva.report.summary import summarise_run
from salva.runs.pipeline import execute
from salva.runs.rejudge import rejudge
from salva.store.sqlite import open_run
from salva.testing.fakes import CALLS, FakeDetector, FakeSame
from salva.testing.specs import bound, fake_spec

KNOWN = ("cat", "dog", "apple")
LABELS = Query(role="detector", labels=("cat",))


class Few(FakeDetector):
    """Knows three things, as it says at once."""

    about: ClassVar[About] = About(names=KNOWN)


class Loaded(FakeDetector):
    """Knows three things, as its weights say."""

    about: ClassVar[About] = About(names=Naming.LOADED)

    def __init__(self, options: FakeDetector.Options) -> None:
        super().__init__(options)
        self.habits = Habits(batch_size=4, names=KNOWN)


class Asking(FakeSame):
    """As its parent, and asks for the things by name, as checks over scenes do."""

    def needs(
        self, case: Case, roles: Collection[str], observations: Mapping[str, ImageObservations]
    ) -> Sequence[Need]:
        things = tuple(sorted((case.labels["first"], case.labels["second"])))
        return [
            Need(role=look.role, query=Query(role="detector", labels=things))
            for look in super().needs(case, roles, observations)
        ]

    def judge(self, case: Case, observations: Mapping[str, ImageObservations]) -> Conclusion:
        return Conclusion(outcome=Outcome.PASS)


class Content:
    """A judge that is always content."""

    version: ClassVar[str] = "1"

    def __init__(self, options: NoOptions) -> None: ...

    def observe(self, requests: Sequence[ObserveRequest]) -> Sequence[Answer]:
        CALLS.add("judged", len(requests))
        return [Answer(text="yes", scores={}) for _ in requests]


class Helped:
    """A check that needs a judge and is glad of boxes."""

    version: ClassVar[str] = "1"
    about: ClassVar[About] = About(needs_roles=("judge",))

    def __init__(self, options: NoOptions) -> None: ...

    def applies(self, case: Case) -> bool:
        return True

    def needs(
        self, case: Case, roles: Collection[str], observations: Mapping[str, ImageObservations]
    ) -> Sequence[Need]:
        things = (case.labels["first"], case.labels["second"])
        queries = [Query(role="judge", kind="answer", text="well?")]
        queries += [Query(role="detector", labels=things)] if "detector" in roles else []
        return [Need(role=prompt.role, query=query) for prompt in case.prompts for query in queries]

    def judge(self, case: Case, observations: Mapping[str, ImageObservations]) -> Conclusion:
        has_boxes = any(query.role == "detector" for sight in observations.values() for query in sight.seen)
        return Conclusion(outcome=Outcome.PASS, scores={"has_boxes": float(has_boxes)})


@pytest.fixture(autouse=True)
def count_anew() -> None:
    CALLS.clear()


def asking(**changes: Any) -> dict[str, Any]:
    return {"checks": (bound("check", Asking, "fake-same"),), **changes}


def verdicts(directory: Path) -> list[Verdict]:
    with open_run(directory) as store:
        return list(store.verdicts())


def is_known(case_id: str) -> bool:
    return set(case_id.split("-")[2:]) <= set(KNOWN)


@pytest.mark.parametrize("detector", [Few, Loaded])
def test_nothing_is_painted_for_what_the_detector_cannot_name(
    detector: type[FakeDetector], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    spec = fake_spec(10, **asking(detector=bound("detector", detector, "few"), repeats=2, control=True))
    summary = execute(spec, tmp_path, SilentProgress())
    rows = [verdict for verdict in verdicts(tmp_path) if verdict.arm == "pair"]
    known = [verdict for verdict in rows if is_known(verdict.case_id)]
    unknown = [verdict for verdict in rows if not is_known(verdict.case_id)]
    assert (len(known), len(unknown)) == (8, 12)
    assert {verdict.outcome for verdict in known} == {Outcome.PASS}
    assert {verdict.outcome for verdict in unknown} == {Outcome.UNDECIDED}
    assert {tuple(verdict.images) for verdict in unknown} == {()}
    assert unknown[0].reason == "the detector 'few' cannot name banana"
    assert unknown[0].observers == ("few",)
    assert summary.n_rendered == CALLS["render"] == 2 * len(known)
    told = capsys.readouterr().err
    assert re.search(r"6 of 10 cases.* 'few' .*\[cases-undecidable\]", told)
    trust = summarise_run(tmp_path).by_model["fake"].trust
    assert trust.has("few-decided")
    CALLS.clear()
    assert execute(spec, tmp_path, SilentProgress()).outcomes == summary.outcomes
    assert not CALLS["render"] + CALLS["detect"] + CALLS["detector built"], "a finished run asks nobody"


def test_a_run_that_could_decide_nothing_is_refused_and_leaves_nothing(tmp_path: Path) -> None:
    spec = fake_spec(2, **asking(detector=bound("detector", Few, "few", blind_to="x"), size="full"))
    names = About(names=("horse",))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Few, "about", names)
        with pytest.raises(UsageError, match=r"2 cases: the detector 'few' .* apple, .*\[check-undecided\]"):
            execute(spec, tmp_path / "run", SilentProgress())
    assert not (tmp_path / "run").exists()
    assert not CALLS["render"]


def test_names_in_the_weights_are_remembered_for_those_who_judge_again(tmp_path: Path) -> None:
    spec = fake_spec(10, **asking(detector=bound("detector", Loaded, "few")))
    execute(spec, tmp_path, SilentProgress())
    before = verdicts(tmp_path)
    CALLS.clear()
    rejudge(tmp_path, spec, SilentProgress())
    assert verdicts(tmp_path) == before
    assert not CALLS["detector built"]


def test_who_needs_no_boxes_judges_without_them_and_the_case_is_painted(tmp_path: Path) -> None:
    checks = (bound("check", Asking, "fake-same"), bound("check", Helped, "helped"))
    judges = (bound("judge", Content, "content"),)
    spec = fake_spec(10, detector=bound("detector", Few, "few"), checks=checks, judges=judges)
    execute(spec, tmp_path, SilentProgress())
    rows = verdicts(tmp_path)
    assert CALLS["render"] == 20
    assert CALLS["detect"] == 8, "of the pictures whose things it can name"
    for verdict in rows:
        if verdict.check == "helped":
            assert verdict.outcome is Outcome.PASS
            assert verdict.scores["has_boxes"] == is_known(verdict.case_id)
            assert verdict.observers == (("few", "content") if is_known(verdict.case_id) else ("content",))
        else:
            assert (verdict.outcome is Outcome.PASS) == is_known(verdict.case_id)


def run(*words: str) -> Result:
    arguments = ["run", "metalogic", "--model", "painter", "--reader", "none", "--no-progress", *words]
    return CliRunner().invoke(command_line, arguments, catch_exceptions=False)


def test_things_that_no_detector_here_knows_end_the_command_before_painting(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(UsageError) as error:
        run("--set", "suite.entities=zebra,laptop,kite", "--size", "20")
    assert error.value.code == "check-undecided"
    assert "kite, laptop, zebra" in str(error.value)
    assert "grounding-dino" in str(error.value)
    assert ", pocket" not in str(error.value), "who cannot name them is not recommended"
    assert not list(tmp_path.iterdir())


def test_a_mixture_leaves_what_can_be_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    done = run("--set", "suite.entities=cat,dog,zebra", "--size", "12", "--out", "mixed")
    assert done.exit_code == 3, "too little is decided"
    assert "[few-decided]" in done.output
    rows = verdicts(Path("mixed"))
    for verdict in rows:
        assert ("zebra" in verdict.case_id) == (verdict.outcome is Outcome.UNDECIDED)
        assert ("zebra" in verdict.case_id) == (not verdict.images)
    assert any(verdict.images for verdict in rows)


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("--only", "law=de-morgan", "--check", "same-scene"), r"truth .*\[check-inapplicable\]"),
        (("--detector", "none", "--embedder", "pocket", "--check", "truth"), r"\[needs-component\]"),
    ],
)
def test_a_relation_that_no_case_is_for_is_refused_before_painting(
    words: tuple[str, ...], message: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(UsageError, match=message):
        run(*words)
    assert not list(tmp_path.iterdir())


def test_what_the_chosen_check_cannot_judge_is_undecided_and_counted(tmp_path: Path) -> None:
    done = run("--size", "quick", "--only", "modifier=and", "--check", "same-scene", "--out", str(tmp_path / "run"))
    assert re.search(r"3 cases.*\[cases-unchecked\]", done.output)
    (model,) = summarise_run(tmp_path / "run").by_model.values()
    assert (model.results["total"], model.results["undecided"]) == (15, 3)
    assert dict(model.checks) == {"same-scene": 12}


def test_an_observer_that_no_check_asks_is_reported(tmp_path: Path) -> None:
    done = run("--size", "4", "--embedder", "pocket", "--out", str(tmp_path / "run"))
    assert "[observer-unused]" in done.output
    done = run("--size", "4", "--embedder", "pocket", "--check", "same-similarity", "--out", str(tmp_path / "used"))
    assert "[observer-unused]" not in done.output


def test_a_judge_that_reasons_from_formulas_is_not_asked_about_sentences(tmp_path: Path) -> None:
    triples = tmp_path / "mine.tsv"
    triples.write_text("1_1\ta cat chases a dog\ta dog chases a cat\ta dog is chased by a cat\n", encoding="utf-8")
    words = ["run", "semvar", "--model", "painter", "--size", "full", "--set", f"suite.path={triples}"]
    with pytest.raises(UsageError, match=r"\[check-undecided\]"):
        CliRunner().invoke(command_line, [*words, "--out", str(tmp_path / "run")], catch_exceptions=False)
    assert not (tmp_path / "run").exists()
