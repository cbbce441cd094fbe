"""Defects of checkpoints, LoRAs, and pins."""

from __future__ import annotations

import json
import shutil
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

pytest.importorskip("torch", reason="checkpoints run on torch")
pytest.importorskip("diffusers", reason="checkpoints are loaded with diffusers")

import diffusers
import torch
import transformers
from backends.tiny_models import save_florence2
from backends.tiny_pipelines import save_sdxl, save_stable_diffusion, save_unconditional
from safetensors.torch import load_file, save_file

from salva.core.case import Prompt
from salva.core.protocols import Rendered, RenderRequest
from salva.detectors.florence2 import Florence2
from salva.errors import BackendError, UsageError
from salva.generators.diffusers_pipeline import DiffusersOptions, DiffusersPipeline
from salva.hardware import checkpoints
from salva.hardware.background_imports import BACKGROUND_IMPORTS

pytestmark = pytest.mark.filterwarnings("ignore:__array__ implementation:DeprecationWarning")


@pytest.fixture(autouse=True)
def own_cache(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return save_stable_diffusion(tmp_path_factory.mktemp("checkpoints") / "whole")


@pytest.fixture
def folder(whole: Path, tmp_path: Path) -> Path:
    """A copy to break."""
    return Path(shutil.copytree(whole, tmp_path / "model"))


def _options(folder: Path, **more: Any) -> DiffusersOptions:
    return DiffusersOptions(**{"checkpoint": str(folder), "size": "32", "steps": 2, "device": "cpu", **more})


def _rgb(options: DiffusersOptions) -> bytes:
    (outcome,) = DiffusersPipeline(options).render([RenderRequest(prompt=Prompt(role="a", text="a cat"), seed=1)])
    assert isinstance(outcome, Rendered), outcome
    return outcome.picture.rgb


def _edit_index(folder: Path, **changes: Any) -> None:
    index = json.loads((folder / "model_index.json").read_text())
    (folder / "model_index.json").write_text(json.dumps({**index, **changes}))


def _cut(folder: Path) -> None:
    path = folder / "unet" / "diffusion_pytorch_model.safetensors"
    path.write_bytes(path.read_bytes()[:-1000])


def _lose_part(folder: Path) -> None:
    shutil.rmtree(folder / "vae")


def _lose_weights(folder: Path) -> None:
    (folder / "text_encoder" / "model.safetensors").unlink()


def _pickle(folder: Path) -> None:
    path = folder / "unet" / "diffusion_pytorch_model.safetensors"
    torch.save(load_file(path), path.with_suffix(".bin"))
    path.unlink()


def _own_pipeline(folder: Path) -> None:
    _edit_index(folder, _class_name=["my_pipeline", "MyPipeline"])


def _own_part(folder: Path) -> None:
    _edit_index(folder, unet=["my_unet", "MyUnet"])
    (folder / "unet" / "my_unet.py").write_text("raise SystemExit('this code was run')")


def _newer(folder: Path) -> None:
    _edit_index(folder, _class_name="StableDiffusion9Pipeline")


def _half_an_index(folder: Path) -> None:
    (folder / "model_index.json").write_text('{"_class_name": "Stable')


def _no_class(folder: Path) -> None:
    (folder / "model_index.json").write_text('{"unet": ["diffusers", "UNet2DConditionModel"]}')


def _other_shapes(folder: Path) -> None:
    path = folder / "unet" / "diffusion_pytorch_model.safetensors"
    weights = load_file(path)
    save_file({**weights, "conv_in.weight": torch.zeros(1, 1, 1, 1)}, path)


def _lose_a_weight(folder: Path, part: str, file: str, ending: str) -> None:
    path = folder / part / file
    weights = load_file(path)
    lost = next(key for key in weights if key.endswith(ending))
    save_file({key: value for key, value in weights.items() if key != lost}, path, metadata={"format": "pt"})


def _half_a_unet(folder: Path) -> None:
    _lose_a_weight(folder, "unet", "diffusion_pytorch_model.safetensors", "conv_in.weight")


def _half_a_reader(folder: Path) -> None:
    _lose_a_weight(folder, "text_encoder", "model.safetensors", "mlp.fc1.weight")


def _reader_of_other_shapes(folder: Path) -> None:
    path = folder / "text_encoder" / "model.safetensors"
    weights = load_file(path)
    wider = next(key for key in weights if key.endswith("mlp.fc1.weight"))
    save_file({**weights, wider: torch.zeros(1, 1)}, path, metadata={"format": "pt"})


@pytest.mark.parametrize(
    ("spoil", "words"),
    [
        (_cut, r"diffusion_pytorch_model.safetensors'.*checkpoint-invalid"),
        (_lose_part, "no folder 'vae'"),
        (_lose_weights, r"text_encoder'.*checkpoint-invalid"),
        (_pickle, r"diffusion_pytorch_model.bin'.* pickle"),
        (_own_pipeline, "my_pipeline.*checkpoint-invalid"),
        (_own_part, "unet/my_unet.py.*checkpoint-invalid"),
        (_newer, "'StableDiffusion9Pipeline'"),
        (_half_an_index, r"model_index.json' is no index"),
        (_no_class, r"model_index.json' is no index.* class"),
        (_other_shapes, r"cannot load it: .*conv_in"),
        (
            _half_a_unet,
            r"unet'.* lacks 1 .* \('conv_in.weight'\)",
        ),
        (_half_a_reader, r"text_encoder'.* lacks 1 .*mlp.fc1.weight"),
        (_reader_of_other_shapes, r"text_encoder'.* 1 weights .*mlp.fc1.weight"),
    ],
)
def test_damaged_checkpoints_are_refused(folder: Path, spoil: Callable[[Path], None], words: str) -> None:
    spoil(folder)
    with pytest.raises(UsageError, match=words):
        DiffusersPipeline(_options(folder))


def test_a_pipeline_that_takes_no_text_is_refused(tmp_path: Path) -> None:
    folder = save_unconditional(tmp_path / "unconditional")
    with pytest.raises(UsageError, match=r"DDPMPipeline.*\[checkpoint-invalid\]"):
        DiffusersPipeline(_options(folder))


def test_an_image_to_image_checkpoint_is_loaded_as_its_text_to_image_sibling(folder: Path, whole: Path) -> None:
    _edit_index(folder, _class_name="StableDiffusionImg2ImgPipeline")
    assert _rgb(_options(folder)) == _rgb(_options(whole))


def test_a_folder_without_a_pipeline_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"has no model_index.json"):
        DiffusersPipeline.weights(_options(tmp_path))
    single = tmp_path / "model.safetensors"
    single.write_bytes(b"")
    (tmp_path / "model.ckpt").write_text("x")
    with pytest.raises(UsageError, match=r"model.ckpt'.*\[checkpoint-invalid\]"):
        DiffusersPipeline.weights(_options(tmp_path / "model.ckpt"))
    with pytest.raises(UsageError, match=r"model.safetensors'.* model_index.json.*\[checkpoint-invalid\]"):
        DiffusersPipeline.weights(_options(single))


def test_the_pin_depends_on_the_weights_and_not_on_the_path(folder: Path, whole: Path) -> None:
    pinned = DiffusersPipeline.weights(_options(whole))
    assert DiffusersPipeline.weights(_options(folder)) == pinned
    path = folder / "unet" / "diffusion_pytorch_model.safetensors"
    weights = load_file(path)
    weights["conv_out.bias"][0] += 1e-3
    save_file(weights, path)
    assert DiffusersPipeline.weights(_options(folder)) != pinned


def test_the_pin_needs_no_library(whole: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("torch", "diffusers", "transformers", "huggingface_hub"):
        monkeypatch.setitem(__import__("sys").modules, name, None)
    assert DiffusersPipeline.weights(_options(whole))


def save_lora(folder: Path, place: Path) -> Path:
    """A LoRA of the attention of a pipeline's unet, with weights that matter."""
    import diffusers
    from peft import LoraConfig
    from peft.utils import get_peft_model_state_dict

    library: Any = diffusers
    pipeline = library.DiffusionPipeline.from_pretrained(folder)
    torch.manual_seed(3)
    pipeline.unet.add_adapter(LoraConfig(r=2, init_lora_weights=False, target_modules=["to_q", "to_k", "to_v"]))
    layers = {name: 5 * weight for name, weight in get_peft_model_state_dict(pipeline.unet).items()}
    pipeline.save_lora_weights(place, unet_lora_layers=layers)
    return place / "pytorch_lora_weights.safetensors"


@pytest.fixture(scope="module")
def lora(whole: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return save_lora(whole, tmp_path_factory.mktemp("lora"))


def test_a_lora_changes_the_image_by_its_scale(whole: Path, lora: Path) -> None:
    plain = _rgb(_options(whole))
    assert _rgb(_options(whole, lora=str(lora))) != plain
    assert _rgb(_options(whole, lora=str(lora.parent))) == _rgb(_options(whole, lora=str(lora)))
    assert _rgb(_options(whole, lora=str(lora), lora_scale=0.0)) == plain


def test_a_lora_is_part_of_the_pin(whole: Path, lora: Path, tmp_path: Path) -> None:
    plain = DiffusersPipeline.weights(_options(whole))
    pinned = DiffusersPipeline.weights(_options(whole, lora=str(lora)))
    assert pinned.startswith(f"{plain}+")
    weights = load_file(lora)
    name = next(iter(weights))
    other = tmp_path / "other.safetensors"
    save_file({**weights, name: weights[name] * 2}, other)
    assert DiffusersPipeline.weights(_options(whole, lora=str(other))) != pinned


def test_a_lora_that_does_not_fit_is_refused(whole: Path, lora: Path, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"\[checkpoint-invalid\]"):
        DiffusersPipeline(_options(save_sdxl(tmp_path / "sdxl"), lora=str(lora)))
    nothing = tmp_path / "nothing.safetensors"
    save_file({"text_model.lora_A.weight": torch.zeros(2, 2)}, nothing)
    with pytest.raises(UsageError, match=r"\[checkpoint-invalid\]"):
        DiffusersPipeline(_options(whole, lora=str(nothing)))
    with pytest.raises(ValueError, match=r"\[flag-needed\]"):
        _options(whole, lora_scale=0.5)
    pickled = tmp_path / "lora.bin"
    pickled.write_bytes(b"")
    with pytest.raises(UsageError, match=r"\[checkpoint-invalid\]"):
        DiffusersPipeline.weights(_options(whole, lora=str(pickled)))
    with pytest.raises(UsageError, match=r"/no/such/lora.*\[checkpoint-invalid\]"):
        DiffusersPipeline.weights(_options(whole, lora="/no/such/lora.safetensors"))


def test_a_lora_that_fits_only_in_part_is_refused(
    whole: Path, lora: Path, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    weights = load_file(lora)
    strange = tmp_path / "strange.safetensors"
    save_file({name.replace("mid_block", "mid_block_2"): weight for name, weight in weights.items()}, strange)
    n_all = len(weights) // 2
    n_strange = sum("mid_block" in name for name in weights) // 2
    assert 0 < n_strange < n_all
    with pytest.raises(UsageError, match=f" {n_all} layers,.* {n_all - n_strange} of them"):
        DiffusersPipeline(_options(whole, lora=str(strange)))
    capfd.readouterr()
    with pytest.raises(UsageError, match=r"StableDiffusionXLPipeline.*\[checkpoint-invalid\]"):
        DiffusersPipeline(_options(save_sdxl(tmp_path / "sdxl"), lora=str(lora)))
    assert "size mismatch" not in "".join(capfd.readouterr())


def test_an_sdxl_lora_may_have_layers_under_two_names(tmp_path: Path) -> None:
    sdxl = save_sdxl(tmp_path / "sdxl")
    weights = load_file(save_lora(sdxl, tmp_path / "lora"))
    halves = {"lora_A.weight": "lora_down.weight", "lora_B.weight": "lora_up.weight"}
    kohya: dict[str, Any] = {}
    for name, weight in weights.items():
        layer, half = name.removeprefix("unet.").split(".lora_")
        kohya[f"lora_unet_{layer.replace('.', '_')}.{halves['lora_' + half]}"] = weight
    twice = {name.replace("down_blocks_1_attentions_0", "input_blocks_4_1"): weight for name, weight in kohya.items()}
    assert twice.keys() - kohya.keys()
    for name, layers in {"once": kohya, "twice": kohya | twice}.items():
        save_file({key: weight.clone() for key, weight in layers.items()}, tmp_path / f"{name}.safetensors")
    once, both = (_rgb(_options(sdxl, lora=str(tmp_path / f"{name}.safetensors"))) for name in ("once", "twice"))
    assert once == both != _rgb(_options(sdxl))


def test_nan_weights_of_a_lora_are_an_error(whole: Path, lora: Path, tmp_path: Path) -> None:
    save_file({name: weight * float("nan") for name, weight in load_file(lora).items()}, tmp_path / "nan.safetensors")
    painter = DiffusersPipeline(_options(whole, lora=str(tmp_path / "nan.safetensors")))
    (outcome,) = painter.render([RenderRequest(prompt=Prompt(role="a", text="a cat"), seed=1)])
    assert isinstance(outcome, BackendError)
    assert outcome.code == "generation-failed"
    assert "model.dtype" not in str(outcome)


class _Recorded(ModuleType):
    """A library that records which of its names are used."""

    def __init__(self, library: ModuleType, asked: list[str]) -> None:
        super().__init__(library.__name__)
        self.__dict__["_inside"], self.__dict__["_asked"] = library, asked

    def __getattr__(self, name: str) -> Any:
        self._asked.append(f"{threading.current_thread().name}: {name}")
        return getattr(self._inside, name)


def test_pipeline_classes_are_imported_in_the_background(
    whole: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[str] = []
    detector = save_florence2(tmp_path / "florence2", ["cat"])
    monkeypatch.setitem(sys.modules, "diffusers", _Recorded(diffusers, asked))
    DiffusersPipeline.weights(_options(whole))
    assert not asked, "a finished run knows its weights and imports nothing"
    Florence2(Florence2.Options(model=str(detector), max_tokens=8, device="cpu"))
    BACKGROUND_IMPORTS.wait()
    assert {"salva: imports: StableDiffusionPipeline", "salva: imports: UNet2DConditionModel"} <= set(asked)


def test_detector_classes_are_imported_while_weights_are_hashed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[str] = []
    detector = save_florence2(tmp_path / "florence2", ["cat"])
    monkeypatch.setattr(checkpoints, "_LARGE", 1)
    monkeypatch.setitem(sys.modules, "transformers", _Recorded(transformers, asked))
    Florence2.weights(Florence2.Options(model=str(detector)))
    BACKGROUND_IMPORTS.wait()
    assert "salva: imports: Florence2ForConditionalGeneration" in asked
