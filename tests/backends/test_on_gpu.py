"""What only a real GPU can show: growing batches, running out of memory, copies that arrive late, offloading.

Left out by default; `pytest -m gpu` on a machine that has one.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from backends.test_pixels import drawn
from backends.tiny_judges import save_blip, save_llava
from backends.tiny_models import (
    save_clip,
    save_detr,
    save_florence2,
    save_grounding_dino,
    save_mask2former,
    save_owlv2,
    save_rt_detr,
    save_siglip,
)
from backends.tiny_pipelines import save_flux, save_sd3, save_sdxl, save_stable_diffusion

from salva.core.case import Prompt
from salva.core.observation import Answer, Detections, Vector
from salva.core.protocols import ObserveRequest, Query, Rendered, RenderRequest
from salva.core.run_spec import ComponentSpec
from salva.generators.diffusers_pipeline import DiffusersOptions, DiffusersPipeline
from salva.registry import bind
from salva.stats.similarity import cosine

torch: Any = pytest.importorskip("torch", reason="needs the extra torch")

pytestmark = [pytest.mark.gpu, pytest.mark.filterwarnings("default")]

GPU = "cuda:0"
ANSWER = ("kitten", "<loc_100>", "<loc_200>", "<loc_400>", "<loc_600>")
PICTURES = [drawn(48 + 16 * (i % 2), 64, i) for i in range(40)]
FAMILIES: dict[str, Callable[[Path], Path]] = {
    "stable-diffusion": save_stable_diffusion,
    "sdxl": save_sdxl,
    "flux": save_flux,
    "sd3": save_sd3,
}
DETECTORS: dict[str, tuple[str, Callable[[Path], Path]]] = {
    "florence2": ("florence2", lambda folder: save_florence2(folder, ANSWER)),
    "florence2-grounding": ("florence2-grounding", lambda folder: save_florence2(folder, ANSWER)),
    "detr": ("detr", save_detr),
    "rt-detr": ("detr", save_rt_detr),
    "mask2former": ("mask2former", save_mask2former),
    "grounding-dino": ("grounding-dino", save_grounding_dino),
    "owlv2": ("owlv2", save_owlv2),
}


@pytest.fixture(autouse=True)
def whole_gpu() -> Any:
    """Each test begins with an empty GPU and may use all of it."""
    if not torch.cuda.is_available():
        pytest.skip("no GPU here")
    yield
    torch.cuda.set_per_process_memory_fraction(1.0)
    torch.cuda.empty_cache()


def _generator(folder: Path, **options: Any) -> DiffusersPipeline:
    given = {"checkpoint": str(folder), "size": "32", "steps": 2, "device": GPU, **options}
    return DiffusersPipeline(DiffusersOptions(**given))


def _paint(generator: DiffusersPipeline, seeds: Sequence[int]) -> np.ndarray[Any, Any]:
    requests = [RenderRequest(prompt=Prompt(role="a", text=f"{seed} cats"), seed=seed) for seed in seeds]
    outcomes = generator.render(requests)
    assert all(isinstance(outcome, Rendered) for outcome in outcomes), outcomes
    return np.stack([np.frombuffer(o.picture.rgb, np.uint8).astype(int) for o in outcomes if isinstance(o, Rendered)])


def _size(generator: DiffusersPipeline) -> int:
    return generator._copies[0]._sizer.size


@pytest.mark.parametrize("family", FAMILIES)
def test_larger_batches_give_the_same_images(family: str, tmp_path: Path) -> None:
    folder = FAMILIES[family](tmp_path / family)
    growing = _generator(folder, dtype="float32")
    assert growing.habits.depth == 2
    before = _size(growing)
    grown = _paint(growing, range(4 + 8 + 16 + 32 + 64))
    assert _size(growing) > before
    alone = _paint(_generator(folder, dtype="float32", batch_size=1), range(0, 124, 9))
    assert np.abs(grown[::9] - alone).max() <= 2, "no more than rounding"
    on_cpu = _paint(_generator(folder, dtype="float32", device="cpu"), range(0, 124, 33))
    assert np.abs(grown[::33] - on_cpu).max() <= 3, "the same noise on every device"
    assert _generator(folder, dtype="float32").habits == growing.habits
    assert _size(_generator(folder, dtype="float32")) == _size(growing), "remembered"


def test_half_precision_is_the_default_and_batches_do_not_matter(tmp_path: Path) -> None:
    folder = save_stable_diffusion(tmp_path / "sd")
    (outcome,) = _generator(folder).render([RenderRequest(prompt=Prompt(role="a", text="a cat"), seed=1)])
    assert isinstance(outcome, Rendered)
    assert outcome.provenance["dtype"] == "float16"
    by_four, by_one = (_paint(_generator(folder, batch_size=size), range(4)) for size in (4, 1))
    assert np.abs(by_four - by_one).mean() < 1


@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float32"])
@pytest.mark.parametrize(
    ("shape", "n_groups"), [((2, 320, 64, 64), 32), ((3, 24, 33, 70), 4), ((1, 2560, 8, 8), 32), ((2, 8, 1, 1), 2)]
)
def test_kernels_agree_with_torch(dtype: str, shape: tuple[int, ...], n_groups: int) -> None:
    from salva.hardware import kernels

    torch.manual_seed(0)
    kind = getattr(torch, dtype)
    tolerance = 8 * torch.finfo(kind).eps
    # Far from zero: sums of squares would lose their digits there.
    picture = (torch.randn(shape, device=GPU) + 3).to(kind)
    plus = torch.randn(shape[:2], device=GPU).to(kind)
    norm = torch.nn.GroupNorm(n_groups, shape[1], device=GPU).to(kind)
    torch.nn.init.normal_(norm.weight)
    torch.nn.init.normal_(norm.bias)

    def same(ours: Any, theirs: Any) -> bool:
        apart, largest = (ours.float() - theirs.float()).abs().max(), theirs.float().abs().max()
        return ours.shape == theirs.shape and bool(apart <= tolerance * largest + 1e-6)

    def normal(values: Any) -> Any:
        wanted = torch.nn.functional.group_norm(
            values.float(), n_groups, norm.weight.float(), norm.bias.float(), norm.eps
        )
        return wanted.to(kind)

    added = picture.float() + plus.float()[:, :, None, None]
    with torch.inference_mode():
        assert same(kernels.group_norm(picture, norm), normal(picture))
        bent = kernels.group_norm(picture.to(memory_format=torch.channels_last), norm, is_bent=True, plus=plus)
        assert same(bent, torch.nn.functional.silu(normal(added)))
        assert bent.is_contiguous(memory_format=torch.channels_last)
        assert same(kernels.total(picture, picture, norm.bias), 2 * picture + norm.bias[:, None, None])
        halves = torch.randn((3, 7, 2 * shape[1]), device=GPU).to(kind)
        first, second = halves.float().chunk(2, -1)
        assert same(kernels.gated(halves), first * torch.nn.functional.gelu(second))


@pytest.mark.parametrize("family", ["stable-diffusion", "sdxl", "flux"])
def test_kernels_do_not_change_the_image(family: str, tmp_path: Path) -> None:
    folder = FAMILIES[family](tmp_path / family)
    ours, theirs = (_generator(folder, batch_size=4, dtype="float16", compile=how) for how in ("auto", "false"))
    assert ("fused_blocks" in ours._copies[0]._provenance) == (family != "flux")
    assert "fused_blocks" not in theirs._copies[0]._provenance
    assert np.abs(_paint(ours, range(8)) - _paint(theirs, range(8))).mean() < 1, "no more than rounding"


def test_out_of_memory_halves_the_batch(tmp_path: Path) -> None:
    folder = save_stable_diffusion(tmp_path / "sd")
    wanted = _paint(_generator(folder, size="128", dtype="float32", batch_size=64), range(64))
    torch.cuda.empty_cache()
    torch.cuda.reset_peak_memory_stats()
    tight = _generator(folder, size="128", dtype="float32", batch_size=64)
    before = torch.cuda.memory_allocated()
    _paint(_generator(folder, size="128", dtype="float32", batch_size=64), range(64))
    peak = torch.cuda.max_memory_allocated()
    torch.cuda.empty_cache()
    room = before + (peak - before) // 2
    torch.cuda.set_per_process_memory_fraction(room / torch.cuda.get_device_properties(0).total_memory)
    got = _paint(tight, range(64))
    assert _size(tight) < 64
    assert np.abs(got - wanted).max() <= 2


def test_concurrent_calls_get_their_own_images(tmp_path: Path) -> None:
    generator = _generator(save_stable_diffusion(tmp_path / "sd"), dtype="float32", batch_size=8)
    parts = [range(8 * i, 8 * i + 8) for i in range(12)]
    wanted = [_paint(generator, part) for part in parts]
    with ThreadPoolExecutor(2) as pool:
        got = list(pool.map(lambda part: _paint(generator, part), parts))
    assert all((one == other).all() for one, other in zip(got, wanted, strict=True))


@pytest.mark.parametrize("way", ["model", "sequential"])
def test_offloading_does_not_change_the_image(way: str, tmp_path: Path) -> None:
    folder = save_stable_diffusion(tmp_path / "sd")
    wanted = _paint(_generator(folder, dtype="float32", batch_size=2), range(4))
    got = _paint(_generator(folder, dtype="float32", batch_size=2, offload=way), range(4))
    assert np.abs(got - wanted).max() <= 2


@pytest.mark.parametrize("name", DETECTORS)
def test_detectors_agree_with_the_cpu(name: str, tmp_path: Path) -> None:
    registered, save = DETECTORS[name]
    folder = save(tmp_path / name)
    options = {"max_tokens": "60"} if "florence2" in name else {"threshold": "0.1", "names": "none"}

    def seen(**more: str) -> list[Detections]:
        spec = ComponentSpec(role="detector", name=f"{registered}/{folder}", options={**options, **more})
        query = Query(role="detector", labels=("cat", "dog"))
        found = bind(spec).build().observe([ObserveRequest(picture=picture, query=query) for picture in PICTURES])
        assert all(isinstance(one, Detections) for one in found), found
        return list(found)

    on_gpu, on_cpu = seen(device=GPU, dtype="float32"), seen(device="cpu")
    assert any(one.boxes for one in on_cpu) or name == "florence2-grounding"
    for one, other in zip(on_gpu, on_cpu, strict=True):
        assert abs(len(one.boxes) - len(other.boxes)) <= 1, "a box at the threshold may fall to either side"
        if one.boxes and other.boxes:
            assert one.boxes[0].label == other.boxes[0].label
            assert one.boxes[0].box == pytest.approx(other.boxes[0].box, abs=0.02)


@pytest.mark.slow
def test_a_compiled_florence2_gives_the_same_boxes(tmp_path: Path) -> None:
    folder = save_florence2(tmp_path / "florence2", ANSWER)

    def seen(**options: str) -> list[Any]:
        given = {"device": GPU, "max_tokens": "60", "batch_size": "32", **options}
        detector = bind(ComponentSpec(role="detector", name=f"florence2/{folder}", options=given)).build()
        return list(detector.observe([ObserveRequest(picture=p, query=Query(role="detector")) for p in PICTURES]))

    assert seen(compile="true") == seen()


@pytest.mark.parametrize(("name", "save"), [("clip", save_clip), ("siglip", save_siglip)])
def test_embedders_agree_with_the_cpu(name: str, save: Callable[[Path], Path], tmp_path: Path) -> None:
    folder = save(tmp_path / name)

    def vectors(device: str) -> list[Vector]:
        spec = ComponentSpec(role="embedder", name=f"{name}/{folder}", options={"device": device})
        asked = [ObserveRequest(picture=picture, query=Query(role="embedder")) for picture in PICTURES]
        asked += [ObserveRequest(picture=PICTURES[0], query=Query(role="embedder", text="a cat"))]
        return list(bind(spec).build().observe(asked))

    for one, other in zip(vectors(GPU), vectors("cpu"), strict=True):
        assert cosine(one.values, other.values) == pytest.approx(1, abs=1e-4)


def test_judges_answer_on_the_gpu(tmp_path: Path) -> None:
    rated = "Relevance: [[35]], Object Accuracy: [[40]]"
    folders = {"transformers": save_llava(tmp_path / "llava", rated), "blip-vqa": save_blip(tmp_path / "blip", "yes")}
    queries = {
        "transformers": Query(role="judge", kind="score", text="a cat on a mat"),
        "blip-vqa": Query(role="judge", kind="answer", text="is there a cat?", choices=("yes", "no")),
    }
    for name, folder in folders.items():
        options = {"max_tokens": "1" if name == "blip-vqa" else "8", "device": GPU}
        judge = bind(ComponentSpec(role="judge", name=f"{name}/{folder}", options=options)).build()
        answers = judge.observe([ObserveRequest(picture=picture, query=queries[name]) for picture in PICTURES])
        assert all(isinstance(answer, Answer) and not answer.problem for answer in answers), answers[:2]
