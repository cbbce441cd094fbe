"""Generator: a diffusers pipeline of a Python program, in its memory.

It keeps the program's scheduler, precision and device; diffusers_device.py does the rest. Changes of the pipeline are
not detected, so the program names its version.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from salva.core.about import About, Habits
from salva.core.options import option
from salva.core.protocols import Rendered, RenderRequest
from salva.core.python_objects import find_object
from salva.errors import SalvaError, UsageError
from salva.generators.diffusers_device import CallOptions, DevicePipeline
from salva.generators.diffusers_loading import LoadedPipeline, Pipeline, count_parameters, takes_text_alone
from salva.generators.diffusers_presets import PRESETS
from salva.messages import message


@dataclass(frozen=True, slots=True, kw_only=True)
class ObjectOptions(CallOptions):
    """What can be set with settings={"model.NAME": VALUE}."""

    name: str = option("", "Its name; the pipeline comes from run_suite(model=...).", target=True)
    version: str = option("", "Its version; images of another version are not reused.")


class PipelineObject:
    """A diffusers pipeline that a Python program hands to salva.run_suite."""

    version: ClassVar[str] = "1"
    about: ClassVar[About] = About(seeds_hold=True)
    Options: ClassVar[type[ObjectOptions]] = ObjectOptions

    def __init__(self, options: ObjectOptions) -> None:
        pipeline: Pipeline = find_object(options.name)
        dtype = str(getattr(pipeline, "dtype", "unknown")).removeprefix("torch.")
        loaded = LoadedPipeline(
            pipeline=pipeline, preset=PRESETS["own"], dtype=dtype, parameters=count_parameters(pipeline)
        )
        # Its execution device: parts of an offloaded pipeline may be elsewhere.
        device = str(getattr(pipeline, "_execution_device", None) or pipeline.device)
        device = "cuda:0" if device == "cuda" else device
        self._copy = DevicePipeline(f"diffusers/{options.name}", options, device, loaded)
        self._bar = dict(getattr(pipeline, "_progress_bar_config", {}))
        pipeline.set_progress_bar_config(**{**self._bar, "disable": True})
        self._pipeline = pipeline
        self.habits = Habits(batch_size=self._copy.limit, depth=2 if device.startswith("cuda") else 1)

    @classmethod
    def weights(cls, options: ObjectOptions) -> str:
        """No digest, as the pipeline may change; only checks that it generates from text."""
        pipeline: Any = find_object(options.name)
        if not takes_text_alone(type(pipeline)):
            values = {"component": "diffusers", "model": type(pipeline).__name__}
            raise UsageError(message("checkpoint-invalid", **values, why="it does not generate from text alone"))
        return ""

    def render(self, requests: Sequence[RenderRequest]) -> Sequence[Rendered | SalvaError]:
        """One image or error per request."""
        return self._copy.generate(requests) if requests else []

    def close(self) -> None:
        """Restore the progress bar of the pipeline."""
        self._pipeline.set_progress_bar_config(**self._bar)
