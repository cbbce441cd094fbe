"""Whole prompts drawn anew: which column it is, what is said of it, and that intervals then hold."""

from __future__ import annotations

import json
from pathlib import Path
from random import Random

import pytest
from click.testing import CliRunner

from salva.cli.agree_command import command
from salva.errors import UsageError
from salva.review.agreement import Reckoning, file_agreement
from salva.review.clusters import clusters_of
from salva.review.ratings import Columns, Ratings
from salva.stats.agreement import pearson


def _ratings(**columns: list[str]) -> Ratings:
    n = len(next(iter(columns.values())))
    rows = tuple({name: values[i] for name, values in columns.items()} for i in range(n))
    things = tuple(str(i) for i in range(n))
    return Ratings(things=things, people={"ann": [1.0] * n}, judges={}, groups=("",) * n, rows=rows)


def test_a_column_whose_name_says_prompt_and_whose_values_repeat_is_found() -> None:
    found = clusters_of(_ratings(id=["1", "2", "3"], Prompt=["a", "a", "b"], category=["x", "x", "x"]), "", "f")
    assert (found.column, found.names, found.said) == ("Prompt", ("a", "a", "b"), "Prompt, 2 of 3 things")
    sure = clusters_of(_ratings(item=["1", "1", "2"], prompt_id=["a", "a", "b"]), "", "f")
    assert sure.column == "prompt_id"


@pytest.mark.parametrize("prompts", [["a", "b", "c"], ["a", "a", "a"]])
def test_a_column_that_tells_nothing_together_is_left(prompts: list[str]) -> None:
    found = clusters_of(_ratings(prompt=prompts, human=["1", "1", "2"]), "", "f")
    assert (found.column, found.said, len(set(found.names))) == ("", "none, every thing by itself", 3)


def test_a_thing_without_a_prompt_stands_for_itself() -> None:
    assert len(set(clusters_of(_ratings(prompt=["a", "a", "", ""]), "prompt", "f").names)) == 3


def test_a_wrong_column_is_refused_with_those_there_are() -> None:
    with pytest.raises(UsageError, match=r"no column 'promt' to draw whole; it has id, prompt"):
        clusters_of(_ratings(id=["1", "2"], prompt=["a", "b"]), "promt", "f")
    with pytest.raises(UsageError, match="the same value"):
        clusters_of(_ratings(id=["1", "2"], prompt=["a", "a"]), "prompt", "f")


def _table(path: Path) -> Path:
    rng = Random(3)
    lines = ["image,prompt,human_1,human_2,clip"]
    for prompt in range(20):
        people, judge = rng.gauss(3, 1), rng.gauss(0, 1)
        lines += [
            f"{prompt}-{k},p{prompt},{people + rng.gauss(0, 0.2):.3f},{people + rng.gauss(0, 0.2):.3f},{judge:.3f}"
            for k in range(8)
        ]
    path.write_text("\n".join(lines))
    return path


def test_the_command_says_which_clusters_it_drew_and_by_item_is_narrower(tmp_path: Path) -> None:
    path = _table(tmp_path / "r.csv")

    def width(cluster: str) -> float:
        (table, *_), _ = file_agreement(path, Columns(), Reckoning(cluster=cluster))
        row = next(row for row in table.rows if row[2] == "pearson")
        low, high = row[4], row[5]
        assert isinstance(low, float)
        assert isinstance(high, float)
        return high - low

    assert width("") == width("prompt") > 2 * width("image")
    done = CliRunner().invoke(command, [str(path), "--format", "json"])
    assert done.exit_code == 0
    assert "clusters: prompt, 20 of 160 things" in done.stderr
    assert "prompt, 20 of 160 things" in json.loads(done.stdout)[0]["note"]


def test_pictures_that_share_a_prompt_are_no_witnesses_of_their_own() -> None:
    """Judge and people do not agree at all; pictures of one prompt get nearly the same from both."""
    rng, by_prompt, by_picture = Random(9), 0, 0
    for _ in range(150):
        x, y, prompts = list[float](), list[float](), list[str]()
        for prompt in range(25):
            judge, people = rng.gauss(0, 1), rng.gauss(0, 1)
            for _ in range(6):
                x.append(judge + rng.gauss(0, 0.3))
                y.append(people + rng.gauss(0, 0.3))
                prompts.append(str(prompt))
        for estimate, is_by_prompt in ((pearson(x, y, prompts), True), (pearson(x, y), False)):
            assert estimate.low is not None
            assert estimate.high is not None
            holds = estimate.low <= 0 <= estimate.high
            by_prompt += holds and is_by_prompt
            by_picture += holds and not is_by_prompt
    assert by_prompt / 150 > 0.88
    assert by_picture / 150 < 0.75
