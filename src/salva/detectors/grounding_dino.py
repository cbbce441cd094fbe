"""Detectors: Grounding DINO, MM Grounding DINO and LLMDet, which find what they are told to look for.

The labels are written as one text ("cat. dog."), and a box belongs to the label whose words it fits best. The score
is that of its best word. Phrases are never put together from single words, as the usual decoding does: a box is one
of the labels asked for, or none.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from salva.core.about import About, Naming
from salva.core.observation import Detections
from salva.core.options import option
from salva.core.protocols import ObserveRequest
from salva.detectors.boxes import BoxRules, ScoredOptions, from_centres
from salva.detectors.zero_shot import AskedOptions, asked_labels, size_and_labels
from salva.errors import BackendError, SalvaError
from salva.messages import message
from salva.observers.loading import Batches, CheckpointOptions, load, pin
from salva.observers.pixels import in_groups, settings_of, to_pixels

if TYPE_CHECKING:
    import torch

LIMIT = 32
_MODEL_HELP = "The checkpoint: a hub id, or a folder that save_pretrained wrote."


@dataclass(frozen=True, slots=True, kw_only=True)
class GroundingDinoOptions(AskedOptions, ScoredOptions, CheckpointOptions):
    """What can be set with --set detector.NAME=VALUE."""

    model: str = option("IDEA-Research/grounding-dino-base", _MODEL_HELP, target=True)
    threshold: ClassVar[float] = 0.35

    def __post_init__(self) -> None:
        ScoredOptions.__post_init__(self)
        CheckpointOptions.__post_init__(self)


class GroundingDino:
    """Detector: finds what the case mentions."""

    version: ClassVar[str] = "1"
    about: ClassVar[About] = About(
        takes_labels=True, names=Naming.ASKED, floor="floor", made_for="Photographs of all kinds, from the web."
    )
    name: ClassVar[str] = "grounding-dino"
    doubt: ClassVar[float] = 0.45
    Options: ClassVar[type[GroundingDinoOptions]] = GroundingDinoOptions

    def __init__(self, options: GroundingDinoOptions) -> None:
        loaded = load(
            self.name,
            options,
            model_class="AutoModelForZeroShotObjectDetection",
            processor_class="AutoProcessor",
            model_types=("grounding-dino", "mm-grounding-dino"),
            purpose="a Grounding DINO model",
        )
        self._options, self._loaded = options, loaded
        self._tokenizer = loaded.processor.tokenizer
        self._pixels = settings_of(loaded.processor.image_processor, self.name)
        self._rules = BoxRules(options, self.doubt)
        self._batches = Batches(self.name, options, loaded, limit=LIMIT)
        self.habits = self._batches.habits

    @classmethod
    def weights(cls, options: GroundingDinoOptions) -> str:
        """The commit or digest of the checkpoint."""
        return pin(cls.name, options)

    def observe(self, requests: Sequence[ObserveRequest]) -> Sequence[Detections | SalvaError]:
        """The boxes of what each picture's case mentions, strongest first."""
        alike = size_and_labels(self.name, self._options)
        return in_groups(requests, alike, lambda part: self._batches.run(self._look, part))

    def _look(self, requests: Sequence[ObserveRequest]) -> Sequence[Detections | SalvaError]:
        import torch

        labels = asked_labels(self.name, requests[0], self._options)
        try:
            words, spans = self._words(labels, len(requests))
        except BackendError as error:
            return [error] * len(requests)  # raised, it would cost the pictures of other cases as well
        pixels = to_pixels([r.picture for r in requests], self._pixels, self._loaded.device, self._loaded.dtype)
        with self._batches.on_device, torch.inference_mode():
            output = self._loaded.model(pixel_values=pixels, **words)
            fits = output.logits.float().sigmoid()
            best, place = torch.stack([fits[..., span].amax(-1) for span in spans], -1).max(-1)
            boxes, scores, which = output.pred_boxes.float().cpu().numpy(), best.cpu().numpy(), place.cpu().numpy()
        return [
            self._rules.detections(
                from_centres(boxes[i]), scores[i], [labels[int(k)] for k in which[i]], are_names=True
            )
            for i in range(len(requests))
        ]

    def _words(self, labels: tuple[str, ...], n: int) -> tuple[dict[str, torch.Tensor], list[list[int]]]:
        """The text of all labels for n pictures, and which of its tokens are whose."""
        text, ends = "", []
        for label in labels:
            text += f"{label.casefold()}. "
            ends.append(len(text))
        written = self._tokenizer(text.strip(), return_offsets_mapping=True, return_tensors="pt")
        n_tokens, limit = written["input_ids"].shape[1], int(self._loaded.model.config.max_text_len)
        if n_tokens > limit:
            values = {"limit": limit, "text": f"a text of {len(labels)} labels", "n": n_tokens}
            problem = message("too-many-tokens", component=self.name, **values, instead="Give fewer labels.")
            raise BackendError(problem, is_retryable=False)
        offsets = written.pop("offset_mapping")[0].tolist()
        spans: list[list[int]] = []
        for begin, end in zip([0, *ends], ends, strict=False):
            # The full stop after a label is none of its words.
            inside = [i for i, (a, b) in enumerate(offsets) if a < b and begin <= a and b <= end - 2]
            spans.append(inside)
        if not all(spans):
            problem = message("label-unusable", detector=self.name, label=labels[spans.index([])])
            raise BackendError(problem, is_retryable=False)
        many = {key: value.expand(n, -1).to(self._loaded.device) for key, value in written.items()}
        return many, spans


@dataclass(frozen=True, slots=True, kw_only=True)
class MmGroundingDinoOptions(GroundingDinoOptions):
    """What can be set with --set detector.NAME=VALUE."""

    model: str = option("openmmlab-community/mm_grounding_dino_base_all", _MODEL_HELP, target=True)
    threshold: ClassVar[float] = 0.4


class MmGroundingDino(GroundingDino):
    """Detector: finds what the case mentions, with the same network trained in the open on more data."""

    name: ClassVar[str] = "mm-grounding-dino"
    doubt: ClassVar[float] = 0.5
    Options: ClassVar[type[GroundingDinoOptions]] = MmGroundingDinoOptions


@dataclass(frozen=True, slots=True, kw_only=True)
class LlmDetOptions(MmGroundingDinoOptions):
    """What can be set with --set detector.NAME=VALUE."""

    model: str = option("iSEE-Laboratory/llmdet_base", _MODEL_HELP, target=True)


class LlmDet(MmGroundingDino):
    """Detector: finds what the case mentions, with MM Grounding DINO's network trained beside a language model."""

    name: ClassVar[str] = "llmdet"
    Options: ClassVar[type[GroundingDinoOptions]] = LlmDetOptions
