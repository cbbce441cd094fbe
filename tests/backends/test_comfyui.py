"""ComfyUI: the places in a workflow, and a server with its API."""

from __future__ import annotations

import copy
import json
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlparse

import pytest
from backends.endpoints import Answered, Asked, asked_for, png, said, serving

from salva.core.protocols import Rendered
from salva.core.run_spec import ComponentSpec
from salva.engine.progress import SilentProgress
from salva.errors import LostError, UnusableError, UsageError
from salva.generators.comfyui import ComfyUi
from salva.generators.comfyui_workflow import make_form
from salva.registry import bind
from salva.runs.pipeline import execute
from salva.testing.fakes import written_in
from salva.testing.specs import bound, fake_spec

CLASSIC: dict[str, Any] = {
    "3": {
        "class_type": "KSampler",
        "inputs": {"seed": 1, "steps": 20, "positive": ["6", 0], "negative": ["7", 0], "latent_image": ["5", 0]},
    },
    "5": {"class_type": "EmptyLatentImage", "inputs": {"width": 512, "height": 512, "batch_size": 1}},
    "6": {"class_type": "CLIPTextEncode", "inputs": {"text": "old words", "clip": ["4", 1]}},
    "7": {"class_type": "CLIPTextEncode", "inputs": {"text": "blurry", "clip": ["4", 1]}},
    "9": {"class_type": "SaveImage", "inputs": {"images": ["8", 0], "filename_prefix": "x"}},
}
FLUX: dict[str, Any] = {
    "22": {"class_type": "BasicGuider", "inputs": {"model": ["12", 0], "conditioning": ["26", 0]}},
    "26": {"class_type": "FluxGuidance", "inputs": {"guidance": 3.5, "conditioning": ["6", 0]}},
    "6": {"class_type": "CLIPTextEncode", "inputs": {"text": "old words", "clip": ["11", 0]}},
    "25": {"class_type": "RandomNoise", "inputs": {"noise_seed": 1}},
    "27": {"class_type": "EmptySD3LatentImage", "inputs": {"width": 1024, "height": 1024, "batch_size": 1}},
}


def write(path: Path, workflow: object) -> str:
    path.write_text(json.dumps(workflow))
    return str(path)


def test_places_are_found_through_the_inputs_of_the_sampler() -> None:
    filled: Any = make_form(copy.deepcopy(CLASSIC), "w").fill(
        {"prompt": "a cat", "seed": 5, "negative": "text", "width": 256, "height": 320}
    )
    assert filled["6"]["inputs"]["text"] == "a cat"
    assert filled["7"]["inputs"]["text"] == "text"
    assert filled["3"]["inputs"]["seed"] == 5
    assert (filled["5"]["inputs"]["width"], filled["5"]["inputs"]["height"]) == (256, 320)
    untouched: Any = make_form(copy.deepcopy(CLASSIC), "w").fill({"prompt": "a cat", "seed": 5})
    assert untouched["7"]["inputs"]["text"] == "blurry"


def test_places_are_found_through_a_guider() -> None:
    filled: Any = make_form(copy.deepcopy(FLUX), "w").fill({"prompt": "a cat", "seed": 5})
    assert filled["6"]["inputs"]["text"] == "a cat"
    assert filled["25"]["inputs"]["noise_seed"] == 5


def test_marked_places_take_precedence() -> None:
    marked = copy.deepcopy(CLASSIC)
    marked["6"]["inputs"]["text"] = "a photo of {prompt}, studio"
    marked["3"]["inputs"]["seed"] = "{seed}"
    filled: Any = make_form(marked, "w").fill({"prompt": "a cat", "seed": 5})
    assert filled["6"]["inputs"]["text"] == "a photo of a cat, studio"
    assert filled["3"]["inputs"]["seed"] == 5


def test_ambiguous_workflows_are_refused() -> None:
    shared = copy.deepcopy(CLASSIC)
    shared["3"]["inputs"]["negative"] = ["6", 0]
    with pytest.raises(UsageError, match=r"nodes \['6'\].*\{prompt\}.*\[workflow-place-missing\]"):
        make_form(shared, "w")
    with pytest.raises(UsageError, match=r"\{seed\}.*\[workflow-place-missing\]"):
        make_form({name: node for name, node in FLUX.items() if name != "25"}, "w")


@pytest.mark.parametrize(
    ("content", "text"),
    [
        ("[]", "json-shape"),
        ('{"nodes": [], "links": []}', "json-shape"),
        ("{", "json-invalid"),
        (None, "file-unreadable"),
    ],
)
def test_a_file_that_is_no_workflow_is_refused(tmp_path: Path, content: str | None, text: str) -> None:
    path = tmp_path / "w.json"
    if content is not None:
        path.write_text(content)
    with pytest.raises(UsageError, match=text):
        ComfyUi(ComfyUi.Options(workflow=str(path)))


class Comfy:
    """The server: queues workflows, and finishes them at the second poll."""

    def __init__(self, error: str = "", n_images: int = 1) -> None:
        self.error, self.n_images = error, n_images
        self.queued: dict[str, Any] = {}
        self.polls: dict[str, int] = {}

    def __call__(self, request: Asked) -> Answered:
        path = urlparse(request.path)
        if path.path == "/prompt":
            prompt_id = f"id-{len(self.queued)}"
            self.queued[prompt_id] = request.body["prompt"]
            return said({"prompt_id": prompt_id, "number": 1, "node_errors": {}})
        if path.path.startswith("/history/"):
            prompt_id = path.path.rsplit("/", 1)[1]
            self.polls[prompt_id] = self.polls.get(prompt_id, 0) + 1
            if self.polls[prompt_id] < 2:
                return said({})
            if self.error:
                broke = {"node_id": "3", "node_type": "KSampler", "exception_message": self.error}
                return said(
                    {
                        prompt_id: {
                            "outputs": {},
                            "status": {"status_str": "error", "messages": [["execution_error", broke]]},
                        }
                    }
                )
            images = [{"filename": f"{prompt_id}.png", "subfolder": "", "type": "output"}] * self.n_images
            preview = [{"filename": "preview.png", "subfolder": "", "type": "temp"}]
            outputs = {"9": {"images": images}, "10": {"images": preview}}
            return said({prompt_id: {"outputs": outputs, "status": {"status_str": "success", "completed": True}}})
        name = parse_qs(path.query)["filename"][0]
        workflow = self.queued[name.removesuffix(".png")]
        return Answered(content=png(workflow["6"]["inputs"]["text"], str(workflow["3"]["inputs"]["seed"])))


def test_a_whole_run_with_a_workflow(tmp_path: Path) -> None:
    comfy = Comfy()
    workflow = write(tmp_path / "w.json", CLASSIC)
    with serving(comfy) as server:
        model = bound("model", ComfyUi, f"comfyui/{workflow}", workflow=workflow, host=server.url)
        summary = execute(fake_spec(3, models=(model,)), tmp_path / "run", SilentProgress())
    assert summary.outcomes == {"PASS": 3}
    assert len(comfy.queued) == 6


def test_prompt_and_seed_reach_the_server(tmp_path: Path) -> None:
    with serving(Comfy()) as server:
        model = ComfyUi(ComfyUi.Options(workflow=write(tmp_path / "w.json", CLASSIC), host=server.url))
        (outcome,) = model.render([asked_for("cow", 11)])
        model.close()
    assert isinstance(outcome, Rendered)
    assert written_in(outcome.picture) == (["cow"], "11")


@pytest.mark.parametrize(
    ("handle", "kind", "text"),
    [
        (Comfy(error="CUDA out of memory"), LostError, "KSampler (node 3): CUDA out of memory"),
        (Comfy(n_images=2), UnusableError, "saved 2 images"),
        (
            lambda _: said({"error": {"type": "prompt_outputs_failed_validation", "message": "no such model"}}, 400),
            UnusableError,
            "generation-failed",
        ),
    ],
)
def test_errors_of_the_server(tmp_path: Path, handle: Any, kind: type[Exception], text: str) -> None:
    with serving(handle) as server:
        model = ComfyUi(ComfyUi.Options(workflow=write(tmp_path / "w.json", CLASSIC), host=server.url))
        (outcome,) = model.render([asked_for()])
        model.close()
    assert type(outcome) is kind, outcome
    assert text in str(outcome)


def test_the_key_depends_on_the_workflow(tmp_path: Path) -> None:
    path = tmp_path / "w.json"
    spec = ComponentSpec(role="model", name="comfyui" + "/" + write(path, CLASSIC))
    before = bind(spec).identity()
    write(path, FLUX)
    assert bind(spec).identity() != before
