"""Mutants in a text model's words: taken where they read as their pool, discarded and counted where they do not."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import in_process
import pytest
from backends.judge_servers import Say, Server, Turn, serving

from salva.core.case import Case
from salva.errors import UsageError
from salva.suites.actesting.suite import Actesting, ActestingOptions

CAPTIONS = "A cat next to a dog\nA ball above a chair and to the left of a cup\n"
PLAIN = ("suite.path=captions.txt", "suite.parser=grammar")


def saying(body: dict[str, Any]) -> Turn:
    """Half of what it is given it says in the other order of words, the other half it spoils."""
    prompt = str(json.loads(body["messages"][1]["content"].partition("\n")[0].removeprefix("Prompt: ")))
    said = f"There is {prompt[:1].lower()}{prompt[1:]}" if "chair" in prompt else "A zebra"
    return Say(text=json.dumps({"paraphrase": said}))


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[Server]:
    pytest.importorskip("openai", reason="text models at endpoints need the api extra")
    monkeypatch.chdir(tmp_path)
    Path("captions.txt").write_text(CAPTIONS)
    with serving(saying) as made:
        monkeypatch.setenv("OPENAI_API_KEY", "sk-of-a-test")
        monkeypatch.setenv("OPENAI_BASE_URL", f"{made.url}/v1")
        yield made


def _cases(**options: str) -> dict[str, Case]:
    suite = Actesting(ActestingOptions(path="captions.txt", parser="grammar", **options))  # type: ignore[arg-type]  # texts
    return {case.case_id: case for case in suite.cases("full")}


def test_what_reads_alike_takes_the_place_of_the_mutant_and_the_rest_is_counted(server: Server) -> None:
    settings = [word for setting in PLAIN for word in ("--set", setting)]
    listed = in_process.salva("cases", "actesting", "--size", "full", "--format", "actesting", *settings)
    Path("mutants.csv").write_text(listed.stdout)
    plain = _cases()
    assert listed.stdout.splitlines()[0] == "prompt,image_id,operator"
    assert len(listed.stdout.splitlines()) == 1 + len(plain)
    written = in_process.salva(*("write", "paraphrases", "mutants.csv", "-o", "said.jsonl", "--writer", "openai/x"))
    assert written.returncode == 0, written.stderr
    n_asked = len(server.asked)
    worded = _cases(wordings="said.jsonl")
    assert len(server.asked) == n_asked, "a suite asks nobody"
    assert worded.keys() == plain.keys(), "one whose words read otherwise stays as the operator wrote it"
    for name, case in worded.items():
        (a, b), before = case.prompts, plain[name]
        assert a == before.prompts[0], "seeds stay"
        assert case.mutation is not None
        assert before.mutation is not None
        assert set(case.mutation.mutant.triples) == set(before.mutation.mutant.triples)
        is_reworded = "chair" in before.prompts[1].text
        assert b.text.startswith("There is ") == is_reworded, b.text
        assert case.labels.get("reworded", "no") == ("yes" if is_reworded else "no")
        assert "zebra" not in b.text
    told = " ".join(
        Actesting(ActestingOptions(path="captions.txt", parser="grammar", wordings="said.jsonl")).remarks("full")
    )
    assert "paraphrases used" in told
    n_spoiled = sum("chair" not in case.prompts[1].text for case in plain.values())
    assert n_spoiled
    assert "of them discarded" in told


def test_a_wording_that_is_the_seed_itself_is_discarded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("captions.txt").write_text(CAPTIONS)
    synonym = next(case for case in _cases().values() if case.category == "ss")
    seed, mutant = (prompt.text for prompt in synonym.prompts)
    Path("said.jsonl").write_text(json.dumps({"prompt_a": mutant, "prompt_b": seed, "paraphrased_by": "x"}) + "\n")
    again = _cases(wordings="said.jsonl")[synonym.case_id]
    assert again.prompts[1].text == mutant


def test_a_file_without_wordings_is_refused(tmp_path: Path) -> None:
    (tmp_path / "said.txt").write_text("A cat\n")
    with pytest.raises(UsageError, match="suite-file-empty"):
        Actesting(ActestingOptions(wordings=str(tmp_path / "said.txt"))).cases("quick")
