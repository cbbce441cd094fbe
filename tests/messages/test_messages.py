"""The catalogue of messages is whole: known codes, filled templates, two sentences at most."""

from __future__ import annotations

import ast
import pickle
import re
from collections.abc import Iterator
from pathlib import Path
from string import Formatter

from salva.errors import UsageError
from salva.messages import code_of, entries, message

PACKAGE = Path(__file__).parents[2] / "src" / "salva"


def _calls() -> Iterator[tuple[str, str, frozenset[str], bool]]:
    """Where a message is made: place, code, names of its values, and whether there are more than can be read."""
    for path in PACKAGE.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "message":
                place = f"{path.relative_to(PACKAGE)}:{node.lineno}"
                if node.args and isinstance(node.args[0], ast.Constant):
                    names = frozenset(word.arg for word in node.keywords if word.arg)
                    yield place, str(node.args[0].value), names, any(word.arg is None for word in node.keywords)


def test_every_message_that_is_made_has_a_code_and_the_values_of_its_template() -> None:
    wrong = []
    for place, code, names, is_open in _calls():
        if code not in entries():
            wrong.append(f"{place}: no code {code!r}")
            continue
        fields = {name.split(".")[0] for _, name, _, _ in Formatter().parse(entries()[code].template) if name}
        if not is_open and fields != names:
            wrong.append(f"{place}: {code} wants {sorted(fields)}, gets {sorted(names)}")
    assert not wrong


def test_an_entry_has_a_plain_code_and_at_most_two_sentences() -> None:
    for code, (template, explanation) in entries().items():
        assert re.fullmatch(r"[a-z0-9]+(-[a-z0-9]+)*", code)
        assert len(re.findall(r"[.!?](?:\s|$)", template)) <= 2, template
        assert template == template.strip()
        assert "[" not in template
        assert explanation not in template or not explanation, "an explanation says more"


def test_every_code_is_raised_somewhere() -> None:
    texts = "".join(path.read_text("utf-8") for path in PACKAGE.rglob("*.py") if path.parent.name != "messages")
    raised = set(re.findall(r"""["'[]([a-z0-9-]+)["'\]]""", texts))
    assert entries().keys() - raised == set()


def test_a_message_keeps_its_code_in_errors_and_through_pickle() -> None:
    made = message("file-missing", path="a.csv")
    assert str(made).endswith("[file-missing]")
    error = UsageError(made)
    assert code_of(error) == error.code == "file-missing"
    assert code_of(pickle.loads(pickle.dumps(error))) == "file-missing"
    assert code_of("plain") == ""


def test_a_value_that_is_a_sentence_ends_once() -> None:
    def ended(why: str) -> str:
        return message("processes-lost", component="x", n=1, why=why).plain

    assert ended("it broke.") == ended("it broke")
    assert "../runs" in ended("no ../runs")
    assert "wait ..." in ended("wait ...")
