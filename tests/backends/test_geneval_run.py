"""GenEval end to end over tiny checkpoints: Mask2Former's boxes and masks, CLIP's colours, nothing asked twice."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from backends.tiny_models import save_clip, save_mask2former
from in_process import salva

from salva.detectors.mask2former import Mask2Former
from salva.report.summary import summarise_run
from salva.store.sqlite import open_run

pytest.importorskip("torch", reason="needs the extra torch")
pytest.importorskip("transformers", reason="needs the extra torch")

NAMES = ("car", "cup", "hat", "ball")


@pytest.fixture(autouse=True)
def own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))


def _metadata(path: Path) -> Path:
    rows = [
        {
            "tag": "colors",
            "include": [{"class": name, "count": 1, "color": colour}],
            "prompt": f"a photo of a {colour} {name}",
        }
        for name in NAMES
        for colour in ("red", "blue")
    ]
    rows += [
        {"tag": "single_object", "include": [{"class": name, "count": 1}], "prompt": f"a photo of a {name}"}
        for name in NAMES
    ]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


def test_boxes_masks_and_colours_with_real_networks(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Mask2Former, "shortest", 64)
    monkeypatch.setattr(Mask2Former, "longest", 96)
    detector = save_mask2former(tmp_path / "detector", dict(enumerate(NAMES)))
    clip, metadata, run = save_clip(tmp_path / "clip"), _metadata(tmp_path / "m.jsonl"), tmp_path / "run"
    command = (
        *("run", "geneval", "--size", "paper", "--set", f"suite.path={metadata}", "--model", "painter"),
        *("--detector", f"mask2former/{detector}", "--embedder", f"clip/{clip}", "--published"),
        *("--set", "embedder.truncate=true"),
        *("--set", "run.preflight=off", "--no-progress", "--out", str(run)),
    )
    done = salva(*command)
    assert done.returncode in (0, 3), done.stderr
    (model,) = summarise_run(run).by_model.values()
    assert model.metrics["published_overall"].title.endswith(", other weights")
    assert (model.results["error"], model.results["undecided"]) == (0, 0)
    with open_run(run) as store:
        parts = [look.query for _, look in store.observations() if look.query.role == "embedder"]
    assert parts, "the tiny detector is sure of some coloured things"
    assert all(query.mask and query.box and query.side == 224 for query in parts)
    assert all(len(query.choices) == 10 for query in parts)
    assert salva("verify", str(run)).returncode == 0
    again = salva(*command)
    assert again.returncode == done.returncode
    with open_run(run) as store:
        assert [look.query for _, look in store.observations() if look.query.role == "embedder"] == parts
