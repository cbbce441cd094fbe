"""Generator: a diffusers pipeline of a Python program, as it stands in its memory.

It is called as the program set it up, with its own scheduler, precision and device; batches and seeds are those of
diffusers_easel.py. What changes in it changes under the same name, so that the program says which version it is.
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
from salva.generators.diffusers_easel import DevicePipeline, parse_size
from salva.generators.diffusers_loading import AtWork, Pipeline, check_inputs, denoiser_of, paints_from_text
from salva.generators.diffusers_pipeline import DiffusersOptions
from salva.generators.diffusers_presets import AUTO, PRESETS, choose_preset
from salva.messages import message


@dataclass(frozen=True, slots=True, kw_only=True)
class ObjectOptions:
    """What can be set with settings={"model.NAME": VALUE}."""

    name: str = option("", "What it is called; the pipeline itself comes from run_suite(model=...).", target=True)
    version: str = option("", "Which state of that pipeline it is: pictures of another version are not its own.")
    preset: str = option("own", "Steps and guidance of a family; own for the pipeline's.", choices=(AUTO, *PRESETS))
    steps: int | None = option(None, "Denoising steps; none for the preset's.")
    guidance: float | None = option(None, "Guidance scale; none for the preset's.")
    size: str = option(AUTO, "Width and height in pixels, 768 or 768x512; auto for what it was trained for.")
    negative: str = option("", "Negative prompt, the same for every picture.")
    batch_size: int | None = option(None, "Pictures at once; none to find out what fits.", keyed=False)

    def __post_init__(self) -> None:
        parse_size(self.size)
        if self.steps is not None and self.steps < 1:
            raise ValueError(message("option-invalid", name="steps", value=self.steps, wanted="1 or more"))
        if self.batch_size is not None and self.batch_size < 1:
            raise ValueError(message("option-invalid", name="batch_size", value=self.batch_size, wanted="1 or more"))


class PipelineObject:
    """A diffusers pipeline that a Python program hands to salva.run_suite."""

    version: ClassVar[str] = "1"
    about: ClassVar[About] = About(seeds_hold=True)
    Options: ClassVar[type[ObjectOptions]] = ObjectOptions

    def __init__(self, options: ObjectOptions) -> None:
        pipeline: Pipeline = find_object(options.name)
        denoiser = denoiser_of(pipeline)
        family = options.preset
        if family == AUTO:
            family = choose_preset(type(pipeline).__name__, getattr(denoiser, "config", {}))
        at_work = AtWork(
            pipeline=pipeline,
            preset=PRESETS[family],
            dtype=str(getattr(pipeline, "dtype", "unknown")).removeprefix("torch."),
            on_memory="set model.size or model.batch_size lower, or give the pipeline less to hold in memory",
            on_refusal="set pipe.safety_checker to None to see it",
            on_no_number="see that its weights are numbers (a training may have diverged) and, where they are float16, "
            "load it with torch_dtype=torch.bfloat16 or float32",
        )
        # Its own device: a pipeline that is partly off the GPU knows better than its parts where it computes.
        device = str(getattr(pipeline, "_execution_device", None) or pipeline.device)
        device = "cuda:0" if device == "cuda" else device
        self._easel = DevicePipeline(_as_loaded(options), device, at_work)
        self._bar = dict(getattr(pipeline, "_progress_bar_config", {}))
        pipeline.set_progress_bar_config(**{**self._bar, "disable": True})
        self._pipeline = pipeline
        self.habits = Habits(batch_size=self._easel.limit, depth=2 if device.startswith("cuda") else 1)

    @classmethod
    def weights(cls, options: ObjectOptions) -> str:
        """Nothing is read off what may change while nobody looks; that it is here is seen before anything begins."""
        pipeline: Any = find_object(options.name)
        if not paints_from_text(type(pipeline)):
            values = {"component": "diffusers", "model": type(pipeline).__name__}
            why = "it makes no images from text alone; give a text-to-image pipeline"
            raise UsageError(message("checkpoint-invalid", **values, why=why))
        check_inputs(options.name, pipeline)
        return ""

    def render(self, requests: Sequence[RenderRequest]) -> Sequence[Rendered | SalvaError]:
        """One picture or error per request."""
        return self._easel.paint(requests) if requests else []

    def close(self) -> None:
        """Leave the pipeline as it was handed over."""
        self._pipeline.set_progress_bar_config(**self._bar)


def _as_loaded(options: ObjectOptions) -> DiffusersOptions:
    """The same settings as of a checkpoint that was loaded for the run."""
    return DiffusersOptions(
        checkpoint=options.name,
        steps=options.steps,
        guidance=options.guidance,
        size=options.size,
        negative=options.negative,
        batch_size=options.batch_size,
    )
