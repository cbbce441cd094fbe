"""COCO's captions in seven sets, end to end on tiny checkpoints: nothing is lost, nothing is done twice."""

from __future__ import annotations

import importlib.util
from collections import Counter
from pathlib import Path
from types import ModuleType

import pytest

from salva.engine.progress import SilentProgress
from salva.runs.verify import verify
from salva.store.queries import read_records
from salva.store.sqlite import open_run
from salva.suites.actesting.definitions import OPERATORS

for module in ("torch", "diffusers", "transformers"):
    pytest.importorskip(module, reason="checkpoints run on torch")
pytest.importorskip("spacy", reason="the extra captions is not installed")
# A scheduler of diffusers mixes numpy and torch in a way numpy will not take for ever.
pytestmark = pytest.mark.filterwarnings("ignore:__array__ implementation:DeprecationWarning")

N_IMAGES = 50


def _bench() -> ModuleType:
    path = Path(__file__).parents[2] / "bench" / "captions_run.py"
    spec = importlib.util.spec_from_file_location("bench_captions_run", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.usefixtures("foreign_data")
def test_fifty_images_in_seven_sets(tmp_path: Path) -> None:
    bench = _bench()
    run = bench.painted(tmp_path, N_IMAGES).run
    records = read_records(run.directory)
    made = Counter(case.category for case in records.cases)
    assert set(made) == set(OPERATORS)
    assert made["ec"] > 40
    assert min(made.values()) >= 15
    with open_run(run.directory) as store:
        n_pictures = sum(1 for _ in store.renders())
        queries = [look.query for _, look in store.observations()]
    texts = {(case.painting, prompt.text) for case in records.cases for prompt in case.prompts}
    assert n_pictures == len(texts), "each text once: a seed's picture serves all its mutants"
    wanted = {
        tuple(sorted({*case.mutation.seed.entities, *case.mutation.mutant.entities}))
        for case in records.cases
        if case.mutation is not None
    }
    assert {query.labels for query in queries if query.role == "detector"} == wanted
    own = {(case.case_id, case.check) for case in records.cases}
    verdicts = [verdict for verdict in records.verdicts if (verdict.case_id, verdict.check) in own]
    assert len(verdicts) == len(records.cases)
    assert not [verdict for verdict in verdicts if str(verdict.outcome) == "ERROR"]
    assert all(verdict.reason for verdict in verdicts if str(verdict.outcome) == "UNDECIDED")
    tables = {table["name"]: table for table in run.summary.to_json()["tables"]}
    misses = [
        dict(zip(tables["misses by set"]["columns"], row, strict=True)) for row in tables["misses by set"]["rows"]
    ]
    things = {row["set"]: row["n"] for row in misses if row["miss"] == "Miss_e"}
    seeds = {case.painting: case.mutation.seed for case in records.cases if case.mutation}
    assert things["orig"] == sum(len(pool.entities) for pool in seeds.values())
    assert things.keys() == {"orig", *OPERATORS}
    assert not verify(run.directory, SilentProgress()).problems
    again = bench.painted(tmp_path, N_IMAGES).run
    with open_run(again.directory) as store:
        assert (sum(1 for _ in store.renders()), sum(1 for _ in store.observations())) == (n_pictures, len(queries))
