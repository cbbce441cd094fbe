"""Paraphrases by a text model: what words alone can tell is checked, the rest is marked as unproved."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import in_process
import pytest
from backends.judge_servers import Say, Server, Turn, serving

from salva.authoring.paraphrases import difference
from salva.messages import code_of
from salva.suites.prompts.suite import Prompts, PromptsOptions


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("A dog with a crimson hat and a red ball", ""),
        ("Two dogs with a red ball", "paraphrase-other"),
        ("A dog with a blue ball", "paraphrase-other"),
        ("No dog, but a red ball", "paraphrase-other"),
        ("a dog with a red ball.", "paraphrase-same"),
        (" ", "paraphrase-other"),
        ("A dog with a red ball" * 20, "paraphrase-long"),
    ],
)
def test_a_difference_that_words_show_is_found(text: str, code: str) -> None:
    assert code_of(difference("A dog with a red ball", text)) == code


def rewording(body: dict[str, Any]) -> Turn:
    asked = json.dumps(body)
    if "cat and a dog" in asked:
        return Say(text='{"paraphrase": "a dog and a cat"}')
    return Say(text='{"paraphrase": "Someone surfs"}' if "wave" in asked else '{"paraphrase": "Two dogs"}')


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[Server]:
    pytest.importorskip("openai", reason="text models at endpoints need the api extra")
    with serving(rewording) as made:
        monkeypatch.setenv("OPENAI_API_KEY", "sk-of-a-test")
        monkeypatch.setenv("OPENAI_BASE_URL", f"{made.url}/v1")
        monkeypatch.chdir(tmp_path)
        yield made


WRITE = ("write", "paraphrases", "p.csv", "-o", "pairs.jsonl", "--writer", "openai/x")


def test_pairs_stand_beside_their_prompts_and_are_paid_for_once(server: Server, tmp_path: Path) -> None:
    (tmp_path / "p.csv").write_text("prompt,style\na cat and a dog,oil\nA man rides a wave,ink\nA dog barks,\n")
    done = in_process.salva(*WRITE)
    assert done.returncode == 3, done.stderr
    assert "[paraphrase-other]" in done.stderr
    cases = list(Prompts(PromptsOptions(path="pairs.jsonl")).cases("quick"))
    assert len(cases) == 5
    proved, unproved = (case for case in cases if "paraphrased_by" in case.labels)
    assert (proved.equivalent, unproved.equivalent) == (True, None)
    assert unproved.category == "paraphrases"
    assert unproved.checks == ("right-answers", "same-answers", "same-scene", "same-similarity")
    assert unproved.labels["style"] == "ink"
    # A prompt's own picture serves its pair too.
    assert unproved.painting in {case.painting for case in cases if "paraphrased_by" not in case.labels}
    n_before = len(server.asked)
    assert in_process.salva(*WRITE).returncode == 3
    assert len(server.asked) == n_before + 3, "what was accepted is not asked for again, the other is, thrice"


def test_the_file_itself_stays_as_it_is(server: Server, tmp_path: Path) -> None:
    (tmp_path / "p.jsonl").write_text('{"prompt": "a cat"}\n')
    done = in_process.salva("write", "paraphrases", "p.jsonl", "-o", "p.jsonl", "--writer", "openai/x")
    assert done.returncode == 2
    assert (tmp_path / "p.jsonl").read_text() == '{"prompt": "a cat"}\n'
    assert server.asked == []
