"""Detector: Florence-2, which writes what it detects as words and locations.

`florence2` lists all entities in its own words (task <OD>); `florence2-grounding` finds given labels (task
<CAPTION_TO_PHRASE_GROUNDING>). It gives no scores: every box has score 1. The default is the base model, as in the
MetaLogic paper.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from contextlib import nullcontext
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, ClassVar

from salva.core.about import About, Naming
from salva.core.image import Picture
from salva.core.observation import Detections
from salva.core.options import option
from salva.core.protocols import ObserveRequest, Query
from salva.detectors.boxes import BoxRules, NameOptions
from salva.detectors.checkpoint_detector import CheckpointDetector
from salva.english.words import with_article
from salva.errors import BackendError, SalvaError, UsageError, invalid_option
from salva.hardware.compile_lock import COMPILE_LOCK
from salva.messages import message
from salva.observers.loading import CheckpointKind, CheckpointOptions
from salva.observers.pixels import settings_of
from salva.observers.word_by_word import attend_word_by_word

if TYPE_CHECKING:
    import torch

DETECT = "<OD>"
GROUND = "<CAPTION_TO_PHRASE_GROUNDING>"
N_STEPS = 1000
"""Locations along a side; each stands for its middle."""
_PHRASE = re.compile(r"([^<]+)((?:<loc_\d+>){4,})")
_LOCATION = re.compile(r"<loc_(\d+)>")
_SPECIAL = re.compile(r"<s>|</s>|<pad>")
_TEXT_STEP = 16
LabelledBox = tuple[str, list[float]]
"""A phrase and the corners of one box, as fractions of the image."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Florence2Options(NameOptions, CheckpointOptions):
    """What can be set with --set detector.NAME=VALUE."""

    beams: int = option(3, "Beams of the search; 1 is about twice as fast.", least=1)
    max_tokens: int = option(1024, "Longest answer in tokens.", least=1)
    cut: str = option("error", "For an answer that reaches max_tokens.", choices=("error", "keep"))
    compile: bool = option(False, "Compile the vision part, for long runs on a GPU.", keyed=False)


class Florence2(CheckpointDetector):
    """Detector: Florence-2, in its own words."""

    about: ClassVar[About] = About(
        names=Naming.OWN,
        made_for="Photographs and drawings of all kinds.",
        default_target="florence-community/Florence-2-base",
    )
    task: ClassVar[str] = DETECT
    name: ClassVar[str] = "florence2"
    kind: ClassVar[CheckpointKind] = CheckpointKind(
        model_class="Florence2ForConditionalGeneration",
        processor_class="AutoProcessor",
        model_types=("florence2",),
        can_halve=True,  # Locations are words, of which there are only a thousand.
    )
    batch_limit: ClassVar[int] = 128
    Options: ClassVar[type[Florence2Options]] = Florence2Options

    def __init__(self, options: Florence2Options) -> None:
        super().__init__(options, detail=f"{self.task} beams {options.beams}", is_compiled=options.compile)
        self._model, self._processor = self._loaded.model, self._loaded.processor
        n_places = int(self._model.config.text_config.max_position_embeddings)
        if options.max_tokens > n_places:
            wanted = f"at most {n_places} for {options.model!r}"
            raise invalid_option("detector.max_tokens", options.max_tokens, wanted)
        # Labels that were asked for stay as they are.
        self._options, self._rules = options, BoxRules(names="none" if self.about.takes_labels else options.names)
        attend_word_by_word(self._model, self._loaded.device)
        self._pixels = settings_of(self._processor.image_processor, self.name)
        if options.compile:
            # Only the vision part: at 768 pixels it is most of the work, and the text part changes shape at every step.
            self._model.model.vision_tower.compile(dynamic=False)
            # Now, before any real work: other compiled components would have to wait for it.
            grey = Picture(rgb=bytes([128]) * (64 * 64 * 3), width=64, height=64)
            request = ObserveRequest(picture=grey, query=Query(role="detector", labels=("cat",)))
            for n in dict.fromkeys((1, self.habits.batch_size)):
                self.observe([request] * n)

    @classmethod
    def weights(cls, options: CheckpointOptions) -> str:
        """The commit or digest of the checkpoint, and the table of names."""
        assert isinstance(options, Florence2Options)
        return f"{super().weights(options)} {options.pin()}".strip()

    def _detect(self, requests: Sequence[ObserveRequest], labels: tuple[str, ...]) -> list[Detections | SalvaError]:
        import torch

        tokens, mask = self._tokens([self._prompt(request.query.labels) for request in requests])
        pixels = self._input(requests)
        turn = COMPILE_LOCK.calling((self, len(requests))) if self._options.compile else nullcontext()
        with self._batches.on_device, turn, torch.inference_mode():
            generated = self._model.generate(
                input_ids=tokens,
                attention_mask=mask,
                pixel_values=pixels,
                max_new_tokens=self._options.max_tokens,
                num_beams=self._options.beams,
                do_sample=False,
            ).cpu()
        answers = self._processor.tokenizer.batch_decode(generated, skip_special_tokens=False)
        return [
            self._read(request.query.labels, tokens, answer)
            for request, tokens, answer in zip(requests, generated.tolist(), answers, strict=True)
        ]

    def _prompt(self, labels: tuple[str, ...]) -> str:
        return self.task

    def _tokens(self, texts: list[str]) -> tuple[torch.Tensor, torch.Tensor]:
        """The prompts as the processor writes them: image tokens first, then the words.

        The image tokens are set as numbers: tokenizing 577 of them for every image would take longer than the image.
        """
        import torch

        processor, tokenizer = self._processor, self._processor.tokenizer
        distinct = list(dict.fromkeys(texts))
        prompts = processor._construct_prompts(distinct)  # The task's sentence, which only the processor knows.
        words = tokenizer(
            [tokenizer.bos_token + prompt + tokenizer.eos_token for prompt in prompts],
            add_special_tokens=False,
            padding=True,
            pad_to_multiple_of=None if len(distinct) == 1 else _TEXT_STEP,
            padding_side="right",
            return_tensors="pt",
        )
        rows = torch.tensor([distinct.index(text) for text in texts])
        image = torch.full((len(texts), processor.num_image_tokens), processor.image_token_id)
        tokens = torch.cat((image, words["input_ids"][rows]), 1)
        mask = torch.cat((torch.ones_like(image), words["attention_mask"][rows]), 1)
        return tokens.to(self._loaded.device), mask.to(self._loaded.device)

    def _read(self, labels: tuple[str, ...], tokens: Sequence[int], answer: str) -> Detections | SalvaError:
        end = self._processor.tokenizer.eos_token_id
        # Florence-2 begins with the end mark, and ends with it when forced to stop at the limit.
        is_cut = len(tokens) > self._options.max_tokens and end not in tokens[1:-1]
        if is_cut and self._options.cut == "error":
            limit, beginning = self._options.max_tokens, repr(answer[:80])
            problem = message("answer-cut", component=self.name, limit=limit, answer=beginning)
            return BackendError(problem, is_retryable=False)
        named = self._named(labels, parse_answer(answer))
        return self._rules.detections(
            [corners for _, corners in named], [1.0] * len(named), [name for name, _ in named]
        )

    def _named(self, labels: tuple[str, ...], boxes: list[LabelledBox]) -> list[LabelledBox]:
        """The boxes to keep, with their labels."""
        return boxes


def parse_answer(answer: str) -> list[LabelledBox]:
    """The boxes of an answer.

    Reads it as the processor does, without its tensors, which would be too slow for hundreds of images a second. A
    phrase may have several boxes; one without boxes or with a line break in it is skipped.
    """
    boxes: list[LabelledBox] = []
    for phrase, locations in _PHRASE.findall(_SPECIAL.sub("", answer)):
        if "\n" in phrase.lstrip():
            continue
        name = phrase.strip().encode("ascii", "ignore").decode("ascii")
        edges = [(int(step) + 0.5) / N_STEPS for step in _LOCATION.findall(locations)]
        boxes += [(name, edges[i : i + 4]) for i in range(0, len(edges) - 3, 4)]
    return boxes


class Florence2Grounding(Florence2):
    """Detector: finds the entities that the case mentions, with Florence-2's phrase grounding."""

    about: ClassVar[About] = replace(Florence2.about, takes_labels=True, names=Naming.ASKED)
    task: ClassVar[str] = GROUND
    name: ClassVar[str] = "florence2-grounding"

    def observe(self, requests: Sequence[ObserveRequest]) -> Sequence[Detections | SalvaError]:
        """The boxes of each image."""
        if any(not request.query.labels for request in requests):
            raise UsageError(message("labels-missing", detector=self.name, instead="Use --detector florence2."))
        return super().observe(requests)

    def _prompt(self, labels: tuple[str, ...]) -> str:
        return GROUND + ", ".join(with_article(label) for label in labels) + "."

    def _named(self, labels: tuple[str, ...], boxes: list[LabelledBox]) -> list[LabelledBox]:
        """The answer repeats words of the caption; phrases that are no label are dropped."""
        by_phrase = {phrase.casefold(): label for label in labels for phrase in (with_article(label), label)}
        # Words that the checkpoint's authors found to be no entities.
        banned = self._processor.post_processor.banned_grounding_tokens
        named = [(by_phrase.get(phrase.strip(" .,").casefold()), box) for phrase, box in boxes if phrase not in banned]
        return [(label, box) for label, box in named if label is not None]
