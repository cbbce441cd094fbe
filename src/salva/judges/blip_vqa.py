"""Judge: BLIP's visual question answering, as in TIFA and related work.

Only answers questions, in a word or two. It is not given the choices, so an answer that is none of them cannot be
read.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from salva.core.about import About
from salva.core.observation import Answer
from salva.core.options import option
from salva.core.protocols import ObserveRequest
from salva.errors import SalvaError
from salva.imaging.files import as_image
from salva.judges.replies import read_reply
from salva.observers.checkpoint_observer import CheckpointObserver
from salva.observers.loading import CheckpointKind, CheckpointOptions


@dataclass(frozen=True, slots=True, kw_only=True)
class BlipOptions(CheckpointOptions):
    """What can be set with --set judge.NAME=VALUE."""

    max_tokens: int = option(20, "Longest answer, in tokens.", least=1)


class BlipVqa(CheckpointObserver):
    """Answers questions about an image in a word or two."""

    name: ClassVar[str] = "blip-vqa"
    kind: ClassVar[CheckpointKind] = CheckpointKind(
        model_class="BlipForQuestionAnswering", processor_class="BlipProcessor", model_types=("blip",)
    )
    batch_limit: ClassVar[int] = 128
    about: ClassVar[About] = About(default_target="Salesforce/blip-vqa-base")
    Options: ClassVar[type[BlipOptions]] = BlipOptions

    def __init__(self, options: BlipOptions) -> None:
        super().__init__(options)
        self._options = options

    def observe(self, requests: Sequence[ObserveRequest]) -> Sequence[Answer | SalvaError]:
        """One answer per request."""
        questions = [request for request in requests if request.query.kind == "answer"]
        answers = iter(self._batches.run(self._answers, questions))
        return [next(answers) if request.query.kind == "answer" else _unsupported(request) for request in requests]

    def _answers(self, requests: Sequence[ObserveRequest]) -> list[Answer]:
        import torch

        loaded = self._loaded
        inputs = loaded.processor(
            images=[as_image(request.picture) for request in requests],
            text=[request.query.text for request in requests],
            padding=True,
            return_tensors="pt",
        ).to(loaded.device)
        inputs["pixel_values"] = inputs["pixel_values"].to(loaded.dtype)
        with torch.inference_mode(), self._batches.on_device:
            tokens = loaded.model.generate(
                **inputs, do_sample=False, num_beams=1, max_new_tokens=self._options.max_tokens
            )
        texts = loaded.processor.tokenizer.batch_decode(tokens, skip_special_tokens=True)
        return [_answer(request, text.strip()) for request, text in zip(requests, texts, strict=True)]


def _answer(request: ObserveRequest, reply: str) -> Answer:
    parsed = read_reply(request.query, reply, is_bare=True)
    return Answer(text=parsed.text, scores={}, reply=reply, problem=parsed.problem, usage={"n_calls": 1.0})


def _unsupported(request: ObserveRequest) -> Answer:
    """A problem, not an error: other questions of the same case can still be answered."""
    problem = f"{BlipVqa.name} only answers questions and cannot {request.query.kind or 'do this'}; use another judge"
    return Answer(text="", scores={}, problem=problem)
