"""Results by the check that made them, and every prompt that no check could judge with its reason."""

from __future__ import annotations

from pathlib import Path

import in_process

from salva.core.table import Table
from salva.report.summary import ModelSummary, summarise_run


def summarised(run: Path) -> ModelSummary:
    (model,) = summarise_run(run).by_model.values()
    return model


def tables(run: Path) -> dict[str, Table]:
    return {table.name: table for table in summarised(run).tables}


def rows(table: Table) -> list[dict[str, object]]:
    return [dict(zip(table.columns, row, strict=True)) for row in table.rows]


def unchecked(made: dict[str, Table]) -> list[dict[str, object]]:
    return rows(made["prompts without a check"])


def test_results_are_counted_by_check_and_the_rest_is_named(tmp_path: Path) -> None:
    content = (
        "prompt,formula\na cat and a dog,\na bird and a cup,\n"
        'A cat sits by a dog,"next_to(cat, dog)"\nA man rides a wave,\n'
    )
    (tmp_path / "p.csv").write_text(content)
    done = in_process.salva(
        *("run", "prompts", "p.csv", "--model", "painter", "--reader", "none", "--no-progress", "--out", "run"),
        cwd=tmp_path,
    )
    assert done.returncode == 3, "a quarter of the prompts is more than may stay unjudged"
    assert "cases-unchecked" in done.codes
    model, made = summarised(tmp_path / "run"), tables(tmp_path / "run")
    assert (model.average, model.failure_rate, model.n, model.coverage) == ("pooled", 0, 3, 0.75)
    by_check = [(row["check"], row["prompts"], row["n"], row["undecided"]) for row in rows(made["prompts by check"])]
    assert by_check == [("truth", 3, 3, 0), ("no check applies", 1, 0, 1)]
    (left,) = unchecked(made)
    assert left["prompt"] == "A man rides a wave"
    assert "no formula" in str(left["why"])


def test_what_a_stopped_run_has_not_come_to_is_said_as_that(tmp_path: Path) -> None:
    things = ("cat", "dog", "horse", "apple", "banana", "cup")
    prompts = [f"a {one} and a {other}" for one in things for other in things if one < other]
    (tmp_path / "p.csv").write_text("\n".join(["prompt", *prompts, "A man rides a wave"]) + "\n")
    command = ("run", "prompts", "--set", "suite.path=p.csv", "--model", "painter", "--reader", "none", "--no-progress")
    stopped = in_process.salva(*command, "--max-images", "6", "--out", "run", cwd=tmp_path)
    assert stopped.returncode == 3
    made = tables(tmp_path / "run")
    unjudged = {row["check"]: row["prompts"] for row in rows(made["prompts by check"]) if row["check"] != "truth"}
    assert unjudged == {"no check applies": 1, "not judged yet": len(prompts) - 6}
    assert [row["prompt"] for row in unchecked(made)] == ["A man rides a wave"]
    assert in_process.salva(*command, "--out", "run", cwd=tmp_path).returncode == 0
    assert "not judged yet" not in {row["check"] for row in rows(tables(tmp_path / "run")["prompts by check"])}


def test_a_wording_that_is_refused_alone_is_a_finding(tmp_path: Path) -> None:
    (tmp_path / "p.csv").write_text(
        "prompt_a,prompt_b\na cat and a dog,a dog and a cat\na bird and a cup,a cup and a bird\n"
    )
    folder = tmp_path / "images"
    folder.mkdir()
    from PIL import Image

    for name in ("a cat and a dog", "a bird and a cup", "a cup and a bird"):
        Image.new("RGB", (32, 32)).save(folder / f"{name}.png")
    in_process.salva(
        *("run", "prompts", "--set", "suite.path=p.csv", "--model", "folder/images", "--detector", "pocket"),
        *("--reader", "none", "--no-progress", "--out", "run"),
        cwd=tmp_path,
    )
    (found,) = rows(tables(tmp_path / "run")["refused one wording"])
    assert (found["generated"], found["not_generated"]) == ("a cat and a dog", "a dog and a cat")
    assert "'a dog and a cat'" in str(found["why"])


def test_a_failure_beside_a_rewording_says_which_of_the_two_failed(tmp_path: Path) -> None:
    (tmp_path / "p.txt").write_text("\n".join(f"a {one} and a dog" for one in ("cat", "bird", "cup", "book", "clock")))
    command = (
        "run",
        "prompts",
        "p.txt",
        "--model",
        "painter",
        "--set",
        "model.faults=entity-omission:0.5",
        "--seed",
        "5",
    )
    more = ("--set", "suite.rewordings=1", "--reader", "none", "--no-progress", "--out", "run")
    in_process.salva(*command, *more, cwd=tmp_path)
    model, found = summarised(tmp_path / "run"), rows(tables(tmp_path / "run")["failed wordings"])
    assert len(found) == model.rate.failed
    assert [row["failed"] for row in found] == ["rewording", "prompt and rewording", "rewording"]
    in_process.salva(*command, "--reader", "none", "--no-progress", "--out", "plain", cwd=tmp_path)
    assert "failed wordings" not in tables(tmp_path / "plain")
