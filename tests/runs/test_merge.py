"""Shards into one run: equal to the run in one piece, and nothing else is let in."""

from __future__ import annotations

import os
import shutil
import sqlite3
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from salva.core.run_spec import RunSpec
from salva.engine.budget import Limits
from salva.engine.progress import SilentProgress
from salva.errors import SalvaError, StoreError, UsageError
from salva.report.summary import summarise_run
from salva.runs.merge import merge
from salva.runs.pipeline import execute
from salva.runs.rejudge import rejudge
from salva.runs.verify import verify
from salva.store.rows import quoted
from salva.store.schema import COLUMNS
from salva.store.sqlite import open_run
from salva.testing.fakes import CALLS, FakeReader
from salva.testing.specs import bound, fake_spec

QUIET = SilentProgress()
N_CASES = 22
OPTIONS: dict[str, object] = {"omits": 0.3, "refuses": 0.05}


def spec(shard: str = "", **changes: Any) -> Any:
    made = fake_spec(
        changes.pop("n", N_CASES),
        changes.pop("generator", OPTIONS),
        repeats=2,
        control=True,
        reader=bound("reader", FakeReader, "fake-reader"),
        **changes,
    )
    return made.asking(shard=shard)


def shards(folder: Path, n: int = 3, **changes: Any) -> list[Path]:
    paths = [folder / f"shard{index}" for index in range(1, n + 1)]
    for index, path in enumerate(paths, 1):
        execute(spec(f"{index}/{n}", **changes), path, QUIET)
    return paths


def rows(directory: Path) -> dict[str, list[tuple[Any, ...]]]:
    """Everything a run knows but its notes, in an order of its own."""
    with open_run(directory) as store:
        return {
            table: sorted(map(tuple, store.rows(f"SELECT {quoted(columns)} FROM {table}")), key=repr)
            for table, columns in COLUMNS.items()
            if table != "meta"
        }


def notes(directory: Path) -> dict[str, Any]:
    with open_run(directory) as store:
        return {name: value for name, value in store.meta().items() if name not in ("finished", "run_file", "pace")}


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("shards")
    shards(folder)
    execute(spec(), folder / "whole", QUIET)
    return folder


@pytest.fixture
def parts(made: Path, tmp_path: Path) -> list[Path]:
    """Copies that a test may spoil."""
    return [Path(shutil.copytree(made / f"shard{index}", tmp_path / f"shard{index}")) for index in (1, 2, 3)]


def test_a_merged_run_equals_one_made_in_one_piece(made: Path, parts: list[Path], tmp_path: Path) -> None:
    out, whole = tmp_path / "out", made / "whole"
    merged = merge(parts[::-1], out, QUIET)
    assert (merged.n_shards, merged.n_cases, merged.unfinished, merged.left_out) == (3, N_CASES, (), ())
    assert rows(out) == rows(whole)
    assert notes(out) == notes(whole)
    assert (out / "run.json").read_text() == (whole / "run.json").read_text()
    figures = [{**summarise_run(directory).to_json(), "run": ""} for directory in (out, whole)]
    assert figures[0] == figures[1]
    with open_run(out) as one, open_run(whole) as other:
        assert [*one.cases()] == [*other.cases()]
        assert [*one.verdicts()] == [*other.verdicts()]


def test_a_merged_run_is_sound_and_has_nothing_left_to_do(parts: list[Path], tmp_path: Path) -> None:
    merge(parts, tmp_path / "out", QUIET)
    assert verify(tmp_path / "out", QUIET).problems == ()
    CALLS.clear()
    summary = execute(spec(), tmp_path / "out", QUIET)
    assert summary.n_rendered == summary.n_observed == 0
    assert [CALLS[name] for name in ("generator built", "detector built", "render", "detect")] == [0] * 4
    rejudge(tmp_path / "out", spec(), QUIET)
    assert verify(tmp_path / "out", QUIET).problems == ()


def test_shards_are_equal_in_size_and_nested(tmp_path: Path) -> None:
    from salva.runs.cases import planned_cases

    def ids(size: str, shard: str) -> set[str]:
        return {case.case_id for case in planned_cases(spec(shard, n=60).asking(size=size))}

    small = [ids("20", f"{index}/3") for index in (1, 2, 3)]
    large = [ids("47", f"{index}/3") for index in (1, 2, 3)]
    assert set.union(*small) == {case.case_id for case in planned_cases(spec(n=60).asking(size="20"))}
    assert [len(one) for one in small] == [7, 7, 6]
    assert all(one < other for one, other in zip(small, large, strict=True))
    with pytest.raises(UsageError, match="\\[option-invalid\\]"):
        ids("4", "1/5")


def test_merging_again_changes_nothing_and_a_stopped_merge_goes_on(
    parts: list[Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    merge(parts, tmp_path / "straight", QUIET)

    class Stop(SilentProgress):
        n = 0

        def advance(self, stage: str, n: int = 1) -> None:
            self.n += n
            if self.n > 30:
                raise KeyboardInterrupt

    out = tmp_path / "out"
    with pytest.raises(KeyboardInterrupt):
        merge(parts, out, Stop())
    merge(parts, out, QUIET)
    before = rows(out)
    assert before == rows(tmp_path / "straight")
    monkeypatch.setattr(os, "link", lambda *_: pytest.fail("a file was taken again"))
    merge(parts, out, QUIET)
    assert rows(out) == before


def test_files_are_linked_and_copied_where_they_cannot_be(
    parts: list[Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    merge(parts, tmp_path / "linked", QUIET)
    linked = next((tmp_path / "linked" / "images").glob("*/*.webp"))
    assert linked.stat().st_nlink == 2

    def refuse(*_: object) -> None:
        raise OSError(18, "Invalid cross-device link")

    monkeypatch.setattr(os, "link", refuse)
    merge(parts, tmp_path / "copied", QUIET)
    assert next((tmp_path / "copied" / "images").glob("*/*.webp")).stat().st_nlink == 1
    assert verify(tmp_path / "copied", QUIET).problems == ()


def test_a_killed_shard_is_finished_by_the_command_without_shard(made: Path, tmp_path: Path) -> None:
    paths = shards(tmp_path / "some", 3)
    shutil.rmtree(paths[1])
    execute(spec("2/3"), paths[1], QUIET, limits=Limits(max_images=6))
    merged = merge(paths, tmp_path / "out", QUIET)
    assert merged.unfinished == (str(paths[1]),)
    assert verify(tmp_path / "out", QUIET).problems == ()
    execute(spec(), tmp_path / "out", QUIET)
    assert rows(tmp_path / "out")["verdicts"] == rows(made / "whole")["verdicts"]


def test_pieces_of_one_shard_count_together(made: Path, parts: list[Path], tmp_path: Path) -> None:
    execute(spec("2/3"), tmp_path / "piece", QUIET, limits=Limits(max_images=6))
    merged = merge([tmp_path / "piece", *parts], tmp_path / "out", QUIET)
    assert merged.unfinished == ()
    assert rows(tmp_path / "out")["verdicts"] == rows(made / "whole")["verdicts"]


def test_what_failed_in_one_piece_gives_way_to_what_was_done_in_another(
    made: Path, parts: list[Path], tmp_path: Path
) -> None:
    for number, order in enumerate(([0, 1, 2, 3], [1, 0, 2, 3])):
        failed = Path(shutil.copytree(parts[0], tmp_path / f"failed{number}"))
        with open_run(failed, "write") as store:
            images = [image.image_id for image in store.images()]
            for image_id in images[:5]:
                store.forget_image(image_id, "lost")
        paths = [failed, *parts]
        merge([paths[place] for place in order], tmp_path / f"out{number}", QUIET)
        same = ("cases", "images", "observations", "verdicts")
        done, whole = rows(tmp_path / f"out{number}"), rows(made / "whole")
        assert [done[table] for table in same] == [whole[table] for table in same]


def spoil(directory: Path, statement: str) -> None:
    connection = sqlite3.connect(directory / "salva.db")
    connection.execute(statement)
    connection.commit()
    connection.close()


def others(tmp_path: Path) -> Iterator[tuple[str, Path, str]]:
    made: dict[str, tuple[str, dict[str, Any]]] = {
        "model": ("3/3", {"generator": {"omits": 0.1}}),
        "suite": ("3/3", {"n": 30}),
        "seed": ("3/3", {"seed": 5}),
        "size": ("3/3", {"size": "21"}),
        "number of shards": ("4/4", {}),
    }
    for what, (shard, changes) in made.items():
        execute(spec(shard, **changes), tmp_path / what, QUIET)
        yield what, tmp_path / what, "\\[shards-differ\\]"


def test_a_share_of_another_run_is_refused_and_nothing_is_made(parts: list[Path], tmp_path: Path) -> None:
    for what, other, message in others(tmp_path):
        with pytest.raises(UsageError, match=message):
            merge([*parts[:2], other], tmp_path / "out", QUIET)
        assert not (tmp_path / "out").exists(), what


def test_another_version_of_salva_or_of_a_rule_is_refused(parts: list[Path], tmp_path: Path) -> None:
    with open_run(parts[2], "write") as store:
        store.set_meta("salva_version", "0.0.1")
    with pytest.raises(UsageError, match=r"salva.*\[shards-differ\]"):
        merge(parts, tmp_path / "out", QUIET)
    with open_run(parts[2], "write") as store:
        store.drop_meta("salva_version")
        rules = store.meta()["rules"]
        assert isinstance(rules, dict)
        store.set_meta("rules", {"fake-same": {"name": "fake-same", "version": "0"}})
    with pytest.raises(UsageError, match=r"rules.*\[shards-differ\]"):
        merge(parts, tmp_path / "out", QUIET)
    assert not (tmp_path / "out").exists()


def test_missing_shards_are_named(parts: list[Path], tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"1/3, 3/3.*\[shards-missing\]"):
        merge([parts[1]], tmp_path / "out", QUIET)
    with open_run(parts[1], "write") as store:
        store.drop_meta("cases")
    with pytest.raises(UsageError, match=r"shard2. .*\[cases-not-stored\]"):
        merge(parts, tmp_path / "out", QUIET)
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize(
    ("statement", "message"),
    [
        ("UPDATE verdicts SET outcome = 'PASS'", "its digest differs"),
        ("UPDATE observations SET observation = '{}'", "its digest differs"),
        ("UPDATE renders SET text = 'a dog'", "its digest differs"),
        ("DELETE FROM cases WHERE ordinal = (SELECT min(ordinal) FROM cases WHERE ordinal > 0)", "store-damaged"),
        ("UPDATE images SET digest = 'ab'", "its digest differs"),
    ],
)
def test_edited_rows_are_refused(parts: list[Path], tmp_path: Path, statement: str, message: str) -> None:
    spoil(parts[1], statement)
    with pytest.raises(StoreError, match=message):
        merge(parts, tmp_path / "out", QUIET)


def test_a_damaged_image_is_refused(parts: list[Path], tmp_path: Path) -> None:
    image = next((parts[0] / "images").glob("*/*.webp"))
    image.write_bytes(image.read_bytes()[:-3])
    with pytest.raises(StoreError, match="its digest differs"):
        merge(parts, tmp_path / "out", QUIET)
    image.unlink()
    with pytest.raises(StoreError, match=r"\[disk-error\]"):
        merge(parts, tmp_path / "out", QUIET)


def test_rows_that_contradict_each_other_are_refused(parts: list[Path], tmp_path: Path) -> None:
    twin = Path(shutil.copytree(parts[0], tmp_path / "twin"))
    with open_run(twin, "write") as store:
        verdict = next(v for v in store.verdicts() if v.outcome == "PASS")
        store.put_verdict(replace(verdict, reason="because"))
    with pytest.raises(UsageError, match=r"\[rows-contradict\]"):
        merge([*parts, twin], tmp_path / "out", QUIET)


def test_snapshots_of_two_models_do_not_mix(parts: list[Path], tmp_path: Path) -> None:
    for number, part in enumerate(parts):
        with open_run(part, "write") as store:
            store.set_meta("snapshot:abc", f"model-{number // 2}")
    with pytest.raises(UsageError, match=r"model-0, model-0, model-1.*\[snapshots-differ\]"):
        merge(parts, tmp_path / "out", QUIET)


def test_only_a_fitting_directory_is_written(parts: list[Path], tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"\[merge-into-shard\]"):
        merge(parts, parts[0], QUIET)
    other = tmp_path / "other"
    execute(spec(n=5), other, QUIET)
    before = rows(other)
    with pytest.raises(UsageError, match=r"\[run-differs\]"):
        merge(parts, other, QUIET)
    assert rows(other) == before
    (tmp_path / "home").mkdir()
    (tmp_path / "home" / "thesis.tex").touch()
    with pytest.raises(UsageError, match=r"thesis.*\[out-not-empty\]"):
        merge(parts, tmp_path / "home", QUIET)
    with pytest.raises(SalvaError, match=r"\[run-missing\]"):
        merge([tmp_path / "home"], tmp_path / "out", QUIET)


def test_a_shard_can_be_judged_again_before_it_is_merged(made: Path, tmp_path: Path) -> None:
    paths = shards(tmp_path / "some", 2)
    for path in paths:
        with pytest.raises(UsageError):
            # Fakes stand in no registry, so that they cannot be bound by name again; the shard itself is no obstacle.
            rejudge(path, RunSpec(), QUIET)
        rejudge(path, spec(f"{paths.index(path) + 1}/2"), QUIET)
    merge(paths, tmp_path / "out", QUIET)
    assert rows(tmp_path / "out")["verdicts"] == rows(made / "whole")["verdicts"]


def test_counts_of_work_in_vain_are_added_and_trials_are_joined(parts: list[Path], tmp_path: Path) -> None:
    for part in parts:
        with open_run(part, "write") as store:
            store.set_meta("spent_in_vain", {"x": {"n_calls": 2, "cost_usd": 0.5}})
            store.set_meta("pace", {"seconds": 1.5, "n_images": 4})
            store.set_meta("preflight_passed", ["a", part.name])
            store.set_meta("figures", {"fake": []})
    merged = merge(parts, tmp_path / "out", QUIET)
    assert notes(tmp_path / "out")["spent_in_vain"] == {"x": {"n_calls": 6, "cost_usd": 1.5}}
    with open_run(tmp_path / "out") as store:
        assert store.meta()["pace"] == {"seconds": 4.5, "n_images": 12}
    assert notes(tmp_path / "out")["preflight_passed"] == ["a", "shard1", "shard2", "shard3"]
    assert "figures" in merged.left_out[0]
