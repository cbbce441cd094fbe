"""What a judge in words is told in place of our own words when it scores an image: a file of the user's, or a preset.

A preset's name or a path comes in, a text with {prompt} in it goes out, checked; its digest stands in the judge's key,
so that another content under the same name is another judge.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from pathlib import Path

from salva.core.score_rubric import HALVES
from salva.errors import UsageError
from salva.files.infiles import file_text
from salva.messages import message

PLACE = "{prompt}"
"""Stands where the text goes that the image is held against."""
FORM = "[["
"""A prompt with this in it says itself how to reply."""
_LONGEST = 20_000
PRESETS: Mapping[str, str] = {
    "semvarbench": (
        "Does this picture, which a program made, fit the prompt at the end?\n\n"
        "[Instruction] Look closely at how relevant the picture is to the prompt and how accurate its objects are. It "
        "was generated: say how good it is as such a picture, and do not discuss it as a photograph.\n\n"
        "Go by two criteria, Relevance (0-50 points) and Object Accuracy (0-50 points). Explain first. Then rate the "
        'picture, strictly in the form "[[rating]]", for example: "Relevance (0-50 points): [[35]], Object Accuracy '
        '(0-50 points): [[30]]".\n\n'
        f"[Prompt] {PLACE}"
    ),
}
"""Name to text. semvarbench: what its paper's judges are told (appendix D.2), part by part, in our own words."""


def own_prompt(named: str) -> str:
    """The text that a preset or a file holds; nothing where neither is named. UsageError where it cannot be used."""
    if not named or named in PRESETS:
        return PRESETS.get(named, "")
    path = Path(named)
    if not path.is_file():
        wanted = f"a file with a prompt, or one of {', '.join(PRESETS)}"
        raise UsageError(message("option-invalid", name="judge.prompt", value=named, wanted=wanted))
    # A character has four bytes at most: what is longer is not read at all.
    if (n_bytes := path.stat().st_size) > 4 * _LONGEST:
        why = f"it has {n_bytes:,} bytes, and a prompt has at most {_LONGEST:,} characters"
        raise UsageError(message("file-unreadable", path=named, why=why))
    text = file_text(path).strip()
    problem = _problem(text)
    if problem:
        raise UsageError(message("judge-prompt-invalid", path=named, problem=problem))
    return text


def prompt_pin(named: str) -> str:
    """What pins the text in a key; nothing where none is named."""
    text = own_prompt(named)
    return f"prompt {hashlib.sha256(text.encode()).hexdigest()[:16]}" if text else ""


def _problem(text: str) -> str:
    if not text:
        return "is empty"
    if len(text) > _LONGEST:
        return f"has {len(text)} characters; the limit is {_LONGEST}"
    if PLACE not in text:
        return f"has no {PLACE}; write it where the text of the case goes"
    missing = [half.name for half in HALVES if half.name.casefold() not in text.casefold()]
    if FORM in text and missing:
        return (
            f"does not name {' and '.join(missing)}; write, for example, 'Relevance: [[35]], Object Accuracy: [[30]]'"
        )
    return ""
