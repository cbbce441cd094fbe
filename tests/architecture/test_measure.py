"""The figures of tools/measure.py, on trees small enough to count by hand."""

from __future__ import annotations

import ast
from pathlib import Path

import measure
import pytest

ROOT = Path(__file__).parents[2]


def test_statements_are_counted_without_docstrings() -> None:
    code = '"""Module."""\nx: int = 1\n"""What x is."""\n\ndef f():\n    """F."""\n    if x: return "no docstring"\n'
    assert measure.n_statements(ast.parse(code)) == 4


@pytest.mark.parametrize(
    ("text", "n"),
    [("two words", 0), ("now three words", 3), ("a, (b) don't!", 3), ("x=1 y=2 one two", 0), ("/usr/bin a b c", 3)],
)
def test_prose_is_three_words_or_more(text: str, n: int) -> None:
    assert measure.n_prose(text) == n


def test_the_parts_of_an_f_string_are_one_string() -> None:
    code = 'x = f"two {len(inner[KEY])} words" + "more"\n'.replace("KEY", "'key'")
    assert list(measure.strings(ast.parse(code))) == ["two {} words", "key", "more"]


def test_prose_in_data_files_is_values_and_texts_between_tags(tmp_path: Path) -> None:
    (tmp_path / "a.toml").write_text('[a_b_c]\nkey = ["one two three"]\n')
    (tmp_path / "b.json").write_text('{"not this key here": {"x": "one two three four", "n": 1}}')
    (tmp_path / "c.html.j2").write_text("<style>not this at all</style><p title='nor this one'>one {{ a b c }} two</p>")
    (tmp_path / "d.jsonl").write_text('"test data is no prose"')
    assert measure.data_prose(tmp_path) == 7


def test_names_of_several_classes_are_found_over_files_and_underscores(tmp_path: Path) -> None:
    (tmp_path / "room").mkdir()
    (tmp_path / "a.py").write_text("class A: pass\nclass B:\n    class Options: pass\n")
    (tmp_path / "room/b.py").write_text("class _A: pass\nclass C:\n    class Options: pass\n")
    found = measure.sources(tmp_path)
    assert [source.room for source in found] == ["(top)", "room"]
    assert measure.shared_class_names(found) == {"A": 2}


def test_a_test_is_bound_to_prose_by_what_it_expects(tmp_path: Path) -> None:
    package, tests = tmp_path / "package", tmp_path / "tests"
    package.mkdir()
    tests.mkdir()
    (package / "a.py").write_text('raise ValueError("there is no such file here")\n')
    (tests / "test_a.py").write_text(
        "def helper(): assert 'there is no such file'\n"
        "def test_own(): assert 'there is no such file' in x\n"
        "def test_match():\n    with raises(E, match='no such file here'): f()\n"
        "def test_prompt(): assert f('x') == 'a cat and two dogs'\n"
        "def test_free():\n    f('there is no such file')\n    assert f('x') == 'three words only'\n"
    )
    assert measure.bound_to_prose(tests, measure.sources(package)) == (4, 3, 2)


def test_this_tree_has_commands_flags_and_options() -> None:
    top, subcommands, flags, names = measure.commands(ROOT)
    assert top > subcommands > 0
    assert flags > names > 50
    assert measure.option_keys(ROOT) > 100
