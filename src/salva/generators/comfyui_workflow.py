"""A ComfyUI workflow as a form: the places of prompt, seed, negative prompt and size.

Reads the API format (`Save (API Format)` in ComfyUI): node id to class and inputs. The user may mark places with
{prompt}, {seed}, {negative}, {width} and {height}; others are found through the inputs of the samplers. Knows no HTTP.
"""

from __future__ import annotations

import copy
import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import cast

from salva.core.fingerprint import Json
from salva.errors import UsageError
from salva.messages import message

Workflow = dict[str, dict[str, Json]]
Place = tuple[str, str]
"""Node id and input name."""

_TEXT_INPUTS = ("text", "text_g", "text_l", "clip_l", "clip_g", "t5xxl", "prompt")
_SEED_INPUTS = ("seed", "noise_seed")


@dataclass(frozen=True, slots=True, kw_only=True)
class Form:
    """A workflow and the places in it that change from image to image."""

    workflow: Workflow
    places: Mapping[str, tuple[Place, ...]]
    """By name: prompt, seed, negative, width and height."""

    def fill(self, values: Mapping[str, str | int]) -> Workflow:
        """The workflow for one image; values by name: prompt, seed, and optionally negative, width, height."""
        filled = copy.deepcopy(self.workflow)
        for name, value in values.items():
            mark = f"{{{name}}}"
            for node_id, input_name in self.places[name]:
                inputs = cast(dict[str, Json], filled[node_id]["inputs"])
                text = str(inputs[input_name])
                is_inside = mark in text and text != mark
                inputs[input_name] = text.replace(mark, str(value)) if is_inside else value
        return filled


def read_workflow(path: Path) -> Workflow:
    """The workflow in a file; anything but the API format is a UsageError."""
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise UsageError(message("file-unreadable", path=str(path), why=error.strerror or error)) from error
    except ValueError as error:
        raise UsageError(message("json-invalid", path=str(path), where="", why=error)) from error
    is_workflow = isinstance(content, dict) and all(
        isinstance(node, dict) and "class_type" in node and isinstance(node.get("inputs"), dict)
        for node in content.values()
    )
    if not is_workflow or not content:
        wanted = "a workflow saved with `Save (API Format)` in ComfyUI"
        raise UsageError(message("json-shape", path=str(path), where="", wanted=wanted))
    return cast(Workflow, content)


def make_form(workflow: Workflow, name: str) -> Form:
    """The places of a workflow; UsageError if prompt or seed has none."""
    places = {what: tuple(_marked_places(workflow, what)) for what in ("prompt", "seed", "negative", "width", "height")}
    positive, negative = _text_places(workflow, "positive"), _text_places(workflow, "negative")
    if not places["prompt"]:
        both = [place for place in positive if place in negative]
        if not positive or both:
            nodes = sorted({p[0] for p in both}) or "none"
            values = {"name": name, "what": f"prompt (nodes {nodes})", "mark": "{prompt}"}
            raise UsageError(message("workflow-place-missing", **values))
        places["prompt"] = tuple(positive)
    if not places["negative"]:
        places["negative"] = tuple(place for place in negative if place not in places["prompt"])
    if not places["seed"]:
        places["seed"] = tuple(_number_places(workflow, _SEED_INPUTS))
        if not places["seed"]:
            raise UsageError(message("workflow-place-missing", name=name, what="seed", mark="{seed}"))
    for side in ("width", "height"):
        if not places[side]:
            places[side] = tuple(p for p in _number_places(workflow, (side,)) if _is_a(workflow, p[0], "latent"))
    return Form(workflow=workflow, places=places)


def _inputs(workflow: Workflow) -> Iterator[tuple[str, str, Json]]:
    for node_id, node in workflow.items():
        for name, value in cast(dict[str, Json], node["inputs"]).items():
            yield node_id, name, value


def _marked_places(workflow: Workflow, what: str) -> Iterator[Place]:
    return (
        (node_id, name)
        for node_id, name, value in _inputs(workflow)
        if isinstance(value, str) and f"{{{what}}}" in value
    )


def _number_places(workflow: Workflow, names: tuple[str, ...]) -> Iterator[Place]:
    return (
        (node_id, name)
        for node_id, name, value in _inputs(workflow)
        if name in names and isinstance(value, int) and not isinstance(value, bool)
    )


def _is_a(workflow: Workflow, node_id: str, kind: str) -> bool:
    return kind in str(workflow[node_id]["class_type"]).lower()


def _text_places(workflow: Workflow, wire: str) -> list[Place]:
    """The text inputs upstream of every input of this name; guiders call the positive one `conditioning`."""
    wires = (wire, "conditioning") if wire == "positive" else (wire,)
    starts = [
        str(value[0])
        for node_id, name, value in _inputs(workflow)
        if name in wires and isinstance(value, list) and value and (name == wire or _is_a(workflow, node_id, "guider"))
    ]
    places: list[Place] = []
    seen: set[str] = set()
    while starts:
        node_id = starts.pop()
        if node_id in seen or node_id not in workflow:
            continue
        seen.add(node_id)
        inputs = cast(dict[str, Json], workflow[node_id]["inputs"])
        here = [(node_id, name) for name in _TEXT_INPUTS if isinstance(inputs.get(name), str)]
        places += here
        if not here:
            # Not a text itself: follow the inputs of the same kind.
            starts += [
                str(value[0])
                for name, value in inputs.items()
                if isinstance(value, list)
                and value
                and (name == wire or name.startswith("conditioning") or name in _TEXT_INPUTS)
            ]
    return sorted(places)
