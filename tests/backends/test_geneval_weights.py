"""GenEval's weights from mmdet's file: the same answers as mmdet's network, and nothing half made."""

from __future__ import annotations

import os
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from backends.mmdet_network import N_CLASSES, SHAPE, Network, random_state
from backends.test_pixels import drawn
from click.testing import CliRunner

from salva.assets.coco_names import COCO
from salva.cli.geneval_weights import command as command_line
from salva.cli.main import salva
from salva.core.about import PUBLISHED_WEIGHTS
from salva.core.observation import Detections
from salva.core.protocols import ObserveRequest, Query
from salva.core.run_spec import ComponentSpec
from salva.errors import UsageError
from salva.hardware import mmdet_names, mmdet_weights, origins
from salva.hardware.mmdet_weights import convert
from salva.registry import bind
from salva.report.summary import summarise_run

torch: Any = pytest.importorskip("torch", reason="needs the extra torch")
transformers: Any = pytest.importorskip("transformers", reason="needs the extra torch")

HEIGHT, WIDTH = 64, 96


@pytest.fixture(autouse=True)
def own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Digests of tests are nobody else's business."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))


@pytest.fixture(autouse=True)
def tiny(monkeypatch: pytest.MonkeyPatch) -> None:
    """A network of the same kind that is built in a moment."""
    monkeypatch.setattr(mmdet_weights, "GENEVAL", SHAPE)


def saved(path: Path, state: dict[str, Any] | None = None) -> Path:
    """A file as mmdet stores it, with the notes a trainer leaves."""
    notes = {
        "CLASSES": ("person",),
        "hook_msgs": {"best_score": np.float64(0.4), "best_iter": np.int64(3)},
        "epoch": 50,
    }
    torch.save({"meta": notes, "state_dict": random_state() if state is None else state}, path)
    return path


def answers(folder: Path, picture: Any) -> tuple[Any, Any]:
    """What transformers' own class says in double precision."""
    model = transformers.Mask2FormerForUniversalSegmentation.from_pretrained(folder).double().eval()
    with torch.no_grad():
        output = model(pixel_values=picture[None])
    return output.class_queries_logits[0], output.masks_queries_logits[0]


def far(one: tuple[Any, Any], other: tuple[Any, Any]) -> float:
    """The largest difference of two answers."""
    return max(float((a - b).abs().max()) for a, b in zip(one, other, strict=True))


@pytest.fixture(scope="module")
def picture() -> Any:
    return torch.randn(3, HEIGHT, WIDTH, generator=torch.Generator().manual_seed(1), dtype=torch.float64)


def test_the_converted_network_agrees_with_mmdet(tmp_path: Path, picture: Any) -> None:
    convert(saved(tmp_path / "mmdet.pth"), tmp_path / "made", COCO)
    with torch.no_grad():
        wanted = Network(random_state())(picture)
    assert wanted[0].shape[1] == N_CLASSES + 1
    assert far(answers(tmp_path / "made", picture), wanted) < 1e-6 * float(wanted[1].abs().max())


def _apart(kind: str) -> Callable[[Any], Any]:
    """A mistake that would be easy to make."""
    return {
        "the unfolding forgotten": lambda weight: (weight,),
        "pixels row by row": lambda weight: (
            weight.reshape(len(weight) if weight.dim() == 2 else 1, -1, 2, 2).permute(0, 2, 3, 1).reshape(weight.shape),
        ),
        "key before query": lambda weight: tuple(weight.chunk(3)[i] for i in (1, 0, 2)),
    }[kind]


@pytest.mark.parametrize(
    ("step", "kind"),
    [("_unfolded", "the unfolding forgotten"), ("_unfolded", "pixels row by row"), ("_thirds", "key before query")],
)
def test_a_wrong_order_of_weights_is_noticed(
    step: str, kind: str, tmp_path: Path, picture: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(mmdet_names, step, _apart(kind))
    convert(saved(tmp_path / "mmdet.pth"), tmp_path / "made", COCO)
    with torch.no_grad():
        wanted = Network(random_state())(picture)
    assert far(answers(tmp_path / "made", picture), wanted) > 0.1


def test_the_command_makes_a_folder_for_the_detector(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file, folder = saved(tmp_path / "mmdet.pth"), tmp_path / "made"
    done = CliRunner().invoke(command_line, [str(file), "-o", str(folder)])
    assert done.exit_code == 0, done.output
    assert "other weights" in done.output
    assert f"--detector mask2former/{folder}" in done.output
    spec = ComponentSpec(role="detector", name=f"mask2former/{folder}")
    detector = bind(spec).build()
    assert {"computer mouse", "tv remote", "dining table", "person"} <= set(detector.habits.names)
    (seen,) = detector.observe([ObserveRequest(picture=drawn(60, 40, 1), query=Query(role="detector"))])
    assert isinstance(seen, Detections)
    assert PUBLISHED_WEIGHTS not in bind(spec).weights

    sha256 = origins.read_origin(folder)
    assert sha256 is not None
    for module in ("salva.hardware.origins", "salva.detectors.mask2former"):
        monkeypatch.setattr(f"{module}.GENEVAL_SHA256", sha256.sha256[:8])
    again = CliRunner().invoke(command_line, [str(file), "-o", str(tmp_path / "again")])
    assert again.output.splitlines()[-2].startswith("published weights"), again.output
    assert PUBLISHED_WEIGHTS in bind(spec).weights


@pytest.mark.parametrize("whose", ["other", "published"])
def test_a_published_run_names_its_weights(whose: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    sha256 = convert(saved(tmp_path / "mmdet.pth"), tmp_path / "made", COCO)
    if whose == "published":
        monkeypatch.setattr("salva.detectors.mask2former.GENEVAL_SHA256", sha256[:8])
    asked = ["run", "geneval", "--published", "--size", "6", "--model", "painter", "--no-progress"]
    asked += ["--detector", f"mask2former/{tmp_path / 'made'}", "--out", str(tmp_path / "run")]
    settings = ("run.preflight=off",)
    CliRunner().invoke(salva, [*asked, *(word for one in settings for word in ("--set", one))])
    (model,) = summarise_run(tmp_path / "run").by_model.values()
    assert model.metrics["published_overall"].title.endswith(f", {whose} weights")


def test_coco_names_are_the_official_ones(foreign_data: Path) -> None:
    official = (foreign_data / "geneval" / "object_names.txt").read_text().split("\n")
    spelt = {"computer mouse": "mouse", "tv remote": "remote", "computer keyboard": "keyboard"}
    assert [spelt.get(name, name) for name in official if name] == list(COCO)


def _without(*names: str) -> dict[str, Any]:
    return {key: weight for key, weight in random_state().items() if key not in names}


QKV = "backbone.stages.1.blocks.1.attn.w_msa.qkv.weight"


@pytest.mark.parametrize(
    ("state", "said"),
    [
        (lambda: _without(QKV), f"lacks 1 weights .*{re.escape(QKV)}"),
        (lambda: {**random_state(), "neck.weight": torch.zeros(1)}, "also holds 1 weights .*'neck.weight'"),
        (lambda: {**random_state(), QKV: torch.zeros(3, 3)}, "differ from"),
        (lambda: {"fc.weight": torch.zeros(1)}, r"lacks \d+ weights"),
        (
            lambda: {
                **random_state(),
                "panoptic_head.cls_embed.weight": torch.zeros(134, 32),
                "panoptic_head.cls_embed.bias": torch.zeros(134),
            },
            "differ from",
        ),
        (dict, r"lacks \d+ weights"),
    ],
    ids=["lacking", "unknown", "another shape", "another network", "panoptic", "empty"],
)
def test_another_network_is_refused(state: Callable[[], dict[str, Any]], said: str, tmp_path: Path) -> None:
    file = saved(tmp_path / "mmdet.pth", state())
    with pytest.raises(UsageError, match=said):
        convert(file, tmp_path / "out" / "made", COCO)
    assert not list((tmp_path / "out").iterdir() if (tmp_path / "out").exists() else [])


class _Bomb:
    """Runs when it is unpickled."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def __reduce__(self) -> tuple[Any, ...]:
        return os.mkdir, (str(self.path),)


def test_code_in_a_pickle_is_not_run(tmp_path: Path) -> None:
    torch.save({"state_dict": {"x": _Bomb(tmp_path / "ran")}}, tmp_path / "bad.pth")
    with pytest.raises(UsageError, match=r"\[mmdet-weights\]"):
        convert(tmp_path / "bad.pth", tmp_path / "made", COCO)
    assert not (tmp_path / "ran").exists()
    assert not (tmp_path / "made").exists()


def test_other_files_are_refused(tmp_path: Path) -> None:
    (tmp_path / "text.pth").write_text("not a checkpoint")
    (tmp_path / "empty.pth").write_bytes(b"")
    whole = saved(tmp_path / "whole.pth").read_bytes()
    (tmp_path / "half.pth").write_bytes(whole[: len(whole) // 2])
    torch.save([1, 2], tmp_path / "list.pth")
    torch.save({"state_dict": {"a": 1}}, tmp_path / "numbers.pth")
    for name in ("text.pth", "empty.pth", "half.pth", "list.pth", "numbers.pth", "gone.pth"):
        with pytest.raises(UsageError, match=re.escape(name)):
            convert(tmp_path / name, tmp_path / "made", COCO)
    assert not (tmp_path / "made").exists()


def test_an_existing_folder_is_not_overwritten(tmp_path: Path) -> None:
    (tmp_path / "made").mkdir()
    with pytest.raises(UsageError, match=r"\[output-exists\]"):
        convert(saved(tmp_path / "mmdet.pth"), tmp_path / "made", COCO)
    assert not list((tmp_path / "made").iterdir())
