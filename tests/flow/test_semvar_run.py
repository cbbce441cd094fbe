"""SemVarBench from triples to kappa: the embedded set with embedded models, the published set with fakes."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

import pytest

import salva
from salva.core.about import Habits
from salva.core.observation import Answer, Observation, Vector
from salva.core.options import NoOptions, option
from salva.core.plan import Plan
from salva.core.protocols import ObserveRequest
from salva.core.run_spec import RunSpec
from salva.core.verdict import Outcome
from salva.engine.progress import SilentProgress
from salva.errors import SalvaError
from salva.report.html import write_html
from salva.report.summary import summarise_run
from salva.runs.pipeline import execute
from salva.store.sqlite import open_run
from salva.suites.semvar.files import read_rows
from salva.suites.semvar.semantic_effect import SemanticEffect
from salva.suites.semvar.suite import SemVar
from salva.testing.fakes import CALLS, FakeGenerator, written_in
from salva.testing.specs import bound


class KnowingJudge:
    """Knows which sentences of a file mean the same, and reads in the pixels which one was painted."""

    @dataclass(frozen=True, slots=True, kw_only=True)
    class Options:
        """What it knows and how it fails."""

        path: str = option("", "The triples.")
        mute_at: str = option("", "A text it gives no numbers for.")
        hears_no_order: bool = option(False, "Whether all three sentences of a triple are one to it.")

    version: ClassVar[str] = "1"
    habits: ClassVar[Habits] = Habits(batch_size=64)

    def __init__(self, options: Options) -> None:
        self._options = options
        self._rows: dict[str, set[int]] = {}
        self._meanings: dict[str, set[tuple[int, bool]]] = {}
        for i, row in enumerate(read_rows([options.path])):
            for text, is_swapped in zip(row.texts, (False, not options.hears_no_order, False), strict=True):
                self._rows.setdefault(plain(text), set()).add(i)
                self._meanings.setdefault(plain(text), set()).add((i, is_swapped))

    def observe(self, requests: Sequence[ObserveRequest]) -> Sequence[Observation | SalvaError]:
        CALLS.add("judge", len(requests))
        return [self._score(request) for request in requests]

    def _score(self, request: ObserveRequest) -> Answer:
        if request.query.text == self._options.mute_at:
            return Answer(text="", scores={}, reply="What a picture!", problem="no numbers in the reply")
        asked, painted = plain(request.query.text), plain(" ".join(written_in(request.picture)[0]))
        objects = 50.0 * bool(self._rows[asked] & self._rows[painted])
        return Answer(text="", scores={"objects": objects, "relations": 50.0 * self._is_meant(asked, painted)})

    def _is_meant(self, asked: str, painted: str) -> bool:
        return bool(self._meanings[asked] & self._meanings[painted])


class LetterEmbedder:
    """Turns a text into how often each letter is in it; a picture, into nothing much."""

    version: ClassVar[str] = "1"

    def __init__(self, options: NoOptions) -> None:
        self._options = options

    def observe(self, requests: Sequence[ObserveRequest]) -> Sequence[Observation | SalvaError]:
        CALLS.add("embed", len(requests))
        letters = "abcdefghijklmnopqrstuvwxyz"
        return [
            Vector(values=tuple(float(request.query.text.lower().count(letter)) for letter in letters))
            for request in requests
        ]


def plain(text: str) -> str:
    return " ".join(re.split(r"[\s,]+", text.strip()))


def spec(path: Path, **changes: object) -> Plan:
    fields: dict[str, object] = {
        "suite": bound("suite", SemVar, "semvar", path=(str(path),)),
        "models": (bound("model", FakeGenerator, "fake", batch=64),),
        "judges": (bound("judge", KnowingJudge, "knowing", path=str(path)),),
        "checks": (bound("check", SemanticEffect, "semantic-effect", flip_sample=0.0),),
        "spec": RunSpec(
            size=str(changes.pop("size", "full")), repeats=int(str(changes.pop("repeats", 1))), preflight=False
        ),
    }
    return Plan(**{**fields, **changes})  # type: ignore[arg-type]  # checked when the run begins


@pytest.fixture
def own_file(tmp_path: Path) -> Path:
    path = tmp_path / "mine.tsv"
    lines = [
        f"{i}\tA cat {i} hunts a dog\tA dog {i} hunts a cat\tA dog is hunted by a cat {i}\tcolor" for i in range(6)
    ]
    path.write_text("\n".join(lines), encoding="utf-8")
    return path


def kappas(directory: Path) -> dict[str, float]:
    with open_run(directory) as store:
        return {
            verdict.case_id: verdict.scores["kappa"]
            for verdict in store.verdicts()
            if verdict.check == "semantic-effect"
        }


def test_the_embedded_set_tells_a_painter_that_reads_from_one_that_ignores_word_order(tmp_path: Path) -> None:
    able, bag = (
        salva.run_suite("semvar", "painter", reader="none", size="quick", out=tmp_path / name, settings=settings)
        for name, settings in (("able", {}), ("bag", {"model.faults": "ignores-word-order:1"}))
    )
    ((able_summary,), (bag_summary,)) = able.summary.by_model, bag.summary.by_model
    assert (able_summary.numbers["kappa"] or 0) > 0.9
    assert (able_summary.failure_rate or 0) < 0.15
    assert abs(bag_summary.numbers["kappa"] or 0) < 0.1
    assert bag_summary.failure_rate == 1.0
    assert (bag_summary.numbers["alignment"] or 0) > 0.7, "every second picture is right, and half of each other"
    assert bag_summary.errors["insensitive"] == 20
    assert bag_summary.errors["reversed-role"] == 20
    assert {row[0] for row in bag.verdicts[["observers"]].to_numpy()} >= {"pocket+scene"}
    write_html(tmp_path / "able", tmp_path / "page.html")
    (leading,) = re.findall(r'class="big[^"]*">([^<]+)<', (tmp_path / "page.html").read_text("utf-8"))
    assert leading == f"{able_summary.numbers['kappa']:.3f}", "kappa leads, and the failure rate stands beside it"
    assert f"Kappa {leading}, failure rate" in str(able)


def test_the_published_test_set_runs_to_its_end(tmp_path: Path, foreign_data: Path) -> None:
    CALLS.clear()
    out = tmp_path / "run"
    execute(spec(foreign_data / "semvarbench", size="test"), out, SilentProgress())
    assert CALLS["render"] == 3 * 684 - 1, "the one triple with a doubled sentence needs two pictures"
    assert CALLS["judge"] == 7 * 684 - 3, "and four scores in the place of seven"
    with open_run(out) as store:
        outcomes = Counter(verdict.outcome for verdict in store.verdicts())
        undecided = [verdict.case_id for verdict in store.verdicts() if verdict.outcome is Outcome.UNDECIDED]
    assert outcomes == {Outcome.PASS: 683, Outcome.UNDECIDED: 1}
    assert undecided == ["semvar-328-155-142"]
    (summary,) = summarise_run(out).by_model
    assert summary.numbers["kappa"] == 1.0
    assert summary.numbers["n_scored"] == 683
    table = summary.table("semantic effect by category (as Tables 9 and 10, with intervals)")
    assert table is not None
    assert len(table.rows) == 20
    assert summary.table("triples to check") is not None


def test_two_judges_stand_side_by_side_over_the_same_pictures(tmp_path: Path, own_file: Path) -> None:
    judges = (
        bound("judge", KnowingJudge, "knowing", path=str(own_file)),
        bound("judge", KnowingJudge, "deaf", path=str(own_file), hears_no_order=True),
    )
    CALLS.clear()
    execute(spec(own_file, judges=judges), tmp_path / "run", SilentProgress())
    assert (CALLS["render"], CALLS["judge"]) == (18, 84)
    (summary,) = summarise_run(tmp_path / "run").by_model
    table = summary.table("semantic effect (as Table 2, with intervals)")
    assert table is not None
    kappa = {row[0]: row[table.columns.index("kappa")] for row in table.rows}
    assert kappa == {"knowing": 1.0, "deaf": 0.0}


def test_an_unreadable_reply_leaves_its_case_open_and_the_others_alone(tmp_path: Path, own_file: Path) -> None:
    judge = bound("judge", KnowingJudge, "mute", path=str(own_file), mute_at="A dog 3 hunts a cat")
    execute(spec(own_file, judges=(judge,)), tmp_path / "run", SilentProgress())
    with open_run(tmp_path / "run") as store:
        found = {verdict.case_id: verdict for verdict in store.verdicts()}
    assert found["semvar-3"].outcome is Outcome.UNDECIDED
    assert "no numbers in the reply" in found["semvar-3"].reason
    assert {found[name].outcome for name in found if name != "semvar-3"} == {Outcome.PASS}


def test_with_an_embedder_the_texts_are_compared_and_drawn(tmp_path: Path, own_file: Path) -> None:
    CALLS.clear()
    embedder = bound("embedder", LetterEmbedder, "letters")
    execute(spec(own_file, embedder=embedder), tmp_path / "run", SilentProgress())
    assert CALLS["embed"] == 18
    (summary,) = summarise_run(tmp_path / "run").by_model
    table = summary.table("text similarity (as Figure 6)")
    assert table is not None
    distance = {row[1]: row[3] for row in table.rows}
    assert distance["pv"] == pytest.approx(0, abs=1e-12), "the same letters in another order"
    assert isinstance(distance["pi"], float)
    assert distance["pi"] > 0


def test_running_it_again_asks_nobody(tmp_path: Path, own_file: Path) -> None:
    execute(spec(own_file, repeats=2), tmp_path / "run", SilentProgress())
    before = kappas(tmp_path / "run")
    CALLS.clear()
    execute(spec(own_file, repeats=2), tmp_path / "run", SilentProgress())
    assert (CALLS["render"], CALLS["judge"]) == (0, 0)
    assert kappas(tmp_path / "run") == before
    (summary,) = summarise_run(tmp_path / "run").by_model
    assert summary.table("seed noise") is not None
