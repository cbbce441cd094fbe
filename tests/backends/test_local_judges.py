"""Judges on this machine, with tiny checkpoints of the real classes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest
from backends.tiny_judges import save_blip, save_llava

from salva.core.image import Picture
from salva.core.observation import Answer
from salva.core.protocols import ObserveRequest, Query
from salva.core.run_spec import ComponentSpec
from salva.errors import PluginError, UsageError
from salva.judges.local_vlm_judge import LocalVlmJudge
from salva.judges.prompts import judge_prompt
from salva.registry import bind
from salva.testing.conformance import check_observer

DARK = Picture(rgb=bytes(192), width=8, height=8)
LIGHT = Picture(rgb=bytes([250]) * 192, width=8, height=8)
SCORE = Query(role="judge", kind="score", text="a cat on a mat")
YES_NO = Query(role="judge", kind="answer", text="is there a cat?", choices=("yes", "no"))
RATED = "Relevance: [[35]], Object Accuracy: [[40]]"


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))


@pytest.fixture(scope="module")
def rater(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return save_llava(tmp_path_factory.mktemp("llava"), RATED)


@pytest.fixture(scope="module")
def yes_man(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return save_blip(tmp_path_factory.mktemp("blip"), "yes")


def spec(name: str, folder: Path, **options: str) -> ComponentSpec:
    return ComponentSpec(role="judge", name=f"{name}/{folder}", options={"max_tokens": "8", **options})


def requests(*asked: tuple[Picture, Query]) -> list[ObserveRequest]:
    return [ObserveRequest(picture=picture, query=query) for picture, query in asked]


def test_conformance(rater: Path) -> None:
    check_observer(bind(spec("transformers", rater)), [DARK, LIGHT], query=SCORE)


def test_unreadable_replies_of_a_batch_are_retried(rater: Path) -> None:
    judge = bind(spec("transformers", rater, batch_size="4")).build()
    score, answer, wrong, again = judge.observe(
        requests((DARK, SCORE), (DARK, YES_NO), (DARK, Query(role="judge", kind="guess")), (LIGHT, SCORE))
    )
    assert score.scores == again.scores == {"objects": 40.0, "relations": 35.0}
    assert score.reply == RATED
    assert (score.usage["n_calls"], score.usage["output_tokens"]) == (1, 2)
    assert "2 answers" in answer.problem
    assert answer.usage["n_calls"] == 3
    assert answer.usage["input_tokens"] > 3 * len(YES_NO.text)
    assert isinstance(wrong, PluginError)


def test_the_model_gets_image_and_prompt(rater: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    judge = bind(spec("transformers", rater, batch_size="2")).build()
    assert isinstance(judge, LocalVlmJudge)
    model, processor = judge._loaded.model, judge._loaded.processor
    given: list[Mapping[str, Any]] = []
    generate = model.generate

    def spy(**inputs: Any) -> Any:
        given.append(inputs)
        return generate(**inputs)

    monkeypatch.setattr(model, "generate", spy)
    judge.observe(requests((DARK, SCORE), (LIGHT, SCORE)))
    (inputs,) = given
    dark, light = inputs["pixel_values"]
    assert light.mean() > dark.mean() + 1
    assert (inputs["do_sample"], inputs["max_new_tokens"]) == (False, 8)
    text = processor.tokenizer.decode(inputs["input_ids"][0])
    ask = judge_prompt(SCORE, is_structured=False, explains=True)
    assert ask.text in text
    assert ask.system in text
    assert text.endswith("<|assistant|>")


def test_a_reply_without_an_end_is_truncated(tmp_path: Path) -> None:
    judge = bind(spec("transformers", save_llava(tmp_path, RATED), max_tokens="1", attempts="1")).build()
    (answer,) = judge.observe(requests((DARK, SCORE)))
    assert "1 tokens" in answer.problem


def test_a_model_without_a_chat_template_is_refused(tmp_path: Path) -> None:
    folder = save_llava(tmp_path, RATED, chat_template=None)
    with pytest.raises(UsageError, match=r"chat template.*\[checkpoint-invalid\]"):
        bind(spec("transformers", folder)).build()


def test_a_checkpoint_of_another_type_is_refused(yes_man: Path, rater: Path) -> None:
    with pytest.raises(UsageError, match=r"\[checkpoint-invalid\]"):
        bind(spec("blip-vqa", rater)).build()
    with pytest.raises(UsageError, match=r"attempts.*\[option-invalid\]"):
        bind(spec("transformers", yes_man, attempts="0"))


def test_blip_only_answers_questions(yes_man: Path) -> None:
    judge = bind(spec("blip-vqa", yes_man, max_tokens="1", batch_size="4")).build()
    free = Query(role="judge", kind="answer", text="is there a cat?")
    other = Query(role="judge", kind="answer", text="is there a cat?", choices=("no", "maybe"))
    outcomes: Sequence[Answer] = judge.observe(requests((DARK, YES_NO), (DARK, SCORE), (LIGHT, free), (DARK, other)))
    answer, score, word, none = outcomes
    assert (answer.text, answer.reply, answer.problem) == ("yes", "yes", "")
    assert (score.scores, "cannot score" in score.problem) == ({}, True)
    assert word.text == "yes"
    assert "none of maybe, no" in none.problem


def test_blip_conformance(yes_man: Path) -> None:
    check_observer(bind(spec("blip-vqa", yes_man, max_tokens="1")), [DARK, LIGHT], query=YES_NO)


@pytest.mark.parametrize("name", ["transformers", "blip-vqa"])
def test_the_pin_depends_on_the_weights(name: str, rater: Path, yes_man: Path, tmp_path: Path) -> None:
    folder = rater if name == "transformers" else yes_man
    again = save_llava(tmp_path, "no") if name == "transformers" else save_blip(tmp_path, "no")
    assert bind(spec(name, folder)).weights
    assert bind(spec(name, folder)).weights != bind(spec(name, again)).weights
