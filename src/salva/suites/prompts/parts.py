"""Prompts asked about by part: entities, numbers, attributes and relations before the whole.

Cases come in with one question a prompt; they go out with the questions of what a parser read in the prompt before it,
and with a remark on them. The whole is still asked, since a parser does not read everything that a prompt says.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from salva.core.case import Case, Prompt
from salva.core.quantity import quantity
from salva.core.question import Question
from salva.english.captions.part_questions import THING, part_questions
from salva.english.captions.reading import CaptionReader
from salva.english.captions.seeds import unfit_text


def with_parts(cases: Sequence[Case], reader: CaptionReader) -> tuple[tuple[Case, ...], str]:
    """The cases with questions about the parts of every prompt that is asked about, and a line about these."""
    asked = [prompt.text for case in cases for prompt in case.prompts if prompt.questions]
    fit = [text for text in dict.fromkeys(asked) if not unfit_text(text)]
    parts = dict(zip(fit, map(part_questions, reader.read(fit)), strict=True))
    n = sum(1 + len(parts.get(text, ())) for text in asked)
    remark = f"questions: {n} about {quantity(len(asked), 'prompts')}"
    return tuple(replace(case, prompts=tuple(_asked(p, parts) for p in case.prompts)) for case in cases), remark


def _asked(prompt: Prompt, parts: dict[str, tuple[Question, ...]]) -> Prompt:
    questions = parts.get(prompt.text, ()) if prompt.questions else ()
    if not questions:
        return prompt
    entities = tuple(question.text for question in questions if question.kind == THING)
    # An image without an entity of the prompt does not show all of it, so nobody needs to be asked.
    wholes = (replace(question, parents=entities) for question in prompt.questions)
    return replace(prompt, questions=(*questions, *wholes))
