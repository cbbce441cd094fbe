"""The command line as people use it: what it prints, what it refuses, how it exits."""

from __future__ import annotations

import csv
import importlib
import io
import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import click
import pytest
from in_process import salva

from salva.cli.main import salva as whole_command


@pytest.fixture(scope="module")
def run_directory(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A small finished run with planted faults."""
    directory = tmp_path_factory.mktemp("cli") / "run"
    done = salva(
        *("run", "metalogic", "--model", "painter", "--size", "20", "--reader", "none", "--no-progress", "--control"),
        *("--set", "model.faults=entity-omission:0.5,x-misposition:0.5", "--out", str(directory)),
    )
    assert done.returncode == 0, done.stderr
    return directory


@pytest.mark.parametrize(
    ("formulas", "first_line"),
    [
        (("cat & (dog | apple)", "(cat & dog) | (cat & apple)"), "equivalent"),
        (("cat & 2 dog", "2 cat & dog"), "not equivalent"),
        (("cat & 1 dog", "1 cat & dog"), "equivalent"),
        (("cat & dog",), "determinate"),
        (("cat | dog",), "not determinate"),
        (("cat & !cat",), "contradictory"),
        (("!(!cat & dog)", "cat & dog"), "not equivalent"),
    ],
)
def test_prove_answers_in_its_first_line(formulas: tuple[str, ...], first_line: str) -> None:
    done = salva("prove", *formulas)
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines()[0] == first_line


@pytest.mark.parametrize(
    ("sentences", "first_line", "read"),
    [
        (("no cats and no dogs", "neither a dog nor a cat"), "equivalent", "(!cat & !dog)"),
        (("a pair of cats", "two cats"), "equivalent", "(2 cat)"),
        (("a red and a blue ball",), "determinate", "(red ball & blue ball)"),
        (("a photo of a stop sign",), "determinate", "(stop sign)"),
        (("zero cats",), "determinate", "(!cat)"),
    ],
)
def test_prove_takes_sentences_and_says_what_it_read(sentences: tuple[str, ...], first_line: str, read: str) -> None:
    done = salva("prove", *sentences)
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines()[0] == first_line
    assert read in done.stdout


@pytest.mark.parametrize("command", ["prove", "rewrite"])
@pytest.mark.parametrize(
    ("sentence", "problem"),
    [
        ("a lion, a tiger and a bear on the left", "lion & tiger & bear@left or as lion@left & tiger@left & bear@left"),
        ("It is not the case that there is a cat and there is a dog", "!cat & dog or as !(cat & dog)"),
        ("ten thousand cats", "from 1 to 99"),
        ("a cat sitting on a sofa", "'sitting'"),
        ("several cats", "'several'"),
    ],
)
def test_a_sentence_that_cannot_be_read_is_refused_with_the_readings(command: str, sentence: str, problem: str) -> None:
    done = salva(command, sentence)
    assert (done.returncode, done.stdout) == (2, "")
    assert problem in done.stderr


def test_prove_shows_a_witness_and_says_what_is_not_determinate() -> None:
    assert "witness: " in salva("prove", "cat & 2 dog", "2 cat & dog").stdout
    done = salva("prove", "cat & (dog | apple)", "(cat & dog) | (cat & apple)")
    assert done.stdout.splitlines()[-1].startswith("not determinate: two right")
    first, *_, last = salva("prove", "cat & !cat", "dog & !dog").stdout.splitlines()
    assert first == "equivalent"
    assert last.startswith("not determinate: no image")
    assert all(formula in last for formula in ("cat & !cat", "dog & !dog"))


@pytest.mark.parametrize("formula", ["", "cat &", "cat @ nowhere", "(cat", "3", "left_of(cat)", "cat\tdog\x07"])
def test_a_malformed_formula_is_pointed_at(formula: str) -> None:
    done = salva("prove", formula)
    assert done.returncode == 2
    assert done.stdout == ""
    assert "Traceback" not in done.stderr
    assert done.stderr.startswith("salva: ")


def test_rewrite_prints_one_object_a_line() -> None:
    done = salva("rewrite", "!(cat & dog)", "--law", "de-morgan", "--format", "jsonl")
    rows = [json.loads(line) for line in done.stdout.splitlines()]
    assert "!cat | !dog" in {row["formula"] for row in rows}
    assert all(row["english"] for row in rows)


def test_cases_print_the_contract_keys() -> None:
    rows = [json.loads(line) for line in salva("cases", "metalogic", "--format", "jsonl").stdout.splitlines()]
    assert len(rows) == 63
    contract = {"case_id", "suite", "labels", "prompts", "formulas", "check", "equivalent", "determinate"}
    assert all(contract <= set(row) for row in rows)
    assert all(row["equivalent"] is True for row in rows)
    assert {row["labels"]["law"] for row in rows if not row["determinate"]} == {"de-morgan"}


def test_cases_of_a_number_are_balanced_and_nested() -> None:
    def ids(size: str) -> list[str]:
        lines = salva("cases", "metalogic", "--size", size, "--format", "jsonl").stdout.splitlines()
        return [json.loads(line)["case_id"] for line in lines]

    ten, seventy = ids("10"), ids("70")
    assert len(ten) == 10
    assert len(seventy) == 70
    assert set(ten) < set(seventy)


_OF_MODEL = (
    *("results", "failure_rate", "interval", "interval_entities", "bounds", "average", "categories", "n"),
    *("n_effective", "coverage", "checks", "trust", "metrics", "failure_types", "examples", "gates", "corrected"),
    *("cost_usd", "n_images", "tables"),
)
_OF_RUN = ("schema", "salva", "run", "suite", "models", "settings", "observers", "complete", "exit_code", "by_model")


def test_report_json_has_the_contract_keys_and_no_others(run_directory: Path) -> None:
    figures = json.loads(salva("report", str(run_directory), "--format", "json").stdout)
    assert {*figures} == {*_OF_RUN, *_OF_MODEL}
    (model,) = figures["by_model"].values()
    assert model == {name: figures[name] for name in _OF_MODEL}
    assert (figures["schema"], figures["suite"], figures["models"]) == (3, "metalogic", ["painter"])
    assert figures["settings"] == {"size": "20", "repeats": 2, "seed": 0, "only": {}, "counts": None, "rule": "primary"}
    results = figures["results"]
    assert {*results} == {"total", "pass", "fail", "undecided", "error", "refused"}
    assert results["pass"] + results["fail"] + results["undecided"] + results["error"] == results["total"] == 40
    low, high = figures["interval"]
    assert low < figures["failure_rate"] < high
    assert (figures["n"], figures["average"], figures["checks"]) == (40, "macro", {"truth": 20})
    assert {*figures["categories"][0]} == {"name", "total", "pass", "fail", "undecided", "error", "rate"}
    assert {*figures["trust"]} == {"status", "reasons"}
    assert {*figures["metrics"]["inconsistent"]} == {"value", "interval", "n", "better", "published", "reason"}
    assert {*figures["examples"][0]} == {"case_id", "repeat", "prompts", "images", "message"}
    assert len(figures["examples"]) == 10
    assert figures["failure_types"]["entity-omission"] > 0
    assert any(table["name"] == "control" for table in figures["tables"])


@pytest.mark.parametrize("form", ["html", "md", "csv"])
def test_every_report_format_is_written(run_directory: Path, tmp_path: Path, form: str) -> None:
    path = tmp_path / f"report.{form}"
    done = salva("report", str(run_directory), "--format", form, "-o", str(path))
    assert done.returncode == 0, done.stderr
    assert path.stat().st_size > 500


def test_exported_csv_has_the_contract_columns(run_directory: Path, tmp_path: Path) -> None:
    path = tmp_path / "verdicts.csv"
    salva("export", str(run_directory), "--as", "csv", "-o", str(path))
    rows = list(csv.DictReader(io.StringIO(path.read_text(encoding="utf-8"))))
    fixed = ["case_id", "suite", "model", "repeat", "arm", "check", "observers", "outcome"]
    assert list(rows[0])[: len(fixed)] == fixed
    assert {row["arm"] for row in rows} == {"pair", "control"}
    assert {row["check"] for row in rows} == {"same-scene", "truth"}
    assert "label.law" in rows[0]


def test_the_same_command_again_paints_nothing(run_directory: Path) -> None:
    before = (run_directory / "salva.db").stat().st_mtime_ns
    done = salva(
        *("run", "metalogic", "--model", "painter", "--size", "20", "--reader", "none", "--no-progress", "--control"),
        *("--set", "model.faults=entity-omission:0.5,x-misposition:0.5", "--out", str(run_directory)),
    )
    assert done.returncode == 0, done.stderr
    assert (run_directory / "salva.db").stat().st_mtime_ns == before


def test_another_specification_is_refused_in_the_same_directory(run_directory: Path) -> None:
    done = salva(
        "run", "metalogic", "--model", "painter", "--size", "21", "--reader", "none", "--out", str(run_directory)
    )
    assert done.returncode == 2
    assert "--out" in done.stderr
    assert "Traceback" not in done.stderr


def test_judge_again_changes_the_rule_without_painting(run_directory: Path, tmp_path: Path) -> None:
    copy = tmp_path / "copy"
    shutil.copytree(run_directory, copy)
    done = salva("rejudge", str(copy), "--check", "truth", "--no-progress")
    assert done.returncode == 0, done.stderr
    before = json.loads(salva("report", str(run_directory), "--format", "json").stdout)
    after = json.loads(salva("report", str(copy), "--format", "json").stdout)
    assert after["failure_rate"] >= before["failure_rate"]


def test_verify_finds_a_damaged_image(run_directory: Path, tmp_path: Path) -> None:
    assert salva("verify", str(run_directory)).returncode == 0
    copy = tmp_path / "copy"
    shutil.copytree(run_directory, copy)
    image = next((copy / "images").rglob("*.webp"))
    image.write_bytes(image.read_bytes()[:-7])
    done = salva("verify", str(copy))
    assert done.returncode == 2
    assert image.stem in done.stdout


def test_the_gate_fails_with_exit_one(run_directory: Path) -> None:
    arguments = [
        *("run", "metalogic", "--model", "painter", "--size", "20", "--reader", "none", "--no-progress", "--control"),
        *("--set", "model.faults=entity-omission:0.5,x-misposition:0.5", "--out", str(run_directory)),
    ]
    assert salva(*arguments, "--max-failure-rate", "0.01").returncode == 1
    assert salva(*arguments, "--max-failure-rate", "0.99").returncode == 0


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("run", "metalogik"), "Did you mean 'metalogic'"),
        (("run", "metalogic", "--model", "painterr"), "Did you mean 'painter'"),
        (("run", "metalogic", "--detector", "nobody"), "no detector named 'nobody'"),
        (("run", "metalogic", "--check", "same-sceen"), "Did you mean 'same-scene'"),
        (("run", "metalogic", "--size", "huge"), "quick, paper, full, beyond"),
        (("run", "metalogic", "--size", "0"), "--size is '0'"),
        (("run", "metalogic", "--repeats", "0"), "--repeats is 0"),
        (("run", "metalogic", "--set", "faults=1"), "ROLE.OPTION"),
        (("run", "metalogic", "--model", "painter", "--set", "model.falts=1"), "Did you mean 'faults'"),
        (("run", "metalogic", "--set", "model.faults=entity-omission:0.3"), "no option of pocket named 'faults'"),
        (("run", "metalogic", "--model", "painter", "--set", "model.faults=theft:0.3"), "entity-omission"),
        (("run", "metalogic", "--set", "suite.entities=cat,unicorn"), "unicorn"),
        (("run", "metalogic", "--only", "law=gravity"), "de-morgan"),
        (("run", "metalogic", "--config", "nowhere.toml"), "nowhere.toml"),
        (("rewrite", "cat", "--law", "gravity"), "no law named 'gravity'"),
        (("report", "nowhere"), "nowhere"),
        (("report", "nowhere", "-o", "x" * 300), "File name too long"),
        (("verify", "nowhere"), "nowhere"),
    ],
)
def test_a_wrong_ask_is_one_clear_message_and_exit_two(
    arguments: tuple[str, ...], message: str, tmp_path: Path
) -> None:
    done = salva(*arguments, cwd=tmp_path)
    assert done.returncode == 2, done.stdout + done.stderr
    assert message in done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize(
    ("slip", "meant"),
    [
        (("metalogic", "--model", "sdxl"), "--model diffusers/stabilityai/stable-diffusion-xl-base-1.0"),
        (("metalogic", "--model", "stabilityai/sdxl-turbo"), "--model diffusers/stabilityai/sdxl-turbo"),
        (("metalogic", "--judge", "gpt-4o"), "--judge openai/gpt-4o"),
        (("metalogic", "--max-failure-rate", "60"), "0.6"),
        (("metalogic", "--model", "folder/empty", "--detector", "pocket"), "--set model.missing=FILE"),
        (("images",), "salva run prompts PROMPTS --model folder/images"),
        (("./mine.txt",), "salva run prompts mine.txt"),
        (("metalogic", "mine.txt"), "mine.txt"),
    ],
)
def test_a_likely_slip_gets_the_right_spelling(slip: tuple[str, ...], meant: str, tmp_path: Path) -> None:
    for folder in ("empty", "images"):
        (tmp_path / folder).mkdir()
    (tmp_path / "mine.txt").write_text("a cat\n")
    done = salva("run", *slip, "--no-progress", cwd=tmp_path)
    assert (done.returncode, len(done.codes)) == (2, 1), done.stderr
    assert meant in done.stderr
    assert not (tmp_path / "runs").exists()


def test_one_model_takes_twelve_lines_several_one_line_each_and_quiet_one(tmp_path: Path) -> None:
    asked = ("run", "metalogic", "--reader", "none", "--size", "21", "--no-progress", "--gate", "inconsistent=0.1")
    faults = ("--set", "bad.faults=entity-omission:0.5,x-misposition:0.5", "--max-failure-rate", "0.1")
    one = salva(*asked, "--model", "bad=painter", *faults, "--out", "one", cwd=tmp_path, COLUMNS="80")
    lines = one.stdout.splitlines()
    assert len(lines) <= 12
    assert max(map(len, lines)) <= 80
    assert {line.split()[0] for line in lines} >= {"metalogic", "failed", "worst", "e.g.", "trust", "gate", "report"}
    quiet = salva(*asked, "--model", "bad=painter", *faults, "--out", "one", "-q", cwd=tmp_path)
    assert (quiet.stdout.count("\n"), quiet.stderr) == (1, "")
    several = salva(*asked, "--model", "painter", "--model", "bad=painter", *faults, "--out", "two", cwd=tmp_path)
    assert [line.split()[0] for line in several.stdout.splitlines()] == ["metalogic", "metalogic", "report"]
    assert one.returncode == quiet.returncode == several.returncode == 1


def test_flags_come_from_variables_and_config_files_and_flags_win(tmp_path: Path) -> None:
    config = tmp_path / "salva.toml"
    config.write_text(
        'model = "painter"\nsize = "3"\nreader = "none"\n[set.model]\nfaults = "entity-omission:0.2"\n',
        encoding="utf-8",
    )
    asked = salva(
        "run", "metalogic", "--config", str(config), "--out", "x", "--seed", "7", "--no-progress", cwd=tmp_path
    )
    assert asked.returncode == 0, asked.stderr
    stored = json.loads((tmp_path / "x" / "run.json").read_text(encoding="utf-8"))
    assert stored["spec"]["size"] == "3"
    assert stored["spec"]["seed"] == 7
    assert stored["spec"]["models"][0]["options"]["faults"] == "entity-omission:0.2"
    cases = salva("cases", "metalogic", "--format", "jsonl", SALVA_SIZE="4")
    assert cases.stdout.count("\n") == 4
    cases = salva("cases", "metalogic", "--format", "jsonl", "--size", "2", SALVA_SIZE="4")
    assert cases.stdout.count("\n") == 2


def test_a_config_file_names_every_flag_as_it_is_typed_and_a_typed_setting_takes_the_place_of_its_own_alone(
    tmp_path: Path,
) -> None:
    config = tmp_path / "salva.toml"
    config.write_text(
        f'images = "file://{tmp_path}/pictures"\n[set.model]\nfaults = "entity-omission:0.2"\nside = 512\n',
        encoding="utf-8",
    )
    typed = ("--model", "painter", "--set", "model.side=320", "--reader", "none", "--size", "2", "--no-progress")
    asked = salva("run", "metalogic", "--config", str(config), *typed, "--out", "x", cwd=tmp_path)
    assert asked.returncode == 0, asked.stderr
    stored = json.loads((tmp_path / "x" / "run.json").read_text(encoding="utf-8"))
    options = stored["spec"]["models"][0]["options"]
    assert (options["faults"], options["side"]) == ("entity-omission:0.2", 320)
    assert list((tmp_path / "pictures").rglob("*.webp"))


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("repeats = [1, 2]", "[file-invalid]"),
        ("seed = {a = 1}", "[file-invalid]"),
        ("only = [[1]]", "[file-invalid]"),
        ("repeats = 99999999999", "--repeats"),
        ("max-images = true", "'true' is not a valid integer"),
        ('settings = ["model.side=128"]', "[file-invalid]"),
        ("set = 3", "[file-invalid]"),
        ("set =", "[file-invalid]"),
    ],
)
def test_a_config_file_is_held_to_what_could_be_typed(line: str, message: str, tmp_path: Path) -> None:
    (tmp_path / "salva.toml").write_text(line, encoding="utf-8")
    done = salva("run", "metalogic", "--config", "salva.toml", "--model", "painter", "--dry-run", cwd=tmp_path)
    assert done.returncode == 2, done.stdout + done.stderr
    assert message in done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize(
    "name", ["run", "cases", "prove", "rewrite", "rejudge", "power", "gate", "merge", "selftest", "verify", "doctor"]
)
def test_every_flag_has_a_variable_named_after_it(name: str) -> None:
    module = importlib.import_module(f"salva.cli.{name}_command")
    for option in module.command.params:
        if isinstance(option, click.Option):
            flag = max(option.opts, key=len)
            after_it = flag.removeprefix("--").replace("-", "_").upper()
            assert _variable(option) in (f"SALVA_{after_it}", f"SALVA_{name.upper()}_{after_it}"), flag
            assert not option.show_envvar, flag


def _variable(option: click.Option) -> str | None:
    """The variable of an option; where an old name counts too, the new one."""
    return option.envvar if isinstance(option.envvar, str | None) else option.envvar[0]


def _options(command: click.Command) -> Iterator[click.Option]:
    """Those of a command and of all commands in it."""
    if isinstance(command, click.Group):
        context = click.Context(command)
        for name in command.list_commands(context):
            inner = command.get_command(context, name)
            assert inner is not None
            yield from _options(inner)
    else:
        yield from (parameter for parameter in command.params if isinstance(parameter, click.Option))


def test_a_variable_means_the_same_to_every_command_that_reads_it() -> None:
    kinds: dict[str, set[str]] = {}
    for option in _options(whole_command):
        if variable := _variable(option):
            choices = option.type.choices if isinstance(option.type, click.Choice) else ()
            kinds.setdefault(variable, set()).add(f"{type(option.type).__name__} {[*choices]} {option.is_flag}")
    assert len(kinds) > 40
    assert {variable: kind for variable, kind in kinds.items() if len(kind) > 1} == {}


def test_what_is_set_for_one_command_does_not_reach_another() -> None:
    assert salva("cases", "metalogic", "--size", "2", SALVA_CASES_FORMAT="jsonl").stdout.startswith("{")
    done = salva("rewrite", "cat & dog", SALVA_CASES_FORMAT="actesting")
    assert (done.returncode, done.stderr) == (0, "")
    assert salva("rewrite", "cat & dog", SALVA_REWRITE_FORMAT="jsonl").stdout.startswith("{")


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no device that is always full")
def test_output_to_a_full_disk_is_told_in_one_line() -> None:
    program = [sys.executable, "-c", "from salva.cli.main import main; main()", "cases", "metalogic", "--size", "4"]
    with open("/dev/full", "w", encoding="utf-8") as full:
        done = subprocess.run(program, stdout=full, stderr=subprocess.PIPE, text=True)
    assert (done.returncode, done.stderr.count("\n")) == (2, 1), done.stderr
    assert "No space left on device" in done.stderr
    assert "[output-full]" in done.stderr


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no device that is always full")
@pytest.mark.parametrize("errors", ["2>/dev/full", "2>&-", ""])
def test_a_log_that_nobody_can_write_ends_no_run_and_changes_no_exit_code(errors: str, tmp_path: Path) -> None:
    program = f"{sys.executable} -c 'from salva.cli.main import main; main()'"
    command = f"{program} run metalogic --model painter --reader none --size 4 --out r {errors}"
    done = subprocess.run(command, shell=True, cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    assert (done.returncode, (tmp_path / "r" / "images").is_dir()) == (0, True)
    wrong = subprocess.run(f"{program} run no-such-suite {errors}", shell=True, stderr=subprocess.DEVNULL)
    assert wrong.returncode == 2


def test_letters_that_a_terminal_does_not_have_are_told_otherwise() -> None:
    program = [sys.executable, "-c", "from salva.cli.main import main; main()", "prove", "a 猫 and a dog"]
    done = subprocess.run(program, capture_output=True, env={**os.environ, "PYTHONIOENCODING": "latin-1"})
    assert b"Traceback" not in done.stderr
    assert b"\\u732b" in done.stdout + done.stderr


def test_output_into_a_closed_pipe_is_no_error() -> None:
    program = (
        f"{sys.executable} -c 'from salva.cli.main import main; main()' cases metalogic --size full --format jsonl"
    )
    done = subprocess.run(["bash", "-c", f"{program} | head -1"], capture_output=True, text=True)
    assert done.stderr == ""
    assert done.stdout.count("\n") == 1


@pytest.mark.parametrize(("faults", "limit", "code"), [("", 0.7, 0), ("entity-omission:1", 0.1, 1)])
def test_a_gate_decides_where_the_reader_of_the_output_has_gone(
    faults: str, limit: float, code: int, tmp_path: Path
) -> None:
    program = f"{sys.executable} -c 'from salva.cli.main import main; main()'"
    asked = f"run metalogic --model painter --set model.faults={faults} --reader none --size 4 --out r --no-progress"
    gate = f"--max-failure-rate {limit} --min-decided 1"
    command = f"{program} {asked} {gate} | true; exit ${{PIPESTATUS[0]}}"
    done = subprocess.run(["bash", "-c", command], cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == code, done.stderr


@pytest.mark.parametrize("kind", ["suites", "models", "detectors", "readers", "checks", "laws", "metrics"])
def test_list_names_what_there_is(kind: str) -> None:
    done = salva("list", kind)
    assert done.returncode == 0, done.stderr
    assert "broken" not in done.stdout
    assert len(done.stdout.splitlines()) > 1


def test_list_tells_of_one_component_what_it_is_made_for_and_its_options() -> None:
    done = salva("list", "detectors", "pocket")
    assert done.returncode == 0, done.stderr
    assert "made for:" in done.stdout
    assert "names:    " in done.stdout
    assert "cat" in done.stdout
    assert "detector.floor=0.05\n    " in done.stdout
    assert "licence:" in salva("list", "detectors", "sam3").stdout
    assert salva("list", "laws", "de-morgan-and").stdout.count("=") == 1
    assert salva("list", "laws", "de-morgan").stdout.count("=") == 2


@pytest.mark.parametrize(("kind", "name"), [("detectors", "pokcet"), ("laws", "de-morgan-andd")])
def test_list_refuses_a_name_nobody_registered(kind: str, name: str) -> None:
    done = salva("list", kind, name)
    assert done.returncode == 2
    assert done.codes == ["name-unknown"]
    assert "Did you mean" in done.stderr


_UNWILLING = """
import json, sys
for line in sys.stdin:
    print(json.dumps({"id": json.loads(line)["id"], sys.argv[1]: "not today"}), flush=True)
"""


@pytest.mark.parametrize(("word", "code"), [("refused", "results-refused"), ("error", "results-failed")])
def test_a_run_that_failed_says_why_and_what_to_do(word: str, code: str, tmp_path: Path) -> None:
    (tmp_path / "unwilling.py").write_text(_UNWILLING)
    model = f"command/{sys.executable} unwilling.py {word}"
    for _ in range(2):  # and again, when there is nothing left to try
        done = salva(
            *("run", "metalogic", "--model", model, "--detector", "pocket", "--size", "2", "--out", "out"), cwd=tmp_path
        )
        assert done.returncode == 3, done.stderr
        assert "not today" in done.stderr
        assert code in done.codes
    found = json.loads(salva("report", "out", "--format", "json", cwd=tmp_path).stdout)["results"]
    assert (found["error"], found["refused"]) == (2, 2 if word == "refused" else 0)


def test_a_repeated_command_without_a_gate_forgets_what_the_last_one_decided(tmp_path: Path) -> None:
    asked = ("run", "metalogic", "--model", "painter", "--reader", "none", "--size", "4", "--out", "out")

    def gates() -> list[tuple[str, str]]:
        stored = json.loads(salva("report", "out", "--format", "json", cwd=tmp_path).stdout)["gates"]
        return [(gate["metric"], gate["decision"]) for gate in stored]

    gated = salva(*asked, "--max-failure-rate", "0.8", "--gate", "inconsistent=0.8", "--min-decided", "1", cwd=tmp_path)
    assert gated.returncode == 0, gated.stdout
    assert gates() == [("failure_rate", "passed"), ("inconsistent", "passed")]
    assert salva(*asked, cwd=tmp_path).returncode == 0
    assert gates() == []


@pytest.mark.parametrize(
    ("flags", "code"),
    [
        (("--gate", "kapa=0.3"), "name-unknown"),
        (("--gate", "kappa=high"), "option-invalid"),
        (("--gate", "kappa"), "setting-invalid"),
        (("--gate", "chance=0.3"), "gate-no-direction"),
        (("--max-failure-rate", "60"), "not-a-fraction"),
    ],
)
def test_a_gate_that_cannot_be_is_refused_before_anything_is_generated(
    flags: tuple[str, ...], code: str, tmp_path: Path
) -> None:
    done = salva("run", "semvar", "--model", "painter", "--size", "3", "--out", "run", *flags, cwd=tmp_path)
    assert (done.returncode, done.codes) == (2, [code])
    assert not list(tmp_path.iterdir())


def test_the_package_itself_is_the_command_line() -> None:
    done = subprocess.run([sys.executable, "-m", "salva", "no-such-command"], capture_output=True, text=True)
    assert (done.returncode, done.stdout) == (2, "")
    assert "[command-unknown]" in done.stderr
