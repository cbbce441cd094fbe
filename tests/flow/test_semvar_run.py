"""SemVarBench from triples to kappa: the embedded set with embedded models, the published set with fakes."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import ClassVar

import pytest

from salva.core.about import Habits
from salva.core.case import Prompt
from salva.core.image import Picture
from salva.core.observation import Answer, Observation, Vector
from salva.core.options import NoOptions, option
from salva.core.plan import Plan
from salva.core.protocols import ObserveRequest, Rendered, RenderRequest
from salva.core.run_spec import RunSpec
from salva.core.table import Table
from salva.core.verdict import Outcome
from salva.engine.progress import SilentProgress
from salva.errors import SalvaError
from salva.generators.painter.component import Painter
from salva.report.summary import ModelSummary, decided, summarise_run
from salva.results.gate import FAILED, INCONCLUSIVE, Gate
from salva.runs.pipeline import execute
from salva.runs.plans import make_plan
from salva.store.queries import open_source
from salva.store.sqlite import open_run
from salva.suites.semvar.files import read_rows
from salva.suites.semvar.semantic_effect import SemanticEffect
from salva.suites.semvar.suite import SemVar, SemVarOptions
from salva.testing.fakes import CALLS, FakeGenerator, written_in
from salva.testing.specs import bound


class KnowingJudge:
    """Knows which sentences of a file mean the same, and reads in the pixels which one was generated."""

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


def summary_of(directory: Path) -> ModelSummary:
    (summary,) = summarise_run(directory).by_model.values()
    return summary


def table_of(directory: Path, name: str) -> Table | None:
    return next((table for table in summary_of(directory).tables if table.name == name), None)


def embedded_run(directory: Path, **settings: str) -> ModelSummary:
    """The embedded set by the painter and the observers that come with salva."""
    named = {name.replace("__", "."): value for name, value in settings.items()}
    execute(
        make_plan(RunSpec.of(suite="semvar", models=("painter",), size="quick", settings=named)),
        directory,
        SilentProgress(),
    )
    return summary_of(directory)


def test_the_embedded_set_separates_a_right_painter_from_one_that_ignores_word_order(tmp_path: Path) -> None:
    able = embedded_run(tmp_path / "able")
    bag = embedded_run(tmp_path / "bag", model__faults="ignores-word-order:1")
    kappas = [one.metrics["kappa"].value for one in (able, bag)]
    assert kappas == [pytest.approx(1.0, abs=0.1), pytest.approx(0.0, abs=0.1)]
    assert able.failure_rate == 0.0
    assert bag.failure_rate == 1.0
    alignment = bag.metrics["alignment"].value
    assert alignment is not None
    assert alignment > 0.7, "every second image is right, and half of each other"
    assert bag.failure_types["insensitive"] == 20
    assert bag.failure_types["reversed-role"] == 20
    with open_run(tmp_path / "able") as store:
        by_check = {verdict.check: verdict.observers for verdict in store.verdicts()}
    assert by_check["semantic-effect"] == ("pocket", "rapidocr", "scene")
    assert (by_check["truth"], by_check["named-entities"]) == (("pocket", "rapidocr"), ("pocket",))


OTHER = {"a": "pv", "pv": "a", "pi": "pv"}
Paint = Callable[[Painter, list[RenderRequest]], list[Rendered | SalvaError]]


def opposite(paint: Paint) -> Paint:
    """Every image shows what the prompt of the other meaning says."""
    others: dict[str, Prompt] = {}
    for case in SemVar(SemVarOptions()).cases("embedded"):
        others |= {prompt.text: case.prompt(OTHER[prompt.role]) for prompt in case.prompts}

    def render(self: Painter, requests: list[RenderRequest]) -> list[Rendered | SalvaError]:
        return paint(self, [replace(request, prompt=others[request.prompt.text]) for request in requests])

    return render


def first_entity_only(paint: Paint) -> Paint:
    """Every image shows the first entity and nothing else."""

    def render(self: Painter, requests: list[RenderRequest]) -> list[Rendered | SalvaError]:
        alone = [replace(request.prompt, formula=request.prompt.entities[0]) for request in requests]
        return paint(self, [replace(r, prompt=prompt) for r, prompt in zip(requests, alone, strict=True)])

    return render


def grey(paint: Paint) -> Paint:
    """Every image is grey."""

    def render(self: Painter, requests: list[RenderRequest]) -> list[Rendered | SalvaError]:
        picture = Picture(rgb=b"\x80" * 3 * 256 * 256, width=256, height=256)
        return [Rendered(picture=picture) for _ in requests]

    return render


@pytest.mark.parametrize(
    ("garbage", "is_effect", "failure_types"),
    [
        (opposite, True, {"other-meaning", "reversed-role"}),
        (first_entity_only, False, {"insensitive", "missing-objects", "entity-omission"}),
        (grey, False, {"insensitive", "missing-objects", "entity-omission"}),
    ],
)
def test_garbage_fails_every_triple_and_passes_no_gate(
    garbage: Callable[[Paint], Paint],
    is_effect: bool,
    failure_types: set[str],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(Painter, "render", garbage(Painter.render))  # type: ignore[arg-type]  # a method
    found = embedded_run(tmp_path / "run")
    kappa = found.metrics["kappa"].value
    assert kappa is not None
    assert kappa > 0.9 if is_effect else kappa < 0.1
    assert found.results["pass"] == 0
    assert failure_types <= found.failure_types.keys()
    (gated,) = decided(summarise_run(tmp_path / "run"), Gate(max_failure_rate=0.2)).by_model.values()
    assert gated.gates[0].decision in (FAILED, INCONCLUSIVE)


def test_the_threshold_of_kappa_is_none_of_the_boxes(tmp_path: Path) -> None:
    found = embedded_run(tmp_path / "run", check__threshold="1.5")
    assert found.failure_rate == 1.0
    with open_source(tmp_path / "run") as source:
        verdict = next(one for one in source.records.verdicts if one.check == "truth")
        assert verdict.outcome is Outcome.PASS
        assert source.images.seen(verdict.images["a"], verdict.observers).boxes


def test_the_published_test_set_runs_to_its_end(tmp_path: Path, foreign_data: Path) -> None:
    CALLS.clear()
    out = tmp_path / "run"
    execute(spec(foreign_data / "semvarbench", size="test"), out, SilentProgress())
    assert CALLS["render"] == 3 * 684 - 1, "the one triple with a doubled sentence needs two pictures"
    assert CALLS["judge"] == 7 * 684 - 3 + 40, "four scores in the place of seven, and 40 control questions"
    with open_run(out) as store:
        outcomes = Counter(verdict.outcome for verdict in store.verdicts())
        undecided = [verdict.case_id for verdict in store.verdicts() if verdict.outcome is Outcome.UNDECIDED]
    assert outcomes == {Outcome.PASS: 683, Outcome.UNDECIDED: 1}
    assert undecided == ["semvar-328-155-142"]
    summary = summary_of(out)
    assert summary.metrics["kappa"].value == 1.0
    assert summary.metrics["kappa"].n == 683
    assert len(summary.categories) == 20
    table = table_of(out, "semantic effect by category (as Tables 9 and 10, with intervals)")
    assert table is not None
    assert len(table.rows) == 20
    assert table_of(out, "triples to check") is not None


class Swapping(FakeGenerator):
    """Always shows the other meaning of the sentences of own_file."""

    def render(self, requests: Sequence[RenderRequest]) -> Sequence[Rendered | SalvaError]:
        return super().render([replace(request, prompt=_swapped(request.prompt)) for request in requests])


def _swapped(prompt: Prompt) -> Prompt:
    number = next(word for word in prompt.text.split() if word.isdecimal())
    animals = ("cat", "dog") if prompt.role == "pv" else ("dog", "cat")
    return replace(prompt, text=f"A {animals[0]} {number} hunts a {animals[1]}")


def test_the_other_meaning_fails_without_formulas_and_boxes_too(tmp_path: Path, own_file: Path) -> None:
    execute(spec(own_file, models=(bound("model", Swapping, "swapping"),)), tmp_path / "run", SilentProgress())
    found = summary_of(tmp_path / "run")
    assert found.metrics["kappa"].value == 1.0
    assert (found.failure_rate, found.failure_types["other-meaning"]) == (1.0, 6)


def test_two_judges_stand_side_by_side_over_the_same_pictures(tmp_path: Path, own_file: Path) -> None:
    judges = (
        bound("judge", KnowingJudge, "knowing", path=str(own_file)),
        bound("judge", KnowingJudge, "deaf", path=str(own_file), hears_no_order=True),
    )
    CALLS.clear()
    execute(spec(own_file, judges=judges), tmp_path / "run", SilentProgress())
    assert (CALLS["render"], CALLS["judge"]) == (18, 84)
    table = table_of(tmp_path / "run", "semantic effect (as Table 2, with intervals)")
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
    table = table_of(tmp_path / "run", "text similarity (as Figure 6)")
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
    assert table_of(tmp_path / "run", "seed noise") is not None
