"""Judge: a vision-language model on this machine, by transformers.

Any model that AutoModelForImageTextToText loads and whose processor has a chat template: Qwen-VL, LLaVA, SmolVLM, Gemma
and others. Questions go through in batches; those whose reply cannot be read are asked again together. Decoding is
greedy, so the same image gets the same reply.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from salva.core.observation import Answer
from salva.core.options import option
from salva.core.protocols import ObserveRequest
from salva.errors import SalvaError
from salva.hardware.checkpoints import invalid_checkpoint
from salva.imaging.files import as_image
from salva.judges.interview import MAX_TOKENS_HELP, SIDE_HELP, Interview, InterviewOptions, JudgeReply, limit_side
from salva.judges.score_templates import prompt_pin, score_template
from salva.observers.checkpoint_observer import CheckpointObserver
from salva.observers.loading import CheckpointKind, CheckpointOptions
from salva.observers.word_by_word import attend_word_by_word


@dataclass(frozen=True, slots=True, kw_only=True)
class LocalVlmOptions(InterviewOptions, CheckpointOptions):
    """What can be set with --set judge.NAME=VALUE."""

    max_tokens: int = option(512, MAX_TOKENS_HELP, least=1)
    side: int = option(768, SIDE_HELP, least=0)


class LocalVlmJudge(CheckpointObserver):
    """A vision-language model on this machine."""

    version: ClassVar[str] = "2"
    name: ClassVar[str] = "transformers"
    kind: ClassVar[CheckpointKind] = CheckpointKind(
        model_class="AutoModelForImageTextToText",
        processor_class="AutoProcessor",
        model_types="MODEL_FOR_IMAGE_TEXT_TO_TEXT_MAPPING_NAMES",
    )
    batch_limit: ClassVar[int] = 64
    Options: ClassVar[type[LocalVlmOptions]] = LocalVlmOptions

    def __init__(self, options: LocalVlmOptions) -> None:
        super().__init__(options, detail=f"{options.side}px")
        attend_word_by_word(self._loaded.model, self._loaded.device)
        processor = self._loaded.processor
        if not getattr(processor, "chat_template", None):
            why = "it has no chat template; use one tuned for chat (-Instruct)"
            raise invalid_checkpoint(self.name, options.model, why)
        # Replies grow to the right, so shorter questions are padded on the left.
        processor.tokenizer.padding_side = "left"
        if processor.tokenizer.pad_token is None:
            processor.tokenizer.pad_token = processor.tokenizer.eos_token
        self._options, self._template = options, score_template(options.prompt)

    @classmethod
    def weights(cls, options: CheckpointOptions) -> str:
        """The commit or digest of the checkpoint, and the user's prompt template, if there is one."""
        assert isinstance(options, LocalVlmOptions)
        return f"{super().weights(options)} {prompt_pin(options.prompt)}".strip()

    def observe(self, requests: Sequence[ObserveRequest]) -> Sequence[Answer | SalvaError]:
        """One answer or error per request."""
        outcomes: dict[int, Answer | SalvaError] = {}
        interviews: dict[int, Interview] = {}
        for i, request in enumerate(requests):
            interview = Interview(request.query, self._options, template=self._template)
            try:
                interview.prompt(False)
            except SalvaError as error:
                outcomes[i] = error
            else:
                interviews[i] = interview
        while interviews:
            replies = self._batches.run(
                self._reply, [self._conversation(interview, requests[i]) for i, interview in interviews.items()]
            )
            answers = {
                i: answer
                for (i, interview), reply in zip(interviews.items(), replies, strict=True)
                if (answer := interview.receive(reply)) is not None
            }
            outcomes |= answers
            interviews = {i: interview for i, interview in interviews.items() if i not in answers}
        return [outcomes[i] for i in range(len(requests))]

    def _conversation(self, interview: Interview, request: ObserveRequest) -> list[dict[str, Any]]:
        prompt = interview.prompt(False)
        image = as_image(limit_side(request.picture, self._options.side)).copy()
        # Some chat templates have no system turn.
        content = [{"type": "image", "image": image}, _text_part(f"{prompt.system}\n\n{prompt.text}")]
        turns: list[dict[str, Any]] = [{"role": "user", "content": content}]
        for reply, answer in interview.turns:
            turns += [
                {"role": "assistant", "content": [_text_part(reply or "(nothing)")]},
                {"role": "user", "content": [_text_part(answer)]},
            ]
        return turns

    def _reply(self, conversations: Sequence[list[dict[str, Any]]]) -> list[JudgeReply]:
        import torch

        loaded, processor = self._loaded, self._loaded.processor
        inputs = processor.apply_chat_template(
            list(conversations),
            add_generation_prompt=True,
            tokenize=True,
            return_dict=True,
            return_tensors="pt",
            processor_kwargs={"padding": True},
        ).to(loaded.device)
        # Images get the model's precision, tokens stay integers.
        inputs = {k: v.to(loaded.dtype) if torch.is_floating_point(v) else v for k, v in inputs.items()}
        with torch.inference_mode(), self._batches.on_device:
            tokens = loaded.model.generate(
                **inputs,
                do_sample=False,
                num_beams=1,
                max_new_tokens=self._options.max_tokens,
                pad_token_id=processor.tokenizer.pad_token_id,
            )
        n_prompt = inputs["input_ids"].shape[1]
        ends = loaded.model.generation_config.eos_token_id
        ends = set(ends if isinstance(ends, list) else [ends])
        return [
            self._read(new.tolist(), int(mask.sum()), ends)
            for new, mask in zip(tokens[:, n_prompt:], inputs["attention_mask"], strict=True)
        ]

    def _read(self, tokens: list[int], n_input: int, ends: set[int]) -> JudgeReply:
        """The reply up to its end; in a batch, padding follows."""
        n = next((i for i, token in enumerate(tokens) if token in ends), len(tokens))
        is_cut_off = n == len(tokens) and n >= self._options.max_tokens
        text = self._loaded.processor.tokenizer.decode(tokens[:n], skip_special_tokens=True)
        n_output = min(n + 1, len(tokens))
        return JudgeReply(text=text.strip(), n_input=n_input, n_output=n_output, is_cut_off=is_cut_off)


def _text_part(text: str) -> dict[str, str]:
    return {"type": "text", "text": text}
