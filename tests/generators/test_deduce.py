"""Deduce: which prompts are rewritten, what is stored of it, and its errors."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest

from salva.component_facts import inner_model
from salva.core.case import Prompt
from salva.core.image import Picture
from salva.core.protocols import Rendered, RenderRequest
from salva.core.run_spec import ComponentSpec, RunSpec
from salva.errors import BackendError, SalvaError, UsageError
from salva.generators.deduce import Deduce
from salva.registry import bind
from salva.remote import text_model
from salva.runs.plans import make_plan

PIXEL = Picture(rgb=b"\0\0\0", width=1, height=1)


class Inside:
    """A generator that records its prompts."""

    def __init__(self) -> None:
        self.texts: list[str] = []

    def render(self, requests: Sequence[RenderRequest]) -> Sequence[Rendered | SalvaError]:
        self.texts += [request.prompt.text for request in requests]
        return [Rendered(picture=PIXEL, provenance={"steps": 4}) for _ in requests]


class Rewriter:
    """A text model on strings."""

    replies: dict[str, Any] = {}  # noqa: RUF012  # set by each test
    n_asked = 0

    def __init__(self, name: str, base_url: str = "", key_env: str = "") -> None:
        self.name = name

    def ask(self, instruction: str, question: str) -> Any:
        assert "without naming the law" in instruction
        Rewriter.n_asked += 1
        return Rewriter.replies.get(question)

    def close(self) -> None:
        """Nothing is open."""


def asked(role: str, text: str) -> RenderRequest:
    return RenderRequest(prompt=Prompt(role=role, text=text), seed=1)


@pytest.fixture
def inside(monkeypatch: pytest.MonkeyPatch) -> Inside:
    monkeypatch.setattr(text_model, "TextModel", Rewriter)
    Rewriter.replies, Rewriter.n_asked = {"If up were down, draw rain.": {"seen": "Rain rises."}}, 0
    return Inside()


def test_only_prompts_of_the_configured_roles_are_rewritten(inside: Inside) -> None:
    deduce = Deduce(Deduce.Options(model="x", rewriter="openai/r"), inside)
    requests = [asked("l1", "Draw rain."), asked("l3", "If up were down, draw rain."), asked("l2", "Rain rises. Draw.")]
    first, second, third = deduce.render(requests)
    assert inside.texts == ["Draw rain.", "Rain rises.", "Rain rises. Draw."]
    assert isinstance(first, Rendered)
    assert isinstance(second, Rendered)
    assert isinstance(third, Rendered)
    assert "deduced" not in first.provenance
    assert second.provenance == {"steps": 4, "deduced": "Rain rises."}
    deduce.render(requests)
    assert Rewriter.n_asked == 1, "one rewriting serves every seed"


@pytest.mark.parametrize("reply", [None, {"seen": ""}, {"other": 1}, ["x"], {"seen": 3}, {"seen": "x" * 3000}])
def test_an_unusable_rewrite_is_an_error_for_that_prompt(inside: Inside, reply: Any) -> None:
    Rewriter.replies = {"If so, draw it.": reply}
    deduce = Deduce(Deduce.Options(model="x", rewriter="openai/r"), inside)
    good, bad = deduce.render([asked("l1", "a"), asked("l3", "If so, draw it.")])
    assert isinstance(good, Rendered)
    assert isinstance(bad, BackendError)
    assert inside.texts == ["a"]


def test_rewriter_and_inner_model_are_part_of_the_key() -> None:
    def identity(**options: str) -> Any:
        return bind(ComponentSpec.parse("model", "deduce/pocket", {"rewriter": "openai/r", **options})).identity()

    assert identity() == identity()
    assert identity() != identity(rewriter="openai/other")
    assert identity() != identity(inner="steps=4")
    spec = make_plan(
        RunSpec.of(
            suite="cfworld", models=("pocket", "deduced=deduce/pocket"), settings={"deduced.rewriter": "openai/r"}
        )
    )
    assert [model.label for model in spec.models] == ["pocket", "deduced"]
    assert spec.detector is not None, "the default detector of pocket"


@pytest.mark.parametrize(
    ("models", "settings", "inside"),
    [
        (("plain=pocket", "deduced=deduce/pocket"), {}, "plain"),
        (("pocket", "deduced=deduce/pocket"), {}, "pocket"),
        (("deduced=deduce/pocket",), {}, ""),
        (("plain=pocket", "deduced=deduce/pocket"), {"plain.steps": "4"}, ""),
        (("plain=pocket", "deduced=deduce/pocket"), {"plain.steps": "4", "deduced.inner": "steps=4"}, "plain"),
    ],
)
def test_the_inner_model_is_matched_with_a_model_of_the_run(
    models: tuple[str, ...], settings: dict[str, str], inside: str
) -> None:
    """Only with the same options: a difference between two models is no gain by deduction."""
    spec = make_plan(RunSpec.of(suite="cfworld", models=models, settings={"deduced.rewriter": "openai/r", **settings}))
    assert inner_model(spec.run_spec(), "deduced") == inside
    assert inner_model(spec.run_spec(), models[0].partition("=")[0]) == "", "the one inside has none"
    # As a stored run has it.
    assert inner_model(spec.run_spec().redacted(), "deduced") == inside


def test_invalid_inner_models_are_refused() -> None:
    with pytest.raises(UsageError, match="wrap-needs-text"):
        bind(ComponentSpec.parse("model", "deduce/painter", {"rewriter": "openai/r"}))
    with pytest.raises(UsageError, match=r"model\.rewriter.*\[flag-needed\]"):
        bind(ComponentSpec.parse("model", "deduce/pocket"))
