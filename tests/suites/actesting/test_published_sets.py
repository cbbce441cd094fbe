"""Sets of captions and pictures are written as the published program keeps them, and read again."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import in_process
import pytest

from salva.core.protocols import RenderRequest
from salva.core.run_spec import RunSpec
from salva.engine.progress import SilentProgress
from salva.exchange.exporting import export_run
from salva.generators.folder import FolderImages
from salva.runs.pipeline import execute
from salva.runs.plans import make_plan
from salva.store.sqlite import open_run
from salva.suites.actesting.files import SEEDS, SETS
from salva.suites.actesting.published_sets import mutant_rows, sets_of
from salva.suites.actesting.suite import Actesting, ActestingOptions


def test_entries_say_what_was_changed() -> None:
    cases = list(Actesting(ActestingOptions()).cases("quick"))
    written: Any = sets_of(cases)
    sets = {name: {entry["image_id"]: entry for entry in entries} for name, entries in written.items()}
    assert set(sets) == {SEEDS, *SETS.values()}
    for case in cases:
        mutation = case.mutation
        assert mutation is not None
        entry = sets[SETS[case.category]][case.cluster]
        assert entry["caption"] == case.prompt("b").text
        assert entry["classes"] == list(mutation.mutant.entities)
        if case.category == "ec":
            assert entry["EC"] == [*mutation.removed_entities, *mutation.added_entities]
        if case.category == "er-r":
            assert entry["re_triple"] == [[t.subject, t.predicate, t.object] for t in mutation.removed_triples]
        if case.category == "er-a":
            assert (entry["new_class"],) == mutation.added_entities
            assert entry["new_re"] == mutation.added_triples[0].predicate


def test_a_run_goes_out_and_comes_back_with_its_pictures(tmp_path: Path) -> None:
    out, again = tmp_path / "sets", tmp_path / "again"
    asked = RunSpec.of(suite="actesting", models=("painter",), size="12", check="truth")
    execute(make_plan(asked), tmp_path / "run", SilentProgress())
    export_run(tmp_path / "run", "actesting", out)
    with open_run(tmp_path / "run") as store:
        before = {case.case_id: case for case in store.cases()}
    read = {case.case_id: case for case in Actesting(ActestingOptions(path=str(out))).cases("full")}
    assert read.keys() == before.keys()
    assert all(read[name].mutation == case.mutation for name, case in before.items())
    folder = FolderImages(FolderImages.Options(path=str(out / "painter"), missing=str(again)))
    prompts = [prompt for case in read.values() for prompt in case.prompts]
    rendered = folder.render([RenderRequest(prompt=prompt, seed=0) for prompt in prompts])
    assert [one for one in rendered if isinstance(one, Exception)] == []
    (out / "painter" / SEEDS).rename(out / "painter" / "elsewhere")
    folder = FolderImages(FolderImages.Options(path=str(out / "painter"), missing=str(again)))
    absent = folder.render([RenderRequest(prompt=prompts[0], seed=0)])
    assert isinstance(absent[0], Exception)
    assert prompts[0].text in str(absent[0])


def test_what_is_written_is_json_that_the_program_reads(tmp_path: Path) -> None:
    entries = sets_of(Actesting(ActestingOptions()).cases("quick"))
    assert json.loads(json.dumps(entries)) == entries


@pytest.mark.parametrize("form", ["actesting", "tifa-lite"])
def test_cases_of_another_suite_are_refused_and_not_passed_over(form: str) -> None:
    done = in_process.salva("cases", "metalogic", "--size", "4", "--format", form)
    assert (done.returncode, done.stdout) == (2, "")
    assert "[case-of-other-suite]" in done.stderr


def test_mutants_among_other_prompts_are_still_written() -> None:
    mutants = list(Actesting(ActestingOptions()).cases("quick"))
    rows = list(mutant_rows([replace(mutants[0], mutation=None), *mutants[1:]]))
    assert [row[0] for row in rows[1:]] == [case.prompt("b").text for case in mutants[1:]]
