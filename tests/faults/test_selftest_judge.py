"""The selftest of judges praises one that sees and finds out those that say yes, no or anything."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from typing import Any, ClassVar

import pytest
from backends.judge_servers import Say, serving
from click.testing import CliRunner

from salva import registry
from salva.cli.main import salva
from salva.core.observation import Answer
from salva.core.options import NoOptions
from salva.core.protocols import ObserveRequest
from salva.engine.progress import SilentProgress
from salva.errors import BackendError, RefusedError, UsageError
from salva.judges.scene_judge import SceneJudge
from salva.runs.selftest_judge import JudgeReport, judge_selftest

N = 15


class YesJudge:
    """Judge: yes to every yes-or-no question, the first choice of others."""

    version: ClassVar[str] = "1"
    Options: ClassVar[type[NoOptions]] = NoOptions

    def __init__(self, options: NoOptions) -> None:
        self.options = options

    def observe(self, requests: Sequence[ObserveRequest]) -> Sequence[Answer | BackendError]:
        """An answer each."""
        return [self.answer(request) for request in requests]

    def answer(self, request: ObserveRequest) -> Answer | BackendError:
        """Yes."""
        assert request.query.formulas == (), "a judge that does not say so never sees a formula"
        return Answer(text=request.query.choices[0], scores={})


class UnreadableJudge(YesJudge):
    """Judge: nothing that can be read."""

    def answer(self, request: ObserveRequest) -> Answer | BackendError:
        """A problem."""
        return Answer(text="", scores={}, problem="no answer in it")


class RefusingJudge(YesJudge):
    """Judge: a refusal each time."""

    def answer(self, request: ObserveRequest) -> Answer | BackendError:
        """A refusal."""
        return RefusedError("I would rather not")


class InvertedJudge(SceneJudge):
    """Judge: sees, and says the opposite."""

    def observe(self, requests: Sequence[ObserveRequest]) -> Any:
        """Another choice than the right one."""
        said = [answer.text for answer in super().observe(requests) if isinstance(answer, Answer)]
        return [
            Answer(text=next(choice for choice in request.query.choices if choice != text), scores={})
            for request, text in zip(requests, said, strict=True)
        ]


@pytest.fixture(autouse=True)
def _judges(monkeypatch: pytest.MonkeyPatch) -> None:
    for judge in (YesJudge, UnreadableJudge, RefusingJudge, InvertedJudge):
        name = judge.__name__.removesuffix("Judge").lower()
        monkeypatch.setitem(registry.BUILT_IN["judge"], name, registry.BuiltIn(source=f"{__name__}:{judge.__name__}"))


def judged(judge: str, n_pictures: int = N, **settings: str) -> JudgeReport:
    return judge_selftest(
        judge=judge,
        detector="pocket",
        settings={key.replace("__", "."): value for key, value in settings.items()},
        n_pictures=n_pictures,
        seed=0,
        progress=SilentProgress(),
    )


def test_the_scene_judge_finds_nearly_all_of_it() -> None:
    report = judged("scene")
    assert report.balanced is not None
    assert report.balanced > 0.97
    assert not report.problems(0.9)
    assert report.faultless.n_found == 0
    assert {score.name for score in report.errors} >= {"entity-omission", "entity-forbidden", "wrong-colour"}
    for score in report.errors:
        assert score.n_true >= N, score


def test_a_judge_that_always_says_yes_is_a_coin() -> None:
    report = judged("yes")
    assert report.balanced == 0.5
    assert "balanced accuracy 50.0 %" in report.balance()
    assert report.yes[0] == report.yes[1]
    assert report.no[0] == 0
    problems = " ".join(report.problems(0.97))
    assert "balanced accuracy 0.500" in problems
    assert "recall" in problems


def test_a_judge_that_says_the_opposite_has_nothing_right() -> None:
    report = judged("inverted")
    assert report.balanced is not None
    assert report.balanced < 0.05
    assert report.faultless.n_found == report.faultless.n_judged


@pytest.mark.parametrize("judge", ["unreadable", "refusing"])
def test_no_answer_is_no_right_answer(judge: str) -> None:
    report = judged(judge, n_pictures=2)
    assert report.balanced == 0.0
    assert report.n_unread == report.n_asked
    assert report.problems(0.97)


def test_few_questions_tell_nothing_and_options_of_others_are_refused() -> None:
    report = judged("scene", n_pictures=2)
    assert len(report.too_few()) == len(report.errors)
    with pytest.raises(UsageError, match=r"model\.side"):
        judged("scene", model__side="256")


def run(*arguments: str) -> Any:
    return CliRunner().invoke(salva, ["selftest", *arguments])


def test_the_command_measures_a_judge_at_an_endpoint(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "none")
    say: Callable[[dict[str, Any]], Say] = lambda body: Say(text=_reply(body))  # noqa: E731  # a server takes a function
    with serving(say) as server:
        done = run("--judge", "openai/tiny", "--pairs", "10", "--set", f"judge.base_url={server.url}/v1")
    assert done.exit_code == 1, done.output
    assert "balanced accuracy 50.0 %" in " ".join(done.output.split())
    assert "the judge openai/tiny does not pass" in done.output
    for table in ("answers that a fault changed", "yes, no and faultless images"):
        assert table in done.output


def _reply(body: dict[str, Any]) -> str:
    """The first of the choices that the question allows, in the form it asks for."""
    form = body.get("response_format", {}).get("json_schema", {}).get("schema", {})
    choices = form.get("properties", {}).get("answer", {}).get("enum", ["yes"])
    return json.dumps({"explanation": "as always", "answer": choices[0]})


def test_the_exit_code_tells_too_few_from_too_bad() -> None:
    assert run("--pairs", "10", "--reader", "none").exit_code == 3
    assert run("--judge", "yes", "--pairs", "10").exit_code == 1
