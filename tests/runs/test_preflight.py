"""Whoever is to look at a run's pictures is tried first: a fraud costs no picture, an honest one is asked once."""

from __future__ import annotations

import io
import json
import subprocess
import sys
import time
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, ClassVar

import pytest
from msgspec import structs
from rich.console import Console

from salva.core.about import About, Habits
from salva.core.case import Case
from salva.core.observation import Answer, Detection, Detections, Observation
from salva.core.options import option
from salva.core.protocols import Conclusion, ImageObservations, Need, ObserveRequest, Query
from salva.core.run_spec import RunSpec
from salva.core.verdict import Outcome
from salva.engine import guard
from salva.engine.budget import Limits
from salva.engine.progress import SilentProgress
from salva.errors import BackendError, SalvaError, UnusableError, UsageError
from salva.report.html import render_html, write_html
from salva.report.markdown import to_markdown
from salva.report.summary import summarise_run
from salva.report.terminal import print_summary
from salva.runs.pipeline import execute
from salva.runs.plans import make_plan
from salva.runs.rejudge import rejudge
from salva.runs.verify import verify
from salva.store.queries import open_source
from salva.store.sqlite import open_run
from salva.testing.fakes import CALLS, FakeSame
from salva.testing.specs import bound, fake_spec


class Witness:
    """A judge that is honest or not, and counts what it is asked."""

    @dataclass(frozen=True, slots=True, kw_only=True)
    class Options:
        """What it does."""

        manner: str = option("honest", "What it says.", keyed=False)
        healed_by: str = option("", "A file whose presence makes it honest.", keyed=False)
        log: str = option("", "A file with a line for every look that ended.", keyed=False)

    version: ClassVar[str] = "1"

    def __init__(self, options: Options) -> None:
        self.options = options
        self.habits = Habits(depth=1, timeout_s=0.3 if options.manner.startswith("hangs") else None)
        CALLS.add("witness built")

    def observe(self, requests: Sequence[ObserveRequest]) -> Sequence[Observation | SalvaError]:
        """One answer or error per request."""
        CALLS.add("witness", len(requests))
        return [self._said(request.query) for request in requests]

    def _said(self, query: Query) -> Observation | SalvaError:
        is_true = "airplane" not in f"{query.text}{query.questions}"
        is_healed = self.options.healed_by and Path(self.options.healed_by).exists()
        match "honest" if is_healed else self.options.manner:
            case "yes":
                is_true = True
            case "no":
                is_true = False
            case "inverted":
                is_true = not is_true
            case "unreadable":
                return Answer(text="", scores={}, reply="Lovely!", problem="no answer in it")
            case "down":
                return BackendError("500 Internal Server Error")
            case "hangs":
                time.sleep(1)
            case "hangs later" if not is_true:
                time.sleep(1)
            case "waits later" if not is_true:
                time.sleep(60)
        if self.options.log:
            with Path(self.options.log).open("a") as log:
                log.write(f"{query.text}\n")
        value = float(is_true)
        return Answer(text="yes" if is_true else "no", scores={"objects": 50 * value, "relations": 9.0, "q1": value})


class Paid(Witness):
    """The same at an endpoint that takes money."""

    about: ClassVar[About] = About(is_remote=True)

    @dataclass(frozen=True, slots=True, kw_only=True)
    class Options:
        """What it takes."""

        manner: str = option("honest", "What it says.", keyed=False)
        healed_by: str = option("", "A file whose presence makes it honest.", keyed=False)
        log: str = option("", "A file with a line for every look that ended.", keyed=False)
        price_usd: float | None = option(None, "What a look costs.", keyed=False)


class Asks:
    """Check: whatever the judge says will do."""

    @dataclass(frozen=True, slots=True, kw_only=True)
    class Options:
        """What it asks for."""

        kind: str = option("answer", "score, answer or grade.")

    version: ClassVar[str] = "1"
    about: ClassVar[About] = About(needs_roles=("judge",))

    def __init__(self, options: Options) -> None:
        self.options = options

    def applies(self, case: Case) -> bool:  # the seam's signature
        """Any case."""
        return True

    def needs(
        self, case: Case, roles: Collection[str], observations: Mapping[str, ImageObservations]
    ) -> Sequence[Need]:
        """One question about each picture."""
        text = "Is it nice?"
        query = Query(role="judge", kind=self.options.kind, text=text, questions=(text,), choices=("yes", "no"))
        return [Need(role=prompt.role, query=query) for prompt in case.prompts]

    def judge(self, case: Case, observations: Mapping[str, ImageObservations]) -> Conclusion:  # the seam's signature
        """Fine."""
        return Conclusion(outcome=Outcome.PASS)


class Dreamer:
    """A detector that sees a cow in everything."""

    @dataclass(frozen=True, slots=True, kw_only=True)
    class Options:
        """How sure it is."""

        score: float = option(0.9, "Of the cow.")
        threshold: float | None = option(0.4, "Its own; None for one without scores.")

    version: ClassVar[str] = "1"

    def __init__(self, options: Options) -> None:
        self.options = options

    def observe(self, requests: Sequence[ObserveRequest]) -> Sequence[Observation | SalvaError]:
        """A cow."""
        CALLS.add("detect", len(requests))
        cow = Detection(label="cow", score=self.options.score, box=(0.0, 0.0, 1.0, 1.0))
        return [Detections(boxes=(cow,), floor=self.options.threshold, threshold=self.options.threshold)] * len(
            requests
        )


class From(FakeSame):
    """The same, of boxes from a score on."""

    @dataclass(frozen=True, slots=True, kw_only=True)
    class Options:
        """From which."""

        is_strict: bool = option(False, "Whether the order counts.")
        threshold: float | None = option(None, "The score.")


class Notes(SilentProgress):
    """Keeps what it is told."""

    def __init__(self) -> None:
        self.told: list[str] = []

    def note(self, message: str) -> None:
        self.told.append(message)


@pytest.fixture(autouse=True)
def fresh(monkeypatch: pytest.MonkeyPatch) -> None:
    CALLS.clear()
    monkeypatch.setattr(guard, "FIRST_DELAY_S", 0.001)


def judged(manner: str = "honest", kind: str = "answer", **more: Any) -> Any:
    """A run of 4 cases with one judge and no other observer, who is tried first."""
    judge = bound("judge", more.pop("component", Witness), "witness", manner=manner, **more)
    return fake_spec(
        4, detector=None, judges=(judge,), checks=(bound("check", Asks, "asks", kind=kind),), preflight=True
    )


@pytest.mark.parametrize("kind", ["answer", "score", "grade"])
def test_an_honest_judge_is_asked_twice_and_the_run_goes_on(kind: str, tmp_path: Path) -> None:
    summary = execute(judged(kind=kind), tmp_path / "run", SilentProgress())
    assert (summary.outcomes["PASS"], summary.n_rendered) == (4, 8)
    assert CALLS["witness"] == 2 + 8
    again = execute(judged(kind=kind), tmp_path / "run", SilentProgress())
    assert (again.n_observed, CALLS["witness"], CALLS["render"]) == (0, 10, 8)
    assert verify(tmp_path / "run", SilentProgress()).is_sound


@pytest.mark.parametrize("kind", ["answer", "score", "grade"])
@pytest.mark.parametrize("manner", ["yes", "no", "inverted", "unreadable"])
def test_a_judge_that_tells_nothing_apart_costs_no_picture(manner: str, kind: str, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"'witness' .*airplane.*\[preflight-failed\]"):
        execute(judged(manner, kind), tmp_path / "run", SilentProgress())
    assert (CALLS["witness"], CALLS["render"], CALLS["generator built"]) == (2, 0, 0)
    with pytest.raises(UsageError, match=r"\[preflight-failed\]"):
        execute(judged(manner, kind), tmp_path / "run", SilentProgress())
    assert CALLS["witness"] == 2


@pytest.mark.parametrize(("manner", "words"), [("hangs", "0.3 s"), ("down", "500 Internal")])
def test_a_judge_that_does_not_answer_costs_no_picture(manner: str, words: str, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=rf"{words}.*\[preflight-broken\]"):
        execute(judged(manner), tmp_path / "run", SilentProgress())
    assert (CALLS["render"], CALLS["generator built"]) == (0, 0)


def test_an_endpoint_that_is_down_stops_the_run_before_anything_is_painted(tmp_path: Path) -> None:
    with pytest.raises(UnusableError, match=r" 2 times.*500(.|\n)*\[endpoint-down\]"):
        execute(judged("down", component=Paid), tmp_path / "run", SilentProgress())
    assert CALLS["render"] == 0


def test_what_was_answered_is_not_asked_again(tmp_path: Path) -> None:
    healed = tmp_path / "healed"
    spec = judged("hangs later", healed_by=str(healed))
    with pytest.raises(UsageError, match=r"\[preflight-broken\]"):
        execute(spec, tmp_path / "run", SilentProgress())
    assert CALLS["witness"] == 2
    healed.touch()
    execute(spec, tmp_path / "run", SilentProgress())
    assert CALLS["witness"] == 3 + 8, "only the question that had no answer is asked again"


def test_killed_between_two_questions_the_first_is_kept(tmp_path: Path) -> None:
    log = tmp_path / "log"
    code = (
        "import sys; sys.path.insert(0, sys.argv[1])\n"
        "from pathlib import Path\nfrom runs.test_preflight import judged, execute, SilentProgress\n"
        "execute(judged('waits later', log=sys.argv[3]), Path(sys.argv[2]), SilentProgress())"
    )
    arguments = [str(Path(__file__).parent.parent), str(tmp_path / "run"), str(log)]
    process = subprocess.Popen([sys.executable, "-c", code, *arguments], stderr=subprocess.PIPE)
    try:
        for _ in range(600):
            if _n_observations(tmp_path / "run"):
                break
            time.sleep(0.05)
    finally:
        process.kill()
        process.communicate()
    assert log.read_text().splitlines() == ["Is there a cat in the picture?"]
    execute(judged(log=str(log)), tmp_path / "run", SilentProgress())
    asked = log.read_text().splitlines()
    assert asked.count("Is there a cat in the picture?") == 1
    assert asked.count("Is there an airplane in the picture?") == 1


def _n_observations(directory: Path) -> int:
    try:
        with open_run(directory) as store:
            return len(list(store.observations()))
    except SalvaError:
        return 0


def test_a_limit_below_its_price_is_told_before_anything_is_asked(tmp_path: Path) -> None:
    spec = judged(component=Paid, price_usd=0.01)
    with pytest.raises(UsageError, match=r" 2 .*'witness'.*\[preflight-unpaid\]"):
        execute(spec, tmp_path / "run", SilentProgress(), limits=Limits(max_cost_usd=0.001))
    assert (CALLS["witness"], CALLS["render"]) == (0, 0)


def test_a_detector_that_sees_things_in_nothing_costs_no_picture(tmp_path: Path) -> None:
    spec = fake_spec(4, detector=bound("detector", Dreamer, "dreamer"), preflight=True)
    with pytest.raises(UsageError, match=r"'dreamer' .* cow \(0.90\) in noise.*threshold.*\[preflight-failed\]"):
        execute(spec, tmp_path / "run", SilentProgress())
    assert (CALLS["detect"], CALLS["render"]) == (2, 0)


def test_a_detector_without_scores_is_told_and_goes_on(tmp_path: Path) -> None:
    notes = Notes()
    spec = fake_spec(4, detector=bound("detector", Dreamer, "dreamer", threshold=None), preflight=True)
    assert execute(spec, tmp_path / "run", notes).n_rendered == 8
    assert any("cow in noise" in told and "[preflight-doubtful]" in told for told in notes.told)
    assert summarise_run(tmp_path / "run").preflight == "warned"
    for form in (_html, _markdown, _terminal):
        assert "dreamer failed" in " ".join(form(tmp_path / "run").split()).lower(), form
    execute(spec, tmp_path / "run", SilentProgress())
    assert summarise_run(tmp_path / "run").preflight == "warned", "also when it is finished and run again"


def test_judged_again_by_another_threshold_a_detector_is_held_to_what_it_saw_in_nothing(tmp_path: Path) -> None:
    dreamer = bound("detector", Dreamer, "dreamer")
    strict, lax, own = (
        fake_spec(4, detector=dreamer, preflight=True, checks=(bound("check", From, "from", threshold=threshold),))
        for threshold in (1.0, 0.5, None)
    )
    run = tmp_path / "run"
    execute(strict, run, SilentProgress())
    n_seen = CALLS["detect"]
    before = summarise_run(run).to_json()
    assert summarise_run(run).preflight == "passed"
    for spec in (lax, own):
        with pytest.raises(UsageError, match=r"'dreamer' .* cow \(0.90\).*\[preflight-failed\]"):
            rejudge(run, spec, SilentProgress())
    assert summarise_run(run).to_json() == before, "nothing is judged"
    rejudge(run, strict, SilentProgress())
    assert summarise_run(run).preflight == "passed"
    rejudge(run, lax.asking(preflight=False), SilentProgress())
    assert (summarise_run(run).preflight, CALLS["detect"]) == ("off", n_seen)


def test_turned_off_it_asks_nobody_and_every_report_says_so(tmp_path: Path) -> None:
    off, on = tmp_path / "off", tmp_path / "on"
    execute(judged("yes").asking(preflight=False), off, SilentProgress())
    assert CALLS["witness"] == 8
    execute(judged(), on, SilentProgress())
    marked, clean = summarise_run(off), summarise_run(on)
    assert (marked.preflight, clean.preflight) == ("off", "passed")
    for form in (_html, _markdown, _terminal):
        assert "were not checked" in form(off), form
        assert "were not checked" not in form(on), form
    assert json.loads((off / "run.json").read_text())["spec"]["preflight"] is False
    assert "preflight" not in json.loads((on / "run.json").read_text())["spec"]
    execute(judged().asking(preflight=False), on, SilentProgress())
    assert (summarise_run(on).preflight, CALLS["witness"]) == ("passed", 8 + 10), "nobody looked, so nobody is untried"


def test_who_fails_can_be_let_off_in_the_same_directory(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"run\.preflight=off.*\[preflight-failed\]"):
        execute(judged("yes"), tmp_path / "run", SilentProgress())
    assert summarise_run(tmp_path / "run").preflight == "stopped"
    for form in (_html, _markdown, _terminal):
        assert "the run stopped before" in form(tmp_path / "run"), form
        assert "name one" not in form(tmp_path / "run"), form
    assert execute(judged("yes").asking(preflight=False), tmp_path / "run", SilentProgress()).n_rendered == 8
    assert summarise_run(tmp_path / "run").preflight == "off"


def _html(directory: Path) -> str:
    write_html(directory, directory / "page.html")
    return (directory / "page.html").read_text()


def _markdown(directory: Path) -> str:
    return to_markdown(summarise_run(directory)).replace("\\", "")


def _terminal(directory: Path) -> str:
    console = Console(width=300, record=True, file=io.StringIO())
    print_summary(summarise_run(directory), console)
    return " ".join(console.export_text().split())


def test_its_pictures_and_looks_enter_no_figure(tmp_path: Path) -> None:
    made = {}
    for switch in ("on", "off"):
        ask = RunSpec.of(suite="metalogic", models=("painter",), detector="pocket", reader="none", size="4")
        spec = make_plan(
            structs.replace(ask, settings={"run.preflight": switch, "model.faults": "entity-omission:0.5"})
        )
        execute(spec, tmp_path / switch, SilentProgress())
        with open_source(tmp_path / switch) as (records, images):
            page = render_html(records, images)
        made[switch] = {**summarise_run(tmp_path / switch).to_json(), "run": ""}, page.count("data:image")
    assert made["on"] == made["off"]
    with open_run(tmp_path / "on") as store:
        shown = {image_id for verdict in store.verdicts() for image_id in verdict.images.values()}
        painted = {render.image_id for _, render in store.renders()}
        assert {image.image_id for image in store.images()} == shown == painted
        assert len(list(store.observations())) == len(shown) + 2
        assert len([*(tmp_path / "on" / "images").rglob("*.webp")]) == len(shown)
    assert verify(tmp_path / "on", SilentProgress()).is_sound


def test_a_run_is_known_by_the_same_name_as_before(tmp_path: Path) -> None:
    ask = RunSpec.of(suite="metalogic", models=("painter",), detector="pocket")
    plain, on, off = (
        make_plan(structs.replace(ask, settings=s)) for s in ({}, {"run.preflight": "on"}, {"run.preflight": "off"})
    )
    assert "run.preflight" not in plain.choice()
    assert plain.directory_name() == on.directory_name() == off.directory_name()
    for wrong in ({"run.preflight": "maybe"}, {"run.canari": "off"}):
        with pytest.raises(UsageError, match="preflight"):
            make_plan(structs.replace(ask, settings=wrong))


def test_a_judge_that_is_added_later_is_tried_before_it_looks(tmp_path: Path) -> None:
    first = fake_spec(4, preflight=True)
    execute(first, tmp_path / "run", SilentProgress())
    assert CALLS["detect"] == 2 + 8
    checks = (bound("check", FakeSame, "fake-same"), bound("check", Asks, "asks"))
    fraud = replace(first, judges=(bound("judge", Witness, "fraud", manner="yes"),), checks=checks)
    with pytest.raises(UsageError, match=r"'fraud' .*\[preflight-failed\]"):
        rejudge(tmp_path / "run", fraud, SilentProgress())
    assert (CALLS["witness"], CALLS["detect"]) == (2, 10)
    rejudge(tmp_path / "run", replace(fraud, judges=(bound("judge", Witness, "honest"),)), SilentProgress())
    assert (CALLS["witness"], CALLS["detect"]) == (2 + 2 + 8, 10)
    assert summarise_run(tmp_path / "run").preflight == "passed"
    rejudge(tmp_path / "run", fraud.asking(preflight=False), SilentProgress())
    assert summarise_run(tmp_path / "run").preflight == "off"


def test_a_run_that_only_judges_what_is_stored_tries_nobody(tmp_path: Path) -> None:
    first = fake_spec(4)
    execute(first, tmp_path / "run", SilentProgress())
    n_seen = CALLS["detect"]
    strict = (bound("check", FakeSame, "fake-same", is_strict=True),)
    rejudge(tmp_path / "run", replace(first, checks=strict).asking(preflight=True), SilentProgress())
    assert CALLS["detect"] == n_seen
