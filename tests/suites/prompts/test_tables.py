"""The ways table: each way its own n, nothing added up, and what has no way is listed with its reason."""

from __future__ import annotations

from pathlib import Path

import in_process

from salva.core.table import Table
from salva.report.summary import summarise_run


def tables(run: Path) -> dict[str, Table]:
    (model,) = summarise_run(run).by_model
    return {table.name: table for table in model.tables}


def rows(table: Table) -> list[dict[str, object]]:
    return [dict(zip(table.columns, row, strict=True)) for row in table.rows]


def unchecked(made: dict[str, Table]) -> list[dict[str, object]]:
    return rows(made["prompts without a check"])


def test_ways_are_counted_apart_and_the_rest_is_named(tmp_path: Path) -> None:
    content = (
        "prompt,formula\na cat and a dog,\na bird and a cup,\n"
        'A cat sits by a dog,"next_to(cat, dog)"\nA man rides a wave,\n'
    )
    (tmp_path / "p.csv").write_text(content)
    done = in_process.salva(
        *("run", "prompts", "--set", "suite.path=p.csv", "--model", "painter", "--reader", "none", "--no-progress"),
        *("--out", "run"),
        cwd=tmp_path,
    )
    assert done.returncode == 3, "a quarter of the prompts is more than may stay unjudged"
    assert "1 of 4 prompts" in done.stderr
    made = tables(tmp_path / "run")
    ways = {row["check"]: row for row in rows(made["prompts by check"])}
    assert ways["truth"]["n"] == 3
    assert (ways["no check"]["what"], ways["no check"]["prompts"]) == ("", 1)
    printed = [line.split() for line in done.stdout.splitlines()]
    assert [*f"truth: {ways['truth']['what']} 0.0 % 3 of 3".split()] in printed
    assert ["no", "check", "–", "0", "of", "1"] in printed
    (left,) = unchecked(made)
    assert left["prompt"] == "A man rides a wave"
    assert "no formula" in str(left["why"])
    (headline,) = (row for row in rows(made["outcomes"]) if row["check"] == "headline")
    assert headline["PASS"] == 3


def test_what_a_stopped_run_has_not_come_to_is_said_as_that(tmp_path: Path) -> None:
    things = ("cat", "dog", "horse", "apple", "banana", "cup")
    prompts = [f"a {one} and a {other}" for one in things for other in things if one < other]
    (tmp_path / "p.csv").write_text("\n".join(["prompt", *prompts, "A man rides a wave"]) + "\n")
    command = ("run", "prompts", "--set", "suite.path=p.csv", "--model", "painter", "--reader", "none", "--no-progress")
    stopped = in_process.salva(*command, "--max-images", "6", "--out", "run", cwd=tmp_path)
    assert stopped.returncode == 3
    assert "no check can" not in stopped.stderr
    made = tables(tmp_path / "run")
    unjudged = {row["check"]: row["prompts"] for row in rows(made["prompts by check"]) if not row["what"]}
    assert unjudged == {"no check": 1, "not judged yet": len(prompts) - 3}
    assert [row["prompt"] for row in unchecked(made)] == ["A man rides a wave"]
    assert in_process.salva("runs", ".", cwd=tmp_path).stdout.rstrip().endswith("unfinished")
    finished = in_process.salva(*command, "--out", "run", cwd=tmp_path)
    assert finished.returncode == 0
    assert "not judged yet" not in finished.stdout


def test_beside_categories_of_a_file_every_way_is_printed_too(tmp_path: Path) -> None:
    content = "prompt,category\na cat and a dog,animals\na cup,things\nA man rides a wave,sports\n"
    (tmp_path / "p.csv").write_text(content)
    command = ("run", "prompts", "--set", "suite.path=p.csv", "--model", "painter", "--reader", "none", "--no-progress")
    done = in_process.salva(*command, "--out", "run", cwd=tmp_path)
    printed = [" ".join(line.split()) for line in done.stdout.splitlines()]
    assert "animals 0.0 % 1" in printed
    assert "truth" in [line.split(": ")[0] for line in printed if line.endswith(" 0.0 % 2 of 2")]
    assert "no check – 0 of 1" in printed


def test_a_wording_that_is_refused_alone_is_a_finding(tmp_path: Path) -> None:
    (tmp_path / "p.csv").write_text(
        "prompt_a,prompt_b\na cat and a dog,a dog and a cat\na bird and a cup,a cup and a bird\n"
    )
    folder = tmp_path / "pictures"
    folder.mkdir()
    from PIL import Image

    for name in ("a cat and a dog", "a bird and a cup", "a cup and a bird"):
        Image.new("RGB", (32, 32)).save(folder / f"{name}.png")
    in_process.salva(
        *("run", "prompts", "--set", "suite.path=p.csv", "--model", "folder/pictures", "--detector", "pocket"),
        *("--reader", "none", "--no-progress", "--out", "run"),
        cwd=tmp_path,
    )
    (found,) = rows(tables(tmp_path / "run")["refused one wording"])
    assert (found["painted"], found["not_painted"]) == ("a cat and a dog", "a dog and a cat")
    assert "'a dog and a cat'" in str(found["why"])
