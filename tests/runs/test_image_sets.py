"""Figures by set: which pictures are in which set, what is kept with the run, and what the report shows."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from observers.onnx_files import save_means

from salva.api import run_suite
from salva.charts.formats import cell_text
from salva.cli.main import salva
from salva.core.source import REAL
from salva.engine.progress import SilentProgress
from salva.errors import UsageError
from salva.report.summary import summarise_run
from salva.runs.image_quality import ORIGINAL_CAPTION, OWN_CAPTION, QualityRequest, image_sets, quality_figures
from salva.runs.verify import verify
from salva.store.sqlite import open_run


@pytest.fixture(scope="module")
def directory(tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("sets") / "run"
    run_suite("actesting", "painter", out=out, size="30", settings={"suite.operators": "ec,er-a"})
    return out


def test_a_seeds_picture_is_in_its_set_once(directory: Path) -> None:
    with open_run(directory) as store:
        sets = image_sets(store, directory)
        cases = list(store.cases())
    by_name = {of.name: pictures for of, pictures in sets.items()}
    assert by_name.keys() == {"orig", "ec", "er-a"}
    assert len(by_name["orig"]) == len({case.painting for case in cases})
    assert len(by_name["ec"]) == sum(case.category == "ec" for case in cases)
    assert all(one.caption == one.original for one in by_name["orig"])
    assert all(one.caption != one.original for one in by_name["ec"])


def test_figures_are_kept_and_reported(directory: Path, tmp_path: Path) -> None:
    network = f"inception/{save_means(tmp_path / 'means.onnx')}"
    asked: dict[str, Any] = {"embedder": network, "options": {"pixels": "unit"}, "reference": directory / "images"}
    found = quality_figures(directory, QualityRequest(**asked, retrieval="pocket", by_set=True))
    assert found.keys() == {"painter", REAL}
    names = {(figure.name, figure.set) for figure in found["painter"]}
    assert names == {
        *(("FID", name) for name in ("orig", "ec", "er-a")),
        *((OWN_CAPTION, name) for name in ("orig", "ec", "er-a")),
        *((ORIGINAL_CAPTION, name) for name in ("ec", "er-a")),
    }
    precision = {figure.set: figure for figure in found["painter"] if figure.name == OWN_CAPTION}
    original = {figure.set: figure for figure in found["painter"] if figure.name == ORIGINAL_CAPTION}
    assert precision["orig"].value > 0.5, "the embedder knows the painter's world"
    assert original["ec"].value < precision["ec"].value, "a mutant's picture is of the mutant's caption"
    assert "[captions-few]" in precision["orig"].warning
    for figure in (*precision.values(), *original.values()):
        assert figure.low is not None
        assert figure.high is not None
        assert figure.low <= figure.value <= figure.high
    assert all((figure.low, figure.high) == (None, None) for figure in found["painter"] if figure.name == "FID")
    again = quality_figures(directory, QualityRequest(retrieval="pocket", by_set=True))
    assert again["painter"] == [figure for figure in found["painter"] if figure.name != "FID"], "the same draws again"
    table = summarise_run(directory).by_model["painter"].table("quality by set")
    assert table is not None
    assert len(table.rows) == len(names) + len(found[REAL]), "what was measured before stays, real pictures beside"
    shown = [dict(zip(table.columns, map(cell_text, table.columns, row), strict=True)) for row in table.rows]
    own = next(row for row in shown if (row["model"], row["set"], row["figure"]) == ("painter", "ec", OWN_CAPTION))
    ec = precision["ec"]
    assert [own[name] for name in ("value", "from", "to")] == [f"{x:.4g}" for x in (ec.value, ec.low, ec.high)]
    assert not verify(directory, SilentProgress()).problems


def test_the_command_prints_sets_and_refuses_what_it_cannot_do(directory: Path) -> None:
    told = CliRunner().invoke(
        salva, ["quality", str(directory), "--by-set", "--r-precision", "pocket", "--format", "json"]
    )
    assert told.exit_code == 0, told.output
    rows = json.loads(told.stdout)
    assert {row["set"] for row in rows} == {"orig", "ec", "er-a"}
    assert all(0 <= row["value"] <= 1 and row["embedder"] == "pocket" for row in rows)
    refused = CliRunner().invoke(salva, ["quality", str(directory), "--r-precision", "pocket"])
    assert refused.exit_code != 0


def test_a_run_without_pictures_is_refused(tmp_path: Path) -> None:
    with open_run(tmp_path, "write"):
        pass
    with pytest.raises(UsageError, match=r"\[images-missing\]"):
        quality_figures(tmp_path, QualityRequest(retrieval="pocket", by_set=True))
