"""CF-World's own files: every gap is named by kind, and nothing odd costs its neighbours."""

from __future__ import annotations

import json
import os
import re
from collections import Counter
from pathlib import Path

import pytest

from salva.core.fingerprint import Json
from salva.errors import UsageError
from salva.suites.cfworld.files import CfWorldFiles, read_files
from salva.suites.cfworld.gaps import KINDS, gaps_table
from salva.suites.cfworld.groups import LevelGroup, Probe
from salva.suites.cfworld.official_questions import read_criteria
from salva.suites.cfworld.suite import CfWorld, CfWorldOptions

DATA = os.environ.get("SALVA_TEST_DATA", "")
needs_data = pytest.mark.skipif(not DATA, reason="SALVA_TEST_DATA is not set: no CF-World files to read")


LINE: dict[str, Json] = {"prompt": "Draw a cat.", "questions": [{"kind": "point", "text": "A cat?"}]}
"""A level of our own form."""


def write(path: Path, content: Json) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(content), encoding="utf-8")


def asked(source: str, level: str, kind: str = "Assessment Point", **more: Json) -> dict[str, Json]:
    return {
        "source_id": source,
        "prompt_level": level,
        "question_type": kind,
        "question": f"{kind} of {level}?",
        "evaluation_criteria": "1.0 - yes. 0.5 - partly. 0.0 - no.",
        "weight": 15,
        **more,
    }


def row(name: str, **more: Json) -> dict[str, Json]:
    levels: dict[str, Json] = {f"prompt_l{i}": f"Draw {name} {i}." for i in (1, 2, 3)}
    return {"id": name, "category": "Light", "ap_l1": "a", "ap_l2": "b", "ap_l3": "c", **levels, **more}


def kinds(read: CfWorldFiles) -> Counter[str]:
    of_entries = (finding for entry in read.entries for finding in entry.findings)
    return Counter(finding.kind for finding in (*read.findings, *of_entries))


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    write(
        tmp_path / "prompt" / "physics" / "Optics.json",
        [
            row("0"),
            row("1", category=" Light ", ap_l3=None, ap_3="typed"),
            row("2", category="Réflexion", ap_l2=None, ap_l3=None),
            row("3", category=None, ap_l3=None, prompt_l1="Draw 0 1.", prompt_l2=" Draw 3 2.", prompt_l3=""),
            row("3"),
            "no object",
        ],
    )
    levels = ("l1", "l2", "l3")
    questions: list[Json] = [asked("0", level) for level in levels]
    questions += [asked("1", "l1", "Visual Integrity", weight=3, question=f"{n}?") for n in (1, 2, 2)]
    questions += [asked("1", "l1", "Mood", weight="heavy"), asked("1", "l2", weight=40), asked("9", "l1")]
    questions += [asked("2", level, question="same?") for level in ("l2", "l3")]
    questions += [asked("2", "l1", evaluation_criteria="1 = yes. 0 = no."), asked("3", "l1", evaluation_criteria="yes")]
    write(tmp_path / "eval_questions" / "Optics_gemini.json", questions)
    write(
        tmp_path / "prompt_ablation" / "de-norm" / "Optics.json",
        [{"id": "0", "prompt_l2": "Draw what shines."}, {"id": "8", "prompt_l2": "Draw."}],
    )
    pairs: list[Json] = [
        {"id": 93, "A": "Otter", "B": " Dome", "prompt": "An otter under a dome.", "category": "unusual"}
    ]
    pairs += [{"id": "93_factual", "A": "Otter", "B": "River", "prompt": "An otter in a river.", "category": "factual"}]
    pairs += [{"id": 94, "A": "Cat", "B": "Moon", "prompt": "A cat on the moon.", "category": "unusual"}]
    pairs += [{"id": 95, "A": "Cat", "prompt": "A cat.", "category": "unusual"}]
    write(tmp_path / "prompt_ablation" / "attribute_decouple.json", pairs)
    rules: list[Json] = [{"rule_id": 0, "id": 0, "category": "original", "prompt": "Draw an arrow.", "ap": "down"}]
    rules += [{"rule_id": 0, "id": 1, "category": "cf", "prompt": "Draw an arrow, upside down.", "ap": "up"}]
    rules += [{"rule_id": 1, "id": 2, "category": "orignal", "prompt": "Draw a dot.", "ap": "a dot"}, {"id": 3}]
    write(tmp_path / "prompt_ablation" / "rule_decouple.json", rules)
    write(
        tmp_path / "own.jsonl", {"part": "rule", "id": "1", "factual": [{**LINE, "formula": "&"}], "counterfactual": []}
    )
    write(tmp_path / "croissant.json", {"name": "CF-World"})
    (tmp_path / "broken.json").write_text("[{", encoding="utf-8")
    return tmp_path


def test_every_gap_is_named_by_kind(folder: Path) -> None:
    found = kinds(read_files([str(folder)]))
    assert set(found) == set(KINDS)
    assert found["misspelt-key"] == 1
    assert found["no-questions"] == 3, "l3 of 1, l2 and l3 of 3"
    assert found["unknown-file"] == 3, "a list with something odd in it, a file of metadata, a broken one"


def test_lint_names_discipline_and_group_in_every_line_and_the_weight_of_a_stray_question(folder: Path) -> None:
    asked_of = [asked("9", "l1", "Mood", weight=40), asked("0", "l2", "Mood", weight=7), asked("0", "l1", question="")]
    write(folder / "eval_questions" / "Optics_more.json", [*asked_of, asked("1", "LEVEL 2", evaluation_criteria="?")])
    found = CfWorld(CfWorldOptions(path=(str(folder),))).lint()
    of_groups = [one.sentence for one in found if one.kind not in ("count-differs", "unknown-file", "no-id")]
    places = re.compile(r"\b(Optics|rule|attribute|pair|de-norm)[ /,]+[0-9]+")
    assert [sentence for sentence in of_groups if not places.search(sentence)] == []
    stray = {kind: [one.sentence for one in found if one.kind == kind] for kind in ("odd-kind", "orphan-questions")}
    assert [
        "9 l1" in sentence and {"15", "40"} <= {*re.findall(r"\d+", sentence)} for sentence in stray["orphan-questions"]
    ] == [True]
    assert [re.findall(r"\d+|'heavy'", sentence.partition(": ")[2]) for sentence in sorted(stray["odd-kind"])] == [
        ["0", "2", "7"],
        ["1", "1", "'heavy'"],
        ["9", "1", "40"],
    ]
    by_lint = [one.sentence for one in found if one.kind == "question-kinds" and one.sentence.endswith("7")]
    assert [sentence.partition(":")[0] for sentence in by_lint] == ["Optics/0"]


def test_what_a_file_spells_or_orders_otherwise_is_read_all_the_same(tmp_path: Path) -> None:
    write(tmp_path / "prompt" / "Classical Mechanics.json", [row("0", id=0, question="?", rule_id=4)])
    spelt = [("L1", "Factual Logic"), ("prompt_l1", "assessment_point"), ("2", "Assessment Points"), ("l3", "Logic")]
    questions: list[Json] = [asked("0", level, kind, source_id=0.0) for level, kind in spelt]
    write(tmp_path / "eval_questions" / "Classical-Mechanics_gemini.json", questions)
    read = read_files([str(tmp_path)])
    (group,) = read.entries
    assert isinstance(group, LevelGroup)
    assert [[q.kind for q in group.level(level).questions] for level in ("l1", "l2", "l3")] == [
        ["logic", "point"],
        ["point"],
        ["logic"],
    ]
    found = kinds(read)
    assert found["misspelt-key"] == 2, "prompt_l1 and 2"
    assert found["lacks-kind"] == 3, "no level has all three"
    assert not found["odd-kind"]
    assert not found["orphan-questions"]


def test_no_question_or_prompt_is_lost_in_silence(tmp_path: Path) -> None:
    write(tmp_path / "prompt" / "Optics.json", [row("0", prompt_l2=None)])
    asked_of = [asked("0", level) for level in ("l1", "l2", "l3")]
    write(tmp_path / "eval_questions" / "Optics.json", [*asked_of, asked("0", "l22"), asked("0", "l1")])
    write(tmp_path / "de-norm" / "Biology.json", [{"id": "0", "prompt_l2": "Draw."}])
    found = kinds(read_files([str(tmp_path)]))
    assert [found[kind] for kind in ("orphan-questions", "repeated-question", "orphan-denorm", "no-prompt")] == [1] * 4
    (case,) = CfWorld(CfWorldOptions(path=(str(tmp_path),))).cases("full")
    assert [prompt.role for prompt in case.prompts] == ["l1", "l3"], "one level without a prompt costs no other"


def test_lines_of_our_own_form_are_told_what_they_lack(tmp_path: Path) -> None:
    # A line separator inside a sentence ends no line.
    whole: dict[str, Json] = {"prompt": "Draw a cup.\u2028", "questions": [{"kind": "point", "text": "A cup?"}]}
    lines: list[Json] = [
        {"discipline": "optics", "id": "0", "l1": whole, "l2": whole, "l3": {"prompt": "Draw."}},
        {"discipline": "optics", "id": "1", "l1": {"prompt": "Draw."}, "l2": whole, "l3": whole},
        {"part": "rule", "id": "7", "factual": [whole], "counterfactual": [whole, {"prompt": "Draw."}]},
    ]
    file = tmp_path / "groups.jsonl"
    file.write_text("\r\n".join(json.dumps(line, ensure_ascii=False) for line in lines), encoding="utf-8-sig")
    read = read_files([str(file)])
    assert kinds(read) == {"no-questions": 3, "lacks-kind": 4}
    (case,) = CfWorld(CfWorldOptions(path=(str(file),))).cases("full")
    assert [prompt.role for prompt in case.prompts] == ["l1", "l2"]
    assert Counter(finding.kind for finding in case.findings)["no-questions"] == 2, "that of the group not painted too"
    (probe,) = CfWorld(CfWorldOptions(path=(str(file),), part="rule")).cases("full")
    assert [prompt.role for prompt in probe.prompts] == ["fact1", "cf1"]


def test_a_formula_that_cannot_be_read_is_named_and_costs_nothing_else(tmp_path: Path) -> None:
    good = {**LINE, "formula": "cat"}
    groups: list[dict[str, Json]] = [
        {"discipline": "optics", "id": str(n), "l1": good, "l2": {**LINE, "formula": formula}, "l3": good}
        for n, formula in enumerate(("cat &", "cat"))
    ]
    file = tmp_path / "groups.jsonl"
    file.write_text("\n".join(map(json.dumps, groups)), encoding="utf-8")
    suite = CfWorld(CfWorldOptions(path=(str(file),)))
    odd, plain = suite.cases("full")
    assert [prompt.formula for prompt in odd.prompts] == ["cat", None, "cat"]
    assert (odd.equivalent, odd.determinate) == (None, None)
    assert plain.equivalent
    (told,) = [finding.sentence for finding in suite.lint() if finding.kind == "unread-formula"]
    assert "optics 0 l2: 'cat &', " in told


def test_files_of_which_nothing_can_be_painted_say_why(tmp_path: Path) -> None:
    write(tmp_path / "prompt" / "Optics.json", [row("0")])
    write(tmp_path / "eval_questions" / "Light.json", [asked("0", "l1")])
    with pytest.raises(UsageError, match="no-questions 3, orphan-questions 1"):
        CfWorld(CfWorldOptions(path=(str(tmp_path),))).cases("full")
    write(tmp_path / "other" / "all.json", {"data": []})
    with pytest.raises(UsageError, match=r"all\.json.*\[suite-file-empty\]"):
        read_files([str(tmp_path / "other")])


def test_levels_without_questions_are_not_painted(folder: Path) -> None:
    suite = CfWorld(CfWorldOptions(path=(str(folder),)))
    roles = {case.labels["id"]: [prompt.role for prompt in case.prompts] for case in suite.cases("full")}
    assert roles == {"0": ["l1", "l2", "l3"], "1": ["l1", "l2"], "2": ["l1", "l2", "l3"], "3": ["l1"]}


def test_a_group_that_cannot_be_painted_is_counted_all_the_same(tmp_path: Path) -> None:
    write(tmp_path / "prompt" / "Optics.json", [row("0"), row("1")])
    questions: list[Json] = [asked("0", level) for level in ("l1", "l2", "l3")]
    write(tmp_path / "eval_questions" / "Optics.json", [*questions, asked("1", "l2"), asked("1", "l3")])
    for size in ("full", "quick"):
        (case,) = CfWorld(CfWorldOptions(path=(str(tmp_path),))).cases(size)
        counted = gaps_table([case])
        assert counted is not None
        assert ("no-questions", 1) in [line[:2] for line in counted.rows], size


def test_rows_without_an_id_are_no_rule_and_no_pair(tmp_path: Path) -> None:
    rule: dict[str, Json] = {"rule_id": 0, "id": 0, "category": "original", "prompt": "Draw.", "ap": "down"}
    pair: dict[str, Json] = {"A": "Otter", "B": "Dome", "prompt": "An otter under a dome."}
    write(tmp_path / "rules.json", [{"id": 7, "prompt": "Draw."}, rule, {**rule, "id": 1, "category": "cf"}])
    write(tmp_path / "pairs.json", [pair, {**pair, "id": "_factual"}, {**pair, "id": 4}, {**pair, "id": "4_factual"}])
    read = read_files([str(tmp_path)])
    assert [entry.probe_id for entry in read.entries if isinstance(entry, Probe)] == ["0", "4"]
    assert [finding.sentence.partition(": ")[2] for finding in read.findings if finding.kind == "no-id"] == [
        "rule, prompt 7",
        "pair, entry 1",
        "pair, entry 2",
    ]
    assert "unpaired" not in kinds(read)
    counts = [found.sentence for entry in read.entries for found in entry.findings if found.kind == "count-differs"]
    assert [sentence.partition(": ")[2].partition("; paper")[0] for sentence in counts] == [
        "1 rules, 3 prompts",
        "1 pairs",
    ]


def test_blanks_around_an_id_are_ignored(tmp_path: Path) -> None:
    rare: dict[str, Json] = {"id": " 93", "A": "Otter", "B": "Dome", "prompt": "An otter under a dome."}
    common: dict[str, Json] = {"id": " 93_factual", "A": "Otter", "B": "River", "prompt": "An otter in a river."}
    write(tmp_path / "attribute_decouple.json", [rare, common])
    read = read_files([str(tmp_path)])
    assert len(read.entries) == 1
    write(tmp_path / "prompt" / "Optics.json", [row("0")])
    write(tmp_path / "de-norm" / "Optics.json", [{"id": " 0", "prompt_l2": "Draw what shines."}])
    assert [one.denorm for one in read_files([str(tmp_path)]).entries if isinstance(one, LevelGroup)] == [
        "Draw what shines."
    ]


def test_parts_of_the_files_are_parts_of_the_suite(folder: Path) -> None:
    def roles(part: str) -> list[list[str]]:
        suite = CfWorld(CfWorldOptions(path=(str(folder),), part=part))
        return [[prompt.role for prompt in case.prompts] for case in suite.cases("full")]

    assert roles("rule") == [["fact1", "cf1"]]
    assert roles("attribute") == [["fact1", "cf1"]], "a pair that lacks its counterpart is not painted"
    assert roles("denorm") == [["l1", "l2", "l3", "denorm"]]
    (case,) = CfWorld(CfWorldOptions(path=(str(folder),), part="denorm")).cases("full")
    assert case.prompt("denorm").questions == case.prompt("l2").questions


@pytest.mark.parametrize("part", ["levels", "rule", "attribute", "denorm"])
def test_what_is_wrong_with_the_files_is_told_whatever_part_is_painted(folder: Path, part: str) -> None:
    suite = CfWorld(CfWorldOptions(path=(str(folder),), part=part))
    counted = gaps_table(suite.cases("full"))
    assert counted is not None
    told = {row[0]: row[1] for row in counted.rows}
    assert told["unknown-file"] == 3
    assert told["count-differs"]
    (remark,) = suite.remarks("full")
    assert "unknown-file 3" in remark
    assert "misspelt-key 1" in remark, "of groups too, whichever of them are painted"
    assert not list(suite.remarks("embedded")), "pocket's world has no files"


@pytest.mark.parametrize(
    ("text", "steps"),
    [
        ("1.0 = Sharp. 0.0 = Blurry, 0.3 m wide.", {1.0: "Sharp.", 0.0: "Blurry, 0.3 m wide."}),
        ("1.0 – all – of it. 0.5 – half. 0.0 – none.", {1.0: "all – of it.", 0.5: "half.", 0.0: "none."}),
        ("1: yes; 0.5: partly; 0: no", {1.0: "yes", 0.5: "partly", 0.0: "no"}),
        ("yes or no", {1.0: "yes or no"}),
        ("", {}),
    ],
)
def test_criteria_are_read_step_by_step(text: str, steps: dict[float, str]) -> None:
    assert dict(read_criteria(text, "here")[0]) == steps


def test_a_folder_without_groups_is_refused(tmp_path: Path) -> None:
    write(tmp_path / "other.json", [{"name": "x"}])
    with pytest.raises(UsageError, match="suite-file-empty"):
        read_files([str(tmp_path)])
    with pytest.raises(UsageError, match="file-missing"):
        read_files([str(tmp_path / "gone")])


@needs_data
def test_the_published_files_are_read_whole() -> None:
    read = read_files([str(Path(DATA) / "cfworld")])
    entries = read.entries
    groups = [entry for entry in entries if isinstance(entry, LevelGroup)]
    probes = [entry for entry in entries if isinstance(entry, Probe)]
    assert Counter(group.discipline for group in groups) == {"Optics": 102, "Geography": 26, "Sociology": 22}
    assert Counter(probe.part for probe in probes) == {"rule": 33, "attribute": 113}
    assert sum(len(p.factual) + len(p.counterfactual) for p in probes if p.part == "rule") == 198
    found = kinds(read)
    assert found["no-questions"] == 8, "Geography 0 to 3 have none for L2 and L3"
    assert found["point-of-another-level"] == 150
    assert found["count-differs"] == 2, "groups and pairs"
    assert {q.weight for g in groups for q in g.l1.questions} == {3.0, 15.0, 8.0}
    assert not found["unread-criteria"]
    assert not found["odd-kind"]
