"""SPEC.toml of a release check: read as it is meant, or refused with its place."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from salva.compare.gate_file import GateModel, GateRules, GateSpec, read_gate
from salva.compare.margin import Demands
from salva.errors import UsageError
from salva.results.gate import Gate

PLAIN = """
[candidate]
model = "painter"
[baseline]
model = "pocket"
[rules]
fail_if_worse = 0.05
[[suite]]
name = "metalogic"
"""


def read(tmp_path: Path, text: str) -> GateSpec:
    path = tmp_path / "release.toml"
    path.write_text(text, encoding="utf-8")
    return read_gate(path)


def test_a_plain_file_takes_the_defaults_of_the_command_line(tmp_path: Path) -> None:
    spec = read(tmp_path, PLAIN)
    (suite,) = spec.suites
    assert (spec.candidate, spec.baseline) == (GateModel(model="painter"), GateModel(model="pocket"))
    assert spec.out == tmp_path / "salva-gate"
    assert suite.rules == GateRules(fail_if_worse=0.05)
    assert suite.rules.demands == Demands(fail_if_worse=0.05)
    assert (suite.title, suite.spec.size, suite.spec.repeats, suite.spec.seed) == ("metalogic", "", 1, 0)


def test_a_suite_has_the_last_word_over_parts_and_rules(tmp_path: Path) -> None:
    spec = read(
        tmp_path,
        """
        out = "here"
        plugin = "mine.py:Mine"
        [candidate]
        model = "painter"
        [candidate.set]
        model.faults = "entity-omission:0.3"
        [parts]
        detector = "pocket"
        reader = "none"
        seed = 3
        set = { check = { threshold = 0.4, doubt = 0 } }
        [rules]
        max_failure_rate = 0.5
        gate_on = "upper"
        gate = { inconsistent = 0.4 }
        [[suite]]
        name = "metalogic"
        size = 40
        only = ["law=commutative"]
        baseline = "stored/run"
        reader = "rapidocr"
        judge = ["scene"]
        max_failure_rate = 0.2
        max_errors = 2
        published = true
        set = { "suite.entities" = ["cat", "dog", "apple"], "check.threshold" = 0.6, "suite.brackets" = true }
        [[suite]]
        name = "metalogic"
        title = "all-of-it"
        """,
    )
    first, second = spec.suites
    assert first.spec.settings == {
        "check.threshold": "0.6",
        "check.doubt": "0",
        "suite.entities": "cat,dog,apple",
        "suite.brackets": "true",
    }
    assert (first.spec.named("reader"), second.spec.named("reader")) == (("rapidocr",), ("none",))
    assert (first.spec.named("detector"), first.spec.seed, first.spec.size) == (("pocket",), 3, "40")
    assert first.spec.named("judge") == ("scene",)
    limits = {"inconsistent": 0.4}
    assert first.rules == GateRules(max_failure_rate=0.2, gate=limits, gate_on="upper", max_errors=2)
    assert first.rules.limits == Gate(max_failure_rate=0.2, metrics=limits, on="upper")
    assert (first.spec.published, second.spec.published) == (True, False)
    assert second.rules.max_failure_rate == 0.5
    assert first.baseline == tmp_path / "stored" / "run"
    assert spec.plugins == (f"{tmp_path}/mine.py:Mine",)
    asked = first.spec_of(spec.candidate)
    assert [model.text for model in asked.models] == ["painter"]
    assert asked.settings["model.faults"] == "entity-omission:0.3"


def changed(before: str, after: str) -> str:
    assert before in PLAIN
    return PLAIN.replace(before, after)


@pytest.mark.parametrize(
    ("text", "place"),
    [
        ("candidate = ", "as a whole"),
        ("", "as a whole"),
        (changed('model = "painter"', 'modle = "painter"'), "candidate"),
        (changed("fail_if_worse", "fail_if_worst"), "rules"),
        (changed("[rules]", "[rule]"), "as a whole"),
        (changed("name =", "nmae ="), r"suite\[0\]"),
        *((changed("0.05", value), "rules.fail_if_worse") for value in ('"0.05"', "-0.05", "true", "nan", "inf", "5")),
        (changed("fail_if_worse = 0.05", "max_failure_rate = 5"), "rules.max_failure_rate"),
        (changed("fail_if_worse = 0.05", "gate_on = 'lower'"), "rules"),
        (PLAIN.replace("0.05", "0.05\ngate_on = 'middle'"), "rules.gate_on"),
        (PLAIN.replace("0.05", "0.05\ngate = { kappa = 'high' }"), r"rules.gate\[...\]"),
        (changed('[baseline]\nmodel = "pocket"\n', ""), "baseline"),
        (changed("[[suite]]", "[suite]"), "suite"),
        (PLAIN + '[[suite]]\nname = "metalogic"', "suite"),
        (PLAIN + 'title = "a/../b"', "suite.title"),
        (PLAIN + "size = true", r"suite\[0\].size"),
        (PLAIN + "repeats = 0", r"suite\[0\].repeats"),
        (PLAIN + "repeats = 2.5", r"suite\[0\].repeats"),
        (PLAIN + "control = 1", r"suite\[0\].control"),
        (PLAIN + "only = [1]", r"suite\[0\].only\[0\]"),
        (PLAIN + "detector = ''", r"suite\[0\].detector"),
        (PLAIN + "set = 3", r"suite\[0\].set"),
        (changed('model = "painter"', 'model = "painter"\nset = {"detector.x" = 1}'), "candidate.set"),
        (changed('model = "painter"', 'model = ["painter"]'), "candidate.model"),
        (changed('[candidate]\nmodel = "painter"', "candidate = 3"), "candidate"),
        (PLAIN.replace('[[suite]]\nname = "metalogic"', ""), "as a whole"),
        (changed('name = "metalogic"', ""), r"suite\[0\]"),
    ],
)
def test_an_invalid_file_is_an_error_with_its_place(tmp_path: Path, text: str, place: str) -> None:
    with pytest.raises(UsageError, match=f"release.toml', {place}: ") as refused:
        read(tmp_path, text)
    assert refused.value.code == "file-invalid"


def test_a_file_that_is_not_there_or_no_text_is_named(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"nowhere.toml"):
        read_gate(tmp_path / "nowhere.toml")
    (tmp_path / "bytes.toml").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(UsageError, match=r"bytes.toml"):
        read_gate(tmp_path / "bytes.toml")


VALUES = st.recursive(
    st.one_of(st.text(max_size=5), st.integers(), st.floats(), st.booleans()),
    lambda inner: st.one_of(st.lists(inner, max_size=2), st.dictionaries(st.text(max_size=5), inner, max_size=2)),
    max_leaves=4,
)
NAMES = ["out", "plugin", "candidate", "baseline", "parts", "rules", "suite", "model", "set", "name", "size", "only"]


@given(content=st.dictionaries(st.sampled_from(NAMES), VALUES, max_size=5))
def test_any_content_is_read_or_refused_on_purpose(
    content: dict[str, object], tmp_path_factory: pytest.TempPathFactory
) -> None:
    path = tmp_path_factory.getbasetemp() / "any.toml"
    path.write_text("".join(f"{name} = {_toml(value)}\n" for name, value in content.items()), encoding="utf-8")
    with pytest.raises(UsageError):
        read_gate(path)


def _toml(value: object) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, str):
        return '"' + "".join(f"\\U{ord(letter):08x}" for letter in value) + '"'
    if isinstance(value, list):
        return f"[{', '.join(map(_toml, value))}]"
    if isinstance(value, dict):
        return "{" + ", ".join(f"{_toml(key)} = {_toml(part)}" for key, part in value.items()) + "}"
    return repr(value)
