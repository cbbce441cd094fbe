"""Paraphrases by a text model: what words alone can tell is checked, the rest is marked as unproved."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import in_process
import pytest
from backends.judge_servers import Say, Server, Turn, serving

from salva.authoring.paraphrases import unlike
from salva.suites.prompts.suite import Prompts, PromptsOptions


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("A dog with a crimson hat and a red ball", ""),
        ("Two dogs with a red ball", "numbers"),
        ("A dog with a blue ball", "colours"),
        ("No dog, but a red ball", "denies"),
        ("a dog with a red ball.", "the prompt itself"),
        (" ", "empty"),
        ("A dog with a red ball" * 20, "much more"),
    ],
)
def test_what_words_can_tell_is_told(text: str, why: str) -> None:
    said = unlike("A dog with a red ball", text)
    assert why in said
    assert bool(why) == bool(said)


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


WRITE = ("write", "paraphrases", "p.csv", "-o", "pairs.jsonl", "--writer", "openai/x", "--no-progress")


def test_pairs_stand_beside_their_prompts_and_are_paid_for_once(server: Server, tmp_path: Path) -> None:
    (tmp_path / "p.csv").write_text("prompt,style\na cat and a dog,oil\nA man rides a wave,ink\nA dog barks,\n")
    done = in_process.salva(*WRITE)
    assert done.returncode == 3, done.stderr
    assert "2 of 3 paraphrases accepted; pairs.jsonl holds all 3 entries" in done.stdout
    assert "its numbers are not those of the prompt (none)" in done.stderr
    cases = list(Prompts(PromptsOptions(path="pairs.jsonl")).cases("quick"))
    assert len(cases) == 5
    proved, unproved = (case for case in cases if "paraphrased_by" in case.labels)
    assert (proved.equivalent, unproved.equivalent) == (True, None)
    assert (unproved.category, unproved.ways) == (
        "paraphrases",
        (("same-scene", "same-answers", "right-answers", "same-similarity"),),
    )
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
