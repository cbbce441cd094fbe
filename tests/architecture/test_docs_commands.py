"""Every page works from an empty folder, and every command for a foreign model names an observer."""

from __future__ import annotations

import shlex
from collections.abc import Iterator
from pathlib import Path

import pytest
from architecture.doc_pages import PAGES, blocks, commands, salva_words, values
from architecture.doc_reader import Reader, text_model
from backends.judge_servers import serving

from salva.generators import pocket

ELSEWHERE = {
    "README": "tests/architecture/test_docs_python.py",
    "add-a-law": "tests/architecture/test_docs_extending.py",
    "use-from-python": "tests/architecture/test_docs_python.py",
    "watch-a-training": "tests/backends/test_callbacks.py",
}
"""Pages that need more than an empty folder, and the test that follows them."""


@pytest.fixture(scope="module")
def endpoint() -> Iterator[str]:
    with serving(text_model) as server:
        yield f"{server.url}/v1"


@pytest.fixture
def one_pass(monkeypatch: pytest.MonkeyPatch) -> None:
    """Commands are tested here and not images: one pass of the network draws one."""
    own = pocket.step_times
    monkeypatch.setattr(pocket, "step_times", lambda times, n_steps: own(times, n_steps or 1))


@pytest.mark.usefixtures("one_pass")
@pytest.mark.parametrize("page", [page for page in PAGES if page.stem not in ELSEWHERE], ids=lambda page: page.stem)
def test_a_page_works_from_an_empty_folder(
    page: Path, endpoint: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "site").mkdir()  # where a page's `pip install .` goes
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.syspath_prepend(tmp_path / "site")
    Reader(tmp_path, endpoint).follow(page)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_a_command_for_a_foreign_model_names_an_observer(page: Path) -> None:
    for block in blocks(page):
        for words in map(salva_words, commands(block) if block.language in ("sh", "bash") else ()):
            foreign = {model.partition("/")[0] for model in values(words, "--model")} - {"painter", "pocket"}
            if words[:1] == ["run"] and foreign:
                assert values(words, "--detector") or values(words, "--judge"), shlex.join(words)
