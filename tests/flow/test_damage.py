"""Damaged and hostile data: one message and exit 2, never a traceback, and never exit 1, which means a failed gate."""

from __future__ import annotations

import json
import random
import shutil
import sqlite3
import subprocess
import sys
from pathlib import Path

import in_process
import pytest
from runs.forging import change, mend_rows

from salva.core.cells import safe_cell
from salva.core.printable import printable, printable_json
from salva.core.run_spec import RunSpec
from salva.engine.progress import SilentProgress
from salva.errors import PluginError, StoreError, UsageError
from salva.registry import add_loose_plugin
from salva.remote.errors import seconds_to_wait
from salva.report.markdown import escape
from salva.results.metrics.failure_rates import FailureRates
from salva.runs.pipeline import execute
from salva.runs.plans import make_plan
from salva.store.blobs import Blobs

HOSTILE = "red\x1b[31m \u202eevil\u2066 \x9b0m\u200b"


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    directory = tmp_path_factory.mktemp("damage") / "run"
    ask = RunSpec.of(
        suite="metalogic",
        models=("painter",),
        reader="none",
        size="2",
        settings={"model.faults": "entity-omission:1", "model.side": "256", "run.preflight": "off"},
    )
    execute(make_plan(ask), directory, SilentProgress())
    return directory


@pytest.fixture
def run(made: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(made, tmp_path / "run"))


def assert_said(run: Path, *commands: tuple[str, ...]) -> None:
    for command in commands:
        done = in_process.salva(*(part.replace("RUN", str(run)) for part in command))
        assert done.returncode == 2, (command, done.returncode, done.stderr)
        assert "Traceback" not in done.stderr
        assert "salva: " in done.stderr or "problem" in done.stderr


REPORT, VERIFY = ("report", "RUN", "--format", "json"), ("verify", "RUN")
JUDGE = ("rejudge", "RUN", "--no-progress")


@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE verdicts SET images = '[]'",
        "UPDATE verdicts SET repeat = 'three'",
        "UPDATE verdicts SET scores = '[]'",
        'UPDATE verdicts SET scores = \'{"a": "high"}\'',
        f"UPDATE verdicts SET failures = '{'[' * 30000}{']' * 30000}'",
        f"UPDATE verdicts SET scores = '{{\"a\": {'9' * 5000}}}'",
        "UPDATE cases SET record = '[]'",
        f"UPDATE cases SET record = '{'[' * 30000}{']' * 30000}'",
    ],
)
def test_a_damaged_row_is_named(run: Path, statement: str) -> None:
    change(run, statement)
    mend_rows(run)
    assert_said(run, REPORT, VERIFY)


COMPARE, DPO = ("compare", "RUN", "RUN"), ("export", "RUN", "--as", "dpo", "-o", "OUT")
EXPORTS = tuple(("export", "RUN", "--as", form, "-o", "OUT") for form in ("csv", "parquet", "ratings"))


@pytest.mark.parametrize(
    ("statement", "commands"),
    [
        ("UPDATE verdicts SET observers = '[[null]]'", (*EXPORTS, COMPARE)),
        ("UPDATE verdicts SET observers = '\"both\"'", (REPORT,)),
        ("UPDATE verdicts SET reason = x'ff'", (REPORT,)),
        ("UPDATE verdicts SET case_id = case_id || '-elsewhere'", (REPORT, DPO, COMPARE, ("power", "RUN"))),
        ("UPDATE cases SET record = json_set(record, '$.prompts[0].text', json('{}'))", (REPORT, COMPARE)),
        ("UPDATE cases SET record = json_set(record, '$.labels.law', 7)", (REPORT,)),
        ("UPDATE cases SET record = json_set(record, '$.check_groups', json('[[7]]'))", (REPORT,)),
        ("UPDATE observations SET observation = json_set(observation, '$.boxes[0].score', 'high')", (VERIFY, JUDGE)),
        ("UPDATE observations SET observation = json_set(observation, '$.boxes[0].box', json('[1]'))", (VERIFY, JUDGE)),
        (
            'UPDATE observations SET observation = replace(observation, \'"score":\', \'"score":NaN,"raw":\')',
            (VERIFY, JUDGE),
        ),
        ("UPDATE components SET role = x''", (REPORT, JUDGE)),
        ("UPDATE renders SET component_id = 'nobody'", (("quality", "RUN", "--reference", "RUN/images"),)),
        ("UPDATE renders SET provenance = '{\"revised_prompt\": \"x\"}', repeat = 'zz'", (REPORT,)),
        ("UPDATE components SET role = 'painter' WHERE role = 'model'", (VERIFY,)),
        ("UPDATE components SET identity = json_set(identity, '$.options', json('{\"side\":1e999}'))", (JUDGE, VERIFY)),
        ("INSERT INTO meta VALUES ('figures', '{\"painter\": [{\"name\": 1}]}', '')", (REPORT,)),
        ("PRAGMA user_version = -5", (REPORT, JUDGE, VERIFY)),
        ("PRAGMA user_version = 1", (REPORT, JUDGE)),
    ],
)
def test_what_is_not_of_its_kind_is_named_whoever_reads_it(
    run: Path, tmp_path: Path, statement: str, commands: tuple[tuple[str, ...], ...]
) -> None:
    change(run, statement)
    mend_rows(run)
    assert_said(run, *(tuple(part.replace("OUT", str(tmp_path / "out")) for part in said) for said in commands))


@pytest.mark.parametrize("number", ["NaN", "Infinity", "1e999"])
def test_a_number_that_is_none_in_run_json_is_named(run: Path, number: str) -> None:
    text = (run / "run.json").read_text()
    (run / "run.json").write_text(text.replace('"seed": 0', f'"seed": 0, "lost": {number}'))
    assert_said(run, REPORT, VERIFY, JUDGE)


def test_a_name_in_the_schema_that_is_no_text_is_named(run: Path) -> None:
    damaged = (run / "salva.db").read_bytes().replace(b"CREATE TABLE images", b"CREATE TABLE im\xffges")
    (run / "salva.db").write_bytes(damaged)
    assert_said(run, REPORT, VERIFY, JUDGE, ("power", "RUN"))


def test_a_message_that_quotes_a_whole_file_is_cut(run: Path) -> None:
    connection = sqlite3.connect(run / "salva.db")
    connection.execute("UPDATE verdicts SET outcome = ?", ("9" * 100_000,))
    connection.commit()
    connection.close()
    mend_rows(run)
    said = in_process.salva("report", str(run)).stderr
    assert len(said) < 5000
    assert "[row-invalid]" in said


def test_a_fault_of_ours_is_no_failed_gate_and_shows_no_key(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    key = "sk-planted-0123456789abcdef"
    script = (
        "from salva.cli import main\n"
        f"def broken(**_): raise KeyError('{key}', chr(27))\n"
        "main.salva.main = broken\n"
        "main.main()\n"
    )
    monkeypatch.setenv("OPENAI_API_KEY", key)
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, cwd=tmp_path, check=False)
    assert done.returncode == 2
    assert "Traceback" in done.stderr
    assert "[unexpected-error]" in done.stderr
    assert "0123456789" not in done.stdout + done.stderr
    assert "\x1b" not in done.stderr


def test_a_database_with_flipped_bits_is_named_wherever_that_is_met(run: Path) -> None:
    sound = (run / "salva.db").read_bytes()
    draw = random.Random(5)
    for _ in range(12):
        damaged = bytearray(sound)
        for place in draw.sample(range(100, len(sound)), 400):
            damaged[place] ^= 1 << draw.randrange(8)
        (run / "salva.db").write_bytes(damaged)
        for command in (REPORT, VERIFY):
            done = in_process.salva(*(part.replace("RUN", str(run)) for part in command))
            assert done.returncode in (0, 2), (command, done.returncode, done.stderr)
            assert "Traceback" not in done.stderr


@pytest.mark.parametrize(
    "text",
    [
        "[" * 100_000,
        "{}",
        '{"format": 12, "spec": []}',
        '{"format": 12, "spec": {"seed": ' + "9" * 5000 + "}}",
        "nonsense",
        "",
        '{"schema": 99}',
    ],
)
def test_a_damaged_run_json_is_named(run: Path, text: str) -> None:
    (run / "run.json").write_text(text)
    assert_said(run, REPORT, VERIFY, JUDGE)


@pytest.mark.parametrize("part", ["checks", "suite", "models", "observers", "size", "only"])
def test_a_run_json_with_a_part_of_another_type_is_named(run: Path, part: str) -> None:
    content = json.loads((run / "run.json").read_text())
    content["spec"][part] = 3
    (run / "run.json").write_text(json.dumps(content))
    assert_said(run, REPORT, VERIFY, JUDGE)


@pytest.mark.parametrize("damage", ["half", "garbage", "flipped"])
def test_a_damaged_image_in_an_export_is_named(run: Path, tmp_path: Path, damage: str) -> None:
    for path in (run / "images").rglob("*.webp"):
        data = path.read_bytes()
        flipped = data[:30] + bytes(byte ^ 255 for byte in data[30:])
        path.write_bytes({"half": data[: len(data) // 2], "garbage": b"\x00" * 99, "flipped": flipped}[damage])
    assert_said(run, ("export", "RUN", "--as", "counterexamples", "-o", str(tmp_path / "out")))
    assert in_process.salva("report", str(run), "-o", str(tmp_path / "page.html")).returncode == 0


@pytest.mark.parametrize("image_id", ["../../../etc/passwd", "ab/../../x", "..", "", "a.b", "/etc", 7])
def test_an_image_id_that_could_lead_elsewhere_is_no_path(tmp_path: Path, image_id: str) -> None:
    with pytest.raises(StoreError, match=r"\[store-damaged\]"):
        Blobs(tmp_path).path_of(image_id)


@pytest.mark.parametrize(
    "value", ["Fri, 31 Dec 99999 23:59:59 GMT", "inf", "nan", "1e999", "Mon, 99 Foo 2026", "\x00", "9" * 5000]
)
def test_an_absurd_retry_after_asks_for_nothing(value: str) -> None:
    assert seconds_to_wait(value) is None
    assert seconds_to_wait("Wed, 01 Jan 0001 00:00:00 GMT") in (0.0, None)
    assert seconds_to_wait("7") == 7.0


def test_what_moves_a_cursor_or_turns_the_writing_is_shown_escaped() -> None:
    assert printable(HOSTILE) == "red\\x1b[31m \\u202eevil\\u2066 \\x9b0m\\u200b"
    assert printable("größer 猫\n\tok") == "größer 猫\n\tok"
    for shown in (safe_cell(HOSTILE), escape(HOSTILE)):
        assert not set(str(shown)) & set("\x1b\u202e\u2066\x9b\u200b")


def test_json_that_is_printed_is_legible_and_loses_nothing() -> None:
    hostile = {HOSTILE + "\x7f\x85\U000e0041\ud800": [HOSTILE, 'größer "猫"\n', None, 1.5]}
    for indent in (None, 2):
        text = printable_json(hostile, indent)
        assert printable(text) == text
        assert json.loads(text) == hostile
        assert "猫" in text


def test_a_hostile_run_shows_no_control_character_anywhere(run: Path, tmp_path: Path) -> None:
    connection = sqlite3.connect(run / "salva.db")
    for table, column in (("verdicts", "model"), ("verdicts", "reason")):
        connection.execute(f"UPDATE {table} SET {column} = ?", (HOSTILE,))
    for case_id, record in connection.execute("SELECT case_id, record FROM cases").fetchall():
        content = json.loads(record)
        content["labels"]["law"] = HOSTILE
        content["prompts"][0]["text"] += HOSTILE
        connection.execute("UPDATE cases SET record = ? WHERE case_id = ?", (json.dumps(content), case_id))
    connection.commit()
    connection.close()
    shown = [in_process.salva("report", str(run), "--format", form).stdout for form in ("md", "csv", "json")]
    done = in_process.salva("report", str(run), "-o", str(tmp_path / "page.html"))
    assert done.returncode == 0, done.stderr
    shown += [done.stdout, (tmp_path / "page.html").read_text()]
    judged = in_process.salva("rejudge", str(run), "--no-progress")
    shown += [judged.stdout, judged.stderr, in_process.salva("verify", str(run)).stdout]
    for text in shown:
        assert not set(text) & set("\x1b\u202e\u2066\x9b\u200b"), text[:200]


def test_a_label_that_a_suite_counts_on_and_that_is_gone_is_said(run: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def measure(*_: object) -> None:
        raise KeyError("category")

    monkeypatch.setattr(FailureRates, "measure", measure)
    assert_said(run, REPORT, ("report", "RUN", "--format", "md"))
    assert "FailureRates" in in_process.salva("report", str(run)).stderr


PLUGIN = """
from salva.core.about import About
class {name}:
    version = "1"
    about = About(role="detector"{more})
    def __init__(self, options): pass
    def observe(self, requests): return []
"""


@pytest.mark.parametrize(
    ("file", "text", "error", "named"),
    [
        ("quits.py", "import sys\nsys.exit(0)\n", PluginError, "SystemExit 0"),
        ("notes.txt", "a list of things\n", UsageError, r"notes\.txt:Any"),
        ("thief.py", PLUGIN.format(name="Any", more=', name="pocket"'), UsageError, "'pocket'"),
    ],
)
def test_a_plugin_file_that_cannot_be_used_is_named(
    tmp_path: Path, file: str, text: str, error: type[Exception], named: str
) -> None:
    (tmp_path / file).write_text(text)
    with pytest.raises(error, match=named):
        add_loose_plugin(f"{tmp_path / file}:Any")


@pytest.mark.parametrize(
    ("old", "new", "code", "told"),
    [
        ("(self, options): pass", "(self, options): raise SystemExit(0)", 2, "(SystemExit 0)"),
        ("return []", "raise SystemExit(0)", 3, "(in quits.py line 7)"),
        ('role="detector"', 'role="nobody"', 2, "'nobody'"),
    ],
)
def test_a_component_that_ends_the_program_does_not_end_it_in_silence(
    tmp_path: Path, old: str, new: str, code: int, told: str
) -> None:
    (tmp_path / "quits.py").write_text(PLUGIN.format(name="Quits", more="").replace(old, new))
    named = ("--detector", "quits", "--plugin", f"{tmp_path / 'quits.py'}:Quits", "--reader", "none")
    where = ("--out", str(tmp_path / "run"), "--set", "run.preflight=off", "--no-progress")
    done = in_process.salva("run", "metalogic", "--model", "painter", "--size", "1", *named, *where)
    assert done.returncode == code, done.stderr
    assert told in done.stderr + done.stdout.replace("\n", " ")


def test_two_plugin_files_of_one_stem_stand_side_by_side(tmp_path: Path) -> None:
    for folder, name in (("one", "FirstOfTwo"), ("two", "SecondOfTwo")):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "mine.py").write_text(PLUGIN.format(name=name, more=""))
        assert add_loose_plugin(f"{tmp_path / folder / 'mine.py'}:{name}").role == "detector"
