"""Every defect of a checkpoint is one error, before any image is observed."""

from __future__ import annotations

import json
import re
import socket
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from backends.tiny_models import save_clip, save_detr, save_florence2

from salva.core.run_spec import ComponentSpec
from salva.errors import MissingExtraError, UnusableError, UsageError
from salva.registry import bind

torch: Any = pytest.importorskip("torch", reason="needs the extra torch")
safetensors: Any = pytest.importorskip("safetensors.torch", reason="needs the extra torch")


@pytest.fixture(autouse=True)
def own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setenv("HF_HOME", str(tmp_path / "hub"))


def build(label: str, role: str = "detector", **options: str) -> Any:
    name, _, target = label.partition("/")
    return bind(ComponentSpec(role=role, name=f"{name}/{target}", options=options)).build()


def test_a_missing_or_empty_folder_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"\[checkpoint-invalid\]"):
        build(f"detr/{tmp_path}/gone")
    (tmp_path / "empty").mkdir()
    with pytest.raises(UsageError, match=r"has no config\.json"):
        build(f"detr/{tmp_path}/empty")


def test_a_hub_id_without_network_is_unusable(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(self: socket.socket, address: object) -> None:
        raise ConnectionRefusedError(111, "Connection refused")

    def no_names(*where: object, **how: object) -> None:
        raise socket.gaierror(-3, "Temporary failure in name resolution")

    monkeypatch.setattr(socket.socket, "connect", refuse)
    monkeypatch.setattr(socket, "getaddrinfo", no_names)
    with pytest.raises(UnusableError, match=r"'someone/some-detector'.*\[hub-unreachable\]"):
        build("detr/someone/some-detector")
    with pytest.raises(UnusableError, match=r"'main'.*\[hub-unreachable\]"):
        build("florence2")


def test_detectors_without_a_default_need_a_target(tmp_path: Path) -> None:
    for name in ("detr", "onnx"):
        with pytest.raises(UsageError, match=r"\[target-missing\]"):
            build(name)


def test_a_pickle_is_refused(tmp_path: Path) -> None:
    folder = save_detr(tmp_path / "detr")
    weights = safetensors.load_file(folder / "model.safetensors")
    (folder / "model.safetensors").unlink()
    torch.save(weights, folder / "pytorch_model.bin")
    with pytest.raises(UsageError, match=r"pickle.*\[checkpoint-invalid\]"):
        build(f"detr/{folder}")


def test_damaged_and_incomplete_weights_are_refused(tmp_path: Path) -> None:
    folder = save_detr(tmp_path / "detr")
    path = folder / "model.safetensors"
    whole = path.read_bytes()
    path.write_bytes(whole[: len(whole) // 2])
    with pytest.raises(UsageError, match=r"no whole safetensors file.*\[checkpoint-invalid\]"):
        build(f"detr/{folder}")
    path.write_bytes(whole)
    weights = safetensors.load_file(path)
    lost = next(key for key in weights if "decoder" in key)
    safetensors.save_file(
        {key: value for key, value in weights.items() if key != lost}, path, metadata={"format": "pt"}
    )
    with pytest.raises(UsageError, match=rf"lacks 1 .*{lost}.*\[checkpoint-invalid\]"):
        build(f"detr/{folder}")
    safetensors.save_file({**weights, lost: torch.zeros(3, 5)}, path, metadata={"format": "pt"})
    with pytest.raises(UsageError, match=rf"{lost}' is \[3, 5\].*\[checkpoint-invalid\]"):
        build(f"detr/{folder}")


@pytest.mark.parametrize("label", ["florence2", "detr", "grounding-dino", "owlv2", "llmdet", "sam3"])
def test_a_checkpoint_of_another_type_is_refused(label: str, tmp_path: Path) -> None:
    folder = save_clip(tmp_path / "clip")
    with pytest.raises(UsageError, match=r"'clip'.*\[checkpoint-invalid\]"):
        build(f"{label}/{folder}")


def test_an_embedder_refuses_a_detectors_checkpoint(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"'detr'.*\[checkpoint-invalid\]"):
        build(f"clip/{save_detr(tmp_path / 'detr')}", role="embedder")


def test_other_florence2_checkpoints_are_refused_with_advice(tmp_path: Path) -> None:
    folder = save_florence2(tmp_path / "florence2")
    path = folder / "model.safetensors"
    renamed = {
        key.replace("multi_modal_projector.", "image_projection."): value
        for key, value in safetensors.load_file(path).items()
    }
    safetensors.save_file(renamed, path, metadata={"format": "pt"})
    with pytest.raises(UsageError, match="florence-community/"):
        build(f"florence2/{folder}")


def test_a_checkpoint_without_class_names_is_refused(tmp_path: Path) -> None:
    folder = save_detr(tmp_path / "detr", {0: "LABEL_0", 1: "LABEL_1"})
    with pytest.raises(UsageError, match=r"\[checkpoint-invalid\]"):
        build(f"detr/{folder}")


def test_code_in_a_checkpoint_is_not_run(tmp_path: Path) -> None:
    folder = save_detr(tmp_path / "detr")
    mark = tmp_path / "was-run"
    (folder / "evil.py").write_text(f"open({str(mark)!r}, 'w')\nclass Evil: pass\n")
    config = json.loads((folder / "config.json").read_text())
    config["auto_map"] = {"AutoConfig": "evil.Evil", "AutoModelForObjectDetection": "evil.Evil"}
    (folder / "config.json").write_text(json.dumps(config))
    build(f"detr/{folder}")
    assert not mark.exists()


def test_an_invalid_config_is_refused(tmp_path: Path) -> None:
    folder = save_detr(tmp_path / "detr")
    (folder / "config.json").write_text("<html>")
    with pytest.raises(UsageError, match=r"\[checkpoint-invalid\]"):
        build(f"detr/{folder}")


def test_the_pin_depends_on_the_weights_only(tmp_path: Path) -> None:
    one, other = (
        bind(ComponentSpec(role="detector", name=f"detr/{f}")).weights
        for f in (save_detr(tmp_path / "a"), save_detr(tmp_path / "b"))
    )
    assert one == other
    path = tmp_path / "b" / "model.safetensors"
    weights = safetensors.load_file(path)
    first = next(iter(weights))
    safetensors.save_file({**weights, first: weights[first] + 1}, path, metadata={"format": "pt"})
    assert bind(ComponentSpec(role="detector", name="detr" + "/" + str(tmp_path / "b"))).weights != one


@pytest.mark.parametrize(("role", "name"), [("detector", "florence2"), ("detector", "detr"), ("embedder", "clip")])
def test_a_missing_extra_prints_its_install_line(role: str, name: str, tmp_path: Path) -> None:
    folder = save_clip(tmp_path / "clip")
    typed = f"{name}/{folder}"
    code = (
        "import sys; sys.modules['torch'] = sys.modules['transformers'] = None\n"
        "from salva.core.run_spec import ComponentSpec\nfrom salva.registry import bind\n"
        f"bind(ComponentSpec(role={role!r}, name={typed!r})).build()"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert MissingExtraError.__name__ in done.stderr.splitlines()[-1]
    assert re.search(r"pip install .*\[torch\]", done.stderr)
